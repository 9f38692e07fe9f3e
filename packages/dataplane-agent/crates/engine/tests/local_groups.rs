//! Broadcast and multicast between services in the router namespace and the links: the interface of the TAP counts.

use tollway_testkit::config::rule;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::{Output, To, port_mac};
use tollway_testkit::{Router, RouterConfig};

const ALL: &str = "255.255.255.255";
const OSPF: u8 = 89;

fn two_links() -> RouterConfig {
    RouterConfig::new().interface("10.1.0.1/24").interface("10.2.0.1/24")
}

/// With a rule, so that connections are tracked and have a worker.
fn tracking() -> RouterConfig {
    two_links().filter("output", rule().passthrough())
}

fn left_by(out: &[Output]) -> Vec<To> {
    out.iter().map(|output| output.to).collect()
}

fn offer(from: &str) -> PacketBuilder {
    PacketBuilder::ipv4(from, ALL).udp(67, 68).payload_len(300)
}

fn hello(from: &str) -> PacketBuilder {
    PacketBuilder::ipv4(from, "224.0.0.5").protocol(OSPF).ttl(1).payload_len(44)
}

#[test]
fn they_leave_by_the_interface_of_the_tap_with_the_group_as_link_layer_destination() {
    for workers in [1, 2] {
        let mut router = Router::with_workers(tracking(), workers);
        for worker in 0..workers as usize {
            for tap in [1, 2] {
                let own = format!("10.{tap}.0.1");
                let out = router.send_local_by(worker, tap, &offer(&own).build_l3());
                assert_eq!(
                    left_by(&out),
                    [To::Port(tap as u16 - 1)],
                    "worker {worker} of {workers}, TAP {tap}"
                );
                assert_eq!(out[0].packet().eth_dst, [0xff; 6]);
                assert_eq!(out[0].packet().eth_src, port_mac(tap as u16 - 1));

                let out = router.send_local_by(worker, tap, &hello(&own).build_l3());
                assert_eq!(
                    left_by(&out),
                    [To::Port(tap as u16 - 1)],
                    "worker {worker} of {workers}, TAP {tap}"
                );
                assert_eq!(out[0].packet().eth_dst, [0x01, 0x00, 0x5e, 0, 0, 5]);
                assert_eq!(out[0].packet().ttl, 1);
            }
        }
    }
}

#[test]
fn the_highest_bit_of_the_group_is_not_in_its_link_layer_address() {
    let mut router = Router::new(two_links());
    let announcement = PacketBuilder::ipv4("10.1.0.1", "239.255.255.250").udp(1900, 1900);
    let out = router.send_local_by(0, 2, &announcement.build_l3());
    assert_eq!(left_by(&out), [To::Port(1)]);
    assert_eq!(out[0].packet().eth_dst, [0x01, 0x00, 0x5e, 0x7f, 0xff, 0xfa]);
}

#[test]
fn they_wait_between_workers_while_interfaces_get_other_numbers() {
    let mut router = Router::with_workers(tracking(), 2);
    router.delay_handovers = true;
    let (mut sent, mut waiting) = (0, 0);
    for number in 1..=16 {
        let packet = PacketBuilder::ipv4("10.2.0.1", &format!("239.0.0.{number}")).udp(2000, 2000);
        let out = router.send_local_by(0, 2, &packet.build_l3());
        assert!(out.iter().all(|output| output.to == To::Port(1)));
        sent += out.len();
        waiting += 1 - out.len();
    }
    assert!(sent > 0 && waiting > 0, "{sent} {waiting}");
    router.reconfigure(|config| config.interfaces.reverse());
    let out = router.deliver_handovers(waiting);
    assert_eq!(left_by(&out), vec![To::Port(1); waiting]);
}

#[test]
fn they_reach_the_tap_of_the_interface_they_came_by() {
    let mut router = Router::new(two_links());
    for port in [0, 1] {
        let neighbor = format!("10.{}.0.2", port + 1);
        let discover = PacketBuilder::ipv4("0.0.0.0", ALL).udp(68, 67).eth_dst([0xff; 6]);
        let hello = hello(&neighbor).eth_dst([0x01, 0x00, 0x5e, 0, 0, 5]);
        for packet in [discover, hello] {
            let out = router.inject(port, packet.build(), Default::default());
            assert_eq!(left_by(&out), [To::Local(u32::from(port) + 1)]);
        }
    }
}

