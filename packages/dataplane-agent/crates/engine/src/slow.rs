//! Why a packet went through every stage instead of by the flow cache: the closed list of reasons, and
//! how they are told apart.
//!
//! Nothing here costs a packet that the flow cache forwards anything: [`count`] looks at those that it
//! has left.

use tollway_config::dataplane::TrackingMode;
use tollway_config::protocol::{FastPathHandler, SlowStats};
use tollway_wire::ipv4;

use crate::batch::{Batch, Packet};
use crate::conntrack::{NO_ENTRY, action_flag};
use crate::fib::Lookup;
use crate::frame::Frame;
use crate::neighbor::Adjacency;
use crate::packet::{Meta, Origin, flag};
use crate::snapshot::Snapshot;
use crate::stage::bound;
use crate::stage::fast_path::closes;
use crate::stage::route::is_group;
use crate::stage::ttl::largest_segment;
use crate::state::WorkerState;
use crate::stats::{Count, EngineStats};

macro_rules! slow_reasons {
    ($($variant:ident $name:literal $text:literal;)*) => {
        /// Why the flow cache did not forward a packet. Each reason is one counter.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum SlowReason {
            $(#[doc = $text] $variant,)*
        }

        impl SlowReason {
            /// Every reason, in the order of the enum.
            pub const ALL: &'static [SlowReason] = &[$(SlowReason::$variant,)*];

            /// Stable name, as counters carry it.
            pub fn name(self) -> &'static str {
                match self { $(SlowReason::$variant => $name,)* }
            }

            /// One line for people.
            pub fn text(self) -> &'static str {
                match self { $(SlowReason::$variant => $text,)* }
            }
        }
    };
}

slow_reasons! {
    NewConnection "new-connection" "No earlier packet of this direction of its connection was decided, or it belongs to no connection.";
    Handshake "tcp-handshake" "Its TCP connection has not been answered and confirmed yet.";
    TcpControl "tcp-control" "SYN opens its connection; with fasttrack-mode=bypass also FIN and RST of a fasttracked one.";
    TcpWindow "tcp-window" "TCP segment that is outside the window, or answers nothing that was sent.";
    Order "order" "An earlier packet of its connection in the same batch took the slow path and must not be overtaken.";
    Rule "rule" "A rule has to be asked for every packet: it writes a log line, counts, limits or reads the packet itself.";
    Due "due" "A rule about bytes, time or DSCP had to be asked again.";
    Stale "stale" "What the flow's entry rests on has changed: the state of its connection, the configuration, a route or a list.";
    OtherPort "other-port" "Came in by another port than the packets before.";
    Neighbor "neighbor" "The link-layer address of the next hop is not known or has to be confirmed.";
    TooLong "too-long" "Longer than the MTU of the interface it leaves by.";
    Fragment "fragment" "Fragment of an IP packet.";
    IpOptions "ip-options" "The IP header has options.";
    Ttl "ttl" "The time to live runs out here.";
    IcmpError "icmp-error" "ICMP error: belongs to the connection of the packet it quotes.";
    IcmpOther "icmp-other" "ICMP message that is neither a query nor its answer.";
    Broadcast "broadcast" "For a broadcast or multicast address.";
    ToRouter "to-router" "For the router itself.";
    FromRouter "from-router" "From the router itself.";
    Refused "refused" "Packets of its connection were dropped; drops are not remembered.";
    TooManyPaths "too-many-paths" "It hit a combination of rules beyond those that can be remembered.";
    FastPathOff "fast-path-off" "The fast path is switched off: allow-fast-path is no.";
    RulesWithoutTracking "rules-without-tracking" "Rules exist while connections are not tracked, so that each packet is asked.";
    NotRoutable "not-routable" "Connections are not tracked, and there is no plain route for it: none, one that discards, or forwarding is off.";
    ReversePath "reverse-path" "Connections are not tracked, and each source is checked by rp-filter.";
}

/// Number of [`SlowReason`]s.
pub const SLOW_REASONS: usize = SlowReason::ALL.len();

impl SlowReason {
    /// Place in [`tollway_config::protocol::Stats::slow`], counted from 1.
    pub const fn place(self) -> u8 {
        self as u8 + 1
    }
}

/// All reasons in the form of the agent's protocol, with their counters.
pub fn slow_stats(counts: &[u64]) -> Vec<SlowStats> {
    SlowReason::ALL
        .iter()
        .enumerate()
        .map(|(index, reason)| SlowStats {
            reason: reason.name().to_owned(),
            text: reason.text().to_owned(),
            packets: counts.get(index).copied().unwrap_or(0),
        })
        .collect()
}

