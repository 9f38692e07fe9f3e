//! The one ordered table of stages: production, tests, the profiler, the counters and the documentation
//! read it, and nothing else knows the order.

// From the bottom up: a module uses those declared before it (tests/modules.rs).

// The state of a worker.
pub mod stage_counters;
pub(crate) mod state;

// Packets between workers.
pub mod handover;

// Packets on their way.
pub mod batch;

pub(crate) mod flow_handover;
pub mod steering;

// Functions that stages use to read, annotate and change packets.
pub(crate) mod header_changes;
pub(crate) mod log;
pub(crate) mod prefetch;
pub(crate) mod transport_checksum;

pub(crate) mod cached_validity;
pub(crate) mod fragment_header;
pub(crate) mod fragment_out;
pub(crate) mod ipv6_redirect;
pub(crate) mod next_hop;
pub(crate) mod out_of_order;
pub(crate) mod reassembly;
pub(crate) mod revalidate;
pub(crate) mod source_route;
pub(crate) mod translate;
mod untag;

// Packets of the router's own.
pub(crate) mod ipv6_icmp;

pub(crate) mod discovery;
pub(crate) mod icmp;

pub(crate) mod gateway_probe;
pub(crate) mod masqueraded;
pub(crate) mod redirect;

// Forwarding by the route alone, which finds senders that are to be redirected.
pub(crate) mod stateless_send;

pub(crate) mod ipv6_stateless;

pub(crate) mod stateless;

// More packets of the router's own.
pub(crate) mod echo;
pub(crate) mod tcp_reset;

// Routes, whose errors are the router's own packets.
pub(crate) mod routing;

pub(crate) mod ipv4_route;
pub(crate) mod ipv6_route;

// Rules, and the loop of the slow path.
pub(crate) mod rules;
pub(crate) mod slow_path;

pub(crate) mod mangle;
pub(crate) mod nat;

// The stages, none of which uses another.
pub(crate) mod stage;

// Traces.
mod trace_decisions;
pub(crate) mod trace_packets;

use crate::observe::profiler::{CycleClock, ProfilerClass};
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::DropReason;
use crate::pipeline::batch::Batch;
use crate::pipeline::slow_path::Pass;
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// When a stage runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StageRuns {
    /// In every pass.
    EveryPass,
    /// In passes in which a packet takes the slow path; it looks at no other packets.
    SlowPath,
}

impl StageRuns {
    /// Name, as the documentation carries it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EveryPass => "every pass",
            Self::SlowPath => "slow path",
        }
    }
}

/// A stage as production, tests, the documentation, the profiler and the counters know it.
#[derive(Debug, Clone, Copy)]
pub struct StageInfo {
    /// Name, as counters carry it.
    pub name: &'static str,
    /// When it runs.
    pub runs: StageRuns,
    /// Class of `/tool/profile` to which its time counts.
    pub class: ProfilerClass,
    /// Reasons for which it drops packets.
    pub drops: &'static [DropReason],
    /// Description in one line.
    pub doc: &'static str,
}

macro_rules! stages {
    ($($stage:ident $name:ident $runs:ident $class:ident $doc:literal [$($drop:ident)*];)*) => {
        /// A stage, by its place in [`STAGES`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Stage {
            $(#[doc = $doc] $stage,)*
        }

        impl Stage {
            /// Name, as traces carry it.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$stage => stringify!($name),)* }
            }
        }

        /// Every stage in the order in which a batch passes them.
        pub const STAGES: &[StageInfo] = &[$(StageInfo {
            name: Stage::$stage.name(),
            runs: StageRuns::$runs,
            class: ProfilerClass::$class,
            drops: &[$(DropReason::$drop),*],
            doc: $doc,
        }),*];

        /// Passes a batch through every stage, and notes how long each took.
        pub(crate) fn run<F: Frame, S: FrameSource<F>, C: CycleClock>(
            snapshot: &Snapshot,
            state: &mut WorkerState<F>,
            batch: &mut Batch<F>,
            source: &mut S,
            clock: &C,
        ) {
            let mut pass = Pass { snapshot, state, batch, source };
            let mut before = clock.cycles();
            let mut place = 0;
            $(
                // A single packet in a pass is forwarded in about 100 ns: calls of twelve stages without work would add
                // a tenth.
                let entered = if matches!(StageRuns::$runs, StageRuns::SlowPath) && pass.batch.slow.is_empty() {
                    0
                } else {
                    stage::$name::run(&mut pass)
                };
                // A stage without packets costs next to nothing; its time counts for the next one.
                if entered != 0 {
                    let after = clock.cycles();
                    if let Some(counters) = pass.state.stages.get_mut(place) {
                        counters.packets += entered;
                        counters.cycles += after.saturating_sub(before);
                    }
                    before = after;
                }
                if pass.state.trace.is_some() {
                    trace_packets::after(Stage::$stage, snapshot, pass.state, pass.batch);
                }
                place += 1;
            )*
            let _ = (before, place);
        }
    };
}

