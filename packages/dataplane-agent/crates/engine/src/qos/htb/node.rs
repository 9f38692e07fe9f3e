//! A worker's state of classes and trees.

use std::collections::VecDeque;

use tollway_config::dataplane::{QueueLimit, RowId};

use super::ClassMode;
use super::class_tokens::{ClassTokens, Rates};
use super::ring::{Cursor, NIL, PRIORITIES, Ring};
use super::run::Run;
use super::shared::LeafState;
use super::shared_class::rates;
use crate::qos::burst::Burst;
use crate::qos::forest::{Class, ClassId, Identity, MAX_LEVELS};
use crate::qos::meter::{Meter, Passed, second};
use crate::time::Now;
use crate::time::wheel::Wheel;

/// Resolution of event times, ns. Tokens go on gathering while a class waits for its tick, so none are lost.
const TICK: u64 = 100_000;

/// A quantum is the bytes of `limit-at` in a second divided by this number.
const QUANTA_PER_SECOND: u64 = 10;

/// The part of a class that every packet accesses; two cache lines.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct Node {
    /// The tokens of a leaf; of an inner class the lease of this worker.
    pub class_tokens: ClassTokens,
    /// L3 bytes that passed.
    pub bytes: u64,
    /// Wire segments that passed.
    pub packets: u64,
    /// Wire segments sent with tokens borrowed from a class above.
    pub borrows: u64,
    /// The class above.
    pub parent: u32,
    /// Index of its tree in [`Core::trees`].
    pub tree: u32,
    /// Index in [`Core::inners`]; [`NIL`] of a leaf.
    pub inner: u32,
    /// Index in [`super::shared::TreeState::classes`] of an inner class.
    pub shared_index: u32,
    /// Second in which the meter was last updated.
    pub second: u32,
    /// Bytes per turn.
    pub quantum: u32,
    /// Number of the class among the children of its parent.
    pub child: u32,
    /// Number of the class among the classes of its level.
    pub rank: u32,
    /// Edges to the farthest leaf below.
    pub level: u8,
    /// Priority of a leaf, from 0.
    pub priority: u8,
    /// Mode under which the class is linked; current only for live classes.
    pub mode: ClassMode,
    /// Priorities, one bit each, at which packets wait in a leaf, or classes below wait for this one to lend.
    pub active: u8,
    /// Priorities, one bit each, at which packets wait in it or below it, without a red class in between.
    pub live: u8,
    /// Bits: [`LISTED`], [`OWNED`], [`BURSTS`].
    pub flags: u8,
}

const _: () = assert!(size_of::<Node>() == 128);

/// Bit of [`Node::flags`]: the class is in [`Tree::listed`].
pub const LISTED: u8 = 1;
/// Bit of [`Node::flags`]: this worker owns the leaf.
pub const OWNED: u8 = 2;
/// Bit of [`Node::flags`]: the leaf has bursts.
pub const BURSTS: u8 = 4;

impl Node {
    /// Whether it is a leaf: only leaves hold packets.
    pub const fn is_leaf(&self) -> bool {
        self.inner == NIL
    }

    /// Whether an inner class would send more if this worker had leased more.
    pub const fn wants_tokens(&self) -> bool {
        match self.mode {
            ClassMode::Red => true,
            ClassMode::Yellow => self.class_tokens.rates().rate != 0,
            ClassMode::Green => false,
        }
    }
}

