//! Tracks which frames of the UMEM the kernel owns on behalf of one netdev.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::pool::{Descriptor, PoolFrame, Umem};

/// Bytes that the kernel keeps free before a received frame (`XDP_PACKET_HEADROOM`).
const HEADROOM: usize = 256;

/// Maximum frame length, bytes, without FCS: one chunk, since multi-buffer frames are not supported.
pub const MAX_FRAME: usize = Umem::CHUNK - HEADROOM;

/// Time for which a driver with zero-copy may go on writing into frames after its socket was closed: the kernel
/// takes them from it in the background.
const LINGER: Duration = Duration::from_millis(100);

/// A mark per chunk of the UMEM, set while the kernel owns the chunk. Only the owner of a chunk changes its mark, so
/// relaxed loads and stores suffice. Frames that the kernel still owns when the sockets are closed are returned to the
/// pool.
#[derive(Debug)]
pub struct KernelFrames {
    umem: &'static Umem,
    marks: Box<[AtomicBool]>,
    zero_copy: bool,
}

impl KernelFrames {
    /// Returns an instance in which the kernel owns no frame.
    pub fn new(umem: &'static Umem, zero_copy: bool) -> Self {
        Self { umem, marks: (0..umem.numbers()).map(|_| AtomicBool::new(false)).collect(), zero_copy }
    }

    /// The memory of the frames.
    pub fn umem(&self) -> &'static Umem {
        self.umem
    }

    /// Makes the kernel the owner of a frame, to be sent.
    ///
    /// # Errors
    /// The frame, when it is outside the UMEM or has a tail.
    #[inline]
    pub fn submit(&self, frame: PoolFrame) -> Result<Descriptor, PoolFrame> {
        let (chunk, descriptor) = frame.submit(self.umem)?;
        if let Some(mark) = self.marks.get(self.umem.number(chunk)) {
            mark.store(true, Ordering::Relaxed);
        }
        Ok(descriptor)
    }

    /// Makes the kernel the owner of a frame to receive into. Returns where its chunk begins.
    ///
    /// # Errors
    /// As [`Self::submit`].
    #[inline]
    pub fn submit_for_receive(&self, frame: PoolFrame) -> Result<u64, PoolFrame> {
        let (chunk, _) = frame.submit(self.umem)?;
        if let Some(mark) = self.marks.get(self.umem.number(chunk)) {
            mark.store(true, Ordering::Relaxed);
        }
        Ok(chunk)
    }

    /// Takes back the chunk that contains the byte `at` and returns its frame, which has `len` bytes from `offset` in
    /// the chunk on. `None` when the kernel does not own the chunk, so that an entry that appears twice in a ring
    /// cannot return a frame twice.
    #[inline]
    pub fn reclaim(&self, at: u64, offset: u16, len: u16) -> Option<PoolFrame> {
        let number = self.umem.number(at);
        let mark = self.marks.get(number)?;
        if !mark.load(Ordering::Relaxed) || usize::from(offset) + usize::from(len) > Umem::CHUNK {
            return None;
        }
        mark.store(false, Ordering::Relaxed);
        // SAFETY: the mark says that the chunk was submitted and not reclaimed since.
        unsafe { self.umem.reclaim(self.umem.chunk(number), offset, len) }
    }
}

impl Drop for KernelFrames {
    /// Runs after every socket has been closed, as ports drop their sockets first.
    fn drop(&mut self) {
        if self.zero_copy {
            std::thread::sleep(LINGER);
        }
        for number in 0..self.marks.len() {
            drop(self.reclaim(self.umem.chunk(number), 0, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{PartitionSize, partitions};
    use tollway_engine::packet::frame::Frame;

    #[test]
    fn what_the_kernel_owns_is_returned_when_the_port_is_closed() {
        let mut pools = partitions(&[PartitionSize { heads: 2000, tails: 1 }; 2]).unwrap();
        let kernel = KernelFrames::new(pools[0].umem(), false);
        let mut given = Vec::new();
        for pool in &mut pools {
            for _ in 0..1900 {
                let frame = pool.take_umem_frame().unwrap();
                given.push(kernel.submit(frame).unwrap());
            }
            assert_eq!(pool.free().0, 100);
        }
        let mut places: Vec<u64> = given.iter().map(|descriptor| descriptor.addr).collect();
        places.sort_unstable();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= Umem::CHUNK as u64));
        // A frame comes back by any byte of it, once, and by nothing that was not submitted.
        for at in &places[..2000] {
            assert_eq!(kernel.reclaim(at + 100, 256, 1500).unwrap().len(), 1500);
            assert!(kernel.reclaim(*at, 256, 1500).is_none());
        }
        assert!(kernel.reclaim(u64::MAX >> 16, 256, 1500).is_none());
        assert!(kernel.reclaim(places[2000], 256, 2368 - 255).is_none());
        drop(kernel);
        for pool in &mut pools {
            let all: Vec<_> = std::iter::from_fn(|| pool.take_head()).collect();
            assert_eq!(all.len(), 2000);
        }
    }

    #[test]
    fn a_frame_outside_or_with_a_tail_is_not_submitted() {
        let mut pools =
            partitions(&[PartitionSize { heads: PartitionSize::WORKER.heads + 100, tails: 1 }]).unwrap();
        let pool = &mut pools[0];
        let kernel = KernelFrames::new(pool.umem(), false);
        let mut tailed = pool.take_head().unwrap();
        assert!(pool.add_tail(&mut tailed));
        assert!(kernel.submit(tailed).is_err());
        let outside = pool.copy_outside(&[7; 60]).unwrap();
        let outside = kernel.submit(outside).unwrap_err();
        assert_eq!(outside.head(), [7; 60]);
    }
}
