//! Traces: what they say is what happened, and nothing happens otherwise because of them.

use tollway_config::dataplane::{
    Cake, CakeAckFilter, CakeAtm, CakeDiffserv, CakeFlowmode, InterfaceQueue, Prefix, QueueType,
    TrackingMode, TreeParent, TreeQueue,
};
use tollway_config::protocol::{TraceFilter, TraceOutcome, TracedPacket};
use tollway_engine::observe::trace::Collector;
use tollway_engine::packet::frame::VnetState;
use tollway_engine::time::Now;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::router::port_mac;
use tollway_testkit::{Router, RouterConfig, queue_limit, rule};

fn plain() -> RouterConfig {
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("203.0.113.1/24")
        .route("0.0.0.0/0", "203.0.113.254")
        .with(|config| config.tracking.enabled = TrackingMode::Yes)
}

fn hosts(router: Router) -> Router {
    router.hosts(0, &["192.168.88.10", "192.168.88.11"]).hosts(1, &["203.0.113.254"])
}

fn host(address: [u8; 4]) -> Option<Prefix> {
    Some(Prefix { address: address.into(), prefix_len: 32 })
}

fn from_lan() -> TraceFilter {
    TraceFilter { src_address: host([192, 168, 88, 10]), dst_port: Some(53), ..TraceFilter::default() }
}

fn query() -> PacketBuilder {
    PacketBuilder::ipv4("192.168.88.10", "1.1.1.1").udp(40_000, 53).payload_len(20)
}

fn answer() -> PacketBuilder {
    PacketBuilder::ipv4("1.1.1.1", "203.0.113.1").udp(53, 40_000).payload_len(20)
}

/// Stage, decision and rows of each step.
fn steps(packet: &TracedPacket) -> Vec<(&str, &str, &[u32])> {
    packet.steps.iter().map(|step| (step.stage.as_str(), step.decision.as_str(), &step.rows[..])).collect()
}

#[test]
fn segments_that_came_uncut_are_told_as_what_they_are_on_the_wire() {
    let mut router = hosts(Router::new(plain()));
    let trace = router.start_trace(&TraceFilter::default());
    let segments = PacketBuilder::ipv4("192.168.88.10", "1.1.1.1").tcp(4000, 80, tcp_flag::ACK, 1, 1);
    let (frame, vnet) = segments.payload_len(2500).eth_dst(port_mac(0)).build_gso(1000);
    router.inject(0, frame, vnet);
    router.send(0, &query());
    let packets = router.traced(trace).packets;
    let lengths: Vec<_> = packets.iter().map(|packet| (packet.length, packet.segments)).collect();
    assert_eq!(lengths, [(1040, 3), (48, 1)]);
}

#[test]
fn the_first_packet_of_a_translated_connection_tells_every_stage() {
    let config = plain()
        .filter("forward", rule().protocol(17).passthrough())
        .filter_jump("forward", rule().protocol(17), "udp")
        .filter("udp", rule().dst_port(53).accept())
        .nat("srcnat", rule().out_interface(2).masquerade())
        .queue(&["192.168.88.0/24"], 10_000_000, 10_000_000);
    let mut router = hosts(Router::new(config));
    let trace = router.start_trace(&from_lan());
    assert_eq!(router.send(0, &query()).len(), 1);
    let noted = router.traced(trace);
    assert_eq!(noted.packets.len(), 1, "{noted:?}");
    let packet = &noted.packets[0];
    let new = "not forwarded by the flow cache: no earlier packet of this direction of its connection was \
               decided, or it belongs to no connection";
    // The translation was decided with this very packet.
    const FIRST: &str = "the first packet of its direction: the next one tells what the flow cache keeps";
    let expected: &[(&str, &str, &[u32])] = &[
        ("parse", "UDP, time to live 64", &[]),
        ("flow_cache", new, &[]),
        ("track", "new, in original direction", &[]),
        ("route", "by the next hop 203.0.113.254", &[200]),
        ("ttl", "time to live becomes 63", &[]),
        ("filter", "accepted", &[1000, 1001, 1002]),
        ("src_nat", "becomes 203.0.113.1:40000", &[1003]),
        ("classify", "in a queue, as upload", &[5000]),
        ("install", FIRST, &[]),
        ("emit", "waits for the link-layer address of its next hop", &[]),
        ("emit", "handed to its queue", &[]),
        ("queue", "passed its queue at once", &[5000]),
    ];
    assert_eq!(steps(packet), expected);
    assert_eq!((packet.number, packet.in_interface, packet.out_interface), (1, 1, 2));
    assert_eq!((packet.fast, packet.slow_reason.as_deref()), (false, Some("new-connection")));
    assert_eq!((packet.outcome, packet.src_port, packet.length), (TraceOutcome::Forwarded, 40_000, 48));
    assert_eq!(packet.src_address.to_string(), "192.168.88.10");
}

