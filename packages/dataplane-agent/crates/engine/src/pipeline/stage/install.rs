//! Concludes the decisions about a packet: confirms or abandons its connection, resolves the next hop, and writes the
//! cached action for later packets of the flow.

use tollway_wire::{ipv4, tcp};

use crate::flow::actions::{ActionOf, FlowAction};
use crate::flow::conntrack::{CachedAction, NewEnds, action_flag};
use crate::flow::nat::{Ipv6Rewrite, Rewrite};
use crate::flow::new_addresses::NewAddresses;
use crate::flow::paths::ROOT;
use crate::ids::{NO_INTERFACE, NONE};
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::slow_reason::SlowReason;
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, Origin, flag};
use crate::pipeline::cached_validity;
use crate::pipeline::next_hop::{chosen_station, resolve};
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// Packets whose next hop need not be that of another packet with the same out-interface and [`Meta::next_hop`], which is
/// of IPv4.
const SINGLE: u32 = flag::NO_NEIGHBOR | flag::BROADCAST | flag::IPV6;

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    // Most packets of a batch have the same next hop as the packet before.
    let mut last = (NO_INTERFACE, 0, NONE);
    let entered = each_slow(pass, |snapshot, state, packet| {
        if packet.meta.path != ROOT {
            state.paths.count(packet.meta.path, u64::from(packet.meta.segments), packet.meta.wire_bytes());
        }
        if snapshot.changes_marks() {
            end_stale_actions(state, &packet.meta);
        }
        let owned = packet.meta.conn.filter(|_| !packet.meta.is(flag::ROUTER_REPLY | flag::ICMP_ERROR));
        if packet.meta.verdict != Verdict::Continue {
            if let Some(reference) = owned {
                if let Verdict::Drop(_) = packet.meta.verdict {
                    store_slow_reason(state, &packet.meta, Some(SlowReason::Dropped));
                }
                state.table.abandon(reference);
            }
            return StageOutcome::Skip;
        }
        if let Some(reference) = owned
            && state.table.confirm(reference).is_err()
        {
            state.table.abandon(reference);
            return StageOutcome::Drop(DropReason::NatExhausted);
        }
        if packet.meta.is(flag::TO_ROUTER) {
            store_slow_reason(state, &packet.meta, Some(SlowReason::ToRouter));
            return StageOutcome::Next;
        }
        packet.meta.verdict = Verdict::Forward;
        let chosen = packet.meta.origin == Origin::LocalService
            && snapshot
                .interface(packet.meta.out_interface)
                .is_some_and(|out| chosen_station(out, packet).is_some());
        let meta = &mut packet.meta;
        if chosen {
            meta.adjacency = NONE;
        } else if (meta.out_interface, meta.next_hop) == (last.0, last.1) && !meta.is(SINGLE) {
            meta.adjacency = last.2;
        } else {
            resolve(snapshot, state, meta, true);
            if meta.adjacency != NONE && !meta.is(SINGLE) {
                last = (meta.out_interface, meta.next_hop, meta.adjacency);
            }
        }
        if snapshot.tracking() {
            let cached = if snapshot.allows_fast_path(packet.meta.family()) {
                cache(snapshot, state, &packet.meta)
            } else {
                Err(SlowReason::FastPathOff)
            };
            store_slow_reason(
                state,
                &packet.meta,
                cached.err().map(|reason| first_reason(&packet.meta, reason)),
            );
        }
        packet.meta.flags &= !flag::FLOW_MIGRATING;
        StageOutcome::Next
    });
    while let Some(original) = pass.state.table.take_unpublished() {
        pass.state.shared.directory.remove(&original, pass.state.worker);
    }
    entered
}

/// Invalidates the cached actions of a connection whose mark has changed since the rules of this packet first saw it:
/// neither earlier decisions nor that about this packet are valid for the next packet.
fn end_stale_actions<F>(state: &mut WorkerState<F>, meta: &Meta) {
    if let Some(reference) = meta.conn
        && state.table.mark(reference) != meta.connection_mark_before
        && let Some(hot) = state.table.get_mut(reference)
    {
        hot.invalidate();
    }
}

/// The slow reason stored for an uncacheable packet. A connection's first packet keeps `NewConnection`, even if its own
/// NAT made the entry stale.
fn first_reason(meta: &Meta, reason: SlowReason) -> SlowReason {
    match (meta.slow, reason) {
        (Some(first @ SlowReason::NewConnection), SlowReason::Stale) => first,
        _ => reason,
    }
}

/// Stores in the connection why later packets of the direction take the slow path; `None` if the action was cached.
fn store_slow_reason<F>(state: &mut WorkerState<F>, meta: &Meta, reason: Option<SlowReason>) {
    if !meta.is(flag::ICMP_ERROR | flag::ROUTER_REPLY)
        && let Some(conn) = meta.conn.and_then(|reference| state.table.get_mut(reference))
    {
        conn.set_slow_reason(meta.direction, reason);
    }
}

