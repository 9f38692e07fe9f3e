//! Address translation through the whole router.

use tollway_config::dataplane::{Action, AddressRange, ConnectionState, RejectWith};
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::router::To;
use tollway_testkit::{Router, RouterConfig, expect_counters, rule};

fn plain() -> RouterConfig {
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .neighbor(1, "192.168.88.10", "02:01:0a:01:00:02", false)
        .neighbor(1, "192.168.88.11", "02:01:0a:01:00:03", false)
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:02", false)
        .route("0.0.0.0/0", "10.2.0.254")
}

fn masquerading() -> RouterConfig {
    plain().nat("srcnat", rule().out_interface(2).masquerade())
}

fn out(host: &str, port: u16) -> PacketBuilder {
    PacketBuilder::ipv4(host, "203.0.113.5").udp(port, 53).payload_len(30)
}

fn back(port: u16) -> PacketBuilder {
    PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").udp(53, port).payload_len(60)
}

#[test]
fn masquerade_translates_both_ways_slow_and_fast() {
    let mut router = Router::new(masquerading());
    for round in 0..6 {
        let sent = router.send(0, &out("192.168.88.10", 4000));
        let packet = sent[0].packet();
        assert_eq!((sent[0].to, sent[0].fast), (To::Port(1), round > 1), "round {round}");
        assert_eq!((packet.src.to_string(), packet.ports), ("10.2.0.1".into(), (4000, 53)));
        assert!(packet.checksums_right);
        let answered = router.send(1, &back(4000));
        let packet = answered[0].packet();
        assert_eq!((packet.dst.to_string(), packet.ports), ("192.168.88.10".into(), (53, 4000)));
        assert!(packet.checksums_right);
        assert_eq!(packet.ttl, 63);
    }
    let connection = &router.connections()[0];
    assert_eq!(connection.flags, "SACs");
    assert_eq!(connection.counts, [(6, 6 * 58), (6, 6 * 88)]);
    // NAT rules count first packets only.
    assert_eq!(router.rule(1000), (1, 58));
}

#[test]
fn netmap_keeps_the_bits_of_the_host() {
    let to = |from: [u8; 4]| {
        let last = [from[0], from[1], from[2], 255];
        Action::Netmap { to_addresses: AddressRange { from: from.into(), to: last.into() }, to_ports: None }
    };
    let config = plain()
        .nat("srcnat", rule().src("192.168.88.0/24").then(to([198, 51, 100, 0])))
        .nat("dstnat", rule().dst("198.51.100.0/24").then(to([192, 168, 88, 0])));
    let mut router = Router::new(config);
    for _ in 0..3 {
        let sent = router.send(0, &out("192.168.88.10", 4000));
        assert_eq!(sent[0].packet().src.to_string(), "198.51.100.10");
        assert_eq!(sent[0].packet().ports, (4000, 53));
        let asked = PacketBuilder::ipv4("203.0.113.5", "198.51.100.11").udp(9, 9).payload_len(8);
        let asked = router.send(1, &asked);
        assert_eq!((asked[0].to, asked[0].packet().dst.to_string()), (To::Port(0), "192.168.88.11".into()));
        let answer = PacketBuilder::ipv4("192.168.88.11", "203.0.113.5").udp(9, 9).payload_len(8);
        let answer = router.send(0, &answer);
        assert_eq!(answer[0].packet().src.to_string(), "198.51.100.11");
    }
}

#[test]
fn log_lines_tell_what_is_translated() {
    let config = masquerading().filter("forward", rule().log("").accept());
    let mut router =
        Router::new(config.nat("dstnat", rule().in_interface(2).protocol(6).dst_nat("192.168.88.11", 8000)));
    router.send(0, &out("192.168.88.10", 4000));
    router.send(1, &back(4000));
    let knock = PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").tcp(1000, 80, tcp_flag::SYN, 1, 0);
    router.send(1, &knock);
    let lines: Vec<String> = router.shared().log.take().into_iter().map(|line| line.message).collect();
    let ends: Vec<&str> = lines.iter().map(|line| line.split_once("proto ").unwrap().1).collect();
    assert_eq!(
        ends,
        [
            "UDP, 192.168.88.10:4000->203.0.113.5:53, len 58",
            "UDP, 203.0.113.5:53->192.168.88.10:4000, NAT 203.0.113.5:53->(10.2.0.1:4000->192.168.88.10:4000), len 88",
            "TCP (SYN), 203.0.113.5:1000->192.168.88.11:8000, NAT 203.0.113.5:1000->(10.2.0.1:80->192.168.88.11:8000), len 40",
        ]
    );
}

