//! A worker thread: sleeps in poll, takes batches from its ports through the engine, and sends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tollway_config::dataplane::RowId;
use tollway_engine::Engine;
use tollway_engine::engine::offload::Credit;
use tollway_engine::ids::PortId;
use tollway_engine::observe::profiler::CycleClock;
use tollway_engine::packet::frame::{Frame, VnetState};
use tollway_engine::packet::tuple::steer;
use tollway_engine::pipeline::batch::{BATCH, Batch, Outcome};
use tollway_engine::pipeline::handover::{Handover, HandoverContents};
use tollway_engine::time::Now;
use tollway_io::clock::{self, Tsc};
use tollway_io::pool::Partition;
use tollway_io::scratch::{BURST, Outgoing, Scratch};
use tollway_io::tap::Tap;
use tollway_io::thread;
use tollway_io::wake;
use tollway_io::{PoolFrame, Port, PortIo};

use crate::counters::{PortCounters, WorkerDrop, WorkerDrops, on_the_wire};
use crate::exchange::{Answer, Command, Dump, Part, WorkerEnds, WorkerReport};
use crate::flows::{Admitted, Flows};
use crate::patience::Patience;
use crate::profile::{Account, Profile};

/// Frames that may wait for a port that does not take more.
const TRANSMIT_QUEUE: usize = 512;
/// Frames that are gathered for a port before it is offered them. Only queues that end with their
/// configuration give more at once.
const TRANSMIT_GATHER: usize = TRANSMIT_QUEUE + 2 * BATCH;

/// Bytes taken from a port at a time, about: what is received should still be in the core's cache when it
/// is sent. Super-frames make that few frames, small packets whole bursts.
const BURST_BYTES: usize = 256 << 10;
/// How often the kernel is asked for what cannot be seen otherwise, TAPs above all, while frames come without
/// a pause: per second at least.
const ASK_PER_SECOND: u64 = 10_000;
/// How long to wait for frames to come back to the pool when a port has none to receive into.
const STARVED: Duration = Duration::from_millis(1);
/// Fewest frames taken from a port at a time.
const MIN_BURST: usize = 4;

struct PortEnd {
    io: Option<Port>,
    /// Frames to take at a time.
    burst: usize,
    queue: Vec<Outgoing>,
    blocked: bool,
    /// The engine knows that it takes nothing.
    held_back: bool,
    /// It had no frame to receive into. It may then show nothing, and has to be asked.
    starved: bool,
    counters: Arc<PortCounters>,
}

impl PortEnd {
    /// Sends what waits, as far as the port takes it.
    fn flush(&mut self, scratch: &mut Scratch, pool: &mut Partition, drops: &mut WorkerDrops) {
        if self.queue.is_empty() || self.blocked {
            return;
        }
        let Some(io) = &mut self.io else {
            for (frame, _) in self.queue.drain(..) {
                pool.recycle(frame);
            }
            return;
        };
        let sent = io.send(&mut self.queue, scratch, pool);
        self.blocked = sent.full;
        if sent.refused > 0 {
            drops.add(WorkerDrop::PortRefused, sent.refused as u64);
            self.counters.tx_drops.add(sent.refused as u64);
        }
    }

    /// Adds what the kernel has dropped before the port since the last call.
    fn count_kernel_drops(&mut self, drops: &mut WorkerDrops) {
        let dropped = self.io.as_mut().map_or(0, PortIo::take_kernel_drops);
        self.counters.rx_drops.add(dropped);
        drops.add(WorkerDrop::ReceiveQueueFull, dropped);
    }
}

struct TapEnd {
    row: RowId,
    tap: Tap,
    /// Its descriptor only reports errors; the device is gone.
    dead: bool,
}

/// One worker.
pub struct Worker {
    ends: WorkerEnds,
    engine: Engine<PoolFrame>,
    batch: Batch<PoolFrame>,
    pool: Partition,
    scratch: Scratch,
    ports: Vec<PortEnd>,
    taps: Vec<TapEnd>,
    drops: WorkerDrops,
    profile: Profile,
    index: u32,
    workers: u32,
    poll_set: Vec<libc::pollfd>,
    /// Every port shows without a system call whether frames wait.
    ports_show: bool,
    /// When the kernel was last asked, by the cycle counter.
    polled: u64,
    patience: Patience,
    /// What the kernel forwards.
    flows: Option<Flows>,
    /// Received since the last look, bytes.
    turn_bytes: u64,
    /// How long to go without asking it, ticks.
    ask_after: u64,
    stopping: bool,
}

