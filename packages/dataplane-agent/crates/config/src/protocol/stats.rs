//! Counters and states, as [`Stats`] carries them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dataplane::RowId;

/// Everything countable, in one snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stats {
    /// Monotonic time of the snapshot, ns.
    pub now_ns: u64,
    /// Since the agent started, ns.
    pub uptime_ns: u64,
    /// Active revision.
    pub revision: u64,
    /// [`Digest`](crate::digest::Digest) of the configuration in force.
    pub digest: String,
    /// Per interface.
    pub interfaces: Vec<InterfaceStats>,
    /// Per rule of every table.
    pub rules: Vec<RuleStats>,
    /// Per drop reason that ever fired.
    pub drops: Vec<DropStats>,
    /// `/ip/settings` counters.
    pub fast_path: FastPathStats,
    /// Packets that the flow cache did not forward, by reason, since start. Every reason is listed, in
    /// an order that stays for the life of the agent: connection records number them from 1.
    pub slow: Vec<SlowStats>,
    /// Connection table.
    pub tracking: TrackingStats,
    /// Totals of all queues.
    pub queues: QueueTotals,
    /// Per core that workers may run on, ascending.
    pub cores: Vec<CoreStats>,
    /// Per worker.
    pub workers: Vec<WorkerStats>,
}

/// Packets that wait in all queues. Bytes are L3; packets count wire segments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct QueueTotals {
    /// Bytes waiting.
    pub queued_bytes: u64,
    /// Packets waiting.
    pub queued_packets: u64,
    /// Packets dropped by queues since the agent started.
    pub dropped_packets: u64,
}

/// Counters of an interface. Bytes are L2 without FCS; packets count wire segments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct InterfaceStats {
    /// Interface row; 0 for a port without a row.
    pub row: RowId,
    /// Factory name of the port.
    pub port: String,
    /// The netdev exists and has carrier, and the interface is enabled.
    pub running: bool,
    /// The netdev exists.
    pub present: bool,
    /// L3 MTU in effect, bytes.
    pub actual_mtu: u32,
    /// Link-layer address in effect.
    pub mac_address: String,
    /// Number of times the link went down.
    pub link_downs: u64,
    /// Wall clock of the last transition to up, ms since 1970; 0 never.
    pub last_link_up_ms: u64,
    /// Wall clock of the last transition to down, ms since 1970; 0 never.
    pub last_link_down_ms: u64,
    /// Totals.
    pub rx_bytes: u64,
    /// Packets received.
    pub rx_packets: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Received packets that a drop reason of the interface itself ended (ring full, runt).
    pub rx_drops: u64,
    /// Packets the port could not take.
    pub tx_drops: u64,
    /// Receive errors of the netdev.
    pub rx_errors: u64,
    /// Transmit errors of the netdev.
    pub tx_errors: u64,
    /// Bytes received that took the fast path.
    pub fp_rx_bytes: u64,
    /// Packets received that took the fast path.
    pub fp_rx_packets: u64,
    /// Bytes sent that took the fast path.
    pub fp_tx_bytes: u64,
    /// Packets sent that took the fast path.
    pub fp_tx_packets: u64,
    /// Bytes sent that the router or a service in its namespace made.
    pub own_tx_bytes: u64,
    /// Packets sent that the router or a service in its namespace made.
    pub own_tx_packets: u64,
    /// Rates over the last full second.
    pub rates: InterfaceRates,
}

/// Rates over the last full second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct InterfaceRates {
    /// Bits/s received.
    pub rx_bps: u64,
    /// Bits/s sent.
    pub tx_bps: u64,
    /// Packets/s received.
    pub rx_pps: u64,
    /// Packets/s sent.
    pub tx_pps: u64,
    /// Bits/s received on the fast path.
    pub fp_rx_bps: u64,
    /// Bits/s sent on the fast path.
    pub fp_tx_bps: u64,
    /// Packets/s received on the fast path.
    pub fp_rx_pps: u64,
    /// Packets/s sent on the fast path.
    pub fp_tx_pps: u64,
    /// Bits/s sent that the router or a service in its namespace made.
    pub own_tx_bps: u64,
    /// Packets/s sent that the router or a service in its namespace made.
    pub own_tx_pps: u64,
    /// Packets/s received that were dropped before routing.
    pub rx_drops_per_second: u64,
    /// Packets/s that the port could not take.
    pub tx_drops_per_second: u64,
    /// Receive errors/s of the netdev.
    pub rx_errors_per_second: u64,
    /// Transmit errors/s of the netdev.
    pub tx_errors_per_second: u64,
}

