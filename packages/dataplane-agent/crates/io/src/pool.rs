//! One frame pool per process, partitioned by worker.
//!
//! A frame has a *head* of [`HEAD_CAPACITY`] contiguous bytes and, for super-frames, a *tail* of up to
//! [`TAIL_CAPACITY`] more. Both come from the partition of one worker. Whoever drops a frame returns it
//! to that partition: its owner by [`Partition::recycle`], which touches no shared memory, everybody else
//! through the partition's return list, a lock-free stack that the owner empties as a whole when its own
//! lists run dry (so no ABA problem, and a return never fails). Another worker's [`Partition::recycle`]
//! gathers frames in [`bundle`]s, so that the stack is touched once for many.
//!
//! The first heads of every partition, as many as a worker needs to receive and to send, lie beside each
//! other: that is the [`Umem`], in which AF_XDP sockets exchange frames without copying.

mod bundle;
mod umem;

use std::fmt;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use tollway_engine::packet::frame::{Frame, FrameSource};
use tollway_wire::ethernet::ADDRESSES;

use bundle::Bundle;
pub use umem::{Lent, Umem};

/// Bytes of a frame that are contiguous, at most.
pub const HEAD_CAPACITY: usize = HEAD_CHUNK - HEAD_OFFSET;

/// Bytes of a super-frame beyond its head, at most: with the head enough for 64 KiB of IP and two tags.
pub const TAIL_CAPACITY: usize = 64 << 10;

/// Memory of a frame without a tail, bytes.
pub const HEAD_FOOTPRINT: usize = HEAD_CHUNK;

/// Start of a received frame within its chunk. The room before it takes the chunk's header and a VLAN
/// tag that is put back in front of the payload.
const HEAD_OFFSET: usize = 64;
const HEAD_CHUNK: usize = 2368;
const HUGE_PAGE: usize = 2 << 20;

/// At the start of every head chunk while it is on a return list; a lone tail never is.
#[repr(C)]
struct FreeChunk {
    next: *mut FreeChunk,
    tail: *mut u8,
    /// Chunks without tails that come home with this one; a [`Bundle`] wrote them behind the header.
    others: usize,
}

/// What a partition shares with everybody who may hold one of its frames.
#[derive(Debug)]
pub struct Home {
    returns: AtomicPtr<FreeChunk>,
    outside: AtomicU64,
}

impl Home {
    /// Frames that other threads have returned so far.
    pub fn returned(&self) -> u64 {
        self.outside.load(Ordering::Relaxed)
    }
}

/// A worker's share of the pool.
pub struct Partition {
    home: &'static Home,
    umem: &'static Umem,
    /// Heads outside the UMEM.
    heads: Vec<NonNull<FreeChunk>>,
    /// Heads in the UMEM.
    wire: Vec<NonNull<FreeChunk>>,
    tails: Vec<NonNull<u8>>,
    fresh_heads: Fresh,
    fresh_wire: Fresh,
    fresh_tails: Fresh,
    /// Place of this partition's heads in the UMEM.
    own: Range<usize>,
    size: PartitionSize,
    exhausted: u64,
    /// Frames of other partitions on their way home.
    away: Vec<Bundle>,
}

/// Chunks that nobody has used yet, so that their memory has not been touched. None of them lies across the
/// boundary of two huge pages.
struct Fresh {
    start: *mut u8,
    next: usize,
    left: usize,
    step: usize,
}

/// Bytes from the first of `count` chunks of `step` bytes to the end of the last one's huge page.
const fn span(count: usize, step: usize) -> usize {
    count.div_ceil(HUGE_PAGE / step) * HUGE_PAGE
}

impl Fresh {
    /// # Safety
    /// `start` must be the start of [`span`] bytes of one mapping that nobody else uses.
    unsafe fn new(start: *mut u8, count: usize, step: usize) -> Self {
        Self { start, next: 0, left: count, step }
    }

    fn take<T>(&mut self) -> Option<NonNull<T>> {
        self.left = self.left.checked_sub(1)?;
        let in_page = HUGE_PAGE / self.step;
        let at = self.next / in_page * HUGE_PAGE + self.next % in_page * self.step;
        self.next += 1;
        // SAFETY: a chunk was left, so that it lies within the span that `new` was promised.
        NonNull::new(unsafe { self.start.add(at) }.cast())
    }
}

