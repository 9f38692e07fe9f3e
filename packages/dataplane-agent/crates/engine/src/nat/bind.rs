//! What NAT decides with the first packet of a connection.

use tollway_config::dataplane::{Action, AddressRange, PortRange, RowId};

use super::ports;
use super::{ICMP, TCP, UDP};
use crate::conntrack::{ConnRef, Table};
use crate::tuple::{Addr, Tuple, steer};

/// What a NAT rule asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Target {
    /// First and last allowed address; `None` keeps the address.
    pub addresses: Option<(Addr, Addr)>,
    /// Allowed ports; `None` keeps the port if it can be kept.
    pub ports: Option<PortRange>,
    /// Choose the port at random.
    pub randomise: bool,
    /// Interface row whose address was taken by masquerade.
    pub masquerade: Option<RowId>,
}

impl Target {
    /// From a rule's action. `interface` and `address` are the out-interface and its address for
    /// `masquerade`, the in-interface's for `redirect`. `None` when the action is no translation, or the
    /// address is missing.
    pub fn of(action: &Action, interface: RowId, address: Option<Addr>) -> Option<Self> {
        let own = address.map(|address| (address, address));
        let range = |range: &AddressRange| (Addr::from(range.from), Addr::from(range.to));
        match action {
            Action::Masquerade { to_ports, randomise_ports } => Some(Self {
                addresses: Some(own?),
                ports: *to_ports,
                randomise: *randomise_ports,
                masquerade: Some(interface),
            }),
            Action::SrcNat { to_addresses, to_ports, randomise_ports } => Some(Self {
                addresses: to_addresses.as_ref().map(range),
                ports: *to_ports,
                randomise: *randomise_ports,
                masquerade: None,
            }),
            Action::DstNat { to_addresses, to_ports } => Some(Self {
                addresses: to_addresses.as_ref().map(range),
                ports: *to_ports,
                ..Self::default()
            }),
            Action::Redirect { to_ports } => {
                Some(Self { addresses: Some(own?), ports: *to_ports, ..Self::default() })
            }
            Action::Accept
            | Action::Drop
            | Action::Reject { .. }
            | Action::Jump { .. }
            | Action::Return
            | Action::Log
            | Action::Passthrough
            | Action::AddSrcToAddressList { .. }
            | Action::AddDstToAddressList { .. }
            | Action::FasttrackConnection
            | Action::MarkPacket { .. }
            | Action::MarkConnection { .. }
            | Action::MarkRouting { .. }
            | Action::ChangeDscp { .. }
            | Action::ChangeMss { .. } => None,
        }
    }

    /// One address for each `client`: the same one for all its flows (RFC 4787 REQ-2).
    fn address(&self, client: Addr) -> Option<Addr> {
        let (from, to) = self.addresses?;
        let span = to.0.saturating_sub(from.0).saturating_add(1);
        let spread = u128::from(client.fold().wrapping_mul(0x9e37_79b1));
        Some(Addr(from.0 + spread % span))
    }
}

/// What a decision needs beside the connection.
pub struct Context<'a> {
    /// A random number.
    pub random: u32,
    /// Whether a connection of another worker holds this reply tuple.
    pub taken: &'a dyn Fn(&Tuple) -> bool,
}

/// A decision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bound {
    /// It was made just now, not by an earlier packet.
    pub fresh: bool,
    /// The worker that answers would be steered to, when it is not this one: publish the reply tuple.
    pub foreign: Option<u32>,
}

/// Why no decision could be made; the packet must be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindError {
    /// The connection is gone.
    Gone,
    /// No free port in the allowed range.
    NoPort,
}

/// Decides the destination; `None` leaves it. A later call for the same connection changes nothing.
pub fn bind_destination(
    table: &mut Table,
    reference: ConnRef,
    target: Option<&Target>,
    context: &Context<'_>,
) -> Result<Bound, BindError> {
    let status = table.line(reference).ok_or(BindError::Gone)?.status;
    if status.destination_bound() || status.confirmed() {
        return Ok(Bound::default());
    }
    let conn = table.tuples(reference).ok_or(BindError::Gone)?;
    let mut reply = conn.reply;
    if let Some(target) = target {
        let original = conn.original;
        if let Some(address) = target.address(original.src) {
            reply.src = address;
        }
        if let (Some(range), TCP | UDP) = (target.ports, original.protocol)
            && !ports::contains(range, original.dst_port)
        {
            reply.src_port = ports::candidates(range, context.random).next().unwrap_or(range.from);
        }
    }
    table.bind_destination(reference, Some(reply).filter(|reply| *reply != conn.original.reversed()));
    Ok(Bound { fresh: true, foreign: None })
}

/// Decides the source and reserves the reply tuple. `None` leaves the source unless another connection
/// already has the same answers: then the port changes, so that both work. A later call for the same
/// connection changes nothing.
pub fn bind_source(
    table: &mut Table,
    reference: ConnRef,
    target: Option<&Target>,
    context: &Context<'_>,
) -> Result<Bound, BindError> {
    let status = table.line(reference).ok_or(BindError::Gone)?.status;
    if status.source_bound() || status.confirmed() {
        return Ok(Bound::default());
    }
    let conn = table.tuples(reference).ok_or(BindError::Gone)?;
    let original = conn.original;
    let mut base = conn.reply;
    if let Some(address) = target.and_then(|target| target.address(original.src)) {
        base.dst = address;
    }
    let reply = choose(table, reference, base, target, context).ok_or(BindError::NoPort)?;
    table.reserve_free_reply(reference, reply).map_err(|_| BindError::NoPort)?;
    let (worker, workers) = (table.worker(), table.workers());
    table.bind_source(reference, target.and_then(|target| target.masquerade).unwrap_or(0));
    let owner = steer(&reply, workers);
    Ok(Bound { fresh: true, foreign: (owner != worker).then_some(owner) })
}

fn choose(
    table: &Table,
    reference: ConnRef,
    base: Tuple,
    target: Option<&Target>,
    context: &Context<'_>,
) -> Option<Tuple> {
    let free = |reply: &Tuple| table.is_free_for(reference, reply) && !(context.taken)(reply);
    let home = |reply: &Tuple| steer(reply, table.workers()) == table.worker();
    let port = base.dst_port;
    let (range, keep) = match (base.protocol, target) {
        (TCP | UDP, Some(Target { ports: Some(range), randomise, .. })) => {
            (*range, !randomise && ports::contains(*range, port))
        }
        (TCP | UDP, Some(target)) => (ports::class(port), !target.randomise),
        (TCP | UDP, None) => (ports::class(port), true),
        (ICMP, _) => (PortRange { from: 0, to: u16::MAX }, true),
        _ => return Some(base).filter(free),
    };
    let with_port = |port: u16| match base.protocol {
        ICMP => Tuple { src_port: port, dst_port: port, ..base },
        _ => Tuple { dst_port: port, ..base },
    };
    // An untranslated source is kept wherever its answers are steered to: others know it by that port.
    if keep && free(&base) && (target.is_none() || home(&base)) {
        return Some(base);
    }
    let candidates = || ports::candidates(range, context.random).map(with_port);
    candidates().find(|reply| home(reply) && free(reply)).or_else(|| candidates().find(free))
}
