//! Building packets, and reading them back in assertions.

use std::net::Ipv4Addr;

use tollway_engine::packet::frame::{Gso, VnetState};
use tollway_wire::{arp, checksum, ethernet, icmp, ipv4, ipv6, tcp, udp};

use crate::Ipv6Builder;
use crate::dual_stack::{icmp_type_in_ipv6, in_ipv6, protocol_in_ipv6};

/// TCP flags.
pub use tollway_wire::tcp::flag as tcp_flag;

/// An address from its text; panics on anything else.
pub fn ip(text: &str) -> u32 {
    text.parse::<Ipv4Addr>().expect("an IPv4 address").to_bits()
}

#[derive(Debug, Clone)]
enum Body {
    Raw,
    Udp { src: u16, dst: u16, no_checksum: bool },
    Tcp { header: tcp::Repr, options: Vec<u8> },
    Icmp { icmp_type: u8, code: u8, rest: [u8; 4] },
}

/// Builds an Ethernet frame with an IPv4 packet.
#[derive(Debug, Clone)]
pub struct PacketBuilder {
    eth_src: [u8; 6],
    eth_dst: [u8; 6],
    ip: ipv4::Repr,
    fragment: u16,
    options: Vec<u8>,
    body: Body,
    payload: Vec<u8>,
}

impl PacketBuilder {
    /// A packet between two addresses.
    pub fn ipv4(src: &str, dst: &str) -> Self {
        Self::ipv4_bits(ip(src), ip(dst))
    }

    /// A packet between two addresses in host order.
    pub fn ipv4_bits(src: u32, dst: u32) -> Self {
        Self {
            eth_src: [2, 0, 0, 0, 0, 0xee],
            eth_dst: [0; 6],
            ip: ipv4::Repr {
                tos: 0,
                ident: 0x1234,
                dont_fragment: true,
                ttl: 64,
                protocol: 253,
                src_addr: src,
                dst_addr: dst,
                payload_len: 0,
            },
            fragment: 0,
            options: Vec::new(),
            body: Body::Raw,
            payload: Vec::new(),
        }
    }

    /// Link-layer destination; the harness fills in the port's own address otherwise.
    pub fn eth_dst(mut self, mac: [u8; 6]) -> Self {
        self.eth_dst = mac;
        self
    }
    /// Link-layer source.
    pub fn eth_src(mut self, mac: [u8; 6]) -> Self {
        self.eth_src = mac;
        self
    }
    /// Time to live.
    pub fn ttl(mut self, ttl: u8) -> Self {
        self.ip.ttl = ttl;
        self
    }
    /// Identification.
    pub fn ident(mut self, ident: u16) -> Self {
        self.ip.ident = ident;
        self
    }
    /// Don't fragment (set by default).
    pub fn dont_fragment(mut self, on: bool) -> Self {
        self.ip.dont_fragment = on;
        self
    }
    /// DSCP, with "not ECN-capable".
    pub fn dscp(mut self, dscp: u8) -> Self {
        self.ip.tos = dscp << 2;
        self
    }

    /// IPv4 options, a multiple of 4 bytes.
    pub fn ip_options(mut self, options: &[u8]) -> Self {
        self.options = options.to_vec();
        self
    }
    /// Protocol without transport header.
    pub fn protocol(mut self, protocol: u8) -> Self {
        self.ip.protocol = protocol;
        self.body = Body::Raw;
        self
    }
    /// UDP.
    pub fn udp(mut self, src: u16, dst: u16) -> Self {
        self.ip.protocol = ipv4::UDP;
        self.body = Body::Udp { src, dst, no_checksum: false };
        self
    }
    /// UDP without checksum.
    pub fn udp_without_checksum(mut self, src: u16, dst: u16) -> Self {
        self.ip.protocol = ipv4::UDP;
        self.body = Body::Udp { src, dst, no_checksum: true };
        self
    }
    /// TCP.
    pub fn tcp(mut self, src_port: u16, dst_port: u16, flags: u8, seq: u32, ack: u32) -> Self {
        self.ip.protocol = ipv4::TCP;
        let header = tcp::Repr { src_port, dst_port, seq, ack, flags, window: 65_535 };
        self.body = Body::Tcp { header, options: Vec::new() };
        self
    }
    /// TCP options, a multiple of 4 bytes; after [`Self::tcp`].
    pub fn tcp_options(mut self, bytes: &[u8]) -> Self {
        if let Body::Tcp { options, .. } = &mut self.body {
            *options = bytes.to_vec();
        }
        self
    }
    /// TCP window; after [`Self::tcp`].
    pub fn window(mut self, window: u16) -> Self {
        if let Body::Tcp { header, .. } = &mut self.body {
            header.window = window;
        }
        self
    }
    /// ICMP.
    pub fn icmp(mut self, icmp_type: u8, code: u8, rest: [u8; 4]) -> Self {
        self.ip.protocol = ipv4::ICMP;
        self.body = Body::Icmp { icmp_type, code, rest };
        self
    }
    /// ICMP echo request.
    pub fn echo_request(self, ident: u16, sequence: u16) -> Self {
        let ([a, b], [c, d]) = (ident.to_be_bytes(), sequence.to_be_bytes());
        self.icmp(icmp::ECHO_REQUEST, 0, [a, b, c, d])
    }
    /// ICMP echo reply.
    pub fn echo_reply(self, ident: u16, sequence: u16) -> Self {
        let ([a, b], [c, d]) = (ident.to_be_bytes(), sequence.to_be_bytes());
        self.icmp(icmp::ECHO_REPLY, 0, [a, b, c, d])
    }
    /// Payload after all headers (an ICMP error's quoted packet too).
    pub fn payload(mut self, payload: &[u8]) -> Self {
        self.payload = payload.to_vec();
        self
    }
    /// Payload of `len` counting bytes.
    pub fn payload_len(self, len: usize) -> Self {
        let bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
        self.payload(&bytes)
    }

