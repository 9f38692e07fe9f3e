//! The network around a router on memory ports: hosts on one side, servers on the other, and steady, bounded traffic
//! between them.
//!
//! Both sides know only frames. The hosts have addresses in 192.168.88.0/24 and send ARP requests for a gateway at
//! 192.168.88.1 on every port; they are on the port on which it answers. Behind the other port is a provider that
//! answers ARP for every address, ping, UDP requests, and TCP connections.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tollway_engine::packet::frame::{Frame, FrameSource, VnetState};
use tollway_wire::ipv4::{ICMP, TCP, UDP};
use tollway_wire::tcp::flag::{ACK, FIN, PSH, RST, SYN};
use tollway_wire::{arp, ethernet, icmp, ipv4, tcp, udp};

use crate::clock;
use crate::fanout::worker_of;
use crate::memory::{MemoryPeer, MemoryPort, pair};
use crate::pool::{Partition, PoolFrame};
use crate::wake::{self, Wake};

const PORTS: usize = 2;
/// Frames in one direction of one worker's port.
const DEPTH: usize = 1024;
/// Interval of the generator's steps.
const TICK: Duration = Duration::from_millis(20);
const TICKS_PER_SECOND: u64 = 50;

const GATEWAY: u32 = u32::from_be_bytes([192, 168, 88, 1]);
const FIRST_HOST: u32 = u32::from_be_bytes([192, 168, 88, 10]);
const HOSTS: u32 = 4;
const SERVER: u32 = u32::from_be_bytes([198, 51, 100, 10]);

/// Offset of the IPv4 payload, bytes.
const PAYLOAD: usize = ethernet::HEADER + ipv4::HEADER;
/// Length of the shortest Ethernet frame without FCS, bytes.
const SHORTEST: usize = 60;
/// Port of the name server.
const DNS: u16 = 53;
/// Payload of a full TCP segment, bytes.
const SEGMENT: usize = 1460;
/// A connection that has received nothing for this time is removed, ticks.
const IDLE_TIMEOUT: u64 = 3 * TICKS_PER_SECOND;

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

/// The network on two memory ports.
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

