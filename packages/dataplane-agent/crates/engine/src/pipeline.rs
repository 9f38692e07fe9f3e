//! The one ordered table of stages.

use crate::profiler::ProfilerClass;
use crate::verdict::DropReason;

/// A stage as production, tests, the documentation, the profiler and the counters know it.
#[derive(Debug, Clone, Copy)]
pub struct StageInfo {
    /// Name, as counters carry it.
    pub name: &'static str,
    /// Class of `/tool/profile` its time counts for.
    pub class: ProfilerClass,
    /// Reasons for which it drops packets.
    pub drops: &'static [DropReason],
    /// What it does, in one line.
    pub doc: &'static str,
}

/// Number of stages.
pub const STAGE_COUNT: usize = STAGES.len();

/// Every stage in the order in which a batch passes them.
pub const STAGES: &[StageInfo] = &[
    StageInfo { name: "parse", class: ProfilerClass::Networking, drops: &[DropReason::Runt], doc: "" },
];
