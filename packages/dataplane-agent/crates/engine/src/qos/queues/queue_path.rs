//! Queue paths: the leaves that a packet passes one after the other. They are interned, so that a flow, and a packet
//! that waits, refer to a path by one index.

use std::collections::HashMap;

use crate::ids::{LeafId, QueueRef, QueueRefKind};
use crate::qos::forest::{ClassId, Context, Identity, MAX_PATH_LEAVES, PathClasses};

/// The leaves of a path, in order.
#[derive(Debug, Clone, Copy)]
pub struct QueuePath {
    /// The leaves, in the configuration that it was found for.
    pub classes: PathClasses,
    /// Properties beside the addresses by which the leaves were found.
    pub context: Context,
    /// Number of packets that wait in the leaves of the path.
    waiting: u32,
    /// The path was found for an older configuration.
    pub is_old: bool,
}

/// The paths of a worker.
#[derive(Debug, Default)]
pub struct QueuePaths {
    /// The leaves of each path, then [`LeafId::NONE`]. A packet that does not have to wait needs nothing else.
    leaves: Vec<[LeafId; MAX_PATH_LEAVES]>,
    all: Vec<QueuePath>,
    free: Vec<u32>,
    indices: HashMap<(PathClasses, Context), u32>,
}

impl QueuePaths {
    /// Index of a path of this configuration.
    #[inline]
    pub fn find(&self, classes: &PathClasses, context: Context) -> Option<u32> {
        self.indices.get(&(*classes, context)).copied()
    }

    /// Adds a path that [`Self::find`] has not found.
    pub fn add(&mut self, classes: &PathClasses, context: Context, leaves: [LeafId; MAX_PATH_LEAVES]) -> u32 {
        let path = QueuePath { classes: *classes, context, waiting: 0, is_old: false };
        let index = match self.free.pop() {
            Some(free) => {
                let at = free as usize;
                if let (Some(known), Some(its)) = (self.all.get_mut(at), self.leaves.get_mut(at)) {
                    (*known, *its) = (path, leaves);
                }
                free
            }
            None => {
                self.all.push(path);
                self.leaves.push(leaves);
                (self.all.len() - 1) as u32
            }
        };
        self.indices.insert((*classes, context), index);
        index
    }

    /// The leaf at a step; `None` behind the last one.
    #[inline]
    pub fn leaf(&self, index: u32, step: u8) -> Option<LeafId> {
        Some(self.leaf_or_none(index, step)).filter(|leaf| *leaf != LeafId::NONE)
    }

    /// The leaf at a step; [`LeafId::NONE`] behind the last one, and on no path.
    #[inline]
    pub fn leaf_or_none(&self, index: u32, step: u8) -> LeafId {
        let leaves = self.leaves.get(index as usize);
        leaves.and_then(|leaves| leaves.get(usize::from(step))).copied().unwrap_or(LeafId::NONE)
    }

    /// The path of a queue.
    #[inline]
    pub fn of(&self, queue: QueueRef) -> Option<&QueuePath> {
        let QueueRefKind::Path(index, _) = queue.kind() else { return None };
        self.all.get(index as usize)
    }

    /// The leaf at a step of a queue.
    pub fn at(&self, queue: QueueRef, step: u8) -> Option<LeafId> {
        let QueueRefKind::Path(index, _) = queue.kind() else { return None };
        self.leaf(index, step)
    }

    /// The rest of a path after a step.
    pub fn after(&self, queue: QueueRef, step: u8) -> QueueRef {
        let QueueRefKind::Path(index, _) = queue.kind() else { return QueueRef::NONE };
        self.leaf(index, step + 1).map_or(QueueRef::NONE, |_| QueueRef::path(index, step + 1))
    }

    /// The queue of a packet that has passed the leaf in which it waited.
    ///
    /// # Errors
    /// The context by which the leaves were found, if the path belongs to an older configuration.
    pub fn after_wait(&self, queue: QueueRef) -> Result<QueueRef, Context> {
        match (self.of(queue), queue.kind()) {
            (Some(path), _) if path.is_old => Err(path.context),
            (Some(_), QueueRefKind::Path(_, step)) => Ok(self.after(queue, step)),
            _ => Ok(QueueRef::NONE),
        }
    }

    /// Counts a packet that begins to wait on a queue.
    pub fn add_waiting(&mut self, queue: QueueRef) {
        if let QueueRefKind::Path(index, _) = queue.kind()
            && let Some(path) = self.all.get_mut(index as usize)
        {
            path.waiting += 1;
        }
    }

    /// Takes a packet that no longer waits on a queue from the count.
    pub fn remove_waiting(&mut self, queue: QueueRef) {
        if let QueueRefKind::Path(index, _) = queue.kind()
            && let Some(path) = self.all.get_mut(index as usize)
        {
            path.waiting = path.waiting.saturating_sub(1);
            if path.is_old && path.waiting == 0 {
                self.free.push(index);
            }
        }
    }

    /// Called for another configuration. Paths on which packets wait remain until these have left; the others are
    /// removed. Unless `keeps_context`, contexts are cleared: packets that arrived under a configuration without
    /// contexts have none, and earlier packets of the same flow must not pass other leaves than these.
    pub fn retire_all(&mut self, keeps_context: bool) {
        self.indices.clear();
        for (index, path) in (0u32..).zip(&mut self.all) {
            if !keeps_context {
                path.context = Context::default();
            }
            if !path.is_old {
                path.is_old = true;
                if path.waiting == 0 {
                    self.free.push(index);
                }
            }
        }
    }

    /// Reserves memory for `paths` paths.
    pub fn reserve(&mut self, paths: usize) {
        self.indices.reserve(paths.saturating_sub(self.indices.len()));
        self.all.reserve(paths.saturating_sub(self.all.len()));
        self.leaves.reserve(paths.saturating_sub(self.leaves.len()));
        self.free.reserve(self.all.capacity().saturating_sub(self.free.len()));
    }
}

/// The rest of a packet's path, for the worker that owns its next leaf.
#[derive(Debug, Clone, Copy)]
pub struct RemainingPath {
    /// The next leaf, at the worker that owns it.
    pub leaf: Identity,
    /// Rank of the leaf.
    pub rank: usize,
    /// Index of the leaf among the classes.
    pub step: u8,
    /// Leaves of the path, in the configuration of the worker that sends the packet.
    pub classes: PathClasses,
    /// Properties beside the addresses by which the leaves were found.
    pub context: Context,
    /// Row of the leaf that the packet has passed before. The packet counts as in flight for that row.
    pub before: Option<Identity>,
}

impl RemainingPath {
    /// The next leaf, in the configuration of the worker that sends it.
    pub fn class(&self) -> Option<ClassId> {
        self.classes.iter().nth(usize::from(self.step))
    }
}
