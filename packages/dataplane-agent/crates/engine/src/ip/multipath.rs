//! Which packets are a flow where a route has several next hops.

use tollway_config::dataplane::MultipathHash;
use tollway_wire::{ethernet, extension, field, ipv4, ipv6};

use crate::packet::key::mix;
use crate::packet::tuple::{Addr, Tuple};

/// Hash of the flow of a packet, of which [`Table::lookup_for`](super::fib::Table::lookup_for) chooses a next hop. The
/// tuple is that by which the packet is routed. It is the same in every worker, and after a restart: a connection whose
/// source is translated to the address of an uplink could not go on by another one.
pub fn flow_hash(policy: MultipathHash, tuple: &Tuple) -> u32 {
    let half = |address: u128, factor: u64| mix(address as u64 ^ factor, (address >> 64) as u64 ^ factor);
    let addresses = mix(
        half(tuple.src.0, 0x8ebc_6af0_9c88_c6e3) ^ 0x9e37_79b9_7f4a_7c15,
        half(tuple.dst.0, 0x5899_65cc_7537_4cc3) ^ 0xe703_7ed1_a0b4_28db,
    );
    let hash = match policy {
        // Of packets that encapsulate no other.
        MultipathHash::L3 | MultipathHash::L3Inner => addresses,
        MultipathHash::L4 => {
            let ports = u64::from(tuple.src_port) << 16 | u64::from(tuple.dst_port);
            mix(addresses, ports << 8 | u64::from(tuple.protocol) | 1 << 63)
        }
    };
    (hash ^ hash >> 32) as u32
}

/// Hash of the addresses of the innermost packet that a packet with this protocol and payload encapsulates: IPv4 or IPv6, in
/// either of them or in GRE. 0 if it encapsulates none. As in Linux (`__skb_flow_dissect`), nothing is looked for behind
/// the header of a fragment.
pub fn inner_flow_hash(protocol: u8, payload: &[u8]) -> u32 {
    let mut found = None;
    let mut next = Some((protocol, payload));
    while let Some((protocol, payload)) = next {
        let inner = match protocol {
            ipv4::GRE => gre_payload(payload),
            ipv4::IPIP | ipv4::IPV6 => Some((protocol, payload)),
            _ => None,
        };
        let header = match inner {
            Some((ipv4::IPIP, packet)) => ipv4_header(packet),
            Some((_, packet)) => ipv6_header(packet),
            None => None,
        };
        next = header.and_then(|(_, behind)| behind);
        found = header.map(|(addresses, _)| addresses).or(found);
    }
    found.map_or(0, |(src, dst)| flow_hash(MultipathHash::L3, &Tuple { src, dst, ..Tuple::default() }).max(1))
}

/// Source and destination of an IP packet, and the protocol and the payload behind its header, if that may be read.
type IpHeader<'a> = ((Addr, Addr), Option<(u8, &'a [u8])>);

fn ipv4_header(packet: &[u8]) -> Option<IpHeader<'_>> {
    let header: &[u8; ipv4::HEADER] = packet.first_chunk()?;
    let len = usize::from(header[0] & 15) * 4;
    if header[0] >> 4 != 4 || len < ipv4::HEADER {
        return None;
    }
    let [src, dst] = [ipv4::offset::SRC, ipv4::offset::DST].map(|at| Addr::v4(field::get32(header, at)));
    let whole = field::get16(header, ipv4::offset::FRAGMENT) & ipv4::FRAGMENTED == 0;
    let payload = packet.get(len..).filter(|_| whole);
    Some(((src, dst), payload.map(|payload| (header[ipv4::offset::PROTOCOL], payload))))
}

fn ipv6_header(packet: &[u8]) -> Option<IpHeader<'_>> {
    let header: &[u8; ipv6::HEADER] = packet.first_chunk()?;
    if header[0] >> 4 != 6 {
        return None;
    }
    let [src, dst] = [ipv6::offset::SRC, ipv6::offset::DST].map(|at| Addr(field::get128(header, at)));
    let behind = extension::walk(packet, packet.len()).ok().filter(|walked| walked.fragment.is_none());
    let payload = behind.and_then(|walked| Some((walked.protocol, packet.get(walked.start..)?)));
    Some(((src, dst), payload))
}

/// Flags of GRE (RFC 2784, RFC 2890, RFC 1701), and its version, which is 0.
mod gre {
    pub const CHECKSUM: u16 = 0x8000;
    pub const ROUTING: u16 = 0x4000;
    pub const KEY: u16 = 0x2000;
    pub const SEQUENCE: u16 = 0x1000;
    pub const VERSION: u16 = 7;
    /// EtherType of a frame in GRE (RFC 7637 §3.2).
    pub const TRANSPARENT_ETHERNET: u16 = 0x6558;
}

