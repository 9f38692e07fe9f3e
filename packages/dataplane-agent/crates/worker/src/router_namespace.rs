//! A network namespace of the router: a TAP per L3 interface of a zone that has an address, with the same addresses
//! and routes, so that Linux's services run behind the router's `input` and `output`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tollway_config::dataplane::{
    DataplaneConfig, Interface, InterfaceAddress, IpSettings, RowId, TcpTimestamps,
};
use tollway_engine::ip::fib::{Address, Discard, ListedRoute, RouteSource, Table};
use tollway_engine::packet::tuple::Zone;
use tollway_engine::snapshot::{OwnAddress, Snapshot};
use tollway_io::netns::Namespace;
use tollway_io::tap;
use tollway_wire::ipv6;

use crate::commands::Command;
use crate::workers::{WorkerLost, Workers};

/// Routing protocol number of routes from router advertisements (rtnetlink(7)).
pub const RTPROT_RA: u8 = 9;
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
    /// Addresses of IPv6 with their prefix lengths, and whether they are deprecated (RFC 4862 §5.5.4): new connections are to
    /// have others. The kernel takes them from a device that is down.
    ipv6: BTreeMap<String, bool>,
}

/// The namespace and what the agent has configured in it.
#[derive(Debug)]
pub struct RouterNamespace {
    namespace: Namespace,
    zone: Zone,
    taps: BTreeMap<RowId, TapState>,
    routes: BTreeSet<String>,
    /// Devices have gone since the routes were set, and the routes by them.
    withdrawn: bool,
    /// Sysctls that have been set, by path.
    sysctls: BTreeMap<&'static str, String>,
}

impl RouterNamespace {
    /// Opens or creates the namespace `name`, for the interfaces of a zone.
    ///
    /// # Errors
    /// Without privilege.
    pub fn new(name: &str, zone: Zone) -> std::io::Result<Self> {
        let namespace = Namespace::open_or_create(name)?;
        // Routes that a killed agent has left; its TAPs are gone with it.
        for family in ["-4", "-6"] {
            let _ = namespace.ip(&format!("{family} route flush proto {ROUTE_PROTOCOL}"));
        }
        let (taps, routes, sysctls) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Ok(Self { namespace, zone, taps, routes, withdrawn: false, sysctls })
    }

    /// The namespace.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// Name of the namespace.
    pub fn name(&self) -> &str {
        self.namespace.name()
    }

    /// Removes the TAPs of the interfaces that are not in the zone any more.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn withdraw(&mut self, config: &DataplaneConfig, workers: &mut Workers) -> Result<(), WorkerLost> {
        let stays = |row| config.interfaces.iter().any(|each| each.row == row && each.zone == self.zone);
        let gone: Vec<RowId> = self.taps.keys().copied().filter(|row| !stays(*row)).collect();
        for row in gone {
            workers.ask(|_| Command::SetTap(row, None))?;
            self.taps.remove(&row);
            let by = format!(" dev {} ", device(row));
            self.routes.retain(|route| !route.contains(&by));
            self.withdrawn = true;
        }
        Ok(())
    }

    /// Reconciles the namespace with a configuration and with the router's active routes, which depend on its links
    /// too. Returns what failed, for the log.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn apply(
        &mut self,
        config: &DataplaneConfig,
        snapshot: &Snapshot,
        deprecated: &BTreeSet<RowId>,
        workers: &mut Workers,
    ) -> Result<Vec<String>, WorkerLost> {
        let wanted = wanted_taps(config, snapshot, deprecated, self.zone);
        let ways = Ways::new(config, &wanted, self.zone);
        let mut routes = wanted_routes(snapshot.home(self.zone), &ways);
        routes.append(&mut wanted_routes(snapshot.home6(self.zone), &ways));
        if self.zone == 0 && !config.settings.ipv6.accept_advertisements_on.is_empty() {
            routes.append(&mut heard_routes(snapshot.fib6(), &ways));
        }
        let mut problems = self.set_sysctls(&config.settings);

        let stale = self.routes.difference(&routes).map(|route| format!("route del {route}"));
        let mut lines: Vec<String> = stale.collect();
        let mut changed = std::mem::take(&mut self.withdrawn);
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
        // The router's addresses are the only ones, and the engine looks for duplicates.
        for (key, value) in [
            ("disable_ipv6", "0"),
            ("forwarding", "0"),
            ("accept_ra", "0"),
            ("addr_gen_mode", "1"),
            ("dad_transmits", "0"),
        ] {
            match self.namespace.set(&format!("net/ipv6/conf/{name}/{key}"), value) {
                // A kernel without IPv6.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                set => set?,
            }
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

fn wanted_taps(
    config: &DataplaneConfig,
    snapshot: &Snapshot,
    deprecated: &BTreeSet<RowId>,
    zone: Zone,
) -> BTreeMap<RowId, TapState> {
    let mut taps = BTreeMap::new();
    for interface in config.interfaces.iter().filter(|interface| interface.zone == zone) {
        let addresses: BTreeSet<String> = config
            .addresses
            .iter()
            .filter(|address| address.interface == interface.row)
            .filter_map(address_words)
            .collect();
        let ipv6 = ipv6_words(snapshot, interface, deprecated);
        if addresses.is_empty() && ipv6.is_empty() {
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
                ipv6: if interface.disabled { BTreeMap::new() } else { ipv6 },
            },
        );
    }
    taps
}

/// The addresses of IPv6 that the router has on an interface, made ones included. Linux has no IPv6 on a device with a
/// smaller MTU than RFC 8200 section 5 requires. `deprecated` has the rows of those that are.
fn ipv6_words(
    snapshot: &Snapshot,
    interface: &Interface,
    deprecated: &BTreeSet<RowId>,
) -> BTreeMap<String, bool> {
    let ipv6 = snapshot.interface_of(interface.row).and_then(|known| known.ipv6.as_ref());
    let own = ipv6.filter(|_| interface.mtu >= ipv6::MIN_MTU).map_or(&[][..], |ipv6| &ipv6.addresses);
    let words = |own: &OwnAddress| format!("{}/{}", Ipv6Addr::from_bits(own.address), own.prefix_len);
    own.iter().map(|own| (words(own), deprecated.contains(&own.row))).collect()
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
    let none = BTreeMap::new();
    let ipv6 = has.map_or(&none, |has| &has.ipv6);
    for words in ipv6.keys().filter(|words| wanted.up && !wanted.ipv6.contains_key(*words)) {
        lines.push(format!("address del {words} dev {name}"));
    }
    for (words, deprecated) in wanted.ipv6.iter().filter(|(words, is)| ipv6.get(*words) != Some(is)) {
        let preferred = if *deprecated { " preferred_lft 0" } else { "" };
        lines.push(format!("address replace {words} dev {name} nodad{preferred}"));
    }
    lines
}

/// The TAPs by which packets leave the namespace.
struct Ways<'a> {
    taps: &'a BTreeMap<RowId, TapState>,
    /// Interfaces of other zones.
    others: BTreeSet<RowId>,
}

