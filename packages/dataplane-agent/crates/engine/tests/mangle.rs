//! Mangle: marks, what is written into packets, and that the flow cache goes on with all of it.

use tollway_config::dataplane::{Action, ConnectionState, FasttrackMode, MarkName, Matcher, NewMss};
use tollway_config::protocol::TraceFilter;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::{Router, RouterConfig, rule};

const HOST: &str = "192.168.88.10";
const SERVER: &str = "203.0.113.5";
/// Rows of the rules, in order.
const FIRST: u32 = 1000;

fn config() -> RouterConfig {
    RouterConfig::new().interface("192.168.88.1/24").interface("10.2.0.1/24").route("0.0.0.0/0", "10.2.0.254")
}

fn router(config: RouterConfig) -> Router {
    Router::new(config).hosts(0, &[HOST]).hosts(1, &["10.2.0.254"])
}

fn query() -> PacketBuilder {
    PacketBuilder::ipv4(HOST, SERVER).udp(4000, 53).payload_len(20)
}

fn answer() -> PacketBuilder {
    PacketBuilder::ipv4(SERVER, HOST).udp(53, 4000).payload_len(20)
}

fn mark_packet(mark: u32) -> Action {
    Action::MarkPacket { mark, passthrough: false }
}

fn mark_connection(mark: u32) -> Action {
    Action::MarkConnection { mark, passthrough: true }
}

fn marked(mark: u32) -> Matcher {
    Matcher::PacketMark { mark, negate: false }
}

fn of_connection(mark: u32) -> Matcher {
    Matcher::ConnectionMark { mark, negate: false }
}

fn named(mark: u32, name: &str) -> MarkName {
    MarkName { mark, name: name.to_owned() }
}

fn packets(router: &Router, rules: u32) -> Vec<u64> {
    (FIRST..FIRST + rules).map(|row| router.rule(row).0).collect()
}

#[test]
fn a_packet_passes_the_chains_in_their_order_and_the_filter_sees_its_mark() {
    let pass = |mark, next| (vec![marked(mark)], Action::MarkPacket { mark: next, passthrough: true }, None);
    let config = config()
        .mangle("prerouting", pass(0, 1))
        .mangle("forward", pass(1, 2))
        .filter("forward", rule().matcher(marked(2)).passthrough())
        .mangle("postrouting", pass(2, u32::MAX))
        .mangle("postrouting", rule().matcher(marked(u32::MAX)).passthrough())
        .mangle("input", rule().passthrough())
        .mangle("output", rule().passthrough());
    let mut router = router(config);
    for sent in 1..=10u64 {
        let out = router.send(0, &query());
        assert_eq!(out[0].fast, sent > 1);
        assert_eq!(packets(&router, 7), [sent, sent, sent, sent, sent, 0, 0]);
    }
    // An echo request for the router is answered by it.
    let echo = PacketBuilder::ipv4(HOST, "192.168.88.1").echo_request(7, 1);
    assert!(router.send(0, &echo)[0].packet().checksums_right);
    assert_eq!(packets(&router, 7), [11, 10, 10, 10, 10, 1, 1]);
}

#[test]
fn the_mark_of_a_connection_holds_for_both_directions_and_a_new_one_at_once() {
    let many = Matcher::ConnectionBytes { from: 480, to: 0 };
    let config = config()
        .mangle("prerouting", rule().matcher(of_connection(0)).then(mark_connection(5)))
        .mangle("forward", rule().matcher(of_connection(5)).passthrough())
        .mangle("forward", rule().matcher(many).then(mark_connection(0x8000_0001)))
        .mangle("postrouting", rule().matcher(of_connection(0x8000_0001)).passthrough())
        .filter("forward", rule().matcher(of_connection(5)).passthrough());
    let mut router = router(config);
    let mut fast = 0;
    for round in 1..=10u64 {
        for out in [router.send(0, &query()), router.send(1, &answer())] {
            fast += u64::from(out[0].fast);
        }
        let sent = 2 * round;
        // 48 bytes a packet: the tenth one takes the connection over the threshold.
        let (five, more) = if sent < 10 { (sent, 0) } else { (10, sent - 9) };
        assert_eq!(packets(&router, 5), [1, five, more, more, sent.min(9)], "after {sent} packets");
        let mark = router.connections()[0].mark;
        assert_eq!(mark, if sent < 10 { 5 } else { 0x8000_0001 });
    }
    // The first packet of each state and mark is decided, and the tenth asked for its bytes.
    assert!((10..=15).contains(&fast), "{fast}");
}

#[test]
fn rules_that_take_a_mark_from_each_other_do_not_keep_a_connection_off_the_fast_path() {
    let config = config()
        .mangle("prerouting", rule().then(mark_connection(1)))
        .mangle("forward", rule().then(mark_connection(2)));
    let mut router = router(config);
    for _ in 0..3 {
        router.send(0, &query());
        router.send(1, &answer());
    }
    assert!(router.send(0, &query())[0].fast && router.send(1, &answer())[0].fast);
    assert_eq!(router.connections()[0].mark, 2);
}

