//! The queues of interfaces: what waits while a port takes nothing leaves when it takes packets again.

use tollway_config::dataplane::{Codel, InterfaceQueue, QueueType};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::offload::Forwarder;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::{Output, port_mac};
use tollway_testkit::{Router, RouterConfig};

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