// SAFETY: the lists hold chunks that nobody else refers to while they are free, and the partition is
// used by one thread at a time.
unsafe impl Send for Partition {}

/// Size of one partition.
#[derive(Debug, Clone, Copy)]
pub struct PartitionSize {
    /// Frames.
    pub heads: usize,
    /// Of which super-frames.
    pub tails: usize,
}

impl PartitionSize {
    /// What a worker needs to receive and to send: 37 MiB of heads, half of which two ports by AF_XDP
    /// take to receive into, and 24 MiB of tails.
    pub const WORKER: PartitionSize = PartitionSize { heads: 16_384, tails: 384 };

    /// The same with room for as many more frames as `bytes` of footprint can be, whether all of them are
    /// super-frames or none.
    #[must_use]
    pub const fn with_waiting(self, bytes: usize) -> Self {
        Self {
            heads: self.heads + bytes / HEAD_FOOTPRINT,
            tails: self.tails + bytes / (HEAD_FOOTPRINT + TAIL_CAPACITY),
        }
    }

    /// Heads in the UMEM.
    fn wire(self) -> usize {
        self.heads.min(Self::WORKER.heads)
    }

    /// Address space the partition takes, bytes; memory becomes of it only what frames have used, and what
    /// AF_XDP sockets have been told of.
    pub fn bytes(self) -> usize {
        span(self.wire(), HEAD_CHUNK)
            + span(self.heads - self.wire(), HEAD_CHUNK)
            + span(self.tails, TAIL_CAPACITY)
    }
}

/// Makes the pool: one partition per entry of `sizes`. The memory stays mapped for the life of the
/// process, since frames may outlive every worker.
///
/// # Errors
/// When the address space cannot be had.
pub fn partitions(sizes: &[PartitionSize]) -> std::io::Result<Vec<Partition>> {
    let total: usize = sizes.iter().map(|size| size.bytes()).sum::<usize>() + HUGE_PAGE;
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches no existing memory.
    let base = unsafe {
        libc::mmap(
            ptr::null_mut(),
            total,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(std::io::Error::last_os_error());
    }
    let base = base.cast::<u8>();
    let skip = base.align_offset(HUGE_PAGE);
    // SAFETY: `skip` is below HUGE_PAGE, which `total` includes once more than the partitions need, so the
    // advised range lies within the mapping. The advice may be refused without harm.
    let mut next = unsafe {
        libc::madvise(base.add(skip).cast(), total - HUGE_PAGE, libc::MADV_HUGEPAGE);
        base.add(skip)
    };
    let homes: Vec<&'static Home> = sizes.iter().map(|_| Home::leak()).collect();
    let mut end = 0;
    let shares = sizes.iter().zip(&homes).map(|(size, home)| {
        end += span(size.wire(), HEAD_CHUNK);
        (end, *home)
    });
    // SAFETY: the mapping stays for the life of the process, and the spans of all partitions lie within it.
    let umem: &'static Umem = Box::leak(Box::new(unsafe { Umem::new(next, shares.collect()) }));
    // SAFETY: as above.
    next = unsafe { next.add(umem.len()) };
    let mut partitions = Vec::with_capacity(sizes.len());
    for ((size, home), own) in sizes.iter().zip(homes).zip(umem.shares()) {
        partitions.push(Partition::carve(next, *size, home, umem, own));
        // SAFETY: the sum of all partitions' bytes lies within the mapping.
        next = unsafe { next.add(size.bytes() - span(size.wire(), HEAD_CHUNK)) };
    }
    Ok(partitions)
}

impl Home {
    fn leak() -> &'static Self {
        Box::leak(Box::new(Home { returns: AtomicPtr::new(ptr::null_mut()), outside: AtomicU64::new(0) }))
    }

    /// Puts a chunk on the return list, with its tail and the chunks that were written behind its header.
    ///
    /// # Safety
    /// Nobody else refers to the chunks, and they belong to the partition that this is the home of.
    unsafe fn take_back(&self, chunk: NonNull<FreeChunk>, tail: *mut u8, others: usize) {
        let mut next = self.returns.load(Ordering::Relaxed);
        loop {
            // SAFETY: the chunk is the caller's until the exchange below succeeds; it is 64-byte aligned and
            // larger than the header.
            unsafe { chunk.as_ptr().write(FreeChunk { next, tail, others }) };
            match self.returns.compare_exchange_weak(
                next,
                chunk.as_ptr(),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(seen) => next = seen,
            }
        }
        self.outside.fetch_add(1 + others as u64, Ordering::Relaxed);
    }
}

