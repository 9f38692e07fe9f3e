//! Cached actions that hold only for a while: what they are bounded by, and whether they still hold.

use crate::flow::conntrack::Validity;
use crate::packet::Meta;
use crate::packet::slow_reason::SlowReason;
use crate::pipeline::alter::dscp_of;
use crate::pipeline::state::WorkerState;

/// The bounds of the cached action for a packet's direction; `None` when it has none.
pub(crate) fn of<F>(state: &WorkerState<F>, meta: &Meta) -> Option<Validity> {
    let place = usize::from(meta.bounds).checked_sub(1)?;
    let bounds = state.bounds.get(place)?;
    let bound = Validity { bytes: bounds.bytes, until: bounds.until, dscp: bounds.dscp };
    bound.ends().then_some(bound)
}

/// Why the cached action of a packet's entry is not valid for the packet, `head` being its front; `None` when it is
/// valid. Nothing has been counted yet.
#[inline(never)]
pub(crate) fn broken<F>(state: &WorkerState<F>, meta: &Meta, head: &[u8]) -> Option<SlowReason> {
    let Some(bound) = state.table.validity(meta.entry) else { return Some(SlowReason::Stale) };
    let carried = state.table.carried(meta.entry >> 1);
    let due = carried.saturating_add(meta.wire_bytes()) >= bound.bytes
        || state.now >= bound.until
        || bound.dscp.is_some_and(|dscp| dscp != dscp_of(meta, head));
    due.then_some(SlowReason::Due)
}
