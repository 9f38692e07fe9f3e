//! `/queue/simple`.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RowId;

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
