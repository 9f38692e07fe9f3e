//! Why packets do not go by the flow cache: each reason shows where its cause is, and nowhere else.

use std::collections::BTreeMap;

use tollway_config::dataplane::{ConnectionState, RpFilter, TrackingMode};
use tollway_engine::engine::fast_path_handlers::handlers;
use tollway_engine::packet::slow_reason::SlowReason;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::router::port_mac;
use tollway_testkit::{Router, RouterConfig, rule};

const MAC: &str = "02:01:0a:02:00:02";

fn plain() -> RouterConfig {
    RouterConfig::new()
        .interface("10.1.0.1/24")
        .interface("10.2.0.1/24")
        .interface("10.3.0.1/24")
        .neighbor(1, "10.1.0.2", MAC, false)
        .neighbor(2, "10.2.0.2", MAC, false)
}

fn tracking() -> RouterConfig {
    plain().with(|config| config.tracking.enabled = TrackingMode::Yes)
}

fn udp() -> PacketBuilder {
    PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").udp(1000, 2000).payload_len(20)
}

fn answer() -> PacketBuilder {
    PacketBuilder::ipv4("10.2.0.2", "10.1.0.2").udp(2000, 1000).payload_len(20)
}

fn segment(flags: u8, seq: u32, ack: u32) -> PacketBuilder {
    PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").tcp(1000, 80, flags, seq, ack)
}

fn reply(flags: u8, seq: u32, ack: u32) -> PacketBuilder {
    PacketBuilder::ipv4("10.2.0.2", "10.1.0.2").tcp(80, 1000, flags, seq, ack)
}

/// The reasons that occurred since `before`.
fn since(router: &Router, before: &BTreeMap<SlowReason, u64>) -> Vec<(SlowReason, u64)> {
    let count =
        |(reason, packets): (SlowReason, u64)| (reason, packets - before.get(&reason).copied().unwrap_or(0));
    router.slow().into_iter().map(count).filter(|(_, packets)| *packets != 0).collect()
}

/// Sends a packet and says for which reason it was slow, if it was. What the router answers does not count.
fn why(router: &mut Router, port: u16, packet: &PacketBuilder) -> Option<SlowReason> {
    let before = router.slow();
    router.send(port, packet);
    let mut reasons = since(router, &before);
    reasons.retain(|(reason, _)| *reason != SlowReason::FromRouter);
    assert!(reasons.len() <= 1 && reasons.iter().all(|(_, packets)| *packets == 1), "{reasons:?}");
    reasons.first().map(|(reason, _)| *reason)
}

#[test]
fn a_udp_flow_is_slow_until_each_direction_is_known_in_its_state() {
    let mut router = Router::new(tracking());
    assert_eq!(why(&mut router, 0, &udp()), Some(SlowReason::NewConnection));
    assert_eq!(why(&mut router, 0, &udp()), None);
    assert_eq!(router.slow_reasons(), [None]);
    assert_eq!(why(&mut router, 1, &answer()), Some(SlowReason::NewConnection));
    // The answer changed the state that rules see, for the next packet of the other direction: those after it are fast.
    assert_eq!(router.slow_reasons(), [None]);
    assert_eq!(why(&mut router, 0, &udp()), Some(SlowReason::Stale));
    assert_eq!(why(&mut router, 0, &udp()), None);
    assert_eq!(why(&mut router, 1, &answer()), None);
    assert_eq!(router.slow_reasons(), [None]);
    assert_eq!(why(&mut router, 2, &udp()), Some(SlowReason::OtherPort));
}

/// What the rules did with its first packet, a translation or a mark, says nothing about those that follow.
#[test]
fn a_stream_with_one_answer_has_no_reason_and_a_single_packet_that_of_a_first_one() {
    let config = tracking()
        .filter("forward", rule().state(&[ConnectionState::Established]).fasttrack())
        .nat("srcnat", rule().out_interface(2).masquerade());
    let mut router = Router::new(config);
    router.send(0, &udp());
    assert_eq!(router.slow_reasons(), [Some(SlowReason::NewConnection)]);
    let own = router.connections()[0].endpoints[3].1;
    router.send(0, &udp());
    assert_eq!(router.slow_reasons(), [None]);
    router.send(1, &PacketBuilder::ipv4("10.2.0.2", "10.2.0.1").udp(2000, own));
    for _ in 0..2 {
        router.send(0, &udp());
    }
    assert_eq!(why(&mut router, 0, &udp()), None);
    assert_eq!(router.slow_reasons(), [None]);
}

