//! Simple queues: who is held to which rate, what waits, and what a change of configuration does to it.

use std::collections::BTreeMap;

use tollway_config::dataplane::ConnectionState;
use tollway_engine::packet::frame::VnetState;
use tollway_engine::packet::verdict::DropReason;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::record::QueuePartRecord;
use tollway_testkit::router::{Output, To, port_mac};
use tollway_testkit::{Counter, Router, RouterConfig, expect_counters, pfifo, rule};

const SERVER: &str = "203.0.113.5";
const MS: u64 = 1_000_000;
const ESTABLISHED: &[ConnectionState] = &[ConnectionState::Established, ConnectionState::Related];

/// A LAN, a way out, and both next hops known.
fn plain() -> RouterConfig {
    let mut config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false);
    for host in 2..120 {
        let mac = format!("02:01:c0:a8:58:{host:02x}");
        config = config.neighbor(1, &format!("192.168.88.{host}"), &mac, false);
    }
    config
}

fn masquerading() -> RouterConfig {
    plain()
        .filter("forward", rule().state(ESTABLISHED).fasttrack())
        .filter("forward", rule().state(ESTABLISHED).accept())
        .nat("srcnat", rule().out_interface(2).masquerade())
}

fn upload(host: &str, port: u16, ident: u16, len: usize) -> (u16, Vec<u8>, VnetState) {
    let packet = PacketBuilder::ipv4(host, SERVER).udp(port, 53).ident(ident).payload_len(len - 28);
    (0, packet.eth_dst(port_mac(0)).build(), VnetState::default())
}

/// Offers packets of `len` bytes at `offered` bits/s for `ms`; returns what came out with its time.
fn saturate(router: &mut Router, host: &str, len: usize, offered: u64, ms: u64) -> Vec<(u64, Output)> {
    let gap = (len as u64 * 8 * 1_000_000_000 / offered).max(1);
    // Worker loops take several packets at a time from a fast port.
    let burst = (200_000 / gap).clamp(1, 200);
    let end = router.now().0 + ms * MS;
    let mut out = Vec::new();
    let mut ident = 0u16;
    while router.now().0 < end {
        let frames = (0..burst)
            .map(|_| {
                ident = ident.wrapping_add(1);
                upload(host, 4000, ident, len)
            })
            .collect();
        let sent = router.inject_batch(0, frames);
        let now = router.now().0;
        out.extend(sent.into_iter().map(|output| (now, output)));
        let until = now + burst * gap;
        while router.now().0 < until {
            let step = (until - router.now().0).min(100_000);
            let sent = router.advance(step);
            let now = router.now().0;
            out.extend(sent.into_iter().map(|output| (now, output)));
        }
    }
    out
}

fn ways(router: &Router, row: u32) -> [QueuePartRecord; 2] {
    router.queues().into_iter().find(|record| record.row == row).expect("the queue").directions
}

#[test]
fn a_saturated_queue_passes_its_rate_and_no_more() {
    for (rate, len, ms) in [
        (64_000, 64, 60_000),
        (64_000, 1500, 60_000),
        (1_000_000, 300, 10_000),
        (20_000_000, 1500, 6_000),
        (20_000_000, 64, 2_000),
        (300_000_000, 700, 1_000),
        (1_000_000_000, 1500, 500),
        (10_000_000_000, 1500, 150),
    ] {
        for config in [plain(), masquerading()] {
            if rate > 1_000_000_000 && !config.config.nat.is_empty() {
                continue;
            }
            let mut router = Router::new(config.queue(&["192.168.88.10/32"], rate, 0));
            // The burst of a full bucket passes first.
            let warm_up = if rate == 64_000 { 2_000 } else { 250 };
            saturate(&mut router, "192.168.88.10", len, rate * 2, warm_up);
            let before = router.now().0;
            let out = saturate(&mut router, "192.168.88.10", len, rate * 2, ms);
            let bits: u64 = out.iter().map(|(_, output)| (output.bytes.len() as u64 - 14) * 8).sum();
            let due = (u128::from(rate) * u128::from(router.now().0 - before) / 1_000_000_000) as u64;
            // What comes in until the wheel's next tick goes out with it.
            assert!(
                bits <= due + len as u64 * 8 + rate / 10_000,
                "{rate} with {len} bytes: {bits} of {due} bits"
            );
            assert!(bits >= due - due / 100, "{rate} with {len} bytes: {bits} of {due} bits");
        }
    }
}

