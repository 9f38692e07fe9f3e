//! The key of a flow, which lookups in the connection table compare.

use super::tuple::{Addr, Tuple, Zone};

/// Key that a lookup compares. That of IPv6 does not contain the addresses, which are compared beside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowKey {
    /// IPv4: source and destination. IPv6: 0, but [new addresses and ports](crate::flow::conntrack::NewEnds) in a flow
    /// entry.
    pub(crate) addresses: u64,
    /// Protocol, family, kind of an ICMP query, ports and zone.
    pub(crate) rest: u64,
}

const V4: u64 = 4 << 8;
const V6: u64 = 6 << 8;
/// Bits that hold the family.
const FAMILY: u64 = 0x0f << 8;
/// Shift of [`Tuple::icmp`] in [`FlowKey::rest`]: beside the family.
const ICMP_KIND: u32 = 12;
/// Shift of [`Tuple::zone`] in [`FlowKey::rest`].
const ZONE: u32 = 48;

impl FlowKey {
    /// Key of packets with a tuple.
    #[inline]
    pub fn of(tuple: &Tuple) -> Self {
        let kind = u64::from(tuple.icmp & 0x0f) << ICMP_KIND;
        let ports = u64::from(tuple.src_port) << 16 | u64::from(tuple.dst_port) << 32;
        let rest = u64::from(tuple.protocol) | kind | ports | u64::from(tuple.zone) << ZONE;
        match (tuple.src.as_v4(), tuple.dst.as_v4()) {
            (Some(src), Some(dst)) => Self::v4(src, dst, rest),
            // See Tuple::is_v4.
            _ => Self { addresses: 0, rest: rest | V6 },
        }
    }

    #[inline]
    fn v4(src: u32, dst: u32, rest: u64) -> Self {
        Self { addresses: u64::from(src) << 32 | u64::from(dst), rest: rest | V4 }
    }

    /// The key of a TCP or UDP packet over IPv4; addresses in host order, ports as in the header.
    #[inline]
    pub fn of_v4(src: u32, dst: u32, src_port: u16, dst_port: u16, protocol: u8, zone: Zone) -> Self {
        let ports = u64::from(src_port) << 16 | u64::from(dst_port) << 32;
        let rest = u64::from(protocol) | ports | u64::from(zone) << ZONE;
        Self::v4(src, dst, rest)
    }

    /// The key of a TCP or UDP packet over IPv6; ports as in the header.
    #[inline]
    pub fn of_v6(src_port: u16, dst_port: u16, protocol: u8, zone: Zone) -> Self {
        let ports = u64::from(src_port) << 16 | u64::from(dst_port) << 32;
        Self { addresses: 0, rest: u64::from(protocol) | ports | u64::from(zone) << ZONE | V6 }
    }

    /// Hash of the key of an IPv4 packet.
    #[inline]
    pub(crate) fn hash_v4(&self, seed: u64) -> u32 {
        let hash = mix(self.addresses ^ seed, self.rest ^ 0xe703_7ed1_a0b4_28db);
        (hash ^ hash >> 32) as u32
    }

    /// Hash of the key of an IPv6 packet with these addresses.
    #[inline]
    pub(crate) fn hash_v6(&self, src: Addr, dst: Addr, seed: u64) -> u32 {
        // The seed is in each factor, so that no sender can choose one that is zero.
        let half = |address: Addr, seed: u64| {
            mix(address.0 as u64 ^ seed, (address.0 >> 64) as u64 ^ seed.rotate_left(32))
        };
        let addresses =
            half(src, seed ^ 0x8ebc_6af0_9c88_c6e3) ^ half(dst, seed ^ 0x5899_65cc_7537_4cc3).rotate_left(1);
        let hash = mix(addresses ^ seed, self.rest ^ 0xe703_7ed1_a0b4_28db);
        (hash ^ hash >> 32) as u32
    }

    /// The tuple of an IPv4 key; without addresses for IPv6.
    #[inline]
    pub(crate) fn tuple(&self) -> Tuple {
        let (src, dst) = match self.is_v4() {
            true => (Addr::v4((self.addresses >> 32) as u32), Addr::v4(self.addresses as u32)),
            false => (Addr::default(), Addr::default()),
        };
        Tuple {
            src,
            dst,
            src_port: (self.rest >> 16) as u16,
            dst_port: (self.rest >> 32) as u16,
            protocol: self.rest as u8,
            icmp: (self.rest >> ICMP_KIND) as u8 & 0x0f,
            zone: self.zone(),
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

    /// Zone of the packets.
    #[inline]
    pub(crate) fn zone(&self) -> Zone {
        (self.rest >> ZONE) as Zone
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

    /// Whether it is of an IPv6 flow.
    #[inline]
    pub(crate) fn is_v6(&self) -> bool {
        self.rest & (V6 & !V4) != 0
    }
}

/// Mixes two words; the folded 128-bit product.
#[inline]
pub(crate) const fn mix(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]
        #[test]
        fn a_key_has_everything_of_its_tuple(
            ((src, dst), (src_port, dst_port)) in any::<((u32, u32), (u16, u16))>(),
            (protocol, zone) in any::<(u8, Zone)>(),
            icmp in 0u8..16,
        ) {
            let (src, dst) = (Addr::v4(src), Addr::v4(dst));
            let tuple = Tuple { src, dst, src_port, dst_port, protocol, icmp, zone };
            prop_assert_eq!(FlowKey::of(&tuple).tuple(), tuple);
            let v6 = Tuple { src: Addr(1), dst: Addr(2), ..tuple };
            let key = FlowKey::of(&v6).tuple();
            prop_assert_eq!(Tuple { src: v6.src, dst: v6.dst, ..key }, v6);
            let v6_plain = Tuple { icmp: 0, ..v6 };
            prop_assert_eq!(FlowKey::of_v6(src_port, dst_port, protocol, zone), FlowKey::of(&v6_plain));
            let plain = Tuple { icmp: 0, ..tuple };
            let ends = (src.as_v4().unwrap(), dst.as_v4().unwrap());
            prop_assert_eq!(FlowKey::of_v4(ends.0, ends.1, src_port, dst_port, protocol, zone), FlowKey::of(&plain));
        }
    }
}
