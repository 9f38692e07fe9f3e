//! Counters of the stages, and their time by class of `/tool/profile`.

use super::{STAGE_COUNT, STAGES};
use crate::observe::profiler::{ClassCycles, StageCounters};

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
    use crate::observe::profiler::ProfilerClass;

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
