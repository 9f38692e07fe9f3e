//! The actions of rules: in which tables and at which hooks each is possible, what it may name, and what those of mangle
//! change. Where an evaluation goes on after a rule is in [`RuleTable::evaluate`](super::RuleTable::evaluate), what NAT
//! translates to in [`Target`](crate::flow::nat::NatTarget). `docs/adding/action.md` goes through one.

use tollway_config::dataplane::{Action, Chain, Mark, NewMss, RowId};

use super::compile::TableKind;
use super::list::AddressLists;
use super::matcher::Side;
use super::validity::Membership;
use super::view::PacketView;
use crate::error::BuildError;
use crate::flow::nat::NatTarget;
use crate::packet::tuple::Addr;

/// The hooks of mangle before the route is looked up.
const BEFORE_ROUTING: &[&str] = &["prerouting", "output"];
/// The hooks of mangle at which the out-interface is known.
const AFTER_ROUTING: &[&str] = &["forward", "output", "postrouting"];

/// Whether a table is mangle and the hook, if one is given, is among `hooks`.
fn mangles_at(kind: TableKind, hook: Option<&str>, hooks: &[&str]) -> bool {
    kind == TableKind::Mangle && hook.is_none_or(|hook| hooks.contains(&hook))
}

/// Checks that an action is possible in a table, at the hook if one is given or the chain is built in, and that its
/// parameters are in range. The error names the rule.
pub(super) fn check(
    kind: TableKind,
    hook: Option<&str>,
    chain: &Chain,
    row: RowId,
    action: &Action,
) -> Result<(), BuildError> {
    let hook = hook.or_else(|| kind.chain(&chain.name));
    let (allowed, name) = match action {
        Action::Accept
        | Action::Jump { .. }
        | Action::Return
        | Action::Log
        | Action::Passthrough
        | Action::AddSrcToAddressList { .. }
        | Action::AddDstToAddressList { .. } => (true, ""),
        Action::Drop => (kind == TableKind::Filter, "drop"),
        Action::Reject { .. } => (kind == TableKind::Filter, "reject"),
        Action::FasttrackConnection => (kind != TableKind::Nat, "fasttrack-connection"),
        Action::MarkPacket { .. } => (kind == TableKind::Mangle, "mark-packet"),
        Action::MarkConnection { .. } => (kind == TableKind::Mangle, "mark-connection"),
        Action::MarkRouting { .. } => (mangles_at(kind, hook, BEFORE_ROUTING), "mark-routing"),
        Action::ChangeDscp { .. } => (kind == TableKind::Mangle, "change-dscp"),
        Action::ChangeMss { mss: NewMss::ClampToPmtu, .. } => {
            (mangles_at(kind, hook, AFTER_ROUTING), "change-mss with clamp-to-pmtu")
        }
        Action::ChangeMss { mss: NewMss::Value { .. }, .. } => (kind == TableKind::Mangle, "change-mss"),
        Action::Masquerade { .. } => (kind == TableKind::Nat && hook != Some("dstnat"), "masquerade"),
        Action::SrcNat { .. } => (kind == TableKind::Nat && hook != Some("dstnat"), "src-nat"),
        Action::DstNat { .. } => (kind == TableKind::Nat && hook != Some("srcnat"), "dst-nat"),
        Action::Redirect { .. } => (kind == TableKind::Nat && hook != Some("srcnat"), "redirect"),
    };
    if !allowed {
        let place = hook.map_or_else(|| kind.menu().to_owned(), |hook| format!("{} {hook}", kind.menu()));
        return Err(BuildError::row(row, format!("action {name} is not possible in {place}")));
    }
    if let Action::ChangeDscp { dscp, .. } = action
        && *dscp > 63
    {
        return Err(BuildError::row(row, format!("new-dscp {dscp}: expected 0 to 63")));
    }
    // The interface and its address do not matter to the ports.
    if let Some(range) = NatTarget::of(action, 0, Some(Addr(0))).and_then(|target| target.ports)
        && range.from > range.to
    {
        return Err(BuildError::row(
            row,
            format!("to-ports {}-{}: expected the lower port first", range.from, range.to),
        ));
    }
    if let Action::SrcNat { to_addresses: Some(range), .. } | Action::DstNat { to_addresses: Some(range), .. } =
        action
        && (range.from.is_ipv4() != range.to.is_ipv4() || range.from > range.to)
    {
        return Err(BuildError::row(
            row,
            format!(
                "to-addresses {}-{}: expected two addresses of one family in ascending order",
                range.from, range.to
            ),
        ));
    }
    Ok(())
}

