//! A worker's share of the pool.

use std::fmt;
use std::ops::Range;
use std::ptr::{self, NonNull};

use tollway_engine::packet::frame::{Frame, FrameSource};

use super::bundle::{self, Bundle};
use super::frame::PoolFrame;
use super::fresh::{Fresh, span};
use super::returns::{FreeChunk, ReturnList};
use super::{HEAD_CAPACITY, HEAD_CHUNK, HEAD_OFFSET, PartitionSize, TAIL_CAPACITY, Umem};

/// Frames in the UMEM that a partition keeps for ports that can receive into nothing else: a quarter, at
/// most this many.
const RESERVE: usize = 2048;

/// A worker's share of the pool.
pub struct Partition {
    /// List by which its frames return.
    pub(super) returns: &'static ReturnList,
    umem: &'static Umem,
    /// Heads outside the UMEM.
    heads: Vec<NonNull<FreeChunk>>,
    /// Heads in the UMEM.
    umem_heads: Vec<NonNull<FreeChunk>>,
    tails: Vec<NonNull<u8>>,
    fresh_heads: Fresh,
    fresh_umem_heads: Fresh,
    fresh_tails: Fresh,
    /// Place of this partition's heads in the UMEM, bytes.
    umem_range: Range<usize>,
    size: PartitionSize,
    exhausted: u64,
    /// Frames of other partitions, to be returned.
    bundles: Vec<Bundle>,
}

// SAFETY: the lists hold chunks that nobody else refers to while they are free, and the partition is
// used by one thread at a time.
unsafe impl Send for Partition {}

impl Partition {
    /// Cuts a partition out of the memory at `base` and of its share of the UMEM, the bytes `umem_range`.
    pub(super) fn carve(
        base: *mut u8,
        size: PartitionSize,
        returns: &'static ReturnList,
        umem: &'static Umem,
        umem_range: Range<usize>,
    ) -> Self {
        let (umem_heads, waiting) = (size.umem_heads(), size.heads - size.umem_heads());
        // SAFETY: the caller reserved room for all tails and then all heads outside the UMEM at `base`, and
        // `umem_range` is this partition's share of the UMEM. All of them begin at huge pages.
        let (fresh_tails, fresh_heads, fresh_umem_heads) = unsafe {
            let heads = base.add(span(size.tails, TAIL_CAPACITY));
            (
                Fresh::new(base, size.tails, TAIL_CAPACITY),
                Fresh::new(heads, waiting, HEAD_CHUNK),
                Fresh::new(umem.start().add(umem_range.start), umem_heads, HEAD_CHUNK),
            )
        };
        Self {
            returns,
            umem,
            heads: Vec::with_capacity(waiting),
            umem_heads: Vec::with_capacity(umem_heads),
            tails: Vec::with_capacity(size.tails),
            fresh_heads,
            fresh_umem_heads,
            fresh_tails,
            umem_range,
            size,
            exhausted: 0,
            bundles: Vec::new(),
        }
    }

    /// Frames and tails free now, without those on the return list.
    pub fn free(&self) -> (usize, usize) {
        (self.heads.len() + self.fresh_heads.left + self.in_umem(), self.tails.len() + self.fresh_tails.left)
    }

    /// Frames in the UMEM free now, without those on the return list.
    fn in_umem(&self) -> usize {
        self.umem_heads.len() + self.fresh_umem_heads.left
    }

    /// Frames and tails that have been in use at some time: those with memory behind them.
    pub fn used(&self) -> (usize, usize) {
        let fresh = self.fresh_heads.left + self.fresh_umem_heads.left;
        (self.size.heads - fresh, self.size.tails - self.fresh_tails.left)
    }

    /// Requests for a frame that failed because none was free.
    pub fn exhausted(&self) -> u64 {
        self.exhausted
    }

    /// A frame of the full head capacity to receive into, without a tail.
    #[inline]
    pub fn take_head(&mut self) -> Option<PoolFrame> {
        let chunk = self.take_chunk();
        self.new_frame(chunk)
    }

    /// A free chunk of the UMEM, so that AF_XDP ports can send the frame without copying it; another one
    /// when those in the UMEM are few, which such ports need to receive.
    #[inline]
    fn take_chunk(&mut self) -> Option<NonNull<FreeChunk>> {
        if self.in_umem() > self.reserve() { self.take_in_umem() } else { self.take_scarce() }
    }

    #[inline]
    fn take_in_umem(&mut self) -> Option<NonNull<FreeChunk>> {
        if self.umem_heads.is_empty() {
            self.reclaim();
        }
        self.umem_heads.pop().or_else(|| self.fresh_umem_heads.take())
    }

    #[cold]
    fn take_scarce(&mut self) -> Option<NonNull<FreeChunk>> {
        self.reclaim();
        self.heads.pop().or_else(|| self.fresh_heads.take()).or_else(|| self.take_in_umem())
    }

