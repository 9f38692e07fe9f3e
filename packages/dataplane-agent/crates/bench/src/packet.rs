//! Frames for the generators, made without allocation.

use std::net::Ipv4Addr;

use tollway_wire::checksum::Delta;
use tollway_wire::tcp::flag;
use tollway_wire::{ethernet, field, ipv4, ipv6, tcp, udp};

/// Bytes of a generated frame without FCS: the smallest Ethernet frame, "64 bytes" on the wire.
pub const FRAME: usize = 60;
/// Offset of the transport header, bytes.
const TRANSPORT: usize = ethernet::HEADER + ipv4::HEADER;
/// Bytes of a frame with a UDP datagram over IPv6 without data, less than which [`ipv6`] is not to be sent with.
pub const IPV6_UDP_FRAME: usize = IPV6_TRANSPORT + udp::HEADER;
/// Offset of the transport header behind an IPv6 header, bytes.
const IPV6_TRANSPORT: usize = ethernet::HEADER + ipv6::HEADER;
/// Window scale of 2¹⁴ and padding (RFC 7323 §2.2).
const WINDOW_SCALE: [u8; 4] = [3, 3, 14, 0];

/// Who talks to whom.
#[derive(Debug, Clone, Copy)]
pub struct Ends {
    /// Link-layer source.
    pub source_mac: [u8; 6],
    /// Link-layer destination.
    pub destination_mac: [u8; 6],
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

impl Ends {
    fn addresses(&self) -> (u32, u32) {
        (self.source.to_bits(), self.destination.to_bits())
    }
}

/// A UDP frame of [`FRAME`] bytes.
pub fn udp(ends: &Ends) -> [u8; FRAME] {
    frame(ends, ipv4::UDP, FRAME - TRANSPORT, |datagram| {
        datagram.fill(0x5a);
        let (src, dst) = ends.addresses();
        udp::Repr { src_port: ends.source_port, dst_port: ends.destination_port }.emit(datagram, src, dst);
    })
}

/// The first [`FRAME`] bytes of an IPv6 frame with a UDP datagram without data, for routers: it has no UDP checksum, which
/// they do not look at.
pub fn ipv6(source_mac: [u8; 6], destination_mac: [u8; 6], src_addr: u128, dst_addr: u128) -> [u8; FRAME] {
    let mut frame = [0x5a; FRAME];
    ethernet::Repr { dst_addr: destination_mac, src_addr: source_mac, ethertype: ethernet::IPV6 }
        .emit(&mut frame);
    let payload_len = udp::HEADER as u16;
    ipv6::Repr { traffic_class: 0, next_header: ipv4::UDP, hop_limit: 64, src_addr, dst_addr, payload_len }
        .emit(&mut frame[ethernet::HEADER..]);
    field::put(&mut frame, IPV6_TRANSPORT + udp::LENGTH, &payload_len.to_be_bytes());
    frame
}

/// A TCP frame of [`FRAME`] bytes: a SYN carries a window scale of 2¹⁴, anything else six bytes of data.
/// Windows are as large as can be.
pub fn tcp(ends: &Ends, flags: u8, sequence: u32, acknowledgment: u32) -> [u8; FRAME] {
    segment(ends, flags, sequence, acknowledgment, &[0x5a; FRAME - TRANSPORT - tcp::HEADER])
}

/// TCP segment like [`tcp()`], without data.
pub fn bare_tcp(ends: &Ends, flags: u8, sequence: u32, acknowledgment: u32) -> [u8; FRAME] {
    segment(ends, flags, sequence, acknowledgment, &[])
}

fn segment(ends: &Ends, flags: u8, seq: u32, ack: u32, data: &[u8]) -> [u8; FRAME] {
    let (options, rest) =
        if flags & flag::SYN != 0 { (WINDOW_SCALE.len(), &WINDOW_SCALE[..]) } else { (0, data) };
    frame(ends, ipv4::TCP, tcp::HEADER + rest.len(), |segment| {
        field::put(segment, tcp::HEADER, rest);
        let (src_port, dst_port) = (ends.source_port, ends.destination_port);
        let (src, dst) = ends.addresses();
        tcp::Repr { src_port, dst_port, seq, ack, flags, window: u16::MAX }
            .emit_with_options(segment, options, src, dst);
    })
}

/// Adds to the TCP sequence number of a frame made by [`tcp()`], keeping the checksum right (RFC 1624).
pub fn advance_sequence(frame: &mut [u8; FRAME], bytes: u32) {
    let (sequence, checksum) = (TRANSPORT + tcp::offset::SEQUENCE, TRANSPORT + tcp::CHECKSUM);
    let old = field::get32(frame, sequence);
    let new = old.wrapping_add(bytes);
    let sum = Delta::NONE.replace32(old, new).apply(field::get16(frame, checksum));
    field::put(frame, sequence, &new.to_be_bytes());
    field::put(frame, checksum, &sum.to_be_bytes());
}

/// The ends of a frame made here, from the view of who answers it.
pub fn answering(frame: &[u8]) -> Option<Ends> {
    let ethernet = ethernet::Frame::new_checked(frame).ok()?;
    let packet = ipv4::Packet::new_checked(ethernet.payload()).ok()?;
    let transport = packet.payload();
    Some(Ends {
        source_mac: ethernet.dst_addr(),
        destination_mac: ethernet.src_addr(),
        source: packet.dst_addr().into(),
        destination: packet.src_addr().into(),
        source_port: field::read16(transport, 2)?,
        destination_port: field::read16(transport, 0)?,
    })
}

/// Makes the headers of a UDP frame say that it is `frame_bytes` long. Of IPv6, the checksum is none.
pub fn lengthen(head: &mut [u8], frame_bytes: usize) {
    if field::get16(head, ethernet::ADDRESSES) == ethernet::IPV6 {
        let datagram = (frame_bytes - IPV6_TRANSPORT) as u16;
        field::put(head, ethernet::HEADER + ipv6::offset::PAYLOAD_LEN, &datagram.to_be_bytes());
        field::put(head, IPV6_TRANSPORT + udp::LENGTH, &datagram.to_be_bytes());
        return field::put(head, IPV6_TRANSPORT + udp::CHECKSUM, &[0, 0]);
    }
    let total = (frame_bytes - ethernet::HEADER) as u16;
    let datagram = total - ipv4::HEADER as u16;
    field::put(head, ethernet::HEADER + ipv4::offset::TOTAL_LEN, &total.to_be_bytes());
    field::put(head, TRANSPORT + udp::LENGTH, &datagram.to_be_bytes());
    let packet = head.get_mut(ethernet::HEADER..).unwrap_or_default();
    if let Ok(mut packet) = ipv4::Packet::new_checked(packet) {
        packet.fill_checksum();
    }
}

/// Ethernet and IPv4 in front of a payload of `length` bytes, zeros so far, that `emit` writes; the rest is padding.
fn frame(ends: &Ends, protocol: u8, length: usize, emit: impl FnOnce(&mut [u8])) -> [u8; FRAME] {
    let mut frame = [0; FRAME];
    ethernet::Repr { dst_addr: ends.destination_mac, src_addr: ends.source_mac, ethertype: ethernet::IPV4 }
        .emit(&mut frame);
    let (src_addr, dst_addr) = ends.addresses();
    let payload_len = length as u16;
    let header = ipv4::Repr {
        tos: 0,
        ident: 0,
        dont_fragment: true,
        ttl: 64,
        protocol,
        src_addr,
        dst_addr,
        payload_len,
    };
    header.emit(&mut frame[ethernet::HEADER..]);
    emit(&mut frame[TRANSPORT..TRANSPORT + length]);
    frame
}

#[cfg(test)]
mod tests {
    use tollway_wire::checksum;
    use tollway_wire::transport::TransportHeader;

