//! Bursts: a queue may send at a higher rate while its recent average rate is low.
//!
//! The averaging period is divided into sixteen slots. When a slot begins, a burst is allowed in it if the average rate
//! of the sixteen slots before it is below the threshold. Used by leaves (`leaf.rs`), classes of trees (`htb/links.rs`,
//! `htb/shared_class.rs`) and PCQ (`kind/pcq.rs`).

use tollway_config::dataplane::QueueLimit;

use crate::time::Now;

const SLOTS: usize = 16;

/// The average, and whether it allows a burst.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Burst {
    /// Bits sent in each of the last sixteen slots, indexed by slot number modulo sixteen. The entry at the index of
    /// the current slot is the oldest.
    slots: [u64; SLOTS],
    /// Sum of all slots, bits.
    sum: u64,
    /// Bits of the current slot.
    current: u64,
    /// Number of the slot: time divided by the length of a slot.
    number: u64,
    /// Length of a slot, ns.
    slot: u64,
    /// A burst is allowed while `sum` is below this number of bits.
    threshold: u64,
    /// Highest rate in a burst, bits/s.
    limit: u64,
    allowed: bool,
}

impl Burst {
    /// `None` if the limit has no bursts.
    pub fn new(limit: &QueueLimit, now: Now) -> Option<Self> {
        if limit.burst_limit == 0 || limit.burst_time_ms == 0 {
            return None;
        }
        let slot = u64::from(limit.burst_time_ms) * 1_000_000 / SLOTS as u64;
        let bits = u128::from(limit.burst_threshold) * u128::from(limit.burst_time_ms) / 1000;
        let threshold = u64::try_from(bits).unwrap_or(u64::MAX);
        Some(Self {
            slots: [0; SLOTS],
            sum: 0,
            current: 0,
            number: now.0 / slot,
            slot,
            threshold,
            limit: limit.burst_limit,
            allowed: threshold > 0,
        })
    }

    /// Returns the state for new limits. The average is kept if the averaging period is the same.
    pub fn change(before: Option<Self>, limit: &QueueLimit, now: Now) -> Option<Self> {
        let mut new = Self::new(limit, now)?;
        if let Some(before) = &before {
            new.restore(before);
        }
        Some(new)
    }

    /// Takes over the average of `left` if its averaging period is the same.
    pub fn restore(&mut self, left: &Self) {
        if left.slot == self.slot {
            *self = Self { threshold: self.threshold, limit: self.limit, ..left.clone() };
            self.allowed = self.sum < self.threshold;
        }
    }

    /// Advances to the slot of `now`. Returns whether [`Self::is_allowed`] has changed.
    #[inline]
    pub fn advance(&mut self, now: Now) -> bool {
        if now.0 < self.ends().0 { false } else { self.advance_slots(now) }
    }

    fn advance_slots(&mut self, now: Now) -> bool {
        let number = now.0 / self.slot;
        // After sixteen empty slots the sum is zero: further ones need not be advanced.
        for slot in self.number..number.min(self.number + SLOTS as u64 + 1) {
            if let Some(oldest) = self.slots.get_mut((slot % SLOTS as u64) as usize) {
                self.sum = self.sum - *oldest + self.current;
                *oldest = std::mem::take(&mut self.current);
            }
        }
        self.number = number;
        let before = std::mem::replace(&mut self.allowed, self.sum < self.threshold);
        before != self.allowed
    }

    /// Counts bytes that pass in the current slot.
    #[inline]
    pub fn count(&mut self, bytes: u64) {
        self.current = self.current.saturating_add(bytes.saturating_mul(8)).min(u64::MAX / 32);
    }

    /// Whether the current slot may have a burst.
    pub const fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// Highest rate now, bits/s, for a queue whose highest rate without bursts is `max_limit`; 0 no limit.
    pub const fn ceiling(&self, max_limit: u64) -> u64 {
        if max_limit == 0 || !self.allowed || self.limit < max_limit { max_limit } else { self.limit }
    }

    /// Average of the last sixteen slots, bits/s.
    pub fn average(&self) -> u64 {
        let time = u128::from(self.slot) * SLOTS as u128;
        u64::try_from(u128::from(self.sum) * 1_000_000_000 / time).unwrap_or(u64::MAX)
    }

