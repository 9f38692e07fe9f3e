//! Buffers and message headers of batched system calls; one set per worker, shared by its ports.

use std::os::fd::RawFd;

use tollway_engine::packet::frame::{Frame, VnetState};
use tollway_wire::ethernet;

use crate::gso::normalise;
use crate::pool::{Partition, PoolFrame};
use crate::vnet::{VNET_HEADER, decode, encode};

/// Frames per system call.
pub const BURST: usize = 64;

/// Room for `tpacket_auxdata` in a control message (cmsg(3)), in words of 8 bytes.
const CONTROL_WORDS: usize = 8;

/// A frame to send and its offload state.
pub type Outgoing = (PoolFrame, VnetState);

struct RxSlot {
    frame: Option<PoolFrame>,
    vnet: [u8; VNET_HEADER],
    vectors: [libc::iovec; 3],
    control: [u64; CONTROL_WORDS],
}

/// Result of one receive call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Received {
    /// Messages taken from the kernel.
    pub taken: usize,
    /// Number of unusable frames: longer than a frame can be, or with an offload that cannot be carried.
    pub unusable: usize,
    /// The pool had no frame to receive into: the port must be polled again, whether its descriptor is readable or not.
    pub no_frame: bool,
}

/// Buffers for `recvmmsg`, `sendmmsg`, `readv` and `writev`.
pub struct MmsgBuffers {
    slots: Box<[RxSlot]>,
    messages: Box<[libc::mmsghdr]>,
    tx_headers: Box<[[u8; VNET_HEADER]]>,
    tx_vectors: Box<[[libc::iovec; 3]]>,
}

// SAFETY: the pointers inside point into its own boxes and into frames it owns.
unsafe impl Send for MmsgBuffers {}

const NO_VECTOR: libc::iovec = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };

fn vector(start: *mut u8, len: usize) -> libc::iovec {
    libc::iovec { iov_base: start.cast(), iov_len: len }
}

impl Default for MmsgBuffers {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for MmsgBuffers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("MmsgBuffers").finish_non_exhaustive()
    }
}

impl MmsgBuffers {
    /// Buffers for [`BURST`] frames.
    pub fn new() -> Self {
        let slot = |_| RxSlot {
            frame: None,
            vnet: [0; VNET_HEADER],
            vectors: [NO_VECTOR; 3],
            control: [0; CONTROL_WORDS],
        };
        Self {
            slots: (0..BURST).map(slot).collect(),
            // SAFETY: all-zero is a valid mmsghdr: null pointers with zero lengths.
            messages: (0..BURST).map(|_| unsafe { std::mem::zeroed() }).collect(),
            tx_headers: vec![[0; VNET_HEADER]; BURST].into_boxed_slice(),
            tx_vectors: vec![[NO_VECTOR; 3]; BURST].into_boxed_slice(),
        }
    }

    /// Gives every slot a frame; returns how many have one.
    fn fill(&mut self, pool: &mut Partition, wanted: usize) -> usize {
        for (index, slot) in self.slots.iter_mut().take(wanted).enumerate() {
            if slot.frame.is_none() {
                slot.frame = pool.take_head();
            }
            let Some(frame) = &mut slot.frame else { return index };
            // A slot without a tail gets one as soon as tails are available: without a tail a super-frame does not fit.
            pool.add_tail(frame);
            let (head, tail) = frame.receive_spans();
            let header = vector(slot.vnet.as_mut_ptr(), VNET_HEADER);
            slot.vectors = [
                header,
                vector(head.start, head.len),
                tail.map_or(NO_VECTOR, |tail| vector(tail.start, tail.len)),
            ];
        }
        wanted.min(self.slots.len())
    }

