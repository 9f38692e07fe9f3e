//! Building IPv6 packets, and reading them back in assertions.

use std::net::Ipv6Addr;

use tollway_engine::packet::frame::{Gso, VnetState};
use tollway_wire::extension::{Fragment, walk};
use tollway_wire::{checksum, ethernet, icmpv6, ipv4, ipv6, ndp, tcp, udp};

/// An address from its text; panics on anything else.
pub fn ip6(text: &str) -> u128 {
    text.parse::<Ipv6Addr>().expect("an IPv6 address").to_bits()
}

/// Link-layer address that a test host with this address has.
pub fn host_mac6(address: u128) -> [u8; 6] {
    let [a, b, c, d] = (address as u32).to_be_bytes();
    [2, 6, a, b, c, d]
}

/// Builds an Ethernet frame with an IPv6 packet.
#[derive(Debug, Clone)]
pub struct Ipv6Builder {
    eth_src: [u8; 6],
    eth_dst: [u8; 6],
    ip: ipv6::Repr,
    /// Extension headers: type, and bytes from the third on.
    extensions: Vec<(u8, Vec<u8>)>,
    transport: Vec<u8>,
    /// Place of the checksum in the transport header.
    checksum: Option<usize>,
    payload: Vec<u8>,
    damaged: bool,
}

impl Ipv6Builder {
    /// A packet between two addresses.
    pub fn new(src: &str, dst: &str) -> Self {
        Self::of_bits(ip6(src), ip6(dst))
    }

    /// A packet between two addresses in host order.
    pub fn of_bits(src_addr: u128, dst_addr: u128) -> Self {
        let ip = ipv6::Repr {
            traffic_class: 0,
            next_header: ipv6::NO_NEXT_HEADER,
            hop_limit: 64,
            src_addr,
            dst_addr,
            payload_len: 0,
        };
        Self {
            eth_src: [2, 0, 0, 0, 0, 0xee],
            eth_dst: ethernet::group_of_ipv6(dst_addr).unwrap_or_default(),
            ip,
            extensions: Vec::new(),
            transport: Vec::new(),
            checksum: None,
            payload: Vec::new(),
            damaged: false,
        }
    }

