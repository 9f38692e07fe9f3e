//! Evaluates the rules of a table for a packet, and applies their side effects; shared by the filter and mangle.

use tollway_wire::{ipv4, ipv6};

use crate::firewall::rules::{
    AddressLists, Changes, Evaluation, ListAddition, OutcomeValidity, PacketView, Position, RuleTable,
    RuleVerdict, Side,
};
use crate::flow::conntrack::HotState;
use crate::ids::NO_INTERFACE;
use crate::packet::frame::VnetState;
use crate::packet::membership_slot::MembershipSlot;
use crate::packet::{Hook, Meta, flag};
use crate::pipeline::header_changes::{dscp_of, hop_limit_of};
use crate::pipeline::log;
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// The table and the position at which evaluation starts.
pub(crate) struct RuleQuery<'a> {
    /// The table of the rules.
    pub table: &'a RuleTable,
    /// A built-in chain, or a resume point.
    pub start: &'a Position,
    /// The hook, which decides which interfaces the rules see.
    pub hook: Hook,
    /// The fast path can resume: it evaluates the rules from the first one on that must be evaluated for every packet.
    pub resumes: bool,
}

/// Evaluates rules for a packet, and applies their side effects; returns the verdict and the changes that they ask for.
/// Rules that match are appended to the packet's path, those before the resume point to the cacheable path too.
#[inline(always)]
pub(crate) fn evaluate_rules<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &mut Meta,
    vnet: &VnetState,
    head: &[u8],
    query: &RuleQuery<'_>,
) -> (RuleVerdict, Changes) {
    let mut view = view(state, meta, vnet, head, query.hook);
    let mut evaluation = state.evaluation.take().unwrap_or_default();
    query.table.evaluate(&mut view, query.start, &mut evaluation);
    extend_path(state, meta, &evaluation, query.resumes);
    let lists = &snapshot.rules_for(meta).lists;
    add_to_lists(state, lists, &evaluation.adds);
    note_memberships(meta, &view, lists, &evaluation.validity);
    log::rules(snapshot, &state.shared, query.table, &evaluation.logs, meta, &view, head);
    if evaluation.fasttrack {
        mark_fasttrack(snapshot, state, meta);
    }
    let outcome = (evaluation.verdict, evaluation.changes);
    state.evaluation = Some(evaluation);
    outcome
}

/// Evaluates the filter rules for a packet from `start` on, and applies their side effects.
pub(crate) fn evaluate_filter<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &mut Meta,
    vnet: &VnetState,
    head: &[u8],
    start: &Position,
) -> RuleVerdict {
    let hook = meta.hook;
    let rules = snapshot.rules_for(meta);
    let query = RuleQuery { table: &rules.filter, start, hook, resumes: rules.filter_resumes };
    evaluate_rules(snapshot, state, meta, vnet, head, &query).0
}

/// Marks the connection of a packet as fasttracked: only TCP and UDP connections, as in RouterOS, and not for replies
/// of the router.
fn mark_fasttrack<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, meta: &Meta) {
    let is_markable = matches!(meta.tuple.protocol, ipv4::TCP | ipv4::UDP) && !meta.is(flag::ROUTER_REPLY);
    let is_on = snapshot.allows_fast_path(meta.family());
    if let Some(reference) = meta.conn.filter(|_| is_markable && is_on) {
        state.table.set_fasttrack(reference);
    }
}

/// Whether a packet skips the rules if it is forwarded. With `fasttrack-mode=bypass` all packets of fasttracked
/// connections do, except those that always take the slow path (SYN, FIN, RST, fragments, IP options, ICMP errors).
pub(crate) fn may_bypass<F>(snapshot: &Snapshot, state: &WorkerState<F>, meta: &Meta) -> bool {
    const SLOW: u32 = flag::SLOW | flag::FRAGMENT | flag::ICMP_ERROR | flag::ROUTER_REPLY;
    let marked = |hot: &HotState| hot.status.fasttrack();
    snapshot.fasttrack_bypasses(meta.family())
        && !meta.is(SLOW)
        && !meta.closes()
        && meta.conn.and_then(|reference| state.table.hot(reference)).is_some_and(marked)
}

/// Notes the address-list memberships on which the outcome depends. If there are more than there is room for, the rules
/// are evaluated for every packet.
fn note_memberships(meta: &mut Meta, view: &PacketView, lists: &AddressLists, validity: &OutcomeValidity) {
    for listed in validity.listed.into_iter().flatten() {
        let source = listed.side == Side::Source;
        let membership = lists.membership(listed.list, if source { view.tuple.src } else { view.tuple.dst });
        if membership == MembershipSlot::NONE || meta.lists.contains(&membership) {
            continue;
        }
        match meta.lists.iter_mut().find(|place| **place == MembershipSlot::NONE) {
            Some(place) => *place = membership,
            None => meta.flags |= flag::EVALUATE_EVERY_PACKET,
        }
    }
}