    /// Receives up to `limit` frames with `recvmmsg` from a packet socket that puts a virtio-net header
    /// first, and hands them to `sink`.
    ///
    /// # Errors
    /// The socket's error, `WouldBlock` excepted.
    pub fn receive_messages(
        &mut self,
        socket: RawFd,
        limit: usize,
        pool: &mut Partition,
        mut sink: impl FnMut(PoolFrame, VnetState),
    ) -> std::io::Result<Received> {
        let ready = self.fill(pool, limit.min(BURST));
        let mut result = Received { no_frame: ready == 0, ..Received::default() };
        if ready == 0 {
            return Ok(result);
        }
        for (slot, message) in self.slots.iter_mut().zip(self.messages.iter_mut()).take(ready) {
            let header = &mut message.msg_hdr;
            header.msg_name = std::ptr::null_mut();
            header.msg_namelen = 0;
            header.msg_iov = slot.vectors.as_mut_ptr();
            header.msg_iovlen = slot.vectors.len() as _;
            header.msg_control = slot.control.as_mut_ptr().cast();
            header.msg_controllen = size_of_val(&slot.control) as _;
            header.msg_flags = 0;
        }
        // SAFETY: the first `ready` headers point to vectors and control buffers that live in `self` and to
        // frame memory owned by the slots' frames, each with its true length.
        let count = unsafe {
            libc::recvmmsg(
                socket,
                self.messages.as_mut_ptr(),
                ready as _,
                libc::MSG_DONTWAIT as _,
                std::ptr::null_mut(),
            )
        };
        let Ok(count) = usize::try_from(count) else {
            return Self::error(result);
        };
        result.taken = count;
        for (slot, message) in self.slots.iter_mut().zip(self.messages.iter()).take(count) {
            let Some(mut frame) = slot.frame.take() else { continue };
            let length = (message.msg_len as usize).saturating_sub(VNET_HEADER);
            let state = decode(&slot.vnet);
            let (true, false, Some(mut state)) =
                (frame.received(length), message.msg_hdr.msg_flags & libc::MSG_TRUNC != 0, state)
            else {
                result.unusable += 1;
                pool.recycle(frame);
                continue;
            };
            pool.strip_tail(&mut frame);
            if let Some(tag) = vlan_tag(&message.msg_hdr) {
                if !frame.insert_tag(tag) {
                    result.unusable += 1;
                    pool.recycle(frame);
                    continue;
                }
                if state.needs_csum {
                    state.csum_start += tag.len() as u16;
                }
            }
            if !normalise(&mut frame, &mut state) {
                result.unusable += 1;
                pool.recycle(frame);
                continue;
            }
            sink(frame, state);
        }
        Ok(result)
    }

    /// Receives up to `limit` frames with `readv` from a TAP with virtio-net headers.
    ///
    /// # Errors
    /// The descriptor's error, `WouldBlock` excepted.
    pub fn read_frames(
        &mut self,
        tap: RawFd,
        limit: usize,
        pool: &mut Partition,
        mut sink: impl FnMut(PoolFrame, VnetState),
    ) -> std::io::Result<Received> {
        let mut result = Received::default();
        while result.taken < limit {
            if self.fill(pool, 1) == 0 {
                result.no_frame = true;
                break;
            }
            let Some(slot) = self.slots.first_mut() else { break };
            // SAFETY: the vectors describe `slot.vnet` and memory owned by the slot's frame.
            let length = unsafe { libc::readv(tap, slot.vectors.as_ptr(), slot.vectors.len() as _) };
            let Ok(length) = usize::try_from(length) else {
                return Self::error(result);
            };
            result.taken += 1;
            let Some(mut frame) = slot.frame.take() else { break };
            let fits = length > VNET_HEADER && frame.received(length - VNET_HEADER);
            let state = decode(&slot.vnet).filter(|_| fits);
            let state = state.and_then(|mut state| normalise(&mut frame, &mut state).then_some(state));
            if let Some(state) = state {
                pool.strip_tail(&mut frame);
                sink(frame, state);
            } else {
                result.unusable += 1;
                pool.recycle(frame);
            }
        }
        Ok(result)
    }

