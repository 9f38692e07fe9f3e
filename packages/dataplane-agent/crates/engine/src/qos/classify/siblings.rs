//! Sibling queues: those without a parent, or the children of one. Finds the first one that a packet matches without
//! comparing it with all of them.
//!
//! A *group* lists the positions of the queues with one target prefix, in list order up to the first queue without
//! conditions, and refers to the group of the enclosing prefix. So a packet is compared only with the conditional
//! queues before the first unconditional one, and queues without conditions cost no more than a lookup.

use std::collections::BTreeMap;

use tollway_config::dataplane::{QueueTarget, RowId, SimpleQueue};

use super::address_map::{AddressMap, PrefixValue, network};
use super::condition::{PacketFields, QueueCondition};
use super::{NOBODY, QueueDirection};
use crate::error::BuildError;
use crate::ip::fib::Address;

#[derive(Debug, Clone, Copy)]
struct Group {
    /// Start of the group's part of [`Siblings::positions`].
    from: u32,
    to: u32,
    /// The group of the enclosing prefix, or [`NOBODY`].
    around: u32,
}

/// Sibling queues; see the module.
#[derive(Debug)]
pub(super) struct Siblings {
    by_address: AddressMap,
    /// Ascending by row.
    by_interface: Vec<(RowId, Group)>,
    /// Groups, by the values of `by_address`. If there are none, these values are positions.
    groups: Vec<Group>,
    positions: Vec<u32>,
}

impl Siblings {
    /// The siblings at `positions`, ascending. `conditions` has an entry for each position of the whole list.
    pub fn new(
        queues: &[SimpleQueue],
        positions: &[u32],
        conditions: &[Option<Box<QueueCondition>>],
    ) -> Result<Self, BuildError> {
        let (mut v4, mut v6) = (Vec::with_capacity(positions.len()), Vec::new());
        let mut interfaces: BTreeMap<RowId, Vec<u32>> = BTreeMap::new();
        let has_condition = |position: u32| conditions.get(position as usize).is_some_and(Option::is_some);
        let mut plain = true;
        for &position in positions {
            let Some(queue) = queues.get(position as usize) else { continue };
            plain &= !has_condition(position);
            for target in &queue.targets {
                match target {
                    QueueTarget::Prefix(prefix) => {
                        v4.extend(network(queue.row, prefix)?.map(|(address, len)| (address, len, position)));
                        v6.extend(network(queue.row, prefix)?.map(|(address, len)| (address, len, position)));
                    }
                    QueueTarget::Interface(target) => {
                        plain = false;
                        interfaces.entry(target.interface).or_default().push(position);
                    }
                }
            }
        }
        if plain {
            let by_address = AddressMap::new(with_values(v4), with_values(v6), NOBODY, u32::min);
            return Ok(Self {
                by_address,
                by_interface: Vec::new(),
                groups: Vec::new(),
                positions: Vec::new(),
            });
        }
        Ok(Self::grouped(v4, v6, interfaces, has_condition))
    }

    fn grouped(
        v4: Vec<(u32, u8, u32)>,
        v6: Vec<(u128, u8, u32)>,
        interfaces: BTreeMap<RowId, Vec<u32>>,
        has_condition: impl Fn(u32) -> bool,
    ) -> Self {
        let mut positions = Vec::with_capacity(v4.len() + v6.len());
        let mut group = |own: &mut dyn Iterator<Item = u32>| {
            let from = positions.len() as u32;
            for position in own {
                if positions.get(from as usize..).is_some_and(|own| own.last() == Some(&position)) {
                    continue;
                }
                positions.push(position);
                if !has_condition(position) {
                    break;
                }
            }
            Group { from, to: positions.len() as u32, around: NOBODY }
        };
        let mut groups = Vec::new();
        let mut group_of = |own: &mut dyn Iterator<Item = u32>| {
            groups.push(group(own));
            groups.len() as u32 - 1
        };
        let (v4, v6) = (by_prefix(v4, &mut group_of), by_prefix(v6, &mut group_of));
        let by_interface: Vec<_> =
            interfaces.into_iter().map(|(row, own)| (row, group(&mut own.into_iter()))).collect();
        let linked = std::cell::RefCell::new(groups);
        let by_address = AddressMap::new(v4, v6, NOBODY, |around, own| {
            if let Some(group) = linked.borrow_mut().get_mut(own as usize) {
                group.around = around;
            }
            own
        });
        Self { by_address, by_interface, groups: linked.into_inner(), positions }
    }

