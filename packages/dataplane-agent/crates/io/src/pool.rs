//! One frame pool per process, partitioned by worker.
//!
//! A frame has a *head* of [`HEAD_CAPACITY`] contiguous bytes and, for super-frames, a *tail* of up to
//! [`TAIL_CAPACITY`] more. Both come from the partition of one worker. A dropped frame returns to that partition: the
//! owner of the partition uses [`Partition::recycle`], which accesses no shared memory; all others use the partition's
//! [`ReturnList`], a lock-free stack that the owner takes as a whole when its own lists are empty (so there is no ABA
//! problem, and a return never fails). Another worker's [`Partition::recycle`] collects frames in bundles, so that many
//! of them are one push.
//!
//! The first heads of every partition, as many as a worker needs to receive and to send, are adjacent:
//! they are the [`Umem`], in which AF_XDP sockets exchange frames without copying.

mod bundle;
mod frame;
mod fresh;
mod partition;
mod returns;
mod umem;

use std::ptr;

use tollway_engine::packet::frame::HEADROOM;

pub use frame::{PoolFrame, Span};
use fresh::span;
pub use partition::Partition;
use returns::FreeChunk;
pub use returns::ReturnList;
pub use umem::{Descriptor, Umem};

/// Bytes of a frame that are contiguous, at most.
pub const HEAD_CAPACITY: usize = HEAD_CHUNK - HEAD_OFFSET;

/// Bytes of a super-frame beyond its head, at most: with the head enough for 64 KiB of IP and two tags.
pub const TAIL_CAPACITY: usize = 64 << 10;

/// Memory of a frame without a tail, bytes.
pub const HEAD_FOOTPRINT: usize = HEAD_CHUNK;

/// Start of a received frame within its chunk. The room before it is for the chunk's header and for what is put before
/// the frame: headers of encapsulations, a VLAN tag that the kernel has taken off.
const HEAD_OFFSET: usize = 192;
const _: () = assert!(HEAD_OFFSET - size_of::<FreeChunk>() >= HEADROOM);
const HEAD_CHUNK: usize = 2368;
const HUGE_PAGE: usize = 2 << 20;

/// Size of one partition.
#[derive(Debug, Clone, Copy)]
pub struct PartitionSize {
    /// Frames.
    pub heads: usize,
    /// Number of super-frames among them.
    pub tails: usize,
}

impl PartitionSize {
    /// The memory with which a worker receives and sends: 37 MiB of heads, half of which two ports by AF_XDP use to
    /// receive, and 24 MiB of tails.
    pub const WORKER: PartitionSize = PartitionSize { heads: 16_384, tails: 384 };

    /// Adds to this size room for frames of `bytes` of footprint, whether none or all of them are super-frames.
    #[must_use]
    pub const fn with_waiting(self, bytes: usize) -> Self {
        Self {
            heads: self.heads + bytes / HEAD_FOOTPRINT,
            tails: self.tails + bytes / (HEAD_FOOTPRINT + TAIL_CAPACITY),
        }
    }

    /// Heads in the UMEM.
    fn umem_heads(self) -> usize {
        self.heads.min(Self::WORKER.heads)
    }

    /// Address space of the partition, bytes. Memory is allocated for what frames have used, and for what AF_XDP
    /// sockets have registered.
    pub fn bytes(self) -> usize {
        span(self.umem_heads(), HEAD_CHUNK)
            + span(self.heads - self.umem_heads(), HEAD_CHUNK)
            + span(self.tails, TAIL_CAPACITY)
    }
}

/// Makes the pool: one partition per entry of `sizes`. The memory stays mapped for the life of the
/// process, since frames may outlive every worker.
///
/// # Errors
/// The address space cannot be reserved.
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
    let lists: Vec<&'static ReturnList> = sizes.iter().map(|_| ReturnList::leak()).collect();
    let mut end = 0;
    let shares = sizes.iter().zip(&lists).map(|(size, list)| {
        end += span(size.umem_heads(), HEAD_CHUNK);
        (end, *list)
    });
    // SAFETY: the mapping stays for the life of the process, and the spans of all partitions lie within it.
    let umem: &'static Umem = Box::leak(Box::new(unsafe { Umem::new(next, shares.collect()) }));
    // SAFETY: the memory of the UMEM is part of the mapping, which has been sized for it and all partitions.
    next = unsafe { next.add(umem.len()) };
    let mut partitions = Vec::with_capacity(sizes.len());
    for ((size, list), umem_range) in sizes.iter().zip(lists).zip(umem.shares()) {
        partitions.push(Partition::carve(next, *size, list, umem, umem_range));
        // SAFETY: the sum of all partitions' bytes lies within the mapping.
        next = unsafe { next.add(size.bytes() - span(size.umem_heads(), HEAD_CHUNK)) };
    }
    Ok(partitions)
}

#[cfg(test)]
mod tests;
