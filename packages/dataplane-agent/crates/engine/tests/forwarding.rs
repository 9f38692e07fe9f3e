//! Routing, ARP, ICMP of the router itself.

use tollway_testkit::packet::{PacketBuilder, ip};
use tollway_testkit::router::{To, host_mac, port_mac};
use tollway_testkit::{Router, RouterConfig, expect_counters};

fn plain() -> RouterConfig {
    RouterConfig::new().interface("10.1.0.1/24").interface("10.2.0.1/24")
}

fn router() -> Router {
    Router::new(plain()).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2", "10.2.0.254"])
}

fn udp() -> PacketBuilder {
    PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").udp(1000, 2000).payload_len(20)
}

#[test]
fn forwards_to_a_neighbour_with_ttl_and_link_header_rewritten() {
    let mut router = router();
    // The first packet waits for ARP.
    let out = router.send(0, &udp());
    assert_eq!(router.resolved, 1);
    assert_eq!(out.len(), 1);
    let packet = out[0].packet();
    assert_eq!(out[0].to, To::Port(1));
    assert_eq!((packet.ttl, packet.checksums_right), (63, true));
    assert_eq!(packet.eth_src, port_mac(1));
    assert_eq!(packet.eth_dst, host_mac(ip("10.2.0.2")));
    expect_counters!(router, Generated: 1, Drop(ArpConsumed): 1);
    let out = router.send(0, &udp());
    assert_eq!(out.len(), 1);
    assert!(out[0].fast);
    assert_eq!(out[0].packet().ttl, 63);
    expect_counters!(router, FastPath: 1);
}
