//! Nested trees with two to four workers: each flow's packets leave as with one, all of them and in the same order, and
//! each queue counts the same.

use std::collections::BTreeMap;

use tollway_config::dataplane::{QueueType, SimpleQueue, TreeParent, TreeQueue};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::random::Random;
use tollway_testkit::router::{Output, port_mac};
use tollway_testkit::{Packet, Router, RouterConfig, queue, queue_limit};

const HOSTS: u16 = 6;
/// Flows of each host.
const FLOWS: u16 = 4;
const MS: u64 = 1_000_000;

fn host(number: u16) -> String {
    format!("192.168.88.{}", 10 + number)
}

/// Three levels of simple queues with totals, a tree below `global`, one below the interface.
fn config(random: &mut Random) -> RouterConfig {
    let rates = [2_000_000, 8_000_000, 40_000_000];
    let mut rate = || rates[random.below(3) as usize];
    let mut queues: Vec<SimpleQueue> = Vec::new();
    for row in 100..103 {
        let mut parent = queue(row, &["255.255.255.255"], rate(), rate());
        parent.parent = (row > 100).then_some(100);
        parent.total = Some(queue_limit(rate()));
        queues.push(parent);
    }
    for number in 0..HOSTS {
        let mut leaf = queue(1 + u32::from(number), &[&host(number)], rate(), rate());
        leaf.upload.limit_at = 500_000;
        leaf.upload.priority = 1 + number as u8;
        leaf.parent = Some(101 + u32::from(number % 2));
        leaf.total = (number % 3 == 0).then(|| queue_limit(rate()));
        queues.push(leaf);
    }
    let node =
        |row, parent, rate| TreeQueue { row, parent, packet_marks: Vec::new(), limit: queue_limit(rate) };
    let trees = vec![
        node(200, TreeParent::Global, rate()),
        node(210, TreeParent::Queue { row: 200 }, rate()),
        node(201, TreeParent::Interface { interface: 2 }, rate()),
        node(211, TreeParent::Queue { row: 201 }, rate()),
    ];
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false)
        .with(|config| {
            config.queue_types = vec![QueueType::Pfifo { limit: 100_000 }];
            (config.simple_queues, config.tree_queues) = (queues, trees);
        })
}

type Seen = BTreeMap<(u32, u16), Vec<u16>>;

fn see(seen: &mut Seen, out: &[Output]) {
    for output in out {
        let packet = Packet::read(&output.bytes).expect("IPv4");
        let number = u16::from_be_bytes([output.bytes[18], output.bytes[19]]);
        seen.entry((u32::from(packet.src), packet.ports.0)).or_default().push(number);
    }
}

/// What a run came to.
struct Outcome {
    /// What left of each flow.
    seen: Seen,
    /// Packets that each queue counted.
    passed: BTreeMap<u32, u64>,
    /// Packets that changed workers.
    handed_over: u64,
    /// Packets that waited after each batch, added up.
    waited: u64,
}

fn run(seed: u64, workers: u32) -> Outcome {
    let mut random = Random::new(seed);
    let mut router = Router::with_workers(config(&mut random), workers);
    let (mut seen, mut numbers) = (Seen::new(), BTreeMap::<u16, u16>::new());
    let mut waited = 0;
    for _ in 0..40 {
        let mut frames: Vec<Vec<_>> = (0..workers).map(|_| Vec::new()).collect();
        for _ in 0..random.below(60) {
            let flow = random.below(u64::from(HOSTS * FLOWS)) as u16;
            let number = numbers.entry(flow).or_default();
            *number += 1;
            let packet = PacketBuilder::ipv4(&host(flow % HOSTS), "203.0.113.5").udp(4000 + flow, 53);
            let packet = packet.ident(*number).payload_len(100 + random.below(1200) as usize);
            let frame = (0, packet.eth_dst(port_mac(0)).build(), VnetState::default());
            frames[usize::from(flow) % workers as usize].push(frame);
        }
        for (worker, frames) in frames.into_iter().enumerate() {
            see(&mut seen, &router.inject_batch(worker, frames));
        }
        waited += router.stats().queues.queued_packets;
        see(&mut seen, &router.advance([10_000, MS, 20 * MS][random.below(3) as usize]));
    }
    see(&mut seen, &router.advance_ms(30_000));
    let passed = router.queues().iter().map(|record| (record.row, record.directions[0].packets)).collect();
    Outcome { seen, passed, handed_over: router.stats().handover_packets, waited }
}

#[test]
fn nested_trees_do_the_same_with_any_number_of_workers() {
    let mut waited = [0; 5];
    for seed in tollway_testkit::seeds(8) {
        let one = run(seed, 1);
        waited[1] += one.waited;
        for (flow, numbers) in &one.seen {
            assert!(numbers.is_sorted(), "seed {seed}: {flow:?}");
        }
        for workers in 2..=4 {
            let more = run(seed, workers);
            assert!(more.handed_over > 0, "the queues should be spread");
            assert!(more.seen == one.seen, "seed {seed}, {workers} workers");
            assert_eq!(more.passed, one.passed, "seed {seed}, {workers} workers");
            waited[workers as usize] += more.waited;
        }
    }
    // In trees that draw high rates only, none may have to wait.
    assert!(waited[1..].iter().all(|waited| *waited > 1000), "packets that waited, by workers: {waited:?}");
}