#[test]
fn later_packets_come_from_the_cache_and_translated_answers_belong_to_the_trace() {
    let config = plain()
        .filter("forward", rule().protocol(17).passthrough())
        .nat("srcnat", rule().out_interface(2).masquerade());
    let mut router = hosts(Router::new(config));
    for _ in 0..2 {
        router.send(0, &query());
        router.send(1, &answer());
    }
    let trace = router.start_trace(&from_lan());
    router.send(0, &query());
    assert!(router.send(1, &answer())[0].fast);
    let noted = router.traced(trace);
    let [query, answer] = &noted.packets[..] else { panic!("{noted:?}") };
    assert!(query.fast && answer.fast && query.slow_reason.is_none());
    assert_eq!(
        steps(query),
        [
            ("parse", "UDP, time to live 64", &[][..]),
            ("flow_cache", "forwarded from the flow cache, source becomes 203.0.113.1:40000", &[1000][..]),
        ]
    );
    assert_eq!(
        steps(answer),
        [(
            "flow_cache",
            "forwarded from the flow cache, destination becomes 192.168.88.10:40000",
            &[1000][..]
        )]
    );
    assert_eq!((answer.in_interface, answer.out_interface), (2, 1));
    assert_eq!(answer.dst_address.to_string(), "203.0.113.1");
}

#[test]
fn drops_alone_can_be_asked_for_and_name_reason_and_rule() {
    let config = plain()
        .filter("forward", rule().protocol(6).dst_port(80).drop())
        .filter("input", rule().protocol(6).drop());
    let mut router = hosts(Router::new(config));
    let trace = router.start_trace(&TraceFilter { dropped: true, ..TraceFilter::default() });
    let tcp = |to: &str, port| PacketBuilder::ipv4("192.168.88.10", to).tcp(1, port, tcp_flag::SYN, 1, 0);
    router.send(0, &tcp("1.1.1.1", 443));
    router.send(0, &tcp("1.1.1.1", 80));
    router.send(0, &tcp("192.168.88.1", 22));
    router.send(0, &PacketBuilder::ipv4("192.168.88.10", "192.168.88.1").echo_request(1, 1));
    router.send(0, &query().ttl(1));
    let noted = router.traced(trace);
    let reported: Vec<_> = noted
        .packets
        .iter()
        .map(|packet| {
            assert_eq!(packet.outcome, TraceOutcome::Dropped);
            let last = packet.steps.last().expect("a step");
            (packet.dst_port, packet.drop_reason.as_deref(), last.stage.as_str(), &last.rows[..])
        })
        .collect();
    assert_eq!(
        reported,
        [
            (80, Some("filter-drop"), "filter", &[1000][..]),
            (22, Some("filter-drop"), "filter", &[1001][..]),
            (53, Some("ttl-exceeded"), "ttl", &[][..]),
        ]
    );
}

#[test]
fn packets_that_are_refused_at_once_are_found_by_what_their_headers_say() {
    let mut router = hosts(Router::new(plain()));
    let trace = router.start_trace(&TraceFilter { dropped: true, ..from_lan() });
    let mut damaged = query().eth_dst(port_mac(0)).build();
    // The header checksum.
    damaged[24] ^= 1;
    router.inject(0, damaged, VnetState::default());
    router.send(0, &PacketBuilder::ipv4("192.168.88.10", "240.0.0.1").udp(4000, 53));
    router.send(0, &PacketBuilder::ipv4("192.168.88.11", "240.0.0.1").udp(4000, 53));
    // It claims to be longer than it is.
    let mut short = PacketBuilder::ipv4("192.168.88.10", "1.1.1.2").udp(4000, 53).payload_len(72);
    short = short.eth_dst(port_mac(0));
    router.inject(0, short.build()[..14 + 60].to_vec(), VnetState::default());
    let packets = router.traced(trace).packets;
    let ends: Vec<_> = packets
        .iter()
        .map(|packet| {
            (packet.src_address.to_string(), packet.dst_address.to_string(), packet.protocol, packet.dst_port)
        })
        .collect();
    let [first, second, third] =
        ["1.1.1.1", "240.0.0.1", "1.1.1.2"].map(|dst| ("192.168.88.10".to_owned(), dst.to_owned(), 17, 53));
    assert_eq!(ends, [first, second, third]);
    let lengths: Vec<_> = packets.iter().map(|packet| packet.length).collect();
    assert_eq!(lengths, [query().build_l3().len() as u32, 28, 60]);
}

