//! What the agent answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NeighborInfo, PortInfo, Stats, TracedPacket};
use crate::dataplane::RowId;

/// Answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Reply {
    /// Of the request.
    pub id: u32,
    /// The answer.
    pub body: ReplyBody,
}

/// Refusal of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ErrorReply {
    /// Of the request.
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

/// What a request brings.
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
        /// As in [`ReplyBody::Hello`].
        digest: String,
    },
    /// To requests without data.
    Done {
        /// How many things were touched.
        count: u64,
    },
    /// To [`RequestBody::Stats`].
    Stats(Box<Stats>),
    /// To [`RequestBody::Connections`]: packed little-endian records of [`CONNECTION_RECORD`] bytes.
    ///
    /// | offset | size | field |
    /// |---|---|---|
    /// | 0 | 8 | id (worker in the top byte; an id is not reused while the agent lives) |
    /// | 8 | 1 | IP protocol |
    /// | 9 | 1 | family, 4 or 6 |
    /// | 10 | 2 | flags: 1 seen-reply, 2 assured, 4 confirmed, 8 fasttrack, 16 srcnat, 32 dstnat, 64 dying |
    /// | 12 | 1 | TCP state (0 none, 1 syn-sent, 2 syn-recv, 3 established, 4 fin-wait, 5 close-wait, 6 last-ack, 7 time-wait, 8 close, 9 listen); 255 not TCP |
    /// | 13 | 1 | ICMP type |
    /// | 14 | 1 | ICMP code |
    /// | 15 | 1 | why its packets are not all forwarded by the flow cache: place in [`Stats::slow`] from 1, 0 when they are |
    /// | 16 | 16 | original source address (IPv4 as ::ffff:a.b.c.d) |
    /// | 32 | 16 | original destination address |
    /// | 48 | 16 | reply source address |
    /// | 64 | 16 | reply destination address |
    /// | 80 | 2 | original source port, ICMP id for ICMP |
    /// | 82 | 2 | original destination port |
    /// | 84 | 2 | reply source port |
    /// | 86 | 2 | reply destination port, ICMP id for ICMP |
    /// | 88 | 4 | time to expiry, ms |
    /// | 92 | 4 | connection mark |
    /// | 96 | 8 | packets, original direction |
    /// | 104 | 8 | L3 bytes, original direction |
    /// | 112 | 8 | packets, reply direction |
    /// | 120 | 8 | L3 bytes, reply direction |
    /// | 128 | 8 | fasttracked packets, original direction |
    /// | 136 | 8 | fasttracked L3 bytes, original direction |
    /// | 144 | 8 | fasttracked packets, reply direction |
    /// | 152 | 8 | fasttracked L3 bytes, reply direction |
    Connections {
        /// Monotonic time of the snapshot, ns; differences give rates.
        now_ns: u64,
        /// The records.
        #[serde(with = "bytes")]
        #[schemars(with = "Vec<u8>", extend("tsType" = "Uint8Array"))]
        records: Vec<u8>,
    },
    /// To [`RequestBody::Queues`]: packed little-endian records of [`QUEUE_RECORD`] bytes, in no order: of each part
    /// of a queue those of all workers that have seen packets of it, which add up (but for the waits, of which the
    /// longest counts). A queue without records has seen none. Bytes are L3 over wire segments, packets wire
    /// segments. Of a queue with children all but packets dropped, marked
    /// and out of order cover what passed its children too.
    ///
    /// | offset | size | field |
    /// |---|---|---|
    /// | 0 | 4 | row of `/queue/simple` or `/queue/tree`, of an interface for its queue |
    /// | 4 | 2 | worker |
    /// | 6 | 1 | part: 0 upload, 1 download, 2 total (all of a simple queue), 3 whole (of a tree), 4 queue of an interface |
    /// | 7 | 1 | zero |
    /// | 8 | 8 | bytes that passed |
    /// | 16 | 8 | packets that passed |
    /// | 24 | 8 | packets dropped |
    /// | 32 | 8 | rate of the last full second, bits/s |
    /// | 40 | 8 | packets/s of the last full second |
    /// | 48 | 8 | bytes waiting |
    /// | 56 | 4 | packets waiting |
    /// | 60 | 4 | sub-queues in use of PCQ, SFQ, FQ-CoDel and CAKE |
    /// | 64 | 8 | packets for which it borrowed |
    /// | 72 | 8 | packets for which it lent |
    /// | 80 | 8 | packets marked (ECN) |
    /// | 88 | 4 | longest wait of a packet in the last full second, µs |
    /// | 92 | 4 | average wait of those that waited in the last full second, µs |
    /// | 96 | 8 | TCP segments that came out of order |
    Queues {
        /// Monotonic time of the snapshot, ns.
        now_ns: u64,
        /// The records.
        #[serde(with = "bytes")]
        #[schemars(with = "Vec<u8>", extend("tsType" = "Uint8Array"))]
        records: Vec<u8>,
    },
    /// To [`RequestBody::QueueScope`].
    QueueScope {
        /// Monotonic time of the answer, ns.
        now_ns: u64,
        /// Packed little-endian records of [`QUEUE_SCOPE_RECORD`] bytes, oldest first, of the last 4,096 milliseconds at
        /// most; those in which nothing passed, came or waited are left out. Several workers may each have a record of
        /// one millisecond, which add up. Of a tree's node only the first of the two parts is used, which are:
        ///
        /// | offset | size | field |
        /// |---|---|---|
        /// | 0 | 8 | number of the millisecond, monotonic time |
        /// | 8 | 28 | upload |
        /// | 36 | 28 | download |
        ///
        /// and of each:
        ///
        /// | offset | size | field |
        /// |---|---|---|
        /// | 0 | 4 | L3 bytes that passed |
        /// | 4 | 4 | packets dropped |
        /// | 8 | 4 | L3 bytes waiting at the end |
        /// | 12 | 8 | tokens at the end, bits, signed |
        /// | 20 | 4 | longest wait of a packet that passed, µs |
        /// | 24 | 4 | rate at which tokens came, kbit/s |
        #[serde(with = "bytes")]
        #[schemars(with = "Vec<u8>", extend("tsType" = "Uint8Array"))]
        records: Vec<u8>,
    },
    /// To [`RequestBody::Neighbors`].
    Neighbors {
        /// The table.
        neighbors: Vec<NeighborInfo>,
    },
    /// To [`RequestBody::Routes`]: packed little-endian records of [`ROUTE_RECORD`] bytes: connected routes, then
    /// configured ones, then those that other programs have put into the router's namespace. Of the last a
    /// destination and a metric name one.
    ///
    /// | offset | size | field |
    /// |---|---|---|
    /// | 0 | 4 | destination network, as a number |
    /// | 4 | 1 | prefix length, bits |
    /// | 5 | 1 | flags: 1 in the forwarding table, 2 connected, 4 configured; its type: 8 blackhole, 16 unreachable, 32 prohibit; 64 has more next hops |
    /// | 6 | 1 | distance; 0 for connected |
    /// | 7 | 1 | routing protocol number (rtnetlink(7)) of a route of another program, 0 of others |
    /// | 8 | 4 | next hop's address, as a number; 0 without one |
    /// | 12 | 4 | interface row that it leaves by; 0 when it leads nowhere |
    /// | 16 | 4 | row of a configured route; row of the address that a connected one follows from |
    /// | 20 | 4 | metric of a route of another program |
    Routes {
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
        /// Packed records of [`ADDRESS_LIST_RECORD`] bytes, little endian: list u32 (place in `lists`), family
        /// u8 (4 or 6), prefix length u8, 2 bytes 0, address 16 bytes (IPv4 mapped, network order), time
        /// left u32 (ms, `u32::MAX` without end), age u32 (s).
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

    pub fn serialize<S: Serializer>(value: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(value)
    }

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
