//! State shared by all workers of a process. Never locked on the fast path.

use std::net::Ipv4Addr;

use tollway_config::dataplane::RowId;
use tollway_config::protocol::NeighborInfo;

use crate::snapshot::Snapshot;
use crate::time::Now;

/// A line for `/log`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Comma list, `firewall,info` …
    pub topics: &'static str,
    /// The line.
    pub message: String,
}

/// Neighbours, the flow directory, ICMP rate limits and the log ring.
#[derive(Debug)]
pub struct Shared {
    pub(crate) workers: u32,
    pub(crate) seed: u64,
}

impl Shared {
    /// For `workers` engines. `seed` keys the hash functions; take it from the system's random source.
    pub fn new(workers: u32, seed: u64) -> Shared {
        Shared { workers, seed }
    }

    /// The neighbour table.
    pub fn neighbors(&self, now: Now, snapshot: &Snapshot) -> Vec<NeighborInfo> {
        let _ = (now, snapshot);
        Vec::new()
    }

    /// Forgets a learned neighbour. `false` when there is none (static entries are configuration).
    pub fn remove_neighbor(&self, interface: RowId, address: Ipv4Addr) -> bool {
        let _ = (interface, address);
        false
    }

    /// Takes the log lines written since the last call, oldest first. When lines were lost because the
    /// ring was full, the first one says how many.
    pub fn take_log(&self) -> Vec<LogLine> {
        Vec::new()
    }

    /// Whether [`Self::take_log`] would return something; one relaxed load.
    pub fn log_pending(&self) -> bool {
        false
    }
}