#[test]
fn input_and_output_see_the_interface() {
    let config = two_links()
        .filter("output", rule().out_interface(2).drop())
        .filter("input", rule().in_interface(1).drop());
    let mut router = Router::new(config);
    assert_eq!(left_by(&router.send_local_by(0, 1, &hello("10.1.0.1").build_l3())), [To::Port(0)]);
    assert_eq!(left_by(&router.send_local_by(0, 2, &hello("10.2.0.1").build_l3())), []);
    assert_eq!(left_by(&router.send_local_by(0, 1, &offer("10.1.0.1").build_l3())), [To::Port(0)]);
    assert_eq!(left_by(&router.send_local_by(0, 2, &offer("10.2.0.1").build_l3())), []);
    let group = [0x01, 0x00, 0x5e, 0, 0, 5];
    assert_eq!(router.inject(0, hello("10.1.0.2").eth_dst(group).build(), Default::default()), []);
    let out = router.inject(1, hello("10.2.0.2").eth_dst(group).build(), Default::default());
    assert_eq!(left_by(&out), [To::Local(2)]);
}

#[test]
fn the_answer_of_one_host_is_not_the_reply_to_what_went_to_all() {
    // What is new from ether2 is dropped.
    let new = rule().in_interface(2).state(&[tollway_config::dataplane::ConnectionState::New]);
    let mut router = Router::new(two_links().filter("input", new.drop()));
    let question = PacketBuilder::ipv4("10.2.0.1", ALL).udp(5000, 5000);
    assert_eq!(left_by(&router.send_local_by(0, 2, &question.build_l3())), [To::Port(1)]);
    assert_eq!(router.send(1, &PacketBuilder::ipv4("10.2.0.2", "10.2.0.1").udp(5000, 5000)), []);
    assert_eq!(router.connections().iter().filter(|conn| conn.counts[1].0 > 0).count(), 0);
}

#[test]
fn who_has_no_address_yet_is_given_none_by_source_nat() {
    let mut router = Router::new(two_links().nat("srcnat", rule().out_interface(2).masquerade()));
    let discover = PacketBuilder::ipv4("0.0.0.0", ALL).udp(68, 67);
    let out = router.send_local_by(0, 2, &discover.build_l3());
    assert_eq!(left_by(&out), [To::Port(1)]);
    assert_eq!(out[0].packet().src.to_string(), "0.0.0.0");
    assert_eq!(out[0].packet().ports, (68, 67));
}

#[test]
fn without_an_interface_of_that_row_they_are_dropped() {
    let mut router = Router::new(two_links());
    assert_eq!(router.send_local_by(0, 77, &offer("10.1.0.1").build_l3()), []);
}

#[test]
fn what_the_router_makes_is_told_apart_from_what_it_forwards_also_behind_a_queue() {
    for queued in [false, true] {
        let config = tracking();
        let config = if queued { config.queue(&["10.1.0.0/24"], 80_000, 80_000) } else { config };
        let mut router = Router::new(config).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2"]);
        let mut forwarded = Vec::new();
        let mut own = Vec::new();
        for number in 0..20 {
            let there = PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").udp(1000, 2000).payload_len(400);
            forwarded.extend(router.send(0, &there));
            let service = PacketBuilder::ipv4("10.1.0.1", "10.1.0.2").udp(53, 1000).payload_len(400);
            own.extend(router.send_local(&service.build_l3()));
            let ping = PacketBuilder::ipv4("10.1.0.2", "10.1.0.1").echo_request(7, number).payload_len(400);
            own.extend(router.send(0, &ping));
        }
        let later = router.advance_ms(10_000);
        assert_eq!(!later.is_empty(), queued, "{} later", later.len());
        assert!(own.iter().all(|output| output.own), "queued: {queued}");
        assert!(forwarded.iter().all(|output| !output.own), "queued: {queued}");
        for output in later {
            let is_own = output.packet().dst == std::net::Ipv4Addr::new(10, 1, 0, 2);
            assert_eq!(output.own, is_own, "{:?}", output.packet());
        }
    }
}

#[test]
fn an_answer_to_who_has_no_address_yet_goes_to_the_station_that_the_service_names() {
    let station = [0x9a, 0x10, 0x67, 0x5c, 0x6d, 0x96];
    let to = |address: &str| PacketBuilder::ipv4("10.2.0.1", address).udp(67, 68);
    for workers in [1, 2] {
        let mut router = Router::with_workers(tracking(), workers);
        for worker in 0..workers as usize {
            let out = router.send_local_to(worker, 2, station, &to("10.2.0.77").build_l3());
            assert_eq!(left_by(&out), [To::Port(1)], "worker {worker} of {workers}");
            assert_eq!(out[0].packet().eth_dst, station);
            assert_eq!(out[0].packet().eth_src, port_mac(1));
        }
        // What leaves by another interface is not meant by it, and what names no station is asked for.
        for (station, address) in [(station, "10.1.0.77"), ([0; 6], "10.2.0.78"), ([0xff; 6], "10.2.0.79")] {
            let out = router.send_local_to(0, 2, station, &to(address).build_l3());
            let asked = out.iter().all(|output| output.arp().is_some());
            assert!(!out.is_empty() && asked, "{station:?} {address}: {out:?}");
        }
    }
}
