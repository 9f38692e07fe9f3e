//! CAKE (T. Høiland-Jørgensen, D. Täht, J. Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home
//! Gateways", 2018; tc-cake(8)): a shaper, tins by DSCP, fairness between the hosts and flows of a tin, and [`cobalt`]
//! for every flow.

mod ack;
mod cobalt;
mod diffserv;
mod flows;
mod hosts;
mod shaper;

use tollway_config::dataplane::{self as config, CakeAckFilter, QueueType};

use self::cobalt::{Params, Signal};
use self::flows::{FlowSet, Flows};
use self::shaper::{Autorate, Clock, Framing};
use super::header::{HeaderFields, mark, wash};
use super::pool::SubQueueList;
use super::random::Random;
use super::{Dequeued, Load, Qdisc, footprint};
use crate::packet::frame::Frame;
use crate::qos::slab::{NodeId, NodeQueue, Slab};
use crate::time::Now;

const MTU: u64 = 1514;
/// Minimum length of a flow's turn, bytes.
const LEAST_QUANTUM: u64 = 300;
/// Length of the turn of tin 0 without a shaper, bytes. The other tins get a part of it, as of the threshold.
const TIN_TURN: u64 = 16 * LEAST_QUANTUM;
/// Minimum limit of the memory of waiting frames, and the limit without a rate, bytes.
const LEAST_MEMORY: u64 = 4 << 20;
const MEMORY_WITHOUT_RATE: u64 = 16 << 20;
/// Drops for lack of memory leave 1/`SLACK` of the memory free.
const SLACK: u64 = 64;
/// A super-frame takes at most 1/`WHOLE_PER_SECOND` of a second.
const WHOLE_PER_SECOND: u64 = 1000;

#[derive(Debug, Default)]
struct Tin {
    params: Params,
    /// Clock at the threshold rate, by which the tin is below its threshold or not.
    clock: Clock,
    /// New flows, and old flows.
    new: SubQueueList,
    old: SubQueueList,
    load: Load,
    /// Flows that always have something to send.
    bulk: u32,
    /// Bytes of a flow's turn.
    quantum: u64,
    /// Bytes of the tin's turn, and what is left of it, without a shaper.
    tin_quantum: i64,
    deficit: i64,
}

/// The kind.
#[derive(Debug)]
pub struct Cake {
    config: config::Cake,
    framing: Framing,
    clock: Clock,
    autorate: Autorate,
    /// Empty before the first packet.
    tins: Vec<Tin>,
    /// The tin whose turn it is.
    current_tin: usize,
    flows: Flows,
    load: Load,
    /// Flows in which packets wait.
    waiting: u32,
    /// Memory of the waiting frames, and its limit, bytes.
    memory: u64,
    memory_limit: u64,
    marked: u64,
    random: Random,
}

impl Cake {
    /// Sets the rate of the shaper, bits/s; 0 for none.
    fn set_rate(&mut self, rate: u64) {
        self.clock.set_rate(rate);
        let rtt = u64::from(self.config.rtt_us) * 1000;
        let own = u128::from(rate) * u128::from(rtt) * 4 / 8_000_000_000;
        self.memory_limit = match (self.config.memory_limit, rate) {
            (0, 0) => MEMORY_WITHOUT_RATE,
            (0, _) => u64::try_from(own).unwrap_or(u64::MAX).max(LEAST_MEMORY),
            (limit, _) => limit,
        };
        for (tin_index, tin) in self.tins.iter_mut().enumerate() {
            let threshold = diffserv::threshold(self.config.diffserv, tin_index, rate);
            tin.clock.set_rate(threshold);
            let packet_time = (MTU * 8_000_000_000).checked_div(threshold).unwrap_or(0);
            // A twentieth of the round-trip time, but never less than the time of a packet and a half.
            let target = (rtt / 20).max(packet_time + packet_time / 2);
            let interval = (rtt + target - rtt / 20).max(2 * target).max(1);
            tin.params = Params { target, interval, packet_time };
            tin.quantum = if rate == 0 { MTU } else { (threshold >> 15).clamp(LEAST_QUANTUM, MTU) };
            tin.tin_quantum = diffserv::threshold(self.config.diffserv, tin_index, TIN_TURN) as i64;
        }
    }

    /// Creates the tins when the first packet arrives.
    fn begin(&mut self) {
        let tins = diffserv::tins(self.config.diffserv);
        self.tins.resize_with(tins, Tin::default);
        self.flows.begin(tins);
        let rate = if self.clock.rate() == 0 { self.config.bandwidth } else { self.clock.rate() };
        self.set_rate(rate);
    }

