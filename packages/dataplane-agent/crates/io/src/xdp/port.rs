//! One worker's end of a netdev that is open by AF_XDP.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex};

use tollway_engine::packet::frame::{Frame, FrameSource, Gso, VnetState};
use tollway_engine::qos::segment::Layout;

use super::bpf::Attached;
use super::kernel_frames::{KernelFrames, MAX_FRAME};
use super::ring::{Consumer, Producer};
use super::{checksum, sys};
use crate::mmsg::{MmsgBuffers, Outgoing, Received};
use crate::pool::{Descriptor, Partition, PoolFrame};
use crate::port_io::{PortIo, Sent};

/// Number of frames in a queue's fill ring, 40 ms at 100,000 packets/s; [`FILL_LEAST`] while free frames are scarce.
const FILL: u32 = 4096;
const FILL_LEAST: u32 = 128;

/// The state that the sockets of a netdev share. It is dropped after all of them.
#[derive(Debug)]
pub(super) struct Netdev {
    /// Frames that the kernel holds.
    pub(super) kernel_frames: KernelFrames,
    /// Frames are not copied between device and UMEM (`XDP_ZEROCOPY`).
    pub(super) zero_copy: bool,
    /// Frames may have partial checksums.
    pub(super) partial_checksums: bool,
    /// The program, attached for as long as this lives.
    pub(super) _attached: Attached,
    /// Socket that keeps the netdev in promiscuous mode (packet(7)).
    pub(super) _promiscuous: OwnedFd,
}

/// A queue that this worker receives.
#[derive(Debug)]
pub(super) struct Receiver {
    /// The AF_XDP socket.
    pub(super) socket: OwnedFd,
    /// Rx ring.
    pub(super) ring: Consumer<libc::xdp_desc>,
    /// Fill ring.
    pub(super) fill: Producer<u64>,
}

/// Transmit side of this worker.
#[derive(Debug)]
pub(super) struct Transmitter {
    /// `None` to send by the socket of the worker's first queue.
    socket: Option<OwnedFd>,
    ring: Producer<libc::xdp_desc>,
    completions: Arc<Mutex<Consumer<u64>>>,
}

impl Transmitter {
    /// Returns a transmitter; without a socket it sends by the socket of the worker's first queue.
    pub(super) fn new(
        socket: Option<OwnedFd>,
        ring: Producer<libc::xdp_desc>,
        completions: Arc<Mutex<Consumer<u64>>>,
    ) -> Self {
        Self { socket, ring, completions }
    }

    /// Reclaims the frames that have been sent. Does nothing while another worker reclaims them, since one worker does
    /// so for all.
    fn reclaim(&self, netdev: &Netdev, pool: &mut Partition) {
        let Ok(mut completions) = self.completions.try_lock() else { return };
        completions.drain(usize::MAX, |at| {
            if let Some(frame) = netdev.kernel_frames.reclaim(at, 0, 0) {
                pool.recycle(frame);
            }
        });
    }
}

/// A worker's end of the port.
#[derive(Debug)]
pub struct XdpPort {
    receivers: Vec<Receiver>,
    transmitter: Transmitter,
    /// Watches all queues when there are several.
    poll: Option<OwnedFd>,
    /// Queue at which the next receive call starts, for fairness.
    first_queue: usize,
    kernel_drops: u64,
    netdev: Arc<Netdev>,
}

/// Frames of the UMEM as a source of segments.
struct UmemFrames<'a>(&'a mut Partition);

impl FrameSource<PoolFrame> for UmemFrames<'_> {
    fn take(&mut self, len: usize) -> Option<PoolFrame> {
        let mut frame = self.0.take_umem_frame()?;
        frame.resize(len).then_some(frame)
    }
}

impl XdpPort {
    /// Makes the port of a worker from its sockets.
    pub(super) fn new(
        netdev: Arc<Netdev>,
        receivers: Vec<Receiver>,
        transmitter: Transmitter,
    ) -> std::io::Result<Self> {
        let poll = if receivers.len() > 1 { Some(watch(&receivers)?) } else { None };
        Ok(Self { receivers, transmitter, poll, first_queue: 0, kernel_drops: 0, netdev })
    }

    /// Number of descriptors that a queued frame takes; `None` for a frame that cannot be sent.
    fn descriptors(frame: &PoolFrame, vnet: &VnetState) -> Option<u32> {
        match vnet.gso {
            Gso::None => (frame.len() <= MAX_FRAME && frame.tail().is_none()).then_some(1),
            Gso::Tcp4 | Gso::Tcp6 | Gso::Udp => {
                let payload = frame.len().checked_sub(vnet.hdr_len.into())?;
                let fits = usize::from(vnet.hdr_len) + usize::from(vnet.gso_size) <= MAX_FRAME;
                fits.then(|| vnet.segments(payload))
            }
        }
    }

