//! Flows that are forwarded beside the engine leave as the engine would have sent them, for as long as it says so,
//! and are counted as if it had.

use proptest::prelude::*;
use tollway_config::dataplane::{ConnectionState, DataplaneConfig, Matcher, Rule, TrackingMode};
use tollway_engine::ip::fib::{DynamicRoute, DynamicTarget, RouteChange};
use tollway_testkit::config::{RouterConfig, rule};
use tollway_testkit::offload::{Forwarded, Forwarder};
use tollway_testkit::packet::{PacketBuilder, ip};
use tollway_testkit::router::Router;
use tollway_wire::tcp::flag;

const SERVERS: [&str; 2] = ["100.64.1.1", "100.80.1.1"];
const FLOWS: u16 = 6;
/// More bytes than a conversation carries.
const FARTHEST: u32 = 1 << 20;

/// What happens, the same to both routers.
#[derive(Debug, Clone)]
enum Step {
    /// The next packet of a flow, from the client or from the server, with so much payload.
    Packet { flow: u16, reply: bool, payload: usize },
    /// A last segment, or a reset.
    End { flow: u16, flags: u8 },
    /// Time passes, ms.
    Wait(u64),
    /// Another program moves the routes to a server's network, or takes its route back.
    Route { server: usize, there: bool },
    /// A rule that drops packets to a server comes or goes. Of a flow, a packet from its client or its server is
    /// forwarded before, and not looked at until then.
    Rule { present: bool, late: Option<(u16, bool)> },
    /// Whoever owns them takes connections away.
    Remove,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let packet = (0..FLOWS, any::<bool>(), prop_oneof![0..200_usize, 1400..1500_usize])
        .prop_map(|(flow, reply, payload)| Step::Packet { flow, reply, payload });
    let step = prop_oneof![
        40 => packet,
        1 => (0..FLOWS, prop_oneof![Just(flag::FIN | flag::ACK), Just(flag::RST), Just(flag::RST | flag::ACK)])
            .prop_map(|(flow, flags)| Step::End { flow, flags }),
        2 => prop_oneof![1..200_u64, 9_000..40_000_u64].prop_map(Step::Wait),
        1 => (0..2_usize, any::<bool>()).prop_map(|(server, there)| Step::Route { server, there }),
        2 => (any::<bool>(), prop::option::of((0..FLOWS, any::<bool>())))
            .prop_map(|(present, late)| Step::Rule { present, late }),
        1 => Just(Step::Remove),
    ];
    prop::collection::vec(step, 20..300)
}

/// Rules that decide once, rules that ask for every packet, bounds, queues, or no tracking at all.
fn config(kind: usize) -> RouterConfig {
    let config = RouterConfig::new()
        .interface("10.1.0.1/24")
        .interface("10.2.0.1/24")
        .interface("10.3.0.1/24")
        .route("0.0.0.0/0", "10.2.0.2");
    let translated = |config: RouterConfig| {
        config
            .nat("srcnat", rule().out_interface(2).masquerade())
            .filter("forward", rule().state(&[ConnectionState::Established]).passthrough())
            .filter("forward", rule().protocol(17).passthrough())
    };
    match kind {
        0 => config.with(|config| config.tracking.enabled = TrackingMode::No),
        1 => translated(config),
        2 => translated(config).filter(
            "forward",
            rule().matcher(Matcher::Nth { every: 3, packet: 1, negate: false }).passthrough(),
        ),
        3 => translated(config)
            .filter("forward", rule().matcher(Matcher::ConnectionBytes { from: 3_000, to: 0 }).drop()),
        4 => translated(config).queue(&["10.1.0.0/24"], 1_000_000_000, 0),
        _ => translated(config).filter("forward", rule().protocol(6).fasttrack()),
    }
}

fn start(kind: usize) -> Router {
    Router::new(config(kind)).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2"]).hosts(2, &["10.3.0.2"])
}

