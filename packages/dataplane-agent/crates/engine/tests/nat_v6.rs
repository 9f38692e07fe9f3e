//! Address translation of IPv6 through the whole router.

use tollway_config::dataplane::{Action, PortRange, RouteTarget};
use tollway_engine::packet::verdict::DropReason;
use tollway_testkit::config::range;
use tollway_testkit::ipv6_packet::ip6;
use tollway_testkit::packet::tcp_flag;
use tollway_testkit::router::{Output, To, port_mac};
use tollway_testkit::{Counter, Ipv6Builder, Ipv6Packet, Router, RouterConfig, rule};
use tollway_wire::icmpv6;

const HOST: &str = "fd00:1::10";
const OTHER: &str = "fd00:1::11";
const SERVER: &str = "2001:db8:ff::1";
const OUTSIDE: &str = "2001:db8:2::1";

fn plain() -> RouterConfig {
    RouterConfig::new()
        .interface("fd00:1::1/64")
        .interface("fd00:2::1/64")
        .interface("2001:db8:3::1/64")
        .address(2, "2001:db8:2::1/64")
        .neighbor(1, HOST, "02:01:0a:01:00:02", false)
        .neighbor(1, OTHER, "02:01:0a:01:00:03", false)
        .neighbor(2, "2001:db8:2::fe", "02:01:0a:02:00:02", false)
        .neighbor(3, "2001:db8:3::fe", "02:01:0a:03:00:02", false)
        .route("::/0", "2001:db8:2::fe")
        .with(|config| config.settings.icmp_rate_limit_ms = 0)
}

fn masquerading() -> RouterConfig {
    plain().ipv6_nat("srcnat", rule().out_interface(2).masquerade())
}

fn with_workers(config: RouterConfig, workers: u32) -> Router {
    let mut router = Router::with_workers(config, workers);
    router.advance_ms(1_100);
    router.moved();
    router
}

fn router(config: RouterConfig) -> Router {
    with_workers(config, 1)
}

fn out(host: &str, port: u16) -> Ipv6Builder {
    Ipv6Builder::new(host, SERVER).udp(port, 53).payload_len(31)
}

fn back(port: u16) -> Ipv6Builder {
    Ipv6Builder::new(SERVER, OUTSIDE).udp(53, port).payload_len(60)
}

/// Source, destination and ports of the only packet that left, whose checksum must be right.
fn ends(out: &[Output]) -> (String, String, (u16, u16)) {
    assert_eq!(out.len(), 1);
    let packet = out[0].ipv6();
    assert!(packet.checksum_right);
    (packet.src.to_string(), packet.dst.to_string(), packet.ports)
}

fn expect(src: &str, dst: &str, ports: (u16, u16)) -> (String, String, (u16, u16)) {
    (src.into(), dst.into(), ports)
}

#[test]
fn masquerade_translates_both_ways_slow_and_fast() {
    for workers in [1, 3] {
        let mut router = with_workers(masquerading(), workers);
        for round in 0..6 {
            let sent = router.send6(0, &out(HOST, 4000));
            assert_eq!((sent[0].to, sent[0].fast), (To::Port(1), round > 1), "round {round}");
            // The global address, not the unique local one, for a global destination.
            assert_eq!(ends(&sent), expect(OUTSIDE, SERVER, (4000, 53)));
            let answered = router.send6(1, &back(4000));
            assert_eq!(ends(&answered), expect(SERVER, HOST, (53, 4000)));
            assert_eq!(answered[0].ipv6().hop_limit, 63);
        }
        let connection = &router.connections()[0];
        assert_eq!(connection.flags, "SACs");
        assert_eq!(connection.counts, [(6, 6 * 79), (6, 6 * 108)]);
        assert_eq!(router.rule(1000), (1, 79));
    }
}

