//! A leaf: its token bucket, its counters and its waiting packets.

use std::mem::offset_of;

use tollway_config::dataplane::{QueueLimit, QueueType};

use super::burst::Burst;
use super::forest::{ClassId, Identity, RowPart};
use super::kind::LeafQdisc;
pub use super::meter::Passed;
use super::meter::{self, Meter};
use super::token_bucket::TokenBucket;
use crate::ids::LeafId;
use crate::random;
use crate::time::Now;

/// The part of a leaf that every packet accesses; one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Leaf {
    /// Token bucket, which decides when packets may be sent.
    pub bucket: TokenBucket,
    /// Class of the leaf in the current configuration.
    pub class: ClassId,
    /// L3 bytes that passed.
    bytes: u64,
    /// Wire segments that passed.
    packets: u64,
    /// Bits 8 to 31: second in which [`LeafQueue::meter`] was last updated. Bits 0 to 7: [`leaf_flag`].
    second_and_flags: u32,
    /// Wire segments that wait; [`UNOWNED`] while another worker may own the queue.
    pub waiting: u32,
}

/// Flags of a leaf. A leaf without any flag has a token bucket of its own, and a packet passes at once if none waits
/// and the bucket has tokens.
pub mod leaf_flag {
    /// The leaf has a parent class: the tokens of the class tree decide, not the leaf's bucket.
    pub const TREE: u32 = 1;
    /// Every packet goes through the queue kind, even when none waits.
    pub const EVERY_PACKET: u32 = 2;
    /// The leaf has bursts.
    pub const BURST: u32 = 4;
    /// Events of the leaf are recorded: see `queues/watch.rs`.
    pub const WATCHED: u32 = 8;
    /// The port to which the leaf sends accepts no packets.
    pub const BLOCKED: u32 = 16;
    /// Every bit.
    pub const ALL: u32 = 0xff;
}

const SECOND_BITS: u32 = 24;
const SECONDS: u32 = (1 << SECOND_BITS) - 1;

/// Value of [`Leaf::waiting`] while this worker does not own the queue.
pub const UNOWNED: u32 = u32::MAX;

const _: () = assert!(size_of::<Leaf>() == 64);

/// The part of a leaf that is accessed when packets wait, once a second, and by queries. An enqueue needs the first
/// cache line, a dequeue the first two.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct LeafQueue {
    /// The packets, and the discipline of its queue type.
    pub kind: LeafQdisc,
    /// Previous leaf in the list of leaves of the same length class; see [`super::longest`].
    pub previous: LeafId,
    /// Next leaf in that list.
    pub next: LeafId,
    /// Length class in which the leaf is listed; see [`super::longest`].
    pub listed: u8,
    /// Position on the paths of packets: see [`Class::rank`](super::forest::Class::rank).
    pub rank: u8,
    /// Scheduling of the leaf.
    pub scheduled: Scheduled,
    /// Index of the leaf's row among the rows of the current configuration.
    pub row: u32,
    waits: Waits,
    /// Identity of the leaf's class.
    pub identity: Identity,
    /// Bursts, of a leaf that has a bucket of its own.
    pub burst: Option<Box<Burst>>,
    /// Highest rate without bursts, bits/s.
    pub max_limit: u64,
    /// Wire segments dropped.
    pub dropped: u64,
    /// Counters as they stood at the last reset.
    reset: Passed,
    /// Wire segments marked, at the last reset.
    marked: u64,
    meter: Meter,
    /// TCP wire segments that arrived at the leaf out of order.
    pub out_of_order: u64,
}

const _: () = assert!(size_of::<LeafQueue>() == 192 && offset_of!(LeafQueue, waits) == 64);

/// Scheduling of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduled {
    /// Not scheduled: nothing waits.
    No,
    /// A timer is armed in the timing wheel.
    Timer,
    /// The leaf is in the list of leaves that are due.
    Due,
}

/// Waiting times of packets that left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waited {
    /// Sum of the waiting times, µs.
    sum: u64,
    /// Frames.
    frames: u32,
    /// Longest, µs.
    pub longest: u32,
}

impl Waited {
    /// Average, µs.
    pub fn average(self) -> u32 {
        u32::try_from(self.sum.checked_div(u64::from(self.frames)).unwrap_or(0)).unwrap_or(u32::MAX)
    }

