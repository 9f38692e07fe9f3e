//! The control thread's view of all workers: ask, and wait until every one has answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tollway_engine::conntrack::Change;
use tollway_engine::shared::Shared;
use tollway_engine::snapshot::Snapshot;
use tollway_engine::{Engine, EngineLimits};
use tollway_io::clock::TickOrigin;
use tollway_io::pool::Partition;
use tollway_io::wake::{self, Wake};

use crate::counters::PortCounters;
use crate::exchange::{Answer, Command, ControlEnds, Dump, Part, rings};
use crate::worker::{self, WorkerParts};

/// A worker looks at its commands between two batches, so even a busy one answers within milliseconds; one
/// that has said nothing for this long is lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// Connections the workers have room for together.
pub const MAX_CONNECTIONS: u32 = 1 << 20;

/// A worker has died or does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerLost(pub usize);

impl std::fmt::Display for WorkerLost {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "worker {} is lost", self.0)
    }
}

impl std::error::Error for WorkerLost {}

struct Handle {
    ends: ControlEnds,
    thread: Option<JoinHandle<()>>,
    alive: Arc<AtomicBool>,
}

impl Handle {
    /// Puts a command in the worker's ring and wakes it.
    fn tell(&mut self, command: Command) -> Result<(), ()> {
        self.ends.commands.push(command).map_err(drop)?;
        self.ends.wake.notify();
        Ok(())
    }

    /// Sleeps on `wake` until the worker answers. Fails when it has died or does not answer by `deadline`.
    fn wait(&mut self, wake: &Wake, deadline: Instant) -> Result<Answer, ()> {
        loop {
            if let Ok(answer) = self.ends.answers.pop() {
                return Ok(answer);
            }
            if !self.alive.load(Ordering::Acquire) || Instant::now() > deadline {
                // A late answer would be taken for that to a later command.
                self.alive.store(false, Ordering::Release);
                return Err(());
            }
            wake.going_to_sleep();
            if self.ends.answers.is_empty() {
                wake::poll(&mut [wake::readable(wake.fd())], Some(Duration::from_millis(100)));
            }
            wake.awake();
            wake.clear();
        }
    }
}

/// Every worker thread.
pub struct Workers {
    handles: Vec<Handle>,
    wake: Arc<Wake>,
}

impl Workers {
    /// Starts one worker per partition, each with these limits, pinned to `cpus` in turn. `counters` is
    /// indexed by worker, then by port.
    ///
    /// # Errors
    /// When threads or descriptors are exhausted.
    pub fn start(
        pools: Vec<Partition>,
        limits: EngineLimits,
        cpus: &[usize],
        shared: &Arc<Shared>,
        snapshot: &Arc<Snapshot>,
        counters: &[Vec<Arc<PortCounters>>],
    ) -> std::io::Result<Self> {
        let count = pools.len();
        let wake = Arc::new(Wake::new()?);
        let (worker_ends, control_ends) = rings(count, &wake)?;
        let origin = TickOrigin::new();
        std::thread::sleep(Duration::from_millis(20));
        let hz = origin.hz();
        let mut handles = Vec::with_capacity(count);
        let parts = pools.into_iter().zip(worker_ends).zip(control_ends).zip(counters);
        for (index, (((pool, ends), control), counters)) in parts.enumerate() {
            let (shared, snapshot) = (Arc::clone(shared), Arc::clone(snapshot));
            let cpu = cpus.get(index % cpus.len().max(1)).copied().unwrap_or(0);
            let counters = counters.clone();
            let alive = Arc::new(AtomicBool::new(true));
            let flag = Arc::clone(&alive);
            let thread = std::thread::Builder::new().name(format!("worker-{index}")).spawn(move || {
                let engine = Engine::new(index as u32, count as u32, shared, snapshot, limits);
                let (index, workers) = (index as u32, count as u32);
                worker::run(WorkerParts { ends, engine, pool, counters, index, workers, cpu, hz }, &flag);
            })?;
            handles.push(Handle { ends: control, thread: Some(thread), alive });
        }
        Ok(Self { handles, wake })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// Whether all of them run.
    ///
    /// # Errors
    /// Names the one that died.
    pub fn check(&self) -> Result<(), WorkerLost> {
        match self.handles.iter().position(|handle| !handle.alive.load(Ordering::Acquire)) {
            Some(index) => Err(WorkerLost(index)),
            None => Ok(()),
        }
    }

    /// Sends each worker a command and returns the answers in the order of the workers.
    ///
    /// # Errors
    /// When one of them is lost.
    pub fn ask(&mut self, mut command: impl FnMut(usize) -> Command) -> Result<Vec<Answer>, WorkerLost> {
        for (index, handle) in self.handles.iter_mut().enumerate() {
            handle.tell(command(index)).map_err(|()| WorkerLost(index))?;
        }
        let deadline = Instant::now() + PATIENCE;
        let mut answers = Vec::with_capacity(self.handles.len());
        for (index, handle) in self.handles.iter_mut().enumerate() {
            answers.push(handle.wait(&self.wake, deadline).map_err(|()| WorkerLost(index))?);
        }
        Ok(answers)
    }

    /// The packed records of a table of every worker, one after the other. Read in parts, between which
    /// workers go on with packets.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn dump(&mut self, dump: Dump) -> Result<Vec<u8>, WorkerLost> {
        let mut all = Vec::new();
        let mut records = Vec::with_capacity(dump.part_bytes());
        for (index, handle) in self.handles.iter_mut().enumerate() {
            let mut next = Some(0);
            while let Some(from) = next {
                records.clear();
                let part = Part { from, records };
                let answer = handle.tell(Command::Dump(dump, part));
                let answer = answer.and_then(|()| handle.wait(&self.wake, Instant::now() + PATIENCE));
                (records, next) = match answer.map_err(|()| WorkerLost(index))? {
                    Answer::Part(records, next) => (records, next),
                    _ => (Vec::new(), None),
                };
                all.extend_from_slice(&records);
            }
        }
        Ok(all)
    }

    /// Puts a configuration to work on every worker; returns when all have taken it over. The old one is
    /// dropped here.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn swap(&mut self, snapshot: &Arc<Snapshot>) -> Result<(), WorkerLost> {
        self.ask(|_| Command::Swap(Arc::clone(snapshot))).map(drop)
    }

    /// Adds up the counts that the workers answer with.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn count(&mut self, command: impl FnMut(usize) -> Command) -> Result<u64, WorkerLost> {
        let answers = self.ask(command)?;
        Ok(answers.iter().map(|answer| if let Answer::Count(count) = answer { *count } else { 0 }).sum())
    }

    /// Takes the changes of translated connections that the workers have reported.
    pub fn take_changes(&mut self, mut sink: impl FnMut(Change)) {
        for handle in &mut self.handles {
            while let Ok(change) = handle.ends.changes.pop() {
                sink(change);
            }
        }
    }

    /// Ends every worker.
    pub fn stop(mut self) {
        if self.ask(|_| Command::Stop).is_ok() {
            for handle in &mut self.handles {
                if let Some(thread) = handle.thread.take() {
                    let _ = thread.join();
                }
            }
        }
    }
}
