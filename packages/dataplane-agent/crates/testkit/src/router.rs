//! A whole router in memory: one engine per worker, hand-over between them, ports on the outside.

use std::collections::BTreeMap;
use std::sync::Arc;

use tollway_config::dataplane::{DataplaneConfig, RowId};
use tollway_config::protocol::{PacketDescription, TraceFilter, TracedPacket};
use tollway_engine::engine::dry_run::{DryRunError, dry_run};
use tollway_engine::engine::offload::Offload;
use tollway_engine::engine::stats::EngineStats;
use tollway_engine::ids::PortId;
use tollway_engine::ip::fib::RouteChange;
use tollway_engine::observe::profiler::NoCycles;
use tollway_engine::observe::trace::collect::Noted;
use tollway_engine::observe::trace::{Collector, TraceBuffer};
use tollway_engine::packet::frame::VnetState;
use tollway_engine::packet::slow_reason::SlowReason;
use tollway_engine::pipeline::batch::{BATCH, Batch, Outcome};
use tollway_engine::pipeline::handover::{Handover, HandoverContents};
use tollway_engine::shared::Shared;
use tollway_engine::snapshot::{Basis, PortFacts, Renewed, Snapshot};
use tollway_engine::time::Now;
use tollway_engine::{Engine, EngineLimits};
use tollway_wire::{arp, ethernet};

use crate::config::RouterConfig;
use crate::counters::{self, Counter};
use crate::frame::{HeapFrame, HeapSource};
use crate::packet::{Packet, PacketBuilder, arp_frame, ip};
use crate::record::{ConnectionRecord, QueueRecord};

/// Turns of all workers after which they should agree that all have a configuration, if they can.
const ROUNDS: u32 = 32;

/// Link-layer address of port `n`.
pub fn port_mac(port: PortId) -> [u8; 6] {
    let [high, low] = port.to_be_bytes();
    [2, 0, 0, 1, high, low]
}

/// Link-layer address that a test host with this address has.
pub fn host_mac(address: u32) -> [u8; 6] {
    let [a, b, c, d] = address.to_be_bytes();
    [2, 1, a, b, c, d]
}

/// A packet that left the router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Port it left by, or interface row of the TAP.
    pub to: To,
    /// The frame.
    pub bytes: Vec<u8>,
    /// Offload state.
    pub vnet: VnetState,
    /// The flow cache forwarded it.
    pub fast: bool,
    /// The router or a service in its namespace made it.
    pub own: bool,
    /// Wire segments.
    pub segments: u32,
}

/// Where a packet went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum To {
    /// Out of a port.
    Port(PortId),
    /// To the TAP of an interface row.
    Local(RowId),
}

impl Output {
    /// Read as IPv4; panics on anything else.
    pub fn packet(&self) -> Packet {
        Packet::read(&self.bytes).expect("an IPv4 packet")
    }
    /// Read as ARP.
    pub fn arp(&self) -> Option<arp::Repr> {
        let eth = ethernet::Frame::new_checked(&self.bytes).ok()?;
        (eth.ethertype() == ethernet::ARP).then_some(())?;
        arp::Packet::new_checked(eth.payload()).ok().map(|packet| arp::Repr::parse(&packet))
    }
}

/// A packet between two workers.
struct Delayed {
    from: u32,
    to: u32,
    packet: Handover<HeapFrame>,
}

/// Packets to every worker.
type Moved = BTreeMap<u32, Vec<Handover<HeapFrame>>>;

/// The router.
pub struct Router {
    pub(crate) engines: Vec<Engine<HeapFrame>>,
    /// What the worker whose turn it is has received for others.
    elsewhere: Vec<(u32, Handover<HeapFrame>)>,
    /// What came out while the workers took over a configuration.
    early: Vec<Output>,
    shared: Arc<Shared>,
    snapshot: Arc<Snapshot>,
    config: DataplaneConfig,
    ports: Vec<PortFacts>,
    generation: u32,
    source: HeapSource,
    batch: Batch<HeapFrame>,
    now: Now,
    hosts: BTreeMap<(PortId, u32), [u8; 6]>,
    seen: BTreeMap<Counter, u64>,
    /// Frames injected.
    pub injected: u64,
    /// Packets that came out, by any way but hand-over.
    pub emitted: u64,
    /// ARP requests the hosts answered.
    pub resolved: u64,
    /// No worker takes packets from another.
    pub refuse_handovers: bool,
    /// Workers have nothing more to do after each batch.
    pub sleeps: bool,
    /// Packets lost to that.
    pub refused: u64,
    /// Packets between workers stay on their way until [`Self::deliver_handovers`].
    pub delay_handovers: bool,
    delayed: Vec<Delayed>,
    /// Flows that could be forwarded elsewhere are gathered here, if they are to be looked for.
    pub offloads: Option<Vec<Offload>>,
    traces: Collector,
    /// What waits for the ports of workers whose ports take nothing, by worker.
    untaken: BTreeMap<usize, Vec<Output>>,
}

