//! Packets between workers arrive late or find no room, ports take nothing for a while, and workers take over
//! configurations one after the other: no flow's packets overtake each other, none is lost, and afterwards every
//! queue can go to every worker. Without connection tracking the worker that receives a packet forwards it.

use std::collections::BTreeMap;

use tollway_config::dataplane::SimpleQueue;
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::random::Random;
use tollway_testkit::router::{Output, port_mac};
use tollway_testkit::{Packet, Router, RouterConfig, queue};

const MS: u64 = 1_000_000;
const SERVER: &str = "203.0.113.5";
const LEN: usize = 500;
const HOSTS: u16 = 3;
const FLOWS: u16 = 12;

struct Disorder {
    router: Router,
    /// Last packet of each flow, by its number.
    sent: BTreeMap<u16, u16>,
    seen: BTreeMap<u16, u16>,
    out: u64,
    random: Random,
    /// Workers that have yet to take over the last configuration.
    behind: Vec<usize>,
    /// Queues come and go. What is under way meanwhile may be overtaken.
    removes: bool,
    lost: u64,
}

impl Disorder {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut config = RouterConfig::new()
            .interface("192.168.88.1/24")
            .interface("10.2.0.1/24")
            .route("0.0.0.0/0", "10.2.0.254")
            .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false)
            .with(|config| config.simple_queues = vec![queue(1, &["192.0.2.1"], 0, 0)]);
        for host in 0..HOSTS {
            config = config.with(|config| {
                let rate = rate(&mut random);
                config.simple_queues.push(queue(row(host), &[&address(host)], rate, rate));
            });
        }
        let mut router = Router::with_workers(config, 2 + random.below(3) as u32);
        router.delay_handovers = true;
        router.sleeps = seed % 2 == 1;
        let removes = random.one_in(3);
        let (sent, seen) = (BTreeMap::new(), BTreeMap::new());
        Self { router, sent, seen, out: 0, random, behind: Vec::new(), removes, lost: 0 }
    }

    fn handed_over(&self) -> u64 {
        self.router.stats().handover_packets
    }

    fn worker(&mut self) -> usize {
        self.random.below(self.router.workers() as u64) as usize
    }

    fn see(&mut self, out: &[Output]) {
        self.out += out.len() as u64;
        for output in out {
            let flow = Packet::read(&output.bytes).expect("IPv4").ports.0 - 4000;
            let number = u16::from_be_bytes([output.bytes[18], output.bytes[19]]);
            let before = self.seen.insert(flow, number);
            assert!(self.removes || before < Some(number), "packet {number} of flow {flow} after {before:?}");
        }
    }

    /// Packets of flows that this worker receives.
    fn inject(&mut self, worker: usize, packets: u64) -> usize {
        let workers = self.router.workers();
        let own: Vec<u16> = (0..FLOWS).filter(|flow| usize::from(flow / HOSTS) % workers == worker).collect();
        let mut frames = Vec::new();
        for _ in 0..packets {
            let flow = own[self.random.below(own.len() as u64) as usize];
            let number = self.sent.entry(flow).or_default();
            *number += 1;
            let packet = PacketBuilder::ipv4(&address(flow % HOSTS), SERVER).udp(4000 + flow, 53);
            let packet = packet.ident(*number).payload_len(LEN - 28).eth_dst(port_mac(0));
            frames.push((0, packet.build(), VnetState::default()));
        }
        let out = self.router.inject_batch(worker, frames);
        self.see(&out);
        out.len()
    }

    /// Limits, the order of the list, and queues of others change: to none of these packets it makes a difference
    /// whether a worker knows already. If queues come and go it does.
    fn change(&mut self) {
        let random = &mut self.random;
        if self.removes && random.one_in(2) {
            let host = random.below(u64::from(HOSTS)) as u16;
            self.router.prepare(|config| toggle(&mut config.simple_queues, host));
            self.behind = (0..self.router.workers()).collect();
            return;
        }
        let (what, row, rate) = (random.below(4), 2 + random.below(20) as u32, rate(random));
        self.router.prepare(|config| {
            let queues = &mut config.simple_queues;
            match what {
                0 => queues.reverse(),
                1 => queues.retain(|queue| (10..10 + u32::from(HOSTS)).contains(&queue.row)),
                2 if queues.iter().all(|queue| queue.row != row) => {
                    queues.push(queue(row, &["192.0.2.2"], 0, 0))
                }
                _ => queues.iter_mut().for_each(|queue| queue.upload.max_limit = rate),
            }
        });
        self.behind = (0..self.router.workers()).collect();
    }

    fn take_over(&mut self) {
        if !self.behind.is_empty() {
            let at = self.random.below(self.behind.len() as u64) as usize;
            self.router.activate(self.behind.swap_remove(at));
        }
    }

    fn step(&mut self) {
        let worker = self.worker();
        let out = match self.random.below(16) {
            0 if self.behind.is_empty() => return self.change(),
            0..=2 => return self.take_over(),
            3 => return self.router.block(worker),
            4 | 5 => self.router.unblock(worker),
            6 => {
                self.router.refuse_handovers = self.random.one_in(3);
                return;
            }
            7..=9 => {
                let packets = 1 + self.random.below(60) as usize;
                self.router.deliver_handovers_to(worker, packets)
            }
            10 => self.router.advance([10_000, MS, 20 * MS][self.random.below(3) as usize]),
            _ => {
                let packets = 1 + self.random.below(30);
                self.inject(worker, packets);
                return;
            }
        };
        self.see(&out);
    }

    /// Everything arrives, and nothing waits.
    fn rest(&mut self) {
        self.router.refuse_handovers = false;
        while !self.behind.is_empty() {
            self.take_over();
        }
        for worker in 0..self.router.workers() {
            let out = self.router.unblock(worker);
            self.see(&out);
        }
        self.router.delay_handovers = false;
        let out = self.router.deliver_handovers(self.router.on_the_way());
        self.see(&out);
        let out = self.router.advance_ms(60_000);
        self.see(&out);
        for host in 0..HOSTS {
            let row = row(host);
            if self.router.config().simple_queues.iter().all(|queue| queue.row != row) {
                self.router.reconfigure(|config| toggle(&mut config.simple_queues, host));
            }
        }
        self.lost = self.router.refused + self.router.stats().queues.dropped_packets;
    }
}

