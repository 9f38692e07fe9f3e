//! Writing configurations as tests like to read them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tollway_config::dataplane::{
    Action, AddressList, AddressRange, ArpMode, Chain, ConnectionState, DataplaneConfig, Interface,
    InterfaceAddress, InterfaceKind, IoChoice, Matcher, PortRange, Prefix, QueueLimit, QueueTarget,
    QueueType, RejectWith, Route, RouteTarget, RowId, Rule, SimpleQueue, StaticNeighbor,
};

/// First row of the rules that [`RouterConfig`] numbers.
pub const FIRST_RULE: RowId = 1000;

/// First row of the queues that [`RouterConfig`] numbers.
pub const FIRST_QUEUE: RowId = 5000;

/// A simple queue with a bucket of 0.1 s and room for 50 packets in each direction.
pub fn queue(row: RowId, targets: &[&str], upload: u64, download: u64) -> SimpleQueue {
    let target = |text: &&str| {
        let (address, prefix_len) = any_prefix(text);
        QueueTarget::Prefix(Prefix { address, prefix_len })
    };
    let limit = queue_limit;
    let targets = targets.iter().map(target).collect();
    SimpleQueue {
        row,
        targets,
        dst: None,
        packet_marks: Vec::new(),
        parent: None,
        time: None,
        upload: limit(upload),
        download: limit(download),
        total: None,
    }
}

/// At most so many bits/s, with a bucket of 0.1 s and the first of [`RouterConfig`]'s queue types.
pub const fn queue_limit(max_limit: u64) -> QueueLimit {
    QueueLimit {
        limit_at: 0,
        max_limit,
        burst_limit: 0,
        burst_threshold: 0,
        burst_time_ms: 0,
        bucket_ms: 100,
        priority: 8,
        queue_type: 0,
    }
}

/// Sizes of the pfifos that configurations begin with.
const PFIFOS: [u32; 12] = [50, 0, 1, 3, 5, 10, 20, 30, 40, 100, 1000, u32::MAX];

/// Queue types that configurations begin with.
fn pfifos() -> Vec<QueueType> {
    PFIFOS.iter().map(|&limit| QueueType::Pfifo { limit }).collect()
}

/// Index of the queue type that holds so many packets, in order of arrival.
pub fn pfifo(limit: u32) -> u32 {
    PFIFOS.iter().position(|known| *known == limit).expect("a size of PFIFOS") as u32
}

/// Splits `a.b.c.d/n`.
pub fn prefix(text: &str) -> (Ipv4Addr, u8) {
    let (address, len) = text.split_once('/').unwrap_or((text, "32"));
    (address.parse().expect("an IPv4 address"), len.parse().expect("a prefix length"))
}

/// Splits `a.b.c.d/n` or `a:b::c/n`.
pub(crate) fn any_prefix(text: &str) -> (IpAddr, u8) {
    let (address, len) =
        text.split_once('/').unwrap_or((text, if text.contains(':') { "128" } else { "32" }));
    (address.parse().expect("an address"), len.parse().expect("a prefix length"))
}

fn mask(len: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0)
}

/// The addresses of a prefix, or of `a-b`.
pub fn range(text: &str) -> AddressRange {
    if let Some((from, to)) = text.split_once('-') {
        let address = |text: &str| text.parse().expect("an address");
        return AddressRange { from: address(from), to: address(to) };
    }
    match any_prefix(text) {
        (IpAddr::V4(address), len) => {
            let (first, hosts) = (address.to_bits() & mask(len), !mask(len));
            let end = |bits| Ipv4Addr::from_bits(bits).into();
            AddressRange { from: end(first), to: end(first | hosts) }
        }
        (IpAddr::V6(address), len) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0);
            let first = address.to_bits() & mask;
            let end = |bits| Ipv6Addr::from_bits(bits).into();
            AddressRange { from: end(first), to: end(first | !mask) }
        }
    }
}

/// A rule under construction.
#[derive(Debug, Clone)]
pub struct RuleBuilder {
    matchers: Vec<Matcher>,
    log: Option<String>,
}

