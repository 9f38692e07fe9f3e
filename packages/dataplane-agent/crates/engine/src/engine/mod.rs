//! The engine of one worker: the stages and their state.

mod configure;
pub mod dry_run;
pub mod fast_path_handlers;
pub mod offload;
mod reports;
pub mod stats;

use std::sync::Arc;

use crate::flow::actions::FlowActions;
use crate::flow::cache_epoch::CacheEpoch;
use crate::flow::conntrack::{Change, ConnectionTable, Translated};
use crate::flow::paths::Paths;
use crate::ids::PortId;
use crate::ip::fragments::{FragmentLimits, Fragments};
use crate::ip::neighbor::NeighborRequest;
use crate::ip::neighbor::hold::{Holds, POLL_INTERVAL};
use crate::observe::profiler::CycleClock;
use crate::observe::trace::{Filters, TraceBuffer, Tracer};
use crate::packet::count::Count;
use crate::packet::family::Family;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::slow_reason::SLOW_REASONS;
use crate::packet::tuple::{Tuple, steer};
use crate::packet::verdict::{DROP_REASONS, DropReason, Verdict};
use crate::pipeline::batch::{BATCH, Batch};
use crate::pipeline::echo::echo_meta;
use crate::pipeline::handover::{HandoverMeta, HandoverPurpose};
use crate::pipeline::state::{AdjacencyCache, WorkerState};
use crate::pipeline::steering::Steering;
use crate::pipeline::{self, flow_handover, gateway_probe, stage, trace_packets};
use crate::qos::queues::{LeafLookup, Queues};
use crate::shared::Shared;
use crate::snapshot::Snapshot;
use crate::time::Now;

/// Maximum number of connections that are checked for expiry in a call of [`Engine::tick`].
const EXPIRE_BUDGET: usize = 1024;
/// Number of slots that are checked in a call for connections whose masqueraded address is gone.
const PURGE_BUDGET: u32 = 4096;
/// Minimum interval of two runs of the connection timers, ns.
const TIMER_INTERVAL: u64 = 10_000_000;

/// Bounds of one worker's state.
#[derive(Debug, Clone, Copy)]
pub struct EngineLimits {
    /// This worker's share of the connection table; the table's memory is reserved when the engine is
    /// made. The configuration's `max-entries` (over all workers) bounds it further.
    pub max_connections: u32,
    /// Maximum number of frames of this worker that may wait in queues; their slots are reserved when the engine is
    /// created.
    pub queue_frames: u32,
    /// Maximum memory that frames waiting in queues may occupy, bytes; see [`Frame::footprint`].
    pub queue_bytes: u64,
}

/// The packet path of one worker.
#[derive(Debug)]
pub struct Engine<F: Frame> {
    snapshot: Arc<Snapshot>,
    limits: EngineLimits,
    state: WorkerState<F>,
    /// When the connection timers last ran.
    timers_ran_at: Now,
    /// Part of [`WorkerState::flow_cache_forwarded`] that was forwarded by route alone.
    routed: Routed,
    /// Part of [`WorkerState::ipv6_forwarded`] that was forwarded by route alone.
    ipv6_routed: Routed,
}

/// Packets forwarded by their route alone.
#[derive(Debug, Clone, Copy, Default)]
struct Routed {
    /// Those up to the last change of the configuration.
    before: Count,
    /// What had been forwarded without a fasttrack mark at that change, in whatever way.
    then: Count,
}

