//! Frames of the pool go through queues that are too slow for them: what waits, leaves and is dropped costs
//! no memory beyond what was reserved, nor does what is handed over to another worker. The only test here, since it
//! counts what the whole process obtains.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use tollway_engine::EngineLimits;
use tollway_engine::packet::frame::{Frame, FrameSource, VnetState};
use tollway_engine::pipeline::batch::{BATCH, Batch, Outcome};
use tollway_engine::pipeline::handover::{Handover, HandoverContents};
use tollway_engine::time::Now;
use tollway_io::clock::Tsc;
use tollway_io::pool::{PartitionSize, partitions};
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::{port_facts, port_mac};
use tollway_testkit::workers::Workers;
use tollway_testkit::{RouterConfig, rule};
// The engine is not compiled for frames of the pool again: the agent has it.
use tollway_worker as _;

/// Fewer frames than the queues would hold, so that the longest ones pay now and then.
const LIMITS: EngineLimits =
    EngineLimits { max_connections: 1024, queue_frames: 1500, queue_bytes: 64 << 20 };

struct Counting;

static CALLS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged, which keeps the trait's contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn what_waits_or_is_handed_over_is_linked_not_allocated() {
    slow_queues();
    queues_that_move();
}

/// Now one worker receives, now the other.
fn queues_that_move() {
    const HOSTS: usize = 64;
    let mut config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false);
    for host in 0..HOSTS {
        config = config.queue(&[&format!("192.168.88.{}", 2 + host)], 50_000_000, 0);
    }
    let Workers { mut engines, .. } =
        Workers::new(&config.config, &port_facts(2), &[LIMITS; 2]).expect("a possible configuration");
    let mut pool = partitions(&[PartitionSize { heads: 4096, tails: 0 }]).expect("memory").remove(0);
    let mut batch = Batch::new();
    let mut ring = Vec::with_capacity(BATCH);
    let mut now = Now::from_ms(1_000);
    let (mut allocations, mut passed) = (0, [0u64; 2]);
    for round in 0..40_000 {
        let (receiver, host) = (round / 4_000 % 2, round % HOSTS);
        let packet = PacketBuilder::ipv4(&format!("192.168.88.{}", 2 + host), "203.0.113.5").udp(4000, 53);
        let packet = packet.payload_len(1000).eth_dst(port_mac(0)).build();
        let mut frame = pool.take(packet.len()).expect("a frame");
        frame.head_mut().copy_from_slice(&packet);
        let before = CALLS.load(Ordering::Relaxed);
        batch.push_rx(frame, 0, VnetState::default());
        now.0 += 10_000;
        for worker in [receiver, 1 - receiver] {
            for packet in ring.drain(..) {
                batch.push_handover(packet);
            }
            engines[worker].process(&mut batch, &mut pool, &Tsc, now);
            for done in batch.drain() {
                match done.outcome {
                    Outcome::Handover { packet, .. } => {
                        ring.push(Handover {
                            frame: done.frame,
                            vnet: done.vnet,
                            contents: HandoverContents::Parsed(packet),
                        });
                    }
                    _ => {
                        passed[worker] += 1;
                        pool.recycle(done.frame);
                    }
                }
            }
            engines[worker].sent();
        }
        allocations += CALLS.load(Ordering::Relaxed) - before;
    }
    let handed_over: u64 = engines.iter().map(|engine| engine.stats().handover_packets).sum();
    assert!(handed_over > 5_000 && passed.iter().all(|passed| *passed > 10_000), "{handed_over}, {passed:?}");
    assert_eq!(allocations, 0);
}

fn slow_queues() {
    let mut config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false)
        .filter("forward", rule().accept());
    for host in 2..66 {
        config = config.queue(&[&format!("192.168.88.{host}")], 1_000_000 + host * 100_000, 0);
    }
    let workers = Workers::new(&config.config, &port_facts(2), &[LIMITS]).expect("a possible configuration");
    let mut engine = workers.engines.into_iter().next().expect("an engine");
    let mut pool = partitions(&[PartitionSize { heads: 4096, tails: 0 }]).expect("memory").remove(0);
    let packets: Vec<Vec<u8>> = (2..66)
        .map(|host| {
            let packet = PacketBuilder::ipv4(&format!("192.168.88.{host}"), "203.0.113.5").udp(4000, 53);
            packet.payload_len(1000).eth_dst(port_mac(0)).build()
        })
        .collect();
    let mut batch = Batch::new();
    let (mut allocations, mut passed) = (0, 0u64);
    let mut now = Now::from_ms(1_000);
    for round in 0..4_000 {
        for at in 0..if round % 7 == 0 { BATCH } else { 8 } {
            let content = &packets[(at + round * 8) % packets.len()];
            let mut frame = pool.take(content.len()).expect("a frame");
            frame.head_mut().copy_from_slice(content);
            batch.push_rx(frame, 0, VnetState::default());
        }
        let before = CALLS.load(Ordering::Relaxed);
        engine.process(&mut batch, &mut pool, &Tsc, now);
        for tick in 0..4 {
            for done in batch.drain() {
                assert!(matches!(done.outcome, Outcome::Tx { port: 1, .. }));
                passed += 1;
                pool.recycle(done.frame);
            }
            now = Now(now.0 + 150_000 * tick);
            engine.tick(&mut batch, &mut pool, &Tsc, now);
        }
        // The connections are made in the first round, with memory that is kept.
        if round >= 1 {
            allocations += CALLS.load(Ordering::Relaxed) - before;
        }
        batch.clear();
    }
    let stats = engine.stats();
    let dropped = |name: &str| stats.drop_stats().iter().any(|drop| drop.reason == name);
    assert!(
        dropped("queue-full") && dropped("queue-memory") && passed > 10_000,
        "{passed} passed, {:?}",
        stats.drop_stats()
    );
    assert_eq!(allocations, 0);
}
