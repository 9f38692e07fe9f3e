//! What passed a queue or a class in the last full second.

use crate::time::Now;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Packets and bytes that passed by some time.
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

/// Counts at the turn of a second. The second in which it was read last is kept by its owner, beside what each packet
/// accesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Meter {
    /// Count at the beginning of that second.
    begin: Passed,
    /// What passed in the second before.
    last: Passed,
}

impl Meter {
    /// What passed in the last full second. `passed` is the count now, `age` the number of seconds since the one in which
    /// the meter was read last.
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

/// Number of the second.
pub fn second(now: Now) -> u32 {
    (now.0 / NS_PER_SECOND) as u32
}