/// Begins a rule; without matchers it matches everything.
pub fn rule() -> RuleBuilder {
    RuleBuilder { matchers: Vec::new(), log: None }
}

impl RuleBuilder {
    /// Any matcher.
    pub fn matcher(mut self, matcher: Matcher) -> Self {
        self.matchers.push(matcher);
        self
    }
    /// Protocol number.
    pub fn protocol(self, protocol: u8) -> Self {
        self.matcher(Matcher::Protocol { protocol, negate: false })
    }
    /// Source prefix or range.
    pub fn src(self, text: &str) -> Self {
        self.matcher(Matcher::SrcAddress { range: range(text), negate: false })
    }
    /// Destination prefix or range.
    pub fn dst(self, text: &str) -> Self {
        self.matcher(Matcher::DstAddress { range: range(text), negate: false })
    }
    /// Destination port.
    pub fn dst_port(self, port: u16) -> Self {
        let ports = vec![PortRange { from: port, to: port }];
        self.matcher(Matcher::DstPort { ports, negate: false })
    }
    /// Incoming interface row.
    pub fn in_interface(self, row: RowId) -> Self {
        self.matcher(Matcher::InInterface { interfaces: vec![row], negate: false })
    }
    /// Outgoing interface row.
    pub fn out_interface(self, row: RowId) -> Self {
        self.matcher(Matcher::OutInterface { interfaces: vec![row], negate: false })
    }
    /// Connection states.
    pub fn state(self, states: &[ConnectionState]) -> Self {
        self.matcher(Matcher::ConnectionState { states: states.to_vec(), negate: false })
    }
    /// TCP flags.
    pub fn tcp_flags(self, set: u8, clear: u8) -> Self {
        self.matcher(Matcher::TcpFlags { set, clear, negate: false })
    }
    /// Log each match.
    pub fn log(mut self, prefix: &str) -> Self {
        self.log = Some(prefix.to_owned());
        self
    }
    /// With an action.
    pub fn then(self, action: Action) -> (Vec<Matcher>, Action, Option<String>) {
        (self.matchers, action, self.log)
    }
    /// Accept.
    pub fn accept(self) -> (Vec<Matcher>, Action, Option<String>) {
        self.then(Action::Accept)
    }
    /// Drop.
    pub fn drop(self) -> (Vec<Matcher>, Action, Option<String>) {
        self.then(Action::Drop)
    }
    /// Reject.
    pub fn reject(self, with: RejectWith) -> (Vec<Matcher>, Action, Option<String>) {
        self.then(Action::Reject { with })
    }
    /// Count and go on.
    pub fn passthrough(self) -> (Vec<Matcher>, Action, Option<String>) {
        self.then(Action::Passthrough)
    }
    /// Mark for the fast path and go on.
    pub fn fasttrack(self) -> (Vec<Matcher>, Action, Option<String>) {
        self.then(Action::FasttrackConnection)
    }
    /// Masquerade.
    pub fn masquerade(self) -> (Vec<Matcher>, Action, Option<String>) {
        self.then(Action::Masquerade { to_ports: None, randomise_ports: false })
    }
    /// Destination NAT to an address and, if not 0, a port.
    pub fn dst_nat(self, address: &str, port: u16) -> (Vec<Matcher>, Action, Option<String>) {
        let to_ports = (port != 0).then_some(PortRange { from: port, to: port });
        self.then(Action::DstNat { to_addresses: Some(range(address)), to_ports })
    }
    /// Source NAT to an address.
    pub fn src_nat(self, address: &str) -> (Vec<Matcher>, Action, Option<String>) {
        let to_addresses = Some(range(address));
        self.then(Action::SrcNat { to_addresses, to_ports: None, randomise_ports: false })
    }
}

/// A configuration under construction: interface `n` (from 1) has row `n` and port `ether<n>`.
#[derive(Debug, Clone, Default)]
pub struct RouterConfig {
    /// The configuration; free to be changed further.
    pub config: DataplaneConfig,
    next_rule: RowId,
}

impl RouterConfig {
    /// Without interfaces.
    pub fn new() -> Self {
        Self {
            config: DataplaneConfig { queue_types: pfifos(), ..DataplaneConfig::default() },
            next_rule: FIRST_RULE,
        }
    }

