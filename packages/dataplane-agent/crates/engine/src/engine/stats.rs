//! Counters of one engine as plain data; additive over workers.

use tollway_config::dataplane::RowId;
use tollway_config::protocol::{DropStats, QueueTotals, RuleStats, StageStats};

use crate::packet::count::Count;
use crate::packet::slow_reason::SLOW_REASONS;
use crate::packet::verdict::{DROP_REASONS, DropReason};
use crate::pipeline::STAGES;
use crate::pipeline::stage_counters::StageTable;

/// Everything an engine counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Per rule row of every table, ascending by row. Bytes are L3.
    pub rules: Vec<(RowId, Count)>,
    /// Packets per [`DropReason`], indexed by the reason.
    pub drops: Vec<u64>,
    /// Packets that the flow cache did not forward, or not alone, indexed by
    /// [`crate::packet::slow_reason::SlowReason`].
    pub slow: Vec<u64>,
    /// Forwarded by stage `flow_cache`, without a fasttrack mark: by a cached action, or by route alone. Bytes are L3.
    pub flow_cache_forwarded: Count,
    /// Part of `flow_cache_forwarded` that was forwarded by route alone, while connections were not tracked.
    pub routed: Count,
    /// Part of `flow_cache_forwarded` and `fasttrack` that was forwarded outside the engine (flow offload).
    pub offloaded: Count,
    /// Forwarded by the flow cache with a fasttrack mark. Bytes are L3.
    pub fasttrack: Count,
    /// Part of `flow_cache_forwarded`, `routed` and `fasttrack` that was of IPv6.
    pub ipv6: Ipv6Counts,
    /// The flow cache is switched on and connections are not tracked.
    pub fast_path_active: bool,
    /// The flow cache is switched on and a fasttrack rule exists or a fasttracked connection lives.
    pub fasttrack_active: bool,
    /// Connections are tracked.
    pub tracking_active: bool,
    /// Maximum number of connections (this worker's share).
    pub max_connections: u64,
    /// IPv4 connections.
    pub connections_ip4: u64,
    /// IPv6 connections.
    pub connections_ip6: u64,
    /// Fasttracked connections.
    pub connections_fasttracked: u64,
    /// Fasttracked connections of IPv6.
    pub connections_fasttracked_ip6: u64,
    /// Per stage.
    pub stages: StageTable,
    /// Packets that came from other workers.
    pub handover_packets: u64,
    /// TCP segments with data, SYN or FIN that began below the highest sequence number that their connection had sent
    /// in their direction before.
    pub out_of_order: u64,
    /// Frames now held inside (unresolved neighbours, fragments without their first one, queues).
    pub held: u64,
    /// Packets made by the router itself.
    pub generated: u64,
    /// Totals of this worker's simple queues: waiting and dropped.
    pub queues: QueueTotals,
}

/// Packets of IPv6 that did not take the slow path. Bytes are L3.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ipv6Counts {
    /// See [`EngineStats::flow_cache_forwarded`].
    pub flow_cache_forwarded: Count,
    /// See [`EngineStats::routed`].
    pub routed: Count,
    /// See [`EngineStats::fasttrack`].
    pub fasttrack: Count,
}

impl EngineStats {
    /// Adds the counters of another worker.
    pub fn add(&mut self, other: &EngineStats) {
        let mut rules = std::collections::BTreeMap::<RowId, Count>::new();
        for (row, count) in self.rules.iter().chain(&other.rules) {
            rules.entry(*row).or_default().add(*count);
        }
        self.rules = rules.into_iter().collect();
        self.drops.resize(DROP_REASONS, 0);
        for (mine, theirs) in self.drops.iter_mut().zip(&other.drops) {
            *mine += theirs;
        }
        self.slow.resize(SLOW_REASONS, 0);
        for (mine, theirs) in self.slow.iter_mut().zip(&other.slow) {
            *mine += theirs;
        }
        self.flow_cache_forwarded.add(other.flow_cache_forwarded);
        self.routed.add(other.routed);
        self.offloaded.add(other.offloaded);
        self.fasttrack.add(other.fasttrack);
        self.ipv6.flow_cache_forwarded.add(other.ipv6.flow_cache_forwarded);
        self.ipv6.routed.add(other.ipv6.routed);
        self.ipv6.fasttrack.add(other.ipv6.fasttrack);
        self.fast_path_active |= other.fast_path_active;
        self.fasttrack_active |= other.fasttrack_active;
        self.tracking_active |= other.tracking_active;
        self.max_connections += other.max_connections;
        self.connections_ip4 += other.connections_ip4;
        self.connections_ip6 += other.connections_ip6;
        self.connections_fasttracked += other.connections_fasttracked;
        self.connections_fasttracked_ip6 += other.connections_fasttracked_ip6;
        for (mine, theirs) in self.stages.iter_mut().zip(&other.stages) {
            mine.cycles += theirs.cycles;
            mine.packets += theirs.packets;
        }
        self.handover_packets += other.handover_packets;
        self.out_of_order += other.out_of_order;
        self.held += other.held;
        self.generated += other.generated;
        self.queues.queued_bytes += other.queues.queued_bytes;
        self.queues.queued_packets += other.queues.queued_packets;
        self.queues.dropped_packets += other.queues.dropped_packets;
    }

    /// Rule counters in the form of the agent's protocol.
    pub fn rule_stats(&self) -> Vec<RuleStats> {
        let form =
            |&(row, count): &(RowId, Count)| RuleStats { row, packets: count.packets, bytes: count.bytes };
        self.rules.iter().map(form).collect()
    }

    /// The drop reasons that ever fired, in the form of the agent's protocol.
    pub fn drop_stats(&self) -> Vec<DropStats> {
        DropReason::ALL
            .iter()
            .zip(&self.drops)
            .filter(|&(_, &packets)| packets != 0)
            .map(|(reason, &packets)| DropStats {
                reason: reason.name().to_owned(),
                text: reason.text().to_owned(),
                packets,
            })
            .collect()
    }

    /// Ticks and packets per stage, in the form of the agent's protocol.
    pub fn stage_stats(&self) -> Vec<StageStats> {
        STAGES
            .iter()
            .zip(&self.stages)
            .map(|(info, count)| StageStats {
                name: info.name.to_owned(),
                cycles: count.cycles,
                packets: count.packets,
            })
            .collect()
    }
}
