//! Trees of queues of every kind, over several workers, that change while packets wait: no packet is lost or doubled,
//! no flow is reordered, and counters add up.

use std::collections::BTreeMap;

use tollway_config::dataplane::{
    Codel, DataplaneConfig, InterfaceQueue, PcqClassifier, QueueLimit, QueueType, SimpleQueue, TreeParent,
    TreeQueue,
};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::random::Random;
use tollway_testkit::router::{Output, To, port_mac};
use tollway_testkit::{Packet, Router, RouterConfig, queue, queue_limit};

const SERVER: &str = "203.0.113.5";
const HOSTS: u64 = 6;
const MS: u64 = 1_000_000;
const PARENT: u32 = 100;
const TREE: u32 = 200;

fn host(number: u64) -> String {
    format!("192.168.88.{}", 10 + number)
}

/// Those of [`types`] that have no rate of their own come first.
const WITHOUT_RATES: u32 = 7;

const CODEL: Codel =
    Codel { limit: 100, target_us: 5_000, interval_us: 100_000, ecn: false, ce_threshold_us: 0 };

fn types() -> Vec<QueueType> {
    vec![
        QueueType::Pfifo { limit: 50 },
        QueueType::Bfifo { limit: 30_000 },
        QueueType::None,
        QueueType::Red { limit: 60, min_threshold: 10, max_threshold: 50, burst: 20, avg_packet: 1000 },
        QueueType::Sfq { perturb_s: 5, allot: 1514 },
        QueueType::Codel(CODEL),
        QueueType::FqCodel { codel: CODEL, flows: 64, quantum: 1514, memory_limit: 1 << 20 },
        QueueType::Pcq {
            rate: 500_000,
            limit: 20_000,
            total_limit: 100_000,
            classifier: vec![PcqClassifier::SrcAddress, PcqClassifier::SrcPort],
            burst_rate: 0,
            burst_threshold: 0,
            burst_time_ms: 10_000,
            src_address_mask: 32,
            dst_address_mask: 32,
            src_address6_mask: 64,
            dst_address6_mask: 64,
        },
    ]
}

fn limit(random: &mut Random) -> QueueLimit {
    let rates = [0, 400_000, 3_000_000, 80_000_000, 1_000_000_000];
    let mut limit = queue_limit(rates[random.below(5) as usize]);
    limit.limit_at = [0, 100_000, 1_000_000][random.below(3) as usize];
    limit.priority = 1 + random.below(8) as u8;
    limit.queue_type = random.below(types().len() as u64) as u32;
    limit.bucket_ms = [1, 100, 1000][random.below(3) as usize];
    if random.one_in(4) {
        (limit.burst_limit, limit.burst_threshold, limit.burst_time_ms) = (5_000_000, 300_000, 4_000);
    }
    limit
}

/// Rows with parents that take nothing themselves.
fn simple_queues(random: &mut Random) -> Vec<SimpleQueue> {
    let mut queues = Vec::new();
    for row in 1..=HOSTS as u32 {
        if random.one_in(4) {
            continue;
        }
        let mut queue = queue(row, &[&host(u64::from(row) - 1)], 0, 0);
        (queue.upload, queue.download) = (limit(random), limit(random));
        queue.total = random.one_in(3).then(|| limit(random));
        queue.parent = random.one_in(2).then(|| PARENT + random.below(3) as u32);
        queues.push(queue);
    }
    for row in PARENT..PARENT + 3 {
        let mut queue = queue(row, &["255.255.255.255"], 0, 0);
        (queue.upload, queue.download) = (limit(random), limit(random));
        queue.total = random.one_in(2).then(|| limit(random));
        queue.parent = (row > PARENT && random.one_in(2)).then_some(PARENT);
        queues.push(queue);
    }
    queues
}

fn tree_queues(random: &mut Random) -> Vec<TreeQueue> {
    let mut nodes = Vec::new();
    for (row, parent) in [(TREE, TreeParent::Global), (TREE + 1, TreeParent::Interface { interface: 2 })] {
        if random.one_in(2) {
            nodes.push(TreeQueue { row, parent, packet_marks: Vec::new(), limit: limit(random) });
        }
        if random.one_in(2) && nodes.last().is_some_and(|node| node.row == row) {
            let parent = TreeParent::Queue { row };
            nodes.push(TreeQueue { row: row + 10, parent, packet_marks: Vec::new(), limit: limit(random) });
        }
    }
    nodes
}

struct Run {
    router: Router,
    sent: u64,
    out: u64,
    numbers: BTreeMap<(u64, u16), u16>,
    last: BTreeMap<(u32, u16), u16>,
}

