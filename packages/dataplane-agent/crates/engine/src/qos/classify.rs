//! Which simple queue takes a packet: the first in list order that has its destination (download) or its
//! source (upload) among the targets.
//!
//! The targets are flattened when the configuration is built: for every address the trie gives the first
//! queue that has it. Two lookups decide, however many queues there are.

use std::collections::HashSet;
use std::net::IpAddr;

use tollway_config::dataplane::{DataplaneConfig, QueueLimit, QueueTarget, QueueType, RowId};

use super::Way;
use super::bucket::{MAX_DEPTH_MS, MAX_RATE};
use super::forest::{ClassId, Context, Forest, Stations};
use crate::error::BuildError;
use crate::trie::Trie;
use crate::tuple::Addr;

/// No queue has the address; above every place.
const NOBODY: u32 = i32::MAX as u32;

/// A simple queue of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// Row of `/queue/simple`.
    pub row: RowId,
    /// From the targets.
    pub upload: QueueLimit,
    /// To the targets.
    pub download: QueueLimit,
    /// Its upload class.
    class: ClassId,
}

/// All simple queues of one generation, in list order.
#[derive(Debug, Default)]
pub struct QueueTable {
    queues: Vec<Queue>,
    /// Places in `queues`, by ascending row.
    by_row: Vec<u32>,
    /// Address to the first queue that has it; absent without queues.
    trie: Option<Trie>,
    /// Rows and targets in order.
    targets: Vec<(RowId, u32, u8)>,
}

impl QueueTable {
    /// Flattens the targets. IPv6 targets match nothing, as there is no IPv6 traffic.
    ///
    /// # Errors
    /// Names the row that occurs twice, or that has a prefix, rate or bucket out of range.
    pub fn build(config: &DataplaneConfig, forest: &Forest) -> Result<Self, BuildError> {
        let (queues, types) = (&config.simple_queues, &config.queue_types);
        if queues.is_empty() {
            return Ok(Self::default());
        }
        if queues.len() >= 1 << 24 {
            return Err(BuildError { row: None, message: "more than 16777215 simple queues".to_owned() });
        }
        let mut table = Self::default();
        let mut rows = HashSet::with_capacity(queues.len());
        let mut prefixes = Vec::with_capacity(queues.len());
        for (place, queue) in (0u32..).zip(queues) {
            if !rows.insert(queue.row) {
                return Err(BuildError::row(queue.row, "the queue row occurs twice"));
            }
            check(queue.row, &queue.upload)?;
            check(queue.row, &queue.download)?;
            for target in &queue.targets {
                let QueueTarget::Prefix(target) = target else { continue };
                let IpAddr::V4(address) = target.address else { continue };
                let len = target.prefix_len;
                if len > 32 {
                    return Err(BuildError::row(queue.row, format!("target length {len}: expected 0 to 32")));
                }
                let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
                prefixes.push((len, address.to_bits() & mask, place));
                table.targets.push((queue.row, address.to_bits() & mask, len));
            }
            let resolved =
                |limit: &QueueLimit| QueueLimit { packet_limit: packet_limit(types, limit), ..*limit };
            table.queues.push(Queue {
                row: queue.row,
                class: forest.simple(place, Way::Upload).unwrap_or(ClassId(0)),
                upload: resolved(&queue.upload),
                download: resolved(&queue.download),
            });
            table.by_row.push(place);
        }
        let row = |place: &u32| table.queues.get(*place as usize).map_or(0, |queue| queue.row);
        table.by_row.sort_unstable_by_key(row);
        table.trie = Some(flatten(prefixes));
        Ok(table)
    }

    /// Whether there are no queues.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// How many queues there are.
    pub fn len(&self) -> usize {
        self.queues.len()
    }

    /// A queue by its place in the list.
    #[inline]
    pub fn queue(&self, place: u32) -> Option<&Queue> {
        self.queues.get(place as usize)
    }

    /// The queues with their places, by ascending row.
    pub fn by_row(&self) -> impl Iterator<Item = (u32, &Queue)> {
        self.by_row.iter().filter_map(|&place| Some((place, self.queue(place)?)))
    }

    /// Whether every packet goes to the same row and direction in both tables.
    pub fn matches_as(&self, other: &Self) -> bool {
        self.targets == other.targets
    }

    /// The queue that takes a packet, and as what: destination after, source before its translation.
    #[inline]
    pub fn classify(&self, src: u32, dst: u32) -> Option<(u32, Way)> {
        let trie = self.trie.as_ref()?;
        let (from, to) = (trie.lookup(src), trie.lookup(dst));
        if to <= from { (to != NOBODY).then_some((to, Way::Download)) } else { Some((from, Way::Upload)) }
    }

    /// Whether a packet belongs to this queue, in this direction.
    pub fn takes(&self, src: u32, dst: u32, row: RowId, way: Way) -> bool {
        let found = self.classify(src, dst).and_then(|(place, way)| Some((self.queue(place)?.row, way)));
        found == Some((row, way))
    }

    /// The leaves that a packet passes: destination after, source before its translation; wall clock, ns since 1970 UTC.
    #[inline]
    pub fn stations(&self, src: Addr, dst: Addr, _context: &Context, _utc_ns: i64) -> Stations {
        let mut stations = Stations::default();
        if let (Some(src), Some(dst)) = (src.as_v4(), dst.as_v4())
            && let Some((place, way)) = self.classify(src, dst)
            && let Some(queue) = self.queue(place)
        {
            stations.push(ClassId(queue.class.0 + way.index()));
        }
        stations
    }
}

