//! Routing, ICMP of the router itself.

use tollway_config::dataplane::{RouteTarget, RpFilter, TrackingMode};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::{PacketBuilder, ip, tcp_flag};
use tollway_testkit::router::{Output, To, host_mac, port_mac};
use tollway_testkit::{Router, RouterConfig, expect_counters};
use tollway_wire::checksum;

use super::arp::request;

pub(super) fn plain() -> RouterConfig {
    RouterConfig::new().interface("10.1.0.1/24").interface("10.2.0.1/24")
}

pub(super) fn router() -> Router {
    Router::new(plain()).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2", "10.2.0.254"])
}

pub(super) fn udp() -> PacketBuilder {
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

#[test]
fn routes_by_gateway_blackhole_and_nothing() {
    let config = plain()
        .route("0.0.0.0/0", "10.2.0.254")
        .route_to("192.0.2.0/24", RouteTarget::Blackhole)
        .route("198.51.100.0/24", "10.9.0.1");
    let mut router = Router::new(config).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.254"]);
    let to = |dst: &str| PacketBuilder::ipv4("10.1.0.2", dst).udp(1, 2);
    router.send(0, &to("203.0.113.1"));
    let out = router.send(0, &to("203.0.113.1"));
    assert_eq!(out[0].packet().eth_dst, host_mac(ip("10.2.0.254")));
    router.moved();
    assert_eq!(router.send(0, &to("192.0.2.1")), []);
    expect_counters!(router, Drop(Blackhole): 1);
    // The gateway of the inactive route is unreachable, so the default route takes it.
    assert_eq!(router.send(0, &to("198.51.100.1")).len(), 1);
    let mut router = Router::new(plain()).hosts(0, &["10.1.0.2"]);
    let out = router.send(0, &to("203.0.113.1"));
    assert_eq!(out[0].packet().icmp, Some((3, 0)));
    expect_counters!(router, Drop(NoRoute): 1, Drop(ArpConsumed): 1, Generated: 2);
}

#[test]
fn traceroute_sees_the_router_and_errors_are_limited_in_rate() {
    let mut router = router();
    let out = router.send(0, &udp().ttl(1));
    let error = out[0].packet();
    assert_eq!((error.icmp, error.ttl), (Some((11, 0)), 64));
    assert_eq!(error.src, "10.1.0.1".parse::<std::net::Ipv4Addr>().unwrap());
    assert_eq!(error.quoted().map(|quoted| quoted.ttl), Some(1));
    // A burst of six, as traceroute sends it; then one per interval.
    for _ in 1..6 {
        assert_eq!(router.send(0, &udp().ttl(1)).len(), 1);
    }
    router.moved();
    assert_eq!(router.send(0, &udp().ttl(1)), []);
    expect_counters!(router, Drop(TtlExceeded): 1);
    router.advance_ms(10);
    assert_eq!(router.send(0, &udp().ttl(1)).len(), 1);
    router.advance_ms(10);
    // Never about an ICMP error.
    let quoted = PacketBuilder::ipv4("10.2.0.2", "10.1.0.2").udp(5, 6).build_l3();
    let error = PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").icmp(3, 3, [0; 4]).payload(&quoted).ttl(1);
    assert_eq!(router.send(0, &error), []);
}

#[test]
fn echo_requests_to_any_address_of_the_router_are_answered() {
    let mut router = router();
    for (number, target) in ["10.1.0.1", "10.2.0.1"].into_iter().enumerate() {
        let request = PacketBuilder::ipv4("10.1.0.2", target).echo_request(7, number as u16).payload_len(56);
        let reply = router.send(0, &request)[0].packet();
        assert_eq!((reply.icmp, reply.ports.0, reply.ttl), (Some((0, 0)), 7, 64));
        assert_eq!((reply.src.to_string(), reply.dst.to_string()), (target.into(), "10.1.0.2".into()));
        assert!(reply.checksums_right);
        assert_eq!(reply.payload.len(), 56);
    }
    router.moved();
    let mut broken =
        PacketBuilder::ipv4("10.1.0.2", "10.1.0.1").eth_dst(port_mac(0)).echo_request(1, 1).build();
    broken[40] ^= 1;
    assert_eq!(router.inject(0, broken, VnetState::default()), []);
    expect_counters!(router, Drop(BadIcmpChecksum): 1);
}

#[test]
fn other_packets_for_the_router_go_to_the_tap_of_their_interface() {
    let mut router = router();
    let out = router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.2.0.1").tcp(9, 22, tcp_flag::SYN, 1, 0));
    assert_eq!((out.len(), out[0].to), (1, To::Local(1)));
    let out = router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.1.0.255").udp(9, 9));
    assert_eq!(out[0].to, To::Local(1));
    let dhcp = PacketBuilder::ipv4("0.0.0.0", "255.255.255.255").udp(68, 67);
    assert_eq!(router.send(0, &dhcp)[0].to, To::Local(1));
    // And back.
    let answer = PacketBuilder::ipv4("10.1.0.1", "10.1.0.2").tcp(22, 9, tcp_flag::SYN | tcp_flag::ACK, 1, 2);
    let out = router.send_local(&answer.build_l3());
    assert_eq!((out[0].to, out[0].packet().ttl), (To::Port(0), 64));
}

#[test]
fn what_is_too_big_is_cut_or_refused() {
    let config = plain().with(|config| config.interfaces[1].mtu = 1000);
    let mut router = Router::new(config).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2"]);
    router.send(0, &udp());
    let big = udp().payload_len(1400);
    let out = router.send(0, &big);
    let error = out[0].packet();
    assert_eq!(error.icmp, Some((3, 4)));
    assert_eq!(out[0].bytes[14 + 20 + 6..14 + 20 + 8], 1000u16.to_be_bytes());
    router.moved();
    let out = router.send(0, &big.clone().dont_fragment(false));
    let pieces: Vec<_> = out.iter().map(|output| output.packet()).collect();
    assert_eq!(pieces.iter().map(|piece| piece.fragment).collect::<Vec<_>>(), [(0, true), (976, false)]);
    let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.payload.clone()).collect();
    assert_eq!(bytes[..], big.build_l3()[28..]);
    assert!(pieces.iter().all(|piece| piece.checksums_right && piece.ttl == 63));
    expect_counters!(router, Generated: 1);
    // However many there are: those of other connections are to be reported as well.
    let reported =
        (0..50).filter(|_| router.send(0, &big).first().is_some_and(|out| out.packet().icmp == Some((3, 4))));
    assert_eq!(reported.count(), 50);
}

