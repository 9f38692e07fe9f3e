//! Routes that other programs (FRR, BIRD, ip-route(8)) add to the router's namespace, for the forwarding table: dumped
//! once, then updated by notifications, and dumped again after an overrun or when devices have changed, since the
//! kernel removes routes with their device without a notification.

use std::collections::{HashMap, HashSet};
use std::os::fd::RawFd;

use tollway_config::dataplane::RowId;
use tollway_engine::ip::fib::{Address, Discard, DynamicRoute, DynamicTarget, RouteChange};
use tollway_io::link::LinkMonitor;
use tollway_io::netns::Namespace;
use tollway_io::routes::{KernelRoute, KernelRouteChange, RouteAddress, RouteMonitor};

use crate::router_namespace::{ROUTE_PROTOCOL, row_of};

/// Protocol of routes that the kernel derives from addresses.
const RTPROT_KERNEL: u8 = 2;
/// Protocol of routes from ICMP redirects.
const RTPROT_REDIRECT: u8 = 1;

/// The routes of a family in a namespace.
#[derive(Debug)]
pub struct LearnedRoutes<A = u32> {
    monitor: RouteMonitor<A>,
    links: LinkMonitor,
    /// Interface rows by the index of their TAP.
    devices: HashMap<u32, RowId>,
    changes: Vec<KernelRouteChange<A>>,
    /// Routes with several next hops. When one of these goes, the kernel tells of IPv6 only that one.
    several: HashSet<RouteKey<A>>,
}

/// What tells routes apart: destination, prefix length and metric.
type RouteKey<A> = (A, u8, u32);

fn key_of<A: Copy>(route: &KernelRoute<A>) -> RouteKey<A> {
    (route.destination, route.prefix_len, route.metric)
}

/// An update of the forwarding table.
#[derive(Debug, PartialEq, Eq)]
pub enum Learned<A = u32> {
    /// Changes, in order.
    Changes(Vec<RouteChange<A>>),
    /// Notifications were lost, or do not tell what is left: these are all routes.
    All(Vec<DynamicRoute<A>>),
}

impl<A: Address + RouteAddress> LearnedRoutes<A> {
    /// The routes of a network namespace.
    ///
    /// # Errors
    /// When no netlink socket can be opened.
    pub fn new(namespace: &Namespace) -> std::io::Result<Self> {
        let (monitor, links) = namespace
            .within(|| Ok::<_, std::io::Error>((RouteMonitor::new()?, LinkMonitor::new()?)))
            .and_then(|made| made)?;
        Ok(Self { monitor, links, devices: HashMap::new(), changes: Vec::new(), several: HashSet::new() })
    }

    /// Descriptor that becomes readable when routes changed.
    pub fn fd(&self) -> RawFd {
        self.monitor.fd()
    }

    /// Reads the notifications.
    ///
    /// # Errors
    /// When the kernel does not list its routes after an overrun.
    pub fn changes(&mut self) -> std::io::Result<Learned<A>> {
        self.changes.clear();
        if !self.monitor.changes(&mut self.changes) {
            return self.all().map(Learned::All);
        }
        for change in &self.changes {
            match change {
                KernelRouteChange::Added(route) if route.multipath => {
                    self.several.insert(key_of(route));
                }
                KernelRouteChange::Added(route) => {
                    self.several.remove(&key_of(route));
                }
                KernelRouteChange::Removed(route) => {
                    if self.several.remove(&key_of(route)) && !route.multipath {
                        return self.all().map(Learned::All);
                    }
                }
            }
        }
        let devices = &self.devices;
        let change = |change: &KernelRouteChange<A>| match change {
            // Routes of the kernel and of the agent do not replace others.
            KernelRouteChange::Added(route) | KernelRouteChange::Removed(route) if !is_foreign(route) => None,
            KernelRouteChange::Added(route) => Some(match dynamic(route, devices) {
                Some(route) => RouteChange::Replace(route),
                // The route may have replaced one that was used.
                None => removal(route),
            }),
            KernelRouteChange::Removed(route) => Some(removal(route)),
        };
        Ok(Learned::Changes(self.changes.iter().filter_map(change).collect()))
    }

    /// Every route, with the TAPs as they are now.
    ///
    /// # Errors
    /// When the kernel does not list them.
    pub fn all_there_are(&mut self) -> std::io::Result<Learned<A>> {
        self.all().map(Learned::All)
    }