#[test]
fn a_thousand_and_more_marks_of_32_bits_work() {
    for rules in [608, 640, 1024u32] {
        let mark = |number: u32| 0xffff_0000 | number;
        let address = |number: u32| format!("100.{}.{}.1", 64 + number / 256, number % 256);
        let mut config = config();
        for number in 0..rules {
            config = config.mangle("forward", rule().dst(&address(number)).then(mark_packet(mark(number))));
        }
        for number in 0..rules {
            config = config.filter("forward", rule().matcher(marked(mark(number))).accept());
        }
        let mut router = router(config.filter("forward", rule().drop()));
        for number in (0..rules).step_by(37).chain([rules - 1]) {
            let packet = PacketBuilder::ipv4(HOST, &address(number)).udp(4000, 53);
            assert_eq!(router.send(0, &packet).len(), 1);
            assert!(router.send(0, &packet)[0].fast);
            assert_eq!(router.rule(FIRST + number).0, 2);
            assert_eq!(router.rule(FIRST + rules + number).0, 2);
        }
        let other = PacketBuilder::ipv4(HOST, "9.9.9.9").udp(4000, 53);
        assert!(router.send(0, &other).is_empty());
    }
}

#[test]
fn a_written_dscp_leaves_with_every_packet_and_right_checksums() {
    let write = Action::ChangeDscp { dscp: 46, passthrough: true };
    let config = config()
        .mangle("postrouting", rule().protocol(17).then(write))
        .nat("srcnat", rule().out_interface(2).masquerade());
    let mut router = router(config);
    for sent in 0..4 {
        let out = router.send(0, &query().dscp(10));
        // The first packet's translation was decided after its rules.
        assert_eq!(out[0].fast, sent > 1);
        assert_eq!(out[0].bytes[15] >> 2, 46);
        assert!(out[0].packet().checksums_right);
    }
}

#[test]
fn a_rule_that_asks_for_the_dscp_is_asked_again_when_it_is_another() {
    let voice = Matcher::Dscp { dscp: 46, negate: false };
    let mut router = router(config().mangle("forward", rule().matcher(voice).then(mark_packet(1))));
    let mut send = |dscp: u8| router.send(0, &query().dscp(dscp))[0].fast;
    assert_eq!([send(46), send(46), send(46)], [false, true, true]);
    assert_eq!([send(0), send(0), send(46), send(46)], [false, true, false, true]);
    assert_eq!(router.rule(FIRST).0, 5);
}

/// A SYN with so large segments, and what it announces when it leaves.
fn announced(router: &mut Router, port: u16, mss: u16) -> u16 {
    let [high, low] = mss.to_be_bytes();
    let syn = PacketBuilder::ipv4(HOST, SERVER)
        .tcp(port, 80, tcp_flag::SYN, 1000, 0)
        .tcp_options(&[1, 1, 2, 4, high, low, 1, 0]);
    let out = router.send(0, &syn);
    assert!(out[0].packet().checksums_right);
    let option = 14 + 20 + 20 + 4;
    u16::from_be_bytes([out[0].bytes[option], out[0].bytes[option + 1]])
}

#[test]
fn a_syn_announces_no_more_than_it_may_and_other_segments_stay_fast() {
    let clamp = Action::ChangeMss { mss: NewMss::ClampToPmtu, passthrough: true };
    let config = config()
        .mangle("forward", rule().protocol(6).tcp_flags(tcp_flag::SYN, 0).then(clamp))
        .with(|config| config.interfaces[1].mtu = 1400);
    let mut router = router(config);
    assert_eq!(announced(&mut router, 4000, 1460), 1360);
    assert_eq!(announced(&mut router, 4001, 1300), 1300);
    router
        .send(1, &PacketBuilder::ipv4(SERVER, HOST).tcp(80, 4000, tcp_flag::SYN | tcp_flag::ACK, 7000, 1001));
    let segment =
        |seq| PacketBuilder::ipv4(HOST, SERVER).tcp(4000, 80, tcp_flag::ACK, seq, 7001).payload_len(1);
    router.send(0, &segment(1001));
    assert!(router.send(0, &segment(1002))[0].fast);
    assert_eq!(router.rule(FIRST).0, 3, "the SYNs alone");

    // The answer's segments come back by the link that is the narrow one.
    let answer = PacketBuilder::ipv4(SERVER, HOST)
        .tcp(80, 4000, tcp_flag::SYN | tcp_flag::ACK, 7000, 1001)
        .tcp_options(&[2, 4, 0x05, 0xb4]);
    let out = router.send(1, &answer);
    assert_eq!(out[0].bytes[14 + 20 + 20 + 2..][..2], 1360u16.to_be_bytes());
    assert!(out[0].packet().checksums_right);

    let value = Action::ChangeMss { mss: NewMss::Value { bytes: 1000 }, passthrough: true };
    router.reconfigure(|config| config.mangle[0].rules[0].action = value);
    assert_eq!(announced(&mut router, 4002, 1460), 1000);
    assert_eq!(announced(&mut router, 4003, 900), 900);
}

