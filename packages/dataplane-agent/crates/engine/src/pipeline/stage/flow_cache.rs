//! The fast path: looks up the flow entry of a packet and applies its cached action. Other packets are left to the
//! stages that follow, or handed over to the worker that owns their flow.
//!
//! While packets are processed, the memory that later packets need is prefetched: the flow keys and connections of the
//! next few, and the hash buckets of those after them.

use tollway_wire::{ethernet, ipv4, ipv6, tcp};

use crate::firewall::rules::RuleVerdict;
use crate::flow::actions::FlowAction;
use crate::flow::conntrack::{CachedAction, ConnectionTable, FlowEntry, Status, Transport, action_flag};
use crate::flow::nat::icmp_error::embedded_tuple;
use crate::flow::nat::{Ipv6PlainRewrite, Ipv6Rewrite, PlainRewrite, Rewrite};
use crate::flow::new_addresses::NewAddressTable;
use crate::ids::NO_ENTRY;
use crate::ip::neighbor::Adjacency;
use crate::packet::family::Family;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::header::{lower_hop_limit, lower_ttl, write_ipv6_link, write_link};
use crate::packet::key::FlowKey;
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::steer;
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, MAX_HANDOVERS, Meta, Packet, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::header_changes::set_dscp;
use crate::pipeline::out_of_order::{count_out_of_order, note_order};
use crate::pipeline::prefetch::{PREFETCH_DISTANCE, TOGETHER};
use crate::pipeline::revalidate::revalidate;
use crate::pipeline::rules::evaluate_filter;
use crate::pipeline::slow_path::{Pass, reject};
use crate::pipeline::state::WorkerState;
use crate::pipeline::transport_checksum::is_intact;
use crate::pipeline::{cached_validity, flow_handover, stateless};
use crate::snapshot::{Port, Snapshot};

/// Offset of the transport header behind an IPv4 header without options.
const PLAIN_L4: u16 = (ethernet::HEADER + ipv4::HEADER) as u16;
/// Offset of the transport header behind an IPv6 header without extension headers.
const PLAIN_L4_IPV6: u16 = (ethernet::HEADER + ipv6::HEADER) as u16;

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    let (snapshot, state, batch, source) = pass.parts();
    batch.slow.clear();
    batch.end = batch.packets.len();
    if !snapshot.tracking() {
        return stateless::run(snapshot, state, batch);
    }
    let sent = send_to_home(state, batch.packets.get_mut(batch.first..batch.end).unwrap_or_default());
    sent + forward_tracked(snapshot, state, batch, source)
}

/// Hands packets over that are steered to other workers, before the table of this worker is looked up. All packets of a
/// flow pass its home worker, even if the flow has moved from there, so that none overtakes another. Returns the number
/// of packets.
fn send_to_home<F>(state: &WorkerState<F>, packets: &mut [Packet<F>]) -> u64 {
    if state.workers <= 1 {
        return 0;
    }
    let mut sent = 0;
    for Packet { meta, .. } in packets {
        const KEPT: u32 = flag::STEERED | flag::HANDED_OVER | flag::ICMP_ERROR | flag::ROUTER_REPLY;
        if meta.verdict != Verdict::Continue || meta.is(KEPT) {
            continue;
        }
        let owner = steer(&meta.tuple, state.workers);
        if owner != state.worker {
            meta.handovers += 1;
            meta.verdict = Verdict::Handover(owner as u16);
            sent += 1;
        }
    }
    sent
}

/// Looks up the next [`TOGETHER`] packets of this pass, starting at index `from`.
#[inline(never)]
fn look_up_some<F>(state: &WorkerState<F>, batch: &mut Batch<F>, from: usize) {
    let some = from.min(batch.end)..batch.end.min(from + TOGETHER);
    for packet in batch.packets.get_mut(some).unwrap_or_default() {
        look_up(state, packet);
    }
}