/// Capacity of the connection table that test routers have.
pub const CONNECTIONS: u32 = 16_384;

/// Bounds that each worker of a test router has.
pub const LIMITS: EngineLimits =
    EngineLimits { max_connections: CONNECTIONS, queue_frames: 4096, queue_bytes: 64 << 20 };

impl Router {
    /// One worker.
    pub fn new(config: RouterConfig) -> Self {
        Self::with_workers(config, 1)
    }

    /// Several workers.
    pub fn with_workers(config: RouterConfig, workers: u32) -> Self {
        Self::with_limits(config, workers, LIMITS)
    }

    /// Several workers with given bounds.
    pub fn with_limits(config: RouterConfig, workers: u32, limits: EngineLimits) -> Self {
        let config = config.config;
        let ports: Vec<PortFacts> = (0..config.interfaces.len() as PortId)
            .map(|port| PortFacts { name: format!("ether{}", port + 1), mac: port_mac(port), running: true })
            .collect();
        let snapshot =
            Arc::new(Snapshot::build(&config, &ports, workers, 1).expect("a possible configuration"));
        let shared = Arc::new(Shared::new(workers, 0x5eed));
        let engines = (0..workers)
            .map(|worker| Engine::new(worker, workers, shared.clone(), snapshot.clone(), limits))
            .collect();
        Self {
            engines,
            shared,
            snapshot,
            config,
            ports,
            generation: 1,
            source: HeapSource::default(),
            batch: Batch::new(),
            now: Now::from_ms(1_000),
            hosts: BTreeMap::new(),
            seen: BTreeMap::new(),
            injected: 0,
            emitted: 0,
            resolved: 0,
            refuse_handovers: false,
            sleeps: false,
            refused: 0,
            delay_handovers: false,
            delayed: Vec::new(),
            offloads: None,
            elsewhere: Vec::new(),
            early: Vec::new(),
            traces: Collector::default(),
            untaken: BTreeMap::new(),
        }
    }

    /// Adds hosts to a port that answer ARP, with [`host_mac`].
    pub fn hosts(mut self, port: PortId, addresses: &[&str]) -> Self {
        for address in addresses {
            self.hosts.insert((port, ip(address)), host_mac(ip(address)));
        }
        self
    }

    /// Takes a host off a port.
    pub fn remove_host(&mut self, port: PortId, address: &str) {
        self.hosts.remove(&(port, ip(address)));
    }

    /// Time now.
    pub fn now(&self) -> Now {
        self.now
    }

