//! The decision of a stage about a packet, derived from the packet's metadata before and after the stage.

use tollway_config::dataplane::RowId;

use crate::firewall::rules::TableKind;
use crate::flow::conntrack::ConnectionTable;
use crate::ids::{ConnRef, NO_ENTRY, PortId, QueueDirection};
use crate::ip::is_group;
use crate::observe::trace::{Decision, Mangled};
use crate::packet::frame::Frame;
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::{Addr, Tuple};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, flag};
use crate::pipeline::Stage;
use crate::pipeline::next_hop::ipv6_next_hop;
use crate::pipeline::routing::query_of;
use crate::pipeline::state::WorkerState;
use crate::qos::forest::RowPart;
use crate::snapshot::Snapshot;

/// The received tuple of a packet, and the tuple by which a filter may match it: the received one, or the one after the
/// translation of its connection. `None` if this stage has not found them.
pub(super) fn as_it_came<F>(stage: Stage, state: &WorkerState<F>, meta: &Meta) -> Option<(Tuple, Tuple)> {
    if meta.is(flag::ARP) {
        return None;
    }
    match stage {
        // A packet with another verdict has left a queue and is complete.
        Stage::Parse if matches!(meta.verdict, Verdict::Continue | Verdict::Drop(_)) => {
            Some((meta.tuple, meta.tuple))
        }
        Stage::Fragment => meta.is(flag::FRAGMENT_PORTS_KNOWN).then_some((meta.tuple, meta.tuple)),
        Stage::FlowCache if meta.entry != NO_ENTRY => {
            let conn = state.table.tuples(state.table.reference(meta.entry)?)?;
            let direction = ConnectionTable::direction_of(meta.entry);
            let (from, to) = (*conn.tuple(direction), conn.target(direction));
            (from != to).then_some((from, to))
        }
        Stage::Track if meta.is(flag::ICMP_ERROR) => {
            let conn = state.table.tuples(meta.conn?)?;
            Some((meta.tuple, conn.target(meta.direction)))
        }
        _ => None,
    }
}

