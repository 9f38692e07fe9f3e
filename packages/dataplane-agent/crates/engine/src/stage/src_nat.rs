//! Source translation: the first packet of a connection decides, after the filter has let it pass.

use tollway_config::dataplane::Action;

use crate::batch::Batch;
use crate::conntrack::ConnRef;
use crate::frame::{Frame, FrameSource, VnetState};
use crate::nat::{Context, Target, bind_source};
use crate::packet::{Hook, Meta, flag};
use crate::snapshot::Snapshot;
use crate::stage::nat_rule::ask;
use crate::state::WorkerState;
use crate::tuple::Addr;
use crate::verdict::{DropReason, Verdict};

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
        let Some(line) = state.table.line(reference) else {
            // Gone since `track`: evicted for another connection of this batch.
            state.drop(packet, DropReason::ConnectionGone);
            continue;
        };
        entered += 1;
        let undecided = !line.status.source_bound() && !line.status.confirmed();
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
            && let Some(conn) = state.table.tuples(reference)
        {
            meta.flags |= flag::TRANSLATED;
            let (from, to) = (conn.tuple(meta.direction), conn.target(meta.direction));
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
    // Who asks for its address has none yet: no rule may give it one.
    let nameless = meta.tuple.src.as_v4() == Some(0);
    let asks = meta.hook != Hook::Input && !meta.is(flag::TO_ROUTER) && !nameless;
    if let Some(start) = snapshot.srcnat().filter(|_| asks)
        && let Some(rule) = ask(snapshot, state, meta, vnet, head, start, Hook::Forward)
    {
        let interface = snapshot.interface(meta.out_interface);
        let own = interface.and_then(|interface| interface.address_for(meta.next_hop)).map(Addr::v4);
        if own.is_none() && matches!(rule.action, Action::Masquerade { .. }) {
            return Err(DropReason::NatNoAddress);
        }
        target = Target::of(&rule.action, interface.map_or(0, |interface| interface.row), own);
    }
    let random = state.random();
    let WorkerState { shared, worker, table, .. } = state;
    let (directory, worker) = (&shared.directory, *worker);
    let taken = |tuple: &crate::tuple::Tuple| directory.owner(tuple).is_some_and(|owner| owner != worker);
    let context = Context { random, taken: &taken };
    let bound =
        bind_source(table, reference, target.as_ref(), &context).map_err(|_| DropReason::NatExhausted)?;
    if bound.foreign.is_some()
        && let Some(reply) = table.publish(reference)
    {
        directory.publish(reply, worker);
    }
    Ok(())
}
