//! The firewall filter: input, forward or output.

use tollway_config::dataplane::RejectWith;
use tollway_wire::ipv4;

use crate::batch::Batch;
use crate::classifier::{Add, AddressLists, Evaluation, PacketView, Position, Side, Verdict as RuleVerdict};
use crate::epochs::ListCell;
use crate::frame::{Frame, FrameSource, VnetState};
use crate::icmp::{IcmpError, send_error, send_reset};
use crate::log;
use crate::packet::{Hook, Meta, NO_INTERFACE, flag};
use crate::paths::ROOT;
use crate::snapshot::Snapshot;
use crate::stage::fast_path::closes;
use crate::stage::ttl::largest_segment;
use crate::state::WorkerState;
use crate::stats::Count;
use crate::verdict::{DropReason, Verdict};

pub(crate) fn run<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    source: &mut S,
) -> u64 {
    if snapshot.filter().is_empty() {
        return 0;
    }
    let mut entered = 0;
    for at in 0..batch.slow.len() {
        let Some((index, packet)) = batch.slow_packet(at) else { continue };
        if packet.meta.verdict != Verdict::Continue {
            continue;
        }
        entered += 1;
        packet.meta.path = ROOT;
        if bypasses(snapshot, state, &mut packet.meta) {
            continue;
        }
        let Some(start) = snapshot.filter_hook(packet.meta.hook) else { continue };
        let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
        let verdict = decide(snapshot, state, &mut packet.meta, &packet.vnet, head, start);
        let meta = &packet.meta;
        state.paths.count(meta.path, u64::from(meta.segments), meta.wire_bytes());
        if verdict != RuleVerdict::Accept {
            conclude(snapshot, state, batch, index, verdict, source);
        }
    }
    entered
}

/// Whether a packet skips the rules, and later the queues: with `fasttrack-mode=bypass` those that are
/// forwarded of TCP and UDP connections with the mark, unless they are of the kinds that always take the
/// slow path (SYN, FIN, RST, fragments, IP options, ICMP errors). Counted with the fasttracked ones.
fn bypasses<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, meta: &mut Meta) -> bool {
    let slow = flag::SLOW | flag::FRAGMENT | flag::ICMP_ERROR | flag::ATTACHED;
    if !snapshot.fasttrack_bypasses() || meta.hook != Hook::Forward || meta.is(slow) || closes(meta) {
        return false;
    }
    let Some(reference) = meta.conn else { return false };
    if !state.table.get_mut(reference).is_some_and(|line| line.status.fasttrack()) {
        return false;
    }
    let (packets, bytes) = (meta.segments, meta.wire_bytes());
    state.table.count_fasttracked(reference, meta.direction, packets, bytes);
    state.fasttrack.add(Count { packets: packets.into(), bytes });
    meta.flags |= flag::BYPASS;
    (meta.prefix, meta.resume, meta.bounds) = (ROOT, 0, 0);
    true
}

/// Does what the rules said.
pub(crate) fn conclude<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    index: usize,
    verdict: RuleVerdict,
    source: &mut S,
) {
    match verdict {
        RuleVerdict::Accept | RuleVerdict::Nat { .. } => {}
        RuleVerdict::Drop => batch.drop(state, index, DropReason::FilterDrop),
        RuleVerdict::Reject(with) => {
            let tcp = batch.packets.get(index).is_some_and(|packet| packet.meta.tuple.protocol == ipv4::TCP);
            match with {
                RejectWith::TcpReset if tcp => send_reset(snapshot, state, batch, index, source),
                _ => send_error(snapshot, state, batch, index, unreachable(with), source),
            }
            batch.drop(state, index, DropReason::FilterReject);
        }
    }
}

fn unreachable(with: RejectWith) -> IcmpError {
    IcmpError::unreachable(match with {
        RejectWith::IcmpNetworkUnreachable => 0,
        RejectWith::IcmpHostUnreachable => 1,
        RejectWith::IcmpProtocolUnreachable => 2,
        RejectWith::IcmpPortUnreachable | RejectWith::TcpReset => 3,
        RejectWith::IcmpNetProhibited => 9,
        RejectWith::IcmpHostProhibited => 10,
        RejectWith::IcmpAdminProhibited => 13,
    })
}