/// A received IPv4 packet.
type Packet<'a> = ipv4::Packet<&'a [u8]>;

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
            wan_router: ethernet::BROADCAST,
            flows: HashMap::new(),
            next_port: 20_000,
            tick: 0,
            identification: 0,
        };
        Ok((generator, ends))
    }

    /// Starts the generator on a new thread.
    ///
    /// # Errors
    /// When there is no thread left.
    pub fn start(mut self) -> std::io::Result<Running> {
        let stop = Arc::new(AtomicBool::new(false));
        let (flag, wake) = (Arc::clone(&stop), Arc::clone(&self.wake));
        let thread = std::thread::Builder::new().name("generator".to_owned()).spawn(move || {
            let mut next = clock::now().0;
            while !flag.load(Ordering::Acquire) {
                self.wake.before_sleep();
                let waiting = self.peers.iter().flatten().any(|peer| !peer.rx.is_empty());
                let left = Duration::from_nanos(next.saturating_sub(clock::now().0));
                wake::poll(
                    &mut [wake::readable(self.wake.fd())],
                    Some(if waiting { Duration::ZERO } else { left }),
                );
                self.wake.after_sleep();
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

    fn frame(&mut self, port: usize, bytes: &[u8]) {
        let Ok(frame) = ethernet::Frame::new_checked(bytes) else { return };
        let payload = bytes.get(ethernet::HEADER..).unwrap_or_default();
        match frame.ethertype() {
            ethernet::ARP => {
                if let Ok(packet) = arp::Packet::new_checked(payload) {
                    self.arp(port, arp::Repr::parse(&packet));
                }
            }
            ethernet::IPV4 => {
                let Ok(packet) = Packet::new_checked(payload) else { return };
                if self.is_lan(port) {
                    self.at_host(port, &packet);
                } else {
                    self.wan_router = frame.src_addr();
                    self.at_server(port, &packet);
                }
            }
            _ => {}
        }
    }

    fn arp(&mut self, port: usize, packet: arp::Repr) {
        let arp::Repr { operation, sender_mac, sender_addr, target_addr, .. } = packet;
        if operation == arp::REPLY && sender_addr == GATEWAY {
            self.lan = Some((port, sender_mac));
        }
        let host = (FIRST_HOST..FIRST_HOST + HOSTS).contains(&target_addr);
        let own = if self.is_lan(port) { host } else { self.lan.is_some() && sender_addr != target_addr };
        if operation == arp::REQUEST && own {
            let reply = arp::Repr {
                operation: arp::REPLY,
                sender_mac: host_mac(target_addr),
                sender_addr: target_addr,
                target_mac: sender_mac,
                target_addr: sender_addr,
            };
            self.send_arp(port, sender_mac, reply);
        }
    }

    /// Asks for the gateway by a port.
    fn request_gateway(&mut self, port: usize) {
        let request = arp::Repr {
            operation: arp::REQUEST,
            sender_mac: host_mac(FIRST_HOST),
            sender_addr: FIRST_HOST,
            target_mac: [0; 6],
            target_addr: GATEWAY,
        };
        self.send_arp(port, ethernet::BROADCAST, request);
    }

    fn send_arp(&mut self, port: usize, dst_addr: [u8; 6], packet: arp::Repr) {
        let Some(mut frame) = self.pool.take(SHORTEST) else { return };
        let head = frame.head_mut();
        head.fill(0);
        ethernet::Repr { dst_addr, src_addr: packet.sender_mac, ethertype: ethernet::ARP }.emit(head);
        packet.emit(head.get_mut(ethernet::HEADER..).unwrap_or_default());
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

    /// Sends an IPv4 packet whose payload of `length` bytes, zeros so far, `emit` writes.
    fn send(
        &mut self,
        port: usize,
        (src, dst): (u32, u32),
        protocol: u8,
        length: usize,
        emit: impl FnOnce(&mut [u8]),
    ) {
        let dst_addr = match self.lan {
            Some((lan, mac)) if lan == port => mac,
            _ => self.wan_router,
        };
        let end = PAYLOAD + length;
        let Some(mut frame) = self.pool.take(end.max(SHORTEST)) else { return };
        self.identification = self.identification.wrapping_add(1);
        let head = frame.head_mut();
        head.fill(0);
        ethernet::Repr { dst_addr, src_addr: host_mac(src), ethertype: ethernet::IPV4 }.emit(head);
        let header = ipv4::Repr {
            tos: 0,
            ident: self.identification,
            dont_fragment: true,
            ttl: 64,
            protocol,
            src_addr: src,
            dst_addr: dst,
            payload_len: length as u16,
        };
        header.emit(head.get_mut(ethernet::HEADER..).unwrap_or_default());
        emit(head.get_mut(PAYLOAD..end).unwrap_or_default());
        self.push(port, frame);
    }

    fn send_tcp(&mut self, port: usize, ends: [(u32, u16); 2], numbers: [u32; 2], flags: u8, body: usize) {
        let ([(src, src_port), (dst, dst_port)], [seq, ack]) = (ends, numbers);
        let header = tcp::Repr { src_port, dst_port, seq, ack, flags, window: u16::MAX };
        self.send(port, (src, dst), TCP, tcp::HEADER + body, |segment| header.emit(segment, src, dst));
    }

    fn send_udp(&mut self, port: usize, ends: [(u32, u16); 2], body: usize) {
        let [(src, src_port), (dst, dst_port)] = ends;
        let header = udp::Repr { src_port, dst_port };
        self.send(port, (src, dst), UDP, udp::HEADER + body, |datagram| header.emit(datagram, src, dst));
    }

    fn send_echo(&mut self, port: usize, ends: [u32; 2], icmp_type: u8, numbers: [u16; 2], body: usize) {
        let [[a, b], [c, d]] = numbers.map(u16::to_be_bytes);
        let header = icmp::Repr { icmp_type, code: 0, rest: [a, b, c, d] };
        self.send(port, ends.into(), ICMP, icmp::HEADER + body, |message| header.emit(message));
    }

    /// Answers a packet for the servers behind the provider.
    fn at_server(&mut self, port: usize, packet: &Packet<'_>) {
        let bytes = packet.payload();
        let (src, dst) = (packet.src_addr(), packet.dst_addr());
        match packet.protocol() {
            ICMP => {
                let Ok(message) = icmp::Packet::new_checked(bytes) else { return };
                if message.icmp_type() == icmp::ECHO_REQUEST {
                    let numbers = [message.ident(), message.sequence()];
                    self.send_echo(port, [dst, src], icmp::ECHO_REPLY, numbers, message.payload().len());
                }
            }
            UDP => {
                let Ok(datagram) = udp::Datagram::new_checked(bytes) else { return };
                if datagram.dst_port() == DNS {
                    self.send_udp(port, [(dst, DNS), (src, datagram.src_port())], 120);
                }
            }
            TCP => {
                let Ok(segment) = tcp::Segment::new_checked(bytes) else { return };
                let back = [(dst, segment.dst_port()), (src, segment.src_port())];
                let body = segment.payload().len() as u32;
                let (seq, flags) = (segment.seq(), segment.flags());
                let next = seq.wrapping_add(body).wrapping_add(u32::from(flags & (SYN | FIN) != 0));
                if flags & RST != 0 {
                } else if flags & SYN != 0 {
                    self.send_tcp(port, back, [seq.rotate_left(7), next], SYN | ACK, 0);
                } else if flags & FIN != 0 {
                    self.send_tcp(port, back, [segment.ack(), next], FIN | ACK, 0);
                } else if body > 0 {
                    // The request's length says how many segments the answer has.
                    let mut own = segment.ack();
                    for _ in 0..segments_wanted(body) {
                        self.send_tcp(port, back, [own, next], ACK | PSH, SEGMENT);
                        own = own.wrapping_add(SEGMENT as u32);
                    }
                }
            }
            _ => {}
        }
    }

    /// Handles a packet for a host: continues its connections.
    fn at_host(&mut self, port: usize, packet: &Packet<'_>) {
        if packet.protocol() != TCP {
            return;
        }
        let Ok(segment) = tcp::Segment::new_checked(packet.payload()) else { return };
        let own_port = segment.dst_port();
        let to_this = |flow: &&mut Flow| flow.host == packet.dst_addr();
        let Some(flow) = self.flows.get_mut(&own_port).filter(to_this) else { return };
        flow.heard = self.tick;
        let body = segment.payload().len() as u32;
        let (sequence, flags) = (segment.seq(), segment.flags());
        let ends = [(flow.host, own_port), (packet.src_addr(), segment.src_port())];
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

    /// Sends the traffic of a tick: about 10 TCP connections, 20 name queries, 4 pings and a UDP stream of 50
    /// packets a second.
    fn step(&mut self) {
        self.tick += 1;
        let tick = self.tick;
        let Some((port, _)) = self.lan else {
            if tick % TICKS_PER_SECOND == 1 {
                for port in 0..PORTS {
                    self.request_gateway(port);
                }
            }
            return;
        };
        if tick.is_multiple_of(30 * TICKS_PER_SECOND) {
            // The gateway may have moved or changed its address.
            self.request_gateway(port);
        }
        self.flows.retain(|_, flow| tick - flow.heard < IDLE_TIMEOUT);
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
            self.send_udp(port, [(host, own_port), (SERVER + 2, DNS)], 40);
        }
        if tick.is_multiple_of(12) {
            self.send_echo(
                port,
                [host, SERVER],
                icmp::ECHO_REQUEST,
                [(host & 0xffff) as u16, (tick / 12) as u16],
                56,
            );
        }
    }
}

/// The locally administered link-layer address of the host with this IPv4 address.
fn host_mac(address: u32) -> [u8; 6] {
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