#[test]
fn what_the_router_answers_and_takes_is_told() {
    let mut router = hosts(Router::new(plain()));
    let trace = router.start_trace(&TraceFilter { in_interface: Some(1), ..TraceFilter::default() });
    router.send(0, &PacketBuilder::ipv4("192.168.88.10", "192.168.88.1").echo_request(1, 1));
    router.send(0, &PacketBuilder::ipv4("192.168.88.10", "192.168.88.1").udp(5, 53));
    let outcomes: Vec<_> = router.traced(trace).packets.iter().map(|packet| packet.outcome).collect();
    assert_eq!(outcomes, [TraceOutcome::Answered, TraceOutcome::Delivered]);
}

#[test]
fn a_packet_that_is_handed_over_is_one_packet() {
    let mut router = hosts(Router::with_workers(plain(), 4));
    let trace = router.start_trace(&from_lan());
    let mut handed_over = 0;
    for port in 0..8 {
        let packet = PacketBuilder::ipv4("192.168.88.10", "1.1.1.1").udp(40_000 + port, 53);
        router.inject_batch(0, vec![(0, packet.eth_dst(port_mac(0)).build(), Default::default())]);
    }
    let noted = router.traced(trace);
    assert_eq!(noted.packets.len(), 8);
    for packet in &noted.packets {
        assert_eq!(packet.outcome, TraceOutcome::Forwarded, "{packet:?}");
        let stages: Vec<_> = packet.steps.iter().map(|step| step.stage.as_str()).collect();
        let moved = packet.steps.iter().filter(|step| step.decision.starts_with("handed over")).count();
        assert_eq!(moved, usize::from(packet.worker != 0), "{packet:?}");
        assert_eq!(stages.iter().filter(|stage| **stage == "route").count(), 1, "{packet:?}");
        handed_over += moved;
    }
    assert_eq!(handed_over, 6);
}

#[test]
fn fragments_wait_and_are_told_with_their_datagram_s_ports() {
    let mut router = hosts(Router::new(plain()));
    let trace = router.start_trace(&from_lan());
    let mut fragments = query().eth_dst(port_mac(0)).payload_len(900).build_fragments(400);
    fragments.reverse();
    for fragment in fragments {
        router.inject(0, fragment, Default::default());
    }
    let noted = router.traced(trace);
    // The ports are known from the first fragment on, which came last.
    assert_eq!(noted.packets.len(), 3, "{noted:?}");
    assert!(noted.packets.iter().all(|packet| packet.outcome == TraceOutcome::Forwarded));
    assert!(noted.packets.iter().all(|packet| packet.slow_reason.as_deref() == Some("fragment")));
}

#[test]
fn a_full_buffer_loses_packets_and_says_so() {
    let mut router = hosts(Router::new(plain()));
    let trace = router.start_trace(&from_lan());
    // The first one waits for its next hop, which takes a second record.
    router.send(0, &query());
    for _ in 1..600 {
        router.send(0, &query());
    }
    let noted = router.traced(trace);
    assert_eq!((noted.packets.len(), noted.lost), (511, 89));
    router.send(0, &query());
    assert_eq!(router.traced(trace).packets.len(), 512);
}

#[test]
fn four_traces_run_at_a_time_and_those_that_nobody_asks_about_end() {
    let mut traces = Collector::default();
    let second = 1_000_000_000;
    let ids: Vec<_> = (0..4).map(|at| traces.start(&from_lan(), 10, Now(at * second))).collect();
    assert!(ids.iter().all(Option::is_some));
    assert_eq!(traces.start(&from_lan(), 10, Now(0)), None);
    traces.expire(Now(31 * second));
    let alive: Vec<_> =
        ids.iter().flatten().map(|id| traces.read(*id, 0, Now(31 * second)).is_some()).collect();
    assert_eq!(alive, [false, false, true, true]);
    // Asking prolongs them.
    traces.expire(Now(60 * second));
    assert!(traces.stop(ids[3].unwrap_or(0)));
    assert!(!traces.stop(ids[3].unwrap_or(0)));
    assert!(traces.is_running());
    traces.expire(Now(61 * second));
    assert!(!traces.is_running());
}

