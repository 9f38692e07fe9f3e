//! AF_XDP on veth pairs in network namespaces of their own, with frames that a packet socket at the far
//! end sends and receives. Needs root, as all that opens ports does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where and stop")]

use std::time::{Duration, Instant};

use tollway_engine::packet::frame::{Frame, FrameSource, Gso, VnetState};
use tollway_io::af_packet::{self, AfPacketPort, Receive};
use tollway_io::command::ip;
use tollway_io::link::{Link, LinkMonitor};
use tollway_io::mmsg::{MmsgBuffers, Outgoing, Received};
use tollway_io::netns::Namespace;
use tollway_io::pool::{Partition, PartitionSize, Umem, partitions};
use tollway_io::xdp::device::Device;
use tollway_io::xdp::{self, XdpMode, XdpPort};
use tollway_io::{PortIo, wake};

const SIZE: PartitionSize = PartitionSize { heads: PartitionSize::WORKER.heads + 2000, tails: 64 };

/// A veth pair `near` and `far` in a namespace that ends with the test.
struct Cable {
    name: String,
    namespace: Namespace,
}

impl Cable {
    fn new(test: &str, queues: u32) -> Self {
        let name = format!("twxdp-{test}-{}", std::process::id());
        let namespace = Namespace::open_or_create(&name).unwrap();
        // Nothing but the test's own frames.
        namespace.set("net/ipv6/conf/all/disable_ipv6", "1").unwrap();
        let ends = format!("numtxqueues {queues} numrxqueues {queues}");
        namespace.ip(&format!("link add near {ends} type veth peer name far {ends}")).unwrap();
        namespace.ip("link set near up").unwrap();
        namespace.ip("link set far up").unwrap();
        Self { name, namespace }
    }

