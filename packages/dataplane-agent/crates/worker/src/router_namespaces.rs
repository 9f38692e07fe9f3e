//! The network namespaces of the router: one for the interfaces in no VRF, in which its services run, and one for each VRF,
//! so that what listens and sends there is apart, even with the same addresses.

use std::collections::{BTreeMap, BTreeSet};

use tollway_config::dataplane::{DataplaneConfig, RowId};
use tollway_engine::packet::tuple::Zone;
use tollway_engine::snapshot::Snapshot;

use crate::router_namespace::RouterNamespace;
use crate::workers::{WorkerLost, Workers};

/// Longest name of a VRF that is part of the name of its namespace, bytes.
const LONGEST: usize = 64;

/// The namespaces.
#[derive(Debug)]
pub struct RouterNamespaces {
    main: RouterNamespace,
    vrfs: BTreeMap<Zone, RouterNamespace>,
}

impl RouterNamespaces {
    /// Opens or creates the namespace `name`. Those of VRFs come with the configuration.
    ///
    /// # Errors
    /// Without privilege.
    pub fn new(name: &str) -> std::io::Result<Self> {
        Ok(Self { main: RouterNamespace::new(name, 0)?, vrfs: BTreeMap::new() })
    }

    /// The namespace of the interfaces in no VRF.
    pub fn main(&self) -> &RouterNamespace {
        &self.main
    }

    /// The namespace of a zone.
    pub fn of(&self, zone: Zone) -> Option<&RouterNamespace> {
        if zone == 0 { Some(&self.main) } else { self.vrfs.get(&zone) }
    }

    /// All namespaces, by zone.
    pub fn iter(&self) -> impl Iterator<Item = (Zone, &RouterNamespace)> {
        std::iter::once((0, &self.main)).chain(self.vrfs.iter().map(|(zone, namespace)| (*zone, namespace)))
    }

    fn all(&mut self) -> impl Iterator<Item = &mut RouterNamespace> {
        std::iter::once(&mut self.main).chain(self.vrfs.values_mut())
    }

    /// Reconciles the namespaces with a configuration and with the router's active routes, which depend on its links
    /// too. `deprecated` has the rows of addresses that new connections are not to have. Returns what failed, for the log.
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
        let wanted = names(config, self.main.name());
        let mut problems = Vec::new();
        // An interface that is in another zone now gives its TAP back before it gets another one.
        for namespace in self.all() {
            namespace.withdraw(config, workers)?;
        }
        let stays =
            |zone: &Zone, known: &RouterNamespace| wanted.get(zone).is_some_and(|name| name == known.name());
        let gone: Vec<Zone> =
            self.vrfs.iter().filter(|(zone, known)| !stays(zone, known)).map(|(zone, _)| *zone).collect();
        for mut namespace in gone.iter().filter_map(|zone| self.vrfs.remove(zone)) {
            namespace.withdraw(&DataplaneConfig::default(), workers)?;
            namespace.remove();
        }
        for (zone, name) in wanted {
            if let std::collections::btree_map::Entry::Vacant(place) = self.vrfs.entry(zone) {
                match RouterNamespace::new(&name, zone) {
                    Ok(namespace) => {
                        place.insert(namespace);
                    }
                    Err(error) => problems.push(format!("{name}: {error}")),
                }
            }
        }
        for namespace in self.all() {
            problems.extend(namespace.apply(config, snapshot, deprecated, workers)?);
        }
        Ok(problems)
    }

    /// Removes the names of the namespaces; processes in them keep running, without network.
    pub fn remove(self) {
        self.vrfs.into_values().for_each(RouterNamespace::remove);
        self.main.remove();
    }
}

/// Names of the namespaces of VRFs: that of the main one, `-vrf`, and the name of the VRF, or the number of its zone where a
/// name has other characters than names of files should have. What else is named after the main one, as the hosts of a
/// lab, has no `-vrf`, so that no VRF takes a namespace that is not its own.
fn names(config: &DataplaneConfig, main: &str) -> BTreeMap<Zone, String> {
    let plain = |name: &str| {
        name.len() <= LONGEST && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    };
    let vrfs = config.routing_tables.iter().filter(|table| table.zone != 0);
    let named = vrfs.map(|table| match plain(&table.name) {
        true => (table.zone, format!("{main}-vrf-{}", table.name)),
        false => (table.zone, format!("{main}-vrf.{}", table.zone)),
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use tollway_config::dataplane::RoutingTable;

    use super::*;

    #[test]
    fn a_namespace_is_named_after_its_vrf() {
        let table =
            |zone, name: &str| RoutingTable { row: 1, name: name.to_owned(), mark: 0, fib: true, zone };
        let config = DataplaneConfig {
            routing_tables: vec![table(0, "isp2"), table(7, "blue"), table(9, "../etc"), table(8, "10.0")],
            ..DataplaneConfig::default()
        };
        let names = names(&config, "tollway");
        let expected = [(7, "tollway-vrf-blue"), (8, "tollway-vrf.8"), (9, "tollway-vrf.9")];
        assert!(names.iter().map(|(zone, name)| (*zone, name.as_str())).eq(expected));
    }
}
