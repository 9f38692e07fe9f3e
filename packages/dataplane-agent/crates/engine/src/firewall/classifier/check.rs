//! What the flow alone says about a rule, in half a cache line: enough to pass over nearly every rule that
//! does not match without touching the rule itself.

use tollway_config::dataplane as config;
use tollway_wire::ipv4::{ICMP, TCP, UDP};

use super::matcher::state_bit;
use super::view::PacketView;
use crate::interface::InterfaceMap;

/// Interface of packets that have none.
const NO_INTERFACE: u16 = u16::MAX - 1;
/// Stands for every interface in a [`Check`].
const ANY_INTERFACE: u16 = u16::MAX;

/// What a packet must have for a rule to match; bits of [`Check::needs`] and [`Key::has`].
mod need {
    /// IPv4 addresses.
    pub const IP4: u8 = 1;
    /// TCP or UDP ports.
    pub const PORTS: u8 = 2;
    /// TCP flags.
    pub const TCP: u8 = 4;
    /// An ICMP type.
    pub const ICMP: u8 = 8;
}

/// A field by which rules may be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// IPv4 source.
    Source,
    /// IPv4 destination.
    Destination,
    /// Destination port.
    DestinationPort,
    /// Source port.
    SourcePort,
    /// Dense number of the ingress interface.
    In,
    /// Dense number of the egress interface.
    Out,
}

impl Field {
    pub const ALL: [Self; 6] =
        [Self::Source, Self::Destination, Self::DestinationPort, Self::SourcePort, Self::In, Self::Out];
}

/// The fields of a packet that checks and indexes look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    src: u32,
    dst: u32,
    src_port: u16,
    dst_port: u16,
    in_interface: u16,
    out_interface: u16,
    protocol: u8,
    state: u8,
    has: u8,
}

impl Key {
    #[inline]
    pub fn new(view: &PacketView) -> Self {
        let tuple = &view.tuple;
        let (src, dst) = (tuple.src.as_v4(), tuple.dst.as_v4());
        let mut has = if src.is_some() && dst.is_some() { need::IP4 } else { 0 };
        has |= match tuple.protocol {
            TCP => need::PORTS | need::TCP,
            UDP => need::PORTS,
            ICMP => need::ICMP,
            _ => 0,
        };
        Self {
            src: src.unwrap_or(0),
            dst: dst.unwrap_or(0),
            src_port: tuple.src_port,
            dst_port: tuple.dst_port,
            in_interface: view.in_interface.unwrap_or(NO_INTERFACE),
            out_interface: view.out_interface.unwrap_or(NO_INTERFACE),
            protocol: tuple.protocol,
            state: state_bit(view.state),
            has,
        }
    }

    /// Value of a field.
    #[inline]
    pub fn field(&self, field: Field) -> u32 {
        match field {
            Field::Source => self.src,
            Field::Destination => self.dst,
            Field::DestinationPort => u32::from(self.dst_port),
            Field::SourcePort => u32::from(self.src_port),
            Field::In => u32::from(self.in_interface),
            Field::Out => u32::from(self.out_interface),
        }
    }
}

/// Conditions that a packet must fulfil for a rule to match: implied by the rule's flow-constant ones, not
/// equal to them. A range is its first value and how many follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Check {
    src: u32,
    src_span: u32,
    dst: u32,
    dst_span: u32,
    src_port: u16,
    src_port_span: u16,
    dst_port: u16,
    dst_port_span: u16,
    in_interface: u16,
    out_interface: u16,
    protocol: u8,
    /// 0: any protocol.
    protocol_mask: u8,
    states: u8,
    needs: u8,
}

impl Default for Check {
    fn default() -> Self {
        Self {
            src: 0,
            src_span: u32::MAX,
            dst: 0,
            dst_span: u32::MAX,
            src_port: 0,
            src_port_span: u16::MAX,
            dst_port: 0,
            dst_port_span: u16::MAX,
            in_interface: ANY_INTERFACE,
            out_interface: ANY_INTERFACE,
            protocol: 0,
            protocol_mask: 0,
            states: !0,
            needs: 0,
        }
    }
}

impl Check {
    /// From a rule's conditions. Of several of one kind the last one counts, of a set its bounds.
    pub fn new(matchers: &[config::Matcher], interfaces: &InterfaceMap) -> Self {
        use config::Matcher as M;
        let mut check = Self::default();
        for matcher in matchers {
            match matcher {
                M::Protocol { protocol, negate: false } => {
                    (check.protocol, check.protocol_mask) = (*protocol, !0);
                }
                M::SrcAddress { range, negate: false } => {
                    if let Some((from, span)) = check.v4(range) {
                        (check.src, check.src_span) = (from, span);
                    }
                }
                M::DstAddress { range, negate: false } => {
                    if let Some((from, span)) = check.v4(range) {
                        (check.dst, check.dst_span) = (from, span);
                    }
                }
                M::SrcPort { ports, negate } => {
                    check.needs |= need::PORTS;
                    if let Some((from, span)) = bounds(ports).filter(|_| !negate) {
                        (check.src_port, check.src_port_span) = (from, span);
                    }
                }
                M::DstPort { ports, negate } => {
                    check.needs |= need::PORTS;
                    if let Some((from, span)) = bounds(ports).filter(|_| !negate) {
                        (check.dst_port, check.dst_port_span) = (from, span);
                    }
                }
                M::Port { .. } => check.needs |= need::PORTS,
                M::TcpFlags { .. } => check.needs |= need::TCP,
                M::IcmpOptions { .. } => check.needs |= need::ICMP,
                M::InInterface { interfaces: rows, negate: false } => {
                    if let [row] = rows[..] {
                        check.in_interface = interfaces.index(row).unwrap_or(ANY_INTERFACE);
                    }
                }
                M::OutInterface { interfaces: rows, negate: false } => {
                    if let [row] = rows[..] {
                        check.out_interface = interfaces.index(row).unwrap_or(ANY_INTERFACE);
                    }
                }
                M::ConnectionState { states, negate } => {
                    let mask = states.iter().fold(0, |mask, state| mask | state_bit(*state));
                    check.states &= if *negate { !mask } else { mask };
                }
                _ => {}
            }
        }
        check
    }

