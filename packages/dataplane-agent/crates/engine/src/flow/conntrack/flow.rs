//! A packet as the flow cache has looked it up.

use crate::ids::EntryIndex;
use crate::packet::key::FlowKey;
use crate::packet::tuple::Tuple;

/// A packet as the flow cache has looked it up.
#[derive(Debug, Clone, Copy)]
pub struct Flow<'a> {
    /// Tuple.
    pub tuple: &'a Tuple,
    /// Key of the tuple.
    pub key: &'a FlowKey,
    /// Hash of the key, see [`ConnectionTable::hash_of`](super::ConnectionTable::hash_of).
    pub hash: u32,
    /// The entry found for it, which may belong to another flow by now; [`NO_ENTRY`](crate::ids::NO_ENTRY) if there was
    /// none.
    pub entry: EntryIndex,
}
