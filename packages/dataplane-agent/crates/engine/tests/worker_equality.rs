//! However many workers there are, whoever receives a packet: each flow's packets leave as with one worker, and
//! every counter says the same in total. Half of the flows are of IPv6, through the same rules.

#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

use std::collections::BTreeMap;
use std::net::IpAddr;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tollway_config::dataplane::{
    Action, ConnectionState, LimitUnit, Matcher, RejectWith, TreeParent, TreeQueue,
};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::config::queue_limit;
use tollway_testkit::dual_stack::protocol_in_ipv6;
use tollway_testkit::packet::{Packet, PacketBuilder, ip, tcp_flag};
use tollway_testkit::random::Random;
use tollway_testkit::router::{Output, To, port_mac};
use tollway_testkit::{Counter, Ipv6Packet, Router, RouterConfig, queue, rule};

const SERVER: &str = "203.0.113.5";
const HOSTS: [&str; 3] = ["192.168.88.10", "192.168.88.11", "192.168.88.12"];
const ESTABLISHED: &[ConnectionState] = &[ConnectionState::Established, ConnectionState::Related];
const FLOWS: u64 = 12;

/// Rules chosen at random, and whether the order of packets of different flows makes a difference to them.
fn config(random: &mut Random) -> (RouterConfig, bool) {
    let mut config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .address(2, "10.2.0.7/24")
        .route("0.0.0.0/0", "10.2.0.254")
        // Known neighbours: packets that wait for one wait where they are.
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false)
        .neighbor(1, HOSTS[0], "02:01:0a:01:00:10", false)
        .neighbor(1, HOSTS[1], "02:01:0a:01:00:11", false)
        .neighbor(1, HOSTS[2], "02:01:0a:01:00:12", false)
        .address_list("hosts", &[HOSTS[0], HOSTS[2]])
        .address_list("seen", &[]);
    config.config.settings.icmp_rate_limit_ms = 0;
    let mut ordered = false;
    if random.one_in(2) {
        config = config.filter("forward", rule().state(ESTABLISHED).fasttrack());
    }
    for _ in 0..random.below(7) {
        let listed = |list| Matcher::SrcAddressList { list, negate: false };
        let choice = random.below(13);
        ordered |= choice >= 9;
        let counting = match random.below(3) {
            0 => Matcher::Nth { every: 3, packet: 2, negate: false },
            1 => Matcher::Random { percent: 40 },
            _ => Matcher::Limit { rate: 5, per_ms: 1000, burst: 5, unit: LimitUnit::Packet, negate: false },
        };
        config = match choice {
            0 => config.filter_jump("forward", rule().protocol(6), "tcp"),
            1 => config.filter("tcp", rule().protocol(6).dst_port(83).drop()),
            2 => config.filter("tcp", rule().protocol(6).tcp_flags(tcp_flag::PSH, 0).then(Action::Return)),
            3 => config.filter("forward", rule().matcher(listed(0)).passthrough()),
            4 => config
                .filter("forward", rule().protocol(17).dst_port(54).reject(RejectWith::IcmpPortUnreachable)),
            5 => config.filter("forward", rule().state(&[ConnectionState::Invalid]).drop()),
            6 => config.filter("forward", rule().src(HOSTS[0]).passthrough()),
            7 => config.filter("forward", rule().protocol(6).tcp_flags(tcp_flag::PSH, 0).passthrough()),
            8 => config.filter(
                "forward",
                rule().matcher(Matcher::ConnectionBytes { from: 3000, to: 0 }).passthrough(),
            ),
            9 => config.filter("forward", rule().protocol(17).matcher(counting).drop()),
            10 => config.filter("forward", rule().matcher(counting).passthrough()),
            11 => config.filter("forward", rule().matcher(listed(1)).protocol(17).drop()).filter(
                "forward",
                rule().dst_port(82).then(Action::AddSrcToAddressList { list: 1, timeout_ms: 0 }),
            ),
            _ => config.with(|config| {
                config.simple_queues = (0..1 + random.below(3))
                    .map(|number| {
                        let target = [HOSTS[0], HOSTS[1], "192.168.88.0/24"][random.below(3) as usize];
                        let mut limit = || [100_000, 2_000_000, 0][random.below(3) as usize];
                        queue(7000 + number as u32, &[target], limit(), limit())
                    })
                    .collect();
            }),
        };
    }
    let both_ends = |config: RouterConfig, port| {
        config
            .nat("dstnat", rule().protocol(6).dst_port(80).dst_nat("203.0.113.9", port))
            .nat("srcnat", rule().out_interface(2).masquerade())
    };
    let translation = random.below(5);
    // Flows whose destination port changes move to the worker of their answers. Their packets take a longer way there
    // than the answers, so that those which arrive together have no order among each other.
    ordered |= translation == 4;
    let config = match translation {
        0 => config,
        1 => config.nat("srcnat", rule().out_interface(2).masquerade()),
        2 => config.nat("srcnat", rule().out_interface(2).src_nat("10.2.0.7")),
        3 => both_ends(config, 80),
        _ => both_ends(config, 8080),
    };
    let (config, queued) = marks(config, random);
    let config = config.dual_stack();
    let config = if random.one_in(3) { config.trunk() } else { config };
    (config, ordered || queued)
}

