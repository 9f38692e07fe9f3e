//! An outside tuple belongs to one connection, whichever workers take part, and ports run out only when all are taken.

#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use tollway_config::dataplane::{Action, ConnectionState, PortRange};
use tollway_engine::EngineLimits;
use tollway_engine::packet::frame::VnetState;
use tollway_engine::packet::tuple::{Addr, Tuple, steer};
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::random::Random;
use tollway_testkit::router::{LIMITS, Output, To, port_mac};
use tollway_testkit::{Router, RouterConfig, rule, seeds};

const SERVER: &str = "203.0.113.5";
const OTHER_SERVER: &str = "203.0.113.6";
const OUTSIDE: &str = "10.2.0.1";
/// Ports of the class from 1024 on.
const PORTS: usize = 64_512;
/// 99 percent of them.
const MOST_PORTS: usize = 63_867;

/// Hosts of 172.16.0.0/12 behind another router of the LAN.
fn config() -> RouterConfig {
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .neighbor(1, "192.168.88.10", "02:01:0a:01:00:02", false)
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:02", false)
        .route("172.16.0.0/12", "192.168.88.10")
        .route("0.0.0.0/0", "10.2.0.254")
        .with(|config| config.tracking.max_entries = 1 << 20)
}

fn masquerading() -> RouterConfig {
    config().nat("srcnat", rule().out_interface(2).masquerade())
}

fn to_ports(from: u16, to: u16) -> Action {
    Action::Masquerade { to_ports: Some(PortRange { from, to }), randomise_ports: false }
}

fn router(config: RouterConfig, workers: u32) -> Router {
    Router::with_limits(config, workers, EngineLimits { max_connections: 1 << 17, ..LIMITS })
}

type Host = (Ipv4Addr, u16);

fn host(number: u32, port: u16) -> Host {
    (Ipv4Addr::from_bits(0xac10_0000 + number), port)
}

fn frame(port: u16, packet: PacketBuilder) -> (u16, Vec<u8>, VnetState) {
    (port, packet.eth_dst(port_mac(port)).build(), VnetState::default())
}

fn request((address, port): Host, server: &str) -> (u16, Vec<u8>, VnetState) {
    frame(0, PacketBuilder::ipv4(&address.to_string(), server).udp(port, 53))
}

fn answer(port: u16) -> (u16, Vec<u8>, VnetState) {
    frame(1, PacketBuilder::ipv4(SERVER, OUTSIDE).udp(53, port))
}

fn home((address, port): Host, workers: u32) -> u32 {
    let (src, dst) = (Addr::v4(address.to_bits()), Addr::v4(tollway_testkit::packet::ip(SERVER)));
    steer(&Tuple { src, dst, src_port: port, dst_port: 53, protocol: 17, icmp: 0, zone: 0 }, workers)
}

/// Ports that packets to the server left with.
fn left_with(sent: &[Output]) -> Vec<u16> {
    sent.iter().filter(|output| output.to == To::Port(1)).map(|output| output.packet().ports.0).collect()
}

/// No two connections share a reply tuple. Gives the hosts by outside port.
fn by_port(router: &Router) -> BTreeMap<u16, Host> {
    let mut hosts = BTreeMap::new();
    let mut replies = BTreeSet::new();
    for connection in router.connections() {
        let [src, _, reply_src, reply_dst] = connection.endpoints;
        assert!(replies.insert((connection.protocol, reply_src, reply_dst)), "given twice: {connection:?}");
        hosts.insert(reply_dst.1, src);
    }
    hosts
}

/// Answers to some outside ports reach the hosts that have them, whoever receives the answers.
fn check_answers(router: &mut Router, random: &mut Random, ports: &[u16]) {
    let hosts = by_port(router);
    for ports in ports.chunks(200) {
        let worker = random.below(router.workers() as u64) as usize;
        let sent = router.inject_batch(worker, ports.iter().map(|port| answer(*port)).collect());
        let reached: BTreeSet<Host> = sent
            .iter()
            .inspect(|output| assert_eq!(output.to, To::Port(0)))
            .map(|output| (output.packet().dst, output.packet().ports.1))
            .collect();
        assert_eq!(reached, ports.iter().map(|port| hosts[port]).collect());
    }
}

#[test]
fn one_outside_port_for_two_hosts_is_given_once() {
    seeds(1).for_each(one_outside_port_is_given_once);
}

