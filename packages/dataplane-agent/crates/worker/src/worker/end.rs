//! The ends of ports and TAPs that a worker holds.

use std::sync::Arc;

use tollway_config::dataplane::RowId;
use tollway_engine::engine::offload::Credit;
use tollway_engine::packet::frame::{Frame, VnetState};
use tollway_engine::pipeline::batch::BATCH;
use tollway_io::pool::Partition;
use tollway_io::scratch::{Outgoing, Scratch};
use tollway_io::tap::Tap;
use tollway_io::{PoolFrame, Port, PortIo};

use crate::counters::{PortCounters, WorkerDrop, WorkerDrops};

/// Frames that may wait for a port that is blocked.
pub(super) const TRANSMIT_QUEUE: usize = 512;
/// Frames that are gathered for a port before they are sent. Only queues that are removed with their configuration
/// release more at once.
pub(super) const TRANSMIT_GATHER: usize = TRANSMIT_QUEUE + 2 * BATCH;

/// The end of a port.
pub(super) struct PortEnd {
    pub(super) io: Option<Port>,
    /// Frames to take at a time.
    pub(super) burst: usize,
    pub(super) queue: Vec<Outgoing>,
    /// The port takes nothing until its descriptor is writable.
    pub(super) blocked: bool,
    /// The engine has been told that the port is blocked.
    pub(super) is_known_blocked: bool,
    /// It had no frame to receive into. Its descriptor may then not be readable, so that it is polled in every turn.
    pub(super) starved: bool,
    pub(super) counters: Arc<PortCounters>,
}

impl PortEnd {
    /// Sends the frames of the queue, as many as the port takes.
    pub(super) fn flush(&mut self, scratch: &mut Scratch, pool: &mut Partition, drops: &mut WorkerDrops) {
        if self.queue.is_empty() || self.blocked {
            return;
        }
        let Some(io) = &mut self.io else {
            for (frame, _) in self.queue.drain(..) {
                pool.recycle(frame);
            }
            return;
        };
        let sent = io.send(&mut self.queue, scratch, pool);
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

/// The end of an interface's TAP.
pub(super) struct TapEnd {
    pub(super) row: RowId,
    pub(super) tap: Tap,
    /// Its descriptor only reports errors; the device is gone.
    pub(super) dead: bool,
}

/// Counts what the kernel has forwarded from one port to another.
pub(super) fn count(ports: &[PortEnd], credit: &Credit) {
    let Credit { count, .. } = credit;
    if let Some(end) = ports.get(usize::from(credit.in_port)) {
        end.counters.rx_packets.add(count.packets);
        end.counters.rx_bytes.add(count.bytes);
    }
    if let Some(end) = ports.get(usize::from(credit.out_port)) {
        end.counters.tx_packets.add(count.packets);
        end.counters.tx_bytes.add(count.bytes);
        end.counters.fp_tx_packets.add(count.packets);
        end.counters.fp_tx_bytes.add(count.bytes);
    }
}

/// Writes a frame for the router itself to the TAP of the interface that has the address. `false` when
/// the kernel did not take it.
pub(super) fn send_local(
    end: &mut TapEnd,
    mut frame: PoolFrame,
    vnet: &VnetState,
    scratch: &mut Scratch,
    pool: &mut Partition,
) -> bool {
    let mac = end.tap.mac();
    if let Some(destination) = frame.head_mut().first_chunk_mut::<6>() {
        *destination = mac;
    }
    let sent = end.tap.send(&frame, vnet, scratch).is_ok();
    pool.recycle(frame);
    sent
}