/// Marks, of connections and of their packets, and queues of them. Whether there are queues.
fn marks(mut config: RouterConfig, random: &mut Random) -> (RouterConfig, bool) {
    let of_connection = |mark| rule().matcher(Matcher::ConnectionMark { mark, negate: false });
    let of_packet = |mark| rule().matcher(Matcher::PacketMark { mark, negate: false });
    if random.one_in(2) {
        return (config, false);
    }
    for _ in 0..random.below(5) {
        let chain = ["prerouting", "forward", "postrouting"][random.below(3) as usize];
        let (mark, other) = (1 + random.below(3) as u32, random.below(4) as u32);
        let passthrough = random.one_in(2);
        let action = match random.below(4) {
            0 => Action::MarkConnection { mark, passthrough },
            1 | 2 => Action::MarkPacket { mark, passthrough },
            _ => Action::ChangeDscp { dscp: 8 * mark as u8, passthrough },
        };
        let conditions = match random.below(5) {
            0 => of_connection(other),
            1 => of_packet(other),
            2 => rule().protocol(17),
            3 => rule().src(HOSTS[1]),
            _ => rule().protocol(6).tcp_flags(tcp_flag::PSH, 0),
        };
        config = config.mangle(chain, conditions.then(action));
    }
    if random.one_in(2) {
        config = config.filter("forward", of_packet(2).protocol(17).dst_port(55).drop());
    }
    if random.one_in(2) {
        return (config, false);
    }
    let mut leaf = |row: u32, parent, marks: &[u32]| TreeQueue {
        row,
        parent,
        packet_marks: marks.to_vec(),
        limit: queue_limit([100_000, 2_000_000, 0][random.below(3) as usize]),
    };
    let roots = [
        leaf(8001, TreeParent::Global, &[1]),
        leaf(8002, TreeParent::Interface { interface: 2 }, &[2, 3]),
        leaf(8003, TreeParent::Interface { interface: 1 }, &[0]),
    ];
    (config.with(|config| config.tree_queues = roots.to_vec()), true)
}

/// What both ends of a flow know, seen through one router: its translations are its own.
#[derive(Clone)]
struct Flow {
    number: u8,
    v6: bool,
    host: &'static str,
    protocol: u8,
    service: u16,
    seq: [u32; 2],
    answered: bool,
    /// The host and the server as the server sees them.
    outside: Option<(u32, u16, u32, u16)>,
}

impl Flow {
    fn new(number: u64, random: &mut Random) -> Self {
        let protocol = [6, 6, 17, 17, 1][random.below(5) as usize];
        let service = if protocol == 6 { 80 } else { 53 } + random.below(4) as u16;
        let host = HOSTS[number as usize % HOSTS.len()];
        Self {
            number: number as u8,
            v6: random.one_in(2),
            host,
            protocol,
            service,
            seq: [1000, 70_000],
            answered: false,
            outside: None,
        }
    }

    fn port(&self) -> u16 {
        4000 + u16::from(self.number)
    }