/// One conversation as its ends see it.
#[derive(Debug, Clone, Copy, Default)]
struct Talk {
    /// Next sequence numbers of client and server; 0 before the handshake.
    next: [u32; 2],
}

struct Both {
    here: Router,
    there: Router,
    beside: Forwarder,
    talks: [Talk; FLOWS as usize],
    /// Initial sequence number of the next conversation of a flow. They ascend, as those of real ends do (RFC 9293
    /// §3.4.1): the engine that has not seen all segments cannot tell an old sequence number from a new one.
    initial: [u32; FLOWS as usize],
    /// Addresses and ports by which the server knows a flow.
    known_as: [Option<(u32, u16)>; FLOWS as usize],
    forwarded: usize,
    /// Nobody looks at what is forwarded for now.
    unseen: bool,
}

fn is_tcp(flow: u16) -> bool {
    flow.is_multiple_of(2)
}

fn server(flow: u16) -> u32 {
    ip(SERVERS[usize::from(flow) / 2 % 2])
}

impl Both {
    fn new(kind: usize) -> Self {
        let mut there = start(kind);
        there.offloads = Some(Vec::new());
        Self {
            here: start(kind),
            there,
            beside: Forwarder::default(),
            talks: Default::default(),
            initial: [1_000; FLOWS as usize],
            known_as: Default::default(),
            forwarded: 0,
            unseen: false,
        }
    }

    fn each(&mut self, mut act: impl FnMut(&mut Router)) {
        act(&mut self.here);
        act(&mut self.there);
        self.beside.look(&mut self.there);
    }

    fn send(&mut self, port: u16, packet: &PacketBuilder) -> Option<Forwarded> {
        let packet = packet.clone().eth_dst(tollway_testkit::router::port_mac(port));
        let here = self.here.send(port, &packet);
        // What a packet of the connection has changed holds for the next one.
        self.beside.look(&mut self.there);
        let there = match self.beside.forward(port, &packet) {
            Some(forwarded) => {
                self.forwarded += 1;
                vec![forwarded]
            }
            None => self.there.send(port, &packet).iter().filter_map(Forwarded::read).collect(),
        };
        if !self.unseen {
            self.beside.look(&mut self.there);
        }
        let here: Vec<_> = here.iter().filter_map(Forwarded::read).collect();
        assert_eq!(there, here, "{packet:?}");
        here.into_iter().next()
    }

    /// Sends a segment or datagram of a flow, from its client or its server.
    fn talk(&mut self, flow: u16, reply: bool, payload: usize, flags: u8) {
        let (client_port, server_port) = (4000 + flow, 80);
        let Some(talk) = self.talks.get(usize::from(flow)).copied() else { return };
        let ports = |client: u16| if reply { (server_port, client) } else { (client, server_port) };
        let (to, client_port) = match (reply, self.known_as[usize::from(flow)]) {
            (true, None) => return,
            (true, Some(known)) => known,
            (false, _) => (server(flow), client_port),
        };
        let (from, port) = if reply { (server(flow), 1) } else { (ip("10.1.0.2"), 0) };
        let packet = PacketBuilder::ipv4_bits(from, to);
        let (src_port, dst_port) = ports(client_port);
        let [mine, other] = if reply { [talk.next[1], talk.next[0]] } else { talk.next };
        let packet = if is_tcp(flow) {
            packet.tcp(src_port, dst_port, flags, mine, other).payload_len(payload)
        } else {
            packet.udp(src_port, dst_port).payload_len(payload)
        };
        let sent = self.send(port, &packet);
        let length = payload as u32 + u32::from(flags & (flag::SYN | flag::FIN) != 0);
        if let (Some(sent), Some(talk)) = (sent, self.talks.get_mut(usize::from(flow))) {
            talk.next[usize::from(reply)] = mine.wrapping_add(length);
            if !reply {
                self.known_as[usize::from(flow)] = Some((sent.addresses.0.to_bits(), sent.ports.0));
            }
        }
    }

