//! Where the time goes: cycles and packets per stage, grouped into the classes of `/tool/profile`.

use crate::pipeline::{STAGE_COUNT, STAGES};

/// A cycle counter (the TSC in production, a constant in tests).
pub trait CycleClock {
    /// Ticks since an arbitrary origin. They may step back when the thread has come to another core;
    /// differences are taken saturating.
    fn cycles(&self) -> u64;
}

/// A clock that stands still, for tests and for benches without profiling.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCycles;

impl CycleClock for NoCycles {
    fn cycles(&self) -> u64 {
        0
    }
}

/// Class of `/tool/profile` that a stage's time counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfilerClass {
    /// Parsing, ARP, tracking, routing, translation.
    Networking,
    /// Rule evaluation.
    Firewall,
    /// Queues.
    Queuing,
}

impl ProfilerClass {
    /// Every class the engine fills.
    pub const ALL: &'static [ProfilerClass] =
        &[ProfilerClass::Networking, ProfilerClass::Firewall, ProfilerClass::Queuing];

    /// Name as `/tool/profile` prints it.
    pub fn name(self) -> &'static str {
        match self {
            ProfilerClass::Networking => "networking",
            ProfilerClass::Firewall => "firewall",
            ProfilerClass::Queuing => "queuing",
        }
    }
}

/// Ticks per class, in the order of [`ProfilerClass::ALL`].
pub type ClassCycles = [u64; ProfilerClass::ALL.len()];

/// What one stage did since the engine was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageCounters {
    /// Ticks spent in it.
    pub cycles: u64,
    /// Packets that entered it.
    pub packets: u64,
}

/// Counters of every stage, in the order of [`crate::pipeline::STAGES`].
pub type StageTable = [StageCounters; STAGE_COUNT];

/// Adds up the stages' time by class.
pub(crate) fn class_cycles(stages: &StageTable) -> ClassCycles {
    let mut classes = ClassCycles::default();
    for (info, stage) in STAGES.iter().zip(stages) {
        if let Some(cycles) = classes.get_mut(info.class as usize) {
            *cycles += stage.cycles;
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_every_stage_is_in_one_class() {
        let stages: StageTable = std::array::from_fn(|at| StageCounters { cycles: 1 << at, packets: 0 });
        let classes = class_cycles(&stages);
        assert_eq!(classes.iter().sum::<u64>(), (1 << STAGE_COUNT) - 1);
        for (class, cycles) in ProfilerClass::ALL.iter().zip(classes) {
            let of = |at: &usize| STAGES[*at].class == *class;
            assert_eq!(
                cycles,
                (0..STAGE_COUNT).filter(of).map(|at| 1 << at).sum::<u64>(),
                "{}",
                class.name()
            );
        }
    }
}
