//! The header changes of every forwarded packet: time to live and link-layer addresses.

use tollway_wire::checksum::Delta;
use tollway_wire::{ethernet, field, ipv4, ipv6};

/// Checksum delta of a decrement of the time to live (RFC 1624).
pub(crate) const ONE_LESS: Delta = Delta::NONE.replace16(0x0100, 0);

/// Decrements the time to live and adjusts the header checksum (RFC 1624 eqn. 3, which never yields minus zero).
#[inline(always)]
pub(crate) fn lower_ttl(l3: &mut [u8]) {
    let Some(header): Option<&mut [u8; ipv4::HEADER]> = l3.first_chunk_mut() else { return };
    header[ipv4::offset::TTL] = header[ipv4::offset::TTL].wrapping_sub(1);
    let sum = ONE_LESS.apply(field::get16(header, ipv4::offset::CHECKSUM));
    field::put(header, ipv4::offset::CHECKSUM, &sum.to_be_bytes());
}

/// Decrements the hop limit of an IPv6 packet, which no checksum covers.
#[inline]
pub(crate) fn lower_hop_limit(l3: &mut [u8]) {
    if let Some(limit) = l3.get_mut(ipv6::offset::HOP_LIMIT) {
        *limit = limit.wrapping_sub(1);
    }
}

/// Writes the link-layer header of an IPv6 frame.
#[inline]
pub(crate) fn write_ipv6_link(head: &mut [u8], dst: [u8; 6], src: [u8; 6]) {
    write_link(head, dst, src);
    field::put(head, ethernet::ADDRESSES, &ethernet::IPV6.to_be_bytes());
}

/// Writes the link-layer header of an IPv4 frame.
#[inline]
pub(crate) fn write_link(head: &mut [u8], dst: [u8; 6], src: [u8; 6]) {
    let Some(link): Option<&mut [u8; 14]> = head.first_chunk_mut() else { return };
    let [d0, d1, d2, d3, d4, d5] = dst;
    let [s0, s1, s2, s3, s4, s5] = src;
    let link_layer = u128::from_le_bytes([d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, 0x08, 0x00, 0, 0]);
    // Three stores: an array literal compiles to one store a byte.
    let (first, rest) = link.split_at_mut(8);
    let (second, kind) = rest.split_at_mut(4);
    first.copy_from_slice(&(link_layer as u64).to_le_bytes());
    second.copy_from_slice(&((link_layer >> 64) as u32).to_le_bytes());
    kind.copy_from_slice(&((link_layer >> 96) as u16).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use tollway_wire::checksum::checksum;

    use super::*;

    #[test]
    fn a_lower_ttl_has_the_checksum_that_is_computed_anew() {
        for ident in 0..=u16::MAX {
            let mut header = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 192, 168, 88, 77, 203, 0, 113, 77];
            field::put(&mut header, 4, &ident.to_be_bytes());
            let sum = checksum(&header);
            field::put(&mut header, ipv4::offset::CHECKSUM, &sum.to_be_bytes());
            lower_ttl(&mut header);
            let sent = field::get16(&header, ipv4::offset::CHECKSUM);
            field::put(&mut header, ipv4::offset::CHECKSUM, &[0, 0]);
            assert_eq!((header[ipv4::offset::TTL], sent), (63, checksum(&header)), "{ident}");
        }
    }
}
