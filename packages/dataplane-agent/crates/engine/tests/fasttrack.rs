//! What fasttracked connections skip with `fasttrack-mode=bypass`, and what still holds for them.

use tollway_config::dataplane::{ConnectionState, DataplaneConfig, FasttrackMode};
use tollway_config::protocol::TraceFilter;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::router::To;
use tollway_testkit::{Router, RouterConfig, rule};

const ESTABLISHED: &[ConnectionState] = &[ConnectionState::Established, ConnectionState::Related];
const SERVER: &str = "203.0.113.5";
const HOST: &str = "192.168.88.10";
const FASTTRACK: u32 = 1000;
const ACCEPT: u32 = 1001;
const SEEN: u32 = 1002;

fn config(mode: FasttrackMode) -> RouterConfig {
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .filter("forward", rule().state(ESTABLISHED).fasttrack())
        .filter("forward", rule().state(ESTABLISHED).accept())
        .filter("forward", rule().passthrough())
        .nat("srcnat", rule().out_interface(2).masquerade())
        .with(|config| config.settings.fasttrack_mode = mode)
}

fn router(config: RouterConfig) -> Router {
    Router::new(config).hosts(0, &[HOST]).hosts(1, &["10.2.0.254"])
}

fn query() -> PacketBuilder {
    PacketBuilder::ipv4(HOST, SERVER).udp(4000, 53).payload_len(20)
}

fn answer() -> PacketBuilder {
    PacketBuilder::ipv4(SERVER, "10.2.0.1").udp(53, 4000).payload_len(20)
}

/// An exchange that leaves a fasttracked connection: packets in all.
fn exchange(router: &mut Router, rounds: u64) -> u64 {
    for _ in 0..rounds {
        assert_eq!(router.send(0, &query()).len(), 1);
        assert_eq!(router.send(1, &answer()).len(), 1);
    }
    2 * rounds
}

fn fasttracked(router: &Router) -> u64 {
    let connection = &router.connections()[0];
    connection.fasttrack[0].0 + connection.fasttrack[1].0
}

#[test]
fn bypassing_packets_count_for_the_dummy_rule_and_no_other() {
    let mut router = router(config(FasttrackMode::Bypass));
    let packets = exchange(&mut router, 20);
    let (marked, accepted, seen) = (router.rule(FASTTRACK).0, router.rule(ACCEPT).0, router.rule(SEEN).0);
    assert_eq!((marked, accepted), (1, 1), "the answer that made the mark");
    assert_eq!(seen, 1, "the first packet is new");
    let dummy = router.stats().fasttrack;
    assert_eq!(accepted + seen + dummy.packets, packets);
    assert_eq!(dummy.bytes, dummy.packets * 48);
    assert_eq!(fasttracked(&router), dummy.packets);
    assert_eq!(router.connections()[0].flags, "SACFs");
}

#[test]
fn in_cached_mode_the_pair_counts_every_packet_and_the_dummy_rule_a_part() {
    let mut router = router(config(FasttrackMode::Cached));
    let packets = exchange(&mut router, 20);
    assert_eq!((router.rule(FASTTRACK).0, router.rule(ACCEPT).0), (packets - 1, packets - 1));
    let dummy = router.stats().fasttrack.packets;
    assert!(dummy >= packets - 5 && dummy < packets, "{dummy}");
}

#[test]
fn translation_ttl_and_routing_hold_and_so_the_marks_do_when_rules_are_gone() {
    let mut router = router(config(FasttrackMode::Bypass));
    exchange(&mut router, 3);
    let out = router.send(0, &query());
    assert!(out[0].fast);
    let packet = out[0].packet();
    assert_eq!((packet.src.to_string().as_str(), packet.ttl), ("10.2.0.1", 63));
    // Rules that would end it now are not asked, although the flow cache decides anew.
    let drop = |config: &mut DataplaneConfig| {
        let drop = RouterConfig::new().filter("forward", rule().drop()).config.filter[0].rules[0].clone();
        config.filter[0].rules = vec![tollway_config::dataplane::Rule { row: 2000, ..drop }];
    };
    router.reconfigure(drop);
    for _ in 0..3 {
        assert_eq!(router.send(0, &query()).len(), 1);
        assert_eq!(router.send(1, &answer())[0].packet().dst.to_string(), HOST);
    }
    assert_eq!(router.rule(2000).0, 0);
    assert_eq!(router.send(0, &PacketBuilder::ipv4(HOST, SERVER).udp(4001, 53)), []);
    // With nothing to skip them by, they are dropped like all others.
    router.reconfigure(|config| config.settings.fasttrack_mode = FasttrackMode::Cached);
    assert_eq!(router.send(0, &query()), []);
    assert_eq!(router.rule(2000).0, 2);
}

