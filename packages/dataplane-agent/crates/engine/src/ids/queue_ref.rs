//! References to the queue that a packet enters.

use super::LeafId;

/// Reference to the queue that a packet enters, stored in the packet's metadata and in the flow cache. It belongs to
/// one worker and is valid within a cache epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueRef(u32);

/// Set when the reference is to a hand-over.
const HANDOVER: u32 = 1 << 31;
/// Set when the reference is to a queue path; the step is in its two lowest bits.
const PATH: u32 = 1 << 30;
/// Set when the path has one leaf.
const SHORT: u32 = 1 << 29;

/// The meaning of a queue reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueRefKind {
    /// No queue.
    NoQueue,
    /// A leaf.
    Leaf(LeafId),
    /// A queue path: its index and the step of the next leaf. Used for several leaves, or for one whose selection
    /// depends on more than addresses.
    Path(u32, u8),
    /// Between two workers: the index of the hand-over that goes with the packet.
    Handover(usize),
}

impl QueueRef {
    /// No queue.
    pub const NONE: Self = Self(0);

    /// The packet has passed all queues, including its port's.
    pub const DONE: Self = Self(!HANDOVER);

    /// A leaf.
    pub const fn leaf(leaf: LeafId) -> Self {
        Self((leaf.0 + 1) & !(HANDOVER | PATH))
    }

    /// Reference to a path, starting at a step.
    pub const fn path(index: u32, step: u8) -> Self {
        Self(PATH | (index << 2 | step as u32 & 3) & !(HANDOVER | SHORT))
    }

    /// A path of one leaf.
    pub const fn short(index: u32) -> Self {
        Self(SHORT | Self::path(index, 0).0)
    }

    /// The reference to another step of this path.
    #[must_use]
    pub const fn at(self, step: u8) -> Self {
        match self.kind() {
            QueueRefKind::Path(index, _) => Self::path(index, step),
            _ => self,
        }
    }

    /// The step of a path.
    pub const fn step(self) -> u8 {
        match self.kind() {
            QueueRefKind::Path(_, step) => step,
            _ => 0,
        }
    }

    /// A hand-over.
    pub const fn handover(index: usize) -> Self {
        Self(HANDOVER | index as u32)
    }

    /// Whether the reference is to a queue path. Must not be called with [`Self::NONE`].
    #[inline]
    pub(crate) const fn is_path(self) -> bool {
        self.0 & PATH != 0
    }

    /// Index of the path.
    #[inline]
    pub(crate) const fn path_index(self) -> u32 {
        (self.0 & !(PATH | SHORT)) >> 2
    }

    /// Step of the path.
    #[inline]
    pub(crate) const fn path_step(self) -> u8 {
        (self.0 & 3) as u8
    }

    /// The leaf; for any other reference an id that no leaf has.
    #[inline]
    pub(crate) const fn leaf_id(self) -> LeafId {
        LeafId(self.0.wrapping_sub(1))
    }

    /// The reference with this number.
    #[inline]
    pub(crate) const fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// The reference as a number.
    #[inline]
    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// Whether the reference itself shows that the packet passes at most one leaf.
    #[inline]
    pub(crate) const fn is_short(self) -> bool {
        self.0 & (PATH | SHORT) != PATH
    }

    /// Whether the reference is to a hand-over.
    #[inline]
    pub const fn is_handover(self) -> bool {
        self.0 & HANDOVER != 0
    }

    /// Whether there is no queue.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Target of the reference.
    #[inline]
    pub const fn kind(self) -> QueueRefKind {
        if self.0 & HANDOVER != 0 {
            QueueRefKind::Handover((self.0 & !HANDOVER) as usize)
        } else if self.0 == 0 || self.0 == Self::DONE.0 {
            QueueRefKind::NoQueue
        } else if self.0 & PATH != 0 {
            QueueRefKind::Path(self.path_index(), self.path_step())
        } else {
            QueueRefKind::Leaf(self.leaf_id())
        }
    }
}
