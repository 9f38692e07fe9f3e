//! Flow identity, for both address families, and the worker that owns a flow.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tollway_wire::ipv4::ICMP;
use tollway_wire::ipv6::ICMPV6;
use tollway_wire::{icmp, icmpv6};

/// An address of either family; IPv4 is held as `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addr(pub u128);

impl Addr {
    /// Address from an IPv4 address in host order.
    pub const fn v4(bits: u32) -> Self {
        Self(0xffff_0000_0000 | bits as u128)
    }
    /// The IPv4 address in host order, if it is one.
    pub const fn as_v4(self) -> Option<u32> {
        // By halves: a shift of both takes more instructions.
        let (upper, lower) = ((self.0 >> 64) as u64, self.0 as u64);
        if upper | (lower >> 32 ^ 0xffff) == 0 { Some(lower as u32) } else { None }
    }
    /// Both halves folded to 32 bits; for IPv4 the address itself.
    pub const fn fold(self) -> u32 {
        match self.as_v4() {
            Some(v4) => v4,
            None => (self.0 ^ self.0 >> 32 ^ self.0 >> 64 ^ self.0 >> 96) as u32,
        }
    }
}

impl From<IpAddr> for Addr {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(v4) => Self::v4(v4.to_bits()),
            IpAddr::V6(v6) => Self(v6.to_bits()),
        }
    }
}

impl From<Addr> for IpAddr {
    fn from(address: Addr) -> Self {
        match address.as_v4() {
            Some(v4) => IpAddr::V4(Ipv4Addr::from_bits(v4)),
            None => IpAddr::V6(Ipv6Addr::from_bits(address.0)),
        }
    }
}

/// A direction of a flow. For ICMP queries both ports hold the identifier; for protocols without
/// ports both are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Tuple {
    /// Source address.
    pub src: Addr,
    /// Destination address.
    pub dst: Addr,
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// IP protocol number.
    pub protocol: u8,
    /// For ICMP: [`icmp_kind`] or [`icmpv6_kind`] of its messages, so that two hosts can query each other, with several kinds of query,
    /// with the same identifier. 0 for every other protocol.
    pub icmp: u8,
    /// Zone of the interface that receives its packets.
    pub zone: Zone,
}

/// Number of a zone: interfaces within which an address means one station, those of a VRF. 0 is the zone of all interfaces
/// that are in no VRF. Flows of different zones are different ones even if their addresses and ports are the same
/// (as with the connection tracking zones of Linux, nf_conntrack_zone).
pub type Zone = u16;

impl Tuple {
    /// Whether both addresses are of IPv4.
    #[inline]
    pub const fn is_v4(&self) -> bool {
        self.src.as_v4().is_some() && self.dst.as_v4().is_some()
    }

    /// The tuple of the packets that answer this one, if they come by the same zone.
    #[inline(always)]
    pub const fn reversed(self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            src_port: self.dst_port,
            dst_port: self.src_port,
            protocol: self.protocol,
            icmp: if matches!(self.protocol, ICMP | ICMPV6) { self.icmp ^ ICMP_ANSWER } else { 0 },
            zone: self.zone,
        }
    }
}

/// In [`Tuple::icmp`]: the messages are answers, not queries.
pub const ICMP_ANSWER: u8 = 8;

/// Kind of an ICMP query with an identifier (RFC 792, RFC 950), less than 8, 0 for echo; with [`ICMP_ANSWER`] for a
/// reply. `None` for all other types.
#[inline]
pub const fn icmp_kind(icmp_type: u8) -> Option<u8> {
    Some(match icmp_type {
        icmp::ECHO_REQUEST => 0,
        icmp::TIMESTAMP => 1,
        icmp::INFO => 2,
        icmp::MASK => 3,
        icmp::ECHO_REPLY => ICMP_ANSWER,
        icmp::TIMESTAMP_REPLY => ICMP_ANSWER | 1,
        icmp::INFO_REPLY => ICMP_ANSWER | 2,
        icmp::MASK_REPLY => ICMP_ANSWER | 3,
        _ => return None,
    })
}

/// Kind of an ICMPv6 query with an identifier (RFC 4443 §4), as [`icmp_kind`] gives it. `None` for all other types.
#[inline]
pub const fn icmpv6_kind(icmp_type: u8) -> Option<u8> {
    match icmp_type {
        icmpv6::ECHO_REQUEST => Some(0),
        icmpv6::ECHO_REPLY => Some(ICMP_ANSWER),
        _ => None,
    }
}

/// The worker that owns a flow, `0..workers`. Symmetric: a tuple and its [`Tuple::reversed`] have one
/// owner. Classic BPF in front of the sockets computes the same function, so keep both in step:
///
/// * ICMP for IPv4: the identifier; ICMPv6: the addresses;
/// * protocols with ports: `src_port ^ dst_port`, or the addresses if that is 0;
/// * else the folded addresses, `src ^ dst`, upper half xor lower half.
///
/// The 16-bit value `v` gives `((v ^ v >> 8) & 0xff) % workers`.
#[inline]
pub fn steer(tuple: &Tuple, workers: u32) -> u32 {
    let ports = if tuple.protocol == ICMP { tuple.src_port } else { tuple.src_port ^ tuple.dst_port };
    steer_ports(ports, || tuple.src.fold() ^ tuple.dst.fold(), workers)
}

/// [`steer`] by the XOR of the ports. `addresses` returns the XOR of the folded addresses, and is called if `ports` is
/// 0.
#[inline]
pub(crate) fn steer_ports(ports: u16, addresses: impl FnOnce() -> u32, workers: u32) -> u32 {
    let value = if ports != 0 {
        ports
    } else {
        let folded = addresses();
        (folded ^ folded >> 16) as u16
    };
    u32::from((value ^ value >> 8) & 0xff) % workers.max(1)
}
