//! The provider `sandbox`; also able to be a sandbox's supervisor, for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = joiner_sandbox::intercept() {
        return code;
    }
    joiner_sandbox::provider::main()
}