    fn link(&self, of: &str) -> Link {
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let links = self.namespace.within(|| LinkMonitor::new().unwrap().links().unwrap()).unwrap();
            let link = links.into_iter().find(|link| link.name == of).unwrap();
            if link.running || Instant::now() > deadline {
                return link;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn open(&self, umem: &'static Umem, workers: usize, mode: XdpMode) -> (Vec<XdpPort>, String) {
        let link = self.link("near");
        let opened = self.namespace.within(|| {
            let device = Device::of("near", link.index);
            xdp::open(umem, &link, &device, workers, &[mode])
        });
        let opened = opened.unwrap().unwrap();
        (opened.ports, opened.how)
    }

    /// A packet socket at the far end.
    fn far(&self) -> AfPacketPort {
        let link = self.link("far");
        self.namespace
            .within(|| af_packet::open(link.index, 1, Receive::Ring))
            .unwrap()
            .unwrap()
            .ports
            .remove(0)
    }

    /// Whether an XDP program is on the near end.
    fn has_program(&self) -> bool {
        self.namespace.ip("link show near").unwrap().contains("xdp")
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        let _ = ip(&format!("netns del {}", self.name));
    }
}

fn ready(port: &impl PortIo) -> bool {
    wake::poll(&mut [wake::readable(port.fd())], Some(Duration::from_secs(5))) > 0
}

/// Receives until `count` frames are there, for at most 5 s.
fn receive(port: &mut impl PortIo, pool: &mut Partition, count: usize) -> Vec<Outgoing> {
    let mut buffers = MmsgBuffers::new();
    let mut frames = Vec::new();
    while frames.len() < count && ready(port) {
        port.receive(64, &mut buffers, pool, |frame, state| frames.push((frame, state))).unwrap();
    }
    frames
}

fn send(port: &mut impl PortIo, pool: &mut Partition, mut queue: Vec<Outgoing>) -> usize {
    let mut buffers = MmsgBuffers::new();
    let deadline = Instant::now() + Duration::from_secs(5);
    let mut refused = 0;
    while !queue.is_empty() && Instant::now() < deadline {
        refused += port.send(&mut queue, &mut buffers, pool).refused;
    }
    assert!(queue.is_empty());
    refused
}

/// An Ethernet frame of no protocol that any stack answers, with a number in it.
fn frame(pool: &mut Partition, number: u32, len: usize) -> Outgoing {
    let mut frame = pool.take(len).unwrap();
    let head = frame.head_mut();
    head.fill(number as u8);
    head[..6].fill(0xff);
    head[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    head[12..14].copy_from_slice(&[0x88, 0xb5]);
    head[14..18].copy_from_slice(&number.to_be_bytes());
    (frame, VnetState::default())
}

fn number(frame: &impl Frame) -> u32 {
    u32::from_be_bytes(*frame.head()[14..].first_chunk().unwrap())
}

fn both_ways(test: &str, mode: XdpMode) {
    let cable = Cable::new(test, 1);
    let mut pools = partitions(&[SIZE, SIZE]).unwrap();
    let mut outside = pools.pop().unwrap();
    let mut pool = pools.pop().unwrap();
    let umem = pool.umem();
    let before = pool.free();
    let (mut ports, how) = cable.open(umem, 1, mode);
    assert!(how.contains("copied"), "{how}");
    assert!(cable.has_program());
    let mut near = ports.remove(0);
    near.start(&mut pool);
    let mut far = cable.far();
    // More than the ring, so that frames come back and are used again.
    for round in 0..100 {
        for len in [60, 64, 512, 1514] {
            let first = round * 64;
            let queue = (first..first + 64).map(|number| frame(&mut outside, number, len)).collect();
            assert_eq!(send(&mut far, &mut outside, queue), 0);
            let got = receive(&mut near, &mut pool, 64);
            let numbers: Vec<_> = got.iter().map(|(frame, _)| number(frame)).collect();
            assert_eq!(numbers, (first..first + 64).collect::<Vec<_>>());
            assert!(got.iter().all(|(frame, state)| frame.len() == len && *state == VnetState::default()));
            assert!(
                got.iter().all(|(frame, _)| frame.head()[18..].iter().all(|&b| b == number(frame) as u8))
            );
            // What came in goes out: the same memory, by descriptors only.
            assert!(got.iter().all(|(frame, _)| frame.chunk_in(umem).is_some()));
            assert_eq!(send(&mut near, &mut pool, got), 0);
            let back = receive(&mut far, &mut outside, 64);
            let numbers: Vec<_> = back.iter().map(|(frame, _)| number(frame)).collect();
            assert_eq!(numbers, (first..first + 64).collect::<Vec<_>>());
            assert!(back.iter().all(|(frame, _)| frame.len() == len));
            for (frame, _) in back {
                outside.recycle(frame);
            }
        }
    }
    assert_eq!(near.take_kernel_drops(), 0);
    // Nothing is lost when the port is closed, and the netdev is as it was.
    drop(near);
    // The kernel may take the program off a little after its last descriptor is closed.
    let deadline = std::time::Instant::now() + Duration::from_secs(5);
    while cable.has_program() {
        assert!(std::time::Instant::now() < deadline, "the program stayed at the netdev");
        std::thread::sleep(Duration::from_millis(10));
    }
    let all: Vec<_> = std::iter::from_fn(|| pool.take_head()).collect();
    assert_eq!(all.len(), before.0);
}

#[test]
fn native_frames_of_every_size_cross_both_ways() {
    both_ways("native", XdpMode::Native);
}

#[test]
fn generic_frames_of_every_size_cross_both_ways() {
    both_ways("generic", XdpMode::Generic);
}

#[test]
fn every_queue_is_received_and_every_worker_sends() {
    for (queues, workers) in [(1, 2), (2, 2), (3, 2), (4, 1)] {
        let cable = Cable::new(&format!("q{queues}w{workers}"), queues);
        let mut pools = partitions(&vec![SIZE; workers + 1]).unwrap();
        let mut outside = pools.pop().unwrap();
        let umem = outside.umem();
        let link = cable.link("near");
        let device = cable.namespace.within(|| Device::of("near", link.index)).unwrap();
        assert_eq!((device.queues, device.driver.as_str()), (queues, "veth"));
        assert!(device.native_xdp);
        let (mut ports, how) = cable.open(umem, workers, XdpMode::Native);
        assert_eq!(ports.len(), workers, "{how}");
        let mut far = cable.far();
        for (port, pool) in ports.iter_mut().zip(&mut pools) {
            port.start(pool);
        }
        // Every worker sends, whether it has a queue or not, frames of its own and of the other.
        for round in 0..50 {
            for port in 0..workers {
                for owner in 0..workers {
                    let queue = (0..40).map(|number| frame(&mut pools[owner], round + number, 100)).collect();
                    assert_eq!(send(&mut ports[port], &mut pools[port], queue), 0);
                    assert_eq!(receive(&mut far, &mut outside, 40).len(), 40);
                }
            }
        }
        // What the kernel of the far end sends comes by one of the queues, whichever.
        let queue = (0..64).map(|number| frame(&mut outside, number, 100)).collect();
        assert_eq!(send(&mut far, &mut outside, queue), 0);
        let (mut got, deadline) = (0, Instant::now() + Duration::from_secs(5));
        let mut buffers = MmsgBuffers::new();
        while got < 64 && Instant::now() < deadline {
            for (port, pool) in ports.iter_mut().zip(&mut pools) {
                got += port.receive(64, &mut buffers, pool, |_, _| {}).unwrap().taken;
            }
        }
        assert_eq!(got, 64, "{queues} queues, {workers} workers");
    }
}

#[test]
fn super_frames_leave_as_wire_segments_with_whole_checksums() {
    const MSS: usize = 1448;
    const HEADERS: usize = 14 + 20 + 32;
    let cable = Cable::new("cut", 1);
    let mut pools = partitions(&[SIZE, SIZE]).unwrap();
    let (mut outside, mut pool) = (pools.pop().unwrap(), pools.pop().unwrap());
    let (mut ports, _) = cable.open(pool.umem(), 1, XdpMode::Native);
    let mut near = ports.remove(0);
    near.start(&mut pool);
    let mut far = cable.far();
    let payload = 1000;
    let mut frame = pool.take(HEADERS + payload).unwrap();
    let head = frame.head_mut();
    head.fill(0x5a);
    head[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
    let total = (HEADERS - 14 + payload) as u16;
    head[14..34].copy_from_slice(&[0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    head[16..18].copy_from_slice(&total.to_be_bytes());
    head[34 + 12] = 0x80;
    let state = |size: usize| VnetState {
        needs_csum: true,
        gso: Gso::Tcp4,
        gso_size: size as u16,
        hdr_len: HEADERS as u16,
        csum_start: 34,
        csum_offset: 16,
        ..VnetState::default()
    };
    assert_eq!(send(&mut near, &mut pool, vec![(frame, state(300))]), 0);
    let got = receive(&mut far, &mut outside, 4);
    let lengths: Vec<_> = got.iter().map(|(frame, _)| frame.len() - HEADERS).collect();
    assert_eq!(lengths, [300, 300, 300, 100]);
    for (frame, state) in &got {
        assert_eq!(state.gso, Gso::None);
        let segment = &frame.head()[34..];
        let pseudo = tollway_wire::checksum::pseudo_v4(0x0a00_0001, 0x0a00_0002, 6, segment.len() as u16);
        let sum = tollway_wire::checksum::add(pseudo, tollway_wire::checksum::sum(segment));
        assert_eq!(sum, 0xffff);
    }
    // What cannot be segmented into frames that fit is refused, and nothing of it is lost.
    let mut long = pool.take(HEADERS + payload).unwrap();
    long.head_mut().fill(0);
    assert_eq!(send(&mut near, &mut pool, vec![(long, state(MSS + 800))]), 1);
}

#[test]
fn a_queue_without_frames_says_so_at_once_for_it_shows_nothing_from_then_on() {
    let cable = Cable::new("none", 1);
    let mut pools = partitions(&[SIZE, SIZE]).unwrap();
    let (mut outside, mut pool) = (pools.pop().unwrap(), pools.pop().unwrap());
    let (mut ports, _) = cable.open(pool.umem(), 1, XdpMode::Native);
    let mut near = ports.remove(0);
    near.start(&mut pool);
    let mut far = cable.far();
    let mut buffers = MmsgBuffers::new();
    let mut held: Vec<_> = std::iter::from_fn(|| pool.take_umem_frame()).collect();
    held.extend(std::iter::from_fn(|| pool.take(200)));
    let mut batch = |first: u32| {
        let queue = (first..first + 60).map(|number| frame(&mut outside, number, 200)).collect();
        assert_eq!(send(&mut far, &mut outside, queue), 0);
    };
    let mut last = Received::default();
    for round in 0..200 {
        batch(round * 60);
        assert!(ready(&near), "round {round}");
        last = near.receive(60, &mut buffers, &mut pool, |frame, _| held.push(frame)).unwrap();
        if last.no_frame {
            break;
        }
    }
    assert!(last.taken > 0 && last.no_frame);
    batch(0);
    assert_eq!(wake::poll(&mut [wake::readable(near.fd())], Some(Duration::from_millis(200))), 0);
    held.into_iter().for_each(|frame| pool.recycle(frame));
    assert_eq!(near.receive(60, &mut buffers, &mut pool, |_, _| ()).unwrap(), Received::default());
    batch(0);
    assert_eq!(receive(&mut near, &mut pool, 60).len(), 60);
}

#[test]
fn reception_goes_on_while_frames_wait_and_costs_a_copy() {
    let cable = Cable::new("wait", 1);
    let mut pools = partitions(&[SIZE, SIZE]).unwrap();
    let (mut outside, mut pool) = (pools.pop().unwrap(), pools.pop().unwrap());
    let umem = pool.umem();
    let (mut ports, _) = cable.open(umem, 1, XdpMode::Native);
    let mut near = ports.remove(0);
    near.start(&mut pool);
    let mut far = cable.far();
    let mut waiting = Vec::new();
    for round in 0..250 {
        let first = round * 60;
        let queue = (first..first + 60).map(|number| frame(&mut outside, number, 200)).collect();
        assert_eq!(send(&mut far, &mut outside, queue), 0);
        let got = receive(&mut near, &mut pool, 60);
        assert_eq!(got.len(), 60, "round {round}");
        waiting.extend(got);
    }
    let copied = waiting.iter().filter(|(frame, _)| frame.chunk_in(umem).is_none()).count();
    assert!((1000..=2000).contains(&copied), "{copied}");
    let numbers: Vec<_> = waiting.iter().map(|(frame, _)| number(frame)).collect();
    assert_eq!(numbers, (0..15_000).collect::<Vec<_>>());
    // They are sent like all others.
    while !waiting.is_empty() {
        let rest = waiting.split_off(waiting.len().min(60));
        let count = waiting.len();
        assert_eq!(send(&mut near, &mut pool, std::mem::replace(&mut waiting, rest)), 0);
        assert_eq!(receive(&mut far, &mut outside, count).len(), count);
    }
}

#[test]
fn an_mtu_that_no_chunk_holds_and_a_foreign_program_are_refused() {
    let cable = Cable::new("refuse", 1);
    let mut pools = partitions(&[SIZE]).unwrap();
    let umem = pools.pop().unwrap().umem();
    let device = Device { queues: 1, driver: "veth".to_owned(), native_xdp: true };
    let open = |link: &Link| {
        let modes = [XdpMode::Native, XdpMode::Generic];
        cable.namespace.within(|| xdp::open(umem, link, &device, 1, &modes)).unwrap()
    };
    let mut link = cable.link("near");
    link.mtu = 9000;
    let refused = open(&link).unwrap_err();
    assert!(refused.contains("9000") && refused.contains("2090"), "{refused}");
    link.mtu = 1500;
    let first = open(&link).unwrap();
    let refused = open(&link).unwrap_err();
    assert!(refused.contains("busy") || refused.contains("exists"), "{refused}");
    drop(first);
    // A test that starts a program beside this one holds all descriptors until that program runs.
    let again = (0..500).find_map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        open(&link).ok()
    });
    drop(again.expect("the device is free again"));
}