/// What a worker starts with.
pub struct WorkerParts {
    /// Its rings.
    pub ends: WorkerEnds,
    /// Its engine.
    pub engine: Engine<PoolFrame>,
    /// Its frames.
    pub pool: Partition,
    /// Counters of every port, by port.
    pub counters: Vec<Arc<PortCounters>>,
    /// Its number.
    pub index: u32,
    /// How many there are.
    pub workers: u32,
    /// Cores it may run on.
    pub cores: Vec<usize>,
    /// Ticks of the cycle counter per second.
    pub hz: u64,
}

/// Runs a worker on the calling thread until it is told to stop. `alive` is cleared however it ends.
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
        thread::wake_punctually();
        Worker::new(parts).run();
    }
    control.signal();
}

impl Worker {
    fn new(parts: WorkerParts) -> Self {
        let port = |counters| PortEnd {
            io: None,
            burst: BURST,
            queue: Vec::with_capacity(TRANSMIT_GATHER),
            blocked: false,
            held_back: false,
            starved: false,
            counters,
        };
        let mut worker = Self {
            ends: parts.ends,
            engine: parts.engine,
            batch: Batch::new(),
            pool: parts.pool,
            scratch: Scratch::new(),
            ports: parts.counters.into_iter().map(port).collect(),
            taps: Vec::new(),
            drops: WorkerDrops::default(),
            profile: Profile::new(parts.hz, &parts.cores, thread::current_core()),
            index: parts.index,
            workers: parts.workers,
            poll_set: Vec::new(),
            ports_show: false,
            polled: 0,
            patience: Patience::new(parts.hz, parts.cores.len()),
            flows: None,
            turn_bytes: 0,
            ask_after: parts.hz / ASK_PER_SECOND,
            stopping: false,
        };
        worker.rebuild_poll_set();
        worker
    }

    fn run(&mut self) {
        while !self.stopping {
            if !self.look() {
                self.poll(true);
                self.patience.found(self.polled);
            }
            self.command();
            self.receive();
            if self.engine.next_deadline().is_some_and(|deadline| deadline <= clock::now()) {
                self.profile.charge(Account::Ethernet);
                self.engine.tick(&mut self.batch, &mut self.pool, &Tsc, clock::now());
                self.profile.charge(Account::Engine);
                self.dispatch();
            }
            if self.flows.as_ref().and_then(Flows::due).is_some_and(|due| due <= clock::now()) {
                self.look_at_flows(clock::now());
            }
            self.flush();
            self.pool.flush_returns();
            if self.has_sent_all() {
                self.engine.sent();
            }
            self.report_changes();
        }
    }

    fn has_sent_all(&self) -> bool {
        self.ports.iter().all(|end| end.queue.is_empty())
    }

    /// Tells the control thread which translated connections appeared and ended. What it has no room for
    /// waits in the engine.
    fn report_changes(&mut self) {
        while !self.ends.changes.is_full() {
            let Some(change) = self.engine.take_change() else { return };
            let _ = self.ends.changes.push(change);
        }
    }

    /// Looks for something to do, without a system call where that is possible. `false` when it is time to
    /// sleep.
    fn look(&mut self) -> bool {
        let mut now = Tsc.cycles();
        let until = self.patience.turn_ended(now, std::mem::take(&mut self.turn_bytes));
        if !self.ports_show || self.ports.iter().any(|end| end.blocked) {
            return false;
        }
        let deadline = self.engine.next_deadline();
        while !self.something_waits() {
            if now >= until || deadline.is_some_and(|deadline| deadline <= clock::now()) {
                return false;
            }
            std::hint::spin_loop();
            now = Tsc.cycles();
        }
        self.profile.charge(Account::Ethernet);
        self.patience.found(now);
        true
    }

