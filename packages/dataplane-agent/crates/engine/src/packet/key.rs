//! The key of a flow, which lookups in the connection table compare.

use super::tuple::{Addr, Tuple};

/// Key that a lookup compares. An IPv6 key holds a 32-bit fingerprint of both addresses; the addresses themselves are
/// stored separately and compared afterwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowKey {
    /// IPv4: source and destination. IPv6: the fingerprint in the upper half; in an entry, the place of the addresses
    /// in the lower half.
    pub(crate) addresses: u64,
    /// Protocol, family and ports; in an entry, also the ingress port of its action, in the highest bits.
    pub(crate) rest: u64,
}

/// Shift of the ingress port in [`FlowKey::rest`].
pub(crate) const IN_PORT: u32 = 48;
const V4: u64 = 4 << 8;
/// Bits of an IPv6 key.
pub(crate) const V6: u64 = 6 << 8;
/// Bits that hold the family.
pub(crate) const FAMILY: u64 = 0x0f << 8;
/// Shift of [`Tuple::icmp`] in [`FlowKey::rest`]: beside the family.
const ICMP_KIND: u32 = 12;
/// Bits that are set in the family of an IPv6 key but not in that of an IPv4 key.
pub(crate) const V6_ONLY: u64 = V6 & !V4;

impl FlowKey {
    /// Key of packets with a tuple.
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

    /// The key of a TCP or UDP packet over IPv4; addresses in host order, ports as in the header.
    #[inline]
    pub fn of_v4(src: u32, dst: u32, src_port: u16, dst_port: u16, protocol: u8) -> Self {
        let rest = u64::from(protocol) | u64::from(src_port) << 16 | u64::from(dst_port) << 32;
        Self::v4(src, dst, rest)
    }

    /// The key of an IPv4 entry without the ingress port, as packets have it.
    pub(crate) fn without_port(self) -> Self {
        Self { rest: self.rest & ((1 << IN_PORT) - 1), ..self }
    }

    /// Hash of the key.
    #[inline]
    pub(crate) fn hash(&self, seed: u64) -> u32 {
        let hash = mix(self.addresses ^ seed, self.rest ^ 0xe703_7ed1_a0b4_28db);
        (hash ^ hash >> 32) as u32
    }

    /// The key of an IPv6 entry whose addresses are stored at `place`.
    pub(crate) fn with_place(self, place: u32) -> Self {
        Self { addresses: self.addresses | u64::from(place), ..self }
    }

    /// Place of the addresses of an IPv6 entry; `None` for IPv4, whose addresses are in the key.
    #[inline]
    pub(crate) fn place(&self) -> Option<u32> {
        (self.rest & FAMILY == V6).then_some(self.addresses as u32)
    }

    /// The tuple of an IPv4 key; without addresses for IPv6.
    #[inline]
    pub(crate) fn tuple(&self) -> Tuple {
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

    /// IP protocol number.
    #[inline]
    pub(crate) fn protocol(&self) -> u8 {
        self.rest as u8
    }

    /// Whether it is of an IPv4 flow.
    #[inline]
    pub(crate) fn is_v4(&self) -> bool {
        self.rest & FAMILY == V4
    }
}

/// Mixes two words; the folded 128-bit product.
#[inline]
pub(crate) const fn mix(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    product as u64 ^ (product >> 64) as u64
}

/// Hash of a tuple.
pub(crate) fn fingerprint(tuple: &Tuple) -> u64 {
    let half = |address: u128| {
        mix(address as u64 ^ 0x9e37_79b9_7f4a_7c15, (address >> 64) as u64 ^ 0xe703_7ed1_a0b4_28db)
    };
    mix(half(tuple.src.0) ^ 0x8ebc_6af0_9c88_c6e3, half(tuple.dst.0) ^ 0x5899_65cc_7537_4cc3)
}