    /// Link-layer destination, unless it is a group; the harness fills in the port's own address otherwise.
    pub fn eth_dst(mut self, mac: [u8; 6]) -> Self {
        if !ethernet::is_group(self.eth_dst) {
            self.eth_dst = mac;
        }
        self
    }
    /// Link-layer source.
    pub fn eth_src(mut self, mac: [u8; 6]) -> Self {
        self.eth_src = mac;
        self
    }
    /// Hop limit.
    pub fn hop_limit(mut self, hop_limit: u8) -> Self {
        self.ip.hop_limit = hop_limit;
        self
    }
    /// Traffic class.
    pub fn traffic_class(mut self, class: u8) -> Self {
        self.ip.traffic_class = class;
        self
    }
    /// Appends an extension header: its type, and its bytes from the third on (6, 14 …).
    pub fn extension(mut self, kind: u8, rest: &[u8]) -> Self {
        self.extensions.push((kind, rest.to_vec()));
        self
    }
    /// Whether there is an extension header.
    pub fn has_extensions(&self) -> bool {
        !self.extensions.is_empty()
    }
    /// Appends a fragment header.
    pub fn fragment(self, offset: u16, more: bool, ident: u32) -> Self {
        let [a, b] = (offset | u16::from(more)).to_be_bytes();
        let [c, d, e, f] = ident.to_be_bytes();
        self.extension(ipv6::FRAGMENT, &[a, b, c, d, e, f])
    }
    /// Protocol without transport header.
    pub fn protocol(mut self, protocol: u8) -> Self {
        self.ip.next_header = protocol;
        self
    }
    /// UDP.
    pub fn udp(mut self, src: u16, dst: u16) -> Self {
        self.ip.next_header = ipv4::UDP;
        self.transport = vec![0; udp::HEADER];
        self.transport[..2].copy_from_slice(&src.to_be_bytes());
        self.transport[2..4].copy_from_slice(&dst.to_be_bytes());
        self.checksum = Some(udp::CHECKSUM);
        self
    }
    /// TCP.
    pub fn tcp(self, src_port: u16, dst_port: u16, flags: u8, seq: u32, ack: u32) -> Self {
        self.tcp_header(tcp::Repr { src_port, dst_port, seq, ack, flags, window: 65_535 })
    }
    /// TCP with a header.
    pub(crate) fn tcp_header(mut self, header: tcp::Repr) -> Self {
        self.ip.next_header = ipv4::TCP;
        self.transport = vec![0; tcp::HEADER];
        header.emit(&mut self.transport, 0, 0);
        self.checksum = Some(tcp::CHECKSUM);
        self
    }
    /// Options of a TCP header, a multiple of 4 bytes.
    pub fn tcp_options(mut self, bytes: &[u8]) -> Self {
        self.transport.extend_from_slice(bytes);
        self.transport[tcp::offset::DATA_OFFSET] = (self.transport.len() as u8) << 2;
        self
    }
    /// ICMPv6.
    pub fn icmp(mut self, icmp_type: u8, code: u8, rest: [u8; 4]) -> Self {
        self.ip.next_header = ipv6::ICMPV6;
        self.transport = vec![icmp_type, code, 0, 0];
        self.transport.extend(rest);
        self.checksum = Some(2);
        self
    }
    /// Echo request.
    pub fn echo_request(self, ident: u16, sequence: u16) -> Self {
        let ([a, b], [c, d]) = (ident.to_be_bytes(), sequence.to_be_bytes());
        self.icmp(icmpv6::ECHO_REQUEST, 0, [a, b, c, d])
    }
    /// Echo reply.
    pub fn echo_reply(self, ident: u16, sequence: u16) -> Self {
        let ([a, b], [c, d]) = (ident.to_be_bytes(), sequence.to_be_bytes());
        self.icmp(icmpv6::ECHO_REPLY, 0, [a, b, c, d])
    }
    /// A solicitation or advertisement of a neighbour, with hop limit 255.
    pub fn neighbor(mut self, message: ndp::NeighborRepr) -> Self {
        let mut bytes = vec![0; message.len()];
        message.emit(&mut bytes, self.ip.src_addr, self.ip.dst_addr);
        (self.ip.next_header, self.ip.hop_limit) = (ipv6::ICMPV6, ndp::HOP_LIMIT);
        (self.transport, self.checksum) = (bytes, Some(2));
        self
    }
    /// Payload after all headers (an ICMPv6 error's quoted packet too).
    pub fn payload(mut self, payload: &[u8]) -> Self {
        self.payload = payload.to_vec();
        self
    }
    /// Payload of `len` counting bytes.
    pub fn payload_len(self, len: usize) -> Self {
        let bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
        self.payload(&bytes)
    }
    /// The transport checksum is wrong.
    pub fn damaged(mut self) -> Self {
        self.damaged = true;
        self
    }

    /// Transport header and payload, with the checksum.
    fn transport(&self) -> Vec<u8> {
        let mut bytes = self.transport.clone();
        bytes.extend_from_slice(&self.payload);
        if self.ip.next_header == ipv4::UDP && !self.transport.is_empty() {
            let len = bytes.len() as u16;
            bytes[udp::LENGTH..udp::LENGTH + 2].copy_from_slice(&len.to_be_bytes());
        }
        if let Some(at) = self.checksum {
            bytes[at..at + 2].fill(0);
            let (src, dst, protocol) = (self.ip.src_addr, self.ip.dst_addr, self.ip.next_header);
            let pseudo = checksum::pseudo_v6(src, dst, protocol, bytes.len() as u32);
            let sum = checksum::no_zero(!checksum::add(pseudo, checksum::sum(&bytes)));
            let sum = if self.damaged { sum ^ 1 } else { sum };
            bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        }
        bytes
    }