    fn new_frame(&mut self, chunk: Option<NonNull<FreeChunk>>) -> Option<PoolFrame> {
        let Some(chunk) = chunk else {
            self.exhausted += 1;
            return None;
        };
        Some(PoolFrame {
            chunk: chunk.cast(),
            tail: None,
            tail_len: 0,
            offset: HEAD_OFFSET as u16,
            head_len: HEAD_CAPACITY as u16,
            returns: self.returns,
        })
    }

    /// The memory in which the pool's AF_XDP sockets exchange frames.
    pub fn umem(&self) -> &'static Umem {
        self.umem
    }

    /// Frames in the UMEM that are kept for ports that can receive into nothing else.
    #[inline]
    fn reserve(&self) -> usize {
        RESERVE.min(self.size.umem_heads() / 4)
    }

    /// Whether few frames of the UMEM are free, so that received ones should be copied elsewhere.
    #[inline]
    pub fn umem_is_scarce(&self) -> bool {
        self.in_umem() <= self.reserve()
    }

    /// A frame in the UMEM, of the reserve if necessary.
    #[inline]
    pub fn take_umem_frame(&mut self) -> Option<PoolFrame> {
        let chunk = self.take_in_umem();
        self.new_frame(chunk)
    }

    /// A frame outside the UMEM with these bytes. `None` when there is none, or they do not fit.
    pub fn copy_outside(&mut self, bytes: &[u8]) -> Option<PoolFrame> {
        if self.heads.is_empty() {
            self.reclaim();
        }
        let chunk = self.heads.pop().or_else(|| self.fresh_heads.take());
        let mut frame = self.new_frame(chunk)?;
        if !frame.resize(bytes.len()) {
            self.recycle(frame);
            return None;
        }
        frame.head_mut().copy_from_slice(bytes);
        Some(frame)
    }

    /// Puts a free chunk of this partition on its list.
    #[inline]
    fn put(&mut self, chunk: NonNull<FreeChunk>) {
        if self.umem_range.contains(&self.umem.offset_of(chunk.cast())) {
            self.umem_heads.push(chunk);
        } else {
            self.heads.push(chunk);
        }
    }

    /// Gives `frame` room for a tail. `false` when the partition has none left.
    #[inline]
    pub fn add_tail(&mut self, frame: &mut PoolFrame) -> bool {
        if frame.tail.is_some() {
            return true;
        }
        if self.tails.is_empty() {
            self.reclaim();
        }
        frame.tail = self.tails.pop().or_else(|| self.fresh_tails.take());
        frame.tail.is_some()
    }

    /// Takes the tail's memory out of a frame that turned out not to need it.
    #[inline]
    pub fn strip_tail(&mut self, frame: &mut PoolFrame) {
        if frame.tail_len == 0
            && let Some(tail) = frame.tail.take()
        {
            self.tails.push(tail);
        }
    }

    /// Returns a frame, of this or any other partition. Those of others may be kept until
    /// [`Self::flush_returns`].
    #[inline]
    pub fn recycle(&mut self, frame: PoolFrame) {
        if !ptr::eq(frame.returns, self.returns) {
            if frame.tail.is_none() {
                self.bundle(frame);
            }
            return;
        }
        self.put(frame.chunk.cast());
        if let Some(tail) = frame.tail {
            self.tails.push(tail);
        }
        std::mem::forget(frame);
    }

    /// Puts a frame of another partition into the bundle for it.
    fn bundle(&mut self, frame: PoolFrame) {
        let Some(bundle) = self.bundles.iter_mut().find(|bundle| bundle.is_for(frame.returns)) else {
            self.bundles.push(Bundle::new(frame));
            return;
        };
        bundle.add(frame);
    }

    /// Returns the frames of other partitions that were recycled here. To be called after each batch and before
    /// sleeping.
    #[inline]
    pub fn flush_returns(&mut self) {
        for bundle in &mut self.bundles {
            bundle.flush();
        }
    }

    /// Moves what other threads have returned to the free lists.
    pub(super) fn reclaim(&mut self) {
        let mut next = self.returns.take_all();
        while let Some(chunk) = NonNull::new(next) {
            // SAFETY: a chunk on the return list has a header that its returner wrote before the release
            // that our acquire above pairs with, and nobody else refers to it any more.
            let header = unsafe { chunk.as_ref() };
            next = header.next;
            if let Some(tail) = NonNull::new(header.tail) {
                self.tails.push(tail);
            }
            for at in 0..header.bundled {
                // SAFETY: so many addresses were written by the same returner, and the chunks belong to this partition.
                self.put(unsafe { bundle::bundled(chunk, at) });
            }
            self.put(chunk);
        }
    }
}

impl FrameSource<PoolFrame> for Partition {
    fn take(&mut self, len: usize) -> Option<PoolFrame> {
        if len > HEAD_CAPACITY {
            return None;
        }
        let mut frame = self.take_head()?;
        frame.head_len = len as u16;
        Some(frame)
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        self.flush_returns();
    }
}

impl fmt::Debug for Partition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (heads, tails) = self.free();
        formatter.debug_struct("Partition").field("heads", &heads).field("tails", &tails).finish()
    }
}
