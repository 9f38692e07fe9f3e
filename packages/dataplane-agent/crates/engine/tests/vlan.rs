//! VLANs: which frames belong to which interface, the tags that frames leave with, and what a change of interfaces does
//! to traffic.

use tollway_config::dataplane::{DataplaneConfig, InterfaceKind, RowId, TrackingMode};
use tollway_config::protocol::{PacketDescription, TraceFilter};
use tollway_engine::packet::frame::{Gso, VnetState};
use tollway_engine::snapshot::Snapshot;
use tollway_testkit::packet::{PacketBuilder, arp_frame, ip, tcp_flag};
use tollway_testkit::random::Random;
use tollway_testkit::router::{Output, To, port_facts, port_mac};
use tollway_testkit::{Packet, Router, RouterConfig, expect_counters, rule};
use tollway_wire::arp;

const ALICE: &str = "10.10.0.2";
const BOB: &str = "10.20.0.2";
const ALICE_MAC: &str = "02:01:0a:0a:00:02";
const BOB_MAC: &str = "02:01:0a:14:00:02";

/// `ether1` and VLANs 10 and 20 on it, rows 2 and 3, routed to each other.
fn two_on_one_port() -> RouterConfig {
    RouterConfig::new()
        .interface("10.0.0.1/24")
        .vlan(1, 10, "10.10.0.1/24")
        .vlan(1, 20, "10.20.0.1/24")
        .neighbor(1, "10.0.0.2", "02:01:0a:00:00:02", false)
        .neighbor(2, ALICE, ALICE_MAC, false)
        .neighbor(3, BOB, BOB_MAC, false)
        .with(|config| config.tracking.enabled = TrackingMode::Yes)
}

const fn customer(id: u16) -> [u8; 4] {
    let [high, low] = id.to_be_bytes();
    [0x81, 0, high, low]
}

const fn service(id: u16) -> [u8; 4] {
    let [high, low] = id.to_be_bytes();
    [0x88, 0xa8, high, low]
}

fn tagged(frame: &[u8], tags: &[[u8; 4]]) -> Vec<u8> {
    [&frame[..12], &tags.concat(), &frame[12..]].concat()
}

fn to_port(packet: PacketBuilder, tags: &[[u8; 4]]) -> Vec<u8> {
    tagged(&packet.eth_dst(port_mac(0)).build(), tags)
}

fn send(router: &mut Router, packet: PacketBuilder, tags: &[[u8; 4]]) -> Vec<Output> {
    router.inject(0, to_port(packet, tags), VnetState::default())
}

/// The packet that left by the first port with these tags.
fn read(output: &Output, tags: &[[u8; 4]]) -> Packet {
    let tags = tags.concat();
    assert_eq!(output.to, To::Port(0));
    assert_eq!(&output.bytes[12..12 + tags.len()], tags, "{output:?}");
    let untagged = [&output.bytes[..12], &output.bytes[12 + tags.len()..]].concat();
    Packet::read(&untagged).expect("an IPv4 packet behind these tags")
}

fn udp(src: &str, dst: &str) -> PacketBuilder {
    PacketBuilder::ipv4(src, dst).udp(1000, 2000).payload_len(20)
}

#[test]
fn vlans_of_one_port_are_routed_to_each_other_on_the_fast_path() {
    let mut router = Router::new(two_on_one_port());
    for round in 0..3 {
        let out = send(&mut router, udp(ALICE, BOB), &[customer(10)]);
        let packet = read(&out[0], &[customer(20)]);
        assert_eq!((packet.ttl, packet.checksums_right, packet.eth_src), (63, true, port_mac(0)));
        let back = PacketBuilder::ipv4(BOB, ALICE).udp(2000, 1000);
        let out = send(&mut router, back, &[customer(20)]);
        read(&out[0], &[customer(10)]);
        assert_eq!(out[0].fast, round > 0);
    }
    let out = send(&mut router, udp("10.0.0.2", BOB), &[]);
    read(&out[0], &[customer(20)]);
    let out = send(&mut router, udp(BOB, "10.0.0.2"), &[customer(20)]);
    assert_eq!(out[0].packet().dst.to_string(), "10.0.0.2");
}