    /// The next packet, with the flow and a number of its own for a payload.
    fn next(&mut self, turn: &Turn) -> Option<(u16, PacketBuilder)> {
        let answers = turn.answers && self.outside.is_some();
        let (builder, from, to) = match self.outside.filter(|_| answers) {
            Some((host, port, server, service)) => (PacketBuilder::ipv4_bits(server, host), service, port),
            None => (PacketBuilder::ipv4(self.host, SERVER), self.port(), self.service),
        };
        let mut payload = vec![0; turn.len];
        payload[..4].copy_from_slice(&[
            self.number,
            u8::from(answers),
            (turn.number >> 8) as u8,
            turn.number as u8,
        ]);
        let side = usize::from(answers);
        let packet = match self.protocol {
            6 => {
                let opening = self.seq[side] == [1000, 70_000][side];
                // Nobody answers what was not opened, and nobody goes on before the answer.
                if !answers && opening == self.answered {
                    return None;
                }
                let (seq, ack) = (self.seq[side], self.seq[1 - side]);
                let (flags, ack) = match (opening, answers) {
                    (true, false) => (tcp_flag::SYN, 0),
                    (true, true) => (tcp_flag::SYN | tcp_flag::ACK, ack),
                    _ if turn.pushes => (tcp_flag::ACK | tcp_flag::PSH, ack),
                    _ => (tcp_flag::ACK, ack),
                };
                let len = if opening { 1 } else { payload.len() as u32 };
                self.seq[side] = seq.wrapping_add(len);
                self.answered |= answers;
                let builder = builder.tcp(from, to, flags, seq, ack);
                if opening { builder } else { builder.payload(&payload) }
            }
            17 => builder.udp(from, to).payload(&payload),
            _ if answers => builder.echo_reply(to, 1).payload(&payload),
            _ => builder.echo_request(from, 1).payload(&payload),
        };
        Some((side as u16, packet.ttl(turn.ttl).dont_fragment(false)))
    }
}

/// What a flow is to send, the same through every router.
struct Turn {
    number: u32,
    flow: usize,
    answers: bool,
    pushes: bool,
    len: usize,
    ttl: u8,
    fragments: bool,
    receiver: usize,
}

impl Turn {
    fn new(number: u32, random: &mut Random) -> Self {
        Self {
            number,
            flow: random.below(FLOWS) as usize,
            answers: random.one_in(2),
            pushes: random.one_in(4),
            len: [4, 40, 700, 1200][random.below(4) as usize],
            ttl: if random.one_in(50) { 1 } else { 64 },
            fragments: random.one_in(12),
            receiver: random.below(8) as usize,
        }
    }
}

/// A packet that left, without what differs between routers for good reason: the port a translation chose.
type Seen = (To, String, String, u8, usize, bool, Vec<u8>);

/// The fields of a packet of either family that left, which are compared.
#[derive(Debug)]
struct Left {
    src: IpAddr,
    dst: IpAddr,
    ttl: u8,
    protocol: u8,
    ports: (u16, u16),
    /// Not a fragment.
    whole: bool,
    is_icmp_error: bool,
    payload: Vec<u8>,
    checksums_right: bool,
}

impl Left {
    /// `None` of neighbour discovery and router advertisements: who sends them differs.
    fn read(frame: &[u8]) -> Option<Self> {
        if let Some(packet) = Packet::read(frame) {
            return Some(Self {
                src: packet.src.into(),
                dst: packet.dst.into(),
                ttl: packet.ttl,
                protocol: packet.protocol,
                ports: packet.ports,
                whole: packet.fragment == (0, false),
                is_icmp_error: packet.icmp.is_some_and(|(kind, _)| [3, 11].contains(&kind)),
                payload: packet.payload,
                checksums_right: packet.checksums_right,
            });
        }
        let packet = Ipv6Packet::read(frame).expect("IPv4 or IPv6");
        if packet.discovery().is_some() {
            return None;
        }
        // UDP and ICMPv6 have eight bytes; segments here have no options.
        let header = if packet.protocol == 6 { 20 } else { 8 };
        let whole = packet.fragment.is_none();
        Some(Self {
            src: packet.src.into(),
            dst: packet.dst.into(),
            ttl: packet.hop_limit,
            protocol: packet.protocol,
            ports: packet.ports,
            whole,
            is_icmp_error: packet.icmp.is_some_and(|(kind, ..)| kind < 128),
            payload: packet.transport.get(header..).unwrap_or_default().to_vec(),
            checksums_right: packet.checksum_right,
        })
    }
}

/// Frames that a worker receives together, by worker.
type Batches = BTreeMap<usize, Vec<(u16, Vec<u8>, VnetState)>>;

/// A flow's direction.
type Key = (u8, u8);

/// What tells of no flow.
const OTHERS: Key = (u8::MAX, 0);

/// A router and what its flows know.
struct Setup {
    router: Router,
    flows: Vec<Flow>,
    out: BTreeMap<Key, Vec<Seen>>,
}

impl Setup {
    fn new(config: RouterConfig, workers: u32, flows: Vec<Flow>) -> Self {
        let mut router = Router::with_workers(config, workers);
        // Addresses of IPv6 are used from then on.
        router.advance_ms(1_100);
        Self { router, flows, out: BTreeMap::new() }
    }

