//! The control thread's end of all workers: it sends a command and waits until every one has answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tollway_engine::flow::conntrack::Change;
use tollway_engine::shared::Shared;
use tollway_engine::snapshot::Snapshot;
use tollway_engine::{Engine, EngineLimits};
use tollway_io::clock::TickOrigin;
use tollway_io::pool::Partition;
use tollway_io::wake::{self, Wake};

use crate::commands::{Answer, Command, ControlEnds, Dump, DumpRange, rings};
use crate::counters::PortCounters;
use crate::link_counters::LinkCounters;
use crate::worker::{self, WorkerParts};

/// A worker executes commands between two batches, so even a busy one answers within milliseconds; one that has not
/// answered for this long is lost.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

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
    fn send(&mut self, command: Command) -> Result<(), ()> {
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
            wake.before_sleep();
            if self.ends.answers.is_empty() {
                wake::poll(&mut [wake::readable(wake.fd())], Some(Duration::from_millis(100)));
            }
            wake.after_sleep();
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
    /// Starts one worker per partition, each with these limits. `counters` is indexed by worker, then by
    /// port. Workers are bound to no core: the kernel puts each on any of `cores`, those of the process. A
    /// worker that sleeps between packets is then woken where that costs least, often on the core that has
    /// just received for it.
    ///
    /// # Errors
    /// When threads or descriptors are exhausted.
    pub fn start(
        pools: Vec<Partition>,
        limits: EngineLimits,
        cores: &[usize],
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
            let (cores, counters) = (cores.to_vec(), counters.clone());
            let alive = Arc::new(AtomicBool::new(true));
            let flag = Arc::clone(&alive);
            let thread = std::thread::Builder::new().name(format!("worker-{index}")).spawn(move || {
                let engine = Engine::new(index as u32, count as u32, shared, snapshot, limits);
                let (index, workers) = (index as u32, count as u32);
                worker::run(WorkerParts { ends, engine, pool, counters, index, workers, cores, hz }, &flag);
            })?;
            handles.push(Handle { ends: control, thread: Some(thread), alive });
        }
        Ok(Self { handles, wake })
    }

    /// Number of workers.
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
            handle.send(command(index)).map_err(|()| WorkerLost(index))?;
        }
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let mut answers = Vec::with_capacity(self.handles.len());
        for (index, handle) in self.handles.iter_mut().enumerate() {
            answers.push(handle.wait(&self.wake, deadline).map_err(|()| WorkerLost(index))?);
        }
        Ok(answers)
    }

    /// Sends one worker a command and returns its answer.
    ///
    /// # Errors
    /// When it is lost.
    pub fn ask_one(&mut self, index: usize, command: Command) -> Result<Answer, WorkerLost> {
        let handle = self.handles.get_mut(index).ok_or(WorkerLost(index))?;
        handle.send(command).map_err(|()| WorkerLost(index))?;
        handle.wait(&self.wake, Instant::now() + ANSWER_TIMEOUT).map_err(|()| WorkerLost(index))
    }

    /// The packed records of a table of every worker, one after the other. Each table is read in parts, between which
    /// the worker handles packets.
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
                let part = DumpRange { from, records };
                let answer = handle.send(Command::Dump(dump, part));
                let answer = answer.and_then(|()| handle.wait(&self.wake, Instant::now() + ANSWER_TIMEOUT));
                (records, next) = match answer.map_err(|()| WorkerLost(index))? {
                    Answer::Records(records, next) => (records, next),
                    _ => (Vec::new(), None),
                };
                all.extend_from_slice(&records);
            }
        }
        Ok(all)
    }

    /// Activates a configuration on every worker; returns when all use it. The old one is dropped here.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn apply(&mut self, snapshot: &Arc<Snapshot>, links: &LinkCounters) -> Result<(), WorkerLost> {
        self.ask(|worker| Command::Apply(Arc::clone(snapshot), links.of_worker(snapshot, worker))).map(drop)
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use tollway_config::dataplane::DataplaneConfig;
    use tollway_config::protocol::CONNECTION_RECORD;
    use tollway_engine::EngineLimits;
    use tollway_engine::flow::conntrack::Translated;
    use tollway_engine::packet::tuple::{Addr, Tuple};
    use tollway_io::pool::{PartitionSize, partitions};

    fn start(count: usize) -> Workers {
        let pools = partitions(&vec![PartitionSize { heads: 256, tails: 0 }; count]).unwrap();
        let snapshot = Snapshot::build(&DataplaneConfig::default(), &[], count as u32, 0).unwrap();
        let limits = EngineLimits { max_connections: 8192, queue_frames: 64, queue_bytes: 1 << 20 };
        let shared = Arc::new(Shared::new(count as u32, 1));
        let cores = tollway_io::thread::cores();
        Workers::start(pools, limits, &cores, &shared, &Arc::new(snapshot), &vec![Vec::new(); count]).unwrap()
    }

    /// Voluntary context switches of this process's threads of a name (proc(5)).
    fn sleeps(name: &str) -> Vec<u64> {
        let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        let threads = std::fs::read_dir("/proc/self/task").unwrap().map(|entry| entry.unwrap().path());
        threads
            .filter(|thread| read(thread.join("comm")).trim() == name)
            .filter_map(|thread| {
                let status = read(thread.join("status"));
                let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
                line.trim().parse().ok()
            })
            .collect()
    }

    #[test]
    fn a_worker_with_nothing_to_do_sleeps_and_the_tables_of_all_are_read_in_parts() {
        let count = 3;
        let mut workers = start(count);
        let names: Vec<String> = (0..count).map(|index| format!("worker-{index}")).collect();
        workers.ask(|_| Command::Stats).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let before: Vec<_> = names.iter().map(|name| sleeps(name)).collect();
        assert!(before.iter().all(|sleeps| sleeps.len() == 1), "{before:?}");
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(names.iter().map(|name| sleeps(name)).collect::<Vec<_>>(), before);

        let connections = 3 * Dump::PLACES;
        let saved = |host: u32| {
            let tuple = |src: u32, src_port: u16, dst: u32, dst_port: u16| Tuple {
                src: Addr::v4(src),
                dst: Addr::v4(dst),
                src_port,
                dst_port,
                protocol: 6,
                icmp: 0,
                zone: 0,
            };
            let original = tuple(0x0a00_0000 + host, 2000, 0xc633_6401, 443);
            let reply = tuple(0xc633_6401, 443, 0xc000_0201, 1024 + host as u16);
            Translated { original, reply, srcnat: true, dstnat: false, masquerade: 0, mark: 0 }
        };
        let saved: Arc<[Translated]> = (0..connections).map(saved).collect();
        let restored = workers.count(|_| Command::Restore(Arc::clone(&saved))).unwrap();
        assert_eq!(restored, u64::from(connections));
        let records = workers.dump(Dump::Connections).unwrap();
        let ids: HashSet<_> = records.chunks(CONNECTION_RECORD).map(|record| record[..8].to_vec()).collect();
        assert_eq!((records.len() / CONNECTION_RECORD, ids.len()), (saved.len(), saved.len()));
        assert_eq!(workers.dump(Dump::Queues), Ok(Vec::new()));
        workers.stop();
    }
}
