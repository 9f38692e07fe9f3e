//! Which worker owns a flow whose reply [`crate::tuple::steer`] does not place: source NAT that found no
//! fitting port, destination NAT to another port.
//!
//! An entry is published before the first packet of the connection leaves, read only when a worker does
//! not know a packet's flow, and removed when the connection dies.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::tuple::Tuple;

/// Loom watches every lock, so there it gets along with two.
const SHARDS: usize = if cfg!(feature = "loom") { 2 } else { 64 };

/// The directory.
#[derive(Debug)]
pub struct Directory {
    shards: Box<[Mutex<HashMap<Tuple, u16>>]>,
    entries: AtomicUsize,
    /// Where what does not stand here is looked up.
    under: Option<Arc<Directory>>,
}

impl Default for Directory {
    fn default() -> Self {
        Self::new()
    }
}

impl Directory {
    /// An empty one.
    pub fn new() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::new(HashMap::new())).collect(),
            entries: AtomicUsize::new(0),
            under: None,
        }
    }

    /// One that knows what another does, and keeps what it is told to itself.
    pub fn over(under: Arc<Self>) -> Self {
        Self { under: Some(under), ..Self::new() }
    }

    fn shard(&self, tuple: &Tuple) -> Option<MutexGuard<'_, HashMap<Tuple, u16>>> {
        let ports = u32::from(tuple.src_port) << 16 | u32::from(tuple.dst_port);
        let mixed = (tuple.src.fold() ^ tuple.dst.fold().rotate_left(13) ^ ports).wrapping_mul(0x9e37_79b1);
        let shard = self.shards.get((mixed >> 26) as usize % SHARDS)?;
        Some(shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Publishes that `worker` owns the flow of `tuple`.
    pub fn publish(&self, tuple: Tuple, worker: u32) {
        if let Some(mut shard) = self.shard(&tuple)
            && shard.insert(tuple, worker as u16).is_none()
        {
            self.entries.fetch_add(1, Ordering::Release);
        }
    }

    /// Removes an entry, if `worker` published it.
    pub fn remove(&self, tuple: &Tuple, worker: u32) {
        if self.is_empty() {
            return;
        }
        if let Some(mut shard) = self.shard(tuple)
            && shard.get(tuple).is_some_and(|&owner| u32::from(owner) == worker)
        {
            shard.remove(tuple);
            self.entries.fetch_sub(1, Ordering::Release);
        }
    }

    /// Owner of a flow, if it stands here.
    pub fn owner(&self, tuple: &Tuple) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        let own = self.shard(tuple)?.get(tuple).map(|&owner| u32::from(owner));
        own.or_else(|| self.under.as_ref()?.owner(tuple))
    }

    /// Whether there is no entry; one load.
    pub fn is_empty(&self) -> bool {
        self.entries.load(Ordering::Acquire) == 0 && self.under.as_ref().is_none_or(|under| under.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuple::Addr;

    #[test]
    fn an_entry_is_found_until_its_owner_removes_it() {
        let directory = Directory::new();
        let tuple = Tuple { src: Addr::v4(1), dst: Addr::v4(2), src_port: 3, dst_port: 4, protocol: 6 };
        assert_eq!(directory.owner(&tuple), None);
        directory.publish(tuple, 1);
        directory.publish(tuple, 1);
        assert_eq!(directory.owner(&tuple), Some(1));
        assert_eq!(directory.owner(&tuple.reversed()), None);
        directory.remove(&tuple, 0);
        assert_eq!(directory.owner(&tuple), Some(1));
        directory.remove(&tuple, 1);
        assert!(directory.is_empty());
    }
}