    /// State shared by the workers.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.engines.len()
    }

    /// The active snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The active configuration.
    pub fn config(&self) -> &DataplaneConfig {
        &self.config
    }

    /// The frame pool.
    pub fn source(&mut self) -> &mut HeapSource {
        &mut self.source
    }

    /// Activates another configuration, and lets the workers agree that all have it. What they send for it comes with
    /// the next packets.
    pub fn swap(&mut self, change: impl FnOnce(&mut DataplaneConfig)) {
        self.prepare(change);
        self.activate_all();
        let mut out = std::mem::take(&mut self.early);
        for _ in 0..ROUNDS {
            if !self.engines.iter().any(Engine::is_changing) {
                break;
            }
            self.tick(&mut out);
        }
        self.early = out;
    }

    /// Raises or drops the carrier of a port.
    pub fn carrier(&mut self, port: PortId, running: bool) {
        self.ports[usize::from(port)].running = running;
        self.prepare(|_| {});
        self.activate_all();
    }

    /// Builds another configuration, for [`Self::activate`]. Routes of a table that it shares with the one
    /// before are followed at once.
    pub fn prepare(&mut self, change: impl FnOnce(&mut DataplaneConfig)) {
        let before = self.config.clone();
        change(&mut self.config);
        self.generation += 1;
        let basis = Basis { config: &before, snapshot: &self.snapshot };
        let renewed = Snapshot::renew(basis, &self.config, &self.ports, self.generation);
        let Renewed { snapshot, routes } = renewed.expect("a possible configuration");
        self.shared
            .take_over_routes(&self.snapshot, &snapshot, routes.as_deref())
            .expect("not too many next hops");
        self.shared.take_over_lists(&snapshot);
        self.snapshot = Arc::new(snapshot);
    }

    /// Another program changes its routes.
    pub fn change_routes(&mut self, changes: &[RouteChange]) {
        self.shared.change_routes(&self.snapshot, changes).expect("not too many next hops");
    }

    /// One worker takes over what was prepared.
    pub fn activate(&mut self, worker: usize) {
        self.engines[worker].swap(self.snapshot.clone(), self.now);
    }

    fn activate_all(&mut self) {
        for worker in 0..self.engines.len() {
            self.activate(worker);
        }
    }

    /// When the engines want to be called next.
    pub fn deadline(&self) -> Option<Now> {
        self.engines.iter().filter_map(Engine::next_deadline).min()
    }

    /// Sends one packet into a port and returns what came out.
    pub fn send(&mut self, port: PortId, packet: &PacketBuilder) -> Vec<Output> {
        self.inject(port, packet.clone().eth_dst(port_mac(port)).build(), VnetState::default())
    }

    /// Sends one frame into a port.
    pub fn inject(&mut self, port: PortId, frame: Vec<u8>, vnet: VnetState) -> Vec<Output> {
        self.inject_batch(0, vec![(port, frame, vnet)])
    }

    /// Sends frames as one batch that `worker` receives.
    pub fn inject_batch(&mut self, worker: usize, frames: Vec<(PortId, Vec<u8>, VnetState)>) -> Vec<Output> {
        let mut out = std::mem::take(&mut self.early);
        assert!(frames.len() <= BATCH);
        self.injected += frames.len() as u64;
        let sorting = self.engines[worker].sorting();
        for (port, frame, vnet) in frames {
            self.elsewhere.extend(sorting.sort(&mut self.batch, HeapFrame::new(frame), port, vnet));
        }
        self.process(worker, &mut out);
        out
    }

    /// Sends a packet from a service in the router namespace (an IPv4 packet without Ethernet header), by the TAP of
    /// the first interface.
    pub fn send_local(&mut self, packet: &[u8]) -> Vec<Output> {
        let tap = self.config.interfaces.first().map_or(0, |interface| interface.row);
        self.send_local_by(0, tap, packet)
    }

    /// The same, by the TAP of an interface, read by a worker.
    pub fn send_local_by(&mut self, worker: usize, tap: RowId, packet: &[u8]) -> Vec<Output> {
        self.send_local_to(worker, tap, [0; 6], packet)
    }

    /// The same, to a station that the service has chosen.
    pub fn send_local_to(
        &mut self,
        worker: usize,
        tap: RowId,
        station: [u8; 6],
        packet: &[u8],
    ) -> Vec<Output> {
        let mut frame = vec![0; ethernet::HEADER];
        frame[..6].copy_from_slice(&station);
        frame.extend_from_slice(packet);
        let mut out = std::mem::take(&mut self.early);
        self.injected += 1;
        self.batch.push_local(HeapFrame::new(frame), tap, VnetState::default());
        self.process(worker, &mut out);
        out
    }

    fn process(&mut self, worker: usize, out: &mut Vec<Output>) {
        let now = self.now;
        self.engines[worker].process(&mut self.batch, &mut self.source, &NoCycles, now);
        if let Some(offloads) = &mut self.offloads {
            self.engines[worker].find_offload(&self.batch, |_| true, offloads);
        }
        self.collect(worker, out);
        self.flushed(worker);
    }

    /// Tells a worker that everything has left, unless its ports take nothing.
    fn flushed(&mut self, worker: usize) {
        if !self.untaken.contains_key(&worker) {
            self.engines[worker].sent();
            if self.sleeps {
                self.engines[worker].before_sleep(self.now);
            }
        }
    }

    /// From now on ports take nothing from a worker: what it sends waits for [`Self::unblock`].
    pub fn block(&mut self, worker: usize) {
        self.untaken.entry(worker).or_default();
    }

    /// Ports take what waited, and all that comes.
    pub fn unblock(&mut self, worker: usize) -> Vec<Output> {
        let out = self.untaken.remove(&worker).unwrap_or_default();
        self.engines[worker].sent();
        out
    }

    /// A port takes nothing from a worker for now, and the worker says so to its engine; or takes packets again.
    pub fn set_port_blocked(&mut self, worker: usize, port: PortId, blocked: bool) {
        self.engines[worker].set_port_blocked(port, blocked, self.now);
    }

    /// What a queue did at a worker in each millisecond after one, packed; it is watched from now on.
    pub fn queue_scope(&mut self, worker: usize, row: RowId, after: u64) -> Vec<u8> {
        let mut records = Vec::new();
        self.engines[worker].queue_scope(row, after, self.now, &mut records);
        records
    }

    /// Lets time pass in steps of the engines' deadlines.
    pub fn advance_ms(&mut self, ms: u64) -> Vec<Output> {
        self.advance(ms * 1_000_000)
    }

    /// As [`Self::advance_ms`], by nanoseconds.
    pub fn advance(&mut self, ns: u64) -> Vec<Output> {
        let end = Now(self.now.0 + ns);
        let mut out = std::mem::take(&mut self.early);
        let mut stood = 0;
        loop {
            let lists = Some(Now(self.shared.lists.next_due())).filter(|due| due.0 != u64::MAX);
            let due = self.engines.iter().filter_map(Engine::next_deadline).chain(lists).min();
            let Some(due) = due.filter(|due| *due <= end) else { break };
            stood = if due > self.now { 0 } else { stood + 1 };
            self.now = self.now.max(due);
            self.tick(&mut out);
            // A deadline that does not move forward would spin here for ever.
            if stood > 64 {
                stood = 0;
                self.now = Now(self.now.0 + 1_000_000).min(end);
                if self.now == end {
                    break;
                }
            }
        }
        self.now = end;
        self.tick(&mut out);
        out
    }

    /// Lets time pass without calling the engines, as under load.
    pub fn sleep(&mut self, ns: u64) {
        self.now.0 += ns;
    }

    fn tick(&mut self, out: &mut Vec<Output>) {
        self.shared.expire_list_entries(self.now, usize::MAX);
        for worker in 0..self.engines.len() {
            let now = self.now;
            self.engines[worker].tick(&mut self.batch, &mut self.source, &NoCycles, now);
            self.collect(worker, out);
            self.flushed(worker);
        }
    }

    /// Delivers what the batch of a worker holds; hosts answer ARP.
    fn collect(&mut self, from: usize, out: &mut Vec<Output>) {
        let mut moved = Moved::new();
        let mut answers = Vec::new();
        for (worker, packet) in std::mem::take(&mut self.elsewhere) {
            self.hand_over(from, worker, packet, &mut moved);
        }
        let done: Vec<_> = self.batch.drain().collect();
        for done in done {
            let to = match done.outcome {
                Outcome::Tx { port } => To::Port(port),
                Outcome::Local { interface } => To::Local(interface),
                Outcome::Handover { worker, packet } => {
                    let contents = HandoverContents::Parsed(packet);
                    let packet = Handover { frame: done.frame, vnet: done.vnet, contents };
                    self.hand_over(from, worker, packet, &mut moved);
                    continue;
                }
            };
            let bytes = done.frame.bytes().to_vec();
            let output = Output {
                to,
                bytes,
                vnet: done.vnet,
                fast: done.fast,
                own: done.own,
                segments: done.segments,
            };
            self.emitted += 1;
            if let (To::Port(port), Some(request)) = (to, output.arp())
                && request.operation == arp::REQUEST
                && let Some(&mac) = self.hosts.get(&(port, request.target_addr))
            {
                self.resolved += 1;
                let reply = arp::Repr {
                    operation: arp::REPLY,
                    sender_mac: mac,
                    sender_addr: request.target_addr,
                    target_mac: request.sender_mac,
                    target_addr: request.sender_addr,
                };
                answers.push((port, arp_frame(request.sender_mac, reply)));
                continue;
            }
            match self.untaken.get_mut(&from) {
                Some(untaken) => untaken.push(output),
                None => out.push(output),
            }
        }
        for (worker, packets) in moved {
            for packet in packets {
                self.batch.push_handover(packet);
            }
            self.process(worker as usize, out);
        }
        for (port, frame) in answers {
            self.injected += 1;
            self.batch.push_rx(HeapFrame::new(frame), port, VnetState::default());
            self.process(0, out);
        }
    }

    fn hand_over(&mut self, from: usize, to: u32, packet: Handover<HeapFrame>, moved: &mut Moved) {
        if self.refuse_handovers {
            if let HandoverContents::Parsed(packet) = &packet.contents {
                self.engines[from].not_handed_over(packet);
            }
            self.refused += 1;
        } else if self.delay_handovers {
            self.delayed.push(Delayed { from: from as u32, to, packet });
        } else {
            moved.entry(to).or_default().push(packet);
        }
    }

    /// Packets that were on their way between workers arrive, the first `packets` of them.
    pub fn deliver_handovers(&mut self, packets: usize) -> Vec<Output> {
        let mut out = std::mem::take(&mut self.early);
        for Delayed { to, packet, .. } in self.delayed.drain(..packets).collect::<Vec<_>>() {
            self.batch.push_handover(packet);
            self.process(to as usize, &mut out);
        }
        out
    }

    /// As [`Self::deliver_handovers`], only to one worker and as one batch.
    pub fn deliver_handovers_to(&mut self, worker: usize, packets: usize) -> Vec<Output> {
        self.deliver(packets, worker, |_| true)
    }

    /// As [`Self::deliver_handovers_to`], only what one worker has sent.
    pub fn deliver_handovers_between(&mut self, from: usize, to: usize, packets: usize) -> Vec<Output> {
        self.deliver(packets, to, |sender| sender as usize == from)
    }

    fn deliver(&mut self, packets: usize, worker: usize, from: impl Fn(u32) -> bool) -> Vec<Output> {
        assert!(packets <= BATCH);
        let (mut left, mut out) = (packets, std::mem::take(&mut self.early));
        for delayed in std::mem::take(&mut self.delayed) {
            if left > 0 && delayed.to as usize == worker && from(delayed.from) {
                self.batch.push_handover(delayed.packet);
                left -= 1;
            } else {
                self.delayed.push(delayed);
            }
        }
        self.process(worker, &mut out);
        out
    }

    /// Packets that are on their way between workers.
    pub fn on_the_way(&self) -> usize {
        self.delayed.len()
    }

    /// Counters of all workers.
    pub fn stats(&self) -> EngineStats {
        let mut stats = EngineStats::default();
        for engine in &self.engines {
            stats.add(&engine.stats());
        }
        stats
    }

    /// Counters that moved since the last call.
    pub fn moved(&mut self) -> BTreeMap<Counter, i64> {
        let now = counters::read(&self.stats());
        let moved = counters::moved(&self.seen, &now);
        self.seen = now;
        moved
    }

    /// Packets and L3 bytes of a rule.
    pub fn rule(&self, row: RowId) -> (u64, u64) {
        let stats = self.stats();
        let found = stats.rules.iter().find(|(known, _)| *known == row);
        found.map(|(_, count)| (count.packets, count.bytes)).unwrap_or_default()
    }

    /// Sets rule counters to zero; empty means all.
    pub fn reset_counters(&mut self, rows: &[RowId]) {
        for engine in &mut self.engines {
            engine.reset_counters(rows);
        }
    }

    /// The connection records of one worker.
    pub fn connections_of(&self, worker: usize) -> Vec<ConnectionRecord> {
        let mut bytes = Vec::new();
        self.engines[worker].connections(0, u32::MAX, self.now, &mut bytes);
        bytes.chunks_exact(tollway_config::protocol::CONNECTION_RECORD).map(ConnectionRecord::read).collect()
    }

    /// The connection records.
    pub fn connections(&self) -> Vec<ConnectionRecord> {
        let mut bytes = Vec::new();
        for engine in &self.engines {
            engine.connections(0, u32::MAX, self.now, &mut bytes);
        }
        bytes.chunks_exact(tollway_config::protocol::CONNECTION_RECORD).map(ConnectionRecord::read).collect()
    }

    /// Of each connection why its packets are not all forwarded by the flow cache.
    pub fn slow_reasons(&self) -> Vec<Option<SlowReason>> {
        let mut bytes = Vec::new();
        for engine in &self.engines {
            engine.connections(0, u32::MAX, self.now, &mut bytes);
        }
        let reason = |record: &[u8]| usize::from(record[15]).checked_sub(1).map(|at| SlowReason::ALL[at]);
        bytes.chunks_exact(tollway_config::protocol::CONNECTION_RECORD).map(reason).collect()
    }

    /// Begins a trace on all workers, and gives its number for [`Self::traced`].
    pub fn start_trace(&mut self, filter: &TraceFilter) -> u64 {
        self.start_trace_of(filter, u32::MAX)
    }

    /// Begins a trace of so many packets.
    pub fn start_trace_of(&mut self, filter: &TraceFilter, packets: u32) -> u64 {
        let trace = self.traces.start(filter, packets, self.now).expect("a place for a trace");
        for engine in &mut self.engines {
            engine.trace(&self.traces.filters(), Some(TraceBuffer::default()));
        }
        trace
    }

    /// Ends a trace.
    pub fn stop_trace(&mut self, trace: u64) {
        assert!(self.traces.stop(trace));
        for engine in &mut self.engines {
            engine.trace(&self.traces.filters(), Some(TraceBuffer::default()));
        }
    }

    /// What a trace has noted so far.
    pub fn traced(&mut self, trace: u64) -> Noted {
        let filters = self.traces.filters();
        let buffers: Vec<_> = self
            .engines
            .iter_mut()
            .filter_map(|engine| engine.trace(&filters, Some(TraceBuffer::default())))
            .collect();
        self.traces.add(&buffers, self.snapshot.mark_names(), self.now, self.now.ms());
        self.traces.read(trace, 0, self.now).expect("a trace that runs")
    }

    /// What would become of a packet now.
    pub fn dry_run(&self, packet: &PacketDescription) -> Result<TracedPacket, DryRunError<usize>> {
        let probe = |worker: u32, tuple| {
            self.engines.get(worker as usize).map(|engine| engine.probe(&tuple)).ok_or(worker as usize)
        };
        dry_run(packet, &self.snapshot, &self.shared, self.now, self.now.ms(), probe)
    }

    /// Packets that the flow cache did not forward, or not alone, by reason; only those that occurred.
    pub fn slow(&self) -> BTreeMap<SlowReason, u64> {
        let counts = self.stats().slow;
        SlowReason::ALL.iter().copied().zip(counts).filter(|(_, packets)| *packets != 0).collect()
    }

    /// What the simple queues have, by ascending row; zeros for those that have seen no packet.
    pub fn queues(&self) -> Vec<QueueRecord> {
        let mut bytes = Vec::new();
        for engine in &self.engines {
            let mut from = Some(0);
            while let Some(row) = from {
                from = engine.queues(row, 7, self.now, &mut bytes);
            }
        }
        self.queue_records(&bytes)
    }

    fn queue_records(&self, bytes: &[u8]) -> Vec<QueueRecord> {
        let configured = self.config.simple_queues.iter().map(|queue| (queue.row, Vec::new()));
        let mut sums: BTreeMap<RowId, Vec<QueueRecord>> = configured.collect();
        for record in bytes.chunks_exact(tollway_config::protocol::QUEUE_RECORD).map(QueueRecord::read) {
            sums.entry(record.row).or_default().push(record);
        }
        sums.into_iter().map(|(row, records)| QueueRecord::together(row, records)).collect()
    }

    /// Sets queue counters to zero; empty means all. Returns what the queues had.
    pub fn reset_queue_counters(&mut self, rows: &[RowId]) -> Vec<QueueRecord> {
        let mut bytes = Vec::new();
        for engine in &mut self.engines {
            engine.reset_queue_counters(rows, &mut bytes);
        }
        self.queue_records(&bytes)
    }

    /// Ends a connection.
    pub fn remove_connection(&mut self, id: u64) -> bool {
        self.engines.iter_mut().any(|engine| engine.remove_connection(id))
    }

    /// The state for a failed assertion.
    pub fn describe(&self) -> String {
        format!(
            "connections {:#?}\nneighbours {:?}",
            self.connections(),
            self.shared.neighbors(self.now, &self.snapshot)
        )
    }
}
