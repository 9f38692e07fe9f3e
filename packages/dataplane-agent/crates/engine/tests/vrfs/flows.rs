//! Flows with the same addresses and ports in two VRFs are two flows.

use tollway_config::dataplane::TrackingMode;
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::router::port_mac;
use tollway_testkit::{Ipv6Builder, RouterConfig, rule};

use super::{HOST, HOST6, SERVER, SERVER6, config, router, sent};

fn tracked() -> RouterConfig {
    config().with(|config| config.tracking.enabled = TrackingMode::Yes)
}

#[test]
fn the_same_tuple_in_two_zones_is_two_connections_with_translations_of_their_own() {
    for workers in [1, 3] {
        let config = tracked().nat("srcnat", rule().out_interface(3).masquerade());
        let mut router = router(config, workers);
        let request = PacketBuilder::ipv4(HOST, SERVER).udp(4000, 53);
        // Three of each: the first ones wait for the neighbour or open the connection, the last ones are cached.
        let mut ports = [0, 0];
        for _ in 0..3 {
            for (zone, seen) in ports.iter_mut().enumerate() {
                let mut out = router.send(zone as u16, &request);
                out.extend(router.advance_ms(5));
                for output in sent(&out, 2) {
                    let packet = output.packet();
                    assert_eq!(packet.src.to_string(), "10.2.0.1");
                    assert!([0, packet.ports.0].contains(seen), "a flow keeps its outside port");
                    *seen = packet.ports.0;
                }
            }
        }
        assert!(ports[0] != 0 && ports[1] != 0 && ports[0] != ports[1], "{ports:?}");
        let connections = router.connections();
        assert_eq!(connections.len(), 2, "{connections:?}");
        assert!(connections.iter().all(|record| record.counts[0].0 == 3), "{connections:?}");
        // Answers come by a third zone, and find the connection that they answer.
        for (round, zone) in [0, 1, 1, 1].into_iter().enumerate() {
            let answer = PacketBuilder::ipv4(SERVER, "10.2.0.1").udp(53, ports[usize::from(zone)]);
            let mut out = router.send(2, &answer);
            out.extend(router.advance_ms(5));
            let answers = sent(&out, zone);
            assert_eq!(answers.len(), 1, "answer {round}");
            assert_eq!(answers[0].packet().ports, (53, 4000));
        }
        let mut answered: Vec<u64> = router.connections().iter().map(|record| record.counts[1].0).collect();
        answered.sort_unstable();
        assert_eq!(answered, [1, 3]);
    }
}

#[test]
fn a_packet_of_another_zone_is_no_answer() {
    let mut router = router(tracked(), 1);
    let request = PacketBuilder::ipv4(HOST, SERVER).tcp(4000, 80, tcp_flag::SYN, 1, 0);
    router.send(0, &request);
    let answer = PacketBuilder::ipv4(SERVER, HOST).tcp(80, 4000, tcp_flag::SYN | tcp_flag::ACK, 9, 2);
    router.send(1, &answer);
    let records = router.connections();
    assert!(records.iter().all(|record| record.counts[1].0 == 0), "{records:?}");
    // It comes by the zone that the request has left by.
    router.send(2, &answer);
    let answered = router.connections().iter().filter(|record| record.counts[1].0 == 1).count();
    assert_eq!(answered, 1);
}

#[test]
fn zones_of_ipv6_are_kept_apart_too() {
    let translated = tracked().ipv6_nat("srcnat", rule().out_interface(3).masquerade());
    for (config, own) in [(tracked(), HOST6), (translated, "2001:db8:3::1")] {
        let mut router = router(config, 1);
        let mut ports = [0, 0];
        for turn in 0..6 {
            let mut out = router.send6(turn % 2, &Ipv6Builder::new(HOST6, SERVER6).udp(4000, 53));
            out.extend(router.advance_ms(5));
            for output in sent(&out, 2) {
                let (packet, seen) = (output.ipv6(), &mut ports[usize::from(turn % 2)]);
                assert_eq!(packet.src.to_string(), own);
                assert!([0, packet.ports.0].contains(seen), "a flow keeps its outside port");
                *seen = packet.ports.0;
            }
        }
        // Without a translation too: answers could not be told apart where they come by.
        assert!(ports[0] != 0 && ports[1] != 0 && ports[0] != ports[1], "{ports:?}");
        assert_eq!(router.connections().len(), 2);
    }
}

#[test]
fn fragments_of_one_zone_do_not_complete_the_datagram_of_another() {
    let mut router = router(tracked(), 1);
    let datagram = |port: u16| {
        let packet = PacketBuilder::ipv4(HOST, SERVER).udp(4000, 53).payload_len(900).ident(7);
        packet.eth_dst(port_mac(port)).build_fragments(400)
    };
    router.send(0, &PacketBuilder::ipv4(HOST, SERVER).udp(1, 1));
    router.advance_ms(5);
    let (one, other) = (datagram(0), datagram(1));
    let mut out = router.inject(0, one[0].clone(), VnetState::default());
    assert_eq!(sent(&out, 2).len(), 1, "the first fragment has the ports");
    out = router.inject(1, other[1].clone(), VnetState::default());
    assert!(sent(&out, 2).is_empty(), "it waits for the first fragment of its own zone");
    out = router.inject(0, one[1].clone(), VnetState::default());
    assert_eq!(sent(&out, 2).len(), 1);
}
