//! The conditions of rules. A matcher consists of a file in this directory and a row of `matchers!`. The file
//! implements [`Condition`]: how the matcher is compiled, how it matches, on what it depends and how the index of a
//! chain may use it. `docs/adding/matcher.md` explains an example.

mod address;
mod address_list;
mod connection_bytes;
mod connection_state;
mod dscp;
mod hop_limit;
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
#[cfg(test)]
mod sample;
mod shared_count;
mod tcp_flags;
mod time;

use tollway_config::dataplane::{Matcher as M, RowId};

use super::address_intervals::AddressIntervals;
use super::check::Check;
use super::depends::Depends;
use super::list::AddressLists;
use super::reference_input::ReferenceInput;
use super::validity::OutcomeValidity;
use super::view::PacketView;
use crate::error::BuildError;
use crate::interface::InterfaceMap;
use crate::packet::family::Family;

pub use time::TimeOfDay;

/// Interfaces and address lists that a condition is compiled with.
pub struct CompileScope<'a> {
    /// Interfaces.
    pub interfaces: &'a InterfaceMap,
    /// Address lists.
    pub lists: &'a AddressLists,
    /// Family of the rule.
    pub family: Family,
    /// The rule, for errors.
    pub row: RowId,
}

impl CompileScope<'_> {
    fn error(&self, message: impl Into<String>) -> BuildError {
        BuildError::row(self.row, message)
    }

    /// The error for a row of `matchers!` whose file does not compile the condition.
    fn wrong_row(&self) -> BuildError {
        self.error("the condition is not compiled by this matcher")
    }
}

/// The order in which a rule evaluates its conditions: first those that the flow alone decides, then address lists,
/// then those that differ from packet to packet. Those that count packets come last, in RouterOS's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EvaluationOrder {
    FlowConst,
    List,
    Packet,
    Random,
    Nth,
    Limit,
}

/// The mark that a condition reads: the flow cache does not keep packet marks, and only mangle changes connection
/// marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkRead {
    /// No mark.
    Neither,
    /// A mark of the packet or its DSCP.
    Packet,
    /// The mark of the connection.
    ConnectionMark,
}

/// The interface of a matcher's file. Items with a default are implemented only where they differ.
pub(super) trait Condition: Sized {
    /// Dependencies of the outcome other than the flow.
    const DEPENDS_ON: Depends;
    /// Position of the condition in the rule's order of evaluation.
    const ORDER: EvaluationOrder =
        if Self::DEPENDS_ON.is_flow_const() { EvaluationOrder::FlowConst } else { EvaluationOrder::Packet };
    /// Whether the condition reads the transport header: ports, TCP flags, ICMP types. Such a condition, negated or
    /// not, matches no packet without a transport header, as in Linux.
    const READS_TRANSPORT_HEADER: bool = false;

    /// Compiles the condition from the configuration.
    ///
    /// # Errors
    /// For names that do not resolve and values that are out of range.
    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError>;

    /// Whether the packet fulfils the condition.
    fn matches(&self, view: &PacketView, lists: &AddressLists) -> bool;

    /// Adds the requirements of the condition to the check by which the index of the chain preselects rules. Returns
    /// whether the check is equivalent to the condition as far as the flow decides it. A rule for which this holds for
    /// all conditions does not evaluate its flow-constant ones for packets that the index admits. `intervals` are those
    /// of the rules of the table.
    fn narrow(&self, _check: &mut Check, _intervals: &AddressIntervals) -> bool {
        !Self::DEPENDS_ON.is_flow_const()
    }

    /// Narrows the validity of an outcome that depends on this condition. Implemented only by conditions that depend on
    /// [`Depends::LIMITED_VALIDITY`].
    fn limit_validity(&self, _view: &PacketView, _bounds: &mut OutcomeValidity) {}

    /// Adopts the state of an equal condition.
    fn adopt(&mut self, _other: &Self) {}

    /// Whether the condition matches only SYN segments. The flow cache never forwards SYN segments, so the outcome is
    /// the same for all packets of a flow that the cache forwards.
    fn only_matches_syn(&self) -> bool {
        false
    }

    /// The mark that the condition reads.
    fn mark_read(&self) -> MarkRead {
        MarkRead::Neither
    }

    /// The list membership that decides a condition with [`EvaluationOrder::List`]. The outcome depends on the list and
    /// on entries that the same evaluation has added to it.
    #[inline(always)]
    fn list_member(&self) -> Option<&address_list::ListMember> {
        None
    }

    /// Reference implementation of [`Self::compile`] and [`Self::matches`] together, evaluated directly from the
    /// configuration without optimisation, for the [reference](super::reference). It shares no code with them, so that
    /// an error in one does not hide an error in the other.
    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool;
}

