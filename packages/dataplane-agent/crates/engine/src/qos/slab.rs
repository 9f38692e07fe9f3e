//! Nodes for the frames that wait, reserved at the start and linked into queues: putting a frame in and
//! taking it out allocates nothing.

use crate::ids::QueueRef;
use crate::packet::frame::{Frame, VnetState};
use crate::packet::tuple::Addr;
use crate::packet::verdict::Verdict;
use crate::qos::addresses::QueueAddresses;
use crate::time::Now;

/// A node, by its index.
pub type NodeId = u32;

const NIL: NodeId = u32::MAX;

/// A waiting frame, with everything needed to send it.
#[derive(Debug)]
pub struct Waiting<F> {
    /// The frame.
    pub frame: F,
    /// Offload state to send it with.
    pub vnet: VnetState,
    /// The verdict of the packet after the queue.
    pub final_verdict: Verdict,
    /// L3 bytes on the wire.
    pub bytes: u64,
    /// Wire segments.
    pub segments: u32,
    /// The flow cache forwarded it.
    pub fast: bool,
    /// The router itself sent the packet; it is not forwarded.
    pub own: bool,
    /// The tag by which a trace knows the packet while it waits (`trace::tag`); 0 without a trace. A tag is shorter
    /// than the number of the packet.
    pub trace: u16,
    /// Queue path from the leaf in which the frame waits on. Set only if there are several leaves, or if finding them
    /// takes more than the addresses.
    pub queue: QueueRef,
    /// When it began to wait, at whichever worker.
    pub enqueued: Now,
}

// With a frame of the pool, which takes four words, there is no padding: another field makes each node longer.
const _: () = assert!(size_of::<Waiting<[u64; 4]>>() == 80 && size_of::<SlabNode<[u64; 4]>>() == 96);

/// Where the [`QueueAddresses`] of a waiting frame are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddressesAt {
    /// In the node, of IPv4.
    Node,
    /// In the frame, of IPv6.
    Frame,
    /// The destination in the frame; the source, which a translation has replaced there, in [`Slab::sources`].
    Sources,
}

#[derive(Debug)]
struct SlabNode<F> {
    waiting: Option<Waiting<F>>,
    next: NodeId,
    /// Source and destination; 0 of IPv6.
    v4: (u32, u32),
    addresses_at: AddressesAt,
}

/// The nodes of all waiting frames.
#[derive(Debug)]
pub struct Slab<F> {
    nodes: Vec<SlabNode<F>>,
    /// Translated sources of IPv6, by node; only as long as they are needed.
    sources: Vec<Addr>,
    free: NodeId,
    used: u32,
    max_frames: u32,
    footprint: u64,
    max_footprint: u64,
}

impl<F: Frame> Slab<F> {
    /// A slab for at most `max_frames` frames, which occupy at most `max_footprint` bytes of memory.
    pub fn new(max_frames: u32, max_footprint: u64) -> Self {
        Self {
            nodes: Vec::with_capacity(max_frames as usize),
            sources: Vec::with_capacity(max_frames as usize),
            free: NIL,
            used: 0,
            max_frames,
            footprint: 0,
            max_footprint,
        }
    }

    /// Whether there is room for a frame that occupies `footprint` bytes of memory.
    pub fn has_room(&self, footprint: u64) -> bool {
        self.used < self.max_frames && self.footprint.saturating_add(footprint) <= self.max_footprint
    }

    /// Inserts a frame with the addresses by which its queue was found. The caller has checked [`Self::has_room`].
    #[inline]
    pub fn insert(&mut self, waiting: Waiting<F>, addresses: &QueueAddresses) -> NodeId {
        self.used += 1;
        self.footprint += waiting.frame.footprint() as u64;
        let (v4, addresses_at) = match (addresses.src.as_v4(), addresses.dst.as_v4()) {
            (Some(src), Some(dst)) => ((src, dst), AddressesAt::Node),
            _ if QueueAddresses::of_frame(waiting.frame.head()).src == addresses.src => {
                ((0, 0), AddressesAt::Frame)
            }
            _ => ((0, 0), AddressesAt::Sources),
        };
        let node = self.free;
        let node = match self.nodes.get_mut(node as usize) {
            Some(free) => {
                self.free = std::mem::replace(&mut free.next, NIL);
                free.waiting = Some(waiting);
                (free.v4, free.addresses_at) = (v4, addresses_at);
                node
            }
            None => {
                self.nodes.push(SlabNode { waiting: Some(waiting), next: NIL, v4, addresses_at });
                (self.nodes.len() - 1) as NodeId
            }
        };
        if addresses_at == AddressesAt::Sources {
            self.keep_source(node, addresses.src);
        }
        node
    }