#[test]
fn a_trace_ends_when_it_has_its_packets() {
    let mut router = hosts(Router::new(plain()));
    let all = router.start_trace(&from_lan());
    let few = router.start_trace_of(&from_lan(), 3);
    for _ in 0..5 {
        router.send(0, &query());
    }
    let noted = router.traced(few);
    assert_eq!((noted.packets.len(), noted.done), (3, true));
    assert_eq!(router.traced(all).packets.len(), 5);
    // What waits for the first fragment is expected by the other alone.
    let fragments = query().eth_dst(port_mac(0)).payload_len(900).build_fragments(400);
    for fragment in fragments.into_iter().skip(1).take(1) {
        router.inject(0, fragment, Default::default());
    }
    assert_eq!((router.traced(few).done, router.traced(all).packets.len()), (true, 5));
    router.stop_trace(all);
    router.send(0, &query());
    assert_eq!(router.traced(few).packets.len(), 3);
}

const CAKE: Cake = Cake {
    bandwidth: 8_000,
    autorate_ingress: false,
    overhead: 0,
    mpu: 0,
    atm: CakeAtm::None,
    rtt_us: 100_000,
    diffserv: CakeDiffserv::Besteffort,
    flowmode: CakeFlowmode::Flows,
    nat: false,
    wash: false,
    ack_filter: CakeAckFilter::Aggressive,
    memory_limit: 0,
};

/// What a stage says of the packets that take part in a trace, while `send` sends them, but for how long they waited.
fn said(mut router: Router, stage: &str, send: impl FnOnce(&mut Router)) -> Vec<(String, Vec<u32>)> {
    let trace = router.start_trace(&TraceFilter::default());
    send(&mut router);
    // So long packets may wait until nothing more is expected of them.
    router.advance_ms(1_000);
    let packets = router.traced(trace).packets;
    let steps = packets.into_iter().flat_map(|packet| packet.steps).filter(|step| step.stage == stage);
    let steps = steps.filter(|step| !step.decision.starts_with("left its queue"));
    steps.map(|step| (step.decision, step.rows)).collect()
}

#[test]
fn a_queue_of_the_tree_has_no_direction_and_a_simple_one_behind_it_its_own() {
    let tree =
        |row, parent| TreeQueue { row, parent, packet_marks: Vec::new(), limit: queue_limit(10_000_000) };
    let classified = |config: RouterConfig| {
        let mut router = hosts(Router::new(config));
        router.send(0, &query());
        said(router, "classify", |router| {
            let answer = PacketBuilder::ipv4("1.1.1.1", "192.168.88.10").udp(53, 50_000).payload_len(20);
            router.send(1, &answer);
        })
    };
    let global = plain().with(|config| config.tree_queues = vec![tree(7000, TreeParent::Global)]);
    let both = global.clone().queue(&["192.168.88.0/24"], 10_000_000, 10_000_000);
    assert_eq!(classified(global), [("in a queue of the tree".to_owned(), vec![7000])]);
    let said = "in a queue of the tree, and in a simple one as download".to_owned();
    assert_eq!(classified(both), [(said, vec![7000, 5000])]);
    let alone = plain().queue(&["192.168.88.0/24"], 10_000_000, 10_000_000);
    assert_eq!(classified(alone), [("in a queue, as download".to_owned(), vec![5000])]);
}

#[test]
fn who_waits_for_an_interface_or_is_dropped_there_says_so() {
    let cake = QueueType::Cake(CAKE);
    let config = plain().queue(&["192.168.88.0/24"], 10_000_000, 10_000_000).with(|config| {
        config.interface_queues =
            vec![InterfaceQueue { interface: 2, queue_type: config.queue_types.len() as u32 }];
        config.queue_types.push(cake);
    });
    let mut router = hosts(Router::new(config));
    router.send(0, &query());
    let waits = said(router, "queue", |router| {
        router.send(0, &query());
    });
    assert_eq!(waits, [("waits in the queue of its interface".to_owned(), vec![5000, 2])]);
}

