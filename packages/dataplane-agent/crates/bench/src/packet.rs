//! Frames for the generators, written byte by byte.

use std::net::Ipv4Addr;

/// Bytes of a generated frame without FCS: the smallest Ethernet frame, "64 bytes" on the wire.
pub const FRAME: usize = 60;

/// TCP flag bits (RFC 9293 §3.1).
pub mod tcp {
    /// No more data.
    pub const FIN: u8 = 1;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 2;
    /// Push.
    pub const PSH: u8 = 8;
    /// The acknowledgement number counts.
    pub const ACK: u8 = 16;
}

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

/// A UDP frame of [`FRAME`] bytes.
pub fn udp(ends: &Ends) -> [u8; FRAME] {
    let length = (FRAME - 34) as u16;
    let mut segment = ports(ends);
    segment.extend(length.to_be_bytes());
    segment.extend([0, 0]);
    segment.resize(usize::from(length), 0x5a);
    frame(ends, 17, 6, segment)
}

/// A TCP frame of [`FRAME`] bytes: a SYN carries a window scale of 2¹⁴, anything else six bytes of data.
/// Windows are as large as can be.
pub fn tcp(ends: &Ends, flags: u8, sequence: u32, acknowledgment: u32) -> [u8; FRAME] {
    segment(ends, flags, sequence, acknowledgment, &[0x5a; FRAME - 54])
}

/// As [`tcp`], without data.
pub fn bare_tcp(ends: &Ends, flags: u8, sequence: u32, acknowledgment: u32) -> [u8; FRAME] {
    segment(ends, flags, sequence, acknowledgment, &[])
}

fn segment(ends: &Ends, flags: u8, sequence: u32, acknowledgment: u32, data: &[u8]) -> [u8; FRAME] {
    let mut segment = ports(ends);
    segment.extend(sequence.to_be_bytes());
    segment.extend(acknowledgment.to_be_bytes());
    let options: &[u8] = if flags & tcp::SYN != 0 { &[3, 3, 14, 0] } else { &[] };
    segment.extend([((5 + options.len() / 4) as u8) << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
    segment.extend(options);
    if options.is_empty() {
        segment.extend(data);
    }
    frame(ends, 6, 16, segment)
}

/// Adds to the TCP sequence number of a frame made by [`tcp`], keeping the checksum right (RFC 1624).
pub fn advance_sequence(frame: &mut [u8; FRAME], bytes: u32) {
    let old = u32::from_be_bytes([frame[38], frame[39], frame[40], frame[41]]);
    let new = old.wrapping_add(bytes);
    let halves = |value: u32| (value >> 16) + (value & 0xffff);
    let check = u32::from(u16::from_be_bytes([frame[50], frame[51]]));
    let mut sum = (!check & 0xffff) + halves(!old) + halves(new);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    frame[38..42].copy_from_slice(&new.to_be_bytes());
    frame[50..52].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// The ends of a frame made here, from the view of who answers it.
pub fn answering(frame: &[u8]) -> Option<Ends> {
    let mac = |at: usize| frame.get(at..at + 6)?.try_into().ok();
    let address = |at: usize| Some(Ipv4Addr::from(<[u8; 4]>::try_from(frame.get(at..at + 4)?).ok()?));
    let port = |at: usize| Some(u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?));
    Some(Ends {
        source_mac: mac(0)?,
        destination_mac: mac(6)?,
        source: address(30)?,
        destination: address(26)?,
        source_port: port(36)?,
        destination_port: port(34)?,
    })
}

/// Internet checksum (RFC 1071) of an even number of bytes.
pub fn checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = bytes.chunks_exact(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn ports(ends: &Ends) -> Vec<u8> {
    [ends.source_port.to_be_bytes(), ends.destination_port.to_be_bytes()].concat()
}

/// Puts Ethernet and IPv4 in front of a segment whose checksum lies at `check_at`, and pads.
fn frame(ends: &Ends, protocol: u8, check_at: usize, mut segment: Vec<u8>) -> [u8; FRAME] {
    let length = (segment.len() as u16).to_be_bytes();
    let addresses = [ends.source.octets(), ends.destination.octets()].concat();
    let pseudo = [&addresses[..], &[0, protocol], &length, &segment].concat();
    segment[check_at..check_at + 2].copy_from_slice(&checksum(&pseudo).to_be_bytes());

    let mut ip = vec![0x45, 0];
    ip.extend((20 + segment.len() as u16).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    ip.extend(addresses);
    let header_sum = checksum(&ip).to_be_bytes();
    ip[10..12].copy_from_slice(&header_sum);

    let bytes = [&ends.destination_mac[..], &ends.source_mac, &[8, 0], &ip, &segment].concat();
    let mut frame = [0; FRAME];
    frame[..bytes.len()].copy_from_slice(&bytes);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: Ends = Ends {
        source_mac: [2, 0, 0, 0, 0, 1],
        destination_mac: [2, 0, 0, 0, 0, 2],
        source: Ipv4Addr::new(172, 16, 0, 1),
        destination: Ipv4Addr::new(198, 18, 0, 1),
        source_port: 20_000,
        destination_port: 443,
    };

    /// Both checksums, each 0 when right.
    pub(crate) fn checksums(frame: &[u8; FRAME]) -> (u16, u16) {
        let total = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
        let segment = &frame[34..14 + total];
        let length = (segment.len() as u16).to_be_bytes();
        let pseudo = [&frame[26..34], &[0, frame[23]], &length, segment].concat();
        (checksum(&frame[14..34]), checksum(&pseudo))
    }

    #[test]
    fn checksums_are_right() {
        assert_eq!(checksums(&udp(&ENDS)), (0, 0));
        assert_eq!(checksums(&tcp(&ENDS, tcp::SYN, 7, 0)), (0, 0));
        assert_eq!(checksums(&tcp(&ENDS, tcp::ACK, 7, 9)), (0, 0));
    }

    #[test]
    fn advancing_the_sequence_keeps_the_checksum() {
        let mut frame = tcp(&ENDS, tcp::ACK, 0xffff_fff0, 9);
        for step in 1..=9 {
            advance_sequence(&mut frame, 6);
            assert_eq!(frame, tcp(&ENDS, tcp::ACK, 0xffff_fff0_u32.wrapping_add(6 * step), 9));
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
