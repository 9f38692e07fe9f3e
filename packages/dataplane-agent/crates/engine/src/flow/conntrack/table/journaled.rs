//! Connections in the journal: adds changes to it, and restores connections from it.

use tollway_wire::ipv4::TCP;

use super::ConnectionTable;
use crate::flow::conntrack::connection::Connection;
use crate::flow::conntrack::journal::{Change, PENDING, Translated};
use crate::flow::conntrack::status::Status;
use crate::flow::conntrack::tcp::{ProtocolState, State};
use crate::flow::conntrack::timeouts::Timeouts;
use crate::ids::{ConnRef, Direction};
use crate::time::Now;

/// Time that a restored connection waits for its first packet, ns: as long as the default timeout of unacknowledged
/// data.
const RESTORED_TIMEOUT_NS: u64 = 300_000_000_000;

fn is_kept(protocol: u8, status: Status) -> bool {
    protocol == TCP && status.assured() && (status.srcnat() || status.dstnat())
}

/// Whether a connection was closed by both ends or reset: it is not restored for the few packets that may follow.
fn is_over(state: State) -> bool {
    matches!(state, State::TimeWait | State::Close)
}

fn translated(conn: &Connection) -> Translated {
    Translated {
        original: conn.original,
        reply: conn.reply,
        srcnat: conn.status.srcnat(),
        dstnat: conn.status.dstnat(),
        masquerade: conn.nat.masquerade,
        mark: conn.mark,
    }
}

impl ConnectionTable {
    /// The oldest change that has not been taken.
    pub fn take_change(&mut self) -> Option<Change> {
        self.journal.pop()
    }

    /// Adds a connection that became assured to the journal, if it is to be kept.
    pub(in crate::flow::conntrack) fn note_assured(&mut self, slot: u32) {
        if self.is_kept_at(slot)
            && let Some(conn) = self.connection(slot)
        {
            self.journal.push(Change::Appeared(translated(&conn)), PENDING);
        }
    }

    fn is_kept_at(&self, slot: u32) -> bool {
        let protocol = self.protocol(slot);
        self.connection_at(slot << 1).is_some_and(|hot| is_kept(protocol, hot.status))
    }

    /// Called when a connection was closed by both ends or reset: adds its end to the journal.
    pub(in crate::flow::conntrack) fn note_over(&mut self, slot: u32) {
        if self.is_kept_at(slot) {
            self.push_end(slot);
        }
    }

    /// Called when a connection with this status and state ends: adds its end to the journal.
    pub(in crate::flow::conntrack) fn note_ended(&mut self, slot: u32, status: Status, state: State) {
        // The end of a closed connection is in the journal already.
        if is_kept(self.protocol(slot), status) && !is_over(state) {
            self.push_end(slot);
        }
    }

    fn push_end(&mut self, slot: u32) {
        let limit = PENDING + self.max_entries();
        match self.original_key(slot) {
            Some(key) => self.journal.push_end(key, limit),
            None => self.journal.push(Change::Ended(self.tuples_of(slot).original), limit),
        }
    }

