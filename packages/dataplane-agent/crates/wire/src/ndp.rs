//! Messages of neighbour discovery (RFC 4861 §4): ICMPv6 messages with options. Checks that concern the IPv6 header and
//! the checksum (RFC 4861 §6.1, §7.1) are not made here.

use crate::{Error, field, icmpv6};

/// Length of a solicitation or advertisement of a neighbour without options, bytes.
pub const NEIGHBOR_MESSAGE: usize = 24;
/// Length of an option with a link-layer address of Ethernet, bytes (RFC 2464 §6).
pub const LINK_OPTION: usize = 8;
/// Length of a router advertisement without options, bytes.
pub const ROUTER_ADVERTISEMENT: usize = 16;
/// Length of a prefix information option, bytes.
pub const PREFIX_OPTION: usize = 32;
/// Length of an MTU option, bytes.
pub const MTU_OPTION: usize = 8;
/// Hop limit of every message of neighbour discovery, which shows that it comes from the same link.
pub const HOP_LIMIT: u8 = 255;

/// Types of options (RFC 4861 §4.6).
pub mod option {
    /// Source link-layer address.
    pub const SOURCE_LINK: u8 = 1;
    /// Target link-layer address.
    pub const TARGET_LINK: u8 = 2;
    /// Prefix information.
    pub const PREFIX: u8 = 3;
    /// Redirected header.
    pub const REDIRECTED: u8 = 4;
    /// MTU.
    pub const MTU: u8 = 5;
}

/// Flags of a neighbour advertisement (RFC 4861 §4.4), in its fifth byte.
pub mod flag {
    /// The sender is a router.
    pub const ROUTER: u8 = 0x80;
    /// Sent in response to a solicitation.
    pub const SOLICITED: u8 = 0x40;
    /// Overrides a link-layer address that is known.
    pub const OVERRIDE: u8 = 0x20;
}

/// The options behind the fixed part of a message.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a>(&'a [u8]);

impl<'a> Options<'a> {
    /// Checks that every option has a length, and is as long as it says (RFC 4861 §4.6).
    fn new_checked(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let len = usize::from(field::read8(rest, 1).ok_or(Error::Truncated)?) * 8;
            if len == 0 {
                return Err(Error::Length);
            }
            rest = rest.get(len..).ok_or(Error::Truncated)?;
        }
        Ok(Self(bytes))
    }

    /// The first option of a type, whole.
    pub fn find(&self, kind: u8) -> Option<&'a [u8]> {
        self.clone_all().find(|option| field::get8(option, 0) == kind)
    }

    fn clone_all(&self) -> OptionIter<'a> {
        OptionIter(self.0)
    }

    /// The Ethernet address of an option of a type ([`option::SOURCE_LINK`] or [`option::TARGET_LINK`]). `None`
    /// without one, or when it is no address of a single station.
    pub fn link(&self, kind: u8) -> Option<[u8; 6]> {
        let mac: [u8; 6] = *self.find(kind)?.get(2..)?.first_chunk()?;
        (mac != [0; 6] && mac[0] & 1 == 0).then_some(mac)
    }
}

impl<'a> IntoIterator for Options<'a> {
    type Item = &'a [u8];
    type IntoIter = OptionIter<'a>;
    fn into_iter(self) -> OptionIter<'a> {
        self.clone_all()
    }
}

/// Iterator over the options of a message, each with type and length.
#[derive(Debug, Clone)]
pub struct OptionIter<'a>(&'a [u8]);

impl<'a> Iterator for OptionIter<'a> {
    type Item = &'a [u8];
    fn next(&mut self) -> Option<&'a [u8]> {
        let len = usize::from(field::read8(self.0, 1)?) * 8;
        let (option, rest) = self.0.split_at_checked(len).filter(|(option, _)| !option.is_empty())?;
        self.0 = rest;
        Some(option)
    }
}

