//! Next hops by number, which are read without a lock.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::address::{Address, AtomicAddress};
use super::group::{GROUPS, Group};
use super::lookup::{NextHop, RouteLookup};

/// Number of different values that cells can hold.
pub const HOPS: usize = 1 << 15;

/// Next hops by number. A published next hop never changes, so that a number read from a cell has the meaning that it
/// had when it was written.
#[derive(Debug)]
pub struct NextHops<A: Address> {
    lookups: Box<[AtomicU64; HOPS]>,
    /// Gateways; empty where they fit into the packed lookups.
    gateways: Box<[A::Atomic]>,
    sources: Box<[A::Atomic]>,
    groups: Box<[OnceLock<Group<A>>]>,
}

/// Kind of a packed lookup that is a group, whose number is in the lower half. Unpacked alone it is no route.
const GROUP: u64 = 6;

impl<A: Address> NextHops<A> {
    /// An array whose next hops forward nothing.
    pub fn new() -> Self {
        let gateways = if A::BITS > 32 { HOPS } else { 0 };
        Self {
            lookups: bytemuck::zeroed_box(),
            gateways: bytemuck::zeroed_slice_box(gateways),
            sources: bytemuck::zeroed_slice_box(HOPS),
            groups: (0..GROUPS).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Lookup result of a number; of a group its first next hop.
    #[inline]
    pub fn lookup(&self, number: u16) -> RouteLookup<A> {
        self.lookup_in(number, Group::first)
    }

    /// Lookup result of a number for a flow, whose hash is only asked for if there are several next hops.
    #[inline(always)]
    pub fn lookup_for(&self, number: u16, flow: impl FnOnce() -> u64) -> RouteLookup<A> {
        self.lookup_in(number, |group| group.of_flow(flow()))
    }

    #[inline(always)]
    fn lookup_in(&self, number: u16, choose: impl FnOnce(&Group<A>) -> RouteLookup<A>) -> RouteLookup<A> {
        let place = usize::from(number) % HOPS;
        let packed = self.lookups[place].load(Ordering::Relaxed);
        match RouteLookup::unpacked(packed, &self.gateways, place) {
            RouteLookup::NoRoute => self.group(packed).map_or(RouteLookup::NoRoute, choose),
            found => found,
        }
    }

    #[cold]
    fn group(&self, packed: u64) -> Option<&Group<A>> {
        self.groups.get(packed as u32 as usize).filter(|_| packed >> 48 == GROUP)?.get()
    }

    /// The group of a number, if there is one.
    pub fn group_of(&self, number: u16) -> Option<&Group<A>> {
        self.group(self.lookups[usize::from(number) % HOPS].load(Ordering::Relaxed))
    }

    /// Publishes a group by the number `group` as the next hop of a number, before any cell holds that.
    pub fn publish_group(&self, number: u16, group: usize, members: Group<A>, source: A) {
        let place = usize::from(number) % HOPS;
        if let Some(slot) = self.sources.get(place) {
            slot.store(source);
        }
        let published = self.groups.get(group).is_some_and(|slot| slot.set(members).is_ok());
        if published {
            self.lookups[place].store(GROUP << 48 | group as u64, Ordering::Release);
        }
    }

    /// Source address for the router's own packets; unspecified without one.
    pub fn source(&self, number: u16) -> A {
        self.sources.get(usize::from(number) % HOPS).map_or(A::default(), AtomicAddress::load)
    }

    /// Publishes the next hop of a number, before any cell holds the number.
    pub fn publish(&self, number: u16, hop: NextHop<A>) {
        let place = usize::from(number) % HOPS;
        if let (RouteLookup::Via { gateway, .. }, Some(slot)) = (hop.lookup, self.gateways.get(place)) {
            slot.store(gateway);
        }
        if let Some(slot) = self.sources.get(place) {
            slot.store(hop.source);
        }
        self.lookups[place].store(hop.lookup.packed(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::fib::Lookup6;

    #[test]
    fn a_gateway_of_any_family_is_published_whole() {
        let hops = NextHops::<u128>::new();
        let lookup = Lookup6::Via { interface: 7, gateway: 0xfe80 << 112 | 9 };
        hops.publish(3, NextHop { lookup, source: 5 << 100 });
        assert_eq!((hops.lookup(3), hops.source(3)), (lookup, 5 << 100));
        assert_eq!((hops.lookup(4), hops.source(4)), (Lookup6::NoRoute, 0));
    }
}
