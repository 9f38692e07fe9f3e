//! Address translation, shared by the stages `dst_nat` and `src_nat`: the first packet of a connection decides on the
//! translation, which then applies to every packet. Destinations are translated before routing, sources after the
//! filter. The frame itself is rewritten by `emit`, so that errors quote what the sender sent.

use tollway_wire::icmp;

use crate::firewall::rules::{Position, Rule, RuleVerdict, TableKind};
use crate::flow::conntrack::{HotState, Status};
use crate::flow::nat::{BindContext, Manip, NatTarget, SourceBinding, bind_destination, bind_source};
use crate::ids::{ConnRef, Direction, QueueRef};
use crate::packet::frame::{Frame, FrameSource, VnetState};
use crate::packet::tuple::{Addr, Tuple, Zone};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, Origin, Packet, flag};
use crate::pipeline::handover::{FlowHandover, FlowHandovers};
use crate::pipeline::rules::{add_to_lists, view};
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};
use crate::pipeline::state::WorkerState;
use crate::pipeline::{flow_handover, log, masqueraded};
use crate::snapshot::{Interface, Snapshot};

/// Runs the source (`SOURCE`) or the destination stage. `SOURCE` is a const parameter, so that each stage is compiled
/// separately.
#[inline(always)]
pub(super) fn run<F: Frame, S: FrameSource<F>, const SOURCE: bool>(pass: &mut Pass<'_, F, S>) -> u64 {
    if !pass.snapshot.tracking() {
        return 0;
    }
    let handovers_in = std::mem::take(&mut pass.batch.flow_handovers_in);
    let mut handovers_out = std::mem::take(&mut pass.batch.flow_handovers_out);
    let marks_route = !SOURCE && masqueraded::routed_by_marks(pass.snapshot);
    let entered = each_slow(pass, |snapshot, state, packet| {
        let manip = const { if SOURCE { Manip::Source } else { Manip::Destination } };
        let flow = match packet.meta.verdict {
            Verdict::DecidedElsewhere if manip == Manip::Source => {
                let flow = flow_handover::flow(&packet.meta, &handovers_in);
                (packet.meta.verdict, packet.meta.queue) = (Verdict::Continue, QueueRef::NONE);
                flow
            }
            Verdict::Continue => None,
            _ => return StageOutcome::Skip,
        };
        let connection = |meta: &Meta| meta.conn.filter(|_| !meta.is(flag::ROUTER_REPLY));
        let Some(mut reference) = connection(&packet.meta) else {
            return StageOutcome::Skip;
        };
        let translated = |hot: &HotState| hot.status.srcnat() && hot.status.confirmed();
        if marks_route
            && !packet.meta.is(flag::ICMP_ERROR)
            && !masqueraded::is_marked_in_output(snapshot, &packet.meta)
            && state.table.hot(reference).is_some_and(translated)
        {
            masqueraded::open_anew_if_elsewhere(snapshot, state, packet, reference);
            let Some(now) = connection(&packet.meta) else {
                return StageOutcome::Drop(DropReason::ConnectionTableFull);
            };
            reference = now;
        }
        let Some(hot) = state.table.hot(reference) else {
            // The connection is gone since `track`: it was evicted for another connection of this batch.
            return if manip == Manip::Source {
                StageOutcome::Drop(DropReason::ConnectionGone)
            } else {
                StageOutcome::Skip
            };
        };
        let mut status = hot.status;
        let is_error = packet.meta.is(flag::ICMP_ERROR);
        if manip == Manip::Destination && is_error && is_redirect_of_translated(&packet.meta, status) {
            return StageOutcome::Drop(DropReason::IcmpRedirect);
        }
        let bound = if manip == Manip::Source { status.source_bound() } else { status.destination_bound() };
        if !bound && !status.confirmed() && !is_error {
            let decided = match manip {
                Manip::Destination => bind_by_rules(snapshot, state, packet, reference).map(|()| true),
                Manip::Source if status.moved() => {
                    // An earlier packet of the batch has moved the flow.
                    let sent = flow_handover::hand_over_packet(
                        state,
                        &mut packet.meta,
                        &mut handovers_out,
                        reference,
                    );
                    if sent { Ok(false) } else { Err(DropReason::NatExhausted) }
                }
                Manip::Source => decide_source(snapshot, state, packet, reference, flow, &mut handovers_out),
            };
            match decided {
                Ok(true) => {}
                Ok(false) => return StageOutcome::Next,
                Err(reason) => return StageOutcome::Drop(reason),
            }
            let Some(hot) = state.table.hot(reference) else { return StageOutcome::Next };
            status = hot.status;
        }
        let meta = &mut packet.meta;
        if manip == Manip::Source
            && status.srcnat()
            && status.confirmed()
            && meta.direction == Direction::Original
            && has_out_interface(meta)
            // What it encapsulates goes by several interfaces at once; `track` looks whether its own is among them.
            && !meta.is(flag::ROUTED_BY_INNER)
        {
            let out = snapshot.interface(meta.out_interface).map_or(0, |out| out.row);
            if state.table.end_masqueraded_by_other(reference, out) {
                // `track` has not replaced the connection: the packet cannot open a new one, was routed by another
                // worker, or the route has changed since.
                return StageOutcome::Drop(DropReason::ConnectionGone);
            }
        }
        if status.srcnat() || status.dstnat() {
            translate(state, meta, reference, manip);
        }
        StageOutcome::Next
    });
    (pass.batch.flow_handovers_in, pass.batch.flow_handovers_out) = (handovers_in, handovers_out);
    entered
}