#[test]
fn simple_queues_do_not_hold_what_bypasses_them() {
    let queues = |mode| config(mode).queue(&["192.168.88.0/24"], 1_000_000, 1_000_000);
    for (mode, passed) in [(FasttrackMode::Bypass, 2), (FasttrackMode::Cached, 12)] {
        let mut router = router(queues(mode));
        let packets = exchange(&mut router, 6);
        assert_eq!(packets, 12);
        let queue = router.queues().into_iter().next().expect("the queue");
        assert_eq!(queue.directions[0].packets + queue.directions[1].packets, passed, "{mode:?}");
    }
}

#[test]
fn control_packets_fragments_and_other_protocols_meet_the_rules() {
    let mut router = router(config(FasttrackMode::Bypass));
    let host = |flags, seq, ack| PacketBuilder::ipv4(HOST, SERVER).tcp(4000, 80, flags, seq, ack);
    let server = |flags, seq, ack| PacketBuilder::ipv4(SERVER, "10.2.0.1").tcp(80, 4000, flags, seq, ack);
    router.send(0, &host(tcp_flag::SYN, 100, 0));
    router.send(1, &server(tcp_flag::SYN | tcp_flag::ACK, 500, 101));
    for _ in 0..4 {
        router.send(0, &host(tcp_flag::ACK, 101, 501));
    }
    let before = router.rule(ACCEPT).0;
    assert_eq!(before, 1, "the answer that made the mark");
    router.send(0, &host(tcp_flag::FIN | tcp_flag::ACK, 101, 501));
    assert_eq!(router.rule(ACCEPT).0, before + 1);
    assert_eq!(fasttracked(&router), 4);
    // Echo requests keep no mark.
    let ping = PacketBuilder::ipv4(HOST, SERVER).echo_request(7, 1);
    let pong = PacketBuilder::ipv4(SERVER, "10.2.0.1").echo_reply(7, 1);
    for _ in 0..3 {
        router.send(0, &ping);
        router.send(1, &pong);
    }
    assert_eq!(router.rule(ACCEPT).0, before + 6);
}

#[test]
fn a_handshake_that_comes_again_puts_nothing_back_under_the_rules() {
    let mut router = router(config(FasttrackMode::Bypass).queue(&["192.168.88.0/24"], 1_000_000, 1_000_000));
    let host = |flags, seq, ack| PacketBuilder::ipv4(HOST, SERVER).tcp(4000, 80, flags, seq, ack);
    let server = |flags, seq, ack| PacketBuilder::ipv4(SERVER, "10.2.0.1").tcp(80, 4000, flags, seq, ack);
    let handshake = |router: &mut Router| {
        router.send(0, &host(tcp_flag::SYN, 100, 0));
        router.send(1, &server(tcp_flag::SYN | tcp_flag::ACK, 500, 101));
        router.send(0, &host(tcp_flag::ACK, 101, 501));
    };
    let data = |router: &mut Router| {
        for _ in 0..4 {
            assert_eq!(router.send(0, &host(tcp_flag::ACK, 101, 501).payload_len(10)).len(), 1);
            assert_eq!(router.send(1, &server(tcp_flag::ACK, 501, 111).payload_len(10)).len(), 1);
        }
    };
    let asked = |router: &Router| {
        let queue = router.queues().into_iter().next().expect("the queue");
        (router.rule(ACCEPT).0, queue.directions[0].packets + queue.directions[1].packets)
    };
    handshake(&mut router);
    data(&mut router);
    handshake(&mut router);
    let before = asked(&router);
    data(&mut router);
    assert_eq!(asked(&router), before);
}

#[test]
fn a_trace_says_that_rules_were_passed_over() {
    let mut router = router(config(FasttrackMode::Bypass));
    exchange(&mut router, 2);
    router.reconfigure(|config| config.interfaces[0].mtu = 1400);
    let trace = router.start_trace(&TraceFilter::default());
    let out = router.send(0, &query());
    assert_eq!(out[0].to, To::Port(1));
    let noted = router.traced(trace);
    let filter = noted.packets[0].steps.iter().find(|step| step.stage == "filter").expect("the filter");
    assert_eq!(filter.decision, "passed over: its connection is fasttracked");
    let route = noted.packets[0].steps.iter().find(|step| step.stage == "route").expect("the route");
    assert_eq!(route.rows, [200]);
}
