//! What the switches of `/ip/settings` change, each on and off.

use tollway_config::dataplane::{DataplaneConfig, RouteTarget, RpFilter, TrackingMode};
use tollway_engine::ip::fib::{DynamicRoute, DynamicTarget, RouteChange};
use tollway_engine::packet::frame::VnetState;
use tollway_engine::packet::slow_reason::SlowReason;
use tollway_testkit::packet::{PacketBuilder, ip};
use tollway_testkit::router::{Output, To, host_mac, port_mac};
use tollway_testkit::{Router, RouterConfig, expect_counters, rule};
use tollway_wire::field;

/// 10.1.0.0/24 with the gateways .253 and .254, and 10.2.0.0/24.
fn plain() -> RouterConfig {
    RouterConfig::new()
        .interface("10.1.0.1/24")
        .interface("10.2.0.1/24")
        .route("172.16.0.0/16", "10.1.0.254")
        .route("172.17.0.0/16", "10.1.0.253")
}

fn tracking(config: &mut DataplaneConfig) {
    config.tracking.enabled = TrackingMode::Yes;
}

fn router(config: RouterConfig) -> Router {
    Router::new(config)
        .hosts(0, &["10.1.0.2", "10.1.1.7", "10.1.0.9", "10.1.0.252", "10.1.0.253", "10.1.0.254"])
        .hosts(1, &["10.2.0.2"])
}

fn udp(src: &str, dst: &str) -> PacketBuilder {
    PacketBuilder::ipv4(src, dst).udp(1000, 2000).payload_len(20)
}

/// Type and code of the ICMP errors among some outputs.
fn errors(out: &[Output]) -> Vec<(u8, u8)> {
    let errors = out.iter().filter(|output| output.arp().is_none()).filter_map(|output| output.packet().icmp);
    errors.filter(|(kind, _)| matches!(kind, 3 | 5 | 11 | 12)).collect()
}

/// Whether a packet to an address left by a port.
fn forwarded(out: &[Output], port: u16, dst: &str) -> bool {
    out.iter().any(|output| {
        output.arp().is_none() && output.to == To::Port(port) && output.packet().dst.to_bits() == ip(dst)
    })
}

/// RFC 1812 §5.2.7.2.
#[test]
fn a_sender_is_redirected_to_a_gateway_in_its_network() {
    for tracked in [false, true] {
        let config = plain().with(|config| {
            if tracked {
                tracking(config)
            }
        });
        let mut router = router(config);
        let out = router.send(0, &udp("10.1.0.2", "172.16.0.1"));
        assert!(forwarded(&out, 0, "172.16.0.1"));
        let redirect = out.iter().find(|output| output.packet().icmp == Some((5, 1))).expect("a redirect");
        let packet = redirect.packet();
        assert_eq!((redirect.to, packet.dst.to_bits()), (To::Port(0), ip("10.1.0.2")));
        assert_eq!((packet.src.to_bits(), packet.checksums_right), (ip("10.1.0.1"), true));
        assert_eq!(field::get32(&redirect.bytes, 14 + 20 + 4), ip("10.1.0.254"));
        assert_eq!(
            packet.quoted().map(|quoted| (quoted.dst.to_bits(), quoted.ttl)),
            Some((ip("172.16.0.1"), 64))
        );
        // Packets go on by the fast path, and from time to time there is another redirect.
        let (mut redirects, mut fast) = (1, 0);
        for _ in 0..200 {
            let out = router.send(0, &udp("10.1.0.2", "172.16.0.1"));
            assert!(forwarded(&out, 0, "172.16.0.1"));
            redirects += errors(&out).len();
            fast += out.iter().filter(|output| output.fast).count();
            router.advance_ms(100);
        }
        assert_eq!(redirects, if tracked { 1 } else { 9 });
        assert!(fast >= 190, "{fast}");
        let slow = router.slow().get(&SlowReason::Redirect).copied().unwrap_or(0);
        assert_eq!(slow, if tracked { 0 } else { 9 });
    }
}

#[test]
fn a_tracked_sender_is_redirected_with_each_new_connection_up_to_nine_times() {
    let mut router = router(plain().with(tracking));
    let mut redirects = 0;
    for port in 0..100 {
        let packet = PacketBuilder::ipv4("10.1.0.2", "172.16.0.1").udp(2000 + port, 53);
        redirects += errors(&router.send(0, &packet)).len();
        router.advance_ms(150);
    }
    assert_eq!(redirects, 9);
    router.advance_ms(21_000);
    assert_eq!(errors(&router.send(0, &udp("10.1.0.2", "172.16.0.1"))), [(5, 1)]);
}

