//! When neighbours that nobody uses are forgotten.

use tollway_config::dataplane::NeighborCollection;

use super::{NeighborKey, STALE_TIME};

const SECOND: u64 = 1_000_000_000;

/// When the neighbours of a family are forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collection {
    /// Time for which an unconfirmed entry that nobody uses is kept, ns.
    pub(super) stale_time: u64,
    /// Time until one is looked at again that is kept although it is older, ns.
    pub(super) interval: u64,
    /// Number of entries of which none is forgotten.
    pub(super) kept: usize,
    /// Number of entries from which on unconfirmed ones go as others come.
    pub(super) soft_max: usize,
}

/// IPv4, of which every unconfirmed entry goes after [`STALE_TIME`].
const IPV4: Collection =
    Collection { stale_time: STALE_TIME, interval: STALE_TIME, kept: 0, soft_max: usize::MAX };

/// Place of the family of a neighbour in counts.
pub(super) fn family(key: NeighborKey) -> usize {
    usize::from(key.1.as_v4().is_none())
}

/// When neighbours are forgotten, by family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collections([Collection; 2]);

impl Default for Collections {
    fn default() -> Self {
        Self([IPV4; 2])
    }
}

impl Collections {
    /// As it is configured for IPv6.
    pub fn of_ipv6(configured: NeighborCollection) -> Self {
        let NeighborCollection { stale_timeout_s, detect_interval_s, min_entries, soft_max_entries } =
            configured;
        let ipv6 = Collection {
            stale_time: u64::from(stale_timeout_s) * SECOND,
            interval: u64::from(detect_interval_s.max(1)) * SECOND,
            kept: min_entries as usize,
            soft_max: soft_max_entries as usize,
        };
        Self([IPV4, ipv6])
    }

    /// That of the family of a neighbour.
    pub(super) fn of(&self, key: NeighborKey) -> Collection {
        self.0.get(family(key)).copied().unwrap_or(IPV4)
    }
}
