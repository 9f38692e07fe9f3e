//! ARP: who is asked, who is answered, what is believed, and what packets do that wait.

use tollway_config::dataplane::{ArpMode, RouteTarget};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::{PacketBuilder, arp_frame, ip};
use tollway_testkit::router::{To, host_mac, port_mac};
use tollway_testkit::{Router, expect_counters};
use tollway_wire::arp;

use super::forwarding::{plain, router, udp};

#[test]
fn the_router_asks_by_broadcast_with_its_address_in_that_network() {
    let mut router = Router::new(plain());
    let out = router.send(0, &udp());
    let request = out[0].arp().expect("an ARP request");
    assert_eq!(&out[0].bytes[..6], &[0xff; 6]);
    assert_eq!((request.sender_addr, request.target_addr), (ip("10.2.0.1"), ip("10.2.0.2")));
    assert_eq!(request.sender_mac, port_mac(1));
    expect_counters!(router, Generated: 1, Held: 1);
}

#[test]
fn no_answer_means_three_requests_then_host_unreachable_then_silence_towards_the_net() {
    let mut router = router();
    router.remove_host(1, "10.2.0.2");
    let mut asked = router.send(0, &udp()).len();
    let out = router.advance_ms(2_900);
    asked += out.iter().filter(|output| output.arp().is_some()).count();
    assert_eq!(asked, 3);
    let out = router.advance_ms(200);
    // The sender's own address is asked for, and gets the error.
    assert_eq!(out.len(), 1, "{out:?}");
    let error = out[0].packet();
    assert_eq!((out[0].to, error.icmp), (To::Port(0), Some((3, 1))));
    assert_eq!((error.src, error.dst), ("10.1.0.1".parse().unwrap(), "10.1.0.2".parse().unwrap()));
    assert!(error.checksums_right);
    let quoted = error.quoted().expect("a quoted packet");
    assert_eq!((quoted.ttl, quoted.first_words.0, quoted.header_checksum_right), (64, 1000, true));
    router.moved();
    let out = router.send(0, &udp());
    assert_eq!(out[0].packet().icmp, Some((3, 1)));
    expect_counters!(router, Drop(NeighborFailed): 1, Generated: 1);
}

#[test]
fn at_most_three_packets_wait_and_the_oldest_goes() {
    let mut router = Router::new(plain());
    for number in 0..5 {
        router.send(0, &udp().ident(number));
    }
    expect_counters!(router, Generated: 1, Held: 3, Drop(NeighborQueueFull): 2);
    let reply = arp_frame(
        port_mac(1),
        arp::Repr {
            operation: arp::REPLY,
            sender_mac: host_mac(ip("10.2.0.2")),
            sender_addr: ip("10.2.0.2"),
            target_mac: port_mac(1),
            target_addr: ip("10.2.0.1"),
        },
    );
    let out = router.inject(1, reply, VnetState::default());
    let idents: Vec<u8> = out.iter().map(|output| output.bytes[14 + 5]).collect();
    assert_eq!(idents, [2, 3, 4]);
}

pub(super) fn request(sender: &str, target: &str) -> Vec<u8> {
    arp_frame(
        [0xff; 6],
        arp::Repr {
            operation: arp::REQUEST,
            sender_mac: host_mac(ip(sender)),
            sender_addr: ip(sender),
            target_mac: [0; 6],
            target_addr: ip(target),
        },
    )
}

#[test]
fn answers_arp_for_its_address_on_the_same_interface_only() {
    let mut router = router();
    let out = router.inject(0, request("10.1.0.2", "10.1.0.1"), VnetState::default());
    assert_eq!(out.len(), 1);
    let reply = out[0].arp().expect("an ARP reply");
    assert_eq!((reply.operation, reply.sender_mac), (arp::REPLY, port_mac(0)));
    assert_eq!((reply.sender_addr, reply.target_addr), (ip("10.1.0.1"), ip("10.1.0.2")));
    expect_counters!(router, Generated: 1, Drop(ArpConsumed): 1);
    assert_eq!(router.inject(0, request("10.1.0.2", "10.2.0.1"), VnetState::default()), []);
    assert_eq!(router.inject(0, request("10.1.0.2", "10.1.0.9"), VnetState::default()), []);
    expect_counters!(router, Drop(ArpIgnored): 2);
}

