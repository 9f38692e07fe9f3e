//! One condition of a rule, compiled. A file per kind; each says what it matches and what it
//! [`Depends`] on.

mod address;
mod address_list;
mod connection_bytes;
mod connection_state;
mod dscp;
mod icmp_options;
mod interface;
mod limit;
mod mark;
mod nat_state;
mod nth;
mod packet_size;
mod port;
mod protocol;
mod random;
mod shared_count;
mod tcp_flags;
mod time;

use tollway_config::dataplane::{self as config, RowId};

use super::bounds::Bounds;
use super::depends::Depends;
use super::list::AddressLists;
use super::view::PacketView;
use crate::error::BuildError;
use crate::interface::InterfaceMap;
use crate::time::Now;

pub use address::Address;
pub use address_list::ListMember;
pub use connection_bytes::ConnectionBytes;
pub use connection_state::{ConnectionState, state_bit};
pub use dscp::Dscp;
pub use icmp_options::IcmpOptions;
pub use interface::InterfaceSet;
pub use limit::Limit;
pub use mark::{Mark, Marked};
pub use nat_state::NatState;
pub use nth::Nth;
pub use packet_size::PacketSize;
pub use port::Ports;
pub use protocol::Protocol;
pub use random::Random;
pub use tcp_flags::TcpFlags;
pub use time::{Time, TimeOfDay};

/// Which end of the packet a condition looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Source, or ingress.
    Source,
    /// Destination, or egress.
    Destination,
    /// Either.
    Either,
}

/// A compiled condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matcher {
    /// `in-interface`, `out-interface` and their lists.
    Interface(InterfaceSet),
    /// `protocol`.
    Protocol(Protocol),
    /// `src-address`, `dst-address`.
    Address(Address),
    /// `src-address-list`, `dst-address-list`.
    AddressList(ListMember),
    /// `src-port`, `dst-port`, `port`.
    Ports(Ports),
    /// `tcp-flags`.
    TcpFlags(TcpFlags),
    /// `icmp-options`.
    IcmpOptions(IcmpOptions),
    /// `connection-state`.
    ConnectionState(ConnectionState),
    /// `connection-nat-state`.
    NatState(NatState),
    /// `packet-mark`, `connection-mark`.
    Mark(Mark),
    /// `dscp`.
    Dscp(Dscp),
    /// `packet-size`.
    PacketSize(PacketSize),
    /// `connection-bytes`.
    ConnectionBytes(ConnectionBytes),
    /// `time`.
    Time(Time),
    /// `random`.
    Random(Random),
    /// `nth`.
    Nth(Nth),
    /// `limit`.
    Limit(Limit),
}

/// What compiling a condition may look up.
pub struct Names<'a> {
    /// Interfaces.
    pub interfaces: &'a InterfaceMap,
    /// Address lists.
    pub lists: &'a AddressLists,
    /// The rule, for errors.
    pub row: RowId,
}

impl Names<'_> {
    fn error(&self, message: impl Into<String>) -> BuildError {
        BuildError::row(self.row, message)
    }
}

impl Matcher {
    /// Compiles a condition; names that do not resolve and reversed ranges are errors.
    pub fn compile(matcher: &config::Matcher, names: &Names<'_>) -> Result<Self, BuildError> {
        use config::Matcher as M;
        Ok(match matcher {
            M::InInterface { interfaces, negate } => {
                Self::Interface(InterfaceSet::new(Side::Source, interfaces, *negate, names)?)
            }
            M::OutInterface { interfaces, negate } => {
                Self::Interface(InterfaceSet::new(Side::Destination, interfaces, *negate, names)?)
            }
            M::Protocol { protocol, negate } => {
                Self::Protocol(Protocol { protocol: *protocol, negate: *negate })
            }
            M::SrcAddress { range, negate } => {
                Self::Address(Address::new(Side::Source, range, *negate, names)?)
            }
            M::DstAddress { range, negate } => {
                Self::Address(Address::new(Side::Destination, range, *negate, names)?)
            }
            M::SrcAddressList { list, negate } => {
                Self::AddressList(ListMember::new(Side::Source, *list, *negate, names)?)
            }
            M::DstAddressList { list, negate } => {
                Self::AddressList(ListMember::new(Side::Destination, *list, *negate, names)?)
            }
            M::SrcPort { ports, negate } => Self::Ports(Ports::new(Side::Source, ports, *negate, names)?),
            M::DstPort { ports, negate } => {
                Self::Ports(Ports::new(Side::Destination, ports, *negate, names)?)
            }
            M::Port { ports, negate } => Self::Ports(Ports::new(Side::Either, ports, *negate, names)?),
            M::TcpFlags { set, clear, negate } => {
                Self::TcpFlags(TcpFlags { set: *set, clear: *clear, negate: *negate })
            }
            M::IcmpOptions { icmp_type, code_from, code_to, negate } => {
                Self::IcmpOptions(IcmpOptions::new(*icmp_type, *code_from, *code_to, *negate, names)?)
            }
            M::ConnectionState { states, negate } => {
                Self::ConnectionState(ConnectionState::new(states, *negate))
            }
            M::PacketMark { mark, negate } => {
                Self::Mark(Mark { of: Marked::Packet, mark: *mark, negate: *negate })
            }
            M::ConnectionMark { mark, negate } => {
                Self::Mark(Mark { of: Marked::Connection, mark: *mark, negate: *negate })
            }
            M::Dscp { dscp, negate } => Self::Dscp(Dscp::new(*dscp, *negate, names)?),
            M::PacketSize { from, to, negate } => {
                Self::PacketSize(PacketSize::new(*from, *to, *negate, names)?)
            }
            M::ConnectionBytes { from, to } => {
                Self::ConnectionBytes(ConnectionBytes::new(*from, *to, names)?)
            }
            M::Time { from_ms, to_ms, days, utc_offset_s, negate } => {
                Self::Time(Time::new((*from_ms, *to_ms), *days, *utc_offset_s, *negate, names)?)
            }
            M::Nth { every, packet, negate } => Self::Nth(Nth::new(*every, *packet, *negate, names)?),
            M::Random { percent } => Self::Random(Random::new(*percent, names)?),
            M::Limit { rate, per_ms, burst, unit, negate } => {
                Self::Limit(Limit::new((*rate, *per_ms), *burst, *unit, *negate, names)?)
            }
            M::ConnectionNatState { srcnat, dstnat, negate } => {
                Self::NatState(NatState { srcnat: *srcnat, dstnat: *dstnat, negate: *negate })
            }
        })
    }

