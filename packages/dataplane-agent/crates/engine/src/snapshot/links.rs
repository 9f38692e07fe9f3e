//! Links: the untagged frames of a port, and what is above it. Their numbers, the tags of received frames by which they
//! are found, and the tags that sent frames get.

use std::collections::{BTreeMap, BTreeSet};

use tollway_config::dataplane::{MAX_VLAN_TAGS, RowId};
use tollway_wire::ethernet;

use crate::ids::{LinkId, NO_LINK, PortId};

/// Numbers of the links of one snapshot. A port has its own number. An interface above it keeps its number while its row
/// exists, and the number is given to another row as late as possible, so that a packet which still waits for an
/// interface that was removed never leaves by another one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LinkIds {
    rows: BTreeMap<RowId, LinkId>,
    next: LinkId,
}

impl LinkIds {
    /// Numbers for interfaces above ports. Without a number in `before` a row gets a new one.
    pub fn following(before: &Self, ports: LinkId, rows: impl Iterator<Item = RowId>) -> Self {
        let mut ids = Self { rows: BTreeMap::new(), next: before.next.max(ports) };
        let mut used: BTreeSet<LinkId> = before.rows.values().copied().collect();
        for row in rows {
            let id = before.rows.get(&row).copied().filter(|id| *id >= ports).unwrap_or_else(|| {
                let from = ids.next..NO_LINK;
                let free = from.chain(ports..ids.next).find(|id| !used.contains(id)).unwrap_or(NO_LINK);
                ids.next = free.saturating_add(1);
                if ids.next == NO_LINK {
                    ids.next = ports;
                }
                free
            });
            used.insert(id);
            ids.rows.insert(row, id);
        }
        ids
    }

    /// The number of the interface with a row, if it is above a port.
    pub fn of(&self, row: RowId) -> Option<LinkId> {
        self.rows.get(&row).copied().filter(|id| *id != NO_LINK)
    }

    /// One more than the largest number.
    pub fn end(&self, ports: LinkId) -> LinkId {
        self.rows.values().filter(|id| **id != NO_LINK).map(|id| id + 1).max().unwrap_or(0).max(ports)
    }
}

/// A tag as it is received: the link below, the kind of the tag and the VLAN identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Tag {
    /// The link that received the frame.
    pub below: LinkId,
    /// The EtherType is that of a service tag.
    pub service: bool,
    /// VLAN identifier, 1…4094.
    pub vlan_id: u16,
}

impl Tag {
    const fn key(self) -> u32 {
        (self.below as u32) << 13 | (self.service as u32) << 12 | (self.vlan_id & 0x0fff) as u32
    }

    /// The tag as it is sent: EtherType, and VLAN identifier with priority 0.
    pub const fn bytes(self) -> [u8; ethernet::TAG] {
        let ethertype = if self.service { ethernet::SERVICE_VLAN } else { ethernet::VLAN };
        let [a, b] = ethertype.to_be_bytes();
        let [c, d] = self.vlan_id.to_be_bytes();
        [a, b, c, d]
    }
}

const EMPTY: u32 = u32::MAX;

/// The links that frames with tags belong to: a hash table with linear probing, at most half full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VlanTable {
    places: Vec<(u32, LinkId)>,
}

impl VlanTable {
    pub(super) fn new(links: &BTreeMap<Tag, LinkId>) -> Self {
        let size = if links.is_empty() { 0 } else { (links.len() * 2).next_power_of_two() };
        let mut table = Self { places: vec![(EMPTY, NO_LINK); size] };
        for (tag, link) in links {
            let mut at = table.start(tag.key());
            while let Some(place) = table.places.get_mut(at) {
                if place.0 == EMPTY {
                    *place = (tag.key(), *link);
                    break;
                }
                at = (at + 1) & (size - 1);
            }
        }
        table
    }

    #[inline]
    fn start(&self, key: u32) -> usize {
        (key.wrapping_mul(0x9e37_79b1) >> 7) as usize & self.places.len().wrapping_sub(1)
    }

    /// The link for frames that `below` receives with a tag.
    #[inline]
    pub(crate) fn find(&self, below: LinkId, service: bool, vlan_id: u16) -> Option<LinkId> {
        let key = Tag { below, service, vlan_id }.key();
        let mut at = self.start(key);
        loop {
            let (found, link) = *self.places.get(at)?;
            if found == key {
                return Some(link);
            }
            if found == EMPTY {
                return None;
            }
            at = (at + 1) & self.places.len().wrapping_sub(1);
        }
    }
}

/// What is put around the frames of a link above a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encapsulation {
    /// The port.
    pub port: PortId,
    /// The link directly below: the port, or another link above it.
    pub lower: LinkId,
    tags_len: u16,
    tags: [u8; MAX_VLAN_TAGS * ethernet::TAG],
}