impl<F: Frame> Engine<F> {
    /// An engine for worker `worker` of `workers`.
    pub fn new(
        worker: u32,
        workers: u32,
        shared: Arc<Shared>,
        snapshot: Arc<Snapshot>,
        capacity: EngineLimits,
    ) -> Self {
        let share = connection_share(&snapshot, workers, capacity);
        let seed = shared.seed();
        let most = (capacity.queue_frames, capacity.queue_bytes);
        let mut queues = Queues::new(worker, workers.max(1), most, seed);
        let none = LeafLookup { forest: &Arc::default(), table: &Arc::default(), utc_ns: 0 };
        let ports = snapshot.port_interfaces();
        let named = (snapshot.cache_epoch(), ports.as_slice());
        queues.reconfigure(
            &none,
            &snapshot.leaf_lookup(shared.wall_clock.offset_ns()),
            named,
            &shared.queues,
            Now(0),
        );
        let fragments = Fragments::new(Arc::clone(&shared.fragment_bytes), snapshot.fragment_limits());
        let fragments6 = Fragments::new(Arc::clone(&shared.fragment6_bytes), FragmentLimits::IPV6);
        let mut engine = Self {
            state: WorkerState {
                worker,
                workers: workers.max(1),
                shared,
                now: Now(0),
                batch: 0,
                cache_epoch: CacheEpoch::default(),
                table: ConnectionTable::new(worker, workers, share, seed as u32),
                actions: FlowActions::default(),
                paths: Paths::new(snapshot.rule_rows()),
                holds: Holds::default(),
                fragments,
                fragments6,
                queues,
                adjacencies: AdjacencyCache::default(),
                adjacencies6: AdjacencyCache::default(),
                resumes: Vec::new(),
                validities: Vec::with_capacity(2 * BATCH),
                utc_offset_ns: 0,
                evaluation: Default::default(),
                dry_run: false,
                trace: None,
                // Packets of several workers wait in one queue, and are distinguished by the lower half of their
                // numbers.
                trace_serial: worker << 12 & 0xffff,
                solicits: Vec::new(),
                advertisements: Vec::new(),
                router_solicits: Vec::new(),
                arp_pending: false,
                fragments_pending: false,
                ident: seed as u16,
                random: seed ^ u64::from(worker) << 32,
                drops: [0; DROP_REASONS],
                slow: [0; SLOW_REASONS],
                flow_cache_forwarded: Count::default(),
                fasttrack: Count::default(),
                ipv6_forwarded: Count::default(),
                ipv6_fasttrack: Count::default(),
                offloaded: Count::default(),
                fp_rx: vec![Count::default(); snapshot.ports()],
                vlan_rx: vec![Count::default(); snapshot.ports()],
                stages: Default::default(),
                handover_packets: 0,
                out_of_order: 0,
                generated: 0,
            },
            snapshot,
            limits: capacity,
            timers_ran_at: Now(0),
            routed: Routed::default(),
            ipv6_routed: Routed::default(),
        };
        if !engine.snapshot.rules(Family::V4).lists.is_bound() {
            engine.state.shared.take_over_lists(&engine.snapshot);
        }
        if worker == 0 && !engine.snapshot.gateway_checks().any() {
            engine.snapshot.probe_gateways();
        }
        engine.state.table.keep_validities(engine.snapshot.has_limited_validity());
        engine.sync_neighbors(Now(0));
        engine
    }

    /// Steering of the frames of the next burst: frames of other workers need not be parsed here, unless a trace has to
    /// record them. If the flow of a frame has moved, the worker to which the frame is steered hands it on.
    #[inline]
    pub fn steering(&self) -> Steering {
        let state = &self.state;
        if state.workers > 1 && self.snapshot.tracking() && state.trace.is_none() {
            Steering::new(state.worker, state.workers)
        } else {
            Steering::OFF
        }
    }

    /// Runs every stage over the batch. Afterwards each packet has a final verdict, and packets that the router
    /// generates (ARP, ICMP, resets) and packets that it has held have been added.
    pub fn process<S: FrameSource<F>, C: CycleClock>(
        &mut self,
        batch: &mut Batch<F>,
        source: &mut S,
        clock: &C,
        now: Now,
    ) {
        self.state.now = now;
        self.state.handover_packets += batch.take_unparsed_handovers();
        self.follow_links(batch);
        batch.queue_handovers_out.clear();
        batch.flow_handovers_out.clear();
        batch.first = self.send_deferred(batch, source);
        self.run(batch, source, clock);
    }

    /// Gives the batch the tags of links, and counts what it could not send.
    fn follow_links(&mut self, batch: &mut Batch<F>) {
        batch.set_encapsulations(self.snapshot.encapsulations());
        let lost = batch.take_without_headroom();
        if lost != 0 {
            self.state.count_drop(DropReason::NoHeadroom, u32::try_from(lost).unwrap_or(u32::MAX));
        }
    }

    fn run<S: FrameSource<F>, C: CycleClock>(&mut self, batch: &mut Batch<F>, source: &mut S, clock: &C) {
        self.state.utc_offset_ns = self.state.shared.wall_clock.offset_ns();
        loop {
            self.state.validities.clear();
            self.state.batch = self.state.batch.checked_add(1).unwrap_or(1);
            self.state.follow_changes();
            pipeline::run(&self.snapshot, &mut self.state, batch, source, clock);
            // Packets that the router has generated take a pass of their own, from `output` on. Such packets are never
            // answered, so the loop ends.
            batch.first = batch.end;
            if batch.first >= batch.packets.len() {
                break;
            }
        }
        self.state.table.free_ended();
        batch.queue_handovers_in.clear();
        flow_handover::remove_unused(&mut self.state, batch);
        if self.state.trace.is_some() {
            trace_packets::finish(&self.snapshot, &mut self.state);
        }
    }