    /// Adds the next interface with an address of either family (none when empty).
    pub fn interface(mut self, address: &str) -> Self {
        let row = self.config.interfaces.len() as RowId + 1;
        self.config.interfaces.push(Interface {
            row,
            name: format!("ether{row}"),
            kind: InterfaceKind::Ethernet { port: format!("ether{row}"), io: IoChoice::Auto },
            disabled: false,
            mtu: 1500,
            mac_address: None,
            arp: ArpMode::Enabled,
            arp_timeout_ms: None,
            zone: 0,
        });
        if address.is_empty() { self } else { self.address(row, address) }
    }

    /// Adds the next interface, a VLAN of another one by a customer tag, with an address `a.b.c.d/n` (none when empty).
    pub fn vlan(self, parent: RowId, vlan_id: u16, address: &str) -> Self {
        self.tagged(parent, vlan_id, false, address)
    }

    /// Adds an interface like [`Self::vlan`], by a service tag.
    pub fn service_vlan(self, parent: RowId, vlan_id: u16, address: &str) -> Self {
        self.tagged(parent, vlan_id, true, address)
    }

    fn tagged(mut self, parent: RowId, vlan_id: u16, service_tag: bool, address: &str) -> Self {
        let row = self.config.interfaces.len() as RowId + 1;
        self.config.interfaces.push(Interface {
            row,
            name: format!("vlan{row}"),
            kind: InterfaceKind::Vlan { parent, vlan_id, service_tag },
            disabled: false,
            mtu: 1500,
            mac_address: None,
            arp: ArpMode::Enabled,
            arp_timeout_ms: None,
            zone: 0,
        });
        if address.is_empty() { self } else { self.address(row, address) }
    }

    /// Makes VLANs of one port of all interfaces so far. Test routers add and remove the tags: tests see ports as before.
    pub fn trunk(mut self) -> Self {
        crate::router::trunk::make(&mut self.config);
        self
    }