#[test]
fn bypassing_packets_skip_mangle_and_a_rule_of_it_makes_them_bypass() {
    const ESTABLISHED: &[ConnectionState] = &[ConnectionState::Established];
    let config = config()
        .mangle("prerouting", rule().passthrough())
        .mangle("forward", rule().state(ESTABLISHED).fasttrack())
        .mangle("postrouting", rule().passthrough())
        .with(|config| config.settings.fasttrack_mode = FasttrackMode::Bypass);
    let mut router = router(config);
    for _ in 0..10 {
        router.send(0, &query());
        router.send(1, &answer());
    }
    assert_eq!(packets(&router, 3), [2, 1, 2], "the first packet and the answer that made the mark");
    assert_eq!(router.stats().fasttrack.packets, 18);
    assert!(router.connections()[0].flags.contains('F'));
}

#[test]
fn what_a_packet_is_dropped_for_later_does_not_take_it_from_the_counters_of_mangle() {
    let config = config()
        .mangle("prerouting", rule().then(mark_packet(3)))
        .filter("forward", rule().matcher(marked(3)).dst_port(54).drop());
    let mut router = router(config);
    let dropped = PacketBuilder::ipv4(HOST, SERVER).udp(4000, 54);
    let expired = query().ttl(1);
    for packet in [&dropped, &dropped, &expired] {
        router.send(0, packet);
    }
    assert_eq!(packets(&router, 2), [3, 2]);
}

#[test]
fn rules_that_want_every_packet_get_it_and_are_logged() {
    let every = Matcher::Nth { every: 2, packet: 1, negate: false };
    let config = config()
        .mangle("prerouting", rule().matcher(every).then(mark_packet(3)))
        .mangle("postrouting", rule().matcher(marked(3)).log("third").passthrough());
    let mut router = router(config);
    for _ in 0..10 {
        assert!(!router.send(0, &query())[0].fast);
    }
    assert_eq!(packets(&router, 2), [5, 5]);
    let lines = router.shared().log.take();
    assert_eq!(lines.len(), 5);
    assert!(lines[0].message.starts_with("third postrouting: in:ether1 out:ether2, connection-state:new"));
}

#[test]
fn a_trace_tells_the_marks_and_the_rules_that_set_them() {
    let config = config()
        .with(|config| config.mark_names = vec![named(17, "web"), named(16, "voice calls")])
        .mangle("prerouting", rule().then(mark_connection(16)))
        .mangle("forward", rule().then(Action::ChangeDscp { dscp: 46, passthrough: true }))
        .mangle("postrouting", rule().then(mark_packet(0xffff_ffff)))
        .filter("forward", rule().passthrough());
    let mut router = router(config);
    let trace = router.start_trace(&TraceFilter::default());
    router.send(0, &query());
    let noted = router.traced(trace);
    let step = |stage: &str| {
        let step = noted.packets[0].steps.iter().find(|step| step.stage == stage).expect("a step");
        (step.decision.clone(), step.rows.clone())
    };
    assert_eq!(step("mangle_pre"), ("gets connection mark voice calls".to_owned(), vec![FIRST]));
    assert_eq!(step("mangle"), ("gets DSCP 46".to_owned(), vec![FIRST + 1]));
    assert_eq!(step("filter"), ("accepted".to_owned(), vec![FIRST + 3]));
    // A mark that nobody has named.
    assert_eq!(step("mangle_post"), ("gets packet mark 0xffffffff".to_owned(), vec![FIRST + 2]));
}

#[test]
fn a_network_that_a_destination_before_its_translation_comes_into_reaches_cached_flows() {
    let listed = Matcher::DstAddressList { list: 0, negate: false };
    let config = config()
        .address_list("list", &[])
        .mangle("prerouting", rule().matcher(listed).passthrough())
        .nat("dstnat", rule().protocol(17).dst_nat("10.2.0.254", 53));
    let mut router = router(config);
    let network = |len| if len == 24 { [203, 0, 113, 0] } else { [203, 0, 113, 5] };
    for len in [24, 32] {
        for _ in 0..3 {
            router.send(0, &query());
        }
        let before = packets(&router, 1)[0];
        let (now, shared) = (router.now(), router.shared());
        let address = std::net::IpAddr::from(network(len));
        shared.address_sets.add_to("list", address.into(), len, 0, now, &shared.change_counters);
        for _ in 0..3 {
            assert_eq!(router.send(0, &query()).len(), 1);
        }
        assert_eq!(packets(&router, 1)[0], before + 3, "/{len}");
        let shared = router.shared();
        assert!(shared.address_sets.remove_from("list", address.into(), len, &shared.change_counters));
        for _ in 0..3 {
            router.send(0, &query());
        }
        assert_eq!(packets(&router, 1)[0], before + 3, "/{len}");
    }
}
