//! Commands of the control thread, answers of the workers, and the rings between all of them.

use std::sync::Arc;

use rtrb::{Consumer, Producer, RingBuffer};
use tollway_config::dataplane::RowId;
use tollway_config::protocol::{CONNECTION_RECORD, QUEUE_RECORD};
use tollway_engine::engine::dry_run::Probe;
use tollway_engine::engine::stats::EngineStats;
use tollway_engine::flow::conntrack::{Change, Translated};
use tollway_engine::ids::PortId;
use tollway_engine::observe::trace::{Filters, TraceBuffer};
use tollway_engine::packet::tuple::Tuple;
use tollway_engine::snapshot::Snapshot;
use tollway_io::wake::Wake;
use tollway_io::{PoolFrame, Port, tap::Tap};

use crate::counters::WorkerDrops;
use crate::handover_ring::{self, HandoverReceiver, HandoverSender};
use crate::link_counters::WorkerLinks;
use crate::offloaded_flows::OffloadResources;
use crate::profile::ProfileReport;

/// Maximum number of connection changes that wait for the control thread.
const CHANGES: usize = 16_384;
/// Maximum number of commands that wait for a worker; few ever do, as the control thread waits for answers.
const COMMAND_DEPTH: usize = 64;

/// Commands of the control thread to a worker; each is answered once, in order.
#[derive(Debug)]
pub enum Command {
    /// Use another configuration, and these counters of its links. [`Answer::Applied`].
    Apply(Arc<Snapshot>, WorkerLinks),
    /// [`Answer::Stats`].
    Stats,
    /// Pack a part of a table. [`Answer::Records`].
    Dump(Dump, DumpRange),
    /// Append the token bucket records of a queue, one a millisecond, from after the given millisecond on, to this
    /// buffer. [`Answer::Records`].
    TokenBucket(RowId, u64, Vec<u8>),
    /// Set queues' counters to zero and append the records of their values before to this buffer. [`Answer::Records`].
    ResetQueueCounters(Arc<[RowId]>, Vec<u8>),
    /// [`Answer::Count`].
    RemoveConnections(Arc<[u64]>),
    /// [`Answer::Count`].
    ResetCounters(Arc<[RowId]>),
    /// Restore those of these connections that the worker owns. [`Answer::Count`].
    Restore(Arc<[Translated]>),
    /// Use another socket for a port, or none. [`Answer::Port`].
    SetPort(PortId, Option<Port>),
    /// Begin or end flow offload. [`Answer::Count`].
    Offload(Option<OffloadResources>),
    /// Use another queue for an interface's TAP, or none. [`Answer::Tap`].
    SetTap(RowId, Option<Tap>),
    /// Look up a flow for a dry run. [`Answer::Probe`].
    Probe(Tuple),
    /// Use these filters of traces, and this buffer. [`Answer::Trace`].
    Trace(Arc<Filters>, Option<TraceBuffer>),
    /// End. [`Answer::Count`].
    Stop,
}

/// A table that is read in parts, so that packets do not wait for the whole of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dump {
    /// Connections.
    Connections,
    /// Queues of `/queue/simple` and `/queue/tree`.
    Queues,
}

impl Command {
    /// Whether the counters of offloaded flows must be up to date: this is needed by commands that read or reset
    /// counters, or change the rules. Further parts of a table use the counters read for the first part, as reading all
    /// flows takes longer than a part may take.
    pub(crate) fn needs_flow_counters(&self) -> bool {
        !matches!(self, Self::Dump(_, DumpRange { from: 1.., .. }))
    }
}

impl Dump {
    /// Number of slots of the table in one part: about 0.1 ms of a worker's time.
    pub const PLACES: u32 = 2000;

    /// Bytes of the largest part.
    pub const fn part_bytes(self) -> usize {
        Self::PLACES as usize
            * match self {
                Dump::Connections => CONNECTION_RECORD,
                Dump::Queues => QUEUE_RECORD,
            }
    }
}

/// The part of a table that is asked for.
#[derive(Debug)]
pub struct DumpRange {
    /// First place.
    pub from: u32,
    /// Buffer for the records; empty, with room for them, so that the worker does not allocate.
    pub records: Vec<u8>,
}

