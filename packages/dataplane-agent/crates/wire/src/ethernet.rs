//! Ethernet II header (IEEE 802.3 §3). [`is_tag`] and [`network_header`] skip up to two 802.1Q or 802.1ad tags; VLAN
//! IDs are not read.

use crate::{Error, field};

/// Length of the header, bytes.
pub const HEADER: usize = 14;
/// Length of both addresses, bytes.
pub const ADDRESSES: usize = 12;
/// Length of an 802.1Q tag, bytes.
pub const TAG: usize = 4;
/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of ARP.
pub const ARP: u16 = 0x0806;
/// EtherType of IPv6.
pub const IPV6: u16 = 0x86dd;
/// EtherType of an 802.1Q tag.
pub const VLAN: u16 = 0x8100;
/// EtherType of an 802.1ad service tag.
pub const SERVICE_VLAN: u16 = 0x88a8;
/// The broadcast address.
pub const BROADCAST: [u8; 6] = [0xff; 6];

/// Whether this is the EtherType of an 802.1Q or 802.1ad tag.
#[inline]
pub const fn is_tag(ethertype: u16) -> bool {
    matches!(ethertype, VLAN | SERVICE_VLAN)
}

/// Start of the network header, bytes, and its EtherType, behind up to two VLAN tags. `None` for a frame that ends
/// before.
#[inline]
pub fn network_header(frame: &[u8]) -> Option<(usize, u16)> {
    let mut at = ADDRESSES;
    // Not a loop, for speed: queues call this for every packet.
    if is_tag(field::get16(frame, at)) {
        at += if is_tag(field::get16(frame, at + TAG)) { 2 * TAG } else { TAG };
    }
    Some((at + 2, field::read16(frame, at)?))
}

/// Group address of an IPv4 multicast address, in host order (RFC 1112 §6.4); `None` of others.
pub const fn group_of_ipv4(address: u32) -> Option<[u8; 6]> {
    if address >> 28 != 0xe {
        return None;
    }
    let [_, b, c, d] = address.to_be_bytes();
    Some([0x01, 0x00, 0x5e, b & 0x7f, c, d])
}

/// Group address of an IPv6 multicast address (RFC 2464 §7); `None` of others.
pub const fn group_of_ipv6(address: u128) -> Option<[u8; 6]> {
    if address >> 120 != 0xff {
        return None;
    }
    let [a, b, c, d] = (address as u32).to_be_bytes();
    Some([0x33, 0x33, a, b, c, d])
}

/// View of an Ethernet frame.
#[derive(Debug, Clone, Copy)]
pub struct Frame<T>(T);

impl<T: AsRef<[u8]>> Frame<T> {
    /// Checks that the header is there.
    pub fn new_checked(bytes: T) -> Result<Self, Error> {
        if bytes.as_ref().len() < HEADER { Err(Error::Truncated) } else { Ok(Self(bytes)) }
    }
    /// Destination address.
    pub fn dst_addr(&self) -> [u8; 6] {
        field::mac(self.0.as_ref(), 0)
    }
    /// Source address.
    pub fn src_addr(&self) -> [u8; 6] {
        field::mac(self.0.as_ref(), 6)
    }
    /// EtherType; values below 1536 are lengths (802.3 with LLC).
    pub fn ethertype(&self) -> u16 {
        field::get16(self.0.as_ref(), 12)
    }
    /// The bytes after the header.
    pub fn payload(&self) -> &[u8] {
        self.0.as_ref().get(HEADER..).unwrap_or_default()
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Frame<T> {
    /// Sets the destination address.
    pub fn set_dst_addr(&mut self, mac: [u8; 6]) {
        field::put(self.0.as_mut(), 0, &mac);
    }
    /// Sets the source address.
    pub fn set_src_addr(&mut self, mac: [u8; 6]) {
        field::put(self.0.as_mut(), 6, &mac);
    }
    /// The bytes after the header, writable.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        self.0.as_mut().get_mut(HEADER..).unwrap_or_default()
    }
}

/// Whether an address is a group address (multicast or broadcast).
pub const fn is_group(mac: [u8; 6]) -> bool {
    mac[0] & 1 != 0
}

/// A parsed header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Destination address.
    pub dst_addr: [u8; 6],
    /// Source address.
    pub src_addr: [u8; 6],
    /// EtherType.
    pub ethertype: u16,
}

impl Repr {
    /// Reads the header.
    pub fn parse<T: AsRef<[u8]>>(frame: &Frame<T>) -> Self {
        Self { dst_addr: frame.dst_addr(), src_addr: frame.src_addr(), ethertype: frame.ethertype() }
    }
    /// Writes the header; bytes that do not fit are left out.
    pub fn emit(&self, bytes: &mut [u8]) {
        field::put(bytes, 0, &self.dst_addr);
        field::put(bytes, 6, &self.src_addr);
        field::put(bytes, 12, &self.ethertype.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let repr = Repr { dst_addr: BROADCAST, src_addr: [2, 0, 0, 0, 0, 1], ethertype: ARP };
        let mut bytes = [0; 20];
        repr.emit(&mut bytes);
        let frame = Frame::new_checked(&bytes[..]).unwrap();
        assert_eq!(Repr::parse(&frame), repr);
        assert_eq!(frame.payload().len(), 6);
        assert_eq!(Frame::new_checked(&bytes[..13]).unwrap_err(), Error::Truncated);
    }
}
