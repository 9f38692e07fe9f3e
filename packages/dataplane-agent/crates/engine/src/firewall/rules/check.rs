//! Necessary conditions of a rule on the fields of the flow, in half a cache line. They exclude nearly every rule that
//! does not match without reading the rule itself.

use tollway_config::dataplane::ConnectionState;
use tollway_wire::ipv4::{ICMP, TCP, UDP};
use tollway_wire::ipv6::ICMPV6;

use super::address_intervals::AddressIntervals;
use super::view::PacketView;

/// Interface of packets that have none.
const NO_INTERFACE: u16 = u16::MAX - 1;
/// Value of a [`Check`] that matches every interface.
const ANY_INTERFACE: u16 = u16::MAX;

/// Properties that a packet must have for a rule to match; bits of [`Check::needs`] and [`Fields::has`].
mod need {
    /// IPv4 addresses.
    pub const IP4: u8 = 1;
    /// TCP or UDP ports.
    pub const PORTS: u8 = 2;
    /// TCP flags.
    pub const TCP: u8 = 4;
    /// An ICMP type.
    pub const ICMP: u8 = 8;
    /// IPv6 addresses.
    pub const IP6: u8 = 16;
}

/// The bit of a state.
pub const fn state_bit(state: ConnectionState) -> u8 {
    match state {
        ConnectionState::Invalid => 1,
        ConnectionState::Established => 2,
        ConnectionState::Related => 4,
        ConnectionState::New => 8,
        ConnectionState::Untracked => 16,
    }
}

/// A field by which rules may be distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// Source: an IPv4 address, or the number of an interval of IPv6 addresses.
    Source,
    /// Destination, likewise.
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
    /// All fields.
    pub const ALL: [Self; 6] =
        [Self::Source, Self::Destination, Self::DestinationPort, Self::SourcePort, Self::In, Self::Out];
}

/// The fields of a packet that checks and indexes read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
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

impl Fields {
    /// The values of a packet's fields; `intervals` are those of the table.
    #[inline]
    pub fn new(view: &PacketView, intervals: &AddressIntervals) -> Self {
        let tuple = &view.tuple;
        let (src, dst, mut has) = match (tuple.src.as_v4(), tuple.dst.as_v4()) {
            (Some(src), Some(dst)) => (src, dst, need::IP4),
            _ => (intervals.number(tuple.src.0), intervals.number(tuple.dst.0), need::IP6),
        };
        has |= match tuple.protocol {
            TCP => need::PORTS | need::TCP,
            UDP => need::PORTS,
            ICMP if has == need::IP4 => need::ICMP,
            ICMPV6 if has == need::IP6 => need::ICMP,
            _ => 0,
        };
        Self {
            src,
            dst,
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

/// A range of addresses as checks compare it: first and last.
#[derive(Debug, Clone, Copy)]
pub(super) enum AddressNumbers {
    /// IPv4 addresses.
    V4(u32, u32),
    /// Numbers of [`AddressIntervals`].
    V6(u32, u32),
}

impl AddressNumbers {
    const fn need(self) -> u8 {
        if matches!(self, Self::V4(..)) { need::IP4 } else { need::IP6 }
    }

    const fn ends(self) -> (u32, u32) {
        let (Self::V4(from, to) | Self::V6(from, to)) = self;
        (from, to)
    }
}

/// Conditions that are necessary for a rule to match: they follow from its flow-constant conditions, but need not be
/// equivalent to them. Of several conditions on one field only the last one is kept. A range is stored as its first
/// value and the number of values that follow.
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
    /// The source address is in a range. Like the methods below that return a value: returns `false` if an earlier
    /// condition on the field is replaced.
    pub fn source(&mut self, range: AddressNumbers) -> bool {
        self.needs |= range.need();
        let (from, to) = range.ends();
        set(&mut self.src, &mut self.src_span, from, to.saturating_sub(from), u32::MAX)
    }

    /// The destination address is in a range.
    pub fn destination(&mut self, range: AddressNumbers) -> bool {
        self.needs |= range.need();
        let (from, to) = range.ends();
        set(&mut self.dst, &mut self.dst_span, from, to.saturating_sub(from), u32::MAX)
    }

    /// The source port is in a range.
    pub fn source_port(&mut self, from: u16, to: u16) -> bool {
        self.needs |= need::PORTS;
        set(&mut self.src_port, &mut self.src_port_span, from, to.saturating_sub(from), u16::MAX)
    }

    /// The destination port is in a range.
    pub fn destination_port(&mut self, from: u16, to: u16) -> bool {
        self.needs |= need::PORTS;
        set(&mut self.dst_port, &mut self.dst_port_span, from, to.saturating_sub(from), u16::MAX)
    }

    /// The packet came in on an interface.
    pub fn in_interface(&mut self, index: u16) -> bool {
        std::mem::replace(&mut self.in_interface, index) == ANY_INTERFACE
    }

    /// The packet leaves by an interface.
    pub fn out_interface(&mut self, index: u16) -> bool {
        std::mem::replace(&mut self.out_interface, index) == ANY_INTERFACE
    }

    /// The packet is of a protocol.
    pub fn protocol(&mut self, protocol: u8) -> bool {
        self.protocol = protocol;
        std::mem::replace(&mut self.protocol_mask, !0) == 0
    }

    /// The connection's state is one of a set, see [`state_bit`].
    pub fn states(&mut self, mask: u8) {
        self.states &= mask;
    }

    /// The packet has ports.
    pub fn needs_ports(&mut self) {
        self.needs |= need::PORTS;
    }

    /// The packet has TCP flags.
    pub fn needs_tcp(&mut self) {
        self.needs |= need::TCP;
    }

    /// The packet has an ICMP type.
    pub fn needs_icmp(&mut self) {
        self.needs |= need::ICMP;
    }

    /// Whether the rule may match.
    #[inline]
    pub fn admits(&self, key: &Fields) -> bool {
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

/// Sets the first value of a field and the number of values that follow. Returns whether the field was unrestricted
/// before.
fn set<T: Copy + PartialEq>(first: &mut T, span: &mut T, from: T, follow: T, every: T) -> bool {
    let had_every = *span == every;
    (*first, *span) = (from, follow);
    had_every
}
