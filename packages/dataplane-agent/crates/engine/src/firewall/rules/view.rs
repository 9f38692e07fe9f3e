//! The fields of a packet and its connection that conditions read.

use tollway_config::dataplane::{ConnectionState, Mark};

use crate::ids::InterfaceIndex;
use crate::packet::tuple::Tuple;
use crate::time::Now;

/// The end of the packet to which a condition applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Source, or ingress.
    Source,
    /// Destination, or egress.
    Destination,
    /// Either.
    Either,
}

/// A packet as rules see it at their stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketView {
    /// Interface it came in on; `None` in `output` and for the router's own packets.
    pub in_interface: Option<InterfaceIndex>,
    /// Interface it leaves by; `None` in `input` and `dstnat`.
    pub out_interface: Option<InterfaceIndex>,
    /// Addresses, ports and protocol.
    pub tuple: Tuple,
    /// Ports, TCP flags, ICMP type and code are not known: they are in the first fragment of the datagram.
    pub no_transport_header: bool,
    /// TCP flags as on the wire; 0 for other protocols.
    pub tcp_flags: u8,
    /// ICMP type; 0 for other protocols.
    pub icmp_type: u8,
    /// ICMP code; 0 for other protocols.
    pub icmp_code: u8,
    /// Connection state for `connection-state`.
    pub state: ConnectionState,
    /// The connection's source is translated.
    pub srcnat: bool,
    /// The connection's destination is translated.
    pub dstnat: bool,
    /// Mark of the packet; 0 none.
    pub mark: Mark,
    /// Mark of the connection; 0 none.
    pub connection_mark: Mark,
    /// Mark of the packet for routing; 0 none.
    pub routing_mark: Mark,
    /// DSCP of the IP header.
    pub dscp: u8,
    /// A rule has written the DSCP: it is not the received one.
    pub dscp_written: bool,
    /// Hop limit, or time to live, as received.
    pub hop_limit: u8,
    /// Length of the IP packet on the wire, bytes; of a super-frame that of its full segments.
    pub length: u32,
    /// Wire segments.
    pub segments: u32,
    /// L3 bytes over all wire segments.
    pub wire_bytes: u64,
    /// L3 bytes of both directions of the connection, this packet included; `None` without a connection.
    pub connection_bytes: Option<u64>,
    /// Time of the batch.
    pub now: Now,
    /// Wall clock at that time, ns since 1970 UTC.
    pub utc_ns: i64,
    /// Seed of the matcher `random`; the same number for all workers, hard to guess from outside.
    pub seed: u64,
    /// The packet is that of a dry run: counts and token buckets of matchers are read and not changed.
    pub dry_run: bool,
}

impl Default for PacketView {
    /// An untracked packet without protocol, addresses and interfaces.
    fn default() -> Self {
        Self {
            in_interface: None,
            out_interface: None,
            tuple: Tuple::default(),
            no_transport_header: false,
            tcp_flags: 0,
            icmp_type: 0,
            icmp_code: 0,
            state: ConnectionState::Untracked,
            srcnat: false,
            dstnat: false,
            mark: 0,
            connection_mark: 0,
            routing_mark: 0,
            dscp: 0,
            dscp_written: false,
            hop_limit: 64,
            length: 0,
            segments: 1,
            wire_bytes: 0,
            connection_bytes: None,
            now: Now(0),
            utc_ns: 0,
            seed: 0,
            dry_run: false,
        }
    }
}