#[test]
fn tcp_and_echo_are_translated_with_right_checksums() {
    let mut router = router(masquerading());
    let tcp =
        |flags, seq, ack, len| Ipv6Builder::new(HOST, SERVER).tcp(4000, 80, flags, seq, ack).payload_len(len);
    let back = |flags, seq, ack, len| {
        Ipv6Builder::new(SERVER, OUTSIDE).tcp(80, 4000, flags, seq, ack).payload_len(len)
    };
    assert_eq!(ends(&router.send6(0, &tcp(tcp_flag::SYN, 9, 0, 0))), expect(OUTSIDE, SERVER, (4000, 80)));
    let answer = router.send6(1, &back(tcp_flag::SYN | tcp_flag::ACK, 99, 10, 0));
    assert_eq!(ends(&answer), expect(SERVER, HOST, (80, 4000)));
    for step in 0..5u32 {
        let sent = router.send6(0, &tcp(tcp_flag::ACK, 10 + step, 100, 1));
        assert_eq!((ends(&sent), sent[0].fast), (expect(OUTSIDE, SERVER, (4000, 80)), step > 0));
    }
    for (number, host) in [(0, HOST), (1, OTHER), (2, HOST), (3, OTHER), (4, HOST), (5, OTHER)] {
        let ping = router.send6(0, &Ipv6Builder::new(host, SERVER).echo_request(7, number).payload_len(9));
        let (src, _, (ident, _)) = ends(&ping);
        assert_eq!(
            (src.as_str(), ident == 7),
            (OUTSIDE, host == HOST),
            "the identifier of the second is taken"
        );
        let pong = router.send6(1, &Ipv6Builder::new(SERVER, OUTSIDE).echo_reply(ident, number));
        assert_eq!(ends(&pong), expect(SERVER, host, (7, 7)));
        assert_eq!(ping[0].fast, number > 3);
    }
}

#[test]
fn clashing_source_ports_both_work() {
    for workers in [1, 3] {
        let mut router = with_workers(masquerading(), workers);
        let first = ends(&router.send6(0, &out(HOST, 4000))).2.0;
        let second = ends(&router.send6(0, &out(OTHER, 4000))).2.0;
        assert_eq!(first, 4000);
        assert_ne!(second, 4000);
        assert_eq!(ends(&router.send6(1, &back(first))), expect(SERVER, HOST, (53, 4000)));
        assert_eq!(ends(&router.send6(1, &back(second))), expect(SERVER, OTHER, (53, 4000)));
    }
}

#[test]
fn ports_of_a_range_are_given_out_and_then_none() {
    let target = Action::SrcNat {
        to_addresses: Some(range("2001:db8:2::77")),
        to_ports: Some(PortRange { from: 5000, to: 5003 }),
        randomise_ports: false,
    };
    for workers in [1, 3] {
        let mut router = with_workers(plain().ipv6_nat("srcnat", rule().then(target.clone())), workers);
        let mut ports: Vec<u16> = (0..4)
            .map(|flow| {
                let (src, _, ports) = ends(&router.send6(0, &out(HOST, 6000 + flow)));
                assert_eq!(src, "2001:db8:2::77");
                ports.0
            })
            .collect();
        ports.sort_unstable();
        assert_eq!(ports, [5000, 5001, 5002, 5003]);
        router.moved();
        assert_eq!(router.send6(0, &out(HOST, 7000)), []);
        assert_eq!(router.moved().get(&Counter::Drop(DropReason::NatExhausted)), Some(&1));
    }
}

#[test]
fn a_published_service_answers_from_its_address() {
    for workers in [1, 3] {
        let config = plain()
            .ipv6_nat("dstnat", rule().in_interface(2).protocol(17).dst_port(8080).dst_nat(HOST, 80))
            .ipv6_filter("forward", rule().dst(HOST).dst_port(80).accept())
            .ipv6_filter("forward", rule().in_interface(2).drop());
        let mut router = with_workers(config, workers);
        let ask = Ipv6Builder::new(SERVER, OUTSIDE).udp(1000, 8080).payload_len(5);
        let answer = Ipv6Builder::new(HOST, SERVER).udp(80, 1000).payload_len(9);
        for round in 0..4 {
            let sent = router.send6(1, &ask);
            assert_eq!(ends(&sent), expect(SERVER, HOST, (1000, 80)));
            assert_eq!(sent[0].fast, round > 1);
            let answered = router.send6(0, &answer);
            assert_eq!(ends(&answered), expect(OUTSIDE, SERVER, (8080, 1000)));
            assert_eq!(answered[0].fast, round > 0);
        }
        assert_eq!((router.connections()[0].flags.as_str(), router.rule(1000).0), ("SACd", 1));
    }
}

