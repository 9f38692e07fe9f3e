//! The receive ring of a packet socket, shared with the kernel (packet(7), Linux's
//! `networking/packet_mmap.rst`, version 2).
//!
//! The kernel copies each received frame into a slot. Whether a frame is there can be read without a system call. A
//! slot has room for a single packet. Of a super-frame it holds the beginning, and the whole frame waits in the
//! socket's queue (`TP_STATUS_COPY`); it is read from there when its slot is reached, so that the order is kept.

use std::ffi::c_int;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use tollway_engine::packet::frame::VnetState;

use crate::gso::normalise;
use crate::mmsg::{MmsgBuffers, Received, vlan_tag_bytes};
use crate::packet_socket::option;
use crate::pool::{HEAD_CAPACITY, Partition, PoolFrame};
use crate::vnet::{VNET_HEADER, decode};

/// Bytes of a slot: room for a full Ethernet frame with two tags behind the kernel's headers.
const SLOT: usize = 2048;
/// Bytes of a block, the unit in which the kernel allocates the ring's memory.
const BLOCK: usize = 64 << 10;
/// Slots of a netdev, over all its sockets, and the fewest of one socket: 8,192 are 40 ms at 200,000 packets/s.
const SLOTS: usize = 16_384;
const MIN_SLOTS: usize = 1024;

/// Ring of a packet socket.
#[derive(Debug)]
pub struct PacketRing {
    memory: NonNull<u8>,
    slots: usize,
    next: usize,
    lost: u64,
}

// SAFETY: the mapping is ours alone on this side, and the kernel does not care which thread reads it.
unsafe impl Send for PacketRing {}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and length, and nothing refers to it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.slots * SLOT) };
    }
}

impl PacketRing {
    /// Sets up a ring for a socket that is not bound yet and that puts virtio-net headers before frames. The netdev has
    /// `sockets` such sockets.
    ///
    /// # Errors
    /// When the kernel lacks memory, or does not support virtio-net headers in rings (before 4.6).
    pub fn new(socket: &OwnedFd, sockets: usize) -> std::io::Result<Self> {
        let slots = (SLOTS / sockets.max(1)).next_power_of_two().max(MIN_SLOTS);
        let version = libc::tpacket_versions::TPACKET_V2 as c_int;
        option(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        option::<c_int>(socket, libc::SOL_PACKET, libc::PACKET_COPY_THRESH, &1)?;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK as u32,
            tp_block_nr: (slots * SLOT / BLOCK) as u32,
            tp_frame_size: SLOT as u32,
            tp_frame_nr: slots as u32,
        };
        option(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        // SAFETY: a shared mapping at an address of the kernel's choice touches no existing memory.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                slots * SLOT,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(memory.cast::<u8>()) {
            Some(start) if memory != libc::MAP_FAILED => Ok(Self { memory: start, slots, next: 0, lost: 0 }),
            _ => {
                let error = std::io::Error::last_os_error();
                // Otherwise frames would go to a ring that is not read.
                let none =
                    libc::tpacket_req { tp_block_size: 0, tp_block_nr: 0, tp_frame_size: 0, tp_frame_nr: 0 };
                option(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &none)?;
                Err(error)
            }
        }
    }

    fn slot(&self, after: usize) -> NonNull<u8> {
        // SAFETY: the index is below the number of slots that are mapped.
        unsafe { self.memory.add((self.next + after) % self.slots * SLOT) }
    }

    /// The status word of the slot that is read after `after` others.
    #[inline]
    fn status(&self, after: usize) -> &AtomicU32 {
        // SAFETY: a slot begins with `tp_status`, aligned, which the kernel and we write as a whole; the
        // mapping lives as long as `self`.
        unsafe { self.slot(after).cast::<AtomicU32>().as_ref() }
    }

