//! Masqueraded flows whose route leads out of another interface: they begin anew, and no packet is lost.

use std::collections::BTreeSet;

use tollway_config::dataplane::{Action, ConnectionState, PortRange, RouteTarget};
use tollway_config::protocol::{PacketDescription, TraceFilter};
use tollway_engine::ip::neighbor::hold::PER_NEIGHBOR;
use tollway_engine::packet::frame::VnetState;
use tollway_engine::packet::verdict::DropReason;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::router::{Output, To, port_mac};
use tollway_testkit::{Counter, Router, RouterConfig, expect_counters, rule};

const HOST: &str = "192.168.88.10";
const SERVER: &str = "203.0.113.5";

/// Two ways to the Internet, by interfaces 2 and 3. Where `known` the next hop of the second one is.
fn config(known: bool) -> RouterConfig {
    let config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .interface("10.3.0.1/24")
        .neighbor(1, HOST, "02:01:0a:01:00:02", false)
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:02", false)
        .route("0.0.0.0/0", "10.2.0.254");
    if known { config.neighbor(3, "10.3.0.254", "02:01:0a:03:00:02", false) } else { config }
}

/// The route leads to another gateway from now on.
fn lead_by(router: &mut Router, gateway: &str) {
    let address = gateway.parse().expect("an address");
    router.reconfigure(|config| config.routes[0].target = RouteTarget::Gateway { address, interface: None });
}

fn frame(port: u16, packet: &PacketBuilder) -> (u16, Vec<u8>, VnetState) {
    (port, packet.clone().eth_dst(port_mac(port)).build(), VnetState::default())
}

fn udp(port: u16) -> PacketBuilder {
    PacketBuilder::ipv4(HOST, SERVER).udp(port, 53)
}

/// Source address and identification of the packets to the server, by the port they left by.
fn left(sent: &[Output], port: u16) -> Vec<(String, u8)> {
    let packets = sent.iter().filter(|output| output.to == To::Port(port) && output.arp().is_none());
    packets.map(|output| (output.packet().src.to_string(), output.bytes[19])).collect()
}

#[test]
fn a_masqueraded_flow_begins_anew_when_it_leaves_by_another_interface_and_others_go_on() {
    let translations = [rule().masquerade(), rule().src_nat("10.2.0.1")];
    for (translation, other) in translations.into_iter().zip(["10.3.0.1", "10.2.0.1"]) {
        let mut router = Router::new(config(true).nat("srcnat", translation));
        let sent = |router: &mut Router| {
            let sent = router.send(0, &udp(4000));
            sent.first().map(|sent| (sent.to, sent.packet().src.to_string()))
        };
        for _ in 0..3 {
            assert_eq!(sent(&mut router), Some((To::Port(1), "10.2.0.1".into())));
            router.send(1, &PacketBuilder::ipv4(SERVER, "10.2.0.1").udp(53, 4000));
        }
        let id = router.connections()[0].id;
        lead_by(&mut router, "10.3.0.254");
        for _ in 0..3 {
            assert_eq!(sent(&mut router), Some((To::Port(2), other.into())));
            assert_eq!(router.connections().len(), 1);
        }
        assert_eq!(router.connections()[0].id == id, other == "10.2.0.1");
        lead_by(&mut router, "10.2.0.254");
        assert_eq!(sent(&mut router), Some((To::Port(1), "10.2.0.1".into())));
    }
}

