//! ICMP for IPv4 (RFC 792, RFC 1191 for the next-hop MTU).

use crate::{Error, checksum, field};

/// Length of the header, bytes; an error's quoted packet follows it.
pub const HEADER: usize = 8;
/// Echo reply.
pub const ECHO_REPLY: u8 = 0;
/// Destination unreachable.
pub const UNREACHABLE: u8 = 3;
/// Source quench.
pub const SOURCE_QUENCH: u8 = 4;
/// Redirect.
pub const REDIRECT: u8 = 5;
/// Echo request.
pub const ECHO_REQUEST: u8 = 8;
/// Time exceeded.
pub const TIME_EXCEEDED: u8 = 11;
/// Parameter problem.
pub const PARAMETER_PROBLEM: u8 = 12;
/// Timestamp request.
pub const TIMESTAMP: u8 = 13;
/// Timestamp reply.
pub const TIMESTAMP_REPLY: u8 = 14;
/// Information request.
pub const INFO: u8 = 15;
/// Information reply.
pub const INFO_REPLY: u8 = 16;
/// Address mask request.
pub const MASK: u8 = 17;
/// Address mask reply.
pub const MASK_REPLY: u8 = 18;

/// Code of [`UNREACHABLE`]: fragmentation needed.
pub const FRAGMENTATION_NEEDED: u8 = 4;

/// Code of [`UNREACHABLE`]: source route failed.
pub const SOURCE_ROUTE_FAILED: u8 = 5;
/// Code of [`REDIRECT`]: for the host.
pub const REDIRECT_HOST: u8 = 1;
/// Highest code of [`REDIRECT`]: for the type of service and host.
pub const LAST_REDIRECT: u8 = 3;

/// Whether a type reports an error and so quotes a packet.
pub const fn is_error(icmp_type: u8) -> bool {
    matches!(icmp_type, UNREACHABLE | SOURCE_QUENCH | REDIRECT | TIME_EXCEEDED | PARAMETER_PROBLEM)
}

/// Whether a type asks a question that has an identifier.
pub const fn is_query(icmp_type: u8) -> bool {
    matches!(icmp_type, ECHO_REQUEST | TIMESTAMP | INFO | MASK)
}

/// Whether a type answers a query.
pub const fn is_answer(icmp_type: u8) -> bool {
    matches!(icmp_type, ECHO_REPLY | TIMESTAMP_REPLY | INFO_REPLY | MASK_REPLY)
}

/// View of an ICMP message.
#[derive(Debug, Clone, Copy)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks that the header is there.
    pub fn new_checked(bytes: T) -> Result<Self, Error> {
        if bytes.as_ref().len() < HEADER { Err(Error::Truncated) } else { Ok(Self(bytes)) }
    }
    /// Type.
    pub fn icmp_type(&self) -> u8 {
        field::get8(self.0.as_ref(), 0)
    }
    /// Code.
    pub fn code(&self) -> u8 {
        field::get8(self.0.as_ref(), 1)
    }
    /// Checksum.
    pub fn checksum(&self) -> u16 {
        field::get16(self.0.as_ref(), 2)
    }
    /// Identifier of a query or answer.
    pub fn ident(&self) -> u16 {
        field::get16(self.0.as_ref(), 4)
    }
    /// Sequence number of a query or answer; next-hop MTU of "fragmentation needed".
    pub fn sequence(&self) -> u16 {
        field::get16(self.0.as_ref(), 6)
    }
    /// Gateway address of a redirect.
    pub fn gateway(&self) -> u32 {
        field::get32(self.0.as_ref(), 4)
    }
    /// The bytes after the header: of an error, the quoted packet.
    pub fn payload(&self) -> &[u8] {
        self.0.as_ref().get(HEADER..).unwrap_or_default()
    }
    /// Whether the checksum over all bytes of the view is right.
    pub fn verify_checksum(&self) -> bool {
        checksum::sum(self.0.as_ref()) == 0xffff
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets the type; the checksum is not adjusted.
    pub fn set_icmp_type(&mut self, icmp_type: u8) {
        field::put(self.0.as_mut(), 0, &[icmp_type]);
    }
    /// Sets the checksum.
    pub fn set_checksum(&mut self, sum: u16) {
        field::put(self.0.as_mut(), 2, &sum.to_be_bytes());
    }
    /// Computes the checksum over all bytes of the view and sets it.
    pub fn fill_checksum(&mut self) {
        self.set_checksum(0);
        let sum = checksum::checksum(self.0.as_ref());
        self.set_checksum(sum);
    }
    /// The bytes after the header, writable.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        self.0.as_mut().get_mut(HEADER..).unwrap_or_default()
    }
}

/// A header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Type.
    pub icmp_type: u8,
    /// Code.
    pub code: u8,
    /// Bytes 4 to 8: identifier and sequence, or unused and next-hop MTU.
    pub rest: [u8; 4],
}

impl Repr {
    /// Writes the header over the front of `message` and fills the checksum over all of `message`, whose
    /// payload must be in place; bytes that do not fit are left out.
    pub fn emit(&self, message: &mut [u8]) {
        field::put(message, 0, &[self.icmp_type, self.code, 0, 0]);
        field::put(message, 4, &self.rest);
        let sum = checksum::checksum(message);
        field::put(message, 2, &sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emitted_message_verifies() {
        let mut bytes = *b"........odd payload";
        Repr { icmp_type: ECHO_REQUEST, code: 0, rest: [0x12, 0x34, 0, 1] }.emit(&mut bytes);
        let packet = Packet::new_checked(&bytes[..]).unwrap();
        assert!(packet.verify_checksum());
        assert_eq!((packet.icmp_type(), packet.ident(), packet.sequence()), (ECHO_REQUEST, 0x1234, 1));
        bytes[9] ^= 1;
        assert!(!Packet::new_checked(&bytes[..]).unwrap().verify_checksum());
    }
}
