//! What a worker keeps of a class, and of a tree.

use std::collections::VecDeque;

use tollway_config::dataplane::{QueueLimit, RowId};

use super::Mode;
use super::account::{Account, Terms};
use super::ring::{Links, NIL, PRIORITIES, Ring};
use super::run::Run;
use super::shared::{Left, terms};
use crate::qos::burst::Burst;
use crate::qos::forest::{Class, ClassId, Identity, MAX_LEVELS};
use crate::time::Now;
use crate::wheel::Wheel;

/// Resolution of event times, ns. Tokens go on gathering while a class waits for its tick, so none are lost.
const TICK: u64 = 100_000;

/// Shares of `limit-at` in a second that a quantum is.
const QUANTA_PER_SECOND: u64 = 10;

/// What every packet touches of a class; two cache lines.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct Node {
    /// Its own of a leaf; what is lent to the worker of an inner class.
    pub account: Account,
    /// L3 bytes that passed.
    pub bytes: u64,
    /// Wire segments that passed.
    pub packets: u64,
    /// Wire segments for which a class above lent.
    pub borrows: u64,
    /// The class above.
    pub parent: u32,
    pub tree: u32,
    /// Place in [`Core::inners`]; [`NIL`] of a leaf.
    pub inner: u32,
    /// Place in [`super::shared::Shared::classes`] of an inner class.
    pub place: u32,
    /// Second in which the meter began.
    pub second: u32,
    /// Bytes per turn.
    pub quantum: u32,
    /// Edges to the farthest leaf below.
    pub level: u8,
    /// Of a leaf, from 0.
    pub priority: u8,
    /// As it is linked; current only of classes that are live.
    pub mode: Mode,
    /// Priorities, one bit each, at which packets wait in a leaf, or classes below wait for this one to lend.
    pub active: u8,
    /// Priorities at which packets wait in or below it that this class lets pass or might.
    pub live: u8,
    /// In the middle of a turn among those that wait for its parent, by priority.
    pub turn: u8,
    /// The same among those that lend at its level.
    pub row_turn: u8,
    /// A round below it ended since [`Self::turn`] began, while it lent.
    pub late: u8,
    pub flags: u8,
}

const _: () = assert!(size_of::<Node>() == 128);

/// Of [`Node::flags`]: in [`Inner`]'s list of those to talk about.
pub const LISTED: u8 = 1;
/// This worker has the leaf.
pub const TAKEN: u8 = 2;
/// Has bursts; of a leaf.
pub const BURSTS: u8 = 4;

impl Node {
    pub const fn is_leaf(&self) -> bool {
        self.inner == NIL
    }

    /// Whether an inner class would send more if more were lent.
    pub const fn is_dry(&self) -> bool {
        match self.mode {
            Mode::Red => true,
            Mode::Yellow => self.account.terms().rate != 0,
            Mode::Green => false,
        }
    }

    /// Its turn in the ring that it is linked in has begun.
    pub const fn begin_turn(&mut self, priority: usize) {
        match self.mode {
            Mode::Green => self.row_turn |= 1 << priority,
            _ => self.turn |= 1 << priority,
        }
    }

    /// Its turn in the ring that it is linked in is over. A turn of an inner class is a round below it; one that began
    /// among those that wait outlasts one round that ends while the class lends, but no second one: so a class that
    /// often changes its colour neither loses its turn nor keeps it.
    pub const fn end_turn(&mut self, priority: usize) {
        let bit = 1 << priority;
        if !matches!(self.mode, Mode::Green) {
            self.turn &= !bit;
        } else {
            self.row_turn &= !bit;
            if self.is_leaf() {
                return;
            }
            self.turn &= !(self.late & bit);
        }
        self.late = if self.turn & bit != 0 { self.late | bit } else { self.late & !bit };
    }

    /// Whether it is in the middle of a turn in the ring that it is linked in.
    pub const fn has_turn(&self, priority: usize) -> bool {
        let turns = if matches!(self.mode, Mode::Green) { self.row_turn } else { self.turn };
        turns & (1 << priority) != 0
    }

