//! Outside ports of source NAT: which TCP and UDP ports and ICMP identifiers of a translated address are free.
//!
//! Two connections must not share a reply tuple; one outside port serves many destinations. While ports are plentiful a
//! few probes of the connection table find a free one. Otherwise a worker keeps a map of the ports that it may
//! allocate, [`FreePorts`], for one [`PortSpace`] and one range. The map is a cache of what the table holds: filled on
//! demand, updated as connections are created and removed, and dropped without loss at any time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tollway_config::dataplane::PortRange;
use tollway_wire::ipv4::{ICMP, TCP, UDP};
use tollway_wire::ipv6::ICMPV6;

use crate::packet::tuple::{Addr, Tuple, Zone, steer};

/// Maximum number of maps that a worker keeps.
const MAPS: usize = 64;
/// Connections created and removed by a worker in one period. A map that was not used for two periods is dropped.
const PERIOD: u32 = 1 << 16;
/// Number of ports from which on every worker may allocate some ports of a range.
const COVERS_ALL_WORKERS: u32 = 512;

/// The range from which the translation of `port` is chosen, so that a privileged port is translated to a privileged
/// one.
pub fn port_class(port: u16) -> PortRange {
    match port {
        0..512 => PortRange { from: 1, to: 511 },
        512..1024 => PortRange { from: 600, to: 1023 },
        1024.. => PortRange { from: 1024, to: 65535 },
    }
}

/// Whether a range holds a port.
pub fn contains(range: PortRange, port: u16) -> bool {
    range.from <= port && port <= range.to
}

/// The number of ports in a range.
pub fn port_count(range: PortRange) -> u32 {
    u32::from(range.to.saturating_sub(range.from)) + 1
}

/// A reply tuple with another outside port. For ICMP the identifier is set at both ends.
pub fn with_port(reply: Tuple, port: u16) -> Tuple {
    match reply.protocol {
        ICMP | ICMPV6 => Tuple { src_port: port, dst_port: port, ..reply },
        _ => Tuple { dst_port: port, ..reply },
    }
}

/// Scope in which an outside port must be unique: protocol, zone, outside address and peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PortSpace {
    protocol: u8,
    /// That of the interface that the flow leaves by.
    zone: Zone,
    outside: Addr,
    /// The other side, address and port; `None` where a port serves one inside address and port whatever the
    /// destination (endpoint-independent mapping, RFC 4787 §4.1).
    peer: Option<(Addr, u16)>,
}

impl PortSpace {
    /// The space of a reply tuple; `None` for protocols without ports.
    pub fn of(reply: &Tuple) -> Option<Self> {
        let peer_port = match reply.protocol {
            TCP | UDP => reply.src_port,
            ICMP | ICMPV6 => 0,
            _ => return None,
        };
        let peer = Some((reply.src, peer_port));
        Some(Self { protocol: reply.protocol, zone: reply.zone, outside: reply.dst, peer })
    }
}

/// A range of ports in a space: the space, first and last port.
type PoolKey = (PortSpace, u16, u16);

/// A map of the free ports of a range that one worker may allocate. Only that worker writes; others only read whether
/// any port is free.
#[derive(Debug)]
pub struct FreePorts {
    range: PortRange,
    /// A bit for each port, set if it is free; words of 64 ports.
    free: Box<[AtomicU64]>,
    /// A bit for each word of `free` that has been filled in.
    known: Box<[AtomicU64]>,
    /// A bit for each word of `free` that has a free port or has not been filled in.
    open: Box<[AtomicU64]>,
}

fn bit(at: usize) -> u64 {
    1 << (at % 64)
}

fn is_set(words: &[AtomicU64], at: usize) -> bool {
    words.get(at / 64).is_some_and(|word| word.load(Ordering::Relaxed) & bit(at) != 0)
}

/// Sets or clears a bit; only one thread writes. Returns the new word.
fn put(words: &[AtomicU64], at: usize, value: bool) -> u64 {
    let Some(word) = words.get(at / 64) else { return 0 };
    let old = word.load(Ordering::Relaxed);
    let new = if value { old | bit(at) } else { old & !bit(at) };
    word.store(new, Ordering::Relaxed);
    new
}

