//! IPv4 headers (RFC 791).

use crate::options::{HeaderOptions, HeaderOptionsMut};
use crate::{Error, checksum, field};

/// Length of the header without options, bytes.
pub const HEADER: usize = 20;
/// Protocol number of IPv4 in IP (RFC 2003).
pub const IPIP: u8 = 4;
/// Protocol number of IPv6 in IP (RFC 4213, RFC 2473).
pub const IPV6: u8 = 41;
/// Protocol number of GRE (RFC 2784).
pub const GRE: u8 = 47;
/// Protocol number of ICMP.
pub const ICMP: u8 = 1;
/// Protocol number of TCP.
pub const TCP: u8 = 6;
/// Protocol number of UDP.
pub const UDP: u8 = 17;
/// Protocol number of DCCP (RFC 4340).
pub const DCCP: u8 = 33;
/// Protocol number of SCTP (RFC 9260).
pub const SCTP: u8 = 132;
/// Protocol number of UDP-Lite (RFC 3828).
pub const UDP_LITE: u8 = 136;
/// Bit of the field at [`offset::FRAGMENT`]: the packet must not be fragmented.
pub const DONT_FRAGMENT: u16 = 0x4000;
/// Bit of the field at [`offset::FRAGMENT`]: another fragment follows.
pub const MORE_FRAGMENTS: u16 = 0x2000;
/// Bits of the field at [`offset::FRAGMENT`]: offset of the fragment, in units of 8 bytes.
pub const OFFSET_MASK: u16 = 0x1fff;
/// Bits of the field at [`offset::FRAGMENT`] that are set only in fragments.
pub const FRAGMENTED: u16 = MORE_FRAGMENTS | OFFSET_MASK;

/// Offsets of the fields, bytes from the start of the header.
pub mod offset {
    /// DSCP and ECN.
    pub const TOS: usize = 1;
    /// Total length.
    pub const TOTAL_LEN: usize = 2;
    /// Identification.
    pub const IDENT: usize = 4;
    /// Flags and fragment offset.
    pub const FRAGMENT: usize = 6;
    /// Time to live.
    pub const TTL: usize = 8;
    /// Protocol.
    pub const PROTOCOL: usize = 9;
    /// Header checksum.
    pub const CHECKSUM: usize = 10;
    /// Source address.
    pub const SRC: usize = 12;
    /// Destination address.
    pub const DST: usize = 16;
}

/// Kinds of options.
pub mod option {
    /// Record Route.
    pub const RECORD_ROUTE: u8 = 7;
    /// Internet Timestamp.
    pub const TIMESTAMP: u8 = 68;
    /// Loose source route.
    pub const LOOSE_SOURCE_ROUTE: u8 = 131;
    /// Strict source route.
    pub const STRICT_SOURCE_ROUTE: u8 = 137;
    /// Bit of the kinds that are copied into every fragment; options of other kinds are in the first fragment only.
    pub const COPIED: u8 = 0x80;
}

/// The options of a header, from the bytes behind its first [`HEADER`].
pub const fn options(list: &[u8]) -> HeaderOptions<'_> {
    HeaderOptions::new(list)
}

/// The options as [`options`] gives them, writable.
pub const fn options_mut(list: &mut [u8]) -> HeaderOptionsMut<'_> {
    HeaderOptionsMut::new(list)
}

/// Sets DSCP and ECN of a header, except for the bits in `keep`, and adjusts the checksum (RFC 1624). Does nothing when
/// the bytes are shorter than a header.
#[inline]
pub fn set_tos(header: &mut [u8], tos: u8, keep: u8) {
    if header.len() < HEADER {
        return;
    }
    // The checksum covers 16-bit words, so the byte before the field is part of the changed word.
    let before = field::get16(header, 0);
    let [version, old] = before.to_be_bytes();
    let after = u16::from_be_bytes([version, tos & !keep | old & keep]);
    field::put(header, 0, &after.to_be_bytes());
    let sum = checksum::Delta::NONE.replace16(before, after).apply(field::get16(header, offset::CHECKSUM));
    field::put(header, offset::CHECKSUM, &sum.to_be_bytes());
}

