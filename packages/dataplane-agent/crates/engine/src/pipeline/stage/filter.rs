//! The firewall filter: input, forward or output.

use tollway_config::dataplane::RejectWith;
use tollway_wire::ipv4;

use crate::firewall::classifier::{Position, Verdict as RuleVerdict};
use crate::packet::frame::{Frame, FrameSource, VnetState};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Meta, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::icmp::{IcmpError, send_error, send_reset};
use crate::pipeline::rules::{Questions, ask};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

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
        if packet.meta.is(flag::BYPASS) {
            continue;
        }
        let Some(start) = snapshot.filter_hook(packet.meta.hook) else { continue };
        let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
        let verdict = decide(snapshot, state, &mut packet.meta, &packet.vnet, head, start);
        if verdict != RuleVerdict::Accept {
            conclude(snapshot, state, batch, index, verdict, source);
        }
    }
    entered
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

/// Runs a packet through the filter from `start`, with everything the rules do beside the verdict.
pub(crate) fn decide<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &mut Meta,
    vnet: &VnetState,
    head: &[u8],
    start: &Position,
) -> RuleVerdict {
    let hook = meta.hook;
    let questions = Questions { table: snapshot.filter(), start, hook, resumes: snapshot.filter_resumes() };
    ask(snapshot, state, meta, vnet, head, &questions).0
}