impl FreePorts {
    fn new(range: PortRange) -> Self {
        let zeros = |bits: usize| (0..bits.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let ports = port_count(range) as usize;
        let words = ports.div_ceil(64);
        let map = Self { range, free: zeros(ports), known: zeros(words), open: zeros(words) };
        for word in 0..words {
            put(&map.open, word, true);
        }
        map
    }

    /// Finds a free port for which `may` returns `true`. `start` selects the word at which the search begins. `is_free`
    /// returns whether the worker may allocate a port and its table does not hold it; it is called at most once for
    /// each port in the life of the map.
    pub fn find(
        &self,
        start: u32,
        mut is_free: impl FnMut(u16) -> bool,
        mut may: impl FnMut(u16) -> bool,
    ) -> Option<u16> {
        let words = self.free.len();
        let first = start as usize % words.max(1);
        let mut at = first;
        let mut wrapped = false;
        loop {
            at = match self.next_open(at, if wrapped { first } else { words }) {
                Some(word) => word,
                None if wrapped => return None,
                None => {
                    (at, wrapped) = (0, true);
                    continue;
                }
            };
            let mut left = self.filled_in(at, &mut is_free);
            while left != 0 {
                let port = self.port(at, left.trailing_zeros());
                if may(port) {
                    return Some(port);
                }
                left &= left - 1;
            }
            at += 1;
        }
    }

    fn port(&self, word: usize, bit: u32) -> u16 {
        self.range.from.saturating_add((word * 64) as u16).saturating_add(bit as u16)
    }

    /// The next word from `at` on and before `end` that may have a free port.
    fn next_open(&self, at: usize, end: usize) -> Option<usize> {
        let mut place = at / 64;
        let mut mask = u64::MAX << (at % 64);
        while place * 64 < end {
            let word = self.open.get(place)?.load(Ordering::Relaxed) & mask;
            if word != 0 {
                return Some(place * 64 + word.trailing_zeros() as usize).filter(|found| *found < end);
            }
            (place, mask) = (place + 1, u64::MAX);
        }
        None
    }

    /// The free ports of a word; looks them up when the word is read for the first time.
    fn filled_in(&self, word: usize, is_free: &mut impl FnMut(u16) -> bool) -> u64 {
        let Some(cell) = self.free.get(word) else { return 0 };
        if is_set(&self.known, word) {
            return cell.load(Ordering::Relaxed);
        }
        let ports = (port_count(self.range) as usize - word * 64).min(64) as u32;
        let free =
            (0..ports).filter(|bit| is_free(self.port(word, *bit))).fold(0, |free, bit| free | 1 << bit);
        cell.store(free, Ordering::Relaxed);
        put(&self.known, word, true);
        put(&self.open, word, free != 0);
        free
    }

    /// Notes that a port of this worker was allocated (`free` is false) or released.
    fn note(&self, port: u16, free: bool) {
        let at = usize::from(port.wrapping_sub(self.range.from));
        if !contains(self.range, port) || !is_set(&self.known, at / 64) {
            return;
        }
        let left = put(&self.free, at, free);
        put(&self.open, at / 64, left != 0);
    }

    /// Whether a port may be free.
    pub fn has_free(&self) -> bool {
        self.open.iter().any(|word| word.load(Ordering::Relaxed) != 0)
    }
}

/// The maps of one worker.
#[derive(Debug, Default)]
pub struct FreePortMaps {
    maps: HashMap<PortSpace, Vec<CachedMap>>,
    cached: usize,
    /// Connections created or removed in this period.
    notes: u32,
    period: u32,
}

#[derive(Debug)]
struct CachedMap {
    ports: Arc<FreePorts>,
    /// Number of the period in which the map was last used.
    used: u32,
}

impl FreePortMaps {
    /// Whether the worker has no map.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.cached == 0
    }

    /// Notes that a connection of the worker has allocated (`free` is false) or released a tuple.
    pub fn note(&mut self, tuple: &Tuple, free: bool) {
        self.notes += 1;
        if self.notes >= PERIOD {
            (self.notes, self.period) = (0, self.period.wrapping_add(1));
            let period = self.period;
            self.retain(|cached| period.wrapping_sub(cached.used) < 2);
        }
        let cached = PortSpace::of(tuple).and_then(|space| self.maps.get(&space));
        for cached in cached.into_iter().flatten() {
            cached.ports.note(tuple.dst_port, free);
        }
    }

