//! ICMP queries and replies of both families, keyed by identifier, kind of query, and whether the packet is a query or a reply. Errors
//! are not flows of their own: see [`ConnectionTable::related`](super::ConnectionTable::related).

use tollway_wire::{icmp, icmpv6};

use super::hot_state::HotState;
use super::protocol::Protocol;
use super::tcp::ProtocolState;
use super::timeouts::Timeouts;
use crate::packet::Meta;

/// The fields of a query or reply that are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Message {
    /// Type.
    pub icmp_type: u8,
    /// Code.
    pub code: u8,
}

impl Protocol for Message {
    #[inline(always)]
    fn read(meta: &Meta, _: &[u8]) -> Option<Self> {
        Some(Self { icmp_type: meta.tcp_flags_or_icmp_type, code: meta.icmp_code })
    }

    /// Only a query opens a connection. The state keeps its type and code, which the list of connections shows.
    fn open(&self, _: &Timeouts) -> Option<ProtocolState> {
        self.is_query().then(|| ProtocolState::of_icmp(self.icmp_type, self.code))
    }

    #[inline(always)]
    fn lifetime(_: &HotState, timeouts: &Timeouts) -> u64 {
        timeouts.icmp
    }

    #[inline(always)]
    fn may_open_anew(&self) -> bool {
        self.is_query()
    }
}

impl Message {
    /// The families have no type of a query in common, and messages of other types do not come here.
    #[inline(always)]
    const fn is_query(&self) -> bool {
        icmp::is_query(self.icmp_type) || self.icmp_type == icmpv6::ECHO_REQUEST
    }
}
