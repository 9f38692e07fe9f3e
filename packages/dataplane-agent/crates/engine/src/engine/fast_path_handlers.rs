//! Fast path handlers: the ways to forward packets without the slow path, whether each is active, and what blocks it.

use tollway_config::dataplane::TrackingMode;
use tollway_config::protocol::FastPathHandler;

use super::stats::EngineStats;
use crate::packet::count::Count;
use crate::packet::family::Family;
use crate::snapshot::Snapshot;

/// The first condition that keeps packets of a family from being forwarded by their route alone, in terms of the
/// configuration; `None` if there is none.
pub(crate) fn fast_path_blocked_by(snapshot: &Snapshot, family: Family) -> Option<&'static str> {
    let rules = snapshot.rules(family);
    let (is_plain, has_policy) = match family {
        Family::V4 => (snapshot.is_plain(), snapshot.policy().is_some()),
        Family::V6 => (snapshot.is_plain_ipv6(), snapshot.policy6().is_some()),
    };
    if !snapshot.allows_fast_path(family) {
        Some(off(family))
    } else if snapshot.tracking() {
        Some(match snapshot.tracking_mode {
            TrackingMode::Auto if Family::ALL.iter().all(|family| snapshot.rules(*family).is_empty()) => {
                "connection tracking is active, because routing rules exist"
            }
            TrackingMode::Auto => "connection tracking is active, because firewall rules exist",
            TrackingMode::Yes | TrackingMode::No => "connection tracking is active: enabled=yes",
        })
    } else if !rules.filter.is_empty() {
        Some("firewall filter rules exist")
    } else if !rules.mangle.is_empty() {
        Some("firewall mangle rules exist")
    } else if has_policy {
        Some("routing rules exist")
    } else if let Some(reason) = not_forwarding(snapshot, family) {
        Some(reason)
    } else if !is_plain {
        Some("rp-filter is on in IP settings")
    } else {
        None
    }
}

/// Condition that keeps packets of a family from FastTrack; `None` when nothing does. `fasttracked` is the number of its
/// connections with the mark.
pub(crate) fn fasttrack_blocked_by(
    snapshot: &Snapshot,
    family: Family,
    fasttracked: u64,
) -> Option<&'static str> {
    cache_blocked_by(snapshot, family).or_else(|| {
        let unused = !snapshot.has_fasttrack(family) && fasttracked == 0;
        unused.then_some("no fasttrack-connection rule and no fasttracked connection exists")
    })
}

/// Condition that keeps packets of a family from the flow cache; `None` when nothing does.
pub(crate) fn cache_blocked_by(snapshot: &Snapshot, family: Family) -> Option<&'static str> {
    if !snapshot.allows_fast_path(family) {
        Some(off(family))
    } else if !snapshot.tracking() {
        Some(match snapshot.tracking_mode {
            TrackingMode::Auto => "connection tracking is not active, because no firewall rules exist",
            TrackingMode::Yes | TrackingMode::No => "connection tracking is not active: enabled=no",
        })
    } else {
        not_forwarding(snapshot, family)
    }
}

fn off(family: Family) -> &'static str {
    match family {
        Family::V4 => "allow-fast-path=no in IP settings",
        Family::V6 => "allow-fast-path=no in IPv6 settings",
    }
}

fn not_forwarding(snapshot: &Snapshot, family: Family) -> Option<&'static str> {
    match family {
        Family::V4 => (!snapshot.settings.ip_forward).then_some("ip-forward=no in IP settings"),
        Family::V6 => (!snapshot.settings.ipv6.forward).then_some("forward=no in IPv6 settings"),
    }
}

/// Condition that keeps flows from the kernel's flow offload, which is of IPv4; `None` when nothing does.
pub(crate) fn offload_blocked_by(snapshot: &Snapshot) -> Option<&'static str> {
    if !snapshot.allows_fast_path(Family::V4) {
        Some(off(Family::V4))
    } else if !snapshot.settings.flow_offload {
        Some("flow-offload=no in IP settings")
    } else if !snapshot.tracking() {
        fast_path_blocked_by(snapshot, Family::V4)
    } else {
        not_forwarding(snapshot, Family::V4)
    }
}

/// All fast path handlers: whether each is active, what blocks it, and the packets that it forwarded. The three of each
/// family exclude each other, so that the sum of the counters of all six is the number of packets that did not take the
/// slow path. The last one counts those of these packets that the kernel forwarded.
pub fn handlers(snapshot: &Snapshot, stats: &EngineStats) -> Vec<FastPathHandler> {
    let handler = |name: &str, blocked_by: Option<&str>, count: Count| FastPathHandler {
        name: name.to_owned(),
        active: blocked_by.is_none(),
        blocked_by: blocked_by.map(str::to_owned),
        packets: count.packets,
        bytes: count.bytes,
    };
    let ipv6 = &stats.ipv6;
    let routed = stats.routed.less(ipv6.routed);
    let fasttrack = stats.fasttrack.less(ipv6.fasttrack);
    let cached = stats.flow_cache_forwarded.less(ipv6.flow_cache_forwarded).less(routed);
    let ipv6_cached = ipv6.flow_cache_forwarded.less(ipv6.routed);
    let fasttracked_ip6 = stats.connections_fasttracked_ip6;
    let fasttracked = stats.connections_fasttracked.saturating_sub(fasttracked_ip6);
    let (v4, v6) = (Family::V4, Family::V6);
    vec![
        handler("ipv4-fast-path", fast_path_blocked_by(snapshot, v4), routed),
        handler("ipv4-fasttrack", fasttrack_blocked_by(snapshot, v4, fasttracked), fasttrack),
        handler("ipv4-flow-cache", cache_blocked_by(snapshot, v4), cached),
        handler("ipv6-fast-path", fast_path_blocked_by(snapshot, v6), ipv6.routed),
        handler("ipv6-fasttrack", fasttrack_blocked_by(snapshot, v6, fasttracked_ip6), ipv6.fasttrack),
        handler("ipv6-flow-cache", cache_blocked_by(snapshot, v6), ipv6_cached),
        handler("flow-offload", offload_blocked_by(snapshot), stats.offloaded),
    ]
}
