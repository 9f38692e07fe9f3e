//! The firewall filter: actions, chains, states, counters, log lines.

use tollway_config::dataplane::{ConnectionState, Matcher, RejectWith};
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::router::{Output, To};
use tollway_testkit::{Router, RouterConfig, expect_counters, rule};

const ESTABLISHED: &[ConnectionState] = &[ConnectionState::Established, ConnectionState::Related];

fn plain() -> RouterConfig {
    RouterConfig::new().interface("10.1.0.1/24").interface("10.2.0.1/24")
}

/// With every neighbour known, so that nothing but the filter moves counters.
fn router(config: RouterConfig) -> Router {
    let config = config.neighbor(1, "10.1.0.2", "02:01:0a:01:00:02", false).neighbor(
        2,
        "10.2.0.2",
        "02:01:0a:02:00:02",
        false,
    );
    let mut router = Router::new(config);
    router.moved();
    router
}

fn udp() -> PacketBuilder {
    PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").udp(1000, 2000).payload_len(20)
}

fn answer() -> PacketBuilder {
    PacketBuilder::ipv4("10.2.0.2", "10.1.0.2").udp(2000, 1000).payload_len(5)
}

fn tcp(flags: u8, seq: u32, ack: u32) -> PacketBuilder {
    PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").tcp(1000, 80, flags, seq, ack)
}

fn ports(out: &[Output]) -> Vec<To> {
    out.iter().map(|output| output.to).collect()
}

#[test]
fn an_echo_opens_the_way_to_no_other_icmp_message() {
    let echo = Matcher::IcmpOptions { icmp_type: 8, code_from: 0, code_to: 255, negate: false };
    let config = plain()
        .filter("forward", rule().state(ESTABLISHED).accept())
        .filter("forward", rule().state(&[ConnectionState::Invalid]).drop())
        .filter("forward", rule().matcher(echo).accept())
        .filter("forward", rule().drop());
    let mut router = router(config);
    let forth = || PacketBuilder::ipv4("10.1.0.2", "10.2.0.2");
    let back = || PacketBuilder::ipv4("10.2.0.2", "10.1.0.2");
    // Messages without an identifier have 0 in its place, or something else.
    for ident in [0, 77] {
        assert_eq!(ports(&router.send(0, &forth().echo_request(ident, 1))), [To::Port(1)]);
        assert_eq!(ports(&router.send(1, &back().echo_reply(ident, 1))), [To::Port(0)]);
        let rest = [0, ident as u8, 0, 1];
        for icmp_type in [1, 6, 9, 10, 13, 14, 15, 16, 17, 18, 19, 30, 40, 42, 43, 253, 255] {
            assert_eq!(router.send(0, &forth().icmp(icmp_type, 0, rest)), [], "{icmp_type}");
            assert_eq!(router.send(1, &back().icmp(icmp_type, 0, rest)), [], "{icmp_type}");
        }
        assert_eq!(ports(&router.send(0, &forth().echo_request(ident, 2))), [To::Port(1)]);
    }
}

#[test]
fn the_default_pair_lets_answers_in_and_nothing_else() {
    let config = plain()
        .filter("forward", rule().state(ESTABLISHED).accept())
        .filter("forward", rule().in_interface(1).passthrough())
        .filter("forward", rule().in_interface(2).drop());
    let mut router = router(config);
    assert_eq!(router.send(1, &answer()), []);
    expect_counters!(router, Rule(1002): 1, Drop(FilterDrop): 1);
    assert_eq!(ports(&router.send(0, &udp())), [To::Port(1)]);
    expect_counters!(router, Rule(1001): 1, Connections: 1);
    assert_eq!(ports(&router.send(1, &answer())), [To::Port(0)]);
    expect_counters!(router, Rule(1000): 1);
    // Both directions are cached by now, and count on.
    assert!(!router.send(0, &udp())[0].fast);
    assert!(router.send(0, &udp())[0].fast);
    assert!(router.send(1, &answer())[0].fast);
    expect_counters!(router, Rule(1000): 3, FastPath: 2);
    assert_eq!(router.rule(1000), (4, 48 * 2 + 33 * 2));
}

