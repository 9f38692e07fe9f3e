//! The flows of one worker that the kernel forwards: they are found in batches, and checked ten times a second and
//! whenever counters are requested.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use tollway_engine::Engine;
use tollway_engine::engine::offload::{Offload, OffloadHandle, OffloadedCounts};
use tollway_engine::ids::PortId;
use tollway_engine::packet::tuple::Tuple;
use tollway_engine::pipeline::batch::Batch;
use tollway_engine::time::Now;
use tollway_io::PoolFrame;
use tollway_io::flowtable::{Action, Flowtable, GRACE, Installed, Key, KeyKind, Share};
use tollway_wire::checksum::Delta;

/// Interval at which flows are checked, ns.
const INTERVAL: u64 = 100_000_000;
/// Offloaded flows without a packet for this time are removed, ns.
const IDLE: u64 = 30_000_000_000;

/// The resources with which a worker offloads flows to the kernel.
#[derive(Debug, Clone)]
pub struct OffloadResources {
    /// The table.
    pub table: Arc<Flowtable>,
    /// Netdevs whose packets it forwards, by port.
    pub ports: Arc<BTreeMap<PortId, u32>>,
    /// Number of the worker.
    pub worker: u32,
    /// Number of workers.
    pub workers: u32,
}

#[derive(Debug)]
struct Flow {
    installed: Installed,
    key: Key,
    handle: OffloadHandle,
    /// When the last forwarded packet was noticed, ns.
    used: u64,
    /// When it was removed from the table, ns.
    removed: Option<u64>,
}

/// The worker's flows in the table.
#[derive(Debug)]
pub(crate) struct OffloadedFlows {
    share: Share,
    ports: Arc<BTreeMap<PortId, u32>>,
    flows: Vec<Flow>,
    keys: HashSet<Key>,
    found: Vec<Offload>,
    due: u64,
}

impl OffloadedFlows {
    /// None yet.
    pub fn new(resources: OffloadResources) -> Self {
        let OffloadResources { table, ports, worker, workers } = resources;
        let share = Share::new(table, worker, workers);
        Self { share, ports, flows: Vec::new(), keys: HashSet::new(), found: Vec::new(), due: 0 }
    }

    /// Called when the ports have changed: flows in the table may use a port that is gone.
    pub fn set_ports(&mut self, ports: Arc<BTreeMap<PortId, u32>>) {
        self.ports = ports;
        self.share.table().invalidate();
    }

    /// Returns all flows to the workers, including those of other workers. Later flows have keys by connection with
    /// `tracking`, by addresses alone without.
    pub fn invalidate(&self, tracking: bool) {
        self.share.table().set_key_kind(if tracking { KeyKind::Flows } else { KeyKind::Pairs });
    }

    /// When [`Self::look`] has to be called; `None` if there are no flows.
    pub fn due(&self) -> Option<Now> {
        (!self.flows.is_empty()).then_some(Now(self.due))
    }

    /// To be called with a batch that has been processed.
    #[inline]
    pub fn take(&mut self, engine: &mut Engine<PoolFrame>, batch: &Batch<PoolFrame>, now: Now) {
        // Both directions of a TCP connection are offloaded, or none: otherwise neither side could track it.
        if !self.share.has_room(2) {
            return;
        }
        let epoch = self.share.epoch();
        engine.find_offload(batch, |port| self.ports.contains_key(&port), &mut self.found);
        if self.found.is_empty() {
            return;
        }
        for offload in std::mem::take(&mut self.found) {
            let Some((key, action)) = self.entry(&offload) else {
                engine.end_offload(&offload.handle);
                continue;
            };
            if !self.keys.insert(key) {
                continue;
            }
            let Some(installed) = self.share.install(key, &action, epoch) else {
                self.keys.remove(&key);
                engine.end_offload(&offload.handle);
                continue;
            };
            if self.flows.is_empty() {
                self.due = now.0 + INTERVAL;
            }
            self.flows.push(Flow { installed, key, handle: offload.handle, used: now.0, removed: None });
        }
    }

    fn entry(&self, offload: &Offload) -> Option<(Key, Action)> {
        let ifindex = *self.ports.get(&offload.in_port)?;
        let out_ifindex = *self.ports.get(&offload.out_port)?;
        let addresses = |tuple: &Tuple| tuple.src.as_v4().zip(tuple.dst.as_v4());
        let (from, to) = (offload.tuple, offload.target);
        let ((src, dst), (new_src, new_dst)) = (addresses(&from)?, addresses(&to)?);
        let key = if offload.address_pair_only {
            Key::address_pair(ifindex, src, dst)
        } else {
            Key::flow(ifindex, from.protocol, src, dst, from.src_port, from.dst_port)
        };
        let change = Delta::NONE.replace32(src, new_src).replace32(dst, new_dst);
        let ports = Delta::NONE.replace16(from.src_port, to.src_port).replace16(from.dst_port, to.dst_port);
        let action = Action {
            out_ifindex,
            mtu: offload.mtu,
            dst_mac: offload.dst_mac,
            src_mac: offload.src_mac,
            src: new_src,
            dst: new_dst,
            src_port: to.src_port,
            dst_port: to.dst_port,
            // The time to live is the upper half of its word.
            header_change: change.replace16(0x0100, 0).folded(),
            addresses_change: change.folded(),
            ports_change: ports.folded(),
        };
        Some((key, action))
    }

    /// Reads the counters of the kernel, and removes flows that are idle or that the engine would forward differently
    /// now. `credited` gets the packets that each flow has forwarded since the last call.
    pub fn look(
        &mut self,
        engine: &mut Engine<PoolFrame>,
        now: Now,
        mut credited: impl FnMut(&OffloadedCounts),
    ) {
        self.due = now.0 + INTERVAL;
        let mut at = 0;
        while let Some(flow) = self.flows.get_mut(at) {
            let (packets, bytes) = self.share.counts(&flow.installed);
            let credit = engine.add_offloaded_counts(&mut flow.handle, packets, bytes, now);
            if credit.count.packets > 0 {
                flow.used = now.0;
                credited(&credit);
            }
            match flow.removed {
                None => {
                    let idle = now.0.saturating_sub(flow.used) > IDLE;
                    if idle || !credit.right || !self.share.is_valid(&flow.installed) {
                        self.share.remove(&flow.installed);
                        engine.end_offload(&flow.handle);
                        flow.removed = Some(now.0);
                        self.keys.remove(&flow.key);
                    }
                }
                Some(since) if now.0.saturating_sub(since) > GRACE => {
                    let flow = self.flows.swap_remove(at);
                    self.share.free_slot(flow.installed);
                    continue;
                }
                Some(_) => {}
            }
            at += 1;
        }
    }

    /// Removes all flows. Packets that the kernel is forwarding at the time are not counted.
    pub fn end(mut self, engine: &mut Engine<PoolFrame>, now: Now, credited: impl FnMut(&OffloadedCounts)) {
        self.share.table().invalidate();
        self.look(engine, now, credited);
    }
}
