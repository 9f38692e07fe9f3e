//! The queues of interfaces: what waits while a port takes nothing leaves when it takes packets again. What leaves by a VLAN
//! without queues enters those of the next interface below.

use tollway_config::dataplane::{
    Codel, InterfaceKind, InterfaceQueue, QueueType, RowId, TreeParent, TreeQueue,
};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::offload::Forwarder;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::{Output, port_mac};
use tollway_testkit::{Router, RouterConfig, queue_limit};

const HOST: &str = "192.168.88.10";
const SERVER: &str = "203.0.113.5";
const WAN: u16 = 1;

fn config(queue_type: QueueType) -> RouterConfig {
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false)
        .with(|config| {
            config.queue_types.push(queue_type);
            let queue_type = config.queue_types.len() as u32 - 1;
            config.interface_queues = vec![InterfaceQueue { interface: 2, queue_type }];
        })
}

fn fq_codel() -> QueueType {
    let codel =
        Codel { limit: 10_240, target_us: 5_000, interval_us: 100_000, ecn: false, ce_threshold_us: 0 };
    QueueType::FqCodel { codel, flows: 1024, quantum: 1514, memory_limit: 32 << 20 }
}

fn packets(numbers: std::ops::Range<u16>) -> Vec<(u16, Vec<u8>, VnetState)> {
    let packet = |number: u16| {
        let packet = PacketBuilder::ipv4(HOST, SERVER).udp(4000, 53).ident(number).payload_len(100);
        (0, packet.eth_dst(port_mac(0)).build(), VnetState::default())
    };
    numbers.map(packet).collect()
}

fn numbers(out: &[Output]) -> Vec<u16> {
    out.iter().map(|output| u16::from_be_bytes([output.bytes[18], output.bytes[19]])).collect()
}

#[test]
fn all_that_waited_for_a_port_leaves_without_another_packet() {
    for kind in [QueueType::Pfifo { limit: 200 }, fq_codel()] {
        let mut router = Router::new(config(kind.clone()));
        router.inject_batch(0, packets(0..1));
        router.set_port_blocked(0, WAN, true);
        assert!(router.inject_batch(0, packets(1..101)).is_empty());
        assert!(router.advance_ms(2).is_empty());
        router.set_port_blocked(0, WAN, false);
        assert_eq!(numbers(&router.advance(0)), (1..101).collect::<Vec<u16>>(), "{kind:?}");
        assert_eq!(router.deadline(), None, "nobody waits");
    }
}

#[test]
fn flows_before_an_interface_with_a_queue_are_not_forwarded_beside_the_engine() {
    for (kind, beside) in [(QueueType::None, true), (fq_codel(), false)] {
        let mut router = Router::new(config(kind));
        router.offloads = Some(Vec::new());
        let mut forwarder = Forwarder::default();
        for number in 0..5 {
            router.inject_batch(0, packets(number..number + 1));
            forwarder.look(&mut router);
        }
        assert_eq!(!forwarder.is_empty(), beside, "{beside}");
    }
}

/// Adds a tree of one queue, whose row is 100 more than that of its interface.
fn add_tree(trees: &mut Vec<TreeQueue>, interface: RowId) {
    let (row, parent) = (100 + interface, TreeParent::Interface { interface });
    trees.push(TreeQueue { row, parent, packet_marks: Vec::new(), limit: queue_limit(0) });
}

#[test]
fn a_packet_passes_the_tree_of_its_vlan_or_of_the_nearest_interface_below() {
    // ether2 is row 2; a VLAN on it row 3, and one on that row 4.
    let config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .vlan(2, 10, "")
        .vlan(3, 20, "10.4.0.1/24")
        .route("0.0.0.0/0", "10.4.0.254")
        .neighbor(4, "10.4.0.254", "02:01:0a:04:00:fe", false)
        .with(|config| config.queue_types = vec![QueueType::Pfifo { limit: 50 }]);
    let mut router = Router::new(config);
    let passed_by = |router: &mut Router| -> Vec<RowId> {
        let out = router.inject_batch(0, packets(0..1));
        assert_eq!(out.iter().filter(|output| !output.own).count(), 1, "{out:?}");
        let passed = router.reset_queue_counters(&[]);
        passed.iter().filter(|queue| queue.others[1].packets != 0).map(|queue| queue.row).collect()
    };
    assert!(passed_by(&mut router).is_empty());
    for (interface, row) in [(1, vec![]), (2, vec![102]), (3, vec![103]), (4, vec![104])] {
        router.reconfigure(|config| add_tree(&mut config.tree_queues, interface));
        assert_eq!(passed_by(&mut router), row, "with a tree below interface {interface}");
    }
    for row in [103, 102] {
        router.reconfigure(|config| drop(config.tree_queues.pop()));
        assert_eq!(passed_by(&mut router), [row]);
    }
    // The VLAN below moves to the other port; its tree is that of row 1.
    router.reconfigure(|config| {
        let InterfaceKind::Vlan { parent, .. } = &mut config.interfaces[2].kind else { panic!("a VLAN") };
        *parent = 1;
    });
    assert_eq!(passed_by(&mut router), [101]);
}
