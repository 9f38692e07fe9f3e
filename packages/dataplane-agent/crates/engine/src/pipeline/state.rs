//! The state of one worker between batches.

use std::sync::Arc;

use tollway_config::dataplane::RowId;

use crate::firewall::rules::{Evaluation, OutcomeValidity, Position};
use crate::flow::actions::FlowActions;
use crate::flow::cache_epoch::CacheEpoch;
use crate::flow::conntrack::ConnectionTable;
use crate::flow::paths::Paths;
use crate::ids::{AdjacencyId, NONE};
use crate::ip::fib::Address;
use crate::ip::fragments::Fragments;
use crate::ip::neighbor::NeighborRequest;
use crate::ip::neighbor::hold::Holds;
use crate::ip::router_advertisements::Advertisement;
use crate::observe::trace::Tracer;
use crate::packet::count::Count;
use crate::packet::family::Family;
use crate::packet::slow_reason::{SLOW_REASONS, SlowReason};
use crate::packet::verdict::{DROP_REASONS, DropReason};
use crate::packet::{Meta, Packet, flag};
use crate::pipeline::stage_counters::StageTable;
use crate::qos::queues::Queues;
use crate::random;
use crate::shared::Shared;
use crate::time::Now;

/// Maximum number of resume points of a generation; flows with further ones are not cached.
const MAX_RESUMES: usize = 256;

/// The state of one worker between batches.
#[derive(Debug)]
pub struct WorkerState<F> {
    /// Number of this worker.
    pub(crate) worker: u32,
    /// Number of workers.
    pub(crate) workers: u32,
    /// What all workers share: configuration, tables and counters of changes.
    pub(crate) shared: Arc<Shared>,
    /// Time of this batch.
    pub(crate) now: Now,
    /// Number of this batch; never 0.
    pub(crate) batch: u32,
    /// The epoch and stamp for which cached actions are valid.
    pub(crate) cache_epoch: CacheEpoch,
    /// Connections of the flows that this worker owns.
    pub(crate) table: ConnectionTable,
    /// Actions that the flow entries of the connections refer to.
    pub(crate) actions: FlowActions,
    /// Paths of rules that packets took, and their counters.
    pub(crate) paths: Paths,
    /// Packets that wait for the link-layer address of their next hop.
    pub(crate) holds: Holds<F>,
    /// Fragments of datagrams of IPv4 that are not complete.
    pub(crate) fragments: Fragments<F>,
    /// Those of IPv6, which the limits of IPv4 do not concern.
    pub(crate) fragments6: Fragments<F>,
    /// Queues that this worker owns, and the packets in them.
    pub(crate) queues: Queues<F>,
    /// Adjacencies of next hops that were looked up in the current epoch.
    pub(crate) adjacencies: AdjacencyCache<u32>,
    /// Those of IPv6.
    pub(crate) adjacencies6: AdjacencyCache<u128>,
    /// Resume points of this generation. The number of a resume point is its index here plus one.
    pub(crate) resumes: Vec<Position>,
    /// Validities of the outcomes of this batch, for `install`.
    pub(crate) validities: Vec<OutcomeValidity>,
    /// Wall clock minus the clock of [`Self::now`], ns.
    pub(crate) utc_offset_ns: i64,
    /// Buffer of rule evaluation, reused from packet to packet; `None` while it is in use.
    pub(crate) evaluation: Option<Box<Evaluation>>,
    /// The packets are those of a dry run: counts and token buckets of rules are read and not changed.
    pub(crate) dry_run: bool,
    /// State of the traces of this worker; `None` without any.
    pub(crate) trace: Option<Box<Tracer>>,
    /// Number of the packet traced last.
    pub(crate) trace_serial: u32,
    /// ARP requests and neighbour solicitations that `emit` is to send.
    pub(crate) solicits: Vec<NeighborRequest>,
    /// Router advertisements that `emit` is to send.
    pub(crate) advertisements: Vec<Advertisement>,
    /// Interface rows by which `emit` is to send a router solicitation.
    pub(crate) router_solicits: Vec<RowId>,
    /// The batch has ARP packets.
    pub(crate) arp_pending: bool,
    /// The batch has fragments.
    pub(crate) fragments_pending: bool,
    /// IPv4 identification of the last packet that the router generated.
    pub(crate) ident: u16,
    /// State of the pseudo-random numbers.
    pub(crate) random: u64,

