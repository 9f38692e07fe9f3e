//! ICMPv6 (RFC 4443). Messages of neighbour discovery are in [`ndp`](crate::ndp).

pub use crate::icmp_message::{CHECKSUM, HEADER, Message as Packet};
use crate::{checksum, field, ipv6};

/// Destination unreachable.
pub const UNREACHABLE: u8 = 1;
/// Packet too big.
pub const PACKET_TOO_BIG: u8 = 2;
/// Time exceeded.
pub const TIME_EXCEEDED: u8 = 3;
/// Parameter problem.
pub const PARAMETER_PROBLEM: u8 = 4;
/// Echo request.
pub const ECHO_REQUEST: u8 = 128;
/// Echo reply.
pub const ECHO_REPLY: u8 = 129;
/// Multicast listener query (RFC 2710), the first of the messages of multicast listener discovery.
pub const LISTENER_QUERY: u8 = 130;
/// Multicast listener done (RFC 2710).
pub const LISTENER_DONE: u8 = 132;
/// Router solicitation (RFC 4861).
pub const ROUTER_SOLICITATION: u8 = 133;
/// Router advertisement (RFC 4861).
pub const ROUTER_ADVERTISEMENT: u8 = 134;
/// Neighbour solicitation (RFC 4861).
pub const NEIGHBOR_SOLICITATION: u8 = 135;
/// Neighbour advertisement (RFC 4861).
pub const NEIGHBOR_ADVERTISEMENT: u8 = 136;
/// Redirect (RFC 4861).
pub const REDIRECT: u8 = 137;
/// Multicast listener report of version 2 (RFC 3810).
pub const LISTENER_REPORT_V2: u8 = 143;

/// Codes of [`UNREACHABLE`].
pub mod unreachable {
    /// No route to the destination.
    pub const NO_ROUTE: u8 = 0;
    /// Communication administratively prohibited.
    pub const PROHIBITED: u8 = 1;
    /// Beyond the scope of the source address.
    pub const BEYOND_SCOPE: u8 = 2;
    /// Address unreachable.
    pub const ADDRESS: u8 = 3;
    /// Port unreachable.
    pub const PORT: u8 = 4;
    /// The source address failed an ingress or egress policy.
    pub const SOURCE_POLICY: u8 = 5;
    /// Reject route to the destination.
    pub const REJECT_ROUTE: u8 = 6;
    /// Error in the source routing header (RFC 6550 §20.18).
    pub const SOURCE_ROUTING_HEADER: u8 = 7;
    /// Headers too long (RFC 8883 §3).
    pub const HEADERS_TOO_LONG: u8 = 8;
}

/// Code of [`PARAMETER_PROBLEM`]: an option is not known.
pub const UNKNOWN_OPTION: u8 = 2;

/// Whether a type reports an error and so quotes a packet (RFC 4443 §2.1).
#[inline]
pub const fn is_error(icmp_type: u8) -> bool {
    icmp_type < 128
}

/// Whether a type belongs to neighbour discovery (RFC 4861 §4).
#[inline]
pub const fn is_discovery(icmp_type: u8) -> bool {
    matches!(icmp_type, ROUTER_SOLICITATION..=REDIRECT)
}

/// Whether a type belongs to neighbour or multicast listener discovery, whose messages belong to no connection.
#[inline]
pub const fn is_of_link(icmp_type: u8) -> bool {
    is_discovery(icmp_type) || matches!(icmp_type, LISTENER_QUERY..=LISTENER_DONE | LISTENER_REPORT_V2)
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Whether the checksum of a message of ICMPv6 is right, over all bytes of the view and the pseudo-header.
    pub fn verify_checksum_between(&self, src: u128, dst: u128) -> bool {
        let bytes = self.bytes();
        let pseudo = checksum::pseudo_v6(src, dst, ipv6::ICMPV6, bytes.len() as u32);
        checksum::add(pseudo, checksum::sum(bytes)) == 0xffff
    }
}

/// Computes the checksum of a message between two addresses, and writes it.
pub fn fill_checksum(message: &mut [u8], src: u128, dst: u128) {
    field::put(message, 2, &[0, 0]);
    let pseudo = checksum::pseudo_v6(src, dst, ipv6::ICMPV6, message.len() as u32);
    let sum = !checksum::add(pseudo, checksum::sum(message));
    field::put(message, 2, &sum.to_be_bytes());
}

/// A header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Type.
    pub icmp_type: u8,
    /// Code.
    pub code: u8,
    /// Bytes 4 to 8: identifier and sequence, MTU, or pointer.
    pub rest: [u8; 4],
}

impl Repr {
    /// Writes the header over the front of `message` and fills the checksum over all of `message`, whose payload must
    /// be in place; bytes that do not fit are left out.
    pub fn emit(&self, message: &mut [u8], src: u128, dst: u128) {
        field::put(message, 0, &[self.icmp_type, self.code]);
        field::put(message, 4, &self.rest);
        fill_checksum(message, src, dst);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn types_are_told_apart() {
        assert!(is_error(PACKET_TOO_BIG) && is_error(127) && !is_error(ECHO_REQUEST));
        assert!(is_discovery(ROUTER_SOLICITATION) && is_discovery(REDIRECT) && !is_discovery(LISTENER_DONE));
        assert!(is_of_link(LISTENER_QUERY) && is_of_link(LISTENER_REPORT_V2) && !is_of_link(ECHO_REPLY));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn an_emitted_message_verifies_between_its_addresses_only(
            mut bytes in proptest::collection::vec(any::<u8>(), HEADER..80),
            (src, dst) in any::<(u128, u128)>(),
            rest: [u8; 4],
        ) {
            Repr { icmp_type: ECHO_REQUEST, code: 0, rest }.emit(&mut bytes, src, dst);
            let packet = Packet::new_checked(&bytes[..]).unwrap();
            prop_assert!(packet.verify_checksum_between(src, dst));
            prop_assert!(!packet.verify_checksum_between(src, dst ^ 1));
            prop_assert_eq!(packet.parameter(), u32::from_be_bytes(rest));
            prop_assert_eq!(packet.ident(), u16::from_be_bytes([rest[0], rest[1]]));
        }
    }
}
