//! A queue is with the worker whose packets it gets: it goes there by itself, and nothing is overtaken, lost or let
//! through too early on the way. Without connection tracking the worker that receives a packet forwards it.

use std::collections::BTreeMap;

use tollway_config::dataplane::{InterfaceQueue, PcqClassifier, QueueType};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::random::Random;
use tollway_testkit::router::{Output, port_mac};
use tollway_testkit::{Packet, Router, RouterConfig, queue};

const SERVER: &str = "203.0.113.5";
const HOST: &str = "192.168.88.10";
const MS: u64 = 1_000_000;
const LEN: usize = 500;

fn router(workers: u32, rate: u64) -> Router {
    let config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false)
        .queue(&[HOST], rate, rate);
    Router::with_workers(config, workers)
}

/// A packet of one of the host's flows.
fn packet(flow: u16, number: u16) -> (u16, Vec<u8>, VnetState) {
    let packet = PacketBuilder::ipv4(HOST, SERVER).udp(4000 + flow, 53).ident(number).payload_len(LEN - 28);
    (0, packet.eth_dst(port_mac(0)).build(), VnetState::default())
}

#[test]
fn the_average_of_bursts_goes_with_the_queue() {
    // 2M, and 4M while the average of 16 s is below 1.5M.
    let bits = |workers: u32, second: usize| {
        let mut router = router(workers, 2_000_000);
        router.reconfigure(|config| {
            for queue in &mut config.simple_queues {
                let limit = &mut queue.upload;
                (limit.burst_limit, limit.burst_threshold, limit.burst_time_ms) =
                    (4_000_000, 1_500_000, 16_000);
            }
        });
        let mut rates = Vec::new();
        let mut number = 0;
        for at in 0..40 {
            let (worker, flow) = if at < 20 { (0, 0) } else { (second, 1) };
            // 5 Mbit/s; at 20 s what waits leaves, and then the other flow begins gently.
            let packets = if at == 20 { 1 } else { 13 };
            let mut passed = 0;
            for _ in 0..100 {
                number += packets;
                let frames = (number - packets..number).map(|number| packet(flow, number)).collect();
                passed += router.inject_batch(worker, frames).len() + router.advance_ms(10).len();
            }
            rates.push(passed as u64 * LEN as u64 * 8);
        }
        rates
    };
    let alone = bits(1, 0);
    let moved = bits(2, 1);
    assert!(alone[2] > 3_500_000, "a burst: {alone:?}");
    assert!(alone[18] < 2_100_000 && alone[25] < 2_100_000, "none any more: {alone:?}");
    for (second, (alone, moved)) in alone.iter().zip(&moved).enumerate() {
        assert!(alone.abs_diff(*moved) < 200_000, "second {second}: {moved} of {alone}");
    }
}

/// Flows, each of which one worker receives.
#[derive(Default)]
struct Flows {
    sent: BTreeMap<u16, u16>,
    seen: BTreeMap<u16, u16>,
    out: u64,
}

impl Flows {
    fn send(&mut self, router: &mut Router, worker: usize, flow: u16, packets: u16) -> u64 {
        let number = self.sent.entry(flow).or_default();
        let frames = (1..=packets).map(|next| packet(flow, *number + next)).collect();
        *number += packets;
        let out = router.inject_batch(worker, frames);
        self.see(&out);
        out.len() as u64
    }

    fn see(&mut self, out: &[Output]) {
        for output in out {
            let flow = Packet::read(&output.bytes).expect("IPv4").ports.0 - 4000;
            let number = u16::from_be_bytes([output.bytes[18], output.bytes[19]]);
            let before = self.seen.insert(flow, number);
            assert!(before < Some(number), "packet {number} of flow {flow} after {before:?}");
        }
        self.out += out.len() as u64;
    }
}

fn handed_over(router: &Router) -> u64 {
    router.stats().handover_packets
}

fn passed(router: &Router) -> u64 {
    router.queues()[0].directions[0].packets
}