#[test]
fn nobody_is_redirected_who_could_not_reach_the_gateway_or_must_pass_the_router() {
    let quiet = |config: RouterConfig, port: u16, packet: &PacketBuilder| {
        let mut router = router(config);
        let out = router.send(port, packet);
        assert!(out.iter().any(|output| output.arp().is_none() && matches!(output.to, To::Port(_))));
        assert_eq!(errors(&out), []);
    };
    let wanted = udp("10.1.0.2", "172.16.0.1");
    quiet(plain().with(|config| config.settings.send_redirects = false), 0, &wanted);
    quiet(plain().with(|config| config.settings.send_redirects = false).with(tracking), 0, &wanted);
    // From another network behind the same interface, and by another interface.
    quiet(plain(), 0, &udp("10.7.0.2", "172.16.0.1"));
    quiet(plain(), 1, &udp("10.2.0.2", "172.16.0.1"));
    // Answers come back only if the source is translated.
    quiet(plain().nat("srcnat", rule().out_interface(1).masquerade()), 0, &wanted);
    // The gateway itself sends it back.
    quiet(plain(), 0, &udp("10.1.0.254", "172.16.0.1"));
    let routed = plain().with(|config| config.settings.accept_source_route = true);
    let by_source = udp("10.1.0.2", "10.1.0.1").ip_options(&[131, 7, 4, 172, 16, 0, 1, 0]);
    quiet(routed, 0, &by_source);
    // A gateway that does not answer is not named.
    let mut router = Router::new(plain()).hosts(0, &["10.1.0.2"]);
    let mut out = router.send(0, &wanted);
    out.extend(router.advance_ms(5_000));
    assert_eq!(errors(&out), [(3, 1)]);
}

fn redirect(sender: &str, destination: &str, gateway: &str) -> PacketBuilder {
    let quote = PacketBuilder::ipv4("10.1.0.1", destination).udp(53, 53).build_l3();
    PacketBuilder::ipv4(sender, "10.1.0.1").icmp(5, 1, ip(gateway).to_be_bytes()).payload(&quote)
}

/// The gateway of a packet that the router itself sends.
fn own_next_hop(router: &mut Router, destination: &str) -> [u8; 6] {
    let packet = PacketBuilder::ipv4("10.1.0.1", destination).udp(53, 53).build_l3();
    let out = router.send_local(&packet);
    out.iter().find(|output| output.arp().is_none()).expect("the packet").packet().eth_dst
}

/// RFC 1122 §3.2.2.2; what is forwarded follows the routes (RFC 1812 §5.2.7.2).
#[test]
fn the_router_follows_redirects_with_what_it_sends_itself() {
    for tracked in [false, true] {
        let accepting = |config: &mut DataplaneConfig| config.settings.accept_redirects = true;
        let mut router = router(plain().with(accepting).with(|config| {
            if tracked {
                tracking(config)
            }
        }));
        let (routed, other) = (host_mac(ip("10.1.0.254")), host_mac(ip("10.1.0.253")));
        assert_eq!(own_next_hop(&mut router, "172.16.0.1"), routed);
        // From another station; to a gateway elsewhere, of the router itself, or the one it has; about another's packet.
        for wrong in [
            redirect("10.1.0.9", "172.16.0.1", "10.1.0.253"),
            redirect("10.1.0.254", "172.16.0.1", "10.2.0.2"),
            redirect("10.1.0.254", "172.16.0.1", "10.1.0.1"),
            redirect("10.1.0.254", "172.16.0.1", "10.1.0.254"),
            redirect("10.1.0.254", "172.16.0.1", "10.1.0.255"),
            // No route names it, and secure-redirects is on.
            redirect("10.1.0.254", "172.16.0.1", "10.1.0.252"),
        ] {
            router.send(0, &wrong);
            assert_eq!(own_next_hop(&mut router, "172.16.0.1"), routed);
        }
        router.send(0, &redirect("10.1.0.254", "172.16.0.1", "10.1.0.253"));
        assert_eq!(own_next_hop(&mut router, "172.16.0.1"), other);
        assert_eq!(own_next_hop(&mut router, "172.16.0.2"), routed);
        let out = router.send(1, &udp("10.2.0.2", "172.16.0.1"));
        assert_eq!(out.iter().find(|output| output.arp().is_none()).unwrap().packet().eth_dst, routed);
        // The new gateway may redirect further, once that is not limited to gateways of routes.
        router.reconfigure(|config| config.settings.secure_redirects = false);
        router.send(0, &redirect("10.1.0.253", "172.16.0.1", "10.1.0.252"));
        assert_eq!(own_next_hop(&mut router, "172.16.0.1"), host_mac(ip("10.1.0.252")));
        // Another route ends it, and so do the setting and time.
        router.reconfigure(|config| config.settings.accept_redirects = false);
        assert_eq!(own_next_hop(&mut router, "172.16.0.1"), routed);
        router.reconfigure(|config| config.settings.accept_redirects = true);
        assert_eq!(own_next_hop(&mut router, "172.16.0.1"), host_mac(ip("10.1.0.252")));
        router.advance_ms(300_000);
        assert_eq!(own_next_hop(&mut router, "172.16.0.1"), routed);
    }
    let mut router = router(plain());
    own_next_hop(&mut router, "172.16.0.1");
    router.send(0, &redirect("10.1.0.254", "172.16.0.1", "10.1.0.253"));
    assert_eq!(own_next_hop(&mut router, "172.16.0.1"), host_mac(ip("10.1.0.254")));
}

