//! Flows that the kernel forwards between two veth pairs, with frames that packet sockets at their far ends send
//! and receive. Needs root, as all that opens ports does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where and stop")]

use std::sync::Arc;
use std::time::Duration;

use tollway_engine::packet::frame::{Frame, FrameSource, Gso, VnetState};
use tollway_io::af_packet::{self, AfPacketPort, Receive};
use tollway_io::command::ip;
use tollway_io::flowtable::{Action, Flowtable, Key, KeyKind, Link, Share};
use tollway_io::link::LinkMonitor;
use tollway_io::mmsg::{MmsgBuffers, Outgoing};
use tollway_io::netns::Namespace;
use tollway_io::pool::{Partition, PartitionSize, partitions};
use tollway_io::{PortIo, tap, wake};
use tollway_wire::checksum::{self, Delta};
use tollway_wire::ipv4::{TCP, UDP};

const SIZE: PartitionSize = PartitionSize { heads: PartitionSize::WORKER.heads + 2000, tails: 64 };
const NEAR: [u8; 6] = [2, 0, 0, 0, 0, 1];
const OUT: [u8; 6] = [2, 0, 0, 0, 0, 2];
const HOST: [u8; 6] = [2, 0, 0, 0, 0, 9];
const CLIENT: u32 = 0x0a00_0002;
const SERVER: u32 = 0xc633_6401;
const ROUTER: u32 = 0xcb00_7101;

/// `far1 — near1`, `near2 — far2` in a namespace that ends with the test.
struct Cables {
    name: String,
    near: u32,
    out: u32,
    sockets: Vec<AfPacketPort>,
    sender: AfPacketPort,
    receiver: AfPacketPort,
    pool: Partition,
    share: Share,
    _link: Link,
}

impl Cables {
    fn new(test: &str) -> Self {
        let name = format!("twflow-{test}-{}", std::process::id());
        let namespace = Namespace::open_or_create(&name).unwrap();
        // Nothing but the test's own frames.
        namespace.set("net/ipv6/conf/all/disable_ipv6", "1").unwrap();
        for (number, mac) in [(1, NEAR), (2, OUT)] {
            let mac = mac.map(|byte| format!("{byte:02x}")).join(":");
            namespace
                .ip(&format!("link add near{number} address {mac} type veth peer name far{number}"))
                .unwrap();
            namespace.ip(&format!("link set near{number} up")).unwrap();
            namespace.ip(&format!("link set far{number} up")).unwrap();
        }
        let links = namespace.within(|| LinkMonitor::new().unwrap().links().unwrap()).unwrap();
        let index = |of: &str| links.iter().find(|link| link.name == of).unwrap().index;
        let open = |of: &str, workers| {
            namespace.within(|| af_packet::open(index(of), workers, Receive::Ring)).unwrap().unwrap().ports
        };
        let sockets = open("near1", 2);
        let table = Arc::new(Flowtable::new().unwrap());
        let link = namespace.within(|| table.attach(index("near1"))).unwrap().unwrap();
        sockets.iter().for_each(|socket| table.connect(socket).unwrap());
        Self {
            name,
            near: index("near1"),
            out: index("near2"),
            sockets,
            sender: open("far1", 1).remove(0),
            receiver: open("far2", 1).remove(0),
            pool: partitions(&[SIZE]).unwrap().remove(0),
            share: Share::new(table, 0, 1),
            _link: link,
        }
    }

    fn send(&mut self, bytes: &[u8], vnet: VnetState) {
        let mut frame = self.pool.take(bytes.len()).unwrap();
        frame.head_mut().copy_from_slice(bytes);
        let mut queue: Vec<Outgoing> = vec![(frame, vnet)];
        let sent = self.sender.send(&mut queue, &mut MmsgBuffers::new(), &mut self.pool);
        assert_eq!((sent.taken, sent.refused), (1, 0));
    }