#[test]
fn a_tcp_connection_is_slow_while_it_opens() {
    let mut router = Router::new(tracking());
    assert_eq!(why(&mut router, 0, &segment(tcp_flag::SYN, 100, 0)), Some(SlowReason::NewConnection));
    assert_eq!(router.slow_reasons(), [Some(SlowReason::Handshake)]);
    let syn_ack = tcp_flag::SYN | tcp_flag::ACK;
    assert_eq!(why(&mut router, 1, &reply(syn_ack, 500, 101)), Some(SlowReason::TcpControl));
    assert_eq!(why(&mut router, 0, &segment(tcp_flag::ACK, 101, 501)), Some(SlowReason::Handshake));
    assert_eq!(why(&mut router, 0, &segment(tcp_flag::ACK, 101, 501).payload_len(10)), None);
    assert_eq!(why(&mut router, 1, &reply(tcp_flag::ACK, 501, 111)), None);
    assert_eq!(router.slow_reasons(), [None]);
    assert_eq!(why(&mut router, 0, &segment(tcp_flag::ACK, 0x7000_0000, 501)), Some(SlowReason::TcpWindow));
    let fin = tcp_flag::FIN | tcp_flag::ACK;
    assert_eq!(why(&mut router, 0, &segment(fin, 111, 501)), None);
    assert_eq!(why(&mut router, 1, &reply(tcp_flag::ACK, 0x7000_0000, 112)), Some(SlowReason::TcpWindow));
    assert_eq!(why(&mut router, 1, &reply(fin, 501, 112)), None);
    assert_eq!(why(&mut router, 0, &segment(tcp_flag::ACK, 112, 502)), None);
    assert_eq!(router.slow_reasons(), [None]);
    // The next connection with these ports is another.
    assert_eq!(why(&mut router, 0, &segment(tcp_flag::SYN, 900, 0)), Some(SlowReason::TcpControl));
    assert_eq!(router.slow_reasons(), [Some(SlowReason::Handshake)]);
}

#[test]
fn what_a_packet_is_can_make_it_slow() {
    let mut router = Router::new(tracking());
    for _ in 0..2 {
        router.send(0, &udp());
    }
    assert_eq!(why(&mut router, 0, &udp().ttl(1)), Some(SlowReason::Ttl));
    assert_eq!(why(&mut router, 0, &udp().ip_options(&[1, 1, 1, 0])), Some(SlowReason::IpOptions));
    assert_eq!(why(&mut router, 0, &udp().payload_len(1600)), Some(SlowReason::TooLong));
    let quote = udp().build_l3();
    let error = PacketBuilder::ipv4("10.2.0.2", "10.1.0.2").icmp(3, 3, [0; 4]).payload(&quote);
    assert_eq!(why(&mut router, 1, &error), Some(SlowReason::IcmpError));
    let before = router.slow();
    for fragment in udp().eth_dst(port_mac(0)).payload_len(600).build_fragments(400) {
        router.inject(0, fragment, Default::default());
    }
    assert_eq!(since(&router, &before), [(SlowReason::Fragment, 2)]);
    let broadcast = PacketBuilder::ipv4("10.1.0.2", "255.255.255.255").udp(68, 67).eth_dst([0xff; 6]).build();
    let before = router.slow();
    router.inject(0, broadcast, Default::default());
    assert_eq!(since(&router, &before), [(SlowReason::Broadcast, 1)]);
    let before = router.slow();
    router.send_local(&PacketBuilder::ipv4("10.1.0.1", "10.1.0.2").udp(1, 1).build_l3());
    assert_eq!(since(&router, &before), [(SlowReason::FromRouter, 1)]);
}

#[test]
fn packets_for_the_router_are_slow_for_that() {
    let mut router = Router::new(tracking());
    let packet = PacketBuilder::ipv4("10.1.0.2", "10.1.0.1").udp(1000, 53).payload_len(20);
    assert_eq!(why(&mut router, 0, &packet), Some(SlowReason::NewConnection));
    assert_eq!(why(&mut router, 0, &packet), Some(SlowReason::ToRouter));
    assert_eq!(router.slow_reasons(), [Some(SlowReason::ToRouter)]);
}