/// Counts a packet that the flow cache has left to the other stages, by its place in the slow list, and why. To be called
/// while what is known of the packet is at hand: a batch of that is more than a first-level cache holds.
pub(crate) fn count<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    at: usize,
) {
    let Some(packet) = batch.slow.get(at).and_then(|index| batch.packets.get(*index as usize)) else {
        return;
    };
    let (segments, entry) = (packet.meta.segments, packet.meta.entry);
    let reason = match reason(snapshot, state, packet) {
        SlowReason::TcpWindow if follows(batch, at, entry) => SlowReason::Order,
        reason => reason,
    };
    // Another worker has counted it, or an earlier pass.
    if !packet.meta.is(flag::MOVED | flag::AGAIN) {
        note(state, reason, segments);
    }
    if let Some((_, packet)) = batch.slow_packet(at) {
        packet.meta.slow = Some(reason);
    }
}

/// Adds to the counter of a reason.
#[inline]
pub(crate) fn note<F>(state: &mut WorkerState<F>, reason: SlowReason, segments: u32) {
    if let Some(count) = state.slow.get_mut(reason as usize) {
        *count += u64::from(segments);
    }
}

/// Whether an earlier one of the slow packets is of the same connection.
fn follows<F>(batch: &Batch<F>, at: usize, entry: u32) -> bool {
    let earlier = batch.slow.get(..at).unwrap_or_default();
    earlier.iter().any(|index| {
        let meta = batch.packets.get(*index as usize).map(|packet| &packet.meta);
        meta.is_some_and(|meta| meta.entry != NO_ENTRY && meta.entry >> 1 == entry >> 1)
    })
}

/// Why a packet is slow that the flow cache has left.
fn reason<F: Frame>(snapshot: &Snapshot, state: &WorkerState<F>, packet: &Packet<F>) -> SlowReason {
    if !snapshot.allow_fast_path() {
        return SlowReason::FastPathOff;
    }
    let meta = &packet.meta;
    if let Some(reason) = by_itself(meta) {
        return reason;
    }
    if !snapshot.tracking() {
        return untracked(snapshot, packet);
    }
    if meta.entry == NO_ENTRY || meta.is(flag::MOVED) {
        return SlowReason::NewConnection;
    }
    if meta.is(flag::SLOW) {
        return if meta.tuple.protocol == ipv4::TCP { SlowReason::TcpControl } else { SlowReason::IcmpOther };
    }
    by_entry(snapshot, state, packet)
}

fn head<F: Frame>(packet: &Packet<F>) -> &[u8] {
    packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default()
}

/// What the packet alone tells.
fn by_itself(meta: &Meta) -> Option<SlowReason> {
    if meta.origin != Origin::Port {
        Some(SlowReason::FromRouter)
    } else if meta.is(flag::ICMP_ERROR) {
        Some(SlowReason::IcmpError)
    } else if meta.is(flag::FRAGMENT) {
        Some(SlowReason::Fragment)
    } else if meta.is(flag::OPTIONS) {
        Some(SlowReason::IpOptions)
    } else if meta.is(flag::LINK_BROADCAST) {
        Some(SlowReason::Broadcast)
    } else if meta.ttl <= 1 {
        Some(SlowReason::Ttl)
    } else {
        None
    }
}

/// Why a packet whose connection is known was not forwarded.
fn by_entry<F: Frame>(snapshot: &Snapshot, state: &WorkerState<F>, packet: &Packet<F>) -> SlowReason {
    let meta = &packet.meta;
    let Some(conn) = state.table.connection_at(meta.entry) else { return SlowReason::NewConnection };
    let direction = crate::conntrack::Table::direction_of(meta.entry);
    let Some(action) = state.table.installed(meta.entry) else {
        return conn.slow_reason(direction).unwrap_or(SlowReason::NewConnection);
    };
    if meta.is(flag::MISS) {
        let moved = state.table.in_port(meta.entry) != Some(meta.in_port);
        return if moved {
            SlowReason::OtherPort
        } else {
            conn.slow_reason(direction).unwrap_or(SlowReason::Stale)
        };
    }
    if action.flags & action_flag::BOUNDED != 0
        && let Some(reason) = bound::broken(state, meta, head(packet))
    {
        return reason;
    }
    if !matches!(state.shared.neighbors.peek(action.adjacency), Adjacency::Ready(_)) {
        return SlowReason::Neighbor;
    }
    let mtu = snapshot.port(action.out_port).map_or(0, |port| port.mtu);
    if largest_segment(meta, &packet.vnet) > u32::from(mtu) {
        return SlowReason::TooLong;
    }
    if meta.tuple.protocol != ipv4::TCP {
        return SlowReason::Order;
    }
    if !conn.status.assured() {
        return SlowReason::Handshake;
    }
    let apart = conn.status.fasttrack() && snapshot.fasttrack_bypasses() && closes(meta);
    if apart { SlowReason::TcpControl } else { SlowReason::TcpWindow }
}

