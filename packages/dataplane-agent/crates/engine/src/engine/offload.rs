//! Flows that something outside the engine could forward as the flow cache does, and what becomes of the counters,
//! timers and decisions that rest on having seen the packets.
//!
//! Without connection tracking a flow is all that goes from one address to another; with it, a direction of a TCP or
//! UDP connection. What every packet must be looked at for stays here: rules that ask for each packet, limits by
//! time or volume, queues, traces. So does what changes more than addresses, ports and the time to live.

use tollway_wire::ipv4;

use crate::engine::Engine;
use crate::flow::cache_epoch::CacheEpoch;
use crate::flow::conntrack::{CachedAction, ConnectionTable, action_flag};
use crate::flow::paths::Remembered;
use crate::ids::AdjacencyId;
use crate::ids::PortId;
use crate::ids::{ConnRef, Direction, EntryIndex, NO_ENTRY};
use crate::ip::neighbor::Adjacency;
use crate::packet::count::Count;
use crate::packet::frame::Frame;
use crate::packet::tuple::Tuple;
use crate::packet::verdict::Verdict;
use crate::packet::{Meta, Origin, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::stale::is_still_valid;
use crate::pipeline::state::WorkerState;
use crate::pipeline::stateless;
use crate::snapshot::Snapshot;
use crate::time::Now;

/// Bytes of an Ethernet header, which counters of ports count.
const LINK_HEADER: u64 = 14;

/// What a forwarder needs to know of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offload {
    /// Port the packets come by.
    pub in_port: PortId,
    /// Port they leave by.
    pub out_port: PortId,
    /// How they come. IPv4.
    pub tuple: Tuple,
    /// How they leave.
    pub target: Tuple,
    /// The addresses alone name the flow, and nothing is translated.
    pub pair: bool,
    /// Link-layer destination.
    pub dst_mac: [u8; 6],
    /// Link-layer source.
    pub src_mac: [u8; 6],
    /// Longest L3 packet, bytes.
    pub mtu: u16,
    /// For [`Engine::credit`].
    pub ticket: Ticket,
}

/// What the engine remembers of a flow that is forwarded elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    subject: Subject,
    cache_epoch: CacheEpoch,
    in_port: PortId,
    out_port: PortId,
    adjacency: AdjacencyId,
    dst_mac: [u8; 6],
    seen: Count,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Connection { conn: ConnRef, direction: Direction, version: u16, path: Remembered },
    Pair { src: u32, dst: u32 },
}

/// What came of [`Engine::credit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    /// Port the packets came by.
    pub in_port: PortId,
    /// Port they left by.
    pub out_port: PortId,
    /// Packets that are new, and their L2 bytes without FCS.
    pub count: Count,
    /// Whether the flow would still be forwarded so.
    pub right: bool,
}

impl<F: Frame> Engine<F> {
    /// Looks at one packet of a batch that has been processed, another one each time, so that flows with many packets
    /// are found soon and others cost nothing. Adds its flow, of a TCP connection both directions, if it could
    /// be forwarded elsewhere from now on. `admitted`: whether that is possible for a port at all.
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
            found.extend(pair(snapshot, state, meta));
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
            // Segments of one direction are judged by what those of the other have said.
            state.table.forget_windows(conn);
            found.extend([this, other]);
        }
        if found.len() > before
            && let Some(hot) = state.table.get_mut(conn)
        {
            hot.status.set_offloaded();
        }
    }

    /// A flow is not forwarded elsewhere any more.
    pub fn end_offload(&mut self, ticket: &Ticket) {
        let (_, state) = self.offload_parts();
        if let Subject::Connection { conn, .. } = ticket.subject
            && let Some(hot) = state.table.get_mut(conn)
        {
            hot.status.clear_offloaded();
        }
    }

    /// Takes note of what was forwarded elsewhere of a flow since it was found, wire segments and L3 bytes.
    pub fn credit(&mut self, ticket: &mut Ticket, packets: u64, bytes: u64, now: Now) -> Credit {
        let (snapshot, state) = self.offload_parts();
        state.now = now;
        state.follow_changes();
        let count = Count {
            packets: packets.saturating_sub(ticket.seen.packets),
            bytes: bytes.saturating_sub(ticket.seen.bytes),
        };
        ticket.seen = Count { packets, bytes };
        let fast_path = count.packets > 0 && note(snapshot, state, ticket, count);
        let right = state.trace.is_none() && is_right(snapshot, state, ticket);
        if fast_path && matches!(ticket.subject, Subject::Pair { .. }) == self.is_tracking() {
            self.add_from_before(count);
        }
        let bytes = count.bytes + count.packets * LINK_HEADER;
        Credit { in_port: ticket.in_port, out_port: ticket.out_port, count: Count { bytes, ..count }, right }
    }
}

