//! Header changes that mangle rules ask for: the DSCP, and the maximum segment size that a SYN announces.

use tollway_wire::checksum::Delta;
use tollway_wire::{field, ipv4, ipv6, tcp};

use crate::packet::family::Family;
use crate::packet::{Meta, flag};

/// Bits of explicit congestion notification beside the DSCP (RFC 3168 §5).
const ECN: u8 = 3;
/// Bytes of a maximum segment size.
const MSS_VALUE: usize = 2;

/// DSCP of a packet; `head` is the front of the frame.
#[inline]
pub(crate) fn dscp_of(meta: &Meta, head: &[u8]) -> u8 {
    if meta.is_ipv6() {
        return (field::get16(head, usize::from(meta.l3)) >> 6) as u8 & 0x3f;
    }
    head.get(usize::from(meta.l3) + ipv4::offset::TOS).copied().unwrap_or(0) >> 2
}

/// Hop limit or time to live of a packet; `head` is the front of the frame.
#[inline]
pub(crate) fn hop_limit_of(meta: &Meta, head: &[u8]) -> u8 {
    let offset = if meta.is_ipv6() { ipv6::offset::HOP_LIMIT } else { ipv4::offset::TTL };
    head.get(usize::from(meta.l3) + offset).copied().unwrap_or(0)
}

/// Writes the DSCP (RFC 2474) of a packet that begins with its IP header, with the header checksum of IPv4.
pub(crate) fn set_dscp(family: Family, l3: &mut [u8], dscp: u8) {
    match family {
        Family::V4 => ipv4::set_tos(l3, dscp << 2, ECN),
        Family::V6 => ipv6::set_traffic_class(l3, dscp << 2, ECN),
    }
}

/// Largest segment size that fits an MTU (RFC 879, RFC 6691), bytes.
pub(crate) fn mss_for(family: Family, mtu: u16) -> u16 {
    let ip_header = if family == Family::V6 { ipv6::HEADER } else { ipv4::HEADER };
    usize::from(mtu).saturating_sub(ip_header + tcp::HEADER) as u16
}

/// Lowers the maximum segment size that a SYN segment announces to `most` bytes. A segment without SYN, or without the
/// option, is not changed: without the option the peer sends at most 536 bytes (RFC 9293 §3.7.1), less than any link
/// here requires. With `needs_csum` the checksum covers only the pseudo-header yet, and is not updated.
pub(crate) fn lower_mss(meta: &Meta, head: &mut [u8], most: u16, needs_csum: bool) {
    let syn = meta.tuple.protocol == ipv4::TCP && meta.tcp_flags_or_icmp_type & tcp::flag::SYN != 0;
    if !syn || !meta.is(flag::L4_HEADER) || meta.is(flag::LATER_FRAGMENT) {
        return;
    }
    let Some(segment) = head.get_mut(usize::from(meta.l4)..) else { return };
    let header = usize::from(segment.get(tcp::offset::DATA_OFFSET).copied().unwrap_or(0) >> 4) * 4;
    let Some(segment) = segment.get_mut(..header) else { return };
    let Some(at) = mss_option(segment).map(|option| option + 2) else { return };
    if field::get16(segment, at) <= most {
        return;
    }
    // The size may span two of the 16-bit words of the checksum.
    let words = [at & !1, (at & !1) + 2];
    let before = words.map(|word| field::get16(segment, word));
    field::put(segment, at, &most.to_be_bytes());
    let mut delta = Delta::NONE;
    for (word, before) in words.into_iter().zip(before).take(1 + at % 2) {
        delta = delta.replace16(before, field::get16(segment, word));
    }
    if !needs_csum {
        let sum = delta.apply(field::get16(segment, tcp::CHECKSUM));
        field::put(segment, tcp::CHECKSUM, &sum.to_be_bytes());
    }
}