    fn open(&mut self, flow: u16) {
        let initial = &mut self.initial[usize::from(flow)];
        self.talks[usize::from(flow)] = Talk { next: [*initial, *initial + 1_000] };
        *initial += FARTHEST;
        if is_tcp(flow) {
            self.talk(flow, false, 0, flag::SYN);
            self.talk(flow, true, 0, flag::SYN | flag::ACK);
            self.talk(flow, false, 0, flag::ACK);
        }
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Packet { flow, reply, payload } => {
                if self.talks[usize::from(flow)].next[0] == 0 {
                    self.open(flow);
                }
                self.talk(flow, reply, payload, flag::ACK);
            }
            Step::End { flow, flags } if is_tcp(flow) && self.talks[usize::from(flow)].next[0] != 0 => {
                self.talk(flow, false, 0, flags);
                self.talk(flow, true, 0, if flags & flag::RST != 0 { flags } else { flag::FIN | flag::ACK });
                self.talk(flow, false, 0, flag::ACK);
                self.talks[usize::from(flow)] = Talk::default();
            }
            Step::End { .. } => {}
            Step::Wait(ms) => self.each(|router| drop(router.advance_ms(ms))),
            Step::Route { server, there } => {
                let destination = ip(SERVERS[server]);
                let route = DynamicRoute {
                    destination,
                    prefix_len: 24,
                    metric: 20,
                    protocol: 186,
                    distance: 20,
                    target: DynamicTarget::Gateway { address: ip("10.3.0.2"), interface: None },
                    multipath: false,
                    source: 0,
                };
                let change = if there {
                    RouteChange::Replace(route)
                } else {
                    RouteChange::Remove { destination, prefix_len: 24, metric: 20 }
                };
                self.each(|router| router.change_routes(&[change]));
            }
            Step::Rule { present, late } => {
                if let Some((flow, reply)) = late
                    && self.talks[usize::from(flow)].next[0] != 0
                {
                    self.unseen = true;
                    self.talk(flow, reply, 50, flag::ACK);
                    self.unseen = false;
                }
                self.each(|router| {
                    router.reconfigure(|config| {
                        for chain in &mut config.filter {
                            chain.rules.retain(|rule| rule.row != 9_999);
                            let (matchers, action, log) = rule().protocol(17).dst(SERVERS[1]).drop();
                            let rule = Rule { row: 9_999, matchers, action, log };
                            if present {
                                chain.rules.push(rule);
                            }
                        }
                    });
                });
            }
            Step::Remove => self.each(|router| {
                for connection in router.connections() {
                    router.remove_connection(connection.id);
                }
            }),
        }
    }

    /// What is counted, without when the timers end and how TCP stands, which only the engine that sees all segments
    /// knows to the last detail.
    fn counted(router: &Router) -> impl PartialEq + std::fmt::Debug {
        let stats = router.stats();
        let mut connections: Vec<_> = router
            .connections()
            .into_iter()
            .map(|conn| (conn.protocol, conn.endpoints, conn.counts))
            .collect();
        connections.sort();
        let rules = stats.rules.clone();
        (rules, connections)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: tollway_testkit::cases(300), ..ProptestConfig::default() })]

    #[test]
    fn what_is_forwarded_beside_the_engine_leaves_and_counts_as_if_it_had_not_been(
        kind in 0..6_usize,
        steps in steps(),
    ) {
        let mut both = Both::new(kind);
        for step in &steps {
            both.take(step);
        }
        both.beside.look(&mut both.there);
        prop_assert_eq!(
            format!("{:?}", Both::counted(&both.there)),
            format!("{:?}", Both::counted(&both.here))
        );
    }
}

