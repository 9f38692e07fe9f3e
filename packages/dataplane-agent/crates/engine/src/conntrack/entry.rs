//! The key line of one direction: what a lookup compares, and what the fast path does on a hit.

use crate::qos::Lane;
use crate::tuple::Tuple;

/// Place of a direction entry: connection slot × 2 + direction.
pub type EntryIndex = u32;

/// No entry.
pub const NO_ENTRY: EntryIndex = u32::MAX;

/// Bits of [`CachedAction::flags`].
pub mod action_flag {
    /// The action may be used.
    pub const INSTALLED: u16 = 1;
    /// Rewrite the source.
    pub const NAT_SRC: u16 = 2;
    /// Rewrite the destination.
    pub const NAT_DST: u16 = 4;
    /// Holds only for a while: the entry has a [`Bound`](crate::conntrack::Bound).
    pub const BOUNDED: u16 = 8;
}

/// What the later packets of a direction get. The deltas do not hold the TTL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CachedAction {
    /// Global generation at install.
    pub generation: u32,
    /// Connection version at install.
    pub version: u32,
    /// Adjacency: the ready L2 header.
    pub adjacency: u32,
    /// New IPv4 source with `NAT_SRC`. IPv6 takes it from the connection.
    pub new_src: u32,
    /// New IPv4 destination with `NAT_DST`.
    pub new_dst: u32,
    /// Path id: the rules counted.
    pub path: u32,
    /// Resume point, 0 none: where evaluation goes on for every packet.
    pub resume: u32,
    /// Queue that takes the packets, in the numbers of this generation.
    pub lane: Lane,
    /// New source port (ICMP: identifier) with `NAT_SRC`.
    pub new_src_port: u16,
    /// New destination port (ICMP: identifier) with `NAT_DST`.
    pub new_dst_port: u16,
    /// Ingress port; part of the key.
    pub in_port: u16,
    /// Egress port.
    pub out_port: u16,
    /// Change of the IPv4 header checksum.
    pub l3_delta: u16,
    /// Change of a complete L4 checksum.
    pub l4_delta: u16,
    /// Change of a partial L4 checksum: addresses only.
    pub pseudo_delta: u16,
    /// See [`action_flag`].
    pub flags: u16,
}

/// A direction entry, one cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub struct Entry {
    /// IPv4 addresses, or the halves of a fingerprint of both IPv6 addresses.
    src: u32,
    dst: u32,
    src_port: u16,
    dst_port: u16,
    protocol: u8,
    kind: u8,
    /// What later packets get.
    pub action: CachedAction,
}

const V4: u8 = 4;
const V6: u8 = 6;

impl Entry {
    /// The key of a tuple, without an action.
    pub(super) fn key(tuple: &Tuple) -> Self {
        let (src, dst, kind) = match (tuple.src.as_v4(), tuple.dst.as_v4()) {
            (Some(src), Some(dst)) => (src, dst, V4),
            _ => {
                let print = fingerprint(tuple);
                ((print >> 32) as u32, print as u32, V6)
            }
        };
        Self {
            src,
            dst,
            src_port: tuple.src_port,
            dst_port: tuple.dst_port,
            protocol: tuple.protocol,
            kind,
            action: CachedAction::default(),
        }
    }
    /// Whether the key is that of a tuple; for IPv6 the connection must still be compared.
    #[inline]
    pub(super) fn is(&self, key: &Self) -> bool {
        self.src == key.src
            && self.dst == key.dst
            && self.src_port == key.src_port
            && self.dst_port == key.dst_port
            && self.protocol == key.protocol
            && self.kind == key.kind
    }
    /// Whether the key decides by itself.
    #[inline]
    pub(super) fn is_exact(&self) -> bool {
        self.kind == V4
    }
}

/// Mixes two words; the folded 128-bit product.
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
