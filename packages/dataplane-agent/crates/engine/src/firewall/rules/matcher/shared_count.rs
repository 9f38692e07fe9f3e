//! A counter of a condition that all workers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
#[repr(align(64))]
struct CacheLine(AtomicU64);

/// A number that all copies of a condition share, also across commits that do not change its rule. It is state, not
/// configuration, so all values compare equal.
#[derive(Debug, Clone, Default)]
pub struct SharedCount(Arc<CacheLine>);

impl SharedCount {
    /// The number of this packet. The next one gets the next number, unless this is a `dry_run`.
    #[inline]
    pub fn next(&self, dry_run: bool) -> u64 {
        if dry_run { self.0.0.load(Ordering::Relaxed) } else { self.0.0.fetch_add(1, Ordering::Relaxed) }
    }

    /// The number.
    #[inline]
    pub fn load(&self) -> u64 {
        self.0.0.load(Ordering::Relaxed)
    }

    /// Sets the number to `new` if it still is `old`. Otherwise returns the present number as the error.
    #[inline]
    pub fn replace(&self, old: u64, new: u64) -> Result<(), u64> {
        let replaced = self.0.0.compare_exchange_weak(old, new, Ordering::Relaxed, Ordering::Relaxed);
        replaced.map(drop)
    }

    /// Shares the count of `other` from now on.
    pub fn adopt(&mut self, other: &Self) {
        self.0 = Arc::clone(&other.0);
    }
}

impl PartialEq for SharedCount {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for SharedCount {}