impl Run {
    fn new(random: &mut Random, workers: u32) -> Self {
        let mut config = RouterConfig::new()
            .interface("192.168.88.1/24")
            .interface("10.2.0.1/24")
            .route("0.0.0.0/0", "10.2.0.254")
            .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false)
            .with(|config| config.queue_types = types());
        let tracked = random.one_in(2);
        if tracked {
            config = config.filter("forward", tollway_testkit::rule().passthrough());
        }
        let router = Router::with_workers(config, workers);
        Self { router, sent: 0, out: 0, numbers: BTreeMap::new(), last: BTreeMap::new() }
    }

    fn see(&mut self, out: &[Output]) {
        for output in out {
            assert_eq!(output.to, To::Port(1));
            self.out += u64::from(output.segments);
            let packet = Packet::read(&output.bytes).expect("IPv4");
            let number = u16::from_be_bytes([output.bytes[18], output.bytes[19]]);
            let flow = (u32::from(packet.src), packet.ports.0);
            let before = self.last.insert(flow, number);
            assert!(before.is_none_or(|before| before <= number), "{flow:?}: {number} after {before:?}");
        }
    }

    /// Each flow comes to one worker.
    fn inject(&mut self, random: &mut Random) {
        let worker = random.below(self.router.workers() as u64) as usize;
        let mut frames = Vec::new();
        for _ in 0..random.below(50) {
            let from = random.below(HOSTS);
            let super_frame = random.one_in(6);
            let port = 4000 + (random.below(2) as u16) * 8 + worker as u16 + u16::from(super_frame) * 100;
            let number = self.numbers.entry((from, port)).or_default();
            *number += 1;
            let from = host(from);
            let builder = PacketBuilder::ipv4(&from, SERVER).eth_dst(port_mac(0)).ident(*number);
            let (bytes, vnet) = if super_frame {
                *number += 9;
                builder.tcp(port, 80, tcp_flag::ACK, 1, 1).payload_len(14_000).build_gso(1400)
            } else {
                let len = [0, 500, 1400][random.below(3) as usize];
                (builder.udp(port, 53).payload_len(len).build(), VnetState::default())
            };
            self.sent += if vnet == VnetState::default() { 1 } else { 10 };
            frames.push((0, bytes, vnet));
        }
        let out = self.router.inject_batch(worker, frames);
        self.see(&out);
    }

    /// Another configuration.
    fn another(&self, random: &mut Random) -> impl FnOnce(&mut DataplaneConfig) + use<> {
        let (simple, tree) = (simple_queues(random), tree_queues(random));
        let one = random.below(3);
        let queue_type = random.below(types().len() as u64) as u32;
        let with_interface = random.one_in(2);
        let workers = self.router.workers();
        move |config| match one {
            0 => {
                (config.simple_queues, config.tree_queues) = (simple, tree);
                // Those of several workers are apart: a flow that a change moves to another worker may overtake what
                // waits in them.
                let queue_type = if workers > 1 { queue_type % WITHOUT_RATES } else { queue_type };
                let interface = InterfaceQueue { interface: 2, queue_type };
                config.interface_queues = if with_interface { vec![interface] } else { Vec::new() };
            }
            1 => config.simple_queues.iter_mut().for_each(|queue| queue.upload.queue_type = queue_type),
            _ => {
                // Children become roots of their own, and the other way round.
                for queue in config.simple_queues.iter_mut().filter(|queue| queue.row < PARENT) {
                    queue.parent = queue.parent.is_none().then_some(PARENT);
                }
            }
        }
    }

    fn change(&mut self, random: &mut Random) {
        let another = self.another(random);
        self.router.reconfigure(another);
        // Workers send what must leave before others send what comes.
        let out = self.router.advance(0);
        self.see(&out);
    }

    /// Workers take over a change one after the other, and go on meanwhile.
    fn change_apart(&mut self, random: &mut Random, change: impl FnOnce(&mut DataplaneConfig)) {
        self.router.prepare(change);
        let mut left: Vec<usize> = (0..self.router.workers()).collect();
        while !left.is_empty() {
            let worker = left.swap_remove(random.below(left.len() as u64) as usize);
            self.router.activate(worker);
            for _ in 0..random.below(4) {
                self.inject(random);
                let times = random.below(6);
                self.deliver(random, times);
                let out = self.router.advance([0, 10_000, MS][random.below(3) as usize]);
                self.see(&out);
            }
        }
    }

    /// Some of what is on its way between workers arrives, at each in the order in which another sent it.
    fn deliver(&mut self, random: &mut Random, times: u64) {
        let workers = self.router.workers() as u64;
        for _ in 0..times {
            let (from, to) = (random.below(workers) as usize, random.below(workers) as usize);
            let out = self.router.deliver_handovers_between(from, to, 1 + random.below(20) as usize);
            self.see(&out);
        }
    }

    fn deliver_all(&mut self, random: &mut Random) {
        while self.router.on_the_way() != 0 {
            self.deliver(random, 10);
        }
    }

    /// All that waits in queues that are gone leaves.
    fn end(&mut self, random: &mut Random) {
        self.deliver_all(random);
        self.router.reconfigure(|config| {
            config.simple_queues.clear();
            config.tree_queues.clear();
            config.interface_queues.clear();
        });
        for ms in [0, 0, 0, 0, 1_000] {
            let out = self.router.advance_ms(ms);
            self.see(&out);
            self.deliver_all(random);
        }
        self.check();
        assert_eq!(self.router.stats().held, 0);
    }

    fn check(&self) {
        let stats = self.router.stats();
        let totals = stats.queues;
        assert_eq!(stats.held, totals.queued_packets.min(stats.held), "frames are packets, or several");
        assert_eq!(self.sent, self.out + totals.queued_packets + totals.dropped_packets);
    }
}

