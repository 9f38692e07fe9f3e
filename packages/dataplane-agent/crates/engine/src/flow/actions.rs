//! Flow actions: what the flow cache does with the packets of a flow, apart from what is the flow's own. Many flows
//! share an action, so each is stored once, and a flow entry holds its number.
//!
//! Numbers are valid for one cache epoch. They are never given out again before all entries have been searched for old
//! ones, so that an entry needs no epoch: the number of an action of an earlier epoch finds nothing. When only decisions of
//! one family become invalid, its actions end one by one, and those of the other family stay.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use tollway_config::dataplane::Mark;

use super::new_addresses::NewAddressTable;
use super::number_hasher::NumberHasher;
use crate::ids::{ActionId, AdjacencyId, NO_ACTION, NONE, PortId};
use crate::packet::family::Family;

/// Maximum number of actions in an epoch.
const MAX_ACTIONS: usize = 1 << 20;

/// What the flow cache does with the packets of a flow. What is the flow's own is in its
/// [`CachedAction`](crate::flow::conntrack::CachedAction).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct FlowAction {
    /// Adjacency of the next hop, whose MAC address becomes the link-layer destination.
    pub adjacency: AdjacencyId,
    /// Path id: the rules counted.
    pub path: u32,
    /// Ingress port: the action is valid for packets from this port only.
    pub in_port: PortId,
    /// Egress port.
    pub out_port: PortId,
    /// Resume point: the rule from which on rules are evaluated for every packet; 0 for none.
    pub resume: u16,
    /// DSCP to write.
    pub new_dscp: Option<u8>,
}

const _: () = assert!(size_of::<FlowAction>() == 16);

impl FlowAction {
    /// In the place of an action that has ended. No packet comes from its port, and its next hop is not known.
    pub const ENDED: Self = Self {
        adjacency: NONE,
        path: 0,
        in_port: PortId::MAX,
        out_port: PortId::MAX,
        resume: 0,
        new_dscp: None,
    };
}

/// Which packets an action is for, apart from what it says itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionOf {
    /// Their family.
    pub family: Family,
    /// Their routing mark, by which their routes are found again after a change; 0 for none.
    pub mark: Mark,
}

/// An action and what it is for as the key of a hash table, without padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ActionKey([u64; 3]);

impl ActionKey {
    fn new(action: &FlowAction, of: ActionOf) -> Self {
        let dscp = action.new_dscp.map_or(0, |dscp| u64::from(dscp) + 1);
        Self([
            u64::from(action.adjacency) << 32 | u64::from(action.path),
            u64::from(action.in_port) << 48
                | u64::from(action.out_port) << 32
                | u64::from(action.resume) << 16
                | dscp,
            u64::from(of.mark) << 1 | u64::from(of.family == Family::V6),
        ])
    }
}

impl Hash for ActionKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // An array is hashed by its bytes.
        self.0.into_iter().for_each(|word| state.write_u64(word));
    }
}

/// The flow actions of one worker in the current cache epoch.
#[derive(Debug)]
pub struct FlowActions {
    actions: Vec<FlowAction>,
    /// What the actions are for. Apart from the actions, as packets do not need it.
    of: Vec<ActionOf>,
    /// Addresses that packets of IPv6 get.
    pub(crate) new_addresses: NewAddressTable,
    numbers: HashMap<ActionKey, ActionId, BuildHasherDefault<NumberHasher>>,
    /// Number of the first action of the epoch.
    first: ActionId,
    /// Number of the action that was last asked for.
    last: ActionId,
}

impl Default for FlowActions {
    fn default() -> Self {
        Self {
            actions: Vec::new(),
            of: Vec::new(),
            new_addresses: NewAddressTable::default(),
            numbers: HashMap::default(),
            first: NO_ACTION + 1,
            last: NO_ACTION,
        }
    }
}

impl FlowActions {
    /// The action with a number; `None` if it is of an earlier epoch, and for [`NO_ACTION`]. One that has ended is
    /// [`FlowAction::ENDED`].
    #[inline]
    pub fn get(&self, id: ActionId) -> Option<&FlowAction> {
        self.actions.get(id.wrapping_sub(self.first) as usize)
    }

    /// The routing mark of the packets with an action; 0 for none, and for an action that is not known.
    pub fn routing_mark(&self, id: ActionId) -> Mark {
        self.of(id).map_or(0, |of| of.mark)
    }

    fn of(&self, id: ActionId) -> Option<&ActionOf> {
        self.of.get(id.wrapping_sub(self.first) as usize)
    }

    /// The number of an action for some packets; `None` if there are too many.
    #[inline]
    pub fn intern(&mut self, action: FlowAction, of: ActionOf) -> Option<ActionId> {
        // Most packets of a batch have the action of the packet before.
        if self.get(self.last) == Some(&action) && self.of(self.last) == Some(&of) {
            return Some(self.last);
        }
        self.last = self.number(action, of)?;
        Some(self.last)
    }

    fn number(&mut self, action: FlowAction, of: ActionOf) -> Option<ActionId> {
        let key = ActionKey::new(&action, of);
        if let Some(id) = self.numbers.get(&key) {
            return Some(*id);
        }
        if self.actions.len() >= MAX_ACTIONS {
            return None;
        }
        let id = self.first + self.actions.len() as ActionId;
        self.actions.push(action);
        self.of.push(of);
        self.numbers.insert(key, id);
        Some(id)
    }

