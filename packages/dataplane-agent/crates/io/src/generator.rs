//! The network around a router on memory ports: hosts on one side, servers on the other, and the steady,
//! bounded traffic between them.
//!
//! Both sides see nothing but frames. The hosts have addresses in 192.168.88.0/24 and look for a gateway
//! at 192.168.88.1 by ARP on every port; where it answers, they live. Behind the other port stands a
//! provider that answers ARP for every address it is asked for, ping, UDP requests, and TCP connections.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tollway_engine::packet::frame::{Frame, FrameSource, VnetState};

use crate::clock;
use crate::fanout::worker_of;
use crate::memory::{MemoryPeer, MemoryPort, pair};
use crate::pool::{Partition, PoolFrame};
use crate::wake::{self, Wake};

const PORTS: usize = 2;
/// Frames in one direction of one worker's port.
const DEPTH: usize = 1024;
/// One step of the generator.
const TICK: Duration = Duration::from_millis(20);
const TICKS_PER_SECOND: u64 = 50;

const GATEWAY: u32 = u32::from_be_bytes([192, 168, 88, 1]);
const FIRST_HOST: u32 = u32::from_be_bytes([192, 168, 88, 10]);
const HOSTS: u32 = 4;
const SERVER: u32 = u32::from_be_bytes([198, 51, 100, 10]);

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_ARP: u16 = 0x0806;
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const PSH: u8 = 8;
const ACK: u8 = 16;

/// Payload of a full TCP segment, bytes.
const SEGMENT: usize = 1460;
/// A connection that has heard nothing for so long is given up, ticks.
const PATIENCE: u64 = 3 * TICKS_PER_SECOND;

/// A host's TCP connection.
struct Flow {
    host: u32,
    sequence: u32,
    acknowledge: u32,
    /// Bytes still to come from the server.
    expected: u32,
    finishing: bool,
    heard: u64,
}

/// Plays the network on two memory ports.
pub struct Generator {
    pool: Partition,
    peers: Vec<Vec<MemoryPeer>>,
    wake: Arc<Wake>,
    workers: u32,
    lan: Option<(usize, [u8; 6])>,
    wan_router: [u8; 6],
    flows: HashMap<u16, Flow>,
    next_port: u16,
    tick: u64,
    identification: u16,
}

/// Ends the generator's thread when dropped.
#[derive(Debug)]
pub struct Running {
    stop: Arc<AtomicBool>,
    wake: Arc<Wake>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.wake.signal();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What follows the IPv4 header of a packet to be sent.
struct Transport<'a> {
    protocol: u8,
    header: &'a [u8],
    /// Bytes of payload, all zero.
    body: usize,
    /// Where the header's checksum lies.
    checksum_at: usize,
}

struct Ipv4<'a> {
    src: u32,
    dst: u32,
    protocol: u8,
    payload: &'a [u8],
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

fn half(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u16::from_be_bytes(*bytes))
}

fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// The Internet checksum (RFC 1071) of several pieces, each of even length but the last.
fn checksum(pieces: &[&[u8]]) -> u16 {
    let mut sum = 0_u32;
    for piece in pieces {
        for pair in piece.chunks(2) {
            sum += u32::from(u16::from_be_bytes([byte(pair, 0), byte(pair, 1)]));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

impl Generator {
    /// Link-layer addresses of the router's two ports.
    pub const PORT_MACS: [[u8; 6]; PORTS] = [[0x02, 0x54, 0x57, 0, 0, 1], [0x02, 0x54, 0x57, 0, 0, 2]];

    /// A generator and the router's ends of its ports, by port, then by worker.
    ///
    /// # Errors
    /// When the process has no file descriptor left.
    pub fn new(pool: Partition, workers: usize) -> std::io::Result<(Self, Vec<Vec<MemoryPort>>)> {
        let wake = Arc::new(Wake::new()?);
        let (mut peers, mut ends) = (Vec::new(), Vec::new());
        for _ in 0..PORTS {
            let (mut of_port, mut ends_of_port) = (Vec::new(), Vec::new());
            for _ in 0..workers {
                let (port, peer) = pair(DEPTH, &wake)?;
                of_port.push(peer);
                ends_of_port.push(port);
            }
            peers.push(of_port);
            ends.push(ends_of_port);
        }
        let generator = Self {
            pool,
            peers,
            wake,
            workers: workers as u32,
            lan: None,
            wan_router: [0xff; 6],
            flows: HashMap::new(),
            next_port: 20_000,
            tick: 0,
            identification: 0,
        };
        Ok((generator, ends))
    }

    /// Starts playing on a thread of its own.
    ///
    /// # Errors
    /// When there is no thread left.
    pub fn start(mut self) -> std::io::Result<Running> {
        let stop = Arc::new(AtomicBool::new(false));
        let (flag, wake) = (Arc::clone(&stop), Arc::clone(&self.wake));
        let thread = std::thread::Builder::new().name("generator".to_owned()).spawn(move || {
            let mut next = clock::now().0;
            while !flag.load(Ordering::Acquire) {
                self.wake.going_to_sleep();
                let waiting = self.peers.iter().flatten().any(|peer| !peer.rx.is_empty());
                let left = Duration::from_nanos(next.saturating_sub(clock::now().0));
                wake::poll(
                    &mut [wake::readable(self.wake.fd())],
                    Some(if waiting { Duration::ZERO } else { left }),
                );
                self.wake.awake();
                self.wake.clear();
                self.receive();
                if clock::now().0 >= next {
                    next = clock::now().0 + TICK.as_nanos() as u64;
                    self.step();
                }
            }
        })?;
        Ok(Running { stop, wake, thread: Some(thread) })
    }

    fn receive(&mut self) {
        for port in 0..PORTS {
            for worker in 0..self.workers as usize {
                for _ in 0..DEPTH {
                    let peer = self.peers.get_mut(port).and_then(|peers| peers.get_mut(worker));
                    let Some((frame, _)) = peer.and_then(|peer| peer.rx.pop().ok()) else { break };
                    self.frame(port, frame.head());
                    self.pool.recycle(frame);
                }
            }
        }
    }

    /// The other side of `port`.
    fn is_lan(&self, port: usize) -> bool {
        self.lan.is_some_and(|(lan, _)| lan == port)
    }

    fn frame(&mut self, port: usize, frame: &[u8]) {
        match half(frame, 12) {
            ETHERTYPE_ARP => self.arp(port, frame),
            ETHERTYPE_IPV4 if frame.len() >= 34 => {
                let total = usize::from(half(frame, 16));
                let header = usize::from(byte(frame, 14) & 15) * 4;
                let payload = frame.get(14 + header..(14 + total).min(frame.len())).unwrap_or_default();
                let packet =
                    Ipv4 { src: word(frame, 26), dst: word(frame, 30), protocol: byte(frame, 23), payload };
                if self.is_lan(port) {
                    self.at_host(port, &packet);
                } else {
                    self.wan_router.copy_from_slice(frame.get(6..12).unwrap_or(&[0xff; 6]));
                    self.at_server(port, &packet);
                }
            }
            _ => {}
        }
    }

    fn arp(&mut self, port: usize, frame: &[u8]) {
        let (operation, sender, target) = (half(frame, 20), word(frame, 28), word(frame, 38));
        let Some(&sender_mac) = frame.get(22..).and_then(|rest| rest.first_chunk::<6>()) else { return };
        if operation == 2 && sender == GATEWAY {
            self.lan = Some((port, sender_mac));
        }
        let host = (FIRST_HOST..FIRST_HOST + HOSTS).contains(&target);
        let own = if self.is_lan(port) { host } else { self.lan.is_some() && sender != target };
        if operation == 1 && own {
            self.send_arp(port, 2, station(target), target, sender_mac, sender);
        }
    }

    fn send_arp(&mut self, port: usize, operation: u16, mac: [u8; 6], src: u32, to: [u8; 6], dst: u32) {
        let Some(mut frame) = self.pool.take(60) else { return };
        let head = frame.head_mut();
        head.fill(0);
        let target = if operation == 1 { [0; 6] } else { to };
        let fields: [(usize, &[u8]); 9] = [
            (0, &to),
            (6, &mac),
            (12, &ETHERTYPE_ARP.to_be_bytes()),
            (14, &[0, 1, 8, 0, 6, 4]),
            (20, &operation.to_be_bytes()),
            (22, &mac),
            (28, &src.to_be_bytes()),
            (32, &target),
            (38, &dst.to_be_bytes()),
        ];
        for (at, value) in fields {
            put(head, at, value);
        }
        self.push(port, frame);
    }

    fn push(&mut self, port: usize, frame: PoolFrame) {
        let worker = worker_of(frame.head(), self.workers) as usize;
        let Some(peer) = self.peers.get_mut(port).and_then(|peers| peers.get_mut(worker)) else { return };
        if let Err(rtrb::PushError::Full((frame, _))) = peer.tx.push((frame, VnetState::default())) {
            self.pool.recycle(frame);
        }
        peer.wake.notify();
    }

    /// Sends a packet with a transport header that already has all but its checksum.
    fn send(&mut self, port: usize, src: u32, dst: u32, transport: &Transport<'_>) {
        let Transport { protocol, header, body, checksum_at } = *transport;
        let to = match self.lan {
            Some((lan, mac)) if lan == port => mac,
            _ => self.wan_router,
        };
        let length = 34 + header.len() + body;
        let Some(mut frame) = self.pool.take(length.max(60)) else { return };
        self.identification = self.identification.wrapping_add(1);
        let total = (length - 14) as u16;
        let head = frame.head_mut();
        head.fill(0);
        put(head, 0, &to);
        put(head, 6, &station(src));
        put(head, 12, &ETHERTYPE_IPV4.to_be_bytes());
        put(head, 14, &[0x45, 0]);
        put(head, 16, &total.to_be_bytes());
        put(head, 18, &self.identification.to_be_bytes());
        put(head, 20, &[0x40, 0, 64, protocol]);
        put(head, 26, &src.to_be_bytes());
        put(head, 30, &dst.to_be_bytes());
        let sum = checksum(&[head.get(14..34).unwrap_or_default()]);
        put(head, 24, &sum.to_be_bytes());
        put(head, 34, header);
        let segment = head.get(34..length).unwrap_or_default();
        let size = (segment.len() as u16).to_be_bytes();
        let pseudo = [&src.to_be_bytes()[..], &dst.to_be_bytes(), &[0, protocol], &size].concat();
        let sum = if protocol == ICMP { checksum(&[segment]) } else { checksum(&[&pseudo, segment]) };
        put(head, 34 + checksum_at, &sum.to_be_bytes());
        self.push(port, frame);
    }

    fn send_tcp(&mut self, port: usize, ends: [(u32, u16); 2], numbers: [u32; 2], flags: u8, body: usize) {
        let [(src, src_port), (dst, dst_port)] = ends;
        let mut header = [0; 20];
        put(&mut header, 0, &src_port.to_be_bytes());
        put(&mut header, 2, &dst_port.to_be_bytes());
        put(&mut header, 4, &numbers[0].to_be_bytes());
        put(&mut header, 8, &numbers[1].to_be_bytes());
        put(&mut header, 12, &[0x50, flags, 0xff, 0xff]);
        self.send(port, src, dst, &Transport { protocol: TCP, header: &header, body, checksum_at: 16 });
    }

    fn send_udp(&mut self, port: usize, ends: [(u32, u16); 2], body: usize) {
        let [(src, src_port), (dst, dst_port)] = ends;
        let mut header = [0; 8];
        put(&mut header, 0, &src_port.to_be_bytes());
        put(&mut header, 2, &dst_port.to_be_bytes());
        put(&mut header, 4, &((8 + body) as u16).to_be_bytes());
        self.send(port, src, dst, &Transport { protocol: UDP, header: &header, body, checksum_at: 6 });
    }

    fn send_echo(&mut self, port: usize, ends: [u32; 2], kind: u8, numbers: [u16; 2], body: usize) {
        let ([src, dst], [identifier, sequence]) = (ends, numbers);
        let mut header = [kind, 0, 0, 0, 0, 0, 0, 0];
        put(&mut header, 4, &identifier.to_be_bytes());
        put(&mut header, 6, &sequence.to_be_bytes());
        self.send(port, src, dst, &Transport { protocol: ICMP, header: &header, body, checksum_at: 2 });
    }

    /// Whatever is behind the provider answers.
    fn at_server(&mut self, port: usize, packet: &Ipv4<'_>) {
        let bytes = packet.payload;
        let (src_port, dst_port) = (half(bytes, 0), half(bytes, 2));
        let back = [(packet.dst, dst_port), (packet.src, src_port)];
        match packet.protocol {
            ICMP if byte(bytes, 0) == 8 => {
                let body = bytes.len().saturating_sub(8);
                self.send_echo(port, [packet.dst, packet.src], 0, [half(bytes, 4), half(bytes, 6)], body);
            }
            UDP if dst_port == 53 => self.send_udp(port, back, 120),
            TCP => {
                let header = usize::from(byte(bytes, 12) >> 4) * 4;
                let body = bytes.len().saturating_sub(header) as u32;
                let (sequence, flags) = (word(bytes, 4), byte(bytes, 13));
                let next = sequence.wrapping_add(body).wrapping_add(u32::from(flags & (SYN | FIN) != 0));
                if flags & RST != 0 {
                } else if flags & SYN != 0 {
                    self.send_tcp(port, back, [sequence.rotate_left(7), next], SYN | ACK, 0);
                } else if flags & FIN != 0 {
                    self.send_tcp(port, back, [word(bytes, 8), next], FIN | ACK, 0);
                } else if body > 0 {
                    // The request's length says how many segments the answer has.
                    let mut own = word(bytes, 8);
                    for _ in 0..segments_wanted(body) {
                        self.send_tcp(port, back, [own, next], ACK | PSH, SEGMENT);
                        own = own.wrapping_add(SEGMENT as u32);
                    }
                }
            }
            _ => {}
        }
    }

    /// A host's connections go on.
    fn at_host(&mut self, port: usize, packet: &Ipv4<'_>) {
        let bytes = packet.payload;
        if packet.protocol != TCP {
            return;
        }
        let own_port = half(bytes, 2);
        let Some(flow) = self.flows.get_mut(&own_port).filter(|flow| flow.host == packet.dst) else { return };
        flow.heard = self.tick;
        let header = usize::from(byte(bytes, 12) >> 4) * 4;
        let body = bytes.len().saturating_sub(header) as u32;
        let (sequence, flags) = (word(bytes, 4), byte(bytes, 13));
        let ends = [(flow.host, own_port), (packet.src, half(bytes, 0))];
        if flags & RST != 0 {
            self.flows.remove(&own_port);
        } else if flags & SYN != 0 {
            flow.acknowledge = sequence.wrapping_add(1);
            flow.sequence = flow.sequence.wrapping_add(1);
            let request = request_for(u32::from(own_port) % 12 + 1);
            flow.expected = segments_wanted(request) * SEGMENT as u32;
            let numbers = [flow.sequence, flow.acknowledge];
            flow.sequence = flow.sequence.wrapping_add(request);
            self.send_tcp(port, ends, numbers, ACK, 0);
            self.send_tcp(port, ends, numbers, ACK | PSH, request as usize);
        } else if flags & FIN != 0 {
            let numbers = [flow.sequence, sequence.wrapping_add(body).wrapping_add(1)];
            self.flows.remove(&own_port);
            self.send_tcp(port, ends, numbers, ACK, 0);
        } else if body > 0 && sequence == flow.acknowledge {
            flow.acknowledge = sequence.wrapping_add(body);
            flow.expected = flow.expected.saturating_sub(body);
            let numbers = [flow.sequence, flow.acknowledge];
            if flow.expected == 0 && !flow.finishing {
                flow.finishing = true;
                flow.sequence = flow.sequence.wrapping_add(1);
                self.send_tcp(port, ends, numbers, FIN | ACK, 0);
            } else {
                self.send_tcp(port, ends, numbers, ACK, 0);
            }
        }
    }

    /// One tick of new traffic: about 10 TCP connections, 20 name queries, 4 pings and a UDP stream of 50
    /// packets a second.
    fn step(&mut self) {
        self.tick += 1;
        let tick = self.tick;
        let Some((port, _)) = self.lan else {
            if tick % TICKS_PER_SECOND == 1 {
                for port in 0..PORTS {
                    self.send_arp(port, 1, station(FIRST_HOST), FIRST_HOST, [0xff; 6], GATEWAY);
                }
            }
            return;
        };
        if tick.is_multiple_of(30 * TICKS_PER_SECOND) {
            // The gateway may have moved or changed its address.
            self.send_arp(port, 1, station(FIRST_HOST), FIRST_HOST, [0xff; 6], GATEWAY);
        }
        self.flows.retain(|_, flow| tick - flow.heard < PATIENCE);
        let host = FIRST_HOST + (tick % u64::from(HOSTS)) as u32;
        self.send_udp(port, [(FIRST_HOST, 5004), (SERVER + 1, 5004)], 1200);
        if tick.is_multiple_of(5) {
            self.next_port = if self.next_port >= 60_000 { 20_000 } else { self.next_port + 1 };
            let own_port = self.next_port;
            let sequence = u32::from(own_port).wrapping_mul(0x9e37_79b9);
            let flow = Flow { host, sequence, acknowledge: 0, expected: 0, finishing: false, heard: tick };
            self.flows.insert(own_port, flow);
            self.send_tcp(port, [(host, own_port), (SERVER, 80)], [sequence, 0], SYN, 0);
        }
        if tick % 5 < 2 {
            self.next_port = if self.next_port >= 60_000 { 20_000 } else { self.next_port + 1 };
            let own_port = self.next_port;
            self.send_udp(port, [(host, own_port), (SERVER + 2, 53)], 40);
        }
        if tick.is_multiple_of(12) {
            self.send_echo(port, [host, SERVER], 8, [(host & 0xffff) as u16, (tick / 12) as u16], 56);
        }
    }
}

/// A locally administered address for whoever has this IPv4 address.
fn station(address: u32) -> [u8; 6] {
    let [a, b, c, d] = address.to_be_bytes();
    [0x02, 0x47, a, b, c, d]
}

/// Bytes of a request that asks for this many segments, and back.
fn request_for(segments: u32) -> u32 {
    100 + segments
}

fn segments_wanted(request: u32) -> u32 {
    request.saturating_sub(100).min(16)
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}
