//! The next hop of a packet: its adjacency, or the station that a local service has chosen.

use tollway_wire::ethernet;

use crate::ids::NONE;
use crate::ip::neighbor::Adjacency;
use crate::packet::frame::Frame;
use crate::packet::{Meta, Origin, Packet, flag};
use crate::pipeline::state::WorkerState;
use crate::snapshot::{Interface, Snapshot};

/// Finds the adjacency of the next hop. The first packet to an unknown next hop triggers an ARP request.
pub(crate) fn resolve<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, meta: &mut Meta) {
    let Some(out) = snapshot.interface(meta.out_interface) else { return };
    if meta.is(flag::BROADCAST) {
        return;
    }
    let key = (out.row, meta.next_hop);
    let known = state.adjacencies.get(key);
    if let Some(id) = known
        && let Adjacency::Ready(_) | Adjacency::Incomplete = state.shared.neighbors.adjacency(id)
    {
        meta.adjacency = id;
        return;
    }
    let ask = out.arp.learns();
    let found = state.shared.neighbors.resolve(key, ask, snapshot.settings.max_neighbor_entries, state.now);
    if found.full {
        meta.flags |= flag::NO_NEIGHBOR;
    }
    meta.adjacency = found.id;
    if found.id != NONE {
        state.adjacencies.put(key, found.id);
    }
    if let Some(request) = found.request {
        state.solicits.push(request);
    }
}

/// The station that a local service has chosen for a packet that leaves by the service's interface.
pub(crate) fn chosen_station<F: Frame>(out: &Interface, packet: &Packet<F>) -> Option<[u8; 6]> {
    let Packet { frame, meta, .. } = packet;
    if meta.origin != Origin::LocalService || meta.tap != out.row || meta.is(flag::BROADCAST) {
        return None;
    }
    let mac: [u8; 6] = *frame.as_ref()?.head().first_chunk()?;
    (mac != [0; 6] && !ethernet::is_group(mac)).then_some(mac)
}