/// Writes the translated address and port of one end of the connection into the packet's tuple.
#[inline(always)]
fn translate<F>(state: &WorkerState<F>, meta: &mut Meta, reference: ConnRef, manip: Manip) {
    let Some((from, to)) = state.table.translation(reference, meta.direction) else { return };
    meta.flags |= flag::TRANSLATED;
    let with_ports = !meta.is(flag::ICMP_ERROR);
    match manip {
        Manip::Destination => {
            if from.dst != to.dst {
                meta.tuple.dst = to.dst;
            }
            if with_ports {
                meta.tuple.dst_port = to.dst_port;
            }
        }
        Manip::Source => {
            if from.src != to.src {
                // Queues see both directions from the side of the LAN.
                meta.untranslated_src = meta.tuple.src.as_v4().unwrap_or(0);
                meta.tuple.src = to.src;
            }
            if with_ports {
                meta.tuple.src_port = to.src_port;
            }
        }
    }
}

fn head<F: Frame>(packet: &Packet<F>) -> &[u8] {
    packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default()
}

/// Whether an ICMP error is a redirect about a connection that is translated, or may still be. The gateway that a
/// redirect names belongs to the network from which it comes and cannot be translated for a host in another network
/// (Linux drops these as well: nf_nat_icmp_reply_translation).
#[cold]
fn is_redirect_of_translated(meta: &Meta, status: Status) -> bool {
    let open = !status.source_bound() && !status.confirmed();
    // Those of ICMPv6 are messages of the link, which are not tracked.
    let is_redirect = meta.tcp_flags_or_icmp_type == icmp::REDIRECT && !meta.is_ipv6();
    is_redirect && (open || status.srcnat() || status.dstnat())
}

/// Evaluates the rules of chain dstnat, and binds the connection to the result.
fn bind_by_rules<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &Packet<F>,
    reference: ConnRef,
) -> Result<(), DropReason> {
    let Packet { meta, vnet, .. } = packet;
    let mut target = None;
    if let Some(start) =
        snapshot.start_for(meta, TableKind::Nat, Hook::Prerouting).filter(|_| meta.origin == Origin::Port)
        && let Some(rule) = deciding_rule(snapshot, state, meta, vnet, head(packet), start, Hook::Prerouting)
    {
        let interface = snapshot.interface(meta.in_interface);
        let own = interface.and_then(|interface| own_address(state, interface, meta.tuple.src));
        target = rule.nat_target(interface.map_or(0, |interface| interface.row), own);
        if target.is_none() {
            return Err(DropReason::NatNoAddress);
        }
    }
    let random = state.random();
    bind_destination(&mut state.table, reference, target.as_ref(), random)
        .map_err(|_| DropReason::NatExhausted)
}

/// Finds a reply tuple for the connection of a first packet, according to the rules, or to the decision of another
/// worker if the flow came from there. Returns `false` if the packet is handed over to a worker that has a free reply
/// tuple.
#[inline]
fn decide_source<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    reference: ConnRef,
    flow: Option<&FlowHandover>,
    handovers_out: &mut FlowHandovers,
) -> Result<bool, DropReason> {
    let mut target = None;
    match flow {
        Some(flow) => target = flow.target.map(NatTarget::from),
        None => ask_srcnat(snapshot, state, packet, &mut target)?,
    }
    let zone = zone_of_egress(snapshot, &packet.meta);
    match bind_source_of(state, reference, target.as_ref(), zone, flow.is_some())? {
        SourceBinding::Earlier | SourceBinding::Fresh => Ok(true),
        SourceBinding::OtherWorker(worker) => {
            let meta = &mut packet.meta;
            let moves = flow_handover::hand_over_flow(
                snapshot,
                state,
                meta,
                handovers_out,
                (reference, worker),
                target,
            );
            if moves { Ok(false) } else { Err(DropReason::NatExhausted) }
        }
    }
}