    /// Whether the check of these conditions says all that the flow-constant ones among them say.
    pub fn says_all(matchers: &[config::Matcher]) -> bool {
        use config::Matcher as M;
        let is_v4 = |range: &config::AddressRange| range.from.is_ipv4() && range.to.is_ipv4();
        let mut kinds = Vec::with_capacity(matchers.len());
        let plain = matchers.iter().all(|matcher| {
            kinds.push(std::mem::discriminant(matcher));
            match matcher {
                M::Protocol { negate, .. } => !negate,
                M::SrcAddress { range, negate } | M::DstAddress { range, negate } => !negate && is_v4(range),
                M::SrcPort { ports, negate } | M::DstPort { ports, negate } => !negate && ports.len() == 1,
                M::InInterface { interfaces, negate } | M::OutInterface { interfaces, negate } => {
                    !negate && interfaces.len() == 1
                }
                M::Port { .. }
                | M::ConnectionNatState { .. }
                | M::PacketMark { .. }
                | M::ConnectionMark { .. } => false,
                M::ConnectionState { .. }
                | M::SrcAddressList { .. }
                | M::DstAddressList { .. }
                | M::TcpFlags { .. }
                | M::IcmpOptions { .. }
                | M::Dscp { .. }
                | M::PacketSize { .. }
                | M::ConnectionBytes { .. }
                | M::Time { .. }
                | M::Nth { .. }
                | M::Random { .. }
                | M::Limit { .. } => true,
            }
        });
        let repeated =
            kinds.iter().enumerate().any(|(at, kind)| kinds.iter().skip(at + 1).any(|k| k == kind));
        plain && !repeated
    }

    /// First address and how many follow.
    fn v4(&mut self, range: &config::AddressRange) -> Option<(u32, u32)> {
        let (std::net::IpAddr::V4(from), std::net::IpAddr::V4(to)) = (range.from, range.to) else {
            return None;
        };
        self.needs |= need::IP4;
        Some((from.to_bits(), to.to_bits().checked_sub(from.to_bits())?))
    }

    /// Whether the rule may match.
    #[inline]
    pub fn admits(&self, key: &Key) -> bool {
        let within = (key.src.wrapping_sub(self.src) <= self.src_span)
            & (key.dst.wrapping_sub(self.dst) <= self.dst_span)
            & (key.src_port.wrapping_sub(self.src_port) <= self.src_port_span)
            & (key.dst_port.wrapping_sub(self.dst_port) <= self.dst_port_span);
        let arrived = (self.in_interface == key.in_interface) | (self.in_interface == ANY_INTERFACE);
        let leaves = (self.out_interface == key.out_interface) | (self.out_interface == ANY_INTERFACE);
        let kind = ((key.protocol ^ self.protocol) & self.protocol_mask) | (self.needs & !key.has);
        within & arrived & leaves & (kind == 0) & (self.states & key.state != 0)
    }

    /// First and last value of a field that the rule may match; `None` for every value.
    pub fn range(&self, field: Field) -> Option<(u32, u32)> {
        let ports = |from: u16, span: u16| {
            (span != u16::MAX).then(|| (u32::from(from), u32::from(from) + u32::from(span)))
        };
        let addresses = |from: u32, span: u32| (span != u32::MAX).then(|| (from, from.saturating_add(span)));
        let one = |index: u16| (index != ANY_INTERFACE).then(|| (u32::from(index), u32::from(index)));
        match field {
            Field::Source => addresses(self.src, self.src_span),
            Field::Destination => addresses(self.dst, self.dst_span),
            Field::DestinationPort => ports(self.dst_port, self.dst_port_span),
            Field::SourcePort => ports(self.src_port, self.src_port_span),
            Field::In => one(self.in_interface),
            Field::Out => one(self.out_interface),
        }
    }
}

/// Lowest port of some ranges, and how many follow it up to the highest.
fn bounds(ranges: &[config::PortRange]) -> Option<(u16, u16)> {
    let from = ranges.iter().map(|range| range.from).min()?;
    let to = ranges.iter().map(|range| range.to).max()?;
    Some((from, to.checked_sub(from)?))
}
