//! Gateways that ICMP redirects have named, for what the router itself sends (RFC 1122 §3.2.2.2, RFC 4861 §8.3). What it
//! forwards follows the routes alone (RFC 1812 §5.2.7.2).

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tollway_config::dataplane::RowId;

use super::fib::Address;
use crate::time::Now;

/// Most destinations with another gateway. More are not learned before one of them ends.
pub(crate) const MOST: usize = 256;
/// Time for which a redirect is followed, ns: that of Linux's next hop exceptions (`gc_timeout`).
pub(crate) const LIFE: u64 = 300_000_000_000;

/// A gateway of a route, or one that takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gateway<A = u32> {
    /// Row of the interface.
    pub interface: RowId,
    /// Its address.
    pub address: A,
}

#[derive(Debug, Clone, Copy)]
struct Learned<A> {
    /// Gateway of the route, which the other takes the place of.
    routed: Gateway<A>,
    address: A,
    ends: u64,
}

/// The gateways by destination.
#[derive(Debug, Default)]
pub(crate) struct LearnedGateways<A = u32> {
    /// Entries in `destinations`: nothing is locked while there are none.
    len: AtomicUsize,
    destinations: Mutex<HashMap<A, Learned<A>>>,
}

impl<A: Address> LearnedGateways<A> {
    /// A copy in its present state.
    pub(crate) fn copy(&self) -> Self {
        let destinations = self.destinations.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self { len: AtomicUsize::new(destinations.len()), destinations: Mutex::new(destinations) }
    }

    /// The gateway to use for a destination in place of that of its route; `None` when none is known, or when it is
    /// about another gateway than the route has now.
    pub(crate) fn find(&self, destination: A, routed: Gateway<A>, now: Now) -> Option<A> {
        if self.len.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let destinations = self.destinations.lock().unwrap_or_else(PoisonError::into_inner);
        let learned = destinations.get(&destination)?;
        (learned.routed == routed && now.0 < learned.ends).then_some(learned.address)
    }

    /// Notes a gateway. Returns `false` when there is no room.
    pub(crate) fn learn(&self, destination: A, routed: Gateway<A>, address: A, now: Now) -> bool {
        let mut destinations = self.destinations.lock().unwrap_or_else(PoisonError::into_inner);
        if destinations.len() >= MOST {
            destinations.retain(|_, learned| now.0 < learned.ends);
        }
        let room = destinations.len() < MOST || destinations.contains_key(&destination);
        if room {
            let ends = now.0.saturating_add(LIFE);
            destinations.insert(destination, Learned { routed, address, ends });
        }
        self.len.store(destinations.len(), Ordering::Relaxed);
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_is_known_for_its_destination_and_route_and_a_time() {
        let gateways = LearnedGateways::<u32>::default();
        let routed = Gateway { interface: 1, address: 10 };
        let now = Now::from_ms(1);
        assert_eq!(gateways.find(5, routed, now), None);
        assert!(gateways.learn(5, routed, 11, now));
        assert_eq!(gateways.find(5, routed, now), Some(11));
        assert_eq!(gateways.copy().find(5, routed, now), Some(11));
        assert_eq!(gateways.find(6, routed, now), None);
        assert_eq!(gateways.find(5, Gateway { interface: 2, ..routed }, now), None);
        let later = Now(now.0 + LIFE);
        assert_eq!(gateways.find(5, routed, later), None);
        for destination in 0..2 * MOST as u32 {
            assert_eq!(gateways.learn(destination, routed, 11, now), destination < MOST as u32);
        }
        assert!(gateways.learn(5, routed, 12, now), "a destination that is known");
        assert!(gateways.learn(1_000_000, routed, 11, later), "those before have ended");
    }
}