#[test]
fn arp_is_taken_from_whatever_station_sends_the_frame() {
    // As clusters send it whose address no switch shall learn.
    let from_another = |mut frame: Vec<u8>| {
        frame[6..12].copy_from_slice(&[0x02, 0x01, 0, 0, 0, 9]);
        frame
    };
    let mut router = Router::new(plain());
    let out = router.inject(0, from_another(request("10.1.0.2", "10.1.0.1")), VnetState::default());
    assert_eq!(out[0].arp().expect("an ARP reply").target_mac, host_mac(ip("10.1.0.2")));
    assert_eq!(out[0].bytes[..6], host_mac(ip("10.1.0.2")));
    router.send(0, &udp());
    let reply = arp::Repr {
        operation: arp::REPLY,
        sender_mac: host_mac(ip("10.2.0.2")),
        sender_addr: ip("10.2.0.2"),
        target_mac: port_mac(1),
        target_addr: ip("10.2.0.1"),
    };
    let out = router.inject(1, from_another(arp_frame(port_mac(1), reply)), VnetState::default());
    assert_eq!(out[0].packet().eth_dst, host_mac(ip("10.2.0.2")));
    // A group is no station's address.
    let group = arp::Repr { sender_mac: [1, 0, 0x5e, 0, 0, 1], ..reply };
    router.moved();
    assert_eq!(router.inject(1, arp_frame(port_mac(1), group), VnetState::default()), []);
    expect_counters!(router, Drop(BadArp): 1);
}

#[test]
fn a_gateway_outside_the_networks_of_its_interface_is_learned_when_the_router_asks_for_it() {
    let config = plain().route_to("10.9.0.0/16", RouteTarget::Interface { interface: 2 });
    let mut router = Router::new(config).hosts(1, &["10.9.0.7"]);
    // Who asks from outside makes himself no neighbour.
    router.inject(1, request("10.9.0.8", "10.2.0.1"), VnetState::default());
    let out = router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.9.0.8").udp(1, 2));
    assert!(out[0].arp().is_some(), "{out:?}");
    let out = router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.9.0.7").udp(1, 2));
    assert_eq!(out[0].packet().eth_dst, host_mac(ip("10.9.0.7")));
    assert_eq!(router.send(0, &PacketBuilder::ipv4("10.1.0.2", "10.9.0.7").udp(1, 2)).len(), 1);
}

#[test]
fn another_link_layer_address_is_announced_for_each_address() {
    let mut router = Router::new(plain().with(|config| config.interfaces[1].arp = ArpMode::Disabled));
    assert!(router.advance_ms(10).is_empty());
    for interface in [0, 1] {
        router.reconfigure(move |config| {
            config.interfaces[interface].mac_address = Some(format!("02:00:00:00:aa:0{interface}"));
        });
    }
    let out = router.advance_ms(10);
    let announced = out.iter().map(|output| {
        let packet = output.arp().unwrap();
        assert_eq!(packet.operation, arp::REQUEST);
        (output.to, output.bytes[..6].to_vec(), packet.sender_mac, packet.sender_addr, packet.target_addr)
    });
    let own = u32::from_be_bytes([10, 1, 0, 1]);
    // The other interface does not speak ARP.
    let expected = (To::Port(0), vec![0xff; 6], [2, 0, 0, 0, 0xaa, 0], own, own);
    assert_eq!(announced.collect::<Vec<_>>(), [expected]);
    router.reconfigure(|config| config.settings.icmp_rate_limit_ms += 1);
    assert!(router.advance_ms(10).is_empty());
}

#[test]
fn arp_modes() {
    let answers = |mode: ArpMode, sender: &str, target: &str| {
        let mut router = Router::new(plain().with(|config| config.interfaces[0].arp = mode));
        router.inject(0, request(sender, target), VnetState::default()).len()
    };
    assert_eq!(answers(ArpMode::Disabled, "10.1.0.2", "10.1.0.1"), 0);
    assert_eq!(answers(ArpMode::ReplyOnly, "10.1.0.2", "10.1.0.1"), 1);
    assert_eq!(answers(ArpMode::Enabled, "10.1.0.2", "10.2.0.9"), 0);
    assert_eq!(answers(ArpMode::ProxyArp, "10.1.0.2", "10.2.0.9"), 1);
    assert_eq!(answers(ArpMode::ProxyArp, "10.1.0.2", "10.1.0.9"), 0);
    // The router's own address on the other interface.
    assert_eq!(answers(ArpMode::Enabled, "10.1.0.2", "10.2.0.1"), 0);
    assert_eq!(answers(ArpMode::ProxyArp, "10.1.0.2", "10.2.0.1"), 1);
    let everywhere = |target: &str| {
        let config = plain().with(|config| config.interfaces[0].arp = ArpMode::ProxyArp);
        let mut router = Router::new(config.route("0.0.0.0/0", "10.2.0.254"));
        router.inject(0, request("10.1.0.2", target), VnetState::default()).len()
    };
    let asked = ["203.0.113.1", "127.0.0.1", "0.1.2.3", "224.0.0.5", "255.255.255.255"];
    assert_eq!(asked.map(everywhere), [1, 0, 0, 0, 0]);
    assert_eq!(answers(ArpMode::LocalProxyArp, "10.1.0.2", "10.1.0.9"), 1);
    // Who forwards nothing answers for nobody else.
    let idle = |mode: ArpMode, target: &str| {
        let config = plain().with(|config| {
            config.interfaces[0].arp = mode;
            config.settings.ip_forward = false;
        });
        Router::new(config).inject(0, request("10.1.0.2", target), VnetState::default()).len()
    };
    assert_eq!(idle(ArpMode::ProxyArp, "10.2.0.9"), 0);
    assert_eq!(idle(ArpMode::ProxyArp, "10.2.0.1"), 1);
    assert_eq!(idle(ArpMode::LocalProxyArp, "10.1.0.9"), 0);
    // Neither asks: no neighbour without a static entry.
    for mode in [ArpMode::Disabled, ArpMode::ReplyOnly] {
        let config = plain().with(|config| config.interfaces[1].arp = mode);
        let mut router = Router::new(config.clone());
        assert_eq!(router.send(0, &udp()).iter().filter(|output| output.to == To::Port(1)).count(), 0);
        let fixed = config.neighbor(2, "10.2.0.2", "02:00:00:00:00:77", false);
        let out = Router::new(fixed).send(0, &udp());
        assert_eq!(out[0].packet().eth_dst, [2, 0, 0, 0, 0, 0x77]);
    }
}

