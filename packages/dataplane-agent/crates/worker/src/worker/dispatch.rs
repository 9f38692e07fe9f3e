//! Dispatch of the packets of a finished batch to their destinations.

use std::sync::Arc;

use tollway_engine::ids::LinkId;
use tollway_engine::packet::frame::Frame;
use tollway_engine::pipeline::batch::Outcome;
use tollway_engine::pipeline::handover::{Handover, HandoverContents};
use tollway_engine::snapshot::Encapsulations;
use tollway_io::clock;

use super::Worker;
use super::worker_port::{TRANSMIT_GATHER, TRANSMIT_QUEUE, send_local};
use crate::counters::{PortCounters, WorkerDrop, on_the_wire};
use crate::profile::Activity;

impl Worker {
    /// Queues every finished packet at its port, TAP or worker.
    pub(super) fn dispatch(&mut self) {
        for done in self.batch.drain() {
            match done.outcome {
                Outcome::Tx { port: number, link } => {
                    let Some(port) = self.ports.get_mut(usize::from(number)) else {
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
                    if link != number {
                        let (own, fast) = (done.own, done.fast);
                        count_above(
                            &self.links,
                            self.engine.encapsulations(),
                            link,
                            (segments, bytes),
                            (own, fast),
                        );
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

/// Counts `sent`, wire segments and the bytes of them with all tags, at a link above a port and at those between.
#[inline(never)]
fn count_above(
    links: &[Option<Arc<PortCounters>>],
    above: &Encapsulations,
    link: LinkId,
    (segments, bytes): (u64, u64),
    (own, fast): (bool, bool),
) {
    let mut at = link;
    while let Some(encapsulation) = above.get(at) {
        let place = usize::from(at - above.ports());
        if let Some(counters) = links.get(place).and_then(Option::as_ref) {
            let bytes = bytes.saturating_sub(segments * encapsulation.tags().len() as u64);
            counters.tx_packets.add(segments);
            counters.tx_bytes.add(bytes);
            if own {
                counters.own_tx_packets.add(segments);
                counters.own_tx_bytes.add(bytes);
            }
            if fast {
                counters.fp_tx_packets.add(segments);
                counters.fp_tx_bytes.add(bytes);
            }
        }
        at = encapsulation.lower;
    }
}
