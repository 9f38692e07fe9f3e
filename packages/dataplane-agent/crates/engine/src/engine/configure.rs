//! Takes over another configuration in an engine.

use std::sync::Arc;

use tollway_config::dataplane::ArpMode;
use tollway_wire::{field, ipv4, ipv6};

use super::{Engine, Routed, connection_share, purge};
use crate::ids::NO_INTERFACE;
use crate::ip::neighbor::{Collections, NeighborKey, NeighborRequest};
use crate::packet::count::Count;
use crate::packet::family::Family;
use crate::packet::flag;
use crate::packet::frame::Frame;
use crate::packet::tuple::Addr;
use crate::pipeline::state::WorkerState;
use crate::snapshot::{Interface, Snapshot};
use crate::time::Now;

impl<F: Frame> Engine<F> {
    /// Synchronises the neighbour table with the static neighbours of the configuration, and removes neighbours of
    /// interfaces that are down or learn none. Duplicates of new addresses of IPv6 are looked for from now on.
    pub(super) fn sync_neighbors(&self, now: Now) {
        let snapshot = &self.snapshot;
        let keep = |(row, address): NeighborKey| {
            let learns = |interface: &Interface| match address.as_v4() {
                Some(_) => interface.arp.learns(),
                None => interface.ipv6.is_some(),
            };
            snapshot.interface_of(row).is_some_and(|interface| interface.up && learns(interface))
        };
        let collections = Collections::of_ipv6(snapshot.settings.ipv6.neighbor_collection);
        let neighbors = &self.state.shared.neighbors;
        neighbors.sync(snapshot.generation(), &snapshot.static_neighbors, collections, keep);
        self.state.shared.address_states.sync(snapshot.generation(), &snapshot.ipv6_addresses(), now);
        let is_up = |row| snapshot.interface_of(row).is_some_and(|interface| interface.up);
        let advertising = snapshot.advertising();
        self.state.shared.router_advertisements.sync(snapshot.generation(), &advertising, is_up, now);
        self.state.shared.heard_routers.sync(
            snapshot.generation(),
            &snapshot.accepting_advertisements(),
            now,
        );
    }

    /// Applies another configuration, between two batches, and returns the old one, which must not be dropped on a
    /// worker. Flows keep their state; their cached actions become invalid, of one family alone if only its rules, its tables
    /// or its switch of the fast path differ.
    pub fn apply(&mut self, snapshot: Arc<Snapshot>, now: Now) -> Arc<Snapshot> {
        let (routed, ipv6_routed) = self.routed();
        self.routed = Routed { before: routed, then: self.state.flow_cache_forwarded };
        self.ipv6_routed = Routed { before: ipv6_routed, then: self.state.ipv6_forwarded };
        let old = std::mem::replace(&mut self.snapshot, snapshot);
        let new = &self.snapshot;
        let state = &mut self.state;
        state.now = now;
        let anew: Vec<Family> = new.decided_anew(&old).collect();
        if let [family] = anew[..]
            && state.keeps_numbers()
        {
            state.end_actions(family);
            state.paths.follow_rules(new.rule_rows());
        } else if !anew.is_empty() {
            state.begin_cache_epoch();
            state.paths.replace_rules(new.rule_rows());
            state.resumes.clear();
        }
        if !anew.is_empty() {
            state.utc_offset_ns = state.shared.wall_clock.offset_ns();
        }
        if !new.shares_cache_epoch_with(&old) {
            // Replies to connections that are masqueraded with an address that is gone would not arrive: they are
            // removed.
            let stays = |interface: &Interface| {
                let v4 = interface.addresses.iter().map(|own| Addr::v4(own.0));
                let v6 = interface.ipv6.iter().flat_map(|ipv6| &ipv6.addresses).map(|own| Addr(own.address));
                !interface.up || v4.chain(v6).all(|own| new.masquerades(interface.row, own))
            };
            if !old.interfaces().iter().all(stays) {
                state.table.begin_purge();
                purge(new, state);
            }
        }
        follow_link_numbers(state, &old, new);
        let share = connection_share(new, state.workers, self.limits);
        state.table.set_max_entries(share);
        state.table.keep_validities(new.has_limited_validity());
        if new.tracking() && !old.tracking() {
            state.table.forget_all_windows();
        }
        if !new.shares_cache_epoch_with(&old) {
            let utc_ns = state.utc_ns();
            let (before, lookup) = (old.leaf_lookup(utc_ns), new.leaf_lookup(utc_ns));
            let named = (new.cache_epoch(), new.port_interfaces());
            state.queues.reconfigure(&before, &lookup, (named.0, &named.1), &state.shared.queues, now);
        }
        if !anew.is_empty() {
            renumber(state, &old, new);
        }
        if !new.shares_cache_epoch_with(&old) {
            state.fragments.set_limits(new.fragment_limits());
            self.sync_neighbors(now);
        }
        self.announce(&old);
        old
    }

