//! The compiled configuration.

use std::net::{IpAddr, Ipv4Addr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stable identity of a configuration row, unique over all menus of one router and never reused.
/// Counters follow it through edits and moves. Rows the data plane makes itself start at
/// [`FIRST_DYNAMIC_ROW`].
pub type RowId = u32;

/// First row id of the range that the data plane gives to rows it makes itself.
pub const FIRST_DYNAMIC_ROW: RowId = 0x8000_0000;

/// Version of this format. The agent reads this one and the one before.
pub const FORMAT: u32 = 3;

/// Everything the data plane needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DataplaneConfig {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// `/ip/settings`.
    pub settings: IpSettings,
    /// `/ip/firewall/connection/tracking`.
    pub tracking: Tracking,
    /// L3 interfaces. Every `RowId` that names an interface elsewhere is one of these rows.
    pub interfaces: Vec<Interface>,
    /// `/ip/address`, without disabled and invalid rows.
    pub addresses: Vec<InterfaceAddress>,
    /// `/ip/route`, static routes only; connected ones follow from `addresses`.
    pub routes: Vec<Route>,
    /// `/ip/arp`, static entries.
    pub neighbors: Vec<StaticNeighbor>,
    /// `/ip/firewall/address-list`, grouped; matchers name a list by its index here.
    pub address_lists: Vec<AddressList>,
    /// `/ip/firewall/filter`; the chains `input`, `forward` and `output` are the hooks.
    pub filter: Vec<Chain>,
    /// `/ip/firewall/nat`; the chains `srcnat` and `dstnat` are the hooks.
    pub nat: Vec<Chain>,
    /// `/queue/simple` in list order, without disabled and invalid rows. Absent in format 1.
    #[serde(default)]
    pub simple_queues: Vec<SimpleQueue>,
}

impl Default for DataplaneConfig {
    fn default() -> Self {
        Self {
            format: FORMAT,
            settings: IpSettings::default(),
            tracking: Tracking::default(),
            interfaces: Vec::new(),
            addresses: Vec::new(),
            routes: Vec::new(),
            neighbors: Vec::new(),
            address_lists: Vec::new(),
            filter: Vec::new(),
            nat: Vec::new(),
            simple_queues: Vec::new(),
        }
    }
}

/// `/ip/settings`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IpSettings {
    /// Forward packets between interfaces.
    pub ip_forward: bool,
    /// Reverse path check on source addresses (RFC 3704).
    pub rp_filter: RpFilter,
    /// `false` sends every packet through every stage.
    pub allow_fast_path: bool,
    /// What fasttracked connections skip.
    #[serde(default)]
    pub fasttrack_mode: FasttrackMode,
    /// Let the kernel forward what the flow cache knows, between ports by packet socket.
    #[serde(default)]
    pub flow_offload: bool,
    /// Upper bound of the neighbour table, entries.
    pub max_neighbor_entries: u32,
    /// Base reachable time of ARP entries, milliseconds.
    pub arp_timeout_ms: u32,
    /// Smallest interval between two ICMP errors to one target, milliseconds; 0 is unlimited.
    pub icmp_rate_limit_ms: u32,
}

impl Default for IpSettings {
    fn default() -> Self {
        Self {
            ip_forward: true,
            rp_filter: RpFilter::No,
            allow_fast_path: true,
            fasttrack_mode: FasttrackMode::Cached,
            flow_offload: false,
            max_neighbor_entries: 8192,
            arp_timeout_ms: 30_000,
            icmp_rate_limit_ms: 10,
        }
    }
}

/// What `fasttrack-connection` means.
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

/// Reverse path check (RFC 3704).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RpFilter {
    /// No check.
    No,
    /// The route back to the source must leave by the interface the packet came in on.
    Strict,
    /// Some route back to the source must exist.
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