    /// What arrives behind the router; `None` when nothing does.
    fn forwarded(&mut self) -> Option<(Vec<u8>, VnetState)> {
        receive(&mut self.receiver, &mut self.pool)
    }

    /// What arrives at the workers.
    fn left_alone(&mut self) -> Option<Vec<u8>> {
        let ends = &mut self.sockets;
        ends.iter_mut().find_map(|socket| receive(socket, &mut self.pool)).map(|(bytes, _)| bytes)
    }
}

impl Drop for Cables {
    fn drop(&mut self) {
        let _ = ip(&format!("netns del {}", self.name));
    }
}

/// A frame, waited for as long as one takes that is on its way already.
fn receive(port: &mut AfPacketPort, pool: &mut Partition) -> Option<(Vec<u8>, VnetState)> {
    wake::poll(&mut [wake::readable(port.fd())], Some(Duration::from_millis(50)));
    let mut found = None;
    port.receive(1, &mut MmsgBuffers::new(), pool, |frame, vnet| found = Some((frame.head().to_vec(), vnet)))
        .unwrap();
    found
}

fn packet(protocol: u8, flags: u8, ttl: u8, payload: usize) -> Vec<u8> {
    let transport = if protocol == TCP { 20 } else { 8 };
    let total = 20 + transport + payload;
    let mut frame = [NEAR, HOST].concat();
    frame.extend([0x08, 0x00, 0x45, 0, (total >> 8) as u8, total as u8, 0, 7, 0x40, 0, ttl, protocol, 0, 0]);
    frame.extend([CLIENT.to_be_bytes(), SERVER.to_be_bytes()].concat());
    frame.extend([0x9c, 0x40, 0x01, 0xbb]);
    let length = (transport + payload) as u16;
    match protocol {
        TCP => frame.extend([0, 0, 0, 1, 0, 0, 0, 2, 0x50, flags, 1, 0, 0, 0, 0, 0]),
        _ => frame.extend([length.to_be_bytes(), [0, 0]].concat()),
    }
    frame.extend((0..payload).map(|at| at as u8));
    let sum = checksum::checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    let at = checksum_at(protocol);
    let sum =
        !checksum::add(checksum::pseudo_v4(CLIENT, SERVER, protocol, length), checksum::sum(&frame[34..]));
    frame[at..at + 2].copy_from_slice(&checksum::no_zero(sum).to_be_bytes());
    frame
}

fn checksum_at(protocol: u8) -> usize {
    34 + if protocol == TCP { 16 } else { 6 }
}

/// Routes to [`SERVER`]; with `port` masquerades as [`ROUTER`] from that port.
fn action(cables: &Cables, port: Option<u16>) -> Action {
    let src = if port.is_some() { ROUTER } else { CLIENT };
    let addresses = Delta::NONE.replace32(CLIENT, src);
    let src_port = port.unwrap_or(40_000);
    Action {
        out_ifindex: cables.out,
        mtu: 1500,
        dst_mac: HOST,
        src_mac: OUT,
        src,
        dst: SERVER,
        src_port,
        dst_port: 443,
        header_change: addresses.replace16(0x0100, 0).folded(),
        addresses_change: addresses.folded(),
        ports_change: Delta::NONE.replace16(40_000, src_port).folded(),
    }
}

fn flow(cables: &Cables, protocol: u8) -> Key {
    Key::flow(cables.near, protocol, CLIENT, SERVER, 40_000, 443)
}

/// Checks every checksum of a forwarded packet.
fn assert_sound(frame: &[u8], src: u32, port: u16) {
    let (protocol, length) = (frame[23], (frame.len() - 34) as u16);
    assert_eq!(frame[..12], [HOST, OUT].concat());
    assert_eq!(checksum::sum(&frame[14..34]), 0xffff, "{frame:02x?}");
    assert_eq!(frame[26..30], src.to_be_bytes());
    assert_eq!(frame[34..36], port.to_be_bytes());
    let pseudo = checksum::pseudo_v4(src, SERVER, protocol, length);
    assert_eq!(checksum::add(pseudo, checksum::sum(&frame[34..])), 0xffff, "{frame:02x?}");
}