#[test]
fn what_a_queue_drops_is_told_as_that_and_what_it_keeps_as_waiting() {
    let red = QueueType::Red { limit: 60, min_threshold: 0, max_threshold: 0, burst: 1, avg_packet: 1000 };
    let ack =
        |number| PacketBuilder::ipv4("192.168.88.10", "1.1.1.1").tcp(4000, 80, tcp_flag::ACK, 5, number);
    let queued = |kind: &QueueType| {
        let config = plain().queue(&["192.168.88.0/24"], 8_000, 8_000).with(|config| {
            config.simple_queues[0].upload.queue_type = config.queue_types.len() as u32;
            config.queue_types.push(kind.clone());
        });
        let mut router = hosts(Router::new(config));
        // What it has tokens for at first.
        router.send(0, &query().payload_len(1000));
        said(router, "queue", |router| (1..4).for_each(|number| drop(router.send(0, &ack(number * 1000)))))
    };
    let full =
        ("dropped: as many packets waited in its queue as the queue type allows".to_owned(), vec![5000]);
    assert_eq!(queued(&red), vec![full.clone(); 3]);
    // It keeps the newest acknowledgement alone.
    let waits = ("waits in its queue".to_owned(), vec![5000]);
    let thinned = (full.0, Vec::new());
    let reported = [&waits, &thinned, &waits, &thinned, &waits].map(Clone::clone);
    assert_eq!(queued(&QueueType::Cake(CAKE)), reported);
}

/// A router whose LAN sends at 8 kbit/s, with the queue type, and has used up what its queue has tokens for at first.
fn slow(queue_type: QueueType) -> Router {
    let config = plain().queue(&["192.168.88.0/24"], 8_000, 8_000).with(|config| {
        config.simple_queues[0].upload.queue_type = config.queue_types.len() as u32;
        config.queue_types.push(queue_type);
    });
    let mut router = hosts(Router::new(config));
    router.send(0, &query().payload_len(300));
    router
}

/// The first packet of another flow.
fn another(flow: u16) -> PacketBuilder {
    PacketBuilder::ipv4("192.168.88.10", "1.1.1.1").udp(41_000 + flow, 53).payload_len(20)
}

/// The last steps of a packet, as stages and what they say.
fn last_steps<const N: usize>(packet: &TracedPacket) -> [(&str, &str); N] {
    let last = packet.steps.len().saturating_sub(N);
    let steps: Vec<_> =
        packet.steps[last..].iter().map(|step| (step.stage.as_str(), step.decision.as_str())).collect();
    steps.try_into().expect("as many steps")
}

#[test]
fn a_packet_that_waits_in_its_queue_is_told_when_it_leaves() {
    let mut router = slow(QueueType::Pfifo { limit: 10 });
    let trace = router.start_trace(&from_lan());
    for flow in 0..3 {
        assert!(router.send(0, &another(flow)).is_empty());
    }
    assert_eq!(router.traced(trace).packets, []);
    let sent: usize = (0..5).map(|_| router.advance_ms(100).len()).sum();
    assert_eq!(sent, 3);
    let packets = router.traced(trace).packets;
    assert_eq!(packets.len(), 3);
    for packet in &packets {
        assert_eq!((packet.outcome, packet.out_interface), (TraceOutcome::Forwarded, 2));
        let [emit, waits, (stage, left)] = last_steps(packet);
        assert_eq!(emit, ("emit", "handed to its queue"));
        assert_eq!(waits, ("queue", "waits in its queue"));
        assert!(stage == "queue" && left.starts_with("left its queue after "), "{left}");
    }
}

#[test]
fn a_packet_that_stays_in_its_queue_names_the_interface_it_waits_for() {
    let mut router = slow(QueueType::Pfifo { limit: 10 });
    let trace = router.start_trace(&from_lan());
    router.send(0, &another(0).payload_len(1400));
    router.send(0, &another(1).payload_len(1400));
    router.advance_ms(1_000);
    let packets = router.traced(trace).packets;
    let last = packets.last().expect("a packet");
    assert_eq!((last.outcome, last.out_interface), (TraceOutcome::Held, 2));
    assert_eq!(last_steps(last), [("emit", "handed to its queue"), ("queue", "waits in its queue")]);
}

