//! Frames of another partition that go home together: their chunks are written into the first of them, so that
//! its owner takes them all in with one step along the return list, and reads a few lines that lie beside
//! each other.

use std::ptr::{self, NonNull};

use super::{FreeChunk, HEAD_CHUNK, Home, PoolFrame};

/// Frames of a full bundle.
pub(super) const MOST: usize = 64;

type Others = [NonNull<FreeChunk>; MOST - 1];

/// Where the other chunks lie in the first one.
const OTHERS_OFFSET: usize = size_of::<FreeChunk>();

const _: () = assert!(OTHERS_OFFSET + size_of::<Others>() <= HEAD_CHUNK);

/// Frames of one partition, held by another one.
pub(super) struct Bundle {
    home: &'static Home,
    first: Option<NonNull<FreeChunk>>,
    others: usize,
}

impl Bundle {
    /// Of one frame, which must have no tail.
    pub(super) fn new(frame: PoolFrame) -> Self {
        let home = frame.home;
        Self { home, first: Some(into_chunk(frame)), others: 0 }
    }

    #[inline]
    pub(super) fn goes_to(&self, home: &Home) -> bool {
        ptr::eq(self.home, home)
    }

    /// Adds a frame of the same partition without a tail; sends the bundle home if that fills it.
    #[inline]
    pub(super) fn add(&mut self, frame: PoolFrame) {
        let chunk = into_chunk(frame);
        let Some(first) = self.first else {
            self.first = Some(chunk);
            return;
        };
        // SAFETY: the first chunk is this bundle's, and has room for `MOST - 1` others.
        unsafe { place(first, self.others).write(chunk) };
        self.others += 1;
        if self.others == MOST - 1 {
            self.send();
        }
    }

    /// Sends home what is there.
    #[inline]
    pub(super) fn send(&mut self) {
        let Some(first) = self.first.take() else { return };
        // SAFETY: all chunks came out of frames of this home, which nobody has any more.
        unsafe { self.home.take_back(first, ptr::null_mut(), std::mem::take(&mut self.others)) };
    }
}

/// The chunk of a frame without a tail; the frame is no more.
#[inline]
fn into_chunk(frame: PoolFrame) -> NonNull<FreeChunk> {
    debug_assert!(frame.tail.is_none());
    let chunk = frame.chunk.cast();
    std::mem::forget(frame);
    chunk
}

/// Where a chunk has the `at`-th of the others.
///
/// # Safety
/// `first` must be a chunk, and `at` below `MOST - 1`.
#[inline]
unsafe fn place(first: NonNull<FreeChunk>, at: usize) -> *mut NonNull<FreeChunk> {
    // SAFETY: all of them lie within the chunk, which is asserted above.
    unsafe { first.as_ptr().byte_add(OTHERS_OFFSET).cast::<NonNull<FreeChunk>>().add(at) }
}

/// One of the others that came home with a chunk.
///
/// # Safety
/// At least `at + 1` others were written into the chunk, and nobody has overwritten them.
#[inline]
pub(super) unsafe fn other(first: NonNull<FreeChunk>, at: usize) -> NonNull<FreeChunk> {
    // SAFETY: the caller's promise.
    unsafe { place(first, at).read() }
}
