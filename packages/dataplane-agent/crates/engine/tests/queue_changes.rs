//! What changes of the configuration, several workers and chance do to packets that wait in queues.

use std::collections::BTreeMap;

use tollway_config::dataplane::{ConnectionState, DataplaneConfig};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::{Packet, PacketBuilder};
use tollway_testkit::random::Random;
use tollway_testkit::router::{Output, To, port_mac};
use tollway_testkit::{Router, RouterConfig, pfifo, queue, rule};

const SERVER: &str = "203.0.113.5";
const MS: u64 = 1_000_000;
const ESTABLISHED: &[ConnectionState] = &[ConnectionState::Established, ConnectionState::Related];

fn plain() -> RouterConfig {
    let mut config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false);
    for host in 10..20 {
        let mac = format!("02:01:c0:a8:58:{host:02x}");
        config = config.neighbor(1, &format!("192.168.88.{host}"), &mac, false);
    }
    config
}

fn tracked() -> RouterConfig {
    plain()
        .filter("forward", rule().state(ESTABLISHED).fasttrack())
        .filter("forward", rule().state(ESTABLISHED).accept())
}

/// The `number`-th packet of a flow of a host; the number stands in its identification.
fn packet(host: u8, port: u16, number: u16, len: usize) -> (u16, Vec<u8>, VnetState) {
    let packet = PacketBuilder::ipv4(&format!("192.168.88.{host}"), SERVER).udp(port, 53);
    let frame = packet.ident(number).payload_len(len - 28).eth_dst(port_mac(0)).build();
    (0, frame, VnetState::default())
}

fn numbers(out: &[Output]) -> Vec<u16> {
    out.iter().map(|output| u16::from_be_bytes([output.bytes[18], output.bytes[19]])).collect()
}

fn waiting(router: &Router, row: u32) -> u32 {
    let records = router.queues();
    let record = records.iter().find(|record| record.row == row).expect("the queue");
    record.directions[0].queued_packets
}

#[test]
fn importing_a_thousand_queues_changes_nothing_for_one_that_runs() {
    let mut routers = [0, 1].map(|_| Router::new(tracked().queue(&["192.168.88.10"], 5_000_000, 0)));
    let mut number = 0;
    for turn in 0..3_000 {
        if turn == 1_000 {
            routers[1].reconfigure(|config| {
                let others = (0..1000u32).map(|at| {
                    queue(9000 + at, &[&format!("172.16.{}.{}", at / 250, at % 250)], 1_000_000, 1_000_000)
                });
                let (front, back): (Vec<_>, Vec<_>) = others.partition(|queue| queue.row % 2 == 0);
                config.simple_queues.splice(0..0, front);
                config.simple_queues.extend(back);
            });
            assert_eq!(routers[1].queues().len(), 1001);
        }
        if turn == 2_000 {
            routers[1].reconfigure(|config| {
                config.simple_queues.retain(|queue| queue.row == 5000 || queue.row % 3 == 0)
            });
        }
        number += 2;
        let outcomes = routers.each_mut().map(|router| {
            let mut out = router
                .inject_batch(0, vec![packet(10, 4000, number - 1, 900), packet(10, 4000, number, 900)]);
            out.extend(router.advance(MS));
            (router.now(), numbers(&out), router.queues().into_iter().find(|record| record.row == 5000))
        });
        assert_eq!(outcomes[0], outcomes[1], "turn {turn}");
    }
}

/// Fills a queue of host 10 and one of host 11 that are too slow for anything.
fn filled(change: impl FnOnce(&mut DataplaneConfig)) -> Router {
    let config =
        tracked().queue(&["192.168.88.10"], 80_000, 0).queue(&["192.168.88.11"], 80_000, 0).with(|config| {
            for queue in &mut config.simple_queues {
                queue.upload.bucket_ms = 0;
            }
        });
    let mut router = Router::new(config);
    let frames = (0..20).flat_map(|number| [packet(10, 4000, number, 1000), packet(11, 4000, number, 1000)]);
    assert_eq!(router.inject_batch(0, frames.collect()).len(), 2);
    assert_eq!((waiting(&router, 5000), waiting(&router, 5001)), (19, 19));
    router.reconfigure(change);
    router
}

#[test]
fn a_queue_that_is_gone_sends_its_packets_before_any_that_come_later() {
    let mut router = filled(|config| {
        config.simple_queues.remove(0);
    });
    assert_eq!(router.deadline(), Some(router.now()));
    let out = router.inject_batch(0, vec![packet(10, 4000, 20, 1000), packet(10, 4000, 21, 1000)]);
    assert_eq!(numbers(&out), (1..22).collect::<Vec<_>>());
    assert_eq!(waiting(&router, 5001), 19);
    let stats = router.stats();
    assert_eq!((stats.queues.queued_packets, stats.held), (19, 19));
}