#[test]
fn log_lines_tell_the_identifier_of_a_ping_as_it_came() {
    let mut router = Router::new(masquerading().filter("forward", rule().log("").accept()));
    let ping = |host| PacketBuilder::ipv4(host, "203.0.113.5").echo_request(7, 1);
    router.send(0, &ping("192.168.88.10"));
    // The identifier is taken.
    let translated = router.send(0, &ping("192.168.88.11"))[0].packet().ports.0;
    assert_ne!(translated, 7);
    router.send(1, &PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").echo_reply(translated, 1));
    let lines: Vec<String> = router.shared().log.take().into_iter().map(|line| line.message).collect();
    let reported: Vec<&str> = lines.iter().map(|line| line.split_once("proto ").unwrap().1).collect();
    assert_eq!(
        reported,
        [
            "ICMP (type 8, code 0), id 7, 192.168.88.10->203.0.113.5, len 28".to_owned(),
            "ICMP (type 8, code 0), id 7, 192.168.88.11->203.0.113.5, len 28".to_owned(),
            format!(
                "ICMP (type 0, code 0), id {translated}, 203.0.113.5->192.168.88.11, \
                 NAT 203.0.113.5->(10.2.0.1->192.168.88.11), len 28"
            ),
        ]
    );
}

#[test]
fn log_lines_of_fragments_tell_no_ports_of_what_is_translated() {
    let mut router = Router::new(masquerading().filter("forward", rule().log("").accept()));
    router.send(0, &out("192.168.88.10", 4000));
    router.shared().log.take();
    let datagram = back(4000).ident(7).dont_fragment(false).eth_dst(tollway_testkit::router::port_mac(1));
    for fragment in datagram.payload_len(3000).build_fragments(1480) {
        router.inject(1, fragment, Default::default());
    }
    let lines: Vec<String> = router.shared().log.take().into_iter().map(|line| line.message).collect();
    assert!(lines.len() > 1, "{lines:?}");
    for (index, line) in lines.iter().enumerate() {
        let whole = line.contains("NAT 203.0.113.5:53->(10.2.0.1:4000->192.168.88.10:4000), ");
        let later = line.contains("NAT 203.0.113.5->(10.2.0.1->192.168.88.10), ");
        assert_eq!((whole, later), (index == 0, index > 0), "{line}");
    }
}

#[test]
fn clashing_source_ports_both_work() {
    let mut router = Router::new(masquerading());
    let first = router.send(0, &out("192.168.88.10", 4000))[0].packet().ports.0;
    let second = router.send(0, &out("192.168.88.11", 4000))[0].packet().ports.0;
    assert_eq!(first, 4000);
    assert_ne!(first, second);
    assert_eq!(router.send(1, &back(first))[0].packet().dst.to_string(), "192.168.88.10");
    let answer = router.send(1, &back(second))[0].packet();
    assert_eq!((answer.dst.to_string(), answer.ports.1), ("192.168.88.11".into(), 4000));
}

#[test]
fn pings_of_two_hosts_with_one_identifier_both_work() {
    let mut router = Router::new(masquerading());
    let mut idents = Vec::new();
    for host in ["192.168.88.10", "192.168.88.11"] {
        let sent = router.send(0, &PacketBuilder::ipv4(host, "203.0.113.5").echo_request(7, 1))[0].packet();
        assert!(sent.checksums_right);
        idents.push(sent.ports.0);
    }
    assert_ne!(idents[0], idents[1]);
    for (ident, host) in idents.into_iter().zip(["192.168.88.10", "192.168.88.11"]) {
        let reply = PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").echo_reply(ident, 1);
        let packet = router.send(1, &reply)[0].packet();
        assert_eq!((packet.dst.to_string().as_str(), packet.ports.0), (host, 7));
        assert!(packet.checksums_right);
    }
}

#[test]
fn a_forwarded_port_works_from_outside() {
    let config = masquerading()
        .nat("dstnat", rule().in_interface(2).protocol(6).dst_port(8080).dst_nat("192.168.88.10", 80))
        .filter("forward", rule().state(&[ConnectionState::New]).passthrough());
    let mut router = Router::new(config);
    let syn = PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").tcp(5555, 8080, tcp_flag::SYN, 1, 0);
    let sent = router.send(1, &syn);
    let packet = sent[0].packet();
    assert_eq!(sent[0].to, To::Port(0));
    assert_eq!(
        (packet.src.to_string(), packet.dst.to_string()),
        ("203.0.113.5".into(), "192.168.88.10".into())
    );
    assert_eq!((packet.ports, packet.checksums_right), ((5555, 80), true));
    let answer = PacketBuilder::ipv4("192.168.88.10", "203.0.113.5");
    let answer = answer.tcp(80, 5555, tcp_flag::SYN | tcp_flag::ACK, 9, 2);
    let packet = router.send(0, &answer)[0].packet();
    assert_eq!((packet.src.to_string(), packet.ports), ("10.2.0.1".into(), (8080, 5555)));
    assert!(packet.checksums_right);
    assert_eq!(router.connections()[0].flags, "SCd");
    assert_eq!((router.rule(1000).0, router.rule(1001).0, router.rule(1002).0), (0, 1, 1));
}

#[test]
fn redirect_sends_to_the_router_and_answers_come_from_where_they_were_expected() {
    let to_ports = Some(tollway_config::dataplane::PortRange { from: 3128, to: 3128 });
    let redirect = tollway_config::dataplane::Action::Redirect { to_ports };
    let mut router = Router::new(plain().nat("dstnat", rule().protocol(6).dst_port(80).then(redirect)));
    let syn = PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").tcp(5555, 80, tcp_flag::SYN, 1, 0);
    let sent = router.send(0, &syn);
    assert_eq!(sent[0].to, To::Local(1));
    assert_eq!(
        (sent[0].packet().dst.to_string(), sent[0].packet().ports),
        ("192.168.88.1".into(), (5555, 3128))
    );
    let answer = PacketBuilder::ipv4("192.168.88.1", "192.168.88.10");
    let answer = answer.tcp(3128, 5555, tcp_flag::SYN | tcp_flag::ACK, 9, 2);
    let sent = router.send_local(&answer.build_l3());
    let packet = sent[0].packet();
    assert_eq!(
        (sent[0].to, packet.src.to_string(), packet.ports),
        (To::Port(0), "203.0.113.5".into(), (80, 5555))
    );
    assert!(packet.checksums_right);
}

#[test]
fn icmp_errors_find_the_translated_flow_and_are_translated_inside() {
    let mut router = Router::new(masquerading());
    let sent = router.send(0, &out("192.168.88.10", 4000));
    // A router on the way reports what it saw.
    let quoted = sent[0].bytes[14..].to_vec();
    let error = PacketBuilder::ipv4("198.51.100.7", "10.2.0.1").icmp(11, 0, [0; 4]).payload(&quoted);
    let sent = router.send(1, &error);
    let packet = sent[0].packet();
    assert_eq!(
        (sent[0].to, packet.src.to_string(), packet.dst.to_string()),
        (To::Port(0), "198.51.100.7".into(), "192.168.88.10".into())
    );
    let inner = packet.quoted().expect("a quoted packet");
    assert_eq!((inner.src.to_string(), inner.first_words.0), ("192.168.88.10".into(), 4000));
    assert!(packet.checksums_right && inner.header_checksum_right);
    // One that quotes nothing known is invalid, and not translated: for the router itself.
    let stray = PacketBuilder::ipv4("10.2.0.1", "203.0.113.5").udp(4001, 53).build_l3();
    let error = PacketBuilder::ipv4("198.51.100.7", "10.2.0.1").icmp(11, 0, [0; 4]).payload(&stray);
    assert_eq!(router.send(1, &error)[0].to, To::Local(2));
}

#[test]
fn redirects_about_translated_flows_are_dropped_and_others_pass() {
    let redirect = |dst: &str, quoted: &[u8]| {
        PacketBuilder::ipv4("10.2.0.254", dst).icmp(5, 1, [10, 2, 0, 253]).payload(quoted)
    };
    // The gateway tells whom it believes to be the sender.
    let mut router = Router::new(masquerading());
    let sent = router.send(0, &out("192.168.88.10", 4000));
    let quoted = sent[0].bytes[14..].to_vec();
    router.moved();
    assert_eq!(router.send(1, &redirect("10.2.0.1", &quoted)), []);
    expect_counters!(router, Drop(IcmpRedirect): 1);
    // A forwarded port: the inside host learns of a gateway outside, or somebody outside of one inside.
    let forward = plain().nat("dstnat", rule().protocol(17).dst_port(53).dst_nat("192.168.88.10", 5353));
    let mut router = Router::new(forward);
    let quoted = PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").udp(5555, 53);
    router.send(1, &quoted);
    let quoted = PacketBuilder::ipv4("203.0.113.5", "192.168.88.10").udp(5555, 5353).build_l3();
    let inside = PacketBuilder::ipv4("192.168.88.11", "203.0.113.5").icmp(5, 1, [192, 168, 88, 12]);
    router.moved();
    assert_eq!(router.send(0, &inside.payload(&quoted)), []);
    expect_counters!(router, Drop(IcmpRedirect): 1);
    // Nothing is translated.
    let mut router = Router::new(plain());
    let sent = router.send(0, &out("192.168.88.10", 4000));
    let sent = router.send(1, &redirect("192.168.88.10", &sent[0].bytes[14..]));
    let packet = sent[0].packet();
    assert_eq!(
        (sent[0].to, packet.icmp, packet.dst.to_string()),
        (To::Port(0), Some((5, 1)), "192.168.88.10".into())
    );
    let inner = packet.quoted().expect("a quoted packet");
    assert_eq!(inner.src.to_string(), "192.168.88.10");
    // Nor is what quotes a packet that nobody has sent.
    let stray = PacketBuilder::ipv4("10.2.0.1", "203.0.113.5").udp(4001, 53).build_l3();
    assert_eq!(Router::new(masquerading()).send(1, &redirect("10.2.0.1", &stray))[0].to, To::Local(2));
}

#[test]
fn a_redirect_about_a_flow_that_has_just_begun_does_not_pass_before_it_is_translated() {
    let mut router = Router::new(masquerading());
    let frame = |port, packet: PacketBuilder| {
        (port, packet.eth_dst(tollway_testkit::router::port_mac(port)).build(), Default::default())
    };
    // It claims to be about an answer, which there is none of yet.
    let quoted = PacketBuilder::ipv4("203.0.113.5", "192.168.88.10").udp(53, 4000).build_l3();
    let redirect = PacketBuilder::ipv4("192.168.88.11", "203.0.113.5").icmp(5, 1, [192, 168, 88, 12]);
    router.moved();
    let sent = router
        .inject_batch(0, vec![frame(0, out("192.168.88.10", 4000)), frame(0, redirect.payload(&quoted))]);
    assert_eq!((sent.len(), sent[0].packet().ports), (1, (4000, 53)));
    expect_counters!(router, Drop(IcmpRedirect): 1, Connections: 1, Rule(1000): 1);
}

#[test]
fn errors_about_translated_packets_quote_them_as_they_were_sent() {
    let config = plain()
        .nat("dstnat", rule().protocol(17).dst_port(53).dst_nat("10.2.0.254", 5353))
        .filter("forward", rule().reject(RejectWith::IcmpAdminProhibited));
    let mut router = Router::new(config);
    let sent = router.send(0, &out("192.168.88.10", 4000));
    let packet = sent[0].packet();
    let inner = packet.quoted().expect("a quoted packet");
    assert_eq!((packet.icmp, packet.src.to_string()), (Some((3, 13)), "192.168.88.1".into()));
    assert_eq!((inner.dst.to_string(), inner.first_words.1), ("203.0.113.5".into(), 53));
    // TTL and size are checked after the destination was decided, too.
    router.advance_ms(100);
    let sent = router.send(0, &out("192.168.88.10", 4001).ttl(1));
    let inner = sent[0].packet().quoted().expect("a quoted packet");
    assert_eq!(inner.dst.to_string(), "203.0.113.5");
}

#[test]
fn masqueraded_flows_end_with_the_address_and_others_stay() {
    let mut router = Router::new(masquerading());
    router.send(0, &out("192.168.88.10", 4000));
    router.send(0, &PacketBuilder::ipv4("192.168.88.10", "192.168.88.1").udp(5, 6));
    assert_eq!(router.connections().len(), 2);
    router.reconfigure(|config| config.addresses[1].address = "10.2.0.9".parse().expect("an address"));
    assert_eq!(router.connections().len(), 1);
    let sent = router.send(0, &out("192.168.88.10", 4000))[0].packet();
    assert_eq!(sent.src.to_string(), "10.2.0.9");
    router.carrier(1, false);
    assert_eq!(router.connections().len(), 1);
}

#[test]
fn a_full_range_of_ports_drops_rather_than_leaks() {
    let to_ports = Some(tollway_config::dataplane::PortRange { from: 7000, to: 7001 });
    let masquerade = tollway_config::dataplane::Action::Masquerade { to_ports, randomise_ports: false };
    let mut router = Router::new(plain().nat("srcnat", rule().protocol(17).then(masquerade)));
    router.moved();
    for port in [1, 2, 3] {
        router.send(0, &out("192.168.88.10", 4000 + port));
    }
    expect_counters!(router, Rule(1000): 3, Connections: 2, Drop(NatExhausted): 1);
}

#[test]
fn an_out_interface_without_address_cannot_masquerade() {
    let config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("")
        .neighbor(2, "203.0.113.5", "02:01:0a:02:00:02", false)
        .route_to("203.0.113.0/24", tollway_config::dataplane::RouteTarget::Interface { interface: 2 })
        .nat("srcnat", rule().masquerade());
    let mut router = Router::new(config);
    router.moved();
    assert_eq!(router.send(0, &out("192.168.88.10", 4000)), []);
    expect_counters!(router, Rule(1000): 1, Drop(NatNoAddress): 1);
}

#[test]
fn removing_a_connection_ends_its_translation() {
    let mut router = Router::new(masquerading());
    router.send(0, &out("192.168.88.10", 4000));
    let id = router.connections()[0].id;
    assert!(router.remove_connection(id));
    assert!(!router.remove_connection(id));
    // The answer is for the router now.
    assert_eq!(router.send(1, &back(4000))[0].to, To::Local(2));
}

#[test]
fn super_frames_are_translated_whole_and_count_as_segments() {
    let mut router = Router::new(masquerading().filter("forward", rule().passthrough()));
    let tcp =
        |flags, seq, ack| PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").tcp(4000, 80, flags, seq, ack);
    let answer =
        |flags, seq, ack| PacketBuilder::ipv4("203.0.113.5", "10.2.0.1").tcp(80, 4000, flags, seq, ack);
    router.send(0, &tcp(tcp_flag::SYN, 100, 0));
    router.send(1, &answer(tcp_flag::SYN | tcp_flag::ACK, 500, 101));
    router.send(0, &tcp(tcp_flag::ACK, 101, 501));
    router.reset_counters(&[]);
    router.moved();
    let mut fast = 0;
    for round in 0..3u32 {
        let builder = tcp(tcp_flag::ACK, 101 + round * 14_480, 501).payload_len(14_480);
        let (frame, vnet) = builder.eth_dst(tollway_testkit::router::port_mac(0)).build_gso(1448);
        let sent = router.inject(0, frame, vnet);
        assert_eq!((sent.len(), sent[0].segments, sent[0].vnet), (1, 10, vnet));
        fast += i64::from(sent[0].fast) * 10;
        // The partial checksum covers the new addresses, nothing else.
        let pseudo = tollway_wire::checksum::pseudo_v4(
            u32::from_be_bytes(sent[0].bytes[26..30].try_into().expect("4 bytes")),
            u32::from_be_bytes(sent[0].bytes[30..34].try_into().expect("4 bytes")),
            6,
            14_500,
        );
        assert_eq!(sent[0].bytes[50..52], pseudo.to_be_bytes());
        assert_eq!(sent[0].packet().src.to_string(), "10.2.0.1");
        router.send(1, &answer(tcp_flag::ACK, 501, 101 + (round + 1) * 14_480));
        router.moved();
    }
    assert!(fast >= 20);
    let wire = 10 * (1448 + 40);
    assert_eq!(router.rule(1001), (33, 3 * wire + 3 * 40));
    assert_eq!(router.connections()[0].counts[0], (32, 3 * wire + 2 * 40));
}

#[test]
fn super_frames_meet_a_smaller_mtu_by_smaller_segments_or_an_error() {
    let mut router = Router::new(masquerading().with(|config| config.interfaces[1].mtu = 1000));
    let own = tollway_testkit::router::port_mac(0);
    let segment = PacketBuilder::ipv4("192.168.88.10", "203.0.113.5").tcp(4000, 80, tcp_flag::ACK, 1, 1);
    let segment = segment.payload_len(14_480).eth_dst(own);
    let (frame, vnet) = segment.clone().dont_fragment(false).build_gso(1448);
    let sent = router.inject(0, frame, vnet);
    assert_eq!((sent[0].vnet.gso_size, sent[0].segments), (960, 16));
    assert_eq!(sent[0].packet().src.to_string(), "10.2.0.1");
    let (frame, vnet) = segment.build_gso(1448);
    let sent = router.inject(0, frame, vnet);
    assert_eq!((sent[0].to, sent[0].packet().icmp), (To::Port(0), Some((3, 4))));
}

#[test]
fn a_packet_that_waited_in_vain_is_reported_to_its_sender_untranslated() {
    let config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .neighbor(1, "192.168.88.10", "02:01:0a:01:00:02", false)
        .route("0.0.0.0/0", "10.2.0.254")
        .nat("srcnat", rule().out_interface(2).masquerade());
    let mut router = Router::new(config);
    router.send(0, &out("192.168.88.10", 4000));
    let sent = router.advance_ms(3_100);
    let error = sent.iter().find(|output| output.to == To::Port(0)).expect("an error").packet();
    assert_eq!((error.icmp, error.dst.to_string()), (Some((3, 1)), "192.168.88.10".into()));
    assert_eq!(error.quoted().map(|quoted| quoted.src.to_string()), Some("192.168.88.10".into()));
}

#[test]
fn an_icmp_error_reaches_nobody_but_the_sender_it_quotes() {
    let config = plain()
        .filter("forward", rule().state(&[ConnectionState::Invalid]).drop())
        .filter("forward", rule().state(&[ConnectionState::Related]).accept());
    let mut router = Router::new(config);
    router.send(0, &out("192.168.88.10", 4000));
    let quoted = out("192.168.88.10", 4000).build_l3();
    let error = |dst: &str| PacketBuilder::ipv4("203.0.113.5", dst).icmp(3, 3, [0; 4]).payload(&quoted);
    assert_eq!(router.send(1, &error("192.168.88.10"))[0].to, To::Port(0));
    router.moved();
    assert_eq!(router.send(1, &error("192.168.88.11")), []);
    expect_counters!(router, Drop(FilterDrop): 1, Rule(1000): 1);
}

#[test]
fn what_is_to_be_redirected_does_not_pass_an_interface_without_address() {
    let redirect = tollway_config::dataplane::Action::Redirect { to_ports: None };
    let config = plain()
        .interface("")
        .route_to("198.51.100.0/24", tollway_config::dataplane::RouteTarget::Interface { interface: 3 })
        .nat("dstnat", rule().protocol(6).dst_port(80).then(redirect));
    let mut router = Router::new(config);
    let syn = PacketBuilder::ipv4("198.51.100.7", "203.0.113.5").tcp(5555, 80, tcp_flag::SYN, 1, 0);
    assert_eq!(router.send(2, &syn), []);
    expect_counters!(router, Drop(NatNoAddress): 1, Rule(1000): 1);
    assert_eq!(router.connections(), []);
}

#[test]
fn fragments_of_two_hosts_behind_one_address_are_told_apart_by_their_identification() {
    // As they come, and fragmented by the router.
    for mtu in [1500, 1000] {
        let mut router = Router::new(masquerading().with(|config| config.interfaces[1].mtu = mtu));
        let datagram = |host: &str| {
            let datagram = PacketBuilder::ipv4(host, "203.0.113.5").udp(5000, 6000);
            datagram.ident(77).dont_fragment(false).eth_dst(tollway_testkit::router::port_mac(0))
        };
        let mut idents = Vec::new();
        for host in ["192.168.88.10", "192.168.88.11"] {
            // Those of 1,428 bytes are too long for the smaller MTU: the router fragments them.
            let (len, size) = if mtu == 1000 { (1400, 2000) } else { (1900, 1000) };
            let fragments = datagram(host).payload_len(len).build_fragments(size);
            let mut seen = Vec::new();
            for fragment in fragments {
                for output in router.inject(0, fragment, Default::default()) {
                    let packet = output.packet();
                    assert_eq!((packet.src.to_string(), packet.checksums_right), ("10.2.0.1".into(), true));
                    seen.push(u16::from_be_bytes([output.bytes[18], output.bytes[19]]));
                }
            }
            assert!(seen.len() >= 2 && seen.iter().all(|ident| *ident == seen[0]), "{mtu}: {seen:?}");
            idents.push(seen[0]);
        }
        assert_ne!(idents[0], idents[1]);
        // What leaves in one piece keeps its own.
        let sent = router.send(0, &datagram("192.168.88.12").payload_len(100));
        assert_eq!(sent[0].bytes[18..20], 77u16.to_be_bytes());
    }
}
