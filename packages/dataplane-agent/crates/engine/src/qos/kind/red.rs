//! Random early detection (S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993).

use tollway_config::dataplane::QueueType;

use super::frame_queue::FrameQueue;
use super::random::Random;
use super::{Dequeued, Load, Qdisc};
use crate::packet::frame::Frame;
use crate::qos::slab::{NodeId, NodeQueue, Slab};
use crate::time::Now;

/// Fraction bits of averages and probabilities.
const FRACTION: u32 = 32;
/// Share of packets that are dropped when the average is just below the upper threshold: 1/50, as in the paper
/// (§6) and tc-red(8).
const MAX_PROBABILITY: u64 = (1 << FRACTION) / 50;
/// Rate at which an idle time is converted into packets before a rate has been measured, bits/s: the default of
/// tc-red(8).
const DEFAULT_RATE: u64 = 10_000_000;
/// After an idle time of more packets than this the average is zero.
const FORGOTTEN: u64 = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parameters {
    limit: u32,
    min: u32,
    max: u32,
    avg_packet: u32,
    /// The weight of a packet in the average is 2 to the power of minus this number.
    weight: u32,
}

impl Parameters {
    fn of(config: &QueueType) -> Option<Self> {
        let &QueueType::Red { limit, min_threshold, max_threshold, burst, avg_packet } = config else {
            return None;
        };
        let weight = weight(burst, min_threshold);
        Some(Self {
            limit,
            min: min_threshold,
            max: max_threshold.max(min_threshold),
            avg_packet: avg_packet.max(1),
            weight,
        })
    }
}

/// The greatest weight, a power of two, with which a burst of so many packets into an empty queue leaves the average
/// below the lower threshold (equation 3 of the paper).
fn weight(burst: u32, min: u32) -> u32 {
    let (burst, min) = (f64::from(burst.min(1 << 20)), f64::from(min));
    let after = |exponent: u32| {
        let weight = f64::from(1u32 << exponent).recip();
        burst + 1.0 + ((1.0 - weight).powf(burst + 1.0) - 1.0) / weight
    };
    (1..24).find(|&exponent| after(exponent) < min).unwrap_or(24)
}

/// The kind.
#[derive(Debug)]
pub struct Red {
    queue: FrameQueue,
    parameters: Parameters,
    /// Average number of packets, fixed point.
    average: u64,
    /// Packets since the last one that was dropped at random; none while the average is low.
    since_drop: Option<u32>,
    /// When the queue became empty.
    idle_since: Option<Now>,
    /// When the queue became busy, and the bytes sent since.
    busy: (Now, u64),
    /// Rate at which the queue was last emptied, bits/s.
    rate: u64,
    random: Random,
}

impl Red {
    /// Updates the average with the queue's length, and with the time for which the queue was empty.
    fn estimate(&mut self, now: Now) {
        if let Some(since) = self.idle_since.take() {
            let packet =
                u128::from(self.parameters.avg_packet) * 8_000_000_000 / u128::from(self.rate.max(1));
            let missed = u128::from(now.0.saturating_sub(since.0)) / packet.max(1);
            let missed = u64::try_from(missed).unwrap_or(u64::MAX).min(FORGOTTEN);
            self.average = decay(self.average, self.parameters.weight, missed);
            self.busy = (now, 0);
        }
        let length = u64::from(self.queue.load().segments.min(1 << 30)) << FRACTION;
        let weight = self.parameters.weight;
        self.average = self.average - (self.average >> weight) + (length >> weight);
    }

    /// Whether a packet of so many wire segments is to be dropped.
    fn drops(&mut self, segments: u32) -> bool {
        let (min, max) =
            (u64::from(self.parameters.min) << FRACTION, u64::from(self.parameters.max) << FRACTION);
        if self.average < min {
            self.since_drop = None;
            return false;
        }
        if self.average >= max {
            self.since_drop = Some(0);
            return true;
        }
        let count = self.since_drop.map_or(0, |count| count.saturating_add(segments));
        let one = u128::from(MAX_PROBABILITY) * u128::from(self.average - min) / u128::from(max - min);
        // Drops are spread evenly: p / (1 − count · p).
        let spread = (1u128 << FRACTION).saturating_sub(u128::from(count) * one);
        let drops = (u128::from(self.random.bits()) * spread) >> FRACTION < one * u128::from(segments);
        self.since_drop = Some(if drops { 0 } else { count });
        drops
    }

    /// Notes a frame that was sent. The rate is measured whenever the queue becomes empty.
    fn sent(&mut self, load: Load, now: Now) {
        self.busy.1 += load.bytes;
        if !self.queue.is_empty() {
            return;
        }
        self.idle_since = Some(now);
        let busy = now.0.saturating_sub(self.busy.0.0);
        let rate = u128::from(self.busy.1) * 8_000_000_000 / u128::from(busy.max(1));
        // Frames that passed an empty queue do not show its rate.
        if busy != 0 && rate != 0 {
            self.rate = u64::try_from(rate).unwrap_or(u64::MAX);
        }
    }
}

/// `average · (1 − 2^−weight)^packets`.
fn decay(average: u64, weight: u32, packets: u64) -> u64 {
    let one = 1u128 << FRACTION;
    let (mut power, mut base, mut packets) = (one, one - (one >> weight), packets);
    while packets != 0 {
        if packets & 1 != 0 {
            power = (power * base) >> FRACTION;
        }
        base = (base * base) >> FRACTION;
        packets >>= 1;
    }
    ((u128::from(average) * power) >> FRACTION) as u64
}

impl Qdisc for Red {
    const DROPS_AT_RANDOM: bool = true;

    fn new(config: &QueueType, seed: u64) -> Option<Self> {
        Parameters::of(config).map(|parameters| Self {
            queue: FrameQueue::default(),
            parameters,
            average: 0,
            since_drop: None,
            idle_since: None,
            busy: (Now(0), 0),
            rate: DEFAULT_RATE,
            random: Random::new(seed),
        })
    }

    fn change(&mut self, config: &QueueType) -> bool {
        let parameters = Parameters::of(config);
        self.parameters = parameters.unwrap_or(self.parameters);
        parameters.is_some()
    }

    fn load(&self) -> Load {
        self.queue.load()
    }

    fn admits(&self, frame: Load, covered: Load) -> bool {
        self.queue.load().minus(covered).plus(frame).segments <= self.parameters.limit
    }

    fn max_segments(&self, _segment_bytes: u64) -> u32 {
        self.parameters.min
    }

    fn enqueue<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        node: NodeId,
        now: Now,
        gone: &mut NodeQueue,
    ) -> NodeId {
        self.estimate(now);
        if self.drops(Load::of(slab, node).segments) {
            gone.push(slab, node);
        } else {
            self.queue.push(slab, node);
        }
        if self.queue.is_empty() {
            self.idle_since = Some(now);
        }
        node
    }

    fn dequeue<F: Frame>(&mut self, slab: &mut Slab<F>, now: Now, _gone: &mut NodeQueue) -> Dequeued {
        let Some((node, load)) = self.queue.pop(slab) else { return Dequeued::Empty };
        self.sent(load, now);
        Dequeued::Packet(node)
    }

    fn take_out<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut NodeQueue,
        pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
    ) -> Load {
        self.queue.take_out(slab, to, pick)
    }

    fn drop_from_longest<F: Frame>(&mut self, slab: &mut Slab<F>, gone: &mut NodeQueue) {
        if let Some((node, _)) = self.queue.pop(slab) {
            gone.push(slab, node);
        }
    }
}