    /// Packets by [`DropReason`].
    pub(crate) drops: [u64; DROP_REASONS],
    /// Packets by [`crate::packet::slow_reason::SlowReason`].
    pub(crate) slow: [u64; SLOW_REASONS],
    /// Packets that the flow cache forwarded, without those of fasttracked connections.
    pub(crate) flow_cache_forwarded: Count,
    /// Packets that the flow cache forwarded of fasttracked connections.
    pub(crate) fasttrack: Count,
    /// Part of `flow_cache_forwarded` that was of IPv6.
    pub(crate) ipv6_forwarded: Count,
    /// Part of `fasttrack` that was of IPv6.
    pub(crate) ipv6_fasttrack: Count,
    /// Packets that the kernel forwarded by itself (flow offload).
    pub(crate) offloaded: Count,
    /// Packets that the flow cache forwarded, by the link they arrived on.
    pub(crate) fp_rx: Vec<Count>,
    /// Wire segments received with the tags of a link, and their L2 bytes without its tags, by link.
    pub(crate) vlan_rx: Vec<Count>,
    /// Packets, runs and time by stage.
    pub(crate) stages: StageTable,
    /// Packets received from other workers.
    pub(crate) handover_packets: u64,
    /// See [`crate::engine::stats::EngineStats::out_of_order`].
    pub(crate) out_of_order: u64,
    /// Packets that the router itself made: ARP, ICMP errors, resets.
    pub(crate) generated: u64,
}

impl<F> WorkerState<F> {
    /// Drops a packet: frees its frame and counts the reason.
    pub(crate) fn drop(&mut self, packet: &mut Packet<F>, reason: DropReason) {
        self.count_drop(reason, packet.meta.segments);
        packet.drop_for(reason);
    }

    /// Counts packets of a drop reason.
    pub(crate) fn count_drop(&mut self, reason: DropReason, segments: u32) {
        if let Some(count) = self.drops.get_mut(reason as usize) {
            *count += u64::from(segments);
        }
    }

    /// Counts packets that the flow cache forwards.
    #[inline]
    pub(crate) fn count_fast(&mut self, meta: &Meta, fasttracked: bool, packets: u64, bytes: u64) {
        let counter = if fasttracked { &mut self.fasttrack } else { &mut self.flow_cache_forwarded };
        counter.packets += packets;
        counter.bytes += bytes;
        if let Some(count) = self.fp_rx.get_mut(usize::from(meta.in_port)) {
            count.packets += packets;
            count.bytes += bytes + packets * u64::from(meta.l3);
        }
    }

    /// Counts packets of IPv6 beside [`Self::count_fast`], so that packets of IPv4 need not be asked for their family.
    #[inline]
    pub(crate) fn count_fast_ipv6(&mut self, fasttracked: bool, packets: u64, bytes: u64) {
        let counter = if fasttracked { &mut self.ipv6_fasttrack } else { &mut self.ipv6_forwarded };
        counter.packets += packets;
        counter.bytes += bytes;
    }

    /// Counts a packet that takes the slow path, and sets its slow reason.
    #[inline]
    pub(crate) fn count_slow_packet(&mut self, meta: &mut Meta, reason: SlowReason) {
        meta.slow = Some(reason);
        // Otherwise another worker, or an earlier pass, has counted it.
        if !meta.is(flag::FLOW_MIGRATING | flag::RECIRCULATED)
            && let Some(count) = self.slow.get_mut(reason as usize)
        {
            *count += u64::from(meta.segments);
        }
    }

