//! One engine on frames of a pool, with its traffic and the time it took.

mod check;
mod trunk;
mod turn;

use std::sync::Arc;

use tollway_config::dataplane::DataplaneConfig;
use tollway_engine::engine::stats::EngineStats;
use tollway_engine::engine::{Engine, EngineLimits};
use tollway_engine::observe::profiler::CycleClock;
use tollway_engine::packet::frame::{Frame, FrameSource, VnetState};
use tollway_engine::pipeline::batch::{BATCH, Batch, Done, Outcome};
use tollway_engine::shared::Shared;
use tollway_engine::snapshot::{PortFacts, Snapshot};
use tollway_engine::time::Now;
use tollway_io::pool::{Partition, PartitionSize, PoolFrame, partitions};
use tollway_testkit::workers::{Workers, rebuild};
use tollway_wire::ethernet;

use crate::alloc;
use crate::clock::Tsc;
use crate::ipv6_frames::{meant_by, standing_for};
use crate::packet::{FRAME, lengthen};
use crate::scenario::Scenario;
use crate::traffic::{GENERATOR_MAC, LAN_PORT_MAC, SINK_MAC, Traffic, WAN_PORT_MAC};

pub use check::stage_costs;
pub use trunk::lan_row;
pub use turn::Links;

/// Index of the port `lan` is on.
pub const LAN_PORT: u16 = 0;
/// Index of the port `wan` is on.
pub const WAN_PORT: u16 = 1;
/// Batches whose frames are written before the first of them is timed: as a ring's worth of frames lies
/// in the cache that the last level shares with a NIC.
const RING: usize = 4;
/// Time of the engine that passes per batch, ns: 2.5 Mpps.
const BATCH_NS: u64 = 100_000;

/// Steps of time before flows of IPv6 begin, and the length of one, ns.
const ADDRESS_STEPS: usize = 30;
const ADDRESS_STEP_NS: u64 = 50_000_000;

/// The engine's time at the start.
const START: Now = Now::from_ms(1000);

/// Setup of a case.
pub struct Setup {
    /// The configuration, with `lan` on port 0 and `wan` on port 1.
    pub config: DataplaneConfig,
    /// The flows.
    pub traffic: Traffic,
    /// Room of the connection table, connections.
    pub max_connections: u32,
    /// The profiler reads the cycle counter around each stage, as in production.
    pub profiled: bool,
    /// Length of the frames without FCS, at least [`FRAME`]; the flows must be UDP to be longer.
    pub frame_bytes: usize,
    /// Frames that may wait in queues.
    pub queue_frames: u32,
    /// The engine's time is that of the clock, the same for all workers; else some of it passes with each batch.
    pub real_time: bool,
    /// Packets come and leave by VLANs of the first port: see [`Self::over_vlans`]. The number of those that flows come
    /// from; 0 without VLANs.
    pub vlans: u16,
    /// Timed is also taking the packets out of the batch.
    pub departure: bool,
    /// Frames are of IPv6: those that stand for the frames of the flows.
    pub ipv6: bool,
}

impl Setup {
    /// A scenario in the measured topology, with room for 262,144 connections and the profiler on.
    pub fn of(scenario: Scenario, traffic: Traffic) -> Self {
        let config = scenario.config(GENERATOR_MAC, SINK_MAC);
        Self {
            config,
            traffic,
            max_connections: 262_144,
            profiled: true,
            frame_bytes: FRAME,
            queue_frames: 4096,
            real_time: false,
            vlans: 0,
            departure: false,
            ipv6: scenario.ipv6,
        }
    }

    /// Over two VLANs of one port in place of two ports.
    pub fn over_vlans(mut self) -> Self {
        trunk::make(&mut self.config, 1);
        self.vlans = 1;
        self
    }

    /// Over VLANs as [`Self::over_vlans`], with so many in place of `lan`, between which sources are divided. Their rows
    /// are [`lan_row`]s.
    pub fn over_lans(mut self, lans: u16) -> Self {
        trunk::make(&mut self.config, lans);
        self.vlans = lans;
        self
    }

    fn limits(&self) -> EngineLimits {
        EngineLimits {
            max_connections: self.max_connections,
            queue_frames: self.queue_frames,
            queue_bytes: u64::from(self.queue_frames) << 14,
        }
    }
}

