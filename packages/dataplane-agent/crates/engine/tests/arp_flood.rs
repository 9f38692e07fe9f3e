//! ARP floods: stations that do not exist ask and are asked for, a quarter of a million of them, while flows run.

use std::net::Ipv4Addr;

use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::{PacketBuilder, arp_frame};
use tollway_testkit::router::{To, host_mac, port_mac};
use tollway_testkit::{Router, RouterConfig};

const LIMIT: u32 = 512;
const SENDERS: u32 = 250_000;
const FLOWS: u32 = 64;

/// A host of the first network.
fn host(number: u32) -> u32 {
    0x0a00_0100 + number
}

fn flooded() -> Router {
    let config = RouterConfig::new()
        .interface("10.0.0.1/8")
        .interface("192.168.1.1/24")
        .with(|config| config.settings.max_neighbor_entries = LIMIT);
    let names: Vec<_> = (0..FLOWS).map(|number| Ipv4Addr::from_bits(host(number)).to_string()).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let mut router = Router::with_workers(config, 2).hosts(0, &names).hosts(1, &["192.168.1.2"]);
    assert_eq!(pass(&mut router), 2 * FLOWS as usize);
    router
}

/// A packet of each flow in both directions; says how many arrive.
fn pass(router: &mut Router) -> usize {
    let mut arrived = 0;
    for number in 0..FLOWS {
        let server = 0xc0a8_0102;
        let there = PacketBuilder::ipv4_bits(host(number), server).udp(4000, 53);
        let back = PacketBuilder::ipv4_bits(server, host(number)).udp(53, 4000);
        for (port, packet) in [(0, there), (1, back)] {
            let out = router.send(port, &packet);
            arrived += out.iter().filter(|output| output.to == To::Port(1 - port)).count();
        }
    }
    arrived
}

fn known(router: &Router) -> usize {
    router.shared().neighbors(router.snapshot()).len()
}

/// Frames of the flood, by number.
fn run(router: &mut Router, frame: impl Fn(u32) -> Vec<u8>) {
    let (mut lost, mut passes) = (0, 0);
    for batch in 0..SENDERS / 250 {
        let frames = (batch * 250..(batch + 1) * 250).map(|number| (0, frame(number), VnetState::default()));
        router.inject_batch(batch as usize % 2, frames.collect());
        assert!(known(router) <= LIMIT as usize);
        // 250 s for all, so that what is known of the flows' hosts runs out several times.
        router.advance_ms(250);
        if batch % 4 == 0 {
            lost += 2 * FLOWS as usize - pass(router);
            passes += 1;
        }
    }
    assert_eq!((lost, passes), (0, 250));
}

#[test]
fn stations_that_ask_push_out_no_neighbour_in_use() {
    let mut router = flooded();
    run(&mut router, |number| {
        let address = 0x0a80_0000 + number;
        let request = tollway_wire::arp::Repr {
            operation: tollway_wire::arp::REQUEST,
            sender_mac: host_mac(address),
            sender_addr: address,
            target_mac: [0; 6],
            target_addr: 0x0a00_0001,
        };
        let mut frame = arp_frame([0xff; 6], request);
        frame[6..12].copy_from_slice(&host_mac(address));
        frame
    });
    assert_eq!(known(&router), LIMIT as usize / 2, "the flood fills what one interface may have");
}

#[test]
fn stations_that_are_asked_for_push_out_no_neighbour_in_use() {
    let mut router = flooded();
    run(&mut router, |number| {
        let packet = PacketBuilder::ipv4_bits(0x0a00_00ff, 0x0a80_0000 + number).udp(1, 2);
        packet.eth_dst(port_mac(0)).build()
    });
    assert_eq!(known(&router), LIMIT as usize / 2, "the flood fills what one interface may have");
}
