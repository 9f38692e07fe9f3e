//! The interface of port backends, and the dispatch between them: once per batch, never per packet.

use std::os::fd::RawFd;

use tollway_engine::packet::frame::VnetState;

use crate::af_packet::AfPacketPort;
use crate::memory::MemoryPort;
use crate::mmsg::{MmsgBuffers, Outgoing, Received};
use crate::packet_socket::RingWatch;
use crate::pool::{Partition, PoolFrame};
use crate::xdp::XdpPort;

/// Result of sending the frames at the front of a transmit queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sent {
    /// Frames taken off the queue, sent or refused.
    pub taken: usize,
    /// Number of frames that the port refused: malformed for it, or it is gone.
    pub refused: usize,
    /// The port had no room for the rest; poll it for output.
    pub full: bool,
}

/// A worker's end of a port.
pub trait PortIo {
    /// Descriptor that becomes readable when frames wait.
    fn fd(&self) -> RawFd;

    /// Whether frames wait; `None` if only a system call can find out.
    fn is_ready(&self) -> Option<bool> {
        None
    }

    /// To be called once by the worker that was given the port, before it receives.
    fn start(&mut self, _pool: &mut Partition) {}

    /// Receives up to `limit` frames and hands them to `sink`.
    ///
    /// # Errors
    /// When the port is gone or down.
    fn receive(
        &mut self,
        limit: usize,
        buffers: &mut MmsgBuffers,
        pool: &mut Partition,
        sink: impl FnMut(PoolFrame, VnetState),
    ) -> std::io::Result<Received>;

    /// Sends from the front of `queue`; frames that were sent or refused are removed.
    fn send(&mut self, queue: &mut Vec<Outgoing>, buffers: &mut MmsgBuffers, pool: &mut Partition) -> Sent;

    /// Frames that the kernel dropped before this socket since the last call, because its buffer was full.
    fn take_kernel_drops(&mut self) -> u64;
}

/// A port of any backend.
#[derive(Debug)]
pub enum Port {
    /// A netdev by packet socket.
    AfPacket(AfPacketPort),
    /// A netdev by AF_XDP.
    Xdp(XdpPort),
    /// A ring in memory.
    Memory(MemoryPort),
}

impl Port {
    /// A watch for another thread over its ring, which the kernel may stop.
    pub fn watch(&self) -> Option<RingWatch> {
        match self {
            Port::AfPacket(port) => port.watch(),
            Port::Xdp(_) | Port::Memory(_) => None,
        }
    }
}

impl PortIo for Port {
    fn fd(&self) -> RawFd {
        match self {
            Port::AfPacket(port) => port.fd(),
            Port::Xdp(port) => port.fd(),
            Port::Memory(port) => port.fd(),
        }
    }

    #[inline]
    fn is_ready(&self) -> Option<bool> {
        match self {
            Port::AfPacket(port) => port.is_ready(),
            Port::Xdp(port) => port.is_ready(),
            Port::Memory(port) => port.is_ready(),
        }
    }

    fn start(&mut self, pool: &mut Partition) {
        match self {
            Port::AfPacket(port) => port.start(pool),
            Port::Xdp(port) => port.start(pool),
            Port::Memory(port) => port.start(pool),
        }
    }

    fn receive(
        &mut self,
        limit: usize,
        buffers: &mut MmsgBuffers,
        pool: &mut Partition,
        sink: impl FnMut(PoolFrame, VnetState),
    ) -> std::io::Result<Received> {
        match self {
            Port::AfPacket(port) => port.receive(limit, buffers, pool, sink),
            Port::Xdp(port) => port.receive(limit, buffers, pool, sink),
            Port::Memory(port) => port.receive(limit, buffers, pool, sink),
        }
    }

    fn send(&mut self, queue: &mut Vec<Outgoing>, buffers: &mut MmsgBuffers, pool: &mut Partition) -> Sent {
        match self {
            Port::AfPacket(port) => port.send(queue, buffers, pool),
            Port::Xdp(port) => port.send(queue, buffers, pool),
            Port::Memory(port) => port.send(queue, buffers, pool),
        }
    }

    fn take_kernel_drops(&mut self) -> u64 {
        match self {
            Port::AfPacket(port) => port.take_kernel_drops(),
            Port::Xdp(port) => port.take_kernel_drops(),
            Port::Memory(port) => port.take_kernel_drops(),
        }
    }
}
