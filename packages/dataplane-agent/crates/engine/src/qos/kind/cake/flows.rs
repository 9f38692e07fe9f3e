//! Flows, in a hash table of 128 sets of eight for each tin: two flows share a queue only when nine flows with waiting
//! packets fall into one set.

use tollway_config::dataplane::Cake;

use super::cobalt::{Cobalt, Params};
use super::hosts::{Hosts, Pair, flow_hash};
use crate::qos::kind::frame_queue::FrameQueue;
use crate::qos::kind::header::HeaderFields;
use crate::qos::kind::pool::{Lengths, Pool, SubQueueList};
use crate::time::Now;

const SETS: u32 = 128;
const WAYS: u32 = 8;

/// The list in which a flow has its turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FlowSet {
    /// In no list: nothing waits.
    #[default]
    Idle,
    /// In the list of new flows.
    Sparse,
    /// In the list of old flows.
    Bulk,
    /// In the list of old flows for one more turn, with nothing to send.
    Decaying,
}

/// A flow, or several that share a queue.
#[derive(Debug, Default)]
pub struct Flow {
    /// Frames that wait.
    pub queue: FrameQueue,
    /// State of the active queue management.
    pub cobalt: Cobalt,
    /// Bytes that it may send before its turn ends.
    pub deficit: i64,
    /// Remainder of the last refill, divided among its host's flows.
    remainder: u64,
    /// The upper bits of the hash, which do not select the set.
    tag: u32,
    pair: Pair,
    /// The list that it is in.
    pub set: FlowSet,
    /// Tin of the flow.
    pub tin: u8,
    way: u8,
    /// The queue may hold packets of other flows that found their set full.
    is_shared: bool,
    /// Acknowledgements dropped since one was kept.
    pub filtered: u8,
}

/// The flows of all tins.
#[derive(Debug)]
pub struct Flows {
    pool: Pool<Flow>,
    /// Flows by waiting bytes.
    lengths: Lengths,
    hosts: Hosts,
    /// Idle flows, the one that has been idle longest first.
    idle: SubQueueList,
    seed: u64,
}

impl Flows {
    /// No flows. `seed` is the seed of the hash.
    pub fn new(seed: u64) -> Self {
        let (pool, lengths, hosts) = (Pool::default(), Lengths::default(), Hosts::default());
        Self { pool, lengths, hosts, idle: SubQueueList::default(), seed }
    }

    /// Makes sets for so many tins.
    pub fn begin(&mut self, tins: usize) {
        self.pool.fix_heads(tins * SETS as usize);
    }

    /// The flow of a packet between such endpoints, in a tin.
    #[inline]
    pub fn find(
        &mut self,
        tin: usize,
        config: &Cake,
        endpoints: &HeaderFields,
        params: &Params,
        now: Now,
    ) -> u32 {
        let hash = flow_hash(config.flowmode, endpoints, self.seed);
        let (set, tag) = (tin as u32 * SETS + (hash as u32 & (SETS - 1)), (hash >> 32) as u32);
        if let Some(index) = self.pool.find(set, |flow| flow.tag == tag) {
            return index;
        }
        self.begin_flow(tin, set, tag, params, now)
    }

    /// Finds a queue for a flow that has none of its own.
    fn begin_flow(&mut self, tin: usize, set: u32, tag: u32, params: &Params, now: Now) -> u32 {
        let fallback = (tag % WAYS) as u8;
        let shared = |flow: &Flow| flow.way == fallback && flow.is_shared && !flow.queue.is_empty();
        if let Some(index) = self.pool.find(set, shared) {
            // Packets of this flow may wait there, and must not be overtaken.
            return index;
        }
        if let Some(idle) = self.idle.first()
            && self.pool.get(idle).is_some_and(|flow| flow.cobalt.is_forgotten(params, now))
        {
            self.pool.unlink(&mut self.idle, idle);
            self.pool.remove(idle);
        }
        let taken = self.pool.chain(set).fold(0u32, |taken, (_, flow)| taken | 1 << flow.way);
        let way = taken.trailing_ones();
        if way < WAYS {
            let flow = Flow { tag, tin: tin as u8, way: way as u8, ..Flow::default() };
            let index = self.pool.insert(set, flow);
            self.pool.push(&mut self.idle, index);
            return index;
        }
        let idle = self.pool.find(set, |flow| flow.set == FlowSet::Idle);
        let index = idle.or_else(|| self.pool.find(set, |flow| flow.way == fallback)).unwrap_or(0);
        if let Some(flow) = self.pool.get_mut(index) {
            if idle.is_some() {
                (flow.tag, flow.cobalt, flow.is_shared) = (tag, Cobalt::default(), false);
            } else {
                flow.is_shared = true;
            }
        }
        index
    }

