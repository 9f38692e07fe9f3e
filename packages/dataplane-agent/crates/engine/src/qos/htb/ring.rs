//! Round robin: rings of classes that are served one after the other.
//!
//! Every class that may be in a ring has a number, and the bit of that number is set while the class is in the ring. A
//! cursor advances by number, so that a class that leaves and returns within a round, because its colour changes with
//! every packet, neither loses its turn nor gains another one.

/// No slot.
pub const NIL: u32 = u32::MAX;

/// Priorities; a class is in a ring of each.
pub const PRIORITIES: usize = 8;

/// Bits of a word.
const WORD: u32 = u64::BITS;

/// The members of a ring: a set of numbers. A bit of a layer is set if the word of that number in the layer below is
/// not zero, so a member is found in as many steps as there are layers: three for 262,144 numbers.
#[derive(Debug, Default)]
pub struct Ring {
    /// The uppermost layer.
    top: u64,
    /// The layers below `top`, from the lowest one up, in which each bit is a member.
    layers: Vec<Vec<u64>>,
}

impl Ring {
    /// Makes room for the numbers below `count`.
    pub fn grow(&mut self, count: u32) {
        let mut words = count.div_ceil(WORD) as usize;
        for at in 0.. {
            if words <= 1 {
                return;
            }
            if self.layers.len() == at {
                // The former top becomes the first word of a layer.
                self.layers.push(vec![self.top]);
                self.top = u64::from(self.top != 0);
            }
            let Some(layer) = self.layers.get_mut(at) else { return };
            if layer.len() < words {
                layer.resize(words, 0);
            }
            words = words.div_ceil(WORD as usize);
        }
    }

    /// Whether it has no members.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.top == 0
    }

    /// Adds a member. There must be room for its number.
    #[inline]
    pub fn insert(&mut self, number: u32) {
        let mut number = number;
        for layer in &mut self.layers {
            let Some(word) = layer.get_mut((number / WORD) as usize) else { return };
            let was_empty = *word == 0;
            *word |= 1 << (number % WORD);
            if !was_empty {
                return;
            }
            number /= WORD;
        }
        self.top |= 1 << (number % WORD);
    }

    /// Removes a member.
    #[inline]
    pub fn remove(&mut self, number: u32) {
        let mut number = number;
        for layer in &mut self.layers {
            let Some(word) = layer.get_mut((number / WORD) as usize) else { return };
            *word &= !(1 << (number % WORD));
            if *word != 0 {
                return;
            }
            number /= WORD;
        }
        self.top &= !(1 << (number % WORD));
    }

    /// The first member of this number or a higher one.
    #[inline]
    pub fn next(&self, from: u32) -> Option<u32> {
        let mut from = from;
        for (at, layer) in self.layers.iter().enumerate() {
            let word = layer.get((from / WORD) as usize).copied().unwrap_or(0) & (u64::MAX << (from % WORD));
            if word != 0 {
                return self.descend(at, from / WORD * WORD + word.trailing_zeros());
            }
            from = from / WORD + 1;
        }
        let word = if from < WORD { self.top & (u64::MAX << from) } else { 0 };
        if word == 0 { None } else { self.descend(self.layers.len(), word.trailing_zeros()) }
    }

    /// The first member below a bit of a layer.
    #[inline]
    fn descend(&self, layer: usize, bit: u32) -> Option<u32> {
        let mut bit = bit;
        for layer in self.layers.iter().take(layer).rev() {
            bit = bit * WORD + layer.get(bit as usize)?.trailing_zeros();
        }
        Some(bit)
    }
}

/// Position of the round robin in a ring, for one level of the class that lends.
#[derive(Debug, Clone, Copy)]
pub struct Cursor {
    /// The member that has the turn; else where the search for the next one begins.
    at: u32,
    /// The first member of the round; [`NIL`] before.
    first: u32,
    /// A member has the turn.
    in_turn: bool,
    /// The search has wrapped around since the round began.
    has_wrapped: bool,
}

/// The next member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Member whose turn goes on.
    Same(u32),
    /// Member whose turn begins.
    Other(u32),
    /// Every member has had its turn in the round.
    Over,
}

impl Cursor {
    /// Cursor before the first round.
    pub const NEW: Self = Self { at: 0, first: NIL, in_turn: false, has_wrapped: false };

    /// Begins a round with the member that still has the turn, or is next.
    #[inline]
    pub const fn begin_round(&mut self) {
        self.first = NIL;
    }

    /// The next member in the round. The turn of a member ends when it has left the ring, as it is above its limit.
    #[inline]
    pub fn next(&mut self, ring: &Ring) -> Next {
        let next = match ring.next(self.at) {
            Some(next) => next,
            None => match ring.next(0) {
                Some(next) => {
                    self.has_wrapped = true;
                    next
                }
                None => return Next::Over,
            },
        };
        if self.first == NIL {
            (self.first, self.has_wrapped) = (next, false);
        } else if self.has_wrapped && next >= self.first {
            (self.at, self.in_turn) = (next, false);
            return Next::Over;
        }
        if self.in_turn && next == self.at {
            return Next::Same(next);
        }
        (self.at, self.in_turn) = (next, true);
        Next::Other(next)
    }

    /// The turn is over.
    #[inline]
    pub const fn end_turn(&mut self) {
        if self.in_turn {
            (self.at, self.in_turn) = (self.at + 1, false);
        }
    }

    /// The cursor after the members of the ring have got other numbers. `number` returns the new number of a member, or
    /// `None` if it is gone; the order of the members stays.
    pub fn renumbered(self, members: u32, number: impl Fn(u32) -> Option<u32>) -> Self {
        if self.at == 0 && !self.in_turn {
            return Self::NEW;
        }
        let next = (self.at..members).find_map(|at| Some((at, number(at)?)));
        let in_turn = self.in_turn && next.is_some_and(|(at, _)| at == self.at);
        Self { at: next.map_or(0, |(_, number)| number), in_turn, ..Self::NEW }
    }
}
