//! IPv6 extension headers (RFC 8200 §4), walked to the transport header within limits.

use std::ops::Range;

use crate::{field, ipv6};

/// Maximum number of extension headers of a packet; packets with more are refused. RFC 8504 §5.3 lets a node limit
/// them.
pub const MAX_HEADERS: usize = 8;
/// Length of a fragment header, bytes.
pub const FRAGMENT_HEADER: usize = 8;
/// Type of the option of one byte that pads (RFC 8200 §4.2).
const PAD_1: u8 = 0;

/// Why the headers of a packet are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A header is longer than the packet, or than the bytes that are there.
    Truncated,
    /// More than [`MAX_HEADERS`], or a hop-by-hop options header that is not the first one, or a second fragment
    /// header.
    Order,
    /// A routing header of type 0 (RFC 5095 §3).
    SourceRoute,
}

/// A fragment header (RFC 8200 §4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// First byte of the fragment in the fragmentable part, bytes.
    pub offset: u16,
    /// Whether another fragment follows.
    pub more: bool,
    /// Identification of the packet.
    pub ident: u32,
    /// Start of the header, bytes from the start of the IPv6 header. The fragmentable part begins [`FRAGMENT_HEADER`]
    /// behind it: other extension headers may be a part of that.
    pub start: usize,
    /// Start of the byte that names the header, bytes from the start of the IPv6 header.
    pub named_at: usize,
}

impl Fragment {
    /// Whether the header stands in a whole packet (an atomic fragment, RFC 6946).
    pub const fn is_atomic(self) -> bool {
        self.offset == 0 && !self.more
    }
}

/// The end of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walk {
    /// Protocol of the first header that is not walked: a transport protocol, ESP, AH or
    /// [`ipv6::NO_NEXT_HEADER`].
    pub protocol: u8,
    /// Its start, bytes from the start of the IPv6 header.
    pub start: usize,
    /// Start of the byte that names the protocol, bytes from the start of the IPv6 header.
    pub named_at: usize,
    /// The fragment header. Behind that of a later fragment nothing is walked.
    pub fragment: Option<Fragment>,
    /// End of the hop-by-hop options header, bytes from the start of the IPv6 header; 0 without one.
    pub hop_by_hop_end: usize,
}

/// Walks the extension headers of a packet of `len` bytes, of which `packet` holds the front.
///
/// # Errors
/// Why the packet is refused.
pub fn walk(packet: &[u8], len: usize) -> Result<Walk, Refusal> {
    walk_each(packet, len, |_, _| ())
}

/// An option that a node which does not know it must not pass over (RFC 8200 §4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownOption {
    /// Its type, the two highest bits of which say what is done with the packet.
    pub kind: u8,
    /// Its place, bytes from the start of the IPv6 header.
    pub at: usize,
}

impl UnknownOption {
    /// Whether the sender of a packet to `dst` is told, by a parameter problem.
    pub const fn is_answered(self, dst: u128) -> bool {
        match self.kind >> 6 {
            0b10 => true,
            0b11 => !ipv6::is_multicast(dst),
            _ => false,
        }
    }
}

/// The first option of a packet, in its hop-by-hop and destination options headers, because of which a node that knows
/// none discards it. Those that the router knows (padding, router alert) are such that they may be passed over.
///
/// # Errors
/// Why the packet is refused, an option beyond its header among the reasons.
pub fn unknown_option(packet: &[u8], len: usize) -> Result<Option<UnknownOption>, Refusal> {
    let mut found = Ok(None);
    walk_each(packet, len, |kind, header| {
        if matches!(kind, ipv6::HOP_BY_HOP | ipv6::DESTINATION_OPTIONS) && found == Ok(None) {
            found = unknown_of(packet, header);
        }
    })?;
    found
}

/// [`unknown_option`] of one header.
fn unknown_of(packet: &[u8], header: Range<usize>) -> Result<Option<UnknownOption>, Refusal> {
    let mut at = header.start + 2;
    while at < header.end {
        let kind = field::get8(packet, at);
        if kind == PAD_1 {
            at += 1;
            continue;
        }
        let end = at + 2 + usize::from(field::get8(packet, at + 1));
        if at + 2 > header.end || end > header.end {
            return Err(Refusal::Truncated);
        }
        if kind >> 6 != 0 {
            return Ok(Some(UnknownOption { kind, at }));
        }
        at = end;
    }
    Ok(None)
}

