//! One worker's engine: the stages, and the state they keep.

use std::marker::PhantomData;
use std::sync::Arc;

use tollway_config::dataplane::RowId;

use crate::batch::Batch;
use crate::frame::{Frame, FrameSource};
use crate::profiler::CycleClock;
use crate::shared::Shared;
use crate::snapshot::Snapshot;
use crate::stats::EngineStats;
use crate::time::Now;

/// Bounds of one worker's state.
#[derive(Debug, Clone, Copy)]
pub struct EngineLimits {
    /// This worker's share of the connection table; the table's memory is reserved when the engine is
    /// made. The configuration's `max-entries` (over all workers) bounds it further.
    pub max_connections: u32,
}

/// The packet path of one worker.
#[derive(Debug)]
pub struct Engine<F: Frame> {
    snapshot: Arc<Snapshot>,
    shared: Arc<Shared>,
    _frames: PhantomData<F>,
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
        let _ = (worker, workers, capacity);
        Self { snapshot, shared, _frames: PhantomData }
    }

    /// Takes over another configuration, at a batch boundary, and returns the old one (to be dropped off
    /// the worker). Flows keep their state and are decided anew on their next packet.
    pub fn swap(&mut self, snapshot: Arc<Snapshot>, now: Now) -> Arc<Snapshot> {
        let _ = now;
        std::mem::replace(&mut self.snapshot, snapshot)
    }

    /// Runs every stage over the batch. Afterwards each packet has a final verdict, and packets the
    /// router makes itself (ARP, ICMP, resets, released holds) have been appended.
    pub fn process<S: FrameSource<F>, C: CycleClock>(
        &mut self,
        batch: &mut Batch<F>,
        source: &mut S,
        clock: &C,
        now: Now,
    ) {
        let _ = (batch, source, clock, now, &self.shared);
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
        let _ = (batch, source, clock, now);
    }

    /// When [`Self::tick`] wants to run next; `None` when nothing is pending.
    pub fn next_deadline(&self) -> Option<Now> {
        None
    }

    /// Every counter.
    pub fn stats(&self) -> EngineStats {
        EngineStats::default()
    }

    /// Appends a packed record (see [`tollway_config::protocol::ReplyBody::Connections`]) per connection.
    pub fn connections(&self, now: Now, out: &mut Vec<u8>) {
        let _ = (now, out);
    }

    /// Ends a connection. `false` when this worker has none of that id.
    pub fn remove_connection(&mut self, id: u64) -> bool {
        let _ = id;
        false
    }

    /// Sets the counters of these rules to zero as seen by [`Self::stats`]; empty means all.
    pub fn reset_counters(&mut self, rows: &[RowId]) {
        let _ = rows;
    }
}