/// With masquerade on the other interface, too, and without; with a next hop there that is known, and one that must be
/// asked for while as many packets wait as may; with packets that arrive one by one, and in batches.
#[test]
fn no_packet_is_lost_when_a_masqueraded_flow_leaves_by_another_interface() {
    for case in 0..32u16 {
        let [after, known, batch, forwarded] = [1, 2, 4, 8].map(|bit| case & bit != 0);
        let workers = if case & 16 == 0 { 1 } else { 4 };
        let other = rule().out_interface(3);
        let mut config = config(known)
            .nat("srcnat", rule().out_interface(2).masquerade())
            .nat("srcnat", if after { other.masquerade() } else { other.accept() });
        if forwarded {
            config =
                config.nat("dstnat", rule().in_interface(1).dst_port(53).protocol(17).dst_nat(SERVER, 5353));
        }
        let mut router = Router::with_workers(config, workers).hosts(2, &["10.3.0.254"]);
        let mut ident = 0;
        let mut send = |router: &mut Router| {
            let packets: Vec<_> = (0..PER_NEIGHBOR)
                .map(|_| {
                    ident += 1;
                    frame(0, &udp(4000).ident(ident))
                })
                .collect();
            if batch {
                return router.inject_batch(0, packets);
            }
            packets.into_iter().flat_map(|packet| router.inject_batch(0, vec![packet])).collect()
        };
        for _ in 0..3 {
            let sent = send(&mut router);
            assert_eq!(left(&sent, 1).len(), PER_NEIGHBOR);
            assert_eq!(sent[0].packet().src.to_string(), "10.2.0.1");
        }
        router.moved();
        lead_by(&mut router, "10.3.0.254");
        let mut sent = send(&mut router);
        sent.extend(router.advance_ms(50));
        sent.extend(send(&mut router));
        let source = if after { "10.3.0.1" } else { HOST };
        let expected: Vec<_> = (10..16).map(|ident| (source.to_owned(), ident)).collect();
        assert_eq!(left(&sent, 2), expected, "case {case}");
        assert_eq!(left(&sent, 1), []);
        let moved = router.moved();
        let dropped = |counter: &Counter| matches!(counter, Counter::Drop(reason) if *reason != DropReason::ArpConsumed);
        assert!(!moved.keys().any(dropped), "case {case}: {moved:?}");
        assert_eq!(moved.get(&Counter::Rule(1001)), Some(&1), "case {case}");
        assert_eq!(router.connections().len(), 1);
    }
}

/// The rules of a new connection decide, and are asked once for each packet.
#[test]
fn the_rules_are_asked_about_a_new_connection() {
    let config = config(true)
        .nat("srcnat", rule().masquerade())
        .mangle("prerouting", rule().in_interface(1).log("seen").passthrough())
        .filter("forward", rule().out_interface(3).state(&[ConnectionState::New]).drop());
    let mut router = Router::new(config);
    for _ in 0..3 {
        router.send(0, &udp(4000));
    }
    router.shared().log.take();
    router.moved();
    lead_by(&mut router, "10.3.0.254");
    assert_eq!(router.send(0, &udp(4000)), []);
    expect_counters!(router, Drop(FilterDrop): 1, Connections: -1, Rule(1001): 1, Rule(1002): 1);
    assert_eq!(router.shared().log.take().len(), 1);
}

/// Answers that were received together with the packet that finds it out still reach the host.
#[test]
fn answers_of_the_same_batch_are_delivered() {
    let mut router = Router::new(config(true).nat("srcnat", rule().masquerade()).with(|config| {
        config.settings.allow_fast_path = false;
    }));
    let back = PacketBuilder::ipv4(SERVER, "10.2.0.1").udp(53, 4000);
    router.send(0, &udp(4000));
    router.send(1, &back);
    lead_by(&mut router, "10.3.0.254");
    let sent = router.inject_batch(0, vec![frame(1, &back), frame(0, &udp(4000)), frame(0, &udp(4000))]);
    assert_eq!(sent[0].to, To::Port(0));
    assert_eq!(left(&sent, 2).len(), 2);
    assert_eq!(router.connections().len(), 1);
}

/// Flows that have moved to the worker that their answers are steered to.
#[test]
fn a_flow_of_another_worker_begins_anew() {
    let to_port = |port| Action::Masquerade {
        to_ports: Some(PortRange { from: port, to: port }),
        randomise_ports: false,
    };
    for workers in [2, 4, 8] {
        let config = config(true)
            .nat("srcnat", rule().out_interface(2).protocol(17).then(to_port(4000)))
            .nat("srcnat", rule().out_interface(3).protocol(17).then(to_port(4001)));
        let mut router = Router::with_workers(config, workers);
        for port in 5000..5016 {
            let both = || vec![frame(0, &udp(port)), frame(0, &udp(port))];
            let sent = router.inject_batch(0, both());
            assert_eq!(left(&sent, 1).len(), 2);
            lead_by(&mut router, "10.3.0.254");
            for receiver in 0..workers as usize {
                let sent = router.inject_batch(receiver, both());
                let ports: BTreeSet<_> = sent.iter().map(|output| output.packet().ports).collect();
                assert_eq!((left(&sent, 2).len(), ports), (2, [(4001, 53)].into()), "{workers}, {port}");
                let back = PacketBuilder::ipv4(SERVER, "10.3.0.1").udp(53, 4001);
                let answered = router.inject_batch(receiver, vec![frame(2, &back)]);
                assert_eq!(answered[0].packet().ports, (53, port));
            }
            assert_eq!(router.connections().len(), 1);
            let id = router.connections()[0].id;
            assert!(router.remove_connection(id));
            assert!(router.shared().directory().is_empty());
            lead_by(&mut router, "10.2.0.254");
        }
    }
}

