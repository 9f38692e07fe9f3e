//! Huge pages for tables: a global allocator.
//!
//! A table of some ten thousand connections is spread over thousands of 4 KiB pages, more than the TLB has entries;
//! every packet of a random flow then costs page walks. The engine allocates its tables as plain vectors, so the
//! process's allocator maps large allocations on huge pages.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

/// Bytes of a huge page (x86-64 and arm64 with 4 KiB pages).
const HUGE_PAGE: usize = 2 << 20;

/// Allocations from this size on have a mapping of their own that begins at a huge page. Smaller ones would
/// waste more than a third of their pages.
const THRESHOLD: usize = HUGE_PAGE / 3 * 4;

/// The system's allocator, except that large allocations are mapped with `MADV_HUGEPAGE` (madvise(2)). Where the kernel
/// has no huge pages left, or is configured to give none, they are on ordinary pages.
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

/// Whether an allocation has its own mapping. Depends only on the layout, so that freeing decides as allocating did.
const fn is_mapped(layout: Layout) -> bool {
    layout.size() >= THRESHOLD && layout.align() <= HUGE_PAGE
}

/// Maps zeroed memory of at least `size` bytes that begins at a huge page; null when there is none.
fn map(size: usize) -> *mut u8 {
    let Some(length) = size.checked_next_multiple_of(HUGE_PAGE) else { return ptr::null_mut() };
    let Some(room) = length.checked_add(HUGE_PAGE) else { return ptr::null_mut() };
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches no existing memory.
    let base = unsafe {
        libc::mmap(
            ptr::null_mut(),
            room,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return ptr::null_mut();
    }
    let base = base.cast::<u8>();
    let skip = base.align_offset(HUGE_PAGE);
    // SAFETY: `skip` is below HUGE_PAGE, so `length` bytes from there lie within the mapping; what is cut off
    // before and behind belongs to the mapping and to nobody else. Both ends of both cuts are multiples of
    // the page size. The advice may be refused without harm.
    unsafe {
        let start = base.add(skip);
        if skip > 0 {
            libc::munmap(base.cast(), skip);
        }
        if skip < HUGE_PAGE {
            libc::munmap(start.add(length).cast(), HUGE_PAGE - skip);
        }
        libc::madvise(start.cast(), length, libc::MADV_HUGEPAGE);
        start
    }
}

// SAFETY: a mapped block has the size and alignment asked for, is zeroed, and stays until it is unmapped by
// `dealloc`, which `is_mapped` leads to the same kind of memory; all else is `System`'s. `realloc`
// moves what crosses the threshold from one kind to the other.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            return map(layout.size());
        }
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            return map(layout.size());
        }
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if is_mapped(layout) {
            let length = layout.size().next_multiple_of(HUGE_PAGE);
            // SAFETY: the block was mapped with this length, and the caller gives it up.
            unsafe { libc::munmap(pointer.cast(), length) };
            return;
        }
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the new size is valid with this alignment.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        if !is_mapped(layout) && !is_mapped(new_layout) {
            // SAFETY: the block is `System`'s and stays so; the caller's promises are passed on.
            return unsafe { System.realloc(pointer, layout, new_size) };
        }
        // SAFETY: the new layout is valid and not empty, as the caller promises.
        let new = unsafe { self.alloc(new_layout) };
        if !new.is_null() {
            // SAFETY: both blocks hold at least the smaller of the two sizes and do not overlap, and the
            // old one is the caller's to give up.
            unsafe {
                ptr::copy_nonoverlapping(pointer, new, layout.size().min(new_size));
                self.dealloc(pointer, layout);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allocates, grows through the threshold and shrinks back, checking what was written.
    #[test]
    fn blocks_keep_their_bytes_across_the_threshold() {
        let sizes = [100, THRESHOLD - 1, THRESHOLD, 3 * THRESHOLD + 7, THRESHOLD / 2];
        let mut layout = Layout::from_size_align(64, 64).unwrap();
        // SAFETY: every layout is valid and not empty, each block is used within its size and freed once.
        unsafe {
            let mut block = HugePages.alloc_zeroed(layout);
            assert!(!block.is_null());
            block.write_bytes(0xa5, 64);
            for size in sizes {
                block = HugePages.realloc(block, layout, size);
                assert!(!block.is_null());
                assert_eq!(block.align_offset(64), 0);
                assert_eq!(std::slice::from_raw_parts(block, 64), [0xa5; 64]);
                block.add(size - 1).write(1);
                layout = Layout::from_size_align(size, 64).unwrap();
            }
            HugePages.dealloc(block, layout);
        }
    }

    #[test]
    fn large_blocks_begin_at_a_huge_page_and_are_zero() {
        let layout = Layout::from_size_align(THRESHOLD + 1, 8).unwrap();
        // SAFETY: the layout is valid; the block is read within its size and freed once.
        unsafe {
            let block = HugePages.alloc_zeroed(layout);
            assert!(!block.is_null());
            assert_eq!(block.align_offset(HUGE_PAGE), 0);
            assert_eq!((block.read(), block.add(THRESHOLD).read()), (0, 0));
            HugePages.dealloc(block, layout);
        }
    }
}
