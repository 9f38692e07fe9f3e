//! Listing of all routes with their state.

use tollway_config::dataplane::RowId;

use super::checked_route::{RouteInfo, RouteOrigin};
use super::control::Control;
use super::{Address, Discard, Prefix, RouteLookup, Table};

/// Origin of a listed route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteSource {
    /// Connected network of an address.
    Connected {
        /// Row of the address.
        address: RowId,
    },
    /// Configured.
    Static {
        /// Row of the route.
        row: RowId,
    },
    /// Added by another program. It is identified by destination and metric.
    Dynamic {
        /// Preference among the routes of other programs to the same prefix; lower wins.
        metric: u32,
        /// Routing protocol number (rtnetlink(7)).
        protocol: u8,
        /// The route has more next hops, which are not used.
        multipath: bool,
    },
}

/// A route and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedRoute<A = u32> {
    /// Destination network, host order.
    pub destination: A,
    /// Prefix length, bits.
    pub prefix_len: u8,
    /// Origin of the route.
    pub source: RouteSource,
    /// Preference; 0 for connected.
    pub distance: u8,
    /// The route is used by lookups.
    pub active: bool,
    /// The type of a route that forwards nothing.
    pub discard: Option<Discard>,
    /// It is one of several next hops: those of the route, or with those of other routes to the prefix.
    pub ecmp: bool,
    /// A further next hop of the configured route told before.
    pub further: bool,
    /// Neighbour that packets are sent to, if there is one; of a route of another program its gateway.
    pub gateway: Option<A>,
    /// Row of the out-interface; 0 if the route cannot be resolved.
    pub interface: RowId,
    /// Preferred source for the router's own packets; unspecified without one.
    pub pref_src: A,
}

impl<A: Address> Table<A> {
    /// Calls a function with every route and its state: connected ones, then configured ones by destination, then those
    /// of other programs. Routes cannot be changed meanwhile; lookups can be made.
    pub fn for_each_route(&self, mut tell: impl FnMut(&ListedRoute<A>)) {
        let control = self.control();
        self.for_each_connected_of(&control, &mut tell);
        self.for_each_static_of(&control, &mut tell);
        self.for_each_learned_of(&control, &mut tell);
    }

    /// Calls a function with every connected route and its state.
    pub fn for_each_connected(&self, tell: impl FnMut(&ListedRoute<A>)) {
        self.for_each_connected_of(&self.control(), tell);
    }

    /// Calls a function with every route of another program and its state.
    pub fn for_each_learned(&self, tell: impl FnMut(&ListedRoute<A>)) {
        self.for_each_learned_of(&self.control(), tell);
    }

    fn for_each_connected_of(&self, control: &Control<A>, mut tell: impl FnMut(&ListedRoute<A>)) {
        for route in control.connected_base.connected.iter().filter(|_| control.has_networks) {
            let (destination, prefix_len) = route.prefix;
            // An address with its whole length is both local and its own connected network: the address answers lookups.
            let wins = |info: &RouteInfo<A>| {
                prefix_len == A::BITS || control.known(info) == Some(control.winner(route.prefix))
            };
            tell(&ListedRoute {
                destination,
                prefix_len,
                source: RouteSource::Connected { address: route.address_row },
                distance: 0,
                active: route.info.as_ref().is_some_and(wins),
                discard: None,
                ecmp: false,
                further: false,
                gateway: None,
                interface: route.interface,
                pref_src: A::default(),
            });
        }
    }

    fn for_each_learned_of(&self, control: &Control<A>, mut tell: impl FnMut(&ListedRoute<A>)) {
        for (prefix, number) in control.dynamics() {
            let Some(info) = control.info(number) else { continue };
            let RouteOrigin::Dynamic { metric, protocol, multipath } = info.origin else { continue };
            let source = RouteSource::Dynamic { metric, protocol, multipath };
            let active = control.winner(prefix) == number;
            tell(&self.listed(control, prefix, source, number, info, active));
        }
    }

    /// Calls a function with every configured route and its state, by destination and then in configured order, and once
    /// more for each next hop but the first.
    pub fn for_each_static(&self, tell: impl FnMut(&ListedRoute<A>)) {
        self.for_each_static_of(&self.control(), tell);
    }

    fn for_each_static_of(&self, control: &Control<A>, mut tell: impl FnMut(&ListedRoute<A>)) {
        for route in control.statics() {
            let Some(info) = control.info(route.number) else { continue };
            let prefix = route.prefix();
            let first = control.statics_of(prefix).iter().find(|other| other.number == route.number);
            let active =
                control.uses(prefix, route.number) && first.is_some_and(|first| first.row == route.row);
            let source = RouteSource::Static { row: route.row };
            let listed = self.listed(control, prefix, source, route.number, info, active);
            let by = |further, hop: RouteLookup<A>| ListedRoute {
                further,
                gateway: match hop {
                    RouteLookup::Via { gateway, .. } => Some(gateway),
                    _ => None,
                },
                interface: hop.interface().map_or(0, |index| control.connected_base.row(index)),
                ..listed
            };
            match self.hops.group_of(route.number) {
                Some(group) => {
                    for (at, hop) in group.hops().enumerate() {
                        tell(&by(at != 0, hop));
                    }
                }
                None => tell(&by(false, self.hops.lookup(route.number))),
            }
        }
    }

    fn listed(
        &self,
        control: &Control<A>,
        (destination, prefix_len): Prefix<A>,
        source: RouteSource,
        number: u16,
        info: &RouteInfo<A>,
        active: bool,
    ) -> ListedRoute<A> {
        ListedRoute {
            destination,
            prefix_len,
            source,
            distance: info.distance,
            active,
            discard: info.discard(),
            ecmp: active && self.hops.group_of(control.winner((destination, prefix_len))).is_some(),
            further: false,
            gateway: info.gateway(),
            interface: self
                .hops
                .lookup(number)
                .interface()
                .map_or(0, |index| control.connected_base.row(index)),
            pref_src: info.source,
        }
    }

    /// Every route with its state, in the order of [`Self::for_each_route`].
    pub fn routes(&self) -> Vec<ListedRoute<A>> {
        let mut routes = Vec::with_capacity(self.dynamic_len());
        self.for_each_route(|route| routes.push(*route));
        routes
    }
}
