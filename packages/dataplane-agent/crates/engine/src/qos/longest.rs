//! Finds a leaf whose queue is the longest, to within a factor of two, without looking at every leaf.
//!
//! A leaf whose queue has shrunk by one class stays listed in its old class until [`Longest::first`] finds it there:
//! most queue lengths oscillate, and each move writes to the neighbours in the list.

use super::leaf::LeafQueue;
use crate::ids::LeafId;

const CLASSES: usize = 33;

/// Lists of leaves by length class: the power of two of the number of waiting frames.
#[derive(Debug)]
pub struct Longest {
    heads: [LeafId; CLASSES],
    occupied: u64,
}

impl Default for Longest {
    fn default() -> Self {
        Self { heads: [LeafId::NONE; CLASSES], occupied: 0 }
    }
}

/// Length class of a queue of `frames` frames; 0 for an empty one.
fn length_class(frames: u32) -> usize {
    (u32::BITS - frames.leading_zeros()) as usize
}

impl Longest {
    /// Records that a leaf's queue holds `frames` frames now.
    #[inline]
    pub fn update(&mut self, queues: &mut [LeafQueue], leaf: LeafId, frames: u32) {
        let Some(queue) = queues.get(leaf.index()) else { return };
        let (from, to) = (usize::from(queue.listed), length_class(frames));
        if from != to && (to == 0 || from != to + 1) {
            self.relist(queues, leaf, to);
        }
    }

    /// Returns a leaf of the highest occupied length class.
    pub fn first(&mut self, queues: &mut [LeafQueue]) -> Option<LeafId> {
        loop {
            let listed = (u64::BITS - 1).checked_sub(self.occupied.leading_zeros())? as usize;
            let leaf = self.heads.get(listed).copied()?;
            let is = length_class(queues.get(leaf.index())?.kind.frames());
            if is == listed {
                return Some(leaf);
            }
            self.relist(queues, leaf, is);
        }
    }

    fn relist(&mut self, queues: &mut [LeafQueue], leaf: LeafId, to: usize) {
        let Some(queue) = queues.get_mut(leaf.index()) else { return };
        let from = usize::from(std::mem::replace(&mut queue.listed, to as u8));
        if from != 0 {
            self.unlink(queues, leaf, from);
        }
        if to != 0 {
            self.link(queues, leaf, to);
        }
    }

    /// Every leaf in which packets wait.
    pub fn all(&self, queues: &[LeafQueue]) -> Vec<LeafId> {
        let mut all = Vec::new();
        for &head in &self.heads {
            let mut leaf = head;
            while let Some(queue) = queues.get(leaf.index()) {
                all.push(leaf);
                leaf = queue.next;
            }
        }
        all
    }

    fn link(&mut self, queues: &mut [LeafQueue], leaf: LeafId, class: usize) {
        let Some(head) = self.heads.get_mut(class) else { return };
        let next = std::mem::replace(head, leaf);
        self.occupied |= 1 << class;
        if let Some(queue) = queues.get_mut(leaf.index()) {
            (queue.previous, queue.next) = (LeafId::NONE, next);
        }
        if let Some(next) = queues.get_mut(next.index()) {
            next.previous = leaf;
        }
    }

    fn unlink(&mut self, queues: &mut [LeafQueue], leaf: LeafId, class: usize) {
        let Some(queue) = queues.get(leaf.index()) else { return };
        let (previous, next) = (queue.previous, queue.next);
        if let Some(next) = queues.get_mut(next.index()) {
            next.previous = previous;
        }
        if let Some(previous) = queues.get_mut(previous.index()) {
            previous.next = next;
        } else if let Some(head) = self.heads.get_mut(class) {
            *head = next;
            if next == LeafId::NONE {
                self.occupied &= !(1 << class);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tollway_config::dataplane::QueueType;

    use super::*;
    use crate::ids::QueueRef;
    use crate::packet::frame::{HeapFrame, VnetState};
    use crate::packet::verdict::Verdict;
    use crate::qos::addresses::QueueAddresses;
    use crate::qos::forest::{Identity, RowPart};
    use crate::qos::kind::Dequeued;
    use crate::qos::slab::{NodeQueue, Slab, Waiting};
    use crate::time::Now;

    fn waiting() -> Waiting<HeapFrame> {
        Waiting {
            frame: HeapFrame(Vec::new()),
            vnet: VnetState::default(),
            final_verdict: Verdict::default(),
            bytes: 60,
            segments: 1,
            fast: false,
            own: false,
            trace: 0,
            queue: QueueRef::NONE,
            enqueued: Now(0),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn the_first_is_of_the_longest_and_all_are_those_that_wait(
            steps in proptest::collection::vec((0u32..12, any::<bool>(), 1u32..9, any::<bool>()), 1..200),
        ) {
            let leaf = |row| {
                let identity = Identity { row, part: RowPart::Upload };
                LeafQueue::new(identity, row, &QueueType::Pfifo { limit: 10_000 }, 0)
            };
            let mut queues: Vec<LeafQueue> = (0..12).map(leaf).collect();
            let (mut slab, mut longest) = (Slab::new(1 << 20, u64::MAX), Longest::default());
            for (leaf, comes, frames, asks) in steps {
                let leaf = LeafId(leaf);
                for _ in 0..frames {
                    let queue = &mut queues[leaf.index()].kind;
                    if comes {
                        let node = slab.insert(waiting(), &QueueAddresses::default());
                        queue.enqueue(&mut slab, node, Now(0), &mut NodeQueue::default());
                    } else if let Dequeued::Packet(node) = queue.dequeue(&mut slab, Now(0), &mut NodeQueue::default()) {
                        slab.remove(node);
                    }
                    let frames = queue.frames();
                    longest.update(&mut queues, leaf, frames);
                }
                let frames = |leaf: LeafId| queues[leaf.index()].kind.frames();
                let waits: Vec<LeafId> = (0..12).map(LeafId).filter(|leaf| frames(*leaf) != 0).collect();
                let most = waits.iter().map(|leaf| length_class(frames(*leaf))).max();
                let mut all = longest.all(&queues);
                all.sort_unstable();
                prop_assert_eq!(all, waits);
                if asks {
                    let first = longest.first(&mut queues);
                    let length = first.map(|leaf| length_class(queues[leaf.index()].kind.frames()));
                    prop_assert_eq!(length, most);
                }
            }
        }
    }
}
