//! Whether a case did what it is to measure, and the shares of the stages.

use tollway_config::protocol::QUEUE_RECORD;
use tollway_engine::engine::stats::EngineStats;
use tollway_engine::pipeline::STAGES;

use super::TimedEngine;

/// Where a queue's record says how many packets passed; bytes waiting lie 32 bytes further.
const PACKETS: usize = 16;
impl TimedEngine {
    /// Whether everything that was forwarded passed a queue, if there are any, and none held it back.
    pub fn check_queues(&self) -> Result<(), String> {
        let mut records = Vec::new();
        self.engine.queues(0, u32::MAX, self.now, &mut records);
        let field = |record: &[u8], at: usize| {
            record.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
        };
        let mut passed = 0;
        for record in records.chunks_exact(QUEUE_RECORD) {
            passed += field(record, PACKETS);
            let dropped = field(record, PACKETS + 8);
            if dropped != 0 || field(record, PACKETS + 32) != 0 {
                return Err("a queue was full: the case must not reach a limit".to_owned());
            }
        }
        match self.queues == 0 || passed >= self.forwarded.0 {
            true => Ok(()),
            false => Err(format!("{passed} of {} packets passed the queues", self.forwarded.0)),
        }
    }

    /// Drop reasons that fired, for messages.
    pub fn drops(&self) -> String {
        let reasons = self.engine.stats().drop_stats();
        match reasons.is_empty() {
            true => "nothing was dropped".to_owned(),
            false => {
                reasons.iter().map(|d| format!("{} {}", d.packets, d.reason)).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// Ticks per packet of each stage that took part between two readings, as `name ns` with `ns_per_tick`.
pub fn stage_costs(
    from: &EngineStats,
    to: &EngineStats,
    packets: u64,
    ns_per_tick: f64,
) -> Vec<(&'static str, f64)> {
    let ticks = from.stages.iter().zip(&to.stages).map(|(from, to)| to.cycles.wrapping_sub(from.cycles));
    let costs = STAGES
        .iter()
        .zip(ticks)
        .map(|(stage, ticks)| (stage.name, ticks as f64 * ns_per_tick / packets as f64));
    costs.filter(|(_, cost)| *cost >= 0.05).collect()
}
