//! Counters, tables and traces of a test router.

use std::collections::BTreeMap;

use tollway_config::dataplane::RowId;
use tollway_config::protocol::{
    CONNECTION_RECORD, PacketDescription, QUEUE_RECORD, TraceFilter, TracedPacket,
};
use tollway_engine::engine::Engine;
use tollway_engine::engine::dry_run::{DryRunError, dry_run};
use tollway_engine::engine::stats::EngineStats;
use tollway_engine::flow::conntrack::{Change, Translated};
use tollway_engine::observe::trace::TraceBuffer;
use tollway_engine::observe::trace::collect::TraceResult;
use tollway_engine::packet::slow_reason::SlowReason;

use super::Router;
use crate::counters::{self, Counter};
use crate::record::{ConnectionRecord, QueueRecord};

impl Router {
    /// Events of a queue at a worker in each millisecond after one, packed; the queue is watched from now on.
    pub fn token_bucket(&mut self, worker: usize, row: RowId, after: u64) -> Vec<u8> {
        let mut records = Vec::new();
        self.engines[worker].token_bucket(row, after, self.now, &mut records);
        records
    }

    /// Counters of all workers.
    pub fn stats(&self) -> EngineStats {
        let mut stats = EngineStats::default();
        for engine in &self.engines {
            stats.add(&engine.stats());
        }
        stats
    }

    /// Packets and L2 bytes that each interface above a port has received, by row, without those that received none.
    pub fn received_with_tags(&self) -> Vec<(RowId, (u64, u64))> {
        let mut received = BTreeMap::<RowId, (u64, u64)>::new();
        for engine in &self.engines {
            for (link, _) in engine.encapsulations().iter() {
                let count = engine.vlan_rx()[usize::from(link)];
                let interface =
                    self.snapshot.port(link).and_then(|link| self.snapshot.interface(link.interface));
                let total = received.entry(interface.map_or(0, |interface| interface.row)).or_default();
                *total = (total.0 + count.packets, total.1 + count.bytes);
            }
        }
        received.into_iter().filter(|(_, (packets, _))| *packets > 0).collect()
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
        bytes.chunks_exact(CONNECTION_RECORD).map(ConnectionRecord::read).collect()
    }

    /// The connection records.
    pub fn connections(&self) -> Vec<ConnectionRecord> {
        let mut bytes = Vec::new();
        for engine in &self.engines {
            engine.connections(0, u32::MAX, self.now, &mut bytes);
        }
        bytes.chunks_exact(CONNECTION_RECORD).map(ConnectionRecord::read).collect()
    }

    /// Why the packets of each connection are not all forwarded by the flow cache.
    pub fn slow_reasons(&self) -> Vec<Option<SlowReason>> {
        let mut bytes = Vec::new();
        for engine in &self.engines {
            engine.connections(0, u32::MAX, self.now, &mut bytes);
        }
        let reason = |record: &[u8]| usize::from(record[15]).checked_sub(1).map(|at| SlowReason::ALL[at]);
        bytes.chunks_exact(CONNECTION_RECORD).map(reason).collect()
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

    /// The packets that a trace has recorded so far.
    pub fn traced(&mut self, trace: u64) -> TraceResult {
        let filters = self.traces.filters();
        let buffers: Vec<_> = self
            .engines
            .iter_mut()
            .filter_map(|engine| engine.trace(&filters, Some(TraceBuffer::default())))
            .collect();
        self.traces.add(&buffers, self.snapshot.mark_names(), self.now, self.now.ms());
        self.traces.read(trace, 0, self.now).expect("a trace that runs")
    }

    /// The result of a dry run.
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

    /// Records of the simple queues, by ascending row; zeros for those without packets.
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
        for record in bytes.chunks_exact(QUEUE_RECORD).map(QueueRecord::read) {
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

    /// Changes of the connections that are to outlive a restart, since they were last taken.
    pub fn take_changes(&mut self) -> Vec<Change> {
        let of = |engine: &mut Engine<_>| std::iter::from_fn(|| engine.take_change()).collect::<Vec<_>>();
        self.engines.iter_mut().flat_map(of).collect()
    }

    /// Restores a connection of an earlier run at the worker that owns its replies. Returns whether there was room.
    pub fn restore(&mut self, saved: &Translated) -> bool {
        let now = self.now;
        let restored = self.engines.iter_mut().map(|engine| engine.restore(saved, now));
        restored.filter(|restored| *restored).count() == 1
    }

    /// The state for a failed assertion.
    pub fn describe(&self) -> String {
        format!(
            "connections {:#?}\nneighbours {:?}",
            self.connections(),
            self.shared.neighbors(&self.snapshot)
        )
    }
}