#[test]
fn without_packets_the_timer_sends_those_of_a_queue_that_is_gone() {
    let mut router = filled(|config| config.simple_queues.clear());
    assert_eq!(router.advance(0).len(), 38);
    assert_eq!(router.stats().held, 0);
    assert_eq!(router.deadline().filter(|due| due.0 < router.now().0 + 1_000 * MS), None);
}

#[test]
fn packets_whose_queue_is_another_one_leave_the_old_one() {
    // A queue before the others takes the flows of host 11.
    let mut router = filled(|config| {
        config.simple_queues.insert(0, queue(5002, &["192.168.88.11", "192.168.88.12"], 80_000, 0));
    });
    let out = router.inject_batch(0, vec![packet(11, 4000, 20, 1000), packet(10, 4000, 20, 1000)]);
    assert_eq!(numbers(&out), (1..21).collect::<Vec<_>>());
    assert_eq!((waiting(&router, 5000), waiting(&router, 5001)), (20, 0));
    // What went early is charged: nothing more passes for as long as 19 packets take.
    let up = router
        .queues()
        .into_iter()
        .find(|record| record.row == 5001)
        .map(|record| record.directions[0].packets);
    assert_eq!(up, Some(20));
    // Back in the old place, in which it still has its debts.
    router.reconfigure(|config| {
        config.simple_queues.remove(0);
    });
    assert_eq!(router.inject_batch(0, vec![packet(11, 4000, 21, 1000)]).len(), 0);
    assert_eq!(
        router.advance_ms(1_000).iter().filter(|out| numbers(std::slice::from_ref(out)) == [21]).count(),
        0
    );
}

#[test]
fn a_changed_rate_keeps_the_packets_and_counts_from_then_on() {
    let mut router = filled(|config| config.simple_queues[0].upload.max_limit = 8_000_000);
    assert_eq!(waiting(&router, 5000), 19);
    let out = router.advance_ms(40);
    let fast = out.iter().filter(|output| output.packet().src.octets()[3] == 10).count();
    assert_eq!(fast, 19, "1 ms a packet, after the debt of one");
    assert_eq!(waiting(&router, 5001), 19);
    let mut router = filled(|config| config.simple_queues[0].upload.max_limit = 0);
    assert_eq!(router.advance(0).len(), 19);
    assert_eq!(router.inject_batch(0, vec![packet(10, 4000, 20, 1000)]).len(), 1);
}

#[test]
fn a_queue_that_becomes_a_parent_or_ceases_to_be_one_goes_on_counting() {
    const TOP: u32 = 9000;
    let shapes: [&[(u32, Option<u32>)]; 3] = [
        &[(TOP, None)],
        &[(TOP, None), (TOP + 1, Some(TOP))],
        &[(TOP, None), (TOP + 1, Some(TOP)), (TOP + 2, Some(TOP + 1))],
    ];
    let shape = |config: &mut DataplaneConfig, rows: &[(u32, Option<u32>)]| {
        let rows = rows.iter().map(|&(row, parent)| {
            let mut queue = queue(row, &["192.168.88.0/24"], 400_000, 0);
            queue.parent = parent;
            queue
        });
        config.simple_queues = rows.collect();
    };
    for workers in [1, 2] {
        let mut router = Router::with_workers(plain(), workers);
        let (mut number, mut since, mut counted) = (0, 0, [0; 3]);
        for (turn, at) in [0, 1, 0, 2, 1, 2, 0, 1, 0, 0, 2].into_iter().enumerate() {
            router.reconfigure(|config| shape(config, shapes[at]));
            for worker in 0..workers as usize {
                let frames = (0..20).map(|_| {
                    number += 1;
                    packet(10 + worker as u8, 4000, number, 500)
                });
                router.inject_batch(worker, frames.collect());
            }
            // Now and then packets wait while the shape changes.
            router.advance_ms(if turn % 3 == 0 { 1 } else { 2_000 });
            let records = router.queues();
            let all = |row| {
                let record = records.iter().find(|record| record.row == row);
                record.map_or(0, |record| record.directions[0].packets + record.directions[0].dropped)
            };
            let waits = router.stats().queues.queued_packets;
            assert_eq!(all(TOP) + waits, u64::from(number) - since, "turn {turn}, {workers} workers");
            // That of the middle one as well, as long as it is there.
            for (at, row) in (0..).zip([TOP, TOP + 1, TOP + 2]) {
                let there = records.iter().any(|record| record.row == row);
                assert!(!there || all(row) >= counted[at], "row {row} in turn {turn}");
                counted[at] = if there { all(row) } else { 0 };
            }
            if turn == 5 {
                router.advance_ms(5_000);
                router.reset_queue_counters(&[]);
                (since, counted) = (u64::from(number), [0; 3]);
            }
        }
    }
}

