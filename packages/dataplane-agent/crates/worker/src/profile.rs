//! Profile of a worker's time, measured with the tick counter (TSC).
//!
//! The ticks between two calls of `charge` go to one activity. Time inside `poll` is idle, except for the system call
//! itself and the two context switches; that part is sampled with the thread's CPU clock on some calls, because the
//! clock is a system call too. While the thread is runnable but another one has the core, the tick counter advances:
//! the CPU clock, read every few milliseconds, gives that time, which counts as not busy.
//!
//! The kernel migrates a worker between cores. The core is read after each poll, and the time until the next one is
//! counted for it. A poll counts for the core on which it began: over many of them the errors cancel out.

use tollway_engine::observe::profiler::{ClassCycles, CycleClock};
use tollway_io::clock::{TickOrigin, Tsc, thread_cpu_ns};

use crate::core_time::{CoreTime, CoreTimes};

/// The activity that ticks are charged to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Receiving from and sending to ports.
    Ethernet,
    /// Router namespace, control thread.
    Management,
    /// Inside the engine, which divides its ticks by class.
    Engine,
}

/// Number of polls of which one is sampled.
const SAMPLE: u32 = 16;
/// Comparisons of the CPU clock per second.
const COMPARE_PER_SECOND: u64 = 100;
/// Comparisons per second after a migration to another core, where the time lost on the old core counts.
const COMPARE_PER_SECOND_MOVING: u64 = 1000;

/// A worker's ticks, by activity.
#[derive(Debug)]
pub struct Profile {
    origin: TickOrigin,
    cpu_origin_ns: u64,
    hz: u64,
    last: u64,
    ethernet: u64,
    management: u64,
    engine: u64,
    in_poll: u64,
    /// Average cost of a poll, ticks, times 256.
    poll_cost: u64,
    poll_costs: u64,
    random: u32,
    compared: u64,
    not_running: u64,
    cpu: u32,
    core_times: CoreTimes,
}

/// A worker's ticks at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileReport {
    /// Ticks per second.
    pub tsc_hz: u64,
    /// Ticks since the start.
    pub ticks: u64,
    /// Busy ticks by core and class; the rest was not busy.
    pub cores: Vec<CoreTime>,
    /// CPU time of the thread, ns.
    pub thread_cpu_ns: u64,
}

impl Profile {
    /// No ticks yet; they are counted from here on. `hz` is the tick rate, `cores` are those that the worker may
    /// run on, of which `cpu` is the one it runs on. To be called on the worker's thread.
    pub fn new(hz: u64, cores: &[usize], cpu: u32) -> Self {
        Self {
            origin: TickOrigin::new(),
            cpu_origin_ns: thread_cpu_ns(),
            hz,
            last: Tsc.cycles(),
            ethernet: 0,
            management: 0,
            engine: 0,
            in_poll: 0,
            poll_cost: 0,
            poll_costs: 0,
            random: 0x9e37_79b9,
            compared: 0,
            not_running: 0,
            cpu,
            core_times: CoreTimes::new(cores),
        }
    }

    /// Charges the ticks since the last mark.
    #[inline]
    pub fn charge(&mut self, activity: Activity) {
        let now = Tsc.cycles();
        let spent = now.saturating_sub(self.last);
        self.last = now;
        match activity {
            Activity::Ethernet => self.ethernet += spent,
            Activity::Management => self.management += spent,
            Activity::Engine => self.engine += spent,
        }
    }

    /// Runs a poll.
    pub fn poll(&mut self, poll: impl FnOnce() -> usize) -> usize {
        self.charge(Activity::Ethernet);
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        let sampled = self.random.is_multiple_of(SAMPLE) || self.poll_cost == 0;
        let cpu = if sampled { thread_cpu_ns() } else { 0 };
        let ready = poll();
        if sampled {
            let ns = thread_cpu_ns().saturating_sub(cpu);
            let cost = (u128::from(ns) * u128::from(self.hz) * 256 / 1_000_000_000) as u64;
            let average = if self.poll_cost == 0 { cost } else { (self.poll_cost * 15 + cost) / 16 };
            self.poll_cost = average.max(1);
        }
        let now = Tsc.cycles();
        self.in_poll += now.saturating_sub(self.last);
        self.last = now;
        self.poll_costs += self.poll_cost;
        ready
    }

