//! Destination translation: the first packet of a connection decides, every packet gets it before it is
//! routed. The frame itself is rewritten by `emit`, so that errors quote what the sender sent.

use tollway_config::dataplane::Action;
use tollway_wire::icmp;

use crate::flow::conntrack::Status;
use crate::flow::nat::{Target, bind_destination};
use crate::ids::ConnRef;
use crate::packet::frame::{Frame, FrameSource, VnetState};
use crate::packet::tuple::Addr;
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, Origin, flag};
use crate::pipeline::batch::Batch;
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
        let Some((_, packet)) = batch.slow_packet(at) else { continue };
        if packet.meta.verdict != Verdict::Continue || packet.meta.is(flag::ATTACHED) {
            continue;
        }
        let Some(reference) = packet.meta.conn else { continue };
        let Some(line) = state.table.line(reference) else { continue };
        entered += 1;
        if packet.meta.is(flag::ICMP_ERROR) && is_redirect_of_translated(&packet.meta, line.status) {
            state.drop(packet, DropReason::IcmpRedirect);
            continue;
        }
        let undecided = !line.status.destination_bound() && !line.status.confirmed();
        if undecided && !packet.meta.is(flag::ICMP_ERROR) {
            let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
            if let Err(reason) = decide(snapshot, state, &packet.meta, &packet.vnet, head, reference) {
                state.drop(packet, reason);
                continue;
            }
        }
        let Some(status) = state.table.line(reference).map(|line| line.status) else { continue };
        let meta = &mut packet.meta;
        if (status.srcnat() || status.dstnat())
            && let Some((from, to)) = state.table.way(reference, meta.direction)
        {
            meta.flags |= flag::TRANSLATED;
            if from.dst != to.dst {
                meta.tuple.dst = to.dst;
            }
            if !meta.is(flag::ICMP_ERROR) {
                meta.tuple.dst_port = to.dst_port;
            }
        }
    }
    entered
}

/// Whether an ICMP error is a redirect about a connection that is translated, or may yet be. The gateway that it names
/// is of the network that it came from, and of no use to a host of another one; there is nothing that it could be
/// translated to (Linux drops these as well: nf_nat_icmp_reply_translation).
#[cold]
fn is_redirect_of_translated(meta: &Meta, status: Status) -> bool {
    let open = !status.source_bound() && !status.confirmed();
    meta.l4_kind == icmp::REDIRECT && (open || status.srcnat() || status.dstnat())
}

/// Asks the rules, and binds the connection to the answer.
fn decide<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &Meta,
    vnet: &VnetState,
    head: &[u8],
    reference: ConnRef,
) -> Result<(), DropReason> {
    let mut target = None;
    if let Some(start) = snapshot.dstnat().filter(|_| meta.origin == Origin::Port)
        && let Some(rule) = ask(snapshot, state, meta, vnet, head, start, Hook::Input)
    {
        let interface = snapshot.interface(meta.in_interface);
        let own = interface
            .and_then(|interface| interface.address_for(meta.tuple.src.as_v4().unwrap_or(0)))
            .map(Addr::v4);
        if own.is_none() && matches!(rule.action, Action::Redirect { .. }) {
            return Err(DropReason::NatNoAddress);
        }
        target = Target::of(&rule.action, interface.map_or(0, |interface| interface.row), own);
    }
    let random = state.random();
    bind_destination(&mut state.table, reference, target.as_ref(), random)
        .map_err(|_| DropReason::NatExhausted)
}