    /// The map of a range, if the worker has one.
    pub fn get(&mut self, space: &PortSpace, range: PortRange) -> Option<Arc<FreePorts>> {
        if self.is_empty() {
            return None;
        }
        let cached = self.maps.get_mut(space)?.iter_mut().find(|cached| cached.ports.range == range)?;
        cached.used = self.period;
        Some(Arc::clone(&cached.ports))
    }

    /// Adds an empty map of a range. If there are [`MAPS`] already, removes the least recently used.
    pub(crate) fn add(&mut self, space: PortSpace, range: PortRange) -> Arc<FreePorts> {
        if self.cached >= MAPS {
            let oldest =
                self.maps.values().flatten().map(|cached| self.period.wrapping_sub(cached.used)).max();
            let period = self.period;
            let mut surplus = 1 + self.cached - MAPS;
            self.retain(|cached| {
                let keep = surplus == 0 || Some(period.wrapping_sub(cached.used)) != oldest;
                surplus -= usize::from(!keep);
                keep
            });
        }
        let ports = Arc::new(FreePorts::new(range));
        self.maps.entry(space).or_default().push(CachedMap { ports: Arc::clone(&ports), used: self.period });
        self.cached += 1;
        ports
    }

    fn retain(&mut self, mut keep: impl FnMut(&CachedMap) -> bool) {
        self.maps.retain(|_, maps| {
            maps.retain(&mut keep);
            !maps.is_empty()
        });
        self.cached = self.maps.values().map(Vec::len).sum();
    }
}

/// The maps of all workers, by which a worker without a free port finds another one to which the flow can move.
#[derive(Debug, Default)]
pub struct SharedFreePorts(Mutex<HashMap<PoolKey, Vec<Weak<FreePorts>>>>);

impl SharedFreePorts {
    fn lock(&self) -> MutexGuard<'_, HashMap<PoolKey, Vec<Weak<FreePorts>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a map of `worker` and makes it visible to the others.
    pub(crate) fn begin(
        &self,
        maps: &mut FreePortMaps,
        space: PortSpace,
        range: PortRange,
        worker: u32,
        workers: u32,
    ) -> Arc<FreePorts> {
        let ports = maps.add(space, range);
        if workers > 1 {
            let mut free_ports = self.lock();
            if free_ports.len() >= MAPS * workers as usize {
                free_ports.retain(|_, maps| maps.iter().any(|map| map.strong_count() != 0));
            }
            let maps = free_ports.entry((space, range.from, range.to)).or_default();
            maps.resize_with(workers as usize, Weak::new);
            if let Some(own) = maps.get_mut(worker as usize) {
                *own = Arc::downgrade(&ports);
            }
        }
        ports
    }

    /// A worker other than `worker` that may have a free port for a reply tuple: one whose map has a free port, or that
    /// has no map. `start` selects the worker that is tried first.
    pub fn worker_with_free_port(
        &self,
        reply: &Tuple,
        range: PortRange,
        worker: u32,
        workers: u32,
        start: u32,
    ) -> Option<u32> {
        let space = PortSpace::of(reply)?;
        let free_ports = self.lock();
        let maps = free_ports.get(&(space, range.from, range.to));
        let others =
            (0..workers).map(|step| (start % workers + step) % workers).filter(|other| *other != worker);
        others.into_iter().find(|other| {
            let map = maps.and_then(|maps| maps.get(*other as usize)?.upgrade());
            match map {
                Some(map) => map.has_free(),
                None => may_allocate_any(reply, range, *other, workers),
            }
        })
    }
}

