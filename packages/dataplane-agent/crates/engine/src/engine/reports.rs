//! Reports of an engine: counters, connections, queues.

use tollway_config::dataplane::RowId;

use super::stats::{EngineStats, Ipv6Counts};
use super::{Engine, Routed, connection_share};
use crate::observe::profiler::ClassCycles;
use crate::packet::count::Count;
use crate::packet::family::Family;
use crate::packet::frame::Frame;
use crate::pipeline::stage_counters::class_cycles;
use crate::snapshot::Encapsulations;
use crate::time::Now;

impl<F: Frame> Engine<F> {
    /// Packets received with the tags of links, by link; see [`LinkId`](crate::ids::LinkId). Bytes are L2, without the
    /// tags of the link.
    pub fn vlan_rx(&self) -> &[Count] {
        &self.state.vlan_rx
    }

    /// Links above ports, and the tags that their frames get.
    pub fn encapsulations(&self) -> &Encapsulations {
        self.snapshot.encapsulations()
    }

    /// Received packets that the flow cache forwarded, by link. Bytes are L2 without FCS.
    pub fn fp_rx(&self) -> &[Count] {
        &self.state.fp_rx
    }

    /// Fast-path packets that were forwarded by their route alone, which happens while connections are not tracked: all,
    /// and those of IPv6.
    pub(super) fn routed(&self) -> (Count, Count) {
        let tracking = self.snapshot.tracking();
        let of = |routed: Routed, forwarded: Count| match tracking {
            true => routed.before,
            false => {
                let mut all = routed.before;
                all.add(forwarded.less(routed.then));
                all
            }
        };
        let state = &self.state;
        (of(self.routed, state.flow_cache_forwarded), of(self.ipv6_routed, state.ipv6_forwarded))
    }

    /// Adds offloaded packets that were forwarded before connection tracking was last switched on or off.
    pub(crate) fn add_from_before(&mut self, count: Count) {
        match self.snapshot.tracking() {
            true => self.routed.before.add(count),
            false => self.routed.then.add(count),
        }
    }

    /// The engine's other counters.
    pub fn stats(&self) -> EngineStats {
        let state = &self.state;
        let counts = state.table.counts();
        let fast = Family::ALL.iter().any(|family| self.snapshot.allows_fast_path(*family));
        let fasttracks = Family::ALL.iter().any(|family| self.snapshot.has_fasttrack(*family));
        let (routed, ipv6_routed) = self.routed();
        let tracking = self.snapshot.tracking();
        EngineStats {
            rules: state.paths.rules(),
            drops: state.drops.to_vec(),
            slow: state.slow.to_vec(),
            flow_cache_forwarded: state.flow_cache_forwarded,
            routed,
            offloaded: state.offloaded,
            fasttrack: state.fasttrack,
            ipv6: Ipv6Counts {
                flow_cache_forwarded: state.ipv6_forwarded,
                routed: ipv6_routed,
                fasttrack: state.ipv6_fasttrack,
            },
            fast_path_active: fast && !tracking,
            fasttrack_active: fast && tracking && (fasttracks || counts.fasttracked != 0),
            tracking_active: tracking,
            max_connections: u64::from(connection_share(&self.snapshot, state.workers, self.limits)),
            connections_ip4: counts.ip4,
            connections_ip6: counts.ip6,
            connections_fasttracked: counts.fasttracked,
            connections_fasttracked_ip6: counts.fasttracked_ip6,
            stages: state.stages,
            handover_packets: state.handover_packets,
            out_of_order: state.out_of_order,
            held: (state.holds.len()
                + state.fragments.held()
                + state.fragments6.held()
                + state.queues.frames() as usize) as u64,
            generated: state.generated,
            queues: state.queues.totals(),
        }
    }

    /// Ticks spent so far per class of `/tool/profile` that the engine fills.
    pub fn class_cycles(&self) -> ClassCycles {
        class_cycles(&self.state.stages)
    }

    /// Appends a packed record (see [`tollway_config::protocol::ReplyBody::Connections`]) for each connection in
    /// `places` places of the table from `from` on. Returns the place to continue from; `None` at the end. A connection
    /// that exists during the whole dump is in exactly one of the parts.
    pub fn connections(&self, from: u32, places: u32, now: Now, out: &mut Vec<u8>) -> Option<u32> {
        self.state.table.dump(from, places, now, out)
    }

    /// Appends a packed record (see [`tollway_config::protocol::ReplyBody::Queues`]) for each queue
    /// of `/queue/simple` and `/queue/tree` that has passed packets at this worker; queues that no worker has are
    /// divided between the workers. At most `most` rows, from `from` on. Returns the row to go on from; `None` at the
    /// end. The records of a queue from all workers add up.
    pub fn queues(&self, from: RowId, most: u32, now: Now, out: &mut Vec<u8>) -> Option<RowId> {
        self.state.queues.dump(&self.snapshot.forest, from, most, now, out)
    }

    /// Appends packed records (see [`tollway_config::protocol::ReplyBody::TokenBucket`]) of a queue's activity in each
    /// millisecond later than `after`, and keeps recording the queue for a while.
    pub fn token_bucket(&mut self, row: RowId, after: u64, now: Now, out: &mut Vec<u8>) {
        self.state.queues.token_bucket(row, after, now, out);
    }

    /// Sets the counters of these queues to zero; empty means all. Appends their records as they were.
    pub fn reset_queue_counters(&mut self, rows: &[RowId], out: &mut Vec<u8>) {
        let now = self.state.now;
        self.state.queues.reset(&self.snapshot.forest, rows, now, out);
    }

    /// Sets the counters of these rules to zero as seen by [`Self::stats`]; empty means all.
    pub fn reset_counters(&mut self, rows: &[RowId]) {
        self.state.paths.reset(rows);
    }
}