fn tcp(flags: u8, seq: u32, ack: u32) -> PacketBuilder {
    PacketBuilder::ipv4(HOST, SERVER).tcp(4000, 80, flags, seq, ack)
}

/// A segment of an established connection ends it, since its peer would refuse it from another address. It does not
/// leave untranslated.
#[test]
fn a_segment_that_is_no_syn_does_not_pass() {
    for flags in [tcp_flag::FIN | tcp_flag::ACK, tcp_flag::ACK] {
        let mut router = Router::new(config(true).nat("srcnat", rule().out_interface(2).masquerade()));
        let back = PacketBuilder::ipv4(SERVER, "10.2.0.1");
        router.send(0, &tcp(tcp_flag::SYN, 100, 0));
        router.send(1, &back.tcp(80, 4000, tcp_flag::SYN | tcp_flag::ACK, 500, 101));
        router.send(0, &tcp(tcp_flag::ACK, 101, 501));
        lead_by(&mut router, "10.3.0.254");
        router.moved();
        assert_eq!(router.send(0, &tcp(flags, 101, 501)), []);
        expect_counters!(router, Drop(ConnectionGone): 1, Connections: -1);
    }
}

#[test]
fn a_syn_that_is_sent_again_opens_a_connection_there() {
    let mut router = Router::new(config(true).nat("srcnat", rule().masquerade()));
    let source =
        |router: &mut Router| router.send(0, &tcp(tcp_flag::SYN, 100, 0))[0].packet().src.to_string();
    assert_eq!(source(&mut router), "10.2.0.1");
    lead_by(&mut router, "10.3.0.254");
    assert_eq!(source(&mut router), "10.3.0.1");
    assert_eq!(router.connections().len(), 1);
}

#[test]
fn a_dry_run_foretells_it() {
    let mut router = Router::new(config(true).nat("srcnat", rule().masquerade()));
    router.send(0, &udp(4000));
    lead_by(&mut router, "10.3.0.254");
    let description = PacketDescription {
        in_interface: Some(1),
        protocol: 17,
        src_address: HOST.parse().expect("an address"),
        dst_address: SERVER.parse().expect("an address"),
        src_port: 4000,
        dst_port: 53,
        icmp_type: 0,
        icmp_code: 0,
        tcp_flags: 0,
        length: 28,
        ttl: 64,
    };
    let foretold = router.dry_run(&description).expect("a packet");
    let trace = router.start_trace(&TraceFilter::default());
    router.send(0, &udp(4000));
    let noted = router.traced(trace).packets;
    let decided = |stage: &str, steps: &[tollway_config::protocol::TraceStep]| {
        let step = steps.iter().find(|step| step.stage == stage);
        step.map(|step| step.decision.clone()).unwrap_or_default()
    };
    for stage in ["track", "route", "src_nat"] {
        assert_eq!(decided(stage, &foretold.steps), decided(stage, &noted[0].steps), "{stage}");
    }
    assert_eq!(decided("track", &foretold.steps), "new, in original direction");
    assert_eq!((foretold.out_interface, noted[0].out_interface), (3, 3));
}

/// What goes on with a connection and what begins it anew come together after the route has moved: it ends once.
#[test]
fn a_connection_that_is_begun_anew_behind_one_of_its_own_packets_ends_once() {
    let mut router = Router::new(config(true).nat("srcnat", rule().masquerade()));
    let tcp = |port: u16, flags, seq, ack| PacketBuilder::ipv4(HOST, SERVER).tcp(port, 80, flags, seq, ack);
    for port in 4000..4010 {
        router.send(0, &tcp(port, tcp_flag::SYN, 100, 0));
        let syn_ack = tcp_flag::SYN | tcp_flag::ACK;
        router.send(1, &PacketBuilder::ipv4(SERVER, "10.2.0.1").tcp(80, port, syn_ack, 500, 101));
        router.send(0, &tcp(port, tcp_flag::ACK, 101, 501));
    }
    lead_by(&mut router, "10.3.0.254");
    for port in 4000..4010 {
        let data = frame(0, &tcp(port, tcp_flag::ACK | tcp_flag::PSH, 101, 501).payload_len(10));
        router.inject_batch(0, vec![data, frame(0, &tcp(port, tcp_flag::SYN, 9000, 0))]);
    }
    assert_eq!(router.connections().len(), 10);
    for port in 5000..5020 {
        assert_eq!(left(&router.send(0, &tcp(port, tcp_flag::SYN, 100, 0)), 2).len(), 1);
    }
    let ids: BTreeSet<u64> = router.connections().iter().map(|connection| connection.id).collect();
    assert_eq!(ids.len(), 30);
}