    /// Whether it goes on with a turn when it is linked; if it may not, the turn is over.
    pub const fn goes_on(&mut self, priority: usize, may: bool) -> bool {
        if !may {
            match self.mode {
                Mode::Green => self.row_turn &= !(1 << priority),
                _ => self.turn &= !(1 << priority),
            }
        }
        self.has_turn(priority)
    }
}

/// What an inner class has beside.
#[derive(Debug)]
pub struct Inner {
    /// Classes below that wait for it, by priority.
    pub rings: [Ring; PRIORITIES],
    /// Sum of the quanta of leaves that are not red, nor anything between.
    pub weight: [u64; PRIORITIES],
    /// Wire segments for which it lent.
    pub lends: u64,
    /// Charged since the last talk: to what is lent, past it.
    pub spent: [i64; 2],
    pub owed: [i64; 2],
    pub asks: i64,
}

/// What is touched seldom.
#[derive(Debug)]
pub struct Cold {
    pub id: ClassId,
    pub identity: Identity,
    pub limit: QueueLimit,
    /// Of a leaf.
    pub burst: Option<Box<Burst>>,
    /// Bytes that a leaf may still send in its turn, by level of the class that lends.
    pub deficits: [i32; MAX_LEVELS],
    /// Bytes and packets when the second of the meter began, and what passed in the second before.
    pub begin: [u64; 2],
    pub last: [u64; 2],
}

/// Classes that may send, by level and priority.
#[derive(Debug)]
pub struct Rows(pub [[Ring; PRIORITIES]; MAX_LEVELS]);

/// A tree.
#[derive(Debug)]
pub struct Tree {
    pub rows: Box<Rows>,
    /// Rows that are not empty: bit 8 × level + priority.
    pub mask: u64,
    /// Slot of its root.
    pub root: u32,
    pub interface: Option<RowId>,
    pub is_blocked: bool,
    /// In [`Core::ready`].
    pub is_ready: bool,
    /// This worker was alone when it looked last, and works on the accounts themselves.
    pub is_sole: bool,
    /// When it talked last.
    pub talked: Option<Now>,
    /// Packets wait for a class of which more may be lent.
    pub is_dry: bool,
    /// Inner classes to talk about, by level.
    pub listed: [Vec<u32>; MAX_LEVELS],
    /// Leaves that packets wait in.
    pub waiting: u32,
    pub run: Run,
}

/// All trees of a worker.
#[derive(Debug)]
pub struct Core {
    pub nodes: Vec<Node>,
    pub cold: Vec<Cold>,
    pub inners: Vec<Inner>,
    pub links: Links,
    pub trees: Vec<Tree>,
    /// Event times by slot. That of a root is the time of the next talk while its tree is lent.
    pub wheel: Wheel,
    /// Trees in which a leaf may send.
    pub ready: VecDeque<u32>,
    /// Trees that may have runs.
    pub runs: Vec<u32>,
}

impl Core {
    pub fn new(now: Now) -> Self {
        let mut wheel = Wheel::new(0, TICK);
        wheel.follow(now);
        Self {
            nodes: Vec::new(),
            cold: Vec::new(),
            inners: Vec::new(),
            links: Links::default(),
            trees: Vec::new(),
            wheel,
            ready: VecDeque::new(),
            runs: Vec::new(),
        }
    }

    /// Adds a class whose parent has the slot `parent`; an inner one with its place among the shared accounts.
    pub fn add(&mut self, id: ClassId, class: &Class, parent: u32, tree: u32, place: u32, now: Now) -> u32 {
        let slot = self.nodes.len() as u32;
        let burst = if class.is_leaf { Burst::new(&class.limit, now).map(Box::new) } else { None };
        let account = match class.is_leaf {
            true => Account::new(terms(&class.limit, false, burst.as_deref()), now),
            false => Account::lent(terms(&class.limit, parent == NIL, None)),
        };
        let inner = if class.is_leaf { NIL } else { self.inners.len() as u32 };
        if !class.is_leaf {
            self.inners.push(Inner {
                rings: [Ring::EMPTY; PRIORITIES],
                weight: [0; PRIORITIES],
                lends: 0,
                spent: [0; 2],
                owed: [0; 2],
                asks: 0,
            });
        }
        let quantum = (class.limit.limit_at / 8 / QUANTA_PER_SECOND).clamp(1000, 200_000) as u32;
        self.nodes.push(Node {
            account,
            bytes: 0,
            packets: 0,
            borrows: 0,
            parent,
            tree,
            inner,
            place,
            second: second(now),
            quantum,
            level: class.level,
            priority: class.limit.priority.clamp(1, 8) - 1,
            mode: Mode::Red,
            active: 0,
            live: 0,
            turn: 0,
            row_turn: 0,
            late: 0,
            flags: if burst.is_some() { BURSTS } else { 0 },
        });
        let zero = [0; 2];
        let deficits = [quantum as i32; MAX_LEVELS];
        self.cold.push(Cold {
            id,
            identity: class.identity,
            limit: *class.limit,
            burst,
            deficits,
            begin: zero,
            last: zero,
        });
        self.links.grow(self.nodes.len());
        slot
    }

