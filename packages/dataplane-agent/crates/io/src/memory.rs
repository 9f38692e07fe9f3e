//! Ports in memory: rings to a simulated network in the same process.

use std::os::fd::RawFd;
use std::sync::Arc;

use rtrb::{Consumer, Producer, RingBuffer};
use tollway_engine::packet::frame::VnetState;

use crate::mmsg::{MmsgBuffers, Outgoing, Received};
use crate::pool::{Partition, PoolFrame};
use crate::port_io::{PortIo, Sent};
use crate::wake::Wake;

/// A worker's end of a memory port.
#[derive(Debug)]
pub struct MemoryPort {
    rx: Consumer<Outgoing>,
    tx: Producer<Outgoing>,
    wake: Arc<Wake>,
    peer: Arc<Wake>,
}

/// The network's end of one worker's memory port.
#[derive(Debug)]
pub struct MemoryPeer {
    /// Frames towards the router.
    pub tx: Producer<Outgoing>,
    /// Frames from the router.
    pub rx: Consumer<Outgoing>,
    /// To be notified after [`Self::tx`] was filled.
    pub wake: Arc<Wake>,
}

/// A port of `depth` frames each way. `peer` is woken when the router has sent something.
///
/// # Errors
/// When the process has no file descriptor left.
pub fn pair(depth: usize, peer: &Arc<Wake>) -> std::io::Result<(MemoryPort, MemoryPeer)> {
    let (to_router, rx) = RingBuffer::new(depth);
    let (tx, from_router) = RingBuffer::new(depth);
    let wake = Arc::new(Wake::new()?);
    // The descriptor is polled together with others, so the flag of a sleeper is always set.
    wake.before_sleep();
    let port = MemoryPort { rx, tx, wake: Arc::clone(&wake), peer: Arc::clone(peer) };
    Ok((port, MemoryPeer { tx: to_router, rx: from_router, wake }))
}

impl PortIo for MemoryPort {
    fn fd(&self) -> RawFd {
        self.wake.fd()
    }

    fn receive(
        &mut self,
        limit: usize,
        _buffers: &mut MmsgBuffers,
        _pool: &mut Partition,
        mut sink: impl FnMut(PoolFrame, VnetState),
    ) -> std::io::Result<Received> {
        self.wake.clear();
        let mut result = Received::default();
        while result.taken < limit {
            let Ok((frame, state)) = self.rx.pop() else { return Ok(result) };
            result.taken += 1;
            sink(frame, state);
        }
        if !self.rx.is_empty() {
            self.wake.signal();
        }
        Ok(result)
    }

    fn send(&mut self, queue: &mut Vec<Outgoing>, _buffers: &mut MmsgBuffers, pool: &mut Partition) -> Sent {
        let mut result = Sent::default();
        for outgoing in queue.drain(..) {
            result.taken += 1;
            if let Err(rtrb::PushError::Full((frame, _))) = self.tx.push(outgoing) {
                result.refused += 1;
                pool.recycle(frame);
            }
        }
        self.peer.notify();
        result
    }

    fn take_kernel_drops(&mut self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{PartitionSize, partitions};
    use tollway_engine::packet::frame::FrameSource;

    #[test]
    fn frames_cross_and_a_full_ring_refuses() {
        let mut partition = partitions(&[PartitionSize { heads: 8, tails: 0 }]).unwrap().remove(0);
        let peer_wake = Arc::new(Wake::new().unwrap());
        let (mut port, mut peer) = pair(2, &peer_wake).unwrap();
        let mut buffers = MmsgBuffers::new();
        for _ in 0..2 {
            peer.tx.push((partition.take(60).unwrap(), VnetState::default())).unwrap();
        }
        let mut queue = Vec::new();
        let received =
            port.receive(64, &mut buffers, &mut partition, |frame, state| queue.push((frame, state)));
        assert_eq!(received.unwrap().taken, 2);
        queue.push((partition.take(60).unwrap(), VnetState::default()));
        let sent = port.send(&mut queue, &mut buffers, &mut partition);
        assert_eq!((sent.taken, sent.refused, sent.full), (3, 1, false));
        assert_eq!(peer.rx.slots(), 2);
    }
}
