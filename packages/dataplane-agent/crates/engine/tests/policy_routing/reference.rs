//! Rules, marks and tables of both families made at random, and where packets go by the configuration alone.

use std::net::{IpAddr, Ipv6Addr};

use tollway_config::dataplane::{
    DataplaneConfig, Mark, Prefix, Route, RouteTarget, RoutingAction, RoutingRule, TableNumber,
};
use tollway_testkit::random::Random;
use tollway_testkit::router::To;
use tollway_testkit::routing::{network, table_mark};

/// Longest match by the configuration alone.
fn reference_table(config: &DataplaneConfig, table: TableNumber, dst: u32, longer_than: i16) -> Option<To> {
    let of_table = config.routes.iter().filter(|route| route.options.table == table);
    let covers = |network: u32, len: u8| (network ^ dst).checked_shr(32 - u32::from(len)).unwrap_or(0) == 0;
    let mut best: Option<(u8, Option<To>)> = None;
    let mut offer = |network: u32, len: u8, to: To| {
        if covers(network, len) && i16::from(len) > longer_than && best.is_none_or(|best| len > best.0) {
            best = Some((len, Some(to)));
        }
    };
    if table == 0 {
        for net in 1..=5_u32 {
            offer(0x0a00_0000 | net << 16, 24, To::Port(net as u16 - 1));
        }
    }
    for route in of_table {
        let (IpAddr::V4(network), RouteTarget::Gateway { address: IpAddr::V4(gateway), .. }) =
            (route.destination, &route.target)
        else {
            continue;
        };
        offer(network.to_bits(), route.prefix_len, To::Port(u16::from(gateway.octets()[1]) - 1));
    }
    best.and_then(|(_, to)| to)
}

/// What the rules say of a packet, by the configuration alone.
pub(super) fn reference(
    config: &DataplaneConfig,
    (src, dst): (u32, u32),
    mark: Mark,
    interface: u32,
) -> Option<To> {
    let inside = |network: Option<Prefix>, address: u32| {
        network.is_none_or(|network| match network.address {
            IpAddr::V4(v4) => {
                (v4.to_bits() ^ address).checked_shr(32 - u32::from(network.prefix_len)).unwrap_or(0) == 0
            }
            IpAddr::V6(_) => false,
        })
    };
    for rule in &config.routing_rules {
        let matches = inside(rule.source, src)
            && inside(rule.destination, dst)
            && rule.routing_mark.is_none_or(|wanted| wanted == mark)
            && rule.interface.is_none_or(|wanted| wanted == interface);
        if !matches {
            continue;
        }
        match rule.action {
            RoutingAction::Drop | RoutingAction::Unreachable => return None,
            RoutingAction::Lookup { table, only, min_prefix } => {
                let longer_than = min_prefix.map_or(-1, i16::from);
                let found = reference_table(config, table, dst, longer_than);
                if found.is_some() || only {
                    return found;
                }
            }
        }
    }
    let marked = (1..).zip(&config.routing_tables).find(|(_, table)| mark != 0 && table.mark == mark);
    marked
        .and_then(|(table, _)| reference_table(config, table, dst, -1))
        .or_else(|| reference_table(config, 0, dst, -1))
}

pub(super) const DESTINATIONS: [&str; 4] = ["203.0.113.9", "203.0.114.9", "198.51.100.1", "10.2.0.3"];

pub(super) fn random_rule(random: &mut Random, row: u32) -> RoutingRule {
    let table = random.below(3) as TableNumber;
    let action = match random.below(8) {
        0 => RoutingAction::Drop,
        1 => RoutingAction::Unreachable,
        _ => RoutingAction::Lookup {
            table,
            only: random.one_in(4),
            min_prefix: random.one_in(3).then(|| [0, 16, 24][random.below(3) as usize]),
        },
    };
    let some = |random: &mut Random, of: &[&str]| {
        random.one_in(2).then(|| network(of[random.below(of.len() as u64) as usize])).flatten()
    };
    let (source, destination) = (
        some(random, &["10.1.0.2/32", "10.1.0.0/24", "10.2.0.0/24"]),
        some(random, &["203.0.113.0/24", "203.0.112.0/22", "10.0.0.0/8"]),
    );
    // The lengths of the families differ.
    let action = match action {
        RoutingAction::Lookup { table, only, min_prefix } if source.or(destination).is_none() => {
            RoutingAction::Lookup { table, only, min_prefix: min_prefix.map(|_| 0) }
        }
        action => action,
    };
    RoutingRule {
        row,
        source,
        destination,
        routing_mark: random.one_in(4).then(|| table_mark(1 + random.below(2) as TableNumber)),
        interface: random.one_in(4).then(|| 1 + random.below(2) as u32),
        action,
    }
}

