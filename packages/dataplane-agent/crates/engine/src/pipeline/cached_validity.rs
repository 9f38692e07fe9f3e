//! Validity of cached actions that depend on volume, time or DSCP: derived from the outcomes of rules, and checked for
//! each packet.

use crate::flow::conntrack::Validity;
use crate::packet::Meta;
use crate::packet::slow_reason::SlowReason;
use crate::pipeline::header_changes::dscp_of;
use crate::pipeline::state::WorkerState;

/// The validity of the cached action for a packet's direction; `None` when it is unlimited.
pub(crate) fn validity_of<F>(state: &WorkerState<F>, meta: &Meta) -> Option<Validity> {
    let place = usize::from(meta.validity).checked_sub(1)?;
    let outcome = state.validities.get(place)?;
    let validity = Validity { bytes: outcome.bytes, until: outcome.until, dscp: outcome.dscp };
    validity.is_limited().then_some(validity)
}

/// Why the cached action of a packet's entry is not valid for the packet, `head` is the front of its frame; `None` when
/// it is valid. Nothing has been counted yet.
#[inline(never)]
pub(crate) fn expired_reason<F>(state: &WorkerState<F>, meta: &Meta, head: &[u8]) -> Option<SlowReason> {
    let Some(validity) = state.table.validity(meta.entry) else { return Some(SlowReason::Stale) };
    let carried = state.table.carried(meta.entry >> 1);
    let expired = carried.saturating_add(meta.wire_bytes()) >= validity.bytes
        || state.now >= validity.until
        || validity.dscp.is_some_and(|dscp| dscp != dscp_of(meta, head));
    expired.then_some(SlowReason::RuleRecheck)
}
