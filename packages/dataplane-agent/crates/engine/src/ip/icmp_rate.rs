//! The rate limit of ICMP errors (RFC 1812 §4.3.2.8), which all workers share.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::time::Now;

/// Burst of ICMP errors to one target, the same as in Linux (icmp(7), `XRLIM_BURST_FACTOR`): two rounds of a
/// traceroute.
const ERROR_BURST: u32 = 6;
/// Longest interval between errors to one target, ms: four days. Times are 32-bit counts of ms that wrap, of which a
/// burst takes no more than half.
const MAX_ERROR_INTERVAL_MS: u32 = (1 << 31) / ERROR_BURST;

/// Number of targets whose last ICMP error is remembered.
const RATE_SLOTS: usize = 4096;
/// Interval of ICMP errors to all targets together, ns: 1,000 a second, as Linux's icmp_msgs_per_sec.
const ALL_ERRORS_NS: u64 = 1_000_000;
/// Maximum burst of errors to all targets together.
const ALL_ERRORS_BURST: u64 = 50;

/// The times of the last ICMP errors, by target and of all together.
#[derive(Debug)]
pub(crate) struct IcmpErrorRate {
    /// Per slot: upper half the target, lower half the time in ms at which its next error is due. Targets that share a
    /// slot replace each other.
    targets: Box<[AtomicU64]>,
    /// When the next error to any target is due, ns.
    all_due: AtomicU64,
}

impl Default for IcmpErrorRate {
    fn default() -> Self {
        Self { targets: (0..RATE_SLOTS).map(|_| AtomicU64::new(0)).collect(), all_due: AtomicU64::new(0) }
    }
}

impl IcmpErrorRate {
    /// A copy in its present state.
    pub(crate) fn copy(&self) -> Self {
        let copy = |slot: &AtomicU64| AtomicU64::new(slot.load(Ordering::Relaxed));
        Self { targets: self.targets.iter().map(copy).collect(), all_due: copy(&self.all_due) }
    }

    /// Whether an ICMP error may be sent to `target` now; if so, it is counted. `interval_ms` is the average interval
    /// of errors to one target, 0 is no limit. To all targets together one error is sent each [`ALL_ERRORS_NS`], so
    /// that a flood with forged sources is not answered with as many errors. After a pause [`ERROR_BURST`] errors may
    /// follow each other at once, so that traceroute(8), which sends its probes together, gets an answer to each of
    /// them.
    pub(crate) fn may_send(&self, target: u32, interval_ms: u32, now: Now) -> bool {
        if interval_ms == 0 {
            return true;
        }
        let index = (target.wrapping_mul(0x9e37_79b1) >> 20) as usize % RATE_SLOTS;
        let Some(slot) = self.targets.get(index) else { return true };
        let (now_ms, interval_ms) = (now.ms() as u32, interval_ms.min(MAX_ERROR_INTERVAL_MS));
        let next = |old: u64| {
            // The time at which the next error is due at the average interval. A time further ahead than a burst
            // reaches is one in the past that has wrapped.
            let known = old != 0 && (old >> 32) as u32 == target;
            let ahead_ms = (old as u32).wrapping_sub(now_ms);
            let ahead_ms = if known && ahead_ms <= interval_ms * ERROR_BURST { ahead_ms } else { 0 };
            // 0 is an empty slot, so the stored time is never 0.
            let due = now_ms.wrapping_add(ahead_ms).wrapping_add(interval_ms).max(1);
            (ahead_ms <= interval_ms * (ERROR_BURST - 1)).then_some(u64::from(target) << 32 | u64::from(due))
        };
        slot.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok() && self.may_send_to_any(now)
    }

    fn may_send_to_any(&self, now: Now) -> bool {
        let next = |due: u64| {
            let due = due.max(now.0);
            (due - now.0 < ALL_ERRORS_BURST * ALL_ERRORS_NS).then_some(due.saturating_add(ALL_ERRORS_NS))
        };
        self.all_due.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_to_many_targets_keep_a_distance_as_well() {
        let rate = IcmpErrorRate::default();
        let sent = |targets: std::ops::Range<u32>, at_ms| {
            targets.filter(|target| rate.may_send(*target, 10, Now::from_ms(at_ms))).count()
        };
        assert_eq!(sent(0..2000, 1000), ALL_ERRORS_BURST as usize);
        assert_eq!(sent(2000..4000, 1010), 10);
        assert_eq!(sent(0..2000, 9000), ALL_ERRORS_BURST as usize);
        let all = (0..2000).filter(|target| rate.may_send(*target, 0, Now::from_ms(9000)));
        assert_eq!(all.count(), 2000, "without a limit");
    }

    #[test]
    fn errors_to_one_target_keep_their_distance() {
        let rate = IcmpErrorRate::default();
        let sent = |at_ms| rate.may_send(1, 10, Now::from_ms(at_ms));
        assert_eq!((0..20).filter(|_| sent(1000)).count(), ERROR_BURST as usize);
        assert!(rate.may_send(2, 10, Now::from_ms(1000)));
        assert!(!sent(1009));
        assert!(sent(1010));
        assert!(!sent(1019));
        assert!(rate.may_send(1, 0, Now::from_ms(1019)));
        // After a pause the burst is whole again, and no larger.
        assert_eq!((0..20).filter(|_| sent(9000)).count(), ERROR_BURST as usize);
    }

    /// State of a target are 32 bits of milliseconds, which come again after 49.7 days.
    #[test]
    fn errors_to_a_target_are_sent_however_long_ago_the_last_one_was() {
        const DAY_MS: u64 = 86_400_000;
        for interval_ms in [10, 1000, 3_600_000, u32::MAX] {
            for days in [24, 25, 30, 40, 49] {
                let rate = IcmpErrorRate::default();
                let sent = |at_ms| rate.may_send(1, interval_ms, Now::from_ms(at_ms));
                while sent(DAY_MS) {}
                assert!(sent(DAY_MS + days * DAY_MS), "{interval_ms} ms, {days} days");
            }
        }
        let rate = IcmpErrorRate::default();
        let wrap = 1 << 32;
        let sent = |at_ms| rate.may_send(1, 1000, Now::from_ms(at_ms));
        assert_eq!((0..20).filter(|_| sent(wrap - 500)).count(), ERROR_BURST as usize);
        assert!(!sent(wrap + 499) && sent(wrap + 500) && !sent(wrap + 1499) && sent(wrap + 1500));
    }

    #[test]
    fn workers_share_the_errors_to_a_target() {
        let rate = IcmpErrorRate::default();
        let sent = || (0..1000).filter(|_| rate.may_send(1, 10, Now::from_ms(50))).count();
        let all: usize = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|_| scope.spawn(sent)).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        assert_eq!(all, ERROR_BURST as usize);
    }
}