    fn frame(&self, transport: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; ethernet::HEADER + ipv6::HEADER];
        let mut named_at = ethernet::HEADER + ipv6::offset::NEXT_HEADER;
        let mut extensions = Vec::new();
        for (_, rest) in &self.extensions {
            extensions.extend([0, (rest.len() / 8) as u8]);
            extensions.extend_from_slice(rest);
        }
        let payload_len = (extensions.len() + transport.len()) as u16;
        ethernet::Repr { dst_addr: self.eth_dst, src_addr: self.eth_src, ethertype: ethernet::IPV6 }
            .emit(&mut bytes);
        ipv6::Repr { payload_len, ..self.ip }.emit(&mut bytes[ethernet::HEADER..]);
        bytes.extend(extensions);
        let mut at = ethernet::HEADER + ipv6::HEADER;
        for (kind, rest) in &self.extensions {
            bytes[named_at] = *kind;
            if *kind == ipv6::FRAGMENT {
                bytes[at + 1] = 0;
            }
            named_at = at;
            at += rest.len() + 2;
        }
        bytes[named_at] = self.ip.next_header;
        bytes.extend_from_slice(transport);
        bytes
    }

    /// The frame.
    pub fn build(&self) -> Vec<u8> {
        self.frame(&self.transport())
    }

    /// The IPv6 packet without the Ethernet header.
    pub fn build_l3(&self) -> Vec<u8> {
        self.build().split_off(ethernet::HEADER)
    }

    /// A TCP super-frame with segments of `gso_size` payload bytes and a partial checksum, as a local stack sends it.
    pub fn build_gso(&self, gso_size: u16) -> (Vec<u8>, VnetState) {
        assert!(self.extensions.is_empty() && self.ip.next_header == ipv4::TCP, "a TCP segment");
        let mut bytes = self.build();
        let l4 = ethernet::HEADER + ipv6::HEADER;
        let (src, dst) = (self.ip.src_addr, self.ip.dst_addr);
        let pseudo = checksum::pseudo_v6(src, dst, ipv4::TCP, (bytes.len() - l4) as u32);
        bytes[l4 + tcp::CHECKSUM..l4 + tcp::CHECKSUM + 2].copy_from_slice(&pseudo.to_be_bytes());
        let vnet = VnetState {
            needs_csum: true,
            data_valid: false,
            gso: if gso_size == 0 { Gso::None } else { Gso::Tcp6 },
            gso_size,
            hdr_len: (l4 + self.transport.len()) as u16,
            csum_start: l4 as u16,
            csum_offset: tcp::CHECKSUM as u16,
        };
        (bytes, vnet)
    }

    /// The frames of the packet in fragments of at most `size` payload bytes (rounded down to 8).
    pub fn build_fragments(&self, size: usize, ident: u32) -> Vec<Vec<u8>> {
        let transport = self.transport();
        let size = size / 8 * 8;
        let count = transport.len().div_ceil(size);
        (transport.chunks(size).enumerate())
            .map(|(index, chunk)| {
                let offset = (index * size) as u16;
                self.clone().fragment(offset, index + 1 < count, ident).frame(chunk)
            })
            .collect()
    }
}

/// The fields of a frame that tests compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ipv6Packet {
    /// Link-layer destination.
    pub eth_dst: [u8; 6],
    /// Link-layer source.
    pub eth_src: [u8; 6],
    /// Source address.
    pub src: Ipv6Addr,
    /// Destination address.
    pub dst: Ipv6Addr,
    /// Hop limit.
    pub hop_limit: u8,
    /// Protocol behind the extension headers.
    pub protocol: u8,
    /// Ports, or the identifier of an echo twice; 0 without.
    pub ports: (u16, u16),
    /// ICMPv6 type, code, and bytes 4 to 8.
    pub icmp: Option<(u8, u8, u32)>,
    /// Fragment header.
    pub fragment: Option<Fragment>,
    /// Bytes from the transport header on.
    pub transport: Vec<u8>,
    /// The transport checksum is right, where it can be checked.
    pub checksum_right: bool,
}

