//! Protocols without a tracker of their own: addresses and protocol number only.

use super::hot_state::HotState;
use super::protocol::Protocol;
use super::timeouts::Timeouts;
use crate::packet::Meta;

/// A packet. No fields of it are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Packet;

impl Protocol for Packet {
    #[inline(always)]
    fn read(_: &Meta, _: &[u8]) -> Option<Self> {
        Some(Self)
    }

    #[inline(always)]
    fn lifetime(_: &HotState, timeouts: &Timeouts) -> u64 {
        timeouts.generic
    }
}
