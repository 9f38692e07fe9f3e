//! The router's network namespace: a TAP per L3 interface that has an address, with the same addresses
//! and routes, so that Linux's services run behind the router's `input` and `output`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use tollway_config::dataplane::{DataplaneConfig, InterfaceAddress, IpSettings, RowId, TcpTimestamps};
use tollway_engine::ip::fib::{Discard, Fib, ListedRoute};
use tollway_io::netns::Namespace;
use tollway_io::tap;

use crate::commands::Command;
use crate::workers::{WorkerLost, Workers};

/// Routing protocol number of the mirrored routes (`/etc/iproute2/rt_protos` leaves it free).
pub const ROUTE_PROTOCOL: u8 = 84;

/// The state of a TAP, present or wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TapState {
    altname: Option<String>,
    mtu: u16,
    up: bool,
    /// Words of `ip address add`, without the device.
    addresses: BTreeSet<String>,
}

/// The namespace and what the agent has configured in it.
#[derive(Debug)]
pub struct RouterNamespace {
    namespace: Namespace,
    taps: BTreeMap<RowId, TapState>,
    routes: BTreeSet<String>,
    /// Sysctls that have been set, by path.
    sysctls: BTreeMap<&'static str, String>,
}

impl RouterNamespace {
    /// Opens or creates the namespace `name`.
    ///
    /// # Errors
    /// Without privilege.
    pub fn new(name: &str) -> std::io::Result<Self> {
        let namespace = Namespace::open_or_create(name)?;
        // Routes that a killed agent has left; its TAPs are gone with it.
        let _ = namespace.ip(&format!("route flush proto {ROUTE_PROTOCOL}"));
        Ok(Self { namespace, taps: BTreeMap::new(), routes: BTreeSet::new(), sysctls: BTreeMap::new() })
    }

    /// The namespace.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// Name of the namespace.
    pub fn name(&self) -> &str {
        self.namespace.name()
    }

