//! Masqueraded connections whose packets now leave by another interface than the one whose address they use. Replies to
//! that address would not arrive by the new interface, so the connection ends and a new one replaces it.

use tollway_config::dataplane::RowId;

use super::ConnectionTable;
use crate::flow::conntrack::flow::Flow;
use crate::ids::{ConnRef, Direction};
use crate::packet::tuple::Tuple;

impl ConnectionTable {
    /// Ends the masqueraded connection of a packet, so that the packet opens another one, if `leaves_by_other` holds
    /// for the interface row whose address the connection uses and the tuple by which its packets are routed. Only for a
    /// packet of the original direction for which `Transport::may_open_anew` holds.
    pub fn replace_masqueraded(
        &mut self,
        flow: &Flow<'_>,
        leaves_by_other: impl FnOnce(RowId, &Tuple) -> bool,
    ) {
        if let Some((row, routed)) = self.masquerade_of(flow)
            && leaves_by_other(row, &routed)
        {
            self.replace(flow.entry >> 1);
        }
    }

    /// [`Self::replace_masqueraded`] of a packet whose connection is known. Returns whether the packet opens another
    /// connection: also if an earlier packet of the batch has ended this one.
    pub fn replace_masqueraded_of(
        &mut self,
        reference: ConnRef,
        tuple: &Tuple,
        leaves_by_other: impl FnOnce(RowId, &Tuple) -> bool,
    ) -> bool {
        let row = self.masquerade(reference.slot);
        if row == 0 || !leaves_by_other(row, &self.routed(reference.slot, tuple)) {
            return false;
        }
        if self.is_indexed(reference.slot, Direction::Original) {
            self.replace(reference.slot);
        }
        true
    }

    /// The interface row whose address a packet's connection uses, and the packet's tuple with the translated destination;
    /// `None` if the connection is not masqueraded or not confirmed, or if the packet is a reply.
    #[inline]
    fn masquerade_of(&self, flow: &Flow<'_>) -> Option<(RowId, Tuple)> {
        let status = self.connection_at(flow.entry)?.status;
        let original = Self::direction_of(flow.entry) == Direction::Original;
        if !original
            || !status.srcnat()
            || !status.confirmed()
            || !self.is_entry(flow.entry, flow.key, flow.tuple)
        {
            return None;
        }
        let slot = flow.entry >> 1;
        let row = self.masquerade(slot);
        (row != 0).then(|| (row, self.routed(slot, flow.tuple)))
    }

    /// The tuple of a packet of the original direction of a connection with the translated destination.
    fn routed(&self, slot: u32, tuple: &Tuple) -> Tuple {
        let mut routed = *tuple;
        let translated = self.hot.get(slot as usize).is_some_and(|hot| hot.status.dstnat());
        if translated {
            let reply = self.tuple(slot, Direction::Reply);
            (routed.dst, routed.dst_port) = (reply.src, reply.src_port);
        }
        routed
    }

    /// Removes a masqueraded connection that uses the address of another interface than that of row `out`, by which it
    /// leaves now. Returns `false` if the connection is not masqueraded, or leaves by the same interface as before.
    pub fn end_masqueraded_by_other(&mut self, reference: ConnRef, out: RowId) -> bool {
        let masquerade = self.masquerade(reference.slot);
        let leaves_by_other = masquerade != 0 && masquerade != out;
        // A connection that an earlier packet of the batch has ended is not removed again; it is freed after the batch.
        let is_there =
            [Direction::Original, Direction::Reply].iter().any(|way| self.is_indexed(reference.slot, *way));
        if leaves_by_other && is_there {
            self.remove_slot(reference.slot);
        }
        leaves_by_other
    }
}