fn address(host: u16) -> String {
    format!("192.168.88.{}", 10 + host)
}

fn row(host: u16) -> u32 {
    10 + u32::from(host)
}

/// Takes the queue of a host away, or makes it.
fn toggle(queues: &mut Vec<SimpleQueue>, host: u16) {
    let before = queues.len();
    queues.retain(|queue| queue.row != row(host));
    if queues.len() == before {
        queues.push(queue(row(host), &[&address(host)], 5_000_000, 5_000_000));
    }
}

fn rate(random: &mut Random) -> u64 {
    [0, 5_000_000, 50_000_000][random.below(3) as usize]
}

#[test]
fn whatever_is_late_nothing_is_overtaken_or_lost_and_each_queue_can_go_to_each_worker() {
    let mut handed_over_in_all = 0;
    for seed in tollway_testkit::seeds(150) {
        let mut run = Disorder::new(seed);
        for _ in 0..400 {
            run.step();
        }
        run.rest();
        assert_eq!(run.router.stats().held, 0, "seed {seed}");
        let sent: u64 = run.sent.values().map(|&sent| u64::from(sent)).sum();
        assert_eq!(sent, run.out + run.lost, "seed {seed}");
        if !run.removes {
            let passed: u64 = run.router.queues().iter().map(|queue| queue.directions[0].packets).sum();
            assert_eq!(passed, run.out, "seed {seed}");
        }
        handed_over_in_all += run.handed_over();
        // What would still be thought to be on its way would tie a queue to its worker.
        run.router.reconfigure(|config| {
            config.simple_queues.iter_mut().for_each(|queue| queue.upload.max_limit = 0)
        });
        for worker in 0..run.router.workers() {
            for _ in 0..150 {
                run.inject(worker, 1);
            }
            let before = run.handed_over();
            assert_eq!((run.inject(worker, 50), run.handed_over() - before), (50, 0), "seed {seed}");
        }
    }
    assert!(handed_over_in_all > 50_000, "{handed_over_in_all}");
}
