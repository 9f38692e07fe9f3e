//! Receives frames from ports, TAPs and other workers into the batch.

use tollway_engine::ids::PortId;
use tollway_engine::packet::frame::Frame;
use tollway_engine::pipeline::batch::BATCH;
use tollway_io::PortIo;
use tollway_io::mmsg::BURST;

use super::Worker;
use crate::counters::{WorkerDrop, on_the_wire};
use crate::profile::Activity;

/// Approximate number of bytes taken from a port at a time: received frames should still be in the core's cache when
/// they are sent. These are few super-frames, or whole bursts of small packets.
const BURST_BYTES: usize = 256 << 10;
/// Fewest frames taken from a port at a time.
const MIN_BURST: usize = 4;

impl Worker {
    /// Receives from the ports, rings and TAPs that the last poll found ready, and processes the frames.
    pub(super) fn receive(&mut self) {
        for index in 0..self.ends.inbound.len() {
            let Some(receiver) = self.ends.inbound.get_mut(index) else { continue };
            // One batch of each: a worker that sends faster than this one works must not keep it from its own ports and
            // from commands.
            let room = BATCH.saturating_sub(self.batch.len());
            let batch = &mut self.batch;
            if receiver.receive(room, |packet| batch.push_handover(packet)) == room {
                self.process();
            }
        }
        let ports = self.ports.len();
        for index in 0..ports {
            let revents = self.revents(1 + index);
            let Some(port) = self.ports.get_mut(index) else { continue };
            if revents & libc::POLLOUT != 0 {
                port.blocked = false;
            }
            if revents & !libc::POLLOUT != 0 || port.starved {
                self.receive_port(index);
            }
        }
        let mut died = false;
        for index in 0..self.taps.len() {
            if self.revents(1 + ports + index) != 0 {
                self.profile.charge(Activity::Ethernet);
                died |= self.receive_tap(index);
                self.profile.charge(Activity::Management);
            }
        }
        if died {
            self.rebuild_poll_set();
        }
        if !self.batch.is_empty() {
            self.process();
        } else if self.handover_pending() > 0 {
            self.dispatch();
        }
    }

    /// Maximum number of packets that are gathered for a worker.
    fn handover_pending(&self) -> usize {
        self.ends.outbound.iter().flatten().map(|out| out.packets.gathered()).max().unwrap_or(0)
    }

    fn receive_port(&mut self, index: usize) {
        if self.batch.len().max(self.handover_pending()) + BURST > BATCH {
            self.process();
        }
        let Some(port) = self.ports.get_mut(index) else { return };
        let Some(io) = &mut port.io else { return };
        let (mut packets, mut bytes) = (0, 0);
        let (batch, outbound, steering) = (&mut self.batch, &mut self.ends.outbound, self.engine.steering());
        let received = io.receive(port.burst, &mut self.buffers, &mut self.pool, |frame, vnet| {
            let (segments, length) = on_the_wire(frame.len(), &vnet);
            packets += segments;
            bytes += length;
            if let Some((worker, packet)) = steering.steer(batch, frame, index as PortId, vnet)
                && let Some(out) = outbound.get_mut(worker as usize).and_then(Option::as_mut)
            {
                out.packets.gather(packet);
            }
        });
        self.turn_bytes += bytes;
        port.counters.rx_packets.add(packets);
        port.counters.rx_bytes.add(bytes);
        // An error (the netdev went down or away) was consumed by the call; the control thread is
        // notified by the kernel and acts.
        let received = received.unwrap_or_default();
        port.starved = received.no_frame;
        if let Some(average) = (bytes as usize).checked_div(received.taken) {
            port.burst = BURST_BYTES.checked_div(average).unwrap_or(BURST).clamp(MIN_BURST, BURST);
        }
        if received.unusable > 0 {
            self.drops.add(WorkerDrop::FrameUnusable, received.unusable as u64);
            port.counters.rx_drops.add(received.unusable as u64);
        }
        if received.no_frame {
            // The frames stay in the socket; the kernel counts frames for which it has no room.
            std::thread::yield_now();
        }
    }

    /// Returns whether the TAP died.
    fn receive_tap(&mut self, index: usize) -> bool {
        if self.batch.len() + BURST > BATCH {
            self.process();
        }
        let Some(tap) = self.taps.get_mut(index) else { return false };
        let batch = &mut self.batch;
        let (row, own) = (tap.row, tap.tap.mac());
        let received = tap.tap.receive(BURST, &mut self.buffers, &mut self.pool, |mut frame, vnet| {
            // A device without ARP uses its own address as the destination of hosts that it does not know.
            if let Some(destination) = frame.head_mut().first_chunk_mut::<6>()
                && *destination == own
            {
                *destination = [0; 6];
            }
            batch.push_local(frame, row, vnet);
        });
        match received {
            Ok(received) => {
                self.drops.add(WorkerDrop::FrameUnusable, received.unusable as u64);
                false
            }
            Err(error) => {
                tap.dead = error.raw_os_error() != Some(libc::EIO);
                tap.dead
            }
        }
    }
}