#[test]
fn a_rule_that_drops_stops_a_running_flow_and_its_removal_lets_it_go_on() {
    let mut router = router(plain().filter("forward", rule().passthrough()));
    let ping = |sequence| PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").echo_request(5, sequence);
    let pong = |sequence| PacketBuilder::ipv4("10.2.0.2", "10.1.0.2").echo_reply(5, sequence);
    for sequence in 0..4 {
        assert_eq!(router.send(0, &ping(sequence)).len(), 1);
        assert_eq!(router.send(1, &pong(sequence)).len(), 1);
    }
    assert!(router.stats().flow_cache_forwarded.packets >= 4);
    let drop =
        RouterConfig::new().filter("forward", rule().protocol(1).drop()).config.filter[0].rules[0].clone();
    router.reconfigure(|config| {
        config.filter[0].rules.push(tollway_config::dataplane::Rule { row: 7, ..drop })
    });
    router.moved();
    for sequence in 4..7 {
        assert_eq!(router.send(0, &ping(sequence)), []);
    }
    expect_counters!(router, Rule(1000): 3, Rule(7): 3, Drop(FilterDrop): 3);
    router.reconfigure(|config| {
        config.filter[0].rules.pop();
    });
    assert_eq!(router.send(0, &ping(7)).len(), 1);
    // The rule that was disabled keeps what it counted.
    assert_eq!(router.rule(7).0, 3);
}

