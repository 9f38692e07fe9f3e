//! ARP for IPv4 over Ethernet (RFC 826).

use crate::{Error, field};

/// Length of an ARP packet for IPv4 over Ethernet, bytes.
pub const LEN: usize = 28;
/// Operation "request".
pub const REQUEST: u16 = 1;
/// Operation "reply".
pub const REPLY: u16 = 2;

/// View of an ARP packet for IPv4 over Ethernet.
#[derive(Debug, Clone, Copy)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks length, hardware type, protocol type and both address lengths.
    pub fn new_checked(bytes: T) -> Result<Self, Error> {
        let raw = bytes.as_ref();
        if raw.len() < LEN {
            return Err(Error::Truncated);
        }
        if field::get16(raw, 0) != 1 || field::get16(raw, 2) != crate::ethernet::IPV4 {
            return Err(Error::Version);
        }
        if field::get8(raw, 4) != 6 || field::get8(raw, 5) != 4 {
            return Err(Error::Length);
        }
        Ok(Self(bytes))
    }
    /// Operation: [`REQUEST`], [`REPLY`] or another.
    pub fn operation(&self) -> u16 {
        field::get16(self.0.as_ref(), 6)
    }
    /// Sender's link-layer address.
    pub fn sender_mac(&self) -> [u8; 6] {
        field::mac(self.0.as_ref(), 8)
    }
    /// Sender's IPv4 address.
    pub fn sender_addr(&self) -> u32 {
        field::get32(self.0.as_ref(), 14)
    }
    /// Target's link-layer address; meaningless in requests.
    pub fn target_mac(&self) -> [u8; 6] {
        field::mac(self.0.as_ref(), 18)
    }
    /// Target's IPv4 address.
    pub fn target_addr(&self) -> u32 {
        field::get32(self.0.as_ref(), 24)
    }
}

/// A parsed packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Operation.
    pub operation: u16,
    /// Sender's link-layer address.
    pub sender_mac: [u8; 6],
    /// Sender's IPv4 address.
    pub sender_addr: u32,
    /// Target's link-layer address.
    pub target_mac: [u8; 6],
    /// Target's IPv4 address.
    pub target_addr: u32,
}

impl Repr {
    /// Reads the packet.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Self {
        Self {
            operation: packet.operation(),
            sender_mac: packet.sender_mac(),
            sender_addr: packet.sender_addr(),
            target_mac: packet.target_mac(),
            target_addr: packet.target_addr(),
        }
    }
    /// Writes [`LEN`] bytes; bytes that do not fit are left out.
    pub fn emit(&self, bytes: &mut [u8]) {
        field::put(bytes, 0, &[0, 1, 8, 0, 6, 4]);
        field::put(bytes, 6, &self.operation.to_be_bytes());
        field::put(bytes, 8, &self.sender_mac);
        field::put(bytes, 14, &self.sender_addr.to_be_bytes());
        field::put(bytes, 18, &self.target_mac);
        field::put(bytes, 24, &self.target_addr.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let repr = Repr {
            operation: REQUEST,
            sender_mac: [2, 0, 0, 0, 0, 1],
            sender_addr: 0xc0a8_5801,
            target_mac: [0; 6],
            target_addr: 0xc0a8_5802,
        };
        let mut bytes = [0xff; LEN];
        repr.emit(&mut bytes);
        assert_eq!(Repr::parse(&Packet::new_checked(&bytes[..]).unwrap()), repr);
        bytes[4] = 8;
        assert_eq!(Packet::new_checked(&bytes[..]).unwrap_err(), Error::Length);
    }
}
