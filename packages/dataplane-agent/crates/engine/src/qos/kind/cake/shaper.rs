//! The shaper: a clock that each packet advances by its time on the link, and the size of a packet on the link.

use tollway_config::dataplane::{Cake, CakeAtm};

use crate::packet::frame::Frame;
use crate::qos::kind::header;
use crate::qos::slab::Waiting;
use crate::qos::token_bucket::{LATENESS, MAX_RATE};
use crate::time::Now;

/// When the next packet may go. A rate of 0 is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clock {
    /// Bits/s.
    rate: u64,
    next: u64,
    /// Remainder of the division by the rate, so that rounding errors do not add up.
    remainder: u64,
}

impl Clock {
    /// Sets the rate, bits/s.
    pub fn set_rate(&mut self, rate: u64) {
        let rate = rate.min(MAX_RATE);
        if rate != self.rate {
            (self.rate, self.remainder) = (rate, 0);
        }
    }

    /// Bits/s.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// When the next packet may go.
    #[inline]
    pub fn next(&self) -> Now {
        Now(if self.rate == 0 { 0 } else { self.next })
    }

    /// Called when a packet arrives while none waits: unused time is not saved up.
    #[inline]
    pub fn start(&mut self, now: Now) {
        if self.next < now.0 {
            (self.next, self.remainder) = (now.0, 0);
        }
    }

    /// Advances the clock by the time that a packet takes.
    #[inline]
    pub fn charge(&mut self, bytes: u64, now: Now) {
        if self.rate == 0 {
            return;
        }
        let earliest = now.0.saturating_sub(LATENESS);
        if self.next < earliest {
            (self.next, self.remainder) = (earliest, 0);
        }
        // A frame has less than 2²⁴ bytes on any link: below 2⁵⁸.
        let time = bytes.min(1 << 24) * 8_000_000_000 + self.remainder;
        self.next = self.next.saturating_add(time / self.rate);
        self.remainder = time % self.rate;
    }
}

/// The size of a packet on the link, beyond its L3 length.
#[derive(Debug, Clone, Copy)]
pub struct Framing {
    overhead: i64,
    mpu: i64,
    atm: CakeAtm,
}

impl Framing {
    /// Framing of the configuration.
    pub fn new(cake: &Cake) -> Self {
        Self { overhead: i64::from(cake.overhead), mpu: i64::from(cake.mpu), atm: cake.atm }
    }

    /// Bytes that a packet of `bytes` L3 bytes takes on the link.
    #[inline]
    pub fn packet(&self, bytes: u64) -> u64 {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX).saturating_add(self.overhead);
        let bytes = bytes.max(self.mpu).max(0).unsigned_abs();
        match self.atm {
            CakeAtm::None => bytes,
            CakeAtm::Atm => bytes.div_ceil(48) * 53,
            CakeAtm::Ptm => bytes + bytes.div_ceil(64),
        }
    }

    /// Bytes that a frame takes, each of its segments on its own.
    #[inline]
    pub fn frame<F: Frame>(&self, waiting: &Waiting<F>) -> u64 {
        if waiting.segments <= 1 {
            return self.packet(waiting.bytes);
        }
        let headers =
            u64::from(waiting.vnet.hdr_len).saturating_sub(header::network_at(waiting.frame.head()));
        let full = headers + u64::from(waiting.vnet.gso_size);
        let whole = u64::from(waiting.segments) - 1;
        let last = waiting.bytes.saturating_sub(whole * full);
        whole * self.packet(full) + self.packet(last)
    }
}

/// Follows the rate at which packets arrive.
#[derive(Debug, Clone, Copy, Default)]
pub struct Autorate {
    /// Bits/s.
    estimate: u64,
    /// When the window began.
    since: Now,
    /// Bytes that have arrived in the window.
    bytes: u64,
    /// When the shaper's rate was last changed.
    taken: Now,
}

/// Shortest and longest time over which a rate is measured, ns. A longer one contains a pause, and is ignored.
const WINDOW: std::ops::RangeInclusive<u64> = 10_000_000..=100_000_000;
/// Time between changes of the shaper's rate, ns.
const RETAKE: u64 = 250_000_000;
/// Lowest rate that is set, bits/s.
const LEAST: u64 = 64_000;

impl Autorate {
    /// Notes a packet that arrives. Returns the new rate of the shaper when it is time to change it: a little below the
    /// rate of arrivals.
    pub fn arrive(&mut self, bytes: u64, initial: u64, now: Now) -> Option<u64> {
        if self.estimate == 0 {
            self.estimate = initial;
        }
        let elapsed = now.0.saturating_sub(self.since.0);
        if elapsed >= *WINDOW.start() {
            if elapsed <= *WINDOW.end() {
                let rate = u128::from(self.bytes) * 8_000_000_000 / u128::from(elapsed);
                self.see(u64::try_from(rate).unwrap_or(u64::MAX).min(MAX_RATE));
            }
            (self.since, self.bytes) = (now, 0);
        }
        self.bytes += bytes;
        if self.estimate == 0 || now.0.saturating_sub(self.taken.0) < RETAKE {
            return None;
        }
        self.taken = now;
        Some((self.estimate - self.estimate / 16).max(LEAST))
    }

    /// Updates the estimate with a measured rate. It rises fast and falls slowly, as it estimates the capacity of the
    /// link, not its load.
    fn see(&mut self, rate: u64) {
        self.estimate = if self.estimate == 0 {
            rate
        } else if rate > self.estimate {
            self.estimate + (rate - self.estimate) / 4
        } else {
            self.estimate - (self.estimate - rate) / 256
        };
    }
}
