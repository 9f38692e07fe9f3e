//! Packets and bytes that passed a queue or a class in the last full second.

use crate::time::Now;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Counts of packets and bytes that have passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Passed {
    /// Wire segments.
    pub packets: u64,
    /// L3 bytes.
    pub bytes: u64,
}

impl Passed {
    /// The difference from an earlier count.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            packets: self.packets.wrapping_sub(before.packets),
            bytes: self.bytes.wrapping_sub(before.bytes),
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            packets: self.packets.wrapping_add(other.packets),
            bytes: self.bytes.wrapping_add(other.bytes),
        }
    }
}

/// Counts at the boundaries of seconds. The owner of a meter keeps the second in which the meter was last updated, in a
/// cache line that every packet accesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Meter {
    /// Counts when that second began.
    begin: Passed,
    /// Counts of the second before.
    last: Passed,
}

impl Meter {
    /// Returns the counts of the last full second. `passed` is the total now, `age` the number of seconds since the
    /// second in which the meter was last updated.
    pub fn last_second(&self, age: u32, passed: Passed) -> Passed {
        match age {
            0 => self.last,
            1 => passed.since(self.begin),
            _ => Passed::default(),
        }
    }

    /// Begins another second.
    pub fn begin_second(&mut self, age: u32, passed: Passed) {
        *self = Self { last: self.last_second(age, passed), begin: passed };
    }
}

/// Number of the second in which `now` lies.
pub fn second(now: Now) -> u32 {
    (now.0 / NS_PER_SECOND) as u32
}
