//! Eviction from a full table: lists of the connections that may be removed for new ones, oldest first.

use super::ConnectionTable;
use crate::flow::conntrack::connection::NIL;
use crate::flow::conntrack::hot_state::HotState;
use crate::flow::conntrack::tcp::State;

/// Classes of evictable connections, in the order of eviction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Evictable {
    /// Closed by both ends, or reset.
    Over,
    /// Not assured. Scans and floods are among these, so the connections that a flood opens evict those that it opened
    /// before.
    Unassured,
    /// Closed by one end; the other may still send.
    Closing,
}

/// Number of [`Evictable`] kinds.
const KINDS: usize = 3;

/// Value for connections that are in no list.
pub(super) const UNLISTED: u8 = u8::MAX;

#[derive(Debug, Clone, Copy)]
struct EvictionList {
    oldest: u32,
    newest: u32,
}

/// The lists of evictable connections; their links are in the [cold states](super::store::ColdState).
#[derive(Debug)]
pub(super) struct Evictables([EvictionList; KINDS]);

impl Default for Evictables {
    fn default() -> Self {
        Self([EvictionList { oldest: NIL, newest: NIL }; KINDS])
    }
}

impl Evictables {
    /// The connection that is evicted first.
    fn first(&self) -> Option<u32> {
        self.0.iter().map(|list| list.oldest).find(|slot| *slot != NIL)
    }

    /// Whether nothing can be evicted.
    pub fn is_empty(&self) -> bool {
        self.first().is_none()
    }
}

/// The list to which a connection belongs. A connection that has ended and is to be freed is in none.
fn kind(hot: &HotState) -> Option<Evictable> {
    let status = hot.status;
    let ended = !status.original_indexed() && !status.reply_indexed();
    if !status.used() || !status.confirmed() || ended {
        return None;
    }
    match hot.protocol_state.state() {
        State::TimeWait | State::Close => Some(Evictable::Over),
        _ if !hot.status.assured() => Some(Evictable::Unassured),
        State::FinWait | State::CloseWait | State::LastAck => Some(Evictable::Closing),
        State::None | State::SynSent | State::SynRecv | State::Established | State::SynSent2 => None,
    }
}

impl ConnectionTable {
    /// Evicts the first evictable connection. Returns `false` if none is evictable.
    pub(super) fn evict(&mut self) -> bool {
        let Some(slot) = self.evictables.first() else { return false };
        self.remove_slot(slot);
        self.counters.evicted += 1;
        true
    }

    /// Moves a connection to the list to which it belongs now. To be called when it was confirmed or became assured,
    /// and when its TCP state has changed.
    pub(in crate::flow::conntrack) fn relist(&mut self, slot: u32) {
        let Some(hot) = self.hot.get(slot as usize) else { return };
        let list = kind(hot).map_or(UNLISTED, |kind| kind as u8);
        if self.records.get(slot as usize).is_some_and(|record| record.list != list) {
            self.unlist(slot);
            self.append(slot, list);
            if list == Evictable::Over as u8 {
                self.note_over(slot);
            }
        }
    }

    fn append(&mut self, slot: u32, list: u8) {
        let Some(ends) = self.evictables.0.get_mut(usize::from(list)) else { return };
        let newest = std::mem::replace(&mut ends.newest, slot);
        if newest == NIL {
            ends.oldest = slot;
        }
        if let Some(record) = self.records.get_mut(slot as usize) {
            (record.older, record.newer, record.list) = (newest, NIL, list);
        }
        if let Some(record) = self.records.get_mut(newest as usize) {
            record.newer = slot;
        }
    }

    /// Removes a connection from its list, if it is in one.
    pub(super) fn unlist(&mut self, slot: u32) {
        let Some(record) = self.records.get_mut(slot as usize) else { return };
        let list = std::mem::replace(&mut record.list, UNLISTED);
        let Some(ends) = self.evictables.0.get_mut(usize::from(list)) else { return };
        let (older, newer) = (record.older, record.newer);
        (record.older, record.newer) = (NIL, NIL);
        if older == NIL {
            ends.oldest = newer;
        }
        if newer == NIL {
            ends.newest = older;
        }
        if let Some(record) = self.records.get_mut(older as usize) {
            record.newer = newer;
        }
        if let Some(record) = self.records.get_mut(newer as usize) {
            record.older = older;
        }
    }

    /// Whether the lists hold exactly what belongs there.
    #[cfg(test)]
    pub(in crate::flow::conntrack) fn lists_agree(&self) -> bool {
        let mut listed = vec![UNLISTED; self.hot.len()];
        for (number, list) in (0u8..).zip(&self.evictables.0) {
            let (mut slot, mut before) = (list.oldest, NIL);
            while slot != NIL {
                let record = &self.records[slot as usize];
                if record.older != before || record.list != number || listed[slot as usize] != UNLISTED {
                    return false;
                }
                listed[slot as usize] = number;
                (before, slot) = (slot, record.newer);
            }
            if list.newest != before {
                return false;
            }
        }
        let expected = self.hot.iter().map(|hot| kind(hot).map_or(UNLISTED, |kind| kind as u8));
        listed.into_iter().eq(expected)
    }
}