    /// Inserts deferred packets that may be sent now at the front of the batch, as later packets of their flows may be
    /// in the batch. Returns their number.
    fn send_deferred<S: FrameSource<F>>(&mut self, batch: &mut Batch<F>, source: &mut S) -> usize {
        if self.state.queues.is_changing() {
            let state = &mut self.state;
            state.queues.expire_ordered_change(&state.shared.queues, state.now);
        }
        if !self.state.queues.has_sendable() {
            return 0;
        }
        let (lookup, now) = (self.snapshot.leaf_lookup(self.state.utc_ns()), self.state.now);
        let queues = &mut self.state.queues;
        let deferred = std::iter::from_fn(|| queues.take_sendable(&lookup, now))
            .map(|(waiting, src)| stage::queue::restore_packet(waiting, src));
        let before = batch.packets.len();
        batch.packets.splice(0..0, deferred);
        let first = batch.packets.len() - before;
        for index in 0..first {
            let Some(packet) = batch.packets.get_mut(index) else { break };
            let queue_handovers_out = &mut batch.queue_handovers_out;
            let request = packet.meta;
            let reply = stage::queue::resume_path(
                &self.snapshot,
                &mut self.state,
                queue_handovers_out,
                packet,
                source,
            );
            if let Some(reply) = reply {
                batch.push_generated(reply, echo_meta(&self.snapshot, &request));
            }
        }
        // The queue stage may have nothing to do in this batch, or there may be no pass at all.
        stage::queue::count_dropped(&mut self.state);
        if self.state.trace.is_some() {
            trace_packets::record_dequeued(
                &mut self.state,
                batch.packets.get_mut(..first).unwrap_or_default(),
            );
        }
        first
    }

    /// Sends packets that are due in the queues, at most a batch. They pass no stage again.
    fn dequeue<S: FrameSource<F>, C: CycleClock>(&mut self, batch: &mut Batch<F>, source: &mut S, clock: &C) {
        let state = &mut self.state;
        if state.queues.is_idle() {
            return;
        }
        let before = clock.cycles();
        let before_these = batch.packets.len();
        stage::queue::dequeue_at_most(&self.snapshot, state, batch, source, BATCH);
        stage::queue::count_dropped(state);
        if state.trace.is_some() {
            trace_packets::record_dequeued(state, batch.packets.get_mut(before_these..).unwrap_or_default());
        }
        if let Some(counters) = state.stages.last_mut() {
            counters.cycles += clock.cycles().saturating_sub(before);
        }
    }

    /// Timers: connection expiry, neighbour probes, held packets, fragments. May append packets to
    /// `batch`, which must be empty, exactly as [`Self::process`] does.
    pub fn tick<S: FrameSource<F>, C: CycleClock>(
        &mut self,
        batch: &mut Batch<F>,
        source: &mut S,
        clock: &C,
        now: Now,
    ) {
        self.follow_links(batch);
        let state = &mut self.state;
        state.now = now;
        let shared = Arc::clone(&state.shared);
        if shared.neighbors.age(now, |request| state.solicits.push(request)) {
            shared.change_counters.invalidate_all();
        }
        let solicits = &mut state.solicits;
        shared.address_states.age(now, |key| solicits.push(NeighborRequest { key, unicast: None }));
        let advertisements = &mut state.advertisements;
        let is_ready = |row| shared.has_link_local(&self.snapshot, row);
        shared.router_advertisements.age(now, is_ready, |advertisement| advertisements.push(advertisement));
        let router_solicits = &mut state.router_solicits;
        shared.heard_routers.age(now, is_ready, |row| router_solicits.push(row));
        while let Some(fragments) = state.fragments.expire(now).or_else(|| state.fragments6.expire(now)) {
            for mut fragment in fragments {
                state.drop(&mut fragment, DropReason::FragmentTimeout);
            }
        }
        if state.table.next_deadline().is_some_and(|due| due <= now) {
            state.table.expire(now, EXPIRE_BUDGET, &self.snapshot.timeouts);
            self.timers_ran_at = now;
            unpublish(state);
        }
        if state.table.is_purging() {
            purge(&self.snapshot, state);
        }
        batch.queue_handovers_out.clear();
        batch.first = self.send_deferred(batch, source);
        self.dequeue(batch, source, clock);
        if self.state.worker == 0 {
            let (snapshot, state) = (&self.snapshot, &mut self.state);
            gateway_probe::send(snapshot, state, batch, source);
        }
        let unfinished = batch.packets.iter().position(|packet| packet.meta.verdict == Verdict::Continue);
        let WorkerState { solicits, advertisements, router_solicits, .. } = &self.state;
        let messages = !solicits.is_empty() || !advertisements.is_empty() || !router_solicits.is_empty();
        if unfinished.is_some() || !self.state.holds.is_empty() || messages {
            batch.first = unfinished.unwrap_or(batch.packets.len());
            self.run(batch, source, clock);
        } else if self.state.trace.is_some() {
            trace_packets::finish(&self.snapshot, &mut self.state);
        }
    }