#[test]
fn jumps_return_to_their_caller() {
    let config = plain()
        .filter_jump("forward", rule().protocol(17), "udp")
        .filter("forward", rule().drop())
        .filter("udp", rule().dst_port(9).then(tollway_config::dataplane::Action::Return))
        .filter("udp", rule().dst_port(2000).accept())
        .filter("udp", rule().passthrough());
    let mut router = router(config);
    assert_eq!(router.send(0, &udp()).len(), 1);
    expect_counters!(router, Rule(1000): 1, Rule(1003): 1, Connections: 1);
    assert_eq!(router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").udp(1, 9)), []);
    expect_counters!(router, Rule(1000): 1, Rule(1002): 1, Rule(1001): 1, Drop(FilterDrop): 1);
    assert_eq!(router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").udp(1, 8)), []);
    expect_counters!(router, Rule(1000): 1, Rule(1004): 1, Rule(1001): 1, Drop(FilterDrop): 1);
}

#[test]
fn reject_answers_with_the_icmp_error_asked_for() {
    for (with, code) in [
        (RejectWith::IcmpNetworkUnreachable, 0),
        (RejectWith::IcmpHostUnreachable, 1),
        (RejectWith::IcmpProtocolUnreachable, 2),
        (RejectWith::IcmpPortUnreachable, 3),
        (RejectWith::IcmpNetProhibited, 9),
        (RejectWith::IcmpHostProhibited, 10),
        (RejectWith::IcmpAdminProhibited, 13),
        (RejectWith::TcpReset, 3),
    ] {
        let mut router = router(plain().filter("forward", rule().reject(with)));
        let out = router.send(0, &udp());
        assert_eq!(ports(&out), [To::Port(0)]);
        let error = out[0].packet();
        assert_eq!(error.icmp, Some((3, code)));
        assert_eq!(error.quoted().map(|quoted| quoted.first_words.1), Some(2000));
        assert!(error.checksums_right);
        expect_counters!(router, Rule(1000): 1, Drop(FilterReject): 1, Generated: 1);
    }
}

#[test]
fn tcp_reset_follows_rfc_9293() {
    let mut router = router(plain().filter("forward", rule().reject(RejectWith::TcpReset)));
    let syn = tcp(tcp_flag::SYN, 100, 0).payload_len(10);
    let reset = router.send(0, &syn)[0].packet();
    assert_eq!((reset.tcp_flags, reset.ports), (Some(tcp_flag::RST | tcp_flag::ACK), (80, 1000)));
    assert_eq!(reset.src.to_string(), "10.2.0.2");
    assert!(reset.checksums_right);
    let raw = &router.send(0, &syn)[0].bytes;
    assert_eq!(raw[34 + 4..34 + 12], [0, 0, 0, 0, 0, 0, 0, 111], "seq 0, ack = seq + SYN + payload");
    let out = router.send(0, &tcp(tcp_flag::ACK, 100, 777));
    assert_eq!(out[0].packet().tcp_flags, Some(tcp_flag::RST));
    assert_eq!(out[0].bytes[34 + 4..34 + 8], 777u32.to_be_bytes());
    assert_eq!(router.send(0, &tcp(tcp_flag::RST, 100, 0)), [], "a reset is never answered");
}

#[test]
fn a_rule_on_tcp_flags_is_asked_for_every_packet_of_a_cached_flow() {
    let config = plain()
        .filter("forward", rule().state(&[ConnectionState::New]).accept())
        .filter("forward", rule().protocol(6).tcp_flags(tcp_flag::PSH, 0).passthrough())
        .filter("forward", rule().state(ESTABLISHED).accept())
        .filter("forward", rule().drop());
    let mut router = router(config);
    let back = |flags, seq, ack| PacketBuilder::ipv4("10.2.0.2", "10.1.0.2").tcp(80, 1000, flags, seq, ack);
    router.send(0, &tcp(tcp_flag::SYN, 100, 0));
    router.send(1, &back(tcp_flag::SYN | tcp_flag::ACK, 500, 101));
    router.send(0, &tcp(tcp_flag::ACK, 101, 501));
    router.moved();
    let mut fast = 0;
    for number in 0..10u32 {
        let flags = if number % 2 == 0 { tcp_flag::ACK } else { tcp_flag::ACK | tcp_flag::PSH };
        let out = router.send(0, &tcp(flags, 101 + number * 10, 501).payload_len(10));
        fast += i64::from(out[0].fast);
    }
    assert!(fast >= 9, "{fast} of 10 were fast");
    expect_counters!(router, Rule(1001): 5, Rule(1002): 10, FastPath: fast);
}

#[test]
fn segments_that_came_uncut_share_a_log_line_that_counts_them() {
    let mut router = router(plain().filter("forward", rule().protocol(6).log("").accept()));
    let segments = tcp(tcp_flag::ACK, 1, 1).payload_len(2500);
    let (frame, vnet) = segments.eth_dst(tollway_testkit::router::port_mac(0)).build_gso(1000);
    assert_eq!(router.inject(0, frame, vnet).len(), 1);
    let lines: Vec<String> = router.shared().log.take().into_iter().map(|line| line.message).collect();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].ends_with("10.1.0.2:1000->10.2.0.2:80, len 1040, 3 packets"), "{}", lines[0]);
}

#[test]
fn log_lines_read_as_the_field_writes_them() {
    let config = plain()
        .filter("forward", rule().protocol(6).log("web").accept())
        .filter("input", rule().protocol(1).log("").accept());
    let mut router = router(config);
    router.send(0, &tcp(tcp_flag::SYN, 1, 0));
    router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.1.0.1").echo_request(7, 1));
    assert!(router.shared().log.is_pending());
    let lines: Vec<String> = router.shared().log.take().into_iter().map(|line| line.message).collect();
    assert_eq!(
        lines,
        [
            "web forward: in:ether1 out:ether2, connection-state:new src-mac 02:00:00:00:00:ee, \
             proto TCP (SYN), 10.1.0.2:1000->10.2.0.2:80, len 40",
            "input: in:ether1 out:(unknown 0), connection-state:new src-mac 02:00:00:00:00:ee, \
             proto ICMP (type 8, code 0), id 7, 10.1.0.2->10.1.0.1, len 28",
        ]
    );
}