    /// Adds an address to an interface.
    pub fn address(mut self, interface: RowId, address: &str) -> Self {
        let (address, prefix_len) = any_prefix(address);
        let network: IpAddr = match address {
            IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() & mask(prefix_len)).into(),
            IpAddr::V6(v6) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(prefix_len)).unwrap_or(0);
                Ipv6Addr::from_bits(v6.to_bits() & mask).into()
            }
        };
        self.config.addresses.push(InterfaceAddress {
            row: 100 + self.config.addresses.len() as RowId,
            interface,
            address,
            prefix_len,
            network,
            ipv6: Default::default(),
        });
        self
    }

    /// Adds a static route.
    pub fn route(self, destination: &str, gateway: &str) -> Self {
        let address: IpAddr = gateway.parse().expect("an address");
        self.route_to(destination, RouteTarget::Gateway { address, interface: None })
    }

    /// Adds a static route to a target.
    pub fn route_to(mut self, destination: &str, target: RouteTarget) -> Self {
        let (destination, prefix_len) = any_prefix(destination);
        self.config.routes.push(Route {
            row: 200 + self.config.routes.len() as RowId,
            destination,
            prefix_len,
            distance: 1,
            target,
            pref_src: None,
            options: Default::default(),
        });
        self
    }

    /// Adds a static neighbour.
    pub fn neighbor(mut self, interface: RowId, address: &str, mac: &str, published: bool) -> Self {
        self.config.neighbors.push(StaticNeighbor {
            row: 300 + self.config.neighbors.len() as RowId,
            interface,
            address: address.parse().expect("an address"),
            mac_address: mac.to_owned(),
            published,
        });
        self
    }

    /// Adds an address list and returns nothing but its place: the n-th call makes list n-1.
    pub fn address_list(mut self, name: &str, entries: &[&str]) -> Self {
        let entries = entries.iter().map(|text| range(text)).collect();
        self.config.address_lists.push(AddressList { name: name.to_owned(), entries });
        self
    }

    fn push(chains: &mut Vec<Chain>, chain: &str, rule: Rule) {
        match chains.iter_mut().find(|known| known.name == chain) {
            Some(known) => known.rules.push(rule),
            None => chains.push(Chain { name: chain.to_owned(), rules: vec![rule] }),
        }
    }

    fn numbered(&mut self, (matchers, action, log): (Vec<Matcher>, Action, Option<String>)) -> Rule {
        let row = self.next_rule;
        self.next_rule += 1;
        Rule { row, matchers, action, log }
    }

    /// Appends a filter rule; the n-th rule of all tables gets row [`FIRST_RULE`]` + n - 1`.
    pub fn filter(mut self, chain: &str, rule: (Vec<Matcher>, Action, Option<String>)) -> Self {
        let rule = self.numbered(rule);
        Self::push(&mut self.config.filter, chain, rule);
        self
    }

    /// Appends a jump to a filter chain, which is made if it does not exist.
    pub fn filter_jump(mut self, chain: &str, matchers: RuleBuilder, target: &str) -> Self {
        if !self.config.filter.iter().any(|known| known.name == chain) {
            self.config.filter.push(Chain { name: chain.to_owned(), rules: Vec::new() });
        }
        if !self.config.filter.iter().any(|known| known.name == target) {
            self.config.filter.push(Chain { name: target.to_owned(), rules: Vec::new() });
        }
        let position = self.config.filter.iter().position(|known| known.name == target).unwrap_or(0);
        self.filter(chain, matchers.then(Action::Jump { chain: position as u32 }))
    }

    /// Appends a mangle rule.
    pub fn mangle(mut self, chain: &str, rule: (Vec<Matcher>, Action, Option<String>)) -> Self {
        let rule = self.numbered(rule);
        Self::push(&mut self.config.mangle, chain, rule);
        self
    }

    /// Appends a NAT rule.
    pub fn nat(mut self, chain: &str, rule: (Vec<Matcher>, Action, Option<String>)) -> Self {
        let rule = self.numbered(rule);
        Self::push(&mut self.config.nat, chain, rule);
        self
    }

    /// Appends a filter rule of IPv6.
    pub fn ipv6_filter(mut self, chain: &str, rule: (Vec<Matcher>, Action, Option<String>)) -> Self {
        let rule = self.numbered(rule);
        Self::push(&mut self.config.ipv6_filter, chain, rule);
        self
    }

    /// Appends a mangle rule of IPv6.
    pub fn ipv6_mangle(mut self, chain: &str, rule: (Vec<Matcher>, Action, Option<String>)) -> Self {
        let rule = self.numbered(rule);
        Self::push(&mut self.config.ipv6_mangle, chain, rule);
        self
    }

    /// Appends a NAT rule of IPv6.
    pub fn ipv6_nat(mut self, chain: &str, rule: (Vec<Matcher>, Action, Option<String>)) -> Self {
        let rule = self.numbered(rule);
        Self::push(&mut self.config.ipv6_nat, chain, rule);
        self
    }

    /// Adds an address list of IPv6; the n-th call makes list n-1 of IPv6.
    pub fn ipv6_address_list(mut self, name: &str, entries: &[&str]) -> Self {
        let entries = entries.iter().map(|text| range(text)).collect();
        self.config.ipv6_address_lists.push(AddressList { name: name.to_owned(), entries });
        self
    }

    /// Appends a simple queue with a bucket of 0.1 s and room for 50 packets in each direction; the n-th
    /// one gets row [`FIRST_QUEUE`]` + n - 1`.
    pub fn queue(mut self, targets: &[&str], upload: u64, download: u64) -> Self {
        let row = FIRST_QUEUE + self.config.simple_queues.len() as RowId;
        self.config.simple_queues.push(queue(row, targets, upload, download));
        self
    }

    /// The fast path of both families, on or off.
    pub fn fast_path(self, on: bool) -> Self {
        self.with(|config| {
            (config.settings.allow_fast_path, config.settings.ipv6.allow_fast_path) = (on, on);
        })
    }

    /// Any other change.
    pub fn with(mut self, change: impl FnOnce(&mut DataplaneConfig)) -> Self {
        change(&mut self.config);
        self
    }
}