/// A message.
#[derive(Debug, Clone, Copy)]
pub enum Message<'a> {
    /// Router solicitation (§4.1).
    RouterSolicitation {
        /// Options.
        options: Options<'a>,
    },
    /// Router advertisement (§4.2).
    RouterAdvertisement {
        /// Time for which the sender is a default router, s; 0 it is none.
        lifetime: u16,
        /// Bits of the sixth byte: managed and other configuration, and in bits 3 and 4 the preference (RFC 4191 §2.2).
        flags: u8,
        /// Options.
        options: Options<'a>,
    },
    /// Neighbour solicitation (§4.3).
    NeighborSolicitation {
        /// Address asked for.
        target: u128,
        /// Options.
        options: Options<'a>,
    },
    /// Neighbour advertisement (§4.4).
    NeighborAdvertisement {
        /// Address that is advertised.
        target: u128,
        /// See [`flag`].
        flags: u8,
        /// Options.
        options: Options<'a>,
    },
    /// Redirect (§4.5).
    Redirect {
        /// Better first hop.
        target: u128,
        /// Address that is redirected.
        destination: u128,
        /// Options.
        options: Options<'a>,
    },
}

/// Reads a whole ICMPv6 message.
///
/// # Errors
/// It is none of neighbour discovery, its code is not 0, its fixed part is not there, or its options are malformed.
pub fn parse(message: &[u8]) -> Result<Message<'_>, Error> {
    let icmp_type = field::read8(message, 0).ok_or(Error::Truncated)?;
    if field::read8(message, 1).ok_or(Error::Truncated)? != 0 {
        return Err(Error::Version);
    }
    let options = |at: usize| Options::new_checked(message.get(at..).ok_or(Error::Truncated)?);
    let address = |at: usize| field::read128(message, at).ok_or(Error::Truncated);
    Ok(match icmp_type {
        icmpv6::ROUTER_SOLICITATION => Message::RouterSolicitation { options: options(8)? },
        icmpv6::ROUTER_ADVERTISEMENT => Message::RouterAdvertisement {
            lifetime: field::get16(message, 6),
            flags: field::get8(message, 5),
            options: options(ROUTER_ADVERTISEMENT)?,
        },
        icmpv6::NEIGHBOR_SOLICITATION => {
            Message::NeighborSolicitation { target: address(8)?, options: options(NEIGHBOR_MESSAGE)? }
        }
        icmpv6::NEIGHBOR_ADVERTISEMENT => Message::NeighborAdvertisement {
            target: address(8)?,
            flags: field::get8(message, 4),
            options: options(NEIGHBOR_MESSAGE)?,
        },
        icmpv6::REDIRECT => {
            Message::Redirect { target: address(8)?, destination: address(24)?, options: options(40)? }
        }
        _ => return Err(Error::Version),
    })
}

/// A solicitation or advertisement of a neighbour, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeighborRepr {
    /// [`icmpv6::NEIGHBOR_SOLICITATION`] or [`icmpv6::NEIGHBOR_ADVERTISEMENT`].
    pub icmp_type: u8,
    /// See [`flag`]; 0 in a solicitation.
    pub flags: u8,
    /// Address asked for or advertised.
    pub target: u128,
    /// Link-layer address of the sender; `None` leaves the option out (§4.3: from the unspecified address).
    pub link: Option<[u8; 6]>,
}

impl NeighborRepr {
    /// Length of the message, bytes.
    pub const fn len(&self) -> usize {
        if self.link.is_some() { NEIGHBOR_MESSAGE + LINK_OPTION } else { NEIGHBOR_MESSAGE }
    }

    /// `false`: a message always has bytes.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Writes the message between two addresses, with its checksum. `message` must have [`Self::len`] bytes; bytes
    /// that do not fit are left out.
    pub fn emit(&self, message: &mut [u8], src: u128, dst: u128) {
        field::put(message, 0, &[self.icmp_type, 0, 0, 0, self.flags, 0, 0, 0]);
        field::put(message, 8, &self.target.to_be_bytes());
        if let Some(link) = self.link {
            let solicits = self.icmp_type == icmpv6::NEIGHBOR_SOLICITATION;
            let kind = if solicits { option::SOURCE_LINK } else { option::TARGET_LINK };
            field::put(message, NEIGHBOR_MESSAGE, &[kind, 1]);
            field::put(message, NEIGHBOR_MESSAGE + 2, &link);
        }
        icmpv6::fill_checksum(message, src, dst);
    }
}

/// A prefix that a router advertises (§4.6.2): on-link and autonomous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixRepr {
    /// The prefix; host bits zero.
    pub prefix: u128,
    /// Its length, bits.
    pub len: u8,
    /// Valid lifetime, s.
    pub valid: u32,
    /// Preferred lifetime, s.
    pub preferred: u32,
}

