//! The list by which frames return to their partition: a lock-free stack that any thread pushes to and its owner
//! takes as a whole.

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Header at the start of a free head chunk on a return list. Tails return with a head only.
#[repr(C)]
pub(super) struct FreeChunk {
    /// The chunk below it on the list.
    pub(super) next: *mut FreeChunk,
    /// Tail of the same frame; null without one.
    pub(super) tail: *mut u8,
    /// Chunks without tails that return with this one; their addresses follow the header (see `bundle`).
    pub(super) bundled: usize,
}

/// The chunks that other threads have returned to a partition.
#[derive(Debug)]
pub struct ReturnList {
    top: AtomicPtr<FreeChunk>,
    returned: AtomicU64,
}

impl ReturnList {
    /// An empty one that is never freed, as frames may outlive every worker.
    pub(super) fn leak() -> &'static Self {
        Box::leak(Box::new(Self { top: AtomicPtr::new(ptr::null_mut()), returned: AtomicU64::new(0) }))
    }

    /// Frames that other threads have returned so far.
    pub fn returned(&self) -> u64 {
        self.returned.load(Ordering::Relaxed)
    }

    /// Takes all chunks: the first one, or null.
    pub(super) fn take_all(&self) -> *mut FreeChunk {
        if self.top.load(Ordering::Relaxed).is_null() {
            return ptr::null_mut();
        }
        self.top.swap(ptr::null_mut(), Ordering::Acquire)
    }

    /// Pushes a chunk with its tail and the `bundled` chunks whose addresses were written behind its header.
    ///
    /// # Safety
    /// Nobody else refers to the chunks, and they belong to the partition of this list.
    pub(super) unsafe fn push(&self, chunk: NonNull<FreeChunk>, tail: *mut u8, bundled: usize) {
        let mut next = self.top.load(Ordering::Relaxed);
        loop {
            // SAFETY: the chunk is the caller's until the exchange below succeeds; it is 64-byte aligned and
            // larger than the header.
            unsafe { chunk.as_ptr().write(FreeChunk { next, tail, bundled }) };
            match self.top.compare_exchange_weak(next, chunk.as_ptr(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(seen) => next = seen,
            }
        }
        self.returned.fetch_add(1 + bundled as u64, Ordering::Relaxed);
    }
}
