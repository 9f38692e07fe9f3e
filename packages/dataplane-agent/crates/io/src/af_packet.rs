//! A netdev by packet socket (packet(7)) with virtio-net headers, so that super-frames and partial checksums of local
//! stacks pass unchanged.

use std::ffi::c_int;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use tollway_engine::packet::frame::VnetState;

use crate::bpf::classic::Assembler;
use crate::fanout;
use crate::mmsg::{MmsgBuffers, Outgoing, Received};
use crate::packet_ring::PacketRing;
use crate::packet_socket::{PacketSocket, RingWatch, option};
use crate::pool::{Partition, PoolFrame};
use crate::port_io::{PortIo, Sent};

/// Bytes that may wait for the worker in the socket's queue before the kernel drops. Super-frames count with
/// their true size: 8 MiB are about 7 ms at 10 Gbit/s.
const RECEIVE_BUFFER: c_int = 8 << 20;

/// Bytes that may be in flight from this socket to the peer of a virtual link.
const SEND_BUFFER: c_int = 8 << 20;

/// `PACKET_FANOUT_FLAG_UNIQUEID`, `PACKET_FANOUT_FLAG_IGNORE_OUTGOING` (linux/if_packet.h).
const FANOUT_UNIQUE_ID: u32 = 0x2000;
const FANOUT_IGNORE_OUTGOING: u32 = 0x4000;
const FANOUT_CBPF: u32 = 6;
const PACKET_FANOUT_DATA: c_int = 22;
const PACKET_IGNORE_OUTGOING: c_int = 23;

/// A worker's packet socket on a netdev.
#[derive(Debug)]
pub struct AfPacketPort {
    socket: Arc<PacketSocket>,
    /// Without one, frames are read from the socket's queue.
    ring: Option<PacketRing>,
    /// Dropped frames that have been reported.
    reported: u64,
}

/// Method of receiving frames from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receive {
    /// By a memory-mapped ring, if the kernel grants one.
    Ring,
    /// From the socket's queue: a system call for every 64 frames, but no frame can block the others.
    Queue,
}

/// The sockets of one netdev, one per worker unless fanout was refused.
#[derive(Debug)]
pub struct Sockets {
    /// In the order of the workers.
    pub ports: Vec<AfPacketPort>,
    /// Why there is only one socket although more were requested.
    pub fanout_refused: Option<std::io::Error>,
}

/// Opens `workers` sockets on the netdev with index `ifindex` that share its frames by [`fanout::program`].
///
/// # Errors
/// When no socket can be opened: no privilege, or the netdev is gone.
pub fn open(ifindex: u32, workers: usize, receive: Receive) -> std::io::Result<Sockets> {
    let first = AfPacketPort::open(ifindex, workers, receive)?;
    let mut ports = vec![first];
    let mut fanout_refused = None;
    if workers > 1 {
        match join_all(ifindex, workers, receive, &mut ports) {
            Ok(()) => {}
            Err(error) => {
                // The sockets that have joined are dropped with the group; a new one receives alone.
                ports.clear();
                ports.push(AfPacketPort::open(ifindex, 1, receive)?);
                fanout_refused = Some(error);
            }
        }
    }
    for port in &ports {
        port.unblock()?;
    }
    Ok(Sockets { ports, fanout_refused })
}

fn join_all(
    ifindex: u32,
    workers: usize,
    receive: Receive,
    ports: &mut Vec<AfPacketPort>,
) -> std::io::Result<()> {
    let kind = (FANOUT_CBPF | FANOUT_IGNORE_OUTGOING) << 16;
    let [first] = ports.as_slice() else { return Ok(()) };
    first.socket.set(libc::SOL_PACKET, libc::PACKET_FANOUT, &(kind | FANOUT_UNIQUE_ID << 16))?;
    let group = first.fanout_group()?;
    let program = fanout::program(workers as u32);
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    first.socket.set(libc::SOL_PACKET, PACKET_FANOUT_DATA, &filter)?;
    for _ in 1..workers {
        let port = AfPacketPort::open(ifindex, workers, receive)?;
        port.socket.set(libc::SOL_PACKET, libc::PACKET_FANOUT, &(kind | group))?;
        ports.push(port);
    }
    Ok(())
}