    /// The addresses by which the queue of a waiting frame was found; of no meaning for a node without one.
    pub fn addresses(&self, node: NodeId) -> QueueAddresses {
        let Some(SlabNode { waiting: Some(waiting), v4, addresses_at, .. }) = self.nodes.get(node as usize)
        else {
            return QueueAddresses::default();
        };
        match addresses_at {
            AddressesAt::Node => QueueAddresses { src: Addr::v4(v4.0), dst: Addr::v4(v4.1) },
            AddressesAt::Frame => QueueAddresses::of_frame(waiting.frame.head()),
            AddressesAt::Sources => {
                QueueAddresses { src: self.source(node), ..QueueAddresses::of_frame(waiting.frame.head()) }
            }
        }
    }

    /// Removes a frame and returns it.
    #[inline]
    pub fn remove(&mut self, node: NodeId) -> Option<Waiting<F>> {
        let slab_node = self.nodes.get_mut(node as usize)?;
        let waiting = slab_node.waiting.take()?;
        slab_node.next = self.free;
        self.free = node;
        self.used -= 1;
        self.footprint -= waiting.frame.footprint() as u64;
        Some(waiting)
    }
}

impl<F> Slab<F> {
    /// Prefetches the cache lines of a node.
    #[inline]
    pub fn prefetch(&self, node: NodeId) {
        if let Some(node) = self.nodes.get(node as usize) {
            tollway_prefetch::fetch_to_write(node);
            tollway_prefetch::fetch_to_write(&node.next);
        }
    }

    /// A frame that waits.
    pub fn get(&self, node: NodeId) -> Option<&Waiting<F>> {
        self.nodes.get(node as usize)?.waiting.as_ref()
    }

    /// The source of [`Self::addresses`]; 0 if it is of IPv6 and in the frame.
    #[inline]
    pub fn source(&self, node: NodeId) -> Addr {
        match self.nodes.get(node as usize) {
            Some(SlabNode { addresses_at: AddressesAt::Node, v4, .. }) => Addr::v4(v4.0),
            Some(SlabNode { addresses_at: AddressesAt::Sources, .. }) => {
                self.sources.get(node as usize).copied().unwrap_or_default()
            }
            _ => Addr(0),
        }
    }

    /// Mutable [`Self::get`].
    pub fn get_mut(&mut self, node: NodeId) -> Option<&mut Waiting<F>> {
        self.nodes.get_mut(node as usize)?.waiting.as_mut()
    }

    /// Frames that wait.
    pub fn len(&self) -> u32 {
        self.used
    }

    /// Exchanges the frames of two nodes.
    pub fn swap(&mut self, a: NodeId, b: NodeId) {
        let (low, high) = (a.min(b) as usize, a.max(b) as usize);
        if let Some((front, back)) = self.nodes.split_at_mut_checked(high)
            && let (Some(one), Some(other)) = (front.get_mut(low), back.first_mut())
        {
            std::mem::swap(&mut one.waiting, &mut other.waiting);
            std::mem::swap(&mut one.v4, &mut other.v4);
            std::mem::swap(&mut one.addresses_at, &mut other.addresses_at);
            if [one.addresses_at, other.addresses_at].contains(&AddressesAt::Sources) {
                let kept = [low, high].map(|at| self.sources.get(at).copied().unwrap_or_default());
                self.keep_source(high as NodeId, kept[0]);
                self.keep_source(low as NodeId, kept[1]);
            }
        }
    }

    #[cold]
    fn keep_source(&mut self, node: NodeId, src: Addr) {
        let at = node as usize;
        if at >= self.sources.len() {
            // Allocates nothing: there is room for as many as nodes.
            self.sources.resize(at + 1, Addr(0));
        }
        if let Some(kept) = self.sources.get_mut(at) {
            *kept = src;
        }
    }

    fn set_next(&mut self, node: NodeId, next: NodeId) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.next = next;
        }
    }
}

/// A queue of nodes, linked in order.
#[derive(Debug, Clone, Copy)]
pub struct NodeQueue {
    first: NodeId,
    last: NodeId,
    len: u32,
}

impl Default for NodeQueue {
    fn default() -> Self {
        Self { first: NIL, last: NIL, len: 0 }
    }
}

impl NodeQueue {
    /// Links a node at the end.
    pub fn push<F>(&mut self, slab: &mut Slab<F>, node: NodeId) {
        slab.set_next(node, NIL);
        if self.len == 0 {
            self.first = node;
        } else {
            slab.set_next(self.last, node);
        }
        self.last = node;
        self.len += 1;
    }

    /// Unlinks the first node.
    pub fn pop<F>(&mut self, slab: &mut Slab<F>) -> Option<NodeId> {
        let len = self.len.checked_sub(1)?;
        let node = self.first;
        self.first = slab.nodes.get(node as usize).map_or(NIL, |node| node.next);
        self.len = len;
        Some(node)
    }

    /// The first node.
    pub fn first(&self) -> Option<NodeId> {
        (self.len != 0).then_some(self.first)
    }

    /// The last node.
    pub fn last(&self) -> Option<NodeId> {
        (self.len != 0).then_some(self.last)
    }

    /// Number of linked nodes.
    pub fn len(&self) -> u32 {
        self.len
    }
}
