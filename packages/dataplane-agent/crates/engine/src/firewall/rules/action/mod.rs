//! The actions of rules. An action consists of a file in this directory and a row of `actions!`. The row has the name
//! of the action and the tables and chains in which it is allowed. The file implements [`RuleAction`]: which parameters
//! are valid and what the action does to a packet. Actions that share code share a file. `docs/adding/action.md`
//! explains an example.

mod address_list;
mod change_dscp;
mod change_mss;
mod exit;
mod fasttrack;
mod log;
mod mark;
mod reject;
#[cfg(test)]
mod sample;
mod translate;

use tollway_config::dataplane::{Action as A, Chain, NewMss, RowId};

use super::list::AddressLists;
use super::outcome::{Evaluation, ListAddition, Position, RuleVerdict};
use super::reference_input::ReferenceHit;
use super::table_kind::TableKind::{self, Filter, Mangle, Nat};
use super::view::{PacketView, Side};
use crate::error::BuildError;
use crate::flow::nat::NatTarget;
use crate::packet::family::Family;
use crate::packet::tuple::Addr;

/// The way in which evaluation leaves a chain.
#[derive(Clone, Copy)]
pub(super) enum ChainExit {
    /// End of the table, with the verdict so far: `accept` unless the action has written another one.
    End,
    /// Jump to this chain.
    Call(u32),
    /// Return to the calling chain: at the end of the chain, or by `action=return`.
    Return,
}

/// The rule whose action is checked, and the objects to which the action may refer.
pub(super) struct ActionScope<'a> {
    /// Family of the rule.
    pub family: Family,
    /// Table of the rule.
    pub kind: TableKind,
    /// Name of its chain, or of a built-in chain from which it is reached.
    pub chain: &'a str,
    /// Chains of the table.
    pub chains: &'a [Chain],
    /// Address lists.
    pub lists: &'a AddressLists,
    /// The rule, for errors.
    pub row: RowId,
}

impl ActionScope<'_> {
    /// Returns an error with a message unless a condition holds.
    fn ensure(&self, holds: bool, message: impl FnOnce() -> String) -> Result<(), BuildError> {
        if holds { Ok(()) } else { Err(BuildError::row(self.row, message())) }
    }

    fn check_place(&self, name: &str, tables: &[TableKind], chains: &[&str]) -> Result<(), BuildError> {
        let (menu, hook) = (self.kind.menu(), self.kind.chain(self.chain));
        let is_hook_allowed = chains.is_empty() || hook.is_none_or(|hook| chains.contains(&hook));
        self.ensure(tables.contains(&self.kind) && is_hook_allowed, || {
            let place = hook.map_or_else(|| menu.to_owned(), |hook| format!("{menu} {hook}"));
            format!("action {name} is not possible in {place}")
        })
    }
}

/// A packet that a rule matches, and the evaluation so far.
pub(super) struct Hit<'a> {
    /// The packet. Later rules of the same evaluation see changes made here.
    pub view: &'a mut PacketView,
    /// Position of the rule.
    pub position: &'a Position,
    /// The evaluation.
    pub out: &'a mut Evaluation,
}

/// An action of a rule. Items with a default are implemented only where they differ.
pub(super) trait RuleAction {
    /// Checks that parameters are in range and that the objects to which they refer exist. The error names the rule.
    fn check(&self, _scope: &ActionScope<'_>) -> Result<(), BuildError> {
        Ok(())
    }

    /// Whether each match writes a log line.
    fn logs(&self) -> bool {
        false
    }

    /// Whether the outcome depends on volume, time or lists.
    fn has_limited_validity(&self) -> bool {
        false
    }

    /// Index of the chain that it jumps to.
    fn callee(&self) -> Option<u32> {
        None
    }

    /// Translation that the action asks for. `interface` and `own` are the row and the address of the out-interface in
    /// `srcnat`, of the in-interface in `dstnat`. `None` if the action is not a translation, or needs the address and
    /// there is none.
    fn nat_target(&self, _interface: RowId, _own: Option<Addr>) -> Option<NatTarget> {
        None
    }

    /// Applies the action to a packet that the rule matches. Returns `None` if evaluation continues with the next rule.
    /// An outcome that may differ for another packet of the flow must be noted with [`Evaluation::note_dependency`].
    fn apply(&self, _hit: &mut Hit<'_>) -> Option<ChainExit> {
        None
    }

    /// Reference implementation of [`Self::apply`], for the [reference](super::reference). It shares no code with that,
    /// so that an error in one does not affect the other.
    fn reference(&self, _hit: &mut ReferenceHit<'_>) -> Option<ChainExit> {
        None
    }
}

