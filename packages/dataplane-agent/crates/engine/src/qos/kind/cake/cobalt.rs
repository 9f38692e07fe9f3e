//! COBALT: CoDel and BLUE together (J. Palmei, S. Gupta, P. Imputato, J. Morton, M. Tahiliani, S. Avallone, D. Täht,
//! "Design and Evaluation of COBALT Queue Qdisc", 2019). CoDel reacts to delay, and decrements its drop count step by
//! step instead of resetting it when the delay is gone. BLUE (W. Feng et al., 2002) drops packets at random when flows
//! do not react to CoDel and fill the queue.

use crate::qos::kind::codel::control_law;
use crate::qos::kind::random::Random;
use crate::time::Now;

/// Increment of the probability of BLUE when the queue is full, and decrement when it is empty: 1/256 and
/// 1/4096 of one.
const INCREMENT: u32 = 1 << 24;
const DECREMENT: u32 = 1 << 20;

/// Parameters that the queues of a tin share, ns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Params {
    /// Delay that is acceptable.
    pub target: u64,
    /// Time within which the delay must fall below the target at least once.
    pub interval: u64,
    /// Time of a full packet on the wire at the tin's rate; 0 without a rate.
    pub packet_time: u64,
}

/// The action to take on a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Nothing.
    None,
    /// Mark it if it can be marked, else drop it.
    Congestion,
    /// Drop it, whether it can be marked or not.
    Overload,
}

/// The state of one queue.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cobalt {
    drop_next: u64,
    count: u32,
    dropping: bool,
    /// Probability of BLUE, in 2⁻³².
    blue: u32,
    /// When the probability of BLUE last changed.
    blue_changed: u64,
}

impl Cobalt {
    /// Called when the queue has overflowed.
    pub fn queue_full(&mut self, params: &Params, now: Now) {
        if now.0.saturating_sub(self.blue_changed) > params.target {
            self.blue = self.blue.saturating_add(INCREMENT);
            self.blue_changed = now.0;
        }
        // The next packet is dropped at once.
        self.dropping = true;
        self.drop_next = now.0;
        self.count = self.count.max(1);
    }

    /// Called when a dequeue has found the queue empty.
    pub fn queue_empty(&mut self, params: &Params, now: Now) {
        if self.blue != 0 && now.0.saturating_sub(self.blue_changed) > params.target {
            self.blue = self.blue.saturating_sub(DECREMENT);
            self.blue_changed = now.0;
        }
        self.dropping = false;
        self.wind_down(params, now);
    }

    /// Whether the state is equivalent to a new one.
    pub fn is_forgotten(&self, params: &Params, now: Now) -> bool {
        self.blue == 0 && (self.count == 0 || self.is_wound_down(params, now))
    }

    /// Decides about a packet that has waited for `delay` ns, in a tin with `flows` flows that always have something to
    /// send.
    pub fn decide(
        &mut self,
        params: &Params,
        delay: u64,
        flows: u32,
        now: Now,
        random: &mut Random,
    ) -> Signal {
        // The time that two packets of each flow take, at least four packets, cannot be avoided.
        let unavoidable = params.packet_time.saturating_mul((u64::from(flows) * 2).max(4));
        let too_long = delay > params.target && delay > unavoidable;
        if too_long {
            if !self.dropping {
                self.dropping = true;
                self.count = self.count.max(1);
                self.drop_next = control_law(now.0, params.interval, self.count);
            }
        } else {
            self.dropping = false;
        }
        let is_due = self.count != 0 && now.0 >= self.drop_next;
        let mut signal = Signal::None;
        if self.dropping && is_due {
            self.count = self.count.saturating_add(1);
            self.drop_next = control_law(self.drop_next, params.interval, self.count);
            signal = Signal::Congestion;
        } else if is_due {
            self.wind_down(params, now);
        }
        if self.blue != 0 && random.bits() < self.blue {
            signal = Signal::Overload;
        }
        signal
    }

    /// Decrements `count` for the time in which nothing was dropped.
    fn wind_down(&mut self, params: &Params, now: Now) {
        if self.is_wound_down(params, now) {
            self.count = 0;
        }
        while self.count != 0 && now.0 >= self.drop_next {
            self.count -= 1;
            self.drop_next = control_law(self.drop_next, params.interval, self.count);
        }
    }

    /// Whether enough time has passed to decrement `count` to zero: the sum of `interval / √k` up to `count` is below
    /// `2 · interval · √count`.
    fn is_wound_down(&self, params: &Params, now: Now) -> bool {
        let steps = now.0.saturating_sub(self.drop_next) / (2 * params.interval).max(1);
        steps.saturating_mul(steps) > u64::from(self.count)
    }

    /// Notes that a packet has passed after [`Self::decide`], marked or not. Drops that were missed are not made up
    /// for.
    pub fn passed(&mut self, now: Now) {
        if self.count != 0 && now.0 > self.drop_next {
            self.drop_next = now.0;
        }
    }
}
