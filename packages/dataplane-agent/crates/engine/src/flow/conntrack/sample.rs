//! The protocol of `docs/adding/protocol.md`: requests, which open connections, and answers, distinguished by their
//! first byte. It is there in tests alone, with a number that RFC 3692 keeps for experiments.

use super::hot_state::HotState;
use super::protocol::Protocol;
use super::tcp::ProtocolState;
use super::timeouts::Timeouts;
use crate::ids::Direction;
use crate::packet::Meta;

/// Protocol number of the sample (RFC 3692 §2.1).
pub(super) const PROTOCOL: u8 = 254;

/// First byte of a request; any other is an answer.
const REQUEST: u8 = 1;

/// What is read of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    is_request: bool,
}

impl Protocol for Message {
    #[inline(always)]
    fn read(meta: &Meta, head: &[u8]) -> Option<Self> {
        head.get(usize::from(meta.l4)).map(|kind| Self { is_request: *kind == REQUEST })
    }

    fn open(&self, _: &Timeouts) -> Option<ProtocolState> {
        self.is_request.then(ProtocolState::default)
    }

    /// By its first answer.
    #[inline(always)]
    fn assures(&self, _: &HotState, direction: Direction) -> bool {
        !self.is_request && direction == Direction::Reply
    }

    #[inline(always)]
    fn lifetime(hot: &HotState, timeouts: &Timeouts) -> u64 {
        if hot.status.seen_reply() { timeouts.udp_stream } else { timeouts.udp }
    }

    #[inline(always)]
    fn may_open_anew(&self) -> bool {
        self.is_request
    }
}

#[cfg(test)]
mod tests {
    use tollway_config::dataplane::ConnectionState;

    use super::super::{ConnectionTable, InvalidReason, Timeouts, Transport};
    use super::*;
    use crate::packet::tuple::{Addr, Tuple};
    use crate::time::Now;

    const NOW: Now = Now(1_000_000_000);

    #[test]
    fn a_protocol_of_one_file_and_one_row_is_read_and_tracked() {
        let tuple = Tuple { src: Addr::v4(1), dst: Addr::v4(2), protocol: PROTOCOL, ..Tuple::default() };
        let meta = Meta { tuple, l4: 1, ..Meta::default() };
        let read = |bytes: &[u8]| Transport::read(&meta, bytes);
        assert_eq!(read(&[0]), None, "the header is incomplete");
        let (request, answer) = (read(&[0, REQUEST]).unwrap(), read(&[0, 2]).unwrap());
        assert!(request.may_open_anew() && !answer.may_open_anew());

        let (timeouts, mut table) = (Timeouts::default(), ConnectionTable::new(1, 2, 10, 7));
        let early = table.track(&tuple.reversed(), &answer, NOW, &timeouts);
        assert_eq!(early.reason, Some(InvalidReason::NoEntry), "an answer opens nothing");
        let opened = table.track(&tuple, &request, NOW, &timeouts);
        let conn = opened.conn.unwrap();
        table.confirm(conn).unwrap();
        assert_eq!(opened.state, ConnectionState::New);
        let (index, seconds) = (conn.slot << 1, 1_000_000_000);
        let left = |table: &ConnectionTable| table.get(conn).unwrap().left(NOW) / seconds;
        assert_eq!(left(&table), 30);
        // The first answer assures the connection, which the fast path leaves to the slow one.
        let fast = |table: &mut ConnectionTable, reply: u32, transport| {
            table.fast_update(index | reply, &transport, NOW, &timeouts)
        };
        assert!(fast(&mut table, 0, request) && !fast(&mut table, 1, answer));
        let answered = table.track(&tuple.reversed(), &answer, NOW, &timeouts);
        assert_eq!((answered.state, answered.reason), (ConnectionState::Established, None));
        assert!(table.get(conn).unwrap().status.assured());
        assert!(fast(&mut table, 1, answer));
        assert_eq!(left(&table), 180);
        assert!(!table.may_offload(conn, NOW, &timeouts), "each packet is looked at");
        assert!(table.add_offloaded_counts(conn, Direction::Reply, (1, 100), NOW, &timeouts));
        assert_eq!(left(&table), 180);
    }
}
