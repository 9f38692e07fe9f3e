//! Several workers, fragments, configuration changes: one flow has one owner, and nobody can tell.

use tollway_config::dataplane::ConnectionState;
use tollway_engine::ip::fragments::{DATAGRAMS, HELD, HELD_PER_DATAGRAM};
use tollway_engine::packet::frame::VnetState;
use tollway_engine::packet::tuple::{Addr, Tuple, steer};
use tollway_testkit::packet::{PacketBuilder, ip, tcp_flag};
use tollway_testkit::router::{To, port_mac};
use tollway_testkit::{Router, RouterConfig, expect_counters, rule};

fn masquerading() -> RouterConfig {
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .neighbor(1, "192.168.88.10", "02:01:0a:01:00:02", false)
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:02", false)
        .route("0.0.0.0/0", "10.2.0.254")
        .nat("srcnat", rule().out_interface(2).masquerade())
        .filter("forward", rule().state(&[ConnectionState::Invalid]).drop())
        .filter("forward", rule().state(&[ConnectionState::New]).passthrough())
}

fn frame(port: u16, builder: PacketBuilder) -> (u16, Vec<u8>, VnetState) {
    (port, builder.eth_dst(port_mac(port)).build(), VnetState::default())
}

#[test]
fn any_worker_may_receive_any_packet() {
    for workers in 1..=4u32 {
        let mut router = Router::with_workers(masquerading(), workers);
        for port in 4000..4050u16 {
            for round in 0..4usize {
                let receiver = (usize::from(port) + round) % workers as usize;
                let out = PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").udp(port, 53);
                let sent = router.inject_batch(receiver, vec![frame(0, out)]);
                assert_eq!(sent.len(), 1, "{workers} workers, port {port}, round {round}");
                let seen = sent[0].packet();
                assert_eq!(seen.src.to_string(), "10.2.0.1");
                let back = PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").udp(53, seen.ports.0);
                let receiver = (receiver + round / 2) % workers as usize;
                let packet = router.inject_batch(receiver, vec![frame(1, back)])[0].packet();
                assert_eq!((packet.dst.to_string(), packet.ports.1), ("192.168.88.10".into(), port));
            }
        }
        assert_eq!(router.connections().len(), 50);
        assert_eq!(router.rule(1000).0, 50);
        let handovers = router.stats().handover_packets;
        assert_eq!(handovers == 0, workers == 1);
    }
}

#[test]
fn packets_that_were_handed_over_take_the_fast_path_too() {
    let mut router = Router::with_workers(masquerading(), 2);
    let mut fast = [0, 0];
    for round in 0..5 {
        for receiver in [0, 1] {
            let out = PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").udp(4000, 53);
            let sent = router.inject_batch(receiver, vec![frame(0, out)]);
            fast[receiver] += i32::from(sent[0].fast);
            if round == 0 {
                let back = PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").udp(53, sent[0].packet().ports.0);
                router.inject_batch(receiver, vec![frame(1, back)]);
            }
        }
    }
    assert!(fast.iter().all(|&count| count >= 3), "{fast:?}");
}

