//! Binding: decides on the translation of a connection for its first packet; later packets use the same translation.

use tollway_config::dataplane::{PortRange, RowId};

use super::{ICMP, ICMPV6, TCP, UDP};
use crate::flow::conntrack::{ConnectionTable, Tuples};
use crate::flow::outside_ports::{self, PortSpace, SharedFreePorts, with_port};
use crate::ids::ConnRef;
use crate::packet::tuple::{Addr, Tuple, Zone, steer};

/// The translation that a NAT rule asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NatTarget {
    /// First and last allowed address; `None` keeps the address.
    pub addresses: Option<(Addr, Addr)>,
    /// The addresses are those of a prefix, the host bits of which stay as they are (`netmap`).
    pub keeps_host: bool,
    /// Allowed ports; `None` keeps the port if it can be kept.
    pub ports: Option<PortRange>,
    /// Choose the port at random.
    pub randomise: bool,
    /// Interface row whose address masquerade uses.
    pub masquerade: Option<RowId>,
}

impl NatTarget {
    /// Address instead of `end`, for a `client`: the same one for all its flows (RFC 4787 REQ-2).
    fn address(&self, client: Addr, end: Addr) -> Option<Addr> {
        let (from, to) = self.addresses?;
        if self.keeps_host {
            return Some(Addr(from.0 | end.0 & (from.0 ^ to.0)));
        }
        let count = to.0.saturating_sub(from.0).saturating_add(1);
        let spread = u128::from(client.fold().wrapping_mul(0x9e37_79b1));
        Some(Addr(from.0 + spread % count))
    }
}

/// The inputs of a decision apart from the connection.
pub struct BindContext<'a> {
    /// A random number.
    pub random: u32,
    /// Zone of the interface that the packet leaves by, which its replies will come by.
    pub zone: Zone,
    /// Whether a flow with this tuple, whose packets are steered to this worker, has moved to another one.
    pub moved_away: &'a dyn Fn(&Tuple) -> bool,
    /// Free ports of other workers. `None` if the flow cannot move: then this worker may allocate every port.
    pub free_ports: Option<&'a SharedFreePorts>,
    /// The flow has moved to this worker before: it gets a port here, and moves on only if there is none.
    pub moved: bool,
    /// The packet is hypothetical (a dry run): nothing that other workers see is changed.
    pub dry_run: bool,
}

/// The result of [`bind_source`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceBinding {
    /// An earlier packet of the connection has bound the source already.
    Earlier,
    /// The source is bound, and the reply tuple reserved.
    Fresh,
    /// The flow moves to this other worker, to which replies are steered and which alone may allocate the reply tuple.
    OtherWorker(u32),
}

/// Why no decision could be made; the packet must be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindError {
    /// The connection is gone.
    Gone,
    /// No free port in the allowed range.
    NoPort,
}

/// Binds the destination of a connection to `target`; `None` keeps it. A later call for the same connection changes
/// nothing.
pub fn bind_destination(
    table: &mut ConnectionTable,
    reference: ConnRef,
    target: Option<&NatTarget>,
    random: u32,
) -> Result<(), BindError> {
    let status = table.hot(reference).ok_or(BindError::Gone)?.status;
    if status.destination_bound() || status.confirmed() {
        return Ok(());
    }
    let Some(target) = target else {
        table.bind_destination(reference, None);
        return Ok(());
    };
    let Tuples { original, mut reply } = table.tuples(reference).ok_or(BindError::Gone)?;
    if let Some(address) = target.address(original.src, original.dst) {
        reply.src = address;
    }
    if let (Some(range), TCP | UDP) = (target.ports, original.protocol)
        && !outside_ports::contains(range, original.dst_port)
    {
        reply.src_port = destination_port(table, reference, reply, range, random);
    }
    table.bind_destination(reference, Some(reply).filter(|reply| *reply != original.reversed()));
    Ok(())
}

/// A port of the range with which the client can keep its source port: the first one from a random port on whose reply
/// tuple no other connection has. This worker does not know the reply tuples that are steered to other workers; the
/// first of these is the second choice.
fn destination_port(
    table: &ConnectionTable,
    reference: ConnRef,
    reply: Tuple,
    range: PortRange,
    random: u32,
) -> u16 {
    let (worker, workers) = (table.worker(), table.workers());
    let port_count = outside_ports::port_count(range);
    let port = |step| {
        range.from.saturating_add((random % port_count).wrapping_add(step).rem_euclid(port_count) as u16)
    };
    let mut unknown = None;
    for step in 0..port_count.min(MAX_PROBES) {
        let answers = Tuple { src_port: port(step), ..reply };
        if steer(&answers, workers) != worker {
            unknown = unknown.or(Some(answers.src_port));
        } else if table.is_free_for(reference, &answers) {
            return answers.src_port;
        }
    }
    unknown.unwrap_or(port(0))
}

