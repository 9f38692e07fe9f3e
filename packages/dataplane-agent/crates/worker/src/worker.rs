//! A worker thread: sleeps in poll, passes batches from its ports through the engine, and sends them.

mod command;
mod dispatch;
mod receive;
mod worker_port;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tollway_engine::Engine;
use tollway_engine::observe::profiler::CycleClock;
use tollway_engine::pipeline::batch::Batch;
use tollway_engine::time::Now;
use tollway_io::clock::{self, Tsc};
use tollway_io::mmsg::{BURST, MmsgBuffers};
use tollway_io::pool::Partition;
use tollway_io::{PoolFrame, PortIo, thread, wake};

use crate::busy_poll::BusyPoll;
use crate::commands::WorkerEnds;
use crate::counters::{PortCounters, WorkerDrops};
use crate::link_counters::{LinksReceived, WorkerLinks};
use crate::offloaded_flows::OffloadedFlows;
use crate::profile::{Activity, Profile};
use worker_port::{TRANSMIT_GATHER, WorkerPort, WorkerTap};

/// Minimum number of calls of poll(2) per second while the worker is busy: some events, above all those of TAPs, are
/// not visible in shared memory.
const POLLS_PER_SECOND: u64 = 10_000;
/// Time to wait for frames to be returned to the pool when a port has none to receive into.
const STARVED: Duration = Duration::from_millis(1);
/// A worker thread's state.
pub struct Worker {
    ends: WorkerEnds,
    engine: Engine<PoolFrame>,
    batch: Batch<PoolFrame>,
    pool: Partition,
    buffers: MmsgBuffers,
    ports: Vec<WorkerPort>,
    /// Counters of links above ports.
    links: WorkerLinks,
    received: LinksReceived,
    taps: Vec<WorkerTap>,
    drops: WorkerDrops,
    profile: Profile,
    index: u32,
    workers: u32,
    poll_set: Vec<libc::pollfd>,
    /// For every port it can be checked without a system call whether frames wait.
    can_busy_poll: bool,
    /// When poll(2) was last called, by the cycle counter.
    polled: u64,
    busy_poll: BusyPoll,
    /// Offloaded flows that the kernel forwards.
    flows: Option<OffloadedFlows>,
    /// Received in this turn of the loop, bytes.
    turn_bytes: u64,
    /// Longest time between two calls of poll(2) while the worker is busy, ticks.
    poll_interval: u64,
    stopping: bool,
}

/// The parts of which a worker consists.
pub struct WorkerParts {
    /// Rings of the worker.
    pub ends: WorkerEnds,
    /// Engine of the worker.
    pub engine: Engine<PoolFrame>,
    /// Frames of the worker.
    pub pool: Partition,
    /// Counters of every port, by port.
    pub counters: Vec<Arc<PortCounters>>,
    /// Number of the worker.
    pub index: u32,
    /// Number of workers.
    pub workers: u32,
    /// Cores it may run on.
    pub cores: Vec<usize>,
    /// Ticks of the cycle counter per second.
    pub hz: u64,
}

/// Runs a worker on the calling thread until [`Command::Stop`](crate::commands::Command::Stop). `alive` is cleared when
/// it ends, for whatever reason.
pub fn run(parts: WorkerParts, alive: &AtomicBool) {
    struct Alive<'a>(&'a AtomicBool);
    impl Drop for Alive<'_> {
        fn drop(&mut self) {
            self.0.store(false, Ordering::Release);
        }
    }
    let control = Arc::clone(&parts.ends.control);
    {
        let _alive = Alive(alive);
        thread::set_precise_timers();
        Worker::new(parts).run();
    }
    control.signal();
}

impl Worker {
    fn new(parts: WorkerParts) -> Self {
        let port = |counters| WorkerPort {
            io: None,
            burst: BURST,
            queue: Vec::with_capacity(TRANSMIT_GATHER),
            blocked: false,
            is_known_blocked: false,
            starved: false,
            counters,
        };
        let mut worker = Self {
            ends: parts.ends,
            engine: parts.engine,
            batch: Batch::new(),
            pool: parts.pool,
            buffers: MmsgBuffers::new(),
            ports: parts.counters.into_iter().map(port).collect(),
            links: WorkerLinks::new(),
            received: LinksReceived::default(),
            taps: Vec::new(),
            drops: WorkerDrops::default(),
            profile: Profile::new(parts.hz, &parts.cores, thread::current_core()),
            index: parts.index,
            workers: parts.workers,
            poll_set: Vec::new(),
            can_busy_poll: false,
            polled: 0,
            busy_poll: BusyPoll::new(parts.hz, parts.cores.len()),
            flows: None,
            turn_bytes: 0,
            poll_interval: parts.hz / POLLS_PER_SECOND,
            stopping: false,
        };
        worker.rebuild_poll_set();
        worker
    }

    fn run(&mut self) {
        while !self.stopping {
            if !self.find_work() {
                self.poll(true);
                self.busy_poll.found(self.polled);
            }
            self.execute_next();
            self.receive();
            if self.engine.next_deadline().is_some_and(|deadline| deadline <= clock::now()) {
                self.profile.charge(Activity::Ethernet);
                self.engine.tick(&mut self.batch, &mut self.pool, &Tsc, clock::now());
                self.profile.charge(Activity::Engine);
                self.dispatch();
            }
            if self.flows.as_ref().and_then(OffloadedFlows::due).is_some_and(|due| due <= clock::now()) {
                self.update_flows(clock::now());
            }
            self.flush();
            self.pool.flush_returns();
            if self.has_sent_all() {
                self.engine.sent();
            }
            self.report_changes();
        }
    }

