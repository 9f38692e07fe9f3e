//! Counts of changes of shared tables, by which a worker finds out whether a cached action is still valid. Routes and
//! address lists change far more often than the configuration, and most changes concern other flows.
//!
//! One counter is incremented by every change. In addition there are slots: one for each block of destinations, one for
//! each hash value of list memberships, and one for each block of addresses in which networks in lists lie. A slot
//! holds the count at which something in it last changed. A cached action stores the count at which it was made. It is
//! valid while the counter is the same; otherwise the slots on which it depends tell whether it is still valid.
//!
//! Writers make a change visible first and count it afterwards. So a reader that has decided by the old table has the
//! old count, and checks again.

use std::sync::PoisonError;

use crate::packet::membership_slot::{MembershipSlot, SLOT_BITS};
use crate::packet::tuple::Addr;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Slots of each kind.
const SLOTS: usize = 1 << SLOT_BITS;
/// Number of leading bits in which the IPv4 addresses of a block agree.
const BLOCK_BITS: u8 = SLOT_BITS;

/// Low half of the count of changes, as cached actions store it.
pub type Stamp = u32;

/// The count at which a table was last changed that has no slots: a routing table other than the main table.
#[derive(Debug, Default)]
pub struct TableStamp(AtomicU32);

impl TableStamp {
    /// Whether the table may have changed since `stamp`.
    #[inline]
    pub fn changed_since(&self, stamp: Stamp) -> bool {
        is_newer(&self.0, stamp)
    }
}

/// Slots of one kind, and the count at which any of them last changed: the slots are read only if anything of this kind
/// has changed.
#[derive(Debug)]
struct ChangeStamps {
    newest: AtomicU32,
    slots: Box<[AtomicU32]>,
}

impl Default for ChangeStamps {
    fn default() -> Self {
        Self { newest: AtomicU32::new(0), slots: (0..SLOTS).map(|_| AtomicU32::new(0)).collect() }
    }
}

impl ChangeStamps {
    fn set(&self, first: usize, count: usize, stamp: Stamp) {
        self.newest.store(stamp, Ordering::Relaxed);
        for slot in self.slots.iter().skip(first).take(count) {
            slot.store(stamp, Ordering::Relaxed);
        }
    }

    /// Sets the slots of all blocks that contain the networks or are contained in them.
    fn set_blocks(&self, networks: impl IntoIterator<Item = (u32, u8)>, stamp: Stamp) {
        for (network, len) in networks {
            self.set(block(network), 1 << SLOT_BITS.saturating_sub(len), stamp);
        }
    }

    /// As [`Self::set_blocks`], of one network of IPv6.
    fn set_ipv6_block(&self, (network, len): (u128, u8), stamp: Stamp) {
        if len < IPV6_BLOCK_BITS {
            self.set(0, SLOTS, stamp);
        } else {
            self.set(ipv6_block(network), 1, stamp);
        }
    }

    #[inline]
    fn changed_since(&self, index: usize, stamp: Stamp) -> bool {
        is_newer(&self.newest, stamp) && self.slots.get(index).is_some_and(|slot| is_newer(slot, stamp))
    }
}

/// The counter and its slots.
#[derive(Debug, Default)]
pub struct ChangeCounters {
    count: AtomicU64,
    routes: ChangeStamps,
    ipv6_routes: ChangeStamps,
    lists: ChangeStamps,
    networks: ChangeStamps,
    ipv6_networks: ChangeStamps,
    /// Held while a change is counted.
    writer: Mutex<()>,
}

impl ChangeCounters {
    /// Number of changes so far. The shared tables that a reader sees after this call contain at least these changes.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// To be called when routes to these networks (first address in host order, prefix length) have changed,
    /// after the change can be seen. Many changes at once count as one.
    pub fn routes_changed(&self, networks: impl IntoIterator<Item = (u32, u8)>) {
        self.change(|stamp| self.routes.set_blocks(networks, stamp));
    }

    /// As [`Self::routes_changed`], of routes of IPv6. Flows of IPv4 are not concerned.
    pub fn ipv6_routes_changed(&self, networks: impl IntoIterator<Item = (u128, u8)>) {
        self.change(|stamp| {
            networks.into_iter().for_each(|network| self.ipv6_routes.set_ipv6_block(network, stamp));
        });
    }

