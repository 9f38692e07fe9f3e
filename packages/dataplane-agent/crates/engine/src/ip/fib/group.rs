//! Next-hop groups: the next hops of a route with several gateways, between which flows are divided.
//!
//! Each flow goes to the member for which a hash of flow and member is highest (rendezvous hashing: Thaler and
//! Ravishankar, IEEE/ACM Transactions on Networking 6(1), 1998). It needs no state, and when a member goes only its own
//! flows get another one; when it comes back, just those return to it.

use super::address::Address;
use super::lookup::{NextHop, RouteLookup};
use crate::packet::key::mix;

/// Largest number of groups that a table can hold.
pub const GROUPS: usize = 1 << 10;

/// A next-hop group. It never changes once it is published.
#[derive(Debug)]
pub struct Group<A> {
    members: Box<[Member<A>]>,
}

#[derive(Debug)]
struct Member<A> {
    /// Hash of what the member is, the same in every table and group.
    key: u64,
    lookup: RouteLookup<A>,
}

impl<A: Address> Group<A> {
    /// A group of these next hops. One that is there more than once gets as many shares. `row` is the row of an interface:
    /// its number is another one after a change of the configuration, and flows are not to move for that.
    pub fn new(hops: &[NextHop<A>], row: impl Fn(RouteLookup<A>) -> u32) -> Self {
        let member = |(at, hop): (usize, &NextHop<A>)| {
            let copies = hops.iter().take(at).filter(|before| before.lookup == hop.lookup).count();
            let gateway = match hop.lookup {
                RouteLookup::Via { gateway, .. } => gateway.folded(),
                _ => 0,
            };
            let what = u64::from(gateway) << 32 | u64::from(row(hop.lookup));
            Member { key: mix(what ^ (copies as u64) << 48, 0xa076_1d64_78bd_642f), lookup: hop.lookup }
        };
        Self { members: hops.iter().enumerate().map(member).collect() }
    }

    /// The first next hop.
    pub fn first(&self) -> RouteLookup<A> {
        self.members.first().map_or(RouteLookup::NoRoute, |member| member.lookup)
    }

    /// The next hop of a flow with this hash.
    pub fn of_flow(&self, flow: u64) -> RouteLookup<A> {
        let share = |member: &&Member<A>| mix(flow ^ member.key, member.key | 1);
        self.members.iter().max_by_key(share).map_or(RouteLookup::NoRoute, |member| member.lookup)
    }

    /// The next hops.
    pub fn hops(&self) -> impl Iterator<Item = RouteLookup<A>> {
        self.members.iter().map(|member| member.lookup)
    }

    /// Whether this is one of the next hops.
    pub fn holds(&self, hop: RouteLookup<A>) -> bool {
        self.hops().any(|known| known == hop)
    }

    /// Whether a next hop leaves by an interface.
    pub fn leaves_by(&self, interface: u16) -> bool {
        self.members.iter().any(|member| member.lookup.interface() == Some(interface))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(interface: u16, gateway: u32) -> NextHop<u32> {
        NextHop { lookup: RouteLookup::Via { interface, gateway }, source: 0 }
    }

    fn group(hops: &[NextHop<u32>]) -> Group<u32> {
        Group::new(hops, |lookup| lookup.interface().map_or(0, u32::from))
    }

    fn flows() -> impl Iterator<Item = u64> {
        (0..20_000_u64).map(|flow| mix(flow ^ 0x1234_5678, 0x9e37_79b9_7f4a_7c15))
    }

    #[test]
    fn flows_are_divided_by_weight() {
        let (one, other) = (hop(0, 0x0a00_0002), hop(1, 0x0a01_0002));
        let group = group(&[one, other, other]);
        let ones = flows().filter(|flow| group.of_flow(*flow) == one.lookup).count();
        assert!((6_300..7_050).contains(&ones), "{ones} of 20,000 flows, of which a third was expected");
    }

    #[test]
    fn only_flows_of_the_member_that_goes_move() {
        let hops = [hop(0, 0x0a00_0002), hop(1, 0x0a01_0002), hop(2, 0x0a02_0002), hop(2, 0x0a02_0003)];
        let all = group(&hops);
        for gone in 0..hops.len() {
            let rest: Vec<_> =
                hops.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, hop)| *hop).collect();
            let rest = group(&rest);
            let mut moved = 0;
            for flow in flows() {
                let before = all.of_flow(flow);
                if before == hops[gone].lookup {
                    moved += 1;
                    assert_ne!(rest.of_flow(flow), before);
                } else {
                    assert_eq!(rest.of_flow(flow), before);
                }
            }
            assert!((4_600..5_400).contains(&moved), "{moved}");
        }
    }
}
