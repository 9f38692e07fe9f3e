//! Tracking: the lookup or creation of a packet's connection, and the update of its state.

use tollway_config::dataplane::ConnectionState;

use super::flow::Flow;
use super::hot_state::HotState;
use super::protocol::{Judgement, Transport};
use super::table::ConnectionTable;
use super::tcp::Order;
use super::timeouts::Timeouts;
use crate::ids::{ConnRef, Direction, EntryIndex, NO_ENTRY};
use crate::packet::key::FlowKey;
use crate::packet::tuple::Tuple;
use crate::time::Now;

/// Why a packet is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidReason {
    /// Out of window, or flags or a type that the connection's state does not allow.
    State,
    /// Belongs to no connection and cannot start one.
    NoEntry,
    /// The table is full of assured connections that are not being closed.
    TableFull,
}

/// The result of tracking a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tracked {
    /// For the matcher `connection-state`.
    pub state: ConnectionState,
    /// The connection; `None` when invalid.
    pub conn: Option<ConnRef>,
    /// Direction of the packet.
    pub direction: Direction,
    /// Why it is invalid, if it is.
    pub reason: Option<InvalidReason>,
    /// Whether a TCP segment is in order; other packets always are.
    pub order: Order,
}

impl Tracked {
    fn invalid(direction: Direction, reason: InvalidReason) -> Self {
        Self {
            state: ConnectionState::Invalid,
            conn: None,
            direction,
            reason: Some(reason),
            order: Order::InOrder,
        }
    }
}

impl ConnectionTable {
    /// Finds or creates the connection of a packet and updates it. A new connection is *unconfirmed*: every packet that
    /// refers to it must be passed to [`ConnectionTable::confirm`] or [`ConnectionTable::abandon`].
    pub fn track(&mut self, tuple: &Tuple, transport: &Transport, now: Now, timeouts: &Timeouts) -> Tracked {
        let key = FlowKey::of(tuple);
        let flow = Flow { tuple, key: &key, hash: self.hash_of(&key, tuple), entry: NO_ENTRY };
        self.track_flow(&flow, transport, now, timeouts)
    }

    /// Tracks like [`Self::track`] a packet whose flow entry has been looked up.
    pub fn track_flow(
        &mut self,
        flow: &Flow<'_>,
        transport: &Transport,
        now: Now,
        timeouts: &Timeouts,
    ) -> Tracked {
        if let Some(index) = self.entry_of(flow) {
            let direction = Self::direction_of(index);
            if self.connection_at(index).is_some_and(|hot| hot.is_alive(now)) {
                match self.judge(index, direction, transport, now, timeouts) {
                    Judgement::Accepted(order) | Judgement::Ignored(order) => {
                        return Tracked { order, ..self.tracked(index, direction) };
                    }
                    Judgement::Invalid => return Tracked::invalid(direction, InvalidReason::State),
                    Judgement::Reopened => self.replace(index >> 1),
                }
            } else {
                self.remove_slot(index >> 1);
            }
        }
        self.open(flow.tuple, transport, now, timeouts)
    }

    /// Tracks a later fragment of a TCP segment, whose data ends at the sequence number `end`. Its connection may be
    /// one that an earlier packet of the same batch created. `None` when there is no connection.
    pub fn join(&mut self, tuple: &Tuple, end: u32, now: Now) -> Option<Tracked> {
        let index = self.find_entry(tuple, self.hash(tuple))?;
        let direction = Self::direction_of(index);
        let hot = self.connection_at_mut(index).filter(|hot| hot.is_alive(now))?;
        hot.protocol_state.extend(direction, end);
        Some(self.tracked(index, direction))
    }

    #[inline]
    fn entry_of(&self, flow: &Flow<'_>) -> Option<EntryIndex> {
        if self.is_entry(flow.entry, flow.key, flow.tuple) {
            return Some(flow.entry);
        }
        self.find_key(flow.tuple, flow.key, flow.hash)
    }

    fn tracked(&mut self, index: EntryIndex, direction: Direction) -> Tracked {
        let (Some(hot), Some(conn)) = (self.connection_at(index), self.reference(index)) else {
            return Tracked::invalid(direction, InvalidReason::NoEntry);
        };
        let status = hot.status;
        if !status.confirmed() {
            self.hold(index >> 1);
        }
        let state = if status.seen_reply() { ConnectionState::Established } else { ConnectionState::New };
        Tracked { state, conn: Some(conn), direction, reason: None, order: Order::InOrder }
    }