    /// No port has frames left to send.
    fn has_sent_all(&self) -> bool {
        self.ports.iter().all(|end| end.queue.is_empty())
    }

    /// Reports to the control thread which translated connections appeared and ended. Changes for which the ring has no
    /// room stay in the engine.
    fn report_changes(&mut self) {
        while !self.ends.changes.is_full() {
            let Some(change) = self.engine.take_change() else { return };
            let _ = self.ends.changes.push(change);
        }
    }

    /// Busy-polls for work where that is possible and worthwhile. Returns `false` when it is time to sleep.
    fn find_work(&mut self) -> bool {
        let mut now = Tsc.cycles();
        let until = self.busy_poll.turn_ended(now, std::mem::take(&mut self.turn_bytes));
        if !self.can_busy_poll || self.ports.iter().any(|end| end.blocked) {
            return false;
        }
        let deadline = self.engine.next_deadline();
        while !self.has_work() {
            if now >= until || deadline.is_some_and(|deadline| deadline <= clock::now()) {
                return false;
            }
            std::hint::spin_loop();
            now = Tsc.cycles();
        }
        self.profile.charge(Activity::Ethernet);
        self.busy_poll.found(now);
        true
    }

    /// Notes in the poll set which ports have frames. Returns whether there are any, or messages of other threads.
    /// Calls poll(2) if the last call was long ago.
    fn has_work(&mut self) -> bool {
        if Tsc.cycles().saturating_sub(self.polled) > self.poll_interval {
            return self.poll(false) > 0;
        }
        let mut found =
            !self.ends.commands.is_empty() || self.ends.inbound.iter().any(|ring| !ring.is_empty());
        for entry in &mut self.poll_set {
            entry.revents = 0;
        }
        for (end, entry) in self.ports.iter().zip(self.poll_set.iter_mut().skip(1)) {
            if end.io.as_ref().and_then(PortIo::is_ready) == Some(true) {
                entry.revents = libc::POLLIN;
                found = true;
            }
        }
        found
    }

    /// Calls poll(2), which sleeps until there is work if `wait`. Returns how many descriptors are ready.
    fn poll(&mut self, wait: bool) -> usize {
        for (end, entry) in self.ports.iter().zip(self.poll_set.iter_mut().skip(1)) {
            entry.events = if end.blocked { libc::POLLIN | libc::POLLOUT } else { libc::POLLIN };
        }
        if !self.links.is_empty() && (wait || self.received.is_due(clock::now())) {
            self.copy_received(clock::now());
        }
        self.ends.wake.before_sleep();
        let pending = !self.ends.commands.is_empty() || self.ends.inbound.iter().any(|ring| !ring.is_empty());
        let mut timeout = if pending || !wait { Some(Duration::ZERO) } else { self.longest_sleep() };
        if timeout != Some(Duration::ZERO) && self.has_sent_all() && self.engine.before_sleep(clock::now()) {
            timeout = self.longest_sleep();
        }
        let set = &mut self.poll_set;
        let ready = self.profile.poll(|| wake::poll(set, timeout));
        self.polled = Tsc.cycles();
        self.profile.runs_on(thread::current_core(), || self.engine.class_cycles());
        self.ends.wake.after_sleep();
        if self.poll_set.first().is_some_and(|entry| entry.revents != 0) {
            self.ends.wake.clear();
        }
        ready + usize::from(pending)
    }

    /// Maximum time to sleep if nothing arrives; `None` for no limit.
    fn longest_sleep(&self) -> Option<Duration> {
        let until = |deadline: Now| Duration::from_nanos(deadline.0.saturating_sub(clock::now().0));
        let flows = self.flows.as_ref().and_then(OffloadedFlows::due);
        let deadline = self.engine.next_deadline().into_iter().chain(flows).min().map(until);
        let starved = self.ports.iter().any(|end| end.starved).then_some(STARVED);
        deadline.into_iter().chain(starved).min()
    }

    /// The poll set: the wake-up, every port, every TAP. Absent ones have descriptor -1, which poll skips.
    fn rebuild_poll_set(&mut self) {
        self.poll_set.clear();
        self.poll_set.push(wake::readable(self.ends.wake.fd()));
        for end in &self.ports {
            self.poll_set.push(wake::readable(end.io.as_ref().map_or(-1, PortIo::fd)));
        }
        self.can_busy_poll =
            self.ports.iter().filter_map(|end| end.io.as_ref()).all(|io| io.is_ready().is_some());
        for end in &self.taps {
            self.poll_set.push(wake::readable(if end.dead { -1 } else { end.tap.fd() }));
        }
    }

    fn revents(&self, index: usize) -> libc::c_short {
        self.poll_set.get(index).map_or(0, |entry| entry.revents)
    }

    fn process(&mut self) {
        self.profile.charge(Activity::Ethernet);
        let now = clock::now();
        self.engine.process(&mut self.batch, &mut self.pool, &Tsc, now);
        if let Some(flows) = &mut self.flows {
            flows.take(&mut self.engine, &self.batch, now);
        }
        self.count_fast_received();
        self.profile.charge(Activity::Engine);
        self.dispatch();
    }

    /// Publishes how many packets of each port took the fast path.
    fn count_fast_received(&mut self) {
        for (index, (end, own)) in self.ports.iter().zip(self.engine.fp_rx()).enumerate() {
            let fast = self.received.fast(index, *own);
            end.counters.fp_rx_packets.set(fast.packets);
            end.counters.fp_rx_bytes.set(fast.bytes);
        }
    }

    /// Publishes what links above ports have received.
    fn copy_received(&mut self, now: Now) {
        if !self.links.is_empty() {
            self.received.copy(&self.links, &self.engine, now);
            self.count_fast_received();
        }
    }
}

#[cfg(test)]
mod tests;
