//! A hierarchical timing wheel (Varghese and Lauck, 1987): four levels of 64 slots.
//!
//! The deadline in the wheel may be too early: when a slot expires, its owner checks whether its time is really over,
//! and arms the slot again if not. So extending a deadline costs nothing, and a deadline beyond the horizon of 2²⁴
//! ticks expires at the horizon first.

use crate::time::Now;

const LEVELS: usize = 4;
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
const NIL: u32 = u32::MAX;
/// Value of [`Link::next`] of a slot without a deadline.
const UNARMED: u32 = u32::MAX - 1;
/// Number of ticks that the wheel covers.
const HORIZON: u64 = 1 << (BITS * LEVELS as u32);

/// Twelve bytes: there is one for every connection.
#[derive(Debug, Clone, Copy)]
struct Link {
    next: u32,
    previous: u32,
    /// List in the upper eight bits; below it the tick, less whole horizons.
    place: u32,
}

impl Link {
    const fn list(self) -> u16 {
        (self.place >> 24) as u16
    }
}

/// The wheel, with a resolution of `TICK` ns; the caller numbers the slots, beginning with small numbers.
#[derive(Debug)]
pub struct Wheel<const TICK: u64> {
    heads: [u32; LEVELS * SLOTS],
    occupied: [u64; LEVELS],
    links: Vec<Link>,
    /// Tick being worked on; every earlier one is empty.
    cursor: u64,
    armed: usize,
}

/// Memory of a slot, bytes.
pub const SLOT_BYTES: usize = size_of::<Link>();

impl<const TICK: u64> Wheel<TICK> {
    /// A wheel with room for `capacity` slots before it grows.
    pub fn new(capacity: usize) -> Self {
        Self {
            heads: [NIL; LEVELS * SLOTS],
            occupied: [0; LEVELS],
            links: Vec::with_capacity(capacity),
            cursor: 0,
            armed: 0,
        }
    }

    /// Reserves memory for `slots` slots.
    pub fn reserve(&mut self, slots: usize) {
        self.links.reserve(slots.saturating_sub(self.links.len()));
    }

    /// Sets the deadline of `slot`, and replaces an older one. The slot expires at most one tick after its deadline.
    pub fn arm(&mut self, slot: u32, deadline: Now) {
        self.arm_tick(slot, deadline.0.div_ceil(TICK));
    }

    /// Arms `slot` for a deadline, which it meets or exceeds by one tick, unless it is armed for an earlier one.
    pub fn arm_by(&mut self, slot: u32, deadline: Now) {
        let tick = deadline.0.div_ceil(TICK);
        if !self.is_armed_by_tick(slot, tick) {
            self.arm_tick(slot, tick);
        }
    }

    /// Whether `slot` comes up by a deadline, or a tick later.
    #[cfg(test)]
    pub fn is_armed_by(&self, slot: u32, deadline: Now) -> bool {
        self.is_armed_by_tick(slot, deadline.0.div_ceil(TICK))
    }

    /// Prefetches the memory of `slot`.
    #[inline]
    pub fn prefetch(&self, slot: u32) {
        if let Some(link) = self.links.get(slot as usize) {
            tollway_prefetch::fetch(link);
        }
    }

    fn is_armed_by_tick(&self, slot: u32, tick: u64) -> bool {
        self.links.get(slot as usize).is_some_and(|link| {
            let ahead = u64::from(link.place).wrapping_sub(self.cursor) % HORIZON;
            link.next != UNARMED && self.cursor + ahead <= tick
        })
    }

    fn arm_tick(&mut self, slot: u32, tick: u64) {
        while self.links.len() <= slot as usize {
            self.links.push(Link { next: UNARMED, previous: NIL, place: 0 });
        }
        self.disarm(slot);
        self.armed += 1;
        self.link(slot, tick);
    }

    /// Removes the deadline of `slot`.
    pub fn disarm(&mut self, slot: u32) {
        let Some(link) = self.links.get_mut(slot as usize) else { return };
        if link.next == UNARMED {
            return;
        }
        let Link { next, previous, .. } = *link;
        let list = link.list();
        link.next = UNARMED;
        self.armed -= 1;
        if let Some(next) = self.links.get_mut(next as usize) {
            next.previous = previous;
        }
        match self.links.get_mut(previous as usize) {
            Some(previous) => previous.next = next,
            None => self.set_head(list, next),
        }
    }

    /// The next slot whose deadline has passed; it is disarmed.
    pub fn pop(&mut self, now: Now) -> Option<u32> {
        let present = now.0 / TICK;
        loop {
            if self.armed == 0 {
                self.cursor = self.cursor.max(present);
                return None;
            }
            let head = self.head(0, self.cursor);
            if self.cursor <= present && head != NIL {
                self.disarm(head);
                return Some(head);
            }
            if self.cursor >= present {
                return None;
            }
            self.step(present);
        }
    }

