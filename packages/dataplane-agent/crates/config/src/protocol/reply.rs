//! Replies of the agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ipv6AddressInfo, Ipv6NeighborInfo, NeighborInfo, PortInfo, Stats, TracedPacket};
#[cfg(doc)]
use super::{PROTOCOL, RequestBody};
use crate::dataplane::RowId;

/// Answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Reply {
    /// Number of the request.
    pub id: u32,
    /// The answer.
    pub body: ReplyBody,
}

/// Refusal of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ErrorReply {
    /// Number of the request.
    pub id: u32,
    /// Machine-readable reason.
    pub code: ErrorCode,
    /// For people: what failed, and what would be accepted.
    pub message: String,
    /// Configuration row at fault.
    pub row: Option<RowId>,
}

/// Why a request was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorCode {
    /// Unknown operation or field, wrong type, wrong protocol version, no `hello` before.
    BadRequest,
    /// The configuration cannot work.
    BadConfig,
    /// Another configuration was activated since `base`.
    StaleBase,
    /// The token is unknown or older than 30 s.
    UnknownToken,
    /// The agent failed inside.
    Internal,
}

/// Reply to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "op")]
pub enum ReplyBody {
    /// To [`RequestBody::Hello`].
    Hello {
        /// [`PROTOCOL`] of the agent.
        protocol: u32,
        /// Software version.
        version: String,
        /// Process id of the agent.
        pid: u32,
        /// Active revision; 0 before the first activation.
        revision: u64,
        /// [`Digest`](crate::digest::Digest) of the configuration in force.
        digest: String,
        /// Ports in claim order.
        ports: Vec<PortInfo>,
        /// Name of the router network namespace, where local services run; empty in memory mode.
        router_netns: String,
    },
    /// To [`RequestBody::Prepare`].
    Prepared {
        /// For [`RequestBody::Activate`].
        token: u64,
    },
    /// To [`RequestBody::Activate`].
    Activated {
        /// Now active.
        revision: u64,
        /// Digest of the configuration, as in [`ReplyBody::Hello`].
        digest: String,
    },
    /// To requests without data.
    Done {
        /// Number of affected items.
        count: u64,
    },
    /// To [`RequestBody::Stats`].
    Stats(Box<Stats>),
    /// To [`RequestBody::Connections`]: a packed [`ConnectionRecord`](super::record::ConnectionRecord) of each.
    Connections {
        /// Monotonic time of the snapshot, ns; differences give rates.
        now_ns: u64,
        /// The records.
        #[serde(with = "bytes")]
        #[schemars(with = "Vec<u8>", extend("tsType" = "Uint8Array"))]
        records: Vec<u8>,
    },
    /// To [`RequestBody::Queues`]: packed [`QueueRecord`](super::record::QueueRecord)s, in no order: of each part
    /// of a queue those of all workers that have seen packets of it, which add up (but for the waits, of which the
    /// longest counts). A queue without records has seen none. Bytes are L3 over wire segments, packets wire
    /// segments. Of a queue with children all but packets dropped, marked
    /// and out of order cover what passed its children too.
    Queues {
        /// Monotonic time of the snapshot, ns.
        now_ns: u64,
        /// The records.
        #[serde(with = "bytes")]
        #[schemars(with = "Vec<u8>", extend("tsType" = "Uint8Array"))]
        records: Vec<u8>,
    },
    /// To [`RequestBody::TokenBucket`].
    TokenBucket {
        /// Monotonic time of the answer, ns.
        now_ns: u64,
        /// Packed [`TokenBucketRecord`](super::record::TokenBucketRecord)s, oldest first, of the last 4,096
        /// milliseconds at most; those in which nothing passed, came or waited are left out. Several workers may each
        /// have a record of one millisecond, which add up. Of a tree's node only the first of the two parts is used.
        #[serde(with = "bytes")]
        #[schemars(with = "Vec<u8>", extend("tsType" = "Uint8Array"))]
        records: Vec<u8>,
    },
    /// To [`RequestBody::Neighbors`].
    Neighbors {
        /// The table.
        neighbors: Vec<NeighborInfo>,
    },
    /// To [`RequestBody::Ipv6Neighbors`].
    Ipv6Neighbors {
        /// The table.
        neighbors: Vec<Ipv6NeighborInfo>,
    },
    /// To [`RequestBody::Ipv6Addresses`].
    Ipv6Addresses {
        /// By interface; a link-local address that the router has made comes first.
        addresses: Vec<Ipv6AddressInfo>,
    },
    /// To [`RequestBody::Routes`]: packed [`RouteRecord`](super::record::RouteRecord)s: connected routes, then
    /// configured ones, then those that other programs have put into the router's namespace. Of the last a
    /// destination and a metric name one.
    Routes {
        /// The records.
        #[serde(with = "bytes")]
        #[schemars(with = "Vec<u8>", extend("tsType" = "Uint8Array"))]
        records: Vec<u8>,
    },
    /// To [`RequestBody::Ipv6Routes`]: packed [`Ipv6RouteRecord`](super::record::Ipv6RouteRecord)s in the order of
    /// [`Self::Routes`].
    Ipv6Routes {
        /// The records.
        #[serde(with = "bytes")]
        #[schemars(with = "Vec<u8>", extend("tsType" = "Uint8Array"))]
        records: Vec<u8>,
    },
    /// To [`RequestBody::RouteTo`].
    RouteTo {
        /// The address is the router's own.
        local: bool,
        /// Interface row that packets to it leave by, or that has it; absent where no route leads there, or one that
        /// drops them.
        interface: Option<RowId>,
    },
    /// Answer to [`RequestBody::AddressListEntries`].
    AddressListEntries {
        /// Names of the lists that records number.
        lists: Vec<String>,
        /// Packed [`AddressListRecord`](super::record::AddressListRecord)s.
        #[serde(with = "bytes")]
        #[schemars(with = "Vec<u8>", extend("tsType" = "Uint8Array"))]
        records: Vec<u8>,
    },
    /// Answer to [`RequestBody::StartTrace`].
    TraceStarted {
        /// Names the trace.
        trace: u64,
    },
    /// Answer to [`RequestBody::Trace`] and [`RequestBody::DryRun`].
    Trace {
        /// Oldest first.
        packets: Vec<TracedPacket>,
        /// The trace has its packets, or was stopped.
        done: bool,
        /// Packets that could not be noted because they came too fast.
        lost: u64,
    },
}

/// Packed records, as a msgpack byte string.
mod bytes {
    use serde::{Deserializer, Serializer, de};

    /// As a byte string.
    pub fn serialize<S: Serializer>(value: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(value)
    }

    /// From a byte string.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Vec<u8>;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("bytes")
            }
            fn visit_bytes<E: de::Error>(self, value: &[u8]) -> Result<Vec<u8>, E> {
                Ok(value.to_vec())
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}