fn one_outside_port_is_given_once(seed: u64) {
    let mut random = Random::new(seed);
    for workers in [1, 2, 4, 8] {
        for port in 5000..5032 {
            let nat = rule().out_interface(2).then(to_ports(4000, 4000));
            let mut router = router(config().nat("srcnat", nat), workers);
            // Inside ports that are steered to different workers, and to the one that the answers are steered to.
            let sent: Vec<Output> = (0..4)
                .flat_map(|number| {
                    router.inject_batch(0, vec![request(host(number, port + number as u16), SERVER)])
                })
                .collect();
            assert_eq!(left_with(&sent), [4000], "seed {seed}, {workers} workers, port {port}");
            check_answers(&mut router, &mut random, &[4000]);
            // Another destination has its own.
            let sent = router.inject_batch(0, vec![request(host(9, port), OTHER_SERVER)]);
            assert_eq!(left_with(&sent), [4000]);
        }
    }
}

/// Which inside ports the flows have.
#[derive(Debug, Clone, Copy)]
enum Inside {
    /// Any.
    Any,
    /// Few, as when many hosts have just been started.
    Few,
    /// Such that all first packets are steered to one worker.
    OneWorker,
}

/// Hosts with flows to the server that differ.
fn flows(mut random: Random, inside: Inside, workers: u32) -> impl Iterator<Item = Host> {
    let mut known = BTreeSet::new();
    std::iter::repeat_with(move || {
        let port = match inside {
            Inside::Few => 40_000 + random.below(2_000) as u16,
            Inside::Any | Inside::OneWorker => 1024 + random.below(PORTS as u64) as u16,
        };
        host(random.below(1 << 20) as u32, port)
    })
    .filter(move |host| !matches!(inside, Inside::OneWorker) || home(*host, workers) == 0)
    .filter(move |host| known.insert(*host))
}

#[test]
fn all_ports_to_one_destination_can_be_had_with_any_number_of_workers() {
    seeds(1).for_each(all_ports_can_be_had);
}

fn all_ports_can_be_had(seed: u64) {
    for (workers, inside) in [(1, Inside::Any), (2, Inside::Any), (4, Inside::Few), (8, Inside::OneWorker)] {
        let mut router = router(masquerading(), workers);
        let mut random = Random::new(seed);
        let hosts: Vec<Host> = flows(Random::new(!seed), inside, workers).take(PORTS).collect();
        let mut ports = BTreeSet::new();
        for hosts in hosts.chunks(200) {
            let worker = random.below(u64::from(workers)) as usize;
            let frames = hosts.iter().map(|host| request(*host, SERVER)).collect();
            for port in left_with(&router.inject_batch(worker, frames)) {
                assert!(
                    port >= 1024 && ports.insert(port),
                    "seed {seed}, {workers} workers: {port} was given twice, {} are taken",
                    ports.len()
                );
            }
        }
        println!("seed {seed}, {workers} workers, {inside:?}: {} of {PORTS} flows have a port", ports.len());
        assert!(
            ports.len() >= MOST_PORTS,
            "seed {seed}, {workers} workers, {inside:?}: {} ports",
            ports.len()
        );
        check_answers(&mut router, &mut random, &ports.iter().copied().collect::<Vec<_>>());
    }
}

/// Connections come and go at random workers, with nearly all ports taken all the time.
#[test]
fn outside_tuples_stay_unique_while_connections_come_and_go() {
    seeds(1).for_each(outside_tuples_stay_unique);
}