fn pair<F>(snapshot: &Snapshot, state: &WorkerState<F>, meta: &Meta) -> Option<Offload> {
    let (src, dst) = meta.tuple.src.as_v4().zip(meta.tuple.dst.as_v4())?;
    if !snapshot.is_plain() || !snapshot.queues.is_empty() {
        return None;
    }
    let (out_port, adjacency) = stateless::way(snapshot, state, dst)?;
    let (port, dst_mac) = out(snapshot, state, out_port, adjacency)?;
    Some(Offload {
        in_port: meta.in_port,
        out_port,
        tuple: meta.tuple,
        target: meta.tuple,
        pair: true,
        dst_mac,
        src_mac: port.0,
        mtu: port.1,
        ticket: Ticket {
            subject: Subject::Pair { src, dst },
            cache_epoch: state.cache_epoch,
            in_port: meta.in_port,
            out_port,
            adjacency,
            dst_mac,
            seen: Count::default(),
        },
    })
}

/// What an entry of the flow cache does, if it does so with every packet.
fn connection<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    conn: ConnRef,
    entry: EntryIndex,
) -> Option<Offload> {
    let direction = ConnectionTable::direction_of(entry);
    let action = state.table.installed(entry)?;
    let version = state.table.hot(conn)?.version;
    let in_port = state.table.in_port(entry)?;
    let same = action.cache_epoch == state.cache_epoch.number
        && action.stamp == state.cache_epoch.stamp
        && action.version == version
        && decides_alone(action);
    if !same || !snapshot.settings.allow_fast_path {
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
        pair: false,
        dst_mac,
        src_mac: port.0,
        mtu: port.1,
        ticket: Ticket {
            subject: Subject::Connection {
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

/// Whether a decision holds for every packet, without a look at it.
fn decides_alone(action: &CachedAction) -> bool {
    const LOOKED_AT: u16 = action_flag::BOUNDED | action_flag::SET_DSCP;
    action.resume == 0 && action.flags & LOOKED_AT == 0 && action.queue.is_none()
}

/// Link-layer source and MTU of a port, and the next hop's address.
type Out = (([u8; 6], u16), [u8; 6]);

fn out<F>(snapshot: &Snapshot, state: &WorkerState<F>, port: PortId, adjacency: AdjacencyId) -> Option<Out> {
    // What another forwards would pass its queue by.
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
/// changed meanwhile, so they count for the rules with which the flow was found. Returns whether they count as fast
/// path without a fasttrack mark.
fn note<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, ticket: &Ticket, count: Count) -> bool {
    let mut fasttracked = false;
    if let Subject::Connection { conn, direction, path, .. } = ticket.subject {
        state.table.credit(conn, direction, (count.packets, count.bytes), state.now, &snapshot.timeouts);
        fasttracked = state.table.hot(conn).is_some_and(|hot| hot.status.fasttrack());
        state.paths.count_remembered(path, count.packets, count.bytes);
    }
    let counter = if fasttracked { &mut state.fasttrack } else { &mut state.fast_path };
    counter.add(count);
    state.offloaded.add(count);
    if let Some(received) = state.fp_rx.get_mut(usize::from(ticket.in_port)) {
        received.add(Count { bytes: count.bytes + count.packets * LINK_HEADER, ..count });
    }
    !fasttracked
}

fn is_right<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, ticket: &mut Ticket) -> bool {
    if ticket.cache_epoch.number != state.cache_epoch.number
        || state.shared.neighbors.adjacency(ticket.adjacency) != Adjacency::Ready(ticket.dst_mac)
    {
        return false;
    }
    match ticket.subject {
        Subject::Pair { dst, .. } => {
            let same = !state.shared.epochs.route_changed_since(dst, ticket.cache_epoch.stamp)
                || stateless::way(snapshot, state, dst) == Some((ticket.out_port, ticket.adjacency));
            ticket.cache_epoch.stamp = state.cache_epoch.stamp;
            same
        }
        Subject::Connection { conn, direction, version, path } => {
            let entry = conn.slot << 1 | direction as u32;
            let (now, timeouts) = (state.now, &snapshot.timeouts);
            let installed = state.table.installed(entry).copied();
            let Some((hot, action)) = state.table.hot(conn).zip(installed) else { return false };
            let same = hot.version == version
                && action.version == version
                && action.cache_epoch == ticket.cache_epoch.number
                && (action.out_port, action.adjacency) == (ticket.out_port, ticket.adjacency)
                // A packet for the worker may have had it decided anew meanwhile.
                && state.paths.remember(action.path) == path
                && decides_alone(&action)
                && state.table.in_port(entry) == Some(ticket.in_port)
                && state.table.may_offload(conn, now, timeouts);
            if !same || action.stamp == state.cache_epoch.stamp {
                return same;
            }
            let Some(tuples) = state.table.tuples(conn) else { return false };
            let meta = Meta { tuple: *tuples.tuple(direction), entry, ..Meta::default() };
            is_still_valid(snapshot, state, &meta)
        }
    }
}
