//! The router as a host: default routes and addresses of its own by the router advertisements that it has heard (RFC 4861
//! §6.3.4, RFC 4862 §5.5).

use std::collections::BTreeSet;
use std::net::Ipv6Addr;
use std::sync::Arc;

use tollway_config::dataplane::{
    DataplaneConfig, FIRST_AUTOCONFIGURED_ROW, InterfaceAddress, Ipv6AddressOptions, RowId,
};
use tollway_engine::ip::fib::{DynamicRoute, DynamicTarget};
use tollway_engine::ip::heard_routers::{Heard, HeardNetwork, HeardRouter};
use tollway_engine::ip::router_advertisements::Network;
use tollway_engine::time::Now;
use tollway_io::clock;

use super::Agent;
use crate::learned_routes::LearnedRoutes;
use crate::router_namespace::RTPROT_RA;
use crate::workers::WorkerLost;

/// Metric of the first default router, as Linux has it (IP6_RT_PRIO_USER).
const METRIC: u32 = 1024;
/// Distance of what has been heard: that of static routes.
const DISTANCE: u8 = 1;
/// Time between two changes that are taken over, ns: tables are built anew for each, and who is on the link can send
/// advertisements that contradict each other at any rate.
const INTERVAL: u64 = 1_000_000_000;
/// Length of an address of a network that is not on the link, bits.
const ALONE: u8 = 128;

/// What the router has been told, and the rows of the addresses that it has made of it.
#[derive(Debug, Default)]
pub(super) struct Autoconfiguration {
    heard: Heard,
    rows: Vec<((RowId, Network), RowId)>,
    /// Rows that have been given.
    given: RowId,
    /// When another change is taken over at the earliest, ns.
    next: u64,
}

impl Autoconfiguration {
    /// Whether changes may be taken over now.
    const fn is_due(&self, now: Now) -> bool {
        now.0 >= self.next
    }

    /// Takes over what has been heard. Returns whether addresses come, go or are used less; `None` when nothing changes.
    fn follow(&mut self, heard: Heard) -> Option<bool> {
        if heard == self.heard {
            return None;
        }
        let addresses = heard.networks != self.heard.networks;
        self.heard = heard;
        let networks = &self.heard.networks;
        self.rows.retain(|(key, _)| networks.iter().any(|network| key_of(network) == *key));
        for network in networks.iter().filter(|network| network.autonomous) {
            let key = key_of(network);
            if self.rows.iter().all(|(known, _)| *known != key) {
                self.rows.push((key, FIRST_AUTOCONFIGURED_ROW + self.given % FIRST_AUTOCONFIGURED_ROW));
                self.given = self.given.wrapping_add(1);
            }
        }
        Some(addresses)
    }

    /// A configuration with the addresses that the router makes itself; `None` when there are none. The address of a network
    /// in which the interface has one with the same identifier is that one.
    pub(super) fn extended(&self, config: &DataplaneConfig) -> Option<DataplaneConfig> {
        let accepting = &config.settings.ipv6.accept_advertisements_on;
        let is_there = |network: &HeardNetwork| {
            config.addresses.iter().any(|own| {
                let same = own.network == Ipv6Addr::from_bits(network.network.0);
                own.interface == network.interface && own.ipv6.eui_64 && same
            })
        };
        let wanted = |network: &&HeardNetwork| {
            network.autonomous && accepting.contains(&network.interface) && !is_there(network)
        };
        let mut networks: Vec<&HeardNetwork> = self.heard.networks.iter().filter(wanted).collect();
        if networks.is_empty() {
            return None;
        }
        // Addresses are chosen in their order: deprecated ones are the last.
        networks.sort_by_key(|network| network.deprecated);
        let mut extended = config.clone();
        extended.addresses.extend(networks.into_iter().filter_map(|network| self.address(network)));
        Some(extended)
    }

    fn address(&self, network: &HeardNetwork) -> Option<InterfaceAddress> {
        let (_, row) = self.rows.iter().find(|(key, _)| *key == key_of(network))?;
        let (prefix, length) = network.network;
        let network_address = Ipv6Addr::from_bits(prefix).into();
        Some(InterfaceAddress {
            row: *row,
            interface: network.interface,
            address: network_address,
            prefix_len: if network.on_link { length } else { ALONE },
            network: network_address,
            ipv6: Ipv6AddressOptions { eui_64: true, ..Ipv6AddressOptions::default() },
        })
    }

    /// Rows of the addresses that are not to be used for new connections (RFC 4862 §5.5.4).
    pub(super) fn deprecated(&self) -> BTreeSet<RowId> {
        let deprecated = self.heard.networks.iter().filter(|network| network.deprecated).map(key_of);
        let row = |key| self.rows.iter().find(|(known, _)| *known == key).map(|(_, row)| *row);
        deprecated.filter_map(row).collect()
    }

