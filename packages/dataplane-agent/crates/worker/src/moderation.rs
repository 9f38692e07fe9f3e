//! Whether a worker that has run out of frames sleeps for a fixed while, and not until the next frame comes.
//!
//! To be woken costs some microseconds, on the side of whoever wakes too, and a worker that is woken by the first packet
//! of many finds one or two and is out of them again. Network cards moderate their interrupts for that reason
//! (ethtool(8), `--coalesce`); a virtual link has nobody who does. Where small packets come in numbers the worker therefore
//! looks for them every now and then, and nobody has to wake it: neither the kernel nor a worker that hands packets over. Who
//! hands over in such a time tells a worker that sleeps all the same only after a nap, for mostly it is woken by frames of its own.

use std::time::Duration;

/// How long the worker then sleeps, and what it may add to a packet's way through each worker.
pub const NAP: Duration = Duration::from_micros(NAP_US);
const NAP_US: u64 = 100;
/// Time over which packets are counted, at least, µs.
const WINDOW_US: u64 = 1_000;
/// So many packets must come in the time of a nap for it to pay, on average.
const FEWEST: u64 = 4;
/// Average length of packets, bytes, from which on they are not small: fewer of them make as much work, and
/// congestion control feels the delay.
const SMALL: u64 = 512;

/// What a worker knows of the pace at which frames come. Times are ticks of the cycle counter.
#[derive(Debug)]
pub struct Moderation {
    window: u64,
    nap: u64,
    since: u64,
    packets: u64,
    bytes: u64,
    is_dense: bool,
    /// Something came since the last look.
    came: bool,
}

impl Moderation {
    /// `hz` are ticks per second.
    pub const fn new(hz: u64) -> Self {
        let us = hz / 1_000_000;
        Self {
            window: us * WINDOW_US,
            nap: us * NAP_US,
            since: 0,
            packets: 0,
            bytes: 0,
            is_dense: false,
            came: false,
        }
    }

    /// Counts what came from a port or from another worker.
    #[inline]
    pub const fn came(&mut self, packets: u64, bytes: u64) {
        self.packets += packets;
        self.bytes += bytes;
        self.came |= packets != 0;
    }

    /// Whether small packets come in numbers.
    #[inline]
    pub const fn is_dense(&self) -> bool {
        self.is_dense
    }

    /// Length of a nap, ticks.
    pub const fn nap(&self) -> u64 {
        self.nap
    }

    /// Whether a worker that has run out of frames is to take a nap. Not after one in which nothing came: the next frame
    /// then wakes it.
    #[inline]
    pub fn naps(&mut self, now: u64) -> bool {
        let elapsed = now.saturating_sub(self.since);
        if elapsed >= self.window {
            let is_small = self.bytes < self.packets.saturating_mul(SMALL);
            self.is_dense =
                is_small && self.packets.saturating_mul(self.nap) >= elapsed.saturating_mul(FEWEST);
            (self.since, self.packets, self.bytes) = (now, 0, 0);
        }
        std::mem::take(&mut self.came) && self.is_dense
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 2_000;

    /// How many of `turns`, `gap` µs apart and with so many packets each, ended with a nap.
    fn naps(
        moderation: &mut Moderation,
        from: u64,
        turns: u64,
        gap: u64,
        (packets, length): (u64, u64),
    ) -> u64 {
        let turn = |turn: u64| {
            moderation.came(packets, packets * length);
            u64::from(moderation.naps((from + turn * gap) * US))
        };
        (1..=turns).map(turn).sum()
    }

    #[test]
    fn small_packets_in_numbers_are_waited_for_and_nothing_else() {
        let new = || Moderation::new(US * 1_000_000);
        // All but those of the first millisecond, in which the pace was not known.
        assert_eq!(naps(&mut new(), 0, 200, 100, (10, 60)), 191);
        assert_eq!(naps(&mut new(), 0, 2_000, 10, (1, 60)), 1_901);
        assert_eq!(naps(&mut new(), 0, 200, 200, (1, 98)), 0, "a ping, often");
        assert_eq!(naps(&mut new(), 0, 2_000, 10, (45, 45 * 1_500)), 0, "super-frames");
        assert_eq!(naps(&mut new(), 0, 200, 100, (10, 1_500)), 0);
        assert_eq!(naps(&mut new(), 0, 200, 10_000, (64, 60)), 0, "bursts that are rare");
    }

    #[test]
    fn after_a_nap_without_packets_the_next_one_wakes() {
        let mut moderation = Moderation::new(US * 1_000_000);
        assert!(naps(&mut moderation, 0, 20, 100, (10, 60)) > 0);
        assert!(!moderation.naps(2_100 * US));
        moderation.came(1, 60);
        assert!(moderation.naps(2_200 * US));
        assert!(!moderation.naps(2_300 * US));
        // And after a pause the pace has to show again.
        moderation.came(1, 60);
        assert!(!moderation.naps(9_000 * US));
    }
}