fn ports() -> [PortFacts; 2] {
    let port = |name: &str, mac| PortFacts { name: name.to_owned(), mac, running: true };
    [port("ether1", LAN_PORT_MAC), port("ether2", WAN_PORT_MAC)]
}

/// The cycle counter, or none at all.
enum Clock {
    Running(Tsc),
    Stopped,
}

impl CycleClock for Clock {
    fn cycles(&self) -> u64 {
        match self {
            Clock::Running(tsc) => tsc.cycles(),
            Clock::Stopped => 0,
        }
    }
}

/// An engine in a fixed configuration and the flows it forwards.
pub struct TimedEngine {
    engine: Engine<PoolFrame>,
    shared: Arc<Shared>,
    snapshot: Arc<Snapshot>,
    batch: Batch<PoolFrame>,
    pool: Partition,
    ring: Vec<PoolFrame>,
    /// Simple queues.
    queues: usize,
    traffic: Traffic,
    frame_bytes: usize,
    tsc: Tsc,
    clock: Clock,
    now: Now,
    real_time: bool,
    vlans: u16,
    ipv6: bool,
    departure: bool,
    /// Packets taken out of the batch, while they are timed.
    departed: Vec<Done<PoolFrame>>,
    /// Packets that wait in queues, and how many had to since the engine was made.
    pub waiting: (u64, u64),
    /// Allocations during [`Self::window`]s.
    pub allocations: u64,
    /// Packets forwarded in [`Self::window`]s, and those of them that the flow cache forwarded.
    pub forwarded: (u64, u64),
}

impl TimedEngine {
    /// Builds the engine and establishes all flows through it.
    pub fn new(setup: Setup, tsc: Tsc) -> Result<Self, String> {
        Self::several(vec![setup], tsc)?.pop().ok_or_else(|| "there is no worker".to_owned())
    }

    /// The workers of one router, each with the flows that belong to it.
    pub fn several(setups: Vec<Setup>, tsc: Tsc) -> Result<Vec<Self>, String> {
        let config = setups.first().map(|setup| &setup.config).ok_or("there is no worker")?;
        let limits: Vec<_> = setups.iter().map(Setup::limits).collect();
        let Workers { engines, shared, snapshot } =
            Workers::new(config, &ports(), &limits).map_err(|error| error.to_string())?;
        let waiting = setups.iter().map(|setup| setup.queue_frames as usize).max().unwrap_or(0);
        let sizes = vec![PartitionSize { heads: 4 * RING * BATCH + waiting, tails: 0 }; setups.len()];
        let pools = partitions(&sizes).map_err(|error| format!("frame pool: {error}"))?;
        let mut routers = Vec::with_capacity(setups.len());
        for ((engine, setup), pool) in engines.into_iter().zip(setups).zip(pools) {
            let router = Self {
                engine,
                shared: Arc::clone(&shared),
                snapshot: Arc::clone(&snapshot),
                batch: Batch::new(),
                pool,
                ring: Vec::with_capacity(RING * BATCH),
                queues: setup.config.simple_queues.len(),
                traffic: setup.traffic,
                frame_bytes: setup.frame_bytes.max(FRAME),
                tsc,
                clock: if setup.profiled { Clock::Running(tsc) } else { Clock::Stopped },
                now: START,
                real_time: setup.real_time,
                vlans: setup.vlans,
                ipv6: setup.ipv6,
                departure: setup.departure,
                departed: Vec::with_capacity(2 * BATCH),
                waiting: (0, 0),
                allocations: 0,
                forwarded: (0, 0),
            };
            routers.push(router);
        }
        // Addresses of IPv6 are used when a second has passed without an answer from another station.
        for _ in 0..if routers.iter().any(|router| router.ipv6) { ADDRESS_STEPS } else { 0 } {
            for router in &mut routers {
                router.settle();
            }
        }
        for router in &mut routers {
            router.establish()?;
        }
        Ok(routers)
    }

    /// Takes this worker's flows away, to be fed to another worker, and gives it those instead.
    pub fn feed(&mut self, traffic: Traffic) -> Traffic {
        std::mem::replace(&mut self.traffic, traffic)
    }