    /// Whether there is no room for as many actions as a batch may need, so that another epoch has to begin.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.actions.len() > MAX_ACTIONS / 2
    }

    /// Ends the actions of a family; their numbers are not given out again in this epoch.
    pub fn end(&mut self, family: Family) {
        for (action, _) in self.actions.iter_mut().zip(&self.of).filter(|(_, of)| of.family == family) {
            *action = FlowAction::ENDED;
        }
        let (of, first) = (&self.of, self.first);
        self.numbers
            .retain(|_, id| of.get(id.wrapping_sub(first) as usize).is_some_and(|of| of.family != family));
        if family == Family::V6 {
            self.new_addresses.clear();
        }
        self.last = NO_ACTION;
    }

    /// Begins another epoch: no number of an earlier one finds an action any more. Returns `true` if numbers begin
    /// anew: then the caller must remove all old ones from the flow entries.
    #[must_use]
    pub fn begin_epoch(&mut self) -> bool {
        let next = u64::from(self.first) + self.actions.len() as u64;
        let limit = u64::from(ActionId::MAX) - MAX_ACTIONS as u64;
        let anew = next > limit;
        self.first = if anew { NO_ACTION + 1 } else { next as ActionId };
        self.last = NO_ACTION;
        self.actions.clear();
        self.of.clear();
        self.new_addresses.clear();
        self.numbers.clear();
        anew
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: ActionOf = ActionOf { family: Family::V4, mark: 0 };

    fn action(path: u32) -> FlowAction {
        FlowAction { path, ..FlowAction::default() }
    }

    #[test]
    fn the_actions_of_a_family_end_without_those_of_the_other() {
        let mut actions = FlowActions::default();
        let of = Family::ALL.map(|family| ActionOf { family, mark: 0 });
        let numbers = [(7, of[0]), (7, of[1]), (8, of[1]), (8, of[0])]
            .map(|(path, of)| actions.intern(action(path), of).unwrap());
        assert_eq!(numbers, [1, 2, 3, 4], "equal actions of two families are two");
        actions.end(Family::V6);
        let known = numbers.map(|id| *actions.get(id).unwrap());
        assert_eq!(known, [action(7), FlowAction::ENDED, FlowAction::ENDED, action(8)]);
        assert_eq!(actions.intern(action(8), of[0]), Some(4));
        assert_eq!(
            actions.intern(action(8), of[1]),
            Some(5),
            "a number that has ended is not given out again"
        );
        assert_eq!(actions.get(3), Some(&FlowAction::ENDED));
    }

    #[test]
    fn equal_actions_have_one_number_until_the_epoch_ends() {
        let mut actions = FlowActions::default();
        assert_eq!(actions.get(NO_ACTION), None);
        let numbers: Vec<_> =
            [7, 8, 7, 7, 8].map(|path| actions.intern(action(path), PLAIN).unwrap()).to_vec();
        assert_eq!(numbers, [1, 2, 1, 1, 2]);
        assert_eq!(actions.get(2), Some(&action(8)));
        assert!(!actions.begin_epoch());
        assert!(numbers.iter().all(|id| actions.get(*id).is_none()));
        assert_eq!(actions.intern(action(8), PLAIN), Some(3));
        assert_eq!(actions.get(1), None);
    }

    #[test]
    fn each_property_makes_another_action() {
        let mut actions = FlowActions::default();
        let none = FlowAction::default();
        let other = [
            none,
            FlowAction { adjacency: 1, ..none },
            FlowAction { path: 1, ..none },
            FlowAction { in_port: 1, ..none },
            FlowAction { out_port: 1, ..none },
            FlowAction { resume: 1, ..none },
            FlowAction { new_dscp: Some(0), ..none },
        ];
        for (number, action) in (1..).zip(other) {
            assert_eq!(actions.intern(action, PLAIN), Some(number));
        }
        let marked = actions.intern(none, ActionOf { mark: 7, ..PLAIN }).unwrap();
        assert_eq!((marked, actions.routing_mark(marked), actions.routing_mark(1)), (8, 7, 0));
    }

    #[test]
    fn numbers_begin_anew_before_they_would_repeat() {
        let mut actions = FlowActions { first: u32::MAX - MAX_ACTIONS as u32, ..FlowActions::default() };
        let last = actions.intern(action(1), PLAIN).unwrap();
        assert_eq!(actions.get(last), Some(&action(1)));
        assert_eq!(actions.get(NO_ACTION), None);
        assert!(actions.begin_epoch());
        assert_eq!(actions.intern(action(2), PLAIN), Some(1));
        assert_eq!(actions.get(last), None);
    }

    #[test]
    fn beyond_the_maximum_there_is_no_number() {
        let mut actions = FlowActions::default();
        for path in 0..MAX_ACTIONS as u32 {
            assert!(actions.intern(action(path), PLAIN).is_some());
        }
        assert!(actions.is_full());
        assert_eq!(actions.intern(action(u32::MAX), PLAIN), None);
        assert!(actions.intern(action(5), PLAIN).is_some());
    }
}
