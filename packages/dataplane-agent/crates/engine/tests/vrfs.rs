//! VRFs: interfaces with addresses and routes of their own, which others do not see.

mod flows;
mod oracle;

use tollway_config::dataplane::{
    Action, ArpMode, ConnectionState, Matcher, Route, RouteTarget, TrackingMode,
};
use tollway_engine::ip::fib::{DynamicRoute, DynamicTarget, RouteChange};
use tollway_engine::packet::frame::VnetState;
use tollway_engine::packet::verdict::DropReason;
use tollway_testkit::packet::{PacketBuilder, arp_frame, tcp_flag};
use tollway_testkit::router::{To, port_mac};
use tollway_testkit::{Counter, Ipv6Builder, Output, Router, RouterConfig, rule};
use tollway_wire::arp;

const HOST: &str = "192.168.88.10";
const OWN: &str = "192.168.88.1";
const SERVER: &str = "203.0.113.5";
const UPLINK: &str = "10.2.0.254";
const HOST6: &str = "2001:db8:1::10";
const OWN6: &str = "2001:db8:1::1";
const SERVER6: &str = "2001:db8:ff::5";
const UPLINK6: &str = "2001:db8:3::fe";

/// Two VRFs with the same network and the same host, and an uplink of the main table to which both leak.
fn config() -> RouterConfig {
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .address(1, "2001:db8:1::1/64")
        .address(2, "2001:db8:1::1/64")
        .address(3, "2001:db8:3::1/64")
        .route("0.0.0.0/0", UPLINK)
        .route("::/0", UPLINK6)
        .vrf(7, &[1])
        .vrf(9, &[2])
        .leak(1, "0.0.0.0/0", UPLINK, 0)
        .leak(2, "0.0.0.0/0", UPLINK, 0)
        .leak(1, "::/0", UPLINK6, 0)
        .leak(2, "::/0", UPLINK6, 0)
        .with(|config| config.settings.icmp_rate_limit_ms = 0)
}

fn translated() -> RouterConfig {
    config()
        .nat("srcnat", rule().out_interface(3).masquerade())
        .ipv6_nat("srcnat", rule().out_interface(3).masquerade())
}

fn router(config: RouterConfig, workers: u32) -> Router {
    let mut router = Router::with_workers(config, workers)
        .hosts(0, &[HOST])
        .hosts(1, &[HOST])
        .hosts(2, &[UPLINK])
        .hosts6(0, &[HOST6])
        .hosts6(1, &[HOST6])
        .hosts6(2, &[UPLINK6]);
    router.advance_ms(1_100);
    router
}

fn sent(out: &[Output], port: u16) -> Vec<&Output> {
    out.iter().filter(|output| output.to == To::Port(port)).collect()
}

fn later(router: &mut Router, mut out: Vec<Output>) -> Vec<Output> {
    out.extend(router.advance_ms(5));
    out
}

#[test]
fn answers_go_back_to_the_vrf_of_the_request_without_a_route_in_the_main_table() {
    for workers in [1, 3] {
        let mut router = router(translated(), workers);
        let request = PacketBuilder::ipv4(HOST, SERVER).udp(4000, 53);
        let request6 = Ipv6Builder::new(HOST6, SERVER6).udp(4000, 53);
        for round in 0..4 {
            for port in [0, 1] {
                let sent_out = router.send(port, &request);
                let out = later(&mut router, sent_out);
                let [request] = sent(&out, 2)[..] else { panic!("{out:?}") };
                let packet = request.packet();
                let answer = PacketBuilder::ipv4(SERVER, "10.2.0.1").udp(53, packet.ports.0);
                let sent_out = router.send(2, &answer);
                let out = later(&mut router, sent_out);
                assert_eq!(sent(&out, port).len(), 1, "round {round}, port {port}: {out:?}");
                assert!(sent(&out, 1 - port).is_empty());
                // From the second answer on the flow cache forwards.
                assert!(round < 2 || request.fast && sent(&out, port)[0].fast, "round {round}");

                let sent_out = router.send6(port, &request6);
                let out = later(&mut router, sent_out);
                let [request] = sent(&out, 2)[..] else { panic!("{out:?}") };
                let answer = Ipv6Builder::new(SERVER6, "2001:db8:3::1").udp(53, request.ipv6().ports.0);
                let sent_out = router.send6(2, &answer);
                let out = later(&mut router, sent_out);
                assert_eq!(sent(&out, port).len(), 1, "round {round}, port {port}: {out:?}");
                assert!(sent(&out, 1 - port).is_empty());
            }
        }
        assert_eq!(router.connections().len(), 4);
    }
}