/// RFC 791 §3.1, RFC 1812 §5.2.4.1 and §5.2.7.1.
#[test]
fn source_routes_are_followed_where_that_is_on() {
    let accepting = |config: &mut DataplaneConfig| config.settings.accept_source_route = true;
    for tracked in [false, true] {
        let config = plain().with(accepting).with(|config| {
            if tracked {
                tracking(config)
            }
        });
        let sent = |options: &[u8], dst: &str| {
            let mut router = router(config.clone());
            let out = router.send(0, &udp("10.1.0.2", dst).ip_options(options));
            (out, router)
        };
        for kind in [131, 137] {
            let (out, _) = sent(&[kind, 7, 4, 10, 2, 0, 2, 0], "10.1.0.1");
            assert!(forwarded(&out, 1, "10.2.0.2"), "{kind}");
            let packet = out.iter().find(|output| output.to == To::Port(1)).unwrap();
            assert_eq!(packet.bytes[34..42], [kind, 7, 8, 10, 2, 0, 1, 0]);
            // That of UDP is about the last address of the route.
            assert_eq!(tollway_wire::checksum::sum(&packet.bytes[14..42]), 0xffff);
        }
        // Loose: another router may be between.
        let (out, _) = sent(&[131, 11, 4, 172, 16, 0, 1, 10, 9, 9, 9, 0], "10.1.0.1");
        assert!(forwarded(&out, 0, "172.16.0.1"));
        let (out, mut router) = sent(&[137, 11, 4, 172, 16, 0, 1, 10, 9, 9, 9, 0], "10.1.0.1");
        assert_eq!(errors(&out), [(3, 5)]);
        assert_eq!(
            router.stats().drops[tollway_engine::packet::verdict::DropReason::SourceRouteFailed as usize],
            1
        );
        router.moved();
        // Strict, and yet by this router to another.
        let (out, _) = sent(&[137, 7, 4, 10, 2, 0, 9, 0], "10.2.0.2");
        assert_eq!(errors(&out), [(3, 5)]);
        let (out, _) = sent(&[131, 7, 4, 10, 2, 0, 9, 0], "10.2.0.2");
        assert!(forwarded(&out, 1, "10.2.0.2"));
        // At its end it is for the router; a group is nobody's next hop.
        let (out, _) = sent(&[131, 7, 8, 10, 2, 0, 9, 0], "10.1.0.1");
        assert_eq!(out.last().unwrap().to, To::Local(1));
        let (out, mut router) = sent(&[131, 7, 4, 127, 0, 0, 1, 0], "10.1.0.1");
        assert!(out.is_empty());
        expect_counters!(router, Drop(MartianDestination): 1);
        let (out, _) = sent(&[131, 7, 5, 10, 2, 0, 2, 0], "10.1.0.1");
        assert_eq!(errors(&out), [(12, 0)]);
    }
    let mut router = router(plain());
    assert_eq!(router.send(0, &udp("10.1.0.2", "10.1.0.1").ip_options(&[131, 7, 4, 10, 2, 0, 2, 0])), []);
    expect_counters!(router, Drop(BadIpOptions): 1);
}

