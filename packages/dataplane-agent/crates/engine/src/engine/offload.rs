//! Flow offload: finds flows that can be forwarded outside the engine in the same manner as by the flow cache, and
//! updates the counters, timers and decisions that depend on their packets.
//!
//! Without connection tracking, a flow is all packets from one address to another; with it, a direction of a TCP or UDP
//! connection. Flows stay in the engine if every packet has to be examined (rules for each packet, limits by time or
//! volume, queues, traces), or if more than addresses, ports and the time to live is changed.

use tollway_wire::{ethernet, ipv4};

use crate::engine::Engine;
use crate::flow::actions::FlowAction;
use crate::flow::cache_epoch::CacheEpoch;
use crate::flow::conntrack::{CachedAction, ConnectionTable, action_flag};
use crate::flow::paths::Remembered;
use crate::ids::{AdjacencyId, ConnRef, Direction, EntryIndex, NO_ENTRY, NO_INTERFACE, PortId};
use crate::ip::neighbor::Adjacency;
use crate::packet::count::Count;
use crate::packet::family::Family;
use crate::packet::frame::Frame;
use crate::packet::tuple::Tuple;
use crate::packet::verdict::Verdict;
use crate::packet::{Meta, Origin, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::revalidate::revalidate;
use crate::pipeline::state::WorkerState;
use crate::pipeline::stateless;
use crate::snapshot::Snapshot;
use crate::time::Now;

/// Bytes of an Ethernet header, which port counters include.
const LINK_HEADER: u64 = ethernet::HEADER as u64;

/// A flow as a forwarder outside the engine needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offload {
    /// Ingress port.
    pub in_port: PortId,
    /// Egress port.
    pub out_port: PortId,
    /// Tuple as received, IPv4.
    pub tuple: Tuple,
    /// Tuple as sent, translated.
    pub target: Tuple,
    /// The flow is all packets between two addresses, and nothing is translated.
    pub address_pair_only: bool,
    /// Link-layer destination.
    pub dst_mac: [u8; 6],
    /// Link-layer source.
    pub src_mac: [u8; 6],
    /// Longest L3 packet, bytes.
    pub mtu: u16,
    /// For [`Engine::add_offloaded_counts`].
    pub handle: OffloadHandle,
}

/// State of an offloaded flow, with which its forwarder reports counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffloadHandle {
    flow: OffloadedFlow,
    cache_epoch: CacheEpoch,
    in_port: PortId,
    out_port: PortId,
    adjacency: AdjacencyId,
    dst_mac: [u8; 6],
    seen: Count,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OffloadedFlow {
    Connection { conn: ConnRef, direction: Direction, version: u16, path: Remembered },
    AddressPair { src: u32, dst: u32 },
}

/// Result of [`Engine::add_offloaded_counts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffloadedCounts {
    /// Ingress port.
    pub in_port: PortId,
    /// Egress port.
    pub out_port: PortId,
    /// Packets since the last report, and their L2 bytes without FCS.
    pub count: Count,
    /// Whether the engine would still forward the flow in the same manner.
    pub right: bool,
}

impl<F: Frame> Engine<F> {
    /// Examines one packet of a processed batch, at a different index for each batch, so that flows with many packets
    /// are found soon at little cost. Adds its flow to `found`, for a TCP connection both directions, if it can be
    /// forwarded outside the engine from now on. `admitted` tells whether a port supports that at all.
    pub fn find_offload(
        &mut self,
        batch: &Batch<F>,
        admitted: impl Fn(PortId) -> bool,
        found: &mut Vec<Offload>,
    ) {
        let (snapshot, state) = self.offload_parts();
        if state.trace.is_some() || batch.packets.is_empty() {
            return;
        }
        let Some(packet) = batch.packets.get(state.batch as usize % batch.packets.len()) else { return };
        let meta = &packet.meta;
        let Verdict::Tx(out_port) = meta.verdict else { return };
        if !meta.is(flag::FAST) || meta.origin != Origin::Port || !meta.queue.is_none() {
            return;
        }
        if !admitted(meta.in_port) || !admitted(out_port) {
            return;
        }
        if !snapshot.tracking() {
            found.extend(address_pair(snapshot, state, meta));
            return;
        }
        if meta.entry == NO_ENTRY {
            return;
        }
        let Some(conn) = state.table.reference(meta.entry) else { return };
        if !state.table.may_offload(conn, state.now, &snapshot.timeouts) {
            return;
        }
        let this = connection(snapshot, state, conn, meta.entry);
        let before = found.len();
        if meta.tuple.protocol != ipv4::TCP {
            found.extend(this);
        } else if let (Some(this), Some(other)) = (this, connection(snapshot, state, conn, meta.entry ^ 1))
            && admitted(other.in_port)
            && admitted(other.out_port)
        {
            // The window check of one direction depends on the segments of the other.
            state.table.forget_windows(conn);
            found.extend([this, other]);
        }
        if found.len() > before
            && let Some(hot) = state.table.get_mut(conn)
        {
            hot.status.set_offloaded();
        }
    }