#[test]
fn what_is_in_the_table_is_forwarded_and_nothing_else() {
    let mut cables = Cables::new("table");
    let known = packet(UDP, 0, 64, 100);
    cables.send(&known, VnetState::default());
    assert_eq!(cables.left_alone().as_ref(), Some(&known));
    let epoch = cables.share.epoch();
    let installed = cables.share.install(flow(&cables, UDP), &action(&cables, None), epoch).unwrap();
    cables.send(&known, VnetState::default());
    let (arrived, _) = cables.forwarded().unwrap();
    assert_sound(&arrived, CLIENT, 40_000);
    assert_eq!(arrived[22], 63);
    assert_eq!(cables.left_alone(), None);
    assert_eq!(cables.share.counts(&installed), (1, 128));

    let mut other_port = known.clone();
    other_port[35] ^= 1;
    let mut other_host = known.clone();
    other_host[5] ^= 4;
    let mut fragment = known.clone();
    fragment[20] = 0x20;
    let last_hop = packet(UDP, 0, 1, 100);
    let mut cut_short = known.clone();
    cut_short.truncate(100);
    for left in [&other_port, &other_host, &fragment, &last_hop, &cut_short, &packet(TCP, 16, 64, 100)] {
        cables.send(left, VnetState::default());
        assert_eq!(cables.left_alone().as_ref(), Some(left));
    }
    assert_eq!(cables.forwarded(), None);

    cables.share.table().invalidate();
    assert!(!cables.share.is_valid(&installed));
    cables.send(&known, VnetState::default());
    assert_eq!(cables.left_alone().as_ref(), Some(&known));
    cables.share.remove(&installed);
    // What was decided before is not valid afterwards.
    let late = cables.share.install(flow(&cables, UDP), &action(&cables, None), epoch).unwrap();
    cables.send(&known, VnetState::default());
    assert_eq!(cables.left_alone().as_ref(), Some(&known));
    cables.share.remove(&late);
    assert_eq!(cables.forwarded(), None);
}

#[test]
fn a_translation_keeps_every_checksum_right() {
    let mut cables = Cables::new("nat");
    let epoch = cables.share.epoch();
    for protocol in [UDP, TCP] {
        let action = action(&cables, Some(50_001));
        cables.share.install(flow(&cables, protocol), &action, epoch).unwrap();
        for payload in 0..40 {
            cables.send(&packet(protocol, 16, 2, payload), VnetState::default());
            assert_sound(&cables.forwarded().unwrap().0, ROUTER, 50_001);
        }
    }
    let mut without = packet(UDP, 0, 64, 11);
    without[40..42].fill(0);
    cables.send(&without, VnetState::default());
    assert_eq!(cables.forwarded().unwrap().0[40..42], [0, 0]);
    assert_eq!(cables.left_alone(), None);
}

#[test]
fn tcp_segments_that_change_the_state_are_left_to_the_worker() {
    let mut cables = Cables::new("state");
    let epoch = cables.share.epoch();
    cables.share.install(flow(&cables, TCP), &action(&cables, None), epoch).unwrap();
    for flags in [0x02, 0x12, 0x11, 0x04, 0x14, 0x19] {
        let segment = packet(TCP, flags, 64, 10);
        cables.send(&segment, VnetState::default());
        assert_eq!(cables.left_alone(), Some(segment));
    }
    cables.send(&packet(TCP, 0x18, 64, 10), VnetState::default());
    assert!(cables.forwarded().is_some());
}

