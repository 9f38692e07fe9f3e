//! Mangle of IPv6: marks, DSCP, segment sizes, FastTrack.

use tollway_config::dataplane::{Action, ConnectionState, FasttrackMode, Matcher, NewMss};
use tollway_testkit::packet::tcp_flag;
use tollway_testkit::{Ipv6Builder, Router, RouterConfig, rule};

const HOST: &str = "2001:db8:1::10";
const SERVER: &str = "2001:db8:2::fe";

fn config() -> RouterConfig {
    RouterConfig::new()
        .interface("2001:db8:1::1/64")
        .interface("2001:db8:2::1/64")
        .neighbor(1, HOST, "02:01:0a:01:00:02", false)
        .neighbor(2, SERVER, "02:01:0a:02:00:02", false)
}

fn router(config: RouterConfig) -> Router {
    let mut router = Router::new(config);
    router.advance_ms(1_100);
    router.moved();
    router
}

fn query() -> Ipv6Builder {
    Ipv6Builder::new(HOST, SERVER).udp(4000, 53).payload_len(20)
}

fn answer() -> Ipv6Builder {
    Ipv6Builder::new(SERVER, HOST).udp(53, 4000).payload_len(20)
}

fn mark_packet(mark: u32) -> Action {
    Action::MarkPacket { mark, passthrough: true }
}

fn mark_connection(mark: u32) -> Action {
    Action::MarkConnection { mark, passthrough: true }
}

fn marked(mark: u32) -> Matcher {
    Matcher::PacketMark { mark, negate: false }
}

fn packets(router: &Router, count: u32) -> Vec<u64> {
    (1000..1000 + count).map(|row| router.rule(row).0).collect()
}

#[test]
fn every_chain_is_passed_in_its_order_and_marks_go_on() {
    let pass = |before: u32, mark: u32| rule().matcher(marked(before)).then(mark_packet(mark));
    let config = config()
        .ipv6_mangle("prerouting", pass(0, 1))
        .ipv6_mangle("forward", pass(1, 2))
        .ipv6_filter("forward", rule().matcher(marked(2)).passthrough())
        .ipv6_mangle("postrouting", pass(2, 3))
        .ipv6_mangle("postrouting", rule().matcher(marked(3)).passthrough())
        .ipv6_mangle("input", rule().passthrough())
        .ipv6_mangle("output", rule().passthrough())
        // Tables of IPv4 do not matter.
        .mangle("prerouting", rule().then(mark_packet(9)));
    let mut router = router(config);
    for count in 1..6 {
        assert_eq!(router.send6(0, &query()).len(), 1);
        assert_eq!(packets(&router, 8), [count, count, count, count, count, 0, 0, 0]);
    }
    assert!(router.send6(0, &query())[0].fast);
    router.send6(0, &Ipv6Builder::new(HOST, "2001:db8:1::1").echo_request(1, 1));
    assert_eq!(packets(&router, 8)[5..], [1, 1, 0]);
}

#[test]
fn a_mark_of_a_connection_is_seen_by_its_answers() {
    let of_connection = |mark| Matcher::ConnectionMark { mark, negate: false };
    let config = config()
        .ipv6_mangle("prerouting", rule().matcher(of_connection(0)).then(mark_connection(5)))
        .ipv6_filter("forward", rule().matcher(of_connection(5)).passthrough());
    let mut router = router(config);
    for _ in 0..4 {
        router.send6(0, &query());
        router.send6(1, &answer());
    }
    assert_eq!((packets(&router, 2), router.connections()[0].mark), (vec![1, 8], 5));
}

#[test]
fn a_dscp_is_written_into_every_packet_slow_and_fast() {
    let config = config()
        .ipv6_mangle(
            "postrouting",
            rule().in_interface(1).then(Action::ChangeDscp { dscp: 46, passthrough: true }),
        )
        .ipv6_mangle("postrouting", rule().matcher(Matcher::Dscp { dscp: 46, negate: false }).passthrough());
    let mut router = router(config);
    for round in 0..5 {
        let out = router.send6(0, &query().traffic_class(10 << 2 | 1));
        assert_eq!(out[0].fast, round > 1 || out[0].fast);
        let word = u16::from_be_bytes([out[0].bytes[14], out[0].bytes[15]]);
        assert_eq!(word, 0x6000 | (46 << 2 | 1) << 4, "the ECN bits stay");
        assert_eq!(router.send6(1, &answer())[0].bytes[14..16], [0x60, 0]);
    }
    assert!(router.send6(0, &query())[0].fast);
    assert_eq!(packets(&router, 2), [6, 6]);
}

#[test]
fn a_syn_announces_no_more_than_it_may() {
    let clamp = Action::ChangeMss { mss: NewMss::ClampToPmtu, passthrough: true };
    let config = config()
        .ipv6_mangle("forward", rule().protocol(6).tcp_flags(tcp_flag::SYN, 0).then(clamp))
        .with(|config| config.interfaces[1].mtu = 1400);
    let mut router = router(config);
    for (port, mss, expected) in [(4000, 1440u16, 1340), (4001, 1300, 1300)] {
        let [high, low] = mss.to_be_bytes();
        let syn = Ipv6Builder::new(HOST, SERVER)
            .tcp(port, 80, tcp_flag::SYN, 1000, 0)
            .tcp_options(&[1, 1, 2, 4, high, low, 1, 0]);
        let packet = router.send6(0, &syn)[0].ipv6();
        assert!(packet.checksum_right);
        assert_eq!(u16::from_be_bytes([packet.transport[24], packet.transport[25]]), expected);
    }
}

#[test]
fn bypassing_packets_skip_mangle() {
    let config = config()
        .ipv6_mangle("prerouting", rule().passthrough())
        .ipv6_mangle("forward", rule().state(&[ConnectionState::Established]).fasttrack())
        .ipv6_mangle("postrouting", rule().passthrough())
        .with(|config| config.settings.fasttrack_mode = FasttrackMode::Bypass);
    let mut router = router(config);
    for _ in 0..10 {
        router.send6(0, &query());
        router.send6(1, &answer());
    }
    assert_eq!(packets(&router, 3), [2, 1, 2]);
    assert_eq!(router.stats().fasttrack.packets, 18);
}
