//! `/ip/settings`, `/ipv6/settings` and `/ip/firewall/connection/tracking`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RowId;

/// `/ip/settings`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IpSettings {
    /// Forward packets between interfaces.
    pub ip_forward: bool,
    /// Reverse path check on source addresses (RFC 3704).
    pub rp_filter: RpFilter,
    /// What a flow is, where a route has several gateways.
    #[serde(default, skip_serializing_if = "MultipathHash::is_default")]
    pub multipath_hash: MultipathHash,
    /// `false` sends every packet of IPv4 through every stage.
    pub allow_fast_path: bool,
    /// Stages that fasttracked connections skip.
    #[serde(default)]
    pub fasttrack_mode: FasttrackMode,
    /// Let the kernel forward what the flow cache knows, between ports by packet socket.
    #[serde(default)]
    pub flow_offload: bool,
    /// Upper bound of the neighbour table, entries.
    pub max_neighbor_entries: u32,
    /// Base reachable time of ARP entries, milliseconds.
    pub arp_timeout_ms: u32,
    /// Smallest interval between two ICMP messages of limited types to one target, milliseconds; 0 is unlimited.
    pub icmp_rate_limit_ms: u32,
    /// Types of ICMP messages that are limited: bit n is type n (icmp_ratemask of Linux).
    #[serde(default = "default_icmp_rate_mask")]
    pub icmp_rate_mask: u32,
    /// Send ICMP errors from the first address of the interface that received the packet.
    #[serde(default)]
    pub icmp_errors_use_inbound_interface_address: bool,
    /// Send ICMP redirects (RFC 1812 §5.2.7.2).
    #[serde(default = "yes")]
    pub send_redirects: bool,
    /// Follow ICMP redirects with what the router itself sends (RFC 1122 §3.2.2.2).
    #[serde(default)]
    pub accept_redirects: bool,
    /// Follow only redirects to a gateway that a route names.
    #[serde(default = "yes")]
    pub secure_redirects: bool,
    /// Follow the source routes of packets (RFC 1812 §5.2.4.1) instead of dropping these.
    #[serde(default)]
    pub accept_source_route: bool,
    /// Memory of fragments that wait for the first one of their datagram, over all workers, bytes.
    #[serde(default = "default_fragment_bytes")]
    pub fragment_bytes: u32,
    /// Longest time for the fragments of a datagram to arrive, milliseconds.
    #[serde(default = "default_fragment_time_ms")]
    pub fragment_time_ms: u32,
    /// Send SYN cookies from the router's namespace when the queue of a listener is full.
    #[serde(default)]
    pub tcp_syncookies: bool,
    /// Timestamps of TCP connections of the router's namespace.
    #[serde(default)]
    pub tcp_timestamps: TcpTimestamps,
    /// `/ipv6/settings`.
    #[serde(default, skip_serializing_if = "Ipv6Settings::is_default")]
    pub ipv6: Ipv6Settings,
}

fn yes() -> bool {
    true
}

// serde gives a reference.
fn is_yes(value: &bool) -> bool {
    *value
}

/// Destination unreachable, source quench, time exceeded, parameter problem: the default of Linux.
fn default_icmp_rate_mask() -> u32 {
    0x1818
}

/// The default of Linux (ipfrag_high_thresh).
fn default_fragment_bytes() -> u32 {
    4 << 20
}

/// Shorter than the 15 s of RFC 791, because a 16-bit identification wraps around within seconds at high rates.
fn default_fragment_time_ms() -> u32 {
    5_000
}

/// Timestamps of TCP (RFC 7323), as tcp_timestamps of Linux.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpTimestamps {
    /// None.
    Disabled,
    /// From a random start for each connection.
    #[default]
    RandomOffset,
    /// From the same start for all connections.
    Enabled,
}

/// `/ipv6/settings`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ipv6Settings {
    /// No interface has IPv6.
    pub disable_ipv6: bool,
    /// Forward packets between interfaces.
    pub forward: bool,
    /// `false` sends every packet of IPv6 through every stage.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub allow_fast_path: bool,
    /// Upper bound of the neighbours of IPv6, entries.
    pub max_neighbor_entries: u32,
    /// What a flow is, where a route has several gateways.
    #[serde(default, skip_serializing_if = "MultipathHash::is_default")]
    pub multipath_hash: MultipathHash,
    /// Interfaces with an address of IPv6 get no link-local address (RFC 4862 §5.3) beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disable_link_local_address: bool,
    /// Follow redirects with what the router itself sends (RFC 4861 §8.3).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_redirects: bool,
    /// Interface rows on which router advertisements are taken, as by a host (RFC 4861 §6.3.4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept_advertisements_on: Vec<RowId>,
    /// Which neighbours of IPv6 are forgotten, and when.
    #[serde(default, skip_serializing_if = "NeighborCollection::is_default")]
    pub neighbor_collection: NeighborCollection,
}

/// When neighbours that nobody uses are forgotten, as gc_stale_time, gc_interval, gc_thresh1 and gc_thresh2 of Linux say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NeighborCollection {
    /// Time for which an unconfirmed neighbour is kept, s.
    pub stale_timeout_s: u32,
    /// Time between two looks at one that has been kept for longer, s.
    pub detect_interval_s: u32,
    /// Up to this number of neighbours none is forgotten.
    pub min_entries: u32,
    /// Above this number of neighbours unconfirmed ones go within seconds.
    pub soft_max_entries: u32,
}

