//! The rate of ICMP redirects to one sender, which all workers share: as Linux's `ip_rt_send_redirect`.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::time::Now;

/// Number of senders that are remembered.
const SENDERS: usize = 1024;
/// Unit of the times that are kept, ms.
const UNIT_MS: u64 = 10;
/// Bits of a time: it wraps around after 31 days.
const TIME_BITS: u32 = 28;
const TIME_MASK: u64 = (1 << TIME_BITS) - 1;
/// Most redirects to a sender that does not follow them.
const MOST: u64 = 9;
/// Interval after the first redirect, in units; each later one is twice as long.
const INTERVAL: u64 = 4;
/// Silence after which a sender gets redirects again, in units: 20.48 s.
const SILENCE: u64 = 2048;
/// Units after which the time of a sender that gets no more redirects is renewed.
const RENEWAL: u64 = 100;

/// When each sender got its last redirect, and how many.
#[derive(Debug)]
pub(crate) struct RedirectRate {
    /// Per slot: upper half the sender, then 4 bits of count, and [`TIME_BITS`] of time. 0 is empty. Senders that share
    /// a slot replace each other.
    senders: Box<[AtomicU64]>,
}

impl Default for RedirectRate {
    fn default() -> Self {
        Self { senders: (0..SENDERS).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl RedirectRate {
    /// A copy in its present state.
    pub(crate) fn copy(&self) -> Self {
        let copy = |slot: &AtomicU64| AtomicU64::new(slot.load(Ordering::Relaxed));
        Self { senders: self.senders.iter().map(copy).collect() }
    }

    fn slot(&self, sender: u32) -> Option<&AtomicU64> {
        self.senders.get((sender.wrapping_mul(0x9e37_79b1) >> 22) as usize % SENDERS)
    }

    /// Whether a redirect to a sender is due: up to [`MOST`] at growing intervals, and again after [`SILENCE`] without a
    /// packet that calls for one.
    pub(crate) fn is_due(&self, sender: u32, now: Now) -> bool {
        let Some(slot) = self.slot(sender) else { return false };
        let old = slot.load(Ordering::Relaxed);
        let (due, new) = step(old, sender, now);
        if !due && new != old {
            let _ = slot.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed);
        }
        due
    }

    /// As [`Self::is_due`], and counts the redirect.
    pub(crate) fn may_send(&self, sender: u32, now: Now) -> bool {
        let Some(slot) = self.slot(sender) else { return false };
        let mut is_due = false;
        let count = |old| {
            let (due, new) = step(old, sender, now);
            is_due = due;
            (new != old).then_some(new)
        };
        let _ = slot.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        is_due
    }
}

/// Whether a redirect is due, and the state of its slot after it is sent or not.
fn step(old: u64, sender: u32, now: Now) -> (bool, u64) {
    let now = (now.ms() / UNIT_MS) & TIME_MASK;
    let age = now.wrapping_sub(old) & TIME_MASK;
    let known = old != 0 && (old >> 32) as u32 == sender && age <= SILENCE;
    let count = if known { (old >> TIME_BITS) & 15 } else { 0 };
    let state = |count: u64| u64::from(sender) << 32 | count << TIME_BITS | now;
    match count {
        0 => (true, state(1)),
        MOST.. => (false, if age >= RENEWAL { state(count) } else { old }),
        _ if age >= INTERVAL << (count - 1) => (true, state(count + 1)),
        _ => (false, old),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_redirects_at_growing_intervals_and_again_after_silence() {
        let rate = RedirectRate::default();
        let mut sent = Vec::new();
        for ms in (1_000..60_000).step_by(10) {
            let due = rate.is_due(7, Now::from_ms(ms));
            assert_eq!(due, rate.may_send(7, Now::from_ms(ms)));
            if due {
                sent.push(ms - 1_000);
            }
        }
        assert_eq!(sent, [0, 40, 120, 280, 600, 1_240, 2_520, 5_080, 10_200]);
        assert!(rate.may_send(8, Now::from_ms(60_000)), "another sender");
        assert!(!rate.is_due(7, Now::from_ms(79_000)));
        assert!(rate.is_due(7, Now::from_ms(79_000 + 20_490)));
        assert!(rate.may_send(7, Now::from_ms(79_000 + 20_490)));
    }
}