    fn all(&mut self) -> std::io::Result<Vec<DynamicRoute<A>>> {
        let links = self.links.links()?;
        self.devices = links.iter().filter_map(|link| Some((link.index, row_of(&link.name)?))).collect();
        // Changes before the dump are contained in it.
        self.changes.clear();
        self.monitor.changes(&mut self.changes);
        let routes = self.monitor.routes()?;
        self.several = routes.iter().filter(|route| route.multipath).map(key_of).collect();
        Ok(routes.iter().filter_map(|route| dynamic(route, &self.devices)).collect())
    }
}

/// Whether a route is neither the kernel's own nor one that the agent has mirrored.
fn is_foreign<A>(route: &KernelRoute<A>) -> bool {
    ![RTPROT_KERNEL, RTPROT_REDIRECT, ROUTE_PROTOCOL].contains(&route.protocol)
}

fn removal<A: Copy>(route: &KernelRoute<A>) -> RouteChange<A> {
    let KernelRoute { destination, prefix_len, metric, .. } = *route;
    RouteChange::Remove { destination, prefix_len, metric }
}

/// Converts a route for the forwarding table. `None` if it is not of another program, if its device is not an interface
/// of the router, or if its gateway is of the other family.
fn dynamic<A: Copy>(route: &KernelRoute<A>, devices: &HashMap<u32, RowId>) -> Option<DynamicRoute<A>> {
    if !is_foreign(route) || route.foreign_gateway {
        return None;
    }
    let target = match route.kind {
        libc::RTN_UNICAST => {
            let interface = *devices.get(&route.device)?;
            match route.gateway {
                Some(address) => DynamicTarget::Gateway { address, interface: Some(interface) },
                None => DynamicTarget::Interface { interface },
            }
        }
        libc::RTN_BLACKHOLE => DynamicTarget::Discard(Discard::Blackhole),
        libc::RTN_UNREACHABLE => DynamicTarget::Discard(Discard::Unreachable),
        libc::RTN_PROHIBIT => DynamicTarget::Discard(Discard::Prohibit),
        _ => return None,
    };
    Some(DynamicRoute {
        destination: route.destination,
        prefix_len: route.prefix_len,
        metric: route.metric,
        protocol: route.protocol,
        distance: distance(route.protocol),
        target,
        multipath: route.multipath,
        source: route.source,
    })
}

/// Distance of a protocol's routes, as RouterOS has it. The numbers are those of `rtnetlink.h`.
fn distance(protocol: u8) -> u8 {
    match protocol {
        186 => 20,
        192 => 90,
        188 => 110,
        187 => 115,
        42 | 189 => 120,
        // BIRD and zebra use one number for the routes of all routing protocols.
        11 | 12 => 110,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_routes_of_others_that_leave_by_an_interface_count() {
        let devices = HashMap::from([(7, 3)]);
        let route = KernelRoute {
            destination: 0x0a07_0000,
            prefix_len: 16,
            metric: 20,
            protocol: 186,
            kind: libc::RTN_UNICAST,
            gateway: Some(0x0a00_0002),
            foreign_gateway: false,
            multipath: false,
            device: 7,
            source: 0,
        };
        let by_neighbor = DynamicTarget::Gateway { address: 0x0a00_0002, interface: Some(3) };
        let learned = dynamic(&route, &devices).unwrap();
        assert_eq!((learned.target, learned.distance, learned.metric), (by_neighbor, 20, 20));
        let direct = dynamic(&KernelRoute { gateway: None, ..route }, &devices).unwrap();
        assert_eq!(direct.target, DynamicTarget::Interface { interface: 3 });
        assert!(!learned.multipath);
        assert!(dynamic(&KernelRoute { multipath: true, ..route }, &devices).unwrap().multipath);
        for (kind, discard) in [
            (libc::RTN_BLACKHOLE, Discard::Blackhole),
            (libc::RTN_UNREACHABLE, Discard::Unreachable),
            (libc::RTN_PROHIBIT, Discard::Prohibit),
        ] {
            let nowhere = KernelRoute { kind, gateway: None, device: 0, ..route };
            assert_eq!(dynamic(&nowhere, &devices).unwrap().target, DynamicTarget::Discard(discard));
        }
        assert_eq!(dynamic(&KernelRoute { device: 1, ..route }, &devices), None);
        let by_ipv6 = KernelRoute { gateway: None, foreign_gateway: true, ..route };
        assert_eq!(dynamic(&by_ipv6, &devices), None);
        for protocol in [RTPROT_KERNEL, RTPROT_REDIRECT, ROUTE_PROTOCOL] {
            assert_eq!(dynamic(&KernelRoute { protocol, ..route }, &devices), None);
        }
    }
}
