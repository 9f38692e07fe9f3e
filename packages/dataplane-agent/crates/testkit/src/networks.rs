//! Routers with one network of hosts, or with two that have the same addresses, each in a VRF.

use std::net::IpAddr;

use tollway_config::dataplane::{DataplaneConfig, RowId};
use tollway_engine::ids::PortId;

use crate::packet::ip;
use crate::routing::toggle_leak;
use crate::{Router, RouterConfig, dual_stack};

/// The gateway of all uplinks.
pub const UPLINK: &str = "10.2.0.254";

/// The gateway of all uplinks, and the one of IPv6 that stands for it.
pub fn uplinks() -> [IpAddr; 2] {
    let bits = ip(UPLINK);
    [IpAddr::V4(bits.into()), IpAddr::V6(dual_stack::in_ipv6(bits).into())]
}

/// Zones of the two networks, if they are in VRFs.
const ZONES: [u16; 2] = [7, 9];
/// Interfaces of the networks, and of the uplinks.
const LANS: [RowId; 2] = [1, 3];
const UPLINKS: [RowId; 2] = [2, 4];

/// Which networks of hosts there are, and how they reach the world. Port and interface of a network are those of
/// [`lan`](Self::lan): `192.168.88.1/24`, behind an uplink `10.2.0.1/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Networks {
    /// One, outside of VRFs.
    One,
    /// Two in VRFs, which both leak to the uplink of the main table.
    Leaking,
    /// Two in VRFs. The second has an uplink of its own, with the addresses of the first one's.
    OwnUplink,
}

impl Networks {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::One, Self::Leaking, Self::OwnUplink];

    /// A router with these networks.
    pub fn config(self) -> RouterConfig {
        let (lan, uplink, default) = ("192.168.88.1/24", "10.2.0.1/24", "0.0.0.0/0");
        let config = RouterConfig::new().interface(lan).interface(uplink).route(default, UPLINK);
        let leaking = |config: RouterConfig| config.vrf(ZONES[0], &LANS[..1]).leak(1, default, UPLINK, 0);
        match self {
            Self::One => config,
            Self::Leaking => {
                leaking(config.interface(lan)).vrf(ZONES[1], &LANS[1..]).leak(2, default, UPLINK, 0)
            }
            Self::OwnUplink => leaking(config.interface(lan).interface(uplink))
                .vrf(ZONES[1], &[LANS[1], UPLINKS[1]])
                .route_in(2, default, UPLINK),
        }
    }

    /// Gives these hosts to each network, and the gateway to each uplink.
    pub fn hosts(self, router: Router, hosts: &[&str]) -> Router {
        (0..self.count()).fold(router, |router, network| {
            router.hosts(self.lan(network), hosts).hosts(self.uplink(network), &[UPLINK])
        })
    }

    /// Number of networks.
    pub const fn count(self) -> usize {
        if matches!(self, Self::One) { 1 } else { 2 }
    }

    /// Port of a network's hosts.
    pub const fn lan(self, network: usize) -> PortId {
        LANS[network] as PortId - 1
    }

    /// Port by which a network reaches the world.
    pub const fn uplink(self, network: usize) -> PortId {
        if matches!(self, Self::OwnUplink) {
            UPLINKS[network] as PortId - 1
        } else {
            UPLINKS[0] as PortId - 1
        }
    }

    /// Interfaces of the networks.
    pub fn lan_interfaces(self) -> &'static [RowId] {
        &LANS[..self.count()]
    }

    /// Interfaces of the uplinks.
    pub const fn uplink_interfaces(self) -> &'static [RowId] {
        if matches!(self, Self::OwnUplink) { &UPLINKS } else { UPLINKS.split_at(1).0 }
    }

    /// A leak goes or comes back, or the second network leaves its VRF or comes back to it: there are three changes. With
    /// one network nothing changes.
    pub fn change(self, config: &mut DataplaneConfig, which: u64) {
        match (self, which) {
            (Self::One, _) => {}
            (_, 0) => toggle_leak(config, 1, uplinks()),
            (Self::Leaking, 1) => toggle_leak(config, 2, uplinks()),
            _ => {
                for lan in config.interfaces.iter_mut().filter(|interface| interface.row == LANS[1]) {
                    lan.zone = if lan.zone == 0 { ZONES[1] } else { 0 };
                }
            }
        }
    }
}

/// The zone that a network is in.
pub fn zone(config: &DataplaneConfig, network: usize) -> u16 {
    config.interfaces.iter().find(|interface| interface.row == LANS[network]).map_or(0, |lan| lan.zone)
}
