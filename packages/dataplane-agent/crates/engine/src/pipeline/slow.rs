//! Why a packet went through every stage instead of by the flow cache: the closed list of reasons, and
//! how they are told apart.
//!
//! Nothing here costs a packet that the flow cache forwards anything: [`count`] looks at those that it
//! has left.

use crate::packet::slow_reason::SlowReason;
use tollway_wire::ipv4;

use crate::flow::conntrack::action_flag;
use crate::ids::NO_ENTRY;
use crate::ip::fib::Lookup;
use crate::ip::is_group;
use crate::ip::neighbor::Adjacency;
use crate::packet::Packet;
use crate::packet::frame::Frame;
use crate::packet::{Meta, Origin, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::bound;
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

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
    let direction = crate::flow::conntrack::Table::direction_of(meta.entry);
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
    if meta.largest_segment(&packet.vnet) > u32::from(mtu) {
        return SlowReason::TooLong;
    }
    if meta.tuple.protocol != ipv4::TCP {
        return SlowReason::Order;
    }
    if !conn.status.assured() {
        return SlowReason::Handshake;
    }
    let apart = conn.status.fasttrack() && snapshot.fasttrack_bypasses() && meta.closes();
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
    if meta.largest_segment(&packet.vnet) > u32::from(out.mtu) {
        return SlowReason::TooLong;
    }
    SlowReason::Neighbor
}