#[test]
fn what_is_in_no_table_of_the_vrf_is_not_routed() {
    let mut router = router(config(), 1);
    // The main table has the network of the uplink, the VRF has not; its default route leads to the uplink.
    router.reconfigure(|config| config.routes.retain(|route| route.options.table == 0));
    for target in [SERVER, "10.2.0.254", "10.2.0.1"] {
        router.moved();
        let out = router.send(0, &PacketBuilder::ipv4(HOST, target).udp(4000, 53));
        assert_eq!(router.moved().get(&Counter::Drop(DropReason::NoRoute)), Some(&1), "{target}");
        let [error] = sent(&out, 0)[..] else { panic!("{out:?}") };
        assert_eq!((error.packet().src.to_string().as_str(), error.packet().icmp), (OWN, Some((3, 0))));
    }
    // The main table does not see the networks of VRFs.
    router.moved();
    router.send(2, &PacketBuilder::ipv4(UPLINK, HOST).udp(4000, 53));
    assert_eq!(router.moved().get(&Counter::Drop(DropReason::NoRoute)), None, "the default route leads back");
    router.moved();
    let out = router.send6(0, &Ipv6Builder::new(HOST6, UPLINK6).udp(4000, 53));
    assert!(sent(&out, 2).is_empty());
    assert_eq!(router.moved().get(&Counter::Drop(DropReason::NoRoute)), Some(&1));
}

#[test]
fn an_address_is_the_routers_in_its_own_vrf_alone() {
    let mut router = router(config(), 1);
    for port in [0, 1] {
        let out = router.send(port, &PacketBuilder::ipv4(HOST, OWN).echo_request(7, 1));
        let out = later(&mut router, out);
        let [reply] = sent(&out, port)[..] else { panic!("{out:?}") };
        assert_eq!((reply.packet().dst.to_string().as_str(), reply.packet().icmp), (HOST, Some((0, 0))));
        assert!(sent(&out, 1 - port).is_empty());
        let out = router.send6(port, &Ipv6Builder::new(HOST6, OWN6).echo_request(7, 1));
        let out = later(&mut router, out);
        assert_eq!(sent(&out, port).len(), 1, "{out:?}");
        assert!(sent(&out, 1 - port).is_empty());
        // To services of its interface.
        let out = router.send(port, &PacketBuilder::ipv4(HOST, OWN).tcp(4000, 22, tcp_flag::SYN, 1, 0));
        assert_eq!(
            out.iter().filter(|output| output.to == To::Local(u32::from(port) + 1)).count(),
            1,
            "{out:?}"
        );
    }
    // From the main table the address is somebody else's.
    let out = router.send(2, &PacketBuilder::ipv4(UPLINK, OWN).echo_request(7, 1));
    let out = later(&mut router, out);
    assert!(sent(&out, 2).iter().all(|output| output.packet().icmp != Some((0, 0))), "{out:?}");
    // Services of a VRF send by its routes.
    let packet = PacketBuilder::ipv4(OWN, HOST).tcp(22, 4000, tcp_flag::SYN | tcp_flag::ACK, 1, 2).build_l3();
    for tap in [1, 2] {
        let out = router.send_local_by(0, tap, &packet);
        assert_eq!(sent(&out, tap as u16 - 1).len(), 1, "{out:?}");
        assert!(sent(&out, 2 - tap as u16).is_empty());
    }
}

#[test]
fn errors_about_packets_of_a_vrf_come_back_to_it() {
    let mut router = router(translated(), 1);
    for port in [0, 1] {
        // The router's own: the time to live runs out.
        let out = router.send(port, &PacketBuilder::ipv4(HOST, SERVER).udp(4000, 53).ttl(1));
        let out = later(&mut router, out);
        let [error] = sent(&out, port)[..] else { panic!("{out:?}") };
        assert_eq!((error.packet().src.to_string().as_str(), error.packet().icmp), (OWN, Some((11, 0))));
        // A router's on the way, about the translated packet.
        let out = router.send(port, &PacketBuilder::ipv4(HOST, SERVER).udp(4000, 53));
        let out = later(&mut router, out);
        let [request] = sent(&out, 2)[..] else { panic!("{out:?}") };
        let quote = &request.bytes[14..];
        let error = PacketBuilder::ipv4(UPLINK, "10.2.0.1").icmp(3, 1, [0; 4]).payload(quote);
        let out = router.send(2, &error.eth_dst(port_mac(2)));
        let [error] = sent(&out, port)[..] else { panic!("{out:?}") };
        let quoted = error.packet().quoted().expect("a quote");
        assert_eq!(
            (quoted.src.to_string().as_str(), (quoted.first_words.0, quoted.first_words.1)),
            (HOST, (4000, 53))
        );
    }
}

