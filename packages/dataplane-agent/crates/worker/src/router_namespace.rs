//! The router's network namespace: a TAP per L3 interface that has an address, with the same addresses
//! and routes, so that Linux's services run behind the router's `input` and `output`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use tollway_config::dataplane::{DataplaneConfig, InterfaceAddress, Route, RouteTarget, RowId};
use tollway_io::netns::Namespace;
use tollway_io::tap;

use crate::exchange::Command;
use crate::workers::{WorkerLost, Workers};

/// Routing protocol number of the mirrored routes (`/etc/iproute2/rt_protos` leaves it free).
pub const ROUTE_PROTOCOL: u8 = 84;

/// What a TAP has, or shall have.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TapPlan {
    altname: Option<String>,
    mtu: u16,
    up: bool,
    /// Words of `ip address add`, without the device.
    addresses: BTreeSet<String>,
}

/// The namespace and what has been put into it.
#[derive(Debug)]
pub struct RouterNamespace {
    namespace: Namespace,
    taps: BTreeMap<RowId, TapPlan>,
    routes: BTreeSet<String>,
}

impl RouterNamespace {
    /// Opens or makes the namespace `name`.
    ///
    /// # Errors
    /// Without privilege.
    pub fn new(name: &str) -> std::io::Result<Self> {
        let namespace = Namespace::open_or_create(name)?;
        // What a killed agent left behind; its TAPs went with it.
        let _ = namespace.ip(&format!("route flush proto {ROUTE_PROTOCOL}"));
        Ok(Self { namespace, taps: BTreeMap::new(), routes: BTreeSet::new() })
    }

    /// It.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.namespace.name()
    }

    /// Brings the namespace in line with a configuration. Returns what could not be done, for the log.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn apply(
        &mut self,
        config: &DataplaneConfig,
        workers: &mut Workers,
    ) -> Result<Vec<String>, WorkerLost> {
        let wanted = plan_taps(config);
        let routes = plan_routes(config);
        let mut problems = Vec::new();

        let mut changed = false;
        let gone: Vec<RowId> = self.taps.keys().filter(|row| !wanted.contains_key(row)).copied().collect();
        for row in gone {
            // The device goes with its last queue.
            workers.ask(|_| Command::SetTap(row, None))?;
            self.taps.remove(&row);
            changed = true;
        }

        let mut lines = Vec::new();
        for route in self.routes.difference(&routes) {
            lines.push(format!("route del {route}"));
        }
        let removals = lines.len();
        for (&row, plan) in &wanted {
            if !self.taps.contains_key(&row) {
                match self.make_tap(row, workers.len()) {
                    Ok(queues) => {
                        changed = true;
                        let mut queues = queues.into_iter();
                        workers.ask(|_| Command::SetTap(row, queues.next()))?;
                    }
                    Err(error) => {
                        problems.push(format!("{}: {error}", device(row)));
                        continue;
                    }
                }
            }
            lines.extend(tap_lines(row, self.taps.get(&row), plan));
            self.taps.insert(row, plan.clone());
        }
        // A device that went or whose addresses changed took routes with it, so all are stated again.
        let known = if lines.len() == removals && !changed { &self.routes } else { &BTreeSet::new() };
        lines.extend(routes.difference(known).map(|route| format!("route replace {route}")));
        if lines.is_empty() {
            return Ok(problems);
        }
        if let Err(error) = self.namespace.ip_batch(&lines) {
            problems.push(error.to_string());
        }
        self.routes = routes;
        Ok(problems)
    }

    fn make_tap(&self, row: RowId, queues: usize) -> std::io::Result<Vec<tap::Tap>> {
        let name = device(row);
        let taps = self.namespace.within(|| tap::open(&name, queues))??;
        for (key, value) in
            [("forwarding", "0"), ("rp_filter", "0"), ("accept_local", "1"), ("promote_secondaries", "1")]
        {
            self.namespace.set(&format!("net/ipv4/conf/{name}/{key}"), value)?;
        }
        Ok(taps)
    }

    /// Takes the namespace's name away; processes in it keep running without connection.
    pub fn remove(self) {
        let _ = self.namespace.remove();
    }
}

/// Name of the TAP of an interface: RouterOS names may be longer than the kernel allows.
fn device(row: RowId) -> String {
    format!("tw{row}")
}

/// The interface whose TAP has a name.
pub fn row_of(device: &str) -> Option<RowId> {
    device.strip_prefix("tw")?.parse().ok()
}

