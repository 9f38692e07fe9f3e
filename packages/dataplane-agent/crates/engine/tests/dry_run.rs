//! A dry run says what then becomes of the packet, and leaves no trace of itself.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tollway_config::dataplane::{
    Action, ConnectionState, LimitUnit, MarkName, Matcher, PortRange, RejectWith, RpFilter, TrackingMode,
};
use tollway_config::protocol::{PacketDescription, TraceFilter, TraceOutcome, TracedPacket};
use tollway_engine::engine::dry_run::DryRunError;
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::random::Random;
use tollway_testkit::router::LIMITS;
use tollway_testkit::{Router, RouterConfig, rule};

const HOSTS: [&str; 3] = ["192.168.88.10", "192.168.88.11", "192.168.88.12"];
const SERVERS: [&str; 4] = ["203.0.113.5", "198.51.100.7", "10.2.0.2", "10.9.9.9"];

fn base() -> RouterConfig {
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .with(|config| {
            config.settings.icmp_rate_limit_ms = 0;
            config.tracking.enabled = TrackingMode::Yes;
        })
}

fn build(config: RouterConfig, workers: u32) -> Router {
    Router::with_workers(config, workers).hosts(0, &HOSTS).hosts(1, &["10.2.0.254", "10.2.0.2"])
}

/// A packet as text tells it.
#[derive(Debug, Clone)]
struct Described {
    port: Option<u16>,
    src: String,
    dst: String,
    protocol: u8,
    ports: (u16, u16),
    flags: u8,
    seq: (u32, u32),
    ttl: u8,
    payload: usize,
}

impl Described {
    fn tcp(src: &str, src_port: u16, dst: &str, dst_port: u16, flags: u8) -> Self {
        Self { protocol: 6, flags, ..Self::udp(src, src_port, dst, dst_port) }
    }

    fn udp(src: &str, src_port: u16, dst: &str, dst_port: u16) -> Self {
        Self {
            port: Some(0),
            src: src.to_owned(),
            dst: dst.to_owned(),
            protocol: 17,
            ports: (src_port, dst_port),
            flags: 0,
            seq: (1, 1),
            ttl: 64,
            payload: 0,
        }
    }

    fn builder(&self) -> PacketBuilder {
        let builder = PacketBuilder::ipv4(&self.src, &self.dst).ttl(self.ttl).dont_fragment(false);
        let builder = match self.protocol {
            6 => builder.tcp(self.ports.0, self.ports.1, self.flags, self.seq.0, self.seq.1),
            17 => builder.udp(self.ports.0, self.ports.1),
            1 => builder.echo_request(self.ports.0, 1),
            other => builder.protocol(other),
        };
        builder.payload_len(self.payload)
    }

    fn description(&self) -> PacketDescription {
        PacketDescription {
            in_interface: self.port.map(|port| u32::from(port) + 1),
            protocol: self.protocol,
            src_address: self.src.parse().expect("an address"),
            dst_address: self.dst.parse().expect("an address"),
            src_port: self.ports.0,
            dst_port: self.ports.1,
            icmp_type: 8,
            icmp_code: 0,
            tcp_flags: self.flags,
            length: self.builder().build_l3().len() as u16,
            ttl: self.ttl,
        }
    }

    fn send(&self, router: &mut Router) {
        match self.port {
            Some(port) => router.send(port, &self.builder()),
            None => router.send_local(&self.builder().build_l3()),
        };
    }
}

/// Steps that a dry run and the real packet must have in common: who is asked for link-layer addresses, and
/// which worker does what, shows in the others.
fn decisions(packet: &TracedPacket) -> Vec<(&str, &str, &[u32])> {
    let own = ["flow_cache", "install", "emit", "queue", "parse"];
    let steps = packet.steps.iter().filter(|step| !own.contains(&step.stage.as_str()));
    steps.map(|step| (step.stage.as_str(), step.decision.as_str(), &step.rows[..])).collect()
}

/// Rows of a stage's steps.
fn rows(packet: &TracedPacket, stage: &str) -> Vec<u32> {
    let steps = packet.steps.iter().filter(|step| step.stage == stage);
    steps.flat_map(|step| step.rows.iter().copied()).collect()
}

