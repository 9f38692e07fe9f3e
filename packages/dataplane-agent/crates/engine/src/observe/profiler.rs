//! Cycles and packets of each stage, grouped into the classes of `/tool/profile`.

/// A cycle counter (the TSC in production, a constant in tests).
pub trait CycleClock {
    /// Ticks since an arbitrary origin. They may step back when the thread migrates to another core: differences are
    /// computed with saturation.
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

/// Class of `/tool/profile` to which the time of a stage counts.
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

/// Counters of a stage since the engine was created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageCounters {
    /// Ticks spent in it.
    pub cycles: u64,
    /// Packets that entered it.
    pub packets: u64,
}