#[test]
fn a_route_by_an_interface_of_another_vrf_leaks() {
    let config =
        config().route_to("198.51.100.0/24", RouteTarget::Interface { interface: 2 }).with(|config| {
            if let Some(route) = config.routes.last_mut() {
                route.options.table = 1;
            }
        });
    let mut router = router(config, 1).hosts(1, &["198.51.100.7"]);
    let out = router.send(0, &PacketBuilder::ipv4(HOST, "198.51.100.7").udp(4000, 53));
    let out = later(&mut router, out);
    assert_eq!(sent(&out, 1).len(), 1, "{out:?}");
    // The answer has no route of its own in that VRF, where the host's address is another host's.
    let out = router.send(1, &PacketBuilder::ipv4("198.51.100.7", HOST).udp(53, 4000));
    assert_eq!(sent(&out, 0).len(), 1, "{out:?}");
}

#[test]
fn a_change_of_a_vrfs_routes_concerns_its_flows_alone() {
    let mut router = router(translated().with(|config| config.tracking.enabled = TrackingMode::Yes), 1);
    let request = PacketBuilder::ipv4(HOST, SERVER).udp(4000, 53);
    for port in [0, 1, 0, 1, 0, 1] {
        let out = router.send(port, &request);
        later(&mut router, out);
    }
    router.reconfigure(|config| {
        let of_first = |route: &Route| route.options.table == 1;
        config.routes.retain(|route| !of_first(route) || !route.destination.is_ipv4());
    });
    let out = router.send(0, &request);
    assert!(sent(&out, 2).is_empty(), "{out:?}");
    let out = router.send(1, &request);
    let [request] = sent(&out, 2)[..] else { panic!("{out:?}") };
    assert!(request.fast, "the other VRF's flow is not looked at again");
}

#[test]
fn routes_of_other_programs_are_in_the_table_of_their_vrf_alone() {
    for workers in [1, 3] {
        let mut router = router(config().filter("forward", rule().passthrough()), workers);
        let learned = |destination: &str, gateway: &str| {
            let number = |text: &str| text.parse::<std::net::Ipv4Addr>().expect("an address").to_bits();
            RouteChange::Replace(DynamicRoute {
                destination: number(destination),
                prefix_len: 24,
                metric: 20,
                protocol: 186,
                distance: 20,
                target: DynamicTarget::Gateway { address: number(gateway), interface: Some(1) },
                multipath: false,
                source: 0,
            })
        };
        let asked = |router: &mut Router, port: u16| {
            let out = router.send(port, &PacketBuilder::ipv4("192.168.88.77", SERVER).udp(4000, 53));
            let out = later(router, out);
            (sent(&out, 0).len(), sent(&out, 2).len())
        };
        for _ in 0..3 {
            assert_eq!((asked(&mut router, 0), asked(&mut router, 1)), ((0, 1), (0, 1)));
        }
        // Flows that run follow it, in the VRF alone.
        router.change_routes_in(7, &[learned("203.0.113.0", HOST)]);
        for round in 0..3 {
            assert_eq!(asked(&mut router, 0).1, 0, "round {round}");
            assert_eq!(asked(&mut router, 1), (0, 1), "round {round}");
        }
        // It outlives another configuration, also one with another interface in the VRF.
        router.reconfigure(|config| config.addresses.truncate(config.addresses.len() - 1));
        assert_eq!((asked(&mut router, 0).1, asked(&mut router, 1)), (0, (0, 1)));
        let number = u32::from_be_bytes([203, 0, 113, 0]);
        let gone = RouteChange::Remove { destination: number, prefix_len: 24, metric: 20 };
        router.change_routes_in(7, &[gone]);
        assert_eq!((asked(&mut router, 0), asked(&mut router, 1)), ((0, 1), (0, 1)));
    }
}