pub(super) fn random_routes(random: &mut Random, config: &mut DataplaneConfig) {
    config.routes.retain(|route| route.row < 900);
    for at in 0..random.below(5) as u32 {
        let mut route = config.routes[0].clone();
        let prefixes = [("203.0.113.0", 24), ("203.0.112.0", 22), ("198.51.100.0", 24), ("203.0.0.0", 16)];
        let (destination, len) = prefixes[random.below(4) as usize];
        (route.row, route.prefix_len) = (900 + at, len);
        route.destination = destination.parse().expect("an address");
        route.options.table = random.below(3) as TableNumber;
        let net = 3 + random.below(3);
        let address = format!("10.{net}.0.2").parse().expect("an address");
        route.target = RouteTarget::Gateway { address, interface: None };
        let same = |known: &Route| {
            (known.destination, known.prefix_len, known.options.table)
                == (route.destination, route.prefix_len, route.options.table)
        };
        // Two of equal distance would share the flows.
        if !config.routes.iter().any(same) {
            config.routes.push(route);
        }
    }
    // Tables with and without a default route.
    for table in 1..=2 {
        let place = config.routes.iter().position(|route| {
            route.options.table == table && route.prefix_len == 0 && route.destination.is_ipv4()
        });
        match place {
            Some(place) if random.one_in(4) => drop(config.routes.remove(place)),
            None if random.one_in(2) => {
                let mut route = config.routes[0].clone();
                (route.row, route.options.table) = (880 + u32::from(table), table);
                let address = format!("10.{}.0.2", 3 + table).parse().expect("an address");
                route.target = RouteTarget::Gateway { address, interface: None };
                config.routes.push(route);
            }
            _ => {}
        }
    }
}

/// An address of IPv6 for each of IPv4.
fn six(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(v4) => Ipv6Addr::from_bits(0x2001_0db8_00ff << 80 | u128::from(v4.to_bits())).into(),
        IpAddr::V6(v6) => v6.into(),
    }
}

pub(super) fn six_text(address: &str) -> String {
    six(address.parse().expect("an address")).to_string()
}

/// Default routes stay such.
const fn six_len(len: u8) -> u8 {
    if len == 0 { 0 } else { 96 + len }
}

/// The same rule for IPv6; `None` for a rule that is for both families.
pub(super) fn six_rule(rule: &RoutingRule) -> Option<RoutingRule> {
    let six = |network: Option<Prefix>| {
        network.map(|Prefix { address, prefix_len }| Prefix {
            address: six(address),
            prefix_len: six_len(prefix_len),
        })
    };
    let (source, destination) = (six(rule.source), six(rule.destination));
    source.or(destination)?;
    let action = match rule.action {
        RoutingAction::Lookup { table, only, min_prefix } => {
            RoutingAction::Lookup { table, only, min_prefix: min_prefix.map(six_len) }
        }
        other => other,
    };
    Some(RoutingRule { row: rule.row + 50, source, destination, action, ..rule.clone() })
}

/// Routes of IPv6 as those of IPv4 are.
pub(super) fn six_routes(config: &mut DataplaneConfig) {
    config.routes.retain(|route| route.destination.is_ipv4());
    let twin = |route: &Route| {
        let mut route = route.clone();
        route.row += 1_000;
        (route.destination, route.prefix_len) = (six(route.destination), six_len(route.prefix_len));
        if let RouteTarget::Gateway { address, .. } = &mut route.target {
            *address = six(*address);
        }
        route
    };
    let twins: Vec<Route> = config.routes.iter().map(twin).collect();
    config.routes.extend(twins);
}
