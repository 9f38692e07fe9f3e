//! Huge pages for tables: a global allocator.
//!
//! A table of some ten thousand connections is spread over thousands of 4 KiB pages, more than the TLB has entries;
//! every packet of a random flow then costs page walks. The engine allocates its tables as plain vectors, so the
//! process's allocator maps large allocations on huge pages.
//!
//! Tables of the same connections must not all begin at a multiple of a page: the entry and the state of a connection
//! would then lie in the same set of the first-level cache, which holds few lines of a set. So blocks begin at different
//! cache lines ("page colouring"). Without, `engine/stateful-64k` takes 6 % longer, `engine/queues-25k` 10 % (Zen 4,
//! binaries in turns).

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use tollway_engine::pages;

/// Bytes of a huge page (x86-64 and arm64 with 4 KiB pages).
const HUGE_PAGE: usize = 2 << 20;

/// Bytes of an ordinary page.
const PAGE: usize = 4096;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Distance between the first lines of consecutive blocks: odd, so that each line of a page has its turn, and far, as
/// neighbouring lines are often used together.
const LINE_STRIDE: usize = 23;

/// Allocations from this size on have a mapping of their own that begins in the first page of a huge page. Smaller ones
/// would waste more than a third of their pages.
const THRESHOLD: usize = HUGE_PAGE / 3 * 4;

/// The system's allocator, except that large allocations are mapped with `MADV_HUGEPAGE` (madvise(2)), unless the engine asks
/// for [ordinary pages](tollway_engine::pages). Where the kernel has no huge pages left, or is configured to give none, they
/// are on ordinary pages.
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

/// Whether an allocation has its own mapping. Depends only on the layout, so that freeing decides as allocating did.
const fn is_mapped(layout: Layout) -> bool {
    layout.size() >= THRESHOLD && layout.align() <= LINE
}

/// Length of the part of a mapping that is on huge pages, for a block of `size` bytes. Behind it one ordinary page
/// follows, for what the block takes there as it does not begin at the first line.
const fn huge_length(size: usize) -> Option<usize> {
    size.checked_next_multiple_of(HUGE_PAGE)
}

/// Maps zeroed memory of at least `size` bytes, which begins at some line of the first page of a huge page, or where one
/// would be; null when there is none.
fn map(size: usize) -> *mut u8 {
    static BLOCKS: AtomicUsize = AtomicUsize::new(0);
    let Some(length) = huge_length(size) else { return ptr::null_mut() };
    let Some(room) = length.checked_add(HUGE_PAGE + PAGE) else { return ptr::null_mut() };
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
    let line = BLOCKS.fetch_add(1, Ordering::Relaxed).wrapping_mul(LINE_STRIDE) % (PAGE / LINE);
    // SAFETY: `skip` is below HUGE_PAGE, so `length + PAGE` bytes from there lie within the mapping; what is cut off
    // before and behind belongs to the mapping and to nobody else. Both ends of both cuts are multiples of
    // the page size. The advice may be refused without harm. `line * LINE` is below PAGE, so `size` bytes follow it.
    unsafe {
        let start = base.add(skip);
        if skip > 0 {
            libc::munmap(base.cast(), skip);
        }
        if skip < HUGE_PAGE {
            libc::munmap(start.add(length + PAGE).cast(), HUGE_PAGE - skip);
        }
        let advice = if pages::are_ordinary() { libc::MADV_NOHUGEPAGE } else { libc::MADV_HUGEPAGE };
        libc::madvise(start.cast(), length, advice);
        start.add(line * LINE)
    }
}

/// Unmaps a block of `size` bytes.
///
/// # Safety
///
/// `pointer` is from [`map`] with the same size, and not used afterwards.
unsafe fn unmap(pointer: *mut u8, size: usize) {
    let start = pointer.map_addr(|address| address & !(HUGE_PAGE - 1));
    let length = huge_length(size).unwrap_or_default() + PAGE;
    // SAFETY: the mapping begins at the huge page in which the block begins, and had this length.
    unsafe { libc::munmap(start.cast(), length) };
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
            // SAFETY: the block was mapped with this size, and the caller gives it up.
            return unsafe { unmap(pointer, layout.size()) };
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
    fn large_blocks_begin_in_the_first_page_of_a_huge_one_at_different_lines_and_are_zero() {
        // To the last byte of the last huge page, so that what follows the first lines is on the page behind it.
        let layout = Layout::from_size_align(2 * HUGE_PAGE, 64).unwrap();
        // SAFETY: the layout is valid; each block is used within its size and freed once.
        unsafe {
            let blocks = [(); 8].map(|()| HugePages.alloc_zeroed(layout));
            let lines = blocks.map(|block| {
                assert!(!block.is_null());
                assert_eq!((block.read(), block.add(layout.size() - 1).read()), (0, 0));
                block.add(layout.size() - 1).write(1);
                block.addr() % HUGE_PAGE / LINE
            });
            assert!(lines.iter().all(|line| *line < PAGE / LINE), "{lines:?}");
            let distinct: std::collections::BTreeSet<_> = lines.iter().collect();
            assert_eq!(distinct.len(), lines.len(), "{lines:?}");
            for block in blocks {
                HugePages.dealloc(block, layout);
            }
        }
    }
}
