//! Copying single connections from one table to another, for the dry run of a packet.

use tollway_config::dataplane::Mark;
use tollway_wire::ipv4;

use super::ConnectionTable;
use super::evict::Evictables;
use crate::flow::actions::{ActionOf, FlowAction, FlowActions};
use crate::flow::conntrack::connection::{Connection, Totals};
use crate::flow::conntrack::entry::CachedAction;
use crate::flow::conntrack::hot_state::HotState;
use crate::flow::conntrack::validity::Validity;
use crate::ids::{Direction, NO_ACTION, QueueRef};
use crate::packet::family::Family;
use crate::packet::membership_slot::MembershipSlot;
use crate::packet::tuple::Tuple;

/// A copy of a connection.
#[derive(Debug, Clone)]
pub struct Copied {
    connection: Connection,
    hot: HotState,
    totals: Totals,
    /// Packets and bytes of a fasttracked connection that do not count as fasttracked.
    slow_part: Totals,
    /// Valid action per direction.
    actions: [Option<CopiedAction>; 2],
    validities: [Option<Validity>; 2],
}

/// A copy of a cached action.
#[derive(Debug, Clone, Copy)]
struct CopiedAction {
    cached: CachedAction,
    action: FlowAction,
    /// Routing mark of its packets.
    mark: Mark,
    /// The lists that it depends on.
    lists: [MembershipSlot; 2],
}

impl Copied {
    /// Direction of the packets with a tuple.
    pub(crate) fn direction_of(&self, tuple: &Tuple) -> Direction {
        if self.connection.original == *tuple { Direction::Original } else { Direction::Reply }
    }

    /// Whether packets with a tuple belong to it.
    pub(crate) fn holds(&self, tuple: &Tuple) -> bool {
        [self.connection.original, self.connection.reply].contains(tuple)
    }

    /// Sequence number and acknowledgement of the next segment of the sender of a tuple; `None` when it is not TCP.
    pub(crate) fn expected(&self, tuple: &Tuple) -> Option<(u32, u32)> {
        (tuple.protocol == ipv4::TCP)
            .then(|| self.connection.protocol_state.expected(self.direction_of(tuple)))
    }

    /// Whether rules are evaluated for each packet of a direction although it is cached.
    pub(crate) fn resumes(&self, direction: Direction) -> bool {
        self.actions
            .get(direction.index())
            .is_some_and(|known| known.is_some_and(|known| known.action.resume != 0))
    }
}

impl ConnectionTable {
    /// A copy of the connection to which packets with this tuple belong, with its cached actions of this epoch.
    pub fn copy_of(&self, tuple: &Tuple, actions: &FlowActions) -> Option<Copied> {
        let (reference, _) = self.find(tuple)?;
        let (connection, hot) = (self.get(reference)?, self.hot.get(reference.slot as usize)?.clone());
        let entries = [Direction::Original, Direction::Reply].map(|way| Self::index(reference.slot, way));
        let actions = entries.map(|entry| {
            let cached = self.installed(entry)?;
            Some(CopiedAction {
                cached: *cached,
                action: *actions.get(cached.action)?,
                mark: actions.routing_mark(cached.action),
                lists: self.memberships(entry),
            })
        });
        let (totals, fasttracked) = self.totals(reference.slot);
        let slow_part = totals.minus(fasttracked);
        let validities = entries.map(|entry| self.validity(entry));
        Some(Copied { connection, hot, totals, slow_part, actions, validities })
    }

    /// Inserts a copy of a connection of another table. If `cached`, also its cached actions, as `actions` of this worker
    /// and without queue, path and resume point, whose numbers are valid for one worker only. Returns `false` if there
    /// is no room.
    pub(crate) fn paste(&mut self, copied: &Copied, cached: bool, actions: &mut FlowActions) -> bool {
        let from = &copied.connection;
        let Some(slot) = self.create(from.original, from.protocol_state) else { return false };
        if from.status.reply_indexed() {
            self.enter(slot, Direction::Reply, &from.reply);
        } else {
            self.set_tuple(slot, Direction::Reply, &from.reply);
        }
        let Some(hot) = self.hot.get_mut(slot as usize) else { return false };
        *hot = copied.hot.clone();
        hot.slow_batch = 0;
        // The counts of the hot state are included in the totals.
        hot.take_counts();
        hot.status.set_spilled();
        let status = hot.status;
        self.spilled.set(slot, copied.totals);
        self.slow_part.set(slot, copied.slow_part);
        if let Some(record) = self.records.get_mut(slot as usize) {
            (record.mark, record.masquerade) = (from.mark, from.nat.masquerade);
        }
        if status.fasttrack() {
            self.note_fasttracked(slot);
        }
        self.relist(slot);
        let directions = [Direction::Original, Direction::Reply].into_iter().filter(|_| cached);
        for (direction, (known, validity)) in
            directions.zip(copied.actions.into_iter().zip(copied.validities))
        {
            let index = Self::index(slot, direction);
            if let (Some(entry), Some(known)) = (self.entries.get_mut(index), known) {
                let CopiedAction { cached, action, mark, lists } = known;
                let family = if from.original.src.as_v4().is_some() { Family::V4 } else { Family::V6 };
                let of = ActionOf { family, mark };
                let action = actions.intern(FlowAction { path: 0, resume: 0, ..action }, of);
                let action = action.unwrap_or(NO_ACTION);
                entry.cached = CachedAction { action, queue: QueueRef::NONE, ..cached };
                self.memberships.set(index, lists);
            }
            if let Some(validity) = validity {
                self.validities.set(index, validity);
            }
        }
        true
    }

    /// Whether a new connection would find no room.
    pub fn is_full(&self) -> bool {
        self.live >= self.max_entries && self.evictables.is_empty()
    }

    /// Makes the table full, so that no new connection is created.
    pub(crate) fn close(&mut self) {
        self.max_entries = self.live;
        self.evictables = Evictables::default();
    }
}