    /// Called when an idle flow has something to send again.
    pub fn wake(
        &mut self,
        new: &mut SubQueueList,
        index: u32,
        config: &Cake,
        endpoints: &HeaderFields,
        quantum: u64,
    ) {
        self.pool.unlink(&mut self.idle, index);
        self.pool.push(new, index);
        if let Some(flow) = self.pool.get_mut(index) {
            flow.pair = self.hosts.bind(config.flowmode, endpoints, usize::from(flow.tin), self.seed);
            (flow.set, flow.deficit, flow.is_shared) = (FlowSet::Sparse, 0, false);
        }
        self.refill(index, quantum);
    }

    /// Makes a new or decaying flow a bulk flow, as it has something to send.
    pub fn set_bulk(&mut self, index: u32) {
        if let Some(flow) = self.pool.get_mut(index) {
            flow.set = FlowSet::Bulk;
            self.hosts.count(flow.pair, true);
        }
    }

    /// Moves a new flow to the list of old ones. `sends`: it still has something to send.
    pub fn age(&mut self, new: &mut SubQueueList, old: &mut SubQueueList, index: u32, sends: bool) {
        self.pool.unlink(new, index);
        self.pool.push(old, index);
        if sends {
            self.set_bulk(index);
        } else if let Some(flow) = self.pool.get_mut(index) {
            flow.set = FlowSet::Decaying;
        }
    }

    /// Moves the first flow of a list, which has had its turn, to the end.
    pub fn rotate(&mut self, old: &mut SubQueueList) {
        self.pool.rotate(old);
    }

    /// Gives a flow another turn: its share of the turn of its hosts.
    pub fn refill(&mut self, index: u32, quantum: u64) {
        let Some(flow) = self.pool.get_mut(index) else { return };
        let load = u64::from(self.hosts.load(flow.pair));
        let bytes = quantum + flow.remainder;
        flow.deficit += (bytes / load) as i64;
        flow.remainder = bytes % load;
    }

    /// Removes an empty flow from the round robin. Returns whether it was a bulk flow.
    pub fn rest(&mut self, list: &mut SubQueueList, index: u32) -> bool {
        self.pool.unlink(list, index);
        self.pool.push(&mut self.idle, index);
        let Some(flow) = self.pool.get_mut(index) else { return false };
        let was_bulk = flow.set == FlowSet::Bulk;
        let pair = std::mem::take(&mut flow.pair);
        (flow.set, flow.filtered) = (FlowSet::Idle, 0);
        if was_bulk {
            self.hosts.count(pair, false);
        }
        self.hosts.unbind(pair);
        was_bulk
    }

    /// The flow in which most bytes wait.
    pub fn longest(&self) -> Option<u32> {
        self.pool.longest(&self.lengths, |flow| flow.queue.load().bytes)
    }

    /// Updates the length class of a flow after its queue has changed.
    #[inline]
    pub fn measure(&mut self, index: u32) {
        if let Some(length) = self.pool.get(index).map(|flow| flow.queue.load().bytes) {
            self.pool.measure(&mut self.lengths, index, length);
        }
    }

    /// A flow.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&Flow> {
        self.pool.get(index)
    }

    /// Mutable [`Self::get`].
    #[inline]
    pub fn get_mut(&mut self, index: u32) -> Option<&mut Flow> {
        self.pool.get_mut(index)
    }

    /// The flows of all tins, writable.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Flow> {
        self.pool.all_mut()
    }
}
