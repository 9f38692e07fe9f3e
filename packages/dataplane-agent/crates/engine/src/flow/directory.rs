//! The directory of flows that are not owned by their *home*, the worker that [`crate::packet::tuple::steer`] returns.
//!
//! A reply tuple is allocated only by the worker to which replies are steered. A flow whose replies are steered to
//! another worker moves there with its first packet: its home enters the new owner here before it hands the packet
//! over. From then on only the owner changes the entry: it passes the flow on or removes it. An entry is never
//! overwritten, so a flow never has two owners.
//!
//! The home of a flow reads the directory for packets that miss its connection table, and before it allocates a reply
//! tuple. The owner reads it for packets that arrive after its table has lost the flow.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, PoisonError};

use crate::packet::tuple::Tuple;
use crate::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// Number of shards, each with a lock; only two under loom, which explores every lock.
const SHARDS: usize = if cfg!(feature = "loom") { 2 } else { 64 };
/// Number of counters of entries by hash. Where the counter is 0 no shard is locked.
const COUNTS: usize = if cfg!(feature = "loom") { 2 } else { 1 << 14 };

/// The directory.
#[derive(Debug)]
pub struct Directory {
    shards: Box<[Mutex<HashMap<Tuple, u16>>]>,
    /// Number of entries by hash. A count is never below the real number: it is incremented before an entry is added.
    counts: Box<[AtomicU32]>,
    entries: AtomicUsize,
    /// Directory that is looked up for tuples that this one does not contain.
    under: Option<Arc<Directory>>,
}

impl Default for Directory {
    fn default() -> Self {
        Self::new()
    }
}

/// Hash of a tuple.
fn hash(tuple: &Tuple) -> u32 {
    let ports = u32::from(tuple.src_port) << 16 | u32::from(tuple.dst_port);
    let zone = u32::from(tuple.zone).rotate_left(7);
    (tuple.src.fold() ^ tuple.dst.fold().rotate_left(13) ^ ports ^ zone).wrapping_mul(0x9e37_79b1)
}

impl Directory {
    /// An empty directory.
    pub fn new() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::new(HashMap::new())).collect(),
            counts: (0..COUNTS).map(|_| AtomicU32::new(0)).collect(),
            entries: AtomicUsize::new(0),
            under: None,
        }
    }

    /// A directory for a dry run, which reads through to another one and writes only to itself.
    pub fn over(under: Arc<Self>) -> Self {
        Self { under: Some(under), ..Self::new() }
    }

    fn shard(&self, tuple: &Tuple) -> Option<MutexGuard<'_, HashMap<Tuple, u16>>> {
        let shard = self.shards.get((hash(tuple) >> 26) as usize % SHARDS)?;
        Some(shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn count(&self, tuple: &Tuple) -> Option<&AtomicU32> {
        self.counts.get((hash(tuple) >> 18) as usize % COUNTS)
    }

    /// Enters `worker` as the owner of the flow of `tuple`.
    ///
    /// # Errors
    /// The worker that owns the flow, if another one does; nothing changes then.
    pub fn try_publish(&self, tuple: Tuple, worker: u32) -> Result<(), u32> {
        self.pass_on(tuple, worker, worker)
    }

    /// Sets the owner of a flow to `to`: called by the home of a flow without an entry, or by its owner `from`.
    ///
    /// # Errors
    /// The worker that owns the flow, if it is a third one; nothing changes then.
    pub fn pass_on(&self, tuple: Tuple, from: u32, to: u32) -> Result<(), u32> {
        let Some(mut shard) = self.shard(&tuple) else { return Ok(()) };
        match shard.entry(tuple) {
            Entry::Vacant(place) => {
                if let Some(count) = self.count(&tuple) {
                    count.fetch_add(1, Ordering::Release);
                }
                self.entries.fetch_add(1, Ordering::Release);
                place.insert(to as u16);
            }
            Entry::Occupied(mut owner) if u32::from(*owner.get()) == from => {
                owner.insert(to as u16);
            }
            Entry::Occupied(owner) => return Err(u32::from(*owner.get())),
        }
        Ok(())
    }

    /// Removes an entry if `worker` owns the flow.
    pub fn remove(&self, tuple: &Tuple, worker: u32) {
        if let Some(mut shard) = self.shard(tuple)
            && shard.get(tuple).is_some_and(|&owner| u32::from(owner) == worker)
        {
            shard.remove(tuple);
            self.entries.fetch_sub(1, Ordering::Release);
            if let Some(count) = self.count(tuple) {
                count.fetch_sub(1, Ordering::Release);
            }
        }
    }

    /// Owner of a flow, if the directory holds it. Takes a lock only where there may be an entry.
    #[inline]
    pub fn owner(&self, tuple: &Tuple) -> Option<u32> {
        let counted = || self.count(tuple).is_some_and(|count| count.load(Ordering::Acquire) != 0);
        if self.entries.load(Ordering::Acquire) != 0
            && counted()
            && let Some(owner) = self.look_up(tuple)
        {
            return Some(owner);
        }
        self.under.as_ref()?.owner(tuple)
    }

    #[cold]
    fn look_up(&self, tuple: &Tuple) -> Option<u32> {
        self.shard(tuple)?.get(tuple).map(|&owner| u32::from(owner))
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.load(Ordering::Acquire) == 0 && self.under.as_ref().is_none_or(|under| under.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tuple::Addr;

    #[test]
    fn an_entry_is_found_until_its_owner_removes_it() {
        let directory = Directory::new();
        let tuple = Tuple {
            src: Addr::v4(1),
            dst: Addr::v4(2),
            src_port: 3,
            dst_port: 4,
            protocol: 6,
            icmp: 0,
            zone: 0,
        };
        assert_eq!(directory.owner(&tuple), None);
        assert_eq!(directory.try_publish(tuple, 1), Ok(()));
        assert_eq!(directory.try_publish(tuple, 1), Ok(()));
        assert_eq!(directory.owner(&tuple), Some(1));
        assert_eq!(directory.owner(&tuple.reversed()), None);
        directory.remove(&tuple, 0);
        assert_eq!(directory.owner(&tuple), Some(1));
        directory.remove(&tuple, 1);
        assert_eq!(directory.owner(&tuple), None);
        assert!(directory.is_empty());
    }

    #[test]
    fn an_entry_is_passed_on_by_its_owner_only() {
        let directory = Directory::new();
        let tuple = Tuple { src_port: 3, protocol: 6, ..Tuple::default() };
        assert_eq!(directory.pass_on(tuple, 0, 1), Ok(()));
        assert_eq!(directory.pass_on(tuple, 0, 2), Err(1));
        assert_eq!(directory.try_publish(tuple, 2), Err(1));
        assert_eq!(directory.owner(&tuple), Some(1));
        assert_eq!(directory.pass_on(tuple, 1, 2), Ok(()));
        directory.remove(&tuple, 1);
        assert_eq!(directory.owner(&tuple), Some(2));
        directory.remove(&tuple, 2);
        assert!(directory.is_empty());
    }
}
