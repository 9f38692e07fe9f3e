//! What holds for every kind, whatever happens to it.

use std::collections::HashMap;

use proptest::prelude::*;
use tollway_config::dataplane::{
    Cake, CakeAckFilter, CakeAtm, CakeDiffserv, CakeFlowmode, Codel, PcqClassifier, QueueType,
};
use tollway_testkit::PacketBuilder;

use super::support::{Leaf, between, set_class};
use crate::packet::frame::{Gso, HeapFrame, VnetState};
use crate::qos::kind::{LeafQdisc, Load};
use crate::qos::slab::NodeQueue;
use crate::time::Now;

fn codel() -> Codel {
    Codel { limit: 40, target_us: 5_000, interval_us: 100_000, ecn: true, ce_threshold_us: 0 }
}

fn cake() -> Cake {
    Cake {
        bandwidth: 2_000_000,
        autorate_ingress: false,
        overhead: 38,
        mpu: 84,
        atm: CakeAtm::None,
        rtt_us: 100_000,
        diffserv: CakeDiffserv::Diffserv4,
        flowmode: CakeFlowmode::TripleIsolate,
        nat: true,
        wash: false,
        ack_filter: CakeAckFilter::Filter,
        memory_limit: 60_000,
    }
}

/// Every kind, with limits that are soon reached.
fn configs() -> Vec<QueueType> {
    let pcq = |rate| QueueType::Pcq {
        rate,
        limit: 20_000,
        total_limit: 50_000,
        classifier: vec![PcqClassifier::SrcAddress, PcqClassifier::DstPort],
        burst_rate: 2 * rate,
        burst_threshold: rate / 2,
        burst_time_ms: 1000,
        src_address_mask: 31,
        dst_address_mask: 32,
        src_address6_mask: 64,
        dst_address6_mask: 64,
    };
    let unshaped = Cake {
        bandwidth: 0,
        flowmode: CakeFlowmode::DualDsthost,
        diffserv: CakeDiffserv::Diffserv8,
        ack_filter: CakeAckFilter::Aggressive,
        ..cake()
    };
    let rated =
        Cake { autorate_ingress: true, atm: CakeAtm::Ptm, diffserv: CakeDiffserv::Precedence, ..cake() };
    vec![
        QueueType::None,
        QueueType::Pfifo { limit: 20 },
        QueueType::Bfifo { limit: 20_000 },
        QueueType::MqPfifo { limit: 20 },
        QueueType::Red { limit: 40, min_threshold: 5, max_threshold: 20, burst: 8, avg_packet: 1000 },
        QueueType::Sfq { perturb_s: 1, allot: 1514 },
        pcq(0),
        pcq(1_000_000),
        QueueType::Codel(codel()),
        QueueType::FqCodel { codel: codel(), flows: 4, quantum: 300, memory_limit: 60_000 },
        QueueType::FqCodel { codel: codel(), flows: 1024, quantum: 1514, memory_limit: 1 << 20 },
        QueueType::Cake(cake()),
        QueueType::Cake(unshaped),
        QueueType::Cake(rated),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Offer { flow: u8, len: u16, segments: u32, ecn: u8 },
    Acknowledge { flow: u8, number: u32 },
    Dequeued(u8),
    Wait(u64),
    TakeOut { flow: u8 },
    DropFromLongest,
    Change(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0u8..12, 28u16..1500, prop_oneof![9 => Just(1u32), 1 => 2u32..8], 0u8..4)
            .prop_map(|(flow, len, segments, ecn)| Step::Offer { flow, len, segments, ecn }),
        4 => (12u8..15, 0u32..40).prop_map(|(flow, number)| Step::Acknowledge { flow, number }),
        4 => (1u8..20).prop_map(Step::Dequeued),
        3 => prop_oneof![Just(0u64), 1..20_000_000u64, 1..3_000_000_000u64].prop_map(Step::Wait),
        1 => (0u8..15).prop_map(|flow| Step::TakeOut { flow }),
        1 => Just(Step::DropFromLongest),
        1 => any::<u8>().prop_map(Step::Change),
    ];
    proptest::collection::vec(step, 1..160)
}