#[test]
fn a_frame_belongs_to_the_interface_of_its_tags_alone() {
    // A service VLAN with a customer VLAN inside, beside a customer VLAN of the same number.
    let config = two_on_one_port()
        .service_vlan(1, 10, "10.30.0.1/24")
        .vlan(4, 20, "10.40.0.1/24")
        .filter("forward", rule().in_interface(2).passthrough())
        .filter("forward", rule().in_interface(5).passthrough())
        .filter("forward", rule().passthrough());
    let mut router = Router::new(config);
    let mut counts = [0, 0, 0];
    let priority = |tag: [u8; 4]| [tag[0], tag[1], tag[2] | 0xa0, tag[3]];
    let through: [(&[[u8; 4]], [u64; 3]); 10] = [
        (&[], [0, 0, 1]),
        (&[customer(10)], [1, 0, 1]),
        (&[priority(customer(10))], [1, 0, 1]),
        (&[customer(20)], [0, 0, 1]),
        (&[customer(0)], [0, 0, 1]),
        (&[service(10), customer(20)], [0, 1, 1]),
        // Tags that give a priority alone, before, between and behind those of a VLAN.
        (&[customer(0), customer(10)], [1, 0, 1]),
        (&[customer(0), service(0)], [0, 0, 1]),
        (&[customer(10), customer(0)], [1, 0, 1]),
        (&[service(0), service(10), customer(0), customer(20)], [0, 1, 1]),
    ];
    for (tags, add) in through {
        let out = send(&mut router, udp("192.0.2.9", BOB), tags);
        assert_eq!(out.len(), 1, "{tags:?}");
        read(&out[0], &[customer(20)]);
        for (at, add) in add.into_iter().enumerate() {
            counts[at] += add;
            assert_eq!(router.rule(1000 + at as u32).0, counts[at], "{tags:?}");
        }
    }
    router.moved();
    let dropped: [&[[u8; 4]]; 11] = [
        &[customer(11)],
        &[service(20)],
        &[customer(10), customer(10)],
        &[customer(10), service(20)],
        &[customer(20), customer(20)],
        &[service(10), customer(10)],
        &[service(10), service(20)],
        &[customer(0), customer(11)],
        &[customer(0), service(20)],
        &[customer(4095)],
        &[service(10), customer(20), customer(20)],
    ];
    for tags in dropped {
        assert_eq!(send(&mut router, udp("192.0.2.9", BOB), tags), [], "{tags:?}");
        expect_counters!(router, Drop(VlanTagged): 1);
    }
    // A frame that ends in its tag.
    router.moved();
    let short = to_port(udp(ALICE, BOB), &[customer(10)])[..15].to_vec();
    assert_eq!(router.inject(0, short, VnetState::default()), []);
    expect_counters!(router, Drop(VlanTagged): 1);
}