#[test]
fn packets_go_in_order_and_all_are_accounted_for() {
    let mut router = Router::new(masquerading().queue(&["192.168.88.0/24"], 5_000_000, 0));
    let out = saturate(&mut router, "192.168.88.10", 1000, 12_000_000, 2_000);
    let idents: Vec<u16> =
        out.iter().map(|(_, output)| u16::from_be_bytes([output.bytes[18], output.bytes[19]])).collect();
    assert!(idents.is_sorted(), "packets overtook each other");
    let [up, down] = ways(&router, 5000);
    assert_eq!(up.packets, out.len() as u64);
    assert_eq!(up.bytes, out.len() as u64 * 1000);
    assert_eq!(up.packets + up.dropped + u64::from(up.queued_packets), router.injected);
    assert_eq!(up.queued_packets, 50);
    assert_eq!(up.queued_bytes, 50_000);
    assert_eq!(down, QueuePartRecord::default());
    let stats = router.stats();
    assert_eq!((stats.queues.queued_packets, stats.queues.queued_bytes), (50, 50_000));
    assert_eq!(stats.queues.dropped_packets, up.dropped);
    assert_eq!(stats.held, 50);
    let (rate, pps) = (up.rate, up.packet_rate);
    assert!((4_900_000..=5_100_000).contains(&rate), "{rate}");
    assert!((612..=637).contains(&pps), "{pps}");
    // What waits leaves, and the meter goes down to nothing.
    let rest = router.advance_ms(3_000);
    assert_eq!(rest.len(), 50);
    assert_eq!(router.stats().held, 0);
    assert_eq!(ways(&router, 5000)[0].rate, 0);
    assert!(out.iter().filter(|(_, output)| output.fast).count() * 10 > out.len() * 9);
    let before = router.queues();
    assert_eq!(router.reset_queue_counters(&[5000]), before);
    assert_eq!(ways(&router, 5000)[0], down);
}

#[test]
fn nothing_is_due_when_nothing_waits() {
    let mut router = Router::new(plain().queue(&["192.168.88.10"], 1_000_000, 1_000_000));
    assert_eq!(router.deadline(), None);
    let frames = (0..40).map(|ident| upload("192.168.88.10", 4000, ident, 1000)).collect();
    let sent = router.inject_batch(0, frames);
    // 0.1 s of the rate, one packet beyond.
    assert_eq!(sent.len(), 13);
    let due = router.deadline().expect("packets wait");
    assert!(due.0 - router.now().0 <= 8 * MS + 200_000, "{due:?}");
    router.advance_ms(1_000);
    assert_eq!(router.deadline(), None);
}

#[test]
fn directions_translations_and_the_router_itself_find_their_queue() {
    let config = masquerading()
        .filter("input", rule().accept())
        .nat("dstnat", rule().protocol(17).in_interface(2).dst_port(8080).dst_nat("192.168.88.20", 80))
        .queue(&["192.168.88.10"], 0, 0)
        .queue(&["192.168.88.20"], 0, 0)
        .queue(&["192.168.88.0/24", "203.0.113.0/24"], 0, 0);
    let mut router = Router::new(config);
    let count = |router: &Router| {
        let all = router.queues();
        all.iter().map(|record| record.directions.map(|way| way.packets)).collect::<Vec<_>>()
    };
    for _ in 0..4 {
        let sent = router.inject_batch(0, vec![upload("192.168.88.10", 4000, 1, 100)]);
        let port = sent[0].packet().ports.0;
        let back = PacketBuilder::ipv4(SERVER, "10.2.0.1").udp(53, port);
        assert_eq!(router.send(1, &back)[0].to, To::Port(0));
    }
    // The destination of an upload is in the third queue, but the first one comes before it.
    assert_eq!(count(&router), [[4, 4], [0, 0], [0, 0]]);
    for _ in 0..3 {
        router.send(1, &PacketBuilder::ipv4("198.51.100.1", "10.2.0.1").udp(999, 8080));
        router.send(0, &PacketBuilder::ipv4("192.168.88.20", "198.51.100.1").udp(80, 999));
    }
    assert_eq!(count(&router), [[4, 4], [3, 3], [0, 0]]);
    // To the router and from it; both ends in a target is a download.
    router.send(0, &PacketBuilder::ipv4("192.168.88.30", "192.168.88.1").udp(9, 9));
    assert_eq!(count(&router), [[4, 4], [3, 3], [0, 1]]);
    let local = PacketBuilder::ipv4("10.2.0.1", "192.168.88.20").udp(9, 9).build_l3();
    router.send_local(&local);
    assert_eq!(count(&router), [[4, 4], [3, 4], [0, 1]]);
    // The error goes to the host whose packet was too old.
    let old = PacketBuilder::ipv4("192.168.88.10", "198.51.100.1").udp(9, 9).ttl(1);
    assert_eq!(router.send(0, &old).len(), 1);
    assert_eq!(count(&router), [[4, 5], [3, 4], [0, 1]]);
}

