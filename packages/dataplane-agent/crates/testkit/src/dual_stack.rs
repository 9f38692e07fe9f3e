//! IPv6 beside IPv4: the configurations and packets of tests that are written for IPv4, with addresses of IPv6 in the
//! place of those of IPv4. So every such test goes for both families.

use std::net::{IpAddr, Ipv6Addr};

use tollway_config::dataplane::{
    Action, AddressList, AddressRange, Chain, DataplaneConfig, Matcher, QueueTarget, RouteTarget, RowId,
    SimpleQueue,
};
use tollway_wire::{icmp, icmpv6, ipv4, ipv6};

use crate::RouterConfig;

/// Rows of what stands for something of IPv4 have its row and this.
pub const IPV6_ROWS: RowId = 50_000;

/// Bits before those of IPv4.
const PREFIX: u128 = 0x2001_0db8 << 96;
const PREFIX_LEN: u8 = 96;

/// The address of IPv6 that stands for one of IPv4, in host order; all nodes of the link for limited broadcast.
pub const fn in_ipv6(address: u32) -> u128 {
    if address == u32::MAX { ipv6::ALL_NODES } else { PREFIX | address as u128 }
}

/// The protocol of IPv6 that stands for one of IPv4.
pub const fn protocol_in_ipv6(protocol: u8) -> u8 {
    if protocol == ipv4::ICMP { ipv6::ICMPV6 } else { protocol }
}

/// The type of ICMPv6 that stands for one of ICMP.
pub(crate) const fn icmp_type_in_ipv6(icmp_type: u8) -> u8 {
    match icmp_type {
        icmp::ECHO_REQUEST => icmpv6::ECHO_REQUEST,
        icmp::ECHO_REPLY => icmpv6::ECHO_REPLY,
        icmp::UNREACHABLE => icmpv6::UNREACHABLE,
        icmp::TIME_EXCEEDED => icmpv6::TIME_EXCEEDED,
        other => other,
    }
}

fn address(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(v4) => Ipv6Addr::from_bits(in_ipv6(v4.to_bits())).into(),
        v6 @ IpAddr::V6(_) => v6,
    }
}

fn len(address: IpAddr, prefix_len: u8) -> u8 {
    if address.is_ipv4() { PREFIX_LEN + prefix_len } else { prefix_len }
}

fn range(range: AddressRange) -> AddressRange {
    AddressRange { from: address(range.from), to: address(range.to) }
}

fn matcher(matcher: &Matcher) -> Matcher {
    match matcher.clone() {
        Matcher::SrcAddress { range: of, negate } => Matcher::SrcAddress { range: range(of), negate },
        Matcher::DstAddress { range: of, negate } => Matcher::DstAddress { range: range(of), negate },
        Matcher::Protocol { protocol, negate } => {
            Matcher::Protocol { protocol: protocol_in_ipv6(protocol), negate }
        }
        Matcher::IcmpOptions { icmp_type, code_from, code_to, negate } => {
            Matcher::IcmpOptions { icmp_type: icmp_type_in_ipv6(icmp_type), code_from, code_to, negate }
        }
        other => other,
    }
}

fn action(action: &Action) -> Action {
    match action.clone() {
        Action::SrcNat { to_addresses, to_ports, randomise_ports } => {
            Action::SrcNat { to_addresses: to_addresses.map(range), to_ports, randomise_ports }
        }
        Action::DstNat { to_addresses, to_ports } => {
            Action::DstNat { to_addresses: to_addresses.map(range), to_ports }
        }
        other => other,
    }
}

/// The chains of IPv6 that stand for chains of IPv4.
pub fn chains_in_ipv6(chains: &[Chain]) -> Vec<Chain> {
    let mut chains = chains.to_vec();
    for rule in chains.iter_mut().flat_map(|chain| &mut chain.rules) {
        rule.row += IPV6_ROWS;
        rule.matchers = rule.matchers.iter().map(matcher).collect();
        rule.action = action(&rule.action);
    }
    chains
}

/// Queues that hold both families: a target and the network of IPv6 that stands for it.
pub fn with_ipv6_targets(queues: &mut [SimpleQueue]) {
    for queue in queues {
        let more: Vec<_> = queue.targets.iter().filter_map(target).collect();
        queue.targets.extend(more);
    }
}

fn target(target: &QueueTarget) -> Option<QueueTarget> {
    let QueueTarget::Prefix(mut prefix) = *target else { return None };
    prefix.prefix_len = len(prefix.address, prefix.prefix_len);
    prefix.address = address(prefix.address);
    Some(QueueTarget::Prefix(prefix))
}

/// Adds to everything of IPv4 the same of IPv6. Addresses of IPv6 are used a second after the start.
pub fn add_ipv6(config: &mut DataplaneConfig) {
    let of_ipv4 = config.addresses.clone();
    config.addresses.extend(of_ipv4.into_iter().filter(|own| own.address.is_ipv4()).map(|mut own| {
        own.row += IPV6_ROWS;
        own.prefix_len = len(own.address, own.prefix_len);
        (own.address, own.network) = (address(own.address), address(own.network));
        own
    }));
    let routes = config.routes.clone();
    config.routes.extend(routes.into_iter().filter(|route| route.destination.is_ipv4()).map(|mut route| {
        route.row += IPV6_ROWS;
        let default = route.prefix_len == 0;
        route.prefix_len = if default { 0 } else { len(route.destination, route.prefix_len) };
        route.destination = if default { Ipv6Addr::UNSPECIFIED.into() } else { address(route.destination) };
        match &mut route.target {
            RouteTarget::Gateway { address: gateway, .. } => *gateway = address(*gateway),
            RouteTarget::Gateways { gateways } => {
                for gateway in gateways.iter_mut().filter_map(|gateway| gateway.address.as_mut()) {
                    *gateway = address(*gateway);
                }
            }
            _ => {}
        }
        route
    }));
    let neighbors = config.neighbors.clone();
    config.neighbors.extend(neighbors.into_iter().filter(|one| one.address.is_ipv4()).map(|mut one| {
        one.row += IPV6_ROWS;
        one.address = address(one.address);
        one
    }));
    let list = |list: &AddressList| AddressList {
        name: list.name.clone(),
        entries: list.entries.iter().copied().map(range).collect(),
    };
    config.ipv6_address_lists = config.address_lists.iter().map(list).collect();
    config.ipv6_filter = chains_in_ipv6(&config.filter);
    config.ipv6_nat = chains_in_ipv6(&config.nat);
    config.ipv6_mangle = chains_in_ipv6(&config.mangle);
    with_ipv6_targets(&mut config.simple_queues);
}

impl RouterConfig {
    /// With all that [`add_ipv6`] adds.
    pub fn dual_stack(self) -> Self {
        self.with(add_ipv6)
    }
}