fn outside_tuples_stay_unique(seed: u64) {
    for workers in [2, 4, 8] {
        // Two ranges of the same space: 200 ports, and all of the class.
        let few = rule().src("172.16.0.0/20").out_interface(2).then(to_ports(20_000, 20_199));
        let config = config().nat("srcnat", few).nat("srcnat", rule().out_interface(2).masquerade());
        let mut router = router(config, workers);
        let mut random = Random::new(seed);
        let mut hosts = flows(Random::new(!seed), Inside::Any, workers);
        let (mut refused, mut opened) = (0, 0);
        for round in 0..7 {
            let offered = if round == 0 { 62_000 } else { 12_000 };
            for chunk in hosts.by_ref().take(offered).collect::<Vec<_>>().chunks(200) {
                let frames = chunk
                    .iter()
                    .map(|&(address, port)| match random.below(16) {
                        0 => host(address.to_bits() & 0xfff, port),
                        _ => (address, port),
                    })
                    .map(|host| request(host, SERVER));
                let frames: Vec<_> = frames.collect();
                let worker = random.below(u64::from(workers)) as usize;
                let sent = left_with(&router.inject_batch(worker, frames));
                opened += sent.len();
                refused += chunk.len() - sent.len();
            }
            let ports = by_port(&router);
            assert!(ports.len() <= PORTS);
            let (few, many) = (ports.range(20_000..20_200).count(), ports.len());
            // All are taken when more were offered than there were.
            assert!(
                round < 4 || (few, many) == (200, PORTS),
                "seed {seed}, {workers} workers, round {round}: {few}, {many}"
            );
            let some: Vec<u16> = ports.keys().copied().filter(|_| random.one_in(20)).collect();
            check_answers(&mut router, &mut random, &some);
            let gone: Vec<u64> = router
                .connections()
                .iter()
                .map(|connection| connection.id)
                .filter(|_| random.one_in(8))
                .collect();
            gone.iter().for_each(|id| assert!(router.remove_connection(*id)));
        }
        println!("seed {seed}, {workers} workers: {opened} flows opened, {refused} refused");
        assert!(refused > 1_000);
        let all: Vec<u64> = router.connections().iter().map(|connection| connection.id).collect();
        all.iter().for_each(|id| assert!(router.remove_connection(*id)));
        assert!(router.shared().directory().is_empty());
    }
}

/// A port forward that changes the port, and a source NAT to one port: nearly all of their flows move.
fn moving() -> RouterConfig {
    config()
        .filter("forward", rule().state(&[ConnectionState::New]).log("new").passthrough())
        .nat("dstnat", rule().in_interface(2).protocol(17).dst_port(8080).dst_nat("192.168.88.10", 80))
        .nat("dstnat", rule().in_interface(2).protocol(17).dst_port(8081).dst_nat("192.168.88.10", 80))
        .nat("srcnat", rule().out_interface(2).then(to_ports(4000, 4000)))
}

fn inbound(port: u16, forwarded: u16) -> PacketBuilder {
    PacketBuilder::ipv4(SERVER, OUTSIDE).udp(port, forwarded)
}

#[test]
fn rules_are_asked_once_for_packets_of_a_flow_that_moves() {
    for workers in [1, 2, 4] {
        let mut router = router(moving(), workers);
        let mut moved = 0;
        for port in 5000..5016 {
            router.reset_counters(&[]);
            let _before = router.shared().log.take();
            let slow = |router: &Router| router.slow().values().sum::<u64>();
            let before = slow(&router);
            // All in one batch.
            let packets = (0..5).map(|ident| frame(1, inbound(port, 8080).ident(ident)));
            let sent = router.inject_batch(0, packets.collect());
            let idents: Vec<u8> = sent.iter().map(|output| output.bytes[19]).collect();
            assert_eq!(idents, [0, 1, 2, 3, 4], "{workers} workers, port {port}");
            let to = |output: &Output| (output.packet().dst.to_string(), output.packet().ports);
            assert!(sent.iter().all(|output| to(output) == ("192.168.88.10".into(), (port, 80))));
            assert_eq!((router.rule(1000).0, router.rule(1001).0, router.rule(1002).0), (5, 1, 0));
            assert_eq!((router.shared().log.take().len(), slow(&router) - before), (5, 5));
            // The next batch is of a flow that is known.
            for receiver in 0..workers as usize {
                let sent = router.inject_batch(receiver, vec![frame(1, inbound(port, 8080))]);
                assert_eq!(to(&sent[0]), ("192.168.88.10".into(), (port, 80)));
                let back = PacketBuilder::ipv4("192.168.88.10", SERVER).udp(80, port);
                let sent = router.inject_batch(receiver, vec![frame(0, back)]);
                assert_eq!(sent[0].packet().ports, (8080, port));
            }
            moved = router.connections().len() - usize::from(router.shared().directory().is_empty());
        }
        assert!(workers == 1 || moved > 0);
        assert_eq!(router.connections().len(), 16);
    }
}