    /// The packet of IPv6 that stands for this one: the same transport and payload between the addresses that stand for
    /// these, with an extension header in the place of options. An ICMP error quotes what this one does.
    pub fn in_ipv6(&self) -> Ipv6Builder {
        let builder = Ipv6Builder::of_bits(in_ipv6(self.ip.src_addr), in_ipv6(self.ip.dst_addr))
            .eth_src(self.eth_src)
            .eth_dst(self.eth_dst)
            .hop_limit(self.ip.ttl)
            .traffic_class(self.ip.tos);
        let builder = match &self.body {
            Body::Raw => builder.protocol(protocol_in_ipv6(self.ip.protocol)),
            Body::Udp { src, dst, .. } => builder.udp(*src, *dst),
            Body::Tcp { header, options } => builder.tcp_header(*header).tcp_options(options),
            Body::Icmp { icmp_type, code, rest } => builder.icmp(icmp_type_in_ipv6(*icmp_type), *code, *rest),
        };
        let builder = builder.payload(&self.payload);
        if self.options.is_empty() {
            return builder;
        }
        builder.extension(ipv6::HOP_BY_HOP, &[1, 4, 0, 0, 0, 0])
    }

    fn transport(&self) -> Vec<u8> {
        let (src, dst) = (self.ip.src_addr, self.ip.dst_addr);
        match &self.body {
            Body::Raw => self.payload.clone(),
            Body::Udp { src: src_port, dst: dst_port, no_checksum } => {
                let mut bytes = vec![0; udp::HEADER];
                bytes.extend_from_slice(&self.payload);
                udp::Repr { src_port: *src_port, dst_port: *dst_port }.emit(&mut bytes, src, dst);
                if *no_checksum {
                    bytes[udp::CHECKSUM..udp::CHECKSUM + 2].fill(0);
                }
                bytes
            }
            Body::Tcp { header, options } => {
                let mut bytes = vec![0; tcp::HEADER];
                bytes.extend_from_slice(options);
                bytes.extend_from_slice(&self.payload);
                header.emit_with_options(&mut bytes, options.len(), src, dst);
                bytes
            }
            Body::Icmp { icmp_type, code, rest } => {
                let mut bytes = vec![0; icmp::HEADER];
                bytes.extend_from_slice(&self.payload);
                icmp::Repr { icmp_type: *icmp_type, code: *code, rest: *rest }.emit(&mut bytes);
                bytes
            }
        }
    }

    fn frame(&self, transport: &[u8], fragment: u16) -> Vec<u8> {
        let header = ipv4::HEADER + self.options.len();
        let mut bytes = vec![0; ethernet::HEADER + header];
        ethernet::Repr { dst_addr: self.eth_dst, src_addr: self.eth_src, ethertype: ethernet::IPV4 }
            .emit(&mut bytes);
        let ip = &mut bytes[ethernet::HEADER..];
        ipv4::Repr { payload_len: (self.options.len() + transport.len()) as u16, ..self.ip }.emit(ip);
        ip[0] = 0x40 | (header / 4) as u8;
        ip[ipv4::HEADER..].copy_from_slice(&self.options);
        let word = u16::from_be_bytes([ip[6], ip[7]]) | fragment;
        ip[6..8].copy_from_slice(&word.to_be_bytes());
        if let Ok(mut view) = ipv4::Packet::new_checked(&mut ip[..]) {
            view.fill_checksum();
        }
        bytes.extend_from_slice(transport);
        bytes
    }

