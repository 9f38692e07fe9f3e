//! What the routing of both families has in common: the lookup by routing rules, marks and tables, and why a packet is
//! refused.

use std::cell::Cell;

use crate::ids::{InterfaceIndex, NO_INTERFACE};
use crate::ip::fib::{Address, Discard};
use crate::ip::routing_policy::{Decision, RoutingQuery, RuleRefusal};
use crate::packet::tuple::Tuple;
use crate::packet::verdict::DropReason;
use crate::packet::{Meta, Origin, flag};
use crate::pipeline::icmp::IcmpError;
use crate::snapshot::{FamilyTables, Snapshot};

/// Why a packet is not routed, and the error that its sender gets.
pub(crate) type Refusal = (DropReason, Option<IcmpError>);

/// Hash of the flow of a packet, which chooses between several next hops.
pub(crate) struct FlowOf<'a> {
    snapshot: &'a Snapshot,
    tuple: Tuple,
    inner_hash: u32,
    chosen: Cell<bool>,
}

impl<'a> FlowOf<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, meta: &Meta) -> Self {
        Self { snapshot, tuple: meta.tuple, inner_hash: meta.inner_hash, chosen: Cell::new(false) }
    }

    /// The hash. It is asked for only where there are several next hops.
    pub(crate) fn hash(&self) -> u64 {
        self.chosen.set(true);
        u64::from(self.snapshot.flow_hash_of(&self.tuple, self.inner_hash))
    }

    /// Marks a packet whose next hop was chosen by the packet that it encapsulates: another packet of the same connection
    /// may get another one.
    pub(crate) fn note(&self, meta: &mut Meta) {
        if self.inner_hash != 0 && self.chosen.get() {
            meta.flags |= flag::ROUTED_BY_INNER;
        }
    }
}

/// Looks up a packet, and notes the table that has its route.
#[inline(never)]
pub(crate) fn by_policy<A: Address>(
    tables: &FamilyTables<'_, A>,
    meta: &mut Meta,
    flow: impl Fn() -> u64,
) -> Decision<A> {
    let decision = tables.decide(&query_of(meta), flow);
    meta.table = decision.table;
    decision
}

/// What of a packet decides its table, before its source is translated.
pub(crate) fn query_of<A: Address>(meta: &Meta) -> RoutingQuery<A> {
    let interface = if meta.origin == Origin::Port { meta.in_interface } else { NO_INTERFACE };
    RoutingQuery::of(&meta.tuple, meta.routing_mark, interface)
}

/// The interface to whose services a packet for an address of the router goes: that which received it, or that with the
/// address, if the packet has come from another zone, or from the router itself.
pub(crate) fn delivered_to(snapshot: &Snapshot, meta: &Meta, owner: InterfaceIndex) -> InterfaceIndex {
    let zone = |index| snapshot.interface(index).map(|interface| interface.zone);
    let stays = meta.origin == Origin::Port && zone(meta.in_interface) == zone(owner);
    if stays { meta.in_interface } else { owner }
}

/// Drop reason and ICMP error of a discarding route, as in Linux.
pub(crate) fn discard_refusal(discard: Discard) -> Refusal {
    match discard {
        Discard::Blackhole => (DropReason::Blackhole, None),
        Discard::Unreachable => (DropReason::UnreachableRoute, Some(IcmpError::HOST)),
        Discard::Prohibit => (DropReason::ProhibitRoute, Some(IcmpError::PROHIBITED)),
    }
}

/// Drop reason and ICMP error of a packet for which there is no route, or which a rule refuses.
pub(crate) fn no_route(refused: Option<RuleRefusal>) -> Refusal {
    match refused {
        None => (DropReason::NoRoute, Some(IcmpError::NETWORK)),
        Some(RuleRefusal::Drop) => (DropReason::RoutingRule, None),
        Some(RuleRefusal::Unreachable) => (DropReason::RoutingRule, Some(IcmpError::NETWORK)),
    }
}
