//! UDP (RFC 768).

use crate::{Error, checksum, field};

/// Length of the header, bytes.
pub const HEADER: usize = 8;
/// Offset of the length, bytes from the start of the header.
pub const LENGTH: usize = 4;
/// Offset of the checksum, bytes from the start of the header.
pub const CHECKSUM: usize = 6;

/// View of a UDP datagram. The datagram may be longer than the bytes.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<T>(T);

impl<T: AsRef<[u8]>> Datagram<T> {
    /// Checks that the header is there and that the length field holds it.
    pub fn new_checked(bytes: T) -> Result<Self, Error> {
        let raw = bytes.as_ref();
        if raw.len() < HEADER {
            Err(Error::Truncated)
        } else if usize::from(field::get16(raw, LENGTH)) < HEADER {
            Err(Error::Length)
        } else {
            Ok(Self(bytes))
        }
    }
    /// Source port.
    pub fn src_port(&self) -> u16 {
        field::get16(self.0.as_ref(), 0)
    }
    /// Destination port.
    pub fn dst_port(&self) -> u16 {
        field::get16(self.0.as_ref(), 2)
    }
    /// Length with header, bytes, as the header claims.
    pub fn len(&self) -> u16 {
        field::get16(self.0.as_ref(), LENGTH)
    }
    /// Whether there is no payload.
    pub fn is_empty(&self) -> bool {
        usize::from(self.len()) == HEADER
    }
    /// Checksum; 0 is none.
    pub fn checksum(&self) -> u16 {
        field::get16(self.0.as_ref(), CHECKSUM)
    }
    /// The payload as far as its bytes are there.
    pub fn payload(&self) -> &[u8] {
        let raw = self.0.as_ref();
        raw.get(HEADER..raw.len().min(usize::from(self.len()))).unwrap_or_default()
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Datagram<T> {
    /// Sets the source port; the checksum is not adjusted.
    pub fn set_src_port(&mut self, port: u16) {
        field::put(self.0.as_mut(), 0, &port.to_be_bytes());
    }
    /// Sets the destination port; the checksum is not adjusted.
    pub fn set_dst_port(&mut self, port: u16) {
        field::put(self.0.as_mut(), 2, &port.to_be_bytes());
    }
    /// Sets the checksum.
    pub fn set_checksum(&mut self, sum: u16) {
        field::put(self.0.as_mut(), CHECKSUM, &sum.to_be_bytes());
    }
}

/// A header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
}

impl Repr {
    /// Writes the header over the front of `datagram`, whose payload must be in place, with its length
    /// and the checksum for these IPv4 addresses; bytes that do not fit are left out.
    pub fn emit(&self, datagram: &mut [u8], src: u32, dst: u32) {
        let len = datagram.len().min(0xffff) as u16;
        self.emit_summed(datagram, len, checksum::pseudo_v4(src, dst, crate::ipv4::UDP, len));
    }
    /// Writes the header like [`Self::emit`], over IPv6.
    pub fn emit_over_ipv6(&self, datagram: &mut [u8], src: u128, dst: u128) {
        let len = datagram.len().min(0xffff) as u16;
        self.emit_summed(datagram, len, checksum::pseudo_v6(src, dst, crate::ipv4::UDP, len.into()));
    }
    /// Writes the header with the checksum over `datagram` and a pseudo-header with the sum `pseudo`.
    fn emit_summed(&self, datagram: &mut [u8], len: u16, pseudo: u16) {
        field::put(datagram, 0, &self.src_port.to_be_bytes());
        field::put(datagram, 2, &self.dst_port.to_be_bytes());
        field::put(datagram, LENGTH, &len.to_be_bytes());
        field::put(datagram, CHECKSUM, &[0, 0]);
        let sum = checksum::no_zero(!checksum::add(pseudo, checksum::sum(datagram)));
        field::put(datagram, CHECKSUM, &sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emitted_datagram_verifies() {
        let mut bytes = *b"........payload";
        Repr { src_port: 53, dst_port: 4000 }.emit(&mut bytes, 0x0a00_0001, 0x0a00_0002);
        let pseudo = checksum::pseudo_v4(0x0a00_0001, 0x0a00_0002, 17, bytes.len() as u16);
        assert_eq!(checksum::add(pseudo, checksum::sum(&bytes)), 0xffff);
        let datagram = Datagram::new_checked(&bytes[..]).unwrap();
        assert_eq!(
            (datagram.src_port(), datagram.dst_port(), datagram.payload()),
            (53, 4000, &b"payload"[..])
        );
    }
}
