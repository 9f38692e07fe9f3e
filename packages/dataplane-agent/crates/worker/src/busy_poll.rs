//! Busy polling: whether a worker that has no frames left polls for more before it sleeps.
//!
//! To sleep and be woken costs some microseconds on both sides, and a sender that shares the machine pays half of it.
//! Where super-frames follow each other closely, busy polling is cheaper. Small packets accumulate while the worker
//! sleeps, and cost less each in larger batches; for them it sleeps at once.

/// Polling time, µs.
const POLL_US: u64 = 50;
/// Average bytes of a turn from which on polling pays.
const HEAVY_TURN: u64 = 8 << 10;
/// Weight of the past in the moving averages: 7 of 8.
const PAST: u64 = 8;

/// Moving averages of how frames arrive. Times are ticks of the cycle counter.
#[derive(Debug)]
pub struct BusyPoll {
    poll_for: u64,
    bytes: u64,
    gap: u64,
    idle_since: Option<u64>,
}

impl BusyPoll {
    /// `hz` is the number of ticks per second. With a single core there is no polling, as it would take CPU time from
    /// the senders.
    pub fn new(hz: u64, cores: usize) -> Self {
        let poll_for = if cores > 1 { hz / 1_000_000 * POLL_US } else { 0 };
        Self { poll_for, bytes: 0, gap: 0, idle_since: None }
    }

    /// Called when a turn of the worker's loop that received `bytes` has ended. Returns until when to poll for more.
    #[inline]
    pub fn turn_ended(&mut self, now: u64, bytes: u64) -> u64 {
        if bytes == 0 {
            return now;
        }
        self.bytes = (self.bytes * (PAST - 1) + bytes) / PAST;
        self.idle_since = Some(now);
        let pays = self.bytes >= HEAVY_TURN && self.gap < self.poll_for;
        if pays { now + self.poll_for } else { now }
    }

    /// Called when there is work again, found by polling or after a wake-up.
    #[inline]
    pub fn found(&mut self, now: u64) {
        let Some(since) = self.idle_since.take() else { return };
        // Bounded, so that a few short gaps outweigh a long one.
        let gap = now.saturating_sub(since).min(4 * self.poll_for);
        self.gap = (self.gap * (PAST - 1) + gap) / PAST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 2_000;

    /// Whether it polls after turns of `bytes` with gaps of `gap` µs between them.
    fn polls(busy_poll: &mut BusyPoll, turns: u64, bytes: u64, gap: u64) -> bool {
        let (mut now, mut polled) = (0, false);
        for _ in 0..turns {
            polled = busy_poll.turn_ended(now, bytes) > now;
            now += gap * US;
            busy_poll.found(now);
        }
        polled
    }

    #[test]
    fn super_frames_that_follow_each_other_are_polled_for_and_nothing_else() {
        let new = || BusyPoll::new(US * 1_000_000, 2);
        assert!(polls(&mut new(), 20, 60_000, 20));
        assert!(!polls(&mut new(), 20, 60_000, 200));
        assert!(!polls(&mut new(), 20, 120, 5));
        assert!(!polls(&mut BusyPoll::new(US * 1_000_000, 1), 20, 60_000, 20));
        let mut busy_poll = new();
        assert_eq!(busy_poll.turn_ended(7, 0), 7);
        assert!(polls(&mut busy_poll, 20, 60_000, 20));
        assert!(!polls(&mut busy_poll, 20, 60_000, 300));
        // An hour without frames is outweighed within some turns.
        busy_poll.turn_ended(0, 60_000);
        busy_poll.found(3600 * 1_000_000 * US);
        assert!(polls(&mut busy_poll, 20, 60_000, 20));
    }

    #[test]
    fn a_turn_without_frames_does_not_begin_a_gap() {
        let mut busy_poll = BusyPoll::new(US * 1_000_000, 2);
        busy_poll.turn_ended(100, 0);
        busy_poll.found(100 * 1_000_000 * US);
        assert_eq!(busy_poll.gap, 0);
    }
}