#[test]
fn a_packet_is_parsed_by_the_worker_that_forwards_it() {
    let udp = |port| frame(0, PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").udp(port, 53));
    let parsed = |router: &Router| router.stats().stages[0].packets;
    let mut router = Router::with_workers(masquerading(), 4);
    assert_eq!(router.inject_batch(0, (4000..4064).map(udp).collect()).len(), 64);
    assert_eq!((parsed(&router), router.stats().handover_packets), (64, 48));
}

#[test]
fn a_packet_that_must_be_looked_at_is_not_overtaken_on_its_way_to_another_worker() {
    for workers in [2, 4] {
        let mut router = Router::with_workers(masquerading(), workers);
        let udp = |ident| PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").udp(4001, 53).ident(ident);
        for receiver in 0..workers as usize {
            let batch = vec![
                frame(0, udp(1)),
                frame(0, udp(2).ip_options(&[1, 1, 1, 1])),
                frame(0, udp(3)),
                frame(0, udp(4)),
            ];
            let sent = router.inject_batch(receiver, batch);
            let idents: Vec<u8> = sent.iter().map(|output| output.bytes[19]).collect();
            assert_eq!(idents, [1, 2, 3, 4], "{workers} workers, worker {receiver}");
        }
        assert_eq!(router.stats().handover_packets, 4 * u64::from(workers - 1));
    }
}

#[test]
fn a_flow_whose_answers_are_steered_elsewhere_stands_in_the_directory() {
    let config = masquerading().nat("dstnat", rule().protocol(6).dst_port(8080).dst_nat("192.168.88.10", 80));
    let mut router = Router::with_workers(config, 2);
    let mut elsewhere = 0;
    for port in 5000..5040u16 {
        let syn = PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").tcp(port, 8080, tcp_flag::SYN, 1, 0);
        assert_eq!(router.inject_batch(0, vec![frame(1, syn)])[0].to, To::Port(0));
        let tuple = |src: &str, dst: &str, src_port, dst_port| Tuple {
            src: Addr::v4(ip(src)),
            dst: Addr::v4(ip(dst)),
            src_port,
            dst_port,
            protocol: 6,
            icmp: 0,
            zone: 0,
        };
        let there = steer(&tuple("203.0.113.5", "10.2.0.1", port, 8080), 2);
        let here = steer(&tuple("192.168.88.10", "203.0.113.5", 80, port), 2);
        elsewhere += u32::from(there != here);
        let answer = PacketBuilder::ipv4("192.168.88.10", "203.0.113.5");
        let answer = answer.tcp(80, port, tcp_flag::SYN | tcp_flag::ACK, 9, 2);
        for receiver in [0, 1] {
            let sent = router.inject_batch(receiver, vec![frame(0, answer.clone())]);
            let packet = sent[0].packet();
            assert_eq!((packet.src.to_string(), packet.ports), ("10.2.0.1".into(), (8080, port)));
        }
    }
    assert!(elsewhere > 0, "the test needs flows whose directions are steered apart");
    for connection in router.connections() {
        assert!(router.remove_connection(connection.id));
    }
    // Gone from the directory too: the stray answer is nobody's and has no connection to join.
    router.moved();
    let answer = PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").tcp(80, 5000, tcp_flag::RST, 9, 2);
    router.inject_batch(0, vec![frame(0, answer)]);
    assert_eq!(router.connections(), []);
}

#[test]
fn icmp_errors_find_their_flow_at_its_owner() {
    let mut router = Router::with_workers(masquerading(), 2);
    for port in 4000..4020u16 {
        let out = PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").udp(port, 53);
        let sent = router.inject_batch(0, vec![frame(0, out)]);
        let quoted = sent[0].bytes[14..].to_vec();
        for receiver in [0, 1] {
            let error = PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").icmp(3, 3, [0; 4]).payload(&quoted);
            let sent = router.inject_batch(receiver, vec![frame(1, error)]);
            assert_eq!((sent[0].to, sent[0].packet().dst.to_string()), (To::Port(0), "192.168.88.10".into()));
        }
    }
}

#[test]
fn fragments_are_translated_with_their_datagram_in_any_order_at_any_worker() {
    for workers in [1, 2, 3] {
        for reversed in [false, true] {
            let mut router = Router::with_workers(masquerading(), workers);
            let datagram = PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").eth_dst(port_mac(0)).ident(77);
            let mut frames = datagram.udp(4000, 53).payload_len(3000).build_fragments(1480);
            if reversed {
                frames.reverse();
            }
            let mut sent = Vec::new();
            for (number, frame) in frames.into_iter().enumerate() {
                let receiver = number % workers as usize;
                sent.extend(router.inject_batch(receiver, vec![(0, frame, VnetState::default())]));
            }
            let mut parts: Vec<_> = sent.iter().map(|output| output.packet()).collect();
            assert_eq!(parts.len(), 3, "{workers} workers, reversed {reversed}");
            assert!(parts.iter().all(|part| part.src.to_string() == "10.2.0.1" && part.checksums_right));
            parts.sort_by_key(|part| part.fragment.0);
            assert_eq!(parts[0].ports, (4000, 53));
            assert_eq!(router.connections().len(), 1);
            assert_eq!(router.connections()[0].counts[0].0, 3);
            assert_eq!(router.stats().held, 0);
        }
    }
}

#[test]
fn fragments_of_a_segment_that_opens_a_connection_pass_with_it() {
    for workers in 1..=4 {
        for (reversed, together) in [(false, true), (true, true), (false, false), (true, false)] {
            let mut router = Router::with_workers(masquerading(), workers);
            for port in 4000..4032 {
                let flags = if port % 2 == 0 { tcp_flag::SYN } else { tcp_flag::ACK };
                let segment =
                    PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").eth_dst(port_mac(0)).ident(port);
                let segment = segment.tcp(port, 80, flags, 1, 0).payload_len(800);
                let mut frames: Vec<_> = (segment.build_fragments(400).into_iter())
                    .map(|frame| (0, frame, VnetState::default()))
                    .collect();
                if reversed {
                    frames.reverse();
                }
                let batches: Vec<Vec<_>> = if together {
                    vec![frames]
                } else {
                    frames.into_iter().map(|frame| vec![frame]).collect()
                };
                let sent: Vec<_> =
                    batches.into_iter().flat_map(|batch| router.inject_batch(0, batch)).collect();
                let parts: Vec<_> = sent.iter().map(|output| output.packet()).collect();
                assert_eq!(parts.len(), 3, "{workers} workers, reversed {reversed}, together {together}");
                assert!(parts.iter().all(|part| part.src.to_string() == "10.2.0.1" && part.checksums_right));
            }
            let connections = router.connections();
            assert_eq!(connections.len(), 32);
            assert!(connections.iter().all(|connection| connection.counts[0].0 == 3));
        }
    }
}

#[test]
fn fragments_of_a_segment_that_may_not_open_a_connection_leave_none_behind() {
    let config = masquerading().filter("forward", rule().drop());
    let mut router = Router::new(config);
    let segment = PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").eth_dst(port_mac(0)).ident(77);
    let frames = segment.tcp(4000, 80, tcp_flag::SYN, 1, 0).payload_len(800).build_fragments(400);
    let frames = frames.into_iter().map(|frame| (0, frame, VnetState::default())).collect();
    assert_eq!(router.inject_batch(0, frames), []);
    assert_eq!(router.connections(), []);
    expect_counters!(router, Drop(FilterDrop): 3, Rule(1002): 3, Rule(1003): 3);
}

#[test]
fn fragments_without_their_first_one_time_out() {
    let mut router = Router::new(masquerading());
    router.moved();
    let datagram = PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").eth_dst(port_mac(0)).udp(4000, 53);
    let frames = datagram.payload_len(3000).build_fragments(1480);
    assert_eq!(router.inject(0, frames[1].clone(), VnetState::default()), []);
    expect_counters!(router, Held: 1);
    router.advance_ms(6_000);
    expect_counters!(router, Held: -1, Drop(FragmentTimeout): 1);
    // Overlapping ones are refused.
    router.inject(0, frames[0].clone(), VnetState::default());
    router.moved();
    let overlap = {
        let mut frame = frames[1].clone();
        frame[20..22].copy_from_slice(&(0x2000u16 | 100).to_be_bytes());
        frame[24..26].fill(0);
        let sum = tollway_wire::checksum::checksum(&frame[14..34]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        frame
    };
    assert_eq!(router.inject(0, overlap, VnetState::default()), []);
    expect_counters!(router, Drop(FragmentInvalid): 1);
}

#[test]
fn datagrams_that_never_come_in_whole_keep_out_no_others() {
    let mut router = Router::new(masquerading());
    let from =
        |last: u8| PacketBuilder::ipv4(&format!("192.168.88.{last}"), "203.0.113.5").eth_dst(port_mac(0));
    let datagram = |number: u16| from(20).ident(number).udp(4000, 53).payload_len(3000).build_fragments(1480);
    // The second one of each waits for a first one that does not come; then beginnings without an end.
    for number in 0..100 {
        router.inject(0, datagram(number)[1].clone(), VnetState::default());
    }
    for number in 100..3 * DATAGRAMS as u16 {
        router.inject(0, datagram(number)[0].clone(), VnetState::default());
    }
    assert_eq!(router.stats().held, 0);
    let whole = from(10).ident(7).udp(4001, 53).payload_len(3000).build_fragments(1480);
    let mut parts = 0;
    for frame in whole {
        parts += router.inject(0, frame, VnetState::default()).len();
    }
    assert_eq!(parts, 3);
}

#[test]
fn fragments_that_wait_for_nothing_keep_out_no_others() {
    let mut router = Router::new(masquerading());
    let from =
        |last: u8| PacketBuilder::ipv4(&format!("192.168.88.{last}"), "203.0.113.5").eth_dst(port_mac(0));
    let begun = from(30).ident(1).udp(4002, 53).payload_len(3000).build_fragments(1480);
    assert_eq!(router.inject(0, begun[0].clone(), VnetState::default()).len(), 1);
    // All but the first one of each, three times as many as may wait.
    let datagrams = 3 * HELD / HELD_PER_DATAGRAM;
    router.moved();
    for number in 0..datagrams as u16 {
        let datagram = from(20).ident(number).udp(4000, 53).payload_len(8 * 17).build_fragments(8);
        for part in &datagram[1..=HELD_PER_DATAGRAM] {
            router.inject(0, part.clone(), VnetState::default());
        }
    }
    let dropped = (datagrams * HELD_PER_DATAGRAM - HELD) as i64;
    expect_counters!(router, Held: HELD as i64, Drop(FragmentLimit): dropped);
    // One in the wrong order goes through, and what was begun before goes on.
    let reversed = from(10).ident(7).udp(4001, 53).payload_len(3000).build_fragments(1480);
    let mut parts = 0;
    for frame in reversed.into_iter().rev() {
        parts += router.inject(0, frame, VnetState::default()).len();
    }
    assert_eq!(parts, 3);
    assert_eq!(router.inject(0, begun[1].clone(), VnetState::default()).len(), 1);
    router.advance_ms(6_000);
    assert_eq!(router.stats().held, 0);
}

#[test]
fn packets_of_one_flow_keep_their_order_within_a_batch() {
    let mut router = Router::new(masquerading());
    let tcp = |flags, seq, len| {
        PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").tcp(4000, 80, flags, seq, 501).payload_len(len)
    };
    router.send(0, &tcp(tcp_flag::SYN, 100, 0));
    let answer = PacketBuilder::ipv4("203.0.113.5", "10.2.0.1");
    router.send(1, &answer.tcp(80, 4000, tcp_flag::SYN | tcp_flag::ACK, 500, 101));
    router.send(0, &tcp(tcp_flag::ACK, 101, 0));
    router.send(0, &tcp(tcp_flag::ACK, 101, 10));
    let batch = vec![
        frame(0, tcp(tcp_flag::ACK, 111, 10)),
        // Goes slow for its option, and with it what follows.
        frame(0, tcp(tcp_flag::ACK, 121, 10).ip_options(&[1, 1, 1, 1])),
        frame(0, tcp(tcp_flag::ACK, 131, 10)),
        frame(0, tcp(tcp_flag::ACK, 141, 10)),
    ];
    let sent = router.inject_batch(0, batch);
    assert_eq!(sent.iter().map(|output| output.fast).collect::<Vec<_>>(), [true, false, false, false]);
    let seq = |bytes: &[u8]| {
        let l4 = 14 + usize::from(bytes[14] & 15) * 4;
        u32::from_be_bytes(bytes[l4 + 4..l4 + 8].try_into().expect("4 bytes"))
    };
    assert_eq!(sent.iter().map(|output| seq(&output.bytes)).collect::<Vec<_>>(), [111, 121, 131, 141]);
    let sent = router.inject_batch(0, vec![frame(0, tcp(tcp_flag::ACK, 151, 10))]);
    assert!(sent[0].fast, "a new batch, a new chance");
}

#[test]
fn packets_waiting_for_a_neighbour_are_not_overtaken() {
    let config = RouterConfig::new().interface("10.1.0.1/24").interface("10.2.0.1/24");
    let mut router = Router::new(config);
    let udp = |ident| PacketBuilder::ipv4("10.1.0.2", "10.2.0.2").udp(1, 2).ident(ident);
    router.send(0, &udp(1));
    router.send(0, &udp(2));
    let reply = tollway_testkit::packet::arp_frame(
        port_mac(1),
        tollway_wire::arp::Repr {
            operation: tollway_wire::arp::REPLY,
            sender_mac: [2, 0, 0, 0, 0, 9],
            sender_addr: ip("10.2.0.2"),
            target_mac: port_mac(1),
            target_addr: ip("10.2.0.1"),
        },
    );
    let batch = vec![frame(0, udp(3)), (1, reply, VnetState::default()), frame(0, udp(4))];
    let sent = router.inject_batch(0, batch);
    let idents: Vec<u8> = sent.iter().map(|output| output.bytes[19]).collect();
    assert_eq!(idents, [1, 2, 3, 4]);
}

#[test]
fn connections_live_as_long_as_their_kind_and_expire_without_traffic() {
    let mut router = Router::new(masquerading());
    router.send(0, &PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").udp(4000, 53));
    router.send(0, &PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").echo_request(9, 1));
    router.send(0, &PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").tcp(4000, 80, tcp_flag::SYN, 1, 0));
    // Deadlines are kept in units of 4.2 ms, rounded up.
    let timeouts: Vec<_> =
        router.connections().iter().map(|conn| (conn.protocol, conn.timeout_ms / 10 * 10)).collect();
    assert_eq!(timeouts, [(17, 30_000), (1, 10_000), (6, 5_000)]);
    router.advance_ms(5_100);
    assert_eq!(router.connections().len(), 2);
    router.advance_ms(5_000);
    assert_eq!(router.connections().len(), 1);
    router.advance_ms(20_100);
    assert_eq!(router.connections(), []);
}

#[test]
fn a_change_of_configuration_keeps_flows() {
    let mut router = Router::new(masquerading());
    let out = || PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").udp(4000, 53);
    let back = || PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").udp(53, 4000);
    for _ in 0..3 {
        router.send(0, &out());
        router.send(1, &back());
    }
    let before = router.connections();
    for number in 0..10 {
        let extra =
            RouterConfig::new().filter("x", rule().protocol(200).drop()).config.filter[0].rules[0].clone();
        router.reconfigure(|config| {
            config.filter[0].rules.insert(0, tollway_config::dataplane::Rule { row: 5000 + number, ..extra });
        });
        assert_eq!(router.connections()[0].id, before[0].id);
        assert!(!router.send(0, &out())[0].fast, "decided anew once");
        assert!(router.send(0, &out())[0].fast);
        assert_eq!(router.send(1, &back())[0].packet().dst.to_string(), "192.168.88.10");
    }
    assert_eq!(router.connections().len(), 1);
}

#[test]
fn the_bound_of_the_table_holds_and_assured_flows_stay() {
    let config = masquerading().with(|config| config.tracking.max_entries = 10);
    let mut router = Router::new(config);
    for _ in 0..3 {
        router.send(0, &PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").udp(4000, 53));
        router.send(1, &PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").udp(53, 4000));
    }
    for port in 0..100 {
        router
            .send(0, &PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").tcp(port, 80, tcp_flag::SYN, 1, 0));
    }
    let connections = router.connections();
    assert_eq!(connections.len(), 10);
    assert!(connections.iter().any(|conn| conn.protocol == 17), "the assured flow was evicted");
}

#[test]
fn several_workers_give_the_frames_and_counters_of_one() {
    tollway_testkit::seeds(1).for_each(frames_and_counters_of_one);
}

fn frames_and_counters_of_one(seed: u64) {
    let config = || masquerading().with(|config| config.nat.clear());
    let mut random = tollway_testkit::random::Random::new(seed);
    let mut routers: Vec<Router> = (1..=3).map(|workers| Router::with_workers(config(), workers)).collect();
    for step in 0..400 {
        let port = 4000 + random.below(20) as u16;
        let inside = random.one_in(2);
        let (from, to) =
            if inside { ("192.168.88.10", "203.0.113.5") } else { ("203.0.113.5", "192.168.88.10") };
        let (src_port, dst_port) = if inside { (port, 53) } else { (53, port) };
        let builder = PacketBuilder::ipv4(from, to).udp(src_port, dst_port).payload_len(1200);
        let builder = builder.eth_dst(port_mac(u16::from(!inside))).ident(step);
        let frames: Vec<_> =
            if random.one_in(5) { builder.build_fragments(600) } else { vec![builder.build()] };
        let receiver = random.below(6) as usize;
        let mut outcomes = Vec::new();
        for router in &mut routers {
            let receiver = receiver % router.workers();
            let batch = frames.iter().map(|frame| (u16::from(!inside), frame.clone(), VnetState::default()));
            let mut out: Vec<_> = router
                .inject_batch(receiver, batch.collect())
                .into_iter()
                .map(|output| (output.to, output.bytes))
                .collect();
            out.sort();
            let stats = router.stats();
            let counters = (stats.rules, stats.drops, stats.connections_ip4, stats.held);
            outcomes.push((out, counters));
        }
        assert_eq!(outcomes[0], outcomes[1], "seed {seed}, two workers, step {step}");
        assert_eq!(outcomes[0], outcomes[2], "seed {seed}, three workers, step {step}");
    }
    assert!(routers[2].stats().handover_packets > 100, "seed {seed}");
}