#[test]
fn rules_that_ask_each_packet_and_drops_are_named() {
    let config = tracking()
        .filter("forward", rule().protocol(17).dst_port(2000).log("seen").passthrough())
        .filter("forward", rule().protocol(17).dst_port(2001).drop());
    let mut router = Router::new(config);
    assert_eq!(why(&mut router, 0, &udp()), Some(SlowReason::NewConnection));
    for _ in 0..3 {
        assert_eq!(why(&mut router, 0, &udp()), Some(SlowReason::Rule));
    }
    assert_eq!(router.slow_reasons(), [Some(SlowReason::Rule)]);
    // It came from the cache up to the rule.
    assert_eq!(router.stats().flow_cache_forwarded.packets, 3);
    router.reconfigure(|config| config.filter[0].rules[0].action = tollway_config::dataplane::Action::Drop);
    router.send(0, &udp());
    assert_eq!(why(&mut router, 0, &udp()), Some(SlowReason::Dropped));
    assert_eq!(router.slow_reasons(), [Some(SlowReason::Dropped)]);
}

#[test]
fn packets_of_a_batch_do_not_overtake_a_slow_one_of_their_connection() {
    let mut router = Router::new(tracking());
    for _ in 0..2 {
        router.send(0, &udp());
    }
    let frame = |ttl: u8| (0, udp().ttl(ttl).eth_dst(port_mac(0)).build(), Default::default());
    let before = router.slow();
    router.inject_batch(0, vec![frame(64), frame(1), frame(64), frame(64)]);
    // The router says that the time to live ran out.
    let reasons = [(SlowReason::BehindSlowPacket, 2), (SlowReason::Ttl, 1), (SlowReason::FromRouter, 1)];
    assert_eq!(since(&router, &before), BTreeMap::from(reasons).into_iter().collect::<Vec<_>>());
}

#[test]
fn without_the_fast_path_that_is_the_reason() {
    let mut router = Router::new(tracking().with(|config| config.settings.allow_fast_path = false));
    for _ in 0..3 {
        assert_eq!(why(&mut router, 0, &udp()), Some(SlowReason::FastPathOff));
    }
    assert_eq!(router.slow_reasons(), [Some(SlowReason::FastPathOff)]);
}

#[test]
fn without_tracking_packets_are_slow_for_what_keeps_them_from_their_route() {
    let mut router = Router::new(plain());
    assert_eq!(why(&mut router, 0, &udp()), Some(SlowReason::Neighbor));
    assert_eq!(why(&mut router, 0, &udp()), None);
    let to = |destination: &str| PacketBuilder::ipv4("10.1.0.2", destination).udp(1, 2);
    assert_eq!(why(&mut router, 0, &to("10.1.0.1")), Some(SlowReason::ToRouter));
    assert_eq!(why(&mut router, 0, &to("8.8.8.8")), Some(SlowReason::NotRoutable));
    assert_eq!(why(&mut router, 0, &to("224.0.0.5")), Some(SlowReason::Broadcast));
    assert_eq!(why(&mut router, 0, &udp().payload_len(1600)), Some(SlowReason::TooLong));
    router.reconfigure(|config| config.settings.rp_filter = RpFilter::Loose);
    assert_eq!(why(&mut router, 0, &udp()), Some(SlowReason::ReversePath));
    let off =
        |config: &mut tollway_config::dataplane::DataplaneConfig| config.tracking.enabled = TrackingMode::No;
    let mut router = Router::new(plain().filter("forward", rule().passthrough()).with(off));
    assert_eq!(why(&mut router, 0, &udp()), Some(SlowReason::RulesWithoutTracking));
}

#[test]
fn every_packet_is_either_fast_or_slow_for_one_reason() {
    let mut router = Router::with_workers(tracking().filter("forward", rule().passthrough()), 4);
    for port in 0..50 {
        for _ in 0..4 {
            router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").udp(1000 + port, 2000));
            router.send(1, &PacketBuilder::ipv4("10.2.0.2", "10.1.0.2").udp(2000, 1000 + port));
        }
    }
    let slow: u64 = router.slow().values().sum();
    let stats = router.stats();
    assert!(stats.handover_packets > 0);
    assert_eq!(slow + stats.flow_cache_forwarded.packets, 400);
    assert_eq!(slow, 150);
}

