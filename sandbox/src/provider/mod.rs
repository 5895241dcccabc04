//! The provider `sandbox` (see the binary terraform-provider-sandbox).
use std::process::ExitCode;
/// Serves.
pub fn main() -> ExitCode { ExitCode::FAILURE }
