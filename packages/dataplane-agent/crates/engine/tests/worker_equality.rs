//! However many workers there are, whoever receives a packet: each flow's packets leave as with one worker, and
//! every counter says the same in total. Half of the flows are of IPv6, through the same rules. Two
//! thirds of the routers have two VRFs, with the same addresses in both.

#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

mod config;
mod flow;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::Packet;
use tollway_testkit::random::Random;
use tollway_testkit::router::{Output, To, port_mac};
use tollway_testkit::{Counter, Ipv6Packet, Networks, Router, RouterConfig};

use config::config;
use flow::{Flow, Turn};

const SERVER: &str = "203.0.113.5";
const HOSTS: [&str; 3] = ["192.168.88.10", "192.168.88.11", "192.168.88.12"];
const FLOWS: u64 = 12;

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

/// A port that the router chose, because another flow had the packet's own, is any one: 0.
fn unless_chosen(port: u16) -> u16 {
    let known = [53..57, 80..84, 4000..4000 + FLOWS as u16, 8080..8081];
    if known.iter().any(|known| known.contains(&port)) { port } else { 0 }
}

/// A router and what its flows know.
struct Setup {
    networks: Networks,
    router: Router,
    flows: Vec<Flow>,
    out: BTreeMap<Key, Vec<Seen>>,
}

impl Setup {
    fn new(networks: Networks, config: RouterConfig, workers: u32, flows: Vec<Flow>) -> Self {
        let mut router = Router::with_workers(config, workers);
        // Addresses of IPv6 are used from then on.
        router.advance_ms(1_100);
        Self { networks, router, flows, out: BTreeMap::new() }
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
            let chosen = self.networks != Networks::One || !self.router.config().nat.is_empty();
            let translated = matches!(output.to, To::Port(1 | 3)) && chosen;
            // The router's own packets tell of those they answer; their order is that of the workers.
            let own = packet.is_icmp_error;
            let flow = match packet.payload.get(..4) {
                Some(&[flow, answers, ..]) if whole && !own => (flow, answers),
                _ => OTHERS,
            };
            let ports = if translated || own { packet.ports.1 } else { packet.ports.0 };
            let ports = unless_chosen(ports);
            // Of two VRFs a flow may get the port of another one.
            let others = self.networks != Networks::One
                && (4000..4000 + FLOWS as u16).contains(&ports)
                && (flow == OTHERS || ports != 4000 + u16::from(flow.0 / 2));
            let ports = if others { 0 } else { ports };
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
        let records = self.router.connections();
        self.flows.iter_mut().for_each(|flow| flow.learn(&records, self.router.config()));
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
                    _ => format!("{address}:{}", unless_chosen(port)),
                };
                // An answer that nobody waits for any more opens a connection to a port that the router chose.
                let unasked = self.networks != Networks::One && src.0.octets()[0] == 203;
                let to = if unasked { dst.0.to_string() } else { end(dst) };
                let ends = format!("{} {to} {} {}", end(src), reply_src.0, reply_dst.0);
                let icmp = [1, 58].contains(&record.protocol) && !unasked;
                let ends = if icmp { format!("{src:?} {dst:?}") } else { ends };
                format!(
                    "{} {} {ends} {flags} {} {} {:?}",
                    record.zone, record.family, record.tcp_state, record.timeout_ms, record.counts
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
    /// Those of two flows with the same addresses and ports, each in its VRF, of which both were answered.
    twins: u64,
}

fn run(seed: u64, steps: usize, networks: Networks, tally: &RefCell<Tally>) -> Result<(), TestCaseError> {
    let mut random = Random::new(seed);
    let (config, ordered) = config(networks, &mut random);
    let one_by_one = ordered || random.one_in(2);
    let mut flows = Vec::new();
    for number in (0..FLOWS).step_by(2) {
        let flow = Flow::new(number, networks, &mut random);
        let twin = flow.next_twin(&mut random);
        flows.extend([flow, twin]);
    }
    // Queries of ICMPv6 are steered by their addresses, so that a translated one moves as well.
    let moves = !config.config.nat.is_empty() && flows.iter().any(|flow| flow.v6 && flow.protocol == 1);
    let one_by_one = one_by_one || moves;
    // When both networks share an uplink, order makes a difference: to which flow keeps its port.
    let changes = if one_by_one { 3 } else { 1 };
    let mut setups: Vec<_> = [1, 2, 4, 8]
        .into_iter()
        .map(|workers| Setup::new(networks, config.clone(), workers, flows.clone()))
        .collect();
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
        let change = (networks != Networks::One && random.one_in(8)).then(|| random.below(changes));
        for setup in &mut setups {
            if reversed {
                setup.router.reconfigure(|config| {
                    let chains = [config.filter.first_mut(), config.ipv6_filter.first_mut()];
                    // Of both families, or of one.
                    for (_, chain) in (0..).zip(chains).filter(|(family, _)| step % 3 != *family) {
                        chain.into_iter().for_each(|chain| chain.rules.reverse());
                    }
                });
            }
            if let Some(change) = change {
                setup.router.reconfigure(|config| networks.change(config, change));
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
    let pairs = setups[3].flows.chunks(2).filter(|_| networks != Networks::One);
    let answered = pairs.filter(|pair| pair.iter().all(|flow| flow.outside.is_some()));
    tally.twins += answered.count() as u64;
    Ok(())
}

#[test]
fn any_number_of_workers_does_what_one_does() {
    let tally = RefCell::new(Tally::default());
    let config =
        Config { cases: tollway_testkit::cases(100), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let networks = proptest::sample::select(&Networks::ALL[..]);
    let cases = (any::<u64>(), 5..40usize, networks);
    let outcome = runner.run(&cases, |(seed, steps, networks)| run(seed, steps, networks, &tally));
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let Tally { packets, fast, handed_over, twins } = tally.into_inner();
    println!("{packets} packets; with eight workers {fast} by the cache, {handed_over} handed over");
    println!("{twins} pairs of flows with the same addresses and ports in two VRFs");
    assert!(twins > 100);
    assert!(packets > 5_000 && fast * 4 > packets && handed_over * 2 > packets);
}
