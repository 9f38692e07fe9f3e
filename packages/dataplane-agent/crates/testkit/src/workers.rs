//! The workers of one router, for tests and measurements alike.

use std::sync::Arc;

use tollway_config::dataplane::DataplaneConfig;
use tollway_engine::packet::frame::Frame;
use tollway_engine::shared::Shared;
use tollway_engine::snapshot::{Basis, BuildError, PortFacts, Rebuilt, Snapshot};
use tollway_engine::{Engine, EngineLimits};

/// Seed of the hashes that the workers share.
const SEED: u64 = 0x5eed;

/// An engine per worker, and what they share.
pub struct Workers<F: Frame> {
    /// The engines, by worker.
    pub engines: Vec<Engine<F>>,
    /// State that all of them use.
    pub shared: Arc<Shared>,
    /// The configuration, generation 1.
    pub snapshot: Arc<Snapshot>,
}

impl<F: Frame> Workers<F> {
    /// Workers, one for each of `limits`.
    ///
    /// # Errors
    /// When the configuration cannot work.
    pub fn new(
        config: &DataplaneConfig,
        ports: &[PortFacts],
        limits: &[EngineLimits],
    ) -> Result<Self, BuildError> {
        let workers = limits.len() as u32;
        let snapshot = Arc::new(Snapshot::build(config, ports, workers, 1)?);
        let shared = Arc::new(Shared::new(workers, SEED));
        let engine = |(worker, limits): (u32, &EngineLimits)| {
            Engine::new(worker, workers, Arc::clone(&shared), Arc::clone(&snapshot), *limits)
        };
        let engines = (0..).zip(limits).map(engine).collect();
        Ok(Self { engines, shared, snapshot })
    }
}

/// The snapshot of another configuration in place of `before`, of the next generation. What the workers share follows
/// it at once.
///
/// # Errors
/// When the configuration cannot work.
pub fn rebuild(
    shared: &Shared,
    before: (&DataplaneConfig, &Snapshot),
    config: &DataplaneConfig,
    ports: &[PortFacts],
) -> Result<Arc<Snapshot>, String> {
    let basis = Basis { config: before.0, snapshot: before.1 };
    let rebuilt = Snapshot::rebuild(basis, config, ports, before.1.generation() + 1);
    let Rebuilt { snapshot, routes } = rebuilt.map_err(|error| error.to_string())?;
    shared.take_over_routes(before.1, &snapshot, &routes).map_err(|error| format!("{error:?}"))?;
    shared.take_over_lists(&snapshot);
    Ok(Arc::new(snapshot))
}
