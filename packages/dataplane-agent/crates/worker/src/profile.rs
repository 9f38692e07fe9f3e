//! Where a worker's time goes, by the cycle counter.
//!
//! Every stretch between two marks is charged to one account. Time inside `poll` is idle, except for what
//! the system call itself and the switch away and back cost; that part is sampled with the thread's CPU
//! clock on some calls, because the clock is a system call too. While the thread is ready to run but
//! another one has the core, the cycle counter goes on: the CPU clock, read every few milliseconds, tells
//! how much of that there was, and it counts as not busy.

use tollway_config::protocol::ProfileClass;
use tollway_engine::profiler::CycleClock;
use tollway_engine::stats::EngineStats;
use tollway_io::clock::{TickOrigin, Tsc, thread_cpu_ns};

/// What a stretch of time was spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Account {
    /// Receiving from and sending to ports.
    Ethernet,
    /// Router namespace, control thread.
    Management,
    /// Inside the engine, which has its own books.
    Engine,
}

/// One in this many polls is sampled.
const SAMPLE: u32 = 16;
/// How often the CPU clock is compared, ticks per second over this.
const COMPARE_PER_SECOND: u64 = 100;

/// A worker's books.
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
}

/// A worker's books as they stand.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileReport {
    /// Ticks per second.
    pub tsc_hz: u64,
    /// Ticks since the start.
    pub cycles: u64,
    /// Of which not busy.
    pub idle_cycles: u64,
    /// Busy ticks per class.
    pub classes: Vec<ProfileClass>,
    /// CPU time of the thread, ns.
    pub thread_cpu_ns: u64,
}

impl Profile {
    /// Books that begin when the worker does; `hz` is the tick rate. To be called on the worker's thread.
    pub fn new(hz: u64) -> Self {
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
        }
    }

    /// Charges the time since the last mark.
    #[inline]
    pub fn charge(&mut self, account: Account) {
        let now = Tsc.cycles();
        let spent = now.saturating_sub(self.last);
        self.last = now;
        match account {
            Account::Ethernet => self.ethernet += spent,
            Account::Management => self.management += spent,
            Account::Engine => self.engine += spent,
        }
    }

    /// Runs a poll.
    pub fn poll(&mut self, poll: impl FnOnce() -> usize) -> usize {
        self.charge(Account::Ethernet);
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        let sampled = self.random % SAMPLE == 0 || self.poll_cost == 0;
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
        if now.saturating_sub(self.compared) > self.hz / COMPARE_PER_SECOND {
            self.compared = now;
            self.compare();
        }
        ready
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

    /// The books as they stand; `engine` are those of the worker's engine.
    pub fn report(&mut self, engine: &EngineStats) -> ProfileReport {
        self.compare();
        let cycles = self.origin.ticks();
        let busy = cycles.saturating_sub(self.asleep()).max(1);
        let running = busy.saturating_sub(self.not_running);
        // Time without the core falls on the accounts in proportion.
        let share = |ticks: u64| (u128::from(ticks) * u128::from(running) / u128::from(busy)) as u64;
        let mut classes = engine.profile_classes();
        let explained: u64 = classes.iter().map(|class| class.cycles).sum();
        let poll = self.poll_costs / 256;
        let unclassified = busy
            .saturating_sub(self.ethernet + self.management + self.engine + poll)
            .saturating_add(self.engine.saturating_sub(explained));
        for (name, cycles) in [
            ("ethernet", self.ethernet + poll),
            ("management", self.management),
            ("unclassified", unclassified),
        ] {
            classes.push(ProfileClass { name: name.to_owned(), cycles });
        }
        for class in &mut classes {
            class.cycles = share(class.cycles);
        }
        ProfileReport {
            tsc_hz: self.hz,
            cycles,
            idle_cycles: cycles.saturating_sub(running),
            classes,
            thread_cpu_ns: thread_cpu_ns(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn busy_time_agrees_with_the_cpu_clock() {
        let origin = TickOrigin::new();
        std::thread::sleep(Duration::from_millis(50));
        let mut profile = Profile::new(origin.hz());
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(400) {
            let busy_until = Instant::now() + Duration::from_micros(300);
            while Instant::now() < busy_until {}
            profile.charge(Account::Management);
            profile.poll(|| {
                std::thread::sleep(Duration::from_micros(500));
                0
            });
        }
        let report = profile.report(&EngineStats::default());
        let cpu_ns = thread_cpu_ns() - profile.cpu_origin_ns;
        let cpu = (u128::from(cpu_ns) * u128::from(report.tsc_hz) / 1_000_000_000) as u64;
        let busy = report.cycles - report.idle_cycles;
        let points = 100.0 * (busy as f64 - cpu as f64).abs() / report.cycles as f64;
        assert!(points < 3.0, "busy {busy}, by the CPU clock {cpu}, of {}", report.cycles);
        let accounted: u64 = report.classes.iter().map(|class| class.cycles).sum();
        assert!(accounted.abs_diff(busy) < busy / 50, "{report:?}");
    }
}