    fn send(&mut self, turns: &[Turn], one_by_one: bool) {
        let workers = self.router.workers();
        let mut batches = Batches::new();
        for turn in turns {
            let flow = &mut self.flows[turn.flow];
            let Some((port, packet)) = flow.next(turn) else { continue };
            let packet = packet.eth_dst(port_mac(port));
            let in_fragments = one_by_one && turn.fragments && flow.protocol == 17 && turn.len > 600;
            let frames = match (in_fragments, flow.v6) {
                (true, false) => packet.build_fragments(400),
                (true, true) => packet.in_ipv6().build_fragments(400, turn.number),
                (false, false) => vec![packet.build()],
                (false, true) => vec![packet.in_ipv6().build()],
            };
            // Packets that arrive together at different workers have no order among each other, so all of a
            // flow's, in both directions, then arrive at one.
            let receiver = if one_by_one { turn.receiver } else { turn.flow * 3 };
            let frames = frames.into_iter().map(|frame| (port, frame, VnetState::default()));
            batches.entry(receiver % workers).or_default().extend(frames);
            if one_by_one {
                self.pass(&mut batches);
            }
        }
        self.pass(&mut batches);
    }

    fn pass(&mut self, batches: &mut Batches) {
        for (worker, frames) in std::mem::take(batches) {
            let out = self.router.inject_batch(worker, frames);
            self.see(&out);
        }
        self.learn();
    }

    fn see(&mut self, out: &[Output]) {
        for output in out {
            let Some(packet) = Left::read(&output.bytes) else { continue };
            assert!(packet.checksums_right, "{packet:?}");
            let whole = packet.whole;
            let translated = output.to == To::Port(1) && !self.router.config().nat.is_empty();
            // The router's own packets tell of those they answer; their order is that of the workers.
            let own = packet.is_icmp_error;
            let flow = match packet.payload.get(..4) {
                Some(&[flow, answers, ..]) if whole && !own => (flow, answers),
                _ => OTHERS,
            };
            let ports = if translated || own { packet.ports.1 } else { packet.ports.0 };
            // A port that the router chose, because another flow had the packet's own, is any one.
            let known = [53..57, 80..84, 4000..4000 + FLOWS as u16, 8080..8081];
            let ports = if known.iter().any(|known| known.contains(&ports)) { ports } else { 0 };
            let icmp = [1, 58].contains(&packet.protocol);
            let seen = (
                output.to,
                packet.src.to_string(),
                format!("{} {}", packet.dst, if icmp { 0 } else { ports }),
                packet.ttl,
                output.bytes.len(),
                packet.protocol == 6,
                if own { Vec::new() } else { packet.payload.into_iter().take(4).collect() },
            );
            self.out.entry(flow).or_default().push(seen);
        }
    }

    fn learn(&mut self) {
        for record in self.router.connections() {
            let [src, dst, reply_src, reply_dst] = record.endpoints;
            for flow in &mut self.flows {
                let protocol = if flow.v6 { protocol_in_ipv6(flow.protocol) } else { flow.protocol };
                let same = u32::from(src.0) == ip(flow.host)
                    && (record.family == 6) == flow.v6
                    && record.protocol == protocol
                    && src.1 == flow.port()
                    && (flow.protocol == 1 || dst.1 == flow.service);
                if same {
                    flow.outside =
                        Some((reply_dst.0.to_bits(), reply_dst.1, reply_src.0.to_bits(), reply_src.1));
                }
            }
        }
    }

    /// What left since the last call, by flow; what has no flow in any order.
    fn left(&mut self) -> BTreeMap<Key, Vec<Seen>> {
        let mut out = std::mem::take(&mut self.out);
        if let Some(others) = out.get_mut(&OTHERS) {
            others.sort();
        }
        out
    }

    fn counters(&self) -> BTreeMap<Counter, u64> {
        let mut counters = tollway_testkit::counters::read(&self.router.stats());
        for counter in [Counter::FastPath, Counter::Fasttrack, Counter::Handover] {
            counters.remove(&counter);
        }
        counters
    }

