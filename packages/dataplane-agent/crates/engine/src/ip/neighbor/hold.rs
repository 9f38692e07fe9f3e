//! Packets held until the link-layer address of their next hop is resolved; one queue per worker.

use std::collections::VecDeque;

use arrayvec::ArrayVec;

use crate::ids::AdjacencyId;
use crate::packet::Packet;

/// Maximum number of packets held for a neighbour; a further one replaces the oldest.
pub const PER_NEIGHBOR: usize = 3;
/// Maximum number of neighbours with held packets, per worker; a further one takes the place of the one that has been waited
/// for longest.
pub const NEIGHBORS: usize = 512;
/// Interval at which a worker checks whether addresses have been resolved, ns.
pub const POLL_INTERVAL: u64 = 1_000_000;

/// The packets that wait for the link-layer address of one neighbour, the oldest first.
pub type HeldPackets<F> = ArrayVec<Packet<F>, PER_NEIGHBOR>;

/// The queue.
#[derive(Debug)]
pub struct Holds<F> {
    /// The neighbours that are waited for, those waited for longest first. Apart from their packets, as they are searched.
    neighbors: VecDeque<AdjacencyId>,
    /// The packets for each of them.
    packets: VecDeque<HeldPackets<F>>,
}

impl<F> Default for Holds<F> {
    fn default() -> Self {
        Self { neighbors: VecDeque::new(), packets: VecDeque::new() }
    }
}

impl<F> Holds<F> {
    /// Adds a packet; returns those that it replaces.
    pub fn push(&mut self, adjacency: AdjacencyId, packet: Packet<F>) -> HeldPackets<F> {
        let mut replaced = HeldPackets::new();
        let position = self.neighbors.iter().position(|waiting| *waiting == adjacency);
        if let Some(packets) = position.and_then(|position| self.packets.get_mut(position)) {
            if packets.is_full() {
                replaced.extend(packets.pop_at(0));
            }
            packets.push(packet);
            return replaced;
        }
        if self.neighbors.len() >= NEIGHBORS {
            self.neighbors.pop_front();
            replaced = self.packets.pop_front().unwrap_or_default();
        }
        self.neighbors.push_back(adjacency);
        self.packets.push_back(HeldPackets::from_iter([packet]));
        replaced
    }

    /// Takes the packets for the first neighbour that satisfies `ready`.
    pub fn take(&mut self, ready: impl Fn(AdjacencyId) -> bool) -> Option<HeldPackets<F>> {
        let position = self.neighbors.iter().position(|waiting| ready(*waiting))?;
        self.neighbors.remove(position);
        self.packets.remove(position)
    }

    /// Whether something waits for this neighbour.
    pub fn contains(&self, adjacency: AdjacencyId) -> bool {
        self.neighbors.contains(&adjacency)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.neighbors.is_empty()
    }

    /// The packets that wait.
    pub fn packets_mut(&mut self) -> impl Iterator<Item = &mut Packet<F>> {
        self.packets.iter_mut().flatten()
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        self.packets.iter().map(ArrayVec::len).sum()
    }
}
