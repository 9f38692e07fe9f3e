//! The rings that a socket shares with the kernel (Documentation/networking/af_xdp.rst): one side writes
//! entries and the producer index, the other the consumer index.

use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// A ring's memory.
#[derive(Debug)]
struct Map {
    start: NonNull<u8>,
    len: usize,
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
}

// SAFETY: the mapping belongs to this value alone; the kernel's side of it uses atomics.
unsafe impl Send for Map {}

impl Map {
    fn new(
        socket: &OwnedFd,
        page: libc::off_t,
        offsets: &libc::xdp_ring_offset,
        entries: usize,
    ) -> std::io::Result<Self> {
        let len = offsets.desc as usize + entries;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                socket.as_raw_fd(),
                page,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(std::io::Error::last_os_error)?;
        // SAFETY: the kernel says where its indices lie in the mapping, aligned for what they are.
        let index = |offset: u64| unsafe { start.add(offset as usize) }.cast();
        Ok(Self {
            start,
            len,
            producer: index(offsets.producer),
            consumer: index(offsets.consumer),
            flags: index(offsets.flags),
        })
    }

    fn producer(&self) -> &AtomicU32 {
        // SAFETY: it lies in the mapping, which lives as long as `self`.
        unsafe { self.producer.as_ref() }
    }

    fn consumer(&self) -> &AtomicU32 {
        // SAFETY: the index is in the mapping, which lives as long as `self`.
        unsafe { self.consumer.as_ref() }
    }

    fn needs_wakeup(&self) -> bool {
        // SAFETY: the flags are in the mapping, which lives as long as `self`.
        unsafe { self.flags.as_ref() }.load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the value owns the mapping, and no reference into it outlives the value.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// A ring that this process fills.
#[derive(Debug)]
pub struct Producer<T> {
    map: Map,
    entries: NonNull<T>,
    size: u32,
    /// Entries written, published or not.
    written: u32,
    /// Entries that the kernel had consumed when its index was last read.
    consumed: u32,
}

/// A ring that the kernel fills.
#[derive(Debug)]
pub struct Consumer<T> {
    map: Map,
    entries: NonNull<T>,
    size: u32,
    read: u32,
}

// SAFETY: the entries lie in the mapping that the value owns.
unsafe impl<T: Send> Send for Producer<T> {}
// SAFETY: the entries are in the mapping that the value owns.
unsafe impl<T: Send> Send for Consumer<T> {}

impl<T: Copy> Producer<T> {
    /// Maps a ring of `size` entries, a power of two, of a socket that has one.
    ///
    /// # Errors
    /// When it cannot be mapped.
    pub fn new(
        socket: &OwnedFd,
        page: libc::off_t,
        offsets: &libc::xdp_ring_offset,
        size: u32,
    ) -> std::io::Result<Self> {
        let map = Map::new(socket, page, offsets, size as usize * size_of::<T>())?;
        // SAFETY: the kernel says where the entries begin.
        let entries = unsafe { map.start.add(offsets.desc as usize) }.cast();
        Ok(Self { map, entries, size, written: 0, consumed: 0 })
    }

    /// Entries that can be written now.
    #[inline]
    pub fn room(&mut self) -> u32 {
        self.consumed = self.map.consumer().load(Ordering::Acquire);
        self.room_as_known()
    }

    #[inline]
    fn room_as_known(&self) -> u32 {
        self.size.saturating_sub(self.written.wrapping_sub(self.consumed))
    }

    /// Entries that the kernel has not consumed.
    #[inline]
    pub fn pending(&mut self) -> u32 {
        self.size - self.room()
    }

    /// Writes an entry, to be seen by the kernel after [`Self::publish`]. `false` when the ring is full.
    #[inline]
    pub fn write(&mut self, entry: T) -> bool {
        if self.room_as_known() == 0 && self.room() == 0 {
            return false;
        }
        let at = (self.written & (self.size - 1)) as usize;
        // SAFETY: the masked index is within the ring, and the kernel has consumed what was there.
        unsafe { self.entries.add(at).write(entry) };
        self.written = self.written.wrapping_add(1);
        true
    }

    /// Makes the written entries visible to the kernel.
    #[inline]
    pub fn publish(&self) {
        self.map.producer().store(self.written, Ordering::Release);
    }

    /// The kernel must be woken to read the ring.
    #[inline]
    pub fn needs_wakeup(&self) -> bool {
        self.map.needs_wakeup()
    }
}

impl<T: Copy> Consumer<T> {
    /// Maps the ring like [`Producer::new`].
    ///
    /// # Errors
    /// When it cannot be mapped.
    pub fn new(
        socket: &OwnedFd,
        page: libc::off_t,
        offsets: &libc::xdp_ring_offset,
        size: u32,
    ) -> std::io::Result<Self> {
        let map = Map::new(socket, page, offsets, size as usize * size_of::<T>())?;
        // SAFETY: the kernel says where the entries begin.
        let entries = unsafe { map.start.add(offsets.desc as usize) }.cast();
        Ok(Self { map, entries, size, read: 0 })
    }

    /// Whether the kernel has written nothing that has not been read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.map.producer().load(Ordering::Acquire) == self.read
    }

    /// Reads up to `limit` entries and gives their places back to the kernel. Returns how many there were.
    #[inline]
    pub fn drain(&mut self, limit: usize, mut sink: impl FnMut(T)) -> usize {
        let ready = self.map.producer().load(Ordering::Acquire).wrapping_sub(self.read).min(self.size);
        let count = ready.min(u32::try_from(limit).unwrap_or(u32::MAX));
        for _ in 0..count {
            let at = (self.read & (self.size - 1)) as usize;
            // SAFETY: the masked index is within the ring; the kernel wrote the entry before the index that we
            // have acquired, and does not touch it until we release it below.
            sink(unsafe { self.entries.add(at).read() });
            self.read = self.read.wrapping_add(1);
        }
        if count > 0 {
            self.map.consumer().store(self.read, Ordering::Release);
        }
        count as usize
    }
}