    /// The frame.
    pub fn build(&self) -> Vec<u8> {
        self.frame(&self.transport(), self.fragment)
    }

    /// The IPv4 packet without the Ethernet header.
    pub fn build_l3(&self) -> Vec<u8> {
        self.build().split_off(ethernet::HEADER)
    }

    /// The frames of the datagram in fragments of at most `size` payload bytes (rounded down to 8).
    pub fn build_fragments(&self, size: usize) -> Vec<Vec<u8>> {
        let transport = self.transport();
        let size = size / 8 * 8;
        let builder = self.clone().dont_fragment(false);
        let count = transport.len().div_ceil(size);
        (transport.chunks(size).enumerate())
            .map(|(index, chunk)| {
                let more = if index + 1 < count { 0x2000 } else { 0 };
                builder.frame(chunk, more | (index * size / 8) as u16)
            })
            .collect()
    }

    /// A TCP super-frame with segments of `gso_size` payload bytes and a partial checksum, as a local
    /// stack sends it.
    pub fn build_gso(&self, gso_size: u16) -> (Vec<u8>, VnetState) {
        let mut bytes = self.build();
        let l4 = ethernet::HEADER + ipv4::HEADER + self.options.len();
        let pseudo = checksum::pseudo_v4(
            self.ip.src_addr,
            self.ip.dst_addr,
            self.ip.protocol,
            (bytes.len() - l4) as u16,
        );
        let (at, header) = match &self.body {
            Body::Tcp { options, .. } => (tcp::CHECKSUM, tcp::HEADER + options.len()),
            Body::Udp { .. } => (udp::CHECKSUM, udp::HEADER),
            Body::Raw | Body::Icmp { .. } => panic!("no segmentation for this protocol"),
        };
        bytes[l4 + at..l4 + at + 2].copy_from_slice(&pseudo.to_be_bytes());
        let gso = match (&self.body, gso_size) {
            (_, 0) => Gso::None,
            (Body::Tcp { .. }, _) => Gso::Tcp4,
            _ => Gso::Udp,
        };
        let vnet = VnetState {
            needs_csum: true,
            data_valid: false,
            gso,
            gso_size,
            hdr_len: (l4 + header) as u16,
            csum_start: l4 as u16,
            csum_offset: at as u16,
        };
        (bytes, vnet)
    }
}

/// An ARP frame.
pub fn arp_frame(to: [u8; 6], packet: arp::Repr) -> Vec<u8> {
    let mut bytes = vec![0; ethernet::HEADER + arp::LEN];
    ethernet::Repr { dst_addr: to, src_addr: packet.sender_mac, ethertype: ethernet::ARP }.emit(&mut bytes);
    packet.emit(&mut bytes[ethernet::HEADER..]);
    // Ethernet pads to 60 bytes.
    bytes.resize(60, 0);
    bytes
}

/// The fields of a frame that tests compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Link-layer destination.
    pub eth_dst: [u8; 6],
    /// Link-layer source.
    pub eth_src: [u8; 6],
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// Time to live.
    pub ttl: u8,
    /// Protocol.
    pub protocol: u8,
    /// Ports, or the ICMP identifier twice; 0 without.
    pub ports: (u16, u16),
    /// ICMP type and code.
    pub icmp: Option<(u8, u8)>,
    /// TCP flags.
    pub tcp_flags: Option<u8>,
    /// Fragment offset in bytes, and whether more follow.
    pub fragment: (usize, bool),
    /// Bytes after the transport header; all of them for later fragments.
    pub payload: Vec<u8>,
    /// IPv4 and transport checksums are right, where they can be checked.
    pub checksums_right: bool,
}