fn plan_taps(config: &DataplaneConfig) -> BTreeMap<RowId, TapPlan> {
    let mut plans = BTreeMap::new();
    for interface in &config.interfaces {
        let addresses: BTreeSet<String> = config
            .addresses
            .iter()
            .filter(|address| address.interface == interface.row)
            .filter_map(address_words)
            .collect();
        if addresses.is_empty() {
            continue;
        }
        let plain = |name: &String| {
            !name.is_empty()
                && name.len() < 128
                && name.chars().all(|c| c.is_ascii_graphic() && !"/\"'\\#%".contains(c))
        };
        plans.insert(
            interface.row,
            TapPlan {
                altname: Some(interface.name.clone()).filter(plain),
                mtu: interface.mtu,
                up: !interface.disabled,
                addresses,
            },
        );
    }
    plans
}

fn address_words(address: &InterfaceAddress) -> Option<String> {
    let (IpAddr::V4(own), IpAddr::V4(network)) = (address.address, address.network) else { return None };
    let length = u32::from(address.prefix_len);
    let mask = u32::MAX.checked_shl(32 - length.min(32)).unwrap_or(0);
    Some(if own.to_bits() & mask != network.to_bits() & mask || (length == 32 && own != network) {
        format!("{own} peer {network}/{length}")
    } else if length < 31 {
        format!("{own}/{length} brd +")
    } else {
        format!("{own}/{length}")
    })
}

fn tap_lines(row: RowId, has: Option<&TapPlan>, plan: &TapPlan) -> Vec<String> {
    let name = device(row);
    let mut lines = Vec::new();
    if has.is_none() {
        lines.push(format!("link set dev {name} arp off"));
    }
    if has.is_none_or(|has| has.mtu != plan.mtu) {
        lines.push(format!("link set dev {name} mtu {}", plan.mtu));
    }
    let old_name = has.and_then(|has| has.altname.as_ref());
    if old_name != plan.altname.as_ref() {
        lines.extend(old_name.map(|altname| format!("link property del dev {name} altname {altname}")));
        let altname = plan.altname.as_ref();
        lines.extend(altname.map(|altname| format!("link property add dev {name} altname {altname}")));
    }
    if has.is_none_or(|has| has.up != plan.up) {
        lines.push(format!("link set dev {name} {}", if plan.up { "up" } else { "down" }));
    }
    let none = BTreeSet::new();
    let addresses = has.map_or(&none, |has| &has.addresses);
    for words in addresses.difference(&plan.addresses) {
        lines.push(format!("address del {} dev {name}", words.trim_end_matches(" brd +")));
    }
    for words in plan.addresses.difference(addresses) {
        lines.push(format!("address add {words} dev {name}"));
    }
    lines
}

/// Static routes as words of `ip route`; connected ones follow from the addresses. The kernel has one route for each
/// destination and metric: of several the one that the router itself uses, which is the first.
fn plan_routes(config: &DataplaneConfig) -> BTreeSet<String> {
    let mut taken = BTreeSet::new();
    let mut planned = BTreeSet::new();
    for route in &config.routes {
        let key = (route.destination, route.prefix_len, route.distance);
        if !taken.contains(&key)
            && let Some(words) = route_words(route, config)
        {
            taken.insert(key);
            planned.insert(words);
        }
    }
    planned
}

fn route_words(route: &Route, config: &DataplaneConfig) -> Option<String> {
    let IpAddr::V4(destination) = route.destination else { return None };
    let prefix = format!("{destination}/{}", route.prefix_len);
    let tail = format!("proto {ROUTE_PROTOCOL} metric {}", route.distance);
    let usable = |row: RowId| {
        let up = config.interfaces.iter().any(|interface| interface.row == row && !interface.disabled);
        let addressed =
            config.addresses.iter().any(|address| address.interface == row && address.address.is_ipv4());
        (up && addressed).then(|| device(row))
    };
    let source = match route.pref_src {
        Some(IpAddr::V4(source)) => format!(" src {source}"),
        _ => String::new(),
    };
    Some(match &route.target {
        RouteTarget::Blackhole => format!("blackhole {prefix} {tail}"),
        RouteTarget::Interface { interface } => {
            format!("{prefix} dev {} scope link {tail}{source}", usable(*interface)?)
        }
        // Nobody is there to take packets for others.
        RouteTarget::Gateway { address: IpAddr::V4(gateway), .. }
            if is_own_or_broadcast(*gateway, config) =>
        {
            return None;
        }
        RouteTarget::Gateway { address: IpAddr::V4(gateway), interface } => {
            let row = interface.or_else(|| connected_interface(*gateway, config))?;
            format!("{prefix} via {gateway} dev {} onlink {tail}{source}", usable(row)?)
        }
        RouteTarget::Gateway { .. } => return None,
    })
}