stages! {
    Parse parse EveryPass Networking "Checks Ethernet, IP and transport headers, and reads what the other stages need."
        [InterfaceDisabled Runt NotForUs UnknownEthertype VlanTagged Ipv6NotEnabled BadIpHeader
         BadIpChecksum BadIpOptions MartianSource MartianDestination BadL4Header FragmentInvalid];
    Arp arp EveryPass Networking "Learns link-layer addresses and answers for the router's own and for published ones."
        [BadArp ArpConsumed ArpIgnored NoFrame];
    Fragment fragment EveryPass Networking "Gives every fragment the ports of its datagram's first one; puts ICMP errors together."
        [FragmentInvalid FragmentLimit FragmentTimeout FragmentReassembled];
    FlowCache flow_cache EveryPass Networking "Forwards packets of known flows; hands packets of other workers' flows over."
        [FilterDrop FilterReject NeighborFailed HandoverStale ResumePointLost];
    Track track SlowPath Networking "Finds or makes the connection and says in which state the packet finds it."
        [ConnectionTableFull GatewayAnswered];
    ManglePre mangle_pre SlowPath Firewall "Evaluates the rules of mangle's chain prerouting."
        [];
    DstNat dst_nat SlowPath Networking "Translates the destination; the rules are evaluated for a connection's first packet."
        [IcmpRedirect NatExhausted NatNoAddress ConnectionTableFull];
    Route route SlowPath Networking "Chooses the routing table; decides between the router itself, an interface and a next hop, or nothing."
        [BadIpOptions SourceRouteFailed MartianSource DirectedBroadcast NotForUs ForwardingOff Blackhole
         UnreachableRoute ProhibitRoute NoRoute RoutingRule OutInterfaceDown ReversePath BeyondScope];
    Ttl ttl SlowPath Networking "Ends packets whose time to live runs out, or that are too long and must not be fragmented."
        [TtlExceeded FragmentationNeeded];
    Mangle mangle SlowPath Firewall "Evaluates the rules of mangle's chain input, forward or output; routes by a mark that output sets."
        [Blackhole UnreachableRoute ProhibitRoute NoRoute RoutingRule OutInterfaceDown NatExhausted
         ConnectionTableFull];
    Filter filter SlowPath Firewall "Evaluates the rules of the chain input, forward or output."
        [FilterDrop FilterReject];
    ManglePost mangle_post SlowPath Firewall "Evaluates the rules of mangle's chain postrouting."
        [];
    SrcNat src_nat SlowPath Networking "Translates the source; the rules are evaluated for a connection's first packet."
        [ConnectionGone NatExhausted NatNoAddress];
    Classify classify SlowPath Queuing "Finds the queues that take the packet."
        [];
    Install install SlowPath Networking "Confirms the connection, finds the next hop's address, writes the flow cache."
        [NatExhausted];
    Local local SlowPath Networking "Answers echo requests and neighbour solicitations, and delivers what is for the router itself."
        [BadIpOptions ConnectionGone BadIpHeader BadIcmpChecksum EchoAnswered IcmpRateLimited OutInterfaceDown BadNd
         NdConsumed NdIgnored];
    Emit emit EveryPass Networking "Writes the new headers; holds packets while the next hop is asked for; fragments long ones."
        [OutInterfaceDown NeighborTableFull NeighborFailed NeighborQueueFull ConnectionGone BadIpHeader
         NoFrame NoHeadroom];
    Queue queue EveryPass Queuing "Holds packets to the rate of their queue; hands those of other workers' queues over."
        [QueueFull QueueMemory NoFrame OutInterfaceDown BadIcmpChecksum EchoAnswered];
}

/// Number of stages.
pub const STAGE_COUNT: usize = STAGES.len();

#[cfg(test)]
mod tests;

#[cfg(test)]
mod drop_reasons {
    use super::*;

    #[test]
    fn every_drop_reason_belongs_to_a_stage() {
        for reason in DropReason::ALL {
            assert!(STAGES.iter().any(|stage| stage.drops.contains(reason)), "{}", reason.name());
        }
    }
}
