//! The state of the run of a tree (see `runs`): the class that lends, and the packets that have passed.

use super::ring::NIL;
use crate::qos::token_bucket::bits_of;
use crate::time::Now;

/// An amount of packets that passed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum {
    /// Wire segments.
    pub segments: u64,
    /// L3 bytes.
    pub bytes: u64,
}

impl Sum {
    /// Adds packets.
    pub fn add(&mut self, segments: u32, bytes: u64) {
        self.segments = self.segments.wrapping_add(u64::from(segments));
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Bits of the bytes.
    pub fn bits(self) -> i64 {
        bits_of(self.bytes)
    }
}

/// The run of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Parent of the leaves of the run; [`NIL`] without a run.
    pub parent: u32,
    /// Parent of the leaf of the last packet that could have been part of a run.
    pub last: u32,
    /// Level of the class that lends.
    pub lender: u8,
    /// The tree is in [`super::node::Core::runs`].
    pub is_listed: bool,
    /// The run is charged to the leases of this worker, not to the shared tokens.
    pub is_leased: bool,
    /// Time at which all its packets pass.
    pub now: Now,
    /// Bits that may be lent before a colour changes; below zero nothing may be lent.
    pub room: i64,
    /// Bits sent by leaves with tokens of the class at level [`Self::lender`].
    pub borrowed: Sum,
    /// Bits sent by leaves with their own tokens.
    pub own: Sum,
}

impl Run {
    /// No run.
    pub const NONE: Self = Self {
        parent: NIL,
        last: NIL,
        lender: 0,
        is_listed: false,
        is_leased: false,
        now: Now(0),
        room: -1,
        borrowed: Sum { segments: 0, bytes: 0 },
        own: Sum { segments: 0, bytes: 0 },
    };

    /// Whether there is a run.
    #[cfg(test)]
    pub const fn is_open(&self) -> bool {
        self.parent != NIL
    }

    /// Whether no packet has passed in it.
    pub const fn is_empty(&self) -> bool {
        self.borrowed.segments == 0 && self.own.segments == 0
    }

    /// Wire segments sent with tokens of the class at a level.
    pub const fn lends(&self, level: u8) -> u64 {
        if level == self.lender { self.borrowed.segments } else { 0 }
    }

    /// Bits to charge to a class of a level: to its `limit-at` tokens and to its `max-limit` tokens.
    pub fn charges(&self, level: u8) -> [i64; 2] {
        let (borrowed, own) = (self.borrowed.bits(), self.own.bits());
        [if level >= self.lender { own.saturating_add(borrowed) } else { own }, own.saturating_add(borrowed)]
    }
}