    /// Called when a flow is no longer forwarded outside the engine.
    pub fn end_offload(&mut self, handle: &OffloadHandle) {
        let (_, state) = self.offload_parts();
        if let OffloadedFlow::Connection { conn, .. } = handle.flow
            && let Some(hot) = state.table.get_mut(conn)
        {
            hot.status.clear_offloaded();
        }
    }

    /// Updates all counters for the packets of a flow that were forwarded outside the engine. `packets` and `bytes` are
    /// the wire segments and L3 bytes since the flow was found.
    pub fn add_offloaded_counts(
        &mut self,
        handle: &mut OffloadHandle,
        packets: u64,
        bytes: u64,
        now: Now,
    ) -> OffloadedCounts {
        let (snapshot, state) = self.offload_parts();
        state.now = now;
        state.follow_changes();
        let count = Count {
            packets: packets.saturating_sub(handle.seen.packets),
            bytes: bytes.saturating_sub(handle.seen.bytes),
        };
        handle.seen = Count { packets, bytes };
        let fast_path = count.packets > 0 && note(snapshot, state, handle, count);
        let right = state.trace.is_none() && is_still_valid(snapshot, state, handle);
        if fast_path && matches!(handle.flow, OffloadedFlow::AddressPair { .. }) == self.is_tracking() {
            self.add_from_before(count);
        }
        let bytes = count.bytes + count.packets * LINK_HEADER;
        OffloadedCounts {
            in_port: handle.in_port,
            out_port: handle.out_port,
            count: Count { bytes, ..count },
            right,
        }
    }
}

fn address_pair<F>(snapshot: &Snapshot, state: &WorkerState<F>, meta: &Meta) -> Option<Offload> {
    let (src, dst) = meta.tuple.src.as_v4().zip(meta.tuple.dst.as_v4())?;
    if !snapshot.is_plain() || !snapshot.queues.is_empty() {
        return None;
    }
    let (out_port, adjacency) = stateless::egress(snapshot, state, src, dst)?;
    let (port, dst_mac) = out(snapshot, state, out_port, adjacency)?;
    Some(Offload {
        in_port: meta.in_port,
        out_port,
        tuple: meta.tuple,
        target: meta.tuple,
        address_pair_only: true,
        dst_mac,
        src_mac: port.0,
        mtu: port.1,
        handle: OffloadHandle {
            flow: OffloadedFlow::AddressPair { src, dst },
            cache_epoch: state.cache_epoch,
            in_port: meta.in_port,
            out_port,
            adjacency,
            dst_mac,
            seen: Count::default(),
        },
    })
}

/// The offload of a flow entry, if its action is the same for every packet.
fn connection<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    conn: ConnRef,
    entry: EntryIndex,
) -> Option<Offload> {
    let direction = ConnectionTable::direction_of(entry);
    let cached = state.table.cached(entry)?;
    let action = state.actions.get(cached.action)?;
    let (version, in_port) = (cached.version, action.in_port);
    let same = cached.stamp == state.cache_epoch.stamp && decides_alone(cached, action);
    if !same || !snapshot.allows_fast_path(Family::V4) {
        return None;
    }
    let tuples = state.table.tuples(conn)?;
    let (tuple, target) = (*tuples.tuple(direction), tuples.target(direction));
    tuple.src.as_v4()?;
    let (port, dst_mac) = out(snapshot, state, action.out_port, action.adjacency)?;
    Some(Offload {
        in_port,
        out_port: action.out_port,
        tuple,
        target,
        address_pair_only: false,
        dst_mac,
        src_mac: port.0,
        mtu: port.1,
        handle: OffloadHandle {
            flow: OffloadedFlow::Connection {
                conn,
                direction,
                version,
                path: state.paths.remember(action.path),
            },
            cache_epoch: state.cache_epoch,
            in_port,
            out_port: action.out_port,
            adjacency: action.adjacency,
            dst_mac,
            seen: Count::default(),
        },
    })
}

