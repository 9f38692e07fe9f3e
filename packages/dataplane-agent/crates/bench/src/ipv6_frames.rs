//! Flows of IPv6 in place of those of IPv4. Cases make and read frames of IPv4; each stands for one of IPv6 with the same
//! transport header and data, which is what the router gets and sends.

use tollway_testkit::dual_stack::in_ipv6;
use tollway_wire::{checksum, ethernet, field, ipv4, ipv6, tcp, udp};

use crate::packet::FRAME;

/// Bytes of the frame of IPv6 that stands for one of [`FRAME`] bytes.
pub const IPV6_FRAME: usize = FRAME + ipv6::HEADER - ipv4::HEADER;
const L3: usize = ethernet::HEADER;

/// The frame of IPv6 that stands for one of IPv4 without options.
pub fn standing_for(content: &[u8; FRAME]) -> [u8; IPV6_FRAME] {
    let mut frame = [0; IPV6_FRAME];
    field::put(&mut frame, 0, &content[..ethernet::ADDRESSES]);
    field::put(&mut frame, ethernet::ADDRESSES, &ethernet::IPV6.to_be_bytes());
    let address = |at: usize| in_ipv6(field::get32(content, L3 + at));
    let (src_addr, dst_addr) = (address(ipv4::offset::SRC), address(ipv4::offset::DST));
    let length = usize::from(field::get16(content, L3 + ipv4::offset::TOTAL_LEN)) - ipv4::HEADER;
    let next_header = field::get8(content, L3 + ipv4::offset::PROTOCOL);
    let hop_limit = field::get8(content, L3 + ipv4::offset::TTL);
    ipv6::Repr { traffic_class: 0, next_header, hop_limit, src_addr, dst_addr, payload_len: length as u16 }
        .emit(&mut frame[L3..]);
    let from = L3 + ipv4::HEADER;
    let transport = &mut frame[L3 + ipv6::HEADER..][..length];
    transport.copy_from_slice(&content[from..from + length]);
    let at = if next_header == ipv4::TCP { tcp::CHECKSUM } else { udp::CHECKSUM };
    transport[at..at + 2].fill(0);
    let pseudo = checksum::pseudo_v6(src_addr, dst_addr, next_header, length as u32);
    let sum = checksum::no_zero(!checksum::add(pseudo, checksum::sum(transport)));
    transport[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// The frame of IPv4 that one of IPv6 stands for, with a transport checksum that is not its own.
pub fn meant_by(frame: &[u8]) -> [u8; FRAME] {
    let mut content = [0; FRAME];
    field::put(&mut content, 0, frame.get(..ethernet::ADDRESSES).unwrap_or_default());
    field::put(&mut content, ethernet::ADDRESSES, &ethernet::IPV4.to_be_bytes());
    let address = |at: usize| field::get128(frame, L3 + at) as u32;
    ipv4::Repr {
        tos: 0,
        ident: 0,
        dont_fragment: true,
        ttl: field::get8(frame, L3 + ipv6::offset::HOP_LIMIT),
        protocol: field::get8(frame, L3 + ipv6::offset::NEXT_HEADER),
        src_addr: address(ipv6::offset::SRC),
        dst_addr: address(ipv6::offset::DST),
        payload_len: field::get16(frame, L3 + ipv6::offset::PAYLOAD_LEN),
    }
    .emit(&mut content[L3..]);
    let transport = frame.get(L3 + ipv6::HEADER..).unwrap_or_default();
    let free = content.iter_mut().skip(L3 + ipv4::HEADER);
    free.zip(transport).for_each(|(to, from)| *to = *from);
    content
}

#[cfg(test)]
mod tests {
    use tollway_testkit::Ipv6Packet;
    use tollway_wire::tcp::flag;

    use super::*;
    use crate::packet::{tcp, udp};
    use crate::traffic::ends;

    #[test]
    fn frames_have_right_checksums_and_mean_what_they_were_made_of() {
        for content in
            [udp(&ends(7)), tcp(&ends(8), flag::SYN, 1000, 0), tcp(&ends(8), flag::ACK, 1001, 5001)]
        {
            let frame = standing_for(&content);
            let packet = Ipv6Packet::read(&frame).unwrap();
            assert!(packet.checksum_right);
            let mut meant = meant_by(&frame);
            // The IPv4 header checksum is computed anew; the transport checksum is that of IPv6.
            assert_eq!(meant[..34], content[..34]);
            let at = if content[23] == 6 { 34 + 16 } else { 34 + 6 };
            meant[at..at + 2].copy_from_slice(&content[at..at + 2]);
            assert_eq!(meant, content);
        }
    }
}
