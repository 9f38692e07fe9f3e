//! Runs `ip` and `nft`, for rare operations that need not be fast.

use std::fmt;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

/// A command that could not be run or failed.
#[derive(Debug)]
pub struct CommandError {
    /// The command line.
    pub line: String,
    /// Standard error of the command, or why it could not be run.
    pub reason: String,
}

impl fmt::Display for CommandError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`: {}", self.line, self.reason)
    }
}

impl std::error::Error for CommandError {}

/// Runs a program with `input` on its standard input and returns what it printed.
///
/// # Errors
/// When it cannot be started or exits with another status than 0.
pub fn run(program: &str, arguments: &[&str], input: &str) -> Result<String, CommandError> {
    let line = || std::iter::once(program).chain(arguments.iter().copied()).collect::<Vec<_>>().join(" ");
    let failed = |reason: String| CommandError { line: line(), reason };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let stdin = child.stdin.take();
    let output = thread::scope(|scope| {
        if let Some(mut stdin) = stdin {
            // Written by a thread while the output is read: a program that writes much before it has read all would
            // block, and so would a writer that does not read. One that stops reading gives the reason on its standard
            // error.
            let write = move || drop(stdin.write_all(input.as_bytes()));
            thread::Builder::new().spawn_scoped(scope, write)?;
        }
        child.wait_with_output()
    });
    let output = output.map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(failed(if said.is_empty() { output.status.to_string() } else { said }))
}

/// Runs `ip` with these words.
///
/// # Errors
/// As [`run`].
pub fn ip(words: &str) -> Result<String, CommandError> {
    run("ip", &words.split_whitespace().collect::<Vec<_>>(), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_says_much_of_much_input_comes_to_its_end() {
        let input = "a line of input\n".repeat(50_000);
        let printed = run("sh", &["-c", "tee /dev/stderr"], &input).unwrap();
        assert_eq!(printed, input);
        let refused = run("sh", &["-c", "cat >&2; exit 1"], &input).unwrap_err();
        assert_eq!(refused.reason, input.trim());
        // It ends without having read all.
        assert_eq!(run("true", &[], &input).unwrap(), "");
    }
}
