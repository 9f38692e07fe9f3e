//! Per connection queuing.

use std::collections::HashMap;

use tollway_config::dataplane::{PcqClassifier, QueueType};

use super::support::{Leaf, MS, SECOND, Sent, between, udp};
use crate::packet::frame::VnetState;
use crate::qos::slab::NodeQueue;
use crate::time::Now;

struct Pcq {
    rate: u64,
    limit: u64,
    total_limit: u64,
    classifier: Vec<PcqClassifier>,
    burst: (u64, u64, u32),
    src_mask: u8,
}

impl Default for Pcq {
    fn default() -> Self {
        let classifier = vec![PcqClassifier::SrcAddress];
        Self {
            rate: 0,
            limit: 50 * 1024,
            total_limit: 2000 * 1024,
            classifier,
            burst: (0, 0, 10_000),
            src_mask: 32,
        }
    }
}

impl Pcq {
    fn leaf(self) -> Leaf {
        Leaf::new(&self.config())
    }

    fn config(self) -> QueueType {
        QueueType::Pcq {
            rate: self.rate,
            limit: self.limit,
            total_limit: self.total_limit,
            classifier: self.classifier,
            burst_rate: self.burst.0,
            burst_threshold: self.burst.1,
            burst_time_ms: self.burst.2,
            src_address_mask: self.src_mask,
            dst_address_mask: 32,
            src_address6_mask: 128,
            dst_address6_mask: 128,
        }
    }
}

fn offer(leaf: &mut Leaf, src: u8, port: u16, len: u64) -> bool {
    let before = leaf.dropped.len();
    let frame = udp(src, 1, port, len, 0);
    leaf.offer_as(frame, VnetState::default(), 1, len, &between(0x0a00_0000 | u32::from(src), 0xc000_0201));
    leaf.dropped.len() == before
}

fn bits(sent: &[Sent]) -> HashMap<u8, u64> {
    let mut bits = HashMap::new();
    for packet in sent {
        *bits.entry(packet.frame.0[29]).or_default() += packet.bytes * 8;
    }
    bits
}

#[test]
fn sub_queues_share_equally_whatever_they_send_and_however_many_connections_they_have() {
    let mut leaf = Pcq::default().leaf();
    let sent = leaf.send_at(20_000_000, Now(2 * SECOND), |leaf| {
        offer(leaf, 1, 1, 1500);
        for port in 0..5 {
            offer(leaf, 2, port, 1500);
        }
        for _ in 0..10 {
            offer(leaf, 3, 1, 200);
        }
        for _ in 0..2 {
            offer(leaf, 4, 1, 1000);
            offer(leaf, 4, 1, 60);
        }
    });
    assert_eq!(leaf.kind.sub_queues(), 4);
    let sent = bits(&sent[300..]);
    let total: u64 = sent.values().sum();
    for (station, bits) in sent {
        let share = bits as f64 / total as f64;
        assert!((share / 0.25 - 1.0).abs() < 0.02, "{station} has {share}");
    }
}

#[test]
fn each_sub_queue_is_held_to_its_rate_and_those_that_ask_less_get_it() {
    let mut leaf = Pcq { rate: 1_000_000, ..Pcq::default() }.leaf();
    let mut small = 0;
    let sent = leaf.send_at(100_000_000, Now(10 * SECOND), |leaf| {
        for station in 1..8 {
            while offer(leaf, station, 1, 1500) {}
        }
        while small * 20 * MS <= leaf.now.0 {
            offer(leaf, 9, 1, 500);
            small += 1;
        }
    });
    let sent = bits(&sent);
    for station in 1..8 {
        // 10 s, 10 ms at once, and the packet that reached below zero.
        assert!((9_990_000..=10_022_000).contains(&sent[&station]), "{station}: {}", sent[&station]);
    }
    // 4,000 bits each 20 ms.
    assert!(sent[&9] >= 1_990_000, "{}", sent[&9]);
}

#[test]
fn a_burst_lasts_until_the_average_reaches_the_threshold() {
    let mut leaf = Pcq { rate: 2_000_000, burst: (4_000_000, 1_500_000, 16_000), ..Pcq::default() }.leaf();
    let sent = leaf.send_at(1_000_000_000, Now(12 * SECOND), |leaf| while offer(leaf, 1, 1, 1500) {});
    // 1.5 × 16 / 4 = 6 s.
    for second in 0..12 {
        let bits: u64 =
            sent.iter().filter(|sent| sent.at.0 / SECOND == second).map(|sent| sent.bytes * 8).sum();
        let due = if second < 6 { 4_000_000 } else { 2_000_000 };
        assert!(bits.abs_diff(due) < 60_000, "second {second}: {bits}");
    }
}