#[test]
fn a_parent_that_was_gone_counts_from_zero() {
    const PARENT: u32 = 9000;
    let tree = |config: &mut DataplaneConfig| {
        let mut child = queue(9001, &["192.168.88.10"], 10_000_000, 0);
        child.parent = Some(PARENT);
        config.simple_queues = vec![queue(PARENT, &["192.168.88.0/24"], 20_000_000, 0), child];
    };
    let mut router = Router::new(plain());
    router.reconfigure(tree);
    router.inject_batch(0, (0..50).map(|number| packet(10, 4000, number, 500)).collect());
    router.advance_ms(1_000);
    router.reset_queue_counters(&[]);
    router.reconfigure(|config| config.simple_queues.clear());
    router.reconfigure(tree);
    router.inject_batch(0, vec![packet(10, 4000, 50, 500)]);
    for record in router.queues() {
        assert_eq!(
            (record.directions[0].packets, record.directions[0].bytes),
            (1, 500),
            "row {}",
            record.row
        );
    }
}

#[test]
fn a_lower_packet_limit_drops_nothing_that_waits() {
    let mut router = filled(|config| config.simple_queues[0].upload.queue_type = pfifo(5));
    assert_eq!(waiting(&router, 5000), 19);
    router.inject_batch(0, vec![packet(10, 4000, 20, 1000)]);
    assert_eq!(waiting(&router, 5000), 19);
    assert_eq!(router.stats().queues.dropped_packets, 1);
}

#[test]
fn two_workers_a_configuration_apart_find_the_queue_by_its_row() {
    // Rows enough for queues of both workers.
    let config = || {
        (0..8).fold(tracked(), |config, host| {
            config.queue(&[&format!("192.168.88.{}", 10 + host)], 1_000_000, 0)
        })
    };
    let mut router = Router::with_workers(config(), 2);
    let send = |router: &mut Router, number: u16, out_at_once: usize| {
        let mut out = Vec::new();
        for host in 10..18 {
            // The first packet of a queue comes now at one worker, now at the other.
            for port in (0..4).map(|flow| 4000 + (flow + u16::from(host)) % 4) {
                out.extend(router.inject_batch(usize::from(port % 2), vec![packet(host, port, number, 100)]));
            }
        }
        assert_eq!(out.len(), out_at_once, "packet {number}");
    };
    let passed = |router: &Router| {
        router
            .queues()
            .iter()
            .map(|record| (record.row, record.directions[0].packets))
            .collect::<BTreeMap<_, _>>()
    };
    send(&mut router, 0, 32);
    // Every place in the list is another one; one row is new, one is gone.
    router.prepare(|config| {
        config.simple_queues.reverse();
        config.simple_queues.retain(|queue| queue.row != 5003);
        config.simple_queues.insert(0, queue(6000, &["192.168.88.13"], 1_000_000, 0));
    });
    router.activate(0);
    // Those that one worker has and that take another queue now wait until the other worker knows.
    send(&mut router, 1, 30);
    router.activate(1);
    assert_eq!(router.advance(0).len(), 2);
    send(&mut router, 2, 32);
    let passed = passed(&router);
    for row in (5000..5008).filter(|row| *row != 5003) {
        assert_eq!(passed[&row], 12, "row {row}");
    }
    let workers: std::collections::BTreeSet<_> = router.queues().iter().map(|record| record.worker).collect();
    assert_eq!(workers.len(), 2, "the queues should be spread");
    assert!(router.stats().handover_packets > 32);
}

/// One router in one of the ways a random run can go.
struct Run {
    router: Router,
    /// Packet numbers seen last, by flow.
    last: BTreeMap<(u8, u16), u16>,
    sent: u64,
    out: u64,
}

impl Run {
    fn new(config: RouterConfig, workers: u32, frames: u32) -> Self {
        let limits = tollway_engine::EngineLimits { queue_frames: frames, ..tollway_testkit::router::LIMITS };
        let router = Router::with_limits(config, workers, limits);
        Self { router, last: BTreeMap::new(), sent: 0, out: 0 }
    }

    fn inject(&mut self, worker: usize, frames: Vec<(u16, Vec<u8>, VnetState)>) {
        self.sent += frames.len() as u64;
        let out = self.router.inject_batch(worker % self.router.workers(), frames);
        self.see(&out);
    }

    fn see(&mut self, out: &[Output]) {
        for output in out {
            assert_eq!(output.to, To::Port(1));
            let seen = Packet::read(&output.bytes).expect("IPv4");
            assert!(seen.checksums_right);
            let number = u16::from_be_bytes([output.bytes[18], output.bytes[19]]);
            let before = self.last.insert((seen.src.octets()[3], seen.ports.0), number);
            assert!(
                before.is_none_or(|before| before < number),
                "{number} after {before:?} of {:?}",
                seen.src
            );
        }
        self.out += out.len() as u64;
    }

