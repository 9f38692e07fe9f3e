//! IPv6 fixed header (RFC 8200 §3), and the classes of addresses (RFC 4291). Extension headers are walked by
//! [`extension`](crate::extension).

use crate::{Error, field};

/// Length of the fixed header, bytes.
pub const HEADER: usize = 40;
/// Type of the hop-by-hop options header (RFC 8200 §4.3).
pub const HOP_BY_HOP: u8 = 0;
/// Type of the routing header (RFC 8200 §4.4).
pub const ROUTING: u8 = 43;
/// Type of the fragment header (RFC 8200 §4.5).
pub const FRAGMENT: u8 = 44;
/// Type of the destination options header (RFC 8200 §4.6).
pub const DESTINATION_OPTIONS: u8 = 60;
/// Type of the encapsulating security payload (RFC 4303).
pub const ESP: u8 = 50;
/// Type of the authentication header (RFC 4302).
pub const AH: u8 = 51;
/// Protocol number of ICMPv6 (RFC 4443).
pub const ICMPV6: u8 = 58;
/// "No next header" (RFC 8200 §4.7).
pub const NO_NEXT_HEADER: u8 = 59;
/// Smallest MTU of a link that carries IPv6, bytes (RFC 8200 §5).
pub const MIN_MTU: u16 = 1280;

/// The group of all nodes on a link (RFC 4291 §2.7.1).
pub const ALL_NODES: u128 = 0xff02_0000_0000_0000_0000_0000_0000_0001;
/// The group of all routers on a link (RFC 4291 §2.7.1).
pub const ALL_ROUTERS: u128 = 0xff02_0000_0000_0000_0000_0000_0000_0002;
/// The loopback address (RFC 4291 §2.5.3).
pub const LOOPBACK: u128 = 1;

/// Whether an address is a multicast one (RFC 4291 §2.7).
#[inline]
pub const fn is_multicast(address: u128) -> bool {
    address >> 120 == 0xff
}

/// Whether an address is a link-local unicast one (RFC 4291 §2.5.6).
#[inline]
pub const fn is_link_local(address: u128) -> bool {
    address >> 118 == 0xfe80 >> 6
}

/// Whether an address is a unique local one (RFC 4193 §3.1).
#[inline]
pub const fn is_unique_local(address: u128) -> bool {
    address >> 121 == 0xfc >> 1
}

/// Scope of a multicast address (RFC 7346 §2): 1 the interface, 2 the link.
pub const fn multicast_scope(address: u128) -> u8 {
    (address >> 112) as u8 & 0xf
}

/// Solicited-node multicast address of a unicast address (RFC 4291 §2.7.1).
pub const fn solicited_node(address: u128) -> u128 {
    0xff02_0000_0000_0000_0000_0001_ff00_0000 | address & 0xff_ffff
}

/// Interface identifier made from an Ethernet address: modified EUI-64 (RFC 4291 appendix A).
pub const fn eui_64(mac: [u8; 6]) -> u64 {
    let [a, b, c, d, e, f] = mac;
    u64::from_be_bytes([a ^ 2, b, c, 0xff, 0xfe, d, e, f])
}

/// Link-local address with the identifier of an Ethernet address (RFC 2464 §5).
pub const fn link_local_of(mac: [u8; 6]) -> u128 {
    0xfe80 << 112 | eui_64(mac) as u128
}

/// Offsets of the fields, bytes from the start of the header.
pub mod offset {
    /// Length of what follows the fixed header.
    pub const PAYLOAD_LEN: usize = 4;
    /// Type of the next header.
    pub const NEXT_HEADER: usize = 6;
    /// Hop limit.
    pub const HOP_LIMIT: usize = 7;
    /// Source address.
    pub const SRC: usize = 8;
    /// Destination address.
    pub const DST: usize = 24;
}

