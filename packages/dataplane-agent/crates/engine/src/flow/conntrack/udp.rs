//! UDP: one-way and two-way timeouts.

use super::hot_state::HotState;
use super::protocol::Protocol;
use super::timeouts::Timeouts;
use crate::ids::Direction;
use crate::packet::Meta;

/// A datagram. No fields of it are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Datagram;

impl Protocol for Datagram {
    #[inline(always)]
    fn read(_: &Meta, _: &[u8]) -> Option<Self> {
        Some(Self)
    }

    /// A packet of the original direction after a reply. So a DNS lookup, one query and one reply, does not make a
    /// connection assured.
    #[inline(always)]
    fn assures(&self, hot: &HotState, direction: Direction) -> bool {
        hot.status.seen_reply() && direction == Direction::Original
    }

    /// `udp-timeout` until a reply, then `udp-stream-timeout`.
    #[inline(always)]
    fn lifetime(hot: &HotState, timeouts: &Timeouts) -> u64 {
        if hot.status.seen_reply() { timeouts.udp_stream } else { timeouts.udp }
    }

    fn may_offload(_: &HotState, _: &Timeouts) -> bool {
        true
    }
}