    fn open(&mut self, tuple: &Tuple, transport: &Transport, now: Now, timeouts: &Timeouts) -> Tracked {
        let direction = Direction::Original;
        let Some(state) = transport.open(timeouts) else {
            return Tracked::invalid(direction, InvalidReason::NoEntry);
        };
        let lifetime = transport.lifetime(&HotState::new(state), timeouts);
        let Some(slot) = self.create(*tuple, state) else {
            return Tracked::invalid(direction, InvalidReason::TableFull);
        };
        self.extend(slot, now, lifetime, timeouts);
        self.tracked(slot << 1, direction)
    }

    fn judge(
        &mut self,
        index: EntryIndex,
        direction: Direction,
        transport: &Transport,
        now: Now,
        timeouts: &Timeouts,
    ) -> Judgement {
        let Some(conn) = self.connection_at_mut(index) else { return Judgement::Invalid };
        let before = conn.protocol_state.state();
        let judgement = transport.track(&mut conn.protocol_state, direction, timeouts);
        if let Judgement::Invalid | Judgement::Reopened = judgement {
            return judgement;
        }
        note_reply(conn, direction);
        if let Judgement::Ignored(_) = judgement {
            return judgement;
        }
        let lifetime = transport.lifetime(conn, timeouts);
        let newly_assured = !conn.status.assured() && transport.assures(conn, direction);
        let moved = conn.protocol_state.state() != before;
        if newly_assured {
            conn.status.set_assured();
            self.note_assured(index >> 1);
        }
        if newly_assured || moved {
            self.relist(index >> 1);
        }
        self.extend(index >> 1, now, lifetime, timeouts);
        judgement
    }

    /// [`HotState::update`] of a connection by one of its entries.
    #[cfg(test)]
    pub(super) fn fast_update(
        &mut self,
        index: EntryIndex,
        transport: &Transport,
        now: Now,
        timeouts: &Timeouts,
    ) -> bool {
        let direction = Self::direction_of(index);
        self.connection_at_mut(index).is_some_and(|hot| hot.update(direction, transport, now, timeouts))
    }

    /// Tracks, on the fast path, a TCP segment that is out of order, closes its connection or arrives while it is being
    /// closed; for rules the connection is `established` to the end. Returns `None`, and changes nothing, if the packet
    /// must pass [`ConnectionTable::track`] instead.
    #[cold]
    #[inline(never)]
    pub fn track_out_of_order_or_closing(
        &mut self,
        index: EntryIndex,
        transport: &Transport,
        now: Now,
        timeouts: &Timeouts,
    ) -> Option<Order> {
        let Transport::Tcp(segment) = transport else { return None };
        let direction = Self::direction_of(index);
        let hot = self.connection_at_mut(index)?;
        let status = hot.status;
        let known = direction == Direction::Original || status.seen_reply();
        if !known || !hot.is_alive(now) || !status.confirmed() || !status.assured() {
            return None;
        }
        let order = hot.protocol_state.order(direction, segment);
        if hot.protocol_state.track_out_of_order(direction, segment) {
            hot.extend(now, hot.protocol_state.timeout(timeouts));
            return Some(order);
        }
        if !hot.protocol_state.track_closing(direction, segment, timeouts) {
            return None;
        }
        let lifetime = hot.protocol_state.timeout(timeouts);
        self.relist(index >> 1);
        self.extend(index >> 1, now, lifetime, timeouts);
        Some(order)
    }
}

impl HotState {
    /// Tracks, on the fast path, a packet in order that changes nothing but windows and timers. Returns `false`, and
    /// changes nothing, if the packet must pass [`ConnectionTable::track`] instead.
    #[inline(always)]
    pub(crate) fn update(
        &mut self,
        direction: Direction,
        transport: &Transport,
        now: Now,
        timeouts: &Timeouts,
    ) -> bool {
        let status = self.status;
        let known = direction == Direction::Original || status.seen_reply();
        if !known || !self.is_alive(now) || !status.confirmed() {
            return false;
        }
        let Some(lifetime) = transport.track_fast(self, direction, timeouts) else { return false };
        self.extend(now, lifetime);
        true
    }
}

/// Notes a packet of the reply direction; the first one changes `connection-state` in both directions.
fn note_reply(conn: &mut HotState, direction: Direction) {
    if direction == Direction::Reply && !conn.status.seen_reply() {
        conn.status.set_seen_reply();
        conn.invalidate();
    }
}

impl Now {
    /// The time `ns` later.
    pub(super) fn after(self, ns: u64) -> Self {
        Self(self.0.saturating_add(ns))
    }
}