/// Whether `worker` may allocate any port of a range.
fn may_allocate_any(reply: &Tuple, range: PortRange, worker: u32, workers: u32) -> bool {
    port_count(range) >= COVERS_ALL_WORKERS
        || (range.from..=range.to).any(|port| steer(&with_port(*reply, port), workers) == worker)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ports_keep_their_class() {
        for (port, from, to) in [(80, 1, 511), (512, 600, 1023), (1024, 1024, 65535)] {
            assert_eq!(port_class(port), PortRange { from, to });
        }
    }

    #[test]
    fn every_port_is_found_once_and_then_none() {
        for range in [
            port_class(80),
            port_class(5000),
            PortRange { from: 65535, to: 65535 },
            PortRange { from: 0, to: 64 },
        ] {
            let map = FreePorts::new(range);
            let mut taken = BTreeSet::new();
            for start in 0..port_count(range) {
                let port = map.find(start.wrapping_mul(77_777), |_| true, |_| true).unwrap();
                assert!(contains(range, port) && taken.insert(port));
                map.note(port, false);
            }
            assert!(!map.has_free());
            assert_eq!(map.find(5, |_| panic!("all is known"), |_| true), None);
            map.note(range.to, true);
            assert!(map.has_free());
            assert_eq!(map.find(5, |_| true, |_| true), Some(range.to));
            assert_eq!(map.find(5, |_| true, |_| false), None);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn a_map_agrees_with_a_set(
            from in 0u16..200,
            len in 1u16..300,
            events in proptest::collection::vec((any::<u16>(), any::<bool>(), any::<u32>()), 1..200),
        ) {
            let range = PortRange { from, to: from + len - 1 };
            let map = FreePorts::new(range);
            let mut taken = BTreeSet::new();
            for (at, free, start) in events {
                let port = from + at % len;
                if free {
                    taken.remove(&port);
                } else {
                    taken.insert(port);
                }
                map.note(port, free);
                let found = map.find(start, |port| !taken.contains(&port), |_| true);
                prop_assert_eq!(found.is_some(), taken.len() < usize::from(len));
                prop_assert!(found.is_none_or(|found| contains(range, found) && !taken.contains(&found)));
            }
        }
    }

    #[test]
    fn maps_are_bounded_and_those_that_nobody_asks_for_are_dropped() {
        let (mut maps, free_ports) = (FreePortMaps::default(), SharedFreePorts::default());
        let reply = |host: u32| Tuple { src: Addr::v4(host), protocol: TCP, ..Tuple::default() };
        let range = port_class(5000);
        for host in 0..3 * MAPS as u32 {
            free_ports.begin(&mut maps, PortSpace::of(&reply(host)).unwrap(), range, 0, 2);
        }
        assert_eq!(maps.cached, MAPS);
        assert!(free_ports.lock().len() <= 2 * MAPS);
        let last = PortSpace::of(&reply(3 * MAPS as u32 - 1)).unwrap();
        for _ in 0..3 {
            assert!(maps.get(&last, range).is_some());
            (0..PERIOD).for_each(|_| maps.note(&reply(0), true));
        }
        assert_eq!(maps.cached, 1);
        (0..2 * PERIOD).for_each(|_| maps.note(&reply(0), true));
        assert!(maps.is_empty());
    }

    #[test]
    fn a_worker_that_is_known_to_have_no_port_is_not_asked() {
        let (mut maps, free_ports) = (FreePortMaps::default(), SharedFreePorts::default());
        let reply = Tuple { src: Addr::v4(1), src_port: 80, protocol: TCP, ..Tuple::default() };
        let range = port_class(5000);
        assert_eq!(free_ports.worker_with_free_port(&reply, range, 0, 2, 0), Some(1));
        let map = free_ports.begin(&mut maps, PortSpace::of(&reply).unwrap(), range, 1, 2);
        assert_eq!(free_ports.worker_with_free_port(&reply, range, 0, 2, 0), Some(1));
        assert_eq!(map.find(0, |_| false, |_| true), None);
        assert_eq!(free_ports.worker_with_free_port(&reply, range, 0, 2, 0), None);
        // Workers that no port of the range leads to.
        let one = PortRange { from: 4000, to: 4000 };
        let home = steer(&with_port(reply, 4000), 4);
        for worker in (0..4).filter(|worker| *worker != home) {
            assert_eq!(free_ports.worker_with_free_port(&reply, one, worker, 4, 2), Some(home));
        }
        assert_eq!(free_ports.worker_with_free_port(&reply, one, home, 4, 2), None);
    }
}