/// Adds addresses to lists, as rules ask for.
pub(crate) fn add_to_lists<F>(state: &WorkerState<F>, lists: &AddressLists, adds: &[ListAddition]) {
    for add in adds.iter().filter(|_| !state.dry_run) {
        if let Some(number) = lists.number(add.list) {
            let shared = &state.shared;
            shared.address_sets.add(number, add.address, add.timeout_ms, state.now, &shared.change_counters);
        }
    }
}

/// Appends the rules that matched to the path of a packet, and notes validity and resume point of the outcome.
fn extend_path<F>(state: &mut WorkerState<F>, meta: &mut Meta, evaluation: &Evaluation, resumes: bool) {
    limit_validity(state, meta, &evaluation.validity);
    meta.cacheable_path = meta.path;
    for (at, row) in evaluation.matched.iter().enumerate() {
        match state.paths.step(meta.path, *row) {
            Some(path) => meta.path = path,
            None => {
                state.paths.count_rule(*row, u64::from(meta.segments), meta.wire_bytes());
                meta.flags |= flag::UNCACHED;
            }
        }
        if at < evaluation.matched_before_resume {
            meta.cacheable_path = meta.path;
        }
    }
    match evaluation.resume {
        Some(position) if resumes => match state.resume_number(position) {
            Some(number) => meta.resume = number,
            None => meta.flags |= flag::UNCACHED,
        },
        Some(_) => meta.flags |= flag::EVALUATE_EVERY_PACKET,
        None => {}
    }
}

/// Narrows the validity of the outcome for a packet.
pub(crate) fn limit_validity<F>(state: &mut WorkerState<F>, meta: &mut Meta, validity: &OutcomeValidity) {
    if validity.is_unlimited() {
        return;
    }
    let known = usize::from(meta.validity).checked_sub(1).and_then(|place| state.validities.get_mut(place));
    if let Some(known) = known {
        known.narrow(validity.bytes, validity.until);
        known.dscp = known.dscp.or(validity.dscp);
        return;
    }
    state.validities.push(*validity);
    meta.validity = u16::try_from(state.validities.len()).unwrap_or(0);
    if meta.validity == 0 {
        meta.flags |= flag::UNCACHED;
    }
}

/// The view of a packet for the rules of a hook; `head` is the front of its frame.
pub(crate) fn view<F>(
    state: &WorkerState<F>,
    meta: &Meta,
    vnet: &VnetState,
    head: &[u8],
    hook: Hook,
) -> PacketView {
    let known = |index: u16| Some(index).filter(|index| *index != NO_INTERFACE);
    let icmp = meta.tuple.protocol == if meta.is_ipv6() { ipv6::ICMPV6 } else { ipv4::ICMP };
    let (kind, code) = (meta.tcp_flags_or_icmp_type, meta.icmp_code);
    let status = meta.conn.and_then(|reference| state.table.hot(reference)).map(|hot| hot.status);
    PacketView {
        in_interface: if hook == Hook::Output { None } else { known(meta.in_interface) },
        out_interface: if matches!(hook, Hook::Input | Hook::Prerouting) {
            None
        } else {
            known(meta.out_interface)
        },
        tuple: meta.tuple,
        no_transport_header: meta.is(flag::LATER_FRAGMENT) && !meta.is(flag::FRAGMENT_PORTS_KNOWN),
        tcp_flags: if meta.tuple.protocol == ipv4::TCP { kind } else { 0 },
        icmp_type: if icmp { kind } else { 0 },
        icmp_code: if icmp { code } else { 0 },
        state: meta.state,
        srcnat: status.is_some_and(|status| status.srcnat()),
        dstnat: status.is_some_and(|status| status.dstnat()),
        mark: meta.mark,
        connection_mark: meta.connection_mark,
        routing_mark: meta.routing_mark,
        dscp: dscp_of(meta, head),
        dscp_written: meta.new_dscp.is_some(),
        hop_limit: hop_limit_of(meta, head),
        length: meta.largest_segment(vnet),
        segments: meta.segments,
        wire_bytes: meta.wire_bytes(),
        connection_bytes: meta.conn.map(|_| meta.connection_bytes),
        now: state.now,
        utc_ns: state.utc_ns(),
        seed: state.shared.seed(),
        dry_run: state.dry_run,
    }
}