    /// Writes a frame, or its segments, to the ring, which must have room. Returns `false` when any part of the frame
    /// cannot be sent.
    fn transmit(&mut self, mut frame: PoolFrame, vnet: &VnetState, pool: &mut Partition) -> bool {
        let (ring, kernel_frames) = (&mut self.transmitter.ring, &self.netdev.kernel_frames);
        if vnet.gso != Gso::None {
            let sent = Layout::of_headers(frame.head(), vnet).is_some_and(|layout| {
                let mut complete = true;
                let left = layout.split(&frame, vnet, 1, &mut UmemFrames(pool), |mut piece| {
                    complete &= checksum::finish(&mut piece.frame, &piece.vnet);
                    complete &= submit(kernel_frames, ring, piece.frame);
                    true
                });
                complete && left == Default::default()
            });
            pool.recycle(frame);
            return sent;
        }
        if !checksum::finish(&mut frame, vnet) {
            pool.recycle(frame);
            return false;
        }
        if frame.chunk_in(kernel_frames.umem()).is_none() {
            // The frame is outside the UMEM and must be copied.
            let Some(mut copy) = UmemFrames(pool).take(frame.len()) else {
                pool.recycle(frame);
                return false;
            };
            copy.head_mut().copy_from_slice(frame.head());
            pool.recycle(std::mem::replace(&mut frame, copy));
        }
        submit(kernel_frames, ring, frame)
    }

    /// Makes the kernel send the frames in the ring. Returns `true` when frames remain because the kernel makes no
    /// progress.
    fn kick(&mut self, pool: &mut Partition) -> bool {
        let Self { receivers, transmitter, netdev, .. } = self;
        let Some(socket) = transmitter.socket.as_ref().or(receivers.first().map(|of| &of.socket)) else {
            return false;
        };
        let mut pending = transmitter.ring.pending();
        let mut stalled = 0;
        while pending > 0 && transmitter.ring.needs_wakeup() {
            let kicked = sys::kick_transmit(socket);
            if netdev.zero_copy {
                // The driver sends in the background.
                return false;
            }
            let left = transmitter.ring.pending();
            if let Err(error) = kicked {
                match error.raw_os_error() {
                    Some(libc::EAGAIN | libc::EBUSY | libc::ENOBUFS | libc::EINTR) => {}
                    // The netdev is down or gone: the frames stay in the ring until it is up again or the socket is
                    // closed.
                    _ => return false,
                }
                // Frames that were sent and not reclaimed may occupy the room that the kernel needs.
                transmitter.reclaim(netdev, pool);
            }
            stalled = if left < pending { 0 } else { stalled + 1 };
            if stalled > 1 {
                return true;
            }
            pending = left;
        }
        false
    }
}

/// Puts a frame of the UMEM in the ring.
#[inline]
fn submit(kernel_frames: &KernelFrames, ring: &mut Producer<libc::xdp_desc>, frame: PoolFrame) -> bool {
    match kernel_frames.submit(frame) {
        Ok(Descriptor { addr, len }) => ring.write(libc::xdp_desc { addr, len, options: 0 }),
        Err(_) => false,
    }
}

impl Receiver {
    /// Fills the fill ring. Returns whether the ring is still empty; the queue then receives nothing and its descriptor
    /// does not become readable.
    fn refill(&mut self, netdev: &Netdev, pool: &mut Partition) -> bool {
        let has = self.fill.pending();
        let mut added = 0;
        while has + added < FILL && (has + added < FILL_LEAST || !pool.umem_is_scarce()) {
            let Some(frame) = pool.take_umem_frame() else { break };
            let Ok(chunk) = netdev.kernel_frames.submit_for_receive(frame) else { break };
            self.fill.write(chunk);
            added += 1;
        }
        if added > 0 {
            self.fill.publish();
            if self.fill.needs_wakeup() {
                sys::kick_receive(&self.socket);
            }
        }
        has + added == 0
    }

