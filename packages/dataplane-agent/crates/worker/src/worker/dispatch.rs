//! Dispatch of the packets of a finished batch to their destinations.

use tollway_engine::packet::frame::Frame;
use tollway_engine::pipeline::batch::Outcome;
use tollway_engine::pipeline::handover::{Handover, HandoverContents};
use tollway_io::clock;

use super::Worker;
use super::worker_port::{TRANSMIT_GATHER, TRANSMIT_QUEUE, send_local};
use crate::counters::{WorkerDrop, on_the_wire};
use crate::profile::Activity;

impl Worker {
    /// Queues every finished packet at its port, TAP or worker.
    pub(super) fn dispatch(&mut self) {
        for done in self.batch.drain() {
            match done.outcome {
                Outcome::Tx { port } => {
                    let Some(port) = self.ports.get_mut(usize::from(port)) else {
                        self.drops.add(WorkerDrop::PortGone, 1);
                        self.pool.recycle(done.frame);
                        continue;
                    };
                    let (segments, bytes) = on_the_wire(done.frame.len(), &done.vnet);
                    if port.io.is_none() {
                        self.drops.add(WorkerDrop::PortGone, segments);
                        port.counters.tx_drops.add(segments);
                        self.pool.recycle(done.frame);
                        continue;
                    }
                    if port.queue.len() >= TRANSMIT_GATHER {
                        port.flush(&mut self.buffers, &mut self.pool, &mut self.drops);
                    }
                    if port.blocked && port.queue.len() >= TRANSMIT_QUEUE {
                        self.drops.add(WorkerDrop::TransmitQueueFull, segments);
                        port.counters.tx_drops.add(segments);
                        self.pool.recycle(done.frame);
                        continue;
                    }
                    port.counters.tx_packets.add(segments);
                    port.counters.tx_bytes.add(bytes);
                    if done.own {
                        port.counters.own_tx_packets.add(segments);
                        port.counters.own_tx_bytes.add(bytes);
                    }
                    if done.fast {
                        port.counters.fp_tx_packets.add(segments);
                        port.counters.fp_tx_bytes.add(bytes);
                    }
                    port.queue.push((done.frame, done.vnet));
                }
                Outcome::Local { interface } => {
                    let Some(tap) = self.taps.iter_mut().find(|tap| tap.row == interface) else {
                        self.drops.add(WorkerDrop::NoLocalService, 1);
                        self.pool.recycle(done.frame);
                        continue;
                    };
                    self.profile.charge(Activity::Ethernet);
                    if !send_local(tap, done.frame, &done.vnet, &mut self.buffers, &mut self.pool) {
                        self.drops.add(WorkerDrop::LocalQueueFull, 1);
                    }
                    self.profile.charge(Activity::Management);
                }
                Outcome::Handover { worker, packet } => {
                    let out = self.ends.outbound.get_mut(worker as usize).and_then(Option::as_mut);
                    let Some(out) = out else {
                        self.engine.not_handed_over(&packet);
                        self.drops.add(WorkerDrop::HandoverQueueFull, 1);
                        continue;
                    };
                    let contents = HandoverContents::Parsed(packet);
                    out.packets.gather(Handover { frame: done.frame, vnet: done.vnet, contents });
                }
            }
        }
        for out in self.ends.outbound.iter_mut().flatten() {
            let sent = out.packets.send(|refused| {
                if let HandoverContents::Parsed(packet) = &refused.contents {
                    self.engine.not_handed_over(packet);
                }
                self.drops.add(WorkerDrop::HandoverQueueFull, 1);
                self.pool.recycle(refused.frame);
            });
            if sent {
                out.wake.notify();
            }
        }
    }

    /// Sends the frames that are queued at the ports.
    pub(super) fn flush(&mut self) {
        for (number, port) in (0..).zip(&mut self.ports) {
            port.flush(&mut self.buffers, &mut self.pool, &mut self.drops);
            // The port sends the frames that it has before the engine dequeues more for it.
            let is_blocked = port.blocked && !port.queue.is_empty();
            if is_blocked != port.is_known_blocked {
                port.is_known_blocked = is_blocked;
                self.engine.set_port_blocked(number, is_blocked, clock::now());
            }
        }
    }
}
