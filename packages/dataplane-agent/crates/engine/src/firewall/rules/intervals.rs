//! Finds the interval that contains a value among consecutive intervals: a static search tree with sixteen keys, one
//! cache line, per node. A search compares all keys of a node at once.

const KEYS: usize = 16;

#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct CacheLine([u32; KEYS]);

/// Intervals of `0..=u32::MAX` by their first values.
#[derive(Debug, Clone)]
pub(crate) struct Intervals {
    /// The lines of every level, the top one first; a line's keys begin the lines below it.
    lines: Vec<CacheLine>,
    /// Start of each level.
    levels: Vec<u32>,
    count: u32,
}

impl Intervals {
    /// `starts` ascends and begins with 0.
    pub fn new(starts: &[u32]) -> Self {
        let mut levels: Vec<Vec<u32>> = vec![starts.to_vec()];
        while let Some(level) = levels.last().filter(|level| level.len() > KEYS) {
            levels.push(level.iter().step_by(KEYS).copied().collect());
        }
        let mut intervals = Self { lines: Vec::new(), levels: Vec::new(), count: starts.len() as u32 };
        for level in levels.iter().rev() {
            intervals.levels.push(intervals.lines.len() as u32);
            for keys in level.chunks(KEYS) {
                let mut line = CacheLine([u32::MAX; KEYS]);
                line.0.iter_mut().zip(keys).for_each(|(to, key)| *to = *key);
                intervals.lines.push(line);
            }
        }
        intervals
    }

    /// Number of the interval that contains a value.
    #[inline]
    pub fn find(&self, value: u32) -> usize {
        let mut at = 0;
        for (depth, first) in self.levels.iter().enumerate() {
            let Some(line) = self.lines.get((first + at) as usize) else { return 0 };
            let not_greater: u32 = line.0.iter().map(|key| u32::from(*key <= value)).sum();
            at = at * KEYS as u32 + not_greater.saturating_sub(1);
            // Unused keys match the greatest value.
            let end = self.levels.get(depth + 1).map_or(self.count, |next| self.width(depth + 1, *next));
            at = at.min(end - 1);
        }
        at as usize
    }

    /// Lines of a level.
    #[inline]
    fn width(&self, level: usize, first: u32) -> u32 {
        self.levels.get(level + 1).copied().unwrap_or(self.lines.len() as u32) - first
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn finds_the_last_start_that_is_not_greater(
            mut starts in proptest::collection::btree_set(prop_oneof![0u32..2000, any::<u32>()], 0..1200),
            last: bool,
            values in proptest::collection::vec(prop_oneof![0u32..2000, any::<u32>()], 20),
        ) {
            starts.insert(0);
            if last {
                starts.insert(u32::MAX);
            }
            let starts: Vec<u32> = starts.into_iter().collect();
            let intervals = Intervals::new(&starts);
            for value in values.into_iter().chain(starts.iter().copied()).chain([u32::MAX]) {
                let expected = starts.partition_point(|start| *start <= value) - 1;
                prop_assert_eq!(intervals.find(value), expected);
            }
        }
    }
}