    /// Whether a frame is there.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.status(0).load(Ordering::Relaxed) & libc::TP_STATUS_USER != 0
    }

    /// Gives slots back to the kernel.
    fn return_slots(&mut self, count: usize) {
        for after in 0..count {
            self.status(after).store(libc::TP_STATUS_KERNEL, Ordering::Release);
        }
        self.next = (self.next + count) % self.slots;
    }

    /// Super-frames that the kernel dropped since the last call, because the queue was full.
    pub fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Receives up to `limit` frames of the ring of `socket`, like [`MmsgBuffers::receive_messages`].
    ///
    /// # Errors
    /// The socket's error.
    pub fn receive(
        &mut self,
        socket: RawFd,
        limit: usize,
        buffers: &mut MmsgBuffers,
        pool: &mut Partition,
        mut sink: impl FnMut(PoolFrame, VnetState),
    ) -> std::io::Result<Received> {
        let mut result = Received::default();
        while result.taken < limit {
            let status = self.status(0).load(Ordering::Acquire);
            if status & libc::TP_STATUS_USER == 0 {
                break;
            }
            if status & libc::TP_STATUS_COPY != 0 {
                let run = self.copies(limit - result.taken);
                let received = buffers.receive_messages(socket, run, pool, &mut sink)?;
                if received.no_frame {
                    result.no_frame = true;
                    break;
                }
                // The queue is empty although the slot says otherwise: the frame is lost, the ring continues.
                let lost = usize::from(received.taken == 0);
                self.return_slots(received.taken + lost);
                result.taken += received.taken + lost;
                result.unusable += received.unusable + lost;
                continue;
            }
            let Some(mut frame) = pool.take_head() else {
                result.no_frame = true;
                break;
            };
            match self.copy(&mut frame, status) {
                Copied::Frame(state) => sink(frame, state),
                Copied::Unusable => {
                    result.unusable += 1;
                    pool.recycle(frame);
                }
                Copied::Beginning => {
                    self.lost += 1;
                    pool.recycle(frame);
                }
            }
            self.return_slots(1);
            result.taken += 1;
        }
        Ok(result)
    }

    /// Number of slots in a row, `limit` at most, that hold beginnings of frames that wait in the queue.
    fn copies(&self, limit: usize) -> usize {
        const BOTH: u32 = libc::TP_STATUS_USER | libc::TP_STATUS_COPY;
        let limit = limit.min(self.slots);
        (1..limit).find(|&after| self.status(after).load(Ordering::Acquire) & BOTH != BOTH).unwrap_or(limit)
    }

    /// Copies the frame of the next slot, which has this status.
    #[inline]
    fn copy(&self, frame: &mut PoolFrame, status: u32) -> Copied {
        let slot = self.slot(0);
        // SAFETY: a slot that is the user's begins with this header, aligned; the caller's acquire load of
        // its status makes what the kernel wrote before visible.
        let header = unsafe { slot.cast::<libc::tpacket2_hdr>().read() };
        let (start, length) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        if header.tp_len > header.tp_snaplen {
            return Copied::Beginning;
        }
        if start < VNET_HEADER || start + length > SLOT || length > HEAD_CAPACITY {
            return Copied::Unusable;
        }
        let (head, _) = frame.receive_spans();
        let mut vnet = [0; VNET_HEADER];
        // SAFETY: both ranges lie within the slot, as checked above; the head's span is the frame's own and has
        // room for HEAD_CAPACITY bytes.
        unsafe {
            let data = slot.as_ptr().add(start);
            std::ptr::copy_nonoverlapping(data.sub(VNET_HEADER), vnet.as_mut_ptr(), VNET_HEADER);
            std::ptr::copy_nonoverlapping(data, head.start, length);
        }
        let Some(mut state) = decode(&vnet).filter(|_| frame.received(length)) else {
            return Copied::Unusable;
        };
        if let Some(tag) = vlan_tag_bytes(status, header.tp_vlan_tpid, header.tp_vlan_tci) {
            if !frame.insert_tag(tag) {
                return Copied::Unusable;
            }
            if state.needs_csum {
                state.csum_start += tag.len() as u16;
            }
        }
        if normalise(frame, &mut state) { Copied::Frame(state) } else { Copied::Unusable }
    }
}

/// Result of copying out of a slot.
enum Copied {
    Frame(VnetState),
    Unusable,
    /// Only the first bytes: the socket's queue had no room for the whole frame.
    Beginning,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{PartitionSize, partitions};
    use std::os::unix::net::UnixDatagram;
    use tollway_engine::packet::frame::Frame;

    const SLOTS: usize = 8;
    const START: usize = 96;

    /// A ring in memory that the test fills as the kernel does; a socket pair stands for the queue.
    struct Kernel {
        ring: PacketRing,
        queue: UnixDatagram,
        socket: UnixDatagram,
        next: usize,
        pool: Partition,
        buffers: MmsgBuffers,
    }

    impl Kernel {
        fn new() -> Self {
            let (protection, flags) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            // SAFETY: an anonymous mapping at an address of the kernel's choice touches no existing memory.
            let memory = unsafe { libc::mmap(std::ptr::null_mut(), SLOTS * SLOT, protection, flags, -1, 0) };
            assert_ne!(memory, libc::MAP_FAILED);
            let memory = NonNull::new(memory.cast()).unwrap();
            let (queue, socket) = UnixDatagram::pair().unwrap();
            let pool = partitions(&[PartitionSize { heads: 100, tails: 70 }]).unwrap().remove(0);
            let ring = PacketRing { memory, slots: SLOTS, next: 0, lost: 0 };
            Self { ring, queue, socket, next: 0, pool, buffers: MmsgBuffers::new() }
        }