    /// When [`Self::tick`] has to be called next; `None` if nothing is pending.
    pub fn next_deadline(&self) -> Option<Now> {
        let state = &self.state;
        let connections = state.table.next_deadline().map(|due| {
            // Deadlines that are close to each other wake the worker only once.
            due.max(Now(self.timers_ran_at.0.saturating_add(TIMER_INTERVAL)))
        });
        let shared = &state.shared;
        let next = shared.neighbors.next_due().min(shared.address_states.next_due());
        let next = next.min(shared.router_advertisements.next_due()).min(shared.heard_routers.next_due());
        let neighbors = Some(Now(next)).filter(|due| due.0 != u64::MAX);
        let holds = (!state.holds.is_empty()).then(|| Now(state.now.0.saturating_add(POLL_INTERVAL)));
        let queues = state.queues.next_deadline(state.now);
        let purge = state.table.is_purging().then_some(state.now);
        let solicits = (!state.solicits.is_empty()).then_some(state.now);
        let [fragments, fragments6] = [&state.fragments, &state.fragments6].map(Fragments::next_deadline);
        let probes = Some(Now(self.snapshot.gateway_checks().next_due()));
        let probes = probes.filter(|due| state.worker == 0 && due.0 != u64::MAX);
        [connections, neighbors, holds, fragments, fragments6, queues, purge, solicits, probes]
            .into_iter()
            .flatten()
            .min()
    }

    /// To be called when all packets returned by [`Self::process`] and [`Self::tick`] so far have been sent: queues
    /// that only other workers use can then be released to them without reordering packets.
    pub fn sent(&mut self) {
        let state = &mut self.state;
        state.queues.acknowledge(&state.shared.queues, state.now);
    }

    /// To be called after [`Self::sent`] when the worker is about to sleep: releases empty queues that other workers
    /// use too, so that these need not wake this worker. Returns whether deadlines may have changed.
    pub fn before_sleep(&mut self, now: Now) -> bool {
        self.state.queues.before_sleep(now)
    }

    /// Whether it waits for other workers to take over the queue configuration.
    pub fn is_changing(&self) -> bool {
        self.state.queues.is_changing()
    }

    /// To be called when a port accepts no packets for now, and when it accepts them again: until then they wait in the
    /// queue of its interface, if it has one.
    pub fn set_port_blocked(&mut self, port: PortId, blocked: bool, now: Now) {
        self.state.queues.set_blocked(port, blocked, now);
        let above = self.snapshot.encapsulations().iter().filter(|(_, above)| above.port == port);
        above.for_each(|(link, _)| self.state.queues.set_blocked(link, blocked, now));
    }

    /// To be called for a packet that could not be handed over.
    pub fn not_handed_over(&mut self, packet: &HandoverMeta) {
        match &packet.purpose {
            HandoverPurpose::Flow => {}
            HandoverPurpose::Queue(handover) => {
                self.state.queues.cancel_handover(&handover.remaining);
                self.state.queues.uncount_departed(handover.to);
            }
            // Otherwise packets of the flow would be sent to a worker that has no connection for it.
            HandoverPurpose::NewFlow(flow) => {
                let (original, directory) = (packet.tuple(), &self.state.shared.directory);
                if flow.first
                    && let Some(owner) = directory.owner(&original)
                {
                    directory.remove(&original, owner);
                }
            }
        }
    }

