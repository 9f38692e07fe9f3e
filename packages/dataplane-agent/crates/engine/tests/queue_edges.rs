//! Packets that wait in queues while what they wait for, or leave by, changes.

use std::collections::BTreeMap;

use tollway_config::dataplane::{InterfaceQueue, PcqClassifier, QueueType};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::port_mac;
use tollway_testkit::{Router, RouterConfig, queue};

const HOST: &str = "192.168.88.10";
const SERVER: &str = "203.0.113.5";

/// The server's gateway answers ARP only when it is put there.
fn config() -> RouterConfig {
    RouterConfig::new().interface("192.168.88.1/24").interface("10.2.0.1/24").route("0.0.0.0/0", "10.2.0.254")
}

fn with_gateway() -> RouterConfig {
    config().neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false)
}

fn packets(host: &str, count: u16) -> Vec<(u16, Vec<u8>, VnetState)> {
    let packet = |ident| {
        let packet = PacketBuilder::ipv4(host, SERVER).udp(4000, 53).ident(ident).payload_len(972);
        (0, packet.eth_dst(port_mac(0)).build(), VnetState::default())
    };
    (0..count).map(packet).collect()
}

fn passed(router: &Router, row: u32) -> u64 {
    router.queues().iter().find(|record| record.row == row).map_or(0, |record| record.directions[0].packets)
}

#[test]
fn packets_that_waited_for_a_neighbor_go_by_the_queue_they_have_by_then() {
    for workers in [1, 2] {
        for before in [None, Some(5000), Some(5001), Some(5002), Some(5003)] {
            for after in [None, Some(5000), Some(5001), Some(5002), Some(5003)] {
                let with = |row: Option<u32>| row.map(|row| queue(row, &[HOST], 80_000, 0)).into_iter();
                let mut queues: Vec<_> = with(before).collect();
                queues.push(queue(4000, &["192.168.88.99"], 80_000, 0));
                let mut router =
                    Router::with_workers(config().with(|config| config.simple_queues = queues), workers);
                router.inject_batch(0, packets(HOST, 3));
                assert_eq!(router.stats().held, 3);
                router.reconfigure(|config| config.simple_queues = with(after).collect());
                let mut router = router.hosts(1, &["10.2.0.254"]);
                let out = router.advance_ms(3_000);
                assert_eq!(out.len(), 3, "{before:?} {after:?} {workers}");
                assert_eq!(router.stats().held, 0);
                if let Some(row) = after {
                    assert_eq!(passed(&router, row), 3, "{before:?} {after:?} {workers}");
                }
            }
        }
    }
}

#[test]
fn a_worker_whose_queues_have_all_become_others_sleeps() {
    let hosts: Vec<String> = (10..40).map(|host| format!("192.168.88.{host}")).collect();
    let slow = hosts.iter().fold(with_gateway(), |config, host| config.queue(&[host], 80_000, 0));
    let mut router = Router::new(slow.with(|config| {
        for queue in &mut config.simple_queues {
            queue.upload.bucket_ms = 0;
        }
    }));
    for host in &hosts {
        router.inject_batch(0, packets(host, 41));
    }
    // Every queue may send all it has, more than go at a time.
    router.reconfigure(|config| {
        for queue in &mut config.simple_queues {
            queue.upload.max_limit = 0;
        }
    });
    let held = router.stats().held;
    assert!(held > 1000, "{held}");
    router.inject_batch(0, packets("192.168.88.200", 1));
    router.reconfigure(|config| {
        for (queue, host) in config.simple_queues.iter_mut().zip(hosts.iter().rev()) {
            *queue = tollway_testkit::queue(queue.row, &[host], 80_000, 0);
        }
    });
    router.advance(0);
    assert_eq!(router.stats().held, 0);
    assert_eq!(router.deadline(), None, "at {:?}", router.now());
}

#[test]
fn what_waits_does_not_leave_by_an_interface_that_was_disabled() {
    let mut router = Router::new(with_gateway().queue(&[HOST], 800_000, 0));
    let out = router.inject_batch(0, packets(HOST, 30)).len() as u64;
    let held = router.stats().held;
    assert!(held > 10);
    assert_eq!(out + held, 30);
    router.reconfigure(|config| config.interfaces[1].disabled = true);
    assert_eq!(router.advance_ms(5_000).len(), 0);
    let stats = router.stats();
    let drops: Vec<_> = stats.drop_stats().into_iter().map(|drop| (drop.reason, drop.packets)).collect();
    assert_eq!((stats.held, drops), (0, vec![("out-interface-down".to_owned(), held)]));
    // The same for those whose queue goes with it.
    let mut router = Router::new(with_gateway().queue(&[HOST], 800_000, 0));
    router.inject_batch(0, packets(HOST, 30));
    router.reconfigure(|config| {
        config.interfaces[1].disabled = true;
        config.simple_queues.clear();
    });
    assert_eq!(router.advance_ms(5_000).len(), 0);
    assert_eq!(router.stats().held, 0);
}

#[test]
fn the_queue_of_an_interface_tells_hosts_apart_also_those_of_the_slow_path() {
    let pcq = QueueType::Pcq {
        rate: 1_000_000,
        limit: 50_000,
        total_limit: 1 << 20,
        classifier: vec![PcqClassifier::SrcAddress],
        burst_rate: 0,
        burst_threshold: 0,
        burst_time_ms: 10_000,
        src_address_mask: 32,
        dst_address_mask: 32,
        src_address6_mask: 128,
        dst_address6_mask: 128,
    };
    for fast in [true, false] {
        let mut router = Router::new(with_gateway().with(|config| {
            config.settings.allow_fast_path = fast;
            config.interface_queues =
                vec![InterfaceQueue { interface: 2, queue_type: config.queue_types.len() as u32 }];
            config.queue_types.push(pcq.clone());
        }));
        let mut went = BTreeMap::<_, usize>::new();
        let hosts = ["192.168.88.10", "192.168.88.11", "192.168.88.12"];
        let mut out: Vec<_> =
            hosts.iter().flat_map(|host| router.inject_batch(0, packets(host, 30))).collect();
        out.extend(router.advance_ms(100));
        for output in out {
            *went.entry(output.packet().src).or_default() += 1;
        }
        // 10 and 100 ms of the rate, and what reached below zero.
        let each: Vec<usize> = went.into_values().collect();
        assert_eq!(each, [14, 14, 14], "fast path: {fast}");
    }
}
