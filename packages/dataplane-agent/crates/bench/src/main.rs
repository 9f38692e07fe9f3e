//! `tollway-bench`: see [`tollway_bench`].

use std::process::ExitCode;

fn main() -> ExitCode {
    match tollway_bench::run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("tollway-bench: {message}");
            ExitCode::from(2)
        }
    }
}
