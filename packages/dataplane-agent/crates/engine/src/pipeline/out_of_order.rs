//! TCP segments that are out of order: flagged by connection tracking, and counted in the queues that they pass.

use crate::flow::conntrack::tcp::Order;
use crate::packet::frame::Frame;
use crate::packet::{Meta, flag};
use crate::pipeline::state::WorkerState;

/// Flags and counts a packet that is out of order.
#[inline]
pub(crate) fn note_order<F>(state: &mut WorkerState<F>, meta: &mut Meta, order: Order) {
    if order == Order::OutOfOrder {
        meta.flags |= flag::OUT_OF_ORDER;
        state.out_of_order += u64::from(meta.segments);
    }
}

/// Counts a packet in the queues that it passes, if it is out of order.
#[inline]
pub(crate) fn count_out_of_order<F: Frame>(state: &mut WorkerState<F>, meta: &mut Meta) {
    if meta.is(flag::OUT_OF_ORDER) {
        state.queues.count_out_of_order(meta.queue, meta.segments);
        meta.flags &= !flag::OUT_OF_ORDER;
    }
}
