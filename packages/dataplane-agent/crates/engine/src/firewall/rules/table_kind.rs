//! The tables of rules, and their built-in chains.

use crate::packet::Hook;

/// Table of rules, which decides its hooks and actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// `/ip/firewall/filter`.
    Filter,
    /// `/ip/firewall/nat`.
    Nat,
    /// `/ip/firewall/mangle`.
    Mangle,
}

impl TableKind {
    /// Every table.
    pub const ALL: [Self; 3] = [Self::Filter, Self::Nat, Self::Mangle];

    /// The built-in chains: their names, and the hooks that they are evaluated at.
    pub const fn chains(self) -> &'static [(&'static str, Hook)] {
        use Hook::{Forward, Input, Output, Postrouting, Prerouting};
        match self {
            Self::Filter => &[("input", Input), ("forward", Forward), ("output", Output)],
            Self::Nat => &[("srcnat", Postrouting), ("dstnat", Prerouting)],
            Self::Mangle => &[
                ("prerouting", Prerouting),
                ("input", Input),
                ("forward", Forward),
                ("output", Output),
                ("postrouting", Postrouting),
            ],
        }
    }

    /// The name of a built-in chain, if this table has it.
    pub(super) fn chain(self, name: &str) -> Option<&'static str> {
        self.chains().iter().map(|(chain, _)| *chain).find(|chain| *chain == name)
    }

    /// Name of the menu that contains the rules.
    pub(super) const fn menu(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::Nat => "nat",
            Self::Mangle => "mangle",
        }
    }
}
