//! Courses: the leaves that packets pass one after the other, each under a number, so that a flow has to remember
//! one number, and a packet that waits too.

use std::collections::HashMap;

use crate::ids::{QueueRef, QueueRefKind};
use crate::qos::forest::{ClassId, Context, Identity, MAX_STATIONS, Stations};
use crate::qos::queues::NIL;

/// Leaves in order, and by what they were found.
#[derive(Debug, Clone, Copy)]
pub struct Course {
    /// The leaves, in the configuration that it was found for.
    pub stations: Stations,
    /// What beside the addresses decided.
    pub context: Context,
    /// Packets that wait somewhere on it.
    waiting: u32,
    /// It was found for an older configuration.
    pub is_old: bool,
}

/// The courses of a worker.
#[derive(Debug, Default)]
pub struct Courses {
    /// Numbers of the leaves of each, then [`NIL`]s: all that a packet needs which does not have to wait.
    leaves: Vec<[u32; MAX_STATIONS]>,
    all: Vec<Course>,
    free: Vec<u32>,
    numbers: HashMap<(Stations, Context), u32>,
}

impl Courses {
    /// Number of a course of this configuration.
    #[inline]
    pub fn find(&self, stations: &Stations, context: Context) -> Option<u32> {
        self.numbers.get(&(*stations, context)).copied()
    }

    /// Adds one. [`Self::find`] has not found it.
    pub fn add(&mut self, stations: &Stations, context: Context, leaves: [u32; MAX_STATIONS]) -> u32 {
        let course = Course { stations: *stations, context, waiting: 0, is_old: false };
        let number = match self.free.pop() {
            Some(free) => {
                let place = free as usize;
                if let (Some(known), Some(its)) = (self.all.get_mut(place), self.leaves.get_mut(place)) {
                    (*known, *its) = (course, leaves);
                }
                free
            }
            None => {
                self.all.push(course);
                self.leaves.push(leaves);
                (self.all.len() - 1) as u32
            }
        };
        self.numbers.insert((*stations, context), number);
        number
    }

    /// The leaf at a step; `None` behind the last one.
    #[inline]
    pub fn leaf(&self, number: u32, step: u8) -> Option<u32> {
        Some(self.leaf_or_nil(number, step)).filter(|leaf| *leaf != NIL)
    }

    /// The leaf at a step; [`NIL`] behind the last one, and on no course.
    #[inline]
    pub fn leaf_or_nil(&self, number: u32, step: u8) -> u32 {
        let leaves = self.leaves.get(number as usize);
        leaves.and_then(|leaves| leaves.get(usize::from(step))).copied().unwrap_or(NIL)
    }

    /// The course of a queue.
    #[inline]
    pub fn of(&self, queue: QueueRef) -> Option<&Course> {
        let QueueRefKind::Path(number, _) = queue.kind() else { return None };
        self.all.get(number as usize)
    }

    /// The leaf at a step of a queue.
    pub fn at(&self, queue: QueueRef, step: u8) -> Option<u32> {
        let QueueRefKind::Path(number, _) = queue.kind() else { return None };
        self.leaf(number, step)
    }

    /// The queue behind a step of another one.
    pub fn behind(&self, queue: QueueRef, step: u8) -> QueueRef {
        let QueueRefKind::Path(number, _) = queue.kind() else { return QueueRef::NONE };
        self.leaf(number, step + 1).map_or(QueueRef::NONE, |_| QueueRef::path(number, step + 1))
    }

    /// The queue of a packet that has passed the leaf in which it waited.
    ///
    /// # Errors
    /// What beside the addresses decided, of a queue of an older configuration.
    pub fn onward(&self, queue: QueueRef) -> Result<QueueRef, Context> {
        match (self.of(queue), queue.kind()) {
            (Some(course), _) if course.is_old => Err(course.context),
            (Some(_), QueueRefKind::Path(_, step)) => Ok(self.behind(queue, step)),
            _ => Ok(QueueRef::NONE),
        }
    }

    /// A packet begins to wait on a queue.
    pub fn hold(&mut self, queue: QueueRef) {
        if let QueueRefKind::Path(number, _) = queue.kind()
            && let Some(course) = self.all.get_mut(number as usize)
        {
            course.waiting += 1;
        }
    }

    /// It waits no more.
    pub fn release(&mut self, queue: QueueRef) {
        if let QueueRefKind::Path(number, _) = queue.kind()
            && let Some(course) = self.all.get_mut(number as usize)
        {
            course.waiting = course.waiting.saturating_sub(1);
            if course.is_old && course.waiting == 0 {
                self.free.push(number);
            }
        }
    }

    /// Another configuration: those on which packets wait remain until these have left, the others are forgotten. If it
    /// asks for no context, or one since the last did not, none is kept: what came then has none either, and may not pass
    /// other leaves than what waits.
    pub fn renew(&mut self, keeps_context: bool) {
        self.numbers.clear();
        for (number, course) in (0u32..).zip(&mut self.all) {
            if !keeps_context {
                course.context = Context::default();
            }
            if !course.is_old {
                course.is_old = true;
                if course.waiting == 0 {
                    self.free.push(number);
                }
            }
        }
    }

    /// Makes room for so many.
    pub fn reserve(&mut self, courses: usize) {
        self.numbers.reserve(courses.saturating_sub(self.numbers.len()));
        self.all.reserve(courses.saturating_sub(self.all.len()));
        self.leaves.reserve(courses.saturating_sub(self.leaves.len()));
        self.free.reserve(self.all.capacity().saturating_sub(self.free.len()));
    }
}

/// What goes with a packet to the worker that has its next leaf.
#[derive(Debug, Clone, Copy)]
pub struct RemainingPath {
    /// The leaf that takes it there.
    pub leaf: Identity,
    /// Its rank.
    pub rank: usize,
    /// Place of the leaf among the stations.
    pub step: u8,
    /// All leaves of its course, in the configuration of the worker that sends it.
    pub stations: Stations,
    /// What beside the addresses decided.
    pub context: Context,
    /// Row of the leaf that it has passed before, whose packets are on their way until this one has arrived.
    pub before: Option<Identity>,
}

impl RemainingPath {
    /// The next leaf, in the configuration of the worker that sends it.
    pub fn class(&self) -> Option<ClassId> {
        self.stations.iter().nth(usize::from(self.step))
    }
}