/// Binds the source of a connection to `target` and reserves the reply tuple. `None` keeps the source, unless another
/// connection already has the same reply tuple: then the port is changed. A later call for the same connection changes
/// nothing.
///
/// A reply tuple is allocated only by the worker to which replies are steered. So a tuple of this worker is free if
/// neither its table nor a flow that has moved away holds it.
pub fn bind_source(
    table: &mut ConnectionTable,
    reference: ConnRef,
    target: Option<&NatTarget>,
    context: &BindContext<'_>,
) -> Result<SourceBinding, BindError> {
    let status = table.hot(reference).ok_or(BindError::Gone)?.status;
    if status.source_bound() || status.confirmed() {
        return Ok(SourceBinding::Earlier);
    }
    let conn = table.tuples(reference).ok_or(BindError::Gone)?;
    let original = conn.original;
    let mut base = Tuple { zone: context.zone, ..conn.reply };
    if let Some(address) = target.and_then(|target| target.address(original.src, original.src)) {
        base.dst = address;
    }
    match choose(table, reference, base, target, context).ok_or(BindError::NoPort)? {
        Choice::Here(reply) => {
            table.reserve_free_reply(reference, reply).map_err(|_| BindError::NoPort)?;
            let kept = (reply.dst, reply.dst_port) == (original.src, original.src_port);
            let masquerade = target.and_then(|target| target.masquerade).unwrap_or(0);
            table.bind_source(reference, (!kept).then_some(reply.dst), masquerade);
            Ok(SourceBinding::Fresh)
        }
        Choice::OtherWorker(worker) => Ok(SourceBinding::OtherWorker(worker)),
    }
}

enum Choice {
    Here(Tuple),
    OtherWorker(u32),
}

/// Number of ports that are looked up in the connection table before the map of free ports is used.
const MAX_PROBES: u32 = 16;
/// Distance of two probes: neighbours of a port in use are often in use too. A prime.
const STRIDE: u32 = 40_503;

fn choose(
    table: &mut ConnectionTable,
    reference: ConnRef,
    base: Tuple,
    target: Option<&NatTarget>,
    context: &BindContext<'_>,
) -> Option<Choice> {
    let (worker, workers) = (table.worker(), table.workers());
    let alone = workers == 1 || context.free_ports.is_none();
    let home = |reply: &Tuple| alone || steer(reply, workers) == worker;
    let unheld = |table: &ConnectionTable, reply: &Tuple| home(reply) && table.is_free_for(reference, reply);
    let free = |table: &ConnectionTable, reply: &Tuple| unheld(table, reply) && !(context.moved_away)(reply);
    let port = base.dst_port;
    let (range, keep) = match (base.protocol, target) {
        (TCP | UDP, Some(NatTarget { ports: Some(range), randomise, .. })) => {
            (*range, !randomise && outside_ports::contains(*range, port))
        }
        (TCP | UDP, Some(target)) => (outside_ports::port_class(port), !target.randomise),
        (TCP | UDP, None) => (outside_ports::port_class(port), true),
        (ICMP | ICMPV6, _) => (PortRange { from: 0, to: u16::MAX }, true),
        _ if home(&base) => return free(table, &base).then_some(Choice::Here(base)),
        _ => return Some(Choice::OtherWorker(steer(&base, workers))),
    };
    if keep && free(table, &base) {
        return Some(Choice::Here(base));
    }
    // The source port is kept if possible, since peers may know the source by it. Only the home of the reply tuple
    // knows whether it is free; if it is not, the flow gets another port there.
    if keep && !context.moved && !home(&base) {
        return Some(Choice::OtherWorker(steer(&base, workers)));
    }
    let space = PortSpace::of(&base)?;
    let port_count = outside_ports::port_count(range);
    let map = table.port_map(&space, range);
    // A range without free ports in its map is not probed.
    let steps =
        if map.as_ref().is_none_or(|map| map.has_free()) { port_count.min(MAX_PROBES * workers) } else { 0 };
    let mut probes = 0;
    for step in 0..steps {
        let offset =
            (context.random % port_count).wrapping_add(step * (STRIDE % port_count).max(1)) % port_count;
        let reply = with_port(base, range.from.saturating_add(offset as u16));
        if !home(&reply) {
            continue;
        }
        if free(table, &reply) {
            return Some(Choice::Here(reply));
        }
        probes += 1;
        if probes == MAX_PROBES {
            break;
        }
    }
    let map = match map {
        Some(map) => map,
        None => table.begin_port_map(context.free_ports.filter(|_| !context.dry_run), space, range),
    };
    let with = |port| with_port(base, port);
    let found = map.find(context.random, |port| unheld(table, &with(port)), |port| free(table, &with(port)));
    match (found, context.free_ports) {
        (Some(port), _) => Some(Choice::Here(with(port))),
        (None, Some(free_ports)) => free_ports
            .worker_with_free_port(&base, range, worker, workers, context.random)
            .map(Choice::OtherWorker),
        (None, None) => None,
    }
}