/// The IP packet in a GRE packet, or in the frame that is in it, by the number of its protocol.
fn gre_payload(packet: &[u8]) -> Option<(u8, &[u8])> {
    let header: &[u8; 4] = packet.first_chunk()?;
    let (flags, ethertype) = (field::get16(header, 0), field::get16(header, 2));
    if flags & (gre::ROUTING | gre::VERSION) != 0 {
        return None;
    }
    let options = (flags & (gre::CHECKSUM | gre::KEY | gre::SEQUENCE)).count_ones() as usize;
    let payload = packet.get(4 + 4 * options..)?;
    let (ethertype, payload) = match ethertype {
        gre::TRANSPARENT_ETHERNET => {
            (field::read16(payload, ethernet::ADDRESSES)?, payload.get(ethernet::HEADER..)?)
        }
        _ => (ethertype, payload),
    };
    match ethertype {
        ethernet::IPV4 => Some((ipv4::IPIP, payload)),
        ethernet::IPV6 => Some((ipv4::IPV6, payload)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_says_whether_ports_make_another_flow() {
        let tuple = |src_port| Tuple {
            src: Addr::v4(0x0a00_0002),
            dst: Addr::v4(0xc633_640a),
            src_port,
            dst_port: 443,
            protocol: 6,
            icmp: 0,
            zone: 0,
        };
        let [l3, l4] = [MultipathHash::L3, MultipathHash::L4].map(|policy| {
            (0..64).map(|port| flow_hash(policy, &tuple(port))).collect::<std::collections::HashSet<_>>()
        });
        assert_eq!((l3.len(), l4.len()), (1, 64));
        let back = Tuple { src: tuple(1).dst, dst: tuple(1).src, ..tuple(1) };
        assert_ne!(flow_hash(MultipathHash::L3, &back), flow_hash(MultipathHash::L3, &tuple(1)));
    }

    const SRC: [u8; 4] = [10, 1, 0, 2];

    fn v4(protocol: u8, last: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; ipv4::HEADER];
        (packet[0], packet[ipv4::offset::PROTOCOL]) = (0x45, protocol);
        packet[ipv4::offset::SRC..][..4].copy_from_slice(&SRC);
        packet[ipv4::offset::DST..][..4].copy_from_slice(&[192, 0, 2, last]);
        packet.extend(payload);
        packet
    }

    fn v6(protocol: u8, last: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; ipv6::HEADER];
        (packet[0], packet[ipv6::offset::NEXT_HEADER], packet[ipv6::HEADER - 1]) = (0x60, protocol, last);
        packet[ipv6::offset::SRC] = 0x20;
        packet.extend(payload);
        packet
    }

    fn gre(flags: u16, ethertype: u16, payload: &[u8]) -> Vec<u8> {
        let options = (flags >> 12 & 0b1011).count_ones() as usize;
        let mut packet = [flags.to_be_bytes(), ethertype.to_be_bytes()].concat();
        packet.resize(4 + 4 * options, 0xaa);
        packet.extend(payload);
        packet
    }

    fn of(src: u128, dst: u128) -> u32 {
        flow_hash(MultipathHash::L3, &Tuple { src: Addr(src), dst: Addr(dst), ..Tuple::default() })
    }

    #[test]
    fn a_packet_is_found_in_each_encapsulation_and_the_innermost_counts() {
        let inner = v4(17, 9, &[1; 8]);
        let hash = of(Addr::v4(u32::from_be_bytes(SRC)).0, Addr::v4(0xc000_0209).0);
        assert_eq!(inner_flow_hash(ipv4::IPIP, &inner), hash);
        assert_eq!(inner_flow_hash(ipv4::IPIP, &v4(ipv4::IPIP, 5, &inner)), hash);
        assert_eq!(inner_flow_hash(ipv4::IPV6, &v6(ipv4::IPIP, 5, &inner)), hash);
        let options = [&[ipv4::IPIP, 0, 4, 1, 4, 1, 1, 0][..], &inner].concat();
        assert_eq!(inner_flow_hash(ipv4::IPV6, &v6(ipv6::DESTINATION_OPTIONS, 5, &options)), hash);
        for flags in [0, 0x8000, 0x2000, 0x1000, 0xb000] {
            assert_eq!(inner_flow_hash(ipv4::GRE, &gre(flags, 0x0800, &inner)), hash, "{flags:x}");
        }
        let frame = [&[2; 12][..], &[8, 0], &inner].concat();
        assert_eq!(inner_flow_hash(ipv4::GRE, &gre(0x2000, 0x6558, &frame)), hash);
        let six = v6(ipv4::UDP, 7, &[]);
        let hash = of(0x20 << 120, 7);
        assert_eq!(inner_flow_hash(ipv4::IPV6, &six), hash);
        assert_eq!(inner_flow_hash(ipv4::GRE, &gre(0, 0x86dd, &six)), hash);
    }

    #[test]
    fn what_is_not_a_packet_counts_for_nothing() {
        let inner = v4(17, 9, &[1; 8]);
        for protocol in [ipv4::TCP, ipv4::UDP, ipv6::ESP] {
            assert_eq!(inner_flow_hash(protocol, &inner), 0);
        }
        assert_eq!(inner_flow_hash(ipv4::IPIP, &inner[..19]), 0);
        assert_eq!(inner_flow_hash(ipv4::IPIP, &v6(17, 1, &[])), 0, "another version");
        assert_eq!(inner_flow_hash(ipv4::IPV6, &inner), 0);
        for (flags, ethertype) in [(0x4000, 0x0800), (1, 0x0800), (0, 0x880b), (0, 0x8847)] {
            assert_eq!(inner_flow_hash(ipv4::GRE, &gre(flags, ethertype, &inner)), 0);
        }
        // A fragment says where it goes, and no more.
        let mut fragment = v4(ipv4::IPIP, 3, &inner);
        fragment[ipv4::offset::FRAGMENT] = 0x20;
        assert_eq!(inner_flow_hash(ipv4::IPIP, &fragment), inner_flow_hash(ipv4::IPIP, &v4(17, 3, &[])));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_can_be_looked_into(protocol in 0u8.., bytes in proptest::collection::vec(0u8.., 0..200)) {
            for protocol in [protocol, ipv4::IPIP, ipv4::IPV6, ipv4::GRE] {
                inner_flow_hash(protocol, &bytes);
            }
        }
    }
}