/// The part that only inner classes have.
#[derive(Debug)]
pub struct Inner {
    /// Slots of the classes below, by [`Node::child`].
    pub children: Vec<u32>,
    /// Children that wait for tokens of this class, by priority.
    pub rings: [Ring; PRIORITIES],
    /// Position of the round robin in [`Self::rings`], by level of the class that lends, from the level of this class
    /// on, and by priority.
    pub cursors: Box<[[Cursor; PRIORITIES]]>,
    /// Sum of the quanta of the leaves below in which packets wait, by priority. Leaves that are red or below another
    /// red class do not count.
    pub weight: [u64; PRIORITIES],
    /// Wire segments sent with tokens of this class.
    pub lends: u64,
    /// Bits charged to the lease since the last rebalance: tokens, ceiling tokens.
    pub spent: [i64; 2],
    /// Bits charged past the lease since then: sent by classes below with their own tokens.
    pub overdrawn: [i64; 2],
    /// Bits of a packet that need not wait if there is credit for it.
    pub requested: i64,
}

/// The part of a class that is seldom accessed.
#[derive(Debug)]
pub struct Cold {
    /// The class in the configuration.
    pub id: ClassId,
    /// Identity of the class, the same in every configuration.
    pub identity: Identity,
    /// Limits of the class.
    pub limit: QueueLimit,
    /// Bursts of a leaf.
    pub burst: Option<Box<Burst>>,
    /// Bytes that a leaf may still send in its turn, by level of the class that lends.
    pub deficits: [i32; MAX_LEVELS],
    /// Meter of the last full second.
    pub meter: Meter,
}

/// Classes of a level.
#[derive(Debug)]
pub struct Level {
    /// Slots of all of them, by [`Node::rank`].
    pub members: Vec<u32>,
    /// Classes that may send, by priority, and whose turn it is.
    pub rows: [(Ring, Cursor); PRIORITIES],
}

/// A tree.
#[derive(Debug)]
pub struct Tree {
    /// Classes by level, from the leaves up.
    pub levels: Box<[Level]>,
    /// Rings of [`Level::rows`] that are not empty: bit 8 × level + priority.
    pub mask: u64,
    /// Slot of its root.
    pub root: u32,
    /// Row of the interface that it shapes; `None` for `global` and simple queues.
    pub interface: Option<RowId>,
    /// The port of the interface accepts no packets.
    pub is_blocked: bool,
    /// The tree is in [`Core::ready`].
    pub is_ready: bool,
    /// This worker was the only user at its last rebalance, and works on the shared tokens directly.
    pub is_exclusive: bool,
    /// When it rebalanced last.
    pub rebalanced: Option<Now>,
    /// When a packet last asked for credit and got too little.
    pub refused: Option<Now>,
    /// Packets wait for tokens of a class that may be leased.
    pub wants_tokens: bool,
    /// Inner classes to rebalance, by level.
    pub listed: [Vec<u32>; MAX_LEVELS],
    /// Leaves that packets wait in.
    pub waiting: u32,
    /// The packets that pass without looking at the classes again; see `runs`.
    pub run: Run,
}

/// The classes and trees of a worker.
#[derive(Debug)]
pub struct Core {
    /// Classes by slot.
    pub nodes: Vec<Node>,
    /// The seldom accessed part of the classes, by slot.
    pub cold: Vec<Cold>,
    /// The part of inner classes, by [`Node::inner`].
    pub inners: Vec<Inner>,
    /// The trees.
    pub trees: Vec<Tree>,
    /// Event times by slot. That of a root is the time of the next rebalance while its tree is leased.
    pub wheel: Wheel<TICK>,
    /// Trees in which a leaf may send.
    pub ready: VecDeque<u32>,
    /// Trees that may have runs.
    pub runs: Vec<u32>,
}

impl Core {
    /// A core without classes.
    pub fn new(now: Now) -> Self {
        let mut wheel = Wheel::new(0);
        wheel.follow(now);
        Self {
            nodes: Vec::new(),
            cold: Vec::new(),
            inners: Vec::new(),
            trees: Vec::new(),
            wheel,
            ready: VecDeque::new(),
            runs: Vec::new(),
        }
    }

