//! Gives every fragment the ports of its datagram, so that it can be tracked and translated.

use tollway_wire::ipv4;

use crate::flow::conntrack::tcp::Segment;
use crate::ip::fragments::{Fragments, InsertOutcome};
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::tuple::{Tuple, steer};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Packet, flag};
use crate::pipeline::fragment_header::fragment_of;
use crate::pipeline::reassembly::reassemble;
use crate::pipeline::slow_path::Pass;
use crate::pipeline::state::WorkerState;

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    let (snapshot, state, batch, source) = pass.parts();
    if !std::mem::take(&mut state.fragments_pending) || !snapshot.tracking() {
        return 0;
    }
    let mut entered = 0;
    // Fragments that have waited are appended; their ports are known.
    let end = batch.packets.len();
    for index in batch.first..end {
        let Some(packet) = batch.packets.get_mut(index) else { break };
        let meta = &mut packet.meta;
        if meta.verdict != Verdict::Continue
            || !meta.is(flag::FRAGMENT)
            || meta.is(flag::FRAGMENT_PORTS_KNOWN)
        {
            continue;
        }
        entered += 1;
        // All fragments of a datagram are steered to one worker, which need not be the owner of the flow.
        let bare = Tuple { src_port: 0, dst_port: 0, ..meta.tuple };
        let owner = steer(&Tuple { protocol: 0, ..bare }, state.workers);
        if owner != state.worker {
            meta.verdict = Verdict::Handover(owner as u16);
            meta.handovers = meta.handovers.saturating_add(1);
            continue;
        }
        let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
        let Some((key, range, start)) = fragment_of(meta, head) else {
            state.drop(packet, DropReason::FragmentInvalid);
            continue;
        };
        if range.offset == 0 && meta.tuple.protocol == ipv4::TCP {
            // Only the header of the segment is read here; the length of its payload is added from the offset of each
            // fragment.
            let header = Segment::parse(head.get(usize::from(meta.l4)..).unwrap_or_default(), 0);
            let extensions = usize::from(meta.l4 - meta.l3).saturating_sub(start) as u32;
            let headers = u32::from(meta.l4_len) + extensions;
            meta.sequence = header.map_or(0, |it| it.end().wrapping_sub(headers));
        }
        let memory = packet.frame.as_ref().map_or(0, Frame::footprint);
        let is_ipv6 = packet.meta.is_ipv6();
        while let Some(given_up) = table(state, is_ipv6).make_room(key, range, memory) {
            for mut displaced in given_up {
                state.drop(&mut displaced, DropReason::FragmentLimit);
            }
        }
        let frame = packet.frame.take();
        let mut fragment = Some(Packet { frame, vnet: packet.vnet, meta: packet.meta });
        packet.meta.verdict = Verdict::Held;
        let now = state.now;
        let outcome = table(state, is_ipv6).insert(key, range, &mut fragment, now);
        let waited = match outcome {
            InsertOutcome::Known(waited) if fragment.as_ref().is_some_and(is_error) => {
                if let Some(fragment) = fragment {
                    *packet = fragment;
                }
                join(state, packet, waited, source);
                continue;
            }
            InsertOutcome::Known(waited) => {
                if let Some(mut fragment) = fragment {
                    state.table.identify(&mut fragment.meta);
                    *packet = fragment;
                }
                waited
            }
            InsertOutcome::Held => continue,
            InsertOutcome::Invalid(fragment) => {
                *packet = fragment;
                state.drop(packet, DropReason::FragmentInvalid);
                continue;
            }
            InsertOutcome::Full(fragment) => {
                *packet = fragment;
                state.drop(packet, DropReason::FragmentLimit);
                continue;
            }
        };
        for mut fragment in waited {
            state.table.identify(&mut fragment.meta);
            batch.packets.push(fragment);
        }
    }
    entered
}

fn is_error<F>(fragment: &Packet<F>) -> bool {
    fragment.meta.is(flag::ICMP_ERROR)
}

/// Makes the whole ICMP error of its last fragment to arrive and of those that have waited; all but one of them end here.
#[cold]
fn join<F: Frame, S: FrameSource<F>>(
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    waited: impl IntoIterator<Item = Packet<F>>,
    source: &mut S,
) {
    let mut waited: Vec<Packet<F>> = waited.into_iter().collect();
    let all: Vec<&Packet<F>> = waited.iter().chain(std::iter::once(&*packet)).collect();
    let whole = reassemble(&all, source);
    let reason = if whole.is_some() { DropReason::FragmentReassembled } else { DropReason::FragmentInvalid };
    for fragment in &mut waited {
        state.drop(fragment, reason);
    }
    match whole {
        Some(mut whole) => {
            state.table.identify(&mut whole.meta);
            *packet = whole;
        }
        None => state.drop(packet, reason),
    }
}

/// The incomplete datagrams of a family.
fn table<F>(state: &mut WorkerState<F>, is_ipv6: bool) -> &mut Fragments<F> {
    if is_ipv6 { &mut state.fragments6 } else { &mut state.fragments }
}
