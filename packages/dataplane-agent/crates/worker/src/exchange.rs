//! What the control thread and the workers say to each other, and the rings between workers.

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
use crate::flows::Admitted;
use crate::handover::{self, Arrivals, Departures};
use crate::profile::ProfileReport;

/// Changes of connections that may wait for the control thread.
const CHANGES: usize = 16_384;
/// Commands that may wait for a worker; the control thread waits for answers, so few ever do.
const COMMAND_DEPTH: usize = 64;

/// Control thread to worker; each is answered once, in order.
#[derive(Debug)]
pub enum Command {
    /// Use another configuration. [`Answer::Swapped`].
    Swap(Arc<Snapshot>),
    /// [`Answer::Stats`].
    Stats,
    /// Pack a part of a table. [`Answer::Part`].
    Dump(Dump, Part),
    /// Say what a queue did after a millisecond, into this buffer. [`Answer::Part`].
    QueueScope(RowId, u64, Vec<u8>),
    /// Set queues' counters to zero and put the records of what they were into this buffer. [`Answer::Part`].
    ResetQueueCounters(Arc<[RowId]>, Vec<u8>),
    /// [`Answer::Count`].
    RemoveConnections(Arc<[u64]>),
    /// [`Answer::Count`].
    ResetCounters(Arc<[RowId]>),
    /// Make those of these connections that belong to the worker. [`Answer::Count`].
    Restore(Arc<[Translated]>),
    /// Use another socket for a port, or none. [`Answer::Port`].
    SetPort(PortId, Option<Port>),
    /// Let the kernel forward flows, or no more. [`Answer::Count`].
    Offload(Option<Admitted>),
    /// Use another queue for an interface's TAP, or none. [`Answer::Tap`].
    SetTap(RowId, Option<Tap>),
    /// Say what is known of a flow. [`Answer::Probe`].
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
    /// Simple queues.
    Queues,
}

impl Command {
    /// Whether it is to find what the kernel has forwarded counted: who asks or resets counters means those of all
    /// packets, and so does who changes the rules. Further parts of a table go by what the first one has found, for
    /// a look at all flows would take longer than a part may.
    pub(crate) fn wants_counts(&self) -> bool {
        !matches!(self, Self::Dump(_, Part { from: 1.., .. }))
    }
}

impl Dump {
    /// Places of the table that make one part: some 0.1 ms of a worker's time.
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
pub struct Part {
    /// Its first place.
    pub from: u32,
    /// Where the records go; empty, with room for them, so that the worker obtains no memory.
    pub records: Vec<u8>,
}

/// Worker to control thread. What a worker gives back is dropped here, off the packet path.
#[derive(Debug)]
pub enum Answer {
    /// The configuration that was in use.
    Swapped(Arc<Snapshot>),
    /// Counters.
    Stats(Box<WorkerReport>),
    /// The part; `None` in place of `from`: the table ends here.
    Part(Vec<u8>, Option<u32>),
    /// What is known of the flow.
    Probe(Box<Probe>),
    /// The buffer that was in use.
    Trace(Option<TraceBuffer>),
    /// How many things were touched.
    Count(u64),
    /// The socket that was in use.
    Port(Option<Port>),
    /// The queue that was in use.
    Tap(Option<Tap>),
}

/// A worker's counters.
#[derive(Debug)]
pub struct WorkerReport {
    /// Of its engine.
    pub engine: EngineStats,
    /// Where its time went.
    pub profile: ProfileReport,
    /// Frames it dropped outside the engine.
    pub drops: WorkerDrops,
}

/// Ends of the rings that one worker holds.
#[derive(Debug)]
pub struct WorkerEnds {
    /// From the control thread.
    pub commands: Consumer<Command>,
    /// To the control thread.
    pub answers: Producer<Answer>,
    /// Changes of translated connections, to the control thread's journal.
    pub changes: Producer<Change>,
    /// Wakes the control thread.
    pub control: Arc<Wake>,
    /// Wakes this worker.
    pub wake: Arc<Wake>,
    /// From the other workers.
    pub inbound: Vec<Arrivals<PoolFrame>>,
    /// To each worker, by number; `None` for itself.
    pub outbound: Vec<Option<Outbound>>,
}

/// The way to another worker.
#[derive(Debug)]
pub struct Outbound {
    /// The way there.
    pub packets: Departures<PoolFrame>,
    /// Wakes it.
    pub wake: Arc<Wake>,
}

/// Ends of the rings that the control thread holds, for one worker.
#[derive(Debug)]
pub struct ControlEnds {
    /// To the worker.
    pub commands: Producer<Command>,
    /// From the worker.
    pub answers: Consumer<Answer>,
    /// Changes of translated connections.
    pub changes: Consumer<Change>,
    /// Wakes the worker.
    pub wake: Arc<Wake>,
}

/// Makes every ring for `workers` workers.
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
                let (packets, inbound) = handover::way();
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
    fn flows_are_looked_at_once_for_a_table_and_not_for_every_part_of_it() {
        let part = |from| Command::Dump(Dump::Connections, Part { from, records: Vec::new() });
        assert!(part(0).wants_counts());
        assert!(!part(Dump::PLACES).wants_counts());
        assert!(Command::Stats.wants_counts());
    }
}
