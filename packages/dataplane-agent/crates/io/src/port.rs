//! A port of any backend: dispatches to the backend once per batch, never per packet.

use std::os::fd::RawFd;

use tollway_engine::packet::frame::VnetState;

use crate::af_packet::AfPacketPort;
use crate::memory::MemoryPort;
use crate::mmsg::{MmsgBuffers, Outgoing, Received};
use crate::packet_socket::RingWatch;
use crate::pool::{Partition, PoolFrame};
use crate::port_io::{PortIo, Sent};
use crate::xdp::XdpPort;

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
    /// A watch over its ring, which the kernel may stop, for another thread.
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