/// The worker of a flow is found by the destination that the source route gives it.
#[test]
fn both_directions_of_a_source_route_are_one_connection_whatever_the_workers() {
    let config = plain().with(tracking).with(|config| config.settings.accept_source_route = true);
    let mut router = Router::with_workers(config, 4).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2"]);
    for port in 0..32 {
        let packet = PacketBuilder::ipv4("10.1.0.2", "10.1.0.1").udp(3000 + port, 53);
        let mut out = router.send(0, &packet.ip_options(&[131, 7, 4, 10, 2, 0, 2, 0]));
        out.extend(router.advance_ms(1));
        assert!(forwarded(&out, 1, "10.2.0.2"), "{port}");
        let back = PacketBuilder::ipv4("10.2.0.2", "10.2.0.1").udp(53, 3000 + port);
        let mut out = router.send(1, &back.ip_options(&[131, 7, 4, 10, 1, 0, 2, 0]));
        out.extend(router.advance_ms(1));
        assert!(forwarded(&out, 0, "10.1.0.2"), "{port}");
    }
    assert_eq!(router.stats().connections_ip4, 32);
}

/// RFC 791 §3.1: the pointer of the parameter problem names the byte in error.
#[test]
fn malformed_options_are_answered_with_a_parameter_problem() {
    for tracked in [false, true] {
        for (options, pointer) in [
            ([7, 7, 0, 0, 0, 0, 0, 0], 22),
            ([1, 7, 7, 6, 0, 0, 0, 0], 23),
            ([7, 40, 4, 0, 0, 0, 0, 0], 20),
            ([68, 8, 4, 0, 0, 0, 0, 0], 22),
            ([68, 8, 5, 1, 0, 0, 0, 0], 22),
            ([68, 4, 5, 0xf0, 0, 0, 0, 0], 23),
        ] {
            let mut router = router(plain().with(|config| {
                if tracked {
                    tracking(config)
                }
            }));
            let out = router.send(0, &udp("10.1.0.2", "10.2.0.2").ip_options(&options));
            assert_eq!(errors(&out), [(12, 0)], "{options:?}");
            assert_eq!(out.last().unwrap().bytes[14 + 20 + 4], pointer, "{options:?}");
            assert_eq!(router.stats().connections_ip4, 0);
        }
    }
}

/// RFC 1812 §4.3.3.6.
#[test]
fn an_echo_reply_names_the_router_in_its_options() {
    let mut router = router(plain());
    let request = PacketBuilder::ipv4("10.1.0.2", "10.2.0.1").echo_request(1, 1);
    let options = [7, 7, 4, 0, 0, 0, 0, 0];
    let reply = router.send(0, &request.ip_options(&options)).pop().unwrap();
    assert_eq!(reply.packet().icmp, Some((0, 0)));
    assert_eq!(reply.bytes[34..42], [7, 7, 8, 10, 2, 0, 1, 0]);
    assert!(reply.packet().checksums_right);
}

#[test]
fn the_rate_is_limited_of_the_types_in_the_mask() {
    let sent = |mask: u32, packet: PacketBuilder, kind: u8| {
        let mut router = router(plain().with(|config| config.settings.icmp_rate_mask = mask));
        let mut answers = 0;
        for _ in 0..20 {
            let out = router.send(0, &packet);
            answers +=
                out.iter().filter(|it| it.arp().is_none() && it.packet().icmp == Some((kind, 0))).count();
        }
        answers
    };
    let expired = || udp("10.1.0.2", "10.2.0.2").ttl(1);
    assert_eq!(sent(0x1818, expired(), 11), 6);
    assert_eq!(sent(0x1818 & !(1 << 11), expired(), 11), 20);
    let echo = || PacketBuilder::ipv4("10.1.0.2", "10.1.0.1").echo_request(1, 1);
    assert_eq!(sent(0x1818, echo(), 0), 20);
    assert_eq!(sent(1, echo(), 0), 6);
    let mut router = router(plain().with(|config| config.settings.icmp_rate_mask = 1));
    for _ in 0..7 {
        router.send(0, &echo());
    }
    router.moved();
    router.send(0, &echo());
    expect_counters!(router, Drop(IcmpRateLimited): 1);
}

/// RFC 1812 §4.3.2.4.
#[test]
fn errors_come_from_the_interface_they_leave_by_or_from_the_one_that_received_the_packet() {
    let source = |inbound: bool| {
        let config = plain()
            .address(1, "10.1.1.1/24")
            .route("10.5.0.0/16", "10.2.0.2")
            .with(|config| config.settings.icmp_errors_use_inbound_interface_address = inbound);
        let mut router = router(config);
        let of = |router: &mut Router, src: &str| {
            let out = router.send(0, &udp(src, "10.2.0.9").ttl(1));
            let error = out.iter().find(|it| it.arp().is_none() && it.packet().icmp == Some((11, 0)));
            error.expect("an error").packet().src.to_string()
        };
        [of(&mut router, "10.5.0.1"), of(&mut router, "10.1.1.7")]
    };
    assert_eq!(source(false), ["10.2.0.1", "10.1.1.1"]);
    assert_eq!(source(true), ["10.1.0.1", "10.1.0.1"]);
}

