//! Messages between the API and the agent, over a Unix stream socket.
//!
//! A frame is a 32-bit little-endian length followed by that many bytes of msgpack, at most
//! [`MAX_FRAME`]. The client sends [`Request`]s with ids of its choice; every request gets exactly one
//! [`Reply`] with the same id. Between replies the agent sends [`Event`]s (as [`Message::Event`]) to
//! every client. Counters travel only when asked for: a screen nobody looks at costs nothing.

mod event;
pub mod record;
mod reply;
mod request;
mod stats;
mod tables;
mod trace;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use event::{Event, IoBackend, PortInfo};
pub use reply::{ErrorCode, ErrorReply, Reply, ReplyBody};
pub use request::{Request, RequestBody};
pub use stats::{
    CoreStats, DropStats, FastPathHandler, FastPathStats, InterfaceRates, InterfaceStats, ProfileClass,
    QueueTotals, RuleStats, SlowStats, StageStats, Stats, TrackingStats, WorkerStats,
};
pub use tables::{
    DynamicAddress, Ipv6AddressInfo, Ipv6AddressState, Ipv6Lifetimes, Ipv6NeighborInfo, NeighborInfo,
    NeighborStatus,
};
pub use trace::{PacketDescription, TraceFilter, TraceOutcome, TraceStep, TracedPacket};

/// Version of the message set. A client whose `hello` names another version is refused.
pub const PROTOCOL: u32 = 16;

/// Largest frame either side accepts, bytes.
pub const MAX_FRAME: u32 = 256 << 20;

/// Size of one record in [`ReplyBody::Connections`], bytes.
pub const CONNECTION_RECORD: usize = record::ConnectionRecord::SIZE;

/// Size of a record in [`ReplyBody::AddressListEntries`], bytes.
pub const ADDRESS_LIST_RECORD: usize = record::AddressListRecord::SIZE;

/// Size of a record in [`ReplyBody::Routes`], bytes.
pub const ROUTE_RECORD: usize = record::RouteRecord::SIZE;

/// Size of a packed queue record, bytes.
pub const QUEUE_RECORD: usize = record::QueueRecord::SIZE;

/// Size of a record in [`ReplyBody::TokenBucket`], bytes.
pub const TOKEN_BUCKET_RECORD: usize = record::TokenBucketRecord::SIZE;

/// Traces that are followed at a time.
pub const MAX_TRACES: usize = 4;

/// Queues whose milliseconds are noted at a time.
pub const MAX_TOKEN_BUCKETS: usize = 4;

/// Agent to client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "type")]
pub enum Message {
    /// Answer to the request with the same id.
    Reply(Reply),
    /// Refusal of the request with the same id.
    Error(ErrorReply),
    /// Something happened.
    Event(Event),
}