    /// Adds a tree that nothing is known of yet.
    pub fn add_tree(&mut self, interface: Option<RowId>, is_blocked: bool) -> u32 {
        self.trees.push(Tree {
            rows: Box::new(Rows([[Ring::EMPTY; PRIORITIES]; MAX_LEVELS])),
            mask: 0,
            root: NIL,
            interface,
            is_blocked,
            is_ready: false,
            is_sole: false,
            talked: None,
            is_dry: false,
            listed: Default::default(),
            waiting: 0,
            run: Run::NONE,
        });
        self.runs.reserve(self.trees.len());
        (self.trees.len() - 1) as u32
    }

    #[inline]
    pub fn node(&self, slot: u32) -> Option<&Node> {
        self.nodes.get(slot as usize)
    }

    #[inline]
    pub fn node_mut(&mut self, slot: u32) -> Option<&mut Node> {
        self.nodes.get_mut(slot as usize)
    }

    /// The classes above a slot, from its parent up.
    pub fn parent(&self, slot: u32) -> u32 {
        self.node(slot).map_or(NIL, |node| node.parent)
    }

    /// The slots of a class and of those above it, from the class up.
    pub fn way(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors((slot != NIL).then_some(slot), |slot| {
            Some(self.parent(*slot)).filter(|parent| *parent != NIL)
        })
    }

    /// Tokens of a leaf, for the worker that takes it next.
    pub fn left(&self, slot: u32) -> Option<Left> {
        let (node, cold) = (self.node(slot)?, self.cold.get(slot as usize)?);
        Some(Left { account: node.account, burst: cold.burst.clone(), deficits: cold.deficits })
    }

    /// A leaf goes on with what another worker, or another configuration, left of it.
    pub fn resume(&mut self, slot: u32, left: &Left, now: Now) {
        let (Some(node), Some(cold)) = (self.nodes.get_mut(slot as usize), self.cold.get_mut(slot as usize))
        else {
            return;
        };
        if let Some(burst) = &left.burst {
            cold.burst = Burst::change(Some((**burst).clone()), &cold.limit, now).map(Box::new);
        }
        let terms: Terms = terms(&cold.limit, false, cold.burst.as_deref());
        if *node.account.terms() != terms {
            node.account.change(terms, now, false);
        }
        node.account.resume(&left.account);
        cold.deficits = left.deficits.map(|deficit| deficit.min(node.quantum as i32));
    }

    /// Turns the meter of a class over when a second is full.
    #[inline]
    pub fn meter(&mut self, slot: u32, now: Now) {
        let Some(node) = self.nodes.get_mut(slot as usize) else { return };
        let second = second(now);
        if node.second == second {
            return;
        }
        if let Some(cold) = self.cold.get_mut(slot as usize) {
            cold.last = last_second(node, cold, now);
            cold.begin = [node.bytes, node.packets];
        }
        node.second = second;
    }
}

/// Bytes and packets of the last full second.
pub fn last_second(node: &Node, cold: &Cold, now: Now) -> [u64; 2] {
    match second(now).wrapping_sub(node.second) {
        0 => cold.last,
        1 => [node.bytes - cold.begin[0], node.packets - cold.begin[1]],
        _ => [0; 2],
    }
}

fn second(now: Now) -> u32 {
    (now.0 / 1_000_000_000) as u32
}