/// Answers to echo requests of 1,000 bytes for the router that come all at once, in a queue of 1 Mbit/s for
/// uploads, after so many ms: those that pass at once, one each 8 ms after that.
fn answered(router: &mut Router, worker: usize, count: u16, ms: u64) -> usize {
    let requests = (0..count).map(|sequence| {
        let request = PacketBuilder::ipv4("192.168.88.10", "192.168.88.1").echo_request(7, sequence);
        (0, request.payload_len(1000 - 28).eth_dst(port_mac(0)).build(), VnetState::default())
    });
    let mut out = router.inject_batch(worker, requests.collect());
    out.extend(router.advance_ms(ms));
    assert!(
        out.iter()
            .all(|output| output.to == To::Port(0) && output.packet().dst.to_string() == "192.168.88.10")
    );
    out.len()
}

fn echoing() -> RouterConfig {
    plain().queue(&["192.168.88.10"], 1_000_000, 0).with(|config| {
        config.simple_queues[0].upload.queue_type = pfifo(5);
        config.simple_queues[0].upload.bucket_ms = 0;
    })
}

#[test]
fn echo_requests_for_the_router_wait_in_their_queue() {
    for (workers, worker) in [(1, 0), (2, 0), (2, 1)] {
        let mut router = Router::with_workers(echoing(), workers);
        assert_eq!(answered(&mut router, worker, 10, 0), 1);
        // How many came by way of the other worker is another question.
        let moved = router.moved();
        let count = |counter| moved.get(&counter).copied();
        assert_eq!(count(Counter::Drop(DropReason::QueueFull)), Some(4));
        assert_eq!(count(Counter::Drop(DropReason::EchoAnswered)), Some(1));
        assert_eq!(count(Counter::Held), Some(5));
        assert_eq!(router.advance_ms(20).len(), 2);
        assert_eq!(router.advance_ms(80).len(), 3);
        assert_eq!(ways(&router, router.config().simple_queues[0].row).map(|way| way.packets), [6, 6]);
    }
}

#[test]
fn echo_requests_whose_queue_is_gone_are_answered_at_once() {
    let mut router = Router::new(echoing());
    assert_eq!(answered(&mut router, 0, 4, 0), 1);
    router.reconfigure(|config| config.simple_queues.clear());
    assert_eq!(answered(&mut router, 0, 1, 0), 4);
    let mut router = Router::new(echoing());
    assert_eq!(answered(&mut router, 0, 4, 0), 1);
    router.reconfigure(|config| config.simple_queues.clear());
    assert_eq!(router.advance_ms(1).len(), 3);
}

#[test]
fn a_full_queue_drops_what_comes_and_says_so() {
    let config = plain().queue(&["192.168.88.10"], 1_000_000, 0).with(|config| {
        config.simple_queues[0].upload.queue_type = pfifo(5);
        config.simple_queues[0].upload.bucket_ms = 0;
    });
    let mut router = Router::new(config);
    router.moved();
    let frames = (0..10).map(|ident| upload("192.168.88.10", 4000, ident, 1000)).collect();
    assert_eq!(router.inject_batch(0, frames).len(), 1);
    expect_counters!(router, Drop(QueueFull): 4, Held: 5);
    assert_eq!(router.advance_ms(100).len(), 5);
    expect_counters!(router, Held: -5);
}

#[test]
fn a_queue_that_is_short_for_its_rate_lets_pass_what_it_has_tokens_for() {
    let config = plain().queue(&["192.168.88.10"], 10_000_000_000, 0).with(|config| {
        config.simple_queues[0].upload.queue_type = pfifo(10);
        config.simple_queues[0].upload.bucket_ms = 0;
    });
    let mut router = Router::new(config);
    let mut passed = 0;
    for _ in 0..1000 {
        let frames = (0..120).map(|ident| upload("192.168.88.10", 4000, ident, 1500)).collect();
        passed += router.inject_batch(0, frames).len();
        // 83 1/3 packets' time.
        router.sleep(100_000);
    }
    assert!((83_000..=83_340).contains(&passed), "{passed}");
}