/// Stacks of tags at random, of either kind, with VIDs that exist at another place, and with the priority tags that may
/// stand anywhere: a frame reaches the interface that was configured for just these tags, or none.
#[test]
fn no_frame_reaches_an_interface_by_tags_that_it_was_not_configured_for() {
    let mut config = two_on_one_port()
        .service_vlan(1, 10, "10.30.0.1/24")
        .vlan(4, 20, "10.40.0.1/24")
        .vlan(1, 30, "")
        .vlan(6, 10, "")
        .vrf(7, &[6, 7]);
    for row in 1..=7 {
        config = config.mangle("prerouting", rule().in_interface(row).passthrough());
    }
    let configured: [(&[[u8; 4]], RowId); 7] = [
        (&[], 1),
        (&[customer(10)], 2),
        (&[customer(20)], 3),
        (&[service(10)], 4),
        (&[service(10), customer(20)], 5),
        (&[customer(30)], 6),
        (&[customer(30), customer(10)], 7),
    ];
    let mut router = Router::new(config);
    let random = &mut Random::new(0x8021);
    let (mut reached, mut lost) = ([0; 7], 0);
    for _ in 0..4000 {
        let tag = |random: &mut Random| {
            let id = [0, 0, 10, 10, 20, 20, 30, 11, 4095][random.below(9) as usize]
                | (random.below(16) as u16) << 12;
            if random.below(3) == 0 { service(id) } else { customer(id) }
        };
        let tags: Vec<[u8; 4]> = (0..random.below(5)).map(|_| tag(random)).collect();
        let meant: Vec<[u8; 4]> = tags
            .iter()
            .map(|[a, b, high, low]| [*a, *b, high & 0x0f, *low])
            .filter(|[_, _, high, low]| (*high, *low) != (0, 0))
            .collect();
        let expected = configured.iter().find(|(tags, _)| *tags == meant).map(|(_, row)| *row);
        let counts = |router: &Router| [0, 1, 2, 3, 4, 5, 6].map(|at| router.rule(1000 + at).0);
        let before = counts(&router);
        router.moved();
        send(&mut router, udp("192.0.2.9", BOB), &tags);
        let after = counts(&router);
        let seen: Vec<RowId> =
            (1..=7).filter(|row| after[*row as usize - 1] != before[*row as usize - 1]).collect();
        assert_eq!(seen, Vec::from_iter(expected), "{tags:x?}");
        match expected {
            Some(row) => reached[row as usize - 1] += 1,
            None => {
                expect_counters!(router, Drop(VlanTagged): 1);
                lost += 1;
            }
        }
    }
    assert!(reached.iter().all(|count| *count > 5) && lost > 1000, "{reached:?} {lost}");
}

#[test]
fn arp_of_a_vlan_is_asked_and_answered_with_its_tag() {
    let mut router = Router::new(two_on_one_port().service_vlan(1, 7, "").vlan(4, 8, "10.78.0.1/24"));
    let tags = [service(7), customer(8)];
    let out = send(&mut router, udp(ALICE, "10.78.0.9"), &[customer(10)]);
    assert_eq!(&out[0].bytes[12..22], [&tags.concat()[..], &[8, 6]].concat());
    assert_eq!(&out[0].bytes[..6], &[0xff; 6]);
    let host = [2, 1, 10, 78, 0, 9];
    let answer = |operation, target_mac| arp::Repr {
        operation,
        sender_mac: host,
        sender_addr: ip("10.78.0.9"),
        target_mac,
        target_addr: ip("10.78.0.1"),
    };
    // Not by the tag of another VLAN, and not without one.
    for wrong in [&[][..], &[customer(10)], &[service(7)]] {
        let reply = arp_frame(port_mac(0), answer(arp::REPLY, port_mac(0)));
        assert_eq!(router.inject(0, tagged(&reply, wrong), VnetState::default()), []);
    }
    let reply = arp_frame(port_mac(0), answer(arp::REPLY, port_mac(0)));
    let out = router.inject(0, tagged(&reply, &tags), VnetState::default());
    let packet = read(out.first().expect("the packet that waited"), &tags);
    assert_eq!(packet.eth_dst, host);
    let request = arp_frame([0xff; 6], answer(arp::REQUEST, [0; 6]));
    let out = router.inject(0, tagged(&request, &tags), VnetState::default());
    assert_eq!((&out[0].bytes[..6], &out[0].bytes[12..20]), (&host[..], &tags.concat()[..]));
}

