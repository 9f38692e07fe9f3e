//! Memory that queues will need, asked for before they do: with thousands of leaves, each of which packets meet rarely,
//! next to nothing of what a packet needs is in the cache.
//!
//! ```text
//!  comes: flow cache ─► leaf ─► (queue stage) what waits before it ─► the last frame ─► work
//!  goes:  wheel ─► leaf ─► (turns before) leaf, its queue ─► the first frame ─► work
//! ```

use super::kind::End;
use super::leaf::special;
use super::queues::Queues;
use crate::ids::{QueueRef, QueueRefKind};
use crate::packet::frame::Frame;

/// Turns before its own at which what a leaf needs is fetched.
const LEAF_AHEAD: usize = 8;
/// The same for the frame that it will send, which the leaf has to be there for.
const FRAME_AHEAD: usize = 4;

/// Packets before its own at which the leaf of a packet in a tree is fetched.
pub(crate) const PACKETS_AHEAD: usize = 8;
/// The same for its class, which the leaf has to be there for.
const CLASS_AHEAD: usize = 4;

/// The leaves of the packets that come next.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    leaves: [u32; PACKETS_AHEAD],
    at: usize,
}

impl Ahead {
    /// The leaf of the packet whose turn it is. Has fetched what that with the queue `later` needs, [`PACKETS_AHEAD`] packets on.
    #[inline(always)]
    pub(crate) fn turn<F: Frame>(&mut self, queues: &Queues<F>, later: QueueRef) -> u32 {
        let place = self.at % PACKETS_AHEAD;
        let (first, later) = (self.leaves[place], queues.first_leaf(later));
        self.leaves[place] = later;
        if let Some(leaf) = queues.leaves.get(later as usize) {
            tollway_prefetch::fetch_to_write(leaf);
        }
        if let Some(leaf) = queues.leaves.get(self.leaves[(place + CLASS_AHEAD) % PACKETS_AHEAD] as usize) {
            queues.htb.touch(leaf.class);
        }
        self.at += 1;
        first
    }
}

/// So many leaves stay in the cache between two packets of each: 64 KiB.
const AT_HAND: usize = 1024;

impl<F: Frame> Queues<F> {
    /// Has the leaf fetched that a packet meets at the end of its way.
    #[inline]
    pub fn fetch(&self, queue: QueueRef) {
        if self.leaves.len() > AT_HAND
            && let QueueRefKind::Leaf(number) = queue.kind()
            && let Some(leaf) = self.leaves.get(number as usize)
        {
            tollway_prefetch::fetch_to_write(leaf);
        }
    }

    /// Whether nothing waits, and all leaves are in the cache or near it.
    #[inline]
    pub fn is_at_hand(&self) -> bool {
        self.leaves.len() <= AT_HAND && self.slab.len() == 0
    }

    /// Whether packets may need classes of trees.
    pub fn has_trees(&self) -> bool {
        !self.htb.is_empty()
    }

    /// The leaf to which a queue leads first, or the number of none.
    #[inline]
    pub fn first_leaf(&self, queue: QueueRef) -> u32 {
        if queue.is_path() {
            self.courses.leaf_or_nil(queue.path_number(), queue.path_step())
        } else {
            queue.leaf_number()
        }
    }

    /// Reads of a leaf what brings it into the cache.
    #[inline]
    pub fn touch(&self, number: u32) -> u32 {
        let place = number as usize;
        let Some(leaf) = self.leaves.get(place) else { return 0 };
        if leaf.is(special::TREE) {
            self.htb.touch(leaf.class);
        }
        if leaf.queued() != 0
            && let Some(backlog) = self.backlogs.get(place)
        {
            backlog.fetch();
        }
        leaf.waiting
    }

    /// The leaf to which a queue leads first.
    #[inline]
    pub fn first(&self, queue: QueueRef) -> Option<u32> {
        match queue.kind() {
            QueueRefKind::Leaf(leaf) => Some(leaf),
            QueueRefKind::Path(course, step) => self.courses.leaf(course, step),
            QueueRefKind::NoQueue | QueueRefKind::Handover(_) => None,
        }
    }

    /// Some time after [`Self::touch`]: if packets wait in the leaf, has fetched what another one needs to join them.
    #[inline]
    pub fn fetch_end(&self, number: u32) {
        let place = number as usize;
        if let (Some(leaf), Some(backlog)) = (self.leaves.get(place), self.backlogs.get(place))
            && leaf.queued() != 0
        {
            backlog.queue.fetch(&self.slab, End::Last);
        }
    }

    /// Has fetched what leaves need whose turn is soon.
    #[inline]
    pub(super) fn look_ahead(&self) {
        let later = |turns: usize| {
            let place = *self.due.get(turns)? as usize;
            Some((self.leaves.get(place)?, self.backlogs.get(place)?))
        };
        if let Some((leaf, backlog)) = later(LEAF_AHEAD) {
            tollway_prefetch::fetch_to_write(leaf);
            backlog.fetch();
            backlog.fetch_more();
        }
        if let Some((_, backlog)) = later(FRAME_AHEAD) {
            backlog.queue.fetch(&self.slab, End::First);
        }
    }
}
