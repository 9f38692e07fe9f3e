//! Why a port cannot be claimed or given back.

use std::fmt;

use crate::command::CommandError;

/// Why a port cannot be claimed or given back.
#[derive(Debug)]
pub enum ClaimError {
    /// No netdev of this name.
    Missing(String),
    /// The netdev cannot be a port, or not without `--take-over`.
    Refused {
        /// Netdev.
        netdev: String,
        /// Why.
        reason: String,
    },
    /// The netdev was restored, but not completely.
    Incomplete {
        /// Netdev.
        netdev: String,
        /// The difference from its former state.
        difference: String,
        /// Why.
        reason: String,
    },
    /// A command failed.
    Command(CommandError),
    /// The record cannot be written, or netlink does not answer.
    Io(std::io::Error),
}

impl fmt::Display for ClaimError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClaimError::Missing(netdev) => write!(formatter, "there is no network device {netdev}"),
            ClaimError::Refused { netdev, reason } => {
                write!(formatter, "{netdev} cannot be claimed: {reason}")
            }
            ClaimError::Incomplete { netdev, difference, reason } => {
                write!(formatter, "{netdev} was given back, but {difference}: {reason}")
            }
            ClaimError::Command(error) => error.fmt(formatter),
            ClaimError::Io(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for ClaimError {}

impl From<CommandError> for ClaimError {
    fn from(error: CommandError) -> Self {
        ClaimError::Command(error)
    }
}

impl From<std::io::Error> for ClaimError {
    fn from(error: std::io::Error) -> Self {
        ClaimError::Io(error)
    }
}

impl ClaimError {
    /// The netdev cannot be a port.
    pub(super) fn refused(netdev: &str, reason: &str) -> Self {
        Self::Refused { netdev: netdev.to_owned(), reason: reason.to_owned() }
    }
}