    fn note(&mut self, micros: u32) {
        self.sum += u64::from(micros);
        self.frames = self.frames.saturating_add(1);
        self.longest = self.longest.max(micros);
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Waits {
    /// Waiting times in the current second of the meter.
    begun: Waited,
    /// Waiting times in the second before.
    last: Waited,
}

impl Leaf {
    /// A leaf with a full bucket. This worker does not own its queue yet.
    pub fn new(class: ClassId, limit: &QueueLimit, now: Now) -> Self {
        Self {
            bucket: TokenBucket::new(limit.max_limit, limit.bucket_ms, now),
            class,
            bytes: 0,
            packets: 0,
            second_and_flags: second(now) << 8,
            waiting: UNOWNED,
        }
    }

    /// Whether any of these bits of [`leaf_flag`] is set.
    #[inline]
    pub fn is(&self, bits: u32) -> bool {
        self.second_and_flags & bits != 0
    }

    /// Sets or clears bits of [`leaf_flag`].
    pub fn set(&mut self, bits: u32, on: bool) {
        if on { self.second_and_flags |= bits } else { self.second_and_flags &= !bits }
    }

    fn second(&self) -> u32 {
        self.second_and_flags >> 8
    }

    /// Seconds since the second in which the meter was last updated.
    fn age(&self, now: Now) -> u32 {
        second(now).wrapping_sub(self.second()) & SECONDS
    }

    /// Whether another worker may own the queue.
    #[inline]
    pub fn is_unowned(&self) -> bool {
        self.waiting == UNOWNED
    }

    /// Wire segments that wait at this worker.
    pub fn queued(&self) -> u32 {
        if self.is_unowned() { 0 } else { self.waiting }
    }

    /// Counts a packet that is sent, and charges the bucket.
    #[inline]
    pub fn pass(&mut self, segments: u32, bytes: u64) {
        self.bucket.charge(bytes);
        self.count(segments, bytes);
    }

    /// Counts a packet that is sent. The caller charges it to the class tree.
    #[inline]
    pub fn count(&mut self, segments: u32, bytes: u64) {
        self.bytes = self.bytes.wrapping_add(bytes);
        self.packets = self.packets.wrapping_add(u64::from(segments));
    }

    /// Whether a new second has begun for its meter.
    #[inline]
    pub fn meter_is_due(&self, now: Now) -> bool {
        self.second() != second(now)
    }

    /// Packets and bytes that passed so far.
    pub fn passed(&self) -> Passed {
        Passed { packets: self.packets, bytes: self.bytes }
    }
}

impl LeafQueue {
    /// An empty queue. `salt`: see [`Self::seed`].
    pub fn new(identity: Identity, row: u32, kind: &QueueType, salt: u64) -> Self {
        Self {
            kind: LeafQdisc::new(kind, seed(identity, salt)),
            previous: LeafId::NONE,
            next: LeafId::NONE,
            listed: 0,
            rank: 0,
            scheduled: Scheduled::No,
            row,
            waits: Waits::default(),
            identity,
            burst: None,
            max_limit: 0,
            dropped: 0,
            reset: Passed::default(),
            marked: 0,
            meter: Meter::default(),
            out_of_order: 0,
        }
    }

    /// Begins a new second of the meter: the counts of the present one become those of the last second.
    pub fn begin_second(&mut self, hot: &mut Leaf, now: Now) {
        self.meter.begin_second(hot.age(now), hot.passed());
        self.waits = Waits { begun: Waited::default(), last: self.waited(hot, now) };
        hot.second_and_flags = second(now) << 8 | hot.second_and_flags & leaf_flag::ALL;
    }

    /// Prefetches what an enqueue needs.
    #[inline]
    pub fn prefetch(&self) {
        tollway_prefetch::fetch_to_write(&self.kind);
    }

    /// Prefetches the cache line that a dequeue needs in addition to that of [`Self::prefetch`].
    #[inline]
    pub fn prefetch_waits(&self) {
        tollway_prefetch::fetch_to_write(&self.waits);
    }

    /// Seed of the hash and of the random numbers of the queue kind. `salt` is secret: with a known hash an attacker
    /// could choose flows that share a sub-queue with another host's flow.
    pub fn seed(&self, salt: u64) -> u64 {
        seed(self.identity, salt)
    }

    /// Whether it is the queue of an interface.
    pub fn is_port(&self) -> bool {
        self.identity.part == RowPart::Interface
    }

    /// Sets the rate of the bucket to what bursts allow now.
    #[inline]
    pub fn apply_burst(&mut self, hot: &mut Leaf, now: Now) {
        if let Some(burst) = &mut self.burst
            && burst.advance(now)
        {
            hot.bucket.set_rate(burst.ceiling(self.max_limit), now, hot.queued() != 0);
        }
    }

    /// Counts a packet that is sent, and charges the bucket.
    #[inline]
    pub fn pass(&mut self, hot: &mut Leaf, segments: u32, bytes: u64) {
        hot.pass(segments, bytes);
        if let Some(burst) = &mut self.burst {
            burst.count(bytes);
        }
    }

    /// Notes how long a frame that leaves now has waited, µs.
    pub fn note_wait(&mut self, micros: u32) {
        self.waits.begun.note(micros);
    }

    /// Waiting times of packets that left in the last full second.
    pub fn waited(&self, hot: &Leaf, now: Now) -> Waited {
        match hot.age(now) {
            0 => self.waits.last,
            1 => self.waits.begun,
            _ => Waited::default(),
        }
    }

    /// Wire segments marked since the counters were reset.
    pub fn marked(&self) -> u64 {
        self.kind.marked().wrapping_sub(self.marked)
    }

    /// Replaces the queue by one of another kind, which holds the waiting packets already. Returns the old one.
    pub fn replace(&mut self, kind: LeafQdisc) -> LeafQdisc {
        // The count of marked segments continues across the replacement.
        self.marked = self.marked.wrapping_sub(self.kind.marked());
        std::mem::replace(&mut self.kind, kind)
    }

    /// Packets and bytes of the last full second.
    pub fn last_second(&self, hot: &Leaf, now: Now) -> Passed {
        self.meter.last_second(hot.age(now), hot.passed())
    }

    /// Packets and bytes since the counters were reset.
    pub fn passed(&self, hot: &Leaf) -> Passed {
        hot.passed().since(self.reset)
    }

    /// Sets the counters to zero.
    pub fn reset(&mut self, hot: &Leaf) {
        self.reset = hot.passed();
        self.marked = self.kind.marked();
        (self.dropped, self.out_of_order) = (0, 0);
    }
}

fn second(now: Now) -> u32 {
    meter::second(now) & SECONDS
}

/// Seed of a leaf. It differs between leaves, so that each hashes flows and draws random numbers differently.
fn seed(identity: Identity, salt: u64) -> u64 {
    let name = u64::from(identity.row) << 8 | identity.part as u64;
    random::split_mix((salt ^ name.wrapping_mul(random::STEP)).wrapping_add(random::STEP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::forest::{NO_LIMIT, RowPart};

    #[test]
    fn the_meter_shows_the_last_full_second_and_goes_to_zero_when_idle() {
        let mut hot = Leaf::new(ClassId(0), &NO_LIMIT, Now::from_ms(5_200));
        let name = Identity { row: 1, part: RowPart::Upload };
        let mut queue = LeafQueue::new(name, 0, &QueueType::Pfifo { limit: 10 }, 0);
        let pass = |hot: &mut Leaf, queue: &mut LeafQueue, ms| {
            let now = Now::from_ms(ms);
            if hot.meter_is_due(now) {
                queue.begin_second(hot, now);
            }
            hot.pass(1, 100);
        };
        pass(&mut hot, &mut queue, 5_900);
        let bytes = |hot: &Leaf, queue: &LeafQueue, ms| queue.last_second(hot, Now::from_ms(ms)).bytes;
        assert_eq!(bytes(&hot, &queue, 5_999), 0);
        assert_eq!(bytes(&hot, &queue, 6_000), 100);
        pass(&mut hot, &mut queue, 6_100);
        pass(&mut hot, &mut queue, 6_200);
        assert_eq!(bytes(&hot, &queue, 6_900), 100);
        assert_eq!(bytes(&hot, &queue, 7_500), 200);
        assert_eq!(bytes(&hot, &queue, 8_000), 0);
        pass(&mut hot, &mut queue, 9_100);
        assert_eq!(bytes(&hot, &queue, 9_200), 0);
        assert_eq!(bytes(&hot, &queue, 10_200), 100);
        queue.reset(&hot);
        assert_eq!(queue.passed(&hot), Passed::default());
        assert_eq!(bytes(&hot, &queue, 10_200), 100);
    }
}