impl Ipv6Packet {
    /// Reads a frame with an IPv6 packet; `None` for anything else.
    pub fn read(frame: &[u8]) -> Option<Self> {
        let eth = ethernet::Frame::new_checked(frame).ok()?;
        if eth.ethertype() != ethernet::IPV6 {
            return None;
        }
        Some(Self { eth_dst: eth.dst_addr(), eth_src: eth.src_addr(), ..Self::read_l3(eth.payload())? })
    }

    /// Reads an IPv6 packet, as an error quotes it; its end may be missing.
    pub fn read_l3(packet: &[u8]) -> Option<Self> {
        let ip = ipv6::Packet::new_checked(packet).ok()?;
        let len = (ipv6::HEADER + usize::from(ip.payload_len())).min(packet.len());
        let walked = walk(packet, len).ok()?;
        let transport = packet.get(walked.start..len)?.to_vec();
        let (src, dst) = (ip.src_addr(), ip.dst_addr());
        let mut read = Self {
            eth_dst: [0; 6],
            eth_src: [0; 6],
            src: Ipv6Addr::from_bits(src),
            dst: Ipv6Addr::from_bits(dst),
            hop_limit: ip.hop_limit(),
            protocol: walked.protocol,
            ports: (0, 0),
            icmp: None,
            fragment: walked.fragment,
            checksum_right: true,
            transport,
        };
        let word = |at: usize| Some(u16::from_be_bytes(*read.transport.get(at..)?.first_chunk()?));
        if walked.fragment.is_some_and(|fragment| fragment.offset != 0) {
            return Some(read);
        }
        let ports = match walked.protocol {
            ipv4::TCP | ipv4::UDP => (word(0)?, word(2)?),
            ipv6::ICMPV6 => (word(4)?, word(4)?),
            _ => return Some(read),
        };
        if walked.protocol == ipv6::ICMPV6 {
            let message = icmpv6::Packet::new_checked(&read.transport[..]).ok()?;
            read.icmp = Some((message.icmp_type(), message.code(), message.parameter()));
        }
        read.ports = ports;
        if walked.fragment.is_none_or(Fragment::is_atomic) {
            let pseudo = checksum::pseudo_v6(src, dst, walked.protocol, read.transport.len() as u32);
            read.checksum_right = checksum::add(pseudo, checksum::sum(&read.transport)) == 0xffff;
        }
        Some(read)
    }

    /// The message of neighbour discovery.
    pub fn discovery(&self) -> Option<ndp::Message<'_>> {
        (self.protocol == ipv6::ICMPV6).then(|| ndp::parse(&self.transport).ok())?
    }

    /// The packet that an ICMPv6 error quotes.
    pub fn quoted(&self) -> Option<Self> {
        Self::read_l3(self.transport.get(icmpv6::HEADER..)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_reads_back_with_right_checksums() {
        let builder = Ipv6Builder::new("2001:db8::1", "2001:db8::2").hop_limit(9);
        for (name, frame, protocol) in [
            ("udp", builder.clone().udp(1, 2).payload_len(33), ipv4::UDP),
            ("tcp", builder.clone().tcp(1, 2, tcp::flag::SYN, 5, 0).payload_len(7), ipv4::TCP),
            ("icmp", builder.clone().echo_request(1, 2).payload_len(9), ipv6::ICMPV6),
            (
                "extensions",
                builder.clone().udp(1, 2).extension(ipv6::HOP_BY_HOP, &[0; 6]).fragment(0, false, 7),
                ipv4::UDP,
            ),
        ] {
            let packet = Ipv6Packet::read(&frame.build()).unwrap_or_else(|| panic!("{name} does not read"));
            assert!(packet.checksum_right, "{name}");
            assert_eq!((packet.protocol, packet.hop_limit), (protocol, 9), "{name}");
            let damaged = Ipv6Packet::read(&frame.damaged().build()).expect("a packet");
            assert!(!damaged.checksum_right, "{name}");
        }
    }
}