/// Packets known to wait, by their number.
#[derive(Default)]
struct Ledger {
    next: u16,
    waiting: HashMap<u16, (u8, Load)>,
    /// The packet of each flow that went last.
    went: HashMap<u8, u16>,
}

fn number(frame: &HeapFrame) -> u16 {
    u16::from_be_bytes([frame.0[18], frame.0[19]])
}

impl Ledger {
    fn frame(&mut self, flow: u8, builder: impl Fn(PacketBuilder) -> PacketBuilder) -> HeapFrame {
        self.next += 1;
        let (src, dst) = (format!("10.0.0.{}", flow / 2), format!("192.0.2.{}", flow % 3));
        HeapFrame(builder(PacketBuilder::ipv4(&src, &dst).ident(self.next)).build())
    }

    fn offer(&mut self, leaf: &mut Leaf, flow: u8, frame: HeapFrame, vnet: VnetState, load: Load) {
        let addresses = between(0x0a00_0000 | u32::from(flow / 2), 0xc000_0200 | u32::from(flow % 3));
        self.waiting.insert(number(&frame), (flow, load));
        leaf.offer_as(frame, vnet, load.segments, load.bytes, &addresses);
    }

    /// A packet was given back.
    fn back(&mut self, frame: &HeapFrame) -> Result<u8, TestCaseError> {
        let known = self.waiting.remove(&number(frame));
        prop_assert!(known.is_some(), "twice, or never offered");
        Ok(known.map_or(0, |(flow, _)| flow))
    }

    /// Checks the same, and the order.
    fn in_order(&mut self, frame: &HeapFrame) -> Result<(), TestCaseError> {
        let flow = self.back(frame)?;
        let before = self.went.insert(flow, number(frame)).unwrap_or(0);
        prop_assert!(before < number(frame), "flow {flow} was reordered");
        Ok(())
    }

    fn check(&mut self, leaf: &mut Leaf) -> Result<(), TestCaseError> {
        for (_, frame) in std::mem::take(&mut leaf.dropped) {
            self.back(&frame)?;
        }
        let all = self.waiting.values().fold(Load::default(), |all, (_, load)| all.plus(*load));
        prop_assert_eq!(leaf.kind.load(), all);
        prop_assert_eq!(leaf.slab.len(), all.frames);
        let has_sub_queues =
            !matches!(leaf.kind, LeafQdisc::Fifo(_) | LeafQdisc::Red(_) | LeafQdisc::Codel(_));
        prop_assert!((leaf.kind.sub_queues() != 0) == (has_sub_queues && all.frames != 0));
        prop_assert!(leaf.kind.sub_queues() <= all.frames);
        Ok(())
    }
}

/// Other parameters for a queue.
fn changed(config: &QueueType, by: u8) -> QueueType {
    let rates = [0, 1, 100_000, 1_000_000, 1_000_000_000];
    let pick = |of: u8| rates[usize::from(of) % rates.len()];
    let mut config = config.clone();
    match &mut config {
        QueueType::Pcq { rate, burst_rate, burst_threshold, burst_time_ms, .. } => {
            *rate = pick(by);
            (*burst_rate, *burst_threshold) = (pick(by / 5), pick(by / 3));
            *burst_time_ms = if by & 1 == 0 { 1000 } else { 3000 };
        }
        QueueType::Cake(cake) => cake.bandwidth = pick(by),
        QueueType::Sfq { allot, perturb_s } => (*allot, *perturb_s) = (u32::from(by) * 20, u32::from(by % 3)),
        QueueType::FqCodel { quantum, .. } => *quantum = u32::from(by) * 20,
        _ => {}
    }
    config
}