/// Finds the candidate entry of a packet by its hash, and prefetches that entry and its connection.
#[inline]
fn look_up<F>(state: &WorkerState<F>, packet: &mut Packet<F>) {
    let meta = &mut packet.meta;
    if meta.verdict != Verdict::Continue {
        return;
    }
    meta.entry = state.table.probe(meta.hash);
    state.table.prefetch_entry(meta.entry, &meta.key);
    if changes_state(meta) {
        state.table.prefetch_timer(meta.entry);
    }
}

/// Whether a packet may change the TCP state of its connection, judged by its flags.
#[inline]
fn changes_state(meta: &Meta) -> bool {
    meta.tcp_flags_or_icmp_type & tcp::flag::CONTROL != 0 && meta.tuple.protocol == ipv4::TCP
}

/// Forwards packets with a valid cached action, and puts the others into `batch.slow`. Returns the number of all of
/// them.
// Not inlined, so that it has all registers to itself.
#[inline(never)]
fn forward_tracked<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    source: &mut S,
) -> u64 {
    let cache = Family::ALL.iter().all(|family| snapshot.allows_fast_path(*family));
    let (first, end) = (batch.first, batch.end);
    let mut entered = 0;
    look_up_some(state, batch, first);
    for index in first..end {
        if (index - first).is_multiple_of(TOGETHER) {
            let ahead = index + PREFETCH_DISTANCE;
            for later in batch.packets.get(ahead.min(end)..end.min(ahead + TOGETHER)).unwrap_or_default() {
                state.table.prefetch_bucket(later.meta.hash);
            }
            look_up_some(state, batch, index + TOGETHER);
        }
        let Some(packet) = batch.packets.get_mut(index) else { break };
        let meta = &mut packet.meta;
        if meta.verdict != Verdict::Continue {
            meta.entry = NO_ENTRY;
            continue;
        }
        entered += 1;
        meta.entry = match meta.is(flag::ICMP_ERROR | flag::ROUTER_REPLY) {
            true => NO_ENTRY,
            false => state.table.verify(meta.entry, &meta.key, &meta.tuple),
        };
        let reason = if !cache && !snapshot.allows_fast_path(meta.family()) {
            SlowReason::FastPathOff
        } else if meta.is(flag::SLOW) {
            slow_by_headers(meta)
        } else {
            match apply(snapshot, state, packet) {
                Applied::Done => continue,
                Applied::Resume(action, port) => {
                    evaluate_from_resume_point(snapshot, state, batch, index, &action, port, source);
                    continue;
                }
                Applied::Slow(reason) => reason,
            }
        };
        take_slow_path(state, batch, index, reason);
    }
    entered
}

/// Puts a packet into `batch.slow`, or hands it over if its flow belongs to another worker.
// Not inlined, so that it takes no registers from the loop that forwards packets.
#[inline(never)]
fn take_slow_path<F: Frame>(
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    index: usize,
    reason: SlowReason,
) {
    let Some(packet) = batch.packets.get_mut(index) else { return };
    if keep_or_hand_over(state, packet) {
        state.table.prefetch_timer(packet.meta.entry);
        batch.slow.push(index as u32);
        state.count_slow_packet(&mut packet.meta, reason);
    } else if packet.meta.is(flag::FLOW_MIGRATING) {
        flow_handover::hand_over_again(
            &mut packet.meta,
            &batch.flow_handovers_in,
            &mut batch.flow_handovers_out,
        );
    }
}

/// Result of applying a cached action.
enum Applied {
    /// Forwarded.
    Done,
    /// The rules from the resume point on decide; the packet is tracked already.
    Resume(FlowAction, Port),
    /// The packet is unchanged and takes the slow path, for this reason.
    Slow(SlowReason),
}

/// Why a packet takes the slow path that `parse` has marked as slow.
fn slow_by_headers(meta: &Meta) -> SlowReason {
    if let Some(reason) = meta.slow_by_itself() {
        reason
    } else if meta.entry == NO_ENTRY || meta.is(flag::FLOW_MIGRATING) {
        SlowReason::NewConnection
    } else {
        meta.slow_as_control()
    }
}

