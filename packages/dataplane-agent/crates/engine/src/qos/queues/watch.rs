//! Events of watched queues in each millisecond (see [`tollway_config::protocol::ReplyBody::TokenBucket`]). Other
//! queues have no cost.

use std::collections::VecDeque;

use tollway_config::dataplane::RowId;
use tollway_config::protocol::MAX_TOKEN_BUCKETS;
use tollway_config::protocol::record::{TokenBucketPart, TokenBucketRecord};

use crate::ids::LeafId;
use crate::packet::frame::Frame;
use crate::qos::forest::{Identity, RowPart};
use crate::qos::leaf::leaf_flag;
use crate::qos::queues::Queues;
use crate::time::Now;

/// Milliseconds that are remembered.
const MILLISECONDS: u64 = 4096;
/// Time after the last query for which a row is watched, ns.
const WATCH_TIMEOUT_NS: u64 = 10_000_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// An event of a leaf.
#[derive(Debug, Clone, Copy, Default)]
pub struct Event {
    /// L3 bytes that pass.
    pub passed: u64,
    /// Packets dropped.
    pub dropped: u32,
    /// Time that the passing packet has waited, µs.
    pub wait: u32,
}

/// Counts of one direction in one millisecond.
#[derive(Debug, Clone, Copy, Default)]
struct MillisecondSample {
    passed: u32,
    dropped: u32,
    waiting: u32,
    tokens: i64,
    /// Most tokens that the bucket holds.
    depth: i64,
    longest_wait: u32,
    rate_kbit: u32,
}

