//! Dense numbers for the interfaces of one snapshot.

use std::collections::BTreeMap;

use tollway_config::dataplane::{Interface, MAX_INTERFACES, RowId};

use crate::error::BuildError;
use crate::ids::InterfaceIndex;

/// Row ids of interfaces and their indices.
#[derive(Debug, Clone, Default)]
pub struct InterfaceMap {
    rows: Vec<RowId>,
    by_row: BTreeMap<RowId, InterfaceIndex>,
}

impl InterfaceMap {
    /// Numbers the interfaces; a row that occurs twice and more than [`MAX_INTERFACES`] are errors.
    pub fn new(interfaces: &[Interface]) -> Result<Self, BuildError> {
        let mut map = Self::default();
        for interface in interfaces {
            let index = map.rows.len() as InterfaceIndex;
            if map.rows.len() >= MAX_INTERFACES {
                let message = format!("name: at most {MAX_INTERFACES} interfaces are possible");
                return Err(BuildError::row(interface.row, message));
            }
            if map.by_row.insert(interface.row, index).is_some() {
                return Err(BuildError::row(interface.row, "the interface row occurs twice"));
            }
            map.rows.push(interface.row);
        }
        Ok(map)
    }
    /// Number of a row.
    pub fn index(&self, row: RowId) -> Option<InterfaceIndex> {
        self.by_row.get(&row).copied()
    }
    /// Row of a number; 0 for a number that is not given out.
    pub fn row(&self, index: InterfaceIndex) -> RowId {
        self.rows.get(usize::from(index)).copied().unwrap_or(0)
    }
    /// Number of interfaces.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
