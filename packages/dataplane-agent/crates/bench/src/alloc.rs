//! The agent's allocator, counting, so that "no allocation per packet" is a figure.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicU64, Ordering};

use tollway_io::huge::HugePages;

/// [`HugePages`], counting calls that obtain memory.
pub struct Counting;

static CALLS: AtomicU64 = AtomicU64::new(0);

/// Allocations and reallocations of this process so far.
pub fn count() -> u64 {
    CALLS.load(Ordering::Relaxed)
}

// SAFETY: every call goes to `HugePages` unchanged, which keeps the trait's contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { HugePages.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { HugePages.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { HugePages.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { HugePages.dealloc(pointer, layout) }
    }
}