#[test]
fn a_packet_for_which_its_queue_has_no_room_was_not_sent() {
    let mut router = slow(QueueType::Pfifo { limit: 1 });
    let trace = router.start_trace(&TraceFilter { dropped: true, ..from_lan() });
    for flow in 0..3 {
        router.send(0, &another(flow));
    }
    router.advance_ms(1_000);
    let packets = router.traced(trace).packets;
    assert_eq!(packets.len(), 2, "{packets:?}");
    for packet in &packets {
        assert_eq!((packet.drop_reason.as_deref(), packet.out_interface), (Some("queue-full"), 2));
        let full = "dropped: as many packets waited in its queue as the queue type allows";
        assert_eq!(last_steps(packet), [("emit", "handed to its queue"), ("queue", full)]);
    }
}

#[test]
fn a_packet_that_its_queue_drops_after_it_waited_is_told_as_dropped() {
    let mut router = slow(QueueType::Cake(CAKE));
    let trace = router.start_trace(&TraceFilter::default());
    let ack =
        |number| PacketBuilder::ipv4("192.168.88.10", "1.1.1.1").tcp(4000, 80, tcp_flag::ACK, 5, number);
    (1..4).for_each(|number| drop(router.send(0, &ack(number * 1000))));
    router.advance_ms(500);
    router.advance_ms(500);
    let outcomes: Vec<_> = router.traced(trace).packets.iter().map(|packet| packet.outcome).collect();
    assert!(outcomes.contains(&TraceOutcome::Dropped), "{outcomes:?}");
    assert!(!outcomes.contains(&TraceOutcome::Held), "{outcomes:?}");
}

#[test]
fn an_echo_request_that_waits_in_its_queue_is_told_as_answered() {
    let mut router = slow(QueueType::Pfifo { limit: 10 });
    let echo = |sequence| PacketBuilder::ipv4("192.168.88.10", "192.168.88.1").echo_request(1, sequence);
    router.send(0, &echo(0).payload_len(150));
    let trace = router.start_trace(&TraceFilter { protocol: Some(1), ..TraceFilter::default() });
    router.send(0, &echo(1));
    (0..5).for_each(|_| drop(router.advance_ms(100)));
    let packets = router.traced(trace).packets;
    let request = packets.first().expect("a packet");
    assert_eq!(request.outcome, TraceOutcome::Answered, "{packets:?}");
    let [waits, (_, left), answered] = last_steps(request);
    assert_eq!((waits, answered), (("queue", "waits in its queue"), ("queue", "answered")));
    assert!(left.starts_with("left its queue after "), "{left}");
}

/// How often packets are said to have left a queue.
fn times_left(packet: &TracedPacket) -> usize {
    packet.steps.iter().filter(|step| step.decision.starts_with("left its queue after ")).count()
}

#[test]
fn a_packet_that_waits_in_two_queues_is_told_of_both() {
    let tree = TreeQueue {
        row: 7000,
        parent: TreeParent::Global,
        packet_marks: Vec::new(),
        limit: queue_limit(16_000),
    };
    let config =
        plain().queue(&["192.168.88.0/24"], 8_000, 8_000).with(|config| config.tree_queues = vec![tree]);
    let mut router = hosts(Router::new(config));
    router.send(0, &query().payload_len(300));
    let trace = router.start_trace(&from_lan());
    (0..4).for_each(|flow| drop(router.send(0, &another(flow))));
    (0..9).for_each(|_| drop(router.advance_ms(100)));
    let packets = router.traced(trace).packets;
    assert_eq!(packets.len(), 4);
    assert!(packets.iter().all(|packet| packet.outcome == TraceOutcome::Forwarded), "{packets:?}");
    assert!(packets.iter().any(|packet| times_left(packet) == 2), "{packets:?}");
}

#[test]
fn packets_of_several_workers_that_wait_in_one_queue_are_told_apart() {
    let config = plain().queue(&["192.168.88.0/24"], 8_000, 8_000);
    let mut router = hosts(Router::with_workers(config, 4));
    router.send(0, &query().payload_len(300));
    let trace = router.start_trace(&from_lan());
    (0..8).for_each(|flow| drop(router.send(0, &another(flow))));
    (0..9).for_each(|_| drop(router.advance_ms(100)));
    let packets = router.traced(trace).packets;
    assert_eq!(packets.len(), 8);
    for packet in &packets {
        assert_eq!((packet.outcome, packet.out_interface), (TraceOutcome::Forwarded, 2), "{packet:?}");
        assert_eq!(times_left(packet), 1, "{packet:?}");
    }
    // They leave in the order in which they came.
    let flows: Vec<_> = packets.iter().map(|packet| packet.src_port).collect();
    assert_eq!(flows, (41_000..41_008).collect::<Vec<_>>());
}