impl Partition {
    fn carve(
        base: *mut u8,
        size: PartitionSize,
        home: &'static Home,
        umem: &'static Umem,
        own: Range<usize>,
    ) -> Self {
        let (wire, waiting) = (size.wire(), size.heads - size.wire());
        // SAFETY: the caller reserved room for all tails and then all heads outside the UMEM at `base`, and
        // `own` is this partition's share of the UMEM. All of them begin at huge pages.
        let (fresh_tails, fresh_heads, fresh_wire) = unsafe {
            let heads = base.add(span(size.tails, TAIL_CAPACITY));
            (
                Fresh::new(base, size.tails, TAIL_CAPACITY),
                Fresh::new(heads, waiting, HEAD_CHUNK),
                Fresh::new(umem.start().add(own.start), wire, HEAD_CHUNK),
            )
        };
        Self {
            home,
            umem,
            heads: Vec::with_capacity(waiting),
            wire: Vec::with_capacity(wire),
            tails: Vec::with_capacity(size.tails),
            fresh_heads,
            fresh_wire,
            fresh_tails,
            own,
            size,
            exhausted: 0,
            away: Vec::new(),
        }
    }

    /// Frames and tails free now, without those on the return list.
    pub fn free(&self) -> (usize, usize) {
        (self.heads.len() + self.fresh_heads.left + self.in_umem(), self.tails.len() + self.fresh_tails.left)
    }

    /// Frames in the UMEM free now, without those on the return list.
    fn in_umem(&self) -> usize {
        self.wire.len() + self.fresh_wire.left
    }

    /// Frames and tails that have been in use at some time: those with memory behind them.
    pub fn used(&self) -> (usize, usize) {
        let fresh = self.fresh_heads.left + self.fresh_wire.left;
        (self.size.heads - fresh, self.size.tails - self.fresh_tails.left)
    }

    /// How often a frame was asked for in vain.
    pub fn exhausted(&self) -> u64 {
        self.exhausted
    }

    /// A frame of the full head capacity to receive into, without a tail.
    #[inline]
    pub fn take_head(&mut self) -> Option<PoolFrame> {
        let chunk = self.take_chunk();
        self.framed(chunk)
    }

    /// A free chunk of the UMEM, so that AF_XDP ports can send the frame without copying it; of the others
    /// when those in the UMEM are few, which such ports need to receive.
    #[inline]
    fn take_chunk(&mut self) -> Option<NonNull<FreeChunk>> {
        if self.in_umem() > self.reserve() { self.take_in_umem() } else { self.take_scarce() }
    }

    #[inline]
    fn take_in_umem(&mut self) -> Option<NonNull<FreeChunk>> {
        if self.wire.is_empty() {
            self.collect();
        }
        self.wire.pop().or_else(|| self.fresh_wire.take())
    }

    #[cold]
    fn take_scarce(&mut self) -> Option<NonNull<FreeChunk>> {
        self.collect();
        self.heads.pop().or_else(|| self.fresh_heads.take()).or_else(|| self.take_in_umem())
    }