    /// Forwards `batches` (a multiple of the ring) of random flows' packets; returns ticks per packet
    /// spent in `Engine::process`. Fails if the engine did anything but forward.
    pub fn window(&mut self, batches: usize) -> Result<f64, String> {
        let (mut ticks, mut packets) = (0, 0);
        for _ in 0..batches.div_ceil(RING) {
            self.fill_ring();
            for _ in 0..RING {
                for frame in self.ring.drain(..BATCH.min(self.ring.len())) {
                    self.batch.push_rx(frame, LAN_PORT, VnetState::default());
                }
                packets += self.batch.len() as u64;
                ticks += self.timed_forward();
                if self.departure {
                    ticks += self.timed_departure();
                }
                let forwarded = self.collect()?;
                if forwarded != BATCH as u64 {
                    return Err(format!("{forwarded} of {BATCH} packets were forwarded: {}", self.drops()));
                }
            }
            self.pass_time();
        }
        Ok(ticks as f64 / packets as f64)
    }

    /// Measures like [`Self::window`], but with queues that hold packets back: sends the next `batches` and lets
    /// `batch_ns` pass after each. Returns ticks in the engine and the packets that left.
    pub fn shaped_window(&mut self, batches: usize, batch_ns: u64) -> Result<(u64, u64), String> {
        let (mut ticks, mut left) = (0, 0);
        for _ in 0..batches {
            self.fill(BATCH);
            self.receive_ring();
            ticks += self.timed_forward();
            left += self.collect()?;
            self.now = Now(self.now.0 + batch_ns);
            while self.engine.next_deadline().is_some_and(|deadline| deadline <= self.now) {
                ticks += self.timed_tick();
                match self.collect()? {
                    0 => break,
                    sent => left += sent,
                }
            }
        }
        Ok((ticks, left))
    }

    /// Sends one packet and lets time pass until it has left. Returns how long it was in a queue, ns, and ticks in the
    /// engine.
    pub fn one_through(&mut self, after_ns: u64) -> Result<(u64, u64), String> {
        self.now = Now(self.now.0 + after_ns);
        self.fill(1);
        self.receive_ring();
        let arrived = self.now;
        let from = self.tsc.cycles();
        self.forward();
        let mut ticks = self.tsc.cycles().wrapping_sub(from);
        while self.collect()? == 0 {
            let deadline = self.engine.next_deadline().ok_or("a packet is gone")?;
            self.now = deadline.max(self.now);
            ticks += self.timed_tick();
        }
        Ok((self.now.0 - arrived.0, ticks))
    }

    /// Measures like [`Self::window`], but `work` gets the ring's frames in place of the engine.
    pub fn floor_window(&mut self, batches: usize, mut work: impl FnMut(&mut [PoolFrame]) -> u64) -> f64 {
        let (mut ticks, mut packets) = (0, 0);
        for _ in 0..batches.div_ceil(RING) {
            self.fill_ring();
            for frames in self.ring.chunks_mut(BATCH) {
                let from = self.tsc.cycles();
                std::hint::black_box(work(frames));
                ticks += self.tsc.cycles().wrapping_sub(from);
                packets += frames.len() as u64;
            }
            for frame in self.ring.drain(..) {
                self.pool.recycle(frame);
            }
        }
        ticks as f64 / packets as f64
    }

    /// Builds another configuration in place of the one that the router has, for [`Self::apply`].
    pub fn prepare(&mut self, before: &DataplaneConfig, after: &DataplaneConfig) -> Result<(), String> {
        self.snapshot = rebuild(&self.shared, (before, &self.snapshot), after, &ports())?;
        Ok(())
    }

    /// Applies at the worker what was prepared. Returns ticks for which it stood still, and what is to be dropped.
    pub fn apply(&mut self) -> (u64, Arc<Snapshot>) {
        let from = self.tsc.cycles();
        let old = self.engine.apply(Arc::clone(&self.snapshot), self.now);
        (self.tsc.cycles().wrapping_sub(from), old)
    }

    /// State that the workers share, and the configuration, to change routes by.
    pub fn tables(&self) -> (Arc<Shared>, Arc<Snapshot>) {
        (Arc::clone(&self.shared), Arc::clone(&self.snapshot))
    }

    /// The flows.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// The engine's counters.
    pub fn stats(&self) -> EngineStats {
        self.engine.stats()
    }

