//! A copy of all state of one connection, collected from the arrays of the table.

use tollway_config::dataplane::RowId;

use super::hot_state::{self, HotState};
use super::status::Status;
use super::tcp::ProtocolState;
use crate::ids::Direction;
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::Tuple;
use crate::time::Now;

/// The decisions of NAT about the first packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NatInfo {
    /// The destination translation is decided; it may be none.
    pub destination_bound: bool,
    /// The source translation is decided; it may be none. The reply tuple is reserved.
    pub source_bound: bool,
    /// Interface row whose address a masquerade rule took; 0 without masquerade.
    pub masquerade: RowId,
    /// The directory holds the original tuple, because its packets are steered to another worker.
    pub published: bool,
}

/// Packets and bytes of a connection, per direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Wire segments.
    pub packets: [u64; 2],
    /// L3 bytes.
    pub bytes: [u64; 2],
}

impl Totals {
    /// The totals of packets of one direction.
    pub fn of(direction: Direction, packets: u32, bytes: u64) -> Self {
        let pair = |amount| match direction {
            Direction::Original => [amount, 0],
            Direction::Reply => [0, amount],
        };
        Self { packets: pair(u64::from(packets)), bytes: pair(bytes) }
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::wrapping_add)
    }

    /// The difference.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.with(other, u64::wrapping_sub)
    }

    fn with(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        let pair = |[a, b]: [u64; 2], [c, d]: [u64; 2]| [of(a, c), of(b, d)];
        Self { packets: pair(self.packets, other.packets), bytes: pair(self.bytes, other.bytes) }
    }
}

/// Both tuples of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuples {
    /// Tuple of the original direction, as received.
    pub original: Tuple,
    /// Tuple of the reply direction, as received.
    pub reply: Tuple,
}

impl Tuples {
    /// Tuple of the packets of a direction, as they arrive.
    #[inline]
    pub const fn tuple(&self, direction: Direction) -> &Tuple {
        match direction {
            Direction::Original => &self.original,
            Direction::Reply => &self.reply,
        }
    }

    /// Tuple of the packets of a direction, as they leave.
    #[inline(always)]
    pub fn target(&self, direction: Direction) -> Tuple {
        self.tuple(direction.reverse()).reversed()
    }
}

/// A copy of the state of a connection. For listings; too expensive for the packet path.
#[derive(Debug, Clone)]
pub struct Connection {
    /// TCP windows and state; of ICMP its first type and code; unused for other protocols.
    pub protocol_state: ProtocolState,
    /// Status bits.
    pub status: Status,
    /// Version of the connection: it changes whenever a change of state, mark or NAT invalidates the cached actions of
    /// both directions.
    pub version: u16,
    /// Id that is unique over time: the worker in the top byte, then the number of allocations of the slot, then the
    /// slot.
    pub id: u64,
    /// Connection mark.
    pub mark: u32,
    /// NAT decisions.
    pub nat: NatInfo,
    /// Tuple of the original direction, as received.
    pub original: Tuple,
    /// Tuple of the reply direction, as received.
    pub reply: Tuple,
    expires: u32,
    slow: [Option<SlowReason>; 2],
}

impl Connection {
    /// A copy of a connection's state.
    #[inline]
    pub(super) fn new(hot: &HotState, id: u64, mark: u32, masquerade: RowId, tuples: Tuples) -> Self {
        let status = hot.status;
        let nat = NatInfo {
            destination_bound: status.destination_bound(),
            source_bound: status.source_bound(),
            masquerade,
            published: status.published(),
        };
        let Tuples { original, reply } = tuples;
        let (protocol_state, version) = (hot.protocol_state, hot.version);
        let (expires, slow) = (hot.expires, hot.slow);
        Self { protocol_state, status, version, id, mark, nat, original, reply, expires, slow }
    }
    /// Both tuples.
    pub fn tuples(&self) -> Tuples {
        Tuples { original: self.original, reply: self.reply }
    }
    /// Tuple of the packets of a direction, as they arrive.
    pub fn tuple(&self, direction: Direction) -> Tuple {
        *self.tuples().tuple(direction)
    }
    /// Tuple of the packets of a direction, as they leave.
    pub fn target(&self, direction: Direction) -> Tuple {
        self.tuples().target(direction)
    }
    /// Why the last packet of a direction was not cached; `None` if it was, or if there was none.
    pub fn slow_reason(&self, direction: Direction) -> Option<SlowReason> {
        self.slow.get(direction.index()).copied().flatten()
    }
    /// Time to live without another packet, ns.
    pub fn left(&self, now: Now) -> u64 {
        hot_state::left(self.expires, now)
    }
}

/// No connection.
pub(super) const NIL: u32 = u32::MAX;