    fn framed(&mut self, chunk: Option<NonNull<FreeChunk>>) -> Option<PoolFrame> {
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
            home: self.home,
        })
    }

    /// Puts a free chunk of this partition on its list.
    #[inline]
    fn put(&mut self, chunk: NonNull<FreeChunk>) {
        if self.own.contains(&self.umem.offset_of(chunk.cast())) {
            self.wire.push(chunk);
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
            self.collect();
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

    /// Returns a frame, of this or any other partition. Those of others may be under way until
    /// [`Self::send_home`].
    #[inline]
    pub fn recycle(&mut self, frame: PoolFrame) {
        if !ptr::eq(frame.home, self.home) {
            if frame.tail.is_none() {
                self.gather(frame);
            }
            return;
        }
        self.put(frame.chunk.cast());
        if let Some(tail) = frame.tail {
            self.tails.push(tail);
        }
        std::mem::forget(frame);
    }

    /// Puts a frame of another partition with those that go there.
    fn gather(&mut self, frame: PoolFrame) {
        let Some(bundle) = self.away.iter_mut().find(|bundle| bundle.goes_to(frame.home)) else {
            self.away.push(Bundle::new(frame));
            return;
        };
        bundle.add(frame);
    }

    /// Sends the frames of other partitions that were recycled here on their way. To be called now and then,
    /// and before a pause.
    #[inline]
    pub fn send_home(&mut self) {
        for bundle in &mut self.away {
            bundle.send();
        }
    }

    /// Takes in what other threads have returned.
    fn collect(&mut self) {
        if self.home.returns.load(Ordering::Relaxed).is_null() {
            return;
        }
        let mut next = self.home.returns.swap(ptr::null_mut(), Ordering::Acquire);
        while let Some(chunk) = NonNull::new(next) {
            // SAFETY: a chunk on the return list has a header that its returner wrote before the release
            // that our acquire above pairs with, and nobody else refers to it any more.
            let header = unsafe { chunk.as_ref() };
            next = header.next;
            if let Some(tail) = NonNull::new(header.tail) {
                self.tails.push(tail);
            }
            for at in 0..header.others {
                // SAFETY: so many were written by the same returner, and belong to this partition.
                self.put(unsafe { bundle::other(chunk, at) });
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
        self.send_home();
    }
}

impl fmt::Debug for Partition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (heads, tails) = self.free();
        formatter.debug_struct("Partition").field("heads", &heads).field("tails", &tails).finish()
    }
}

/// A frame of the pool, owned. Dropping it returns it.
pub struct PoolFrame {
    chunk: NonNull<u8>,
    tail: Option<NonNull<u8>>,
    tail_len: u32,
    offset: u16,
    head_len: u16,
    home: &'static Home,
}

// SAFETY: the handle is the only reference to its chunks; `Home` is shared and made of atomics.
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

    /// All memory a frame may be received into.
    #[inline]
    pub(crate) fn receive_spans(&mut self) -> (Span, Option<Span>) {
        self.offset = HEAD_OFFSET as u16;
        // SAFETY: HEAD_OFFSET is within the chunk.
        let head = Span { start: unsafe { self.chunk.as_ptr().add(HEAD_OFFSET) }, len: HEAD_CAPACITY };
        (head, self.tail.map(|tail| Span { start: tail.as_ptr(), len: TAIL_CAPACITY }))
    }

    /// Says how many bytes were received into [`Self::receive_spans`]. `false` when that is more than fits.
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
        let room = usize::from(self.offset) - size_of::<FreeChunk>();
        if room < tag.len() || usize::from(self.head_len) < ADDRESSES {
            return false;
        }
        self.offset -= tag.len() as u16;
        self.head_len += tag.len() as u16;
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

    fn remove(&mut self, at: usize, len: usize) -> bool {
        if at + len > usize::from(self.head_len) {
            return false;
        }
        // What is before it moves: that is short, and bytes beyond the head cannot.
        self.head_mut().copy_within(..at, len);
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
        unsafe { self.home.take_back(self.chunk.cast(), tail, 0) };
    }
}

impl fmt::Debug for PoolFrame {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PoolFrame").field("len", &self.len()).field("tail", &self.tail_len).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: PartitionSize = PartitionSize { heads: 4, tails: 2 };