/// A prefix information option (§4.6.2), as it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixInformation {
    /// The prefix; bits behind its length may be set.
    pub prefix: u128,
    /// Its length, bits; more than 128 is no length.
    pub len: u8,
    /// Stations of the prefix are on the link.
    pub on_link: bool,
    /// Stations make themselves addresses of the prefix.
    pub autonomous: bool,
    /// Valid lifetime, s.
    pub valid: u32,
    /// Preferred lifetime, s.
    pub preferred: u32,
}

impl PrefixInformation {
    /// Reads an option; `None` for one of another type or length.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let is_it = bytes.len() == PREFIX_OPTION && field::get8(bytes, 0) == option::PREFIX;
        is_it.then(|| Self {
            prefix: field::get128(bytes, 16),
            len: field::get8(bytes, 2),
            on_link: field::get8(bytes, 3) & 0x80 != 0,
            autonomous: field::get8(bytes, 3) & 0x40 != 0,
            valid: field::get32(bytes, 4),
            preferred: field::get32(bytes, 8),
        })
    }
}

/// A router solicitation, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SolicitationRepr {
    /// Link-layer address of the sender.
    pub link: [u8; 6],
}

impl SolicitationRepr {
    /// Length of the message, bytes.
    pub const LEN: usize = 8 + LINK_OPTION;

    /// Writes the message between two addresses, with its checksum. Bytes that do not fit are left out.
    pub fn emit(&self, message: &mut [u8], src: u128, dst: u128) {
        message.fill(0);
        field::put(message, 0, &[icmpv6::ROUTER_SOLICITATION]);
        field::put(message, 8, &[option::SOURCE_LINK, 1]);
        field::put(message, 10, &self.link);
        icmpv6::fill_checksum(message, src, dst);
    }
}

/// A router advertisement, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouterRepr<'a> {
    /// Hop limit for hosts; 0 unspecified.
    pub hop_limit: u8,
    /// Time for which the sender is a default router, s; 0 it is none.
    pub lifetime: u16,
    /// Link-layer address of the sender.
    pub link: [u8; 6],
    /// MTU of the link, bytes.
    pub mtu: u32,
    /// Prefixes.
    pub prefixes: &'a [PrefixRepr],
}

