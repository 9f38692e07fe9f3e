//! Who takes turns: rings of classes that are served one after the other.
//!
//! A ring is a list with a cursor. What is before the cursor has had its turn in this round, what is behind it has not.
//! Who joins comes before the cursor, so a round ends however many join; who was in the middle of its turn when it left
//! goes on with it.

pub const NIL: u32 = u32::MAX;

/// Priorities; a class has a link for each.
pub const PRIORITIES: usize = 8;

/// The ring.
#[derive(Debug, Clone, Copy)]
pub struct Ring {
    head: u32,
    tail: u32,
    /// Whose turn it is.
    pub cursor: u32,
    /// Its turn has come; else it only took the place of one that left, which may come back before it is asked.
    pub is_settled: bool,
    /// A round ended because the last one left.
    pub ended: bool,
}

impl Ring {
    /// Without members.
    pub const EMPTY: Self = Self { head: NIL, tail: NIL, cursor: NIL, is_settled: true, ended: false };

    /// Whether it has none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.head == NIL
    }
}

#[derive(Debug, Clone, Copy)]
struct Link {
    previous: u32,
    next: u32,
}

/// The links of all members: each is in one ring at most.
#[derive(Debug, Default)]
pub struct Links(Vec<Link>);

/// Number of the link of a class's priority.
#[inline]
pub const fn member(slot: u32, priority: usize) -> u32 {
    slot * PRIORITIES as u32 + priority as u32
}

impl Links {
    /// Makes room for so many classes.
    pub fn grow(&mut self, slots: usize) {
        let links = slots * PRIORITIES;
        if self.0.len() < links {
            self.0.resize(links, Link { previous: NIL, next: NIL });
        }
    }

    fn next(&self, member: u32) -> u32 {
        self.0.get(member as usize).map_or(NIL, |link| link.next)
    }

    fn set_next(&mut self, ring: &mut Ring, member: u32, next: u32) {
        match self.0.get_mut(member as usize) {
            Some(link) => link.next = next,
            None => ring.head = next,
        }
    }

    fn set_previous(&mut self, ring: &mut Ring, member: u32, previous: u32) {
        match self.0.get_mut(member as usize) {
            Some(link) => link.previous = previous,
            None => ring.tail = previous,
        }
    }

    /// Adds a member; at once in turn if it goes on with one.
    pub fn insert(&mut self, ring: &mut Ring, member: u32, goes_on: bool) {
        let next = ring.cursor;
        let previous = self.0.get(next as usize).map_or(NIL, |link| link.previous);
        if let Some(link) = self.0.get_mut(member as usize) {
            *link = Link { previous, next };
        }
        self.set_next(ring, previous, member);
        self.set_previous(ring, next, member);
        if goes_on || next == NIL {
            ring.cursor = member;
            ring.is_settled = true;
        }
        ring.ended &= !goes_on;
    }

    /// Takes a member out.
    pub fn remove(&mut self, ring: &mut Ring, member: u32) {
        let Some(&Link { previous, next }) = self.0.get(member as usize) else { return };
        self.set_next(ring, previous, next);
        self.set_previous(ring, next, previous);
        if ring.cursor == member {
            ring.cursor = if next == NIL { ring.head } else { next };
            ring.is_settled = false;
            ring.ended = (ring.ended || next == NIL) && ring.head != NIL;
        }
    }

    /// Ends a turn. `true` when the round ended with it.
    pub fn advance(&mut self, ring: &mut Ring) -> bool {
        let next = self.next(ring.cursor);
        ring.cursor = if next == NIL { ring.head } else { next };
        ring.is_settled = true;
        next == NIL
    }
}
