//! Names of marks, for display.

use tollway_config::dataplane::{Mark, MarkName};

/// The names of a configuration's marks.
#[derive(Debug, Default)]
pub struct MarkNames(Vec<MarkName>);

impl MarkNames {
    /// The names of a configuration.
    pub fn new(names: &[MarkName]) -> Self {
        let mut names = names.to_vec();
        names.sort_by_key(|named| named.mark);
        Self(names)
    }

    /// Name of a mark; `None` if the configuration does not contain it, or no longer.
    pub fn name(&self, mark: Mark) -> Option<&str> {
        let at = self.0.binary_search_by_key(&mark, |named| named.mark).ok()?;
        self.0.get(at).map(|named| named.name.as_str())
    }
}