/// Why a packet has no valid entry: there is none, or something on which it depends has changed.
#[cold]
fn slow_without_entry<F>(state: &WorkerState<F>, meta: &Meta) -> SlowReason {
    if let Some(reason) = meta.slow_by_itself() {
        return reason;
    }
    let Some(hot) = state.table.connection_at(meta.entry) else { return SlowReason::NewConnection };
    let noted = hot.slow_reason(ConnectionTable::direction_of(meta.entry));
    let Some(cached) = state.table.installed(meta.entry) else {
        return noted.unwrap_or(SlowReason::NewConnection);
    };
    match state.actions.get(cached.action) {
        Some(action) if *action != FlowAction::ENDED && action.in_port != meta.in_port => {
            SlowReason::OtherPort
        }
        _ => noted.unwrap_or(SlowReason::Stale),
    }
}

/// Why a packet with a valid entry takes the slow path because of the state of its connection.
fn slow_by_connection(meta: &Meta, status: Status) -> SlowReason {
    if meta.tuple.protocol != ipv4::TCP {
        SlowReason::BehindSlowPacket
    } else if !status.assured() {
        SlowReason::Handshake
    } else {
        SlowReason::TcpWindow
    }
}

/// Applies the cached action of a packet's flow entry, if it is valid.
#[inline]
fn apply<F: Frame>(snapshot: &Snapshot, state: &mut WorkerState<F>, packet: &mut Packet<F>) -> Applied {
    const GONE: Applied = Applied::Slow(SlowReason::NewConnection);
    let Packet { frame: Some(frame), vnet, meta } = packet else { return GONE };
    let Some((mut entry, mut other, mut hot)) = state.table.flow_mut(meta.entry) else {
        return Applied::Slow(slow_without_entry(state, meta));
    };
    if entry.cached.stamp != state.cache_epoch.stamp || entry.cached.has(action_flag::LIMITED_VALIDITY) {
        if let Err(reason) = still_valid(snapshot, state, meta, frame.head()) {
            return Applied::Slow(reason);
        }
        let Some(flow) = state.table.flow_mut(meta.entry) else { return GONE };
        (entry, other, hot) = flow;
    }
    let cached = &entry.cached;
    let Some(action) = state.actions.get(cached.action) else {
        return Applied::Slow(slow_without_entry(state, meta));
    };
    if (cached.version ^ hot.version) | (action.in_port ^ meta.in_port) != 0 {
        return Applied::Slow(slow_without_entry(state, meta));
    }
    if hot.slow_batch == state.batch as u16 {
        return Applied::Slow(match slow_by_connection(meta, hot.status) {
            SlowReason::TcpWindow => SlowReason::BehindSlowPacket,
            reason => reason,
        });
    }
    let Adjacency::Ready(mac) = state.shared.neighbors.adjacency(action.adjacency) else {
        return Applied::Slow(SlowReason::Neighbor);
    };
    let Some(port) = snapshot.port(action.out_port) else { return Applied::Slow(SlowReason::Neighbor) };
    if meta.largest_segment(vnet) > u32::from(port.mtu) {
        return Applied::Slow(SlowReason::TooLong);
    }
    let direction = ConnectionTable::direction_of(meta.entry);
    let Some(transport) = Transport::read(meta, frame.head()) else {
        return Applied::Slow(slow_by_connection(meta, hot.status));
    };
    let updated = hot.update(direction, &transport, state.now, &snapshot.timeouts);
    let (frame, vnet, meta, entry, other, action, hot) = if updated {
        (frame, vnet, meta, entry, other, action, hot)
    } else {
        if let Err(reason) = track_out_of_order_or_closing(snapshot, state, packet) {
            return Applied::Slow(reason);
        }
        // Tracking needs the whole table, so entry and hot state are borrowed again; the action is the same.
        let Packet { frame: Some(frame), vnet, meta } = packet else { return GONE };
        let Some((entry, other, hot)) = state.table.flow_mut(meta.entry) else { return GONE };
        let Some(action) = state.actions.get(entry.cached.action) else { return GONE };
        (frame, vnet, meta, entry, other, action, hot)
    };
    let cached = &entry.cached;
    let (packets, bytes) = (meta.segments, meta.wire_bytes());
    let counted = hot.count(direction, packets, bytes);
    let fasttracked = hot.status.fasttrack();
    meta.queue = cached.queue;
    state.queues.prefetch(meta.queue);
    if action.resume != 0 {
        let action = *action;
        if !counted {
            state.table.count(meta.entry, packets, bytes);
        }
        return Applied::Resume(action, *port);
    }
    state.paths.count(action.path, u64::from(packets), bytes);
    let link = (mac, port.mac);
    let new_dscp = action.new_dscp;
    let written =
        new_dscp.is_none() && rewrite_plain(meta, frame.head_mut(), (cached, other), vnet.needs_csum, link);
    meta.flags |= flag::FAST;
    meta.verdict = Verdict::Tx(action.out_port);
    // One branch for all of it, as nearly every packet of IPv4 needs nothing.
    if !(counted & written) {
        if !written {
            let new = (&*entry, &state.actions.new_addresses);
            let written =
                new_dscp.is_none() && rewrite_plain_ipv6(meta, frame.head_mut(), new, vnet.needs_csum, link);
            if !written {
                rewrite(state, meta, frame.head_mut(), new_dscp, vnet.needs_csum, link);
            }
            if meta.is_ipv6() {
                state.count_fast_ipv6(fasttracked, u64::from(packets), bytes);
            }
        }
        if !counted {
            state.table.count(meta.entry, packets, bytes);
        }
    }
    state.count_fast(meta, fasttracked, u64::from(packets), bytes);
    if !updated {
        count_out_of_order(state, meta);
    }
    Applied::Done
}