    /// Exchanges a frame with the last frame of the flow if both are acknowledgements and the new one makes the last
    /// one redundant. Returns the node that holds the new frame then; `None` if nothing was exchanged.
    fn filter<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        index: u32,
        node: NodeId,
        fields: &HeaderFields,
    ) -> Option<NodeId> {
        let most = match self.config.ack_filter {
            CakeAckFilter::None => return None,
            CakeAckFilter::Filter => Some(2),
            CakeAckFilter::Aggressive => None,
        };
        let flow = self.flows.get_mut(index)?;
        let last = flow.queue.last()?;
        let (old, new) = (slab.get(last)?, slab.get(node)?);
        let (old, new) = (old.frame.head(), new.frame.head());
        if !ack::is_redundant((&HeaderFields::of(old), old), (fields, new)) || Some(flow.filtered) == most {
            flow.filtered = 0;
            return None;
        }
        flow.filtered = if most.is_some() { flow.filtered + 1 } else { 0 };
        let before = flow.queue.load();
        flow.queue.replace_last(slab, node);
        let after = flow.queue.load();
        let tin = usize::from(flow.tin);
        self.load = self.load.minus(before).plus(after);
        if let Some(tin) = self.tins.get_mut(tin) {
            tin.load = tin.load.minus(before).plus(after);
        }
        self.flows.measure(index);
        Some(last)
    }

    /// Puts a frame into a flow.
    fn push<F: Frame>(&mut self, slab: &mut Slab<F>, index: u32, node: NodeId, fields: &HeaderFields) {
        let Some(flow) = self.flows.get_mut(index) else { return };
        self.waiting += u32::from(flow.queue.is_empty());
        let load = flow.queue.push(slab, node);
        let tin_index = usize::from(flow.tin);
        let Some(tin) = self.tins.get_mut(tin_index) else { return };
        tin.load = tin.load.plus(load);
        self.load = self.load.plus(load);
        match flow.set {
            FlowSet::Idle => self.flows.wake(&mut tin.new, index, &self.config, fields, tin.quantum),
            FlowSet::Decaying => {
                tin.bulk += 1;
                self.flows.set_bulk(index);
            }
            FlowSet::Sparse | FlowSet::Bulk => {}
        }
        self.flows.measure(index);
    }

    /// Updates the counts after frames of a flow have left the queue.
    fn left(&mut self, (tin, index): (usize, u32), gone: Load, footprint: u64, is_empty: bool) {
        self.flows.measure(index);
        self.load = self.load.minus(gone);
        self.memory -= footprint;
        self.waiting -= u32::from(is_empty);
        if let Some(tin) = self.tins.get_mut(tin) {
            tin.load = tin.load.minus(gone);
        }
    }

    /// Drops the first frame of a flow.
    fn drop_first<F: Frame>(&mut self, slab: &mut Slab<F>, index: u32, gone: &mut NodeQueue) {
        let Some(flow) = self.flows.get_mut(index) else { return };
        let Some((node, load)) = flow.queue.pop(slab) else { return };
        let (tin, is_empty) = (usize::from(flow.tin), flow.queue.is_empty());
        self.left((tin, index), load, footprint(slab, node), is_empty);
        gone.push(slab, node);
    }

    /// Drops from the flow in which most bytes wait, at most half of them, until there is some memory again.
    fn overflow<F: Frame>(&mut self, slab: &mut Slab<F>, now: Now, gone: &mut NodeQueue) {
        let enough = self.memory_limit - self.memory_limit / SLACK;
        while self.memory > self.memory_limit
            && let Some(index) = self.flows.longest()
            && let Some(flow) = self.flows.get_mut(index)
        {
            let half = flow.queue.load().bytes / 2;
            let params = self.tins.get(usize::from(flow.tin)).map_or(Params::default(), |tin| tin.params);
            flow.cobalt.queue_full(&params, now);
            while self.memory > enough
                && self.flows.get(index).is_some_and(|flow| flow.queue.load().bytes > half)
            {
                self.drop_first(slab, index, gone);
            }
        }
    }

    /// The tin that is served without a shaper: the tins take turns. Packets wait in at least one.
    fn choose(&mut self) -> Option<usize> {
        loop {
            let tin = self.tins.get_mut(self.current_tin)?;
            if tin.load.frames != 0 {
                if tin.deficit > 0 {
                    return Some(self.current_tin);
                }
                tin.deficit += tin.tin_quantum;
            }
            self.current_tin = self.current_tin.checked_sub(1).unwrap_or(self.tins.len() - 1);
        }
    }

    /// The tin that is served with a shaper: the one of highest priority that is below its threshold, or else the one
    /// that will be first.
    fn choose_shaped(&self, now: Now) -> Option<usize> {
        let waiting = || self.tins.iter().enumerate().filter(|(_, tin)| tin.load.frames != 0);
        let in_time = waiting().rev().find(|(_, tin)| tin.clock.next() <= now);
        in_time.or_else(|| waiting().min_by_key(|(_, tin)| tin.clock.next())).map(|(tin_index, _)| tin_index)
    }

    /// Dequeues the next frame of a tin.
    fn dequeue_from<F: Frame>(
        &mut self,
        tin_index: usize,
        slab: &mut Slab<F>,
        now: Now,
        gone: &mut NodeQueue,
    ) -> Option<NodeId> {
        loop {
            let tin = self.tins.get_mut(tin_index)?;
            let index = tin.new.first().or(tin.old.first())?;
            let (quantum, is_new) = (tin.quantum, tin.new.first().is_some());
            let flow = self.flows.get(index)?;
            if flow.deficit > 0 {
                match self.pop(tin_index, index, slab, now, gone) {
                    Some(node) => return Some(node),
                    None => self.retire(tin_index, index),
                }
                continue;
            }
            if is_new {
                // A flow that has packets left after its first turn is a bulk flow.
                let sends = !flow.queue.is_empty();
                tin.bulk += u32::from(sends);
                self.flows.age(&mut tin.new, &mut tin.old, index, sends);
            } else {
                self.flows.rotate(&mut tin.old);
            }
            self.flows.refill(index, quantum);
        }
    }

    /// Dequeues the next frame of a flow.
    fn pop<F: Frame>(
        &mut self,
        tin_index: usize,
        index: u32,
        slab: &mut Slab<F>,
        now: Now,
        gone: &mut NodeQueue,
    ) -> Option<NodeId> {
        let (params, bulk) = self.tins.get(tin_index).map(|tin| (tin.params, tin.bulk))?;
        loop {
            let flow = self.flows.get_mut(index)?;
            let Some((node, load)) = flow.queue.pop(slab) else {
                flow.cobalt.queue_empty(&params, now);
                return None;
            };
            let waiting = slab.get_mut(node)?;
            let delay = now.0.saturating_sub(waiting.enqueued.0);
            let signal = flow.cobalt.decide(&params, delay, bulk, now, &mut self.random);
            let marks = signal == Signal::Congestion && mark(&mut waiting.frame);
            self.marked += if marks { u64::from(load.segments) } else { 0 };
            let (bytes, footprint) = (self.framing.frame(waiting), waiting.frame.footprint() as u64);
            // The last packet of a flow is not dropped: no later one would signal the loss.
            let is_last = flow.queue.is_empty();
            if signal == Signal::None || marks || is_last {
                flow.cobalt.passed(now);
                flow.deficit -= bytes as i64;
                self.left((tin_index, index), load, footprint, is_last);
                self.charge(tin_index, bytes, now);
                return Some(node);
            }
            gone.push(slab, node);
            self.left((tin_index, index), load, footprint, false);
        }
    }

    fn charge(&mut self, tin_index: usize, bytes: u64, now: Now) {
        self.clock.charge(bytes, now);
        if let Some(tin) = self.tins.get_mut(tin_index) {
            tin.clock.charge(bytes, now);
            tin.deficit -= if self.clock.rate() == 0 { bytes as i64 } else { 0 };
        }
    }

    /// Called when the flow whose turn it is has become empty. If there are old flows, a new one is put behind them, as
    /// it would otherwise be new again with its next packet.
    fn retire(&mut self, tin_index: usize, index: u32) {
        let Some(tin) = self.tins.get_mut(tin_index) else { return };
        if tin.new.first().is_some() && tin.old.first().is_some() {
            self.flows.age(&mut tin.new, &mut tin.old, index, false);
            return;
        }
        let list = if tin.new.first().is_some() { &mut tin.new } else { &mut tin.old };
        tin.bulk -= u32::from(self.flows.rest(list, index));
    }
}

