//! Requests of clients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::{CONNECTION_RECORD, PROTOCOL, ReplyBody};
use super::{DynamicAddress, PacketDescription, TraceFilter};
use crate::dataplane::{DataplaneConfig, RowId};

/// Client to agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Request {
    /// Chosen by the client, echoed in the reply.
    pub id: u32,
    /// Request.
    pub body: RequestBody,
}

/// Requests of a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "op")]
pub enum RequestBody {
    /// First request of every client.
    Hello {
        /// [`PROTOCOL`] of the client.
        protocol: u32,
    },
    /// Build the tables for a configuration without using them. Replies [`ReplyBody::Prepared`] or an
    /// error that names the row. A token lives 30 s.
    Prepare {
        /// Revision that the client believes active; another one is refused with `stale-base`.
        base: u64,
        /// Revision that `config` will be.
        revision: u64,
        /// The configuration.
        config: Box<DataplaneConfig>,
    },
    /// Use what was prepared, on every worker, and write it to disk. Replies [`ReplyBody::Activated`]
    /// when every worker has taken it over.
    Activate {
        /// From [`ReplyBody::Prepared`].
        token: u64,
    },
    /// Forget what was prepared.
    Discard {
        /// From [`ReplyBody::Prepared`].
        token: u64,
    },
    /// Counters and states. Replies [`ReplyBody::Stats`].
    Stats,
    /// The connection table. Replies [`ReplyBody::Connections`].
    Connections,
    /// End connections by id. Replies [`ReplyBody::Done`] with the number removed.
    RemoveConnections {
        /// [`CONNECTION_RECORD`] ids.
        ids: Vec<u64>,
    },
    /// Counters and state of every queue. Replies [`ReplyBody::Queues`].
    Queues,
    /// Events of a queue in each millisecond, and the tokens of its buckets. Watching begins with the first request
    /// and ends when there was none for 10 s, or another queue is asked for and four are watched already. Replies
    /// [`ReplyBody::TokenBucket`].
    TokenBucket {
        /// Row of `/queue/simple` or `/queue/tree`.
        row: RowId,
        /// Only milliseconds with a greater number.
        after: u64,
    },
    /// The neighbour (ARP) table. Replies [`ReplyBody::Neighbors`].
    Neighbors,
    /// Forget a learned neighbour. Replies [`ReplyBody::Done`].
    RemoveNeighbor {
        /// Interface row.
        interface: RowId,
        /// Address of the neighbour.
        address: std::net::Ipv4Addr,
    },
    /// The neighbours of IPv6. Replies [`ReplyBody::Ipv6Neighbors`].
    Ipv6Neighbors,
    /// Forgets a learned neighbour of IPv6. Replies [`ReplyBody::Done`].
    RemoveIpv6Neighbor {
        /// Interface row.
        interface: RowId,
        /// Address of the neighbour.
        address: std::net::Ipv6Addr,
    },
    /// The router's addresses of IPv6, with their states. Replies [`ReplyBody::Ipv6Addresses`].
    Ipv6Addresses,
    /// Every route. Replies [`ReplyBody::Routes`].
    Routes,
    /// Every route of IPv6. Replies [`ReplyBody::Ipv6Routes`].
    Ipv6Routes,
    /// The way to an address. Replies [`ReplyBody::RouteTo`].
    RouteTo {
        /// Where to.
        address: std::net::IpAddr,
    },
    /// Set queues' counters to zero; no rows means all queues. Replies [`ReplyBody::Queues`] with the records of these
    /// queues as they were.
    ResetQueueCounters {
        /// Queue rows.
        rows: Vec<RowId>,
    },
    /// Set rules' counters to zero; no rows means all rules. Replies [`ReplyBody::Done`].
    ResetCounters {
        /// Rule rows.
        rows: Vec<RowId>,
    },
    /// Set interfaces' counters to zero; no rows means all. Replies [`ReplyBody::Done`].
    ResetInterfaceCounters {
        /// Interface rows.
        rows: Vec<RowId>,
    },
    /// Entries that lists got beside the configuration: from rules, and by [`Self::AddAddressListEntries`].
    /// Replies [`ReplyBody::AddressListEntries`].
    AddressListEntries,
    /// Adds entries, or begins the life of entries that exist anew. Replies [`ReplyBody::Done`].
    AddAddressListEntries {
        /// Entries to add.
        entries: Vec<DynamicAddress>,
    },
    /// Removes entries that the configuration does not hold. Replies [`ReplyBody::Done`] with the number
    /// removed.
    RemoveAddressListEntries {
        /// Which; the timeout is not looked at.
        entries: Vec<DynamicAddress>,
    },
    /// Begins to note what becomes of packets that the filter describes. Replies
    /// [`ReplyBody::TraceStarted`]. A trace that nobody asks about for 30 s ends.
    StartTrace {
        /// Which packets.
        filter: TraceFilter,
        /// The trace stops by itself after this many packets, at most 10,000.
        packets: u32,
    },
    /// Reads the records of a trace. Replies [`ReplyBody::Trace`].
    Trace {
        /// From [`ReplyBody::TraceStarted`].
        trace: u64,
        /// Only packets with a greater number.
        after: u64,
    },
    /// Ends a trace. Replies [`ReplyBody::Done`].
    StopTrace {
        /// From [`ReplyBody::TraceStarted`].
        trace: u64,
    },
    /// Describes the way that a packet would take now. Nothing is sent, counted or remembered. Replies
    /// [`ReplyBody::Trace`] with one packet.
    DryRun {
        /// The packet.
        packet: PacketDescription,
    },
}