    /// Adds a class below the class in slot `parent`. `shared_index` is the index of an inner class among the shared
    /// classes. Returns the slot of the class.
    pub fn add(
        &mut self,
        id: ClassId,
        class: &Class,
        parent: u32,
        tree: u32,
        shared_index: u32,
        now: Now,
    ) -> u32 {
        let slot = self.nodes.len() as u32;
        let burst = if class.is_leaf { Burst::new(&class.limit, now).map(Box::new) } else { None };
        let class_tokens = match class.is_leaf {
            true => ClassTokens::new(rates(&class.limit, false, burst.as_deref()), now),
            false => ClassTokens::leased(rates(&class.limit, parent == NIL, None)),
        };
        let inner = if class.is_leaf { NIL } else { self.inners.len() as u32 };
        if !class.is_leaf {
            let height = self.trees.get(tree as usize).map_or(1, |tree| tree.levels.len());
            let levels = height.saturating_sub(usize::from(class.level)).max(1);
            self.inners.push(Inner {
                children: Vec::new(),
                rings: Default::default(),
                cursors: vec![[Cursor::NEW; PRIORITIES]; levels].into(),
                weight: [0; PRIORITIES],
                lends: 0,
                spent: [0; 2],
                overdrawn: [0; 2],
                requested: 0,
            });
        }
        let quantum = (class.limit.limit_at / 8 / QUANTA_PER_SECOND).clamp(1000, 200_000) as u32;
        self.nodes.push(Node {
            class_tokens,
            bytes: 0,
            packets: 0,
            borrows: 0,
            parent,
            tree,
            inner,
            shared_index,
            second: second(now),
            quantum,
            child: 0,
            rank: 0,
            level: class.level,
            priority: class.limit.priority.clamp(1, 8) - 1,
            mode: ClassMode::Red,
            active: 0,
            live: 0,
            flags: if burst.is_some() { BURSTS } else { 0 },
        });
        let deficits = [0; MAX_LEVELS];
        self.cold.push(Cold {
            id,
            identity: class.identity,
            limit: *class.limit,
            burst,
            deficits,
            meter: Meter::default(),
        });
        self.number(slot);
        slot
    }

    /// Numbers a class among the children of its parent and in its level, and makes room for it and its ancestors in
    /// the rings of its priority.
    fn number(&mut self, slot: u32) {
        let Some(node) = self.nodes.get(slot as usize) else { return };
        let (parent, tree, level, priority) = (node.parent, node.tree, node.level, node.priority);
        let is_leaf = node.is_leaf();
        let number = |members: &mut Vec<u32>| {
            members.push(slot);
            members.len() as u32 - 1
        };
        let above = self.nodes.get(parent as usize).map_or(NIL, |parent| parent.inner);
        let child = self.inners.get_mut(above as usize).map_or(0, |inner| number(&mut inner.children));
        let tree = self.trees.get_mut(tree as usize);
        let level = tree.and_then(|tree| tree.levels.get_mut(usize::from(level)));
        let rank = level.map_or(0, |level| number(&mut level.members));
        if let Some(node) = self.nodes.get_mut(slot as usize) {
            (node.child, node.rank) = (child, rank);
        }
        let mut at = if is_leaf { slot } else { NIL };
        while let Some(node) = self.nodes.get(at as usize) {
            let above = self.nodes.get(node.parent as usize).map_or(NIL, |parent| parent.inner);
            if let Some(inner) = self.inners.get_mut(above as usize)
                && let Some(ring) = inner.rings.get_mut(usize::from(priority))
            {
                ring.grow(inner.children.len() as u32);
            }
            if let Some(tree) = self.trees.get_mut(node.tree as usize)
                && let Some(level) = tree.levels.get_mut(usize::from(node.level))
                && let Some((ring, _)) = level.rows.get_mut(usize::from(priority))
            {
                ring.grow(level.members.len() as u32);
            }
            at = node.parent;
        }
    }