/// Whether a cached action whose stamp is old, or whose validity is limited, is valid for a packet; otherwise why the
/// packet takes the slow path. `head` is the front of its frame.
// Out of line: most packets need no look at what their action depends on.
#[inline(never)]
fn still_valid<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &Meta,
    head: &[u8],
) -> Result<(), SlowReason> {
    let Some(&cached) = state.table.installed(meta.entry) else {
        return Err(slow_without_entry(state, meta));
    };
    if cached.stamp != state.cache_epoch.stamp && !revalidate(snapshot, state, meta) {
        return Err(slow_without_entry(state, meta));
    }
    if cached.has(action_flag::LIMITED_VALIDITY)
        && let Some(reason) = cached_validity::expired_reason(state, meta, head)
    {
        return Err(reason);
    }
    Ok(())
}

/// Tracks a packet that is out of order, or that closes its connection or arrives while the connection is being closed.
/// Otherwise changes nothing and returns the reason for which the packet takes the slow path.
#[cold]
#[inline(never)]
fn track_out_of_order_or_closing<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
) -> Result<(), SlowReason> {
    let entry = packet.meta.entry;
    let status = state.table.connection_at(entry).map_or(Status::default(), |hot| hot.status);
    let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
    // Read again: passing a reference would force the fast path to keep the value in memory.
    let Some(transport) = Transport::read(&packet.meta, head) else {
        return Err(slow_by_connection(&packet.meta, status));
    };
    // With `fasttrack-mode=bypass`, as in RouterOS, packets that close a connection are subject to the rules.
    if snapshot.fasttrack_bypasses(packet.meta.family()) && packet.meta.closes() && status.fasttrack() {
        return Err(SlowReason::TcpControl);
    }
    let order = if is_intact(packet) {
        state.table.track_out_of_order_or_closing(entry, &transport, state.now, &snapshot.timeouts)
    } else {
        None
    };
    let order = order.ok_or_else(|| slow_by_connection(&packet.meta, status))?;
    note_order(state, &mut packet.meta, order);
    Ok(())
}