/// The decision of a stage about a packet whose metadata was `seen` before it and is `meta` now; `None` when the stage
/// has none. Appends the rows of rules to `rows`.
pub(super) fn decision<F: Frame>(
    stage: Stage,
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    (seen, meta): (&Meta, &Meta),
    nat: &mut Vec<(ConnRef, RowId)>,
    rows: &mut Vec<RowId>,
) -> Option<Decision> {
    let asked = seen.verdict == Verdict::Continue;
    let dropped =
        if let Verdict::Drop(reason) = meta.verdict { Some(Decision::Dropped(reason)) } else { None };
    let ended = dropped.filter(|_| seen.verdict != meta.verdict);
    match stage {
        Stage::Parse if asked => ended.or_else(|| {
            let (protocol, kind) = (meta.tuple.protocol, meta.tcp_flags_or_icmp_type);
            Some(Decision::Parsed { protocol, kind, code: meta.icmp_code, ttl: meta.ttl })
        }),
        Stage::Fragment if asked && meta.is(flag::FRAGMENT) => ended.or(match meta.verdict {
            Verdict::Held => Some(Decision::WaitsForFragment),
            Verdict::Handover(worker) => Some(Decision::ToWorker(worker)),
            _ => (meta.is(flag::FRAGMENT_PORTS_KNOWN) && !seen.is(flag::FRAGMENT_PORTS_KNOWN))
                .then_some(Decision::FragmentKnown),
        }),
        Stage::FlowCache if asked => {
            if meta.slow == Some(SlowReason::Rule) {
                rows.extend(state.paths.rows_of(meta.path));
            }
            ended.or_else(|| from_cache(state, meta, rows))
        }
        Stage::Track if asked => ended.or_else(|| {
            (snapshot.tracking() && !meta.is(flag::ROUTER_REPLY))
                .then_some(Decision::Tracked { state: meta.state, direction: meta.direction })
        }),
        Stage::DstNat | Stage::SrcNat if asked || seen.verdict == Verdict::DecidedElsewhere => {
            let own = take_rules(nat, meta);
            rows.extend_from_slice(&own);
            if let Verdict::Handover(worker) = meta.verdict {
                return Some(Decision::ToWorker(worker));
            }
            ended.or_else(|| translation(stage == Stage::DstNat, seen, meta, own.is_empty()))
        }
        Stage::Route if asked => {
            rows.extend(route_rows(snapshot, meta));
            ended.or_else(|| routed(snapshot, meta))
        }
        Stage::Ttl if asked => {
            let forwarded = meta.hook == Hook::Forward;
            ended.or_else(|| forwarded.then(|| Decision::TimeToLive(meta.ttl.saturating_sub(1))))
        }
        Stage::ManglePre | Stage::Mangle | Stage::ManglePost if asked => {
            let new = new_rows(state, seen, meta);
            // The connection mark is known only from the first of these stages on.
            let before = if stage == Stage::ManglePre {
                Meta { connection_mark: meta.connection_mark_before, ..*seen }
            } else {
                *seen
            };
            let mangled = Mangled::between(&before, meta);
            let touched = !new.is_empty() || mangled != Mangled::default();
            rows.extend(new);
            if stage == Stage::Mangle && meta.hook == Hook::Output && seen.routing_mark != meta.routing_mark {
                rows.extend(route_rows(snapshot, meta));
            }
            ended.or_else(|| touched.then_some(Decision::Mangled(mangled)))
        }
        Stage::Filter if asked => {
            if meta.is(flag::BYPASS) {
                return Some(Decision::Bypassed);
            }
            if snapshot.start_for(meta, TableKind::Filter, meta.hook).is_none() {
                return ended;
            }
            rows.extend(new_rows(state, seen, meta));
            ended.or(Some(Decision::Accepted))
        }
        Stage::Classify if asked => {
            let leaves = state.queues.leaves_of(meta.queue);
            if leaves.is_empty() {
                return ended;
            }
            rows.extend(leaves.iter().map(|leaf| leaf.row));
            let direction = |part| match part {
                RowPart::Upload => Some(QueueDirection::Upload),
                RowPart::Download => Some(QueueDirection::Download),
                RowPart::Total | RowPart::Whole | RowPart::Interface => None,
            };
            let simple = leaves.iter().find_map(|leaf| direction(leaf.part));
            Some(Decision::InQueue { tree: leaves.iter().any(|leaf| leaf.part == RowPart::Whole), simple })
        }
        Stage::Install if asked => ended.or_else(|| decided(snapshot, state, meta)),
        Stage::Local if asked => ended.or(match meta.verdict {
            Verdict::Local(_) => Some(Decision::Delivered),
            Verdict::Echo => Some(Decision::Echo),
            _ => None,
        }),
        Stage::Emit if matches!(seen.verdict, Verdict::Forward | Verdict::Continue) => {
            ended.or(match meta.verdict {
                Verdict::Held => Some(Decision::WaitsForNeighbor),
                Verdict::Tx(_) => Some(Decision::Complete),
                _ => None,
            })
        }
        Stage::Queue if !meta.queue.is_none() || meta.verdict != seen.verdict => {
            in_queue(snapshot, state, (seen, meta), rows)
        }
        // ARP packets are not traced. The other stages have no decision about packets whose verdict was final before
        // them.
        Stage::Arp
        | Stage::Parse
        | Stage::Fragment
        | Stage::FlowCache
        | Stage::Track
        | Stage::ManglePre
        | Stage::DstNat
        | Stage::Route
        | Stage::Ttl
        | Stage::Mangle
        | Stage::Filter
        | Stage::ManglePost
        | Stage::SrcNat
        | Stage::Classify
        | Stage::Install
        | Stage::Local
        | Stage::Emit
        | Stage::Queue => None,
    }
}

/// The rows of the rules that a packet has hit between `seen` and `meta`.
pub(super) fn new_rows<F>(state: &WorkerState<F>, seen: &Meta, meta: &Meta) -> Vec<RowId> {
    let before = state.paths.rows_of(seen.path).len();
    state.paths.rows_of(meta.path).split_off(before)
}

/// The decision of the flow cache.
fn from_cache<F>(state: &WorkerState<F>, meta: &Meta, rows: &mut Vec<RowId>) -> Option<Decision> {
    if let Verdict::Handover(worker) = meta.verdict {
        return Some(Decision::ToWorker(worker));
    }
    if !meta.is(flag::FAST) {
        return meta.slow.map(Decision::ToStages);
    }
    let resumed = meta.slow == Some(SlowReason::Rule);
    let conn = state.table.reference(meta.entry).and_then(|reference| state.table.tuples(reference));
    let Some(conn) = conn else {
        return Some(Decision::FromCache { resumed, source: None, destination: None });
    };
    let cached = state.table.installed(meta.entry).and_then(|cached| state.actions.get(cached.action));
    if !resumed && let Some(action) = cached {
        rows.extend(state.paths.rows_of(action.path));
    }
    let direction = ConnectionTable::direction_of(meta.entry);
    let (from, to) = (*conn.tuple(direction), conn.target(direction));
    let changed = |from: (Addr, u16), to: (Addr, u16)| (from != to).then_some(to);
    Some(Decision::FromCache {
        resumed,
        source: changed((from.src, from.src_port), (to.src, to.src_port)),
        destination: changed((from.dst, from.dst_port), (to.dst, to.dst_port)),
    })
}

/// Takes the rows of the NAT rules that matched for the connection of a packet, if the packet is its first.
fn take_rules(nat: &mut Vec<(ConnRef, RowId)>, meta: &Meta) -> Vec<RowId> {
    let (own, others) = nat.drain(..).partition(|(conn, _)| Some(*conn) == meta.conn);
    *nat = others;
    let own: Vec<(ConnRef, RowId)> = own;
    own.into_iter().map(|(_, row)| row).collect()
}

