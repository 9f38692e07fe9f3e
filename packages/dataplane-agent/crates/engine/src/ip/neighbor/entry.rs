//! A neighbour in the table.

use tollway_config::dataplane::RowId;
use tollway_config::protocol::NeighborStatus;

use super::NeighborKey;

/// A neighbour, as the state machine keeps it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NeighborEntry {
    /// Interface and address.
    pub key: NeighborKey,
    /// Static entry's row, 0 for a learned one.
    pub row: RowId,
    /// Link-layer address; zeros while it is unknown.
    pub mac: [u8; 6],
    /// State of the neighbour (RFC 4861 §7.3.2).
    pub status: NeighborStatus,
    /// Requests sent in this state.
    pub probes: u8,
    /// When the state ends; `u64::MAX` never.
    pub due: u64,
    /// Generation of the slot, a part of the ids of its neighbours.
    pub reuse: u16,
    /// When it was put into the queue of unanswered entries, ns.
    pub since: u64,
    /// The slot is in use.
    pub live: bool,
    /// The neighbour has answered: both directions worked once.
    pub confirmed: bool,
    /// The neighbour has said that it is a router (RFC 4861 §4.4).
    pub router: bool,
}
