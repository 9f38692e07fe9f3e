//! The key line of one direction: what a lookup compares, and what the fast path does on a hit.

use crate::epochs::{ListCell, Stamp};
use crate::qos::Lane;
use crate::tuple::{Addr, Tuple};

/// Place of a direction entry: connection slot × 2 + direction.
pub type EntryIndex = u32;

/// No entry.
pub const NO_ENTRY: EntryIndex = u32::MAX;

/// Bits of [`CachedAction::flags`].
pub mod action_flag {
    /// Rewrite the source.
    pub const NAT_SRC: u16 = 2;
    /// Rewrite the destination.
    pub const NAT_DST: u16 = 4;
    /// Holds only for a while: the entry has a [`Bound`](crate::conntrack::Bound).
    pub const BOUNDED: u16 = 8;
    /// Write the DSCP that stands in [`DSCP`].
    pub const SET_DSCP: u16 = 16;
    /// New DSCP with `SET_DSCP`.
    pub const DSCP: u16 = 0x3f00;
    /// Lowest bit of [`DSCP`].
    pub const DSCP_SHIFT: u32 = 8;
}

impl CachedAction {
    /// The DSCP to write.
    #[inline]
    pub const fn new_dscp(&self) -> Option<u8> {
        if self.flags & action_flag::SET_DSCP == 0 {
            None
        } else {
            Some(((self.flags & action_flag::DSCP) >> action_flag::DSCP_SHIFT) as u8)
        }
    }

    /// Has this DSCP written.
    pub(crate) fn set_dscp(&mut self, dscp: u8) {
        self.flags |= action_flag::SET_DSCP | u16::from(dscp & 0x3f) << action_flag::DSCP_SHIFT;
    }
}

/// What the later packets of a direction get. The deltas do not hold the TTL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CachedAction {
    /// Policy of the worker at install; 0 when there is no action.
    pub policy: u32,
    /// Changes of routes and lists at install, or when it was found that they do not matter.
    pub stamp: Stamp,
    /// Adjacency: the ready L2 header.
    pub adjacency: u32,
    /// Queue that takes the packets, in the numbers of this policy.
    pub lane: Lane,
    /// Path id: the rules counted.
    pub path: u32,
    /// New IPv4 source with `NAT_SRC`.
    pub new_src: u32,
    /// New IPv4 destination with `NAT_DST`.
    pub new_dst: u32,
    /// Connection version at install.
    pub version: u16,
    /// Egress port.
    pub out_port: u16,
    /// Resume point, 0 none: where evaluation goes on for every packet.
    pub resume: u16,
    /// See [`action_flag`].
    pub flags: u16,
    /// New source port (ICMP: identifier) with `NAT_SRC`.
    pub new_src_port: u16,
    /// New destination port (ICMP: identifier) with `NAT_DST`.
    pub new_dst_port: u16,
    /// Change of the IPv4 header checksum: of the addresses.
    pub l3_delta: u16,
    /// Change of a complete L4 checksum.
    pub l4_delta: u16,
    /// Questions to address lists that it rests on.
    pub lists: [ListCell; 2],
}

/// What a lookup compares. IPv6 has 32 bits of a fingerprint of both addresses here; the addresses
/// themselves are elsewhere and are compared afterwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Key {
    /// IPv4: source and destination. IPv6: fingerprint, and in an entry below it where the addresses are.
    addresses: u64,
    /// Protocol, family, ports, and in an entry on top the ingress port of its action.
    rest: u64,
}

/// Shift of the ingress port in [`Key::rest`].
const IN_PORT: u32 = 48;
const V4: u64 = 4 << 8;
const V6: u64 = 6 << 8;
const FAMILY: u64 = 0x0f << 8;
/// Shift of [`Tuple::icmp`] in [`Key::rest`]: beside the family.
const ICMP_KIND: u32 = 12;
/// In the family byte of a key for IPv6 only.
const ELSEWHERE: u64 = V6 & !V4;

impl Key {
    /// Of packets with a tuple.
    #[inline]
    pub fn of(tuple: &Tuple) -> Self {
        let kind = u64::from(tuple.icmp & 0x0f) << ICMP_KIND;
        let ports = u64::from(tuple.src_port) << 16 | u64::from(tuple.dst_port) << 32;
        let rest = u64::from(tuple.protocol) | kind | ports;
        match (tuple.src.as_v4(), tuple.dst.as_v4()) {
            (Some(src), Some(dst)) => Self::v4(src, dst, rest),
            _ => Self { addresses: fingerprint(tuple) >> 32 << 32, rest: rest | V6 },
        }
    }

    #[inline]
    fn v4(src: u32, dst: u32, rest: u64) -> Self {
        Self { addresses: u64::from(src) << 32 | u64::from(dst), rest: rest | V4 }
    }