impl<'a> Ways<'a> {
    fn new(config: &DataplaneConfig, taps: &'a BTreeMap<RowId, TapState>, zone: Zone) -> Self {
        let others = config.interfaces.iter().filter(|interface| interface.zone != zone);
        Self { taps, others: others.map(|interface| interface.row).collect() }
    }

    /// Row of the interface to whose TAP packets go that leave the router by an interface. To another zone they leave by any
    /// TAP, as the engine routes them by the table of the zone again.
    fn by(&self, interface: RowId) -> Option<RowId> {
        if self.taps.contains_key(&interface) {
            return Some(interface);
        }
        let mut up = self.taps.iter().filter(|(_, tap)| tap.up && self.others.contains(&interface));
        up.next().map(|(row, _)| *row)
    }
}

/// Static routes that the router can use as words of `ip route`; connected ones follow from the addresses. The kernel
/// has one route for each destination and metric: of several the first, as the router itself.
fn wanted_routes<A: NamedAddress>(fib: &Table<A>, ways: &Ways<'_>) -> BTreeSet<String> {
    let mut taken = BTreeSet::new();
    let mut lines = BTreeSet::new();
    fib.for_each_static(|route| {
        // Its programs only choose their source address by a route: one next hop is enough.
        let key = (route.destination, route.prefix_len, route.distance);
        if !route.further
            && !taken.contains(&key)
            && let Some(words) = route_words(route, ways)
        {
            taken.insert(key);
            lines.insert(words);
        }
    });
    lines
}

/// Routes of router advertisements that the router uses, as words of `ip route`.
fn heard_routes(fib: &Table<u128>, ways: &Ways<'_>) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    fib.for_each_learned(|route| {
        let is_heard = matches!(route.source, RouteSource::Dynamic { protocol: RTPROT_RA, .. });
        if is_heard && route.active {
            lines.extend(route_words(route, ways));
        }
    });
    lines
}

/// An address as `ip` writes it.
trait NamedAddress: Address {
    /// The text.
    fn name(self) -> IpAddr;
}

impl NamedAddress for u32 {
    fn name(self) -> IpAddr {
        Ipv4Addr::from_bits(self).into()
    }
}

impl NamedAddress for u128 {
    fn name(self) -> IpAddr {
        Ipv6Addr::from_bits(self).into()
    }
}

/// `None` for a route that the router cannot use, and for one by an interface that has no TAP.
fn route_words<A: NamedAddress>(route: &ListedRoute<A>, ways: &Ways<'_>) -> Option<String> {
    let prefix = format!("{}/{}", route.destination.name(), route.prefix_len);
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
    let next_hop = match (route.gateway, ways.by(route.interface)?) {
        (Some(gateway), row) if row == route.interface => {
            format!("via {} dev {} onlink", gateway.name(), device(row))
        }
        (_, row) => format!("dev {} scope link", device(row)),
    };
    let source = match route.pref_src {
        source if source == A::default() => String::new(),
        source => format!(" src {}", source.name()),
    };
    Some(format!("{prefix} {next_hop} {tail}{source}"))
}

#[cfg(test)]
mod tests;