#[test]
fn redirect_leads_to_the_router() {
    let redirect = Action::Redirect { to_ports: Some(PortRange { from: 5353, to: 5353 }) };
    let config = plain()
        .ipv6_nat("dstnat", rule().in_interface(1).protocol(17).dst_port(53).then(redirect))
        .ipv6_filter("input", rule().dst("fd00:1::1").dst_port(5353).passthrough());
    let mut router = router(config);
    let out = router.send6(0, &out(HOST, 4000));
    assert!(matches!(out[0].to, To::Local(_)), "{:?}", out[0].to);
    assert_eq!(router.rule(1001).0, 1);
    let packet = Ipv6Packet::read_l3(&out[0].bytes).or_else(|| Ipv6Packet::read(&out[0].bytes)).unwrap();
    assert_eq!((packet.dst.to_string(), packet.ports), ("fd00:1::1".into(), (4000, 5353)));
    assert!(packet.checksum_right);
}

#[test]
fn netmap_keeps_the_bits_of_the_host() {
    let to = |prefix: &str| Action::Netmap { to_addresses: range(prefix), to_ports: None };
    let config = plain()
        .ipv6_nat("srcnat", rule().src("fd00:1::/64").then(to("2001:db8:2:5::/64")))
        .ipv6_nat("dstnat", rule().dst("2001:db8:2:5::/64").then(to("fd00:1::/64")));
    for workers in [1, 3] {
        let mut router = with_workers(config.clone(), workers);
        for _ in 0..3 {
            let sent = router.send6(0, &out(HOST, 4000));
            assert_eq!(ends(&sent), expect("2001:db8:2:5::10", SERVER, (4000, 53)));
            let asked = Ipv6Builder::new(SERVER, "2001:db8:2:5::11").udp(9, 9);
            assert_eq!(ends(&router.send6(1, &asked)), expect(SERVER, OTHER, (9, 9)));
            let answer = Ipv6Builder::new(OTHER, SERVER).udp(9, 9);
            assert_eq!(ends(&router.send6(0, &answer)), expect("2001:db8:2:5::11", SERVER, (9, 9)));
        }
    }
}

#[test]
fn errors_are_translated_inside_and_outside() {
    for (packet, port) in [
        (out(HOST, 4000), 4000),
        (Ipv6Builder::new(HOST, SERVER).tcp(4000, 80, tcp_flag::SYN, 1, 0), 4000),
        (Ipv6Builder::new(HOST, SERVER).echo_request(7, 1).payload_len(20), 7),
    ] {
        let mut router = router(masquerading());
        // Another host has the port, so that it is translated too.
        let mut other = packet.build_l3();
        other[8..24].copy_from_slice(&ip6(OTHER).to_be_bytes());
        let sent = router.send6(0, &packet);
        let error = Ipv6Builder::new("2001:db8:2::fe", OUTSIDE)
            .icmp(icmpv6::TIME_EXCEEDED, 0, [0; 4])
            .payload(&sent[0].bytes[14..]);
        let told = router.send6(1, &error);
        assert_eq!(told.len(), 1, "{port}");
        let message = told[0].ipv6();
        assert!(message.checksum_right);
        assert_eq!(
            (message.src.to_string(), message.dst.to_string()),
            ("2001:db8:2::fe".into(), HOST.into())
        );
        let quoted = message.quoted().expect("a packet");
        assert_eq!((quoted.src.to_string(), quoted.dst.to_string()), (HOST.into(), SERVER.into()));
        assert_eq!(quoted.ports.0, port);
        assert!(quoted.checksum_right, "{port}");
        // A host of the LAN tells of a packet from outside.
        let answer = match packet.build_l3()[6] {
            17 => back(4000),
            6 => Ipv6Builder::new(SERVER, OUTSIDE).tcp(80, 4000, tcp_flag::SYN | tcp_flag::ACK, 5, 2),
            _ => Ipv6Builder::new(SERVER, OUTSIDE).echo_reply(7, 1),
        };
        let came = router.send6(1, &answer);
        let error =
            Ipv6Builder::new(HOST, SERVER).icmp(icmpv6::UNREACHABLE, 4, [0; 4]).payload(&came[0].bytes[14..]);
        let message = router.send6(0, &error)[0].ipv6();
        assert!(message.checksum_right);
        assert_eq!(message.src.to_string(), OUTSIDE);
        let quoted = message.quoted().expect("a packet");
        assert_eq!((quoted.src.to_string(), quoted.dst.to_string()), (SERVER.into(), OUTSIDE.into()));
        assert!(quoted.checksum_right);
    }
}