macro_rules! actions {
    ($($(#[cfg($cfg:meta)])? $name:literal $($table:ident)+ $($chain:literal)*: $configured:pat => $action:expr;)*) => {
        /// Each method is that of the action's file.
        impl RuleAction for A {
            fn check(&self, scope: &ActionScope<'_>) -> Result<(), BuildError> {
                match *self {
                    $($(#[cfg($cfg)])? $configured => {
                        scope.check_place($name, &[$($table),+], &[$($chain),*]).and_then(|()| $action.check(scope))
                    })*
                }
            }

            fn logs(&self) -> bool {
                match *self { $($(#[cfg($cfg)])? $configured => $action.logs(),)* }
            }

            fn has_limited_validity(&self) -> bool {
                match *self { $($(#[cfg($cfg)])? $configured => $action.has_limited_validity(),)* }
            }

            fn callee(&self) -> Option<u32> {
                match *self { $($(#[cfg($cfg)])? $configured => $action.callee(),)* }
            }

            #[inline(always)]
            fn nat_target(&self, interface: RowId, own: Option<Addr>) -> Option<NatTarget> {
                match *self { $($(#[cfg($cfg)])? $configured => $action.nat_target(interface, own),)* }
            }

            #[inline(always)]
            fn apply(&self, hit: &mut Hit<'_>) -> Option<ChainExit> {
                match *self { $($(#[cfg($cfg)])? $configured => $action.apply(hit),)* }
            }

            fn reference(&self, hit: &mut ReferenceHit<'_>) -> Option<ChainExit> {
                match *self { $($(#[cfg($cfg)])? $configured => $action.reference(hit),)* }
            }
        }
    };
}

// Name for users, the tables in which it is allowed, the built-in chains of these tables if not all, the variant of the
// configuration, and the implementation.
actions! {
    #[cfg(test)]
    "mark-segments" Mangle "forward" "postrouting": A::MarkPacket { mark: sample::MARK, passthrough } =>
        sample::Sample { passthrough };
    "accept" Filter Nat Mangle: A::Accept => exit::Exit(RuleVerdict::Accept, Some(ChainExit::End));
    "drop" Filter: A::Drop => exit::Exit(RuleVerdict::Drop, Some(ChainExit::End));
    "reject" Filter: A::Reject { with } => reject::Reject(with);
    "return" Filter Nat Mangle: A::Return => exit::Exit(RuleVerdict::Accept, Some(ChainExit::Return));
    "jump" Filter Nat Mangle: A::Jump { chain } => exit::Exit(RuleVerdict::Accept, Some(ChainExit::Call(chain)));
    "log" Filter Nat Mangle: A::Log => log::Log;
    "passthrough" Filter Nat Mangle: A::Passthrough => exit::Exit(RuleVerdict::Accept, None);
    "fasttrack-connection" Filter Mangle: A::FasttrackConnection => fasttrack::Fasttrack;
    "mark-packet" Mangle: A::MarkPacket { mark, passthrough } =>
        mark::SetMark { of: mark::Marked::Packet, mark, passthrough };
    "mark-connection" Mangle: A::MarkConnection { mark, passthrough } =>
        mark::SetMark { of: mark::Marked::Connection, mark, passthrough };
    "mark-routing" Mangle "prerouting" "output": A::MarkRouting { mark, passthrough } =>
        mark::SetMark { of: mark::Marked::Routing, mark, passthrough };
    "change-dscp" Mangle: A::ChangeDscp { dscp, passthrough } => change_dscp::ChangeDscp { dscp, passthrough };
    "change-mss" Mangle:
        A::ChangeMss { mss: mss @ NewMss::Value { .. }, passthrough } => change_mss::ChangeMss { mss, passthrough };
    "change-mss with clamp-to-pmtu" Mangle "forward" "output" "postrouting":
        A::ChangeMss { mss: mss @ NewMss::ClampToPmtu, passthrough } => change_mss::ChangeMss { mss, passthrough };
    "add-src-to-address-list" Filter Nat Mangle: A::AddSrcToAddressList { list, timeout_ms } =>
        address_list::AddToList { list, side: Side::Source, timeout_ms };
    "add-dst-to-address-list" Filter Nat Mangle: A::AddDstToAddressList { list, timeout_ms } =>
        address_list::AddToList { list, side: Side::Destination, timeout_ms };
    "masquerade" Nat "srcnat": A::Masquerade { to_ports, randomise_ports } =>
        translate::Translate { to: translate::To::Masquerade, to_ports, randomise_ports };
    "src-nat" Nat "srcnat": A::SrcNat { to_addresses, to_ports, randomise_ports } =>
        translate::Translate { to: translate::To::Addresses(to_addresses), to_ports, randomise_ports };
    "dst-nat" Nat "dstnat": A::DstNat { to_addresses, to_ports } =>
        translate::Translate { to: translate::To::Addresses(to_addresses), to_ports, randomise_ports: false };
    "netmap" Nat: A::Netmap { to_addresses, to_ports } =>
        translate::Translate { to: translate::To::Prefix(to_addresses), to_ports, randomise_ports: false };
    "redirect" Nat "dstnat": A::Redirect { to_ports } =>
        translate::Translate { to: translate::To::Redirect, to_ports, randomise_ports: false };
}
