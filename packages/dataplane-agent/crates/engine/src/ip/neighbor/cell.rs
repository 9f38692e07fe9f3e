//! The published state of a neighbour: one atomic word that the packet path reads without a lock.

use tollway_config::protocol::NeighborStatus;

use super::INDEX_BITS;
use crate::ids::AdjacencyId;

/// The 48 bits of a cell that hold the link-layer address.
const MAC_MASK: u64 = (1 << 48) - 1;

/// State of a neighbour, as far as the packet path distinguishes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adjacency {
    /// The address is known and needs no attention.
    Ready([u8; 6]),
    /// The address is known but must be confirmed: use it, and call [`Neighbors::resolve`](super::Neighbors::resolve).
    Stale([u8; 6]),
    /// The address is being resolved.
    Incomplete,
    /// The neighbour does not answer.
    Failed,
    /// The slot belongs to another neighbour now.
    Gone,
}

/// Usage number of the slot, status and address of a neighbour in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell(pub(super) u64);

impl Cell {
    /// The cell of a neighbour whose slot has been used `reuse` times before.
    pub(super) fn new(mac: [u8; 6], status: NeighborStatus, reuse: u16) -> Self {
        let [a, b, c, d, e, f] = mac;
        let mac = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        let status = match status {
            NeighborStatus::Incomplete => 1,
            NeighborStatus::Reachable => 2,
            NeighborStatus::Stale => 3,
            NeighborStatus::Probe => 4,
            NeighborStatus::Failed => 5,
            NeighborStatus::Permanent => 6,
        };
        Self(u64::from(reuse & 0xfff) << 52 | status << 48 | mac)
    }
    /// The state for the packet path; [`Adjacency::Gone`] if the slot belongs to another neighbour now.
    #[inline]
    pub(super) fn adjacency(self, id: AdjacencyId) -> Adjacency {
        if (self.0 >> 52) as u32 != id >> INDEX_BITS {
            return Adjacency::Gone;
        }
        let [_, _, a, b, c, d, e, f] = (self.0 & MAC_MASK).to_be_bytes();
        let mac = [a, b, c, d, e, f];
        match self.0 >> 48 & 15 {
            2 | 4 | 6 => Adjacency::Ready(mac),
            3 => Adjacency::Stale(mac),
            1 => Adjacency::Incomplete,
            5 => Adjacency::Failed,
            _ => Adjacency::Gone,
        }
    }
}