fn packet_limit(types: &[QueueType], limit: &QueueLimit) -> u32 {
    match types.get(limit.queue_type as usize) {
        Some(QueueType::Pfifo { limit }) => *limit,
        _ => 50,
    }
}

fn check(row: RowId, limit: &QueueLimit) -> Result<(), BuildError> {
    if limit.max_limit > MAX_RATE {
        let message = format!("max-limit {}: expected at most {MAX_RATE}", limit.max_limit);
        return Err(BuildError::row(row, message));
    }
    if limit.bucket_ms > MAX_DEPTH_MS {
        let message = format!("bucket of {} ms: expected at most {MAX_DEPTH_MS}", limit.bucket_ms);
        return Err(BuildError::row(row, message));
    }
    Ok(())
}

/// The first place for every address. Shorter prefixes go in first, so what the trie knows of a prefix by
/// then is the first place among those that hold all of it.
fn flatten(mut prefixes: Vec<(u8, u32, u32)>) -> Trie {
    prefixes.sort_unstable();
    let mut trie = Trie::new(NOBODY);
    for (len, address, place) in prefixes {
        if place < trie.lookup(address) {
            trie.insert(address, len, place);
        }
    }
    trie
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tollway_config::dataplane::{Prefix, SimpleQueue};

    use super::*;

    const NO_LIMIT: QueueLimit = QueueLimit {
        limit_at: 0,
        max_limit: 0,
        burst_limit: 0,
        burst_threshold: 0,
        burst_time_ms: 0,
        bucket_ms: 100,
        priority: 8,
        queue_type: 0,
        packet_limit: 0,
    };

    fn queue(row: RowId, targets: &[(u32, u8)]) -> SimpleQueue {
        let prefix = |&(address, prefix_len): &(u32, u8)| {
            QueueTarget::Prefix(Prefix { address: std::net::Ipv4Addr::from_bits(address).into(), prefix_len })
        };
        let targets = targets.iter().map(prefix).collect();
        SimpleQueue {
            row,
            targets,
            dst: None,
            packet_marks: Vec::new(),
            parent: None,
            time: None,
            upload: NO_LIMIT,
            download: NO_LIMIT,
            total: None,
        }
    }

    fn build(queues: &[SimpleQueue]) -> Result<QueueTable, BuildError> {
        let config = DataplaneConfig {
            queue_types: vec![QueueType::Pfifo { limit: 50 }],
            simple_queues: queues.to_vec(),
            ..DataplaneConfig::default()
        };
        QueueTable::build(&config, &Forest::build(&config)?)
    }

    /// As the list reads: queue by queue, destination before source.
    fn one_by_one(queues: &[SimpleQueue], src: u32, dst: u32) -> Option<(u32, Way)> {
        let has = |queue: &SimpleQueue, address: u32| {
            queue.targets.iter().any(|target| {
                let QueueTarget::Prefix(target) = target else { return false };
                let IpAddr::V4(network) = target.address else { return false };
                let mask = u32::MAX.checked_shl(32 - u32::from(target.prefix_len)).unwrap_or(0);
                (network.to_bits() ^ address) & mask == 0
            })
        };
        for (place, queue) in (0u32..).zip(queues) {
            if has(queue, dst) {
                return Some((place, Way::Download));
            }
            if has(queue, src) {
                return Some((place, Way::Upload));
            }
        }
        None
    }

    #[test]
    fn impossible_queues_are_refused_by_row() {
        let twice = [queue(7, &[(1, 32)]), queue(7, &[(2, 32)])];
        assert_eq!(build(&twice).unwrap_err().row, Some(7));
        let mut fast = queue(8, &[(1, 32)]);
        fast.download.max_limit = MAX_RATE + 1;
        assert_eq!(build(&[fast]).unwrap_err().row, Some(8));
        assert_eq!(build(&[queue(9, &[(1, 33)])]).unwrap_err().row, Some(9));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn agrees_with_reading_the_list(
            targets in proptest::collection::vec(
                proptest::collection::vec((any::<u32>(), 0u8..=32, 0u8..3), 1..4), 0..30),
            addresses in proptest::collection::vec((any::<u32>(), any::<u32>()), 30),
        ) {
            // Most prefixes crowd together, so that they nest and overlap.
            let crowd = |bits: u32| 0x0a01_0000 | bits & 0x3ff;
            let queues: Vec<_> = (1u32..).zip(&targets).map(|(row, targets)| {
                let targets: Vec<_> = targets.iter().map(|&(bits, len, kind)| match kind {
                    0 => (bits, len),
                    1 => (crowd(bits), 32),
                    _ => (crowd(bits), len.max(16)),
                }).collect();
                queue(row, &targets)
            }).collect();
            let table = build(&queues).unwrap();
            for (src, dst) in addresses {
                for (src, dst) in [(src, dst), (crowd(src), dst), (src, crowd(dst)), (crowd(src), crowd(dst))] {
                    prop_assert_eq!(table.classify(src, dst), one_by_one(&queues, src, dst));
                }
            }
            let rows: Vec<_> = table.by_row().map(|(_, queue)| queue.row).collect();
            prop_assert!(rows.is_sorted());
        }
    }
}
