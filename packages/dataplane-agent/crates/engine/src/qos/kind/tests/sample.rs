//! docs/adding/queue-kind.md, followed: a kind that keeps its frames in order, through the table that the others are
//! in. In place of a variant of its own it has that of `mq-pfifo`.

use tollway_config::dataplane::QueueType;

use super::support::{udp, waiting};
use crate::packet::frame::Frame;
use crate::qos::addresses::QueueAddresses;
use crate::qos::kind::frame_queue::FrameQueue;
use crate::qos::kind::{Dequeued, End, Load, Qdisc, fifo};
use crate::qos::slab::{NodeId, NodeQueue, Slab};
use crate::time::Now;

/// Frames in order, at most so many wire segments.
#[derive(Debug)]
pub struct Sample {
    queue: FrameQueue,
    limit: u32,
}

impl Qdisc for Sample {
    fn new(config: &QueueType, _seed: u64) -> Option<Self> {
        let &QueueType::MqPfifo { limit } = config else { return None };
        Some(Self { queue: FrameQueue::default(), limit })
    }

    fn change(&mut self, config: &QueueType) -> bool {
        let &QueueType::MqPfifo { limit } = config else { return false };
        self.limit = limit;
        true
    }

    fn load(&self) -> Load {
        self.queue.load()
    }

    fn admits(&self, frame: Load, covered: Load) -> bool {
        self.queue.load().minus(covered).plus(frame).segments <= self.limit
    }

    fn enqueue<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        node: NodeId,
        _now: Now,
        _gone: &mut NodeQueue,
    ) -> NodeId {
        self.queue.push(slab, node);
        node
    }

    fn dequeue<F: Frame>(&mut self, slab: &mut Slab<F>, _now: Now, _gone: &mut NodeQueue) -> Dequeued {
        self.queue.pop(slab).map_or(Dequeued::Empty, |(node, _)| Dequeued::Packet(node))
    }

    fn take_out<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut NodeQueue,
        pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
    ) -> Load {
        self.queue.take_out(slab, to, pick)
    }

    fn drop_from_longest<F: Frame>(&mut self, slab: &mut Slab<F>, gone: &mut NodeQueue) {
        if let Some((node, _)) = self.queue.pop(slab) {
            gone.push(slab, node);
        }
    }
}

kinds! {
    QueueType::MqPfifo { .. } => Sample(Box<Sample>);
    _ => Fifo(fifo::Fifo);
}

#[test]
fn a_kind_is_one_file_and_one_line_of_the_table() {
    let config = QueueType::MqPfifo { limit: 3 };
    let (mut slab, mut gone) = (Slab::new(8, u64::MAX), NodeQueue::default());
    let mut kind = LeafQdisc::new(&config, 1);
    assert!(
        matches!(kind, LeafQdisc::Sample(_))
            && matches!(LeafQdisc::new(&QueueType::None, 1), LeafQdisc::Fifo(_))
    );
    assert!(kind.change(&config) && !kind.change(&QueueType::None));
    assert!(!LeafQdisc::needs_every_packet(&config) && !kind.drops_at_random());
    assert_eq!((kind.sub_queues(), kind.marked(), kind.max_segments(1000)), (0, 0, u32::MAX));
    let mut nodes = Vec::new();
    while kind.admits(Load::frame(1, 100), Load::default()) {
        let node = slab.insert(waiting(udp(1, 1, 1, 100, 0), Now(0)), &QueueAddresses::default());
        nodes.push(kind.enqueue(&mut slab, node, Now(0), &mut gone));
    }
    assert_eq!((kind.load().frames, gone.len()), (3, 0));
    kind.prefetch(&slab, End::First);
    assert_eq!(kind.dequeue(&mut slab, Now(0), &mut gone), Dequeued::Packet(nodes[0]));
    kind.drop_from_longest(&mut slab, &mut gone);
    assert_eq!(gone.pop(&mut slab), Some(nodes[1]));
    assert_eq!(kind.take_out(&mut slab, &mut gone, |_, _| true).frames, 1);
    assert_eq!(kind.dequeue(&mut slab, Now(0), &mut gone), Dequeued::Empty);
}