#[test]
fn fragments_wait_as_long_and_take_as_much_memory_as_configured() {
    let limited = |bytes: u32, ms: u32| {
        router(plain().with(tracking).with(|config| {
            (config.settings.fragment_bytes, config.settings.fragment_time_ms) = (bytes, ms);
        }))
    };
    let second = |number: u16| {
        let packet = udp("10.1.0.2", "10.2.0.2").ident(number).payload_len(3000).eth_dst(port_mac(0));
        packet.build_fragments(1480)[1].clone()
    };
    let mut router = limited(1 << 20, 2_000);
    router.inject(0, second(1), VnetState::default());
    assert_eq!(router.stats().held, 1);
    router.advance_ms(1_900);
    assert_eq!(router.stats().held, 1);
    router.moved();
    router.advance_ms(200);
    expect_counters!(router, Held: -1, Drop(FragmentTimeout): 1);
    // Of ten fragments the newest three are kept.
    let mut router = limited(3 * 2048, 2_000);
    for number in 0..10 {
        router.inject(0, second(number), VnetState::default());
    }
    let held = router.stats().held;
    assert!((3..=4).contains(&held), "{held}");
    expect_counters!(router, Held: held as i64, Drop(FragmentLimit): 10 - held as i64);
    router.reconfigure(|config| config.settings.fragment_bytes = 1 << 20);
    for number in 20..30 {
        router.inject(0, second(number), VnetState::default());
    }
    assert_eq!(router.stats().held, held + 10);
    router.advance_ms(3_000);
    assert_eq!(router.stats().held, 0);
    router.reconfigure(|config| config.settings.fragment_bytes = 0);
    router.moved();
    router.inject(0, second(40), VnetState::default());
    expect_counters!(router, Drop(FragmentLimit): 1);
}

#[test]
fn the_neighbour_table_is_as_large_and_its_entries_as_long_reachable_as_configured() {
    let mut router = router(plain().with(|config| config.settings.max_neighbor_entries = 4));
    for last in 100..104 {
        router.send(1, &udp("10.2.0.2", &format!("10.1.0.{last}")));
    }
    router.moved();
    assert_eq!(router.send(0, &udp("10.1.0.2", "10.2.0.200")), []);
    expect_counters!(router, Drop(NeighborTableFull): 1);
    let asked = |timeout_ms: u32, after_ms: u64| {
        let mut router = self::router(plain().with(|config| config.settings.arp_timeout_ms = timeout_ms));
        router.send(0, &udp("10.1.0.2", "10.2.0.2"));
        router.advance_ms(after_ms);
        router.resolved = 0;
        router.send(0, &udp("10.1.0.2", "10.2.0.2"));
        router.resolved
    };
    assert_eq!([asked(30_000, 29_000), asked(30_000, 31_000), asked(5_000, 6_000)], [0, 1, 1]);
}

#[test]
fn the_reverse_path_is_checked_for_flows_of_the_fast_path_as_routes_change() {
    for (mode, passes) in [(RpFilter::No, true), (RpFilter::Loose, true), (RpFilter::Strict, false)] {
        let config = plain()
            .route_to("10.9.0.0/16", RouteTarget::Interface { interface: 1 })
            .with(tracking)
            .with(|config| config.settings.rp_filter = mode);
        let mut router = router(config);
        for _ in 0..2 {
            router.send(0, &udp("10.9.0.1", "10.2.0.2"));
        }
        assert!(router.send(0, &udp("10.9.0.1", "10.2.0.2"))[0].fast);
        // The source is behind the other interface now.
        router.change_routes(&[RouteChange::Replace(DynamicRoute {
            destination: ip("10.9.0.1"),
            prefix_len: 32,
            metric: 1,
            protocol: 186,
            distance: 20,
            target: DynamicTarget::Gateway { address: ip("10.2.0.2"), interface: None },
            multipath: false,
            source: 0,
        })]);
        let out = router.send(0, &udp("10.9.0.1", "10.2.0.2"));
        assert_eq!(forwarded(&out, 1, "10.2.0.2"), passes, "{mode:?}");
        router.reconfigure(|config| config.settings.rp_filter = RpFilter::Strict);
        router.moved();
        assert_eq!(router.send(0, &udp("10.9.0.1", "10.2.0.2")), []);
        expect_counters!(router, Drop(ReversePath): 1);
    }
}