/// Whether the packet leaves by an interface, that is, is neither for the router nor an ICMP error.
fn has_out_interface(meta: &Meta) -> bool {
    !matches!(meta.hook, Hook::Input) && !meta.is(flag::TO_ROUTER | flag::ICMP_ERROR)
}

/// Zone of the interface that a packet leaves by, or to whose services it goes.
fn zone_of_egress(snapshot: &Snapshot, meta: &Meta) -> Zone {
    snapshot.interface(meta.out_interface).map_or(meta.tuple.zone, |out| out.zone)
}

/// Address of the router on an interface for packets to or from a peer; of IPv6 one that may be used.
fn own_address<F>(state: &WorkerState<F>, interface: &Interface, peer: Addr) -> Option<Addr> {
    if let Some(peer) = peer.as_v4() {
        return interface.address_for(peer).map(Addr::v4);
    }
    let usable = |own: u128| state.shared.address_states.is_usable((interface.row, Addr(own)));
    interface.ipv6.as_ref()?.address_for(peer.0, usable).map(Addr)
}

/// Evaluates the rules of chain srcnat, and writes their translation into `target`. Returned as part of the result it
/// would be copied once more.
#[inline(always)]
fn ask_srcnat<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &Packet<F>,
    target: &mut Option<NatTarget>,
) -> Result<(), DropReason> {
    let Packet { meta, vnet, .. } = packet;
    // The sender has no address yet (DHCP): no rule may translate it.
    let unspecified = [Addr::v4(0), Addr(0)].contains(&meta.tuple.src);
    let asks = meta.hook != Hook::Input && !meta.is(flag::TO_ROUTER) && !unspecified;
    let Some(start) = snapshot.start_for(meta, TableKind::Nat, Hook::Postrouting).filter(|_| asks) else {
        return Ok(());
    };
    let Some(rule) = deciding_rule(snapshot, state, meta, vnet, head(packet), start, Hook::Postrouting)
    else {
        return Ok(());
    };
    let interface = snapshot.interface(meta.out_interface);
    let peer = if meta.is_ipv6() { meta.tuple.dst } else { Addr::v4(meta.next_hop) };
    let own = interface.and_then(|interface| own_address(state, interface, peer));
    *target = rule.nat_target(interface.map_or(0, |interface| interface.row), own);
    if target.is_some() { Ok(()) } else { Err(DropReason::NatNoAddress) }
}

/// Binds the source of the connection to what the rules ask for. `moved`: its flow came from another worker.
fn bind_source_of<F>(
    state: &mut WorkerState<F>,
    reference: ConnRef,
    target: Option<&NatTarget>,
    zone: Zone,
    moved: bool,
) -> Result<SourceBinding, DropReason> {
    let random = state.random();
    let WorkerState { shared, worker, workers, table, dry_run, .. } = state;
    let dry_run = *dry_run;
    let (directory, worker) = (&shared.directory, *worker);
    let workers = *workers;
    let moved_away =
        |tuple: &Tuple| workers > 1 && directory.owner(tuple).is_some_and(|owner| owner != worker);
    let free_ports = Some(&*shared.free_ports);
    let context = BindContext { random, zone, moved_away: &moved_away, free_ports, moved, dry_run };
    bind_source(table, reference, target, &context).map_err(|_| DropReason::NatExhausted)
}

/// The NAT rule that decides; `None` if no rule does. Counts and logs the rules that matched: NAT rules count only
/// first packets. `head` is the front of the frame; `hook` decides which interfaces the rules see.
fn deciding_rule<'a, F>(
    snapshot: &'a Snapshot,
    state: &mut WorkerState<F>,
    meta: &Meta,
    vnet: &VnetState,
    head: &[u8],
    start: &Position,
    hook: Hook,
) -> Option<&'a Rule> {
    let mut view = view(state, meta, vnet, head, hook);
    let mut evaluation = state.evaluation.take().unwrap_or_default();
    snapshot.rules_for(meta).nat.evaluate(&mut view, start, &mut evaluation);
    if let Some(tracer) = &mut state.trace {
        tracer.nat_rules(meta.conn, &evaluation.matched);
    }
    for row in &evaluation.matched {
        state.paths.count_rule(*row, u64::from(meta.segments), meta.wire_bytes());
    }
    log::rules(snapshot, &state.shared, &snapshot.rules_for(meta).nat, &evaluation.logs, meta, &view, head);
    add_to_lists(state, &snapshot.rules_for(meta).lists, &evaluation.adds);
    let verdict = evaluation.verdict;
    state.evaluation = Some(evaluation);
    match verdict {
        RuleVerdict::Nat { rule } => snapshot.rules_for(meta).nat.rule(rule),
        RuleVerdict::Accept | RuleVerdict::Drop | RuleVerdict::Reject(_) => None,
    }
}