impl RouterRepr<'_> {
    /// Length of the message, bytes.
    pub const fn len(&self) -> usize {
        ROUTER_ADVERTISEMENT + LINK_OPTION + MTU_OPTION + PREFIX_OPTION * self.prefixes.len()
    }

    /// `false`: a message always has bytes.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Writes the message between two addresses, with its checksum. `message` must have [`Self::len`] bytes; bytes
    /// that do not fit are left out.
    pub fn emit(&self, message: &mut [u8], src: u128, dst: u128) {
        message.fill(0);
        field::put(message, 0, &[icmpv6::ROUTER_ADVERTISEMENT, 0, 0, 0, self.hop_limit, 0]);
        field::put(message, 6, &self.lifetime.to_be_bytes());
        let mut at = ROUTER_ADVERTISEMENT;
        field::put(message, at, &[option::SOURCE_LINK, 1]);
        field::put(message, at + 2, &self.link);
        at += LINK_OPTION;
        field::put(message, at, &[option::MTU, 1]);
        field::put(message, at + 4, &self.mtu.to_be_bytes());
        at += MTU_OPTION;
        for prefix in self.prefixes {
            // On-link (L) and autonomous address configuration (A).
            field::put(message, at, &[option::PREFIX, 4, prefix.len, 0xc0]);
            field::put(message, at + 4, &prefix.valid.to_be_bytes());
            field::put(message, at + 8, &prefix.preferred.to_be_bytes());
            field::put(message, at + 16, &prefix.prefix.to_be_bytes());
            at += PREFIX_OPTION;
        }
        icmpv6::fill_checksum(message, src, dst);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];

    #[test]
    fn what_is_written_is_read() {
        for (icmp_type, flags, kind) in [
            (icmpv6::NEIGHBOR_SOLICITATION, 0, option::SOURCE_LINK),
            (icmpv6::NEIGHBOR_ADVERTISEMENT, flag::ROUTER | flag::OVERRIDE, option::TARGET_LINK),
        ] {
            let repr = NeighborRepr { icmp_type, flags, target: 7, link: Some(MAC) };
            let mut bytes = vec![0; repr.len()];
            repr.emit(&mut bytes, 1, 2);
            assert!(icmpv6::Packet::new_checked(&bytes[..]).unwrap().verify_checksum_between(1, 2));
            let (target, options) = match parse(&bytes).unwrap() {
                Message::NeighborSolicitation { target, options } => (target, options),
                Message::NeighborAdvertisement { target, flags: read, options } => {
                    assert_eq!(read, flags);
                    (target, options)
                }
                other => panic!("{other:?}"),
            };
            assert_eq!((target, options.link(kind)), (7, Some(MAC)));
            assert_eq!(options.link(3 - kind), None);
        }
    }

    #[test]
    fn an_advertisement_of_a_router_carries_its_prefixes() {
        let prefixes =
            [PrefixRepr { prefix: 0x2001 << 112, len: 64, valid: 2_592_000, preferred: 604_800 }; 2];
        let repr = RouterRepr { hop_limit: 64, lifetime: 1800, link: MAC, mtu: 1500, prefixes: &prefixes };
        let mut bytes = vec![0xff; repr.len()];
        repr.emit(&mut bytes, 1, 2);
        assert!(icmpv6::Packet::new_checked(&bytes[..]).unwrap().verify_checksum_between(1, 2));
        let Message::RouterAdvertisement { lifetime, flags, options } = parse(&bytes).unwrap() else {
            panic!()
        };
        assert_eq!(flags, 0);
        let read: Vec<_> = options.into_iter().filter_map(PrefixInformation::read).collect();
        let (on_link, autonomous) = (true, true);
        let (valid, preferred) = (2_592_000, 604_800);
        let told =
            PrefixInformation { prefix: 0x2001 << 112, len: 64, on_link, autonomous, valid, preferred };
        assert_eq!(read, [told; 2]);
        assert_eq!((lifetime, options.link(option::SOURCE_LINK)), (1800, Some(MAC)));
        let found: Vec<_> = options.into_iter().filter(|option| option[0] == option::PREFIX).collect();
        assert_eq!(found.len(), 2);
        assert_eq!((found[1][2], field::get128(found[1], 16)), (64, 0x2001 << 112));
    }

    #[test]
    fn a_solicitation_of_routers_says_who_asks() {
        let mut bytes = [0xff; SolicitationRepr::LEN];
        SolicitationRepr { link: MAC }.emit(&mut bytes, 1, 2);
        assert!(icmpv6::Packet::new_checked(&bytes[..]).unwrap().verify_checksum_between(1, 2));
        let Message::RouterSolicitation { options } = parse(&bytes).unwrap() else { panic!() };
        assert_eq!(options.link(option::SOURCE_LINK), Some(MAC));
    }

    #[test]
    fn malformed_messages_are_refused() {
        let repr =
            NeighborRepr { icmp_type: icmpv6::NEIGHBOR_SOLICITATION, flags: 0, target: 7, link: Some(MAC) };
        let mut bytes = vec![0; repr.len()];
        repr.emit(&mut bytes, 1, 2);
        let with = |at: usize, value: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            parse(&bytes).err()
        };
        assert_eq!(with(25, 0), Some(Error::Length));
        assert_eq!(with(25, 2), Some(Error::Truncated));
        assert_eq!(with(1, 1), Some(Error::Version));
        assert_eq!(with(0, icmpv6::ECHO_REQUEST), Some(Error::Version));
        assert_eq!(parse(&bytes[..23]).err(), Some(Error::Truncated));
        // A group is no station.
        let mut group = bytes.clone();
        group[26] = 1;
        let Ok(Message::NeighborSolicitation { options, .. }) = parse(&group) else { panic!() };
        assert_eq!(options.link(option::SOURCE_LINK), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn any_options_are_read_to_their_end(mut bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            for (at, byte) in bytes.iter_mut().enumerate() {
                match at {
                    0 => *byte = icmpv6::ROUTER_SOLICITATION + *byte % 5,
                    1 => *byte = 0,
                    _ if at % 8 == 1 => *byte %= 4,
                    _ => {}
                }
            }
            if let Ok(
                Message::RouterSolicitation { options }
                | Message::RouterAdvertisement { options, .. }
                | Message::NeighborSolicitation { options, .. }
                | Message::NeighborAdvertisement { options, .. }
                | Message::Redirect { options, .. },
            ) = parse(&bytes)
            {
                let read: usize = options.into_iter().map(<[u8]>::len).sum();
                prop_assert_eq!(read, options.0.len());
            }
        }
    }
}