#[test]
fn a_flow_that_could_not_move_has_not_moved() {
    let mut router = router(moving(), 2);
    for port in 5000..5016 {
        router.refuse_handovers = true;
        for _ in 0..2 {
            let both = vec![frame(1, inbound(port, 8080)), frame(1, inbound(port, 8080))];
            let sent = router.inject_batch(usize::from(home_of_inbound(port) == 1), both);
            if sent.is_empty() {
                assert!(router.shared().directory().is_empty(), "port {port}");
            }
        }
        router.refuse_handovers = false;
        for receiver in [0, 1] {
            let sent = router.inject_batch(receiver, vec![frame(1, inbound(port, 8080))]);
            assert_eq!(sent[0].packet().ports, (port, 80));
        }
        for connection in router.connections() {
            assert!(router.remove_connection(connection.id));
        }
        assert!(router.shared().directory().is_empty());
    }
    assert!(router.refused > 0);
}

fn home_of_inbound(port: u16) -> u32 {
    let (src, dst) = (tollway_testkit::packet::ip(SERVER), tollway_testkit::packet::ip(OUTSIDE));
    let (src, dst) = (Addr::v4(src), Addr::v4(dst));
    steer(&Tuple { src, dst, src_port: port, dst_port: 8080, protocol: 17, icmp: 0, zone: 0 }, 2)
}

#[test]
fn two_forwards_to_one_service_do_not_share_a_reply_tuple() {
    for workers in [1, 2, 4, 8] {
        let mut router = router(moving(), workers);
        for port in 5000..5032 {
            for (number, forwarded) in [8080, 8081].into_iter().enumerate() {
                let receiver = number % workers as usize;
                let sent = router.inject_batch(receiver, vec![frame(1, inbound(port, forwarded))]);
                let seen = sent[0].packet().ports.0;
                assert_eq!(seen == port, forwarded == 8080, "{workers} workers, port {port}");
                let back = PacketBuilder::ipv4("192.168.88.10", SERVER).udp(80, seen);
                let sent = router.inject_batch(receiver, vec![frame(0, back)]);
                assert_eq!(sent[0].packet().ports, (forwarded, port));
            }
        }
        by_port(&router);
    }
}

/// To a service of the LAN by the outside address, from the LAN: the answers come as from another port than the flow
/// went to, so that they are steered to another worker than it. Its port is kept all the same, as long as it is free.
#[test]
fn a_flow_that_is_translated_at_both_ends_keeps_its_port() {
    let config = config()
        .nat("dstnat", rule().in_interface(1).protocol(17).dst_port(8080).dst_nat("192.168.88.10", 80))
        .nat("dstnat", rule().in_interface(1).protocol(17).dst_port(5060).dst_nat("192.168.88.10", 5060))
        .nat("srcnat", rule().out_interface(1).masquerade());
    for workers in [1, 2, 4, 8] {
        let mut router = router(config.clone(), workers);
        // With equal ports the addresses say whose a flow is.
        for (port, forwarded, service) in
            (5000..5032).map(|port| (port, 8080, 80)).chain([(5060, 5060, 5060), (5060, 8080, 80)])
        {
            let mut seen = BTreeSet::new();
            for number in 0..3 {
                let (source, receiver) =
                    (host(number, port).0.to_string(), number as usize % workers as usize);
                let packet = || frame(0, PacketBuilder::ipv4(&source, OUTSIDE).udp(port, forwarded));
                let sent = router.inject_batch(receiver, vec![packet(), packet()]);
                let left: Vec<_> = sent.iter().map(|output| (output.to, output.packet())).collect();
                assert_eq!(left.len(), 2);
                let (to, packet) = &left[0];
                assert_eq!(
                    (*to, packet.src.to_string(), packet.ports.1),
                    (To::Port(0), "192.168.88.1".into(), service)
                );
                assert_eq!(packet.ports, left[1].1.ports);
                assert_eq!(packet.ports.0 == port, number == 0, "{workers} workers, port {port}");
                assert!(seen.insert(packet.ports.0));
                let back = PacketBuilder::ipv4("192.168.88.10", "192.168.88.1").udp(service, packet.ports.0);
                let answered = router.inject_batch((receiver + 1) % workers as usize, vec![frame(0, back)]);
                let answer = answered[0].packet();
                assert_eq!((answer.src.to_string(), answer.dst.to_string()), (OUTSIDE.into(), source));
                assert_eq!(answer.ports, (forwarded, port));
            }
        }
        by_port(&router);
        let all: Vec<u64> = router.connections().iter().map(|connection| connection.id).collect();
        all.iter().for_each(|id| assert!(router.remove_connection(*id)));
        assert!(router.shared().directory().is_empty());
    }
}

