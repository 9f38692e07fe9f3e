//! Queue kinds: which packets of a leaf wait, which are dropped or marked, and in which order they go.
//!
//! [`LeafQdisc`] is what a leaf holds. Behind it is one [`Qdisc`] for each kind, one file and one line of `kinds!`
//! each. A kind with much state is boxed, and allocates memory for its state when the first packet waits.
//!
//! Packets are wire segments, bytes are L3: a kind treats a frame of several segments as one frame, but counts all its
//! segments.

mod cake;
mod codel;
mod fifo;
mod fq_codel;
mod frame_queue;
mod header;
mod pcq;
mod pool;
mod random;
mod red;
mod sfq;

use tollway_config::dataplane::QueueType;

use super::slab::{NodeId, NodeQueue, Slab};
use crate::packet::frame::Frame;
use crate::time::Now;

/// Minimum length of a turn, bytes. Shares are by bytes: shorter turns would not change them, but would take many turns
/// for each packet.
const LEAST_TURN: u32 = 256;

/// The result of [`LeafQdisc::dequeue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dequeued {
    /// Dequeued frame.
    Packet(NodeId),
    /// Packets wait, and the first may be sent at this time: the kind has a rate of its own.
    Wait(Now),
    /// Nothing waits.
    Empty,
}

/// An amount of frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Number of frames.
    pub frames: u32,
    /// Wire segments of the frames.
    pub segments: u32,
    /// L3 bytes of the frames.
    pub bytes: u64,
}

impl Load {
    /// A frame.
    pub const fn frame(segments: u32, bytes: u64) -> Self {
        Self { frames: 1, segments, bytes }
    }

    /// A frame that waits.
    pub fn of<F>(slab: &Slab<F>, node: NodeId) -> Self {
        slab.get(node).map_or(Self::default(), |waiting| Self::frame(waiting.segments, waiting.bytes))
    }

    /// The sum of both.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            frames: self.frames.saturating_add(other.frames),
            segments: self.segments.saturating_add(other.segments),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    /// The difference, at least zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self {
            frames: self.frames.saturating_sub(other.frames),
            segments: self.segments.saturating_sub(other.segments),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

/// The end at which a queue is about to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The first frame, which is about to be dequeued.
    First,
    /// The last frame, behind which a frame is about to be enqueued.
    Last,
}

/// A queue kind.
///
/// Every frame that was enqueued is given back once: by `dequeue`, by `take_out`, or in `gone` if it was dropped.
/// Frames of one flow are given back in the order in which they were enqueued.
trait Qdisc: Sized {
    /// Whether frames are dropped at random on arrival, so that a drop does not mean that the queue is full.
    const DROPS_AT_RANDOM: bool = false;
    /// An empty queue; `None` if the configuration is of another kind.
    fn new(config: &QueueType, seed: u64) -> Option<Self>;
    /// Changes the parameters; waiting frames stay. Returns `false`, and changes nothing, if the configuration is of
    /// another kind.
    fn change(&mut self, config: &QueueType) -> bool;
    /// Whether packets go through the queue even when nothing waits: it has rates of its own, or changes packets.
    fn needs_every_packet(_config: &QueueType) -> bool {
        false
    }
    /// The frames that wait.
    fn load(&self) -> Load;
    /// Whether there is room for a frame, if the frames in `covered` are not counted.
    fn admits(&self, _frame: Load, _covered: Load) -> bool {
        true
    }
    /// Maximum number of wire segments, of `segment_bytes` L3 bytes each, that a frame may have.
    fn max_segments(&self, _segment_bytes: u64) -> u32 {
        u32::MAX
    }
    /// Prefetches what the next call needs, as far as that is known without reading memory that may not be cached.
    fn prefetch<F>(&self, _slab: &Slab<F>, _end: End) {}
    /// Enqueues a frame. Frames that are dropped for it, possibly the frame itself, are put into `gone`. Returns the
    /// node of the frame.
    fn enqueue<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        node: NodeId,
        now: Now,
        gone: &mut NodeQueue,
    ) -> NodeId;
    /// Dequeues the next frame. Frames that are dropped before it are put into `gone`.
    fn dequeue<F: Frame>(&mut self, slab: &mut Slab<F>, now: Now, gone: &mut NodeQueue) -> Dequeued;
    /// Moves the frames for which `pick` holds to `to`. Returns their load.
    fn take_out<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut NodeQueue,
        pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
    ) -> Load;
    /// Drops a frame, of the longest sub-queue if there are several, into `gone`; none if nothing waits.
    fn drop_from_longest<F: Frame>(&mut self, slab: &mut Slab<F>, gone: &mut NodeQueue);
    /// Number of sub-queues in which packets wait; 0 for a kind without sub-queues.
    fn sub_queues(&self) -> u32 {
        0
    }
    /// Wire segments that were marked instead of dropped (RFC 3168).
    fn marked(&self) -> u64 {
        0
    }
}