/// Describes a packet, then sends it under a trace that has noted `last` packets. Gives what both reported.
fn check(
    router: &mut Router,
    packet: &Described,
    trace: u64,
    last: &mut usize,
) -> (TracedPacket, TracedPacket) {
    let before = (router.stats(), router.connections(), router.queues());
    let listed = router.shared().address_sets.dynamic();
    let dry = router.dry_run(&packet.description()).expect("a packet");
    assert_eq!(before, (router.stats(), router.connections(), router.queues()), "a dry run changes nothing");
    assert_eq!((router.shared().log.take(), router.shared().address_sets.dynamic()), (Vec::new(), listed));
    packet.send(router);
    router.sleep(1_000_000_001);
    let noted = router.traced(trace).packets;
    router.shared().log.take();
    // A redirect that has waited for the link-layer address of its host may be noted before the packet.
    let is_it = |noted: &&TracedPacket| {
        (noted.protocol, noted.src_address.to_string()) == (packet.protocol, packet.src.clone())
    };
    let real = noted.iter().skip(*last).find(is_it).cloned().expect("the packet");
    *last = noted.len();
    (dry, real)
}

fn config(random: &mut Random) -> RouterConfig {
    let mut config = base().address_list("seen", &[]);
    let syn = rule().protocol(6).tcp_flags(tcp_flag::SYN, tcp_flag::ACK);
    for _ in 0..random.below(6) {
        let counting = [
            Matcher::Nth { every: 3, packet: 2, negate: false },
            Matcher::Random { percent: 40 },
            Matcher::Limit { rate: 5, per_ms: 1000, burst: 5, unit: LimitUnit::Packet, negate: false },
            Matcher::ConnectionBytes { from: 300, to: 0 },
        ];
        let counting = rule().matcher(counting[random.below(4) as usize].clone());
        config = match random.below(12) {
            8 => config.filter("forward", counting.drop()),
            9 => config.filter(
                "forward",
                counting.then(Action::AddSrcToAddressList { list: 0, timeout_ms: 60_000 }),
            ),
            10 | 11 => config.filter("forward", counting.passthrough()),
            0 => config.filter("forward", rule().protocol(17).dst_port(53).log("dns").passthrough()),
            1 => config.filter("forward", rule().protocol(6).dst_port(81).drop()),
            2 => config.filter("forward", rule().protocol(6).dst_port(82).reject(RejectWith::TcpReset)),
            3 => config.filter("forward", rule().state(&[ConnectionState::Established]).fasttrack()),
            4 => config.filter("forward", rule().state(&[ConnectionState::Established]).accept()),
            5 => config.filter("forward", rule().state(&[ConnectionState::New]).in_interface(2).drop()),
            6 => config.filter_jump("forward", rule().protocol(17), "udp"),
            7 => config.filter("udp", rule().dst_port(54).then(Action::Return)),
            _ => config.filter("input", syn.clone().drop()),
        };
    }
    if random.one_in(3) {
        config = config.with(|config| config.interfaces[1].mtu = 600);
    }
    if random.one_in(4) {
        config = config.with(|config| config.settings.rp_filter = RpFilter::Strict);
    }
    if random.one_in(4) {
        config = config.queue(&["192.168.88.0/24"], 1_000_000_000, 1_000_000_000);
    }
    match random.below(6) {
        // Few ports, so that connections stand in each other's way.
        0 | 1 => config.nat(
            "srcnat",
            rule().out_interface(2).then(Action::Masquerade {
                to_ports: Some(tollway_config::dataplane::PortRange { from: 5000, to: 5007 }),
                randomise_ports: random.one_in(2),
            }),
        ),
        2 => config.nat("srcnat", rule().out_interface(2).masquerade()),
        3 => config
            .nat("srcnat", rule().out_interface(2).src_nat("10.2.0.7-10.2.0.8"))
            .nat("dstnat", rule().protocol(6).dst_port(80).dst_nat("10.2.0.2", 8080)),
        4 => config.with(|config| config.tracking.enabled = TrackingMode::No),
        _ => config,
    }
}

fn packet(random: &mut Random) -> Described {
    // Some flows come again and again, so that the flow cache has them.
    if random.one_in(2) {
        return Described::udp(HOSTS[0], 4000, SERVERS[random.below(2) as usize], 53);
    }
    let host = HOSTS[random.below(3) as usize];
    let dst = match random.below(8) {
        0 => "192.168.88.1",
        1 => "192.168.88.11",
        _ => SERVERS[random.below(4) as usize],
    };
    let (from, to) = (4000 + random.below(4) as u16, 80 + random.below(3) as u16);
    let mut packet = match random.below(5) {
        0 => Described::tcp(host, 10_000 + random.below(50_000) as u16, dst, to, tcp_flag::SYN),
        1 => Described { protocol: 1, ports: (from, from), ..Described::udp(host, from, dst, from) },
        2 => Described { protocol: 47, ports: (0, 0), ..Described::udp(host, 0, dst, 0) },
        _ => Described::udp(host, from, dst, 53 + random.below(2) as u16),
    };
    packet.payload = [0, 100, 700][random.below(3) as usize];
    if random.one_in(12) {
        packet.ttl = 1;
    }
    if random.one_in(12) {
        (packet.port, packet.src) = (None, "10.2.0.1".to_owned());
    }
    packet
}