#[test]
fn a_flow_alone_stays_with_its_worker_whichever_that_is() {
    for workers in 1..=4 {
        for worker in 0..workers as usize {
            let mut router = router(workers, 0);
            let mut flows = Flows::default();
            for _ in 0..50 {
                flows.send(&mut router, worker, 0, 3);
            }
            assert_eq!((handed_over(&router), passed(&router), flows.out), (0, 150, 150));
            assert_eq!(router.queues()[0].worker, worker as u32);
        }
    }
}

#[test]
fn a_queue_goes_to_the_only_worker_that_uses_it_and_back() {
    let mut router = router(3, 0);
    let mut flows = Flows::default();
    flows.send(&mut router, 2, 0, 1);
    for turn in 0..4u16 {
        let (worker, flow) = if turn % 2 == 0 { (0, 1) } else { (2, 0) };
        let before = handed_over(&router);
        for _ in 0..100 {
            flows.send(&mut router, worker, flow, 1);
        }
        let moved = handed_over(&router) - before;
        assert!((16..=20).contains(&moved), "{moved} packets were handed over until the queue came");
    }
    assert_eq!((passed(&router), flows.out), (401, 401));
}

#[test]
fn a_queue_that_two_workers_use_stays() {
    let mut router = router(2, 0);
    let mut flows = Flows::default();
    for _ in 0..200 {
        flows.send(&mut router, 0, 0, 1);
        flows.send(&mut router, 1, 1, 3);
    }
    assert_eq!(handed_over(&router), 600, "all packets of the second worker, and none of the first");
    assert_eq!((passed(&router), flows.out), (800, 800));
}

#[test]
fn a_queue_that_two_workers_use_goes_to_and_fro_while_both_have_little_to_do() {
    for rate in [0, 100_000_000] {
        let mut router = router(2, rate);
        router.sleeps = true;
        let mut flows = Flows::default();
        flows.send(&mut router, 0, 0, 1);
        flows.send(&mut router, 1, 1, 3);
        assert_eq!(handed_over(&router), 3, "nobody knew that both use it");
        for _ in 0..200 {
            for (worker, packets) in [(0, 1), (1, 3)] {
                flows.send(&mut router, worker, worker as u16, packets);
                flows.see(&router.advance(40_000));
            }
        }
        assert_eq!(handed_over(&router), 3);
        assert_eq!((passed(&router), flows.out), (804, 804));
    }
}

#[test]
fn a_queue_that_no_other_worker_uses_any_more_stays_again() {
    let mut router = router(2, 0);
    router.sleeps = true;
    let mut flows = Flows::default();
    flows.send(&mut router, 0, 0, 1);
    flows.send(&mut router, 1, 1, 1);
    for _ in 0..20 {
        flows.send(&mut router, 0, 0, 1);
        flows.see(&router.advance(40_000));
    }
    // It is not let go any more: the other worker has to ask.
    flows.send(&mut router, 1, 1, 1);
    assert_eq!(handed_over(&router), 2);
    // And then it is again.
    flows.send(&mut router, 0, 0, 1);
    flows.send(&mut router, 1, 1, 1);
    assert_eq!((handed_over(&router), flows.out), (2, 25));
}

#[test]
fn thousands_of_queues_are_let_go_by_and_by() {
    const ROWS: u32 = 1000;
    let host = |row: u32| format!("192.168.{}.{}", 80 + row / 200, 1 + row % 200);
    let mut router = router(2, 0);
    router.reconfigure(|config| {
        config.simple_queues = (0..ROWS).map(|row| queue(row + 1, &[&host(row)], 0, 0)).collect()
    });
    let send_to_all = |router: &mut Router, worker: usize| {
        let before = handed_over(router);
        for row in 0..ROWS {
            let packet = PacketBuilder::ipv4(&host(row), SERVER).udp(4000 + worker as u16, 53);
            let frame = packet.payload_len(LEN - 28).eth_dst(port_mac(0)).build();
            assert_eq!(router.inject_batch(worker, vec![(0, frame, VnetState::default())]).len(), 1);
        }
        handed_over(router) - before
    };
    send_to_all(&mut router, 0);
    assert_eq!(send_to_all(&mut router, 1), u64::from(ROWS));
    router.sleeps = true;
    router.inject_batch(0, Vec::new());
    router.sleeps = false;
    let left = send_to_all(&mut router, 1);
    assert!((1..u64::from(ROWS)).contains(&left), "{left} of {ROWS} stay for now");
    router.sleeps = true;
    (0..10).for_each(|_| drop(router.inject_batch(0, Vec::new())));
    assert_eq!(send_to_all(&mut router, 1), 0);
}

