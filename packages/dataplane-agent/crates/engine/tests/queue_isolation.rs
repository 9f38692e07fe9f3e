//! One of 25,000 simple queues is edited and another one removed: what the others send, and when, stays what it was to
//! the nanosecond.

use std::collections::BTreeMap;

use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::port_mac;
use tollway_testkit::{Packet, Router, RouterConfig, queue};

const QUEUES: u32 = 25_000;
/// Hosts that send: one in so many, and their neighbours in the list.
const STEP: usize = 1_250;
const EDITED: u32 = 5_000;
const REMOVED: u32 = 5_001;
const MS: u64 = 1_000_000;

fn host(number: u32) -> String {
    format!("10.{}.{}.{}", 1 + number / 62_500, number / 250 % 250, 1 + number % 250)
}

fn router(workers: u32) -> Router {
    let config = RouterConfig::new()
        .interface("10.0.0.1/8")
        .interface("172.16.0.1/24")
        .route("0.0.0.0/0", "172.16.0.254")
        .neighbor(2, "172.16.0.254", "02:01:0a:02:00:fe", false)
        .with(|config| {
            let rate = |number: u32| 100_000 + u64::from(number % 7) * 50_000;
            config.simple_queues =
                (0..QUEUES).map(|number| queue(1 + number, &[&host(number)], rate(number), 0)).collect();
        });
    Router::with_workers(config, workers)
}

/// When which packets of each host left.
fn run(workers: u32, changes: bool) -> BTreeMap<u32, Vec<(u64, u16)>> {
    let mut router = router(workers);
    let senders: Vec<u32> = (0..QUEUES).step_by(STEP).flat_map(|first| [first, first + 1]).collect();
    let mut left: BTreeMap<u32, Vec<(u64, u16)>> = BTreeMap::new();
    let mut number = 0;
    for step in 0..60u64 {
        if changes && step == 20 {
            router.reconfigure(|config| {
                config.simple_queues[EDITED as usize].upload.max_limit = 3_000_000;
                config.simple_queues.remove(REMOVED as usize);
            });
        }
        let mut out = Vec::new();
        if step % 4 == 0 {
            for sent in senders.chunks(25) {
                number += 1;
                for worker in 0..workers {
                    let own = sent.iter().filter(|host| **host % workers == worker).flat_map(|host_number| {
                        (0..8).map(|again| {
                            let packet =
                                PacketBuilder::ipv4(&host(*host_number), "203.0.113.5").udp(4000, 53);
                            let packet = packet.ident(number * 8 + again).payload_len(600);
                            (0, packet.eth_dst(port_mac(0)).build(), VnetState::default())
                        })
                    });
                    out.extend(router.inject_batch(worker as usize, own.collect()));
                }
            }
        }
        out.extend(router.advance(20 * MS));
        for output in out {
            let packet = Packet::read(&output.bytes).expect("IPv4");
            let number = u16::from_be_bytes([output.bytes[18], output.bytes[19]]);
            left.entry(u32::from(packet.src)).or_default().push((step, number));
        }
    }
    assert!(router.stats().queues.queued_packets > 500, "queues should be at their limits");
    left
}

#[test]
fn editing_one_of_25_000_queues_and_removing_another_leaves_the_others_alone() {
    for workers in [1, 2] {
        let (mut with, mut without) = (run(workers, true), run(workers, false));
        for number in [EDITED, REMOVED] {
            let address = host(number).parse::<std::net::Ipv4Addr>().map(u32::from).expect("an address");
            assert_ne!(with.remove(&address), without.remove(&address), "the change does something");
        }
        assert_eq!(without.len(), 38, "each sends");
        assert!(with == without, "{workers} workers");
    }
}
