//! Which queue takes a packet.

/// A worker's own number for a leaf, as it stands in the metadata of packets and in the flow cache; valid for one
/// generation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lane(u32);

/// Set in a lane that stands for a ticket.
const TICKET: u32 = 1 << 31;
/// Set in a lane that stands for a course, above its number and two bits for the step.
const COURSE: u32 = 1 << 30;
/// Set in a lane that stands for a course of one leaf.
const SHORT: u32 = 1 << 29;

/// Where a lane leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leads {
    /// To no queue.
    Nowhere,
    /// To a leaf.
    Leaf(u32),
    /// To several leaves, or to one that takes more than addresses to find: by number, and which of them is next.
    Course(u32, u8),
    /// Between two workers: what the first one wrote down, by number.
    Ticket(usize),
}

impl Lane {
    /// No queue.
    pub const NONE: Self = Self(0);

    /// Past all queues, that of its port too.
    pub const DONE: Self = Self(!TICKET);

    /// A leaf.
    pub const fn leaf(number: u32) -> Self {
        Self((number + 1) & !(TICKET | COURSE))
    }

    /// A course from a step on.
    pub const fn course(number: u32, step: u8) -> Self {
        Self(COURSE | (number << 2 | step as u32 & 3) & !(TICKET | SHORT))
    }

    /// A course of one leaf.
    pub const fn short(number: u32) -> Self {
        Self(SHORT | Self::course(number, 0).0)
    }

    /// The same course from another step on.
    #[must_use]
    pub const fn at(self, step: u8) -> Self {
        match self.leads() {
            Leads::Course(number, _) => Self::course(number, step),
            _ => self,
        }
    }

    /// The step of a course.
    pub const fn step(self) -> u8 {
        match self.leads() {
            Leads::Course(_, step) => step,
            _ => 0,
        }
    }

    /// A ticket.
    pub const fn ticket(number: usize) -> Self {
        Self(TICKET | number as u32)
    }

    /// Whether it leads to a course, if it leads anywhere.
    #[inline]
    pub(crate) const fn is_course(self) -> bool {
        self.0 & COURSE != 0
    }

    #[inline]
    pub(crate) const fn course_number(self) -> u32 {
        (self.0 & !(COURSE | SHORT)) >> 2
    }

    #[inline]
    pub(crate) const fn course_step(self) -> u8 {
        (self.0 & 3) as u8
    }

    /// Number of the leaf; that of none unless it leads to one.
    #[inline]
    pub(crate) const fn leaf_number(self) -> u32 {
        self.0.wrapping_sub(1)
    }

    /// Whether there is at most one leaf, as far as the lane tells.
    #[inline]
    pub(crate) const fn is_short(self) -> bool {
        self.0 & (COURSE | SHORT) != COURSE
    }

    /// Whether it stands for a ticket.
    #[inline]
    pub const fn is_ticket(self) -> bool {
        self.0 & TICKET != 0
    }

    /// Whether there is no queue.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// What it stands for.
    #[inline]
    pub const fn leads(self) -> Leads {
        if self.0 & TICKET != 0 {
            Leads::Ticket((self.0 & !TICKET) as usize)
        } else if self.0 == 0 || self.0 == Self::DONE.0 {
            Leads::Nowhere
        } else if self.0 & COURSE != 0 {
            Leads::Course(self.course_number(), self.course_step())
        } else {
            Leads::Leaf(self.leaf_number())
        }
    }
}