#[test]
fn handlers_say_what_closes_them_and_their_packets_add_up() {
    let named = |router: &Router| -> Vec<(String, Option<String>, u64)> {
        handlers(router.snapshot(), &router.stats())
            .into_iter()
            .map(|handler| {
                assert_eq!(handler.active, handler.blocked_by.is_none());
                (handler.name, handler.blocked_by, handler.packets)
            })
            .collect()
    };
    let blocked = |router: &Router, name: &str| -> Option<String> {
        let found = named(router).into_iter().find(|(known, ..)| known == name);
        found.and_then(|(_, blocked_by, _)| blocked_by)
    };
    let mut router = Router::new(plain());
    for _ in 0..3 {
        router.send(0, &udp());
    }
    assert_eq!(blocked(&router, "ipv4-fast-path"), None);
    let pass = rule().passthrough();
    let mut marking = Router::new(
        plain().mangle("forward", pass).with(|config| config.tracking.enabled = TrackingMode::No),
    );
    let mangle = Some("firewall mangle rules exist");
    assert_eq!(blocked(&marking, "ipv4-fast-path").as_deref(), mangle);
    marking.reconfigure(|config| config.settings.rp_filter = RpFilter::Strict);
    assert_eq!(blocked(&marking, "ipv4-fast-path").as_deref(), mangle);
    marking.reconfigure(|config| config.mangle.clear());
    assert_eq!(blocked(&marking, "ipv4-fast-path").as_deref(), Some("rp-filter is on in IP settings"));
    let inactive = "connection tracking is not active, because no firewall rules exist";
    assert_eq!(blocked(&router, "ipv4-flow-cache").as_deref(), Some(inactive));
    assert_eq!(blocked(&router, "ipv4-fasttrack").as_deref(), Some(inactive));
    router.reconfigure(|config| config.tracking.enabled = TrackingMode::Yes);
    for _ in 0..6 {
        router.send(0, &udp());
    }
    assert_eq!(
        blocked(&router, "ipv4-fast-path").as_deref(),
        Some("connection tracking is active: enabled=yes")
    );
    assert_eq!(
        blocked(&router, "ipv4-fasttrack").as_deref(),
        Some("no fasttrack-connection rule and no fasttracked connection exists")
    );
    let packets: Vec<u64> = named(&router).into_iter().map(|(_, _, packets)| packets).collect();
    assert_eq!(packets, [2, 0, 5, 0, 0, 0, 0]);
    assert_eq!(blocked(&router, "flow-offload").as_deref(), Some("flow-offload=no in IP settings"));
    router.reconfigure(|config| config.settings.flow_offload = true);
    assert_eq!(blocked(&router, "flow-offload"), None);
    for tracking in [TrackingMode::Yes, TrackingMode::No] {
        router.reconfigure(|config| {
            (config.settings.ip_forward, config.tracking.enabled) = (false, tracking);
        });
        let mut handlers = named(&router);
        handlers.retain(|(name, ..)| !name.starts_with("ipv6"));
        assert!(handlers.iter().all(|(_, blocked_by, _)| blocked_by.is_some()), "{handlers:?}");
        let forwarding =
            |name: &&str| blocked(&router, name).as_deref() == Some("ip-forward=no in IP settings");
        let tracked = ["ipv4-fasttrack", "ipv4-flow-cache", "flow-offload"];
        let untracked = ["ipv4-fast-path", "flow-offload"];
        let expected = if tracking == TrackingMode::Yes { &tracked[..] } else { &untracked[..] };
        assert!(expected.iter().all(forwarding), "{handlers:?}");
    }
    router.reconfigure(|config| {
        (config.settings.ip_forward, config.tracking.enabled) = (true, TrackingMode::Yes);
    });
    assert_eq!(blocked(&router, "ipv4-flow-cache"), None);
    router.reconfigure(|config| config.settings.allow_fast_path = false);
    for name in ["ipv4-fast-path", "ipv4-fasttrack", "ipv4-flow-cache", "flow-offload"] {
        assert_eq!(blocked(&router, name).as_deref(), Some("allow-fast-path=no in IP settings"));
    }
    assert_eq!(blocked(&router, "ipv6-flow-cache"), None);
    router.reconfigure(|config| config.settings.ipv6.forward = false);
    assert_eq!(blocked(&router, "ipv6-flow-cache").as_deref(), Some("forward=no in IPv6 settings"));
    router.reconfigure(|config| {
        (config.settings.allow_fast_path, config.settings.ipv6.allow_fast_path) = (true, false);
    });
    for name in ["ipv6-fast-path", "ipv6-fasttrack", "ipv6-flow-cache"] {
        assert_eq!(blocked(&router, name).as_deref(), Some("allow-fast-path=no in IPv6 settings"));
    }
    assert_eq!(blocked(&router, "ipv4-flow-cache"), None);
}