    /// To be called when routes of tables other than the main table have changed, after the change can be seen. Flows that
    /// were routed by other tables are not concerned.
    pub fn tables_changed<'a>(&self, tables: impl IntoIterator<Item = &'a TableStamp>) {
        self.change(|stamp| {
            tables.into_iter().for_each(|table| table.0.store(stamp, Ordering::Relaxed));
        });
    }

    /// Whether the routes to a destination of IPv6 may have changed since `stamp`.
    #[inline]
    pub fn ipv6_route_changed_since(&self, destination: u128, stamp: Stamp) -> bool {
        self.ipv6_routes.changed_since(ipv6_block(destination), stamp)
    }

    /// To be called when single addresses or networks (first address, prefix length) have been added to lists or
    /// removed from them, after the change can be seen. Many changes at once count as one.
    pub fn lists_changed(
        &self,
        slots: impl IntoIterator<Item = MembershipSlot>,
        networks: impl IntoIterator<Item = (Addr, u8)>,
    ) {
        self.change(|stamp| {
            for slot in slots {
                self.lists.set(slot.index(), 1, stamp);
            }
            for (network, len) in networks {
                match network.as_v4() {
                    Some(v4) => self.networks.set_blocks([(v4, len)], stamp),
                    None => self.ipv6_networks.set_ipv6_block((network.0, len), stamp),
                }
            }
        });
    }

    /// Sets slots to the next count before that count is published, so that a reader of the count finds the slots set.
    fn change(&self, set: impl FnOnce(Stamp)) {
        let _writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.count.load(Ordering::Relaxed) + 1;
        set(next as Stamp);
        self.count.store(next, Ordering::Release);
    }

    /// Makes every worker drop all cached actions and adjacencies at the start of its next batch.
    pub fn invalidate_all(&self) {
        let _writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let next = ((self.count.load(Ordering::Relaxed) >> WINDOW_BITS) + 1) << WINDOW_BITS;
        self.count.store(next, Ordering::Release);
    }

    /// Whether the routes to a destination may have changed since `stamp`.
    #[inline]
    pub fn route_changed_since(&self, destination: u32, stamp: Stamp) -> bool {
        self.routes.changed_since(block(destination), stamp)
    }

    /// Whether a list membership may have changed since `stamp`, apart from changes of networks.
    #[inline]
    pub fn list_changed_since(&self, slot: MembershipSlot, stamp: Stamp) -> bool {
        slot != MembershipSlot::NONE && self.lists.changed_since(slot.index(), stamp)
    }

    /// Whether a network that contains an address may have been added to a list or removed from one since `stamp`.
    #[inline]
    pub fn listed_network_changed_since(&self, address: Addr, stamp: Stamp) -> bool {
        match address.as_v4() {
            Some(v4) => self.networks.changed_since(block(v4), stamp),
            None => self.ipv6_networks.changed_since(ipv6_block(address.0), stamp),
        }
    }
}

/// The block of an IPv4 address.
#[inline]
fn block(address: u32) -> usize {
    (address >> (32 - BLOCK_BITS)) as usize
}

/// Number of leading bits in which the IPv6 addresses of a block agree: an allocation of a registry.
const IPV6_BLOCK_BITS: u8 = 32;

/// The slot of the block of an IPv6 address, which blocks share.
#[inline]
fn ipv6_block(address: u128) -> usize {
    let block = (address >> (128 - IPV6_BLOCK_BITS)) as u32;
    (block.wrapping_mul(0x9e37_79b1) >> (32 - SLOT_BITS)) as usize
}

/// Stamps are compared modulo 2³². [`StampWindow`] ensures that the stamp of a used action is never 2³¹ changes old. A
/// slot may be older; it then looks newer than it is, which costs a second look at the table.
#[inline]
fn is_newer(slot: &AtomicU32, stamp: Stamp) -> bool {
    (slot.load(Ordering::Relaxed).wrapping_sub(stamp) as i32) > 0
}

/// Number of changes, as a power of two, after which a worker invalidates every cached action, so that the distance of
/// two compared stamps is always below 2³¹.
const WINDOW_BITS: u32 = 30;

/// Window of 2³⁰ changes in which the counter was when a worker last read it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StampWindow(u64);