    /// A frame of the pool with this content.
    fn frame(&mut self, content: &[u8; FRAME], port: u16) -> Option<PoolFrame> {
        if self.ipv6 {
            let content = standing_for(content);
            let mut frame = self.pool.take(content.len())?;
            frame.head_mut().get_mut(..content.len())?.copy_from_slice(&content);
            return Some(frame);
        }
        if self.vlans > 0 {
            let mut frame = self.pool.take(FRAME + trunk::TAG)?;
            trunk::write(frame.head_mut(), content, port, self.vlans);
            return Some(frame);
        }
        let mut frame = self.pool.take(self.frame_bytes)?;
        let head = frame.head_mut();
        head.get_mut(..FRAME)?.copy_from_slice(content);
        if self.frame_bytes > FRAME {
            lengthen(head, self.frame_bytes);
        }
        Some(frame)
    }

    fn fill_ring(&mut self) {
        self.fill(RING * BATCH);
    }

    fn fill(&mut self, packets: usize) {
        for _ in 0..packets {
            let content = self.traffic.next();
            let frame = self.frame(&content, LAN_PORT);
            self.ring.extend(frame);
        }
    }

    fn time(&self) -> Now {
        Now(START.0 + self.tsc.elapsed_ns())
    }

    /// Lets [`ADDRESS_STEP_NS`] pass, and throws away what the router itself sends meanwhile.
    fn settle(&mut self) {
        self.now = Now(self.now.0 + ADDRESS_STEP_NS);
        self.engine.tick(&mut self.batch, &mut self.pool, &self.clock, self.now);
        for done in self.batch.drain() {
            self.pool.recycle(done.frame);
        }
    }

    fn pass_time(&mut self) {
        self.now = if self.real_time { self.time() } else { Now(self.now.0 + RING as u64 * BATCH_NS) };
        if self.engine.next_deadline().is_some_and(|deadline| deadline <= self.now) {
            self.engine.tick(&mut self.batch, &mut self.pool, &self.clock, self.now);
            self.batch.clear();
        }
    }

    /// The one call that is measured; a function of its own, so that instructions can be counted in it alone.
    #[inline(never)]
    fn forward(&mut self) {
        self.engine.process(&mut self.batch, &mut self.pool, &self.clock, self.now);
    }

    /// Ticks of [`Self::forward`]; counts its allocations.
    fn timed_forward(&mut self) -> u64 {
        let allocations = alloc::count();
        let from = self.tsc.cycles();
        self.forward();
        let ticks = self.tsc.cycles().wrapping_sub(from);
        self.allocations += alloc::count() - allocations;
        ticks
    }

    /// Ticks of taking the packets out of the batch.
    fn timed_departure(&mut self) -> u64 {
        let from = self.tsc.cycles();
        self.depart();
        self.tsc.cycles().wrapping_sub(from)
    }

    /// Takes the packets out of the batch; a function of its own, as [`Self::forward`] is.
    #[inline(never)]
    fn depart(&mut self) {
        self.departed.extend(self.batch.drain());
    }

    /// Ticks of the engine's own work that is due.
    fn timed_tick(&mut self) -> u64 {
        let from = self.tsc.cycles();
        self.engine.tick(&mut self.batch, &mut self.pool, &self.clock, self.now);
        self.tsc.cycles().wrapping_sub(from)
    }

    /// Puts the ring's frames into the batch, as received from `lan`.
    fn receive_ring(&mut self) {
        for frame in self.ring.drain(..) {
            self.batch.push_rx(frame, LAN_PORT, VnetState::default());
        }
    }

    /// Empties the batch into the pool; counts what left by `wan`.
    fn collect(&mut self) -> Result<u64, String> {
        let mut left = 0;
        for done in self.departed.drain(..).chain(self.batch.drain()) {
            match left_by(self.vlans, &done) {
                Some(WAN_PORT) => left += 1,
                _ => return Err(format!("a packet left by another way: {:?}", done.outcome)),
            }
            self.forwarded.0 += 1;
            self.forwarded.1 += u64::from(done.fast);
            self.pool.recycle(done.frame);
        }
        Ok(left)
    }