/// Writes the flow entry of the packet's direction if the decision can be cached. Otherwise returns the reason why not.
fn cache<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, meta: &Meta) -> Result<(), SlowReason> {
    if meta.origin != Origin::Port || meta.hook != Hook::Forward {
        return Err(SlowReason::FromRouter);
    }
    const NEVER: [(u32, SlowReason); 9] = [
        (flag::FRAGMENT, SlowReason::Fragment),
        (flag::OPTIONS, SlowReason::IpOptions),
        (flag::ICMP_ERROR | flag::ROUTER_REPLY, SlowReason::IcmpError),
        (flag::UNCACHED, SlowReason::TooManyPaths),
        (flag::EVALUATE_EVERY_PACKET, SlowReason::Rule),
        (flag::BROADCAST, SlowReason::Broadcast),
        (flag::NO_NEIGHBOR, SlowReason::Neighbor),
        (flag::ROUTED_BY_INNER, SlowReason::InnerFlow),
        // Another worker has evaluated its rules.
        (flag::FLOW_MIGRATING, SlowReason::NewConnection),
    ];
    const ANY: u32 = {
        let (mut any, mut at) = (0, 0);
        while at < NEVER.len() {
            any |= NEVER[at].0;
            at += 1;
        }
        any
    };
    if meta.is(ANY)
        && let Some((_, reason)) = NEVER.into_iter().find(|(flags, _)| meta.is(*flags))
    {
        return Err(reason);
    }
    if meta.adjacency == NONE {
        return Err(SlowReason::Neighbor);
    }
    let reference = meta.conn.ok_or(SlowReason::NewConnection)?;
    let hot = state.table.hot(reference).ok_or(SlowReason::NewConnection)?;
    // Another packet of the batch may have changed what the decision depends on.
    if hot.version != meta.conn_version {
        return Err(SlowReason::Stale);
    }
    // The outcome of the rules for a SYN, FIN or RST is not valid for the packets that bypass the rules.
    if snapshot.fasttrack_bypasses(meta.family()) && hot.status.fasttrack() && !meta.is(flag::BYPASS) {
        let installed = state.table.installed(reference.slot << 1 | meta.direction as u32);
        return installed.map(drop).ok_or(SlowReason::TcpControl);
    }
    // The first reply changes the connection state that rules see.
    if meta.tuple.protocol == ipv4::TCP && !hot.status.seen_reply() {
        return Err(SlowReason::Handshake);
    }
    // An entry never forwards SYN segments, and the outcome of the rules for a SYN need not be that for other segments.
    if meta.resume != 0
        && meta.tuple.protocol == ipv4::TCP
        && meta.tcp_flags_or_icmp_type & tcp::flag::SYN != 0
    {
        return Err(SlowReason::Handshake);
    }
    let port = snapshot.interface(meta.out_interface).and_then(|interface| interface.port);
    let port = port.ok_or(SlowReason::Neighbor)?;
    let action = FlowAction {
        adjacency: meta.adjacency,
        path: meta.cacheable_path,
        in_port: meta.in_port,
        out_port: port,
        resume: u16::try_from(meta.resume).map_err(|_| SlowReason::TooManyPaths)?,
        new_dscp: meta.new_dscp,
    };
    let resumes = if action.resume != 0 { action_flag::RESUMES } else { 0 };
    let of = ActionOf { family: meta.family(), mark: meta.routing_mark };
    let mut cached = CachedAction {
        action: state.actions.intern(action, of).ok_or(SlowReason::TooManyPaths)?,
        stamp: state.cache_epoch.stamp,
        version: 0,
        flags: resumes,
        queue: meta.queue,
    };
    if meta.is(flag::TRANSLATED) {
        match state.table.keys(reference, meta.direction) {
            Some((key, other)) => cached.flags |= Rewrite::of_keys(key, other, meta.direction).flags(),
            None => {
                let translation = state.table.translation(reference, meta.direction);
                let (from, to) = translation.ok_or(SlowReason::NewConnection)?;
                cached.flags |= Ipv6Rewrite::between(&from, &to).flags();
                let addresses = state.actions.new_addresses.intern(NewAddresses::between(&from, &to));
                let ports = u32::from(to.src_port) << 16 | u32::from(to.dst_port);
                state.table.set_new_ends(reference, meta.direction, NewEnds { addresses, ports });
            }
        }
    }
    let installed = match cached_validity::validity_of(state, meta) {
        Some(validity) => {
            state.table.install_with_validity(reference, meta.direction, cached, meta.lists, validity)
        }
        None => state.table.install(reference, meta.direction, cached, meta.lists),
    };
    if installed { Ok(()) } else { Err(SlowReason::NewConnection) }
}
