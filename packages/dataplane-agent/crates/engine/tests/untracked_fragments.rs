//! Without connection tracking nobody knows the ports of later fragments.

use tollway_config::dataplane::{Matcher, PortRange, TrackingMode};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::router::port_mac;
use tollway_testkit::{Router, RouterConfig, rule};

const CLIENT: &str = "10.1.0.2";
const SERVER: &str = "10.2.0.2";

/// How many fragments of a datagram in three match a condition while connections are not tracked, of a protocol.
fn matched(protocol: u8, datagram: &PacketBuilder, condition: Matcher) -> u64 {
    let config = RouterConfig::new()
        .interface("10.1.0.1/24")
        .interface("10.2.0.1/24")
        .filter("forward", rule().protocol(protocol).matcher(condition).passthrough())
        .with(|config| config.tracking.enabled = TrackingMode::No);
    let mut router = Router::new(config).hosts(0, &[CLIENT]).hosts(1, &[SERVER]);
    let frames = datagram.clone().eth_dst(port_mac(0)).payload_len(1000).build_fragments(400);
    assert_eq!(frames.len(), 3);
    for frame in frames {
        assert_eq!(router.inject(0, frame, VnetState::default()).len(), 1);
    }
    router.rule(router.config().filter[0].rules[0].row).0
}

#[test]
fn conditions_about_the_transport_header_hold_for_no_fragment_without_it() {
    let udp = PacketBuilder::ipv4(CLIENT, SERVER).udp(4000, 80);
    let tcp = PacketBuilder::ipv4(CLIENT, SERVER).tcp(4000, 80, tcp_flag::SYN, 1, 0);
    let ping = PacketBuilder::ipv4(CLIENT, SERVER).echo_request(1, 1);
    let range = |from, to| vec![PortRange { from, to }];
    let echo_reply = |negate| Matcher::IcmpOptions { icmp_type: 0, code_from: 0, code_to: 255, negate };
    for (protocol, datagram, condition, first) in [
        (17, &udp, Matcher::DstPort { ports: range(53, 53), negate: true }, 1),
        (17, &udp, Matcher::DstPort { ports: range(80, 80), negate: false }, 1),
        (17, &udp, Matcher::SrcPort { ports: range(0, 1023), negate: false }, 0),
        (17, &udp, Matcher::Port { ports: range(0, 79), negate: false }, 0),
        (6, &tcp, Matcher::TcpFlags { set: tcp_flag::SYN, clear: 0, negate: true }, 0),
        (6, &tcp, Matcher::TcpFlags { set: tcp_flag::SYN, clear: 0, negate: false }, 1),
        (6, &tcp, Matcher::TcpFlags { set: 0, clear: tcp_flag::ACK, negate: false }, 1),
        (1, &ping, echo_reply(false), 0),
        (1, &ping, echo_reply(true), 1),
        // What the IP header tells holds for all.
        (17, &udp, Matcher::PacketSize { from: 0, to: 65_535, negate: false }, 3),
    ] {
        assert_eq!(matched(protocol, datagram, condition.clone()), first, "{condition:?}");
    }
}