    #[test]
    fn frames_freed_elsewhere_come_home() {
        let mut partitions = partitions(&[SMALL, SMALL]).unwrap();
        let mut second = partitions.pop().unwrap();
        let mut first = partitions.pop().unwrap();
        let mut frames = Vec::new();
        while let Some(mut frame) = first.take_head() {
            if frames.len() < 2 {
                assert!(first.add_tail(&mut frame));
            } else {
                assert!(!first.add_tail(&mut frame));
            }
            frames.push(frame);
        }
        assert_eq!(frames.len(), 4);
        assert_eq!(first.exhausted(), 1);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for frame in frames {
                    second.recycle(frame);
                }
                assert_eq!(second.free(), (4, 2));
                second.send_home();
            });
        });
        let frame = first.take_head().unwrap();
        assert_eq!(first.free(), (3, 2));
        first.recycle(frame);
        assert_eq!(first.free(), (4, 2));
    }

    #[test]
    fn frames_come_home_in_bundles_also_when_their_last_worker_ends() {
        const FRAMES: usize = 3 * bundle::MOST;
        let size = PartitionSize { heads: FRAMES, tails: 0 };
        let mut partitions = partitions(&[size, size, size]).unwrap();
        let mut third = partitions.pop().unwrap();
        let mut second = partitions.pop().unwrap();
        let mut first = partitions.pop().unwrap();
        let take = |home: &mut Partition, frames: usize| -> Vec<_> {
            (0..frames).map(|_| home.take(60).unwrap()).collect()
        };
        let frames = take(&mut first, 2 * bundle::MOST + 5).into_iter().chain(take(&mut second, 7));
        frames.for_each(|frame| third.recycle(frame));
        assert_eq!((first.home.returned(), second.home.returned()), (2 * bundle::MOST as u64, 0));
        third.send_home();
        third.send_home();
        assert_eq!((first.home.returned(), second.home.returned()), (2 * bundle::MOST as u64 + 5, 7));
        take(&mut first, 9).into_iter().for_each(|frame| third.recycle(frame));
        drop(third);
        first.collect();
        second.collect();
        assert_eq!((first.free(), second.free()), ((FRAMES, 0), (FRAMES, 0)));
        // Each of them once.
        let all: std::collections::BTreeSet<_> =
            take(&mut first, FRAMES).into_iter().map(|frame| frame.head().as_ptr()).collect();
        assert_eq!(all.len(), FRAMES);
    }

    #[test]
    fn memory_is_used_again_before_more_of_it_is() {
        let size =
            PartitionSize { heads: 1000, tails: 100 }.with_waiting(10 * (HEAD_FOOTPRINT + TAIL_CAPACITY));
        assert_eq!(size.tails, 110);
        assert!(size.heads >= 1010 + 10 * TAIL_CAPACITY / HEAD_FOOTPRINT);
        let mut partition = partitions(&[size]).unwrap().remove(0);
        assert_eq!((partition.used(), partition.free()), ((0, 0), (size.heads, 110)));
        for round in 0..50 {
            let mut frames: Vec<_> = (0..20).filter_map(|_| partition.take_head()).collect();
            for frame in &mut frames[..5] {
                assert!(partition.add_tail(frame));
                assert_eq!(frame.footprint(), HEAD_FOOTPRINT + TAIL_CAPACITY);
            }
            assert_eq!(frames[7].footprint(), HEAD_FOOTPRINT);
            for (at, frame) in frames.into_iter().enumerate() {
                // Some come home by the owner, some by others.
                if (at + round) % 2 == 0 { partition.recycle(frame) } else { drop(frame) }
            }
        }
        let (heads, tails) = partition.used();
        assert!(heads <= 40 && tails <= 10, "{heads} heads, {tails} tails");
        partition.collect();
        assert_eq!(partition.free(), (size.heads, 110));
    }

    #[test]
    fn a_tag_goes_between_addresses_and_type() {
        let mut partition = partitions(&[SMALL]).unwrap().remove(0);
        let mut frame = partition.take(18).unwrap();
        for (index, byte) in frame.head_mut().iter_mut().enumerate() {
            *byte = index as u8;
        }
        assert!(frame.insert_tag([0x81, 0, 0, 7]));
        assert_eq!(
            frame.head(),
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x81, 0, 0, 7, 12, 13, 14, 15, 16, 17]
        );
        assert_eq!(frame.len(), 22);
        assert!(frame.remove(12, 4));
        assert_eq!(frame.head(), (0..18).collect::<Vec<u8>>());
        assert!(!frame.remove(16, 4));
    }

    #[test]
    fn bytes_beyond_the_head_stay_when_some_of_it_are_taken_out() {
        let mut partition = partitions(&[SMALL]).unwrap().remove(0);
        let mut frame = partition.take_head().unwrap();
        assert!(partition.add_tail(&mut frame));
        assert!(frame.received(HEAD_CAPACITY + 10));
        let bytes: Vec<u8> = (0..HEAD_CAPACITY + 10).map(|at| at as u8).collect();
        frame.head_mut().copy_from_slice(&bytes[..HEAD_CAPACITY]);
        let tail = frame.tail().unwrap();
        // SAFETY: the span is the frame's own tail, which nobody else refers to.
        unsafe { std::slice::from_raw_parts_mut(tail.start, tail.len) }
            .copy_from_slice(&bytes[HEAD_CAPACITY..]);
        assert!(frame.remove(12, 4));
        assert_eq!(frame.to_vec(), [&bytes[..12], &bytes[16..]].concat());
    }

    #[test]
    fn the_tail_begins_where_the_head_is_full() {
        let mut partition = partitions(&[SMALL]).unwrap().remove(0);
        let mut frame = partition.take_head().unwrap();
        assert!(!frame.received(HEAD_CAPACITY + 1));
        assert!(partition.add_tail(&mut frame));
        assert!(frame.received(HEAD_CAPACITY + 10));
        assert_eq!((frame.head().len(), frame.len()), (HEAD_CAPACITY, HEAD_CAPACITY + 10));
        assert!(!frame.resize(10));
        assert_eq!(frame.footprint(), HEAD_CHUNK + TAIL_CAPACITY);
        let bytes: Vec<u8> = (0..HEAD_CAPACITY + 10).map(|at| at as u8).collect();
        frame.head_mut().copy_from_slice(&bytes[..HEAD_CAPACITY]);
        let tail = frame.tail().unwrap();
        // SAFETY: the span is the frame's own tail, which nobody else refers to.
        unsafe { std::slice::from_raw_parts_mut(tail.start, tail.len) }
            .copy_from_slice(&bytes[HEAD_CAPACITY..]);
        for range in [0..20, HEAD_CAPACITY - 5..HEAD_CAPACITY + 5, HEAD_CAPACITY + 2..HEAD_CAPACITY + 10] {
            let mut copy = vec![0; range.len()];
            assert!(frame.copy_to(range.start, &mut copy));
            assert_eq!(copy, bytes[range]);
        }
        assert!(!frame.copy_to(HEAD_CAPACITY - 5, &mut [0; 16]));
        assert!(!frame.copy_to(HEAD_CAPACITY + 8, &mut [0; 3]));
        assert!(frame.received(60));
        partition.strip_tail(&mut frame);
        assert_eq!(partition.free(), (3, 2));
        assert!(frame.resize(HEAD_CAPACITY));
        assert!(!frame.resize(HEAD_CAPACITY + 1));
    }

    #[test]
    fn threads_hammering_one_partition_lose_nothing() {
        let mut partition = partitions(&[PartitionSize { heads: 64, tails: 8 }]).unwrap().remove(0);
        let (sender, receiver) = std::sync::mpsc::sync_channel::<PoolFrame>(64);
        let receiver = std::sync::Arc::new(std::sync::Mutex::new(receiver));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let receiver = std::sync::Arc::clone(&receiver);
                scope.spawn(move || {
                    loop {
                        let frame = receiver.lock().unwrap().recv();
                        let Ok(frame) = frame else { break };
                        assert_eq!(frame.head(), [7; 60]);
                    }
                });
            }
            let mut sent = 0;
            while sent < 20_000 {
                let Some(mut frame) = partition.take(60) else {
                    std::thread::yield_now();
                    continue;
                };
                frame.head_mut().fill(7);
                sender.send(frame).unwrap();
                sent += 1;
            }
            drop(sender);
        });
        partition.collect();
        assert_eq!(partition.free(), (64, 8));
    }
}