    /// Records packets that match any of the filters in `buffer` from now on; without filters, stops tracing. Returns
    /// the buffer that was in use.
    pub fn trace(&mut self, filters: &Filters, buffer: Option<TraceBuffer>) -> Option<TraceBuffer> {
        let tracer = &mut self.state.trace;
        if filters.iter().all(Option::is_none) {
            let _unused = buffer;
            return tracer.take().map(|tracer| tracer.into_buffer());
        }
        match (tracer, buffer) {
            (Some(tracer), buffer) => {
                tracer.set_filters(*filters);
                buffer.map(|buffer| tracer.exchange(buffer))
            }
            (none, Some(buffer)) => {
                *none = Some(Box::new(Tracer::new(*filters, buffer)));
                None
            }
            (None, None) => None,
        }
    }

    /// Whether connections are tracked.
    pub fn is_tracking(&self) -> bool {
        self.snapshot.tracking()
    }

    /// The parts that [`crate::engine::offload`] works with.
    pub(crate) fn offload_parts(&mut self) -> (&Snapshot, &mut WorkerState<F>) {
        (&self.snapshot, &mut self.state)
    }

    /// The parts that [`Self::probe`] reads: the connections, their actions, and the state of the random numbers.
    pub(crate) fn for_probe(&self) -> (&ConnectionTable, &FlowActions, u64) {
        (&self.state.table, &self.state.actions, self.state.random)
    }

    /// Makes this the engine of a dry run: rules do not count and add no list entries, and `fill` sets up its
    /// connection table.
    pub(crate) fn become_dry_run(
        &mut self,
        random: u64,
        fill: impl FnOnce(&mut ConnectionTable, &mut FlowActions),
    ) {
        self.state.random = random;
        self.state.dry_run = true;
        self.state.follow_changes();
        fill(&mut self.state.table, &mut self.state.actions);
    }

    /// Tuple of the replies to packets with this tuple, if a connection is known.
    pub(crate) fn reply_of(&self, tuple: &Tuple) -> Option<Tuple> {
        let (reference, direction) = self.state.table.find(tuple)?;
        self.state.table.tuples(reference).map(|conn| *conn.tuple(direction.reverse()))
    }

    /// Removes a connection. Returns `false` if this worker has none with this id.
    pub fn remove_connection(&mut self, id: u64) -> bool {
        self.remove_connections(&[id]) != 0
    }

    /// Removes connections. Returns how many of these ids this worker had.
    pub fn remove_connections(&mut self, ids: &[u64]) -> usize {
        let removed = self.state.table.remove_all(ids);
        unpublish(&mut self.state);
        removed
    }

    /// The oldest change of the translated TCP connections that has not been taken, for the journal; `None` when all
    /// are taken.
    pub fn take_change(&mut self) -> Option<Change> {
        self.state.table.take_change()
    }

    /// Restores a connection from the journal of an earlier run. Returns `false` if there is no room, or if another
    /// connection has its tuple. Its replies must be steered to this worker by [`crate::packet::tuple::steer`]; to be
    /// called before packets are processed.
    pub fn restore(&mut self, saved: &Translated, now: Now) -> bool {
        let state = &mut self.state;
        let timeouts = &self.snapshot.timeouts;
        let is_elsewhere = steer(&saved.original, state.workers) != state.worker;
        if steer(&saved.reply, state.workers) != state.worker
            || is_elsewhere && state.shared.directory.try_publish(saved.original, state.worker).is_err()
        {
            return false;
        }
        let restored = state.table.restore(saved, now, timeouts).is_some();
        if !restored && is_elsewhere && state.table.find(&saved.original).is_none() {
            state.shared.directory.remove(&saved.original, state.worker);
        }
        restored
    }
}

/// This worker's share of the configured maximum number of connections.
fn connection_share(snapshot: &Snapshot, workers: u32, limits: EngineLimits) -> u32 {
    snapshot.max_connections.div_ceil(workers.max(1)).min(limits.max_connections).max(1)
}

/// Removes some of the connections that are masqueraded with an address that is gone.
fn purge<F>(snapshot: &Snapshot, state: &mut WorkerState<F>) {
    state.table.purge_masqueraded(PURGE_BUDGET, |row, address| !snapshot.masquerades(row, address));
    unpublish(state);
}

/// Removes the flows of removed connections from the directory.
fn unpublish<F>(state: &mut WorkerState<F>) {
    while let Some(original) = state.table.take_unpublished() {
        state.shared.directory.remove(&original, state.worker);
    }
}
