//! A worker's share of a port: its socket, its transmit queue, its counters; and the TAPs that a worker reads.

use std::sync::Arc;

use tollway_config::dataplane::RowId;
use tollway_engine::engine::offload::OffloadedCounts;
use tollway_engine::packet::frame::{Frame, VnetState};
use tollway_engine::pipeline::batch::BATCH;
use tollway_io::mmsg::{MmsgBuffers, Outgoing};
use tollway_io::pool::Partition;
use tollway_io::tap::Tap;
use tollway_io::{PoolFrame, Port, PortIo};

use crate::counters::{PortCounters, WorkerDrop, WorkerDrops};

/// Maximum number of frames that wait for a blocked port.
pub(super) const TRANSMIT_QUEUE: usize = 512;
/// Frames that are gathered for a port before they are sent. Only queues that are removed with their configuration
/// send more at once.
pub(super) const TRANSMIT_GATHER: usize = TRANSMIT_QUEUE + 2 * BATCH;

/// A port as one worker uses it.
pub(super) struct WorkerPort {
    /// The port; `None` while it is not open.
    pub(super) io: Option<Port>,
    /// Frames to take at a time.
    pub(super) burst: usize,
    /// Frames to send at the end of the pass.
    pub(super) queue: Vec<Outgoing>,
    /// The port accepts no frames until its descriptor is writable.
    pub(super) blocked: bool,
    /// The engine knows that the port is blocked.
    pub(super) is_known_blocked: bool,
    /// There was no frame to receive into. The descriptor may then not be readable, so that the port is polled in every
    /// turn.
    pub(super) starved: bool,
    /// Counters of the port.
    pub(super) counters: Arc<PortCounters>,
}

impl WorkerPort {
    /// Sends the frames of the queue, as many as the port takes.
    pub(super) fn flush(&mut self, buffers: &mut MmsgBuffers, pool: &mut Partition, drops: &mut WorkerDrops) {
        if self.queue.is_empty() || self.blocked {
            return;
        }
        let Some(io) = &mut self.io else {
            for (frame, _) in self.queue.drain(..) {
                pool.recycle(frame);
            }
            return;
        };
        let sent = io.send(&mut self.queue, buffers, pool);
        self.blocked = sent.full;
        if sent.refused > 0 {
            drops.add(WorkerDrop::PortRefused, sent.refused as u64);
            self.counters.tx_drops.add(sent.refused as u64);
        }
    }

    /// Adds what the kernel has dropped before the port since the last call.
    pub(super) fn count_kernel_drops(&mut self, drops: &mut WorkerDrops) {
        let dropped = self.io.as_mut().map_or(0, PortIo::take_kernel_drops);
        self.counters.rx_drops.add(dropped);
        drops.add(WorkerDrop::ReceiveQueueFull, dropped);
    }
}

/// The TAP of an interface.
pub(super) struct WorkerTap {
    /// Row of the interface.
    pub(super) row: RowId,
    /// The TAP device of the interface in the namespace of the services.
    pub(super) tap: Tap,
    /// The device is gone: its descriptor only reports errors.
    pub(super) dead: bool,
}

/// Counts what the kernel has forwarded from one port to another.
pub(super) fn count(ports: &[WorkerPort], offloaded: &OffloadedCounts) {
    let OffloadedCounts { count, .. } = offloaded;
    if let Some(port) = ports.get(usize::from(offloaded.in_port)) {
        port.counters.rx_packets.add(count.packets);
        port.counters.rx_bytes.add(count.bytes);
    }
    if let Some(port) = ports.get(usize::from(offloaded.out_port)) {
        port.counters.tx_packets.add(count.packets);
        port.counters.tx_bytes.add(count.bytes);
        port.counters.fp_tx_packets.add(count.packets);
        port.counters.fp_tx_bytes.add(count.bytes);
    }
}

/// Writes a frame for the router itself to the TAP of the interface that has the address. `false` when
/// the kernel did not take it.
pub(super) fn send_local(
    tap: &mut WorkerTap,
    mut frame: PoolFrame,
    vnet: &VnetState,
    buffers: &mut MmsgBuffers,
    pool: &mut Partition,
) -> bool {
    let mac = tap.tap.mac();
    if let Some(destination) = frame.head_mut().first_chunk_mut::<6>() {
        *destination = mac;
    }
    let sent = tap.tap.send(&frame, vnet, buffers).is_ok();
    pool.recycle(frame);
    sent
}