    /// Announces the addresses of interfaces whose link-layer address has changed (RFC 826, RFC 5227 section 3):
    /// otherwise stations would send to the old address until they ask again. One worker does this for all.
    fn announce(&mut self, old: &Snapshot) {
        if self.state.worker != 0 {
            return;
        }
        for interface in self.snapshot.interfaces() {
            let before = old.interface_of(interface.row);
            let other = before.is_some_and(|before| before.port.is_some() && before.mac != interface.mac);
            if !other || !interface.up || interface.arp == ArpMode::Disabled {
                continue;
            }
            let own = interface.addresses.iter().map(|&(address, _)| Addr::v4(address));
            self.state
                .solicits
                .extend(own.map(|address| NeighborRequest { key: (interface.row, address), unicast: None }));
        }
    }
}

/// Counters by link have room for all links, and those of a link with another interface than before begin at zero.
fn follow_link_numbers<F: Frame>(state: &mut WorkerState<F>, old: &Snapshot, new: &Snapshot) {
    let above = new.encapsulations();
    let row = |snapshot: &Snapshot, link| {
        snapshot.port(link).and_then(|link| snapshot.interface(link.interface)).map(|interface| interface.row)
    };
    let renewed: Vec<_> =
        above.iter().map(|(link, _)| link).filter(|link| row(old, *link) != row(new, *link)).collect();
    for counters in [&mut state.fp_rx, &mut state.vlan_rx] {
        if counters.len() < new.ports() {
            counters.resize(new.ports(), Count::default());
        }
        for link in &renewed {
            if let Some(count) = counters.get_mut(usize::from(*link)) {
                *count = Count::default();
            }
        }
    }
}

/// Dense interface numbers, numbers of tables and queue references are valid for one snapshot: updates those of held packets and
/// fragments.
fn renumber<F: Frame>(state: &mut WorkerState<F>, old: &Snapshot, new: &Snapshot) {
    let number = |index: u16| old.interface(index).and_then(|interface| new.interface_index(interface.row));
    let fragments = state.fragments.packets_mut().chain(state.fragments6.packets_mut());
    for packet in state.holds.packets_mut().chain(fragments) {
        let meta = &mut packet.meta;
        for index in [&mut meta.in_interface, &mut meta.out_interface] {
            *index = number(*index).unwrap_or(NO_INTERFACE);
        }
        meta.table = new.tables6().number_of(old.tables6().row(meta.table));
    }
    let utc_ns = state.utc_ns();
    for packet in state.holds.packets_mut() {
        // The source of a held packet is not translated yet.
        let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
        let meta = &mut packet.meta;
        let src = if meta.is_ipv6() {
            Addr(field::get128(head, usize::from(meta.l3) + ipv6::offset::SRC))
        } else {
            meta.untranslated_src = field::get32(head, usize::from(meta.l3) + ipv4::offset::SRC);
            Addr::v4(meta.untranslated_src)
        };
        let context = new.queue_context(meta);
        let classes = if meta.is(flag::BYPASS) {
            new.queues.interface_path_classes(&context)
        } else {
            new.queues.path_classes(src, meta.tuple.dst, &context, utc_ns)
        };
        meta.queue = state.queues.queue_ref(&new.forest, &classes, context, state.now);
    }
}