#[test]
fn malformed_packets_are_left_to_the_worker() {
    let mut cables = Cables::new("bad");
    let epoch = cables.share.epoch();
    for protocol in [UDP, TCP] {
        cables.share.install(flow(&cables, protocol), &action(&cables, None), epoch).unwrap();
    }
    let with_total = |mut frame: Vec<u8>, total: u16| {
        let change = Delta::NONE.replace16(u16::from_be_bytes([frame[16], frame[17]]), total);
        let sum = change.apply(u16::from_be_bytes([frame[24], frame[25]]));
        frame[16..18].copy_from_slice(&total.to_be_bytes());
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        frame
    };
    let changed = |mut frame: Vec<u8>, at: usize, byte: u8| {
        frame[at] = byte;
        frame
    };
    let (udp, tcp) = (packet(UDP, 0, 64, 20), packet(TCP, 16, 64, 20));
    // A sum that is wrong, headers beyond the packet, or shorter than headers are, and no flag at all.
    for bad in [
        changed(udp.clone(), 25, udp[25] ^ 1),
        with_total(udp.clone(), 27),
        changed(udp.clone(), 39, 7),
        changed(udp.clone(), 39, 29),
        with_total(tcp.clone(), 39),
        changed(tcp.clone(), 46, 0x40),
        changed(tcp.clone(), 46, 0xb0),
        packet(TCP, 0, 64, 20),
        packet(TCP, 8, 64, 20),
    ] {
        cables.send(&bad, VnetState::default());
        assert_eq!(cables.left_alone(), Some(bad));
    }
    for good in [udp.clone(), changed(udp, 39, 8), tcp.clone(), changed(tcp, 46, 0xa0)] {
        cables.send(&good, VnetState::default());
        assert!(cables.forwarded().is_some());
    }
}

#[test]
fn frames_with_padding_must_fit_as_they_are() {
    let mut cables = Cables::new("padding");
    let epoch = cables.share.epoch();
    let narrow = Action { mtu: 1000, ..action(&cables, None) };
    cables.share.install(flow(&cables, UDP), &narrow, epoch).unwrap();
    for (padding, passes) in [(32, true), (872, true), (873, false)] {
        let mut frame = packet(UDP, 0, 64, 100);
        frame.resize(frame.len() + padding, 0);
        cables.send(&frame, VnetState::default());
        assert_eq!(cables.forwarded().is_some(), passes, "{padding}");
        assert_eq!(cables.left_alone().is_none(), passes, "{padding}");
    }
}

#[test]
fn super_frames_pass_whole_and_count_as_segments() {
    let mut cables = Cables::new("super");
    let epoch = cables.share.epoch();
    let action = action(&cables, Some(50_001));
    let installed = cables.share.install(flow(&cables, TCP), &action, epoch).unwrap();
    let mut frame = packet(TCP, 16, 64, 1800);
    // A local stack leaves the sum of the pseudo-header, and the rest to hardware.
    frame[50..52].copy_from_slice(&checksum::pseudo_v4(CLIENT, SERVER, TCP, 1820).to_be_bytes());
    let vnet = |gso_size| VnetState {
        needs_csum: true,
        gso: Gso::Tcp4,
        gso_size,
        hdr_len: 54,
        csum_start: 34,
        csum_offset: 16,
        ..VnetState::default()
    };
    cables.send(&frame, vnet(600));
    let (arrived, state) = cables.forwarded().unwrap();
    assert_eq!((arrived.len(), state.gso, state.gso_size, state.needs_csum), (1854, Gso::Tcp4, 600, true));
    let pseudo = checksum::pseudo_v4(ROUTER, SERVER, TCP, 1820);
    assert_eq!(arrived[50..52], pseudo.to_be_bytes());
    assert_eq!(arrived[34..36], 50_001_u16.to_be_bytes());
    assert_eq!(cables.share.counts(&installed), (3, 1840 + 2 * 40));
    // Segments of 1,501 bytes do not fit.
    cables.send(&frame, vnet(1461));
    assert!(cables.left_alone().is_some());
    cables.send(&frame, vnet(1460));
    assert!(cables.forwarded().is_some());
}

