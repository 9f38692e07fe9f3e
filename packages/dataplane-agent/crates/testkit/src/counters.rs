//! Asserting which counters moved, and that no other did.

use std::collections::BTreeMap;

use tollway_config::dataplane::RowId;
use tollway_engine::engine::stats::EngineStats;
use tollway_engine::packet::verdict::DropReason;

/// A counter of the engine, packets only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// Packets that a reason ended.
    Drop(DropReason),
    /// Packets a rule matched.
    Rule(RowId),
    /// Forwarded by the flow cache without a fasttrack mark.
    FastPath,
    /// Forwarded by the flow cache with a fasttrack mark.
    Fasttrack,
    /// Made by the router.
    Generated,
    /// Came from another worker.
    Handover,
    /// Connections that exist (the change of it).
    Connections,
    /// Packets that wait inside (the change of it).
    Held,
}

/// Every counter that is not zero.
pub fn read(stats: &EngineStats) -> BTreeMap<Counter, u64> {
    let mut counters = BTreeMap::new();
    for (reason, &packets) in DropReason::ALL.iter().zip(&stats.drops) {
        counters.insert(Counter::Drop(*reason), packets);
    }
    for (row, count) in &stats.rules {
        counters.insert(Counter::Rule(*row), count.packets);
    }
    counters.insert(Counter::FastPath, stats.flow_cache_forwarded.packets);
    counters.insert(Counter::Fasttrack, stats.fasttrack.packets);
    counters.insert(Counter::Generated, stats.generated);
    counters.insert(Counter::Handover, stats.handover_packets);
    counters.insert(Counter::Connections, stats.connections_ip4 + stats.connections_ip6);
    counters.insert(Counter::Held, stats.held);
    counters.retain(|_, packets| *packets != 0);
    counters
}

/// The differences between two readings.
pub fn moved(before: &BTreeMap<Counter, u64>, after: &BTreeMap<Counter, u64>) -> BTreeMap<Counter, i64> {
    let value =
        |map: &BTreeMap<Counter, u64>, counter: &Counter| map.get(counter).copied().unwrap_or(0) as i64;
    let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
    names
        .into_iter()
        .map(|counter| (counter, value(after, &counter) - value(before, &counter)))
        .filter(|(_, change)| *change != 0)
        .collect()
}

/// Asserts that since the last call (or the start) exactly these counters moved, by so much:
/// `expect_counters!(router, Rule(1000): 1, Drop(NoRoute): 2)`.
#[macro_export]
macro_rules! expect_counters {
    ($router:expr $(, $name:ident $(($argument:expr))? : $change:expr)* $(,)?) => {{
        #[allow(unused_imports, reason = "not every assertion names a drop reason")]
        use tollway_engine::packet::verdict::DropReason::*;
        let expected: std::collections::BTreeMap<$crate::Counter, i64> =
            [$(($crate::Counter::$name $(($argument))?, $change)),*].into_iter().collect();
        let moved = $router.moved();
        assert_eq!(moved, expected, "counters that moved, and those expected to; {}", $router.describe());
    }};
}