    /// Opens every flow, answers it, and sends the first data, batch by batch.
    fn establish(&mut self) -> Result<(), String> {
        let flows: Vec<usize> = (0..self.traffic.len()).collect();
        for chunk in flows.chunks(BATCH) {
            let openings: Vec<_> = chunk.iter().filter_map(|&flow| self.traffic.opening(flow)).collect();
            let sent = self.pass(LAN_PORT, &openings)?;
            let pairs = chunk.iter().zip(&sent);
            let answers: Vec<_> = pairs.filter_map(|(&flow, sent)| self.traffic.answer(flow, sent)).collect();
            self.pass(WAN_PORT, &answers)?;
            // A handshake is not to run out while others are still being made.
            let first: Vec<_> = chunk.iter().filter_map(|&flow| self.traffic.data(flow)).collect();
            self.pass(LAN_PORT, &first)?;
        }
        for _ in 0..3 * self.traffic.len().div_ceil(BATCH) {
            let packets: Vec<_> = (0..BATCH).map(|_| self.traffic.next()).collect();
            self.pass(LAN_PORT, &packets)?;
        }
        (self.allocations, self.forwarded) = (0, (0, 0));
        Ok(())
    }

    /// Offers like [`Self::offer`], but fails if any packet did not leave.
    pub fn exchange(
        &mut self,
        port: u16,
        frames: &[[u8; FRAME]],
        left: &mut Vec<[u8; FRAME]>,
    ) -> Result<u64, String> {
        let ticks = self.offer(port, frames, left);
        match left.len() == frames.len() {
            true => Ok(ticks),
            false => Err(format!("{} of {} packets passed: {}", left.len(), frames.len(), self.drops())),
        }
    }

    /// Sends frames in by one port and puts those that left by the other, padded again, into `left`. Returns
    /// ticks spent in `Engine::process`.
    pub fn offer(&mut self, port: u16, frames: &[[u8; FRAME]], left: &mut Vec<[u8; FRAME]>) -> u64 {
        for content in frames {
            if let Some(frame) = self.frame(content, port) {
                let port = if self.vlans > 0 { LAN_PORT } else { port };
                self.batch.push_rx(frame, port, VnetState::default());
            }
        }
        let allocations = alloc::count();
        let from = self.tsc.cycles();
        self.engine.process(&mut self.batch, &mut self.pool, &self.clock, self.now);
        let ticks = self.tsc.cycles().wrapping_sub(from);
        self.allocations += alloc::count() - allocations;
        left.clear();
        for done in self.batch.drain() {
            if left_by(self.vlans, &done).is_some_and(|out| out != port) {
                left.push(content((self.vlans, self.ipv6), done.frame.head()));
                self.forwarded.0 += 1;
                self.forwarded.1 += u64::from(done.fast);
            }
            self.pool.recycle(done.frame);
        }
        ticks
    }

    /// Lets time pass; returns ticks spent in `Engine::tick`.
    pub fn wait(&mut self, ns: u64) -> u64 {
        self.now = Now(self.now.0 + ns);
        let mut ticks = 0;
        while self.engine.next_deadline().is_some_and(|deadline| deadline <= self.now) {
            ticks += self.timed_tick();
            self.batch.clear();
            if self.engine.next_deadline().is_none_or(|deadline| deadline >= self.now) {
                break;
            }
        }
        ticks
    }

    /// Exchanges like [`Self::exchange`], and lets time pass; returns the frames as they left.
    fn pass(&mut self, port: u16, frames: &[[u8; FRAME]]) -> Result<Vec<[u8; FRAME]>, String> {
        let mut left = Vec::with_capacity(frames.len());
        self.exchange(port, frames, &mut left)?;
        self.pass_time();
        Ok(left)
    }
}

/// What a frame that left would be without tags, and of IPv4.
fn content((vlans, ipv6): (u16, bool), head: &[u8]) -> [u8; FRAME] {
    if ipv6 {
        return meant_by(head);
    }
    let mut content = [0; FRAME];
    let tag = if vlans > 0 { trunk::TAG } else { 0 };
    let (addresses, rest) = head.split_at_checked(ethernet::ADDRESSES).unwrap_or((head, &[]));
    let bytes = addresses.iter().chain(rest.iter().skip(tag));
    content.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    content
}

/// The port by which a packet left, or in place of which its VLAN is.
fn left_by(vlans: u16, done: &Done<PoolFrame>) -> Option<u16> {
    match done.outcome {
        _ if vlans > 0 => trunk::left_by(&done.outcome, done.frame.head(), vlans),
        Outcome::Tx { port, .. } => Some(port),
        Outcome::Local { .. } | Outcome::Handover { .. } => None,
    }
}
