//! Packets held until the link-layer address of their next hop is resolved; one queue per worker.

use arrayvec::ArrayVec;

use crate::ids::AdjacencyId;
use crate::packet::Packet;

/// Maximum number of packets held for a neighbour; a further one replaces the oldest.
pub const PER_NEIGHBOR: usize = 3;
/// Maximum number of neighbours with held packets, per worker.
pub const NEIGHBORS: usize = 512;
/// Interval at which a worker checks whether addresses have been resolved, ns.
pub const POLL_INTERVAL: u64 = 1_000_000;

/// The packets that wait for the link-layer address of one neighbour.
#[derive(Debug)]
pub struct HeldPackets<F> {
    /// The neighbour.
    pub adjacency: AdjacencyId,
    /// Oldest first.
    pub packets: ArrayVec<Packet<F>, PER_NEIGHBOR>,
}

/// The queue.
#[derive(Debug)]
pub struct Holds<F> {
    waiting: Vec<HeldPackets<F>>,
}

impl<F> Default for Holds<F> {
    fn default() -> Self {
        Self { waiting: Vec::new() }
    }
}

impl<F> Holds<F> {
    /// Adds a packet; returns the one that it replaces.
    pub fn push(&mut self, adjacency: AdjacencyId, packet: Packet<F>) -> Option<Packet<F>> {
        let full = self.waiting.len() >= NEIGHBORS;
        match self.waiting.iter_mut().find(|waiting| waiting.adjacency == adjacency) {
            Some(waiting) => {
                let out = if waiting.packets.is_full() { waiting.packets.pop_at(0) } else { None };
                waiting.packets.push(packet);
                out
            }
            None if full => Some(packet),
            None => {
                let mut packets = ArrayVec::new();
                packets.push(packet);
                self.waiting.push(HeldPackets { adjacency, packets });
                None
            }
        }
    }

    /// Takes the first queue whose neighbour satisfies `ready`.
    pub fn take(&mut self, ready: impl Fn(AdjacencyId) -> bool) -> Option<HeldPackets<F>> {
        let position = self.waiting.iter().position(|waiting| ready(waiting.adjacency))?;
        Some(self.waiting.remove(position))
    }

    /// Whether something waits for this neighbour.
    pub fn contains(&self, adjacency: AdjacencyId) -> bool {
        self.waiting.iter().any(|waiting| waiting.adjacency == adjacency)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The packets that wait.
    pub fn packets_mut(&mut self) -> impl Iterator<Item = &mut Packet<F>> {
        self.waiting.iter_mut().flat_map(|waiting| &mut waiting.packets)
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        self.waiting.iter().map(|waiting| waiting.packets.len()).sum()
    }
}
