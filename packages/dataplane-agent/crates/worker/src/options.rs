//! Command line options of the agent, and its errors.

use std::fmt;
use std::path::PathBuf;

/// Options of the agent.
#[derive(Debug, Clone)]
pub struct Options {
    /// Unix socket to serve the API on.
    pub socket: PathBuf,
    /// Directory of the agent's state: `agent/` in it holds the active configuration and claim records.
    pub data_dir: PathBuf,
    /// Name of the router's network namespace; distinguishes several agents of one machine.
    pub netns_name: String,
    /// Netdevs to claim; they become `ether1`, `ether2` … in this order.
    pub ports: Vec<String>,
    /// Memory ports with generated traffic instead of netdevs.
    pub memory: bool,
    /// Claim netdevs that carry the default route or the caller's SSH session.
    pub take_over: bool,
    /// Worker threads; `None`: two, or one on a machine with one core.
    pub workers: Option<usize>,
}

/// Most workers: a worker's number is in the top byte of a connection's id.
pub const MAX_WORKERS: usize = 64;

/// Why the agent ended.
#[derive(Debug)]
pub enum AgentError {
    /// The options or a port named in them cannot be used.
    Usage(String),
    /// Something failed at run time.
    Failed(String),
}

impl fmt::Display for AgentError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentError::Usage(message) | AgentError::Failed(message) => formatter.write_str(message),
        }
    }
}

impl std::error::Error for AgentError {}

impl AgentError {
    /// Wraps an error with a description of the operation.
    pub fn failed(what: &str) -> impl FnOnce(std::io::Error) -> AgentError + '_ {
        move |error| AgentError::Failed(format!("{what}: {error}"))
    }
}

impl Options {
    /// Checks the options as far as possible without changing anything.
    ///
    /// # Errors
    /// Names the option.
    pub fn check(&self) -> Result<(), AgentError> {
        let usage = |message: &str| Err(AgentError::Usage(message.to_owned()));
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.netns_name.is_empty()
            || self.netns_name.starts_with('.')
            || !self.netns_name.chars().all(plain)
        {
            return usage("--netns-name takes letters, digits, '-', '_' and '.'");
        }
        if self.memory && !self.ports.is_empty() {
            return usage("--memory and --ports exclude each other");
        }
        if self.ports.iter().any(|port| port.is_empty() || port.len() > 15 || port.contains(['/', ' '])) {
            return usage("--ports takes names of network devices, separated by commas");
        }
        if self.workers.is_some_and(|workers| workers == 0 || workers > MAX_WORKERS) {
            return usage("--workers takes a number from 1 to 64");
        }
        Ok(())
    }
}