/// The UDP datagrams that some frames carry, whole again: payloads in the order in which they came.
fn datagrams(out: &[Output], mtu: usize) -> Vec<Vec<u8>> {
    let mut whole: Vec<(u16, Vec<u8>)> = Vec::new();
    for output in out {
        let packet = output.packet();
        assert!(packet.checksums_right && packet.ttl == 63 && output.bytes.len() <= 14 + mtu);
        let ident = u16::from_be_bytes([output.bytes[18], output.bytes[19]]);
        let body = &output.bytes[34..];
        match whole.iter_mut().find(|(known, _)| *known == ident) {
            Some((_, datagram)) => {
                assert_eq!(packet.fragment.0, datagram.len());
                datagram.extend(body);
            }
            None => whole.push((ident, body.to_vec())),
        }
    }
    let check = |(_, datagram): (u16, Vec<u8>)| {
        let len = datagram.len() as u16;
        assert_eq!(datagram[4..6], len.to_be_bytes());
        let pseudo = checksum::pseudo_v4(ip("10.1.0.2"), ip("10.2.0.2"), 17, len);
        assert_eq!(checksum::add(pseudo, checksum::sum(&datagram)), 0xffff);
        datagram[8..].to_vec()
    };
    whole.into_iter().map(check).collect()
}