    /// Position of the first queue that a packet matches, and in which direction: download if it matches in both.
    #[inline]
    pub fn first(&self, packet: &PacketFields<'_>, holds_ns: &mut u64) -> Option<(u32, QueueDirection)> {
        let (from, to) = (self.by_address.of(packet.src), self.by_address.of(packet.dst));
        let (up, down) = if self.groups.is_empty() && self.by_interface.is_empty() {
            (from, to)
        } else {
            let context = packet.context;
            let down =
                self.best(to, context.out_interface, QueueDirection::Download, packet, NOBODY, holds_ns);
            (self.best(from, context.in_interface, QueueDirection::Upload, packet, down, holds_ns), down)
        };
        if down <= up {
            (down != NOBODY).then_some((down, QueueDirection::Download))
        } else {
            Some((up, QueueDirection::Upload))
        }
    }

    /// The first position below `best` that a packet matches in `direction`, by the group of its address and by its
    /// interface; `best` if there is none.
    fn best(
        &self,
        group: u32,
        interface: RowId,
        direction: QueueDirection,
        packet: &PacketFields<'_>,
        mut best: u32,
        holds_ns: &mut u64,
    ) -> u32 {
        let mut next = self.groups.get(group as usize);
        while let Some(group) = next {
            best = self.first_of(group, direction, packet, best, holds_ns);
            next = self.groups.get(group.around as usize);
        }
        let found = self.by_interface.binary_search_by_key(&interface, |(row, _)| *row);
        if let Some((_, group)) = found.ok().and_then(|at| self.by_interface.get(at)) {
            best = self.first_of(group, direction, packet, best, holds_ns);
        }
        best
    }

    fn first_of(
        &self,
        group: &Group,
        direction: QueueDirection,
        packet: &PacketFields<'_>,
        best: u32,
        holds_ns: &mut u64,
    ) -> u32 {
        let own = self.positions.get(group.from as usize..group.to as usize).unwrap_or_default();
        let before = own.iter().copied().take_while(|position| *position < best);
        let mut fitting = before.filter(|position| {
            let condition = packet.conditions.get(*position as usize).and_then(Option::as_deref);
            condition.is_none_or(|condition| condition.fits(packet, direction, holds_ns))
        });
        fitting.next().unwrap_or(best)
    }
}

/// Prefixes with the positions of their queues as values.
fn with_values<A>(prefixes: Vec<(A, u8, u32)>) -> Vec<PrefixValue<A>> {
    prefixes.into_iter().map(|(address, len, value)| PrefixValue { address, len, value }).collect()
}

/// Each prefix once, with the number of the group of the queues that have it as a target.
fn by_prefix<A: Address>(
    mut prefixes: Vec<(A, u8, u32)>,
    group_of: &mut impl FnMut(&mut dyn Iterator<Item = u32>) -> u32,
) -> Vec<PrefixValue<A>> {
    prefixes.sort_unstable();
    let same = |one: &(A, u8, u32), other: &(A, u8, u32)| (one.0, one.1) == (other.0, other.1);
    let mut entries = Vec::new();
    for own in prefixes.chunk_by(same) {
        let Some(&(address, len, _)) = own.first() else { continue };
        let value = group_of(&mut own.iter().map(|(.., position)| *position));
        entries.push(PrefixValue { address, len, value });
    }
    entries
}