impl Packet {
    /// Reads a frame with an IPv4 packet; `None` for anything else.
    pub fn read(frame: &[u8]) -> Option<Self> {
        let eth = ethernet::Frame::new_checked(frame).ok()?;
        if eth.ethertype() != ethernet::IPV4 {
            return None;
        }
        let ip = ipv4::Packet::new_checked(eth.payload()).ok()?;
        let raw = eth.payload();
        let word = u16::from_be_bytes([raw[6], raw[7]]);
        let fragment = (usize::from(word & 0x1fff) * 8, word & 0x2000 != 0);
        let body = ip.payload();
        let mut packet = Self {
            eth_dst: eth.dst_addr(),
            eth_src: eth.src_addr(),
            src: Ipv4Addr::from_bits(ip.src_addr()),
            dst: Ipv4Addr::from_bits(ip.dst_addr()),
            ttl: raw[8],
            protocol: ip.protocol(),
            ports: (0, 0),
            icmp: None,
            tcp_flags: None,
            fragment,
            payload: body.to_vec(),
            checksums_right: ip.verify_checksum(),
        };
        if fragment.0 != 0 {
            return Some(packet);
        }
        let whole = fragment == (0, false);
        let pseudo = checksum::pseudo_v4(ip.src_addr(), ip.dst_addr(), ip.protocol(), body.len() as u16);
        let summed = checksum::add(pseudo, checksum::sum(body)) == 0xffff;
        match ip.protocol() {
            ipv4::TCP => {
                let segment = tcp::Segment::new_checked(body).ok()?;
                packet.ports = (segment.src_port(), segment.dst_port());
                packet.tcp_flags = Some(segment.flags());
                packet.payload = segment.payload().to_vec();
                packet.checksums_right &= summed || !whole;
            }
            ipv4::UDP => {
                let datagram = udp::Datagram::new_checked(body).ok()?;
                packet.ports = (datagram.src_port(), datagram.dst_port());
                packet.payload = body.get(udp::HEADER..)?.to_vec();
                packet.checksums_right &= summed || !whole || datagram.checksum() == 0;
            }
            ipv4::ICMP => {
                let message = icmp::Packet::new_checked(body).ok()?;
                packet.icmp = Some((message.icmp_type(), message.code()));
                if icmp::is_query(message.icmp_type()) || icmp::is_answer(message.icmp_type()) {
                    packet.ports = (message.ident(), message.ident());
                }
                packet.payload = message.payload().to_vec();
                packet.checksums_right &= message.verify_checksum() || !whole;
            }
            _ => {}
        }
        Some(packet)
    }

    /// The packet that an ICMP error quotes (its end may be missing).
    pub fn quoted(&self) -> Option<Quoted> {
        let raw = &self.payload;
        let header = usize::from(raw.first()? & 15) * 4;
        let field = |at: usize| Some(u32::from_be_bytes(*raw.get(at..)?.first_chunk()?));
        let port = |at: usize| Some(u16::from_be_bytes(*raw.get(header + at..)?.first_chunk()?));
        Some(Quoted {
            src: Ipv4Addr::from_bits(field(12)?),
            dst: Ipv4Addr::from_bits(field(16)?),
            ttl: *raw.get(8)?,
            protocol: *raw.get(9)?,
            first_words: (port(0)?, port(2)?, port(4)?),
            header_checksum_right: checksum::sum(raw.get(..header)?) == 0xffff,
        })
    }
}

/// A packet quoted by an ICMP error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quoted {
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// Time to live.
    pub ttl: u8,
    /// Protocol.
    pub protocol: u8,
    /// First three 16-bit words of its payload: the ports, or ICMP type and code, checksum, identifier.
    pub first_words: (u16, u16, u16),
    /// The header checksum is right.
    pub header_checksum_right: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_reads_back_with_right_checksums() {
        let builder = PacketBuilder::ipv4("10.0.0.1", "10.0.0.2").ttl(9);
        for (name, frame) in [
            ("udp", builder.clone().udp(1, 2).payload_len(33).build()),
            (
                "tcp",
                builder.clone().tcp(1, 2, tcp_flag::SYN, 5, 0).tcp_options(&[1; 4]).payload_len(7).build(),
            ),
            ("icmp", builder.clone().echo_request(1, 2).payload_len(9).build()),
            ("options", builder.clone().udp(1, 2).ip_options(&[1; 4]).build()),
        ] {
            let packet = Packet::read(&frame).unwrap_or_else(|| panic!("{name} does not read"));
            assert!(packet.checksums_right, "{name}");
            assert_eq!((packet.src, packet.ttl), (Ipv4Addr::new(10, 0, 0, 1), 9), "{name}");
        }
    }

    #[test]
    fn fragments_cover_the_datagram() {
        let frames =
            PacketBuilder::ipv4("10.0.0.1", "10.0.0.2").udp(1, 2).payload_len(50).build_fragments(24);
        let parts: Vec<_> = frames.iter().map(|frame| Packet::read(frame).expect("IPv4").fragment).collect();
        assert_eq!(parts, [(0, true), (24, true), (48, false)]);
    }
}