    use super::*;

    const ENDS: Ends = Ends {
        source_mac: [2, 0, 0, 0, 0, 1],
        destination_mac: [2, 0, 0, 0, 0, 2],
        source: Ipv4Addr::new(172, 16, 0, 1),
        destination: Ipv4Addr::new(198, 18, 0, 1),
        source_port: 20_000,
        destination_port: 443,
    };

    /// Whether both checksums are right.
    fn checksums_are_right_of(frame: &[u8; FRAME]) -> bool {
        let ip = ipv4::Packet::new_checked(&frame[ethernet::HEADER..]).unwrap();
        let found = TransportHeader::locate(frame).unwrap();
        let pseudo = found.pseudo(found.claimed_len(frame).unwrap().into());
        ip.verify_checksum() && checksum::add(pseudo, checksum::sum(ip.payload())) == 0xffff
    }

    #[test]
    fn checksums_are_right() {
        assert!(checksums_are_right_of(&udp(&ENDS)));
        assert!(checksums_are_right_of(&tcp(&ENDS, flag::SYN, 7, 0)));
        assert!(checksums_are_right_of(&tcp(&ENDS, flag::ACK, 7, 9)));
    }

    /// Every byte, so that figures stay comparable.
    #[test]
    fn frames_are_as_they_have_always_been() {
        let ip = |total: u8, protocol: u8, sum: [u8; 2]| {
            let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, total];
            bytes.extend([0, 0, 0x40, 0, 64, protocol, sum[0], sum[1], 172, 16, 0, 1, 198, 18, 0, 1]);
            bytes.extend([0x4e, 0x20, 1, 0xbb]);
            bytes
        };
        let udp = udp(&ENDS);
        let sum = [udp[24], udp[25]];
        assert_eq!(udp[..38], ip(46, 17, sum));
        assert_eq!((&udp[38..40], &udp[42..]), (&[0, 26][..], &[0x5a; 18][..]));
        let syn = tcp(&ENDS, flag::SYN, 7, 9);
        let sum = [syn[24], syn[25]];
        assert_eq!(syn[..38], ip(44, 6, sum));
        assert_eq!(syn[38..50], [0, 0, 0, 7, 0, 0, 0, 9, 0x60, 2, 0xff, 0xff]);
        assert_eq!(syn[52..], [0, 0, 3, 3, 14, 0, 0, 0]);
        let data = tcp(&ENDS, flag::ACK, 7, 9);
        assert_eq!((data[17], data[46], &data[52..]), (46, 0x50, &[0, 0, 90, 90, 90, 90, 90, 90][..]));
    }

    #[test]
    fn advancing_the_sequence_keeps_the_checksum() {
        let mut frame = tcp(&ENDS, flag::ACK, 0xffff_fff0, 9);
        for step in 1..=9 {
            advance_sequence(&mut frame, 6);
            assert_eq!(frame, tcp(&ENDS, flag::ACK, 0xffff_fff0_u32.wrapping_add(6 * step), 9));
        }
    }

    #[test]
    fn the_answer_goes_back() {
        let ends = answering(&udp(&ENDS)).unwrap();
        assert_eq!((ends.source, ends.destination), (ENDS.destination, ENDS.source));
        assert_eq!((ends.source_port, ends.destination_port), (443, 20_000));
        assert_eq!((ends.source_mac, ends.destination_mac), (ENDS.destination_mac, ENDS.source_mac));
    }
}