    /// Adds an empty tree whose root is `height` levels above the farthest leaf. Returns its index.
    pub fn add_tree(&mut self, interface: Option<RowId>, height: u8, is_blocked: bool) -> u32 {
        let level =
            || Level { members: Vec::new(), rows: std::array::from_fn(|_| (Ring::default(), Cursor::NEW)) };
        self.trees.push(Tree {
            levels: (0..=height).map(|_| level()).collect(),
            mask: 0,
            root: NIL,
            interface,
            is_blocked,
            is_ready: false,
            is_exclusive: false,
            rebalanced: None,
            refused: None,
            wants_tokens: false,
            listed: Default::default(),
            waiting: 0,
            run: Run::NONE,
        });
        self.runs.reserve(self.trees.len());
        (self.trees.len() - 1) as u32
    }

    /// The class of a slot.
    #[inline]
    pub fn node(&self, slot: u32) -> Option<&Node> {
        self.nodes.get(slot as usize)
    }

    /// The class of a slot.
    #[inline]
    pub fn node_mut(&mut self, slot: u32) -> Option<&mut Node> {
        self.nodes.get_mut(slot as usize)
    }

    /// The slot of the class above, [`NIL`] at a root.
    pub fn parent(&self, slot: u32) -> u32 {
        self.node(slot).map_or(NIL, |node| node.parent)
    }

    /// The slots of a class and of its ancestors, from the class up.
    pub fn with_ancestors(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors((slot != NIL).then_some(slot), |slot| {
            Some(self.parent(*slot)).filter(|parent| *parent != NIL)
        })
    }

    /// State of a leaf, for its next owner.
    pub fn leaf_state(&self, slot: u32) -> Option<LeafState> {
        let (node, cold) = (self.node(slot)?, self.cold.get(slot as usize)?);
        Some(LeafState {
            class_tokens: node.class_tokens,
            burst: cold.burst.clone(),
            deficits: cold.deficits,
        })
    }

    /// Restores the state of a leaf that another worker, or the previous configuration, has left.
    pub fn restore(&mut self, slot: u32, left: &LeafState, now: Now) {
        let (Some(node), Some(cold)) = (self.nodes.get_mut(slot as usize), self.cold.get_mut(slot as usize))
        else {
            return;
        };
        if let Some(burst) = &left.burst {
            cold.burst = Burst::change(Some((**burst).clone()), &cold.limit, now).map(Box::new);
        }
        let rates: Rates = rates(&cold.limit, false, cold.burst.as_deref());
        if *node.class_tokens.rates() != rates {
            node.class_tokens.change(rates, now, false);
        }
        node.class_tokens.restore(&left.class_tokens);
        cold.deficits = left.deficits.map(|deficit| deficit.min(node.quantum as i32));
    }

    /// Updates the meter of a class if a new second has begun.
    #[inline]
    pub fn meter(&mut self, slot: u32, now: Now) {
        let Some(node) = self.nodes.get_mut(slot as usize) else { return };
        if meter_is_due(node, now) {
            meter(node, self.cold.get_mut(slot as usize), now);
        }
    }
}

/// Whether a new second has begun for the meter of a class.
#[inline]
pub fn meter_is_due(node: &Node, now: Now) -> bool {
    node.second != second(now)
}

/// Begins a new second of the meter of a class.
#[cold]
pub fn meter(node: &mut Node, cold: Option<&mut Cold>, now: Now) {
    if let Some(cold) = cold {
        cold.meter.begin_second(age(node, now), passed(node));
    }
    node.second = second(now);
}

/// Packets and bytes of the last full second.
pub fn last_second(node: &Node, cold: &Cold, now: Now) -> Passed {
    cold.meter.last_second(age(node, now), passed(node))
}

fn passed(node: &Node) -> Passed {
    Passed { packets: node.packets, bytes: node.bytes }
}

/// Seconds since the second in which the meter of a class was last updated.
fn age(node: &Node, now: Now) -> u32 {
    second(now).wrapping_sub(node.second)
}
