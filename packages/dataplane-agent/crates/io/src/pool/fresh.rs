//! Chunks of a mapping that have never been in use.

use std::ptr::NonNull;

use super::HUGE_PAGE;

/// Chunks that have never been in use, so that their memory has not been allocated. None of them lies across the
/// boundary of two huge pages.
pub(super) struct Fresh {
    start: *mut u8,
    next: usize,
    /// Chunks that have not been taken.
    pub(super) left: usize,
    step: usize,
}

/// Bytes from the first of `count` chunks of `step` bytes to the end of the last one's huge page.
pub(super) const fn span(count: usize, step: usize) -> usize {
    count.div_ceil(HUGE_PAGE / step) * HUGE_PAGE
}

impl Fresh {
    /// # Safety
    /// `start` must be the start of [`span`] bytes of one mapping that nobody else uses.
    pub(super) unsafe fn new(start: *mut u8, count: usize, step: usize) -> Self {
        Self { start, next: 0, left: count, step }
    }

    /// The next chunk; `None` when all have been taken.
    pub(super) fn take<T>(&mut self) -> Option<NonNull<T>> {
        self.left = self.left.checked_sub(1)?;
        let in_page = HUGE_PAGE / self.step;
        let at = self.next / in_page * HUGE_PAGE + self.next % in_page * self.step;
        self.next += 1;
        // SAFETY: a chunk was left, so that it lies within the span that `new` was promised.
        NonNull::new(unsafe { self.start.add(at) }.cast())
    }
}