/// An L3 interface on a claimed port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Interface {
    /// Row of `/interface/ethernet`.
    pub row: RowId,
    /// Name as the user sees it; used in log lines and as the alternative name of the TAP.
    pub name: String,
    /// Factory name of the port that carries it (`ether1`, `ether2` …). A port that is absent makes
    /// the interface not running; it is no error.
    pub port: String,
    /// Administratively down: nothing is received or sent.
    pub disabled: bool,
    /// L3 MTU, bytes.
    pub mtu: u16,
    /// Link-layer address to use instead of the port's own, `aa:bb:cc:dd:ee:ff`.
    pub mac_address: Option<String>,
    /// How ARP behaves here.
    pub arp: ArpMode,
    /// Base reachable time of this interface's ARP entries, milliseconds; `None` follows the settings.
    pub arp_timeout_ms: Option<u32>,
    /// How frames are exchanged with the port.
    #[serde(default)]
    pub io: IoChoice,
}

/// Port backend that is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IoChoice {
    /// The agent chooses and says why.
    #[default]
    Auto,
    /// Packet sockets with vnet headers (packet(7)).
    AfPacket,
    /// AF_XDP sockets.
    AfXdp,
}

/// How ARP behaves on an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArpMode {
    /// Neither asks nor answers; static entries only.
    Disabled,
    /// Asks and answers.
    Enabled,
    /// Also answers for addresses that are routed elsewhere.
    ProxyArp,
    /// Answers, but takes neighbours from static entries only.
    ReplyOnly,
    /// Also answers for addresses that are routed to this same interface.
    LocalProxyArp,
}

/// An address of the router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct InterfaceAddress {
    /// Row of `/ip/address`.
    pub row: RowId,
    /// Interface row.
    pub interface: RowId,
    /// The router's own address.
    pub address: IpAddr,
    /// Prefix length of the connected network, bits.
    pub prefix_len: u8,
    /// Address of the connected network; differs from `address` masked only for point-to-point pairs.
    pub network: IpAddr,
}

/// A static route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Route {
    /// Row of `/ip/route`.
    pub row: RowId,
    /// Destination network.
    pub destination: IpAddr,
    /// Prefix length, bits.
    pub prefix_len: u8,
    /// Preference among routes to the same prefix; lower wins. 1…255.
    pub distance: u8,
    /// What happens to a packet that takes the route.
    pub target: RouteTarget,
    /// Source address for packets of the router itself.
    pub pref_src: Option<IpAddr>,
}

/// What a route does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "kind")]
pub enum RouteTarget {
    /// By a neighbour; the interface is found through the connected routes unless given.
    Gateway {
        /// The neighbour's address.
        address: IpAddr,
        /// Interface row, when the gateway was written `address%interface`.
        interface: Option<RowId>,
    },
    /// Straight out of an interface; destinations are neighbours.
    Interface {
        /// Interface row.
        interface: RowId,
    },
    /// Dropped silently.
    Blackhole,
}

/// A static ARP entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StaticNeighbor {
    /// Row of `/ip/arp`.
    pub row: RowId,
    /// Interface row.
    pub interface: RowId,
    /// The neighbour's address.
    pub address: Ipv4Addr,
    /// The neighbour's link-layer address, `aa:bb:cc:dd:ee:ff`.
    pub mac_address: String,
    /// Answer ARP requests for the address.
    pub published: bool,
}

/// Inclusive range of addresses of one family. A prefix is the range from its first to its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AddressRange {
    /// First address.
    pub from: IpAddr,
    /// Last address, not below `from`.
    pub to: IpAddr,
}

/// Inclusive range of ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PortRange {
    /// First port.
    pub from: u16,
    /// Last port, not below `from`.
    pub to: u16,
}

/// A named set of addresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AddressList {
    /// Name, for log lines and dumps.
    pub name: String,
    /// Members; overlaps are allowed.
    pub entries: Vec<AddressRange>,
}

/// An ordered list of rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Chain {
    /// Name; the built-in names are hooks, every other is reached by `jump`.
    pub name: String,
    /// Rules in order of evaluation, without disabled and invalid rows.
    pub rules: Vec<Rule>,
}

/// A rule: all matchers must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rule {
    /// Row of the menu.
    pub row: RowId,
    /// Conditions, cheap ones first.
    pub matchers: Vec<Matcher>,
    /// What a match does.
    pub action: Action,
    /// Write a log line for each match, with this prefix (may be empty).
    pub log: Option<String>,
}

