//! The queues of interfaces: packets wait there while their port accepts none, or because the queue kind has a rate of
//! its own. Each worker has its own queues, as it has of the port itself.

use tollway_config::dataplane::RowId;

use crate::ids::{LeafId, LinkId};
use crate::packet::frame::Frame;
use crate::qos::leaf::leaf_flag;
use crate::qos::queues::Queues;
use crate::time::Now;

/// What the queues have to know of a link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkInterface {
    /// Row of its interface.
    pub interface: Option<RowId>,
    /// The link below, for a link above a port.
    pub lower: Option<LinkId>,
}

/// The state of a link.
#[derive(Debug, Clone, Default)]
struct PortQueue {
    /// Row of its interface.
    interface: Option<RowId>,
    /// The link below, whose queue its packets enter if it has none.
    lower: Option<LinkId>,
    /// Leaf of the interface's queue.
    leaf: Option<LeafId>,
    /// Leaves of `/queue/tree` directly below the interface.
    below: Vec<LeafId>,
    /// The port accepts no packets.
    blocked: bool,
}

/// The states of all links.
#[derive(Debug, Default)]
pub struct PortQueues {
    all: Vec<PortQueue>,
    /// At least one of them has a queue.
    queued: bool,
}

impl PortQueues {
    /// Sets the rows of the ports' interfaces of another configuration. Their leaves have to be added afterwards.
    pub fn set_interfaces(&mut self, interfaces: &[LinkInterface]) {
        self.queued = false;
        self.all.resize_with(interfaces.len(), PortQueue::default);
        for (index, LinkInterface { interface, lower }) in interfaces.iter().enumerate() {
            let under = |link: LinkId| interfaces.get(usize::from(link)).and_then(|link| link.lower);
            let port = lower.map(|lower| std::iter::successors(Some(lower), |link| under(*link)).last());
            let blocked =
                port.flatten().and_then(|port| self.all.get(usize::from(port))).map(|port| port.blocked);
            let Some(port) = self.all.get_mut(index) else { break };
            port.blocked = blocked.unwrap_or(port.blocked);
            (port.interface, port.lower) = (*interface, *lower);
            port.leaf = None;
            port.below.clear();
        }
    }

    /// Whether these are the rows of the ports' interfaces.
    pub fn are_of(&self, interfaces: &[LinkInterface]) -> bool {
        let now = self.all.iter().map(|port| LinkInterface { interface: port.interface, lower: port.lower });
        now.eq(interfaces.iter().copied())
    }

    /// The leaf of a link: that of its interface's queue, or of the nearest interface below that has one.
    #[inline]
    fn leaf(&self, link: LinkId) -> Option<LeafId> {
        let mut port = self.all.get(usize::from(link))?;
        while port.leaf.is_none() {
            port = self.all.get(usize::from(port.lower?))?;
        }
        port.leaf
    }

    /// Whether a port of an interface accepts no packets.
    pub fn is_blocked(&self, interface: RowId) -> bool {
        self.all.iter().any(|port| port.blocked && port.interface == Some(interface))
    }

    /// Whether an interface has a port.
    pub fn has(&self, interface: RowId) -> bool {
        self.all.iter().any(|port| port.interface == Some(interface))
    }

    /// Adds the leaf of an interface's queue.
    pub fn add_queue(&mut self, interface: RowId, leaf: LeafId) {
        for port in self.all.iter_mut().filter(|port| port.interface == Some(interface)) {
            port.leaf = Some(leaf);
            self.queued = true;
        }
    }

    /// Adds a leaf of `/queue/tree` directly below an interface.
    pub fn add_below(&mut self, interface: RowId, leaf: LeafId) {
        for port in self.all.iter_mut().filter(|port| port.interface == Some(interface)) {
            port.below.push(leaf);
        }
    }
}

impl<F: Frame> Queues<F> {
    /// Notes whether a port accepts no packets for now.
    pub fn set_blocked(&mut self, id: LinkId, blocked: bool, now: Now) {
        let Some(port) = self.ports.all.get_mut(usize::from(id)).filter(|port| port.blocked != blocked)
        else {
            return;
        };
        port.blocked = blocked;
        let leaves = port.below.len();
        if let Some(interface) = port.interface {
            self.htb.set_blocked(interface, blocked);
        }
        for at in 0..=leaves {
            let Some(port) = self.ports.all.get(usize::from(id)) else { break };
            if let Some(leaf) = port.below.get(at).copied().or(port.leaf) {
                self.block(leaf, blocked, now);
            }
        }
    }

    /// Stops a leaf while its port accepts no packets, or lets it send again.
    pub(super) fn block(&mut self, leaf: LeafId, blocked: bool, now: Now) {
        if let Some(hot) = self.leaves.get_mut(leaf.index()) {
            hot.set(leaf_flag::BLOCKED, blocked);
        }
        if blocked {
            self.unschedule(leaf);
        } else {
            self.schedule(leaf, now);
        }
    }

    /// Whether packets may have to wait for a port.
    #[inline]
    pub fn has_port_queues(&self) -> bool {
        self.ports.queued
    }

    /// The leaf in which a packet for a port has to wait, if it does.
    #[inline]
    pub fn before_port(&self, port: LinkId) -> Option<LeafId> {
        let leaf = self.ports.leaf(port)?;
        let hot = self.leaves.get(leaf.index())?;
        (hot.waiting != 0 || hot.is(leaf_flag::BLOCKED | leaf_flag::EVERY_PACKET)).then_some(leaf)
    }

    /// Whether packets wait for a port.
    pub(super) fn waits_for_ports(&self) -> bool {
        let waits = |leaf: LeafId| self.leaves.get(leaf.index()).is_some_and(|hot| hot.waiting != 0);
        self.ports.queued && self.ports.all.iter().filter_map(|port| port.leaf).any(waits)
    }
}

impl<F> Queues<F> {
    /// Whether packets for a port may have to wait.
    pub fn has_queue_before(&self, port: LinkId) -> bool {
        self.ports.leaf(port).is_some()
    }
}