    fn check(&self) {
        let stats = self.router.stats();
        let drops: u64 = stats.drops.iter().sum();
        assert_eq!(self.sent, self.out + drops + stats.held);
        assert_eq!(stats.held, stats.queues.queued_packets);
        assert_eq!(drops, stats.queues.dropped_packets);
        let records = self.router.queues();
        let sum: u64 = records
            .iter()
            .flat_map(|record| record.directions)
            .map(|way| u64::from(way.queued_packets))
            .sum();
        assert!(sum <= stats.held, "{sum} wait in queues, {} in all", stats.held);
    }
}

fn random_queues(random: &mut Random) -> Vec<tollway_config::dataplane::SimpleQueue> {
    let mut rows: Vec<u32> = (5000..5008).collect();
    (0..random.below(7))
        .map(|_| {
            let row = rows.remove(random.below(rows.len() as u64) as usize);
            let host = format!("192.168.88.{}", 10 + random.below(8));
            let target =
                [host.as_str(), "192.168.88.8/29", "192.168.88.0/24", SERVER][random.below(4) as usize];
            let rate = [0, 100_000, 3_000_000, 50_000_000, 10_000_000_000][random.below(5) as usize];
            let mut queue = queue(row, &[target], rate, rate);
            for limit in [&mut queue.upload, &mut queue.download] {
                limit.queue_type = pfifo([1, 10, 1000][random.below(3) as usize]);
                limit.bucket_ms = [0, 10, 100][random.below(3) as usize];
            }
            queue
        })
        .collect()
}

/// Random packets, times and configurations.
fn run(seed: u64, workers: u32, frames: u32, track: bool) -> (u64, u64) {
    let mut random = Random::new(seed);
    let base = if track { tracked() } else { plain() };
    let queues = random_queues(&mut random);
    let mut run = Run::new(base.with(|config| config.simple_queues = queues), workers, frames);
    let mut next = BTreeMap::new();
    let mut most = 0;
    for _ in 0..150 {
        match random.below(20) {
            0 => {
                let queues = random_queues(&mut random);
                run.router.reconfigure(|config| config.simple_queues = queues);
            }
            1 => run.router.reconfigure(|config| config.simple_queues.reverse()),
            _ => {}
        }
        if workers > 1 {
            // A flow whose queue moves to another worker is in order if the old one sends first, which it
            // does at once.
            let out = run.router.advance(0);
            run.see(&out);
        }
        let frames = (0..random.below(60))
            .map(|_| {
                let (host, port) = (10 + random.below(8) as u8, 4000 + random.below(3) as u16);
                let number: &mut u16 = next.entry((host, port)).or_default();
                *number += 1;
                packet(host, port, *number, [60, 500, 1500][random.below(3) as usize])
            })
            .collect();
        run.inject(random.below(4) as usize, frames);
        run.check();
        most = most.max(run.router.stats().held);
        let ns = [0, 10_000, MS, 30 * MS][random.below(4) as usize];
        let out = run.router.advance(ns);
        run.see(&out);
        run.check();
    }
    let out = run.router.advance_ms(3_600_000);
    run.see(&out);
    run.check();
    assert_eq!(run.router.stats().held, 0, "everything leaves in the end");
    (run.out, most)
}

#[test]
fn whatever_happens_no_packet_is_lost_or_overtaken() {
    let (mut out, mut most) = (0, 0);
    for seed in tollway_testkit::seeds(120) {
        let workers = 1 + seed as u32 % 3;
        let frames = if seed % 2 == 0 { 4096 } else { 64 };
        let (passed, held) = run(seed, workers, frames, seed % 5 != 0);
        out += passed;
        most = most.max(held);
    }
    assert!(out > 100_000 && most > 500, "{out} packets, at most {most} waiting");
}

#[test]
fn several_workers_let_as_much_pass_as_one() {
    let config = || {
        (0..6).fold(tracked(), |config, host| {
            config.queue(&[&format!("192.168.88.{}", 10 + host)], 2_000_000, 0)
        })
    };
    let mut outcomes = Vec::new();
    for workers in 1..=3 {
        let mut run = Run::new(config(), workers, 4096);
        for number in 1..3_000u16 {
            let frames = (10..16).map(|host| packet(host, 4000 + u16::from(host), number, 800)).collect();
            run.inject(usize::from(number), frames);
            let out = run.router.advance(MS);
            run.see(&out);
        }
        run.check();
        let queues = run.router.queues();
        outcomes.push(queues.iter().map(|record| (record.row, record.directions)).collect::<Vec<_>>());
    }
    assert_eq!(outcomes[0], outcomes[1]);
    assert_eq!(outcomes[0], outcomes[2]);
}
