//! Simple queues of IPv6: who is held to which rate, by addresses before the translation of a source, and what a change
//! of configuration does to what waits.

use tollway_config::dataplane::{PcqClassifier, QueueType};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::router::{Output, To, port_mac};
use tollway_testkit::{Ipv6Builder, Router, RouterConfig, pfifo, rule};

const HOST: &str = "fd00:1::10";
const OTHER: &str = "fd00:1::11";
const SERVER: &str = "2001:db8:ff::1";
const OUTSIDE: &str = "2001:db8:2::1";
const MS: u64 = 1_000_000;

fn plain() -> RouterConfig {
    RouterConfig::new()
        .interface("fd00:1::1/64")
        .interface("2001:db8:2::1/64")
        .neighbor(1, HOST, "02:01:0a:01:00:02", false)
        .neighbor(1, OTHER, "02:01:0a:01:00:03", false)
        .neighbor(2, "2001:db8:2::fe", "02:01:0a:02:00:02", false)
        .route("::/0", "2001:db8:2::fe")
}

fn masquerading() -> RouterConfig {
    plain().ipv6_nat("srcnat", rule().out_interface(2).masquerade())
}

fn with_workers(config: RouterConfig, workers: u32) -> Router {
    let mut router = Router::with_workers(config, workers);
    router.advance_ms(1_100);
    router
}

/// A packet of `len` L3 bytes, with its number in its payload.
fn upload(host: &str, port: u16, number: u32, len: usize) -> (u16, Vec<u8>, VnetState) {
    let builder = Ipv6Builder::new(host, SERVER).udp(port, 53);
    let mut payload = number.to_be_bytes().to_vec();
    payload.resize(len - 48, 0);
    (0, builder.payload(&payload).eth_dst(port_mac(0)).build(), VnetState::default())
}

/// Number that [`upload`] has given a packet.
fn number(output: &Output) -> u32 {
    u32::from_be_bytes(output.bytes[62..66].try_into().expect("four bytes"))
}

/// Offers packets of 1,000 bytes of each host at 10 Mbit/s for `ms`; returns what came out.
fn saturate(router: &mut Router, hosts: &[(&str, u16)], ms: u64) -> Vec<Output> {
    let mut out = Vec::new();
    let first = router.injected as u32;
    for at in first..first + ms as u32 * 10 / 8 {
        let frames = hosts.iter().map(|(host, port)| upload(host, *port, at, 1000)).collect();
        out.extend(router.inject_batch(0, frames));
        out.extend(router.advance(800_000));
    }
    out
}

fn bits(out: &[Output]) -> u64 {
    out.iter().map(|output| (output.bytes.len() as u64 - 14) * 8).sum()
}

#[test]
fn a_saturated_queue_passes_its_rate_and_no_more() {
    for (config, target) in [
        (plain(), "fd00:1::10/128"),
        (plain(), "fd00:1::/64"),
        (masquerading(), "fd00:1::10/128"),
        (masquerading(), "fd00:1::/64"),
    ] {
        let mut router = with_workers(config.queue(&["0.0.0.0/0", target], 2_000_000, 0), 1);
        saturate(&mut router, &[(HOST, 4000)], 500);
        let before = router.now().0;
        let out = saturate(&mut router, &[(HOST, 4000)], 2_000);
        let due = 2 * (router.now().0 - before) / 1_000;
        assert!(bits(&out).abs_diff(due) <= due / 100, "{target}: {} of {due} bits", bits(&out));
        // Its queue is in the flow cache.
        assert!(out.iter().filter(|output| output.fast).count() * 10 > out.len() * 9);
        let numbers: Vec<u32> = out.iter().map(number).collect();
        assert!(numbers.is_sorted(), "packets overtook each other");
    }
}

#[test]
fn directions_and_the_router_itself_find_their_queue() {
    for workers in [1, 3] {
        let config = masquerading()
            .ipv6_filter("input", rule().accept())
            .queue(&["fd00:1::11"], 0, 0)
            .queue(&["0.0.0.0/0", "fd00:1::/64"], 0, 0)
            .queue(&["::/0"], 0, 0);
        let mut router = with_workers(config, workers);
        let count = |router: &Router| {
            let all = router.queues();
            all.iter().map(|record| record.directions.map(|way| way.packets)).collect::<Vec<_>>()
        };
        for _ in 0..4 {
            let sent = router.inject_batch(0, vec![upload(HOST, 4000, 1, 100)]);
            assert_eq!(sent[0].to, To::Port(1));
            router.send6(1, &Ipv6Builder::new(SERVER, OUTSIDE).udp(53, 4000).payload_len(60));
        }
        router.inject_batch(0, vec![upload(OTHER, 4001, 1, 100)]);
        assert_eq!(count(&router), [[1, 0], [4, 4], [0, 0]]);
        // An echo request for the router comes from a target, and its answer goes there.
        router.send6(0, &Ipv6Builder::new(OTHER, "fd00:1::1").echo_request(7, 1));
        assert_eq!(count(&router), [[2, 1], [4, 4], [0, 0]]);
    }
}

#[test]
fn hosts_behind_one_address_share_by_their_own() {
    let pcq = QueueType::Pcq {
        rate: 0,
        limit: 20_000,
        total_limit: 100_000,
        classifier: vec![PcqClassifier::SrcAddress],
        burst_rate: 0,
        burst_threshold: 0,
        burst_time_ms: 0,
        src_address_mask: 32,
        dst_address_mask: 32,
        src_address6_mask: 128,
        dst_address6_mask: 128,
    };
    let config = masquerading().queue(&["fd00:1::/64"], 3_000_000, 0).with(|config| {
        config.simple_queues[0].upload.queue_type = config.queue_types.len() as u32;
        config.queue_types.push(pcq);
    });
    let mut router = with_workers(config, 1);
    let hosts = [(HOST, 4000), (OTHER, 4001), (OTHER, 4002), (OTHER, 4003)];
    saturate(&mut router, &hosts, 300);
    let out = saturate(&mut router, &hosts, 1_000);
    let first = out.iter().filter(|output| output.ipv6().ports.0 == 4000).count();
    assert!((first * 2).abs_diff(out.len()) <= out.len() / 20, "{first} of {}", out.len());
    assert!(out.iter().all(|output| output.ipv6().src.to_string() == OUTSIDE));
}

#[test]
fn what_waits_goes_on_by_its_queue_of_the_new_configuration() {
    for config in [plain(), masquerading()] {
        let mut router = with_workers(config.queue(&[HOST], 64_000, 0), 1);
        let burst: Vec<_> = (0..30).map(|at| upload(HOST, 4000, at, 1000)).collect();
        let mut out = router.inject_batch(0, burst);
        assert!(out.len() < 5, "{} passed at once", out.len());
        // A queue above takes the same host, so that all that waits goes there; the one below keeps nothing.
        router.reconfigure(|config| {
            let mut first = config.simple_queues[0].clone();
            (first.row, first.upload.max_limit) = (9_000, 0);
            first.upload.queue_type = pfifo(1000);
            config.simple_queues.insert(0, first);
        });
        out.extend(router.inject_batch(0, vec![upload(HOST, 4000, 30, 1000)]));
        out.extend(router.advance(20 * MS));
        let numbers: Vec<u32> = out.iter().map(number).collect();
        assert_eq!(numbers, (0..31).collect::<Vec<_>>());
        let passed: Vec<u64> = router.queues().iter().map(|queue| queue.directions[0].packets).collect();
        assert_eq!(passed.iter().sum::<u64>(), 31, "{passed:?}");
    }
}
