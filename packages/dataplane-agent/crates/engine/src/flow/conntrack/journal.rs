//! The journal of translated TCP connections, so that they survive a restart of the process: it holds their tuples and
//! their translation. The rest of their state is learned again from their next packets. `table/journaled.rs` adds the
//! changes.

use std::collections::VecDeque;

use tollway_config::dataplane::RowId;

use crate::packet::key::FlowKey;
use crate::packet::tuple::Tuple;

/// Number of new connections that are kept until the journal takes them; further ones are not kept. Ended connections
/// may exceed it by the size of the table, as a lost end would leave its connection in the journal for ever.
pub(super) const PENDING: usize = 16_384;

/// A translated connection in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Translated {
    /// Tuple of the original direction.
    pub original: Tuple,
    /// Tuple of the reply direction.
    pub reply: Tuple,
    /// Source is translated.
    pub srcnat: bool,
    /// Destination is translated.
    pub dstnat: bool,
    /// Interface row whose address masquerade took; 0 without masquerade.
    pub masquerade: RowId,
    /// Connection mark.
    pub mark: u32,
}

/// A change of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A connection is to be kept in the journal from now on.
    Appeared(Translated),
    /// The connection ended, or was closed; the tuple is that of the original direction.
    Ended(Tuple),
}

/// Changes since they were last taken.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// Ends of IPv4 connections, by key: an entry takes a sixth of the memory of a [`Change`].
    pub(super) ends: VecDeque<(u64, FlowKey)>,
    /// Other changes.
    others: VecDeque<(u64, Change)>,
    /// Number of the last change: changes are taken in the order in which they were added.
    next: u64,
}

impl Journal {
    /// Number of changes that wait.
    pub(super) fn len(&self) -> usize {
        self.ends.len() + self.others.len()
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Adds a change, unless `limit` changes wait.
    pub(super) fn push(&mut self, change: Change, limit: usize) {
        if self.len() < limit {
            let number = self.number();
            self.others.push_back((number, change));
        }
    }

    /// Adds the end of an IPv4 connection, unless `limit` changes wait.
    pub(super) fn push_end(&mut self, original: FlowKey, limit: usize) {
        if self.len() < limit {
            let number = self.number();
            self.ends.push_back((number, original));
        }
    }

    /// Takes the oldest change.
    pub(super) fn pop(&mut self) -> Option<Change> {
        let first = |number: Option<u64>| number.unwrap_or(u64::MAX);
        let (end, other) = (self.ends.front().map(|end| end.0), self.others.front().map(|other| other.0));
        if first(end) < first(other) {
            pop(&mut self.ends).map(|original| Change::Ended(original.tuple()))
        } else {
            pop(&mut self.others)
        }
    }
}

/// Takes the first entry. When the queue becomes empty, memory that a burst has allocated is freed.
fn pop<T>(waiting: &mut VecDeque<(u64, T)>) -> Option<T> {
    let (_, first) = waiting.pop_front()?;
    if waiting.is_empty() && waiting.capacity() > 2 * PENDING {
        waiting.shrink_to(PENDING);
    }
    Some(first)
}
