//! Queues count the TCP segments that come to them out of order: those that begin below the highest sequence number
//! that their connection has sent in their direction before.

use tollway_config::dataplane::TrackingMode;
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::port_mac;
use tollway_testkit::{Router, RouterConfig, queue};
use tollway_wire::tcp::flag::{ACK, FIN, PSH, SYN};

const HOST: &str = "192.168.88.10";
const OTHER: &str = "192.168.88.11";
const SERVER: &str = "203.0.113.5";
const DATA: u32 = 1_000;

/// Queues of two hosts, the first of which has a total too, and shares a parent that has no packets of its own.
fn config() -> RouterConfig {
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .neighbor(1, HOST, "02:01:c0:a8:58:0a", false)
        .neighbor(1, OTHER, "02:01:c0:a8:58:0b", false)
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false)
        .with(|config| {
            config.tracking.enabled = TrackingMode::Yes;
            config.simple_queues = vec![queue(1, &[HOST], 0, 0), queue(2, &[OTHER], 0, 0)];
        })
}

/// One connection, of which each end counts its bytes from 1.
struct Connection {
    host: &'static str,
    port: u16,
    /// Worker at which its packets arrive.
    worker: usize,
}

impl Connection {
    fn opened(router: &mut Router, host: &'static str, port: u16, worker: usize) -> Self {
        let connection = Self { host, port, worker };
        connection.up(router, SYN, 0, 0);
        connection.down(router, SYN | ACK, 0, 0);
        connection.up(router, ACK, 1, 0);
        connection
    }

    fn up(&self, router: &mut Router, flags: u8, seq: u32, len: u32) -> usize {
        let packet =
            PacketBuilder::ipv4(self.host, SERVER).tcp(self.port, 80, flags, seq, u32::from(flags != SYN));
        self.send(router, 0, packet, len)
    }

    fn down(&self, router: &mut Router, flags: u8, seq: u32, len: u32) -> usize {
        let packet = PacketBuilder::ipv4(SERVER, self.host).tcp(80, self.port, flags, seq, 1);
        self.send(router, 1, packet, len)
    }

    fn send(&self, router: &mut Router, port: u16, packet: PacketBuilder, len: u32) -> usize {
        let packet = packet.window(65_000).payload_len(len as usize).eth_dst(port_mac(port));
        router.inject_batch(self.worker, vec![(port, packet.build(), VnetState::default())]).len()
    }

    /// Data upwards, by the number of the segment.
    fn data(&self, router: &mut Router, numbers: &[u32]) {
        for number in numbers {
            assert_eq!(self.up(router, ACK | PSH, 1 + number * DATA, DATA), 1, "segment {number} passes");
        }
    }
}

/// What is counted of upload and download of a row.
fn counted(router: &Router, row: usize) -> (u64, u64) {
    let [up, down] = router.queues()[row].directions;
    (up.out_of_order, down.out_of_order)
}

#[test]
fn segments_in_order_and_plain_acknowledgements_count_nothing() {
    let mut router = Router::new(config());
    let connection = Connection::opened(&mut router, HOST, 4000, 0);
    connection.data(&mut router, &[0, 1, 2, 3]);
    for _ in 0..3 {
        connection.down(&mut router, ACK, 1, 0);
        connection.up(&mut router, ACK, 1, 0);
    }
    connection.up(&mut router, FIN | ACK, 1 + 4 * DATA, 0);
    assert_eq!((counted(&router, 0), router.stats().out_of_order), ((0, 0), 0));
    assert!(router.stats().flow_cache_forwarded.packets > 4, "the flow cache took them");
}

#[test]
fn what_is_overtaken_or_sent_again_is_counted_at_its_queue_in_its_direction() {
    let mut router = Router::new(config());
    let connection = Connection::opened(&mut router, HOST, 4000, 0);
    // 1 is overtaken by 2 and 3, of which one is enough; 5 comes twice.
    connection.data(&mut router, &[0, 2, 3, 1, 4, 5, 5]);
    assert_eq!(counted(&router, 0), (2, 0));
    connection.down(&mut router, ACK, 1, DATA);
    connection.down(&mut router, ACK, 1, DATA);
    assert_eq!(counted(&router, 0), (2, 1));
    // What begins below the highest number counts, however far it reaches.
    connection.up(&mut router, ACK, 1 + 5 * DATA, 2 * DATA / 2 + 100);
    assert_eq!(counted(&router, 0), (3, 1));
    // SYN and FIN have a sequence number too.
    connection.up(&mut router, FIN | ACK, 101 + 6 * DATA, 0);
    assert_eq!(counted(&router, 0), (3, 1));
    connection.up(&mut router, FIN | ACK, 101 + 6 * DATA, 0);
    assert_eq!(counted(&router, 0), (4, 1));
    assert_eq!(counted(&router, 1), (0, 0), "another host's queue");
    assert_eq!(router.stats().out_of_order, 5);
}