    /// To be called after each poll, with the core that the worker runs on now. `engine` are the ticks, by class, of
    /// the worker's engine.
    #[inline]
    pub fn runs_on(&mut self, cpu: u32, engine: impl FnOnce() -> ClassCycles) {
        let moved = cpu != self.cpu;
        let per_second = if moved { COMPARE_PER_SECOND_MOVING } else { COMPARE_PER_SECOND };
        let due = self.last.saturating_sub(self.compared) > self.hz / per_second;
        if due {
            self.compared = self.last;
            self.compare();
        }
        if due || moved {
            self.attribute(engine());
            self.cpu = cpu;
        }
    }

    /// Attributes the time since the last call to the core on which the worker has run.
    fn attribute(&mut self, engine: ClassCycles) {
        let explained: u64 = engine.iter().sum();
        let [networking, firewall, queuing] = engine;
        let ethernet = self.ethernet + self.poll_costs / 256;
        let unclassified = self.engine.saturating_sub(explained);
        let totals = [networking, firewall, queuing, ethernet, self.management, unclassified];
        self.core_times.attribute(self.cpu, &totals, self.not_running);
    }

    /// Ticks in poll that were not CPU time.
    fn asleep(&self) -> u64 {
        self.in_poll.saturating_sub(self.poll_costs / 256)
    }

    fn cpu_ticks(&self) -> u64 {
        let ns = thread_cpu_ns().saturating_sub(self.cpu_origin_ns);
        (u128::from(ns) * u128::from(self.hz) / 1_000_000_000) as u64
    }

    fn compare(&mut self) {
        let busy = self.origin.ticks().saturating_sub(self.asleep());
        self.not_running = self.not_running.max(busy.saturating_sub(self.cpu_ticks()));
    }

    /// The ticks now; `engine` are those of the worker's engine.
    pub fn report(&mut self, engine: ClassCycles) -> ProfileReport {
        self.compare();
        self.attribute(engine);
        ProfileReport {
            tsc_hz: self.hz,
            ticks: self.origin.ticks(),
            cores: self.core_times.cores().to_vec(),
            thread_cpu_ns: thread_cpu_ns(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn busy_time_agrees_with_the_cpu_clock_and_belongs_to_the_core_it_was_spent_on() {
        let origin = TickOrigin::new();
        std::thread::sleep(Duration::from_millis(50));
        let mut profile = Profile::new(origin.hz(), &[0, 1], 0);
        let mut cpu = 0;
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(400) {
            let busy_until = Instant::now() + Duration::from_micros(if cpu == 0 { 200 } else { 400 });
            while Instant::now() < busy_until {}
            profile.charge(Activity::Management);
            profile.poll(|| {
                std::thread::sleep(Duration::from_micros(500));
                0
            });
            cpu = 1 - cpu;
            profile.runs_on(cpu, || [0; 3]);
        }
        let report = profile.report([0; 3]);
        let cpu_ns = thread_cpu_ns() - profile.cpu_origin_ns;
        let cpu_ticks = (u128::from(cpu_ns) * u128::from(report.tsc_hz) / 1_000_000_000) as u64;
        let busy = |core: &CoreTime| core.busy.iter().sum::<u64>();
        let [first, second] = report.cores.as_slice() else { panic!("{report:?}") };
        let all = busy(first) + busy(second);
        let points = 100.0 * (all as f64 - cpu_ticks as f64).abs() / report.ticks as f64;
        assert!(points < 3.0, "busy {all}, by the CPU clock {cpu_ticks}, of {}", report.ticks);
        assert!(busy(first) > 0 && busy(first) < busy(second), "{report:?}");
    }
}
