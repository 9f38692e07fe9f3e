//! The router configurations that are measured, as the agent gets them. The kernel's ruleset is derived
//! from the same value (`nft`), so both routers do the same work.
//!
//! One topology for all: `lan` 10.77.0.1/16 with the generator at 10.77.0.2, `wan` 10.78.0.1/16 with
//! the sink at 10.78.0.2. Sources of generated flows lie in 172.16.0.0/12 behind the generator,
//! destinations in 198.18.0.0/15 (RFC 2544) behind the sink. With IPv6, the same addresses and rules of IPv6 beside them
//! ([`tollway_testkit::dual_stack`]).

use std::net::{IpAddr, Ipv4Addr};

use tollway_config::dataplane::{
    Action, AddressRange, Chain, ConnectionState, DataplaneConfig, Matcher, PortRange, Prefix, QueueTarget,
    QueueType, Route, RouteTarget, Rule, SimpleQueue, StaticNeighbor, Tracking, TrackingMode,
};
use tollway_testkit::{RouterConfig, dual_stack};

/// Row of the interface the generator is on.
pub const LAN: u32 = 1;
/// Row of the interface the sink is on.
pub const WAN: u32 = 2;
/// The router's address on `lan`.
pub const LAN_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// The generator's address.
pub const GENERATOR: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
/// The router's address on `wan`.
pub const WAN_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 1);
/// The sink's address.
pub const SINK: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 2);
/// First address of generated sources.
pub const SOURCES: Ipv4Addr = Ipv4Addr::new(172, 16, 0, 0);
/// First address of generated destinations.
pub const DESTINATIONS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);

/// A configuration to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scenario {
    /// Track connections.
    pub tracking: TrackingMode,
    /// Rewrite sources to the router's address on `wan`.
    pub masquerade: bool,
    /// The rules of `forward`.
    pub filter: Filter,
    /// The simple queues.
    pub queues: Queues,
    /// All of it of IPv6 too, by which the flows are.
    pub ipv6: bool,
}

/// Which filter rules there are. All of them let measured packets pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// None.
    None,
    /// [`filter_25`].
    Rules25,
    /// [`filter_10k`].
    Rules10k,
}

impl Filter {
    fn chains(self) -> Vec<Chain> {
        let rules = match self {
            Self::None => return Vec::new(),
            Self::Rules25 => filter_25(),
            Self::Rules10k => filter_10k(),
        };
        vec![Chain { name: "forward".to_owned(), rules }]
    }
}

/// Which simple queues there are. None of them is held to its limit by what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queues {
    /// None.
    None,
    /// A stream, for the generator itself.
    Generator {
        /// Limit of the queue, bits/s.
        max_limit: u64,
    },
    /// So many, between which the sources of generated flows are dealt out in prefixes of a length.
    Sources {
        /// Queues.
        count: u32,
        /// Bits.
        prefix_len: u8,
    },
    /// Simple queues below one parent, each with a guaranteed rate.
    Tree {
        /// Leaves.
        count: u32,
        /// Bits.
        prefix_len: u8,
    },
}

/// Row of the parent of [`Queues::Tree`].
const PARENT: u32 = 999;
/// Limit of it and of its leaves, which nothing reaches, bits/s.
const TREE_LIMIT: u64 = 100 * MAX_LIMIT;
/// Guaranteed rate of each of its leaves, bits/s.
const LIMIT_AT: u64 = 100_000_000;

/// Limit of a queue, bits/s.
const MAX_LIMIT: u64 = 1_000_000_000;
/// Packets that may wait in it: more than a TCP window, since iperf3 sends faster than it was set to after
/// a pause, to catch up.
const PACKET_LIMIT: u32 = 5000;
/// Addresses that sources are taken from by the cases with queues: 172.16.0.0/20 and the one after it.
const SOURCE_ADDRESSES: u32 = 4097;