    /// When the current slot ends.
    pub const fn ends(&self) -> Now {
        Now((self.number + 1).saturating_mul(self.slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(burst_time_ms: u32) -> QueueLimit {
        QueueLimit {
            limit_at: 0,
            max_limit: 2_000_000,
            burst_limit: 4_000_000,
            burst_threshold: 1_500_000,
            burst_time_ms,
            bucket_ms: 100,
            priority: 8,
            queue_type: 0,
        }
    }

    /// Rates of each slot, bits/s, of two downloads of 32 Mbit that begin at 0 and 17 s.
    fn rates(burst_time_ms: u32, slots: u64) -> Vec<u64> {
        let mut burst = Burst::new(&limit(burst_time_ms), Now(0)).unwrap();
        let mut waiting = 0;
        let slot_ms = u64::from(burst_time_ms) / 16;
        let rate_of_slot = |slot| {
            let now = Now::from_ms(slot * slot_ms);
            burst.advance(now);
            if [0, 17_000].iter().any(|start| (slot * slot_ms..(slot + 1) * slot_ms).contains(start)) {
                waiting += 32_000_000;
            }
            let bits = (burst.ceiling(2_000_000) * slot_ms / 1000).min(waiting);
            waiting -= bits;
            burst.count(bits / 8);
            bits * 1000 / slot_ms
        };
        (0..slots).map(rate_of_slot).collect()
    }

    #[test]
    fn a_burst_of_sixteen_seconds_ends_and_comes_back_as_its_average_says() {
        let mut due = vec![4_000_000; 6];
        due.extend([2_000_000; 4]);
        due.extend([0; 7]);
        due.extend([2_000_000; 3]);
        due.extend([4_000_000; 3]);
        due.extend([2_000_000; 7]);
        due.extend([0; 2]);
        assert_eq!(rates(16_000, 32), due);
    }

    #[test]
    fn a_burst_of_eight_seconds_lasts_three() {
        let rates = rates(8_000, 20);
        assert_eq!(rates[..6], [4_000_000; 6]);
        assert_eq!(rates[6..20], [2_000_000; 14]);
    }

    #[test]
    fn idle_time_of_any_length_empties_the_average() {
        let mut burst = Burst::new(&limit(16_000), Now(0)).unwrap();
        burst.count(10_000_000);
        assert!(burst.advance(Now::from_ms(1000)) && !burst.is_allowed());
        assert_eq!(burst.average(), 5_000_000);
        assert!(!burst.advance(Now::from_ms(16_999)));
        assert!(burst.advance(Now::from_ms(17_000)) && burst.is_allowed());
        assert_eq!(burst.average(), 0);
        burst.count(10_000_000);
        burst.advance(Now(u64::MAX / 2));
        assert_eq!((burst.average(), burst.is_allowed()), (0, true));
    }

    #[test]
    fn at_the_threshold_there_is_no_burst() {
        let mut burst = Burst::new(&limit(16_000), Now(0)).unwrap();
        burst.count(3_000_000 - 1);
        burst.advance(Now::from_ms(1000));
        assert!(burst.is_allowed());
        burst.count(1);
        burst.advance(Now::from_ms(2000));
        assert!(!burst.is_allowed());
        assert_eq!(Burst::new(&QueueLimit { burst_limit: 0, ..limit(16_000) }, Now(0)), None);
    }

    #[test]
    fn another_limit_keeps_the_average_and_another_time_does_not() {
        let mut burst = Burst::new(&limit(16_000), Now(0)).unwrap();
        burst.count(10_000_000);
        burst.advance(Now::from_ms(1000));
        let higher = QueueLimit { burst_threshold: 6_000_000, ..limit(16_000) };
        let changed = Burst::change(Some(burst.clone()), &higher, Now::from_ms(1500)).unwrap();
        assert_eq!((changed.average(), changed.is_allowed()), (5_000_000, true));
        let changed = Burst::change(Some(burst), &limit(8_000), Now::from_ms(1500)).unwrap();
        assert_eq!(changed.average(), 0);
    }
}
