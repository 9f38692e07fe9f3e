//! Masqueraded connections whose packets leave by another interface than the one whose address they took. Replies to that
//! address would not arrive there, so the connection ends and a new one takes its place.

use tollway_config::dataplane::RowId;

use super::ConnectionTable;
use crate::flow::conntrack::flow::Flow;
use crate::ids::{ConnRef, Direction};
use crate::packet::tuple::Addr;

impl ConnectionTable {
    /// Ends the masqueraded connection of a packet that is to open another one in its place, if `leaves_by_other` holds
    /// of it: of the interface row whose address it took, and the address that its packets go to. Only for a packet in
    /// original direction of which `Transport::may_open_anew` holds.
    pub fn replace_masqueraded(
        &mut self,
        flow: &Flow<'_>,
        leaves_by_other: impl FnOnce(RowId, Addr) -> bool,
    ) {
        if let Some((row, address)) = self.masquerade_of(flow)
            && leaves_by_other(row, address)
        {
            self.replace(flow.entry >> 1);
        }
    }

    /// The interface row whose address a packet's connection took, and where the packet goes; `None` when the connection
    /// is not masqueraded or not confirmed, or the packet answers.
    #[inline]
    fn masquerade_of(&self, flow: &Flow<'_>) -> Option<(RowId, Addr)> {
        let status = self.connection_at(flow.entry)?.status;
        let original = Self::direction_of(flow.entry) == Direction::Original;
        if !original || !status.srcnat() || !status.confirmed() || !self.is_entry(flow.entry, flow.key) {
            return None;
        }
        let slot = flow.entry >> 1;
        let row = self.masquerade(slot);
        let address = if status.dstnat() { self.tuple(slot, Direction::Reply).src } else { flow.tuple.dst };
        (row != 0).then_some((row, address))
    }

    /// Removes a connection that took the address of another interface than that of row `out`, by which it leaves now.
    /// `false` for one that is not masqueraded, or leaves as before.
    pub fn end_masqueraded_by_other(&mut self, reference: ConnRef, out: RowId) -> bool {
        let masquerade = self.masquerade(reference.slot);
        let leaves_by_other = masquerade != 0 && masquerade != out;
        // One that an earlier packet of the batch ended has gone already, and is freed behind it.
        let is_there =
            [Direction::Original, Direction::Reply].iter().any(|way| self.is_indexed(reference.slot, *way));
        if leaves_by_other && is_there {
            self.remove_slot(reference.slot);
        }
        leaves_by_other
    }
}
