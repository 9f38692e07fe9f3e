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
use crate::exchange::{Answer, Command, ControlEnds, rings};
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

/// Every worker thread.
pub struct Workers {
    handles: Vec<Handle>,
    wake: Arc<Wake>,
}

impl Workers {
    /// Starts one worker per partition, pinned to `cpus` in turn. `counters` is indexed by worker, then by
    /// port.
    ///
    /// # Errors
    /// When threads or descriptors are exhausted.
    pub fn start(
        pools: Vec<Partition>,
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
            let limits = EngineLimits {
                max_connections: MAX_CONNECTIONS / count as u32,
                queue_frames: 4096,
                queue_bytes: 16 << 20,
            };
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
            handle.ends.commands.push(command(index)).map_err(|_| WorkerLost(index))?;
            handle.ends.wake.notify();
        }
        let deadline = Instant::now() + PATIENCE;
        let mut answers = Vec::with_capacity(self.handles.len());
        for (index, handle) in self.handles.iter_mut().enumerate() {
            loop {
                if let Ok(answer) = handle.ends.answers.pop() {
                    answers.push(answer);
                    break;
                }
                if !handle.alive.load(Ordering::Acquire) || Instant::now() > deadline {
                    // A late answer would be taken for that to a later command.
                    handle.alive.store(false, Ordering::Release);
                    return Err(WorkerLost(index));
                }
                self.wake.going_to_sleep();
                if handle.ends.answers.is_empty() {
                    wake::poll(&mut [wake::readable(self.wake.fd())], Some(Duration::from_millis(100)));
                }
                self.wake.awake();
                self.wake.clear();
            }
        }
        Ok(answers)
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