#[test]
fn super_frames_pass_between_port_and_vlan_and_fragments_get_each_their_tags() {
    let mut router = Router::new(two_on_one_port());
    let segment = |flags, seq, ack, len| {
        PacketBuilder::ipv4(ALICE, BOB).tcp(1000, 80, flags, seq, ack).payload_len(len)
    };
    send(&mut router, segment(tcp_flag::SYN, 100, 0, 0), &[customer(10)]);
    let answer = PacketBuilder::ipv4(BOB, ALICE).tcp(80, 1000, tcp_flag::SYN | tcp_flag::ACK, 500, 101);
    send(&mut router, answer, &[customer(20)]);
    send(&mut router, segment(tcp_flag::ACK, 101, 501, 0), &[customer(10)]);
    let vnet = VnetState {
        needs_csum: true,
        gso: Gso::Tcp4,
        gso_size: 1000,
        hdr_len: 58,
        csum_start: 38,
        csum_offset: 16,
        ..VnetState::default()
    };
    let frame = to_port(segment(tcp_flag::ACK, 101, 501, 20_000), &[customer(10)]);
    let out = router.inject(0, frame.clone(), vnet);
    assert_eq!((out[0].fast, out[0].segments, out[0].vnet), (true, 20, vnet));
    assert_eq!((&out[0].bytes[12..18], out[0].bytes.len()), (&[0x81, 0, 0, 20, 8, 0][..], frame.len()));
    // To the untagged interface, where headers begin four bytes earlier.
    let mut router = Router::new(two_on_one_port());
    let udp_super = VnetState { gso: Gso::Udp, hdr_len: 46, csum_offset: 6, ..vnet };
    let datagrams = PacketBuilder::ipv4(ALICE, "10.0.0.2").udp(1, 2).payload_len(4000);
    let out = router.inject(0, to_port(datagrams.clone(), &[customer(10)]), udp_super);
    assert_eq!((out[0].vnet.csum_start, out[0].vnet.hdr_len, out[0].segments), (34, 42, 4));
    assert_eq!(out[0].bytes[12..14], [8, 0]);
    // Fragments, which the router makes for a smaller MTU and passes on.
    router.reconfigure(|config| config.interfaces[2].mtu = 600);
    let large = PacketBuilder::ipv4(ALICE, BOB).udp(1, 2).payload_len(1400).dont_fragment(false);
    let out = send(&mut router, large, &[customer(10)]);
    assert_eq!(out.len(), 3);
    for piece in &out {
        assert_eq!(read(piece, &[customer(20)]).dst.to_string(), BOB);
    }
    let mut pieces = 0;
    for fragment in PacketBuilder::ipv4(ALICE, BOB).udp(1, 2).payload_len(1000).ident(9).build_fragments(400)
    {
        let mut frame = tagged(&fragment, &[customer(10)]);
        frame[..6].copy_from_slice(&port_mac(0));
        pieces += router.inject(0, frame, VnetState::default()).len();
    }
    assert_eq!(pieces, 3);
}

#[test]
fn the_mtu_of_a_vlan_is_what_the_interfaces_below_can_carry() {
    let config = two_on_one_port()
        .service_vlan(1, 10, "")
        .vlan(4, 10, "")
        .vlan(2, 30, "")
        .with(|config| config.interfaces[2].mtu = 1400);
    let router = Router::new(config);
    let mtus: Vec<u16> = router.snapshot().interfaces().iter().map(|interface| interface.mtu).collect();
    // A port has room for one customer tag beside its MTU.
    assert_eq!(mtus, [1500, 1500, 1400, 1496, 1492, 1496]);
    let mut router = router;
    let out = send(&mut router, PacketBuilder::ipv4(ALICE, BOB).udp(1, 2).payload_len(1400), &[customer(10)]);
    assert_eq!(read(&out[0], &[customer(10)]).icmp, Some((3, 4)));
}