#[test]
fn each_sub_queue_has_its_limit_and_all_of_them_together_another() {
    let mut leaf = Pcq { limit: 10_000, total_limit: 25_000, ..Pcq::default() }.leaf();
    let taken = |leaf: &mut Leaf, station| (0..20).filter(|_| offer(leaf, station, 1, 1000)).count();
    assert_eq!([1, 2, 3, 4].map(|station| taken(&mut leaf, station)), [10, 10, 5, 0]);
    assert_eq!((leaf.kind.bytes(), leaf.kind.sub_queues()), (25_000, 3));
}

#[test]
fn the_classifier_and_its_masks_tell_sub_queues_apart() {
    let sub_queues = |pcq: Pcq| {
        let mut leaf = pcq.leaf();
        for src in 0..8 {
            for port in 0..3 {
                offer(&mut leaf, src, port, 100);
            }
        }
        leaf.kind.sub_queues()
    };
    use PcqClassifier::{DstAddress, DstPort, SrcAddress, SrcPort};
    let by = |classifier| Pcq { classifier, ..Pcq::default() };
    assert_eq!(sub_queues(by(vec![SrcAddress])), 8);
    assert_eq!(sub_queues(by(vec![SrcAddress, SrcPort])), 24);
    assert_eq!(sub_queues(by(vec![SrcPort])), 3);
    assert_eq!(sub_queues(by(vec![DstAddress, DstPort])), 1);
    assert_eq!(sub_queues(Pcq { src_mask: 30, ..Pcq::default() }), 2);
    assert_eq!(sub_queues(Pcq { src_mask: 0, ..Pcq::default() }), 1);
}

#[test]
fn another_rate_holds_at_once_and_another_classifier_needs_another_queue() {
    let mut leaf = Pcq { rate: 8_000, ..Pcq::default() }.leaf();
    for _ in 0..20 {
        offer(&mut leaf, 1, 1, 1000);
    }
    leaf.next().unwrap();
    assert_eq!(leaf.next().unwrap_err().map(|at| at.0 > SECOND / 2), Some(true));
    assert!(leaf.kind.change(&Pcq { rate: 8_000_000, ..Pcq::default() }.config()));
    assert_eq!(leaf.drain_until(Now(SECOND / 20)).len(), 19);
    assert!(!leaf.kind.change(&Pcq { src_mask: 24, ..Pcq::default() }.config()));
}

#[test]
fn a_sub_queue_that_rests_keeps_its_debts_as_long_as_it_has_any() {
    // Each packet of 1,000 bytes takes a second.
    let mut leaf =
        Pcq { rate: 8_000, limit: 1000, classifier: vec![PcqClassifier::SrcPort], ..Pcq::default() }.leaf();
    let mut port = 10;
    let mut sent = 0;
    for step in 0..1000 {
        leaf.now = Now(step * 10 * MS);
        offer(&mut leaf, 1, 1, 1000);
        for _ in 0..3 {
            offer(&mut leaf, 2, port, 40);
            port += 1;
        }
        sent += leaf.drain_until(leaf.now).iter().filter(|sent| sent.frame.0[29] == 1).count();
    }
    assert!((10..=11).contains(&sent), "{sent} packets in 10 s");
}

#[test]
fn a_flood_of_new_sub_queues_is_not_remembered_for_ever() {
    let classifier = vec![PcqClassifier::SrcAddress, PcqClassifier::SrcPort];
    let burst = (16_000_000, 4_000_000, 3_600_000);
    let mut leaf = Pcq { rate: 8_000_000, burst, classifier, ..Pcq::default() }.leaf();
    let before = crate::qos::kind::Load::default();
    for src in 0..2 {
        for port in 0..20_000 {
            offer(&mut leaf, src, port, 40);
            leaf.next().unwrap();
        }
    }
    assert_eq!(leaf.kind.load(), before);
    let remembered = format!("{:?}", leaf.kind).matches("SubQueue {").count();
    assert!(remembered <= (1 << 14) + 2, "{remembered}");
}

#[test]
fn of_many_sub_queues_the_longest_pays_when_memory_runs_out() {
    let classifier = vec![PcqClassifier::SrcAddress, PcqClassifier::SrcPort];
    let mut leaf = Pcq { total_limit: 1 << 30, classifier, ..Pcq::default() }.leaf();
    for _ in 0..30 {
        offer(&mut leaf, 200, 1, 1500);
    }
    for src in 0..3 {
        for port in 0..40_000 {
            offer(&mut leaf, src, port, 40);
        }
    }
    assert_eq!(leaf.kind.sub_queues(), 120_001);
    // Those of 1,500 bytes go first, then one is as good as another. To look at all of them each time would take an
    // hour.
    let mut gone = NodeQueue::default();
    for drop in 0..100_000 {
        leaf.kind.drop_from_longest(&mut leaf.slab, &mut gone);
        let node = gone.pop(&mut leaf.slab).expect("one is dropped");
        let waiting = leaf.slab.remove(node).expect("a frame is given back once");
        assert_eq!(waiting.frame.0[29] == 200, drop < 30, "drop {drop}");
    }
    assert_eq!((leaf.kind.frames(), leaf.kind.sub_queues()), (20_030, 20_030));
}