/// Kinds with much state are boxed, so that [`LeafQdisc`] stays small.
impl<D: Qdisc> Qdisc for Box<D> {
    const DROPS_AT_RANDOM: bool = D::DROPS_AT_RANDOM;
    #[inline]
    fn prefetch<F>(&self, _slab: &Slab<F>, _end: End) {
        tollway_prefetch::fetch_to_write(&**self);
    }
    fn new(config: &QueueType, seed: u64) -> Option<Self> {
        D::new(config, seed).map(Self::new)
    }
    fn change(&mut self, config: &QueueType) -> bool {
        (**self).change(config)
    }
    fn needs_every_packet(config: &QueueType) -> bool {
        D::needs_every_packet(config)
    }
    fn load(&self) -> Load {
        (**self).load()
    }
    fn admits(&self, frame: Load, covered: Load) -> bool {
        (**self).admits(frame, covered)
    }
    fn max_segments(&self, segment_bytes: u64) -> u32 {
        (**self).max_segments(segment_bytes)
    }
    fn enqueue<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        node: NodeId,
        now: Now,
        gone: &mut NodeQueue,
    ) -> NodeId {
        (**self).enqueue(slab, node, now, gone)
    }
    fn dequeue<F: Frame>(&mut self, slab: &mut Slab<F>, now: Now, gone: &mut NodeQueue) -> Dequeued {
        (**self).dequeue(slab, now, gone)
    }
    fn take_out<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut NodeQueue,
        pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
    ) -> Load {
        (**self).take_out(slab, to, pick)
    }
    fn drop_from_longest<F: Frame>(&mut self, slab: &mut Slab<F>, gone: &mut NodeQueue) {
        (**self).drop_from_longest(slab, gone);
    }
    fn sub_queues(&self) -> u32 {
        (**self).sub_queues()
    }
    fn marked(&self) -> u64 {
        (**self).marked()
    }
}

