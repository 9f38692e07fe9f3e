//! `/ip/firewall` and `/ipv6/firewall`: rules and address lists. A rule is of the family of its table.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::DataplaneConfig;
use super::RowId;

/// A packet, connection or routing mark. 0 is no mark. It is made from the mark's name alone, so that it means the
/// same in every revision.
pub type Mark = u32;

/// Name of a mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MarkName {
    /// The mark.
    pub mark: Mark,
    /// Name for people.
    pub name: String,
}

/// Largest segment size that a SYN packet is to announce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "kind")]
pub enum NewMss {
    /// This one.
    Value {
        /// Bytes.
        bytes: u16,
    },
    /// MSS that the MTU of the path allows, if that is less.
    ClampToPmtu,
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
    /// Action of a match.
    pub action: Action,
    /// Write a log line for each match, with this prefix (may be empty).
    pub log: Option<String>,
}

/// Condition of a rule. `negate` inverts it.
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
        /// Index into [`DataplaneConfig::address_lists`], of IPv6 into [`DataplaneConfig::ipv6_address_lists`].
        list: u32,
        /// Invert.
        negate: bool,
    },
    /// Destination address is in a list.
    DstAddressList {
        /// Index into [`DataplaneConfig::address_lists`], of IPv6 into [`DataplaneConfig::ipv6_address_lists`].
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
    /// Type and code range of ICMP, in rules of IPv6 of ICMPv6.
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
    /// Mark of the packet.
    PacketMark {
        /// The mark; 0 for packets without.
        mark: Mark,
        /// Invert.
        negate: bool,
    },
    /// Mark of the packet for routing.
    RoutingMark {
        /// The mark; 0 for packets without.
        mark: Mark,
        /// Invert.
        negate: bool,
    },
    /// Mark of the connection.
    ConnectionMark {
        /// The mark; 0 for connections without.
        mark: Mark,
        /// Invert.
        negate: bool,
    },
    /// DSCP of the IP header, as it is when the rule is evaluated.
    Dscp {
        /// 0…63.
        dscp: u8,
        /// Invert.
        negate: bool,
    },
    /// Time to live of IPv4 (`ttl`), hop limit of IPv6 (`hop-limit`), as the packet came in.
    HopLimit {
        /// Lowest.
        from: u8,
        /// Highest.
        to: u8,
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
    /// A share of the packets.
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
        /// Unit of a token.
        unit: LimitUnit,
        /// Invert.
        negate: bool,
    },
}

/// Unit that [`Matcher::Limit`] counts.
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

/// Action of a match. The API's compiler never puts an action into a table that does not know it;
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
    /// Mark the connection for the fast path and go on. Filter and mangle.
    FasttrackConnection,
    /// Mark the packet. Mangle only.
    MarkPacket {
        /// The mark; 0 takes it away.
        mark: Mark,
        /// Go on with the next rule; else this ends the table.
        passthrough: bool,
    },
    /// Mark the connection. Mangle only.
    MarkConnection {
        /// The mark; 0 takes it away.
        mark: Mark,
        /// Go on with the next rule; else this ends the table.
        passthrough: bool,
    },
    /// Mark the packet for routing. Mangle's `prerouting` and `output` only.
    MarkRouting {
        /// The mark; 0 takes it away.
        mark: Mark,
        /// Go on with the next rule; else this ends the table.
        passthrough: bool,
    },
    /// Write the DSCP. Mangle only.
    ChangeDscp {
        /// 0…63.
        dscp: u8,
        /// Go on with the next rule; else this ends the table.
        passthrough: bool,
    },
    /// Write the largest segment size of SYN packets. Mangle only.
    ChangeMss {
        /// The size.
        mss: NewMss,
        /// Go on with the next rule; else this ends the table.
        passthrough: bool,
    },
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
    /// Source (`srcnat`) or destination (`dstnat`) := the address of a prefix with the same host bits.
    Netmap {
        /// The prefix.
        to_addresses: AddressRange,
        /// New ports.
        to_ports: Option<PortRange>,
    },
    /// Destination := the address of the incoming interface. `dstnat` only.
    Redirect {
        /// New ports.
        to_ports: Option<PortRange>,
    },
}

/// Answer to a rejected packet. Which of them a rule may have depends on its family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RejectWith {
    /// ICMP 3/0. Of IPv4.
    IcmpNetworkUnreachable,
    /// ICMP 3/1. Of IPv4.
    IcmpHostUnreachable,
    /// ICMP 3/2. Of IPv4.
    IcmpProtocolUnreachable,
    /// ICMP 3/3, ICMPv6 1/4.
    IcmpPortUnreachable,
    /// ICMP 3/9. Of IPv4.
    IcmpNetProhibited,
    /// ICMP 3/10. Of IPv4.
    IcmpHostProhibited,
    /// ICMP 3/13, ICMPv6 1/1.
    IcmpAdminProhibited,
    /// TCP reset; other protocols get ICMP 3/3 or ICMPv6 1/4.
    TcpReset,
    /// ICMPv6 1/0. Of IPv6, as those below.
    IcmpNoRoute,
    /// ICMPv6 1/2 (RFC 4443: beyond scope of source address; RFC 2463: not a neighbour).
    IcmpNotNeighbour,
    /// ICMPv6 1/3.
    IcmpAddressUnreachable,
    /// ICMPv6 1/7 (RFC 6550 §20.18).
    IcmpErrSrcRoutingHeader,
    /// ICMPv6 1/8 (RFC 8883 §3).
    IcmpHeadersTooLong,
}