/// One condition of a rule. `negate` inverts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "kind")]
pub enum Matcher {
    /// Interface the packet came in on; false in `output`.
    InInterface {
        /// Interface rows, one for a name, several for a list.
        interfaces: Vec<RowId>,
        /// Invert.
        negate: bool,
    },
    /// Interface the packet leaves by; false in `input` and `dstnat`.
    OutInterface {
        /// Interface rows, one for a name, several for a list.
        interfaces: Vec<RowId>,
        /// Invert.
        negate: bool,
    },
    /// IP protocol number.
    Protocol {
        /// Number.
        protocol: u8,
        /// Invert.
        negate: bool,
    },
    /// Source address.
    SrcAddress {
        /// Range.
        range: AddressRange,
        /// Invert.
        negate: bool,
    },
    /// Destination address.
    DstAddress {
        /// Range.
        range: AddressRange,
        /// Invert.
        negate: bool,
    },
    /// Source address is in a list.
    SrcAddressList {
        /// Index into [`DataplaneConfig::address_lists`].
        list: u32,
        /// Invert.
        negate: bool,
    },
    /// Destination address is in a list.
    DstAddressList {
        /// Index into [`DataplaneConfig::address_lists`].
        list: u32,
        /// Invert.
        negate: bool,
    },
    /// Source port (TCP, UDP).
    SrcPort {
        /// Any of these.
        ports: Vec<PortRange>,
        /// Invert.
        negate: bool,
    },
    /// Destination port (TCP, UDP).
    DstPort {
        /// Any of these.
        ports: Vec<PortRange>,
        /// Invert.
        negate: bool,
    },
    /// Source or destination port (TCP, UDP).
    Port {
        /// Any of these.
        ports: Vec<PortRange>,
        /// Invert.
        negate: bool,
    },
    /// TCP flags; bits as on the wire: fin 1, syn 2, rst 4, psh 8, ack 16, urg 32, ece 64, cwr 128.
    TcpFlags {
        /// Flags that must be set.
        set: u8,
        /// Flags that must be clear.
        clear: u8,
        /// Invert the whole.
        negate: bool,
    },
    /// ICMP type and code range.
    IcmpOptions {
        /// Type.
        icmp_type: u8,
        /// First code.
        code_from: u8,
        /// Last code.
        code_to: u8,
        /// Invert.
        negate: bool,
    },
    /// State given by connection tracking.
    ConnectionState {
        /// Any of these.
        states: Vec<ConnectionState>,
        /// Invert.
        negate: bool,
    },
    /// Translation applied to the connection.
    ConnectionNatState {
        /// Source translated.
        srcnat: bool,
        /// Destination translated.
        dstnat: bool,
        /// Invert.
        negate: bool,
    },
    /// Length of the IP packet, as on the wire.
    PacketSize {
        /// Shortest, bytes.
        from: u32,
        /// Longest, bytes.
        to: u32,
        /// Invert.
        negate: bool,
    },
    /// L3 bytes of both directions of the connection together, this packet included.
    ConnectionBytes {
        /// At least, bytes.
        from: u64,
        /// At most, bytes; 0 has no end.
        to: u64,
    },
    /// Time of day and day of the week, in the router's time zone.
    Time {
        /// First moment, milliseconds after midnight.
        from_ms: u32,
        /// Last moment, milliseconds after midnight; before `from_ms` the span passes midnight.
        to_ms: u32,
        /// Days, bit 0 is Sunday.
        days: u8,
        /// Offset of the router's clock from UTC, seconds.
        utc_offset_s: i32,
        /// Invert.
        negate: bool,
    },
    /// Every n-th packet that fulfils all other conditions of the rule.
    Nth {
        /// Size of a group, packets.
        every: u32,
        /// Which packet of the group, from 1.
        packet: u32,
        /// Invert.
        negate: bool,
    },
    /// Some share of the packets.
    Random {
        /// 1 to 99, percent.
        percent: u8,
    },
    /// A token bucket of the rule, refilled every 10 ms.
    Limit {
        /// Tokens per `per_ms`.
        rate: u64,
        /// Milliseconds in which `rate` tokens come.
        per_ms: u32,
        /// Depth of the bucket, tokens.
        burst: u64,
        /// What a token is.
        unit: LimitUnit,
        /// Invert.
        negate: bool,
    },
}

