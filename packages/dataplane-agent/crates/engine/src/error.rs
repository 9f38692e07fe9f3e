//! The error of a configuration that cannot be compiled to a snapshot.

use tollway_config::dataplane::RowId;

/// A configuration that the data plane refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildError {
    /// Row at fault, if one is.
    pub row: Option<RowId>,
    /// Text for users: what is wrong and what would be accepted.
    pub message: String,
}

impl BuildError {
    /// An error of a row.
    pub fn row(row: RowId, message: impl Into<String>) -> Self {
        Self { row: Some(row), message: message.into() }
    }
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.row {
            Some(row) => write!(f, "row {row}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for BuildError {}
