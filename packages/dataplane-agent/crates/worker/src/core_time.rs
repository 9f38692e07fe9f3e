//! A worker's busy time by core: the kernel schedules workers on any of them.

use tollway_engine::observe::profiler::ProfilerClass;

const ENGINE: usize = ProfilerClass::ALL.len();
/// Number of classes of busy time.
pub const CLASSES: usize = ENGINE + 3;

/// Ticks per class of `/tool/profile`, in the order of [`class_names`].
pub type ClassTicks = [u64; CLASSES];

/// Names of the classes: those of the engine, then those of the worker.
pub fn class_names() -> impl Iterator<Item = &'static str> {
    let engine = ProfilerClass::ALL.iter().map(|class| class.name());
    engine.chain(["ethernet", "management", "unclassified"])
}

/// Busy time on one core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreTime {
    /// Number of the core.
    pub cpu: u32,
    /// Ticks since the start.
    pub busy: ClassTicks,
}

/// Busy time on every core.
#[derive(Debug)]
pub struct CoreTimes {
    cores: Vec<CoreTime>,
    /// The worker's totals that have been attributed to cores.
    attributed: ClassTicks,
    /// The part of the not-running time that has been deducted already.
    deducted: u64,
}

impl CoreTimes {
    /// No times yet; `cores` are those on which the worker may run.
    pub fn new(cores: &[usize]) -> Self {
        let core = |&cpu: &usize| CoreTime { cpu: cpu as u32, busy: ClassTicks::default() };
        Self { cores: cores.iter().map(core).collect(), attributed: ClassTicks::default(), deducted: 0 }
    }

    /// Attributes to `cpu` the increase of the worker's `totals` since the last call, less the increase of the time
    /// that it was runnable but `not_running`, which is deducted from the classes in proportion. An excess is deducted
    /// the next time.
    pub fn attribute(&mut self, cpu: u32, totals: &ClassTicks, not_running: u64) {
        let at = self.cores.iter().position(|core| core.cpu == cpu).unwrap_or_else(|| {
            // A core that was added to the process's affinity mask later.
            self.cores.push(CoreTime { cpu, busy: ClassTicks::default() });
            self.cores.len() - 1
        });
        let Some(core) = self.cores.get_mut(at) else { return };
        let added = |(total, attributed): (&u64, &u64)| total.saturating_sub(*attributed);
        let whole: u64 = totals.iter().zip(&self.attributed).map(added).sum();
        let off = not_running.saturating_sub(self.deducted).min(whole);
        for (busy, pair) in core.busy.iter_mut().zip(totals.iter().zip(&self.attributed)) {
            let running = u128::from(added(pair)) * u128::from(whole - off) / u128::from(whole.max(1));
            *busy += running as u64;
        }
        for (attributed, total) in self.attributed.iter_mut().zip(totals) {
            *attributed = (*attributed).max(*total);
        }
        self.deducted += off;
    }

    /// The present times, by core.
    pub fn cores(&self) -> &[CoreTime] {
        &self.cores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(times: &CoreTimes, cpu: u32) -> ClassTicks {
        times.cores().iter().find(|core| core.cpu == cpu).unwrap().busy
    }

    #[test]
    fn time_is_counted_for_the_core_it_was_spent_on() {
        let mut times = CoreTimes::new(&[0, 3]);
        times.attribute(0, &[100, 0, 0, 20, 0, 0], 0);
        times.attribute(3, &[150, 10, 0, 20, 7, 0], 0);
        times.attribute(0, &[151, 10, 1, 30, 7, 2], 0);
        times.attribute(5, &[151, 10, 1, 30, 11, 2], 0);
        assert_eq!(busy(&times, 0), [101, 0, 1, 30, 0, 2]);
        assert_eq!(busy(&times, 3), [50, 10, 0, 0, 7, 0]);
        assert_eq!(busy(&times, 5), [0, 0, 0, 0, 4, 0]);
    }

    #[test]
    fn time_without_the_core_is_taken_off_once_where_it_was_lost() {
        let mut times = CoreTimes::new(&[0, 1]);
        times.attribute(0, &[400, 0, 0, 0, 0, 0], 0);
        // 1000 more by the cycle counter, 250 of them ready without the core.
        times.attribute(1, &[1000, 0, 0, 400, 0, 0], 250);
        assert_eq!(busy(&times, 0), [400, 0, 0, 0, 0, 0]);
        assert_eq!(busy(&times, 1), [450, 0, 0, 300, 0, 0]);
        // More than there is to take it off: the rest waits.
        times.attribute(0, &[1000, 0, 0, 410, 0, 0], 280);
        assert_eq!(busy(&times, 0), [400, 0, 0, 0, 0, 0]);
        times.attribute(0, &[1100, 0, 0, 410, 0, 0], 280);
        assert_eq!(busy(&times, 0), [480, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn totals_that_step_back_take_nothing_away() {
        let mut times = CoreTimes::new(&[0]);
        times.attribute(0, &[100, 0, 0, 0, 0, 9], 0);
        times.attribute(0, &[120, 0, 0, 0, 0, 4], 0);
        times.attribute(0, &[120, 0, 0, 0, 0, 10], 0);
        assert_eq!(busy(&times, 0), [120, 0, 0, 0, 0, 10]);
    }

    #[test]
    fn every_class_has_a_name() {
        assert_eq!(class_names().count(), CLASSES);
    }
}