#[test]
fn every_packet_of_a_logged_flow_is_logged() {
    let mut router = router(plain().filter("forward", rule().log("x").accept()));
    for _ in 0..5 {
        router.send(0, &udp());
    }
    assert_eq!(router.shared().log.take().len(), 5);
    assert_eq!(router.rule(1000).0, 5);
}

#[test]
fn input_and_output_have_their_own_chains() {
    let config = plain()
        .filter("input", rule().protocol(1).accept())
        .filter("input", rule().drop())
        .filter("output", rule().protocol(17).drop());
    let mut router = router(config);
    let out = router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.1.0.1").echo_request(1, 1));
    assert_eq!(out[0].packet().icmp, Some((0, 0)));
    expect_counters!(router, Rule(1000): 1, Drop(EchoAnswered): 1, Generated: 1, Connections: 1);
    assert_eq!(
        router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.1.0.1").tcp(5, 22, tcp_flag::SYN, 1, 0)),
        []
    );
    expect_counters!(router, Rule(1001): 1, Drop(FilterDrop): 1);
    assert_eq!(router.send_local(&PacketBuilder::ipv4("10.1.0.1", "10.1.0.2").udp(1, 1).build_l3()), []);
    expect_counters!(router, Rule(1002): 1, Drop(FilterDrop): 1);
    // Forwarding is none of their business.
    assert_eq!(router.send(0, &udp()).len(), 1);
    expect_counters!(router, Connections: 1);
}

#[test]
fn fasttrack_and_accept_count_the_same() {
    let config = plain()
        .filter("forward", rule().state(ESTABLISHED).fasttrack())
        .filter("forward", rule().state(ESTABLISHED).accept());
    let mut router = router(config);
    router.send(0, &udp());
    router.send(1, &answer());
    for _ in 0..20 {
        router.send(0, &udp());
        router.send(1, &answer());
    }
    assert_eq!(router.rule(1000), router.rule(1001));
    assert_eq!(router.rule(1000).0, 41);
    let stats = router.stats();
    assert_eq!(stats.flow_cache_forwarded.packets, 0);
    assert!(stats.fasttrack.packets >= 38, "{}", stats.fasttrack.packets);
    assert!(stats.fasttrack_active);
    let connection = &router.connections()[0];
    assert_eq!(connection.flags, "SACF");
    assert_eq!(connection.counts[0].0 + connection.counts[1].0, 42);
    assert_eq!(connection.fasttrack[0].0 + connection.fasttrack[1].0, stats.fasttrack.packets);
}

#[test]
fn counters_can_be_reset_while_they_run() {
    let mut router =
        router(plain().filter("forward", rule().passthrough()).filter("forward", rule().accept()));
    for _ in 0..5 {
        router.send(0, &udp());
    }
    router.reset_counters(&[1000]);
    router.send(0, &udp());
    assert_eq!((router.rule(1000).0, router.rule(1001).0), (1, 6));
    router.reset_counters(&[]);
    assert_eq!((router.rule(1000).0, router.rule(1001).0), (0, 0));
}

#[test]
fn out_of_state_packets_are_invalid() {
    let config = plain()
        .filter("forward", rule().state(&[ConnectionState::Invalid]).drop())
        .filter("forward", rule().passthrough());
    let mut router = router(config);
    let stray = PacketBuilder::ipv4("10.2.0.2", "10.1.0.2").echo_reply(1, 1);
    assert_eq!(router.send(1, &stray), []);
    expect_counters!(router, Rule(1000): 1, Drop(FilterDrop): 1);
    assert_eq!(router.send(0, &tcp(tcp_flag::SYN | tcp_flag::FIN, 1, 0)), []);
    expect_counters!(router, Rule(1000): 1, Drop(FilterDrop): 1);
}

#[test]
fn without_rules_nothing_is_tracked() {
    let mut router = router(plain());
    router.send(0, &udp());
    router.send(0, &udp());
    assert!(router.stats().fast_path_active);
    assert_eq!(router.connections(), []);
    expect_counters!(router, FastPath: 1);
}