fn run(seed: u64) -> Result<[u64; 5], TestCaseError> {
    let mut random = Random::new(seed);
    let workers = 1 + random.below(3) as u32;
    let mut router = build(config(&mut random), workers);
    let mut seen = [0; 5];
    let (trace, mut last) = (router.start_trace(&TraceFilter::default()), 0);
    for step in 0..40 {
        let packet = packet(&mut random);
        let (dry, real) = check(&mut router, &packet, trace, &mut last);
        // Who is not known yet is asked when the packet comes, and answers here at once.
        if dry.outcome == TraceOutcome::Held {
            prop_assert_eq!(dry.steps.last().map(|step| step.stage.as_str()), Some("emit"));
            seen[0] += 1;
            continue;
        }
        let context = format!("step {step}, {packet:?}, {real:?}");
        let ends = |packet: &TracedPacket| (packet.outcome, packet.drop_reason.clone(), packet.out_interface);
        prop_assert_eq!(ends(&dry), ends(&real), "{}", context);
        if real.fast || real.slow_reason.as_deref() == Some("rule") {
            prop_assert_eq!(rows(&dry, "filter"), rows(&real, "flow_cache"), "{}", context);
        } else {
            prop_assert_eq!(decisions(&dry), decisions(&real), "{}", context);
        }
        seen[1 + usize::from(dry.outcome == TraceOutcome::Dropped)] += 1;
        if dry.fast {
            seen[3] += 1;
        }
        // A next hop that the worker meets for the first time is looked up once without tracking.
        if router.snapshot().tracking() {
            prop_assert_eq!((dry.fast, &dry.slow_reason), (real.fast, &real.slow_reason), "step {}", step);
            seen[4] += u64::from(!dry.fast);
        }
        if random.one_in(20) {
            router.advance_ms(40_000);
        }
    }
    Ok(seen)
}

