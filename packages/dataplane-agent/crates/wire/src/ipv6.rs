//! IPv6 fixed header (RFC 8200 §3). Extension headers are not walked here.

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

/// Offsets of the fields, bytes from the start of the header.
pub mod offset {
    /// Length of what follows the fixed header.
    pub const PAYLOAD_LEN: usize = 4;
    /// Type of the next header.
    pub const NEXT_HEADER: usize = 6;
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
    /// Hop limit.
    pub fn hop_limit(&self) -> u8 {
        field::get8(self.0.as_ref(), 7)
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

/// A fixed header without traffic class and flow label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
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
        field::put(bytes, 0, &[0x60, 0, 0, 0]);
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
        let repr = Repr { next_header: 17, hop_limit: 64, src_addr: 1, dst_addr: 2 << 100, payload_len: 3 };
        let mut bytes = [0; 60];
        repr.emit(&mut bytes);
        let packet = Packet::new_checked(&bytes[..]).unwrap();
        assert_eq!((packet.src_addr(), packet.dst_addr()), (1, 2 << 100));
        assert_eq!((packet.next_header(), packet.hop_limit(), packet.payload().len()), (17, 64, 3));
        assert_eq!(Packet::new_checked(&bytes[1..41]).unwrap_err(), Error::Version);
    }
}