/// Writes the new headers of a packet that has them at fixed offsets, as nearly all have: the translation by the key of
/// the other direction, and the new link-layer destination and source. Returns `false`, and changes nothing, for any
/// other packet, which [`rewrite`] is for.
// Not inlined, while the translation is inlined into it: the other way round `engine/stateful-64k` is about 3 % slower.
#[inline(never)]
fn rewrite_plain(
    meta: &Meta,
    head: &mut [u8],
    (cached, other): (&CachedAction, &FlowKey),
    needs_csum: bool,
    link: ([u8; 6], [u8; 6]),
) -> bool {
    let protocol = meta.tuple.protocol;
    if meta.l4 != PLAIN_L4 || !matches!(protocol, ipv4::TCP | ipv4::UDP) {
        return false;
    }
    let Some(head) = head.first_chunk_mut() else { return false };
    if cached.has(action_flag::NAT_SRC | action_flag::NAT_DST) {
        PlainRewrite::of_keys(&meta.key, other).forward(head, protocol, needs_csum);
    } else {
        lower_ttl(head.get_mut(14..).unwrap_or_default());
    }
    write_link(head, link.0, link.1);
    true
}

/// [`rewrite_plain`] for a packet of IPv6 without extension headers, with the new addresses of its entry.
#[inline(never)]
fn rewrite_plain_ipv6(
    meta: &Meta,
    head: &mut [u8],
    (entry, new_addresses): (&FlowEntry, &NewAddressTable),
    needs_csum: bool,
    link: ([u8; 6], [u8; 6]),
) -> bool {
    let plain =
        meta.is_ipv6() & (meta.l4 == PLAIN_L4_IPV6) & matches!(meta.tuple.protocol, ipv4::TCP | ipv4::UDP);
    if !plain {
        return false;
    }
    if entry.cached.has(action_flag::NAT_SRC | action_flag::NAT_DST) {
        let ends = entry.new_ends();
        let Some(addresses) = new_addresses.get(ends.addresses) else { return false };
        let Some(head) = head.first_chunk_mut() else { return false };
        Ipv6PlainRewrite::to(addresses, ends).apply(head, &meta.key, needs_csum);
    }
    lower_hop_limit(head.get_mut(ethernet::HEADER..).unwrap_or_default());
    write_ipv6_link(head, link.0, link.1);
    true
}

/// Writes the new headers of any packet by the cached action of its entry.
#[inline(never)]
fn rewrite<F>(
    state: &WorkerState<F>,
    meta: &Meta,
    head: &mut [u8],
    new_dscp: Option<u8>,
    needs_csum: bool,
    link: ([u8; 6], [u8; 6]),
) {
    let cached = state.table.installed(meta.entry);
    let translates = cached.is_some_and(|cached| cached.has(action_flag::NAT_SRC | action_flag::NAT_DST));
    let l4 = usize::from(meta.l4.saturating_sub(meta.l3));
    let Some(l3) = head.get_mut(usize::from(meta.l3)..) else { return };
    if let Some(dscp) = new_dscp {
        set_dscp(meta.family(), l3, dscp);
    }
    if meta.is_ipv6() {
        if translates {
            let (from, to) = state.table.translation_at(meta.entry);
            Ipv6Rewrite::between(&from, &to).apply(l3, Some(l4), needs_csum);
        }
        lower_hop_limit(l3);
        return write_ipv6_link(head, link.0, link.1);
    }
    let direction = ConnectionTable::direction_of(meta.entry);
    if translates
        && let Some(reference) = state.table.reference(meta.entry)
        && let Some((key, other)) = state.table.keys(reference, direction)
    {
        Rewrite::of_keys(key, other, direction).apply_whole(l3, l4, needs_csum);
    }
    lower_ttl(l3);
    write_link(head, link.0, link.1);
}

