//! Routes of other programs in the namespaces of the router: those of the main one, and of one for each VRF.

use std::collections::BTreeMap;
use std::os::fd::RawFd;

use tollway_engine::packet::tuple::Zone;

use crate::learned_routes::LearnedRoutes;
use crate::router_namespace::RouterNamespace;
use crate::router_namespaces::RouterNamespaces;

/// The routes of both families in a namespace.
#[derive(Debug)]
pub struct Learning {
    /// Name of the namespace.
    name: String,
    /// Those of IPv4.
    pub v4: LearnedRoutes<u32>,
    /// Those of IPv6.
    pub v6: LearnedRoutes<u128>,
}

impl Learning {
    fn new(namespace: &RouterNamespace) -> std::io::Result<Self> {
        let inside = namespace.namespace();
        let (v4, v6) = (LearnedRoutes::new(inside)?, LearnedRoutes::new(inside)?);
        Ok(Self { name: namespace.name().to_owned(), v4, v6 })
    }
}

/// The routes in all namespaces, by their zones.
#[derive(Debug, Default)]
pub struct LearnedTables(BTreeMap<Zone, Learning>);

impl LearnedTables {
    /// Follows the namespaces that there are now, and no others. Returns what failed, for the log.
    pub fn follow(&mut self, namespaces: &RouterNamespaces) -> Vec<String> {
        let there = |zone: &Zone, known: &Learning| {
            namespaces.of(*zone).is_some_and(|namespace| namespace.name() == known.name)
        };
        self.0.retain(|zone, known| there(zone, known));
        let mut problems = Vec::new();
        for (zone, namespace) in
            namespaces.iter().filter(|(zone, _)| !self.0.contains_key(zone)).collect::<Vec<_>>()
        {
            match Learning::new(namespace) {
                Ok(learning) => {
                    self.0.insert(zone, learning);
                }
                Err(error) => problems.push(format!("routes of {}: {error}", namespace.name())),
            }
        }
        problems
    }

    /// The zones that are followed.
    pub fn zones(&self) -> Vec<Zone> {
        self.0.keys().copied().collect()
    }

    /// Descriptors of each zone that become readable when routes of IPv4 and of IPv6 changed.
    pub fn fds(&self) -> impl Iterator<Item = [RawFd; 2]> {
        self.0.values().map(|learning| [learning.v4.fd(), learning.v6.fd()])
    }

    /// The routes of a zone.
    pub fn of(&mut self, zone: Zone) -> Option<&mut Learning> {
        self.0.get_mut(&zone)
    }
}