#[test]
fn datagrams_of_a_super_frame_are_fragmented_where_they_are_too_long() {
    let config = plain().with(|config| config.interfaces[1].mtu = 1000);
    for (payload, gso, idents) in [(4000, 1400, 3), (2801, 1400, 3), (2800, 1400, 2), (4000, 0, 1)] {
        for tracking in [TrackingMode::No, TrackingMode::Yes] {
            let config = config.clone().with(|config| config.tracking.enabled = tracking);
            let mut router = Router::new(config).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2"]);
            router.send(0, &udp());
            router.moved();
            let packet = udp().payload_len(payload).dont_fragment(false).ident(0xfffe);
            let (frame, vnet) = packet.clone().eth_dst(port_mac(0)).build_gso(gso);
            let out = router.inject(0, frame, vnet);
            let found = datagrams(&out, 1000);
            assert_eq!(found.len(), idents, "{payload} in {gso}");
            assert!(found[..idents - 1].iter().all(|datagram| datagram.len() == usize::from(gso)));
            assert_eq!(found.concat()[..], packet.build_l3()[28..]);
            assert!(out.iter().all(|output| output.vnet == VnetState::default() && output.segments == 1));
            expect_counters!(router, Generated: (out.len() - idents) as i64);
            // Not in pieces: the sender has to know.
            let (frame, vnet) = packet.dont_fragment(true).eth_dst(port_mac(0)).build_gso(gso);
            let out = router.inject(0, frame, vnet);
            assert_eq!((out.len(), out[0].packet().icmp), (1, Some((3, 4))));
        }
    }
    // Datagrams that fit stay together.
    let mut router = Router::new(config).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2"]);
    router.send(0, &udp());
    let packet = udp().payload_len(4000).dont_fragment(false);
    let (frame, vnet) = packet.eth_dst(port_mac(0)).build_gso(900);
    let out = router.inject(0, frame, vnet);
    assert_eq!((out.len(), out[0].segments, out[0].vnet.gso_size), (1, 5, 900));
}

