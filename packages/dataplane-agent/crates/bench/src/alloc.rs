//! The agent's allocator, counting, so that "no allocation per packet" is a figure.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicU64, Ordering};

use tollway_io::huge_pages::HugePages;

/// [`HugePages`], counting calls that obtain memory.
pub struct Counting;

static CALLS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// Allocations and reallocations of this process so far.
pub fn count() -> u64 {
    CALLS.load(Ordering::Relaxed)
}

/// Bytes that this process has allocated and not freed, as asked for.
pub fn bytes() -> u64 {
    BYTES.load(Ordering::Relaxed)
}

/// Part of this process's memory that lies on huge pages (proc(5), `smaps_rollup`), bytes.
pub fn huge_page_bytes() -> u64 {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix("AnonHugePages:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().map_or(0, |kib: u64| kib << 10)
}

// SAFETY: every call goes to `HugePages` unchanged, which keeps the trait's contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { HugePages.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { HugePages.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add((new_size as u64).wrapping_sub(layout.size() as u64), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { HugePages.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { HugePages.dealloc(pointer, layout) }
    }
}
