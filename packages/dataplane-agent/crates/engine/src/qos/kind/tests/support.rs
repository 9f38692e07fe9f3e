//! A leaf on a virtual clock: frames, a queue, and what becomes of them.

use tollway_config::dataplane::QueueType;
use tollway_testkit::PacketBuilder;

use crate::ids::QueueRef;
use crate::packet::frame::{HeapFrame, VnetState};
use crate::packet::tuple::Addr;
use crate::packet::verdict::Verdict;
use crate::qos::addresses::QueueAddresses;
use crate::qos::kind::{Dequeued, LeafQdisc, Load};
use crate::qos::slab::{NodeQueue, Slab, Waiting};
use crate::time::Now;

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

/// A UDP packet of `len` L3 bytes; flows differ in the addresses' last bytes and the source port. The ECN field and
/// DSCP are as `class` says.
pub fn udp(src: u8, dst: u8, port: u16, len: u64, class: u8) -> HeapFrame {
    let (src, dst) = (format!("10.0.0.{src}"), format!("192.0.2.{dst}"));
    let mut bytes = PacketBuilder::ipv4(&src, &dst).udp(port, 80).payload_len(len as usize - 28).build();
    set_class(&mut bytes, class);
    HeapFrame(bytes)
}

/// Addresses of IPv4 by which a queue was found.
pub fn between(src: u32, dst: u32) -> QueueAddresses {
    QueueAddresses { src: Addr::v4(src), dst: Addr::v4(dst) }
}

/// Writes DSCP and ECN.
pub fn set_class(bytes: &mut [u8], class: u8) {
    bytes[15] = class;
    tollway_wire::ipv4::Packet::new_checked(&mut bytes[14..]).unwrap().fill_checksum();
}

/// A frame of one segment that begins to wait.
pub fn waiting(frame: HeapFrame, now: Now) -> Waiting<HeapFrame> {
    Waiting {
        vnet: VnetState::default(),
        final_verdict: Verdict::default(),
        bytes: frame.0.len() as u64 - 14,
        segments: 1,
        fast: false,
        own: false,
        trace: 0,
        enqueued: now,
        queue: QueueRef::NONE,
        frame,
    }
}

/// A packet that was sent.
#[derive(Debug, Clone)]
pub struct Sent {
    pub frame: HeapFrame,
    pub at: Now,
    pub delay: u64,
    pub bytes: u64,
}

/// A queue and its memory.
pub struct Leaf {
    pub kind: LeafQdisc,
    pub slab: Slab<HeapFrame>,
    pub now: Now,
    /// Frames dropped, and when.
    pub dropped: Vec<(Now, HeapFrame)>,
}

impl Leaf {
    pub fn new(config: &QueueType) -> Self {
        Self {
            kind: LeafQdisc::new(config, 42),
            slab: Slab::new(1 << 20, 1 << 40),
            now: Now(0),
            dropped: Vec::new(),
        }
    }

    /// A frame comes. Whether there was room.
    pub fn offer(&mut self, frame: HeapFrame) -> bool {
        let bytes = frame.0.len() as u64 - 14;
        self.offer_as(frame, VnetState::default(), 1, bytes, &QueueAddresses::default())
    }

    /// Offers a frame with its metadata.
    pub fn offer_as(
        &mut self,
        frame: HeapFrame,
        vnet: VnetState,
        segments: u32,
        bytes: u64,
        addresses: &QueueAddresses,
    ) -> bool {
        if !self.kind.admits(Load::frame(segments, bytes), Load::default()) {
            self.dropped.push((self.now, frame));
            return false;
        }
        let waiting = waiting(frame, self.now);
        let node = self.slab.insert(Waiting { vnet, bytes, segments, ..waiting }, addresses);
        let mut gone = NodeQueue::default();
        self.kind.enqueue(&mut self.slab, node, self.now, &mut gone);
        self.drop(gone);
        true
    }

    fn drop(&mut self, mut gone: NodeQueue) {
        while let Some(node) = gone.pop(&mut self.slab) {
            let waiting = self.slab.remove(node).expect("a frame is given back once");
            self.dropped.push((self.now, waiting.frame));
        }
    }

    /// Asks for a packet; `Err` with when to ask again, or `None` if nothing waits.
    pub fn next(&mut self) -> Result<Sent, Option<Now>> {
        let mut gone = NodeQueue::default();
        let next = self.kind.dequeue(&mut self.slab, self.now, &mut gone);
        self.drop(gone);
        match next {
            Dequeued::Packet(node) => {
                let waiting = self.slab.remove(node).expect("a frame is given back once");
                let delay = self.now.0 - waiting.enqueued.0;
                Ok(Sent { frame: waiting.frame, at: self.now, delay, bytes: waiting.bytes })
            }
            Dequeued::Wait(at) => Err(Some(at)),
            Dequeued::Empty => Err(None),
        }
    }

    /// Frames sent by `end`, without a rate of the leaf.
    pub fn drain_until(&mut self, end: Now) -> Vec<Sent> {
        let mut all = Vec::new();
        loop {
            match self.next() {
                Ok(sent) => all.push(sent),
                Err(Some(at)) if at <= end => self.now = at,
                Err(_) => break,
            }
        }
        self.now = end;
        all
    }

    /// Sends at a rate, bits/s, until `end`, while `feed` is asked before each packet what has come by then.
    pub fn send_at(&mut self, rate: u64, end: Now, mut feed: impl FnMut(&mut Self)) -> Vec<Sent> {
        let mut all = Vec::new();
        while self.now < end {
            feed(self);
            let step = match self.next() {
                Ok(sent) => {
                    let step = sent.bytes * 8 * SECOND / rate;
                    all.push(sent);
                    step
                }
                Err(at) => at.map_or(MS / 10, |at| at.0 - self.now.0).max(1),
            };
            self.now = Now(self.now.0 + step);
        }
        all
    }
}