    /// Creates a connection from the journal, with unknown windows, which are learned from its next packets. Returns
    /// `None` if there is no room, if another connection holds one of its tuples, or if the tuples are not those of a
    /// translated TCP connection.
    pub fn restore(&mut self, saved: &Translated, now: Now, timeouts: &Timeouts) -> Option<ConnRef> {
        let tcp = saved.original.protocol == TCP && saved.reply.protocol == TCP;
        if !tcp || saved.original == saved.reply || !(saved.srcnat || saved.dstnat) {
            return None;
        }
        if self.find(&saved.original).is_some() || self.find(&saved.reply).is_some() {
            return None;
        }
        let slot = self.create(saved.original, ProtocolState::restored())?;
        self.extend(slot, now, RESTORED_TIMEOUT_NS, timeouts);
        let reference = self.reference(slot << 1)?;
        if let Some(hot) = self.get_mut(reference) {
            hot.status.set_seen_reply();
            hot.status.set_assured();
            if saved.srcnat {
                hot.status.set_srcnat();
            }
            if saved.dstnat {
                hot.status.set_dstnat();
            }
        }
        self.bind_destination(reference, None);
        self.set_mark(reference, saved.mark);
        if self.reserve_reply(reference, saved.reply).and_then(|()| self.confirm(reference)).is_err() {
            self.remove_slot(slot);
            return None;
        }
        let (source, own) =
            ((saved.reply.dst, saved.reply.dst_port), (saved.original.src, saved.original.src_port));
        self.bind_source(reference, (source != own).then_some(source.0), saved.masquerade);
        debug_assert!(self.find(&saved.reply).is_some_and(|(_, direction)| direction == Direction::Reply));
        Some(reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::conntrack::Transport;
    use crate::flow::conntrack::journal::Journal;
    use crate::flow::conntrack::tcp::Segment;
    use crate::packet::key::FlowKey;
    use crate::packet::tuple::{Addr, Tuple};
    use tollway_config::dataplane::{ConnectionState, Tracking};

    fn tuple(src: u32, dst: u32, src_port: u16, dst_port: u16) -> Tuple {
        Tuple { src: Addr::v4(src), dst: Addr::v4(dst), src_port, dst_port, protocol: 6, icmp: 0, zone: 0 }
    }

    fn saved() -> Translated {
        Translated {
            original: tuple(1, 2, 1000, 80),
            reply: tuple(2, 9, 80, 4000),
            srcnat: true,
            dstnat: false,
            masquerade: 7,
            mark: 0,
        }
    }

    #[test]
    fn a_restored_connection_takes_up_both_directions_and_its_end_is_noted() {
        let timeouts = Timeouts::new(&Tracking::default());
        let mut table = ConnectionTable::new(0, 1, 16, 5);
        let saved = saved();
        assert!(table.restore(&saved, Now(1), &timeouts).is_some());
        assert!(table.restore(&saved, Now(1), &timeouts).is_none());
        let segment = |seq, ack| {
            Transport::Tcp(Segment {
                seq,
                ack,
                payload: 1000,
                window: 500,
                flags: 0x10,
                ..Default::default()
            })
        };
        for (at, (of, transport)) in [
            (saved.original, segment(5_000, 900_000)),
            (saved.reply, segment(900_000, 6_000)),
            (saved.original, segment(6_000, 901_000)),
            (saved.reply, segment(901_000, 7_000)),
        ]
        .into_iter()
        .enumerate()
        {
            let tracked = table.track(&of, &transport, Now(10 + at as u64), &timeouts);
            assert_eq!(tracked.state, ConnectionState::Established, "packet {at}");
            let conn = table.get(tracked.conn.unwrap()).unwrap();
            assert_eq!(conn.target(Direction::Original), saved.reply.reversed());
        }
        assert_eq!(table.take_change(), None);
        let id = table.connections().next().unwrap().id;
        assert!(table.remove(id));
        assert_eq!(table.take_change(), Some(Change::Ended(saved.original)));
        assert_eq!(table.take_change(), None);
    }

    #[test]
    fn a_reset_or_fin_from_nowhere_does_not_end_a_restored_connection() {
        let timeouts = Timeouts::new(&Tracking::default());
        let segment =
            |seq, ack, flags| Transport::Tcp(Segment { seq, ack, window: 500, flags, ..Default::default() });
        for flags in [0x04, 0x14, 0x11] {
            let mut table = ConnectionTable::new(0, 1, 16, 5);
            let saved = saved();
            assert!(table.restore(&saved, Now(1), &timeouts).is_some());
            let states: Vec<_> = [
                (saved.reply, segment(3_999_999_999, 5_000, flags)),
                (saved.original, segment(77, 9_000, flags)),
                (saved.original, segment(5_000, 9_000, 0x10)),
                (saved.reply, segment(9_000, 5_000, 0x10)),
                // From here on the router knows where a reset has to be.
                (saved.reply, segment(900_000_000, 5_000, flags)),
                (saved.reply, segment(9_000, 5_000, flags)),
            ]
            .iter()
            .map(|(of, transport)| {
                table.track(of, transport, Now(10), &timeouts);
                table.connections().next().map(|connection| connection.protocol_state.state())
            })
            .collect();
            assert_eq!(states[..4], [Some(State::Established); 4], "{flags}");
            // A FIN tells where it is, a reset has to be where the router expects it.
            let ends = if flags == 0x11 {
                [State::FinWait, State::LastAck]
            } else {
                [State::Established, State::Close]
            };
            assert_eq!(states[4..], ends.map(Some), "{flags}");
        }
    }

    #[test]
    fn a_closed_connection_is_not_kept_and_told_of_once() {
        const CLOSED: [u8; 2] = [0x11, 0x11];
        const RESET: [u8; 2] = [0x10, 0x14];
        let timeouts = Timeouts::new(&Tracking::default());
        for flags in [CLOSED, RESET] {
            let mut table = ConnectionTable::new(0, 1, 16, 5);
            let saved = saved();
            assert!(table.restore(&saved, Now(1), &timeouts).is_some());
            let segment = |seq, ack, flags| {
                Transport::Tcp(Segment { seq, ack, window: 500, flags, ..Default::default() })
            };
            for (at, (of, transport)) in [
                (saved.original, segment(5_000, 9_000, 0x10)),
                (saved.reply, segment(9_000, 5_000, 0x10)),
                (saved.original, segment(5_000, 9_000, flags[0])),
                (saved.reply, segment(9_000, 5_000 + u32::from(flags[0] & 1), flags[1])),
            ]
            .into_iter()
            .enumerate()
            {
                assert_eq!(table.take_change(), None, "packet {at}");
                table.track(&of, &transport, Now(10 + at as u64), &timeouts);
            }
            if flags == CLOSED {
                assert_eq!(table.take_change(), None, "the last FIN may be lost");
                table.track(&saved.original, &segment(5_001, 9_001, 0x10), Now(20), &timeouts);
            }
            assert_eq!(table.take_change(), Some(Change::Ended(saved.original)), "{flags:?}");
            let id = table.connections().next().unwrap().id;
            assert!(table.remove(id));
            assert_eq!(table.take_change(), None);
        }
    }

    #[test]
    fn every_end_is_told_however_many_come_at_once() {
        let count = 2 * PENDING as u32;
        let mut table = ConnectionTable::new(0, 1, count, 5);
        let timeouts = Timeouts::default();
        for host in 1..=count {
            let (original, reply) = (tuple(host, 2, 1000, 80), tuple(2, host + count, 80, 1000));
            let saved = Translated { original, reply, ..saved() };
            assert!(table.restore(&saved, Now(1), &timeouts).is_some());
        }
        table.begin_purge();
        assert_eq!(table.purge_masqueraded(u32::MAX, |_, _| true), count as usize);
        let ends = std::iter::from_fn(|| table.take_change()).count();
        assert_eq!(ends, count as usize);
        assert!(table.journal.ends.capacity() <= 2 * PENDING);
    }

    #[test]
    fn changes_are_taken_in_the_order_in_which_they_came() {
        let mut journal = Journal::default();
        let mut expected = Vec::new();
        for port in 1..=300 {
            let original = tuple(1, 2, port, 80);
            let change = match port % 7 {
                0 | 3 => Change::Appeared(Translated { original, ..saved() }),
                5 => Change::Ended(Tuple { src: Addr(u128::from(port)), ..original }),
                _ => Change::Ended(original),
            };
            match change {
                Change::Ended(original) if original.src.as_v4().is_some() => {
                    journal.push_end(FlowKey::of(&original), 300);
                }
                change => journal.push(change, 300),
            }
            expected.push(change);
            if port % 3 == 0 {
                assert_eq!(journal.pop(), Some(expected.remove(0)));
            }
        }
        let limit = journal.len();
        journal.push(Change::Ended(tuple(9, 9, 9, 9)), limit);
        journal.push_end(FlowKey::of(&tuple(9, 9, 9, 9)), limit);
        assert_eq!(std::iter::from_fn(|| journal.pop()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_cannot_have_been_a_translated_connection_is_not_restored() {
        let mut table = ConnectionTable::new(0, 1, 16, 5);
        let plain = saved();
        for wrong in [
            Translated { reply: plain.original, ..plain },
            Translated { srcnat: false, ..plain },
            Translated { original: Tuple { protocol: 17, ..plain.original }, ..plain },
        ] {
            assert_eq!(table.restore(&wrong, Now(1), &Timeouts::default()), None);
        }
        assert!(table.is_empty());
    }
}
