//! The Internet checksum (RFC 1071) and its incremental update (RFC 1624).
//!
//! A *complete* checksum field holds the complement of the sum. A *partial* one (virtio-net `NEEDS_CSUM`, Linux
//! `CHECKSUM_PARTIAL`) holds the sum of the pseudo-header only, not complemented: the sum of the other bytes is added
//! when the checksum is completed. So a partial field changes with the addresses but not with the ports.

/// One's complement sum of two 16-bit values.
#[inline]
pub const fn add(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + carry as u16
}

/// Sum of both 32-bit words of a value.
#[inline]
const fn halves(value: u64) -> u64 {
    (value >> 32) + (value & 0xffff_ffff)
}

/// One's complement sum of the 16-bit words of a value.
#[inline]
const fn fold(sum: u64) -> u16 {
    // A word plus itself with its halves exchanged: the upper half becomes the sum of both halves with the carry of the
    // lower one, that is their one's complement sum.
    let sum = (sum.wrapping_add(sum.rotate_left(32)) >> 32) as u32;
    (sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16
}

/// Folded one's complement sum, not complemented. An odd last byte is padded with zero.
pub fn sum(bytes: &[u8]) -> u16 {
    let mut sum = 0u64;
    let mut words = bytes.chunks_exact(4);
    for word in &mut words {
        if let Some(word) = word.first_chunk() {
            sum += u64::from(u32::from_be_bytes(*word));
        }
    }
    let tail = match *words.remainder() {
        [a] => [a, 0, 0, 0],
        [a, b] => [a, b, 0, 0],
        [a, b, c] => [a, b, c, 0],
        _ => [0; 4],
    };
    fold(sum + u64::from(u32::from_be_bytes(tail)))
}

/// Folded one's complement sum of an IPv4 header without options, not complemented.
#[inline]
pub fn sum_header(header: &[u8; 20]) -> u16 {
    let word = |at: usize| u64::from(crate::field::get32(header, at));
    fold(word(0) + word(4) + word(8) + word(12) + word(16))
}

/// The value for a complete checksum field over `bytes`, whose checksum field is zero.
pub fn checksum(bytes: &[u8]) -> u16 {
    !sum(bytes)
}

/// Sum over the IPv4 pseudo-header (RFC 9293 §3.1), not complemented: what a partial field holds.
/// `len` is the length of L4 header and payload, bytes.
pub const fn pseudo_v4(src: u32, dst: u32, protocol: u8, len: u16) -> u16 {
    fold(src as u64 + dst as u64 + protocol as u64 + len as u64)
}

/// Sum over the IPv6 pseudo-header (RFC 8200 §8.1), not complemented. `len` is the length of L4 header and payload,
/// bytes.
pub const fn pseudo_v6(src: u128, dst: u128, protocol: u8, len: u32) -> u16 {
    fold(words(src) + words(dst) + protocol as u64 + len as u64)
}

/// Sum of the 32-bit words of an IPv6 address.
#[inline]
const fn words(address: u128) -> u64 {
    (address >> 96) as u32 as u64
        + (address >> 64) as u32 as u64
        + (address >> 32) as u32 as u64
        + address as u32 as u64
}

/// Pseudo-header sum like [`pseudo_v4`], from the folded sum of both addresses, of IPv4 or IPv6 (RFC 8200 §8.1).
pub const fn pseudo(addresses: u16, protocol: u8, len: u32) -> u16 {
    fold(addresses as u64 + protocol as u64 + len as u64)
}

/// UDP sends a computed checksum of 0 as 0xffff, as 0 says "none" (RFC 768).
#[inline]
pub const fn no_zero(field: u16) -> u16 {
    if field == 0 { 0xffff } else { field }
}

/// Completes a partial checksum: a field, `offset` bytes behind `start`, that holds the sum of the pseudo-header gets
/// the checksum of all bytes from `start` on. `false`, with nothing changed, when the field is not within the bytes.
pub fn complete(bytes: &mut [u8], start: u16, offset: u16) -> bool {
    let Some(summed) = bytes.get_mut(usize::from(start)..) else { return false };
    let sum = no_zero(!sum(summed));
    match summed.get_mut(offset.into()..).and_then(<[u8]>::first_chunk_mut) {
        Some(field) => {
            *field = sum.to_be_bytes();
            true
        }
        None => false,
    }
}

/// A change of some summed words, ready to be applied to any checksum field that covers them: a sum that is folded
/// only when it is applied. It is 0 only if no word has changed. 2^28 changes fit in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delta(u64);

impl Delta {
    /// Nothing changed.
    pub const NONE: Self = Self(0);

    /// Adds the change of a 16-bit word at an even offset.
    #[inline]
    #[must_use]
    pub const fn replace16(self, old: u16, new: u16) -> Self {
        if old == new { self } else { Self(self.0 + new as u64 + !old as u64) }
    }
    /// Adds the change of a 32-bit word at an even offset.
    #[inline]
    #[must_use]
    pub const fn replace32(self, old: u32, new: u32) -> Self {
        if old == new { self } else { Self(self.0 + new as u64 + !old as u64) }
    }
    /// Adds the change of a 64-bit word at an even offset.
    #[inline]
    #[must_use]
    pub const fn replace64(self, old: u64, new: u64) -> Self {
        if old == new { self } else { Self(self.0 + halves(new) + halves(!old)) }
    }
    /// Adds the change of a 128-bit word at an even offset.
    #[must_use]
    pub const fn replace128(self, old: u128, new: u128) -> Self {
        self.replace64((old >> 64) as u64, (new >> 64) as u64).replace64(old as u64, new as u64)
    }
    /// The change of a 64-bit word at an even offset. It is not 0 even if the word is the same: then it is the other
    /// zero of one's complement sums.
    #[inline]
    pub const fn of64(old: u64, new: u64) -> Self {
        Self(halves(new) + halves(!old))
    }
    /// The change of a 128-bit word at an even offset, as [`Self::of64`].
    #[inline]
    pub const fn of128(old: u128, new: u128) -> Self {
        Self(words(new) + words(!old))
    }
    /// Adds the change of a 32-bit word at an even offset, as [`Self::of64`].
    #[inline]
    #[must_use]
    pub const fn with32(self, old: u32, new: u32) -> Self {
        Self(self.0 + new as u64 + !old as u64)
    }
    /// [`Self::apply`] for a change that is not 0.
    #[inline]
    pub const fn apply_nonzero(self, field: u16) -> u16 {
        !fold(self.0 + !field as u64)
    }
    /// The change as one folded word; 0 only if no word has changed.
    #[inline]
    pub const fn folded(self) -> u16 {
        fold(self.0)
    }
    /// The sum of both changes.
    #[inline]
    #[must_use]
    pub const fn then(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
    /// The new value of a complete field (RFC 1624 eqn. 3).
    #[inline]
    pub const fn apply(self, field: u16) -> u16 {
        if self.0 == 0 { field } else { self.apply_nonzero(field) }
    }
    /// The new value of a partial field; the delta must hold address changes only.
    #[inline]
    pub const fn apply_partial(self, field: u16) -> u16 {
        fold(self.0 + field as u64)
    }
    /// The new value of a complete UDP field. A field of 0 ("no checksum") stays 0, and the result for any other field
    /// is never 0.
    #[inline]
    pub const fn apply_udp(self, field: u16) -> u16 {
        if field == 0 { 0 } else { no_zero(self.apply(field)) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rfc_1071_example() {
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
    }

    #[test]
    fn rfc_1624_example_does_not_give_minus_zero() {
        // RFC 1624 §4: HC 0xdd2f, m 0x5555 → m' 0x3285 gives 0x0000.
        assert_eq!(Delta::NONE.replace16(0x5555, 0x3285).apply(0xdd2f), 0x0000);
    }

    fn put16(bytes: &mut [u8], at: usize, value: u16) -> u16 {
        let old = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
        old
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn sum_agrees_with_sixteen_bit_addition(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut expected = 0u16;
            for pair in bytes.chunks(2) {
                expected = add(expected, u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
            }
            prop_assert_eq!(sum(&bytes), expected);
        }

        #[test]
        fn incremental_equals_recomputed(
            mut bytes in proptest::collection::vec(any::<u8>(), 4..60),
            changes in proptest::collection::vec((any::<usize>(), any::<u16>()), 1..6),
        ) {
            // A sum of all-zero words has two representations; real headers never are all zero.
            bytes[0] |= 1;
            let before = checksum(&bytes);
            let mut delta = Delta::NONE;
            for (at, new) in changes {
                let at = (2 + at % (bytes.len() - 3)) & !1;
                delta = delta.replace16(put16(&mut bytes, at, new), new);
            }
            prop_assert_eq!(delta.apply(before), checksum(&bytes));
        }

        #[test]
        fn partial_follows_addresses(src: u32, dst: u32, new: u32, len in 20u16..1500) {
            let delta = Delta::NONE.replace32(src, new);
            let field = delta.apply_partial(pseudo_v4(src, dst, 6, len));
            prop_assert_eq!(field, pseudo_v4(new, dst, 6, len));
        }

        #[test]
        fn the_pseudo_header_of_ipv6_is_summed_like_its_bytes(src: u128, dst: u128, protocol: u8, len: u16) {
            let mut bytes = [0; 40];
            bytes[..16].copy_from_slice(&src.to_be_bytes());
            bytes[16..32].copy_from_slice(&dst.to_be_bytes());
            bytes[34..36].copy_from_slice(&len.to_be_bytes());
            bytes[39] = protocol;
            prop_assert_eq!(pseudo_v6(src, dst, protocol, len.into()), sum(&bytes));
        }

        #[test]
        fn udp_rules(field: u16, old: u16, new: u16) {
            let result = Delta::NONE.replace16(old, new).apply_udp(field);
            prop_assert_eq!(result == 0, field == 0);
        }
    }
}