#[test]
fn a_dry_run_tells_what_then_becomes_of_the_packet() {
    let config = Config { cases: tollway_testkit::cases(60), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let totals = std::cell::RefCell::new([0; 5]);
    let outcome = runner.run(&any::<u64>(), |seed| {
        let seen = run(seed)?;
        totals.borrow_mut().iter_mut().zip(seen).for_each(|(total, seen)| *total += seen);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let [held, passed, dropped, fast, slow] = totals.into_inner();
    assert!(
        held > 20 && passed > 800 && dropped > 100 && fast > 200 && slow > 500,
        "{totals:?}",
        totals = (held, passed, dropped, fast, slow)
    );
}

#[test]
fn a_redirect_that_has_waited_is_not_taken_for_the_next_packet() {
    run(8_729_128_903_751_444_238).expect("alike");
}

#[test]
fn a_connection_that_gives_way_to_a_new_one_says_nothing_about_the_ports_of_that() {
    run(8_339_523_000_606_058_162).expect("alike");
    let syn = |host| Described::tcp(host, 4000, SERVERS[0], 80, tcp_flag::SYN);
    let echo =
        |host| Described { protocol: 1, ports: (4000, 4000), ..Described::udp(host, 0, SERVERS[0], 0) };
    let [first, second, _] = HOSTS;
    // The one ends because nothing comes, the other with a reset.
    for (packets, reset) in [([echo(first), echo(second)], false), ([syn(first), syn(second)], true)] {
        let mut router = build(base().nat("srcnat", rule().out_interface(2).masquerade()), 1);
        let (trace, mut last) = (router.start_trace(&TraceFilter::default()), 0);
        for packet in &packets {
            check(&mut router, packet, trace, &mut last);
        }
        let [holder, loser] = packets;
        if reset {
            let reset = Described { flags: tcp_flag::RST, seq: (2, 0), ..loser.clone() };
            check(&mut router, &reset, trace, &mut last);
        } else {
            router.sleep(4_000_000_000);
            check(&mut router, &holder, trace, &mut last);
            router.sleep(5_000_000_000);
        }
        let (dry, real) = check(&mut router, &loser, trace, &mut last);
        let new = |packet: &TracedPacket| packet.steps.iter().any(|step| step.decision.starts_with("new,"));
        assert!(new(&real), "{real:?}");
        assert_eq!(decisions(&dry), decisions(&real));
        let kept = |packet: &TracedPacket| packet.steps.iter().any(|step| step.decision.ends_with(":4000"));
        assert!(!kept(&real), "{real:?}");
    }
}

#[test]
fn a_translation_whose_ports_are_all_taken_is_foretold_or_cannot_be_told() {
    // Of few ports all are asked for, of many not.
    for ports in [100, 400] {
        let to_ports = Some(PortRange { from: 20_000, to: 20_000 + ports - 1 });
        let masquerade = Action::Masquerade { to_ports, randomise_ports: false };
        let config = base().nat("srcnat", rule().out_interface(2).protocol(17).then(masquerade));
        let mut router = build(config, 1);
        for port in 0..ports {
            Described::udp(HOSTS[0], 5_000 + port, SERVERS[0], 53).send(&mut router);
        }
        assert_eq!(router.connections().len(), usize::from(ports));
        let next = Described::udp(HOSTS[1], 4_000, SERVERS[0], 53);
        match (ports, router.dry_run(&next.description())) {
            (100, Ok(reported)) => assert_eq!(reported.outcome, TraceOutcome::Dropped),
            (400, Err(DryRunError::Crowded)) => {}
            other => panic!("{other:?}"),
        }
        next.send(&mut router);
        assert_eq!(router.connections().len(), usize::from(ports));
        // With another destination they are free.
        let other = Described::udp(HOSTS[1], 4_000, SERVERS[1], 53);
        assert_eq!(router.dry_run(&other.description()).expect("an answer").outcome, TraceOutcome::Forwarded);
    }
}

#[test]
fn an_established_connection_is_known_and_in_its_window() {
    let established = &[ConnectionState::Established];
    let config = base()
        .filter("forward", rule().state(established).accept())
        .filter("forward", rule().state(&[ConnectionState::Invalid]).drop())
        .nat("srcnat", rule().out_interface(2).masquerade());
    let mut router = build(config, 2);
    let host = |flags, seq, ack| Described {
        seq: (seq, ack),
        ..Described::tcp(HOSTS[0], 4000, SERVERS[0], 80, flags)
    };
    let server = |flags, seq, ack| Described {
        port: Some(1),
        seq: (seq, ack),
        ..Described::tcp(SERVERS[0], 80, "10.2.0.1", 4000, flags)
    };
    host(tcp_flag::SYN, 100, 0).send(&mut router);
    server(tcp_flag::SYN | tcp_flag::ACK, 0x7000_0000, 101).send(&mut router);
    for _ in 0..2 {
        host(tcp_flag::ACK, 101, 0x7000_0001).send(&mut router);
        server(tcp_flag::ACK, 0x7000_0001, 101).send(&mut router);
    }
    for packet in [host(tcp_flag::ACK, 0, 0), server(tcp_flag::ACK, 0, 0)] {
        let dry = router.dry_run(&packet.description()).expect("a packet");
        assert_eq!((dry.outcome, dry.fast), (TraceOutcome::Forwarded, true), "{dry:?}");
        let filter = dry.steps.iter().find(|step| step.stage == "filter").expect("the filter");
        assert_eq!(filter.rows, [1000]);
        let cache = dry.steps.iter().find(|step| step.stage == "flow_cache").expect("the flow cache");
        assert_eq!(cache.decision, "in the flow cache, which does what follows");
    }
}

#[test]
fn a_full_table_has_no_room_for_a_described_connection_either() {
    let limits = tollway_engine::EngineLimits { max_connections: 2, ..LIMITS };
    let config = base().with(|config| config.tracking.max_entries = 2);
    let mut router = Router::with_limits(config, 1, limits).hosts(1, &["10.2.0.254"]);
    for port in 0..2 {
        for _ in 0..2 {
            Described::udp(HOSTS[0], port, SERVERS[0], 53).send(&mut router);
            router.send(1, &PacketBuilder::ipv4(SERVERS[0], HOSTS[0]).udp(53, port));
        }
    }
    let dry = router.dry_run(&Described::udp(HOSTS[0], 9, SERVERS[0], 53).description()).expect("a packet");
    assert_eq!(dry.drop_reason.as_deref(), Some("connection-table-full"), "{dry:?}");
    let known = router.dry_run(&Described::udp(HOSTS[0], 1, SERVERS[0], 53).description()).expect("a packet");
    assert_eq!(known.outcome, TraceOutcome::Forwarded);
    // A packet that only might come is nothing to tell of; of those that do the log tells once a minute.
    let mut refuse = |ports: std::ops::Range<u16>, seconds: u64| {
        ports.for_each(|port| Described::udp(HOSTS[0], port, SERVERS[0], 53).send(&mut router));
        let lines: Vec<String> = router.shared().log.take().into_iter().map(|line| line.message).collect();
        router.sleep(seconds * 1_000_000_000);
        lines
    };
    let line = |packets| {
        vec![format!("the connection table is full; packets dropped that would open a connection: {packets}")]
    };
    assert_eq!(refuse(10..13, 30), line(1));
    assert_eq!(refuse(10..13, 31), Vec::<String>::new());
    assert_eq!(refuse(10..12, 1), line(6));
}

#[test]
fn marks_are_told_by_their_names_also_those_of_the_revision_in_use() {
    let named = |name: &str| vec![MarkName { mark: 7, name: name.to_owned() }];
    let config = base()
        .with(|config| config.mark_names = named("office"))
        .mangle("forward", rule().then(Action::MarkPacket { mark: 7, passthrough: true }));
    let mut router = build(config, 1);
    let decision = |router: &Router| {
        let dry = router.dry_run(&Described::udp(HOSTS[0], 1, SERVERS[0], 53).description());
        let steps = dry.expect("a packet").steps;
        steps.into_iter().find(|step| step.stage == "mangle").expect("a step").decision
    };
    assert_eq!(decision(&router), "gets packet mark office");
    router.reconfigure(|config| config.mark_names = named("branch"));
    assert_eq!(decision(&router), "gets packet mark branch");
}

#[test]
fn what_goes_to_all_or_a_group_comes_as_on_the_link() {
    let mut router = build(base(), 1);
    let dry = |router: &mut Router, dst: &str| {
        let packet =
            router.dry_run(&Described::udp(HOSTS[0], 4000, dst, 53).description()).expect("a packet");
        (packet.slow_reason.unwrap_or_default(), packet.drop_reason)
    };
    // The last is the broadcast address of another network, for which it comes to the router.
    for (dst, reason) in [
        ("192.168.88.255", "broadcast"),
        ("255.255.255.255", "broadcast"),
        ("224.0.0.251", "broadcast"),
        ("10.2.0.255", "new-connection"),
    ] {
        assert_eq!(dry(&mut router, dst).0, reason, "{dst}");
    }
    let trace = router.start_trace(&TraceFilter::default());
    let to_all = Described::udp(HOSTS[0], 4000, "192.168.88.255", 53).builder().eth_dst([0xff; 6]);
    router.inject(0, to_all.build(), VnetState::default());
    let real = router.traced(trace).packets.remove(0);
    assert_eq!(dry(&mut router, "192.168.88.255"), (real.slow_reason.unwrap_or_default(), real.drop_reason));
}

#[test]
fn descriptions_that_are_no_packets_here_are_refused_by_name() {
    let router = build(base(), 1);
    let good = Described::udp(HOSTS[0], 1, SERVERS[0], 53).description();
    let refused = |packet: PacketDescription| match router.dry_run(&packet) {
        Err(DryRunError::Description(message)) => message,
        other => panic!("{other:?}"),
    };
    assert!(
        refused(PacketDescription { in_interface: Some(77), ..good.clone() }).starts_with("in-interface: ")
    );
    assert!(refused(PacketDescription { length: 27, ..good.clone() }).contains("at least 28 bytes"));
    let v6 = "2001:db8::1".parse().expect("an address");
    assert!(refused(PacketDescription { src_address: v6, ..good }).starts_with("dst-address: "));
}

#[test]
fn only_a_packet_that_a_route_was_sought_for_names_one() {
    let router = build(base(), 1);
    let routes = |src: &str, dst: &str| {
        let reported = router.dry_run(&Described::udp(src, 5, dst, 7).description()).expect("an answer");
        rows(&reported, "route").len()
    };
    assert_eq!(routes(HOSTS[0], "203.0.113.5"), 1);
    for (src, dst) in [
        // Nobody else may use the router's address.
        ("192.168.88.1", "203.0.113.5"),
        (HOSTS[0], "255.255.255.255"),
        (HOSTS[0], "224.0.0.5"),
    ] {
        assert_eq!(routes(src, dst), 0, "{src} -> {dst}");
    }
}

/// Also before any stage but the first has seen it.
#[test]
fn what_is_refused_at_once_has_its_length() {
    let router = build(base(), 1);
    let description =
        PacketDescription { length: 577, ..Described::udp("127.0.0.1", 1, SERVERS[0], 2).description() };
    let packet = router.dry_run(&description).expect("a packet");
    assert_eq!((packet.drop_reason.as_deref(), packet.length), (Some("martian-source"), 577));
}
