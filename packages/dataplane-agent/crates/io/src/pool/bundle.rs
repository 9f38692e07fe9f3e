//! Frames of another partition that are returned together: the addresses of their chunks are written into the first of
//! them, so that a bundle is one push and one step along the return list, and its owner reads adjacent lines.

use std::ptr::{self, NonNull};

use super::HEAD_CHUNK;
use super::frame::PoolFrame;
use super::returns::{FreeChunk, ReturnList};

/// Frames of a full bundle.
pub(super) const CAPACITY: usize = 64;

type Bundled = [NonNull<FreeChunk>; CAPACITY - 1];

/// Offset of the addresses in the first chunk, bytes.
const BUNDLED_OFFSET: usize = size_of::<FreeChunk>();

const _: () = assert!(BUNDLED_OFFSET + size_of::<Bundled>() <= HEAD_CHUNK);

/// Frames of one partition that another one has recycled.
pub(super) struct Bundle {
    returns: &'static ReturnList,
    first: Option<NonNull<FreeChunk>>,
    bundled: usize,
}

impl Bundle {
    /// A bundle of one frame, which must have no tail.
    pub(super) fn new(frame: PoolFrame) -> Self {
        let returns = frame.returns;
        Self { returns, first: Some(into_chunk(frame)), bundled: 0 }
    }

    /// Whether the bundle's frames return to this list.
    #[inline]
    pub(super) fn is_for(&self, returns: &ReturnList) -> bool {
        ptr::eq(self.returns, returns)
    }

    /// Adds a frame of the same partition without a tail; returns the bundle if that fills it.
    #[inline]
    pub(super) fn add(&mut self, frame: PoolFrame) {
        let chunk = into_chunk(frame);
        let Some(first) = self.first else {
            self.first = Some(chunk);
            return;
        };
        // SAFETY: the first chunk is this bundle's, and has room for `CAPACITY - 1` addresses.
        unsafe { place(first, self.bundled).write(chunk) };
        self.bundled += 1;
        if self.bundled == CAPACITY - 1 {
            self.flush();
        }
    }

    /// Returns the bundle's frames to their partition.
    #[inline]
    pub(super) fn flush(&mut self) {
        let Some(first) = self.first.take() else { return };
        // SAFETY: all chunks came out of frames of this partition, which nobody has any more.
        unsafe { self.returns.push(first, ptr::null_mut(), std::mem::take(&mut self.bundled)) };
    }
}

/// The chunk of a frame without a tail; the frame is consumed.
#[inline]
fn into_chunk(frame: PoolFrame) -> NonNull<FreeChunk> {
    debug_assert!(frame.tail.is_none());
    let chunk = frame.chunk.cast();
    std::mem::forget(frame);
    chunk
}

/// Location of the `at`-th address in the first chunk.
///
/// # Safety
/// `first` must be a chunk, and `at` below `CAPACITY - 1`.
#[inline]
unsafe fn place(first: NonNull<FreeChunk>, at: usize) -> *mut NonNull<FreeChunk> {
    // SAFETY: all of them lie within the chunk, which is asserted above.
    unsafe { first.as_ptr().byte_add(BUNDLED_OFFSET).cast::<NonNull<FreeChunk>>().add(at) }
}

/// A chunk that was returned with the first one.
///
/// # Safety
/// At least `at + 1` addresses were written into the chunk, and nobody has overwritten them.
#[inline]
pub(super) unsafe fn bundled(first: NonNull<FreeChunk>, at: usize) -> NonNull<FreeChunk> {
    // SAFETY: the caller's promise.
    unsafe { place(first, at).read() }
}
