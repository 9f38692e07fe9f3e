//! The rules of each address family.

use std::sync::Arc;

use tollway_config::dataplane::{Action, AddressList, Chain, DataplaneConfig, RowId};

use super::Basis;
use super::interface::same_numbers;
use crate::error::BuildError;
use crate::firewall::address_set::Contents;
use crate::firewall::rules::{AddressLists, Position, RuleTable, TableKind};
use crate::interface::InterfaceMap;
use crate::packet::Hook;
use crate::packet::family::Family;

/// Positions at which evaluation of the built-in chains starts, by table and hook; `None` without rules.
#[derive(Debug, Clone, Copy, Default)]
struct Hooks([[Option<Position>; Hook::COUNT]; TableKind::ALL.len()]);

impl Hooks {
    fn of(tables: [&RuleTable; TableKind::ALL.len()]) -> Self {
        let mut hooks = Self::default();
        for ((kind, table), by_hook) in TableKind::ALL.iter().zip(tables).zip(&mut hooks.0) {
            for (chain, hook) in kind.chains() {
                if let Some(start) = by_hook.get_mut(*hook as usize) {
                    *start = table.hook(chain);
                }
            }
        }
        hooks
    }

    #[inline]
    fn get(&self, table: TableKind, hook: Hook) -> Option<&Position> {
        self.0.get(table as usize)?.get(hook as usize)?.as_ref()
    }
}

/// The rules of an address family.
#[derive(Debug)]
pub(crate) struct FamilyRules {
    /// The filter.
    pub filter: Arc<RuleTable>,
    /// NAT.
    pub nat: Arc<RuleTable>,
    /// Mangle.
    pub mangle: Arc<RuleTable>,
    /// The address lists to which the rules refer.
    pub lists: Arc<AddressLists>,
    /// The fast path can evaluate filter rules from a resume point on: no later rule reads fields that only the stages
    /// know, and no mangle chain follows.
    pub filter_resumes: bool,
    hooks: Hooks,
}

impl FamilyRules {
    /// Compiles the rules of a family. Tables that did not change are taken from the snapshot before, if the lists and
    /// the numbers of interfaces are the same, which compiled rules refer to.
    pub(super) fn build(
        family: Family,
        config: &DataplaneConfig,
        lists: Arc<AddressLists>,
        map: &InterfaceMap,
        basis: Option<Basis<'_>>,
    ) -> Result<Self, BuildError> {
        let same = basis.filter(|basis| {
            Arc::ptr_eq(&basis.snapshot.rules(family).lists, &lists) && same_numbers(basis.config, config)
        });
        let table = |kind: TableKind| {
            let chains = chains(config, family, kind);
            let before = basis.map(|basis| basis.snapshot.rules(family).table(kind));
            match same.filter(|basis| self::chains(basis.config, family, kind) == chains) {
                Some(basis) => Ok(Arc::clone(basis.snapshot.rules(family).table(kind))),
                None => {
                    let before = before.map(|table| &**table);
                    RuleTable::compile(family, kind, chains, &lists, map, before).map(Arc::new)
                }
            }
        };
        let (filter, nat, mangle) =
            (table(TableKind::Filter)?, table(TableKind::Nat)?, table(TableKind::Mangle)?);
        let hooks = Hooks::of([&filter, &nat, &mangle]);
        Ok(Self {
            filter_resumes: mangle.is_empty()
                || hooks.get(TableKind::Mangle, Hook::Postrouting).is_none() && !filter.reads_packet_mark(),
            hooks,
            filter,
            nat,
            mangle,
            lists,
        })
    }

    /// Position at which evaluation of a table starts at a hook; `None` when it has no rules there.
    #[inline]
    pub fn start(&self, table: TableKind, hook: Hook) -> Option<&Position> {
        self.hooks.get(table, hook)
    }

    /// Whether there is no rule at all.
    pub fn is_empty(&self) -> bool {
        self.filter.is_empty() && self.nat.is_empty() && self.mangle.is_empty()
    }

    /// Whether no rule decides about packets that are not tracked.
    pub(super) fn has_no_decisions(&self) -> bool {
        self.filter.is_empty() && self.mangle.is_empty()
    }

    /// Whether rules read or set marks.
    pub(super) fn knows_marks(&self) -> bool {
        !self.mangle.is_empty() || self.filter.reads_connection_mark() || self.nat.reads_connection_mark()
    }

    /// Rows of all rules.
    pub(super) fn rows(&self) -> impl Iterator<Item = RowId> {
        self.filter.rows().chain(self.nat.rows()).chain(self.mangle.rows())
    }

    fn table(&self, kind: TableKind) -> &Arc<RuleTable> {
        match kind {
            TableKind::Filter => &self.filter,
            TableKind::Nat => &self.nat,
            TableKind::Mangle => &self.mangle,
        }
    }

    /// Whether a table is that of other rules.
    pub(super) fn shares(&self, kind: TableKind, other: &Self) -> bool {
        Arc::ptr_eq(self.table(kind), other.table(kind))
    }
}

/// The chains of a table.
fn chains(config: &DataplaneConfig, family: Family, kind: TableKind) -> &[Chain] {
    match (family, kind) {
        (Family::V4, TableKind::Filter) => &config.filter,
        (Family::V4, TableKind::Nat) => &config.nat,
        (Family::V4, TableKind::Mangle) => &config.mangle,
        (Family::V6, TableKind::Filter) => &config.ipv6_filter,
        (Family::V6, TableKind::Nat) => &config.ipv6_nat,
        (Family::V6, TableKind::Mangle) => &config.ipv6_mangle,
    }
}

/// Whether a rule marks connections for FastTrack, of IPv4 and IPv6.
pub(super) fn fasttracks(config: &DataplaneConfig) -> [bool; 2] {
    [(&config.filter, &config.mangle), (&config.ipv6_filter, &config.ipv6_mangle)].map(|(filter, mangle)| {
        let mut rules = filter.iter().chain(mangle).flat_map(|chain| &chain.rules);
        rules.any(|rule| rule.action == Action::FasttrackConnection)
    })
}

/// The address lists of both families, and their configured contents.
pub(super) struct BuiltLists {
    pub v4: Arc<AddressLists>,
    pub v6: Arc<AddressLists>,
    pub contents: Arc<Contents>,
}

/// Builds the address lists. If their names and order are the same as before, they keep their numbers, and rules need
/// not be compiled again.
pub(super) fn build_lists(
    config: &DataplaneConfig,
    basis: Option<Basis<'_>>,
) -> Result<BuiltLists, BuildError> {
    let (v4, v6) = (&config.address_lists, &config.ipv6_address_lists);
    let Some(Basis { config: before, snapshot }) = basis else {
        let contents = Contents::build(v4, v6, None)?;
        let [v4, v6] = [AddressLists::named(v4)?, AddressLists::named(v6)?].map(Arc::new);
        return Ok(BuiltLists { v4, v6, contents: Arc::new(contents) });
    };
    let contents = if before.address_lists == *v4 && before.ipv6_address_lists == *v6 {
        Arc::clone(&snapshot.list_contents)
    } else {
        Arc::new(Contents::build(v4, v6, Some(&snapshot.list_contents))?)
    };
    let named = |family: Family, lists: &[AddressList]| {
        let known = &snapshot.rules(family).lists;
        let same_names = known.names().iter().eq(lists.iter().map(|list| &list.name));
        if same_names { Ok(Arc::clone(known)) } else { AddressLists::named(lists).map(Arc::new) }
    };
    Ok(BuiltLists { v4: named(Family::V4, v4)?, v6: named(Family::V6, v6)?, contents })
}