/// Evaluates the rules from the resume point on for a packet of a cached flow, and forwards or ends the packet
/// accordingly.
// Not inlined: otherwise `engine/stateful-64k`, in which no packet takes this branch, takes 0.7 % more instructions.
#[inline(never)]
fn evaluate_from_resume_point<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    index: usize,
    action: &FlowAction,
    port: Port,
    source: &mut S,
) {
    let Some(packet) = batch.packets.get_mut(index) else { return };
    let place = usize::from(action.resume).checked_sub(1);
    let start = place.and_then(|place| state.resumes.get(place)).copied();
    let Some(start) = start else {
        // Unexpected: resume points live as long as the cache epoch, which was compared.
        state.drop(packet, DropReason::ResumePointLost);
        return;
    };
    let meta = &mut packet.meta;
    state.count_slow_packet(meta, SlowReason::Rule);
    let entry = meta.entry;
    meta.conn = state.table.reference(entry);
    meta.direction = ConnectionTable::direction_of(entry);
    if let Some(reference) = meta.conn
        && let (Some(hot), Some(conn)) = (state.table.hot(reference), state.table.tuples(reference))
    {
        use tollway_config::dataplane::ConnectionState as State;
        meta.state = if hot.status.seen_reply() { State::Established } else { State::New };
        let target = conn.target(meta.direction);
        (meta.tuple.dst, meta.tuple.dst_port) = (target.dst, target.dst_port);
        meta.connection_bytes = state.table.carried(entry >> 1);
        meta.connection_mark = state.table.mark(reference);
    }
    meta.hook = Hook::Forward;
    meta.out_interface = port.interface;
    meta.path = action.path;
    let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
    let verdict = evaluate_filter(snapshot, state, meta, &packet.vnet, head, &start);
    let (path, packets, bytes) = (meta.path, u64::from(meta.segments), meta.wire_bytes());
    state.paths.count(path, packets, bytes);
    match verdict {
        RuleVerdict::Accept | RuleVerdict::Nat { .. } => {}
        RuleVerdict::Drop => return state.drop(packet, DropReason::FilterDrop),
        RuleVerdict::Reject(with) => return reject(snapshot, state, batch, index, with, source),
    }
    let Adjacency::Ready(mac) = state.shared.neighbors.adjacency(action.adjacency) else {
        state.drop(packet, DropReason::NeighborFailed);
        return;
    };
    count_out_of_order(state, &mut packet.meta);
    let needs_csum = packet.vnet.needs_csum;
    let fasttracked = state.table.connection_at(entry).is_some_and(|conn| conn.status.fasttrack());
    state.count_fast(&packet.meta, fasttracked, packets, bytes);
    if packet.meta.is_ipv6() {
        state.count_fast_ipv6(fasttracked, packets, bytes);
    }
    if let Some(frame) = &mut packet.frame {
        let link = (mac, port.mac);
        rewrite(state, &packet.meta, frame.head_mut(), action.new_dscp, needs_csum, link);
        packet.meta.flags |= flag::FAST;
        packet.meta.verdict = Verdict::Tx(action.out_port);
    }
}

/// Whether a packet that did not take the fast path belongs to this worker. Later packets of its connection in this
/// batch take the slow path too, so that they do not overtake it. A packet of another worker's flow is handed over.
fn keep_or_hand_over<F: Frame>(state: &mut WorkerState<F>, packet: &mut Packet<F>) -> bool {
    let now = state.now;
    let meta = &mut packet.meta;
    if meta.is(flag::ROUTER_REPLY) {
        return true;
    }
    if meta.entry != NO_ENTRY
        && let Some(conn) = state.table.connection_at_mut(meta.entry)
    {
        conn.slow_batch = state.batch as u16;
        if state.workers <= 1 || conn.is_alive(now) {
            return true;
        }
    }
    if state.workers <= 1 {
        return true;
    }
    let tuple = if meta.is(flag::ICMP_ERROR) {
        let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
        let l3 = head.get(usize::from(meta.l3)..).unwrap_or_default();
        match embedded_tuple(l3, meta.tuple.zone) {
            Some(embedded) => embedded.reversed(),
            None => meta.tuple,
        }
    } else {
        meta.tuple
    };
    if meta.is(flag::ICMP_ERROR) && state.table.find(&tuple).is_some() {
        return true;
    }
    let home = steer(&tuple, state.workers);
    let owner = match state.shared.directory.owner(&tuple) {
        // A worker that is neither home nor owner sends the packet to the home, which knows the owner.
        Some(owner) if home == state.worker || owner == state.worker => owner,
        _ => home,
    };
    if owner == state.worker {
        return true;
    }
    if meta.handovers >= MAX_HANDOVERS {
        state.drop(packet, DropReason::HandoverStale);
        return false;
    }
    meta.handovers += 1;
    meta.verdict = Verdict::Handover(owner as u16);
    false
}
