//! `joiner-bench`, the program: see the library.

use std::process::ExitCode;

use clap::Parser;
use joiner_bench::{arguments::Arguments, runs};

fn main() -> ExitCode {
    match runs::run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