macro_rules! matchers {
    ($($(#[cfg($cfg:meta)])? $text:literal $configured:pat => $variant:ident($file:ident::$condition:ident);)*) => {
        /// A compiled condition.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Matcher {
            $($(#[cfg($cfg)])? #[doc = $text] $variant($file::$condition),)*
        }

        impl Matcher {
            /// Compiles a condition; names that do not resolve and reversed ranges are errors.
            pub fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
                match matcher {
                    $($(#[cfg($cfg)])? $configured => {
                        <$file::$condition as Condition>::compile(matcher, scope).map(Self::$variant)
                    })*
                }
            }

            /// Whether the packet fulfils the condition.
            #[inline]
            pub fn matches(&self, view: &PacketView, lists: &AddressLists) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$variant(matcher) => matcher.matches(view, lists),)*
                }
            }

            /// Dependencies of the outcome other than the flow.
            pub fn depends_on(&self) -> Depends {
                match self {
                    $($(#[cfg($cfg)])? Self::$variant(_) => $file::$condition::DEPENDS_ON,)*
                }
            }

            /// Place in the order of evaluation of a rule.
            pub(super) fn order(&self) -> EvaluationOrder {
                match self {
                    $($(#[cfg($cfg)])? Self::$variant(_) => $file::$condition::ORDER,)*
                }
            }

            /// Place of a condition of the configuration in the order of evaluation.
            pub(super) fn order_of(matcher: &M) -> EvaluationOrder {
                match matcher {
                    $($(#[cfg($cfg)])? $configured => $file::$condition::ORDER,)*
                }
            }

            /// See [`Condition::READS_TRANSPORT_HEADER`].
            pub(super) fn reads_transport_header(&self) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$variant(_) => $file::$condition::READS_TRANSPORT_HEADER,)*
                }
            }

            /// See [`Condition::narrow`].
            pub(super) fn narrow(&self, check: &mut Check, intervals: &AddressIntervals) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$variant(matcher) => matcher.narrow(check, intervals),)*
                }
            }

            /// See [`Condition::limit_validity`].
            pub(super) fn limit_validity(&self, view: &PacketView, validity: &mut OutcomeValidity) {
                match self {
                    $($(#[cfg($cfg)])? Self::$variant(matcher) => matcher.limit_validity(view, validity),)*
                }
            }

            /// See [`Condition::adopt`].
            pub(super) fn adopt(&mut self, other: &Self) {
                match (self, other) {
                    $($(#[cfg($cfg)])? (Self::$variant(matcher), Self::$variant(other)) => matcher.adopt(other),)*
                    _ => {}
                }
            }

            /// See [`Condition::only_matches_syn`].
            pub(super) fn only_matches_syn(&self) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$variant(matcher) => matcher.only_matches_syn(),)*
                }
            }

            /// See [`Condition::mark_read`].
            pub(super) fn mark_read(&self) -> MarkRead {
                match self {
                    $($(#[cfg($cfg)])? Self::$variant(matcher) => matcher.mark_read(),)*
                }
            }

            /// See [`Condition::list_member`].
            #[inline(always)]
            pub(super) fn list_member(&self) -> Option<&address_list::ListMember> {
                match self {
                    $($(#[cfg($cfg)])? Self::$variant(matcher) => matcher.list_member(),)*
                }
            }

            /// See [`Condition::reference`].
            pub(super) fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
                match matcher {
                    $($(#[cfg($cfg)])? $configured => <$file::$condition as Condition>::reference(matcher, asked),)*
                }
            }
        }
    };
}

// Name for users, the variants of the configuration from which it is compiled, and its type.
matchers! {
    #[cfg(test)]
    "Of the tests: a packet of several wire segments."
        M::Protocol { protocol: sample::PROTOCOL, .. } => Sample(sample::Sample);
    "`in-interface`, `out-interface` and their lists."
        M::InInterface { .. } | M::OutInterface { .. } => Interface(interface::InterfaceSet);
    "`protocol`."
        M::Protocol { .. } => Protocol(protocol::Protocol);
    "`src-address`, `dst-address`."
        M::SrcAddress { .. } | M::DstAddress { .. } => Address(address::Address);
    "`src-address-list`, `dst-address-list`."
        M::SrcAddressList { .. } | M::DstAddressList { .. } => AddressList(address_list::ListMember);
    "`src-port`, `dst-port`, `port`."
        M::SrcPort { .. } | M::DstPort { .. } | M::Port { .. } => Ports(port::PortRanges);
    "`tcp-flags`."
        M::TcpFlags { .. } => TcpFlags(tcp_flags::TcpFlags);
    "`icmp-options`."
        M::IcmpOptions { .. } => IcmpOptions(icmp_options::IcmpOptions);
    "`connection-state`."
        M::ConnectionState { .. } => ConnectionState(connection_state::ConnectionState);
    "`connection-nat-state`."
        M::ConnectionNatState { .. } => NatState(nat_state::NatState);
    "`packet-mark`, `connection-mark`, `routing-mark`."
        M::PacketMark { .. } | M::ConnectionMark { .. } | M::RoutingMark { .. } => Mark(mark::Mark);
    "`dscp`."
        M::Dscp { .. } => Dscp(dscp::Dscp);
    "`hop-limit`."
        M::HopLimit { .. } => HopLimit(hop_limit::HopLimit);
    "`packet-size`."
        M::PacketSize { .. } => PacketSize(packet_size::PacketSize);
    "`connection-bytes`."
        M::ConnectionBytes { .. } => ConnectionBytes(connection_bytes::ConnectionBytes);
    "`time`."
        M::Time { .. } => Time(time::Time);
    "`random`."
        M::Random { .. } => Random(random::Random);
    "`nth`."
        M::Nth { .. } => Nth(nth::Nth);
    "`limit`."
        M::Limit { .. } => Limit(limit::Limit);
}