    /// The connections without what differs for good reason.
    fn connections(&self) -> Vec<String> {
        let mut lines: Vec<_> = self
            .router
            .connections()
            .into_iter()
            .map(|record| {
                let [src, dst, reply_src, reply_dst] = record.endpoints;
                let flags: String = record.flags.chars().filter(|flag| *flag != 'F').collect();
                // A port of the router's own address may be one that it chose.
                let end = |(address, port): (std::net::Ipv4Addr, u16)| match address.octets() {
                    [10, 2, 0, _] => address.to_string(),
                    _ => format!("{address}:{port}"),
                };
                let ends = format!("{} {} {} {}", end(src), end(dst), reply_src.0, reply_dst.0);
                let ends = if [1, 58].contains(&record.protocol) { format!("{src:?} {dst:?}") } else { ends };
                format!(
                    "{} {ends} {flags} {} {} {:?}",
                    record.family, record.tcp_state, record.timeout_ms, record.counts
                )
            })
            .collect();
        lines.sort();
        lines
    }
}

#[derive(Default)]
struct Tally {
    packets: u64,
    fast: u64,
    handed_over: u64,
}

fn run(seed: u64, steps: usize, tally: &std::cell::RefCell<Tally>) -> Result<(), TestCaseError> {
    let mut random = Random::new(seed);
    let (config, ordered) = config(&mut random);
    let one_by_one = ordered || random.one_in(2);
    let flows: Vec<_> = (0..FLOWS).map(|number| Flow::new(number, &mut random)).collect();
    // Queries of ICMPv6 are steered by their addresses, so that a translated one moves as well.
    let moves = !config.config.nat.is_empty() && flows.iter().any(|flow| flow.v6 && flow.protocol == 1);
    let one_by_one = one_by_one || moves;
    let mut setups: Vec<_> =
        [1, 2, 4, 8].into_iter().map(|workers| Setup::new(config.clone(), workers, flows.clone())).collect();
    let mut number = 0;
    for step in 0..steps {
        let turns: Vec<_> = (0..1 + random.below(16))
            .map(|_| {
                number += 1;
                Turn::new(number, &mut random)
            })
            .collect();
        let pause = random.one_in(4).then(|| [1, 40, 900, 11_000][random.below(4) as usize]);
        let reversed = random.one_in(10);
        for setup in &mut setups {
            if reversed {
                setup.router.reconfigure(|config| {
                    for chain in
                        [config.filter.first_mut(), config.ipv6_filter.first_mut()].into_iter().flatten()
                    {
                        chain.rules.reverse();
                    }
                });
            }
            setup.send(&turns, one_by_one);
            if let Some(ms) = pause {
                let out = setup.router.advance_ms(ms);
                setup.see(&out);
            }
        }
        let (one, several) = setups.split_first_mut().expect("four routers");
        let (left, counters, connections) = (one.left(), one.counters(), one.connections());
        let (rules, queues) = (one.router.stats().rules, one.router.queues());
        tally.borrow_mut().packets += left.values().map(|packets| packets.len() as u64).sum::<u64>();
        for setup in several {
            let workers = setup.router.workers();
            prop_assert_eq!(&setup.left(), &left, "packets, {} workers, step {}", workers, step);
            prop_assert_eq!(&setup.counters(), &counters, "counters, {} workers, step {}", workers, step);
            prop_assert_eq!(&setup.router.stats().rules, &rules, "rules, {} workers, step {}", workers, step);
            prop_assert_eq!(
                &setup.connections(),
                &connections,
                "connections, {} workers, step {}",
                workers,
                step
            );
            let passed = |queues: &[tollway_testkit::record::QueueRecord]| -> Vec<_> {
                let way = |way: tollway_testkit::record::QueuePartRecord| {
                    (way.packets, way.bytes, way.dropped, way.queued_packets)
                };
                queues.iter().map(|queue| (queue.row, queue.directions.map(way))).collect()
            };
            prop_assert_eq!(
                passed(&setup.router.queues()),
                passed(&queues),
                "queues, {} workers, step {}",
                workers,
                step
            );
        }
    }
    let stats = setups[3].router.stats();
    let mut tally = tally.borrow_mut();
    tally.fast += stats.flow_cache_forwarded.packets + stats.fasttrack.packets;
    tally.handed_over += stats.handover_packets;
    Ok(())
}

#[test]
fn any_number_of_workers_does_what_one_does() {
    let tally = std::cell::RefCell::new(Tally::default());
    let config =
        Config { cases: tollway_testkit::cases(100), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    if let Err(failure) = runner.run(&(any::<u64>(), 5..40usize), |(seed, steps)| run(seed, steps, &tally)) {
        panic!("{failure}");
    }
    let Tally { packets, fast, handed_over } = tally.into_inner();
    println!("{packets} packets; with eight workers {fast} by the cache, {handed_over} handed over");
    assert!(packets > 5_000 && fast * 4 > packets && handed_over * 2 > packets);
}