impl Scenario {
    /// Routing only, without state.
    pub const ROUTING: Self = Self {
        tracking: TrackingMode::No,
        masquerade: false,
        filter: Filter::None,
        queues: Queues::None,
        ipv6: false,
    };
    /// Connection tracking and masquerade, no filter rules.
    pub const MASQUERADE: Self = Self { tracking: TrackingMode::Yes, masquerade: true, ..Self::ROUTING };
    /// Connection tracking, masquerade and 25 filter rules.
    pub const MASQUERADE_25: Self = Self { filter: Filter::Rules25, ..Self::MASQUERADE };
    /// Connection tracking, masquerade and 10,000 filter rules.
    pub const MASQUERADE_10K: Self = Self { filter: Filter::Rules10k, ..Self::MASQUERADE };
    /// [`Self::MASQUERADE_25`] with a simple queue for the generator.
    pub const MASQUERADE_25_QUEUE: Self =
        Self { queues: Queues::Generator { max_limit: MAX_LIMIT }, ..Self::MASQUERADE_25 };
    /// Scenario with a queue limit that no stream reaches.
    pub const MASQUERADE_25_QUEUE_100G: Self =
        Self { queues: Queues::Generator { max_limit: 100 * MAX_LIMIT }, ..Self::MASQUERADE_25 };
    /// Scenario with 25 simple queues, of /27 networks.
    pub const QUEUES_25: Self =
        Self { queues: Queues::Sources { count: 25, prefix_len: 27 }, ..Self::MASQUERADE_25 };
    /// Scenario with 1,000 simple queues, of /30 networks.
    pub const QUEUES_1K: Self =
        Self { queues: Queues::Sources { count: 1000, prefix_len: 30 }, ..Self::MASQUERADE_25 };

    /// Connection tracking, masquerade and 25 simple queues, of /27 networks, below one parent.
    pub const HTB_25: Self = Self { queues: Queues::Tree { count: 25, prefix_len: 27 }, ..Self::MASQUERADE };

    /// Scenario with flows of IPv6.
    pub const fn over_ipv6(self) -> Self {
        Self { ipv6: true, ..self }
    }

    /// A scenario by its name on the command line.
    pub fn by_name(name: &str) -> Result<Self, String> {
        match name {
            "routing" => Ok(Self::ROUTING),
            "routing-v6" => Ok(Self::ROUTING.over_ipv6()),
            "masquerade-25" => Ok(Self::MASQUERADE_25),
            "masquerade-25-v6" => Ok(Self::MASQUERADE_25.over_ipv6()),
            "masquerade-10k" => Ok(Self::MASQUERADE_10K),
            "masquerade-25-queue" => Ok(Self::MASQUERADE_25_QUEUE),
            "masquerade-25-queue-100g" => Ok(Self::MASQUERADE_25_QUEUE_100G),
            "htb-25" => Ok(Self::HTB_25),
            _ => Err(format!(
                "unknown scenario \"{name}\"; there are routing, routing-v6, masquerade-25, masquerade-25-v6, masquerade-10k, masquerade-25-queue, masquerade-25-queue-100g and htb-25"
            )),
        }
    }

    /// The compiled configuration, with the link-layer addresses of the two neighbours.
    pub fn config(self, generator_mac: [u8; 6], sink_mac: [u8; 6]) -> DataplaneConfig {
        let srcnat = Rule {
            row: 200,
            matchers: vec![Matcher::OutInterface { interfaces: vec![WAN], negate: false }],
            action: Action::Masquerade { to_ports: None, randomise_ports: false },
            log: None,
        };
        let nat = vec![Chain { name: "srcnat".to_owned(), rules: vec![srcnat] }];
        let [lan, wan] = [LAN_ADDRESS, WAN_ADDRESS].map(|address| format!("{address}/16"));
        let mut config = RouterConfig::new().interface(&lan).interface(&wan).config;
        for (interface, name) in config.interfaces.iter_mut().zip(["lan", "wan"]) {
            interface.name = name.to_owned();
        }
        let mut config = DataplaneConfig {
            tracking: Tracking { enabled: self.tracking, ..Tracking::default() },
            routes: vec![route(21, SOURCES, 12, GENERATOR, LAN), route(22, DESTINATIONS, 15, SINK, WAN)],
            neighbors: vec![neighbor(31, LAN, GENERATOR, generator_mac), neighbor(32, WAN, SINK, sink_mac)],
            filter: self.filter.chains(),
            nat: if self.masquerade { nat } else { Vec::new() },
            queue_types: vec![QueueType::Pfifo { limit: PACKET_LIMIT }],
            simple_queues: self.queues.rows(),
            ..config
        };
        if self.ipv6 {
            dual_stack::add_ipv6(&mut config);
        }
        config
    }
}