/// Counters of a rule. Bytes are L3.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RuleStats {
    /// Rule row.
    pub row: RowId,
    /// Packets matched.
    pub packets: u64,
    /// L3 bytes matched.
    pub bytes: u64,
}

/// Counter of a drop reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DropStats {
    /// Name from the engine's closed list.
    pub reason: String,
    /// Text for people.
    pub text: String,
    /// Packets.
    pub packets: u64,
}

/// Counters of `/ip/settings`. Bytes are L3.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FastPathStats {
    /// The flow cache is in use, without connection tracking.
    pub fast_path_active: bool,
    /// Packets forwarded by the flow cache that no connection-tracking FastTrack mark covers.
    pub fast_path_packets: u64,
    /// L3 bytes of these packets.
    pub fast_path_bytes: u64,
    /// A fasttrack rule exists or a fasttracked connection lives.
    pub fasttrack_active: bool,
    /// Packets of fasttracked connections forwarded by the flow cache.
    pub fasttrack_packets: u64,
    /// L3 bytes of these packets.
    pub fasttrack_bytes: u64,
    /// Every way past the slow path: whether it is open, and what closes it.
    pub handlers: Vec<FastPathHandler>,
}

/// A way past the slow path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FastPathHandler {
    /// `ipv4-fast-path`, `ipv4-fasttrack`, `ipv4-flow-cache`, the same of `ipv6`, `flow-offload`.
    pub name: String,
    /// Packets may take it.
    pub active: bool,
    /// The first condition that does not hold, for people; `None` when active.
    pub blocked_by: Option<String>,
    /// Packets that took it since start, wire segments.
    pub packets: u64,
    /// L3 bytes of these packets.
    pub bytes: u64,
}

/// Packets that went through every stage for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SlowStats {
    /// Stable name.
    pub reason: String,
    /// Sentence for people.
    pub text: String,
    /// Packets since start, wire segments.
    pub packets: u64,
}

/// Connection table figures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrackingStats {
    /// Tracking runs.
    pub active: bool,
    /// Entries now, IPv4.
    pub ip4_entries: u64,
    /// Entries now, IPv6.
    pub ip6_entries: u64,
    /// Fasttracked entries now.
    pub fasttracked_entries: u64,
    /// Those of IPv6.
    pub ip6_fasttracked_entries: u64,
    /// Bound over all workers.
    pub max_entries: u64,
    /// Entries of the worker that has most: a flow stays with its worker, and so does its entry.
    pub worker_entries: u64,
    /// Bound of each worker.
    pub worker_max_entries: u64,
}

/// Time of a worker. Cycles are TSC ticks since the worker started; differences give shares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WorkerStats {
    /// TSC ticks per second.
    pub tsc_hz: u64,
    /// TSC at the snapshot, minus TSC at the worker's start.
    pub cycles: u64,
    /// Ticks per stage, in the order of the engine's table.
    pub stages: Vec<StageStats>,
    /// CPU time of the thread by the kernel's account, ns.
    pub thread_cpu_ns: u64,
    /// Packets that arrived by hand-over from another worker.
    pub handover_packets: u64,
    /// TCP segments with data, SYN or FIN that began below the highest sequence number that their connection had sent
    /// in their direction before: overtaken on their way, or sent again. Only of tracked connections.
    pub out_of_order_packets: u64,
    /// Connections it owns.
    pub connections: u64,
}

/// Time of the workers on one core. A worker runs where the kernel puts it, so that several may share a
/// core and one may use many. Cycles are TSC ticks since the workers started; differences give shares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CoreStats {
    /// Number of the core.
    pub cpu: u32,
    /// Ticks since the workers started.
    pub cycles: u64,
    /// Cycles in which no worker was busy.
    pub idle_cycles: u64,
    /// Ticks per profiler class, busy time only; what no class explains is `unclassified`.
    pub classes: Vec<ProfileClass>,
}

/// Time in one profiler class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProfileClass {
    /// Class name as `/tool/profile` prints it: ethernet, networking, firewall, queuing, management, …
    pub name: String,
    /// Ticks.
    pub cycles: u64,
}

/// Time in one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StageStats {
    /// Stage name.
    pub name: String,
    /// Ticks.
    pub cycles: u64,
    /// Packets that entered it.
    pub packets: u64,
}
