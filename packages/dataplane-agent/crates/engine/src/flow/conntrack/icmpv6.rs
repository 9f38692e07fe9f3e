//! ICMPv6 echo requests and replies, keyed by identifier and by whether the packet is a query or a reply. Errors are not
//! flows of their own, and messages of the link (neighbour and listener discovery) are not tracked, as in Linux.

use tollway_wire::icmpv6;

use super::hot_state::HotState;
use super::protocol::Protocol;
use super::tcp::ProtocolState;
use super::timeouts::Timeouts;
use crate::packet::Meta;

/// The fields of a message that are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Message {
    /// Type.
    pub icmp_type: u8,
    /// Code.
    pub code: u8,
    /// The packet is of IPv4, where the protocol has no meaning.
    pub foreign: bool,
}

impl Protocol for Message {
    #[inline(always)]
    fn read(meta: &Meta, _: &[u8]) -> Option<Self> {
        let (icmp_type, code) = (meta.tcp_flags_or_icmp_type, meta.icmp_code);
        Some(Self { icmp_type, code, foreign: !meta.is_ipv6() })
    }

    /// Only a query opens a connection. The state keeps its type and code, which the list of connections shows.
    fn open(&self, _: &Timeouts) -> Option<ProtocolState> {
        if self.foreign {
            return Some(ProtocolState::default());
        }
        (self.icmp_type == icmpv6::ECHO_REQUEST).then(|| ProtocolState::of_icmp(self.icmp_type, self.code))
    }

    #[inline(always)]
    fn lifetime(_: &HotState, timeouts: &Timeouts) -> u64 {
        timeouts.icmp
    }

    #[inline(always)]
    fn may_open_anew(&self) -> bool {
        self.foreign || self.icmp_type == icmpv6::ECHO_REQUEST
    }
}