fn translation(destination: bool, seen: &Meta, meta: &Meta, no_rule: bool) -> Option<Decision> {
    let end = |tuple: &Tuple| {
        if destination { (tuple.dst, tuple.dst_port) } else { (tuple.src, tuple.src_port) }
    };
    let (before, (address, port)) = (end(&seen.tuple), end(&meta.tuple));
    if before != (address, port) {
        Some(Decision::Translated { address, port })
    } else if no_rule {
        None
    } else {
        Some(Decision::NotTranslated)
    }
}

/// Whether a route was looked up for a packet: not if its destination is a group address, nor if it was dropped for its
/// source address before.
fn has_looked_up(meta: &Meta, dst: u32) -> bool {
    const BEFORE: [DropReason; 2] = [DropReason::MartianSource, DropReason::ReversePath];
    !is_group(dst) && !BEFORE.iter().any(|reason| meta.verdict == Verdict::Drop(*reason))
}

/// Rows by which a packet is routed: a routing rule, a table other than the main table, a configured route.
fn route_rows(snapshot: &Snapshot, meta: &Meta) -> Vec<RowId> {
    let dst = meta.tuple.dst;
    match (dst.as_v4(), snapshot.policy(), snapshot.policy6()) {
        (Some(v4), ..) if !has_looked_up(meta, v4) => Vec::new(),
        (Some(v4), None, _) => snapshot.fib().row_of(v4).into_iter().collect(),
        (Some(_), Some(tables), _) => tables.rows_of(&query_of(meta)),
        (None, ..) if meta.is(flag::BROADCAST) => Vec::new(),
        (None, _, None) => snapshot.fib6().row_of(dst.0).into_iter().collect(),
        (None, _, Some(tables)) => tables.rows_of(&query_of(meta)),
    }
}

fn routed(snapshot: &Snapshot, meta: &Meta) -> Option<Decision> {
    if meta.is(flag::BROADCAST) {
        return Some(Decision::ToAll);
    }
    if meta.is(flag::TO_ROUTER) {
        return Some(Decision::ToRouter);
    }
    let next_hop = match meta.is_ipv6() {
        true => Addr(ipv6_next_hop(snapshot, meta)),
        false => Addr::v4(meta.next_hop),
    };
    Some(Decision::Routed { next_hop, direct: next_hop == meta.tuple.dst })
}

fn decided<F>(snapshot: &Snapshot, state: &WorkerState<F>, meta: &Meta) -> Option<Decision> {
    if !snapshot.tracking() || meta.is(flag::ROUTER_REPLY | flag::ICMP_ERROR) {
        return None;
    }
    let conn = meta.conn.and_then(|reference| state.table.hot(reference));
    let uncached = conn.and_then(|conn| conn.slow_reason(meta.direction));
    Some(Decision::Decided { tracked: conn.is_some(), uncached })
}

/// The decision of the queue stage.
fn in_queue<F: Frame>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    (seen, meta): (&Meta, &Meta),
    rows: &mut Vec<RowId>,
) -> Option<Decision> {
    let complete = matches!(seen.verdict, Verdict::Tx(_) | Verdict::Local(_) | Verdict::Echo);
    if !complete && !meta.is(flag::FAST) && seen.verdict != Verdict::Continue {
        return None;
    }
    rows.extend(state.queues.leaves_of(seen.queue).iter().map(|leaf| leaf.row));
    // A packet in the queue of an interface has passed all other queues.
    let is_beyond = meta.queue.is_none() && matches!(meta.verdict, Verdict::Held | Verdict::Drop(_));
    if is_beyond && let Verdict::Tx(port) = seen.verdict {
        rows.extend(snapshot.port(port).map(|port| row_of(snapshot, port.interface)));
    }
    match meta.verdict {
        Verdict::Held if is_beyond => Some(Decision::WaitsForInterface),
        Verdict::Held => Some(Decision::WaitsInQueue),
        Verdict::Handover(worker) => Some(Decision::ToWorker(worker)),
        Verdict::Drop(reason) if meta.verdict != seen.verdict => Some(Decision::Dropped(reason)),
        Verdict::Tx(_) | Verdict::Local(_) => Some(Decision::Passed),
        _ => None,
    }
}

/// Row of a port's interface; 0 without one.
pub(super) fn row_of_port(snapshot: &Snapshot, port: PortId) -> RowId {
    snapshot.port(port).map_or(0, |port| row_of(snapshot, port.interface))
}

/// Row of an interface; 0 without one.
pub(super) fn row_of(snapshot: &Snapshot, interface: u16) -> RowId {
    snapshot.interface(interface).map_or(0, |interface| interface.row)
}
