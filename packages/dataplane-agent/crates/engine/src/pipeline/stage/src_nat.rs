//! Source translation: the first packet of a connection decides, after the filter has let it pass.

use tollway_config::dataplane::Action;

use crate::flow::nat::{Bound, Context, Target, bind_source};
use crate::ids::QueueRef;
use crate::ids::{ConnRef, Direction};
use crate::packet::frame::{Frame, FrameSource, VnetState};
use crate::packet::tuple::{Addr, Tuple};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::flow_handover;
use crate::pipeline::handover::TargetV4;
use crate::pipeline::nat_rule::ask;
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

pub(crate) fn run<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    _source: &mut S,
) -> u64 {
    if !snapshot.tracking() {
        return 0;
    }
    let mut entered = 0;
    for at in 0..batch.slow.len() {
        let Some(index) = batch.slow.get(at).map(|index| *index as usize) else { continue };
        let Batch { packets, flow_handovers, moving, .. } = &mut *batch;
        let Some(packet) = packets.get_mut(index) else { continue };
        let mut flow = None;
        if packet.meta.verdict == Verdict::Resume {
            flow = flow_handover::flow(&packet.meta, flow_handovers);
            (packet.meta.verdict, packet.meta.queue) = (Verdict::Continue, QueueRef::NONE);
        }
        if packet.meta.verdict != Verdict::Continue || packet.meta.is(flag::ATTACHED) {
            continue;
        }
        let Some(reference) = packet.meta.conn else { continue };
        let Some(line) = state.table.line(reference) else {
            // Gone since `track`: evicted for another connection of this batch.
            state.drop(packet, DropReason::ConnectionGone);
            continue;
        };
        entered += 1;
        let undecided = !line.status.source_bound() && !line.status.confirmed();
        if undecided && !packet.meta.is(flag::ICMP_ERROR) {
            let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
            let mut target = None;
            let asked = match flow {
                _ if line.status.given_away() => {
                    // An earlier packet of the batch has moved the flow.
                    if !flow_handover::send_after(state, &mut packet.meta, moving, reference) {
                        state.drop(packet, DropReason::NatExhausted);
                    }
                    continue;
                }
                Some(flow) => {
                    target = flow.target.map(TargetV4::target);
                    Ok(())
                }
                None => ask_rules(snapshot, state, &packet.meta, &packet.vnet, head, &mut target),
            };
            if let Err(reason) = asked {
                state.drop(packet, reason);
                continue;
            }
            match bind(state, reference, target.as_ref(), flow.is_some()) {
                Ok(Bound::Before | Bound::Fresh) => {}
                Ok(Bound::Elsewhere(worker)) => {
                    let meta = &mut packet.meta;
                    if !flow_handover::give_away(snapshot, state, meta, moving, (reference, worker), target) {
                        state.drop(packet, DropReason::NatExhausted);
                    }
                    continue;
                }
                Err(reason) => {
                    state.drop(packet, reason);
                    continue;
                }
            }
        }
        let Some(status) = state.table.line(reference).map(|line| line.status) else { continue };
        let meta = &mut packet.meta;
        if status.srcnat() && status.confirmed() && meta.direction == Direction::Original && leaves(meta) {
            let out = snapshot.interface(meta.out_interface).map_or(0, |out| out.row);
            if state.table.end_masqueraded_elsewhere(reference, out) {
                // `track` has not seen it: the packet cannot open another connection, was routed by another worker, or
                // the route has changed since.
                state.drop(packet, DropReason::ConnectionGone);
                continue;
            }
        }
        if (status.srcnat() || status.dstnat())
            && let Some((from, to)) = state.table.way(reference, meta.direction)
        {
            meta.flags |= flag::TRANSLATED;
            if from.src != to.src {
                // Queues see both directions from the side of the LAN.
                meta.lan_src = meta.tuple.src.as_v4().unwrap_or(0);
                meta.tuple.src = to.src;
            }
            if !meta.is(flag::ICMP_ERROR) {
                meta.tuple.src_port = to.src_port;
            }
        }
    }
    entered
}

/// Whether a packet of its connection leaves by an interface.
fn leaves(meta: &Meta) -> bool {
    !matches!(meta.hook, Hook::Input) && !meta.is(flag::TO_ROUTER | flag::ICMP_ERROR)
}

/// Writes what the rules ask for into `target`: as part of the outcome it would be copied once more.
#[inline(always)]
fn ask_rules<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &Meta,
    vnet: &VnetState,
    head: &[u8],
    target: &mut Option<Target>,
) -> Result<(), DropReason> {
    // Who asks for its address has none yet: no rule may give it one.
    let nameless = meta.tuple.src.as_v4() == Some(0);
    let asks = meta.hook != Hook::Input && !meta.is(flag::TO_ROUTER) && !nameless;
    let Some(start) = snapshot.srcnat().filter(|_| asks) else { return Ok(()) };
    let Some(rule) = ask(snapshot, state, meta, vnet, head, start, Hook::Forward) else { return Ok(()) };
    let interface = snapshot.interface(meta.out_interface);
    let own = interface.and_then(|interface| interface.address_for(meta.next_hop)).map(Addr::v4);
    if own.is_none() && matches!(rule.action, Action::Masquerade { .. }) {
        return Err(DropReason::NatNoAddress);
    }
    *target = Target::of(&rule.action, interface.map_or(0, |interface| interface.row), own);
    Ok(())
}

/// Binds the connection to what the rules ask for. `moved`: its flow came from another worker.
fn bind<F>(
    state: &mut WorkerState<F>,
    reference: ConnRef,
    target: Option<&Target>,
    moved: bool,
) -> Result<Bound, DropReason> {
    let random = state.random();
    let WorkerState { shared, worker, workers, table, peek, .. } = state;
    let peek = *peek;
    let (directory, worker) = (&shared.directory, *worker);
    let workers = *workers;
    let taken = |tuple: &Tuple| workers > 1 && directory.owner(tuple).is_some_and(|owner| owner != worker);
    let context = Context { random, taken: &taken, rooms: Some(&shared.port_rooms), moved, peek };
    bind_source(table, reference, target, &context).map_err(|_| DropReason::NatExhausted)
}