impl Queues {
    fn rows(self) -> Vec<SimpleQueue> {
        match self {
            Queues::None => Vec::new(),
            Queues::Generator { max_limit } => {
                vec![queue(0, max_limit, vec![Prefix { address: GENERATOR.into(), prefix_len: 32 }])]
            }
            Queues::Tree { count, prefix_len } => {
                let mut leaves = Queues::Sources { count, prefix_len }.rows();
                let mut parent = queue(0, TREE_LIMIT, Vec::new());
                parent.row = PARENT;
                // The generator itself is the sender of its TCP streams.
                if let Some(first) = leaves.first_mut() {
                    first
                        .targets
                        .push(QueueTarget::Prefix(Prefix { address: GENERATOR.into(), prefix_len: 32 }));
                }
                for leaf in &mut leaves {
                    (leaf.upload.max_limit, leaf.download.max_limit) = (TREE_LIMIT, TREE_LIMIT);
                    leaf.parent = Some(PARENT);
                    (leaf.upload.limit_at, leaf.download.limit_at) = (LIMIT_AT, LIMIT_AT);
                    parent.targets.extend_from_slice(&leaf.targets);
                }
                leaves.insert(0, parent);
                leaves
            }
            Queues::Sources { count, prefix_len } => {
                let size = 1 << (32 - prefix_len);
                let network = |block: u32| Ipv4Addr::from_bits(SOURCES.to_bits() + block * size);
                let of = |index: u32| {
                    let blocks = (index..SOURCE_ADDRESSES.div_ceil(size)).step_by(count as usize);
                    blocks.map(|block| Prefix { address: network(block).into(), prefix_len }).collect()
                };
                (0..count).map(|index| queue(index, MAX_LIMIT, of(index))).collect()
            }
        }
    }
}

/// A simple queue of both directions, with a bucket of 0.1 s.
pub fn queue(index: u32, max_limit: u64, targets: Vec<Prefix>) -> SimpleQueue {
    let targets = targets.into_iter().map(QueueTarget::Prefix).collect();
    SimpleQueue { targets, ..tollway_testkit::queue(1000 + index, &[], max_limit, max_limit) }
}

/// 25 rules for `forward`: 24 that a measured packet passes without matching, over states, addresses,
/// protocols, ports and interfaces, and an accept that matches at the very end.
pub fn filter_25() -> Vec<Rule> {
    let mut matchers =
        vec![vec![Matcher::ConnectionState { states: vec![ConnectionState::Invalid], negate: false }]];
    for i in 0..8 {
        matchers.push(vec![Matcher::SrcAddress { range: block(192, i), negate: false }]);
    }
    for i in 0..8 {
        matchers.push(vec![
            Matcher::DstAddress { range: block(203, i), negate: false },
            Matcher::Protocol { protocol: 6, negate: false },
            Matcher::DstPort { ports: vec![PortRange { from: 8000 + i, to: 8000 + i }], negate: false },
        ]);
    }
    for (i, protocol) in [(0, 17), (1, 6), (2, 17), (3, 6)] {
        matchers.push(vec![
            Matcher::Protocol { protocol, negate: false },
            Matcher::DstPort {
                ports: vec![PortRange { from: 100 + 20 * i, to: 109 + 20 * i }],
                negate: false,
            },
        ]);
    }
    for i in 0..3 {
        matchers.push(vec![
            Matcher::InInterface { interfaces: vec![WAN], negate: false },
            Matcher::DstAddress { range: block(100, i), negate: false },
        ]);
    }
    let mut rules: Vec<Rule> = (100..)
        .zip(matchers)
        .map(|(row, matchers)| Rule { row, matchers, action: Action::Drop, log: None })
        .collect();
    rules.push(Rule {
        row: 150,
        matchers: vec![
            Matcher::InInterface { interfaces: vec![LAN], negate: false },
            Matcher::OutInterface { interfaces: vec![WAN], negate: false },
        ],
        action: Action::Accept,
        log: None,
    });
    rules
}