    /// Advances the time of the wheel while no slot is armed, so that the next deadline is relative to `now`.
    pub fn follow(&mut self, now: Now) {
        if self.armed == 0 {
            self.cursor = self.cursor.max(now.0 / TICK);
        }
    }

    /// When a slot may expire next.
    pub fn next_deadline(&self) -> Option<Now> {
        let tick = (0..LEVELS).filter_map(|level| self.next_tick(level)).min()?;
        Some(Now(tick.saturating_mul(TICK)))
    }

    /// First tick at which a slot of the level must be processed.
    fn next_tick(&self, level: usize) -> Option<u64> {
        let occupied = self.occupied.get(level).copied().unwrap_or(0);
        if occupied == 0 {
            return None;
        }
        let shift = BITS * level as u32;
        // The slot under the cursor is due on level 0, and a whole turn away on the others.
        let base = (self.cursor >> shift) + u64::from(level > 0);
        let turned = occupied.rotate_right((base % SLOTS as u64) as u32);
        Some((base + u64::from(turned.trailing_zeros())) << shift)
    }

    /// Moves the cursor to the next tick that holds something, at most to `present`.
    fn step(&mut self, present: u64) {
        let next = (0..LEVELS).filter_map(|level| self.next_tick(level)).min().unwrap_or(present);
        self.cursor = next.clamp(self.cursor + 1, present);
        for level in (1..LEVELS).rev() {
            let shift = BITS * level as u32;
            if self.cursor & ((1 << shift) - 1) == 0 {
                self.cascade(level);
            }
        }
    }

    fn cascade(&mut self, level: usize) {
        let list = Self::list(level, self.cursor);
        let mut slot = self.heads.get(usize::from(list)).copied().unwrap_or(NIL);
        self.set_head(list, NIL);
        while let Some(link) = self.links.get(slot as usize).copied() {
            let ahead = u64::from(link.place).wrapping_sub(self.cursor) % HORIZON;
            self.link(slot, self.cursor + ahead);
            slot = link.next;
        }
    }

    fn link(&mut self, slot: u32, tick: u64) {
        let tick = tick.clamp(self.cursor, self.cursor + HORIZON - 1);
        let delta = tick - self.cursor;
        let level =
            (0..LEVELS - 1).find(|level| delta >> (BITS * (*level as u32 + 1)) == 0).unwrap_or(LEVELS - 1);
        let list = Self::list(level, tick);
        let next = self.heads.get(usize::from(list)).copied().unwrap_or(NIL);
        if let Some(link) = self.links.get_mut(slot as usize) {
            *link = Link { next, previous: NIL, place: u32::from(list) << 24 | (tick % HORIZON) as u32 };
        }
        if let Some(next) = self.links.get_mut(next as usize) {
            next.previous = slot;
        }
        self.set_head(list, slot);
    }

    fn list(level: usize, tick: u64) -> u16 {
        (level * SLOTS + ((tick >> (BITS * level as u32)) % SLOTS as u64) as usize) as u16
    }

    fn head(&self, level: usize, tick: u64) -> u32 {
        self.heads.get(usize::from(Self::list(level, tick))).copied().unwrap_or(NIL)
    }

    fn set_head(&mut self, list: u16, slot: u32) {
        let list = usize::from(list);
        if let (Some(head), Some(occupied)) = (self.heads.get_mut(list), self.occupied.get_mut(list / SLOTS))
        {
            *head = slot;
            let bit = 1 << (list % SLOTS);
            *occupied = if slot == NIL { *occupied & !bit } else { *occupied | bit };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(64)))]
        #[test]
        fn comes_up_in_time_and_only_then(
            steps in proptest::collection::vec((0u32..20, 0u64..100_000_000, 0u64..30_000, any::<bool>()), 1..120)
        ) {
            let mut wheel = Wheel::<100_000_000>::new(20);
            let mut deadlines = [None; 20];
            let mut now = 0u64;
            for (slot, ahead_ms, advance_ms, disarm) in steps {
                if disarm {
                    wheel.disarm(slot);
                    deadlines[slot as usize] = None;
                } else {
                    let ahead_ms = ahead_ms >> (slot % 5 * 5);
                    wheel.arm(slot, Now::from_ms(now + ahead_ms));
                    deadlines[slot as usize] = Some(now + ahead_ms);
                }
                now += advance_ms << (slot % 3 * 5);
                let earliest = deadlines.iter().flatten().min().copied();
                let wakes = wheel.next_deadline();
                if let Some(earliest) = earliest {
                    prop_assert!(wakes.unwrap() <= Now::from_ms(earliest + 100));
                }
                while let Some(slot) = wheel.pop(Now::from_ms(now)) {
                    let deadline = deadlines[slot as usize].take().unwrap();
                    prop_assert!(deadline <= now);
                }
                for deadline in deadlines.iter().flatten() {
                    prop_assert!(deadline + 100 > now);
                }
            }
        }
    }
}
