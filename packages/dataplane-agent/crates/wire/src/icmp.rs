//! ICMP for IPv4 (RFC 792, RFC 1191 for the next-hop MTU).

pub use crate::icmp_message::{HEADER, Message as Packet};
use crate::{checksum, field};

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

impl<T: AsRef<[u8]>> Packet<T> {
    /// Whether the checksum of a message of ICMP is right, over all bytes of the view.
    pub fn verify_checksum(&self) -> bool {
        checksum::sum(self.bytes()) == 0xffff
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Computes the checksum of a message of ICMP over all bytes of the view and sets it.
    pub fn fill_checksum(&mut self) {
        self.set_checksum(0);
        let sum = checksum::checksum(self.bytes());
        self.set_checksum(sum);
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