#[test]
fn a_queue_whose_packets_wait_for_a_port_stays() {
    let mut router = router(2, 0);
    router.sleeps = true;
    router.reconfigure(|config| {
        let queue_type = config.queue_types.len() as u32;
        config.queue_types.push(QueueType::Pfifo { limit: 100 });
        config.interface_queues = vec![InterfaceQueue { interface: 2, queue_type }];
    });
    let mut flows = Flows::default();
    flows.send(&mut router, 0, 0, 1);
    flows.send(&mut router, 1, 1, 1);
    router.set_port_blocked(0, 1, true);
    // Nothing waits in the queue itself.
    assert_eq!(flows.send(&mut router, 0, 0, 3), 0);
    // The other worker does not sleep from now on.
    router.sleeps = false;
    flows.send(&mut router, 1, 1, 1);
    flows.send(&mut router, 0, 0, 1);
    router.set_port_blocked(0, 1, false);
    flows.see(&router.advance(MS));
    assert_eq!(flows.out, 7);
}

#[test]
fn a_queue_that_counts_streams_of_its_own_does_not_go_to_and_fro() {
    let mut router = router(2, 0);
    router.sleeps = true;
    router.reconfigure(|config| {
        config.simple_queues[0].upload.queue_type = config.queue_types.len() as u32;
        config.queue_types.push(QueueType::Pcq {
            rate: 10_000_000,
            limit: 50_000,
            total_limit: 1 << 20,
            classifier: vec![PcqClassifier::SrcAddress],
            burst_rate: 0,
            burst_threshold: 0,
            burst_time_ms: 10_000,
            src_address_mask: 32,
            dst_address_mask: 32,
            src_address6_mask: 128,
            dst_address6_mask: 128,
        });
    });
    let mut flows = Flows::default();
    for _ in 0..200 {
        flows.send(&mut router, 0, 0, 1);
        flows.send(&mut router, 1, 1, 3);
        flows.see(&router.advance(4 * MS));
    }
    assert_eq!(handed_over(&router), 600);
}

#[test]
fn a_queue_in_which_packets_wait_stays() {
    let mut router = router(2, 1_000_000);
    let mut flows = Flows::default();
    // More than the bucket holds; from then on twice the rate.
    flows.send(&mut router, 0, 0, 60);
    for _ in 0..1_000 {
        flows.send(&mut router, 1, 1, 2);
        let out = router.advance(4 * MS);
        flows.see(&out);
    }
    let held = router.stats().held;
    assert!(held > 0);
    let before = handed_over(&router);
    for _ in 0..100 {
        flows.send(&mut router, 1, 1, 2);
        let out = router.advance(4 * MS);
        flows.see(&out);
    }
    assert_eq!(handed_over(&router) - before, 200);
    let out = router.advance_ms(10_000);
    flows.see(&out);
    assert_eq!(router.stats().held, 0);
    // Now that none waits it goes.
    for _ in 0..100 {
        flows.send(&mut router, 1, 1, 1);
        let out = router.advance(8 * MS);
        flows.see(&out);
    }
    assert!(handed_over(&router) - before <= 200 + 20);
}

#[test]
fn a_queue_stays_while_packets_are_on_their_way_to_it() {
    let mut router = router(2, 0);
    let mut flows = Flows::default();
    flows.send(&mut router, 0, 0, 1);
    router.delay_handovers = true;
    flows.send(&mut router, 1, 1, 50);
    // All but the last arrive, which would be enough to let the queue go.
    let out = router.deliver_handovers(49);
    flows.see(&out);
    assert_eq!(flows.send(&mut router, 1, 1, 10), 0, "these would overtake it");
    let out = router.deliver_handovers(11);
    flows.see(&out);
    assert_eq!(flows.send(&mut router, 1, 1, 10), 10);
    assert_eq!((passed(&router), flows.out), (71, 71));
}