#[test]
fn an_interface_that_does_not_learn_any_more_forgets_whom_it_learned() {
    for mode in [ArpMode::Disabled, ArpMode::ReplyOnly] {
        let mut router = Router::new(plain()).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2"]);
        let sent = |router: &mut Router| {
            router
                .send(0, &udp())
                .iter()
                .filter(|output| output.to == To::Port(1) && output.arp().is_none())
                .count()
        };
        for _ in 0..4 {
            sent(&mut router);
        }
        assert_eq!(sent(&mut router), 1);
        router.reconfigure(|config| config.interfaces[1].arp = mode);
        assert_eq!((sent(&mut router), sent(&mut router)), (0, 0), "{mode:?}");
        router.reconfigure(|config| config.interfaces[1].arp = ArpMode::Enabled);
        sent(&mut router);
        assert_eq!(sent(&mut router), 1);
    }
}

#[test]
fn published_static_entries_are_answered_for() {
    let mut router = Router::new(plain().neighbor(1, "10.1.0.9", "02:00:00:00:00:77", true));
    let out = router.inject(0, request("10.1.0.2", "10.1.0.9"), VnetState::default());
    assert_eq!(out[0].arp().map(|reply| reply.sender_mac), Some(port_mac(0)));
}

#[test]
fn nobody_has_a_broadcast_address() {
    let mut router = Router::new(plain());
    for sender in ["10.1.0.255", "255.255.255.255", "224.0.0.1"] {
        assert_eq!(router.inject(0, request(sender, "10.1.0.1"), VnetState::default()), [], "{sender}");
    }
    expect_counters!(router, Drop(ArpIgnored): 3);
    assert_eq!(router.shared().neighbors(router.snapshot()), []);
}

fn reply(port: u16, sender: &str, target: &str) -> Vec<u8> {
    arp_frame(
        port_mac(port),
        arp::Repr {
            operation: arp::REPLY,
            sender_mac: host_mac(ip(sender)),
            sender_addr: ip(sender),
            target_mac: port_mac(port),
            target_addr: ip(target),
        },
    )
}

#[test]
fn packets_that_wait_leave_by_their_interface_though_another_one_was_removed() {
    let mut router = Router::new(plain().interface("10.3.0.1/24").interface("10.4.0.1/24"));
    router.send(1, &PacketBuilder::ipv4("10.2.0.2", "10.3.0.2").udp(1000, 2000));
    let remove = |row: u32| {
        move |config: &mut tollway_config::dataplane::DataplaneConfig| {
            config.interfaces.retain(|interface| interface.row != row);
            config.addresses.retain(|address| address.interface != row);
        }
    };
    router.reconfigure(remove(1));
    let out = router.inject(2, reply(2, "10.3.0.2", "10.3.0.1"), VnetState::default());
    assert_eq!(out.iter().map(|output| output.to).collect::<Vec<_>>(), [To::Port(2)]);
    assert_eq!(out[0].packet().eth_dst, host_mac(ip("10.3.0.2")));
    // Without its interface a packet ends.
    router.send(1, &PacketBuilder::ipv4("10.2.0.2", "10.3.0.3").udp(1000, 2000));
    router.moved();
    router.reconfigure(remove(3));
    let out = router.advance_ms(2);
    assert!(out.iter().all(|output| output.arp().is_some()), "{out:?}");
    expect_counters!(router, Held: -1, Drop(OutInterfaceDown): 1);
}