#[test]
fn the_router_quotes_what_the_sender_sent() {
    let mut router = router(masquerading());
    router.send6(0, &out(HOST, 4000));
    let told = router.send6(0, &out(HOST, 4000).hop_limit(1));
    let message = told[0].ipv6();
    assert_eq!((told[0].to, message.icmp.map(|icmp| icmp.0)), (To::Port(0), Some(icmpv6::TIME_EXCEEDED)));
    assert_eq!(message.quoted().map(|quoted| quoted.src.to_string()), Some(HOST.to_owned()));
    assert!(message.checksum_right);
}

#[test]
fn every_fragment_is_translated() {
    let mut router = router(masquerading());
    let fragments = out(HOST, 4000).payload_len(900).eth_dst(port_mac(0)).build_fragments(400, 9);
    let sent: Vec<Output> =
        fragments.into_iter().flat_map(|frame| router.inject(0, frame, Default::default())).collect();
    assert_eq!(sent.len(), 3);
    for output in &sent {
        let packet = output.ipv6();
        assert_eq!((packet.src.to_string(), packet.dst.to_string()), (OUTSIDE.into(), SERVER.into()));
    }
    // The checksum of the whole datagram is right.
    let mut whole: Vec<u8> = sent.iter().flat_map(|output| output.ipv6().transport).collect();
    let sum = tollway_wire::checksum::sum(&whole);
    let pseudo = tollway_wire::checksum::pseudo_v6(ip6(OUTSIDE), ip6(SERVER), 17, whole.len() as u32);
    assert_eq!(tollway_wire::checksum::add(pseudo, sum), u16::MAX);
    whole.truncate(2);
    assert_eq!(whole, 4000u16.to_be_bytes());
}

#[test]
fn a_masqueraded_flow_begins_anew_by_another_interface_and_ends_with_its_address() {
    let mut router = router(plain().ipv6_nat("srcnat", rule().masquerade()));
    for _ in 0..3 {
        assert_eq!(ends(&router.send6(0, &out(HOST, 4000))).0, OUTSIDE);
        router.send6(1, &back(4000));
    }
    let address = "2001:db8:3::fe".parse().unwrap();
    router.reconfigure(|config| config.routes[0].target = RouteTarget::Gateway { address, interface: None });
    for _ in 0..3 {
        let sent = router.send6(0, &out(HOST, 4000));
        assert_eq!((sent[0].to, ends(&sent).0.as_str()), (To::Port(2), "2001:db8:3::1"));
    }
    assert_eq!(router.connections().len(), 1);
    router.reconfigure(|config| config.addresses.retain(|address| address.interface != 3));
    router.advance_ms(100);
    assert_eq!(router.connections().len(), 0);
}

#[test]
fn an_interface_without_a_fitting_address_masquerades_nothing() {
    let config = plain().with(|config| config.addresses.retain(|address| address.interface != 2));
    let config = config
        .route_to("2001:db8:ff::/48", RouteTarget::Interface { interface: 3 })
        .neighbor(3, SERVER, "02:01:0a:03:00:09", false)
        .ipv6_nat("srcnat", rule().masquerade())
        .with(|config| config.addresses.retain(|address| address.interface != 3))
        .address(3, "fe80::77/64");
    let mut router = router(config);
    assert_eq!(router.send6(0, &out(HOST, 4000)), []);
    assert_eq!(router.moved().get(&Counter::Drop(DropReason::NatNoAddress)), Some(&1));
}