    fn receive(
        &mut self,
        limit: usize,
        netdev: &Netdev,
        pool: &mut Partition,
        sink: &mut impl FnMut(PoolFrame, VnetState),
    ) -> Received {
        let scarce = pool.umem_is_scarce();
        let mut unusable = 0;
        let taken = self.ring.drain(limit, |descriptor| {
            let offset = (descriptor.addr >> OFFSET_SHIFT) as u16;
            let at = descriptor.addr & ((1 << OFFSET_SHIFT) - 1);
            let len = u16::try_from(descriptor.len).unwrap_or(u16::MAX);
            let Some(mut frame) = netdev.kernel_frames.reclaim(at, offset, len) else {
                unusable += 1;
                return;
            };
            if scarce && let Some(copy) = pool.copy_outside(frame.head()) {
                pool.recycle(std::mem::replace(&mut frame, copy));
            }
            let state = if netdev.partial_checksums {
                checksum::state_of(frame.head())
            } else {
                VnetState::default()
            };
            sink(frame, state);
        });
        Received { taken, unusable, no_frame: self.refill(netdev, pool) }
    }
}

/// Position of the offset in a descriptor of unaligned chunks (linux/if_xdp.h), bits.
const OFFSET_SHIFT: u32 = 48;

impl PortIo for XdpPort {
    fn fd(&self) -> RawFd {
        let own = self.poll.as_ref().or(self.receivers.first().map(|of| &of.socket));
        own.or(self.transmitter.socket.as_ref()).map_or(-1, AsRawFd::as_raw_fd)
    }

    fn is_ready(&self) -> Option<bool> {
        Some(self.receivers.iter().any(|receiver| !receiver.ring.is_empty()))
    }

    fn start(&mut self, pool: &mut Partition) {
        for receiver in &mut self.receivers {
            receiver.refill(&self.netdev, pool);
        }
    }

    fn receive(
        &mut self,
        limit: usize,
        _buffers: &mut MmsgBuffers,
        pool: &mut Partition,
        mut sink: impl FnMut(PoolFrame, VnetState),
    ) -> std::io::Result<Received> {
        self.transmitter.reclaim(&self.netdev, pool);
        let mut result = Received::default();
        let count = self.receivers.len();
        self.first_queue = self.first_queue.wrapping_add(1);
        for index in 0..count {
            let Some(receiver) = self.receivers.get_mut((self.first_queue + index) % count) else { continue };
            let received = receiver.receive(limit - result.taken, &self.netdev, pool, &mut sink);
            result.taken += received.taken;
            result.unusable += received.unusable;
            result.no_frame |= received.no_frame;
        }
        Ok(result)
    }

    fn send(&mut self, queue: &mut Vec<Outgoing>, _buffers: &mut MmsgBuffers, pool: &mut Partition) -> Sent {
        self.transmitter.reclaim(&self.netdev, pool);
        let mut result = Sent::default();
        let mut room = self.transmitter.ring.room();
        for (frame, vnet) in queue.iter() {
            let needed = Self::descriptors(frame, vnet).unwrap_or(0);
            let Some(left) = room.checked_sub(needed) else {
                result.full = true;
                break;
            };
            room = left;
            result.taken += 1;
        }
        for (frame, vnet) in queue.drain(..result.taken) {
            let sent = if Self::descriptors(&frame, &vnet).is_some() {
                self.transmit(frame, &vnet, pool)
            } else {
                pool.recycle(frame);
                false
            };
            result.refused += usize::from(!sent);
        }
        self.transmitter.ring.publish();
        result.full |= self.kick(pool);
        if result.full && self.poll.is_some() {
            // The epoll descriptor of several queues does not become writable. Frames that the netdev's queue does not
            // accept are dropped here, as the netdev would drop them.
            result.full = false;
            result.taken += queue.len();
            result.refused += queue.len();
            for (frame, _) in queue.drain(..) {
                pool.recycle(frame);
            }
        }
        result
    }

    fn take_kernel_drops(&mut self) -> u64 {
        let drops = |receiver: &Receiver| {
            let statistics = sys::get::<libc::xdp_statistics>(&receiver.socket, libc::XDP_STATISTICS);
            statistics.map_or(0, |statistics| statistics.rx_dropped + statistics.rx_ring_full)
        };
        let total = self.receivers.iter().map(drops).sum();
        total - std::mem::replace(&mut self.kernel_drops, total).min(total)
    }
}

/// A descriptor that is readable when one of the queues has frames.
fn watch(receivers: &[Receiver]) -> std::io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers.
    let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and ours.
    let epoll = unsafe { OwnedFd::from_raw_fd(fd) };
    for receiver in receivers {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        // SAFETY: `event` is valid; both descriptors are open.
        let added = unsafe {
            libc::epoll_ctl(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, receiver.socket.as_raw_fd(), &mut event)
        };
        if added != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(epoll)
}
