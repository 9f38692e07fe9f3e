//! Whether a worker that has run out of frames looks for more of them before it sleeps.
//!
//! To sleep and be woken costs some microseconds on both sides, and a sender that shares the machine pays half of it.
//! Where super-frames follow each other closely, looking is cheaper than that. Small packets gather while
//! the worker sleeps, and many at once cost less each; they are not looked for.

/// How long to look, µs.
const LOOK_US: u64 = 50;
/// Bytes that a turn must have brought for looking to pay, on average.
const HEAVY_TURN: u64 = 8 << 10;
/// Weight of the past in the averages: 7 of 8.
const PAST: u64 = 8;

/// What a worker knows of the rhythm in which frames come. Times are ticks of the cycle counter.
#[derive(Debug)]
pub struct Patience {
    look_for: u64,
    bytes: u64,
    gap: u64,
    idle_since: Option<u64>,
}

impl Patience {
    /// `hz` are ticks per second. With one core a worker that looks only keeps others from what it is
    /// looking for.
    pub fn new(hz: u64, cores: usize) -> Self {
        let look_for = if cores > 1 { hz / 1_000_000 * LOOK_US } else { 0 };
        Self { look_for, bytes: 0, gap: 0, idle_since: None }
    }

    /// A turn ended that received `bytes`. Returns until when to look for more.
    #[inline]
    pub fn turn_ended(&mut self, now: u64, bytes: u64) -> u64 {
        if bytes == 0 {
            return now;
        }
        self.bytes = (self.bytes * (PAST - 1) + bytes) / PAST;
        self.idle_since = Some(now);
        let pays = self.bytes >= HEAVY_TURN && self.gap < self.look_for;
        if pays { now + self.look_for } else { now }
    }

    /// Something is there again, found by looking or by being woken.
    #[inline]
    pub fn found(&mut self, now: u64) {
        let Some(since) = self.idle_since.take() else { return };
        // However long a pause was, a few short ones make up for it.
        let gap = now.saturating_sub(since).min(4 * self.look_for);
        self.gap = (self.gap * (PAST - 1) + gap) / PAST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 2_000;

    /// Whether it looks after turns of `bytes` with pauses of `gap` µs between them.
    fn looks(patience: &mut Patience, turns: u64, bytes: u64, gap: u64) -> bool {
        let (mut now, mut looked) = (0, false);
        for _ in 0..turns {
            looked = patience.turn_ended(now, bytes) > now;
            now += gap * US;
            patience.found(now);
        }
        looked
    }

    #[test]
    fn super_frames_that_follow_each_other_are_looked_for_and_nothing_else() {
        let new = || Patience::new(US * 1_000_000, 2);
        assert!(looks(&mut new(), 20, 60_000, 20));
        assert!(!looks(&mut new(), 20, 60_000, 200));
        assert!(!looks(&mut new(), 20, 120, 5));
        assert!(!looks(&mut Patience::new(US * 1_000_000, 1), 20, 60_000, 20));
        let mut patience = new();
        assert_eq!(patience.turn_ended(7, 0), 7);
        assert!(looks(&mut patience, 20, 60_000, 20));
        assert!(!looks(&mut patience, 20, 60_000, 300));
        // An hour of silence is forgotten within some turns.
        patience.turn_ended(0, 60_000);
        patience.found(3600 * 1_000_000 * US);
        assert!(looks(&mut patience, 20, 60_000, 20));
    }

    #[test]
    fn a_turn_without_frames_is_no_beginning_of_a_pause() {
        let mut patience = Patience::new(US * 1_000_000, 2);
        patience.turn_ended(100, 0);
        patience.found(100 * 1_000_000 * US);
        assert_eq!(patience.gap, 0);
    }
}