fn run(config: &QueueType, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let (mut leaf, mut ledger) = (Leaf::new(config), Ledger::default());
    for step in steps {
        match step {
            Step::Offer { flow, len, segments, ecn } => {
                let payload = (usize::from(len) - 28) * segments as usize + usize::from(segments > 1) * 8;
                let mut frame =
                    ledger.frame(flow, |packet| packet.udp(u16::from(flow), 80).payload_len(payload));
                // A flow has one DSCP: with another one it would be in another tin, and no flow.
                let dscp = [0u8, 0x20, 0xb8, 0x48, 0x88][usize::from(flow) % 5];
                set_class(&mut frame.0, dscp | ecn);
                let mut vnet = VnetState::default();
                if segments > 1 {
                    (vnet.gso, vnet.gso_size, vnet.hdr_len) = (Gso::Udp, len - 27, 42);
                }
                let bytes = payload as u64 + u64::from(segments) * 28;
                ledger.offer(&mut leaf, flow, frame, vnet, Load::frame(segments, bytes));
            }
            Step::Acknowledge { flow, number } => {
                let frame = ledger.frame(flow, |packet| packet.tcp(u16::from(flow), 80, 16, 1, number));
                ledger.offer(&mut leaf, flow, frame, VnetState::default(), Load::frame(1, 40));
            }
            Step::Dequeued(times) => {
                for _ in 0..times {
                    match leaf.next() {
                        Ok(sent) => ledger.in_order(&sent.frame)?,
                        Err(Some(at)) => {
                            prop_assert!(at > leaf.now);
                            let (now, dropped) = (leaf.now, leaf.dropped.len());
                            leaf.now = at;
                            match leaf.next() {
                                Ok(sent) => ledger.in_order(&sent.frame)?,
                                // The rate sank meanwhile.
                                Err(Some(later)) => prop_assert!(later > at),
                                Err(None) => prop_assert!(leaf.dropped.len() > dropped),
                            }
                            prop_assert!(now < at);
                        }
                        Err(None) => prop_assert_eq!(leaf.kind.frames(), 0),
                    }
                    ledger.check(&mut leaf)?;
                }
            }
            Step::Change(by) => prop_assert!(leaf.kind.change(&changed(config, by))),
            Step::Wait(time) => leaf.now = Now(leaf.now.0 + time),
            Step::TakeOut { flow } => {
                let mut to = NodeQueue::default();
                let port = u16::from(flow).to_be_bytes();
                let taken = leaf.kind.take_out(&mut leaf.slab, &mut to, |slab, node| {
                    slab.get(node).is_some_and(|waiting| waiting.frame.0[34..36] == port)
                });
                let mut sum = Load::default();
                while let Some(node) = to.pop(&mut leaf.slab) {
                    sum = sum.plus(Load::of(&leaf.slab, node));
                    let waiting = leaf.slab.remove(node).expect("a frame is given back once");
                    ledger.in_order(&waiting.frame)?;
                }
                prop_assert_eq!(taken, sum);
                prop_assert!(!ledger.waiting.values().any(|(other, _)| *other == flow));
            }
            Step::DropFromLongest => {
                let (mut gone, before) = (NodeQueue::default(), leaf.kind.frames());
                leaf.kind.drop_from_longest(&mut leaf.slab, &mut gone);
                prop_assert_eq!(leaf.kind.frames(), before.saturating_sub(1));
                while let Some(node) = gone.pop(&mut leaf.slab) {
                    let waiting = leaf.slab.remove(node).expect("a frame is given back once");
                    ledger.back(&waiting.frame)?;
                }
            }
        }
        ledger.check(&mut leaf)?;
    }
    // All that is left comes out, and nothing else.
    for _ in 0..10_000 {
        match leaf.next() {
            Ok(sent) => ledger.in_order(&sent.frame)?,
            Err(Some(at)) => leaf.now = at,
            Err(None) => break,
        }
    }
    ledger.check(&mut leaf)?;
    prop_assert!(ledger.waiting.is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(400)))]
    #[test]
    fn nothing_is_lost_doubled_or_overtaken_and_the_books_are_right(
        config in proptest::sample::select(configs()),
        steps in steps(),
    ) {
        run(&config, steps)?;
    }
}

#[test]
fn every_configuration_has_its_kind_and_no_other() {
    for config in configs() {
        let mut kind = LeafQdisc::new(&config, 1);
        assert!(kind.change(&config), "{config:?}");
        for other in configs() {
            let is_same = std::mem::discriminant(&LeafQdisc::new(&other, 1)) == std::mem::discriminant(&kind);
            assert!(is_same || !LeafQdisc::new(&config, 1).change(&other), "{config:?} to {other:?}");
        }
    }
}