/// Masquerade alone changes no port, but with equal ones the address, which says then whose a flow is.
#[test]
fn a_masqueraded_flow_from_the_port_that_it_goes_to_keeps_it() {
    for workers in [1, 2, 4, 8] {
        let mut router = router(masquerading(), workers);
        for port in [123, 500, 4500, 5060, 51_820] {
            for number in 0..4 {
                let server = Ipv4Addr::from_bits(0xcb00_7100 + number).to_string();
                let source = host(number, port).0.to_string();
                let sent = router
                    .inject_batch(0, vec![frame(0, PacketBuilder::ipv4(&source, &server).udp(port, port))]);
                assert_eq!(sent[0].packet().ports, (port, port), "{workers} workers");
                let back = PacketBuilder::ipv4(&server, OUTSIDE).udp(port, port);
                assert_eq!(router.inject_batch(0, vec![frame(1, back)])[0].packet().dst.to_string(), source);
            }
        }
    }
}

/// A flow that has moved for its port in vain takes another one, wherever there is one.
#[test]
fn flows_that_move_for_their_port_find_every_other_one() {
    for workers in [1, 2, 4, 8] {
        let ports = 20_000..20_064u16;
        let config = config()
            .nat("dstnat", rule().in_interface(1).protocol(17).dst_port(8080).dst_nat("192.168.88.10", 80))
            .nat("srcnat", rule().out_interface(1).then(to_ports(ports.start, ports.end - 1)));
        let mut router = router(config, workers);
        let (mut seen, mut refused) = (BTreeSet::new(), 0);
        for number in 0..4 * ports.len() as u32 {
            // All want the same one.
            let (source, port) = host(number, ports.start);
            let packet = PacketBuilder::ipv4(&source.to_string(), OUTSIDE).udp(port, 8080);
            match router.inject_batch(number as usize % workers as usize, vec![frame(0, packet)]).first() {
                Some(sent) => assert!(seen.insert(sent.packet().ports.0), "{workers} workers"),
                None => refused += 1,
            }
        }
        assert_eq!((seen.len(), refused), (ports.len(), 3 * ports.len()), "{workers} workers");
        by_port(&router);
    }
}

/// Protocols without ports have one outside tuple to each destination; echo requests have their identifiers.
#[test]
fn protocols_without_ports_and_echo_requests_share_no_tuple() {
    for workers in [1, 2, 4, 8] {
        let mut router = router(masquerading(), workers);
        let mut gre = 0;
        for number in 0..16 {
            let source = host(number, 0).0.to_string();
            let packet = PacketBuilder::ipv4(&source, SERVER).protocol(47).payload_len(40);
            gre += router.inject_batch(0, vec![frame(0, packet)]).len();
        }
        assert_eq!(gre, 1, "{workers} workers");
        let mut idents = BTreeSet::new();
        for number in 0..64 {
            let source = host(number, 0).0.to_string();
            let receiver = number as usize % workers as usize;
            let echo = PacketBuilder::ipv4(&source, SERVER).echo_request(7, 1);
            let ident = router.inject_batch(receiver, vec![frame(0, echo)])[0].packet().ports.0;
            assert!(idents.insert(ident));
            let reply = PacketBuilder::ipv4(SERVER, OUTSIDE).echo_reply(ident, 1);
            let sent = router.inject_batch((receiver + 1) % workers as usize, vec![frame(1, reply)]);
            assert_eq!((sent[0].packet().dst.to_string(), sent[0].packet().ports.0), (source, 7));
        }
        by_port(&router);
    }
}

/// Flows that have moved leave all others as they are: frames go to the worker that forwards them unparsed.
#[test]
fn a_flow_that_has_moved_does_not_end_early_steering() {
    let mut router = router(moving(), 4);
    for port in 5000..5016 {
        router.inject_batch(0, vec![frame(1, inbound(port, 8080))]);
    }
    assert!(!router.shared().directory().is_empty());
    let parsed = |router: &Router| router.stats().stages[0].packets;
    let before = (parsed(&router), router.stats().handover_packets);
    let plain = |port| frame(0, PacketBuilder::ipv4("172.16.0.9", "192.168.88.10").udp(port, 53));
    assert_eq!(router.inject_batch(0, (4000..4064).map(plain).collect()).len(), 64);
    assert_eq!((parsed(&router) - before.0, router.stats().handover_packets - before.1), (64, 48));
}
