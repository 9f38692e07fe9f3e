//! The firewall filter of IPv6: actions, chains, states, lists, matchers, counters, log lines.

use tollway_config::dataplane::{Action, ConnectionState, Matcher, RejectWith, TrackingMode};
use tollway_engine::packet::tuple::Addr;
use tollway_engine::packet::verdict::DropReason;
use tollway_testkit::ipv6_packet::ip6;
use tollway_testkit::packet::tcp_flag;
use tollway_testkit::router::{Output, To};
use tollway_testkit::{Counter, Ipv6Builder, PacketBuilder, Router, RouterConfig, expect_counters, rule};
use tollway_wire::icmpv6;
use tollway_wire::ndp::NeighborRepr;

const HOST: &str = "2001:db8:1::10";
const OTHER: &str = "2001:db8:1::11";
const SERVER: &str = "2001:db8:2::fe";
const ESTABLISHED: &[ConnectionState] = &[ConnectionState::Established, ConnectionState::Related];

fn plain() -> RouterConfig {
    RouterConfig::new()
        .interface("2001:db8:1::1/64")
        .interface("2001:db8:2::1/64")
        .address(1, "10.1.0.1/24")
        .address(2, "10.2.0.1/24")
}

/// With every neighbour known, so that nothing but the filter moves counters.
fn router(config: RouterConfig) -> Router {
    let config = config
        .neighbor(1, HOST, "02:01:0a:01:00:02", false)
        .neighbor(1, OTHER, "02:01:0a:01:00:03", false)
        .neighbor(2, SERVER, "02:01:0a:02:00:02", false)
        .with(|config| config.settings.icmp_rate_limit_ms = 0);
    let mut router = Router::new(config).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2"]);
    router.advance_ms(1_100);
    router.moved();
    router
}

fn from(host: &str) -> Ipv6Builder {
    Ipv6Builder::new(host, SERVER).udp(1000, 2000).payload_len(20)
}

fn udp() -> Ipv6Builder {
    from(HOST)
}

fn answer() -> Ipv6Builder {
    Ipv6Builder::new(SERVER, HOST).udp(2000, 1000).payload_len(5)
}

fn tcp(flags: u8, seq: u32, ack: u32) -> Ipv6Builder {
    Ipv6Builder::new(HOST, SERVER).tcp(1000, 80, flags, seq, ack)
}

fn ports(out: &[Output]) -> Vec<To> {
    out.iter().map(|output| output.to).collect()
}

fn src_list(list: u32) -> Matcher {
    Matcher::SrcAddressList { list, negate: false }
}

