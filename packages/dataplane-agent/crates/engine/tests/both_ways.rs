//! Both ends of a flow send first, and their packets come in one batch: they have one connection.

use tollway_config::dataplane::ConnectionState;
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::router::{Output, To, port_mac};
use tollway_testkit::{Router, RouterConfig, rule};

const A: &str = "10.1.0.2";
const B: &str = "10.2.0.2";
const NEW: u32 = 1000;
const ESTABLISHED: u32 = 1001;

fn plain() -> RouterConfig {
    RouterConfig::new()
        .interface("10.1.0.1/24")
        .interface("10.2.0.1/24")
        .neighbor(1, A, "02:01:0a:01:00:02", false)
        .neighbor(2, B, "02:01:0a:02:00:02", false)
        .filter("forward", rule().state(&[ConnectionState::New]).passthrough())
        .filter("forward", rule().state(&[ConnectionState::Established]).passthrough())
}

type Way = fn(PacketBuilder, (u16, u16)) -> PacketBuilder;

/// Packets with which either end may begin.
const KINDS: [(&str, Way); 4] = [
    ("datagrams", |packet, ports| packet.udp(ports.0, ports.1)),
    ("SYN and SYN", |packet, ports| packet.tcp(ports.0, ports.1, tcp_flag::SYN, 1000, 0)),
    ("segments of a running stream", |packet, ports| {
        let (seq, ack) = if ports.0 > ports.1 { (1000, 5000) } else { (5000, 1000) };
        packet.tcp(ports.0, ports.1, tcp_flag::ACK, seq, ack).payload_len(10)
    }),
    ("GRE", |packet, _| packet.protocol(47).payload_len(20)),
];

fn there(way: Way) -> (u16, Vec<u8>, VnetState) {
    (0, way(PacketBuilder::ipv4(A, B), (7000, 5201)).eth_dst(port_mac(0)).build(), VnetState::default())
}

fn back(way: Way) -> (u16, Vec<u8>, VnetState) {
    (1, way(PacketBuilder::ipv4(B, A), (5201, 7000)).eth_dst(port_mac(1)).build(), VnetState::default())
}

fn ports(out: &[Output]) -> Vec<(To, (u16, u16))> {
    out.iter().map(|output| (output.to, output.packet().ports)).collect()
}

#[test]
fn the_second_packet_answers_the_first() {
    for workers in [1, 2] {
        for (name, way) in KINDS {
            for receiver in 0..workers {
                let mut router = Router::with_workers(plain(), workers);
                let out = router
                    .inject_batch(receiver as usize, vec![there(way), back(way), there(way), back(way)]);
                let none = name == "GRE";
                let (ahead, answer) = if none { ((0, 0), (0, 0)) } else { ((7000, 5201), (5201, 7000)) };
                let mut seen = ports(&out);
                seen.sort();
                let mut expected = [(To::Port(1), ahead), (To::Port(0), answer)].repeat(2);
                expected.sort();
                assert_eq!(seen, expected, "{name}, {workers} workers");
                let connections = router.connections();
                assert_eq!(connections.len(), 1, "{name}, {workers} workers: {connections:?}");
                assert_eq!(connections[0].endpoints[0].0.to_string(), A);
                assert_eq!([connections[0].counts[0].0, connections[0].counts[1].0], [2, 2], "{name}");
                assert!(!connections[0].flags.contains('s'), "{name}: {connections:?}");
                // Packets of the first pass saw no answer yet.
                assert_eq!((router.rule(NEW).0, router.rule(ESTABLISHED).0), (2, 2), "{name}");
            }
        }
    }
}

#[test]
fn the_second_packet_begins_by_itself_where_the_first_is_dropped() {
    for (name, way) in KINDS {
        let config = plain().filter("forward", rule().in_interface(1).drop());
        let mut router = Router::new(config);
        let out = router.inject_batch(0, vec![there(way), back(way)]);
        assert_eq!(out.iter().map(|output| output.to).collect::<Vec<_>>(), [To::Port(0)], "{name}");
        let connections = router.connections();
        assert_eq!(connections.len(), 1, "{name}");
        assert_eq!(connections[0].endpoints[0].0.to_string(), B, "{name}");
        assert_eq!((router.rule(NEW).0, router.rule(ESTABLISHED).0), (2, 0), "{name}");
    }
}

#[test]
fn the_second_packet_begins_by_itself_where_the_first_is_translated() {
    let mut router = Router::new(plain().nat("srcnat", rule().out_interface(2).masquerade()));
    let (_, udp) = KINDS[0];
    let out = router.inject_batch(0, vec![there(udp), back(udp)]);
    // Answers to port 5201 would be taken for packets of the first connection.
    assert_eq!(out.iter().map(|output| output.to).collect::<Vec<_>>(), [To::Port(1), To::Port(0)]);
    assert_eq!(out[0].packet().src.to_string(), "10.2.0.1");
    assert_ne!(out[1].packet().ports.0, 5201);
    assert_eq!((router.rule(NEW).0, router.rule(ESTABLISHED).0), (2, 0));
    assert_eq!(router.connections().len(), 2);
}

#[test]
fn a_trace_tells_each_stage_once() {
    let mut router = Router::new(plain());
    let (_, udp) = KINDS[0];
    let id = router.start_trace(&tollway_config::protocol::TraceFilter::default());
    router.inject_batch(0, vec![there(udp), back(udp)]);
    let traced = router.traced(id);
    assert_eq!(traced.packets.len(), 2);
    for packet in &traced.packets {
        let stages: Vec<&str> = packet.steps.iter().map(|step| step.stage.as_str()).collect();
        for stage in ["parse", "track", "route", "filter"] {
            assert_eq!(stages.iter().filter(|name| **name == stage).count(), 1, "{stage}: {stages:?}");
        }
    }
}

#[test]
fn two_hosts_ping_each_other_with_one_identifier() {
    for workers in [1, 2] {
        let mut router = Router::with_workers(plain(), workers);
        for sequence in 0..3 {
            for (port, from, to) in [(0, A, B), (1, B, A)] {
                let request = PacketBuilder::ipv4(from, to).echo_request(1, sequence);
                let reply = PacketBuilder::ipv4(to, from).echo_reply(1, sequence);
                for (port, packet) in [(port, request), (1 - port, reply)] {
                    let out = router.send(port, &packet);
                    assert_eq!(out.iter().map(|output| output.to).collect::<Vec<_>>(), [To::Port(1 - port)]);
                    assert_eq!(out[0].packet().ports, (1, 1));
                }
            }
        }
        let mut counts: Vec<_> = router.connections().iter().map(|conn| conn.counts).collect();
        counts.dedup();
        assert_eq!(counts.iter().map(|[ahead, back]| (ahead.0, back.0)).collect::<Vec<_>>(), [(3, 3)]);
        assert_eq!(router.connections().len(), 2);
        assert_eq!((router.rule(NEW).0, router.rule(ESTABLISHED).0), (2, 10));
        // A stranger's error about the one concerns the other no more than before.
        let quoted = PacketBuilder::ipv4(A, B).echo_request(1, 9).build_l3();
        let error = PacketBuilder::ipv4(B, A).icmp(3, 1, [0; 4]).payload(&quoted);
        assert_eq!(router.send(1, &error).len(), 1);
    }
}
