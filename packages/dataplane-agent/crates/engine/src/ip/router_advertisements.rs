//! When routers are advertised (RFC 4861 §6.2): without being asked at random intervals, soon after a solicitation, and
//! a few times that an interface advertises no more. For all workers; one of them sends each.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tollway_config::dataplane::RowId;

use super::neighbor::PROBE_INTERVAL;
use crate::random;
use crate::time::Now;

const SECOND: u64 = 1_000_000_000;
/// Least and largest time between advertisements that nobody has asked for, ns (MinRtrAdvInterval and
/// MaxRtrAdvInterval).
const INTERVAL: [u64; 2] = [200 * SECOND, 600 * SECOND];
/// Number of the first advertisements, and largest time between them, ns (RFC 4861 §10).
const INITIAL: (u8, u64) = (3, 16 * SECOND);
/// Number of advertisements that withdraw something (MAX_FINAL_RTR_ADVERTISEMENTS).
const FINAL: u8 = 3;
/// Least time between two advertisements, ns (MIN_DELAY_BETWEEN_RAS).
const LEAST_DELAY: u64 = 3 * SECOND;
/// Largest delay of an answer, ns (MAX_RA_DELAY_TIME).
const ANSWER_DELAY: u64 = SECOND / 2;
/// Time for which the router is a default router of those who hear it, s (AdvDefaultLifetime).
pub const LIFETIME: u16 = 1_800;
/// Valid and preferred lifetime of addresses in an advertised network, s (AdvValidLifetime, AdvPreferredLifetime).
pub const PREFIX_LIFETIMES: (u32, u32) = (2_592_000, 604_800);

/// A network and its length, bits.
pub type Network = (u128, u8);

/// An interface whose networks are advertised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdvertisingInterface {
    /// Interface row.
    pub row: RowId,
    /// The networks.
    pub networks: Vec<Network>,
}

/// An advertisement to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advertisement {
    /// Interface row.
    pub row: RowId,
    /// The router is no default router of this link any more.
    pub is_final: bool,
    /// Networks that are advertised no more: stations shall open no connection from addresses in them.
    pub withdrawn: Vec<Network>,
}

#[derive(Debug)]
struct Entry {
    networks: Vec<Network>,
    /// `false`: its last advertisements are being sent.
    advertises: bool,
    withdrawn: Vec<Network>,
    /// Advertisements left that withdraw something.
    finals: u8,
    /// Advertisements left at short intervals.
    initial: u8,
    /// When the last one was sent, ns.
    sent: Option<u64>,
    /// When the next one is sent, ns.
    due: u64,
}

impl Entry {
    /// Sends the next one not later than `due`, unless that is too soon after the last.
    fn hasten(&mut self, due: u64) {
        let earliest = self.sent.map_or(0, |sent| sent.saturating_add(LEAST_DELAY));
        self.due = self.due.min(due.max(earliest));
    }
}

#[derive(Debug, Default)]
struct Table {
    entries: HashMap<RowId, Entry>,
    /// Generation of the configuration whose interfaces are in place; `None` before the first.
    synced: Option<u32>,
    random: u64,
}

impl Table {
    /// A pseudo-random time below `limit`, ns.
    fn below(&mut self, limit: u64) -> u64 {
        self.random = self.random.wrapping_add(random::STEP);
        random::split_mix(self.random) % limit
    }
}

/// The schedule.
#[derive(Debug)]
pub struct RouterAdvertisements {
    table: Mutex<Table>,
    next_due: AtomicU64,
}