/// View of an IPv4 packet. The bytes may end before the packet does (the front of a super-frame, or the
/// packet quoted by an ICMP error), and may go on after it (Ethernet padding).
#[derive(Debug, Clone, Copy)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks version, header length and that the header is there; the total length must hold the
    /// header, but not be within the bytes.
    pub fn new_checked(bytes: T) -> Result<Self, Error> {
        let raw = bytes.as_ref();
        if raw.len() < HEADER {
            return Err(Error::Truncated);
        }
        let packet = Self(bytes);
        if field::get8(packet.0.as_ref(), 0) >> 4 != 4 {
            return Err(Error::Version);
        }
        let header = packet.header_len();
        if header < HEADER || usize::from(packet.total_len()) < header {
            return Err(Error::Length);
        }
        if packet.0.as_ref().len() < header {
            return Err(Error::Truncated);
        }
        Ok(packet)
    }
    /// Length of the header with options, bytes.
    pub fn header_len(&self) -> usize {
        usize::from(field::get8(self.0.as_ref(), 0) & 0xf) * 4
    }
    /// DSCP and ECN.
    pub fn tos(&self) -> u8 {
        field::get8(self.0.as_ref(), offset::TOS)
    }
    /// Length of the packet, bytes, as the header claims.
    pub fn total_len(&self) -> u16 {
        field::get16(self.0.as_ref(), offset::TOTAL_LEN)
    }
    /// Identification.
    pub fn ident(&self) -> u16 {
        field::get16(self.0.as_ref(), offset::IDENT)
    }
    /// Don't fragment.
    pub fn dont_fragment(&self) -> bool {
        field::get16(self.0.as_ref(), offset::FRAGMENT) & DONT_FRAGMENT != 0
    }
    /// Fragment offset, bytes.
    pub fn fragment_offset(&self) -> u16 {
        (field::get16(self.0.as_ref(), offset::FRAGMENT) & OFFSET_MASK) << 3
    }
    /// Whether the packet is a fragment, the first one included.
    pub fn is_fragment(&self) -> bool {
        field::get16(self.0.as_ref(), offset::FRAGMENT) & FRAGMENTED != 0
    }
    /// Time to live.
    pub fn ttl(&self) -> u8 {
        field::get8(self.0.as_ref(), offset::TTL)
    }
    /// Protocol of the payload.
    pub fn protocol(&self) -> u8 {
        field::get8(self.0.as_ref(), offset::PROTOCOL)
    }
    /// Header checksum.
    pub fn checksum(&self) -> u16 {
        field::get16(self.0.as_ref(), offset::CHECKSUM)
    }
    /// Source address.
    pub fn src_addr(&self) -> u32 {
        field::get32(self.0.as_ref(), offset::SRC)
    }
    /// Destination address.
    pub fn dst_addr(&self) -> u32 {
        field::get32(self.0.as_ref(), offset::DST)
    }
    /// The header with options.
    pub fn header(&self) -> &[u8] {
        self.0.as_ref().get(..self.header_len()).unwrap_or_default()
    }
    /// Whether the header checksum is right.
    pub fn verify_checksum(&self) -> bool {
        checksum::sum(self.header()) == 0xffff
    }
    /// The payload as far as its bytes are there, without padding.
    pub fn payload(&self) -> &[u8] {
        let raw = self.0.as_ref();
        let end = raw.len().min(usize::from(self.total_len()));
        raw.get(self.header_len()..end).unwrap_or_default()
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets the checksum.
    pub fn set_checksum(&mut self, sum: u16) {
        field::put(self.0.as_mut(), offset::CHECKSUM, &sum.to_be_bytes());
    }
    /// Computes and sets the checksum.
    pub fn fill_checksum(&mut self) {
        self.set_checksum(0);
        let sum = checksum::checksum(self.header());
        self.set_checksum(sum);
    }
    /// Sets the source address; the checksum is not adjusted.
    pub fn set_src_addr(&mut self, address: u32) {
        field::put(self.0.as_mut(), offset::SRC, &address.to_be_bytes());
    }
    /// Sets the destination address; the checksum is not adjusted.
    pub fn set_dst_addr(&mut self, address: u32) {
        field::put(self.0.as_mut(), offset::DST, &address.to_be_bytes());
    }
    /// The payload as far as its bytes are there, writable.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let (start, end) = (self.header_len(), usize::from(self.total_len()));
        let raw = self.0.as_mut();
        let end = raw.len().min(end);
        raw.get_mut(start..end).unwrap_or_default()
    }
}

