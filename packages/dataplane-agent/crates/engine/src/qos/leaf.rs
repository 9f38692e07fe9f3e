//! One direction of a queue: its bucket, its counters, and what waits.

use tollway_config::dataplane::{QueueLimit, RowId};

use super::Way;
use super::bucket::Bucket;
use super::kind::Pfifo;
use crate::time::Now;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// What every packet touches; one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Leaf {
    /// When packets may go.
    pub bucket: Bucket,
    /// L3 bytes that passed.
    bytes: u64,
    /// Wire segments that passed.
    packets: u64,
    /// Second in which [`Meter::begin`] was read.
    second: u32,
    /// Wire segments that wait; [`AWAY`] while another worker may have the queue.
    pub waiting: u32,
}

/// More than can wait.
pub const AWAY: u32 = u32::MAX;

const _: () = assert!(size_of::<Leaf>() == 64);

/// Packets and bytes that passed by some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Passed {
    /// Wire segments.
    pub packets: u64,
    /// L3 bytes.
    pub bytes: u64,
}

impl Passed {
    fn since(self, before: Self) -> Self {
        Self {
            packets: self.packets.wrapping_sub(before.packets),
            bytes: self.bytes.wrapping_sub(before.bytes),
        }
    }
}

/// What is touched when packets wait, once a second, and when somebody looks.
#[derive(Debug)]
pub struct Backlog {
    /// Row of the queue.
    pub row: RowId,
    /// Its place among this configuration's rows.
    pub entry: u32,
    /// Direction.
    pub way: Way,
    /// The packets.
    pub queue: Pfifo,
    /// L3 bytes that wait.
    pub bytes: u64,
    /// Wire segments dropped.
    pub dropped: u64,
    /// Who wakes the leaf.
    pub wake: WakeBy,
    /// Its neighbours among leaves of like length.
    pub previous: u32,
    /// The same.
    pub next: u32,
    /// Counters as they stood at the last reset.
    reset: Passed,
    meter: Meter,
    /// Packets of other workers; of a queue's first leaf, for both.
    pub foreign: Foreign,
}

/// Packets that other workers handed over.
#[derive(Debug, Clone, Copy, Default)]
pub struct Foreign {
    /// Those that have not left the router, as far as is known.
    pub unsettled: u64,
    /// Those since a packet of this worker's own.
    pub in_a_row: u32,
    /// Packets that had passed when the last one was through.
    pub passed: u64,
}

/// Who wakes a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeBy {
    /// Nobody: nothing waits.
    Nobody,
    /// The wheel.
    Wheel,
    /// It is in the row of those that are due.
    Turn,
}

#[derive(Debug, Clone, Copy, Default)]
struct Meter {
    /// What had passed when the second of the leaf began.
    begin: Passed,
    /// What passed in the second before it.
    last: Passed,
}

impl Leaf {
    /// A leaf with a full bucket, of a queue that this worker has yet to take.
    pub fn new(limit: &QueueLimit, now: Now) -> Self {
        Self {
            bucket: Bucket::new(limit.max_limit, limit.bucket_ms, now),
            bytes: 0,
            packets: 0,
            second: second(now),
            waiting: AWAY,
        }
    }

    /// Whether another worker may have the queue.
    #[inline]
    pub fn is_away(&self) -> bool {
        self.waiting == AWAY
    }

    /// Wire segments that wait at this worker.
    pub fn queued(&self) -> u32 {
        if self.is_away() { 0 } else { self.waiting }
    }

    /// Counts and charges a packet that goes.
    #[inline]
    pub fn pass(&mut self, segments: u32, bytes: u64) {
        self.bucket.charge(bytes);
        self.bytes = self.bytes.wrapping_add(bytes);
        self.packets = self.packets.wrapping_add(u64::from(segments));
    }

    /// Whether a new second has begun for its meter.
    #[inline]
    pub fn meter_is_due(&self, now: Now) -> bool {
        self.second != second(now)
    }

    /// What passed up to now.
    pub fn passed(&self) -> Passed {
        Passed { packets: self.packets, bytes: self.bytes }
    }
}

impl Backlog {
    /// An empty one.
    pub fn new(row: RowId, entry: u32, way: Way, limit: &QueueLimit) -> Self {
        Self {
            row,
            entry,
            way,
            queue: Pfifo::new(limit.packet_limit),
            bytes: 0,
            dropped: 0,
            wake: WakeBy::Nobody,
            previous: u32::MAX,
            next: u32::MAX,
            reset: Passed::default(),
            meter: Meter::default(),
            foreign: Foreign::default(),
        }
    }

    /// Begins another second of the meter.
    pub fn turn_meter(&mut self, leaf: &mut Leaf, now: Now) {
        self.meter.last = self.last_second(leaf, now);
        self.meter.begin = leaf.passed();
        leaf.second = second(now);
    }

    /// What passed in the last full second.
    pub fn last_second(&self, leaf: &Leaf, now: Now) -> Passed {
        match second(now).wrapping_sub(leaf.second) {
            0 => self.meter.last,
            1 => leaf.passed().since(self.meter.begin),
            _ => Passed::default(),
        }
    }

    /// What passed since the counters were reset.
    pub fn passed(&self, leaf: &Leaf) -> Passed {
        leaf.passed().since(self.reset)
    }

    /// Sets the counters to zero.
    pub fn reset(&mut self, leaf: &Leaf) {
        self.reset = leaf.passed();
        self.dropped = 0;
    }
}

fn second(now: Now) -> u32 {
    (now.0 / NS_PER_SECOND) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meter_shows_the_last_full_second_and_goes_to_zero_when_idle() {
        let limit = QueueLimit {
            limit_at: 0,
            max_limit: 0,
            burst_limit: 0,
            burst_threshold: 0,
            burst_time_ms: 0,
            bucket_ms: 100,
            priority: 8,
            queue_type: 0,
            packet_limit: 10,
        };
        let mut leaf = Leaf::new(&limit, Now::from_ms(5_200));
        let mut backlog = Backlog::new(1, 0, Way::Upload, &limit);
        let pass = |leaf: &mut Leaf, backlog: &mut Backlog, ms| {
            let now = Now::from_ms(ms);
            if leaf.meter_is_due(now) {
                backlog.turn_meter(leaf, now);
            }
            leaf.pass(1, 100);
        };
        pass(&mut leaf, &mut backlog, 5_900);
        let bytes = |leaf: &Leaf, backlog: &Backlog, ms| backlog.last_second(leaf, Now::from_ms(ms)).bytes;
        assert_eq!(bytes(&leaf, &backlog, 5_999), 0);
        assert_eq!(bytes(&leaf, &backlog, 6_000), 100);
        pass(&mut leaf, &mut backlog, 6_100);
        pass(&mut leaf, &mut backlog, 6_200);
        assert_eq!(bytes(&leaf, &backlog, 6_900), 100);
        assert_eq!(bytes(&leaf, &backlog, 7_500), 200);
        assert_eq!(bytes(&leaf, &backlog, 8_000), 0);
        pass(&mut leaf, &mut backlog, 9_100);
        assert_eq!(bytes(&leaf, &backlog, 9_200), 0);
        assert_eq!(bytes(&leaf, &backlog, 10_200), 100);
        backlog.reset(&leaf);
        assert_eq!(backlog.passed(&leaf), Passed::default());
        assert_eq!(bytes(&leaf, &backlog, 10_200), 100);
    }
}