#[test]
fn vlans_go_up_and_down_with_what_is_below_and_disabled_ones_take_nothing() {
    let mut router = Router::new(two_on_one_port().vlan(2, 30, "10.30.0.1/24"));
    let up = |router: &Router| -> Vec<bool> {
        router.snapshot().interfaces().iter().map(|interface| interface.up).collect()
    };
    assert_eq!(up(&router), [true; 4]);
    router.reconfigure(|config| config.interfaces[1].disabled = true);
    assert_eq!(up(&router), [true, false, true, false]);
    router.moved();
    for tags in [&[customer(10)][..], &[customer(10), customer(30)]] {
        assert_eq!(send(&mut router, udp(ALICE, BOB), tags), []);
        expect_counters!(router, Drop(InterfaceDisabled): 1);
    }
    router.reconfigure(|config| config.interfaces[1].disabled = false);
    router.carrier(0, false);
    assert_eq!(up(&router), [false; 4]);
    router.carrier(0, true);
    assert_eq!(send(&mut router, udp(ALICE, BOB), &[customer(10)]).len(), 1);
}

#[test]
fn interfaces_that_come_and_go_leave_the_traffic_of_others_alone() {
    for workers in [1, 3] {
        let mut router = Router::with_workers(two_on_one_port(), workers);
        let pass = |router: &mut Router, tag: u16| {
            for worker in 0..workers as usize {
                let frame = to_port(udp(ALICE, BOB), &[customer(10)]);
                let out = router.inject_batch(worker, vec![(0, frame, VnetState::default())]);
                assert_eq!(out.len(), 1, "{} at worker {worker}: {:?}", router.describe(), router.moved());
                read(&out[0], &[customer(tag)]);
            }
        };
        pass(&mut router, 20);
        for round in 0..20 {
            // Rows and numbers move: another VLAN comes before the others, and goes.
            router.reconfigure(|config| {
                let mut other = config.interfaces[1].clone();
                other.row = 100 + round;
                other.kind =
                    InterfaceKind::Vlan { parent: 1, vlan_id: 100 + round as u16, service_tag: false };
                config.interfaces.insert(0, other);
            });
            pass(&mut router, 20);
            router.reconfigure(|config| {
                config.interfaces.remove(0);
                config.interfaces.reverse();
            });
            pass(&mut router, 20);
        }
        assert_eq!(router.connections().len(), 1);
        // The same row with another tag: at once, by the connection that is there.
        let number = |config: &mut DataplaneConfig, id| {
            let bob = config.interfaces.iter_mut().find(|interface| interface.row == 3).expect("row 3");
            bob.kind = InterfaceKind::Vlan { parent: 1, vlan_id: id, service_tag: false };
        };
        router.reconfigure(|config| number(config, 21));
        pass(&mut router, 21);
        router.moved();
        assert_eq!(send(&mut router, udp(BOB, ALICE), &[customer(20)]), []);
        expect_counters!(router, Drop(VlanTagged): 1);
    }
}

#[test]
fn packets_that_wait_for_a_vlan_that_was_removed_never_leave_by_another() {
    let config = two_on_one_port().with(|config| {
        config.simple_queues = vec![tollway_testkit::queue(7000, &["10.20.0.0/24"], 0, 100_000)];
    });
    let mut router = Router::new(config);
    let mut left = 0;
    for ident in 0..60 {
        let packet = PacketBuilder::ipv4(ALICE, BOB).udp(1, 2).payload_len(1000).ident(ident);
        left += send(&mut router, packet, &[customer(10)]).len();
    }
    assert!(left < 60, "some wait");
    router.reconfigure(|config| {
        config.interfaces[2].row = 9;
        config.interfaces[2].kind = InterfaceKind::Vlan { parent: 1, vlan_id: 99, service_tag: false };
        config.addresses.retain(|address| address.interface != 3);
        config.neighbors.retain(|neighbor| neighbor.interface != 3);
        config.simple_queues.clear();
    });
    let out = router.advance_ms(10_000);
    assert_eq!(out, [], "{left} left before");
}