/// Offset of the maximum segment size option in a TCP header.
fn mss_option(header: &[u8]) -> Option<usize> {
    tcp::options(header.get(tcp::HEADER..)?)
        .flatten()
        .find(|option| option.kind == tcp::option::MSS && option.value.len() == MSS_VALUE)
        .map(|option| tcp::HEADER + option.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tuple::{Addr, Tuple};

    /// A SYN with these options from the IPv4 header on, its checksums right.
    fn syn(options: &[u8]) -> (Meta, Vec<u8>) {
        let (src_addr, dst_addr) = (0x0a00_0001, 0x0a00_0002);
        let len = tcp::HEADER + options.len();
        let mut bytes = vec![0; ipv4::HEADER + len];
        let (ip, segment) = bytes.split_at_mut(ipv4::HEADER);
        ipv4::Repr {
            tos: 0xb9,
            ident: 7,
            dont_fragment: true,
            ttl: 64,
            protocol: ipv4::TCP,
            src_addr,
            dst_addr,
            payload_len: len as u16,
        }
        .emit(ip);
        let repr =
            tcp::Repr { src_port: 1, dst_port: 2, seq: 3, ack: 0, flags: tcp::flag::SYN, window: 1000 };
        repr.emit(segment, src_addr, dst_addr);
        segment[tcp::offset::DATA_OFFSET] = (len as u8 / 4) << 4;
        segment[tcp::HEADER..].copy_from_slice(options);
        field::put(segment, tcp::CHECKSUM, &[0, 0]);
        let sum = !checksum(segment);
        field::put(segment, tcp::CHECKSUM, &sum.to_be_bytes());
        let tuple = Tuple { protocol: ipv4::TCP, ..Tuple::default() };
        let (src, dst) = (Addr::v4(src_addr), Addr::v4(dst_addr));
        let meta = Meta {
            tuple: Tuple { src, dst, ..tuple },
            l3: 0,
            l4: ipv4::HEADER as u16,
            tcp_flags_or_icmp_type: tcp::flag::SYN,
            flags: flag::L4_HEADER,
            ..Meta::default()
        };
        (meta, bytes)
    }

    /// Checksum of the segment and the part of the pseudo-header that matters here: none of it changes.
    fn checksum(segment: &[u8]) -> u16 {
        tollway_wire::checksum::sum(segment)
    }

    #[test]
    fn a_syn_announces_no_more_than_it_may_wherever_the_option_stands() {
        for options in [
            &[2u8, 4, 5, 180][..],
            &[1, 2, 4, 5, 180, 1, 1, 0],
            &[8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 2, 4, 5, 180, 1, 0],
        ] {
            let (meta, before) = syn(options);
            let mut bytes = before.clone();
            lower_mss(&meta, &mut bytes, 1460, false);
            assert_eq!(bytes, before, "1460 is no more than 1460");
            lower_mss(&meta, &mut bytes, 1300, false);
            let segment = &bytes[ipv4::HEADER..];
            let at = mss_option(segment).expect("an option") + 2;
            assert_eq!(field::get16(segment, at), 1300);
            assert_eq!(checksum(segment), 0xffff, "{options:?}");
            // A partial checksum knows nothing of options.
            let mut partial = before.clone();
            lower_mss(&meta, &mut partial, 1300, true);
            assert_eq!(
                field::get16(&partial, ipv4::HEADER + tcp::CHECKSUM),
                field::get16(&before, ipv4::HEADER + tcp::CHECKSUM)
            );
        }
        assert_eq!((mss_for(Family::V4, 1492), mss_for(Family::V6, 1492)), (1452, 1432));
    }

    #[test]
    fn odd_options_and_other_segments_stay_as_they_are() {
        for options in [&[3u8, 0, 2, 4][..], &[2, 3, 5, 180], &[0, 2, 4, 5], &[1, 1, 2, 4], &[]] {
            let (meta, before) = syn(options);
            let mut bytes = before.clone();
            lower_mss(&meta, &mut bytes, 100, false);
            assert_eq!(bytes, before, "{options:?}");
        }
        let (meta, before) = syn(&[2, 4, 5, 180]);
        for meta in [
            Meta { tcp_flags_or_icmp_type: tcp::flag::ACK, ..meta },
            Meta { flags: 0, ..meta },
            Meta { l4: 40, ..meta },
        ] {
            let mut bytes = before.clone();
            lower_mss(&meta, &mut bytes, 100, false);
            assert_eq!(bytes, before);
        }
    }

    #[test]
    fn a_dscp_is_written_beside_the_congestion_bits() {
        let (meta, mut bytes) = syn(&[]);
        assert_eq!(dscp_of(&meta, &bytes), 46);
        set_dscp(Family::V4, &mut bytes, 10);
        assert_eq!((dscp_of(&meta, &bytes), bytes[1] & ECN), (10, 1));
        assert_eq!(tollway_wire::checksum::sum(&bytes[..ipv4::HEADER]), 0xffff);
    }
}