/// View of an IPv6 packet. The packet may be longer than the bytes.
#[derive(Debug, Clone, Copy)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks version and that the fixed header is there.
    pub fn new_checked(bytes: T) -> Result<Self, Error> {
        let raw = bytes.as_ref();
        if raw.len() < HEADER {
            Err(Error::Truncated)
        } else if field::get8(raw, 0) >> 4 != 6 {
            Err(Error::Version)
        } else {
            Ok(Self(bytes))
        }
    }
    /// Length of what follows the fixed header, bytes, as the header claims.
    pub fn payload_len(&self) -> u16 {
        field::get16(self.0.as_ref(), offset::PAYLOAD_LEN)
    }
    /// Type of the next header.
    pub fn next_header(&self) -> u8 {
        field::get8(self.0.as_ref(), offset::NEXT_HEADER)
    }
    /// Traffic class: DSCP and ECN.
    pub fn traffic_class(&self) -> u8 {
        (field::get16(self.0.as_ref(), 0) >> 4) as u8
    }
    /// Hop limit.
    pub fn hop_limit(&self) -> u8 {
        field::get8(self.0.as_ref(), offset::HOP_LIMIT)
    }
    /// Source address.
    pub fn src_addr(&self) -> u128 {
        field::get128(self.0.as_ref(), offset::SRC)
    }
    /// Destination address.
    pub fn dst_addr(&self) -> u128 {
        field::get128(self.0.as_ref(), offset::DST)
    }
    /// The bytes after the fixed header, as far as they are there.
    pub fn payload(&self) -> &[u8] {
        let raw = self.0.as_ref();
        let end = raw.len().min(HEADER + usize::from(self.payload_len()));
        raw.get(HEADER..end).unwrap_or_default()
    }
}

/// Sets the traffic class of a header, except for the bits in `keep`. Does nothing when the bytes are shorter than a
/// header.
#[inline]
pub fn set_traffic_class(header: &mut [u8], class: u8, keep: u8) {
    if header.len() < HEADER {
        return;
    }
    let word = field::get16(header, 0);
    let old = (word >> 4) as u8;
    let new = class & !keep | old & keep;
    field::put(header, 0, &(word & 0xf00f | u16::from(new) << 4).to_be_bytes());
}

/// A fixed header without flow label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Traffic class: DSCP and ECN.
    pub traffic_class: u8,
    /// Type of the next header.
    pub next_header: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Source address.
    pub src_addr: u128,
    /// Destination address.
    pub dst_addr: u128,
    /// Length of what follows, bytes.
    pub payload_len: u16,
}

impl Repr {
    /// Writes [`HEADER`] bytes; bytes that do not fit are left out.
    pub fn emit(&self, bytes: &mut [u8]) {
        field::put(bytes, 0, &[0x60 | self.traffic_class >> 4, self.traffic_class << 4, 0, 0]);
        field::put(bytes, offset::PAYLOAD_LEN, &self.payload_len.to_be_bytes());
        field::put(bytes, offset::NEXT_HEADER, &[self.next_header, self.hop_limit]);
        field::put(bytes, offset::SRC, &self.src_addr.to_be_bytes());
        field::put(bytes, offset::DST, &self.dst_addr.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let repr = Repr {
            traffic_class: 0xb9,
            next_header: 17,
            hop_limit: 64,
            src_addr: 1,
            dst_addr: 2 << 100,
            payload_len: 3,
        };
        let mut bytes = [0; 60];
        repr.emit(&mut bytes);
        let packet = Packet::new_checked(&bytes[..]).unwrap();
        assert_eq!((packet.src_addr(), packet.dst_addr()), (1, 2 << 100));
        assert_eq!((packet.next_header(), packet.hop_limit(), packet.payload().len()), (17, 64, 3));
        assert_eq!(packet.traffic_class(), 0xb9);
        assert_eq!(Packet::new_checked(&bytes[1..41]).unwrap_err(), Error::Version);
    }

    #[test]
    fn a_traffic_class_is_written_between_version_and_flow_label() {
        let mut bytes = [0; HEADER];
        field::put(&mut bytes, 0, &[0x6a, 0xbc, 0xde, 0xf0]);
        set_traffic_class(&mut bytes, 0x28, 3);
        assert_eq!(bytes[..4], [0x62, 0xbc, 0xde, 0xf0]);
        set_traffic_class(&mut bytes[..HEADER - 1], 0, 0);
        assert_eq!(bytes[..2], [0x62, 0xbc]);
    }

    #[test]
    fn addresses_have_their_classes() {
        let mac = [0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde];
        let own = link_local_of(mac);
        assert_eq!(own, 0xfe80_0000_0000_0000_3656_78ff_fe9a_bcde);
        assert!(is_link_local(own) && is_link_local(0xfebf << 112) && !is_link_local(0xfec0 << 112));
        assert_eq!(solicited_node(own), 0xff02_0000_0000_0000_0000_0001_ff9a_bcde);
        assert!(is_multicast(ALL_NODES) && !is_multicast(own));
        assert!(is_unique_local(0xfd00 << 112) && is_unique_local(0xfc00 << 112) && !is_unique_local(own));
        assert_eq!((multicast_scope(ALL_ROUTERS), multicast_scope(0xff05 << 112)), (2, 5));
    }
}