    /// Default routes, and routes to networks of the link in which the router has no address.
    pub(super) fn routes(&self) -> Vec<DynamicRoute<u128>> {
        let route = |(destination, prefix_len): Network, metric, target| DynamicRoute {
            destination,
            prefix_len,
            metric,
            protocol: RTPROT_RA,
            distance: DISTANCE,
            target,
            multipath: false,
            source: 0,
        };
        let routers = (METRIC..).zip(&self.heard.routers).map(|(metric, router)| {
            let HeardRouter { interface, address, .. } = *router;
            route((0, 0), metric, DynamicTarget::Gateway { address, interface: Some(interface) })
        });
        let networks = self.heard.networks.iter().filter(|network| network.on_link && !network.autonomous);
        let networks = networks.map(|network| {
            route(network.network, METRIC, DynamicTarget::Interface { interface: network.interface })
        });
        routers.chain(networks).collect()
    }
}

fn key_of(network: &HeardNetwork) -> (RowId, Network) {
    (network.interface, network.network)
}

impl Agent {
    /// The configuration that the data plane runs for a configuration of the user's.
    pub(super) fn effective(&self, config: &Arc<DataplaneConfig>) -> Arc<DataplaneConfig> {
        self.autoconfiguration.extended(config).map_or_else(|| Arc::clone(config), Arc::new)
    }

    /// Takes over routers and networks that have been heard, or that have ended.
    pub(super) fn follow_routers(&mut self) -> Result<(), WorkerLost> {
        let now = clock::now();
        if !self.autoconfiguration.is_due(now) {
            return Ok(());
        }
        let heard = self.shared.heard_routers.heard(now);
        let Some(addresses) = self.autoconfiguration.follow(heard) else { return Ok(()) };
        self.autoconfiguration.next = now.0.saturating_add(INTERVAL);
        if addresses {
            self.facts_version += 1;
            let config = Arc::clone(&self.active.config);
            match self.build(&config) {
                Ok(tables) => self.swap_tables(&config, tables)?,
                Err(error) => {
                    self.log("system,error", format!("an advertised network cannot be used: {error}"))
                }
            }
            // Devices come before the routes by them.
            self.sync_router_namespace()?;
        }
        self.learn_routes(0, LearnedRoutes::<u128>::all_there_are)?;
        self.sync_router_namespace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK: HeardNetwork = HeardNetwork {
        interface: 2,
        network: (0x2001_0db8 << 96, 64),
        on_link: true,
        autonomous: true,
        deprecated: false,
    };
    const OTHER: HeardNetwork = HeardNetwork { network: (0x2001_0db8_0007 << 80, 64), ..NETWORK };

    fn config(accepting: &[RowId]) -> DataplaneConfig {
        let mut config = DataplaneConfig::default();
        config.settings.ipv6.accept_advertisements_on = accepting.to_vec();
        config
    }

    fn networks(networks: &[HeardNetwork]) -> Heard {
        Heard { routers: Vec::new(), networks: networks.to_vec() }
    }

    #[test]
    fn addresses_keep_their_rows_and_deprecated_ones_come_last() {
        let mut made = Autoconfiguration::default();
        let rows = |made: &Autoconfiguration| -> Vec<(RowId, u8)> {
            let extended = made.extended(&config(&[2])).unwrap_or_default();
            extended.addresses.iter().map(|address| (address.row, address.prefix_len)).collect()
        };
        assert_eq!(made.follow(Heard::default()), None);
        assert_eq!(made.follow(networks(&[NETWORK, OTHER])), Some(true));
        let [first, second] = [0, 1].map(|at| FIRST_AUTOCONFIGURED_ROW + at);
        assert_eq!(rows(&made), [(first, 64), (second, 64)]);
        made.follow(networks(&[HeardNetwork { deprecated: true, ..NETWORK }, OTHER]));
        assert_eq!(rows(&made), [(second, 64), (first, 64)]);
        assert_eq!(made.deprecated(), [first].into());
        made.follow(networks(&[HeardNetwork { on_link: false, ..OTHER }]));
        assert_eq!(rows(&made), [(second, 128)]);
        assert_eq!(made.extended(&config(&[1])), None, "only where advertisements are taken");
        // An address of the configuration with the same identifier is not made again.
        let mut own = config(&[2]);
        own.addresses = made.extended(&own).map(|extended| extended.addresses).unwrap_or_default();
        own.addresses[0].row = 7;
        assert_eq!(made.extended(&own), None);
    }

    #[test]
    fn routes_lead_to_routers_by_preference_and_to_networks_of_the_link() {
        let mut made = Autoconfiguration::default();
        let router = |address, preference| HeardRouter { interface: 2, address, preference };
        let mut heard = networks(&[NETWORK, HeardNetwork { autonomous: false, ..OTHER }]);
        heard.routers = vec![router(9, 2), router(8, 1)];
        assert_eq!(made.follow(heard.clone()), Some(true));
        let routes = made.routes();
        let targets: Vec<_> =
            routes.iter().map(|route| (route.prefix_len, route.metric, route.target)).collect();
        let gateway = |address| DynamicTarget::Gateway { address, interface: Some(2) };
        assert_eq!(
            targets,
            [
                (0, 1024, gateway(9)),
                (0, 1025, gateway(8)),
                (64, 1024, DynamicTarget::Interface { interface: 2 }),
            ]
        );
        heard.routers.pop();
        assert_eq!(made.follow(heard), Some(false), "no address is concerned");
    }
}