    /// Of TCP and UDP over IPv4 with these addresses in host order, and ports as they stand in the header.
    #[inline]
    pub fn of_v4(src: u32, dst: u32, src_port: u16, dst_port: u16, protocol: u8) -> Self {
        let rest = u64::from(protocol) | u64::from(src_port) << 16 | u64::from(dst_port) << 32;
        Self::v4(src, dst, rest)
    }

    /// The key of an IPv4 entry as packets have it.
    pub(super) fn without_port(self) -> Self {
        Self { rest: self.rest & ((1 << IN_PORT) - 1), ..self }
    }

    /// Spreads keys over all values.
    #[inline]
    pub(super) fn hash(&self, seed: u64) -> u32 {
        let hash = mix(self.addresses ^ seed, self.rest ^ 0xe703_7ed1_a0b4_28db);
        (hash ^ hash >> 32) as u32
    }

    /// For an IPv6 entry: where its addresses are.
    pub(super) fn with_place(self, place: u32) -> Self {
        Self { addresses: self.addresses | u64::from(place), ..self }
    }

    /// Where the addresses are; `None` when they are the key.
    #[inline]
    pub(super) fn place(&self) -> Option<u32> {
        (self.rest & FAMILY == V6).then_some(self.addresses as u32)
    }

    /// The tuple of an IPv4 key; without addresses for IPv6.
    #[inline]
    pub(super) fn tuple(&self) -> Tuple {
        let (src, dst) = match self.place() {
            None => (Addr::v4((self.addresses >> 32) as u32), Addr::v4(self.addresses as u32)),
            Some(_) => (Addr::default(), Addr::default()),
        };
        Tuple {
            src,
            dst,
            src_port: (self.rest >> 16) as u16,
            dst_port: (self.rest >> 32) as u16,
            protocol: self.rest as u8,
            icmp: (self.rest >> ICMP_KIND) as u8 & 0x0f,
        }
    }

    /// Source and destination of an IPv4 key, in host order.
    #[inline]
    pub(crate) fn v4_addresses(&self) -> (u32, u32) {
        ((self.addresses >> 32) as u32, self.addresses as u32)
    }

    /// Source and destination port; of ICMP queries and answers both are the identifier.
    #[inline]
    pub(crate) fn ports(&self) -> (u16, u16) {
        ((self.rest >> 16) as u16, (self.rest >> 32) as u16)
    }

    #[inline]
    pub(crate) fn protocol(&self) -> u8 {
        self.rest as u8
    }

    #[inline]
    pub(super) fn is_v4(&self) -> bool {
        self.rest & FAMILY == V4
    }
}

/// A direction entry, one cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub struct Entry {
    key: Key,
    /// What later packets get.
    pub action: CachedAction,
}

impl Entry {
    /// An entry without an action.
    pub(super) fn new(key: Key) -> Self {
        Self { key, action: CachedAction::default() }
    }

    /// The key.
    #[inline]
    pub(super) fn key(&self) -> &Key {
        &self.key
    }

    /// Whether the key is that of an IPv4 tuple. `false` for every IPv6 entry.
    #[inline]
    pub(super) fn is_exactly(&self, key: &Key) -> bool {
        let ports = (self.key.rest ^ key.rest) << (64 - IN_PORT);
        (self.key.addresses ^ key.addresses) | ports | (self.key.rest & ELSEWHERE) == 0
    }

    /// Whether the key is that of a tuple; for IPv6 its addresses must still be compared.
    #[inline]
    pub(super) fn is(&self, key: &Key) -> bool {
        let place = if self.key.rest & FAMILY == V6 { u64::from(u32::MAX) } else { 0 };
        ((self.key.addresses ^ key.addresses) & !place) | (self.key.rest ^ key.rest) << (64 - IN_PORT) == 0
    }

    /// Port by which the packets come that the action is for.
    #[inline]
    pub fn in_port(&self) -> u16 {
        (self.key.rest >> IN_PORT) as u16
    }

    /// Puts an action in place, for packets from a port.
    #[inline(always)]
    pub(super) fn set(&mut self, in_port: u16, action: CachedAction) {
        self.key.rest = self.key.rest & !(0xffff << IN_PORT) | u64::from(in_port) << IN_PORT;
        self.action = action;
    }
}

/// Mixes two words; the folded 128-bit product.
#[inline]
pub(super) const fn mix(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    product as u64 ^ (product >> 64) as u64
}

pub(super) fn fingerprint(tuple: &Tuple) -> u64 {
    let half = |address: u128| {
        mix(address as u64 ^ 0x9e37_79b9_7f4a_7c15, (address >> 64) as u64 ^ 0xe703_7ed1_a0b4_28db)
    };
    mix(half(tuple.src.0) ^ 0x8ebc_6af0_9c88_c6e3, half(tuple.dst.0) ^ 0x5899_65cc_7537_4cc3)
}

const _: () = assert!(size_of::<Entry>() == 64);