impl Default for NeighborCollection {
    fn default() -> Self {
        Self { stale_timeout_s: 60, detect_interval_s: 30, min_entries: 2048, soft_max_entries: 4096 }
    }
}

impl NeighborCollection {
    /// Whether every value has its default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Ipv6Settings {
    fn default() -> Self {
        Self {
            disable_ipv6: false,
            forward: true,
            allow_fast_path: true,
            max_neighbor_entries: 8192,
            multipath_hash: MultipathHash::default(),
            disable_link_local_address: false,
            accept_redirects: false,
            accept_advertisements_on: Vec::new(),
            neighbor_collection: NeighborCollection::default(),
        }
    }
}

impl Ipv6Settings {
    /// Whether every setting has its default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for IpSettings {
    fn default() -> Self {
        Self {
            ip_forward: true,
            rp_filter: RpFilter::No,
            multipath_hash: MultipathHash::default(),
            allow_fast_path: true,
            fasttrack_mode: FasttrackMode::Cached,
            flow_offload: false,
            max_neighbor_entries: 8192,
            arp_timeout_ms: 30_000,
            icmp_rate_limit_ms: 10,
            icmp_rate_mask: default_icmp_rate_mask(),
            icmp_errors_use_inbound_interface_address: false,
            send_redirects: true,
            accept_redirects: false,
            secure_redirects: true,
            accept_source_route: false,
            fragment_bytes: default_fragment_bytes(),
            fragment_time_ms: default_fragment_time_ms(),
            tcp_syncookies: false,
            tcp_timestamps: TcpTimestamps::RandomOffset,
            ipv6: Ipv6Settings::default(),
        }
    }
}

/// Meaning of `fasttrack-connection`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FasttrackMode {
    /// Nothing is skipped: rules, queues and counters hold for every packet, from the flow cache.
    #[default]
    Cached,
    /// Packets of fasttracked connections skip the filter, connection tracking's counters of rules and the
    /// simple queues, as in RouterOS; NAT, routing in the main table and the TTL stay.
    Bypass,
}

/// Fields by which the packets of flows are divided between the gateways of a route.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MultipathHash {
    /// Source and destination.
    #[default]
    L3,
    /// Protocol and ports too.
    L4,
    /// Source and destination of the innermost packet that is encapsulated (fib_multipath_hash_policy 2 of Linux).
    L3Inner,
}

impl MultipathHash {
    /// Whether it is the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Reverse path check (RFC 3704).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RpFilter {
    /// No check.
    No,
    /// The route back to the source must leave by the interface the packet came in on.
    Strict,
    /// A route back to the source must exist.
    Loose,
}

/// `/ip/firewall/connection/tracking`. Timeouts in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tracking {
    /// When connections are tracked.
    pub enabled: TrackingMode,
    /// After a SYN was seen.
    pub tcp_syn_sent_timeout_ms: u32,
    /// After the SYN-ACK was seen.
    pub tcp_syn_received_timeout_ms: u32,
    /// Established TCP.
    pub tcp_established_timeout_ms: u32,
    /// After the first FIN.
    pub tcp_fin_wait_timeout_ms: u32,
    /// While the closing side waits.
    pub tcp_close_wait_timeout_ms: u32,
    /// While the last ACK is awaited.
    pub tcp_last_ack_timeout_ms: u32,
    /// In time-wait.
    pub tcp_time_wait_timeout_ms: u32,
    /// After a reset.
    pub tcp_close_timeout_ms: u32,
    /// Once retransmissions exceed three.
    pub tcp_max_retrans_timeout_ms: u32,
    /// While data stays unacknowledged.
    pub tcp_unacked_timeout_ms: u32,
    /// Pick up TCP connections seen mid-stream.
    pub loose_tcp_tracking: bool,
    /// Only out-of-window resets are invalid.
    pub liberal_tcp_tracking: bool,
    /// One-way UDP.
    pub udp_timeout_ms: u32,
    /// Two-way UDP.
    pub udp_stream_timeout_ms: u32,
    /// ICMP queries.
    pub icmp_timeout_ms: u32,
    /// Every other protocol.
    pub generic_timeout_ms: u32,
    /// Upper bound of the connection table, over all workers.
    pub max_entries: u32,
}

impl Default for Tracking {
    fn default() -> Self {
        Self {
            enabled: TrackingMode::Auto,
            tcp_syn_sent_timeout_ms: 5_000,
            tcp_syn_received_timeout_ms: 5_000,
            tcp_established_timeout_ms: 86_400_000,
            tcp_fin_wait_timeout_ms: 10_000,
            tcp_close_wait_timeout_ms: 10_000,
            tcp_last_ack_timeout_ms: 10_000,
            tcp_time_wait_timeout_ms: 10_000,
            tcp_close_timeout_ms: 10_000,
            tcp_max_retrans_timeout_ms: 300_000,
            tcp_unacked_timeout_ms: 300_000,
            loose_tcp_tracking: true,
            liberal_tcp_tracking: false,
            udp_timeout_ms: 30_000,
            udp_stream_timeout_ms: 180_000,
            icmp_timeout_ms: 10_000,
            generic_timeout_ms: 600_000,
            max_entries: 262_144,
        }
    }
}

/// When connections are tracked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrackingMode {
    /// On as soon as one firewall rule exists.
    Auto,
    /// Always.
    Yes,
    /// Never.
    No,
}