fn run(seed: u64) -> (u64, u64) {
    let mut random = Random::new(seed);
    let workers = 1 + random.below(3) as u32;
    let mut run = Run::new(&mut random, workers);
    run.router.sleeps = seed % 2 == 1;
    run.change(&mut random);
    let mut waited = 0;
    for _ in 0..60 {
        if random.one_in(10) {
            run.change(&mut random);
        }
        run.inject(&mut random);
        run.check();
        waited = waited.max(run.router.stats().queues.queued_packets);
        let ns = [0, 10_000, MS, 20 * MS, 300 * MS][random.below(5) as usize];
        let out = run.router.advance(ns);
        run.see(&out);
        run.check();
    }
    run.end(&mut random);
    (run.out, waited)
}

/// Something changes of which flows are decided anew, but none passes other queues.
fn neighbor_of_nobody(config: &mut DataplaneConfig) {
    let mut other = config.neighbors[0].clone();
    other.row = 9999;
    other.address = "10.2.0.77".parse().expect("an address");
    let known = config.neighbors.len();
    config.neighbors.retain(|neighbor| neighbor.address != other.address);
    if config.neighbors.len() == known {
        config.neighbors.push(other);
    }
}

/// Workers take over each change at times of their own, and what one hands over to another takes its time.
fn run_apart(seed: u64, with_others: bool) -> (u64, u64) {
    let mut random = Random::new(seed);
    let workers = 2 + random.below(2) as u32;
    let mut run = Run::new(&mut random, workers);
    run.router.delay_handovers = true;
    run.router.sleeps = seed % 2 == 1;
    run.change(&mut random);
    let mut waited = 0;
    for step in 0..60 {
        if random.one_in(8) {
            let another = run.another(&mut random);
            run.change_apart(&mut random, another);
            if with_others {
                run.change_apart(&mut random, neighbor_of_nobody);
            }
        }
        run.inject(&mut random);
        waited = waited.max(run.router.stats().queues.queued_packets);
        let times = random.below(6);
        run.deliver(&mut random, times);
        if step % 3 == 0 {
            run.deliver_all(&mut random);
        }
        let out = run.router.advance([0, 10_000, MS, 20 * MS][random.below(4) as usize]);
        run.see(&out);
    }
    run.end(&mut random);
    (run.out, waited)
}

/// Numbers of runs, and what they found once: flows overtook themselves when rows went while their leaves were with
/// several workers.
fn seeds(count: u64) -> impl Iterator<Item = u64> {
    tollway_testkit::seeds(count).chain([95, 105, 118, 152, 162, 182, 199, 203, 316, 352, 366, 393])
}

#[test]
fn no_packet_is_lost_or_doubled_and_no_flow_reordered() {
    let (mut out, mut waited) = (0, 0);
    for seed in seeds(80) {
        let done = std::panic::catch_unwind(|| run(seed));
        let (passed, most) = done.unwrap_or_else(|_| panic!("seed {seed}"));
        (out, waited) = (out + passed, waited + most);
    }
    assert!(out > 10_000 && waited > 1_000, "{out} {waited}");
}

#[test]
fn workers_that_take_over_a_change_one_after_the_other_reorder_no_flow() {
    let (mut out, mut waited) = (0, 0);
    // What was found once: a row that came back while its worker still had it, and a change to trees of queues from
    // none while the change before it was under way.
    for seed in tollway_testkit::seeds(40).chain([528, 5834]) {
        let done = std::panic::catch_unwind(|| run_apart(seed, false));
        let (passed, most) = done.unwrap_or_else(|_| panic!("seed {seed}"));
        (out, waited) = (out + passed, waited + most);
    }
    assert!(out > 10_000 && waited > 1_000, "{out} {waited}");
}

/// While the queues' change is under way, another one comes that leaves them as they are.
#[test]
fn a_change_of_something_else_meanwhile_reorders_no_flow() {
    let (mut out, mut waited) = (0, 0);
    for seed in tollway_testkit::seeds(40) {
        let done = std::panic::catch_unwind(|| run_apart(seed, true));
        let (passed, most) = done.unwrap_or_else(|_| panic!("seed {seed}"));
        (out, waited) = (out + passed, waited + most);
    }
    assert!(out > 10_000 && waited > 1_000, "{out} {waited}");
}