impl RouterAdvertisements {
    /// Nothing is advertised. `seed` makes the intervals differ from those of other routers.
    pub fn new(seed: u64) -> Self {
        Self {
            table: Mutex::new(Table { random: seed, ..Table::default() }),
            next_due: AtomicU64::new(u64::MAX),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, table: &Table) {
        let due = table.entries.values().map(|entry| entry.due).min();
        self.next_due.store(due.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Takes over the interfaces of a configuration, once per generation. What an interface that is up advertises no
    /// more is withdrawn.
    pub fn sync(
        &self,
        generation: u32,
        wanted: &[AdvertisingInterface],
        is_up: impl Fn(RowId) -> bool,
        now: Now,
    ) {
        let mut guard = self.lock();
        let table = &mut *guard;
        if table.synced == Some(generation) {
            return;
        }
        table.synced = Some(generation);
        table.entries.retain(|row, _| is_up(*row));
        for (row, entry) in &mut table.entries {
            if entry.advertises && wanted.iter().all(|interface| interface.row != *row) {
                entry.advertises = false;
                entry.withdrawn.append(&mut entry.networks);
                entry.finals = FINAL;
                entry.hasten(now.0);
            }
        }
        for interface in wanted {
            // An address is used, and its network advertised, when nobody else has it.
            let soon = now.0.saturating_add(PROBE_INTERVAL).saturating_add(table.below(ANSWER_DELAY));
            let entry = table.entries.entry(interface.row).or_insert_with(|| Entry {
                networks: Vec::new(),
                advertises: false,
                withdrawn: Vec::new(),
                finals: 0,
                initial: 0,
                sent: None,
                due: u64::MAX,
            });
            let gone = entry.networks.iter().filter(|network| !interface.networks.contains(network));
            let gone: Vec<Network> = gone.copied().collect();
            let is_new = |network: &Network| !entry.networks.contains(network);
            if !entry.advertises || interface.networks.iter().any(is_new) {
                entry.initial = INITIAL.0;
                entry.hasten(soon);
            }
            if !gone.is_empty() {
                entry.finals = FINAL;
                entry.withdrawn.extend(gone);
                entry.hasten(now.0);
            }
            entry.withdrawn.retain(|network| !interface.networks.contains(network));
            entry.networks.clone_from(&interface.networks);
            entry.advertises = true;
        }
        self.publish(table);
    }

    /// Takes a solicitation that came by an interface. Returns whether it will be answered.
    pub fn solicited(&self, row: RowId, now: Now) -> bool {
        let mut guard = self.lock();
        let table = &mut *guard;
        let delay = table.below(ANSWER_DELAY);
        let Some(entry) = table.entries.get_mut(&row).filter(|entry| entry.advertises) else { return false };
        entry.hasten(now.0.saturating_add(delay));
        self.publish(table);
        true
    }

    /// The router ends: [`Self::age`] tells each link once that it is no default router any more (RFC 4861 §6.2.5).
    /// Networks stay as they were advertised, as the router may be back soon.
    pub fn end(&self, now: Now) {
        let mut guard = self.lock();
        let table = &mut *guard;
        for entry in table.entries.values_mut().filter(|entry| entry.sent.is_some()) {
            entry.advertises = false;
            entry.withdrawn.clear();
            entry.finals = 1;
            entry.due = now.0;
        }
        self.publish(table);
    }

    /// When [`Self::age`] wants to run next, ns; `u64::MAX` never.
    pub fn next_due(&self) -> u64 {
        self.next_due.load(Ordering::Relaxed)
    }

    /// Calls `send` with what is due. What is due on an interface whose link-local address is not known to be the
    /// router's, of which `is_ready` is false, waits.
    pub fn age(&self, now: Now, is_ready: impl Fn(RowId) -> bool, mut send: impl FnMut(Advertisement)) {
        if now.0 < self.next_due() {
            return;
        }
        let mut guard = self.lock();
        let table = &mut *guard;
        let due: Vec<RowId> =
            table.entries.iter().filter(|(_, entry)| entry.due <= now.0).map(|(row, _)| *row).collect();
        for row in due {
            let regular = INTERVAL[0] + table.below(INTERVAL[1] - INTERVAL[0]);
            let Some(entry) = table.entries.get_mut(&row) else { continue };
            if entry.advertises && !is_ready(row) {
                entry.due = now.0.saturating_add(PROBE_INTERVAL);
                continue;
            }
            let withdrawn = if entry.finals == 0 { Vec::new() } else { entry.withdrawn.clone() };
            send(Advertisement { row, is_final: !entry.advertises, withdrawn });
            entry.sent = Some(now.0);
            entry.finals = entry.finals.saturating_sub(1);
            if entry.finals == 0 {
                entry.withdrawn.clear();
                if !entry.advertises {
                    table.entries.remove(&row);
                    continue;
                }
            }
            let longest = match (entry.finals, entry.initial) {
                (0, 0) => u64::MAX,
                (0, _) => INITIAL.1,
                _ => LEAST_DELAY,
            };
            entry.initial = entry.initial.saturating_sub(1);
            entry.due = now.0.saturating_add(regular.min(longest));
        }
        self.publish(table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK: Network = (0x2001_0db8 << 96, 64);
    const OTHER: Network = (0x2001_0db8_0000_0001 << 64, 64);

    fn interface(networks: &[Network]) -> Vec<AdvertisingInterface> {
        vec![AdvertisingInterface { row: 1, networks: networks.to_vec() }]
    }

    /// What is sent until a time, with the times, ms.
    fn sent(schedule: &RouterAdvertisements, from_ms: u64, until_ms: u64) -> Vec<(u64, Advertisement)> {
        let mut all = Vec::new();
        for ms in from_ms..until_ms {
            schedule.age(Now::from_ms(ms), |_| true, |advertisement| all.push((ms, advertisement)));
        }
        all
    }

    fn schedule() -> RouterAdvertisements {
        let schedule = RouterAdvertisements::new(7);
        schedule.sync(1, &interface(&[NETWORK]), |_| true, Now::from_ms(0));
        schedule
    }

    #[test]
    fn at_the_end_links_are_told_once_that_the_router_is_none_for_them() {
        let schedule = schedule();
        schedule.end(Now::from_ms(10));
        assert_eq!(sent(&schedule, 10, 900), [], "nobody has heard of it");
        assert_eq!(sent(&schedule, 900, 2_000).len(), 1);
        schedule.end(Now::from_ms(2_000));
        let last = Advertisement { row: 1, is_final: true, withdrawn: Vec::new() };
        assert_eq!(sent(&schedule, 2_000, 2_000_000), [(2_000, last)]);
    }

    #[test]
    fn the_first_come_soon_and_all_others_within_the_interval() {
        let all = sent(&schedule(), 0, 4_000_000);
        let times: Vec<u64> = all.iter().map(|(ms, _)| *ms).collect();
        assert!((1_000..=1_500).contains(&times[0]), "{times:?}");
        let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps[..3], [16_000; 3]);
        assert!(gaps[3..].iter().all(|gap| (200_000..=600_000).contains(gap)), "{gaps:?}");
        assert!(gaps[3..].windows(2).any(|pair| pair[0] != pair[1]), "at random");
        assert!(all.iter().all(|(_, one)| !one.is_final && one.withdrawn.is_empty()));
    }

    #[test]
    fn nothing_is_sent_from_an_address_that_another_station_may_have() {
        let schedule = schedule();
        schedule.age(Now::from_ms(2_000), |_| false, |_| panic!("sent"));
        assert_eq!(schedule.next_due(), Now::from_ms(3_000).0);
        assert_eq!(sent(&schedule, 3_000, 3_001).len(), 1);
    }

    #[test]
    fn solicitations_are_answered_soon_but_not_in_rapid_succession() {
        let schedule = schedule();
        sent(&schedule, 0, 40_000);
        assert!(!schedule.solicited(2, Now::from_ms(40_000)), "not by another interface");
        assert!(schedule.solicited(1, Now::from_ms(40_000)));
        let answers = sent(&schedule, 40_000, 41_000);
        assert_eq!(answers.len(), 1);
        assert!(answers[0].0 <= 40_500);
        for ms in 41_000..44_000 {
            schedule.solicited(1, Now::from_ms(ms));
        }
        let more = sent(&schedule, 41_000, 44_000);
        assert_eq!(more.len(), 1);
        assert!(more[0].0 >= answers[0].0 + 3_000);
    }

    #[test]
    fn an_interface_that_advertises_no_more_says_so_three_times() {
        let schedule = schedule();
        sent(&schedule, 0, 2_000);
        schedule.sync(2, &[], |_| true, Now::from_ms(10_000));
        let last = sent(&schedule, 10_000, 1_000_000);
        assert_eq!(last.iter().map(|(ms, _)| *ms).collect::<Vec<_>>(), [10_000, 13_000, 16_000]);
        assert!(last.iter().all(|(_, one)| one.is_final && one.withdrawn == [NETWORK]));
        assert!(!schedule.solicited(1, Now::from_ms(20_000)));
        assert_eq!(schedule.next_due(), u64::MAX);
    }

    #[test]
    fn an_interface_that_is_down_says_nothing() {
        let schedule = schedule();
        schedule.sync(2, &[], |_| false, Now::from_ms(10_000));
        assert_eq!((sent(&schedule, 10_000, 20_000), schedule.next_due()), (vec![], u64::MAX));
    }

    #[test]
    fn a_network_that_is_taken_away_is_withdrawn_and_one_that_comes_is_advertised_soon() {
        let schedule = schedule();
        sent(&schedule, 0, 60_000);
        schedule.sync(2, &interface(&[OTHER]), |_| true, Now::from_ms(60_000));
        let after = sent(&schedule, 60_000, 70_000);
        assert_eq!(after.iter().map(|(ms, _)| *ms).collect::<Vec<_>>(), [60_000, 63_000, 66_000]);
        assert!(after.iter().all(|(_, one)| !one.is_final && one.withdrawn == [NETWORK]));
        // What comes back is withdrawn no more.
        schedule.sync(3, &interface(&[OTHER, NETWORK]), |_| true, Now::from_ms(70_000));
        let back = sent(&schedule, 70_000, 75_000);
        assert_eq!(back.len(), 1);
        assert!(back[0].1.withdrawn.is_empty());
    }
}