    /// Whether the packet fulfils the condition.
    #[inline]
    pub fn matches(&self, view: &PacketView, lists: &AddressLists) -> bool {
        match self {
            Self::Interface(matcher) => matcher.matches(view),
            Self::Protocol(matcher) => matcher.matches(view),
            Self::Address(matcher) => matcher.matches(view),
            Self::AddressList(matcher) => matcher.matches(view, lists),
            Self::Ports(matcher) => matcher.matches(view),
            Self::TcpFlags(matcher) => matcher.matches(view),
            Self::IcmpOptions(matcher) => matcher.matches(view),
            Self::ConnectionState(matcher) => matcher.matches(view),
            Self::NatState(matcher) => matcher.matches(view),
            Self::Mark(matcher) => matcher.matches(view),
            Self::Dscp(matcher) => matcher.matches(view),
            Self::PacketSize(matcher) => matcher.matches(view),
            Self::ConnectionBytes(matcher) => matcher.matches(view),
            Self::Time(matcher) => matcher.matches(view),
            Self::Random(matcher) => matcher.matches(view),
            Self::Nth(matcher) => matcher.matches(view),
            Self::Limit(matcher) => matcher.matches(view),
        }
    }

    /// What the outcome rests on beside the flow.
    pub fn depends_on(&self) -> Depends {
        match self {
            Self::Interface(_) => InterfaceSet::DEPENDS_ON,
            Self::Protocol(_) => Protocol::DEPENDS_ON,
            Self::Address(_) => Address::DEPENDS_ON,
            Self::AddressList(_) => ListMember::DEPENDS_ON,
            Self::Ports(_) => Ports::DEPENDS_ON,
            Self::TcpFlags(_) => TcpFlags::DEPENDS_ON,
            Self::IcmpOptions(_) => IcmpOptions::DEPENDS_ON,
            Self::ConnectionState(_) => ConnectionState::DEPENDS_ON,
            Self::NatState(_) => NatState::DEPENDS_ON,
            Self::Mark(_) => Mark::DEPENDS_ON,
            Self::Dscp(_) => Dscp::DEPENDS_ON,
            Self::PacketSize(_) => PacketSize::DEPENDS_ON,
            Self::ConnectionBytes(_) => ConnectionBytes::DEPENDS_ON,
            Self::Time(_) => Time::DEPENDS_ON,
            Self::Random(_) => Random::DEPENDS_ON,
            Self::Nth(_) => Nth::DEPENDS_ON,
            Self::Limit(_) => Limit::DEPENDS_ON,
        }
    }

    /// Where a rule asks it. What the flow alone decides comes first, then lists; last what every packet
    /// that gets this far changes, in RouterOS's order.
    pub(super) fn place(&self) -> Place {
        match self {
            Self::AddressList(_) => Place::List,
            Self::Random(_) => Place::Random,
            Self::Nth(_) => Place::Nth,
            Self::Limit(_) => Place::Limit,
            _ if self.depends_on().is_flow_const() => Place::FlowConst,
            _ => Place::Packet,
        }
    }

    /// Narrows what an outcome that rests on this condition is bounded by.
    pub(super) fn bound(&self, view: &PacketView, bounds: &mut Bounds) {
        match self {
            Self::ConnectionBytes(matcher) => bounds.narrow(matcher.changes_at(view), Now(u64::MAX)),
            Self::Time(matcher) => bounds.narrow(u64::MAX, matcher.changes_at(view)),
            Self::Dscp(_) => bounds.rest_on_dscp(view),
            _ => {}
        }
    }

    /// Goes on with the state of an equal condition.
    pub(super) fn adopt(&mut self, other: &Self) {
        match (self, other) {
            (Self::Random(matcher), Self::Random(other)) => matcher.adopt(other),
            (Self::Nth(matcher), Self::Nth(other)) => matcher.adopt(other),
            (Self::Limit(matcher), Self::Limit(other)) => matcher.adopt(other),
            _ => {}
        }
    }
}

/// Order of the conditions of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    FlowConst,
    List,
    Packet,
    Random,
    Nth,
    Limit,
}