impl StampWindow {
    /// Follows the counter. Returns whether a window has ended: stamps from before it must not be compared any more.
    #[inline]
    pub fn follow(&mut self, count: u64) -> bool {
        let window = count >> WINDOW_BITS;
        std::mem::replace(&mut self.0, window) != window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_concerns_its_block_and_shorter_prefixes_all_they_cover() {
        let change_counters = ChangeCounters::default();
        let before = change_counters.count() as Stamp;
        change_counters.routes_changed([(0x0a01_0200, 24)]);
        assert_eq!(change_counters.count(), 1);
        assert!(change_counters.route_changed_since(0x0a01_ff00, before));
        assert!(!change_counters.route_changed_since(0x0a02_0200, before));
        assert!(!change_counters.route_changed_since(0x0a01_0200, change_counters.count() as Stamp));
        change_counters.routes_changed([(0x0a04_0000, 14)]);
        for (address, concerned) in
            [(0x0a03_ffff, false), (0x0a04_0000, true), (0x0a07_ffff, true), (0x0a08_0000, false)]
        {
            assert_eq!(change_counters.route_changed_since(address, before), concerned, "{address:x}");
        }
        change_counters.routes_changed([(0, 0)]);
        assert!(
            change_counters.route_changed_since(0, 2) && change_counters.route_changed_since(u32::MAX, 2)
        );
    }

    #[test]
    fn a_change_of_a_family_does_not_concern_the_other() {
        let change_counters = ChangeCounters::default();
        let (net, other) = (0x2001_0db8_0001 << 80, 0x2001_0db9 << 96);
        change_counters.ipv6_routes_changed([(net, 48)]);
        assert!(change_counters.ipv6_route_changed_since(net | 1, 0));
        assert!(!change_counters.ipv6_route_changed_since(other, 0));
        assert!((0..=u8::MAX).all(|high| !change_counters.route_changed_since(u32::from(high) << 24, 0)));
        change_counters.routes_changed([(0, 0)]);
        assert!(!change_counters.ipv6_route_changed_since(net, 1));
        change_counters.ipv6_routes_changed([(0x2001 << 112, 16)]);
        assert!(change_counters.ipv6_route_changed_since(other, 2));
    }

    #[test]
    fn a_change_of_a_table_concerns_that_table_alone() {
        let change_counters = ChangeCounters::default();
        let (one, other) = (TableStamp::default(), TableStamp::default());
        change_counters.tables_changed([&one]);
        assert_eq!(change_counters.count(), 1);
        assert!(one.changed_since(0) && !one.changed_since(1) && !other.changed_since(0));
        assert!(
            !change_counters.route_changed_since(0, 0) && !change_counters.ipv6_route_changed_since(0, 0)
        );
    }

    #[test]
    fn a_list_change_concerns_those_who_asked_for_that_address() {
        let change_counters = ChangeCounters::default();
        let (one, other) = (MembershipSlot::of(1, Addr::v4(7)), MembershipSlot::of(2, Addr::v4(7)));
        assert_ne!(one, other);
        change_counters.lists_changed([one], []);
        assert!(change_counters.list_changed_since(one, 0));
        assert!(!change_counters.list_changed_since(other, 0));
        assert!(!change_counters.list_changed_since(one, 1));
        assert!(!change_counters.list_changed_since(MembershipSlot::NONE, 0));
    }

    #[test]
    fn a_network_in_a_list_concerns_its_block_and_all_that_it_covers() {
        let change_counters = ChangeCounters::default();
        let v6 = Addr(0x2001_0db8 << 96);
        change_counters
            .lists_changed([], [(Addr::v4(0x0a01_0200), 24), (Addr::v4(0x0a04_0000), 14), (v6, 48)]);
        assert_eq!(change_counters.count(), 1);
        for (address, concerned) in [
            (0x0a01_ff00, true),
            (0x0a02_0200, false),
            (0x0a03_ffff, false),
            (0x0a07_ffff, true),
            (0x0a08_0000, false),
        ] {
            let listed = Addr::v4(address);
            assert_eq!(change_counters.listed_network_changed_since(listed, 0), concerned, "{address:x}");
            assert!(!change_counters.listed_network_changed_since(listed, 1));
            assert!(!change_counters.route_changed_since(address, 0));
        }
        let other = Addr(0x2001_0db9 << 96);
        assert!(change_counters.listed_network_changed_since(Addr(v6.0 | 7), 0));
        assert!(!change_counters.listed_network_changed_since(other, 0));
        assert!(!change_counters.ipv6_route_changed_since(v6.0, 0));
        change_counters.lists_changed([], [(Addr(0x2001 << 112), 16)]);
        assert!(change_counters.listed_network_changed_since(other, 1));
    }

    #[test]
    fn stamps_are_compared_across_the_turn_of_the_counter_and_windows_end_before_it_matters() {
        let slot = AtomicU32::new(2);
        assert!(is_newer(&slot, u32::MAX - 5));
        assert!(!is_newer(&slot, 2));
        let mut window = StampWindow::default();
        assert!(!window.follow((1 << WINDOW_BITS) - 1));
        assert!(window.follow(1 << WINDOW_BITS));
        assert!(!window.follow((1 << WINDOW_BITS) + 5));
        assert!(window.follow(5 << WINDOW_BITS));
    }
}