/// Answers of a worker to the control thread, which drops objects that the worker no longer uses, outside the packet
/// path.
#[derive(Debug)]
pub enum Answer {
    /// The configuration and the counters of links that were in use.
    Applied(Arc<Snapshot>, WorkerLinks),
    /// Counters.
    Stats(Box<WorkerReport>),
    /// The records, and the slot at which the next part begins; `None` at the end of the table.
    Records(Vec<u8>, Option<u32>),
    /// The worker's state of the flow.
    Probe(Box<Probe>),
    /// The buffer that was in use.
    Trace(Option<TraceBuffer>),
    /// Number of rows or connections that were affected.
    Count(u64),
    /// The socket that was in use.
    Port(Option<Port>),
    /// The queue that was in use.
    Tap(Option<Tap>),
}

/// A worker's counters.
#[derive(Debug)]
pub struct WorkerReport {
    /// Counters of its engine.
    pub engine: EngineStats,
    /// Ticks of the worker, by activity.
    pub profile: ProfileReport,
    /// Frames it dropped outside the engine.
    pub drops: WorkerDrops,
}

/// A worker's ends of its rings.
#[derive(Debug)]
pub struct WorkerEnds {
    /// Commands of the control thread.
    pub commands: Consumer<Command>,
    /// To the control thread.
    pub answers: Producer<Answer>,
    /// Changes of translated connections, to the control thread's journal.
    pub changes: Producer<Change>,
    /// Wakes the control thread.
    pub control: Arc<Wake>,
    /// Wakes this worker.
    pub wake: Arc<Wake>,
    /// Packets of the other workers.
    pub inbound: Vec<HandoverReceiver<PoolFrame>>,
    /// To each worker, by number; `None` for itself.
    pub outbound: Vec<Option<Outbound>>,
}

/// Packets to another worker.
#[derive(Debug)]
pub struct Outbound {
    /// The channel.
    pub packets: HandoverSender<PoolFrame>,
    /// Wakes it.
    pub wake: Arc<Wake>,
}

/// The control thread's ends of the rings of one worker.
#[derive(Debug)]
pub struct ControlEnds {
    /// To the worker.
    pub commands: Producer<Command>,
    /// Answers of the worker.
    pub answers: Consumer<Answer>,
    /// Changes of translated connections.
    pub changes: Consumer<Change>,
    /// Wakes the worker.
    pub wake: Arc<Wake>,
}

/// Creates all rings for `workers` workers.
///
/// # Errors
/// When the process has no file descriptor left.
pub fn rings(workers: usize, control: &Arc<Wake>) -> std::io::Result<(Vec<WorkerEnds>, Vec<ControlEnds>)> {
    let mut worker_ends = Vec::with_capacity(workers);
    let mut control_ends = Vec::with_capacity(workers);
    for _ in 0..workers {
        let (to_worker, commands) = RingBuffer::new(COMMAND_DEPTH);
        let (answers, from_worker) = RingBuffer::new(COMMAND_DEPTH);
        let (changes, from_engine) = RingBuffer::new(CHANGES);
        let wake = Arc::new(Wake::new()?);
        control_ends.push(ControlEnds {
            commands: to_worker,
            answers: from_worker,
            changes: from_engine,
            wake: Arc::clone(&wake),
        });
        let control = Arc::clone(control);
        worker_ends.push(WorkerEnds {
            commands,
            answers,
            changes,
            control,
            wake,
            inbound: Vec::new(),
            outbound: Vec::new(),
        });
    }
    for from in 0..workers {
        for to in 0..workers {
            let mut out = None;
            if from != to {
                let (packets, inbound) = handover_ring::channel();
                if let Some(target) = worker_ends.get_mut(to) {
                    target.inbound.push(inbound);
                    out = Some(Outbound { packets, wake: Arc::clone(&target.wake) });
                }
            }
            if let Some(source) = worker_ends.get_mut(from) {
                source.outbound.push(out);
            }
        }
    }
    Ok((worker_ends, control_ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_counters_are_read_once_for_a_table_and_not_for_every_part_of_it() {
        let part = |from| Command::Dump(Dump::Connections, DumpRange { from, records: Vec::new() });
        assert!(part(0).needs_flow_counters());
        assert!(!part(Dump::PLACES).needs_flow_counters());
        assert!(Command::Stats.needs_flow_counters());
    }
}