/// Whether an action is valid for every packet without examining it.
fn decides_alone(cached: &CachedAction, action: &FlowAction) -> bool {
    action.resume == 0
        && action.new_dscp.is_none()
        && !cached.has(action_flag::LIMITED_VALIDITY)
        && cached.queue.is_none()
}

/// Link-layer address and MTU of a port, and link-layer address of the next hop.
type Out = (([u8; 6], u16), [u8; 6]);

fn out<F>(snapshot: &Snapshot, state: &WorkerState<F>, port: PortId, adjacency: AdjacencyId) -> Option<Out> {
    // Offloaded packets would bypass their queue.
    if state.queues.has_queue_before(port) {
        return None;
    }
    let port = snapshot.port(port)?;
    match state.shared.neighbors.adjacency(adjacency) {
        Adjacency::Ready(mac) => Some(((port.mac, port.mtu), mac)),
        _ => None,
    }
}

/// Counts packets that were forwarded outside the engine, as the flow cache would have. The configuration may have
/// changed meanwhile: they are counted for the rules that the flow hit when it was found. Returns whether they count as
/// fast path without a fasttrack mark.
fn note<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, handle: &OffloadHandle, count: Count) -> bool {
    let mut fasttracked = false;
    if let OffloadedFlow::Connection { conn, direction, path, .. } = handle.flow {
        state.table.add_offloaded_counts(
            conn,
            direction,
            (count.packets, count.bytes),
            state.now,
            &snapshot.timeouts,
        );
        fasttracked = state.table.hot(conn).is_some_and(|hot| hot.status.fasttrack());
        state.paths.count_remembered(path, count.packets, count.bytes);
    }
    let counter = if fasttracked { &mut state.fasttrack } else { &mut state.flow_cache_forwarded };
    counter.add(count);
    state.offloaded.add(count);
    if let Some(received) = state.fp_rx.get_mut(usize::from(handle.in_port)) {
        received.add(Count { bytes: count.bytes + count.packets * LINK_HEADER, ..count });
    }
    !fasttracked
}

fn is_still_valid<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, handle: &mut OffloadHandle) -> bool {
    if handle.cache_epoch.number != state.cache_epoch.number
        || state.shared.neighbors.adjacency(handle.adjacency) != Adjacency::Ready(handle.dst_mac)
    {
        return false;
    }
    match handle.flow {
        OffloadedFlow::AddressPair { src, dst } => {
            let same = !state.shared.change_counters.route_changed_since(dst, handle.cache_epoch.stamp)
                || stateless::egress(snapshot, state, src, dst) == Some((handle.out_port, handle.adjacency));
            handle.cache_epoch.stamp = state.cache_epoch.stamp;
            same
        }
        OffloadedFlow::Connection { conn, direction, version, path } => {
            let entry = conn.slot << 1 | direction as u32;
            let (now, timeouts) = (state.now, &snapshot.timeouts);
            let cached = state.table.hot(conn).and_then(|_| state.table.cached(entry)).copied();
            let known = cached.and_then(|cached| Some((cached, *state.actions.get(cached.action)?)));
            let Some((cached, action)) = known else { return false };
            let same = cached.version == version
                && (action.out_port, action.adjacency) == (handle.out_port, handle.adjacency)
                // A packet that the worker received may have caused a new decision meanwhile.
                && state.paths.remember(action.path) == path
                && decides_alone(&cached, &action)
                && action.in_port == handle.in_port
                && state.table.may_offload(conn, now, timeouts);
            if !same || cached.stamp == state.cache_epoch.stamp {
                return same;
            }
            let Some(tuples) = state.table.tuples(conn) else { return false };
            let in_interface = snapshot.port(handle.in_port).map_or(NO_INTERFACE, |port| port.interface);
            let meta = Meta { tuple: *tuples.tuple(direction), entry, in_interface, ..Meta::default() };
            revalidate(snapshot, state, &meta)
        }
    }
}
