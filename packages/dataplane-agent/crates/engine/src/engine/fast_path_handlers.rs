//! Fast path handlers: the ways to forward packets without the slow path, whether each is active, and what blocks it.

use tollway_config::dataplane::TrackingMode;
use tollway_config::protocol::FastPathHandler;

use super::stats::EngineStats;
use crate::packet::count::Count;
use crate::packet::family::Family;
use crate::snapshot::Snapshot;

/// The first condition that keeps packets from being forwarded by their route alone, in terms of the configuration;
/// `None` if there is none.
pub(crate) fn fast_path_blocked_by(snapshot: &Snapshot) -> Option<&'static str> {
    if !snapshot.settings.allow_fast_path {
        Some(OFF)
    } else if snapshot.tracking() {
        Some(match snapshot.tracking_mode {
            TrackingMode::Auto if Family::ALL.iter().all(|family| snapshot.rules(*family).is_empty()) => {
                "connection tracking is active, because routing rules exist"
            }
            TrackingMode::Auto => "connection tracking is active, because firewall rules exist",
            TrackingMode::Yes | TrackingMode::No => "connection tracking is active: enabled=yes",
        })
    } else if !snapshot.rules(Family::V4).filter.is_empty() {
        Some("firewall filter rules exist")
    } else if !snapshot.rules(Family::V4).mangle.is_empty() {
        Some("firewall mangle rules exist")
    } else if snapshot.policy().is_some() {
        Some("routing rules exist")
    } else if !snapshot.settings.ip_forward {
        Some(NO_FORWARDING)
    } else if !snapshot.is_plain() {
        Some("rp-filter is on in IP settings")
    } else {
        None
    }
}

/// Condition that keeps packets from FastTrack; `None` when nothing does. `fasttracked` is the number of connections
/// with the mark.
pub(crate) fn fasttrack_blocked_by(snapshot: &Snapshot, fasttracked: u64) -> Option<&'static str> {
    cache_blocked_by(snapshot).or_else(|| {
        let unused = !snapshot.has_fasttrack && fasttracked == 0;
        unused.then_some("no fasttrack-connection rule and no fasttracked connection exists")
    })
}

/// Condition that keeps packets from the flow cache; `None` when nothing does.
pub(crate) fn cache_blocked_by(snapshot: &Snapshot) -> Option<&'static str> {
    if !snapshot.settings.allow_fast_path {
        Some(OFF)
    } else if !snapshot.tracking() {
        Some(match snapshot.tracking_mode {
            TrackingMode::Auto => "connection tracking is not active, because no firewall rules exist",
            TrackingMode::Yes | TrackingMode::No => "connection tracking is not active: enabled=no",
        })
    } else if !snapshot.settings.ip_forward {
        Some(NO_FORWARDING)
    } else {
        None
    }
}

const OFF: &str = "allow-fast-path=no in IP settings";
const NO_FORWARDING: &str = "ip-forward=no in IP settings";

/// Condition that keeps flows from the kernel's flow offload; `None` when nothing does.
pub(crate) fn offload_blocked_by(snapshot: &Snapshot) -> Option<&'static str> {
    if !snapshot.settings.allow_fast_path {
        Some(OFF)
    } else if !snapshot.settings.flow_offload {
        Some("flow-offload=no in IP settings")
    } else if !snapshot.tracking() {
        fast_path_blocked_by(snapshot)
    } else if !snapshot.settings.ip_forward {
        Some(NO_FORWARDING)
    } else {
        None
    }
}

/// All fast path handlers: whether each is active, what blocks it, and the packets that it forwarded. The first three
/// exclude each other, so that the sum of their counters is the number of packets that did not take the slow path. The
/// last one counts those of these packets that the kernel forwarded.
pub fn handlers(snapshot: &Snapshot, stats: &EngineStats) -> Vec<FastPathHandler> {
    let cached = Count {
        packets: stats.flow_cache_forwarded.packets.wrapping_sub(stats.routed.packets),
        bytes: stats.flow_cache_forwarded.bytes.wrapping_sub(stats.routed.bytes),
    };
    let handler = |name: &str, blocked_by: Option<&str>, count: Count| FastPathHandler {
        name: name.to_owned(),
        active: blocked_by.is_none(),
        blocked_by: blocked_by.map(str::to_owned),
        packets: count.packets,
        bytes: count.bytes,
    };
    let fasttracked = stats.connections_fasttracked;
    vec![
        handler("ipv4-fast-path", fast_path_blocked_by(snapshot), stats.routed),
        handler("ipv4-fasttrack", fasttrack_blocked_by(snapshot, fasttracked), stats.fasttrack),
        handler("flow-cache", cache_blocked_by(snapshot), cached),
        handler("flow-offload", offload_blocked_by(snapshot), stats.offloaded),
    ]
}