/// [`walk`], with `visit` called for the type and the place of each extension header.
#[inline(always)]
fn walk_each(packet: &[u8], len: usize, mut visit: impl FnMut(u8, Range<usize>)) -> Result<Walk, Refusal> {
    let mut walk = Walk {
        protocol: field::get8(packet, ipv6::offset::NEXT_HEADER),
        start: ipv6::HEADER,
        named_at: ipv6::offset::NEXT_HEADER,
        fragment: None,
        hop_by_hop_end: 0,
    };
    let present = packet.len().min(len);
    for count in 0..=MAX_HEADERS {
        let header = match walk.protocol {
            ipv6::FRAGMENT => FRAGMENT_HEADER,
            ipv6::HOP_BY_HOP | ipv6::ROUTING | ipv6::DESTINATION_OPTIONS => {
                let units = field::read8(packet, walk.start + 1).ok_or(Refusal::Truncated)?;
                (usize::from(units) + 1) * 8
            }
            _ => return Ok(walk),
        };
        let misplaced = match walk.protocol {
            ipv6::HOP_BY_HOP => count != 0,
            ipv6::FRAGMENT => walk.fragment.is_some(),
            _ => false,
        };
        if misplaced || count == MAX_HEADERS {
            return Err(Refusal::Order);
        }
        let end = walk.start + header;
        if end > present {
            return Err(Refusal::Truncated);
        }
        match walk.protocol {
            ipv6::ROUTING if field::get8(packet, walk.start + 2) == 0 => return Err(Refusal::SourceRoute),
            ipv6::HOP_BY_HOP => walk.hop_by_hop_end = end,
            ipv6::FRAGMENT => {
                let word = field::get16(packet, walk.start + 2);
                let ident = field::get32(packet, walk.start + 4);
                let (start, named_at) = (walk.start, walk.named_at);
                walk.fragment =
                    Some(Fragment { offset: word & !7, more: word & 1 != 0, ident, start, named_at });
            }
            _ => {}
        }
        visit(walk.protocol, walk.start..end);
        walk.named_at = walk.start;
        walk.protocol = field::get8(packet, walk.start);
        walk.start = end;
        if walk.fragment.is_some_and(|fragment| fragment.offset != 0) {
            return Ok(walk);
        }
    }
    Err(Refusal::Order)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A packet with these extension headers, each its type and its bytes from the third on.
    fn packet(headers: &[(u8, &[u8])], protocol: u8) -> Vec<u8> {
        let mut bytes = vec![0; ipv6::HEADER];
        bytes[0] = 0x60;
        let mut named_at = ipv6::offset::NEXT_HEADER;
        for (kind, rest) in headers {
            bytes[named_at] = *kind;
            named_at = bytes.len();
            let units = if *kind == ipv6::FRAGMENT { 0 } else { (rest.len() + 2) / 8 - 1 };
            bytes.extend([0, units as u8]);
            bytes.extend_from_slice(rest);
        }
        bytes[named_at] = protocol;
        bytes.extend([0; 8]);
        bytes
    }

    fn walked(headers: &[(u8, &[u8])], protocol: u8) -> Result<Walk, Refusal> {
        let bytes = packet(headers, protocol);
        walk(&bytes, bytes.len())
    }

    #[test]
    fn a_walk_ends_at_the_transport_header() {
        let bare = walked(&[], 17).unwrap();
        assert_eq!((bare.protocol, bare.start, bare.named_at), (17, 40, 6));
        let all = walked(
            &[
                (ipv6::HOP_BY_HOP, &[0; 6]),
                (ipv6::DESTINATION_OPTIONS, &[0; 14]),
                (ipv6::ROUTING, &[4, 0, 0, 0, 0, 0]),
                (ipv6::FRAGMENT, &[0, 1, 0, 0, 0, 7]),
                (ipv6::DESTINATION_OPTIONS, &[0; 6]),
            ],
            6,
        )
        .unwrap();
        assert_eq!((all.protocol, all.start, all.named_at), (6, 40 + 8 + 16 + 8 + 8 + 8, 80));
        let fragment = Fragment { offset: 0, more: true, ident: 7, start: 72, named_at: 64 };
        assert_eq!(all.fragment, Some(fragment));
        assert_eq!(all.hop_by_hop_end, 48);
        for last in [ipv6::AH, ipv6::ESP, ipv6::NO_NEXT_HEADER] {
            assert_eq!(walked(&[(ipv6::DESTINATION_OPTIONS, &[0; 6])], last).unwrap().protocol, last);
        }
    }

    #[test]
    fn behind_the_header_of_a_later_fragment_nothing_is_walked() {
        let later = walked(&[(ipv6::FRAGMENT, &[5, 0xa8, 0, 0, 0, 7])], ipv6::DESTINATION_OPTIONS).unwrap();
        assert_eq!((later.protocol, later.start), (ipv6::DESTINATION_OPTIONS, 48));
        let fragment = Fragment { offset: 1448, more: false, ident: 7, start: 40, named_at: 6 };
        assert_eq!(later.fragment, Some(fragment));
        let atomic = walked(&[(ipv6::FRAGMENT, &[0, 0, 0, 0, 0, 7])], 17).unwrap();
        assert!(atomic.fragment.is_some_and(Fragment::is_atomic));
    }

    #[test]
    fn headers_out_of_order_too_many_and_source_routes_are_refused() {
        let options: (u8, &[u8]) = (ipv6::DESTINATION_OPTIONS, &[0; 6]);
        let fragment: (u8, &[u8]) = (ipv6::FRAGMENT, &[0; 6]);
        for (headers, refusal) in [
            (&[options, (ipv6::HOP_BY_HOP, &[0; 6])][..], Refusal::Order),
            (&[fragment, fragment], Refusal::Order),
            (&[options; 9], Refusal::Order),
            (&[(ipv6::ROUTING, &[0; 6])], Refusal::SourceRoute),
        ] {
            assert_eq!(walked(headers, 17), Err(refusal), "{headers:?}");
        }
        assert!(walked(&[options; 8], 17).is_ok());
        let mut short = packet(&[options], 17);
        short.truncate(47);
        assert_eq!(walk(&short, 100), Err(Refusal::Truncated));
        assert_eq!(walk(&packet(&[options], 17), 47), Err(Refusal::Truncated));
    }

    #[test]
    fn the_first_option_that_must_not_be_passed_over_is_found() {
        let found = |headers: &[(u8, &[u8])]| {
            let bytes = packet(headers, 17);
            unknown_option(&bytes, bytes.len())
        };
        let unknown = |kind, at| Ok(Some(UnknownOption { kind, at }));
        let (hop, dst) = (ipv6::HOP_BY_HOP, ipv6::DESTINATION_OPTIONS);
        // Router alert, padding, and options that may be passed over.
        assert_eq!(found(&[(hop, &[5, 2, 0, 0, 0, 0]), (dst, &[1, 4, 0x9e, 0xc2, 0, 0])]), Ok(None));
        assert_eq!(found(&[(dst, &[0x1e, 1, 0xff, 0, 0x3f, 0])]), Ok(None));
        assert_eq!(
            found(&[(hop, &[0x1e, 0, 0x5e, 0, 0, 0]), (dst, &[0x9e, 4, 0, 0, 0, 0])]),
            unknown(0x5e, 44)
        );
        assert_eq!(found(&[(hop, &[0; 6]), (dst, &[0, 0x9e, 3, 0, 0, 0])]), unknown(0x9e, 51));
        assert_eq!(
            found(&[(ipv6::ROUTING, &[4, 0xc2, 0xc2, 0, 0, 0]), (dst, &[0xc2, 4, 0, 0, 0, 0])]),
            unknown(0xc2, 50)
        );
        for beyond in [[1, 5, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0x1e], [0x9e, 0xff, 0, 0, 0, 0]] {
            assert_eq!(found(&[(dst, &beyond)]), Err(Refusal::Truncated), "{beyond:?}");
        }
        let answered =
            |kind: u8| [1 << 100, ipv6::ALL_NODES].map(|dst| UnknownOption { kind, at: 42 }.is_answered(dst));
        assert_eq!([0x5e, 0x9e, 0xde].map(answered), [[false; 2], [true; 2], [true, false]]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(512)))]

        #[test]
        fn any_bytes_are_walked_within_them(mut bytes in proptest::collection::vec(any::<u8>(), 0..300), kinds: [u8; 4]) {
            // Extension headers are rare among random bytes.
            let kind = |at: usize| {
                [ipv6::HOP_BY_HOP, ipv6::ROUTING, ipv6::FRAGMENT, ipv6::DESTINATION_OPTIONS][usize::from(kinds[at]) % 4]
            };
            for (place, at) in [(0, 6), (1, 40), (2, 48), (3, 56)] {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = kind(place);
                }
            }
            if let Ok(Some(option)) = unknown_option(&bytes, bytes.len()) {
                prop_assert!(option.kind >> 6 != 0 && bytes[option.at] == option.kind);
            }
            if let Ok(walk) = walk(&bytes, bytes.len()) {
                prop_assert!(walk.start <= bytes.len().max(ipv6::HEADER));
                prop_assert!(walk.named_at < walk.start);
            }
        }
    }
}