/// Runs a packet through the filter from `start`, with everything the rules do beside the verdict. The
/// rules hit are added to its path, up to the resume point to the part that may be cached.
pub(crate) fn decide<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &mut Meta,
    vnet: &VnetState,
    head: &[u8],
    start: &Position,
) -> RuleVerdict {
    let view = view(state, meta, vnet, meta.hook);
    let mut evaluation = state.evaluation.take().unwrap_or_default();
    snapshot.filter().evaluate(&view, start, &mut evaluation);
    follow(state, meta, &evaluation);
    let lists = snapshot.lists().0;
    add_to_lists(state, lists, &evaluation.adds);
    for (cell, listed) in meta.lists.iter_mut().zip(evaluation.bounds.listed) {
        *cell = listed.map_or(ListCell::NONE, |listed| {
            let source = listed.side == Side::Source;
            lists.cell(listed.list, if source { view.tuple.src } else { view.tuple.dst })
        });
    }
    log::rules(snapshot, &state.shared, snapshot.filter(), &evaluation.logs, meta, &view, head);
    let markable = matches!(meta.tuple.protocol, ipv4::TCP | ipv4::UDP);
    if let Some(reference) = meta.conn.filter(|_| {
        evaluation.fasttrack && markable && snapshot.allow_fast_path() && !meta.is(flag::ATTACHED)
    }) {
        state.table.set_fasttrack(reference);
    }
    let verdict = evaluation.verdict;
    state.evaluation = Some(evaluation);
    verdict
}

/// Puts addresses into lists, as rules want it.
pub(crate) fn add_to_lists<F>(state: &WorkerState<F>, lists: &AddressLists, adds: &[Add]) {
    for add in adds.iter().filter(|_| !state.peek) {
        if let Some(number) = lists.number(add.list) {
            let shared = &state.shared;
            shared.lists.add(number, add.address, add.timeout_ms, state.now, &shared.epochs);
        }
    }
}

/// Walks the path on by the rules hit.
fn follow<F>(state: &mut WorkerState<F>, meta: &mut Meta, evaluation: &Evaluation) {
    meta.resume = 0;
    meta.prefix = meta.path;
    meta.bounds = 0;
    if !evaluation.bounds.is_unbounded() {
        state.bounds.push(evaluation.bounds);
        meta.bounds = u16::try_from(state.bounds.len()).unwrap_or(0);
        if meta.bounds == 0 {
            meta.flags |= flag::UNCACHED;
        }
    }
    for (at, row) in evaluation.matched.iter().enumerate() {
        match state.paths.step(meta.path, *row) {
            Some(path) => meta.path = path,
            None => {
                state.paths.count_rule(*row, u64::from(meta.segments), meta.wire_bytes());
                meta.flags |= flag::UNCACHED;
            }
        }
        if at < evaluation.matched_before_resume {
            meta.prefix = meta.path;
        }
    }
    if let Some(position) = evaluation.resume {
        match state.resume_number(position) {
            Some(number) => meta.resume = number,
            None => meta.flags |= flag::UNCACHED,
        }
    }
}

/// What rules see of a packet at a hook.
pub(crate) fn view<F>(state: &WorkerState<F>, meta: &Meta, vnet: &VnetState, hook: Hook) -> PacketView {
    let known = |index: u16| Some(index).filter(|index| *index != NO_INTERFACE);
    let icmp = meta.tuple.protocol == ipv4::ICMP;
    let (kind, code) = (meta.l4_kind, meta.icmp_code);
    let status = meta.conn.and_then(|reference| state.table.line(reference)).map(|line| line.status);
    PacketView {
        in_interface: if hook == Hook::Output { None } else { known(meta.in_interface) },
        out_interface: if hook == Hook::Input { None } else { known(meta.out_interface) },
        tuple: meta.tuple,
        tcp_flags: if meta.tuple.protocol == ipv4::TCP { kind } else { 0 },
        icmp_type: if icmp { kind } else { 0 },
        icmp_code: if icmp { code } else { 0 },
        state: meta.state,
        srcnat: status.is_some_and(|status| status.srcnat()),
        dstnat: status.is_some_and(|status| status.dstnat()),
        length: largest_segment(meta, vnet),
        segments: meta.segments,
        wire_bytes: meta.wire_bytes(),
        connection_bytes: meta.conn.map(|_| meta.connection_bytes),
        now: state.now,
        utc_ns: state.utc_ns(),
        seed: state.shared.seed(),
        peek: state.peek,
    }
}
