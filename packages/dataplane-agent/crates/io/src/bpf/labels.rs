//! Jumps to labels, whose distances are known when a program is complete.

/// The jumps and labels of a program being assembled. `T` says which distance of an instruction a jump sets.
#[derive(Debug)]
pub struct Labels<T> {
    jumps: Vec<(usize, &'static str, T)>,
    targets: Vec<(&'static str, usize)>,
}

impl<T> Default for Labels<T> {
    fn default() -> Self {
        Self { jumps: Vec::new(), targets: Vec::new() }
    }
}

impl<T> Labels<T> {
    /// The instruction at `at` jumps to a label.
    pub fn jump(&mut self, at: usize, label: &'static str, which: T) {
        self.jumps.push((at, label, which));
    }

    /// A label stands before the instruction at `at`.
    pub fn define(&mut self, label: &'static str, at: usize) {
        self.targets.push((label, at));
    }

    /// The jumps: instruction, which of its distances is set, and the distance in instructions to skip. The distance to
    /// an undefined label is 0, which the tests of the programs would notice.
    pub fn resolve(self) -> impl Iterator<Item = (usize, T, isize)> {
        let targets = self.targets;
        self.jumps.into_iter().map(move |(at, label, which)| {
            let found = targets.iter().find(|(name, _)| *name == label);
            let distance = found.map_or(0, |(_, target)| *target as isize - at as isize - 1);
            (at, which, distance)
        })
    }
}