/// Checks that the address list of an action exists, and that its chain exists and is not built in. The error names the
/// rule.
pub(super) fn check_references(
    kind: TableKind,
    chains: &[Chain],
    lists: &AddressLists,
    row: RowId,
    action: &Action,
) -> Result<(), BuildError> {
    if let Some((listed, _)) = added(action)
        && listed.list as usize >= lists.len()
    {
        let message = format!("adds to address list {}, which does not exist", listed.list);
        return Err(BuildError::row(row, message));
    }
    let Action::Jump { chain } = action else { return Ok(()) };
    match chains.get(*chain as usize) {
        None => Err(BuildError::row(row, format!("jumps to chain {chain}, which does not exist"))),
        Some(target) if kind.chain(&target.name).is_some() => {
            Err(BuildError::row(row, format!("jumps to the built-in chain {}", target.name)))
        }
        Some(_) => Ok(()),
    }
}

/// The list, with the address, that an action adds to, and the life of the entry in milliseconds (0 has no end).
#[inline]
pub(super) fn added(action: &Action) -> Option<(Membership, u64)> {
    match action {
        Action::AddSrcToAddressList { list, timeout_ms } => {
            Some((Membership { list: *list, side: Side::Source }, *timeout_ms))
        }
        Action::AddDstToAddressList { list, timeout_ms } => {
            Some((Membership { list: *list, side: Side::Destination }, *timeout_ms))
        }
        Action::Accept
        | Action::Drop
        | Action::Reject { .. }
        | Action::Jump { .. }
        | Action::Return
        | Action::Log
        | Action::Passthrough
        | Action::FasttrackConnection
        | Action::MarkPacket { .. }
        | Action::MarkConnection { .. }
        | Action::MarkRouting { .. }
        | Action::ChangeDscp { .. }
        | Action::ChangeMss { .. }
        | Action::Masquerade { .. }
        | Action::SrcNat { .. }
        | Action::DstNat { .. }
        | Action::Redirect { .. } => None,
    }
}

/// The changes that rules of mangle make to a packet. Later rules of the same evaluation see the new marks and DSCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// New mark of the packet.
    pub packet_mark: Option<Mark>,
    /// New mark of the connection.
    pub connection_mark: Option<Mark>,
    /// New mark for routing.
    pub routing_mark: Option<Mark>,
    /// New DSCP.
    pub dscp: Option<u8>,
    /// Largest segment size that a SYN segment may announce, bytes.
    pub mss: Option<u16>,
    /// The segment size is limited to what fits the MTU of the out-interface (`clamp-to-pmtu`).
    pub clamp_mss: bool,
}

impl Changes {
    /// Adds the change of an action, also to the view of later rules. Returns whether the next rule is evaluated
    /// (`passthrough`); `None` for an action that is not one of mangle.
    pub(super) fn note(&mut self, action: &Action, view: &mut PacketView) -> Option<bool> {
        match action {
            Action::MarkPacket { mark, passthrough } => {
                view.mark = *mark;
                self.packet_mark = Some(*mark);
                Some(*passthrough)
            }
            Action::MarkConnection { mark, passthrough } => {
                view.connection_mark = *mark;
                self.connection_mark = Some(*mark);
                Some(*passthrough)
            }
            Action::MarkRouting { mark, passthrough } => {
                self.routing_mark = Some(*mark);
                Some(*passthrough)
            }
            Action::ChangeDscp { dscp, passthrough } => {
                (view.dscp, view.dscp_written) = (*dscp, true);
                self.dscp = Some(*dscp);
                Some(*passthrough)
            }
            Action::ChangeMss { mss: NewMss::Value { bytes }, passthrough } => {
                self.mss = Some(self.mss.map_or(*bytes, |mss| mss.min(*bytes)));
                Some(*passthrough)
            }
            Action::ChangeMss { mss: NewMss::ClampToPmtu, passthrough } => {
                self.clamp_mss = true;
                Some(*passthrough)
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
            | Action::Masquerade { .. }
            | Action::SrcNat { .. }
            | Action::DstNat { .. }
            | Action::Redirect { .. } => None,
        }
    }
}

/// [`Changes::note`] for the [reference](super::reference), without shared code.
pub(super) fn reference(action: &Action, view: &mut PacketView, changes: &mut Changes) {
    match action {
        Action::MarkPacket { mark, .. } => {
            changes.packet_mark = Some(*mark);
            view.mark = *mark;
        }
        Action::MarkConnection { mark, .. } => {
            changes.connection_mark = Some(*mark);
            view.connection_mark = *mark;
        }
        Action::MarkRouting { mark, .. } => changes.routing_mark = Some(*mark),
        Action::ChangeDscp { dscp, .. } => {
            changes.dscp = Some(*dscp);
            view.dscp = *dscp;
        }
        Action::ChangeMss { mss: NewMss::ClampToPmtu, .. } => changes.clamp_mss = true,
        Action::ChangeMss { mss: NewMss::Value { bytes }, .. } => {
            changes.mss = Some(changes.mss.unwrap_or(u16::MAX).min(*bytes));
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
        | Action::Masquerade { .. }
        | Action::SrcNat { .. }
        | Action::DstNat { .. }
        | Action::Redirect { .. } => {}
    }
}