impl MillisecondSample {
    /// The sample of the next millisecond, if nothing happens.
    fn next(self) -> Self {
        Self {
            passed: 0,
            dropped: 0,
            longest_wait: 0,
            // Tokens beyond the depth are lost; a bucket that is served late may hold more already.
            tokens: self.tokens.saturating_add(i64::from(self.rate_kbit)).min(self.depth.max(self.tokens)),
            ..self
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Millisecond {
    index: u64,
    directions: [MillisecondSample; 2],
}

#[derive(Debug)]
struct Watch {
    row: Identity,
    asked: Now,
    milliseconds: VecDeque<Millisecond>,
}

/// The rows that are watched.
#[derive(Debug, Default)]
pub struct Watches {
    all: Vec<Watch>,
    /// Time of the last event.
    pub now: Now,
}

impl Watches {
    /// Whether a row is watched.
    pub fn has(&self, row: Identity) -> bool {
        self.all.iter().any(|watch| watch.row == row)
    }
}

impl Watch {
    /// Returns the entry of the current millisecond. Adds entries for the milliseconds since the last one if packets
    /// waited.
    fn current(&mut self, now: Now) -> Option<&mut Millisecond> {
        let index = now.0 / NS_PER_MS;
        while let Some(last) = self.milliseconds.back().copied().filter(|last| last.index < index) {
            let waits = last.directions.iter().any(|direction| direction.waiting != 0);
            let near = index - last.index <= MILLISECONDS;
            let next = if waits && near { last.index + 1 } else { index };
            self.push(Millisecond { index: next, directions: last.directions.map(MillisecondSample::next) });
        }
        if self.milliseconds.is_empty() {
            self.push(Millisecond { index, ..Millisecond::default() });
        }
        self.milliseconds.back_mut()
    }

    fn push(&mut self, millisecond: Millisecond) {
        if self.milliseconds.len() as u64 >= MILLISECONDS {
            self.milliseconds.pop_front();
        }
        self.milliseconds.push_back(millisecond);
    }
}

impl<F: Frame> Queues<F> {
    /// Notes what happens at a leaf that is watched.
    #[cold]
    pub(super) fn record_event(&mut self, leaf: LeafId, event: Event) {
        let now = self.watches.now;
        let (Some(hot), Some(queue)) =
            (self.leaves.get_mut(leaf.index()), self.leaf_queues.get(leaf.index()))
        else {
            return;
        };
        let Identity { part, .. } = queue.identity;
        let row = queue.identity.first();
        let Some(at) = self.watches.all.iter().position(|watch| watch.row == row) else {
            return hot.set(leaf_flag::WATCHED, false);
        };
        let view = hot.is(leaf_flag::TREE).then(|| self.htb.view(hot.class, now)).flatten();
        let (tokens, depth, rate) = match view {
            Some(view) => {
                let limited = view.ceiling_tokens != i64::MAX;
                let tokens = if limited { view.ceiling_tokens } else { view.tokens };
                (tokens, view.depth, self.htb.rate(hot.class))
            }
            None => (hot.bucket.tokens(), hot.bucket.depth(), hot.bucket.rate()),
        };
        let Some(watch) = self.watches.all.get_mut(at) else { return };
        if now.0.saturating_sub(watch.asked.0) > WATCH_TIMEOUT_NS {
            self.watches.all.remove(at);
            return hot.set(leaf_flag::WATCHED, false);
        }
        let index = usize::from(part == RowPart::Download);
        let Some(sample) = watch.current(now).and_then(|current| current.directions.get_mut(index)) else {
            return;
        };
        sample.passed = sample.passed.saturating_add(u32::try_from(event.passed).unwrap_or(u32::MAX));
        sample.dropped = sample.dropped.saturating_add(event.dropped);
        sample.longest_wait = sample.longest_wait.max(event.wait);
        sample.waiting = u32::try_from(queue.kind.bytes()).unwrap_or(u32::MAX);
        (sample.tokens, sample.depth) = (tokens, depth);
        sample.rate_kbit = u32::try_from(rate / 1000).unwrap_or(u32::MAX);
    }

    /// Appends the records of a row of `/queue/simple` or `/queue/tree` for each millisecond after `after`, as far as
    /// they are known, and watches the row for some time from now on. Of more than four rows, the one whose last query
    /// is the oldest is watched no more.
    pub fn token_bucket(&mut self, row: RowId, after: u64, now: Now, out: &mut Vec<u8>) {
        let named = |part| Identity { row, part };
        let is_there = |identity: &Identity| {
            self.rows.binary_search_by_key(identity, |queue_row| queue_row.identity).is_ok()
        };
        let Some(row) = [named(RowPart::Upload), named(RowPart::Whole)].into_iter().find(is_there) else {
            return;
        };
        self.watch(row, now);
        let Some(watch) = self.watches.all.iter_mut().find(|watch| watch.row == row) else { return };
        watch.asked = now;
        let oldest = (now.0 / NS_PER_MS).saturating_sub(MILLISECONDS);
        let present = now.0 / NS_PER_MS;
        for millisecond in &watch.milliseconds {
            // The current millisecond is not over yet.
            if millisecond.index > after.max(oldest) && millisecond.index < present {
                millisecond.write(out);
            }
        }
    }

    fn watch(&mut self, row: Identity, now: Now) {
        if !self.watches.has(row) {
            let milliseconds = VecDeque::with_capacity(MILLISECONDS as usize);
            let watch = Watch { row, asked: now, milliseconds };
            let all = &mut self.watches.all;
            all.retain(|watch| watch.asked.0.saturating_add(WATCH_TIMEOUT_NS) >= now.0);
            if all.len() >= MAX_TOKEN_BUCKETS
                && let Some(longest) = (0..all.len()).min_by_key(|at| all.get(*at).map(|watch| watch.asked))
            {
                all.swap_remove(longest);
            }
            all.push(watch);
        }
        let queue_row = self.rows.binary_search_by_key(&row, |queue_row| queue_row.identity);
        for leaf in
            queue_row.ok().and_then(|at| self.rows.get(at)).into_iter().flat_map(|queue_row| queue_row.parts)
        {
            let is_way =
                self.leaf_queues.get(leaf.index()).is_some_and(|queue| queue.identity.part != RowPart::Total);
            if let Some(hot) = self.leaves.get_mut(leaf.index()).filter(|_| is_way) {
                hot.set(leaf_flag::WATCHED, true);
            }
        }
    }
}

impl Millisecond {
    fn write(&self, out: &mut Vec<u8>) {
        let [upload, download] = self.directions.map(|sample| TokenBucketPart {
            passed: sample.passed,
            dropped: sample.dropped,
            waiting: sample.waiting,
            tokens: sample.tokens,
            longest_wait: sample.longest_wait,
            rate_kbit: sample.rate_kbit,
        });
        TokenBucketRecord { millisecond: self.index, upload, download }.write(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_fills_up_to_its_depth_while_nothing_happens() {
        let mut moment = MillisecondSample {
            tokens: 29_600,
            depth: 30_000,
            rate_kbit: 300,
            waiting: 1,
            ..MillisecondSample::default()
        };
        let mut samples = Vec::new();
        for _ in 0..3 {
            moment = moment.next();
            samples.push(moment.tokens);
        }
        assert_eq!(samples, [29_900, 30_000, 30_000]);
        // One that is late holds more than its depth for a while; it does not get more.
        let late = MillisecondSample { tokens: 31_000, ..moment };
        assert_eq!(late.next().tokens, 31_000);
    }
}
