//! `masquerade`, `src-nat`, `dst-nat`, `netmap`, `redirect`.

use tollway_config::dataplane::{AddressRange, PortRange};

use super::{
    ActionScope, Addr, BuildError, ChainExit, Family, Hit, NatTarget, ReferenceHit, RowId, RuleAction,
    RuleVerdict,
};

/// The new address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    /// The address of the out-interface.
    Masquerade,
    /// The address of the in-interface.
    Redirect,
    /// One of these addresses; `None` keeps the address.
    Addresses(Option<AddressRange>),
    /// The address of this prefix with the same host bits.
    Prefix(AddressRange),
}

/// Decides on the translation of the connection.
pub(super) struct Translate {
    /// Addresses to translate to.
    pub to: To,
    /// Ports to translate to; `None` keeps the port if it is free.
    pub to_ports: Option<PortRange>,
    /// Whether a port is chosen at random.
    pub randomise_ports: bool,
}

impl RuleAction for Translate {
    fn check(&self, scope: &ActionScope<'_>) -> Result<(), BuildError> {
        if let Some(PortRange { from, to }) = self.to_ports {
            scope.ensure(from <= to, || format!("to-ports {from}-{to}: expected the lower port first"))?;
        }
        let (To::Addresses(Some(AddressRange { from, to })) | To::Prefix(AddressRange { from, to })) =
            self.to
        else {
            return Ok(());
        };
        scope.ensure([from, to].map(Family::of) == [scope.family; 2] && from <= to, || {
            let family = scope.family.name();
            format!("to-addresses {from}-{to}: expected two {family} addresses in ascending order")
        })?;
        // The bits in which the ends differ are the last ones, 0 in the first address and 1 in the last.
        let (first, last) = (Addr::from(from).0, Addr::from(to).0);
        let hosts = first ^ last;
        let is_prefix = hosts & hosts.wrapping_add(1) == 0 && first & hosts == 0;
        scope.ensure(!matches!(self.to, To::Prefix(_)) || is_prefix, || {
            format!("to-addresses {from}-{to}: expected a prefix")
        })
    }

    #[inline(always)]
    fn nat_target(&self, interface: RowId, own: Option<Addr>) -> Option<NatTarget> {
        let addresses = match self.to {
            To::Masquerade | To::Redirect => Some((own?, own?)),
            To::Prefix(range) => Some((Addr::from(range.from), Addr::from(range.to))),
            To::Addresses(range) => range.map(|range| (Addr::from(range.from), Addr::from(range.to))),
        };
        Some(NatTarget {
            addresses,
            keeps_host: matches!(self.to, To::Prefix(_)),
            ports: self.to_ports,
            randomise: self.randomise_ports,
            masquerade: (self.to == To::Masquerade).then_some(interface),
        })
    }

    #[inline(always)]
    fn apply(&self, hit: &mut Hit<'_>) -> Option<ChainExit> {
        hit.out.verdict = RuleVerdict::Nat { rule: hit.position.rule };
        Some(ChainExit::End)
    }

    fn reference(&self, hit: &mut ReferenceHit<'_>) -> Option<ChainExit> {
        hit.outcome.verdict = RuleVerdict::Nat { rule: hit.index };
        Some(ChainExit::End)
    }
}