impl Qdisc for Cake {
    fn new(config: &QueueType, seed: u64) -> Option<Self> {
        let QueueType::Cake(config) = config else { return None };
        let mut cake = Self {
            config: *config,
            framing: Framing::new(config),
            clock: Clock::default(),
            autorate: Autorate::default(),
            tins: Vec::new(),
            current_tin: 0,
            flows: Flows::new(seed),
            load: Load::default(),
            waiting: 0,
            memory: 0,
            memory_limit: 0,
            marked: 0,
            random: Random::new(seed),
        };
        cake.set_rate(config.bandwidth);
        Some(cake)
    }

    fn change(&mut self, config: &QueueType) -> bool {
        let QueueType::Cake(config) = config else { return false };
        let sorts = |cake: &config::Cake| (cake.diffserv, cake.flowmode, cake.nat);
        if sorts(config) != sorts(&self.config) {
            return false;
        }
        let estimated = config.autorate_ingress && config.bandwidth == self.config.bandwidth;
        let rate = if estimated { self.clock.rate() } else { config.bandwidth };
        if !estimated {
            self.autorate = Autorate::default();
        }
        self.config = *config;
        self.framing = Framing::new(config);
        self.set_rate(rate);
        true
    }

    fn needs_every_packet(config: &QueueType) -> bool {
        let QueueType::Cake(cake) = config else { return false };
        cake.bandwidth != 0 || cake.autorate_ingress || cake.wash
    }

