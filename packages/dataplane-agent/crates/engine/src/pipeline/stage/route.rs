//! Routing: decides whether a packet is for the router itself, or leaves by an interface and a next hop.

use crate::ip::options;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Origin, Packet, flag};
use crate::pipeline::icmp::IcmpError;
use crate::pipeline::redirect;
use crate::pipeline::routing::Refusal;
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};
use crate::pipeline::state::WorkerState;
use crate::pipeline::{ipv4_route, ipv6_route};
use crate::snapshot::Snapshot;

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Continue {
            return StageOutcome::Skip;
        }
        let meta = &mut packet.meta;
        let decided = if meta.is_ipv6() {
            ipv6_route::decide(snapshot, &state.shared, meta)
        } else {
            let decided = ipv4_route::decide(snapshot, meta);
            if meta.is(flag::OPTIONS) || snapshot.settings.accept_redirects {
                decided.and_then(|()| follow_options_and_redirects(snapshot, state, packet))
            } else {
                decided
            }
        };
        match decided {
            Ok(()) => StageOutcome::Next,
            Err((reason, None)) => StageOutcome::Drop(reason),
            Err((reason, Some(error))) => StageOutcome::Error(reason, error),
        }
    })
}

/// Refuses malformed options, and strict source routes to another network or by another router.
fn check_options<F: Frame>(packet: &Packet<F>) -> Result<(), Refusal> {
    let meta = &packet.meta;
    if !meta.is(flag::OPTIONS) || meta.origin != Origin::Port {
        return Ok(());
    }
    let head = packet.frame.as_ref().map(Frame::head).unwrap_or_default();
    let l3 = head.get(usize::from(meta.l3)..).unwrap_or_default();
    options::check(l3)
        .map_err(|pointer| (DropReason::BadIpOptions, Some(IcmpError::parameter_problem(pointer))))?;
    if meta.hook == Hook::Forward && options::source_route(l3).is_some_and(|route| route.strict) {
        let connected = meta.tuple.dst.as_v4() == Some(meta.next_hop);
        if !connected || !meta.is(flag::SOURCE_ROUTED) {
            return Err((DropReason::SourceRouteFailed, Some(IcmpError::SOURCE_ROUTE_FAILED)));
        }
    }
    Ok(())
}

/// Checks the options of a packet that has been routed; those of the router itself may have another gateway by a redirect.
#[cold]
fn follow_options_and_redirects<F: Frame>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    packet: &mut Packet<F>,
) -> Result<(), Refusal> {
    check_options(packet)?;
    let meta = &mut packet.meta;
    if snapshot.settings.accept_redirects && meta.hook == Hook::Output {
        meta.next_hop = redirect::gateway(snapshot, state, meta, meta.next_hop).unwrap_or(meta.next_hop);
    }
    Ok(())
}