/// Why a packet takes every stage although a flow is nothing but its route.
fn untracked<F: Frame>(snapshot: &Snapshot, packet: &Packet<F>) -> SlowReason {
    let meta = &packet.meta;
    if !snapshot.filter().is_empty() || !snapshot.mangle().is_empty() {
        return SlowReason::RulesWithoutTracking;
    }
    if !snapshot.forwards() {
        return SlowReason::NotRoutable;
    }
    let (Some(src), Some(dst)) = (meta.tuple.src.as_v4(), meta.tuple.dst.as_v4()) else {
        return SlowReason::NotRoutable;
    };
    if is_group(dst) {
        return SlowReason::Broadcast;
    }
    let out = match snapshot.lookup(dst) {
        Lookup::Local { .. } => return SlowReason::ToRouter,
        Lookup::Broadcast { .. } => return SlowReason::Broadcast,
        Lookup::Discard(_) | Lookup::NoRoute => return SlowReason::NotRoutable,
        Lookup::Connected { interface } | Lookup::Via { interface, .. } => snapshot.interface(interface),
    };
    let Some(out) = out.filter(|out| out.up && !snapshot.is_local_or_broadcast(src)) else {
        return SlowReason::NotRoutable;
    };
    if !snapshot.is_plain() {
        return SlowReason::ReversePath;
    }
    if meta.is(flag::SLOW) {
        return if meta.tuple.protocol == ipv4::TCP { SlowReason::TcpControl } else { SlowReason::IcmpOther };
    }
    if largest_segment(meta, &packet.vnet) > u32::from(out.mtu) {
        return SlowReason::TooLong;
    }
    SlowReason::Neighbor
}

/// The first condition that keeps packets from being forwarded by their route alone, in the words of the
/// configuration; `None` when nothing does.
pub(crate) fn fast_path_blocked_by(snapshot: &Snapshot) -> Option<&'static str> {
    if !snapshot.allow_fast_path() {
        Some(OFF)
    } else if snapshot.tracking() {
        Some(match snapshot.tracking_mode() {
            TrackingMode::Auto => "connection tracking is active, because firewall rules exist",
            TrackingMode::Yes | TrackingMode::No => "connection tracking is active: enabled=yes",
        })
    } else if !snapshot.filter().is_empty() {
        Some("firewall filter rules exist")
    } else if !snapshot.mangle().is_empty() {
        Some("firewall mangle rules exist")
    } else if !snapshot.forwards() {
        Some("ip-forward=no in IP settings")
    } else if !snapshot.is_plain() {
        Some("rp-filter is on in IP settings")
    } else {
        None
    }
}

/// The same for FastTrack; `fasttracked` is the number of connections with the mark.
pub(crate) fn fasttrack_blocked_by(snapshot: &Snapshot, fasttracked: u64) -> Option<&'static str> {
    cache_blocked_by(snapshot).or_else(|| {
        let unused = !snapshot.has_fasttrack() && fasttracked == 0;
        unused.then_some("no fasttrack-connection rule and no fasttracked connection exists")
    })
}

/// The same for the flow cache.
pub(crate) fn cache_blocked_by(snapshot: &Snapshot) -> Option<&'static str> {
    if !snapshot.allow_fast_path() {
        Some(OFF)
    } else if !snapshot.tracking() {
        Some(match snapshot.tracking_mode() {
            TrackingMode::Auto => "connection tracking is not active, because no firewall rules exist",
            TrackingMode::Yes | TrackingMode::No => "connection tracking is not active: enabled=no",
        })
    } else {
        None
    }
}

const OFF: &str = "allow-fast-path=no in IP settings";

/// The same for what the kernel forwards.
pub(crate) fn offload_blocked_by(snapshot: &Snapshot) -> Option<&'static str> {
    if !snapshot.allow_fast_path() {
        Some(OFF)
    } else if !snapshot.offloads_flows() {
        Some("flow-offload=no in IP settings")
    } else if !snapshot.tracking() {
        fast_path_blocked_by(snapshot)
    } else {
        None
    }
}

/// Every way past the slow path: whether it is open, what closes it, and the packets that took it. The first
/// three exclude each other, so that their counters add up to what did not take every stage; the last one has those of
/// them that the kernel forwarded.
pub fn handlers(snapshot: &Snapshot, stats: &EngineStats) -> Vec<FastPathHandler> {
    let cached = Count {
        packets: stats.fast_path.packets.wrapping_sub(stats.routed.packets),
        bytes: stats.fast_path.bytes.wrapping_sub(stats.routed.bytes),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_distinct_name_a_sentence_and_its_place() {
        for (index, reason) in SlowReason::ALL.iter().enumerate() {
            assert_eq!(usize::from(reason.place()), index + 1);
            assert!(reason.text().ends_with('.'), "{}", reason.name());
            assert_eq!(SlowReason::ALL.iter().filter(|other| other.name() == reason.name()).count(), 1);
        }
        assert_eq!(slow_stats(&[0; SLOW_REASONS]).len(), SLOW_REASONS);
    }
}