        fn fill(&mut self, frame: &[u8], status: u32, tci: u16) {
            let length = frame.len().min(SLOT - START);
            // SAFETY: `next` is below the number of slots, each of which has room for the header, START and
            // `length` bytes.
            unsafe {
                let slot = self.ring.memory.add(self.next * SLOT).as_ptr();
                let header = slot.cast::<libc::tpacket2_hdr>();
                assert_eq!((*header).tp_status, libc::TP_STATUS_KERNEL);
                (*header).tp_len = frame.len() as u32;
                (*header).tp_snaplen = length as u32;
                (*header).tp_mac = START as u16;
                (*header).tp_vlan_tci = tci;
                slot.add(START - VNET_HEADER).write_bytes(0, VNET_HEADER);
                std::ptr::copy_nonoverlapping(frame.as_ptr(), slot.add(START), length);
                (*header).tp_status = status | libc::TP_STATUS_USER;
            }
            self.next = (self.next + 1) % SLOTS;
        }

        fn packet(&mut self, length: usize, mark: u8) {
            self.fill(&vec![mark; length], 0, 0);
        }

        /// Adds a frame that is too long for a slot and waits in the queue.
        fn long_frame(&mut self, length: usize, mark: u8) {
            let frame = vec![mark; length];
            self.queue.send(&[vec![0; VNET_HEADER], frame.clone()].concat()).unwrap();
            self.fill(&frame, libc::TP_STATUS_COPY, 0);
        }

        /// Length and first byte of what is received.
        fn receive(&mut self, limit: usize) -> (Received, Vec<(usize, u8)>) {
            let mut frames = Vec::new();
            let sink = |frame: PoolFrame, _| frames.push((frame.len(), frame.head()[0]));
            let socket = self.socket.as_raw_fd();
            let received = self.ring.receive(socket, limit, &mut self.buffers, &mut self.pool, sink);
            (received.unwrap(), frames)
        }
    }

    #[test]
    fn frames_of_ring_and_queue_keep_their_order_round_after_round() {
        let mut kernel = Kernel::new();
        for round in 0..20 {
            assert!(!kernel.ring.is_ready());
            kernel.packet(60, round);
            kernel.long_frame(30_000, round + 1);
            kernel.long_frame(5_000, round + 2);
            kernel.packet(1514, round + 3);
            kernel.long_frame(2_000, round + 4);
            assert!(kernel.ring.is_ready());
            let (first, mut frames) = kernel.receive(2);
            let (rest, others) = kernel.receive(64);
            frames.extend(others);
            assert_eq!((first.taken, rest.taken), (2, 3));
            let expected = [60, 30_000, 5_000, 1514, 2_000].into_iter().zip(round..).collect::<Vec<_>>();
            assert_eq!(frames, expected);
        }
    }

    #[test]
    fn a_tag_that_the_kernel_took_off_is_put_back() {
        let mut kernel = Kernel::new();
        let frame: Vec<u8> = (0..60).collect();
        kernel.fill(&frame, libc::TP_STATUS_VLAN_VALID, 7);
        let (mut heads, socket) = (Vec::new(), kernel.socket.as_raw_fd());
        let sink = |frame: PoolFrame, _| heads.push(frame.head().to_vec());
        kernel.ring.receive(socket, 64, &mut kernel.buffers, &mut kernel.pool, sink).unwrap();
        assert_eq!(heads, [[&frame[..12], &[0x81, 0, 0, 7], &frame[12..]].concat()]);
    }

    #[test]
    fn what_cannot_be_received_is_counted_and_does_not_stop_the_ring() {
        let mut kernel = Kernel::new();
        // The queue was full; the queue has nothing although the slot says so.
        kernel.fill(&[1; 30_000], 0, 0);
        kernel.fill(&[2; 30_000], libc::TP_STATUS_COPY, 0);
        kernel.packet(60, 3);
        let (received, frames) = kernel.receive(64);
        assert_eq!((received.taken, received.unusable, kernel.ring.take_lost()), (3, 1, 1));
        assert_eq!(frames, [(60, 3)]);
        // Without frames in the pool everything stays where it is.
        let heads: Vec<_> = std::iter::from_fn(|| kernel.pool.take_head()).collect();
        kernel.packet(60, 4);
        assert_eq!(kernel.receive(64), (Received { no_frame: true, ..Received::default() }, vec![]));
        drop(heads);
        assert_eq!(kernel.receive(64).1, [(60, 4)]);
    }
}
