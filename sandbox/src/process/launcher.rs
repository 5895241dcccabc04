//! The small step between the supervisor and each process it starts: ask the kernel to end the process when the
//! supervisor's spawning thread ends, then become the program.
//!
//! It is a step of its own because setting this between fork and exec from inside the supervisor would need unsafe code.
//! Any binary that starts sandboxes calls [`crate::intercept`] first, which comes here for the hidden word [`WORD`].

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::getppid;

/// The hidden first argument: `<binary> __joiner-exec <parent pid> <program> <arguments>...`.
pub const WORD: &str = "__joiner-exec";

/// Becomes the program in `arguments` (parent pid, program, its arguments); returns only when that fails.
pub fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let parent = arguments
        .next()
        .and_then(|text| text.to_str()?.parse::<i32>().ok());
    let (Some(parent), Some(program)) = (parent, arguments.next()) else {
        eprintln!("{WORD} is for the sandbox's own use");
        return ExitCode::from(2);
    };
    if let Err(error) = prctl::set_pdeathsig(Signal::SIGKILL) {
        eprintln!("cannot tie {} to its supervisor: {error}", program.display());
        return ExitCode::from(126);
    }
    // The supervisor may have ended before the line above.
    if getppid().as_raw() != parent {
        return ExitCode::from(126);
    }
    let error = Command::new(&program).args(arguments).exec();
    eprintln!("cannot start {}: {error}", program.display());
    ExitCode::from(127)
}