macro_rules! kinds {
    ($($configured:pat => $variant:ident($kind:ty);)+) => {
        /// The queue of a leaf.
        #[derive(Debug)]
        pub enum LeafQdisc {
            $(#[doc = concat!("`", stringify!($kind), "`")] $variant($kind),)+
        }

        impl LeafQdisc {
            /// An empty queue. `seed` is the seed of its hash and its random numbers.
            pub fn new(config: &QueueType, seed: u64) -> Self {
                let kind = match config {
                    $($configured => <$kind as Qdisc>::new(config, seed).map(Self::$variant),)+
                };
                debug_assert!(kind.is_some(), "the row of `kinds!` gives its kind {config:?}");
                kind.unwrap_or_else(|| Self::Fifo(fifo::Fifo::default()))
            }

            /// Changes the parameters; waiting frames stay. Returns `false`, and changes nothing, if the configuration
            /// is of another kind: the waiting frames are then to be taken out and enqueued in a new queue.
            pub fn change(&mut self, config: &QueueType) -> bool {
                match self { $(Self::$variant(kind) => kind.change(config),)+ }
            }

            /// Whether packets go through a queue of this configuration even when nothing waits: it has rates of its
            /// own, or changes packets.
            pub fn needs_every_packet(config: &QueueType) -> bool {
                match config {
                    $($configured => <$kind as Qdisc>::needs_every_packet(config),)+
                }
            }

            /// The frames that wait.
            #[inline]
            pub fn load(&self) -> Load {
                match self { $(Self::$variant(kind) => kind.load(),)+ }
            }

            /// Whether there is room for a frame, as far as that is known without reading its headers; if not, it must
            /// not be enqueued. The frames in `covered`, for which the leaf has tokens already, do not count as
            /// waiting.
            #[inline]
            pub fn admits(&self, frame: Load, covered: Load) -> bool {
                match self { $(Self::$variant(kind) => kind.admits(frame, covered),)+ }
            }

            /// Whether frames are dropped at random on arrival, so that a drop does not mean that the queue is full.
            pub const fn drops_at_random(&self) -> bool {
                match self { $(Self::$variant(_) => <$kind as Qdisc>::DROPS_AT_RANDOM,)+ }
            }

            /// Prefetches what [`Self::dequeue`] or [`Self::enqueue`] will need.
            #[inline]
            pub fn prefetch<F>(&self, slab: &Slab<F>, end: End) {
                match self { $(Self::$variant(kind) => Qdisc::prefetch(kind, slab, end),)+ }
            }

            /// Maximum number of wire segments, of `segment_bytes` L3 bytes each, that a super-frame may have; a longer
            /// one is to be segmented.
            pub fn max_segments(&self, segment_bytes: u64) -> u32 {
                match self { $(Self::$variant(kind) => kind.max_segments(segment_bytes.max(1)).max(1),)+ }
            }

            /// Enqueues a frame. Frames that are dropped for it, possibly the frame itself, are put into `gone`.
            /// Returns the node of the frame, which may have been exchanged with that of a dropped one.
            #[inline]
            pub fn enqueue<F: Frame>(
                &mut self,
                slab: &mut Slab<F>,
                node: NodeId,
                now: Now,
                gone: &mut NodeQueue,
            ) -> NodeId {
                match self { $(Self::$variant(kind) => kind.enqueue(slab, node, now, gone),)+ }
            }

            /// Dequeues the next frame. Frames that are dropped before it are put into `gone`.
            #[inline]
            pub fn dequeue<F: Frame>(&mut self, slab: &mut Slab<F>, now: Now, gone: &mut NodeQueue) -> Dequeued {
                match self { $(Self::$variant(kind) => kind.dequeue(slab, now, gone),)+ }
            }

            /// Moves the frames for which `pick` holds to `to`, each flow's in order. Returns their load.
            pub fn take_out<F: Frame>(
                &mut self,
                slab: &mut Slab<F>,
                to: &mut NodeQueue,
                mut pick: impl FnMut(&Slab<F>, NodeId) -> bool,
            ) -> Load {
                match self { $(Self::$variant(kind) => kind.take_out(slab, to, &mut pick),)+ }
            }

            /// Drops a frame, of the longest sub-queue if there are several, into `gone` to make room; none if nothing
            /// waits.
            pub fn drop_from_longest<F: Frame>(&mut self, slab: &mut Slab<F>, gone: &mut NodeQueue) {
                match self { $(Self::$variant(kind) => kind.drop_from_longest(slab, gone),)+ }
            }

            /// Sub-queues in which packets wait.
            pub fn sub_queues(&self) -> u32 {
                match self { $(Self::$variant(kind) => kind.sub_queues(),)+ }
            }

            /// Wire segments that were marked instead of dropped (RFC 3168).
            pub fn marked(&self) -> u64 {
                match self { $(Self::$variant(kind) => kind.marked(),)+ }
            }
        }
    };
}

// The variants of the configuration, and the kind that is made from them.
kinds! {
    QueueType::None | QueueType::Pfifo { .. } | QueueType::Bfifo { .. } | QueueType::MqPfifo { .. }
        => Fifo(fifo::Fifo);
    QueueType::Red { .. } => Red(Box<red::Red>);
    QueueType::Sfq { .. } => Sfq(Box<sfq::Sfq>);
    QueueType::Pcq { .. } => Pcq(Box<pcq::Pcq>);
    QueueType::Codel(_) => Codel(Box<codel::Codel>);
    QueueType::FqCodel { .. } => FqCodel(Box<fq_codel::FqCodel>);
    QueueType::Cake(_) => Cake(Box<cake::Cake>);
}

impl LeafQdisc {
    /// Frames that wait.
    #[inline]
    pub fn frames(&self) -> u32 {
        self.load().frames
    }

    /// Wire segments that wait.
    #[inline]
    pub fn segments(&self) -> u32 {
        self.load().segments
    }

    /// L3 bytes that wait.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.load().bytes
    }
}

const _: () = assert!(size_of::<LeafQdisc>() <= 64);

/// Memory that a frame occupies, bytes.
fn footprint<F: Frame>(slab: &Slab<F>, node: NodeId) -> u64 {
    slab.get(node).map_or(0, |waiting| waiting.frame.footprint() as u64)
}

/// Moves the frames of a queue for which `pick` holds to `to`, in order. Returns their load.
fn split_off<F>(
    queue: &mut NodeQueue,
    slab: &mut Slab<F>,
    to: &mut NodeQueue,
    pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
) -> Load {
    let (mut stay, mut taken) = (NodeQueue::default(), Load::default());
    while let Some(node) = queue.pop(slab) {
        if pick(slab, node) {
            taken = taken.plus(Load::of(slab, node));
            to.push(slab, node);
        } else {
            stay.push(slab, node);
        }
    }
    *queue = stay;
    taken
}

// Below `kinds!`, which the sample kind goes through.
#[cfg(test)]
mod tests;