impl Encapsulation {
    const NONE: Self =
        Self { port: PortId::MAX, lower: NO_LINK, tags_len: 0, tags: [0; MAX_VLAN_TAGS * ethernet::TAG] };

    /// The encapsulation of a link by one tag inside that of the link below, which has none if it is a port. `None` for
    /// more tags than there may be.
    pub(super) fn inside(outer: Option<&Self>, tag: Tag) -> Option<Self> {
        let mut new = outer.copied().unwrap_or(Self { port: tag.below, ..Self::NONE });
        new.lower = tag.below;
        let from = usize::from(new.tags_len);
        new.tags.get_mut(from..from + ethernet::TAG)?.copy_from_slice(&tag.bytes());
        new.tags_len += ethernet::TAG as u16;
        Some(new)
    }

    /// The tags, outermost first.
    #[inline]
    pub fn tags(&self) -> &[u8] {
        self.tags.get(..usize::from(self.tags_len)).unwrap_or_default()
    }

    /// The tag, if there is one alone.
    #[inline]
    pub(crate) fn one_tag(&self) -> Option<[u8; ethernet::TAG]> {
        let [a, b, c, d, ..] = self.tags;
        (usize::from(self.tags_len) == ethernet::TAG).then_some([a, b, c, d])
    }

    /// Bytes by which frames get longer than the MTU of a port allows for: it has room for one customer tag.
    pub(super) fn excess(&self) -> u16 {
        let customer = self.tags().starts_with(&ethernet::VLAN.to_be_bytes());
        self.tags_len - if customer { ethernet::TAG as u16 } else { 0 }
    }
}

/// The encapsulations of all links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encapsulations {
    ports: LinkId,
    /// By number, less the number of ports.
    above: Vec<Encapsulation>,
}

impl Default for Encapsulations {
    /// No link is above another.
    fn default() -> Self {
        Self { ports: NO_LINK, above: Vec::new() }
    }
}

impl Encapsulations {
    pub(super) fn new(ports: LinkId, end: LinkId, all: &BTreeMap<LinkId, Encapsulation>) -> Self {
        let of = |id| all.get(&id).copied().unwrap_or(Encapsulation::NONE);
        Self { ports, above: (ports..end).map(of).collect() }
    }

    /// Number of ports: the links from this number on are above ports.
    #[inline]
    pub fn ports(&self) -> LinkId {
        self.ports
    }

    /// The encapsulation of a link; `None` for a port, and for a number that no link has.
    #[inline]
    pub fn get(&self, link: LinkId) -> Option<&Encapsulation> {
        let found = self.above.get(usize::from(link.checked_sub(self.ports)?))?;
        (found.tags_len != 0).then_some(found)
    }

    /// Links above ports, with their encapsulations.
    pub fn iter(&self) -> impl Iterator<Item = (LinkId, &Encapsulation)> {
        (self.ports..).zip(&self.above).filter(|(_, encapsulation)| encapsulation.tags_len != 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_stay_with_their_rows_and_come_back_last() {
        let none = LinkIds::default();
        let first = LinkIds::following(&none, 3, [7, 9].into_iter());
        assert_eq!((first.of(7), first.of(9), first.of(8), first.end(3)), (Some(3), Some(4), None, 5));
        // In another order, with another row between them.
        let second = LinkIds::following(&first, 3, [9, 8, 7].into_iter());
        assert_eq!((second.of(7), second.of(8), second.of(9)), (Some(3), Some(5), Some(4)));
        let mut ids = LinkIds::following(&second, 3, [9].into_iter());
        assert_eq!((ids.of(7), ids.end(3)), (None, 5));
        let mut given = BTreeSet::from([3, 5]);
        for row in 100..100 + u32::from(NO_LINK - 6) {
            ids = LinkIds::following(&ids, 3, [9, row].into_iter());
            assert_eq!(ids.of(9), Some(4));
            assert!(given.insert(ids.of(row).unwrap()), "a number comes back before all others were used");
        }
        let last = LinkIds::following(&ids, 3, [9, 1].into_iter());
        assert_eq!(last.of(1), Some(3));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(64)))]

        #[test]
        fn a_tag_finds_its_link_and_no_other(
            tags in prop::collection::btree_map(
                (0u16..4, any::<bool>(), 1u16..4095)
                    .prop_map(|(below, service, vlan_id)| Tag { below, service, vlan_id }),
                4u16..2000,
                0..300,
            ),
            others in prop::collection::vec((0u16..4, any::<bool>(), 0u16..4096), 50),
        ) {
            let table = VlanTable::new(&tags);
            for (tag, link) in &tags {
                prop_assert_eq!(table.find(tag.below, tag.service, tag.vlan_id), Some(*link));
            }
            for (below, service, vlan_id) in others {
                let expected = tags.get(&Tag { below, service, vlan_id }).copied();
                prop_assert_eq!(table.find(below, service, vlan_id), expected);
            }
        }
    }
}
