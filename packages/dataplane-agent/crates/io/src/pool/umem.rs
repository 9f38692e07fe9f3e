//! The part of the pool that AF_XDP sockets exchange frames in (Documentation/networking/af_xdp.rst).
//!
//! Every socket registers the whole of it, so that a frame which one port received into it can be sent by
//! any other, by any worker. Chunks are not a power of two apart, so that the headers of the frames of a
//! batch spread over the sets of the core's cache: the sockets use the mode of unaligned chunks.

use std::ops::Range;
use std::ptr::NonNull;

use super::frame::PoolFrame;
use super::returns::ReturnList;
use super::{HEAD_CHUNK, HUGE_PAGE};

/// Chunks of a huge page.
const IN_PAGE: usize = HUGE_PAGE / HEAD_CHUNK;

/// The memory; one per pool.
#[derive(Debug)]
pub struct Umem {
    start: NonNull<u8>,
    /// End of each partition's share, bytes from the start, and its return list.
    shares: Box<[(usize, &'static ReturnList)]>,
}

// SAFETY: the memory at `start` belongs to the owners of its frames; this value only computes addresses in it.
unsafe impl Send for Umem {}
// SAFETY: the value only computes addresses from fields that never change.
unsafe impl Sync for Umem {}

/// A frame that the kernel owns, as `struct xdp_desc` (linux/if_xdp.h) describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    /// First byte, from the start of the UMEM.
    pub addr: u64,
    /// Bytes.
    pub len: u32,
}

impl Umem {
    /// Bytes of a chunk.
    pub const CHUNK: usize = HEAD_CHUNK;

    /// # Safety
    /// From `start` on the bytes up to the last share's end must stay mapped for the life of the process.
    pub(super) unsafe fn new(start: *mut u8, shares: Box<[(usize, &'static ReturnList)]>) -> Self {
        Self { start: NonNull::new(start).unwrap_or(NonNull::dangling()), shares }
    }

    /// First byte.
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.shares.last().map_or(0, |share| share.0)
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Places of the shares, in the order of the partitions.
    pub(super) fn shares(&self) -> impl Iterator<Item = Range<usize>> {
        let mut start = 0;
        self.shares.iter().map(move |share| std::mem::replace(&mut start, share.0)..share.0)
    }

    /// Bytes from the start to `chunk`; more than [`Self::len`] for chunks outside.
    #[inline]
    pub(super) fn offset_of(&self, chunk: NonNull<u8>) -> usize {
        (chunk.as_ptr() as usize).wrapping_sub(self.start.as_ptr() as usize)
    }

    /// Number of the chunk that holds the byte `at`; below [`Self::numbers`] within the UMEM.
    #[inline]
    pub fn number(&self, at: u64) -> usize {
        let at = at as usize;
        at / HUGE_PAGE * IN_PAGE + (at % HUGE_PAGE / HEAD_CHUNK).min(IN_PAGE - 1)
    }

    /// Offset of the chunk with this number, bytes.
    #[inline]
    pub fn chunk(&self, number: usize) -> u64 {
        (number / IN_PAGE * HUGE_PAGE + number % IN_PAGE * HEAD_CHUNK) as u64
    }

    /// Number of chunks.
    pub fn numbers(&self) -> usize {
        self.len() / HUGE_PAGE * IN_PAGE
    }

    /// The frame in the chunk that begins at `chunk`, with `len` bytes from `offset` in it on.
    ///
    /// # Safety
    /// `chunk` must be what [`PoolFrame::submit`] returned for a frame of this UMEM that has not been reclaimed
    /// since, and the kernel must be done with it. `offset` and `len` must lie within the chunk.
    pub unsafe fn reclaim(&'static self, chunk: u64, offset: u16, len: u16) -> Option<PoolFrame> {
        let returns = self.shares.iter().find(|share| (chunk as usize) < share.0)?.1;
        // SAFETY: the chunk lies within the UMEM.
        let chunk = unsafe { self.start.add(chunk as usize) };
        Some(PoolFrame { chunk, tail: None, tail_len: 0, offset, head_len: len, returns })
    }
}

impl PoolFrame {
    /// The chunk, as bytes from the start of `umem`; `None` for a frame outside or one with a tail.
    #[inline]
    pub fn chunk_in(&self, umem: &Umem) -> Option<u64> {
        let at = umem.offset_of(self.chunk);
        (at < umem.len() && self.tail.is_none()).then_some(at as u64)
    }

    /// Makes the kernel the owner of the frame until [`Umem::reclaim`].
    ///
    /// # Errors
    /// The frame, when it is outside `umem` or has a tail.
    #[inline]
    pub fn submit(self, umem: &Umem) -> Result<(u64, Descriptor), Self> {
        let Some(chunk) = self.chunk_in(umem) else { return Err(self) };
        let descriptor = Descriptor { addr: chunk + u64::from(self.offset), len: self.head_len.into() };
        std::mem::forget(self);
        Ok((chunk, descriptor))
    }
}
