//! UDP: one-way and two-way timeouts.

use super::hot_state::HotState;
use super::protocol::Protocol;
use super::timeouts::Timeouts;
use crate::ids::Direction;
use crate::packet::Meta;

/// A datagram, of which nothing is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Datagram;

impl Protocol for Datagram {
    #[inline(always)]
    fn read(_: &Meta, _: &[u8]) -> Option<Self> {
        Some(Self)
    }

    /// Traffic both ways beyond the first exchange. A DNS lookup, one question and one answer, is not.
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