#[test]
fn queues_and_lists_are_for_all_vrfs_and_connections_are_not() {
    for workers in [1, 3] {
        let adds = Action::AddSrcToAddressList { list: 0, timeout_ms: 0 };
        let established = rule().state(&[ConnectionState::Established]);
        let listed = Matcher::SrcAddressList { list: 0, negate: false };
        let config = translated()
            .address_list("seen", &[])
            .queue(&["192.168.88.10"], 1_000_000_000, 1_000_000_000)
            .filter("forward", established.accept())
            .filter("forward", rule().in_interface(1).dst(SERVER).then(adds))
            .filter("forward", rule().matcher(listed).in_interface(2).drop());
        let mut router = router(config, workers);
        let passed = |router: &Router| -> u64 {
            let queues = router.queues();
            queues.iter().map(|queue| queue.directions[0].packets).sum()
        };
        let ask = |router: &mut Router, port: u16, from: u16| {
            let out = router.send(port, &PacketBuilder::ipv4(HOST, SERVER).udp(from, 53));
            let out = later(router, out);
            out.into_iter().find(|output| output.to == To::Port(2) && output.arp().is_none())
        };
        // The queue takes the host of either VRF.
        let red = ask(&mut router, 1, 4_000).expect("not in the list yet");
        assert_eq!(passed(&router), 1);
        assert!(ask(&mut router, 0, 4_000).is_some());
        assert_eq!(passed(&router), 2);
        // The list that blue's packet has come into holds for red, with the same tuple and with another.
        assert!(ask(&mut router, 1, 4_001).is_none());
        // The answer to red is of red's connection alone: blue's has none, and meets the list's rule no less.
        let port = red.packet().ports.0;
        let answer = PacketBuilder::ipv4(SERVER, "10.2.0.1").udp(53, port);
        let sent_out = router.send(2, &answer);
        let out = later(&mut router, sent_out);
        assert_eq!((sent(&out, 0).len(), sent(&out, 1).len()), (0, 1), "{out:?}");
        let replied: Vec<bool> =
            router.connections().iter().map(|connection| connection.flags.contains('S')).collect();
        assert_eq!(replied.iter().filter(|replied| **replied).count(), 1);
        assert!(ask(&mut router, 1, 4_000).is_some(), "established");
        assert!(ask(&mut router, 1, 4_002).is_none());
    }
}

#[test]
fn proxy_arp_source_routes_and_redirects_go_by_the_table_of_the_vrf() {
    let asked = |router: &mut Router, port: u16, target: &str| {
        let number = |text: &str| text.parse::<std::net::Ipv4Addr>().expect("an address").to_bits();
        let request = arp::Repr {
            operation: arp::REQUEST,
            sender_mac: [2, 1, 0, 0, 0, 9],
            sender_addr: number(if port == 2 { UPLINK } else { HOST }),
            target_mac: [0; 6],
            target_addr: number(target),
        };
        router.inject(port, arp_frame([0xff; 6], request), VnetState::default()).len()
    };
    let proxying = config().with(|config| {
        config.interfaces.iter_mut().for_each(|interface| interface.arp = ArpMode::ProxyArp);
        config.settings.accept_source_route = true;
    });
    let mut router = router(proxying, 1);
    // Blue's routes lead to the server; then only those of red and main do.
    assert_eq!([0, 1].map(|port| asked(&mut router, port, SERVER)), [1, 1]);
    router.reconfigure(|config| config.routes.retain(|route| route.options.table != 1));
    assert_eq!([0, 1].map(|port| asked(&mut router, port, SERVER)), [0, 1]);
    // An own address of the main table alone is no other station's, and nobody's in a VRF.
    assert_eq!([0, 2].map(|port| asked(&mut router, port, "10.2.0.1")), [0, 1]);
    // From the uplink blue's host is not there.
    assert_eq!(asked(&mut router, 2, HOST), 0);
    // A source route by the router of a VRF goes on by its table.
    let routed = |router: &mut Router, port: u16| {
        let packet = PacketBuilder::ipv4(HOST, OWN).udp(4000, 53).ip_options(&[131, 7, 4, 203, 0, 113, 5, 0]);
        let out = router.send(port, &packet);
        let out = later(router, out);
        sent(&out, 2).iter().map(|output| output.bytes[37..41].to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(routed(&mut router, 0), Vec::<Vec<u8>>::new());
    // It records the address of the interface that it leaves by.
    assert_eq!(routed(&mut router, 1), [[10, 2, 0, 1]]);
    // A gateway in the network of the host is told to it in this VRF, although main has another way.
    let mut route = router.config().routes[0].clone();
    (route.row, route.options.table) = (990, 1);
    let address = "192.168.88.254".parse().expect("an address");
    route.target = RouteTarget::Gateway { address, interface: None };
    router = router.hosts(0, &["192.168.88.254"]);
    router.reconfigure(|config| config.routes.push(route));
    let redirects = |router: &mut Router, port: u16| {
        let mut count = 0;
        for from in 0..3 {
            let out = router.send(port, &PacketBuilder::ipv4(HOST, SERVER).udp(5000 + from, 53));
            let out = later(router, out);
            count += sent(&out, port)
                .iter()
                .filter(|output| output.arp().is_none() && output.packet().icmp == Some((5, 1)))
                .count();
        }
        count
    };
    assert_eq!([0, 1].map(|port| redirects(&mut router, port) > 0), [true, false]);
}