#[test]
fn only_flows_of_which_no_packet_must_be_looked_at_are_forwarded_beside_the_engine() {
    // Every packet counts for nth; a queue takes every packet; the volume of a connection has a bound.
    for (kind, some) in [(0, true), (1, true), (2, false), (3, false), (4, false), (5, true)] {
        let mut both = Both::new(kind);
        for flow in [0, 1] {
            both.open(flow);
            for _ in 0..10 {
                both.talk(flow, false, 50, flag::ACK);
                both.talk(flow, true, 50, flag::ACK);
            }
        }
        assert_eq!(both.forwarded > 20, some, "{kind}: {}", both.forwarded);
        assert_eq!(both.beside.is_empty(), !some);
        assert_eq!(both.there.stats().offloaded.packets, both.forwarded as u64);
    }
}

#[test]
fn a_flow_that_is_decided_otherwise_by_a_packet_for_the_engine_comes_back_to_it() {
    let listed = || rule().matcher(Matcher::DstAddressList { list: 0, negate: false });
    let nth = Matcher::Nth { every: 3, packet: 1, negate: false };
    // From now on every packet must be looked at, or other rules count it.
    for rule in [listed().matcher(nth).passthrough(), listed().passthrough()] {
        let config = config(1).address_list("watched", &[]).filter("forward", rule);
        let hosts = Router::new(config).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2"]);
        let mut router = hosts.hosts(2, &["10.3.0.2"]);
        router.offloads = Some(Vec::new());
        let packet = PacketBuilder::ipv4("10.1.0.2", SERVERS[0]).udp(4_001, 80).payload_len(50);
        let packet = packet.eth_dst(tollway_testkit::router::port_mac(0));
        for _ in 0..3 {
            router.send(0, &packet);
        }
        let mut beside = Forwarder::default();
        beside.look(&mut router);
        assert!(beside.forward(0, &packet).is_some());
        beside.look(&mut router);
        assert_eq!(beside.len(), 1);
        let now = router.now();
        let shared = router.shared();
        let server = std::net::IpAddr::V4(std::net::Ipv4Addr::from_bits(ip(SERVERS[0])));
        shared.address_sets.add_to("watched", server.into(), 32, 0, now, &shared.change_counters);
        // It has waited for the engine all the while.
        router.send(0, &packet);
        beside.look(&mut router);
        assert!(beside.is_empty());
    }
}

/// Changes rows of the configuration as somebody who commits would.
type Commit = fn(&mut DataplaneConfig);

#[test]
fn what_was_forwarded_up_to_a_commit_is_counted_by_what_was_in_force_then() {
    let adds: Commit = |config| {
        for chain in &mut config.filter {
            let (matchers, action, log) = rule().protocol(6).passthrough();
            chain.rules.insert(0, Rule { row: 9_999, matchers, action, log });
        }
    };
    let removes: Commit = |config| config.filter[0].rules.clear();
    let tracks: Commit = |config| config.tracking.enabled = TrackingMode::Yes;
    let tracks_no_more: Commit = |config| config.tracking.enabled = TrackingMode::No;
    for (case, kind, commit) in [
        ("adds", 1, adds),
        ("removes", 1, removes),
        ("tracks", 0, tracks),
        ("tracks no more", 1, tracks_no_more),
    ] {
        let mut both = Both::new(kind);
        both.open(1);
        for _ in 0..10 {
            both.talk(1, false, 50, 0);
            both.talk(1, true, 50, 0);
        }
        let before = both.forwarded;
        both.unseen = true;
        both.talk(1, true, 50, 0);
        both.each(|router| router.reconfigure(commit));
        assert_eq!(both.forwarded, before + 1, "{case}");
        // Nothing is left for a second look, and the next commit finds the counters as they are.
        both.each(|router| router.reconfigure(adds));
        let counted = |router: &Router| {
            let stats = router.stats();
            format!("{:?} {:?} {:?}", Both::counted(router), stats.flow_cache_forwarded, stats.routed)
        };
        assert_eq!(counted(&both.there), counted(&both.here), "{case}");
    }
}
