//! The header that messages of ICMP (RFC 792) and of ICMPv6 (RFC 4443 §2.1) have in common.

use crate::{Error, field};

/// Length of the header, bytes; an error's quoted packet follows it.
pub const HEADER: usize = 8;
/// Offset of the checksum in a message.
pub const CHECKSUM: usize = 2;

/// View of a message of either family.
#[derive(Debug, Clone, Copy)]
pub struct Message<T>(T);

impl<T: AsRef<[u8]>> Message<T> {
    /// Checks that the header is there.
    pub fn new_checked(bytes: T) -> Result<Self, Error> {
        if bytes.as_ref().len() < HEADER { Err(Error::Truncated) } else { Ok(Self(bytes)) }
    }
    /// All bytes of the message.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_ref()
    }
    /// Type.
    pub fn icmp_type(&self) -> u8 {
        field::get8(self.bytes(), 0)
    }
    /// Code.
    pub fn code(&self) -> u8 {
        field::get8(self.bytes(), 1)
    }
    /// Checksum.
    pub fn checksum(&self) -> u16 {
        field::get16(self.bytes(), CHECKSUM)
    }
    /// Identifier of a query or answer.
    pub fn ident(&self) -> u16 {
        field::get16(self.bytes(), 4)
    }
    /// Sequence number of a query or answer; next-hop MTU of ICMP's "fragmentation needed".
    pub fn sequence(&self) -> u16 {
        field::get16(self.bytes(), 6)
    }
    /// Bytes 4 to 8: gateway of an ICMP redirect, MTU of "packet too big", pointer of an ICMPv6 parameter problem.
    pub fn parameter(&self) -> u32 {
        field::get32(self.bytes(), 4)
    }
    /// The bytes after the header: of an error, the quoted packet.
    pub fn payload(&self) -> &[u8] {
        self.bytes().get(HEADER..).unwrap_or_default()
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Message<T> {
    /// Sets the type; the checksum is not adjusted.
    pub fn set_icmp_type(&mut self, icmp_type: u8) {
        field::put(self.0.as_mut(), 0, &[icmp_type]);
    }
    /// Sets the checksum.
    pub fn set_checksum(&mut self, sum: u16) {
        field::put(self.0.as_mut(), CHECKSUM, &sum.to_be_bytes());
    }
    /// The bytes after the header, writable.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        self.0.as_mut().get_mut(HEADER..).unwrap_or_default()
    }
}