    fn load(&self) -> Load {
        self.load
    }

    fn max_segments(&self, segment_bytes: u64) -> u32 {
        match self.clock.rate() {
            0 => u32::MAX,
            rate => u32::try_from(rate / (segment_bytes * 8 * WHOLE_PER_SECOND)).unwrap_or(u32::MAX),
        }
    }

    fn enqueue<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        node: NodeId,
        now: Now,
        gone: &mut NodeQueue,
    ) -> NodeId {
        let endpoints = self.config.nat.then(|| HeaderFields::untranslated(slab, node));
        let Some(waiting) = slab.get_mut(node) else { return node };
        let bytes = self.framing.frame(waiting);
        self.memory += waiting.frame.footprint() as u64;
        let mut fields = HeaderFields::of(waiting.frame.head());
        let endpoints = endpoints.unwrap_or(fields);
        let tin_index = diffserv::tin(self.config.diffserv, fields.dscp());
        if self.config.wash {
            wash(&mut waiting.frame);
            fields.traffic_class &= 3;
        }
        if self.tins.is_empty() {
            self.begin();
        }
        if self.config.autorate_ingress
            && let Some(rate) = self.autorate.arrive(bytes, self.config.bandwidth, now)
        {
            self.set_rate(rate);
        }
        if self.load.frames == 0 {
            self.clock.start(now);
        }
        let Some(tin) = self.tins.get_mut(tin_index) else { return node };
        if tin.load.frames == 0 {
            tin.clock.start(now);
        }
        let index = self.flows.find(tin_index, &self.config, &endpoints, &tin.params, now);
        let replaced = self.filter(slab, index, node, &fields);
        if replaced.is_some() {
            self.memory -= footprint(slab, node);
            gone.push(slab, node);
        } else {
            self.push(slab, index, node, &endpoints);
        }
        self.overflow(slab, now, gone);
        replaced.unwrap_or(node)
    }

    fn dequeue<F: Frame>(&mut self, slab: &mut Slab<F>, now: Now, gone: &mut NodeQueue) -> Dequeued {
        if self.load.frames == 0 {
            return Dequeued::Empty;
        }
        if self.clock.next() > now {
            return Dequeued::Wait(self.clock.next());
        }
        let tin = if self.clock.rate() == 0 { self.choose() } else { self.choose_shaped(now) };
        tin.and_then(|tin| self.dequeue_from(tin, slab, now, gone)).map_or(Dequeued::Empty, Dequeued::Packet)
    }

    fn take_out<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut NodeQueue,
        pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
    ) -> Load {
        let (mut taken, mut shorter) = (Load::default(), Vec::new());
        for (index, flow) in self.flows.all_mut().enumerate().filter(|(_, flow)| !flow.queue.is_empty()) {
            let (part, memory) = flow.queue.take_out_weighed(slab, to, pick);
            taken = taken.plus(part);
            shorter.push(((usize::from(flow.tin), index as u32), part, memory, flow.queue.is_empty()));
        }
        for (index, part, memory, is_empty) in shorter {
            self.left(index, part, memory, is_empty);
        }
        taken
    }

    fn drop_from_longest<F: Frame>(&mut self, slab: &mut Slab<F>, gone: &mut NodeQueue) {
        if let Some(index) = self.flows.longest() {
            self.drop_first(slab, index, gone);
        }
    }

    fn sub_queues(&self) -> u32 {
        self.waiting
    }

    fn marked(&self) -> u64 {
        self.marked
    }
}