#[test]
fn packets_that_were_not_taken_do_not_tie_the_queue() {
    let mut router = router(2, 0);
    let mut flows = Flows::default();
    flows.send(&mut router, 0, 0, 1);
    router.refuse_handovers = true;
    for _ in 0..30 {
        assert_eq!(flows.send(&mut router, 1, 1, 1), 0);
    }
    assert_eq!(router.refused, 30);
    router.refuse_handovers = false;
    for _ in 0..100 {
        flows.send(&mut router, 1, 1, 1);
    }
    assert!((16..=20).contains(&handed_over(&router)), "{}", handed_over(&router));
    assert_eq!((passed(&router), flows.out), (101, 101));
}

/// However often the queue moves, each window lets through what one bucket does.
#[test]
fn a_moving_queue_lets_pass_its_rate_and_no_more() {
    const RATE: u64 = 10_000_000;
    let mut moves = 0;
    for seed in tollway_testkit::seeds(20) {
        let mut random = Random::new(seed);
        let mut router = router(3, RATE);
        router.sleeps = seed % 2 == 1;
        let mut flows = Flows::default();
        let mut arrivals: Vec<(u64, u64)> = Vec::new();
        let mut owner = None;
        for _ in 0..60 {
            // Now slower than the rate, so that the queue may go, now faster.
            let (worker, gap) =
                (random.below(3) as usize, [20_000, 300_000, 500_000][random.below(3) as usize]);
            for _ in 0..random.below(120) {
                let mut out = flows.send(&mut router, worker, worker as u16, 1);
                let sent = router.advance(gap);
                flows.see(&sent);
                out += sent.len() as u64;
                arrivals.push((router.now().0, out * LEN as u64 * 8));
            }
            let has = router.queues()[0].worker;
            moves += u64::from(owner.replace(has).is_some_and(|before| before != has));
        }
        let depth = RATE / 10;
        for from in (0..arrivals.len()).step_by(37) {
            let mut bits = 0;
            for &(at, sent) in &arrivals[from..] {
                bits += sent;
                // A step of the clock, for packets are seen at its end.
                let elapsed = at - arrivals[from].0 + 1_000_000;
                let bound = RATE * elapsed / 1_000_000_000 + depth + LEN as u64 * 8;
                assert!(bits <= bound, "seed {seed}: {bits} bits in {elapsed} ns, at most {bound}");
            }
        }
        let out = router.advance_ms(60_000);
        flows.see(&out);
        let stats = router.stats();
        let sent: u64 = flows.sent.values().map(|&sent| u64::from(sent)).sum();
        assert_eq!(sent, flows.out + stats.queues.dropped_packets);
        assert_eq!(passed(&router), flows.out);
    }
    assert!(moves > 20, "the queue moved {moves} times");
}

/// The worker that receives a flow's packets has an older configuration than the one that has the queue.
#[test]
fn a_packet_sent_to_a_queue_that_does_not_take_it_any_more_waits_for_both_workers_to_know() {
    let mut router = router(2, 1_000_000);
    let mut flows = Flows::default();
    let waiting = 60 - flows.send(&mut router, 0, 0, 60);
    assert!(waiting > 0);
    let row = router.queues()[0].row;
    router.prepare(|config| config.simple_queues.insert(0, queue(row + 1, &[HOST], 0, 0)));
    router.activate(0);
    assert_eq!(flows.send(&mut router, 1, 1, 5), 0, "what the worker sends by itself might overtake them");
    assert_eq!(router.stats().held, waiting + 5);
    router.activate(1);
    let out = router.advance(0);
    flows.see(&out);
    assert_eq!((out.len() as u64, router.stats().held), (waiting + 5, 0));
    assert_eq!(flows.send(&mut router, 1, 1, 5), 5);
    assert_eq!(router.queues()[0].directions[0].packets, 65, "they are counted where they were sent");
}
