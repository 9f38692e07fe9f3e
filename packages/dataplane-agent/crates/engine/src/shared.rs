//! State shared by all workers of a process. Never locked on the fast path.

use std::collections::{HashSet, VecDeque};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tollway_config::dataplane::RowId;
use tollway_config::protocol::NeighborInfo;

use crate::firewall::address_set::AddressSets;
use crate::flow::directory::Directory;
use crate::flow::epochs::Epochs;
use crate::flow::outside_ports::SharedFreePorts;
use crate::ip::fib::{DynamicRoute, FibFull, Planned, RouteChange};
use crate::ip::neighbor::Neighbors;
use crate::qos::queues::swap::SharedQueues;
use crate::snapshot::Snapshot;
use crate::time::Now;

/// ICMP errors to one target that may follow each other closely, as many as Linux allows (icmp(7),
/// `XRLIM_BURST_FACTOR`): two rounds of a traceroute.
const ERROR_BURST: u32 = 6;
/// Longest distance between errors that is kept, ms: four days. Times are remembered on a circle of 2³² ms, of
/// which a burst takes no more than half.
const MAX_ERROR_INTERVAL_MS: u32 = (1 << 31) / ERROR_BURST;

/// Distance between lines that say that the connection table is full, ns.
const FULL_INTERVAL: u64 = 60_000_000_000;

/// Lines the log ring holds.
pub const LOG_LINES: usize = 1024;
/// Targets whose last ICMP error is remembered.
const RATE_SLOTS: usize = 4096;
/// Distance of ICMP errors to whatever targets in the long run, ns: 1,000 a second, as Linux's icmp_msgs_per_sec.
const ALL_ERRORS_NS: u64 = 1_000_000;
/// How many of them may follow each other closely after a pause.
const ALL_ERRORS_BURST: u64 = 50;

/// A line for `/log`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Comma list, `firewall,info` …
    pub topics: &'static str,
    /// The line.
    pub message: String,
}

#[derive(Debug, Default)]
struct LogRing {
    lines: VecDeque<LogLine>,
    lost: u64,
}

/// Neighbours, the flow directory, what changed in shared tables, who has which queue, ICMP rate limits and the log ring.
#[derive(Debug)]
pub struct Shared {
    workers: u32,
    seed: u64,
    pub(crate) neighbors: Neighbors,
    pub(crate) directory: Arc<Directory>,
    /// Outside ports that workers have free.
    pub(crate) free_ports: Arc<SharedFreePorts>,
    /// What has changed in the tables that all workers read.
    pub epochs: Arc<Epochs>,
    pub(crate) queues: SharedQueues,
    /// Per slot: upper half the target, lower half the time of its last error in ms; targets that share
    /// a slot replace each other.
    errors: Box<[AtomicU64]>,
    /// When the errors to all targets would be due if they had kept their distance, ns.
    all_errors_due: AtomicU64,
    log: Mutex<LogRing>,
    log_pending: AtomicBool,
    /// Packets that opened no connection because the table was full, since the last line that said so.
    refused: AtomicU64,
    /// Time from which on the next one may say so, ns.
    tell_refused: AtomicU64,
    /// What the address lists hold.
    pub address_sets: Arc<AddressSets>,
    /// Wall clock less the clock of [`Now`], ns.
    utc_offset_ns: AtomicI64,
}

impl Shared {
    /// For `workers` engines. `seed` keys the hash functions; take it from the system's random source.
    pub fn new(workers: u32, seed: u64) -> Shared {
        Shared {
            workers,
            seed,
            neighbors: Neighbors::new(),
            directory: Arc::default(),
            free_ports: Arc::default(),
            epochs: Arc::default(),
            queues: SharedQueues::new(workers),
            errors: (0..RATE_SLOTS).map(|_| AtomicU64::new(0)).collect(),
            all_errors_due: AtomicU64::new(0),
            log: Mutex::default(),
            log_pending: AtomicBool::new(false),
            refused: AtomicU64::new(0),
            tell_refused: AtomicU64::new(0),
            address_sets: Arc::new(AddressSets::new(seed)),
            utc_offset_ns: AtomicI64::new(0),
        }
    }