/// What [`Matcher::Limit`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitUnit {
    /// Wire packets.
    Packet,
    /// L3 bits.
    Bit,
}

/// Connection state (RouterOS `connection-state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionState {
    /// Not classifiable.
    Invalid,
    /// A reply was seen.
    Established,
    /// Tied to an existing connection.
    Related,
    /// Starts a connection or has not seen a reply.
    New,
    /// Not tracked.
    Untracked,
}

/// What a match does. The API's compiler never puts an action into a table that does not know it;
/// the agent refuses such a configuration and names the row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "kind")]
pub enum Action {
    /// Ends the table: the packet goes on.
    Accept,
    /// Ends everything, silently. Filter only.
    Drop,
    /// Ends everything and answers. Filter only.
    Reject {
        /// The answer.
        with: RejectWith,
    },
    /// Continue in another chain of the same table.
    Jump {
        /// Index of the chain in its table.
        chain: u32,
    },
    /// Back to the caller; in a hook the default, accept.
    Return,
    /// Write a log line and go on.
    Log,
    /// Count and go on.
    Passthrough,
    /// Mark the connection for the fast path and go on. Filter only.
    FasttrackConnection,
    /// Put the source address into a list and go on.
    AddSrcToAddressList {
        /// Index of the list.
        list: u32,
        /// Life of the entry, milliseconds, begun anew by each packet; 0 until the agent ends.
        timeout_ms: u64,
    },
    /// Put the destination address into a list and go on.
    AddDstToAddressList {
        /// Index of the list.
        list: u32,
        /// Life of the entry, milliseconds, begun anew by each packet; 0 until the agent ends.
        timeout_ms: u64,
    },
    /// Source := address of the out-interface. `srcnat` only.
    Masquerade {
        /// Allowed new source ports.
        to_ports: Option<PortRange>,
        /// Choose the port at random.
        randomise_ports: bool,
    },
    /// Source := one of a range. `srcnat` only.
    SrcNat {
        /// Allowed new addresses; `None` keeps the address.
        to_addresses: Option<AddressRange>,
        /// Allowed new source ports.
        to_ports: Option<PortRange>,
        /// Choose the port at random.
        randomise_ports: bool,
    },
    /// Destination := one of a range. `dstnat` only.
    DstNat {
        /// New addresses; `None` keeps the address.
        to_addresses: Option<AddressRange>,
        /// New ports.
        to_ports: Option<PortRange>,
    },
    /// Destination := the address of the incoming interface. `dstnat` only.
    Redirect {
        /// New ports.
        to_ports: Option<PortRange>,
    },
}

/// How a rejected packet is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RejectWith {
    /// ICMP 3/0.
    IcmpNetworkUnreachable,
    /// ICMP 3/1.
    IcmpHostUnreachable,
    /// ICMP 3/2.
    IcmpProtocolUnreachable,
    /// ICMP 3/3.
    IcmpPortUnreachable,
    /// ICMP 3/9.
    IcmpNetProhibited,
    /// ICMP 3/10.
    IcmpHostProhibited,
    /// ICMP 3/13.
    IcmpAdminProhibited,
    /// TCP reset; other protocols get ICMP 3/3.
    TcpReset,
}

/// An IPv4 or IPv6 network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Prefix {
    /// First address; host bits are zero.
    pub address: IpAddr,
    /// 0…32 or 0…128.
    pub prefix_len: u8,
}

/// A simple queue. The first one in list order that a packet fits takes it: as *download* when the
/// destination (after its translation) is in a target, else as *upload* when the source (before its
/// translation) is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SimpleQueue {
    /// Row of `/queue/simple`.
    pub row: RowId,
    /// Whose traffic it holds; not empty.
    pub targets: Vec<Prefix>,
    /// From the targets.
    pub upload: QueueLimit,
    /// To the targets.
    pub download: QueueLimit,
}

/// How one direction of a simple queue is held to its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct QueueLimit {
    /// L3 bits per second, over wire segments; 0 no limit.
    pub max_limit: u64,
    /// Depth of the token bucket: what `max_limit` brings in this time, ms.
    pub bucket_ms: u32,
    /// Packets that may wait; the next one is dropped.
    pub packet_limit: u32,
}