/// Whether an address is the router's own or the broadcast address of one of its networks.
fn is_own_or_broadcast(gateway: Ipv4Addr, config: &DataplaneConfig) -> bool {
    config.addresses.iter().any(|address| {
        let IpAddr::V4(network) = address.network else { return false };
        let hosts = u32::MAX.checked_shr(address.prefix_len.into()).unwrap_or(0);
        address.address == IpAddr::V4(gateway)
            || (address.prefix_len <= 30 && gateway.to_bits() == network.to_bits() | hosts)
    })
}

fn connected_interface(gateway: Ipv4Addr, config: &DataplaneConfig) -> Option<RowId> {
    let contains = |address: &&InterfaceAddress| {
        let IpAddr::V4(network) = address.network else { return false };
        let shift = 32 - u32::from(address.prefix_len).min(32);
        (network.to_bits() ^ gateway.to_bits()).checked_shr(shift).unwrap_or(0) == 0
    };
    config
        .addresses
        .iter()
        .filter(contains)
        .max_by_key(|address| address.prefix_len)
        .map(|address| address.interface)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollway_config::dataplane::{ArpMode, Interface};

    fn config() -> DataplaneConfig {
        let interface = |row: RowId, name: &str| Interface {
            row,
            name: name.into(),
            port: name.into(),
            disabled: false,
            mtu: 1500,
            mac_address: None,
            arp: ArpMode::Enabled,
            arp_timeout_ms: None,
            io: tollway_config::dataplane::IoChoice::Auto,
        };
        let address =
            |interface: RowId, address: [u8; 4], prefix_len: u8, network: [u8; 4]| InterfaceAddress {
                row: 100 + interface,
                interface,
                address: IpAddr::from(address),
                prefix_len,
                network: IpAddr::from(network),
            };
        DataplaneConfig {
            interfaces: vec![interface(1, "ether1"), interface(2, "a b"), interface(3, "ether3")],
            addresses: vec![
                address(1, [192, 168, 88, 1], 24, [192, 168, 88, 0]),
                address(2, [10, 0, 0, 1], 32, [10, 0, 0, 2]),
            ],
            ..DataplaneConfig::default()
        }
    }

    #[test]
    fn only_addressed_interfaces_get_a_tap() {
        let plans = plan_taps(&config());
        assert_eq!(plans.keys().copied().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(
            tap_lines(1, None, &plans[&1]),
            [
                "link set dev tw1 arp off",
                "link set dev tw1 mtu 1500",
                "link property add dev tw1 altname ether1",
                "link set dev tw1 up",
                "address add 192.168.88.1/24 brd + dev tw1",
            ]
        );
        assert_eq!(plans[&2].altname, None);
        assert!(plans[&2].addresses.contains("10.0.0.1 peer 10.0.0.2/32"));
        assert!(tap_lines(1, Some(&plans[&1]), &plans[&1]).is_empty());
    }

    #[test]
    fn routes_leave_by_the_connected_tap() {
        let mut config = config();
        let route = |destination: [u8; 4], prefix_len: u8, target: RouteTarget| Route {
            row: 200,
            destination: IpAddr::from(destination),
            prefix_len,
            distance: 1,
            target,
            pref_src: Some(IpAddr::from([192, 168, 88, 1])),
        };
        let gateway =
            |address: [u8; 4]| RouteTarget::Gateway { address: IpAddr::from(address), interface: None };
        config.routes = vec![
            route([0, 0, 0, 0], 0, gateway([192, 168, 88, 254])),
            route([10, 9, 0, 0], 16, gateway([172, 16, 0, 1])),
            route([10, 8, 0, 0], 16, RouteTarget::Blackhole),
            route([10, 7, 0, 0], 16, RouteTarget::Interface { interface: 3 }),
            // Of one destination and distance the router uses the first that works.
            route([0, 0, 0, 0], 0, RouteTarget::Blackhole),
            route([0, 0, 0, 0], 0, gateway([192, 168, 88, 253])),
            route([10, 6, 0, 0], 16, gateway([192, 168, 88, 1])),
            route([10, 6, 0, 0], 16, gateway([192, 168, 88, 255])),
            route([10, 6, 0, 0], 16, gateway([192, 168, 88, 2])),
        ];
        assert_eq!(
            plan_routes(&config).into_iter().collect::<Vec<_>>(),
            [
                "0.0.0.0/0 via 192.168.88.254 dev tw1 onlink proto 84 metric 1 src 192.168.88.1",
                "10.6.0.0/16 via 192.168.88.2 dev tw1 onlink proto 84 metric 1 src 192.168.88.1",
                "blackhole 10.8.0.0/16 proto 84 metric 1",
            ]
        );
    }
}
