//! Which frames the kernel has, of one netdev.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::pool::{Lent, PoolFrame, Umem};

/// How long a driver with zero-copy may go on writing into frames after its socket was closed: the kernel
/// takes them from it in the background.
const LINGER: Duration = Duration::from_millis(100);

/// A mark per chunk of the UMEM. Only who owns a chunk changes its mark, so plain loads and stores do.
/// What the kernel still has when the sockets are closed goes back to the pool.
#[derive(Debug)]
pub struct LentFrames {
    umem: &'static Umem,
    marks: Box<[AtomicBool]>,
    zero_copy: bool,
}

impl LentFrames {
    /// Nothing is lent yet.
    pub fn new(umem: &'static Umem, zero_copy: bool) -> Self {
        Self { umem, marks: (0..umem.numbers()).map(|_| AtomicBool::new(false)).collect(), zero_copy }
    }

    /// Where the frames lie.
    pub fn umem(&self) -> &'static Umem {
        self.umem
    }

    /// Gives a frame to the kernel.
    ///
    /// # Errors
    /// The frame, when it is outside the UMEM or has a tail.
    #[inline]
    pub fn lend(&self, frame: PoolFrame) -> Result<Lent, PoolFrame> {
        let (chunk, lent) = frame.lend(self.umem)?;
        if let Some(mark) = self.marks.get(self.umem.number(chunk)) {
            mark.store(true, Ordering::Relaxed);
        }
        Ok(lent)
    }

    /// Gives the kernel a frame to receive into: where its chunk begins.
    ///
    /// # Errors
    /// As [`Self::lend`].
    #[inline]
    pub fn lend_whole(&self, frame: PoolFrame) -> Result<u64, PoolFrame> {
        let (chunk, _) = frame.lend(self.umem)?;
        if let Some(mark) = self.marks.get(self.umem.number(chunk)) {
            mark.store(true, Ordering::Relaxed);
        }
        Ok(chunk)
    }

    /// Takes back the frame in the chunk with the byte `at`, with `len` bytes from `offset` in the chunk on.
    /// `None` for what is not lent: the kernel cannot give a frame back twice, whatever it writes in a ring.
    #[inline]
    pub fn take_back(&self, at: u64, offset: u16, len: u16) -> Option<PoolFrame> {
        let number = self.umem.number(at);
        let mark = self.marks.get(number)?;
        if !mark.load(Ordering::Relaxed) || usize::from(offset) + usize::from(len) > Umem::CHUNK {
            return None;
        }
        mark.store(false, Ordering::Relaxed);
        // SAFETY: the mark says that the chunk was lent by `lend` and not taken back since.
        unsafe { self.umem.take_back(self.umem.chunk(number), offset, len) }
    }
}

impl Drop for LentFrames {
    /// Every socket has been closed: ports drop theirs first.
    fn drop(&mut self) {
        if self.zero_copy {
            std::thread::sleep(LINGER);
        }
        for number in 0..self.marks.len() {
            drop(self.take_back(self.umem.chunk(number), 0, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{PartitionSize, partitions};
    use tollway_engine::packet::frame::Frame;

    #[test]
    fn what_the_kernel_keeps_comes_home_when_the_port_is_closed() {
        let mut pools = partitions(&[PartitionSize { heads: 2000, tails: 1 }; 2]).unwrap();
        let lent = LentFrames::new(pools[0].umem(), false);
        let mut given = Vec::new();
        for pool in &mut pools {
            for _ in 0..1900 {
                let frame = pool.take_lendable().unwrap();
                given.push(lent.lend(frame).unwrap());
            }
            assert_eq!(pool.free().0, 100);
        }
        let mut places: Vec<u64> = given.iter().map(|lent| lent.at).collect();
        places.sort_unstable();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= Umem::CHUNK as u64));
        // A frame comes back by any byte of it, once, and by nothing that was not lent.
        for at in &places[..2000] {
            assert_eq!(lent.take_back(at + 100, 256, 1500).unwrap().len(), 1500);
            assert!(lent.take_back(*at, 256, 1500).is_none());
        }
        assert!(lent.take_back(u64::MAX >> 16, 256, 1500).is_none());
        assert!(lent.take_back(places[2000], 256, 2368 - 255).is_none());
        drop(lent);
        for pool in &mut pools {
            let all: Vec<_> = std::iter::from_fn(|| pool.take_head()).collect();
            assert_eq!(all.len(), 2000);
        }
    }

    #[test]
    fn a_frame_outside_or_with_a_tail_is_not_lent() {
        let mut pools =
            partitions(&[PartitionSize { heads: PartitionSize::WORKER.heads + 100, tails: 1 }]).unwrap();
        let pool = &mut pools[0];
        let lent = LentFrames::new(pool.umem(), false);
        let mut tailed = pool.take_head().unwrap();
        assert!(pool.add_tail(&mut tailed));
        assert!(lent.lend(tailed).is_err());
        let outside = pool.copy_outside(&[7; 60]).unwrap();
        let outside = lent.lend(outside).unwrap_err();
        assert_eq!(outside.head(), [7; 60]);
    }
}