    /// State like this one, for a packet that only might come: what is written to it nobody reads.
    pub(crate) fn fork(&self) -> Shared {
        let error = |slot: &AtomicU64| AtomicU64::new(slot.load(Ordering::Relaxed));
        Shared {
            neighbors: self.neighbors.copy(),
            directory: Arc::new(Directory::over(Arc::clone(&self.directory))),
            free_ports: Arc::clone(&self.free_ports),
            epochs: Arc::clone(&self.epochs),
            errors: self.errors.iter().map(error).collect(),
            all_errors_due: AtomicU64::new(self.all_errors_due.load(Ordering::Relaxed)),
            utc_offset_ns: AtomicI64::new(self.utc_offset_ns()),
            address_sets: Arc::clone(&self.address_sets),
            ..Shared::new(self.workers, self.seed)
        }
    }

    /// Number of engines it was made for.
    pub fn workers(&self) -> u32 {
        self.workers
    }

    /// Says what the wall clock shows at `now`, ns since 1970 UTC; to be told again from time to time, since
    /// people set it.
    pub fn set_wall_clock(&self, now: Now, utc_ns: i64) {
        self.utc_offset_ns.store(utc_ns.wrapping_sub_unsigned(now.0), Ordering::Relaxed);
    }

    /// A packet opened no connection because the table is full: once a minute the log says how many.
    pub(crate) fn connection_refused(&self, now: Now) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        let due = self.tell_refused.load(Ordering::Relaxed);
        let next = now.0.saturating_add(FULL_INTERVAL);
        if now.0 < due
            || self.tell_refused.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return;
        }
        let packets = self.refused.swap(0, Ordering::Relaxed);
        self.log(LogLine {
            topics: "firewall,warning",
            message: format!(
                "the connection table is full; packets dropped that would open a connection: {packets}"
            ),
        });
    }

    pub(crate) fn utc_offset_ns(&self) -> i64 {
        self.utc_offset_ns.load(Ordering::Relaxed)
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Which worker owns flows whose first packets are not steered to it.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The neighbour table.
    pub fn neighbors(&self, now: Now, snapshot: &Snapshot) -> Vec<NeighborInfo> {
        let _ = now;
        let known = |row: RowId| snapshot.interfaces().iter().any(|interface| interface.row == row);
        self.neighbors
            .list()
            .into_iter()
            .filter(|(key, ..)| known(key.0))
            .map(|((interface, address), row, mac, status)| NeighborInfo {
                row,
                interface,
                address: Ipv4Addr::from_bits(address),
                mac_address: mac.map(format_mac),
                status,
            })
            .collect()
    }

    /// Forgets a learned neighbour. `false` when there is none (static entries are configuration).
    pub fn remove_neighbor(&self, interface: RowId, address: Ipv4Addr) -> bool {
        self.neighbors.remove((interface, address.to_bits()))
    }

    /// Makes the routes of a new snapshot those that are followed; to be called just before the workers
    /// take it over. Where both share a table it is changed route by route: every lookup sees a route as
    /// it was or as it is. A table of its own gets the routes that other programs have made.
    ///
    /// # Errors
    /// When there are more different next hops than can be numbered; then some routes may be those
    /// before.
    pub fn take_over_routes(
        &self,
        old: &Snapshot,
        new: &Snapshot,
        routes: Option<&[Planned]>,
    ) -> Result<(), FibFull> {
        if let Some(routes) = routes {
            self.epochs.routes_changed(new.fib().replace_static(routes)?);
        }
        if Arc::ptr_eq(old.fib(), new.fib()) { Ok(()) } else { new.fib().adopt(old.fib()) }
    }

    /// Gives the rules of a new snapshot the lists that they name, and the lists what the configuration holds
    /// in them; to be called just before the workers take it over.
    pub fn take_over_lists(&self, new: &Snapshot) {
        let (lists, contents) = new.lists();
        let numbers = self.address_sets.take_over(lists.names(), contents, &self.epochs);
        lists.bind(&self.address_sets, numbers);
    }

    /// Drops tables of queues that workers compared with those after them, and do not any more. Not for a worker.
    pub fn drop_spent(&self) {
        self.queues.progress.drop_spent();
    }

    /// Takes entries out of address lists whose time is over; to be called about ten times a
    /// second. Looks at no more than `budget` of them.
    pub fn expire_list_entries(&self, now: Now, budget: usize) {
        self.address_sets.expire(now, budget, &self.epochs);
    }

    /// Does to the routes what other programs did to theirs. Says for how many destinations packets go
    /// another way now.
    ///
    /// # Errors
    /// When there are more different next hops than can be numbered; changes before that one are made.
    /// A snapshot with a table of its own has room again.
    pub fn change_routes(&self, snapshot: &Snapshot, changes: &[RouteChange]) -> Result<usize, FibFull> {
        let mut changed = Vec::with_capacity(changes.len());
        let result = snapshot.fib().change(changes, &mut changed);
        let count = changed.len();
        self.epochs.routes_changed(changed);
        result.map(|()| count)
    }

    /// Makes these the routes of other programs; those that stay are not touched. Says for how many
    /// destinations packets go another way now.
    ///
    /// # Errors
    /// As [`Self::change_routes`].
    pub fn replace_dynamic_routes(
        &self,
        snapshot: &Snapshot,
        routes: &[DynamicRoute],
    ) -> Result<usize, FibFull> {
        let key = |route: &DynamicRoute| (route.destination, route.prefix_len, route.metric);
        let wanted: HashSet<_> = routes.iter().map(key).collect();
        let gone = snapshot.fib().dynamic_routes().filter(|route| !wanted.contains(&key(route)));
        let gone = gone.map(|route| {
            let (destination, prefix_len, metric) = key(&route);
            RouteChange::Remove { destination, prefix_len, metric }
        });
        let changes: Vec<RouteChange> =
            gone.chain(routes.iter().copied().map(RouteChange::Replace)).collect();
        self.change_routes(snapshot, &changes)
    }

    fn log_ring(&self) -> MutexGuard<'_, LogRing> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the log lines written since the last call, oldest first. When lines were lost because the
    /// ring was full, the first one says how many.
    pub fn take_log(&self) -> Vec<LogLine> {
        let mut ring = self.log_ring();
        self.log_pending.store(false, Ordering::Relaxed);
        let lost = std::mem::take(&mut ring.lost);
        let head = (lost != 0).then(|| LogLine {
            topics: "firewall,warning",
            message: format!("{lost} log lines were dropped because they came too fast"),
        });
        head.into_iter().chain(ring.lines.drain(..)).collect()
    }

    /// Whether [`Self::take_log`] would return something; one relaxed load.
    pub fn log_pending(&self) -> bool {
        self.log_pending.load(Ordering::Relaxed)
    }

    pub(crate) fn log(&self, line: LogLine) {
        let mut ring = self.log_ring();
        if ring.lines.len() >= LOG_LINES {
            ring.lines.pop_front();
            ring.lost += 1;
        }
        ring.lines.push_back(line);
        self.log_pending.store(true, Ordering::Relaxed);
    }

    /// Whether an ICMP error may be sent to `target` now; notes it if so. `interval_ms` is the distance
    /// between two errors in the long run, 0 allows all. To all targets together go no more than one each
    /// [`ALL_ERRORS_NS`], or a flood of packets whose sources are made up would be answered as one of errors. After a pause [`ERROR_BURST`] may follow each
    /// other closely, so that traceroute(8), which sends its probes together, hears about each of them.
    pub(crate) fn may_send_error(&self, target: u32, interval_ms: u32, now: Now) -> bool {
        if interval_ms == 0 {
            return true;
        }
        let index = (target.wrapping_mul(0x9e37_79b1) >> 20) as usize % RATE_SLOTS;
        let Some(slot) = self.errors.get(index) else { return true };
        let (now_ms, interval_ms) = (now.ms() as u32, interval_ms.min(MAX_ERROR_INTERVAL_MS));
        let next = |old: u64| {
            // The time at which the errors sent so far would be due if they had kept their distance. What is further
            // ahead than they can be lies in the past.
            let known = old != 0 && (old >> 32) as u32 == target;
            let ahead_ms = (old as u32).wrapping_sub(now_ms);
            let ahead_ms = if known && ahead_ms <= interval_ms * ERROR_BURST { ahead_ms } else { 0 };
            // 0 stands for an empty slot, so the stored time is never 0.
            let due = now_ms.wrapping_add(ahead_ms).wrapping_add(interval_ms).max(1);
            (ahead_ms <= interval_ms * (ERROR_BURST - 1)).then_some(u64::from(target) << 32 | u64::from(due))
        };
        slot.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok() && self.may_send_any_error(now)
    }

    fn may_send_any_error(&self, now: Now) -> bool {
        let next = |due: u64| {
            let due = due.max(now.0);
            (due - now.0 < ALL_ERRORS_BURST * ALL_ERRORS_NS).then_some(due.saturating_add(ALL_ERRORS_NS))
        };
        self.all_errors_due.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }
}