    /// Notes which ports have frames; whether there are any, or messages of other threads. Asks the kernel when
    /// that was long ago.
    fn something_waits(&mut self) -> bool {
        if Tsc.cycles().saturating_sub(self.polled) > self.ask_after {
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

    /// Asks the kernel whether there is something to do; waits for it if told so. Returns how many
    /// descriptors are ready.
    fn poll(&mut self, wait: bool) -> usize {
        for (end, entry) in self.ports.iter().zip(self.poll_set.iter_mut().skip(1)) {
            entry.events = if end.blocked { libc::POLLIN | libc::POLLOUT } else { libc::POLLIN };
        }
        self.ends.wake.going_to_sleep();
        let pending = !self.ends.commands.is_empty() || self.ends.inbound.iter().any(|ring| !ring.is_empty());
        let mut timeout = if pending || !wait { Some(Duration::ZERO) } else { self.longest_sleep() };
        if timeout != Some(Duration::ZERO) && self.has_sent_all() && self.engine.before_sleep(clock::now()) {
            timeout = self.longest_sleep();
        }
        let set = &mut self.poll_set;
        let ready = self.profile.poll(|| wake::poll(set, timeout));
        self.polled = Tsc.cycles();
        self.profile.runs_on(thread::current_core(), || self.engine.class_cycles());
        self.ends.wake.awake();
        if self.poll_set.first().is_some_and(|entry| entry.revents != 0) {
            self.ends.wake.clear();
        }
        ready + usize::from(pending)
    }

    /// How long to sleep unless something comes; `None`: without end.
    fn longest_sleep(&self) -> Option<Duration> {
        let until = |deadline: Now| Duration::from_nanos(deadline.0.saturating_sub(clock::now().0));
        let flows = self.flows.as_ref().and_then(Flows::due);
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
        self.ports_show =
            self.ports.iter().filter_map(|end| end.io.as_ref()).all(|io| io.is_ready().is_some());
        for end in &self.taps {
            self.poll_set.push(wake::readable(if end.dead { -1 } else { end.tap.fd() }));
        }
    }

    fn revents(&self, index: usize) -> libc::c_short {
        self.poll_set.get(index).map_or(0, |entry| entry.revents)
    }

    fn receive(&mut self) {
        for index in 0..self.ends.inbound.len() {
            let Some(arrivals) = self.ends.inbound.get_mut(index) else { continue };
            // One batch of each: a worker that sends faster than this one works must keep it neither from its own ports nor
            // from commands.
            let room = BATCH.saturating_sub(self.batch.len());
            let batch = &mut self.batch;
            if arrivals.receive(room, |packet| batch.push_handover(packet)) == room {
                self.process();
            }
        }
        let ports = self.ports.len();
        for index in 0..ports {
            let revents = self.revents(1 + index);
            let Some(end) = self.ports.get_mut(index) else { continue };
            if revents & libc::POLLOUT != 0 {
                end.blocked = false;
            }
            if revents & !libc::POLLOUT != 0 || end.starved {
                self.receive_port(index);
            }
        }
        let mut died = false;
        for index in 0..self.taps.len() {
            if self.revents(1 + ports + index) != 0 {
                self.profile.charge(Account::Ethernet);
                died |= self.receive_tap(index);
                self.profile.charge(Account::Management);
            }
        }
        if died {
            self.rebuild_poll_set();
        }
        if !self.batch.is_empty() {
            self.process();
        } else if self.departing() > 0 {
            self.dispatch();
        }
    }

    /// The most packets that wait to go to another worker.
    fn departing(&self) -> usize {
        self.ends.outbound.iter().flatten().map(|out| out.packets.gathered()).max().unwrap_or(0)
    }

    fn receive_port(&mut self, index: usize) {
        if self.batch.len().max(self.departing()) + BURST > BATCH {
            self.process();
        }
        let Some(end) = self.ports.get_mut(index) else { return };
        let Some(io) = &mut end.io else { return };
        let (mut packets, mut bytes) = (0, 0);
        let (batch, outbound, sorting) = (&mut self.batch, &mut self.ends.outbound, self.engine.sorting());
        let received = io.receive(end.burst, &mut self.scratch, &mut self.pool, |frame, vnet| {
            let (segments, length) = on_the_wire(frame.len(), &vnet);
            packets += segments;
            bytes += length;
            if let Some((worker, packet)) = sorting.sort(batch, frame, index as PortId, vnet)
                && let Some(out) = outbound.get_mut(worker as usize).and_then(Option::as_mut)
            {
                out.packets.gather(packet);
            }
        });
        self.turn_bytes += bytes;
        end.counters.rx_packets.add(packets);
        end.counters.rx_bytes.add(bytes);
        // An error (the netdev went down or away) was consumed by the call; the control thread hears of it
        // from the kernel and acts.
        let received = received.unwrap_or_default();
        end.starved = received.no_frame;
        if let Some(average) = (bytes as usize).checked_div(received.taken) {
            end.burst = BURST_BYTES.checked_div(average).unwrap_or(BURST).clamp(MIN_BURST, BURST);
        }
        if received.unusable > 0 {
            self.drops.add(WorkerDrop::FrameUnusable, received.unusable as u64);
            end.counters.rx_drops.add(received.unusable as u64);
        }
        if received.no_frame {
            // The frames stay in the socket; the kernel counts what it has no room for.
            std::thread::yield_now();
        }
    }

    /// Returns whether the TAP died.
    fn receive_tap(&mut self, index: usize) -> bool {
        if self.batch.len() + BURST > BATCH {
            self.process();
        }
        let Some(end) = self.taps.get_mut(index) else { return false };
        let batch = &mut self.batch;
        let (row, own) = (end.row, end.tap.mac());
        let received = end.tap.receive(BURST, &mut self.scratch, &mut self.pool, |mut frame, vnet| {
            // A device without ARP gives its own address to what it knows no station for.
            if let Some(destination) = frame.head_mut().first_chunk_mut::<6>()
                && *destination == own
            {
                *destination = [0; 6];
            }
            batch.push_local(frame, row, vnet);
        });
        match received {
            Ok(received) => {
                self.drops.add(WorkerDrop::FrameUnusable, received.unusable as u64);
                false
            }
            Err(error) => {
                end.dead = error.raw_os_error() != Some(libc::EIO);
                end.dead
            }
        }
    }

    fn process(&mut self) {
        self.profile.charge(Account::Ethernet);
        let now = clock::now();
        self.engine.process(&mut self.batch, &mut self.pool, &Tsc, now);
        if let Some(flows) = &mut self.flows {
            flows.take(&mut self.engine, &self.batch, now);
        }
        for (end, fast) in self.ports.iter().zip(self.engine.fp_rx()) {
            end.counters.fp_rx_packets.set(fast.packets);
            end.counters.fp_rx_bytes.set(fast.bytes);
        }
        self.profile.charge(Account::Engine);
        self.dispatch();
    }

    /// Gives every finished packet to where it goes.
    fn dispatch(&mut self) {
        for done in self.batch.drain() {
            match done.outcome {
                Outcome::Tx { port } => {
                    let Some(end) = self.ports.get_mut(usize::from(port)) else {
                        self.drops.add(WorkerDrop::PortGone, 1);
                        self.pool.recycle(done.frame);
                        continue;
                    };
                    let (segments, bytes) = on_the_wire(done.frame.len(), &done.vnet);
                    if end.io.is_none() {
                        self.drops.add(WorkerDrop::PortGone, segments);
                        end.counters.tx_drops.add(segments);
                        self.pool.recycle(done.frame);
                        continue;
                    }
                    if end.queue.len() >= TRANSMIT_GATHER {
                        end.flush(&mut self.scratch, &mut self.pool, &mut self.drops);
                    }
                    if end.blocked && end.queue.len() >= TRANSMIT_QUEUE {
                        self.drops.add(WorkerDrop::TransmitQueueFull, segments);
                        end.counters.tx_drops.add(segments);
                        self.pool.recycle(done.frame);
                        continue;
                    }
                    end.counters.tx_packets.add(segments);
                    end.counters.tx_bytes.add(bytes);
                    if done.own {
                        end.counters.own_tx_packets.add(segments);
                        end.counters.own_tx_bytes.add(bytes);
                    }
                    if done.fast {
                        end.counters.fp_tx_packets.add(segments);
                        end.counters.fp_tx_bytes.add(bytes);
                    }
                    end.queue.push((done.frame, done.vnet));
                }
                Outcome::Local { interface } => {
                    let Some(end) = self.taps.iter_mut().find(|end| end.row == interface) else {
                        self.drops.add(WorkerDrop::NoLocalService, 1);
                        self.pool.recycle(done.frame);
                        continue;
                    };
                    self.profile.charge(Account::Ethernet);
                    if !send_local(end, done.frame, &done.vnet, &mut self.scratch, &mut self.pool) {
                        self.drops.add(WorkerDrop::LocalQueueFull, 1);
                    }
                    self.profile.charge(Account::Management);
                }
                Outcome::Handover { worker, packet } => {
                    let out = self.ends.outbound.get_mut(worker as usize).and_then(Option::as_mut);
                    let Some(out) = out else {
                        self.engine.not_handed_over(&packet);
                        self.drops.add(WorkerDrop::HandoverQueueFull, 1);
                        continue;
                    };
                    let contents = HandoverContents::Parsed(packet);
                    out.packets.gather(Handover { frame: done.frame, vnet: done.vnet, contents });
                }
            }
        }
        for out in self.ends.outbound.iter_mut().flatten() {
            let sent = out.packets.send(|refused| {
                if let HandoverContents::Parsed(packet) = &refused.contents {
                    self.engine.not_handed_over(packet);
                }
                self.drops.add(WorkerDrop::HandoverQueueFull, 1);
                self.pool.recycle(refused.frame);
            });
            if sent {
                out.wake.notify();
            }
        }
    }

    /// Sends what waits for the ports.
    fn flush(&mut self) {
        for (port, end) in (0..).zip(&mut self.ports) {
            end.flush(&mut self.scratch, &mut self.pool, &mut self.drops);
            // What the port was given has to go before the engine gives it more.
            let holds_back = end.blocked && !end.queue.is_empty();
            if holds_back != end.held_back {
                end.held_back = holds_back;
                self.engine.set_port_blocked(port, holds_back, clock::now());
            }
        }
    }

    /// Obeys one command: packets that have come meanwhile go before the next.
    fn command(&mut self) {
        let Ok(command) = self.ends.commands.pop() else { return };
        let answer = self.obey(command, clock::now());
        // The control thread waits for answers, so the ring has room.
        let _ = self.ends.answers.push(answer);
        self.ends.control.notify();
        self.profile.charge(Account::Management);
    }

    fn obey(&mut self, command: Command, now: Now) -> Answer {
        if command.wants_counts() {
            self.look_at_flows(now);
        }
        match command {
            Command::Swap(snapshot) => {
                let tracking = snapshot.tracking();
                let old = self.engine.swap(snapshot, now);
                if let Some(flows) = &self.flows {
                    flows.invalidate(tracking);
                }
                Answer::Swapped(old)
            }
            Command::Stats => Answer::Stats(Box::new(self.report())),
            Command::Dump(dump, Part { from, mut records }) => {
                let next = match dump {
                    Dump::Connections => self.engine.connections(from, Dump::PLACES, now, &mut records),
                    Dump::Queues => self.engine.queues(from, Dump::PLACES, now, &mut records),
                };
                Answer::Part(records, next)
            }
            Command::QueueScope(row, after, mut records) => {
                self.engine.queue_scope(row, after, now, &mut records);
                Answer::Part(records, None)
            }
            Command::ResetQueueCounters(rows, mut records) => {
                self.engine.reset_queue_counters(&rows, &mut records);
                Answer::Part(records, None)
            }
            Command::RemoveConnections(ids) => {
                let removed = self.engine.remove_connections(&ids) as u64;
                self.look_at_flows(now);
                Answer::Count(removed)
            }
            Command::Offload(admitted) => {
                self.offload(admitted, now);
                Answer::Count(0)
            }
            Command::ResetCounters(rows) => {
                self.engine.reset_counters(&rows);
                Answer::Count(0)
            }
            Command::Restore(saved) => {
                let (own, workers) = (self.index, self.workers);
                let mine = saved.iter().filter(|saved| steer(&saved.reply, workers) == own);
                let restored = mine.filter(|saved| self.engine.restore(saved, now)).count();
                Answer::Count(restored as u64)
            }
            Command::SetPort(port, io) => {
                let mut old = None;
                if let Some(end) = self.ports.get_mut(usize::from(port)) {
                    end.count_kernel_drops(&mut self.drops);
                    old = std::mem::replace(&mut end.io, io);
                    (end.blocked, end.starved) = (false, false);
                    if let Some(io) = &mut end.io {
                        io.start(&mut self.pool);
                    }
                    for (frame, vnet) in end.queue.drain(..) {
                        let (segments, _) = on_the_wire(frame.len(), &vnet);
                        self.drops.add(WorkerDrop::PortGone, segments);
                        self.pool.recycle(frame);
                    }
                }
                self.rebuild_poll_set();
                Answer::Port(old)
            }
            Command::SetTap(row, tap) => {
                let at = self.taps.iter().position(|end| end.row == row);
                let old = at.map(|at| self.taps.swap_remove(at).tap);
                self.taps.extend(tap.map(|tap| TapEnd { row, tap, dead: false }));
                self.rebuild_poll_set();
                Answer::Tap(old)
            }
            Command::Probe(tuple) => Answer::Probe(Box::new(self.engine.probe(&tuple))),
            Command::Trace(filters, buffer) => {
                let old = self.engine.trace(&filters, buffer);
                self.look_at_flows(now);
                Answer::Trace(old)
            }
            Command::Stop => {
                self.stopping = true;
                Answer::Count(0)
            }
        }
    }

    fn offload(&mut self, admitted: Option<Admitted>, now: Now) {
        match (&mut self.flows, admitted) {
            (Some(flows), Some(admitted)) => flows.set_ports(admitted.ports),
            (None, Some(admitted)) => {
                let flows = Flows::new(admitted);
                flows.invalidate(self.engine.is_tracking());
                self.flows = Some(flows);
            }
            (flows, None) => {
                if let Some(flows) = flows.take() {
                    flows.end(&mut self.engine, now, |credit| count(&self.ports, credit));
                }
            }
        }
    }

    /// Counts what the kernel has forwarded.
    fn look_at_flows(&mut self, now: Now) {
        let Some(flows) = &mut self.flows else { return };
        flows.look(&mut self.engine, now, |credit| count(&self.ports, credit));
        for (end, fast) in self.ports.iter().zip(self.engine.fp_rx()) {
            end.counters.fp_rx_packets.set(fast.packets);
            end.counters.fp_rx_bytes.set(fast.bytes);
        }
    }

    fn report(&mut self) -> WorkerReport {
        for end in &mut self.ports {
            end.count_kernel_drops(&mut self.drops);
        }
        let engine = self.engine.stats();
        self.profile.charge(Account::Management);
        let profile = self.profile.report(self.engine.class_cycles());
        WorkerReport { engine, profile, drops: self.drops }
    }
}

/// Counts what the kernel has forwarded from one port to another.
fn count(ports: &[PortEnd], credit: &Credit) {
    let Credit { count, .. } = credit;
    if let Some(end) = ports.get(usize::from(credit.in_port)) {
        end.counters.rx_packets.add(count.packets);
        end.counters.rx_bytes.add(count.bytes);
    }
    if let Some(end) = ports.get(usize::from(credit.out_port)) {
        end.counters.tx_packets.add(count.packets);
        end.counters.tx_bytes.add(count.bytes);
        end.counters.fp_tx_packets.add(count.packets);
        end.counters.fp_tx_bytes.add(count.bytes);
    }
}

/// Writes a frame for the router itself to the TAP of the interface that has the address. `false` when
/// the kernel did not take it.
fn send_local(
    end: &mut TapEnd,
    mut frame: PoolFrame,
    vnet: &VnetState,
    scratch: &mut Scratch,
    pool: &mut Partition,
) -> bool {
    let mac = end.tap.mac();
    if let Some(destination) = frame.head_mut().first_chunk_mut::<6>() {
        *destination = mac;
    }
    let sent = end.tap.send(&frame, vnet, scratch).is_ok();
    pool.recycle(frame);
    sent
}

#[cfg(test)]
mod tests;
