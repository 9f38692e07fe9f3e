//! Routers and networks that router advertisements have told of, on interfaces on which the router takes them as a host
//! does (RFC 4861 §6.3.4, RFC 4862 §5.5.3), and when it asks for advertisements (RFC 4861 §6.3.7). For all workers; one
//! of them sends each solicitation.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tollway_config::dataplane::RowId;
use tollway_wire::{ipv6, ndp};

use super::neighbor::PROBE_INTERVAL;
use super::router_advertisements::Network;
use crate::random;
use crate::time::Now;

const SECOND: u64 = 1_000_000_000;
/// Largest delay of the first solicitation, ns (MAX_RTR_SOLICITATION_DELAY).
const DELAY: u64 = SECOND;
/// Time between two solicitations, ns (RTR_SOLICITATION_INTERVAL).
const INTERVAL: u64 = 4 * SECOND;
/// Number of solicitations without an answer (MAX_RTR_SOLICITATIONS).
const MOST_ASKED: u8 = 3;
/// Most routers of an interface, and most networks. More are not taken: who is on the link must not fill the memory.
const MOST: usize = 16;
/// Valid lifetime that an advertisement shortens an address's to at least, ns (RFC 4862 §5.5.3).
const TWO_HOURS: u64 = 7_200 * SECOND;
/// A lifetime that does not end, s (RFC 4861 §4.6.2).
const FOREVER: u32 = u32::MAX;

/// A default router.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeardRouter {
    /// Interface row.
    pub interface: RowId,
    /// Its link-local address.
    pub address: u128,
    /// Preference (RFC 4191 §2.1): 0 low, 1 medium, 2 high.
    pub preference: u8,
}

/// An advertised network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeardNetwork {
    /// Interface row.
    pub interface: RowId,
    /// The network.
    pub network: Network,
    /// Its stations are reached without a router.
    pub on_link: bool,
    /// Stations make themselves addresses of it.
    pub autonomous: bool,
    /// Its address is not to be used for new connections (RFC 4862 §5.5.4).
    pub deprecated: bool,
}

/// The time that is left of a network, s; `None` for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// Of its address.
    pub valid: Option<u64>,
    /// Until its address is deprecated.
    pub preferred: Option<u64>,
}

/// Everything that has been told and is valid now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heard {
    /// Default routers, the best first.
    pub routers: Vec<HeardRouter>,
    /// Networks, in the order in which they were told of.
    pub networks: Vec<HeardNetwork>,
}

#[derive(Debug, Clone, Copy)]
struct Router {
    router: HeardRouter,
    ends: u64,
}

#[derive(Debug, Clone, Copy)]
struct Advertised {
    network: HeardNetwork,
    valid_until: u64,
    preferred_until: u64,
}

#[derive(Debug, Clone, Copy)]
struct Asking {
    left: u8,
    due: u64,
}

#[derive(Debug, Default)]
struct Table {
    routers: Vec<Router>,
    networks: Vec<Advertised>,
    /// Interfaces on which advertisements are taken.
    asking: HashMap<RowId, Asking>,
    synced: Option<u32>,
    random: u64,
}

/// What has been heard.
#[derive(Debug)]
pub struct HeardRouters {
    table: Mutex<Table>,
    /// Routers and networks: nothing is locked while there are none.
    len: AtomicUsize,
    next_due: AtomicU64,
}

/// The time at which a lifetime ends, ns.
fn end(now: Now, seconds: u32) -> u64 {
    if seconds == FOREVER { u64::MAX } else { now.0.saturating_add(u64::from(seconds) * SECOND) }
}