impl AfPacketPort {
    /// A bound socket that a filter keeps empty until [`Self::unblock`], so that no frame is seen twice
    /// while a fanout group forms.
    fn open(ifindex: u32, sockets: usize, receive: Receive) -> std::io::Result<Self> {
        // SAFETY: the call takes no pointers.
        let fd = unsafe {
            libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0)
        };
        if fd < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and ours.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        let one: c_int = 1;
        option(&socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &one)?;
        option(&socket, libc::SOL_PACKET, libc::PACKET_AUXDATA, &one)?;
        let ring = match receive {
            Receive::Ring => PacketRing::new(&socket, sockets).ok(),
            Receive::Queue => None,
        };
        option(&socket, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &one)?;
        option(&socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &one)?;
        option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &RECEIVE_BUFFER)?;
        option(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER)?;
        let mut keeps_nothing = Assembler::default();
        keeps_nothing.op(libc::BPF_RET | libc::BPF_K, 0);
        let program = keeps_nothing.finish();
        let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
        option(&socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)?;
        // SAFETY: all-zero is a valid sockaddr_ll.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = ifindex as c_int;
        // SAFETY: `address` is a sockaddr_ll and the length is its size.
        let bound = unsafe {
            libc::bind(
                socket.as_raw_fd(),
                std::ptr::from_ref(&address).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        };
        if bound != 0 {
            return Err(std::io::Error::last_os_error());
        }
        let membership = libc::packet_mreq {
            mr_ifindex: ifindex as c_int,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        option(&socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)?;
        Ok(Self { socket: Arc::new(PacketSocket::new(socket)), ring, reported: 0 })
    }

    fn unblock(&self) -> std::io::Result<()> {
        self.socket.set::<c_int>(libc::SOL_SOCKET, libc::SO_DETACH_FILTER, &0)
    }

    /// A watch for another thread over the ring; `None` without one.
    pub fn watch(&self) -> Option<RingWatch> {
        self.ring.as_ref().map(|_| RingWatch::new(&self.socket))
    }

    fn fanout_group(&self) -> std::io::Result<u32> {
        Ok(self.socket.get::<u32>(libc::SOL_PACKET, libc::PACKET_FANOUT, 0)? & 0xffff)
    }
}

impl AsFd for AfPacketPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl PortIo for AfPacketPort {
    fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    #[inline]
    fn is_ready(&self) -> Option<bool> {
        self.ring.as_ref().map(PacketRing::is_ready)
    }

    fn receive(
        &mut self,
        limit: usize,
        buffers: &mut MmsgBuffers,
        pool: &mut Partition,
        sink: impl FnMut(PoolFrame, VnetState),
    ) -> std::io::Result<Received> {
        let socket = self.socket.as_raw_fd();
        let Some(ring) = &mut self.ring else {
            return buffers.receive_messages(socket, limit, pool, sink);
        };
        let received = ring.receive(socket, limit, buffers, pool, sink)?;
        if received.taken == 0 {
            // Poll may have reported an error (the netdev went down), and does so until it is read.
            match self.socket.get(libc::SOL_SOCKET, libc::SO_ERROR, 0)? {
                0 => {}
                error => return Err(std::io::Error::from_raw_os_error(error)),
            }
        }
        Ok(received)
    }

    fn send(&mut self, queue: &mut Vec<Outgoing>, buffers: &mut MmsgBuffers, pool: &mut Partition) -> Sent {
        let mut result = Sent::default();
        while result.taken < queue.len() {
            let pending = queue.get(result.taken..).unwrap_or_default();
            match buffers.send_messages(self.socket.as_raw_fd(), pending) {
                Ok(sent) => result.taken += sent,
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN | libc::EINTR) => {
                        result.full = true;
                        break;
                    }
                    // ENOBUFS: the device's queue refused the frame; other errors concern this frame or the whole
                    // device. In any case this frame is dropped and the next one is tried.
                    _ => {
                        result.taken += 1;
                        result.refused += 1;
                    }
                },
            }
        }
        for (frame, _) in queue.drain(..result.taken) {
            pool.recycle(frame);
        }
        result
    }

    fn take_kernel_drops(&mut self) -> u64 {
        let total = self.socket.dropped();
        let dropped = total - std::mem::replace(&mut self.reported, total);
        dropped + self.ring.as_mut().map_or(0, PacketRing::take_lost)
    }
}
