//! Routers in a steady state, for counting instructions.

use tollway_engine::pipeline::batch::BATCH;

use crate::clock::Tsc;
use crate::scenario::Scenario;
use crate::timed_engine::{Setup, TimedEngine};
use crate::traffic::Traffic;

/// Batches whose frames are made at a time.
const RING: usize = 4;

/// A router that forwards established flows.
pub struct Steady(TimedEngine);

impl Steady {
    /// Packets per [`Self::forward`].
    pub const PACKETS: u64 = (RING * BATCH) as u64;

    /// The router of an engine case, with at most 4,096 flows.
    ///
    /// # Errors
    /// When there is no such case, or the router does not forward.
    pub fn new(case: &str) -> Result<Self, String> {
        let (scenario, traffic) = match case {
            "route-1" => (Scenario::ROUTING, Traffic::new(256, true)),
            "masquerade" => (Scenario::MASQUERADE, Traffic::new(4096, false)),
            "masquerade-25" => (Scenario::MASQUERADE_25, Traffic::new(4096, false)),
            "queues-25" => (Scenario::QUEUES_25, Traffic::new(4096, false)),
            _ => return Err(format!("there is no case \"{case}\"")),
        };
        Ok(Self(TimedEngine::new(Setup::of(scenario, traffic), Tsc::new())?))
    }

    /// Engine like that of [`Self::new`], but every packet passes every stage (`allow-fast-path=no`).
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn slow() -> Result<Self, String> {
        let mut setup = Setup::of(Scenario::MASQUERADE_25, Traffic::new(4096, false));
        setup.config.settings.allow_fast_path = false;
        Ok(Self(TimedEngine::new(setup, Tsc::new())?))
    }

    /// Forwards [`Self::PACKETS`] packets.
    ///
    /// # Errors
    /// When the router does anything else with them.
    pub fn forward(&mut self) -> Result<(), String> {
        self.0.window(RING).map(|_| ())
    }
}