impl HeardRouters {
    /// Nothing has been heard. `seed` makes the delays differ from those of other stations.
    pub fn new(seed: u64) -> Self {
        Self {
            table: Mutex::new(Table { random: seed, ..Table::default() }),
            len: AtomicUsize::new(0),
            next_due: AtomicU64::new(u64::MAX),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, table: &Table) {
        self.len.store(table.routers.len() + table.networks.len(), Ordering::Relaxed);
        let due = table.asking.values().filter(|asking| asking.left != 0).map(|asking| asking.due).min();
        self.next_due.store(due.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Takes over the interfaces that are up and on which advertisements are taken, once per generation. What was heard
    /// on others is forgotten; routers are asked for on those that are new.
    pub fn sync(&self, generation: u32, accepting: &[RowId], now: Now) {
        let mut guard = self.lock();
        let table = &mut *guard;
        if table.synced == Some(generation) {
            return;
        }
        table.synced = Some(generation);
        table.routers.retain(|known| accepting.contains(&known.router.interface));
        table.networks.retain(|known| accepting.contains(&known.network.interface));
        table.asking.retain(|row, _| accepting.contains(row));
        for row in accepting {
            table.random = table.random.wrapping_add(random::STEP);
            let due = now.0.saturating_add(random::split_mix(table.random) % DELAY);
            table.asking.entry(*row).or_insert(Asking { left: MOST_ASKED, due });
        }
        self.publish(table);
    }

    /// When [`Self::age`] wants to run next, ns; `u64::MAX` never.
    pub fn next_due(&self) -> u64 {
        self.next_due.load(Ordering::Relaxed)
    }

    /// Calls `send` with the interfaces on which a solicitation is due. It waits while the link-local address of the
    /// interface is not known to be the router's, of which `is_ready` is false.
    pub fn age(&self, now: Now, is_ready: impl Fn(RowId) -> bool, mut send: impl FnMut(RowId)) {
        if now.0 < self.next_due() {
            return;
        }
        let mut guard = self.lock();
        let table = &mut *guard;
        for (row, asking) in &mut table.asking {
            if asking.left == 0 || asking.due > now.0 {
                continue;
            }
            if !is_ready(*row) {
                asking.due = now.0.saturating_add(PROBE_INTERVAL / 10);
                continue;
            }
            asking.left -= 1;
            asking.due = now.0.saturating_add(INTERVAL);
            send(*row);
        }
        self.publish(table);
    }

    /// Takes an advertisement that `source`, a link-local address, has sent on an interface.
    pub fn learn(
        &self,
        interface: RowId,
        source: u128,
        (lifetime, flags): (u16, u8),
        options: ndp::Options<'_>,
        now: Now,
    ) {
        let mut guard = self.lock();
        let table = &mut *guard;
        let Some(asking) = table.asking.get_mut(&interface) else { return };
        // A router that is none for hosts answers nothing that is still asked (RFC 4861 §6.3.7).
        if lifetime != 0 {
            asking.left = 0;
        }
        table.learn_router(interface, source, lifetime, flags, now);
        for option in options {
            if let Some(prefix) = ndp::PrefixInformation::read(option) {
                table.learn_network(interface, prefix, now);
            }
        }
        self.publish(table);
    }

    /// What is valid now. What has ended is forgotten.
    pub fn heard(&self, now: Now) -> Heard {
        if self.len.load(Ordering::Relaxed) == 0 {
            return Heard::default();
        }
        let mut guard = self.lock();
        let table = &mut *guard;
        table.routers.retain(|known| now.0 < known.ends);
        table.networks.retain(|known| now.0 < known.valid_until);
        self.publish(table);
        let mut routers: Vec<HeardRouter> = table.routers.iter().map(|known| known.router).collect();
        routers.sort_by_key(|router| Reverse(router.preference));
        let networks = table.networks.iter();
        let networks = networks
            .map(|known| HeardNetwork { deprecated: now.0 >= known.preferred_until, ..known.network });
        Heard { routers, networks: networks.collect() }
    }

    /// The time that is left of a network.
    pub fn lifetimes(&self, interface: RowId, network: Network, now: Now) -> Option<Lifetimes> {
        let table = self.lock();
        let is_it =
            |known: &&Advertised| (known.network.interface, known.network.network) == (interface, network);
        let known = table.networks.iter().find(is_it)?;
        let left = |until: u64| (until != u64::MAX).then(|| until.saturating_sub(now.0) / SECOND);
        Some(Lifetimes { valid: left(known.valid_until), preferred: left(known.preferred_until) })
    }
}

impl Table {
    fn learn_router(&mut self, interface: RowId, address: u128, lifetime: u16, flags: u8, now: Now) {
        let is_it = |known: &Router| (known.router.interface, known.router.address) == (interface, address);
        if lifetime == 0 {
            self.routers.retain(|known| !is_it(known));
            return;
        }
        // The value that is reserved counts as medium (RFC 4191 §2.2).
        let preference = match flags >> 3 & 3 {
            1 => 2,
            3 => 0,
            _ => 1,
        };
        let heard = Router {
            router: HeardRouter { interface, address, preference },
            ends: end(now, lifetime.into()),
        };
        let of_interface = self.routers.iter().filter(|known| known.router.interface == interface).count();
        match self.routers.iter_mut().find(|known| is_it(known)) {
            Some(known) => *known = heard,
            None if of_interface < MOST => self.routers.push(heard),
            None => {}
        }
    }

    fn learn_network(&mut self, interface: RowId, prefix: ndp::PrefixInformation, now: Now) {
        let ndp::PrefixInformation { prefix: address, len, on_link, autonomous, valid, preferred } = prefix;
        let network = (super::fib::Address::masked(address, len), len);
        // An identifier of Ethernet has 64 bits (RFC 2464 §4).
        let autonomous = autonomous && len == 64;
        let multicast = ipv6::is_multicast(address);
        if len > 128
            || preferred > valid
            || ipv6::is_link_local(address)
            || multicast
            || !on_link && !autonomous
        {
            return;
        }
        let is_it =
            |known: &Advertised| (known.network.interface, known.network.network) == (interface, network);
        let (valid_until, preferred_until) = (end(now, valid), end(now, preferred));
        let heard = HeardNetwork { interface, network, on_link, autonomous, deprecated: false };
        match self.networks.iter_mut().find(|known| is_it(known)) {
            Some(known) => {
                // Without authentication a lifetime is shortened to two hours at least.
                let least = known.valid_until.min(now.0.saturating_add(TWO_HOURS));
                known.valid_until =
                    if known.network.autonomous { valid_until.max(least) } else { valid_until };
                known.preferred_until = preferred_until;
                known.network.on_link |= on_link;
                known.network.autonomous |= autonomous;
            }
            None => {
                let count = self.networks.iter().filter(|known| known.network.interface == interface).count();
                if valid != 0 && count < MOST {
                    self.networks.push(Advertised { network: heard, valid_until, preferred_until });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUTER: u128 = 0xfe80 << 112 | 1;
    const NETWORK: Network = (0x2001_0db8 << 96, 64);

    fn routers() -> HeardRouters {
        let routers = HeardRouters::new(7);
        routers.sync(1, &[1], Now::from_ms(0));
        routers
    }

    /// An advertisement with a network of these lifetimes, s.
    fn tell(routers: &HeardRouters, lifetime: u16, valid: u32, preferred: u32, ms: u64) {
        let prefixes = [ndp::PrefixRepr { prefix: NETWORK.0, len: NETWORK.1, valid, preferred }];
        let repr = ndp::RouterRepr { hop_limit: 0, lifetime, link: [2; 6], mtu: 1500, prefixes: &prefixes };
        let mut bytes = vec![0; repr.len()];
        repr.emit(&mut bytes, ROUTER, ipv6::ALL_NODES);
        let Ok(ndp::Message::RouterAdvertisement { lifetime, flags, options }) = ndp::parse(&bytes) else {
            panic!()
        };
        routers.learn(1, ROUTER, (lifetime, flags), options, Now::from_ms(ms));
    }

    fn at(routers: &HeardRouters, ms: u64) -> (usize, Vec<bool>) {
        let heard = routers.heard(Now::from_ms(ms));
        (heard.routers.len(), heard.networks.iter().map(|network| network.deprecated).collect())
    }

    #[test]
    fn routers_and_networks_end_with_their_lifetimes() {
        let routers = routers();
        assert_eq!(at(&routers, 0), (0, vec![]));
        tell(&routers, 60, 20_000, 100, 0);
        assert_eq!(at(&routers, 59_999), (1, vec![false]));
        assert_eq!(at(&routers, 60_000), (0, vec![false]));
        assert_eq!(at(&routers, 100_000), (0, vec![true]));
        assert_eq!(at(&routers, 19_999_999), (0, vec![true]));
        assert_eq!(at(&routers, 20_000_000), (0, vec![]));
        // Both again, then a router that is none any more; a network is withdrawn by a preferred lifetime of 0.
        tell(&routers, 60, FOREVER, FOREVER, 30_000_000);
        let left = routers.lifetimes(1, NETWORK, Now::from_ms(30_000_000));
        assert_eq!(left, Some(Lifetimes { valid: None, preferred: None }));
        tell(&routers, 0, FOREVER, 0, 30_000_001);
        assert_eq!(at(&routers, 30_000_002), (0, vec![true]));
    }

    #[test]
    fn nobody_on_the_link_ends_an_address_at_once() {
        let routers = routers();
        tell(&routers, 60, 2_592_000, 604_800, 0);
        tell(&routers, 60, 0, 0, 1_000);
        let left = routers.lifetimes(1, NETWORK, Now::from_ms(1_000));
        assert_eq!(left, Some(Lifetimes { valid: Some(7_200), preferred: Some(0) }));
        tell(&routers, 60, 10_000, 10_000, 2_000);
        let left = routers.lifetimes(1, NETWORK, Now::from_ms(2_000));
        assert_eq!(left, Some(Lifetimes { valid: Some(10_000), preferred: Some(10_000) }));
    }

    #[test]
    fn nothing_is_heard_where_advertisements_are_not_taken() {
        let routers = HeardRouters::new(7);
        tell(&routers, 60, 100, 100, 0);
        assert_eq!(at(&routers, 1), (0, vec![]));
        routers.sync(1, &[1], Now::from_ms(1));
        tell(&routers, 60, 100, 100, 2);
        assert_eq!(at(&routers, 3), (1, vec![false]));
        routers.sync(2, &[], Now::from_ms(4));
        assert_eq!(at(&routers, 5), (0, vec![]));
    }

    #[test]
    fn routers_are_asked_for_three_times_and_not_after_an_answer() {
        let asked = |routers: &HeardRouters, from: u64, until: u64| {
            let mut count = 0;
            for ms in from..until {
                routers.age(Now::from_ms(ms), |_| true, |_| count += 1);
            }
            count
        };
        let silent = routers();
        assert_eq!(asked(&silent, 0, 1_001), 1);
        assert_eq!(asked(&silent, 1_001, 100_000), 2);
        assert_eq!(silent.next_due(), u64::MAX);
        let answered = routers();
        assert_eq!(asked(&answered, 0, 1_001), 1);
        tell(&answered, 60, 100, 100, 1_100);
        assert_eq!(asked(&answered, 1_101, 100_000), 0);
        let unready = routers();
        for ms in 0..5_000 {
            unready.age(Now::from_ms(ms), |_| false, |_| panic!("sent"));
        }
    }

    #[test]
    fn the_preferred_router_comes_first() {
        let routers = routers();
        let mut bytes = vec![0; ndp::ROUTER_ADVERTISEMENT];
        bytes[0] = tollway_wire::icmpv6::ROUTER_ADVERTISEMENT;
        bytes[7] = 60;
        for (address, flags) in [(1, 0x18), (2, 0), (3, 0x08), (4, 0x10)] {
            bytes[5] = flags;
            let Ok(ndp::Message::RouterAdvertisement { lifetime, flags, options }) = ndp::parse(&bytes)
            else {
                panic!()
            };
            routers.learn(1, ROUTER | address << 8, (lifetime, flags), options, Now::from_ms(1));
        }
        let order: Vec<u128> =
            routers.heard(Now::from_ms(2)).routers.iter().map(|router| router.address >> 8 & 0xff).collect();
        assert_eq!(order, [3, 2, 4, 1]);
    }
}