/// A header without options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// DSCP and ECN.
    pub tos: u8,
    /// Identification.
    pub ident: u16,
    /// Don't fragment.
    pub dont_fragment: bool,
    /// Time to live.
    pub ttl: u8,
    /// Protocol of the payload.
    pub protocol: u8,
    /// Source address.
    pub src_addr: u32,
    /// Destination address.
    pub dst_addr: u32,
    /// Length of the payload, bytes.
    pub payload_len: u16,
}

impl Repr {
    /// Writes [`HEADER`] bytes, checksum included; bytes that do not fit are left out.
    pub fn emit(&self, bytes: &mut [u8]) {
        let mut header = [0u8; HEADER];
        field::put(&mut header, 0, &[0x45, self.tos]);
        field::put(&mut header, 2, &self.payload_len.saturating_add(HEADER as u16).to_be_bytes());
        field::put(&mut header, 4, &self.ident.to_be_bytes());
        let fragment = if self.dont_fragment { DONT_FRAGMENT } else { 0 };
        field::put(&mut header, offset::FRAGMENT, &fragment.to_be_bytes());
        field::put(&mut header, 8, &[self.ttl, self.protocol]);
        field::put(&mut header, 12, &self.src_addr.to_be_bytes());
        field::put(&mut header, 16, &self.dst_addr.to_be_bytes());
        let sum = checksum::checksum(&header);
        field::put(&mut header, 10, &sum.to_be_bytes());
        field::put(bytes, 0, &header);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn repr() -> Repr {
        Repr {
            tos: 0,
            ident: 7,
            dont_fragment: true,
            ttl: 64,
            protocol: UDP,
            src_addr: 0x0a00_0001,
            dst_addr: 0x0a00_0002,
            payload_len: 4,
        }
    }

    #[test]
    fn emitted_header_verifies_and_padding_is_not_payload() {
        let mut bytes = [0u8; 46];
        repr().emit(&mut bytes);
        let packet = Packet::new_checked(&bytes[..]).unwrap();
        assert!(packet.verify_checksum());
        assert_eq!(packet.payload().len(), 4);
        assert!(packet.dont_fragment() && !packet.is_fragment());
    }

    #[test]
    fn set_tos_keeps_the_checksum_right() {
        let mut bytes = [0u8; 24];
        repr().emit(&mut bytes);
        for tos in [0xb8, 0, 0xff, 3] {
            set_tos(&mut bytes, tos, 0);
            let packet = Packet::new_checked(&bytes[..]).unwrap();
            assert_eq!(packet.tos(), tos);
            assert!(packet.verify_checksum());
        }
        set_tos(&mut bytes[..HEADER - 1], 7, 0);
        assert_eq!(bytes[1], 3);
        set_tos(&mut bytes, 0xb8, 3);
        assert_eq!(bytes[1], 0xbb);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn any_bytes_are_read_without_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(mut packet) = Packet::new_checked(&mut bytes[..]) {
                packet.fill_checksum();
                prop_assert!(packet.verify_checksum());
                packet.payload_mut().fill(0);
                prop_assert!(packet.payload().len() <= 60);
            }
        }
    }
}