#[test]
fn when_memory_runs_out_the_longest_queue_pays() {
    let config =
        plain().queue(&["192.168.88.10"], 100_000, 0).queue(&["192.168.88.11"], 100_000, 0).with(|config| {
            for queue in &mut config.simple_queues {
                queue.upload.queue_type = pfifo(1000);
                queue.upload.bucket_ms = 0;
            }
        });
    let limits = tollway_engine::EngineLimits { queue_frames: 60, ..tollway_testkit::router::LIMITS };
    let mut router = Router::with_limits(config, 1, limits);
    let send = |router: &mut Router, host: &str, count: u16| {
        let frames = (0..count).map(|ident| upload(host, 4000, ident, 1000)).collect();
        router.inject_batch(0, frames);
    };
    send(&mut router, "192.168.88.10", 60);
    send(&mut router, "192.168.88.11", 6);
    let [long, short] = [5000, 5001].map(|row| ways(&router, row)[0]);
    assert_eq!((long.queued_packets, long.dropped), (55, 4));
    assert_eq!((short.queued_packets, short.dropped), (5, 0));
    assert_eq!(router.stats().drop_stats()[0].reason, "queue-memory");
    let first = router.advance_ms(200);
    let idents: Vec<u8> = first.iter().map(|output| output.bytes[19]).collect();
    assert!(idents.contains(&5) && !idents.contains(&4), "the oldest go first: {idents:?}");
}

#[test]
fn fifty_of_a_thousand_queues_each_get_their_rate() {
    let mut config = masquerading();
    for number in 0..1000 {
        let host = format!("192.168.{}.{}", 88 + number / 250, 2 + number % 250);
        config = config.queue(&[&host], 2_000_000, 2_000_000);
    }
    let mut router = Router::with_workers(config, 2);
    let active: Vec<u32> = (0..50).map(|number| number * 5).collect();
    let count = |router: &Router| {
        let records = router.queues();
        active.iter().map(|&number| records[number as usize].directions[0].bytes).collect::<Vec<_>>()
    };
    let mut before = Vec::new();
    for turn in 0..1_500u16 {
        if turn == 500 {
            before = count(&router);
        }
        for (at, &number) in active.iter().enumerate() {
            // 3 Mbit/s each, in turns of 4 ms.
            let host = format!("192.168.88.{}", 2 + number % 250);
            router.inject_batch(at % 2, vec![upload(&host, 4000 + at as u16, turn, 1500)]);
        }
        router.advance(4 * MS);
    }
    for (number, (before, after)) in before.iter().zip(count(&router)).enumerate() {
        let due = 4 * 2_000_000 / 8;
        let got = after - before;
        assert!((due - due / 100..=due + 1500).contains(&got), "queue {number}: {got} of {due} bytes");
    }
    let workers: std::collections::BTreeSet<u32> =
        router.queues().iter().map(|record| record.worker).collect();
    assert_eq!(workers.len(), 2);
}

#[test]
fn two_hosts_with_queues_do_not_disturb_each_other() {
    let config =
        masquerading().queue(&["192.168.88.10"], 20_000_000, 0).queue(&["192.168.88.11"], 5_000_000, 0);
    let mut router = Router::new(config);
    let mut sums = BTreeMap::new();
    let start = router.now().0 + 500 * MS;
    for turn in 0..30_000u64 {
        // 120 and 60 Mbit/s in turns of 200 µs.
        let frames = [("192.168.88.10", 2), ("192.168.88.11", 1)]
            .iter()
            .flat_map(|&(host, count)| (0..count).map(move |_| upload(host, 4000, turn as u16, 1500)))
            .collect();
        let mut out = router.inject_batch(0, frames);
        out.extend(router.advance(200_000));
        if router.now().0 > start {
            for output in &out {
                *sums.entry(output.packet().src).or_insert(0) += output.bytes.len() as u64 - 14;
            }
        }
    }
    let seconds = (router.now().0 - start) as f64 / 1e9;
    // Both are masqueraded, so the sum of both is what is seen.
    let bits = sums.values().sum::<u64>() as f64 * 8.0 / seconds;
    assert!((24_750_000.0..=25_010_000.0).contains(&bits), "{bits}");
    let passed = [5000, 5001].map(|row| ways(&router, row)[0].rate);
    assert!((19_800_000..=20_012_000).contains(&passed[0]), "{passed:?}");
    assert!((4_950_000..=5_012_000).contains(&passed[1]), "{passed:?}");
}