    fn error(mut result: Received) -> std::io::Result<Received> {
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => Ok(result),
            // The kernel dropped a frame whose offload a virtio-net header cannot describe.
            Some(libc::EINVAL) => {
                result.taken += 1;
                result.unusable += 1;
                Ok(result)
            }
            _ => Err(error),
        }
    }

    /// Sends the frames at the front of `queue` with one `sendmmsg`. Returns how many the kernel took; 0
    /// with `WouldBlock` as the error when it has no room.
    ///
    /// # Errors
    /// The socket's error about the first frame of `queue`.
    pub fn send_messages(&mut self, socket: RawFd, queue: &[Outgoing]) -> std::io::Result<usize> {
        let count = queue.len().min(BURST);
        let buffers =
            self.tx_headers.iter_mut().zip(self.tx_vectors.iter_mut()).zip(self.messages.iter_mut());
        for ((frame, state), ((bytes, vectors), message)) in queue.iter().zip(buffers) {
            *bytes = encode(state, frame);
            let used = gather(bytes, vectors, frame);
            let header = &mut message.msg_hdr;
            header.msg_name = std::ptr::null_mut();
            header.msg_namelen = 0;
            header.msg_iov = vectors.as_mut_ptr();
            header.msg_iovlen = used as _;
            header.msg_control = std::ptr::null_mut();
            header.msg_controllen = 0;
            header.msg_flags = 0;
        }
        // SAFETY: the first `count` headers point to vectors in `self`, which describe headers in `self` and
        // memory of frames that `queue` keeps alive; the kernel only reads them.
        let sent = unsafe {
            libc::sendmmsg(socket, self.messages.as_mut_ptr(), count as _, libc::MSG_DONTWAIT as _)
        };
        usize::try_from(sent).map_err(|_| std::io::Error::last_os_error())
    }

    /// Writes one frame to a TAP with virtio-net headers.
    ///
    /// # Errors
    /// The descriptor's error.
    pub fn write_frame(&mut self, tap: RawFd, frame: &PoolFrame, state: &VnetState) -> std::io::Result<()> {
        let mut header = encode(state, frame);
        let mut vectors = [NO_VECTOR; 3];
        let used = gather(&mut header, &mut vectors, frame);
        // SAFETY: the vectors describe `header` and memory of `frame`, both alive; the kernel only reads.
        let written = unsafe { libc::writev(tap, vectors.as_ptr(), used as _) };
        if written < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    }
}

fn gather(header: &mut [u8; VNET_HEADER], vectors: &mut [libc::iovec; 3], frame: &PoolFrame) -> usize {
    let head = frame.head();
    vectors[0] = vector(header.as_mut_ptr(), header.len());
    vectors[1] = vector(head.as_ptr().cast_mut(), head.len());
    match frame.tail() {
        Some(tail) => {
            vectors[2] = vector(tail.start, tail.len);
            3
        }
        None => 2,
    }
}

/// The VLAN tag that the kernel has stripped from the frame, in wire format (packet(7), `PACKET_AUXDATA`).
fn vlan_tag(header: &libc::msghdr) -> Option<[u8; 4]> {
    // SAFETY: the kernel filled the control buffer that `header` describes; CMSG_FIRSTHDR checks lengths.
    let control = unsafe { libc::CMSG_FIRSTHDR(header).as_ref()? };
    if control.cmsg_level != libc::SOL_PACKET || control.cmsg_type != libc::PACKET_AUXDATA {
        return None;
    }
    let auxiliary: libc::tpacket_auxdata =
        // SAFETY: a PACKET_AUXDATA message holds a tpacket_auxdata, perhaps unaligned.
        unsafe { libc::CMSG_DATA(control).cast::<libc::tpacket_auxdata>().read_unaligned() };
    vlan_tag_bytes(auxiliary.tp_status, auxiliary.tp_vlan_tpid, auxiliary.tp_vlan_tci)
}

/// The VLAN tag that a packet socket reports for a frame with this status.
#[inline]
pub(crate) fn vlan_tag_bytes(status: u32, tpid: u16, tci: u16) -> Option<[u8; 4]> {
    if status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let tpid = if status & libc::TP_STATUS_VLAN_TPID_VALID != 0 { tpid } else { ethernet::VLAN };
    let [t0, t1] = tpid.to_be_bytes();
    let [c0, c1] = tci.to_be_bytes();
    Some([t0, t1, c0, c1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{HEAD_CAPACITY, PartitionSize, partitions};
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    /// A socket stands for the TAP: both are read with readv(2).
    #[test]
    fn a_slot_without_a_tail_gets_one_when_there_are_some_again() {
        let (reader, mut writer) = UnixStream::pair().unwrap();
        reader.set_nonblocking(true).unwrap();
        let mut pool = partitions(&[PartitionSize { heads: 2, tails: 1 }]).unwrap().remove(0);
        let mut buffers = MmsgBuffers::new();
        let mut other = pool.take_head().unwrap();
        assert!(pool.add_tail(&mut other));
        let mut lengths = Vec::new();
        let mut receive = |pool: &mut Partition| {
            buffers.read_frames(reader.as_raw_fd(), 1, pool, |frame, _| lengths.push(frame.len())).unwrap()
        };
        assert_eq!(receive(&mut pool), Received::default());
        pool.recycle(other);
        let length = HEAD_CAPACITY + 500;
        writer.write_all(&vec![0; VNET_HEADER + length]).unwrap();
        assert_eq!(receive(&mut pool), Received { taken: 1, ..Received::default() });
        assert_eq!(lengths, [length]);
    }
}
