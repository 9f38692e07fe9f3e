//! The address lists to which rules refer. Their contents are in [`crate::firewall::address_set`].

use std::sync::{Arc, OnceLock};

use tollway_config::dataplane::AddressList;

use crate::error::BuildError;
use crate::firewall::address_set::{AddressSets, Entries, MAX_LISTS};
use crate::packet::membership_slot::MembershipSlot;
use crate::packet::tuple::Addr;

/// The address lists of a configuration, by their index in it.
#[derive(Debug, Default)]
pub struct AddressLists {
    names: Vec<String>,
    /// The configured entries, while the lists are not bound to the shared sets.
    alone: Vec<Entries>,
    /// Shared sets of the lists, and the numbers of the lists in them.
    bound: OnceLock<(Arc<AddressSets>, Box<[u16]>)>,
}

impl AddressLists {
    /// The lists with their configured entries, until they are bound to the shared sets.
    ///
    /// # Errors
    /// An entry of two address families or with its ends reversed.
    pub fn build(lists: &[AddressList]) -> Result<Self, BuildError> {
        let alone: Result<_, _> = lists.iter().map(Entries::build).collect();
        Ok(Self { alone: alone?, ..Self::named(lists)? })
    }

    /// Lists that are empty until they are bound.
    ///
    /// # Errors
    /// There are too many lists.
    pub fn named(lists: &[AddressList]) -> Result<Self, BuildError> {
        if lists.len() > MAX_LISTS / 2 {
            let message = format!("more than {} address lists", MAX_LISTS / 2);
            return Err(BuildError { row: None, message });
        }
        let names = lists.iter().map(|list| list.name.clone()).collect();
        Ok(Self { names, alone: Vec::new(), bound: OnceLock::new() })
    }

    /// Binds the lists to `sets`, in which they have these numbers. Only the first call has an effect.
    pub fn bind(&self, sets: &Arc<AddressSets>, numbers: Box<[u16]>) {
        let _ = self.bound.set((Arc::clone(sets), numbers));
    }

    /// Whether [`Self::bind`] has been called.
    pub fn is_bound(&self) -> bool {
        self.bound.get().is_some()
    }

    /// Names of the lists.
    pub fn names(&self) -> &[String] {
        &self.names
    }
    /// Number of lists.
    pub fn len(&self) -> usize {
        self.names.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Number of a list in the sets to which it is bound.
    #[inline]
    pub fn number(&self, list: u32) -> Option<u16> {
        self.bound.get()?.1.get(list as usize).copied()
    }

    /// The slot of the change counters for a membership on which a decision depends.
    pub fn membership(&self, list: u32, address: Addr) -> MembershipSlot {
        self.number(list)
            .map_or(MembershipSlot::NONE, |number| MembershipSlot::of(u32::from(number), address))
    }

    /// Whether rules can add entries.
    pub fn has_room(&self) -> bool {
        self.bound.get().is_none_or(|(sets, _)| !sets.is_full())
    }

    /// Whether a list contains an address. `false` for an index without a list.
    #[inline]
    pub fn contains(&self, list: u32, address: Addr) -> bool {
        match self.bound.get() {
            Some((sets, numbers)) => {
                numbers.get(list as usize).is_some_and(|number| sets.contains(*number, address))
            }
            None => self.alone.get(list as usize).is_some_and(|entries| entries.contains(address)),
        }
    }
}