#[test]
fn a_first_segment_that_is_sent_again_counts() {
    let mut router = Router::new(config());
    let connection = Connection { host: HOST, port: 4000, worker: 0 };
    for _ in 0..3 {
        connection.up(&mut router, SYN, 0, 0);
    }
    assert_eq!(counted(&router, 0), (2, 0));
}

#[test]
fn segments_that_wait_or_find_no_room_count_once() {
    let mut router = Router::new(config());
    router.reconfigure(|config| {
        config.simple_queues[0].upload.max_limit = 1_000_000;
        config.simple_queues[0].upload.bucket_ms = 10;
    });
    let connection = Connection::opened(&mut router, HOST, 4000, 0);
    let segment = |number: u32| {
        let packet = PacketBuilder::ipv4(HOST, SERVER).tcp(4000, 80, ACK, 1 + number * DATA, 1);
        (0, packet.window(65_000).payload_len(1_000).eth_dst(port_mac(0)).build(), VnetState::default())
    };
    router.inject_batch(connection.worker, (0..60).chain(0..60).map(segment).collect());
    router.advance_ms(2_000);
    let upload = router.queues()[0].directions[0];
    assert!(upload.dropped > 0 && upload.packets > 2, "{upload:?}");
    assert_eq!(upload.out_of_order, 60);
}

#[test]
fn reset_counters_sets_it_to_zero() {
    let mut router = Router::new(config());
    let connection = Connection::opened(&mut router, HOST, 4000, 0);
    let other = Connection::opened(&mut router, OTHER, 4001, 0);
    for connection in [&connection, &other] {
        connection.data(&mut router, &[0, 1, 0]);
    }
    assert_eq!((counted(&router, 0), counted(&router, 1)), ((1, 0), (1, 0)));
    router.reset_queue_counters(&[1]);
    assert_eq!((counted(&router, 0), counted(&router, 1)), ((0, 0), (1, 0)));
    connection.data(&mut router, &[0]);
    assert_eq!(counted(&router, 0), (1, 0));
}

/// Whichever worker a segment arrives at, has its flow, and has its queue: it is counted once.
#[test]
fn several_workers_count_each_segment_once() {
    for workers in 2..=4 {
        let mut router = Router::with_workers(config(), workers);
        let connections: Vec<_> = (0..8)
            .map(|number| {
                Connection::opened(&mut router, HOST, 4000 + number, usize::from(number) % workers as usize)
            })
            .collect();
        for connection in &connections {
            connection.data(&mut router, &[0, 2, 1, 1, 3, 3]);
        }
        assert_eq!(counted(&router, 0), (8 * 3, 0), "{workers} workers");
        assert!(router.stats().handover_packets > 0);
        router.reset_queue_counters(&[]);
        assert_eq!(counted(&router, 0), (0, 0));
    }
}

/// Queues on the way of a segment each count it, and one with children does not.
#[test]
fn every_queue_of_a_way_counts_what_comes_to_the_first() {
    let mut config = config();
    config = config.with(|config| {
        config.simple_queues[0].parent = Some(3);
        config.simple_queues[0].total = Some(config.simple_queues[0].upload);
        config.simple_queues.push(queue(3, &["192.168.88.0/24"], 0, 0));
    });
    let mut router = Router::new(config);
    let connection = Connection::opened(&mut router, HOST, 4000, 0);
    connection.data(&mut router, &[0, 1, 0]);
    connection.down(&mut router, ACK, 1, DATA);
    connection.down(&mut router, ACK, 1, DATA);
    assert_eq!(counted(&router, 0), (1, 1));
    assert_eq!(router.queues()[0].others[0].out_of_order, 2, "the total");
    assert_eq!(counted(&router, 2), (0, 0), "the parent");
}

#[test]
fn without_connection_tracking_nothing_is_counted() {
    let mut router = Router::new(config().with(|config| {
        config.tracking.enabled = TrackingMode::No;
    }));
    let connection = Connection { host: HOST, port: 4000, worker: 0 };
    connection.data(&mut router, &[0, 1, 0]);
    assert_eq!((counted(&router, 0), router.stats().out_of_order), ((0, 0), 0));
}