#[test]
fn frames_that_are_not_for_a_router_end_with_a_reason() {
    let mut router = router();
    let own = port_mac(0);
    router.send(0, &udp());
    router.moved();
    let good = udp().eth_dst(own).build();
    let mut change = |at: usize, value: u8| {
        let mut frame = good.clone();
        frame[at] = value;
        assert_eq!(router.inject(0, frame, VnetState::default()), []);
    };
    change(5, 0x55);
    change(12, 0x86);
    change(14, 0x65);
    change(22, 9);
    change(17, 255);
    let mut short = good.clone();
    short.truncate(20);
    assert_eq!(router.inject(0, short, VnetState::default()), []);
    let mut vlan = good.clone();
    vlan[12..14].copy_from_slice(&[0x81, 0]);
    assert_eq!(router.inject(0, vlan, VnetState::default()), []);
    let mut v6 = good.clone();
    v6[12..14].copy_from_slice(&[0x86, 0xdd]);
    assert_eq!(router.inject(0, v6, VnetState::default()), []);
    for (src, dst) in [("127.0.0.1", "10.2.0.2"), ("224.0.0.1", "10.2.0.2"), ("10.1.0.1", "10.2.0.2")] {
        assert_eq!(router.send(0, &PacketBuilder::ipv4(src, dst).udp(1, 1)), []);
    }
    assert_eq!(router.send(0, &PacketBuilder::ipv4("10.1.0.2", "240.0.0.1").udp(1, 1)), []);
    assert_eq!(router.send(0, &udp().ip_options(&[131, 4, 4, 0])), []);
    assert_eq!(router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.2.0.255").udp(1, 1)), []);
    expect_counters!(
        router,
        Drop(NotForUs): 1,
        Drop(UnknownEthertype): 1,
        Drop(BadIpHeader): 2,
        Drop(BadIpChecksum): 1,
        Drop(Runt): 1,
        Drop(VlanTagged): 1,
        Drop(Ipv6NotEnabled): 1,
        Drop(MartianSource): 3,
        Drop(MartianDestination): 1,
        Drop(BadIpOptions): 1,
        Drop(DirectedBroadcast): 1,
    );
}

/// `frame` with a tag of these octets.
fn tagged(frame: &[u8], tag: [u8; 4]) -> Vec<u8> {
    [&frame[..12], &tag, &frame[12..]].concat()
}

#[test]
fn a_tag_that_gives_only_a_priority_belongs_to_no_vlan() {
    let mut router = router();
    router.send(0, &udp());
    router.moved();
    let good = udp().eth_dst(port_mac(0)).build();
    let plain = router.inject(0, good.clone(), VnetState::default());
    // Priority 5, may be dropped, VID 0; 802.1ad too.
    for tag in [[0x81, 0, 0xb0, 0], [0x88, 0xa8, 0, 0]] {
        let out = router.inject(0, tagged(&good, tag), VnetState::default());
        assert_eq!(out.len(), 1);
        assert_eq!(out[0].bytes, plain[0].bytes);
        assert!(out[0].packet().checksums_right);
    }
    // What is still to be summed begins before the tag is taken off four bytes further on.
    let partial = VnetState { needs_csum: true, csum_start: 34, csum_offset: 6, ..VnetState::default() };
    let moved = VnetState { csum_start: 38, ..partial };
    let whole = router.inject(0, good.clone(), partial);
    let out = router.inject(0, tagged(&good, [0x81, 0, 0, 0]), moved);
    assert_eq!((&out[0].bytes, out[0].vnet), (&whole[0].bytes, whole[0].vnet));
    let question = tagged(&request("10.1.0.2", "10.1.0.1"), [0x81, 0, 0, 0]);
    assert!(router.inject(0, question, VnetState::default())[0].arp().is_some());
    router.moved();
    // VLAN 5; two tags; a frame that ends with the tag.
    for frame in [
        tagged(&good, [0x81, 0, 0, 5]),
        tagged(&tagged(&good, [0x81, 0, 0, 5]), [0x81, 0, 0, 0]),
        tagged(&good, [0x81, 0, 0, 0])[..16].to_vec(),
    ] {
        assert_eq!(router.inject(0, frame, VnetState::default()), []);
    }
    expect_counters!(router, Drop(VlanTagged): 3);
}

/// A reply to any of them would go to many stations at once.
#[test]
fn broadcast_and_multicast_addresses_are_no_sources() {
    let sources = ["10.1.0.255", "10.2.0.255", "10.3.3.3", "255.255.255.255", "224.0.0.1", "239.1.2.3"];
    for tracking in [TrackingMode::No, TrackingMode::Yes] {
        let config = plain().interface("10.3.3.1/30").with(|config| config.tracking.enabled = tracking);
        let mut router = Router::new(config).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2"]);
        for _ in 0..3 {
            router.send(0, &udp());
        }
        assert!(router.send(0, &udp())[0].fast);
        router.moved();
        for source in sources {
            for target in ["10.1.0.1", "10.2.0.1", "10.2.0.2", "10.2.0.99", "203.0.113.1", "10.1.0.255"] {
                for packet in [
                    PacketBuilder::ipv4(source, target).echo_request(7, 1),
                    PacketBuilder::ipv4(source, target).udp(1, 2).ttl(1),
                    PacketBuilder::ipv4(source, target).tcp(1, 2, tcp_flag::SYN, 1, 0),
                ] {
                    assert_eq!(router.send(0, &packet), [], "{tracking:?}: {source} to {target}");
                }
            }
        }
        expect_counters!(router, Drop(MartianSource): 6 * 6 * 3);
    }
}

#[test]
fn the_reverse_path_is_checked_as_configured() {
    let passes = |mode: RpFilter, src: &str| {
        let config =
            plain().route("172.16.0.0/12", "10.2.0.254").with(|config| config.settings.rp_filter = mode);
        let mut router = Router::new(config).hosts(1, &["10.2.0.2"]);
        let packet = PacketBuilder::ipv4(src, "10.2.0.2").udp(1, 1);
        router.send(0, &packet).iter().any(|output| output.to == To::Port(1))
    };
    for mode in [RpFilter::No, RpFilter::Loose, RpFilter::Strict] {
        assert!(passes(mode, "10.1.0.7"));
        assert_eq!(passes(mode, "172.16.0.1"), mode != RpFilter::Strict);
        assert_eq!(passes(mode, "192.0.2.1"), mode == RpFilter::No);
    }
}

#[test]
fn forwarding_can_be_switched_off_and_interfaces_disabled() {
    let mut router = Router::new(plain().with(|config| config.settings.ip_forward = false));
    assert_eq!(router.send(0, &udp()), []);
    expect_counters!(router, Drop(ForwardingOff): 1);
    let mut router = Router::new(plain().with(|config| config.interfaces[0].disabled = true));
    assert_eq!(router.send(0, &udp()), []);
    expect_counters!(router, Drop(InterfaceDisabled): 1);
    // Without carrier the connected network is not routed to.
    let mut router = self::router();
    router.carrier(1, false);
    let out = router.send(0, &udp());
    assert_eq!(out[0].packet().icmp, Some((3, 0)));
}

#[test]
fn ethernet_padding_is_cut_off() {
    let mut router = router();
    let mut frame = PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").eth_dst(port_mac(0)).udp(1, 2).build();
    let len = frame.len();
    frame.resize(60, 0x77);
    let out = router.inject(0, frame, VnetState::default());
    assert_eq!(out[0].bytes.len(), len);
}

#[test]
fn an_empty_pool_is_counted_and_forwarding_goes_on() {
    let mut router = router();
    router.send(0, &udp());
    router.moved();
    router.source().empty = true;
    assert_eq!(router.send(0, &udp()).len(), 1);
    assert_eq!(router.send(0, &udp().ttl(1)), []);
    expect_counters!(router, FastPath: 1, Drop(TtlExceeded): 1);
}

#[test]
fn multicast_to_the_routers_link_address_is_not_forwarded() {
    let mut router = Router::new(plain().route("0.0.0.0/0", "10.2.0.254")).hosts(1, &["10.2.0.254"]);
    let to = |dst: &str| PacketBuilder::ipv4("10.1.0.2", dst).udp(1000, 2000);
    router.send(0, &to("203.0.113.1"));
    assert!(router.send(0, &to("203.0.113.1"))[0].fast);
    for group in ["224.0.0.5", "239.1.2.3", "255.255.255.255"] {
        assert_eq!(router.send(0, &to(group))[0].to, To::Local(1), "{group}");
    }
}

/// RFC 791 §3.1.
#[test]
fn the_option_timestamp_is_filled_in_and_counts_who_found_no_room() {
    let through = |options: &[u8]| {
        let mut router = router();
        let packet = PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").udp(1, 1).ip_options(options);
        let out = router.send(0, &packet);
        assert!(out[0].packet().checksums_right, "{options:?}");
        out[0].bytes[34..34 + options.len()].to_vec()
    };
    let stamped = through(&[68, 8, 5, 0, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(stamped[..4], [68, 8, 9, 0]);
    let ms = |bytes: &[u8]| u32::from_be_bytes(*bytes.first_chunk().unwrap());
    assert!(ms(&stamped[4..]) < 86_400_000);
    let with_address = through(&[68, 12, 5, 1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(with_address[..8], [68, 12, 13, 1, 10, 2, 0, 1]);
    assert!(ms(&with_address[8..]) < 86_400_000);
    // The sender names who is to stamp.
    let named = through(&[68, 12, 5, 3, 10, 1, 0, 1, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(named[..8], [68, 12, 13, 3, 10, 1, 0, 1]);
    assert!(ms(&named[8..]) < 86_400_000);
    let others = [68, 12, 5, 3, 10, 9, 9, 9, 0, 0, 0, 0];
    assert_eq!(through(&others), others);
    // Full: counted, but not beyond what the field holds.
    assert_eq!(through(&[68, 4, 5, 0x20]), [68, 4, 5, 0x30]);
    assert_eq!(through(&[68, 4, 5, 0xe0]), [68, 4, 5, 0xf0]);
    // Flags that are not defined leave it as it is.
    assert_eq!(through(&[68, 4, 5, 2]), [68, 4, 5, 2]);
}

/// RFC 1812 §5.2.4.1.
#[test]
fn the_option_record_route_gets_the_address_that_a_packet_leaves_by() {
    let mut router = router();
    let sent = |router: &mut Router, options: &[u8]| {
        let out = router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").udp(1, 1).ip_options(options));
        let ip = out[0].bytes[14..].to_vec();
        assert_eq!(tollway_wire::checksum::sum(&ip[..20 + options.len()]), 0xffff);
        ip[20..20 + options.len()].to_vec()
    };
    let own = [10, 2, 0, 1];
    // Behind a NOP; with one address there already; full; without one; cut off.
    let cases: [(&[u8], &[u8]); 5] = [
        (&[1, 7, 7, 4, 0, 0, 0, 0], &[1, 7, 7, 8, 10, 2, 0, 1]),
        (&[7, 11, 8, 9, 9, 9, 9, 0, 0, 0, 0, 0], &[7, 11, 12, 9, 9, 9, 9, own[0], own[1], own[2], own[3], 0]),
        (&[7, 7, 8, 9, 9, 9, 9, 0], &[7, 7, 8, 9, 9, 9, 9, 0]),
        (&[148, 4, 0, 0], &[148, 4, 0, 0]),
        (&[7, 3, 4, 0], &[7, 3, 4, 0]),
    ];
    for (options, expected) in cases {
        assert_eq!(sent(&mut router, options), expected, "{options:?}");
    }
    let _total = sent(&mut router, &[7, 7, 255, 0, 0, 0, 0, 0]);
}