#[test]
fn rules_of_a_family_do_not_meet_packets_of_the_other() {
    let config = plain().filter("forward", rule().passthrough()).ipv6_filter("forward", rule().drop());
    let mut router = router(config);
    assert_eq!(router.send6(0, &udp()), []);
    expect_counters!(router, Rule(1001): 1, Drop(FilterDrop): 1);
    assert_eq!(router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").udp(1, 2)).len(), 1);
    assert_eq!((router.rule(1000).0, router.rule(1001).0), (1, 1));
}

#[test]
fn rules_of_ipv6_let_ipv4_alone_where_connections_are_not_tracked() {
    let config = plain()
        .ipv6_filter("forward", rule().dst("2001:db8:2::fe").protocol(17).dst_port(2000).drop())
        .with(|config| config.tracking.enabled = TrackingMode::No);
    let mut router = router(config);
    let v4 = PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").udp(1, 2);
    for _ in 0..2 {
        router.send(0, &v4);
    }
    assert!(router.send(0, &v4)[0].fast);
    assert_eq!(router.send6(0, &udp()), []);
    let passed = router.send6(0, &udp().udp(1000, 2001));
    assert!(passed.len() == 1 && !passed[0].fast);
    // And the other way round.
    router.reconfigure(|config| {
        config.filter = std::mem::take(&mut config.ipv6_filter);
        config.filter[0].rules[0].matchers.clear();
    });
    assert_eq!(router.send(0, &v4), []);
    router.send6(0, &udp());
    assert!(router.send6(0, &udp())[0].fast);
}

#[test]
fn the_default_pair_lets_answers_in_and_nothing_else() {
    let config = plain()
        .ipv6_filter("forward", rule().state(ESTABLISHED).accept())
        .ipv6_filter("forward", rule().in_interface(1).passthrough())
        .ipv6_filter("forward", rule().in_interface(2).drop());
    let mut router = router(config);
    assert_eq!(router.send6(1, &answer()), []);
    expect_counters!(router, Rule(1002): 1, Drop(FilterDrop): 1);
    assert_eq!(ports(&router.send6(0, &udp())), [To::Port(1)]);
    expect_counters!(router, Rule(1001): 1, Connections: 1);
    assert_eq!(ports(&router.send6(1, &answer())), [To::Port(0)]);
    expect_counters!(router, Rule(1000): 1);
    assert!(!router.send6(0, &udp())[0].fast);
    assert!(router.send6(0, &udp())[0].fast);
    assert!(router.send6(1, &answer())[0].fast);
    expect_counters!(router, Rule(1000): 3, FastPath: 2);
    assert_eq!(router.rule(1000), (4, 68 * 2 + 53 * 2));
}

#[test]
fn an_echo_opens_the_way_to_no_other_icmp_message() {
    let echo =
        Matcher::IcmpOptions { icmp_type: icmpv6::ECHO_REQUEST, code_from: 0, code_to: 255, negate: false };
    let config = plain()
        .ipv6_filter("forward", rule().state(ESTABLISHED).accept())
        .ipv6_filter("forward", rule().state(&[ConnectionState::Invalid]).drop())
        .ipv6_filter("forward", rule().matcher(echo).accept())
        .ipv6_filter("forward", rule().drop());
    let mut router = router(config);
    let (forth, back) = (|| Ipv6Builder::new(HOST, SERVER), || Ipv6Builder::new(SERVER, HOST));
    assert_eq!(router.send6(1, &back().echo_reply(7, 1)), []);
    assert_eq!(ports(&router.send6(0, &forth().echo_request(7, 1))), [To::Port(1)]);
    assert_eq!(ports(&router.send6(1, &back().echo_reply(7, 1))), [To::Port(0)]);
    for icmp_type in [1, 4, 100, 127, 139, 140, 200, 255] {
        assert_eq!(router.send6(0, &forth().icmp(icmp_type, 0, [0, 7, 0, 1])), [], "{icmp_type}");
        assert_eq!(router.send6(1, &back().icmp(icmp_type, 0, [0, 7, 0, 1])), [], "{icmp_type}");
    }
    assert_eq!(ports(&router.send6(0, &forth().echo_request(7, 2))), [To::Port(1)]);
}

#[test]
fn an_error_about_a_connection_is_related_to_it() {
    let config = plain()
        .ipv6_filter("forward", rule().state(&[ConnectionState::Related]).accept())
        .ipv6_filter("forward", rule().in_interface(2).drop());
    let mut router = router(config);
    let sent = router.send6(0, &udp());
    let error =
        |quoted: &[u8]| Ipv6Builder::new(SERVER, HOST).icmp(icmpv6::UNREACHABLE, 4, [0; 4]).payload(quoted);
    assert_eq!(ports(&router.send6(1, &error(&sent[0].bytes[14..]))), [To::Port(0)]);
    assert_eq!(router.rule(1000).0, 1);
    let foreign = Ipv6Builder::new(HOST, SERVER).udp(7, 7).build_l3();
    assert_eq!(router.send6(1, &error(&foreign)), []);
}

#[test]
fn reject_answers_with_the_icmp_error_asked_for() {
    for (with, code) in [
        (RejectWith::IcmpNoRoute, 0),
        (RejectWith::IcmpAdminProhibited, 1),
        (RejectWith::IcmpNotNeighbour, 2),
        (RejectWith::IcmpAddressUnreachable, 3),
        (RejectWith::IcmpPortUnreachable, 4),
        (RejectWith::TcpReset, 4),
        (RejectWith::IcmpErrSrcRoutingHeader, 7),
        (RejectWith::IcmpHeadersTooLong, 8),
    ] {
        let mut router = router(plain().ipv6_filter("forward", rule().reject(with)));
        let out = router.send6(0, &udp());
        assert_eq!(ports(&out), [To::Port(0)]);
        let error = out[0].ipv6();
        assert_eq!(error.icmp, Some((icmpv6::UNREACHABLE, code, 0)));
        assert_eq!((error.src, error.dst), ("2001:db8:1::1".parse().unwrap(), HOST.parse().unwrap()));
        assert_eq!(error.quoted().map(|quoted| quoted.ports), Some((1000, 2000)));
        assert!(error.checksum_right);
        expect_counters!(router, Rule(1000): 1, Drop(FilterReject): 1, Generated: 1);
    }
}

#[test]
fn tcp_reset_follows_rfc_9293() {
    let mut router = router(plain().ipv6_filter("forward", rule().reject(RejectWith::TcpReset)));
    let syn = tcp(tcp_flag::SYN, 100, 0).payload_len(10);
    let out = router.send6(0, &syn);
    let reset = out[0].ipv6();
    assert_eq!((reset.ports, reset.hop_limit, reset.protocol), ((80, 1000), 64, 6));
    assert_eq!(reset.src.to_string(), SERVER);
    assert!(reset.checksum_right);
    assert_eq!(reset.transport[4..12], [0, 0, 0, 0, 0, 0, 0, 111], "seq 0, ack = seq + SYN + payload");
    assert_eq!(reset.transport[13], tcp_flag::RST | tcp_flag::ACK);
    let reset = router.send6(0, &tcp(tcp_flag::ACK, 100, 777))[0].ipv6();
    assert_eq!((reset.transport[13], &reset.transport[4..8]), (tcp_flag::RST, &777u32.to_be_bytes()[..]));
    assert_eq!(router.send6(0, &tcp(tcp_flag::RST, 100, 0)), [], "a reset is never answered");
}

#[test]
fn input_and_output_have_their_own_chains() {
    let config = plain()
        .ipv6_filter("input", rule().protocol(58).accept())
        .ipv6_filter("input", rule().drop())
        .ipv6_filter("output", rule().protocol(17).drop());
    let mut router = router(config);
    let out = router.send6(0, &Ipv6Builder::new(HOST, "2001:db8:1::1").echo_request(1, 1));
    assert_eq!(out[0].ipv6().icmp.map(|icmp| icmp.0), Some(icmpv6::ECHO_REPLY));
    expect_counters!(router, Rule(1000): 1, Drop(EchoAnswered): 1, Generated: 1, Connections: 1);
    let syn = Ipv6Builder::new(HOST, "2001:db8:1::1").tcp(5, 22, tcp_flag::SYN, 1, 0);
    assert_eq!(router.send6(0, &syn), []);
    expect_counters!(router, Rule(1001): 1, Drop(FilterDrop): 1);
    assert_eq!(router.send_local(&Ipv6Builder::new("2001:db8:1::1", HOST).udp(1, 1).build_l3()), []);
    expect_counters!(router, Rule(1002): 1, Drop(FilterDrop): 1);
    assert_eq!(router.send6(0, &udp()).len(), 1);
    expect_counters!(router, Connections: 1);
}

#[test]
fn jumps_return_to_their_caller() {
    let config = plain()
        .ipv6_filter("forward", rule().protocol(17).then(Action::Jump { chain: 1 }))
        .ipv6_filter("udp", rule().dst_port(9).then(Action::Return))
        .ipv6_filter("udp", rule().dst_port(2000).accept())
        .ipv6_filter("forward", rule().drop());
    let mut router = router(config);
    assert_eq!(router.send6(0, &udp()).len(), 1);
    expect_counters!(router, Rule(1000): 1, Rule(1002): 1, Connections: 1);
    assert_eq!(router.send6(0, &udp().udp(1, 9)), []);
    expect_counters!(router, Rule(1000): 1, Rule(1001): 1, Rule(1003): 1, Drop(FilterDrop): 1);
}

#[test]
fn addresses_are_compared_in_all_their_bits() {
    let config = plain()
        .ipv6_filter(
            "forward",
            rule().src("2001:db8:1::10-2001:db8:1::10").dst("2001:db8:2::/64").passthrough(),
        )
        .ipv6_filter("forward", rule().src("2001:db8:1::/124").passthrough())
        .ipv6_filter(
            "forward",
            rule()
                .matcher(Matcher::SrcAddress { range: tollway_testkit::config::range(HOST), negate: true })
                .passthrough(),
        )
        .ipv6_filter("forward", rule().src("::/0").passthrough());
    let mut router = router(config);
    router.send6(0, &udp());
    assert_eq!([1000, 1001, 1002, 1003].map(|row| router.rule(row).0), [1, 0, 0, 1]);
    router.send6(0, &from(OTHER));
    assert_eq!([1000, 1001, 1002, 1003].map(|row| router.rule(row).0), [1, 0, 1, 2]);
    router.send6(0, &from("2001:db8:1::2"));
    assert_eq!([1000, 1001, 1002, 1003].map(|row| router.rule(row).0), [1, 1, 2, 3]);
}

#[test]
fn ten_thousand_addresses_are_found_in_an_index() {
    let mut config = plain();
    for host in 0..10_000u32 {
        config = config.ipv6_filter("forward", rule().src(&format!("2001:db8:1::{host:x}:0/112")).drop());
    }
    let mut router = router(config.ipv6_filter("forward", rule().passthrough()));
    assert_eq!(router.send6(0, &from("2001:db8:1::270f:7")), []);
    assert_eq!(router.send6(0, &from("2001:db8:1::1:7")), []);
    assert_eq!(router.send6(0, &from("2001:db8:1::2710:7")).len(), 1);
    assert_eq!([1000, 1001, 1000 + 9999, 11_000].map(|row| router.rule(row).0), [0, 1, 1, 1]);
}

#[test]
fn a_change_of_a_list_ends_the_flows_that_it_concerns() {
    // The list of IPv4 has the same name and no effect here.
    let config = plain()
        .address_list("bad", &["10.1.0.0/16"])
        .ipv6_address_list("good", &[])
        .ipv6_address_list("bad", &[])
        .ipv6_filter("forward", rule().matcher(src_list(1)).drop());
    let mut router = router(config);
    for _ in 0..3 {
        router.send6(0, &udp());
        router.send6(1, &answer());
        router.send6(0, &from(OTHER));
        router.send6(1, &Ipv6Builder::new(SERVER, OTHER).udp(2000, 1000));
    }
    assert!(router.send6(0, &udp())[0].fast && router.send6(0, &from(OTHER))[0].fast);
    let entries = |router: &mut Router, texts: &[&str]| {
        let entries: Vec<_> = texts.iter().map(|text| tollway_testkit::config::range(text)).collect();
        router.reconfigure(move |config| config.ipv6_address_lists[1].entries = entries);
    };
    for list in [&[HOST][..], &["2001:db8:1::10/124", "2001:db9::/32"], &["2001::/16"]] {
        entries(&mut router, list);
        assert_eq!(router.send6(0, &udp()), [], "{list:?}");
        let other = router.send6(0, &from(OTHER));
        assert_eq!(other.len(), usize::from(list == [HOST]), "{list:?}");
        entries(&mut router, &[]);
        assert_eq!(router.send6(0, &udp()).len(), 1, "{list:?}");
        router.send6(0, &udp());
        assert!(router.send6(0, &udp())[0].fast, "{list:?}");
    }
    // Other lists and networks elsewhere do not end it.
    entries(&mut router, &["2001:db9::/32"]);
    assert!(router.send6(0, &udp())[0].fast);
}

#[test]
fn rules_put_addresses_into_lists_of_their_family() {
    let note = Action::AddSrcToAddressList { list: 0, timeout_ms: 1_000 };
    let config = plain()
        .ipv6_address_list("seen", &[])
        .ipv6_filter("forward", rule().matcher(src_list(0)).drop())
        .ipv6_filter("forward", rule().then(note));
    let mut router = router(config);
    assert_eq!(router.send6(0, &udp()).len(), 1);
    assert_eq!(router.send6(0, &udp()), []);
    let mut seen = Vec::new();
    let now = router.now();
    let sets = &router.shared().address_sets;
    sets.for_each_dynamic(now, |entry| seen.push((entry.list.to_string(), entry.address, entry.len)));
    assert_eq!(seen, [("seen".to_owned(), Addr(ip6(HOST)), 128)]);
    router.advance_ms(1_200);
    router.shared().expire_list_entries(router.now(), 100);
    assert_eq!(router.send6(0, &udp()).len(), 1);
}

#[test]
fn the_hop_limit_and_the_traffic_class_are_those_of_the_packet() {
    let config = plain()
        .ipv6_filter("forward", rule().matcher(Matcher::HopLimit { from: 0, to: 9, negate: false }).drop())
        .ipv6_filter("forward", rule().matcher(Matcher::Dscp { dscp: 46, negate: false }).drop())
        .ipv6_filter("forward", rule().passthrough());
    let mut router = router(config);
    for _ in 0..3 {
        assert_eq!(router.send6(0, &udp().hop_limit(10)).len(), 1);
        assert_eq!(router.send6(0, &udp().hop_limit(9)), []);
        assert_eq!(router.send6(0, &udp().traffic_class(46 << 2 | 1)), []);
    }
    assert_eq!([1000, 1001, 1002].map(|row| router.rule(row).0), [3, 3, 3]);
}

#[test]
fn a_rule_on_tcp_flags_is_asked_for_every_packet_of_a_cached_flow() {
    let config = plain()
        .ipv6_filter("forward", rule().state(&[ConnectionState::New]).accept())
        .ipv6_filter("forward", rule().protocol(6).tcp_flags(tcp_flag::PSH, 0).passthrough())
        .ipv6_filter("forward", rule().state(ESTABLISHED).accept())
        .ipv6_filter("forward", rule().drop())
        // A table of IPv4 has another rule in that place.
        .filter("forward", rule().accept())
        .filter("forward", rule().drop());
    let mut router = router(config);
    let back = |flags, seq, ack| Ipv6Builder::new(SERVER, HOST).tcp(80, 1000, flags, seq, ack);
    router.send6(0, &tcp(tcp_flag::SYN, 100, 0));
    router.send6(1, &back(tcp_flag::SYN | tcp_flag::ACK, 500, 101));
    router.send6(0, &tcp(tcp_flag::ACK, 101, 501));
    router.moved();
    let mut fast = 0;
    for number in 0..10u32 {
        let flags = if number % 2 == 0 { tcp_flag::ACK } else { tcp_flag::ACK | tcp_flag::PSH };
        let out = router.send6(0, &tcp(flags, 101 + number * 10, 501).payload_len(10));
        fast += i64::from(out[0].fast);
    }
    assert!(fast >= 9, "{fast} of 10 were fast");
    expect_counters!(router, Rule(1001): 5, Rule(1002): 10, FastPath: fast);
}

#[test]
fn fasttrack_and_accept_count_the_same() {
    let config = plain()
        .ipv6_filter("forward", rule().state(ESTABLISHED).fasttrack())
        .ipv6_filter("forward", rule().state(ESTABLISHED).accept());
    let mut router = router(config);
    router.send6(0, &udp());
    router.send6(1, &answer());
    for _ in 0..20 {
        router.send6(0, &udp());
        router.send6(1, &answer());
    }
    assert_eq!(router.rule(1000), router.rule(1001));
    assert_eq!(router.rule(1000).0, 41);
    let stats = router.stats();
    assert!(stats.fasttrack.packets >= 38, "{}", stats.fasttrack.packets);
    assert!(stats.fasttrack_active);
    assert_eq!(router.connections()[0].flags, "SACF");
}

#[test]
fn a_rule_that_drops_stops_a_running_flow_and_its_removal_lets_it_go_on() {
    let mut router = router(plain().ipv6_filter("forward", rule().passthrough()));
    let drop = RouterConfig::new().ipv6_filter("forward", rule().src(HOST).drop()).config.ipv6_filter;
    for _ in 0..4 {
        assert_eq!(router.send6(0, &udp()).len(), 1);
        assert_eq!(router.send6(1, &answer()).len(), 1);
    }
    assert!(router.stats().flow_cache_forwarded.packets >= 4);
    let dropping = tollway_config::dataplane::Rule { row: 7, ..drop[0].rules[0].clone() };
    router.reconfigure(move |config| config.ipv6_filter[0].rules.push(dropping));
    router.moved();
    for _ in 0..3 {
        assert_eq!(router.send6(0, &udp()), []);
    }
    expect_counters!(router, Rule(1000): 3, Rule(7): 3, Drop(FilterDrop): 3);
    router.reconfigure(|config| {
        config.ipv6_filter[0].rules.pop();
    });
    assert_eq!(router.send6(0, &udp()).len(), 1);
    assert_eq!(router.rule(7).0, 3);
}

#[test]
fn log_lines_have_addresses_of_ipv6() {
    let config = plain()
        .ipv6_filter("forward", rule().protocol(6).log("web").accept())
        .ipv6_filter("input", rule().protocol(58).log("").accept());
    let mut router = router(config);
    router.send6(0, &tcp(tcp_flag::SYN, 1, 0));
    router.send6(0, &Ipv6Builder::new(HOST, "2001:db8:1::1").echo_request(7, 1));
    let lines: Vec<String> = router.shared().log.take().into_iter().map(|line| line.message).collect();
    assert_eq!(
        lines,
        [
            "web forward: in:ether1 out:ether2, connection-state:new src-mac 02:00:00:00:00:ee, \
             proto TCP (SYN), [2001:db8:1::10]:1000->[2001:db8:2::fe]:80, len 60",
            "input: in:ether1 out:(unknown 0), connection-state:new src-mac 02:00:00:00:00:ee, \
             proto ICMPv6 (type 128, code 0), id 7, 2001:db8:1::10->2001:db8:1::1, len 48",
        ]
    );
}

#[test]
fn fragments_have_the_ports_of_their_first_and_pass_the_rules_of_ports() {
    let config = plain().ipv6_filter("forward", rule().protocol(17).dst_port(2000).drop());
    let mut router = router(config);
    for frame in udp().payload_len(900).eth_dst(tollway_testkit::router::port_mac(0)).build_fragments(400, 9)
    {
        assert_eq!(router.inject(0, frame, Default::default()), []);
    }
    assert_eq!(router.moved().get(&Counter::Drop(DropReason::FilterDrop)), Some(&3));
}

#[test]
fn messages_of_neighbour_discovery_are_untracked_and_pass_input() {
    let config = plain()
        .ipv6_filter("input", rule().state(&[ConnectionState::Untracked]).protocol(58).passthrough())
        .ipv6_filter("input", rule().state(&[ConnectionState::Invalid]).drop());
    let mut router = router(config);
    let out = router.send6(
        0,
        &Ipv6Builder::new(HOST, "2001:db8:1::1").neighbor(NeighborRepr {
            icmp_type: icmpv6::NEIGHBOR_SOLICITATION,
            flags: 0,
            target: ip6("2001:db8:1::1"),
            link: Some([2, 1, 10, 1, 0, 2]),
        }),
    );
    assert_eq!(out.len(), 1);
    assert_eq!((router.rule(1000).0, router.rule(1001).0), (1, 0));
}
