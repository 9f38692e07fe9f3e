//! The interface of port backends.

use std::os::fd::RawFd;

use tollway_engine::packet::frame::VnetState;

use crate::mmsg::{MmsgBuffers, Outgoing, Received};
use crate::pool::{Partition, PoolFrame};

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