/// 10,000 rules of the same kinds as [`filter_25`], of which every one names other networks or ports, with the
/// same accept at the very end.
pub fn filter_10k() -> Vec<Rule> {
    filter_of(10_000)
}

/// So many rules as [`filter_10k`] has, from 2 to 10,000.
pub fn filter_of(count: u32) -> Vec<Rule> {
    let network = |first: u8, i: u32| {
        let from = u32::from(first) << 24 | i << 8;
        AddressRange { from: Ipv4Addr::from_bits(from).into(), to: Ipv4Addr::from_bits(from | 0xff).into() }
    };
    let ports = |from: u32, count: u32| vec![PortRange { from: from as u16, to: (from + count - 1) as u16 }];
    let conditions = |i: u32| match i % 4 {
        0 => vec![Matcher::SrcAddress { range: network(192, i), negate: false }],
        1 => vec![
            Matcher::DstAddress { range: network(203, i), negate: false },
            Matcher::Protocol { protocol: 6, negate: false },
            Matcher::DstPort { ports: ports(8000 + i % 1000, 1), negate: false },
        ],
        2 => vec![
            Matcher::Protocol { protocol: if i % 8 == 2 { 6 } else { 17 }, negate: false },
            Matcher::DstPort { ports: ports(50_000 + i, 4), negate: false },
        ],
        _ => vec![
            Matcher::InInterface { interfaces: vec![WAN], negate: false },
            Matcher::DstAddress { range: network(100, i), negate: false },
        ],
    };
    let invalid = vec![Matcher::ConnectionState { states: vec![ConnectionState::Invalid], negate: false }];
    let mut rules: Vec<Rule> = (10_000..)
        .zip(std::iter::once(invalid).chain((0..count.saturating_sub(2)).map(conditions)))
        .map(|(row, matchers)| Rule { row, matchers, action: Action::Drop, log: None })
        .collect();
    rules.extend(filter_25().pop());
    rules
}

/// A /24 that no measured packet uses.
fn block(first: u8, third: u16) -> AddressRange {
    let third = third as u8;
    AddressRange {
        from: Ipv4Addr::new(first, 51, third, 0).into(),
        to: Ipv4Addr::new(first, 51, third, 255).into(),
    }
}

/// A route by a neighbour on an interface.
pub fn route(row: u32, destination: Ipv4Addr, prefix_len: u8, gateway: Ipv4Addr, interface: u32) -> Route {
    Route {
        row,
        destination: IpAddr::V4(destination),
        prefix_len,
        distance: 1,
        target: RouteTarget::Gateway { address: gateway.into(), interface: Some(interface) },
        pref_src: None,
        options: Default::default(),
    }
}

/// A neighbour's entry.
pub fn neighbor(row: u32, interface: u32, address: Ipv4Addr, mac: [u8; 6]) -> StaticNeighbor {
    let mac_address = mac.map(|byte| format!("{byte:02x}")).join(":");
    StaticNeighbor { row, interface, address: address.into(), mac_address, published: false }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_filter_has_25_rules_and_only_the_last_accepts() {
        let rules = filter_25();
        assert_eq!(rules.len(), 25);
        assert_eq!(rules.iter().map(|rule| rule.row).collect::<BTreeSet<_>>().len(), 25);
        let accepting: Vec<usize> =
            rules.iter().enumerate().filter(|(_, r)| r.action == Action::Accept).map(|(i, _)| i).collect();
        assert_eq!(accepting, [24]);
    }

    #[test]
    fn every_source_of_4096_flows_is_in_exactly_one_queue() {
        for scenario in [Scenario::QUEUES_25, Scenario::QUEUES_1K] {
            let queues = scenario.config([0; 6], [0; 6]).simple_queues;
            assert!(queues.iter().all(|queue| !queue.targets.is_empty()));
            for flow in 0..4096 {
                let source = SOURCES.to_bits() + 1 + flow;
                let holds = |target: &&QueueTarget| {
                    let QueueTarget::Prefix(target) = target else { return false };
                    let IpAddr::V4(network) = target.address else { return false };
                    (network.to_bits() ^ source) >> (32 - target.prefix_len) == 0
                };
                let holding = queues.iter().flat_map(|queue| &queue.targets).filter(holds).count();
                assert_eq!(holding, 1, "flow {flow}");
            }
        }
    }
}