/// What comes from another machine's memory does not say how many segments it is.
#[test]
fn segments_that_nobody_has_counted_are_counted() {
    let mut cables = Cables::new("segments");
    let namespace = Namespace::open_or_create(&cables.name).unwrap();
    let mut tap = namespace.within(|| tap::open("near3", 1)).unwrap().unwrap().remove(0);
    namespace.ip("link set near3 up").unwrap();
    let links = namespace.within(|| LinkMonitor::new().unwrap().links().unwrap()).unwrap();
    let index = links.iter().find(|link| link.name == "near3").unwrap().index;
    let opened = namespace.within(|| af_packet::open(index, 1, Receive::Ring)).unwrap().unwrap();
    let _link = namespace.within(|| cables.share.table().attach(index)).unwrap().unwrap();
    opened.ports.iter().for_each(|socket| cables.share.table().connect(socket).unwrap());
    let (epoch, action) = (cables.share.epoch(), action(&cables, None));
    let key = Key::flow(index, TCP, CLIENT, SERVER, 40_000, 443);
    let installed = cables.share.install(key, &action, epoch).unwrap();

    for (payload, segments) in [(1800, 3), (1801, 4)] {
        let before = cables.share.counts(&installed);
        let mut bytes = packet(TCP, 16, 64, payload);
        bytes[..6].copy_from_slice(&tap.mac());
        let (length, gso_size) = ((20 + payload) as u16, 600);
        bytes[50..52].copy_from_slice(&checksum::pseudo_v4(CLIENT, SERVER, TCP, length).to_be_bytes());
        let mut frame = cables.pool.take(bytes.len()).unwrap();
        frame.head_mut().copy_from_slice(&bytes);
        let vnet = VnetState {
            needs_csum: true,
            gso: Gso::Tcp4,
            gso_size,
            hdr_len: 54,
            csum_start: 34,
            csum_offset: 16,
            ..VnetState::default()
        };
        tap.send(&frame, &vnet, &mut MmsgBuffers::new()).unwrap();
        assert!(cables.forwarded().is_some());
        let (packets, bytes) = cables.share.counts(&installed);
        let expected = (segments, payload as u64 + segments * 40);
        assert_eq!((packets - before.0, bytes - before.1), expected);
    }
}

#[test]
fn pairs_of_addresses_stand_for_all_their_packets() {
    let mut cables = Cables::new("pairs");
    cables.share.table().set_key_kind(KeyKind::Pairs);
    let epoch = cables.share.epoch();
    let action = action(&cables, None);
    cables.share.install(Key::address_pair(cables.near, CLIENT, SERVER), &action, epoch).unwrap();
    for (protocol, flags) in [(UDP, 0), (TCP, 16), (TCP, 2)] {
        cables.send(&packet(protocol, flags, 64, 33), VnetState::default());
        assert_sound(&cables.forwarded().unwrap().0, CLIENT, 40_000);
    }
    let mut elsewhere = packet(UDP, 0, 64, 33);
    elsewhere[33] ^= 1;
    cables.send(&elsewhere, VnetState::default());
    assert_eq!(cables.left_alone(), Some(elsewhere));
}

#[test]
fn a_flow_that_another_worker_has_put_in_stays_its() {
    let table = Arc::new(Flowtable::new().unwrap());
    let [mut one, mut other] = [0, 1].map(|worker| Share::new(Arc::clone(&table), worker, 2));
    let (key, epoch) = (Key::address_pair(1, CLIENT, SERVER), one.epoch());
    let action = Action {
        out_ifindex: 1,
        mtu: 1500,
        dst_mac: HOST,
        src_mac: OUT,
        src: CLIENT,
        dst: SERVER,
        src_port: 0,
        dst_port: 0,
        header_change: 0,
        addresses_change: 0,
        ports_change: 0,
    };
    let installed = one.install(key, &action, epoch).unwrap();
    assert!(other.install(key, &action, epoch).is_none());
    assert!(one.is_valid(&installed));
    one.remove(&installed);
    assert!(other.install(key, &action, epoch).is_some());
}
