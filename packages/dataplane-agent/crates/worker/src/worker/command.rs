//! Commands of the control thread.

use tollway_engine::packet::frame::Frame;
use tollway_engine::packet::tuple::steer;
use tollway_engine::time::Now;
use tollway_io::{PortIo, clock};

use super::Worker;
use super::worker_port::{WorkerTap, count};
use crate::commands::{Answer, Command, Dump, DumpRange, WorkerReport};
use crate::counters::{WorkerDrop, on_the_wire};
use crate::offloaded_flows::{OffloadResources, OffloadedFlows};
use crate::profile::Activity;

impl Worker {
    /// Executes one command. Packets that have arrived by then are processed before the next one.
    pub(super) fn execute_next(&mut self) {
        let Ok(command) = self.ends.commands.pop() else { return };
        let answer = self.execute(command, clock::now());
        // The control thread waits for answers, so the ring has room.
        let _ = self.ends.answers.push(answer);
        self.ends.control.notify();
        self.profile.charge(Activity::Management);
    }

    fn execute(&mut self, command: Command, now: Now) -> Answer {
        if command.needs_flow_counters() {
            self.update_flows(now);
        }
        match command {
            Command::Apply(snapshot, links) => {
                self.copy_received(now);
                let tracking = snapshot.tracking();
                let old = self.engine.apply(snapshot, now);
                if let Some(flows) = &self.flows {
                    flows.invalidate(tracking);
                }
                Answer::Applied(old, std::mem::replace(&mut self.links, links))
            }
            Command::Stats => Answer::Stats(Box::new(self.report())),
            Command::Dump(dump, DumpRange { from, mut records }) => {
                let next = match dump {
                    Dump::Connections => self.engine.connections(from, Dump::PLACES, now, &mut records),
                    Dump::Queues => self.engine.queues(from, Dump::PLACES, now, &mut records),
                };
                Answer::Records(records, next)
            }
            Command::TokenBucket(row, after, mut records) => {
                self.engine.token_bucket(row, after, now, &mut records);
                Answer::Records(records, None)
            }
            Command::ResetQueueCounters(rows, mut records) => {
                self.engine.reset_queue_counters(&rows, &mut records);
                Answer::Records(records, None)
            }
            Command::RemoveConnections(ids) => {
                let removed = self.engine.remove_connections(&ids) as u64;
                self.update_flows(now);
                Answer::Count(removed)
            }
            Command::Offload(resources) => {
                self.offload(resources, now);
                Answer::Count(0)
            }
            Command::ResetCounters(rows) => {
                self.engine.reset_counters(&rows);
                Answer::Count(0)
            }
            Command::Restore(saved) => {
                let (own, workers) = (self.index, self.workers);
                let mine = saved.iter().filter(|saved| steer(&saved.reply, workers) == own);
                let restored = mine.filter(|saved| self.engine.restore(saved, now)).count();
                Answer::Count(restored as u64)
            }
            Command::SetPort(port, io) => {
                let mut old = None;
                if let Some(port) = self.ports.get_mut(usize::from(port)) {
                    port.count_kernel_drops(&mut self.drops);
                    old = std::mem::replace(&mut port.io, io);
                    (port.blocked, port.starved) = (false, false);
                    if let Some(io) = &mut port.io {
                        io.start(&mut self.pool);
                    }
                    for (frame, vnet) in port.queue.drain(..) {
                        let (segments, _) = on_the_wire(frame.len(), &vnet);
                        self.drops.add(WorkerDrop::PortGone, segments);
                        self.pool.recycle(frame);
                    }
                }
                self.rebuild_poll_set();
                Answer::Port(old)
            }
            Command::SetTap(row, tap) => {
                let at = self.taps.iter().position(|tap| tap.row == row);
                let old = at.map(|at| self.taps.swap_remove(at).tap);
                self.taps.extend(tap.map(|tap| WorkerTap { row, tap, dead: false }));
                self.rebuild_poll_set();
                Answer::Tap(old)
            }
            Command::Probe(tuple) => Answer::Probe(Box::new(self.engine.probe(&tuple))),
            Command::Trace(filters, buffer) => {
                let old = self.engine.trace(&filters, buffer);
                self.update_flows(now);
                Answer::Trace(old)
            }
            Command::Stop => {
                self.stopping = true;
                Answer::Count(0)
            }
        }
    }

    fn offload(&mut self, resources: Option<OffloadResources>, now: Now) {
        match (&mut self.flows, resources) {
            (Some(flows), Some(resources)) => flows.set_ports(resources.ports),
            (None, Some(resources)) => {
                let flows = OffloadedFlows::new(resources);
                flows.invalidate(self.engine.is_tracking());
                self.flows = Some(flows);
            }
            (flows, None) => {
                if let Some(flows) = flows.take() {
                    flows.end(&mut self.engine, now, |offloaded| count(&self.ports, offloaded));
                }
            }
        }
    }

    /// Updates the counters of offloaded flows from the kernel.
    pub(super) fn update_flows(&mut self, now: Now) {
        let Some(flows) = &mut self.flows else { return };
        flows.look(&mut self.engine, now, |offloaded| count(&self.ports, offloaded));
        self.count_fast_received();
    }

    fn report(&mut self) -> WorkerReport {
        for port in &mut self.ports {
            port.count_kernel_drops(&mut self.drops);
        }
        self.copy_received(clock::now());
        let engine = self.engine.stats();
        self.profile.charge(Activity::Management);
        let profile = self.profile.report(self.engine.class_cycles());
        WorkerReport { engine, profile, drops: self.drops }
    }
}