#[test]
fn services_in_the_router_namespace_reach_vlans_and_are_reached() {
    let mut router = Router::new(two_on_one_port());
    let out = send(&mut router, udp(ALICE, "10.10.0.1"), &[customer(10)]);
    assert_eq!((out[0].to, &out[0].bytes[12..14]), (To::Local(2), &[8, 0][..]));
    // Also to an address of another interface: by the TAP of the one that it came by.
    let out = send(&mut router, udp(ALICE, "10.20.0.1"), &[customer(10)]);
    assert_eq!(out[0].to, To::Local(2));
    let answer = PacketBuilder::ipv4("10.10.0.1", ALICE).udp(2000, 1000).build();
    let out = router.send_local_by(0, 2, &answer[14..]);
    read(&out[0], &[customer(10)]);
    assert!(out[0].own);
    let out = send(&mut router, PacketBuilder::ipv4(BOB, "10.20.0.1").echo_request(1, 1), &[customer(20)]);
    assert_eq!(read(&out[0], &[customer(20)]).icmp, Some((0, 0)));
}

#[test]
fn received_packets_count_at_each_layer_without_its_tags() {
    let mut router = Router::new(two_on_one_port().service_vlan(1, 10, "").vlan(4, 20, "10.40.0.1/24"));
    let frame = to_port(udp("10.40.0.2", BOB), &[service(10), customer(20)]);
    let len = frame.len() as u64;
    router.inject(0, frame, VnetState::default());
    let received = router.received_with_tags();
    assert_eq!(received, [(4, (1, len - 4)), (5, (1, len - 8))]);
}

#[test]
fn a_described_packet_and_a_trace_name_the_vlan() {
    let mut router = Router::new(two_on_one_port());
    let description = PacketDescription {
        in_interface: Some(2),
        src_address: "10.10.0.2".parse().unwrap(),
        dst_address: "10.20.0.2".parse().unwrap(),
        protocol: 17,
        src_port: 1000,
        dst_port: 2000,
        icmp_type: 0,
        icmp_code: 0,
        tcp_flags: 0,
        length: 48,
        ttl: 64,
    };
    let dry = router.dry_run(&description).expect("a possible packet");
    assert_eq!((dry.in_interface, dry.out_interface), (2, 3), "{dry:?}");
    let trace = router.start_trace(&TraceFilter::default());
    send(&mut router, udp(ALICE, BOB), &[customer(10)]);
    let traced = router.traced(trace);
    let ways: Vec<_> = traced.packets.iter().map(|it| (it.in_interface, it.out_interface)).collect();
    assert_eq!(ways, [(2, 3)], "{traced:?}");
}

#[test]
fn what_cannot_work_is_refused_by_the_row() {
    let refused = |change: &dyn Fn(&mut DataplaneConfig)| -> (Option<RowId>, String) {
        let mut config = two_on_one_port().config;
        change(&mut config);
        let error = Snapshot::build(&config, &port_facts(1), 1, 1).expect_err("refused");
        (error.row, error.message)
    };
    let vlan = |parent, vlan_id| InterfaceKind::Vlan { parent, vlan_id, service_tag: false };
    for (kind, says) in [
        (vlan(1, 0), "1 to 4094"),
        (vlan(1, 4095), "1 to 4094"),
        (vlan(1, 10), "another VLAN"),
        (vlan(77, 10), "row 77"),
        (vlan(3, 10), "on itself"),
    ] {
        let (row, message) = refused(&|config| config.interfaces[2].kind = kind.clone());
        assert!(row == Some(3) && message.contains(says), "{kind:?}: {row:?} {message}");
    }
    let (row, message) = refused(&|config| {
        config.interfaces[1].kind = vlan(3, 1);
        config.interfaces[2].kind = vlan(2, 1);
    });
    assert!(row == Some(2) && message.contains("on itself"), "{message}");
}
