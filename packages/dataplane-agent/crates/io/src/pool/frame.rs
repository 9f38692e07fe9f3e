//! A frame of the pool.

use std::fmt;
use std::ptr::{self, NonNull};

use tollway_engine::packet::frame::Frame;
use tollway_wire::ethernet::ADDRESSES;

use super::returns::{FreeChunk, ReturnList};
use super::{HEAD_CAPACITY, HEAD_CHUNK, HEAD_OFFSET, TAIL_CAPACITY};

/// A frame of the pool, owned. Dropping it returns it.
pub struct PoolFrame {
    /// Start of the chunk that holds the head.
    pub(super) chunk: NonNull<u8>,
    /// The bytes of a super-frame behind the head.
    pub(super) tail: Option<NonNull<u8>>,
    /// Length of the tail, bytes.
    pub(super) tail_len: u32,
    /// Start of the frame in the chunk, bytes.
    pub(super) offset: u16,
    /// Bytes of the frame in the chunk.
    pub(super) head_len: u16,
    /// List by which chunks go back to their partition.
    pub(super) returns: &'static ReturnList,
}

// SAFETY: the handle is the only reference to its chunks; `ReturnList` is shared and made of atomics.
unsafe impl Send for PoolFrame {}

/// Bytes of the frame beyond its head, for scatter and gather.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// Start.
    pub start: *mut u8,
    /// Bytes.
    pub len: usize,
}

impl PoolFrame {
    /// The tail's memory in use, if any.
    #[inline]
    pub fn tail(&self) -> Option<Span> {
        match self.tail {
            Some(start) if self.tail_len > 0 => {
                Some(Span { start: start.as_ptr(), len: self.tail_len as usize })
            }
            _ => None,
        }
    }

    /// Memory that a frame may be received into.
    #[inline]
    pub(crate) fn receive_spans(&mut self) -> (Span, Option<Span>) {
        self.offset = HEAD_OFFSET as u16;
        // SAFETY: HEAD_OFFSET is within the chunk.
        let head = Span { start: unsafe { self.chunk.as_ptr().add(HEAD_OFFSET) }, len: HEAD_CAPACITY };
        (head, self.tail.map(|tail| Span { start: tail.as_ptr(), len: TAIL_CAPACITY }))
    }

    /// Sets how many bytes were received into [`Self::receive_spans`]. `false` when that is more than fits.
    #[inline]
    pub(crate) fn received(&mut self, len: usize) -> bool {
        let head = len.min(HEAD_CAPACITY);
        let tail = len - head;
        if tail > 0 && (self.tail.is_none() || tail > TAIL_CAPACITY) {
            return false;
        }
        self.head_len = head as u16;
        self.tail_len = tail as u32;
        true
    }

    /// Opens a gap of four bytes after the two link-layer addresses, for a VLAN tag, and fills it.
    pub(crate) fn insert_tag(&mut self, tag: [u8; 4]) -> bool {
        if usize::from(self.head_len) < ADDRESSES || !self.push(tag.len()) {
            return false;
        }
        let head = self.head_mut();
        head.copy_within(tag.len()..tag.len() + ADDRESSES, 0);
        head[ADDRESSES..ADDRESSES + tag.len()].copy_from_slice(&tag);
        true
    }

    /// The bytes of the whole frame, copied. For tests and generators.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = self.head().to_vec();
        if let Some(span) = self.tail() {
            // SAFETY: the tail belongs to this frame and `tail_len` bytes of it have been written.
            bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(span.start, span.len) });
        }
        bytes
    }
}

impl Frame for PoolFrame {
    #[inline]
    fn head(&self) -> &[u8] {
        // SAFETY: offset + head_len never exceeds the chunk; anonymous memory is initialised; the frame
        // owns the chunk, so nobody writes while it is borrowed.
        unsafe {
            std::slice::from_raw_parts(
                self.chunk.as_ptr().add(usize::from(self.offset)),
                usize::from(self.head_len),
            )
        }
    }

    #[inline]
    fn head_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `head`, and the borrow is exclusive.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.chunk.as_ptr().add(usize::from(self.offset)),
                usize::from(self.head_len),
            )
        }
    }

    #[inline]
    fn len(&self) -> usize {
        usize::from(self.head_len) + self.tail_len as usize
    }

    fn resize(&mut self, len: usize) -> bool {
        if self.tail_len != 0 || len > HEAD_CHUNK - usize::from(self.offset) {
            return false;
        }
        self.head_len = len as u16;
        true
    }

    #[inline]
    fn push(&mut self, len: usize) -> bool {
        let room = usize::from(self.offset).saturating_sub(size_of::<FreeChunk>());
        if len > room {
            return false;
        }
        self.offset -= len as u16;
        self.head_len += len as u16;
        true
    }

    #[inline]
    fn pull(&mut self, len: usize) -> bool {
        if len > usize::from(self.head_len) {
            return false;
        }
        self.offset += len as u16;
        self.head_len -= len as u16;
        true
    }

    fn copy_to(&self, offset: usize, to: &mut [u8]) -> bool {
        let head = self.head();
        let from_head = head.get(offset..).unwrap_or_default();
        let (first, rest) = to.split_at_mut(from_head.len().min(to.len()));
        first.copy_from_slice(&from_head[..first.len()]);
        if rest.is_empty() {
            return true;
        }
        let Some(tail) = self.tail() else { return false };
        let at = (offset + first.len()).saturating_sub(head.len());
        // SAFETY: the tail belongs to this frame and `tail_len` bytes of it have been written.
        let bytes = unsafe { std::slice::from_raw_parts(tail.start, tail.len) };
        let Some(from) = bytes.get(at..at + rest.len()) else { return false };
        rest.copy_from_slice(from);
        true
    }

    fn footprint(&self) -> usize {
        HEAD_CHUNK + self.tail.map_or(0, |_| TAIL_CAPACITY)
    }
}

impl Drop for PoolFrame {
    fn drop(&mut self) {
        let tail = self.tail.map_or(ptr::null_mut(), NonNull::as_ptr);
        // SAFETY: the chunk is this frame's, which ends here.
        unsafe { self.returns.push(self.chunk.cast(), tail, 0) };
    }
}

impl fmt::Debug for PoolFrame {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PoolFrame").field("len", &self.len()).field("tail", &self.tail_len).finish()
    }
}