/// `aa:bb:cc:dd:ee:ff`.
pub(crate) fn format_mac(mac: [u8; 6]) -> String {
    let [a, b, c, d, e, f] = mac;
    format!("{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_to_many_targets_keep_a_distance_as_well() {
        let shared = Shared::new(1, 0);
        let sent = |targets: std::ops::Range<u32>, at_ms| {
            targets.filter(|target| shared.may_send_error(*target, 10, Now::from_ms(at_ms))).count()
        };
        assert_eq!(sent(0..2000, 1000), ALL_ERRORS_BURST as usize);
        assert_eq!(sent(2000..4000, 1010), 10);
        assert_eq!(sent(0..2000, 9000), ALL_ERRORS_BURST as usize);
        let all = (0..2000).filter(|target| shared.may_send_error(*target, 0, Now::from_ms(9000)));
        assert_eq!(all.count(), 2000, "without a limit");
    }

    #[test]
    fn errors_to_one_target_keep_their_distance() {
        let shared = Shared::new(1, 0);
        let sent = |at_ms| shared.may_send_error(1, 10, Now::from_ms(at_ms));
        assert_eq!((0..20).filter(|_| sent(1000)).count(), ERROR_BURST as usize);
        assert!(shared.may_send_error(2, 10, Now::from_ms(1000)));
        assert!(!sent(1009));
        assert!(sent(1010));
        assert!(!sent(1019));
        assert!(shared.may_send_error(1, 0, Now::from_ms(1019)));
        // After a pause the burst is whole again, and no larger.
        assert_eq!((0..20).filter(|_| sent(9000)).count(), ERROR_BURST as usize);
    }

    /// What is remembered of a target are 32 bits of milliseconds, which come again after 49.7 days.
    #[test]
    fn errors_to_a_target_are_sent_however_long_ago_the_last_one_was() {
        const DAY_MS: u64 = 86_400_000;
        for interval_ms in [10, 1000, 3_600_000, u32::MAX] {
            for days in [24, 25, 30, 40, 49] {
                let shared = Shared::new(1, 0);
                let sent = |at_ms| shared.may_send_error(1, interval_ms, Now::from_ms(at_ms));
                while sent(DAY_MS) {}
                assert!(sent(DAY_MS + days * DAY_MS), "{interval_ms} ms, {days} days");
            }
        }
        let shared = Shared::new(1, 0);
        let wrap = 1 << 32;
        let sent = |at_ms| shared.may_send_error(1, 1000, Now::from_ms(at_ms));
        assert_eq!((0..20).filter(|_| sent(wrap - 500)).count(), ERROR_BURST as usize);
        assert!(!sent(wrap + 499) && sent(wrap + 500) && !sent(wrap + 1499) && sent(wrap + 1500));
    }

    #[test]
    fn workers_share_the_errors_to_a_target() {
        let shared = Shared::new(4, 0);
        let sent = || (0..1000).filter(|_| shared.may_send_error(1, 10, Now::from_ms(50))).count();
        let all: usize = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|_| scope.spawn(sent)).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        assert_eq!(all, ERROR_BURST as usize);
    }

    #[test]
    fn a_full_log_ring_says_how_many_lines_it_lost() {
        let shared = Shared::new(1, 0);
        assert!(!shared.log_pending());
        for number in 0..LOG_LINES + 5 {
            shared.log(LogLine { topics: "firewall,info", message: number.to_string() });
        }
        assert!(shared.log_pending());
        let lines = shared.take_log();
        assert_eq!(lines.len(), LOG_LINES + 1);
        assert!(lines[0].message.starts_with("5 log lines"));
        assert_eq!(lines[1].message, "5");
        assert!(!shared.log_pending());
    }
}
