//! Hierarchical token buckets (Devera, 2002): classes in trees, guaranteed their `limit-at`, that borrow from the
//! classes above up to their `max-limit`.
//!
//! It says which leaf may send; leaves' packets are elsewhere. A worker uses one [`Htb`] for all trees of more than
//! one class.
//!
//! ```text
//!  a packet comes, nothing waits in its leaf ─► pass ─► true: goes at once
//!                                                └► false: waits in the leaf ─► activate
//!  later:  next ─► the leaf whose turn it is sends ─► sent ─► (nothing waits any more) deactivate
//! ```

use std::sync::Arc;

use tollway_config::dataplane::RowId;

use super::forest::{ClassId, Forest};
use crate::time::Now;

/// The accounts of the trees of all workers. One for all of them.
#[derive(Debug, Default)]
pub struct Accounts {}

/// A worker's view of all trees of more than one class.
#[derive(Debug)]
pub struct Htb {
    _worker: u32,
    _workers: u32,
}

/// A leaf whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The leaf.
    pub leaf: ClassId,
    /// It may go on sending packets until they have reached so many L3 bytes; one packet in any case.
    pub bytes: u64,
}

/// Colour of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Above its `max-limit`: sends nothing.
    Red,
    /// Above its `limit-at`: sends what a class above lends.
    Yellow,
    /// Below its `limit-at`: sends on its own.
    Green,
}

/// What is known of a class. Counters are of this worker alone; those of all workers add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassView {
    /// L3 bytes that passed it.
    pub bytes: u64,
    /// Wire segments that passed it.
    pub packets: u64,
    /// Wire segments that it could send because a class above lent.
    pub borrows: u64,
    /// Wire segments for which it lent, to itself or to one below.
    pub lends: u64,
    /// L3 bytes of the last full second.
    pub second_bytes: u64,
    /// Wire segments of the last full second.
    pub second_packets: u64,
    /// Bits that it may send on its own; below zero what went too early. Of all workers.
    pub tokens: i64,
    /// Bits that it may send at all; `i64::MAX` without `max-limit`. Of all workers.
    pub ceiling_tokens: i64,
    /// Colour.
    pub mode: Mode,
}

impl Htb {
    /// Without trees.
    pub fn new(worker: u32, workers: u32) -> Self {
        Self { _worker: worker, _workers: workers }
    }

    /// Takes over another configuration. Classes keep tokens, deficits and counters by [`Class::identity`]; leaves
    /// that packets wait in stay active. Leaves that are gone are forgotten.
    ///
    /// [`Class::identity`]: super::forest::Class::identity
    pub fn swap(&mut self, _forest: &Arc<Forest>, _accounts: &Accounts, _now: Now) {}

    /// Makes the leaf this worker's, with the tokens that the worker had left which had it before. Only the worker
    /// that has a leaf may call [`Self::pass`], [`Self::activate`] and [`Self::sent`] for it.
    pub fn take(&mut self, _leaf: ClassId, _now: Now) {}

    /// Leaves the leaf, in which nothing waits, to other workers.
    pub fn give_up(&mut self, _leaf: ClassId, _now: Now) {}

    /// Nothing waits in the leaf: may a packet go at once? That is when there are tokens along its way, nobody waits
    /// that would come first, and its port takes packets. If so, charges and counts it.
    #[inline]
    pub fn pass(&mut self, _leaf: ClassId, _segments: u32, _bytes: u64, _now: Now) -> bool {
        true
    }

    /// Something waits in the leaf. May be called again.
    pub fn activate(&mut self, _leaf: ClassId, _now: Now) {}

    /// Nothing waits in the leaf any more, or nothing that may go (a queue kind with rates of its own).
    pub fn deactivate(&mut self, _leaf: ClassId) {}

    /// The leaf whose turn it is; active. Asked again without [`Self::sent`] or [`Self::deactivate`] in between, the
    /// answer is the same.
    pub fn next(&mut self, _now: Now) -> Option<Turn> {
        None
    }

    /// Charges and counts what a leaf sent on its turn, or what left it for another reason.
    pub fn sent(&mut self, _leaf: ClassId, _segments: u32, _bytes: u64, _now: Now) {}

    /// When [`Self::next`] may have an answer, or something else to do; `now` if it has one now.
    pub fn next_deadline(&self, _now: Now) -> Option<Now> {
        None
    }

    /// A port takes no packets: trees of its interface do not send.
    pub fn set_blocked(&mut self, _interface: RowId, _blocked: bool) {}

    /// What is known of a class.
    pub fn view(&self, _class: ClassId, _now: Now) -> Option<ClassView> {
        None
    }

    /// Highest rate of a leaf and the classes above it, bits/s; 0 no limit. What is longer on the wire at this rate
    /// than a moment should not be sent in one piece.
    pub fn rate(&self, _leaf: ClassId) -> u64 {
        0
    }
}