    /// Reconciles the namespace with a configuration and with the router's active routes, which depend on its links
    /// too. Returns what failed, for the log.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn apply(
        &mut self,
        config: &DataplaneConfig,
        fib: &Fib,
        workers: &mut Workers,
    ) -> Result<Vec<String>, WorkerLost> {
        let wanted = wanted_taps(config);
        let routes = wanted_routes(fib, &wanted);
        let mut problems = self.set_sysctls(&config.settings);

        let stale = self.routes.difference(&routes).map(|route| format!("route del {route}"));
        let mut lines: Vec<String> = stale.collect();
        let mut changed = false;
        let gone: Vec<RowId> = self.taps.keys().filter(|row| !wanted.contains_key(row)).copied().collect();
        if !gone.is_empty() {
            // Routes come first: the routes of a device are removed with it, and could not be deleted after that.
            problems.extend(self.namespace.ip_batch(&lines).err().map(|error| error.to_string()));
            lines.clear();
        }
        for row in gone {
            // The device is removed when its last queue is closed.
            workers.ask(|_| Command::SetTap(row, None))?;
            self.taps.remove(&row);
            changed = true;
        }

        let removals = lines.len();
        lines.extend(freed_names(&self.taps, &wanted));
        for (&row, wanted) in &wanted {
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
            lines.extend(tap_lines(row, self.taps.get(&row), wanted));
            self.taps.insert(row, wanted.clone());
        }
        // Routes are removed with devices and addresses, so all of them are set again.
        let known = if lines.len() == removals && !changed { &self.routes } else { &BTreeSet::new() };
        problems.extend(self.namespace.ip_batch(&lines).err().map(|error| error.to_string()));
        let added = self.namespace.add_routes(routes.difference(known));
        problems.extend(added.err().map(|error| error.to_string()));
        self.routes = routes;
        Ok(problems)
    }

    /// Sets the sysctls that have to change. Returns what failed; that is tried again with the next configuration.
    fn set_sysctls(&mut self, settings: &IpSettings) -> Vec<String> {
        let mut problems = Vec::new();
        for (path, value) in sysctls(settings) {
            if self.sysctls.get(path) == Some(&value) {
                continue;
            }
            match self.namespace.set(path, &value) {
                Ok(()) => {
                    self.sysctls.insert(path, value);
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        problems
    }

    fn make_tap(&self, row: RowId, queues: usize) -> std::io::Result<Vec<tap::Tap>> {
        let name = device(row);
        let taps = self.namespace.within(|| tap::open(&name, queues))??;
        for (key, value) in [
            ("forwarding", "0"),
            ("rp_filter", "0"),
            ("accept_local", "1"),
            ("promote_secondaries", "1"),
            ("accept_source_route", "1"),
        ] {
            self.namespace.set(&format!("net/ipv4/conf/{name}/{key}"), value)?;
        }
        Ok(taps)
    }

    /// Removes the namespace's name; processes in it keep running, without network.
    pub fn remove(self) {
        let _ = self.namespace.remove();
    }
}

/// Sysctls of the namespace for settings that concern its services, and messages that Linux sends for them
/// (ip-sysctl.rst).
fn sysctls(settings: &IpSettings) -> [(&'static str, String); 5] {
    let timestamps = match settings.tcp_timestamps {
        TcpTimestamps::Disabled => 0,
        TcpTimestamps::RandomOffset => 1,
        TcpTimestamps::Enabled => 2,
    };
    // The kernel takes no more for these.
    let rate = settings.icmp_rate_limit_ms.min(i32::MAX as u32);
    [
        ("net/ipv4/tcp_syncookies", u8::from(settings.tcp_syncookies).to_string()),
        ("net/ipv4/tcp_timestamps", timestamps.to_string()),
        ("net/ipv4/icmp_ratelimit", rate.to_string()),
        // Signed there.
        ("net/ipv4/icmp_ratemask", (settings.icmp_rate_mask as i32).to_string()),
        // Each interface has it too; both have to be on.
        ("net/ipv4/conf/all/accept_source_route", u8::from(settings.accept_source_route).to_string()),
    ]
}

/// Name of the TAP of an interface: RouterOS names may be longer than the kernel allows.
fn device(row: RowId) -> String {
    format!("tw{row}")
}

/// The interface whose TAP has a name.
pub fn row_of(device: &str) -> Option<RowId> {
    device.strip_prefix("tw")?.parse().ok()
}

fn wanted_taps(config: &DataplaneConfig) -> BTreeMap<RowId, TapState> {
    let mut taps = BTreeMap::new();
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
        taps.insert(
            interface.row,
            TapState {
                altname: Some(interface.name.clone()).filter(plain),
                mtu: interface.mtu,
                up: !interface.disabled,
                addresses,
            },
        );
    }
    taps
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

/// Renames all TAPs that get another name to temporary names first, as one may get the name of another.
fn freed_names(has: &BTreeMap<RowId, TapState>, wanted: &BTreeMap<RowId, TapState>) -> Vec<String> {
    let freed = has.iter().filter_map(|(row, has)| {
        let altname = has.altname.as_ref()?;
        let stays = wanted.get(row)?.altname.as_ref() == Some(altname);
        (!stays).then(|| format!("link property del dev {} altname {altname}", device(*row)))
    });
    freed.collect()
}

fn tap_lines(row: RowId, has: Option<&TapState>, wanted: &TapState) -> Vec<String> {
    let name = device(row);
    let mut lines = Vec::new();
    if has.is_none() {
        lines.push(format!("link set dev {name} arp off"));
    }
    if has.is_none_or(|has| has.mtu != wanted.mtu) {
        lines.push(format!("link set dev {name} mtu {}", wanted.mtu));
    }
    if has.and_then(|has| has.altname.as_ref()) != wanted.altname.as_ref() {
        let altname = wanted.altname.as_ref();
        lines.extend(altname.map(|altname| format!("link property add dev {name} altname {altname}")));
    }
    if has.is_none_or(|has| has.up != wanted.up) {
        lines.push(format!("link set dev {name} {}", if wanted.up { "up" } else { "down" }));
    }
    let none = BTreeSet::new();
    let addresses = has.map_or(&none, |has| &has.addresses);
    for words in addresses.difference(&wanted.addresses) {
        lines.push(format!("address del {} dev {name}", words.trim_end_matches(" brd +")));
    }
    for words in wanted.addresses.difference(addresses) {
        lines.push(format!("address add {words} dev {name}"));
    }
    lines
}

/// Static routes that the router can use as words of `ip route`; connected ones follow from the addresses. The kernel
/// has one route for each destination and metric: of several the first, as the router itself.
fn wanted_routes(fib: &Fib, taps: &BTreeMap<RowId, TapState>) -> BTreeSet<String> {
    let mut taken = BTreeSet::new();
    let mut lines = BTreeSet::new();
    fib.for_each_static(|route| {
        let key = (route.destination, route.prefix_len, route.distance);
        if !taken.contains(&key)
            && let Some(words) = route_words(route, taps)
        {
            taken.insert(key);
            lines.insert(words);
        }
    });
    lines
}

/// `None` for a route that the router cannot use, and for one by an interface that has no TAP.
fn route_words(route: &ListedRoute, taps: &BTreeMap<RowId, TapState>) -> Option<String> {
    let prefix = format!("{}/{}", Ipv4Addr::from_bits(route.destination), route.prefix_len);
    let tail = format!("proto {ROUTE_PROTOCOL} metric {}", route.distance);
    let kind = match route.discard {
        None => "",
        Some(Discard::Blackhole) => "blackhole ",
        Some(Discard::Unreachable) => "unreachable ",
        Some(Discard::Prohibit) => "prohibit ",
    };
    if !kind.is_empty() {
        return Some(format!("{kind}{prefix} {tail}"));
    }
    if !taps.contains_key(&route.interface) {
        return None;
    }
    let next_hop = match route.gateway {
        Some(gateway) => {
            format!("via {} dev {} onlink", Ipv4Addr::from_bits(gateway), device(route.interface))
        }
        None => format!("dev {} scope link", device(route.interface)),
    };
    let source = match route.pref_src {
        0 => String::new(),
        source => format!(" src {}", Ipv4Addr::from_bits(source)),
    };
    Some(format!("{prefix} {next_hop} {tail}{source}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollway_config::dataplane::{ArpMode, Interface, InterfaceKind, IoChoice, Route, RouteTarget};
    use tollway_engine::snapshot::{PortFacts, Snapshot};

    fn config() -> DataplaneConfig {
        let interface = |row: RowId, name: &str| Interface {
            row,
            name: name.into(),
            kind: InterfaceKind::Ethernet { port: name.into(), io: IoChoice::Auto },
            disabled: false,
            mtu: 1500,
            mac_address: None,
            arp: ArpMode::Enabled,
            arp_timeout_ms: None,
        };
        let address =
            |interface: RowId, address: [u8; 4], prefix_len: u8, network: [u8; 4]| InterfaceAddress {
                row: 100 + interface,
                interface,
                address: IpAddr::from(address),
                prefix_len,
                network: IpAddr::from(network),
                ipv6: Default::default(),
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
        let taps = wanted_taps(&config());
        assert_eq!(taps.keys().copied().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(
            tap_lines(1, None, &taps[&1]),
            [
                "link set dev tw1 arp off",
                "link set dev tw1 mtu 1500",
                "link property add dev tw1 altname ether1",
                "link set dev tw1 up",
                "address add 192.168.88.1/24 brd + dev tw1",
            ]
        );
        assert_eq!(taps[&2].altname, None);
        assert!(taps[&2].addresses.contains("10.0.0.1 peer 10.0.0.2/32"));
        assert!(tap_lines(1, Some(&taps[&1]), &taps[&1]).is_empty());
        assert!(freed_names(&taps, &taps).is_empty());
    }

    #[test]
    fn settings_for_services_are_sysctls() {
        let values = |settings: IpSettings| sysctls(&settings).map(|(_, value)| value);
        assert_eq!(values(IpSettings::default()), ["0", "1", "10", "6168", "0"]);
        let other = IpSettings {
            tcp_syncookies: true,
            tcp_timestamps: TcpTimestamps::Enabled,
            icmp_rate_limit_ms: u32::MAX,
            icmp_rate_mask: u32::MAX,
            accept_source_route: true,
            ..IpSettings::default()
        };
        assert_eq!(values(other), ["1", "2", "2147483647", "-1", "1"]);
    }

    #[test]
    fn interfaces_that_swap_names_keep_one() {
        let named = |first: &str, second: &str| {
            let mut config = config();
            for (interface, name) in config.interfaces.iter_mut().zip([first, second]) {
                interface.name = name.into();
            }
            wanted_taps(&config)
        };
        let (has, wanted) = (named("lan", "wan"), named("wan", "lan"));
        assert_eq!(
            freed_names(&has, &wanted),
            ["link property del dev tw1 altname lan", "link property del dev tw2 altname wan"]
        );
        let added: Vec<String> =
            wanted.iter().flat_map(|(row, wanted)| tap_lines(*row, has.get(row), wanted)).collect();
        assert_eq!(added, ["link property add dev tw1 altname wan", "link property add dev tw2 altname lan"]);
    }

    /// The routes of the namespace while these interfaces have a carrier.
    fn wanted_words(config: &DataplaneConfig, running: impl Fn(&str) -> bool) -> Vec<String> {
        let facts = |interface: &Interface| PortFacts {
            name: interface.kind.port().unwrap().to_owned(),
            mac: [2, 0, 0, 0, 0, interface.row as u8],
            running: running(interface.kind.port().unwrap()),
        };
        let facts: Vec<PortFacts> = config.interfaces.iter().map(facts).collect();
        let snapshot = Snapshot::build(config, &facts, 1, 1).unwrap();
        wanted_routes(snapshot.fib(), &wanted_taps(config)).into_iter().collect()
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
            wanted_words(&config, |_| true),
            [
                "0.0.0.0/0 via 192.168.88.254 dev tw1 onlink proto 84 metric 1 src 192.168.88.1",
                "10.6.0.0/16 via 192.168.88.2 dev tw1 onlink proto 84 metric 1 src 192.168.88.1",
                "blackhole 10.8.0.0/16 proto 84 metric 1",
            ]
        );
    }

    #[test]
    fn routes_are_those_that_the_router_can_use() {
        let mut config = config();
        // Addresses of an interface that is disabled are not the router's, and its networks not connected.
        config.interfaces[2].disabled = true;
        let address = |address: [u8; 4], prefix_len: u8, network: [u8; 4]| InterfaceAddress {
            row: 103,
            interface: 3,
            address: IpAddr::from(address),
            prefix_len,
            network: IpAddr::from(network),
            ipv6: Default::default(),
        };
        config.addresses.push(address([192, 168, 88, 66], 32, [192, 168, 88, 66]));
        config.addresses.push(address([192, 168, 88, 80], 28, [192, 168, 88, 80]));
        let route = |distance: u8, gateway: [u8; 4]| Route {
            row: 200,
            destination: IpAddr::from([10, 9, 0, 0]),
            prefix_len: 16,
            distance,
            target: RouteTarget::Gateway { address: IpAddr::from(gateway), interface: None },
            pref_src: None,
        };
        config.routes =
            vec![route(1, [192, 168, 88, 66]), route(2, [192, 168, 88, 95]), route(3, [10, 0, 0, 2])];
        let first = "10.9.0.0/16 via 192.168.88.66 dev tw1 onlink proto 84 metric 1";
        let second = "10.9.0.0/16 via 192.168.88.95 dev tw1 onlink proto 84 metric 2";
        let third = "10.9.0.0/16 via 10.0.0.2 dev tw2 onlink proto 84 metric 3";
        assert_eq!(wanted_words(&config, |_| true), [third, first, second]);
        assert_eq!(wanted_words(&config, |port| port != "ether1"), [third]);
    }
}
