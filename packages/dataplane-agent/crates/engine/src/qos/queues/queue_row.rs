//! A row of the configuration at a worker.

use std::sync::Arc;

use crate::ids::LeafId;
use crate::qos::forest::{ClassId, Identity};
use crate::qos::ownership::{Ownership, ROW_PARTS};

/// A row of the configuration.
#[derive(Debug)]
pub struct QueueRow {
    /// Identity of the row's first part.
    pub identity: Identity,
    /// Class of the first part.
    pub class: ClassId,
    /// Leaves of its parts; [`LeafId::NONE`] where it has none, and until a packet of it comes to this worker.
    pub parts: [LeafId; ROW_PARTS],
    /// Ownership of the row.
    pub ownership: Arc<Ownership>,
    /// Counts of packets handed over by other workers.
    pub handed_over: HandedOverCounts,
}

impl QueueRow {
    /// The leaves that it has at this worker.
    pub fn leaves(&self) -> impl Iterator<Item = LeafId> + use<> {
        self.parts.into_iter().filter(|leaf| *leaf != LeafId::NONE)
    }
}

/// Counts of packets of a row that other workers handed over to its owner.
#[derive(Debug, Clone, Copy, Default)]
pub struct HandedOverCounts {
    /// Packets to be acknowledged when they have left the router.
    pub unacknowledged: u64,
    /// Packets handed over by others since the last packet of this worker's own.
    pub in_a_row: u32,
    /// Number of packets that had passed the row just after the last packet that was handed over.
    pub passed: u64,
    /// Times that the row may still be released before a sleep; 0 for a row that no other worker uses.
    pub idle_releases: u8,
    /// The row is in [`super::Queues::shared_rows`].
    pub is_listed: bool,
}

impl HandedOverCounts {
    /// Notes that the row may be released before the next sleep.
    pub(super) fn list(&mut self, at: u32, shared_rows: &mut Vec<u32>) {
        if !std::mem::replace(&mut self.is_listed, true) {
            shared_rows.push(at);
        }
    }
}