    /// Called at the start of a batch: applies changes that invalidate cached actions.
    #[inline]
    pub(crate) fn follow_changes(&mut self) {
        if self.cache_epoch.follow(&self.shared.change_counters) | self.actions.is_full() {
            self.begin_cache_epoch();
            // Cached adjacencies are not valid longer than cached actions.
            self.adjacencies = AdjacencyCache::default();
            self.adjacencies6 = AdjacencyCache::default();
        }
    }

    /// Begins another cache epoch: every cached action becomes invalid.
    pub(crate) fn begin_cache_epoch(&mut self) {
        self.cache_epoch.advance();
        if self.actions.begin_epoch() {
            self.table.forget_actions();
        }
    }

    /// Whether numbers of paths and resume points may go on when rules change.
    pub(crate) fn keeps_numbers(&self) -> bool {
        self.paths.have_room() && self.resumes.len() <= MAX_RESUMES / 2
    }

    /// The cached actions of a family become invalid; those of the other one stay, with their paths and resume points.
    pub(crate) fn end_actions(&mut self, family: Family) {
        self.actions.end(family);
        // Only IPv4 is forwarded outside the engine.
        if family == Family::V4 {
            self.cache_epoch.advance();
        }
    }

    /// Number of a resume point; `None` when there are too many to remember.
    pub(crate) fn resume_number(&mut self, position: Position) -> Option<u32> {
        let known = self.resumes.iter().position(|known| *known == position);
        let place = match known {
            Some(place) => place,
            None if self.resumes.len() < MAX_RESUMES => {
                self.resumes.push(position);
                self.resumes.len() - 1
            }
            None => return None,
        };
        u32::try_from(place + 1).ok()
    }

    /// Wall clock, ns since 1970 UTC.
    pub(crate) fn utc_ns(&self) -> i64 {
        self.utc_offset_ns.wrapping_add_unsigned(self.now.0)
    }

    /// IPv4 identification for the next packet that the router generates.
    pub(crate) fn next_ident(&mut self) -> u16 {
        self.ident = self.ident.wrapping_add(1);
        self.ident
    }

    /// A pseudo-random number that is as hard to guess from outside as the seed.
    pub(crate) fn random(&mut self) -> u32 {
        self.random = self.random.wrapping_add(random::STEP);
        (random::split_mix(self.random) >> 32) as u32
    }
}

const NEXT_HOPS: usize = 1024;

/// The worker's cache of the adjacencies of next hops of a family, by interface row and address, so that the shared
/// table is locked only for the first packet to a next hop.
#[derive(Debug)]
pub struct AdjacencyCache<A>(Box<[((RowId, A), AdjacencyId)]>);

impl<A: Address> Default for AdjacencyCache<A> {
    fn default() -> Self {
        Self(vec![((0, A::default()), NONE); NEXT_HOPS].into())
    }
}

impl<A: Address> AdjacencyCache<A> {
    #[inline]
    fn place(key: (RowId, A)) -> usize {
        let mixed = (u64::from(key.0) << 32 | u64::from(key.1.folded())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize % NEXT_HOPS
    }

    /// Adjacency of a next hop, if it is cached.
    #[inline]
    pub fn get(&self, key: (RowId, A)) -> Option<AdjacencyId> {
        self.0.get(Self::place(key)).filter(|(known, id)| *known == key && *id != NONE).map(|(_, id)| *id)
    }

    /// Caches an adjacency.
    pub fn put(&mut self, key: (RowId, A), id: AdjacencyId) {
        if let Some(slot) = self.0.get_mut(Self::place(key)) {
            *slot = (key, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_with_like_numbers_on_interfaces_beside_each_other_do_not_displace_each_other() {
        let mut hops = AdjacencyCache::default();
        let key = |interface: u32| (interface, 0x0a4c_0002 + (interface << 16));
        for interface in 0..8 {
            hops.put(key(interface), interface);
        }
        for interface in 0..8 {
            assert_eq!(hops.get(key(interface)), Some(interface));
        }
    }
}
