//! A tree below an interface whose port takes nothing for a while: its leaves wait without sending, share by what they
//! are guaranteed when it goes on, and never exceed rate and bucket, in windows of 1 ms, 10 ms and 1 s.

use std::collections::BTreeMap;

use tollway_config::dataplane::{Action, QueueType, TreeParent, TreeQueue};
use tollway_config::protocol::TOKEN_BUCKET_RECORD;
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::{Output, port_mac};
use tollway_testkit::{Packet, Router, RouterConfig, queue_limit, rule};

const WAN: u16 = 1;
const ROOT: u32 = 900;
/// Guarantees of the leaves, bits/s.
const GUARANTEES: [u64; 3] = [6_000_000, 2_000_000, 2_000_000];
const RATE: u64 = 10_000_000;
const BUCKET_MS: u32 = 10;
const LEN: u64 = 1000;

fn host(number: usize) -> String {
    format!("192.168.88.{}", 10 + number)
}

fn router() -> Router {
    let mut config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false)
        .with(|config| {
            config.queue_types = vec![QueueType::Pfifo { limit: 2_000 }];
            let mut root = queue_limit(RATE);
            root.bucket_ms = BUCKET_MS;
            let leaf = |at: usize| {
                let mut limit = root;
                limit.limit_at = GUARANTEES[at];
                let (row, parent) = (ROOT + 1 + at as u32, TreeParent::Queue { row: ROOT });
                TreeQueue { row, parent, packet_marks: vec![1 + at as u32], limit }
            };
            config.tree_queues = (0..3).map(leaf).collect();
            let parent = TreeParent::Interface { interface: 2 };
            config.tree_queues.push(TreeQueue { row: ROOT, parent, packet_marks: Vec::new(), limit: root });
        });
    for at in 0..3 {
        let action = Action::MarkPacket { mark: 1 + at as u32, passthrough: false };
        config = config.mangle("forward", rule().src(&host(at)).then(action));
    }
    Router::new(config)
}

fn offer(router: &mut Router, packets: u16) -> Vec<Output> {
    let mut out = Vec::new();
    for at in 0..3 {
        for _ in 0..packets / 100 {
            let packet =
                PacketBuilder::ipv4(&host(at), "203.0.113.5").udp(4000, 53).payload_len(LEN as usize - 28);
            let frame = (0, packet.eth_dst(port_mac(0)).build(), VnetState::default());
            out.extend(router.inject_batch(0, vec![frame; 100]));
        }
    }
    out
}

fn bits(out: &[Output]) -> [u64; 3] {
    let mut bits = [0; 3];
    for output in out {
        let packet = Packet::read(&output.bytes).expect("IPv4");
        bits[usize::from(packet.src.octets()[3]) - 10] += LEN * 8;
    }
    bits
}

/// Bytes that passed and waited in each millisecond of the first direction.
fn readings(router: &mut Router, row: u32) -> BTreeMap<u64, (u64, u64)> {
    let records = router.token_bucket(0, row, 0);
    let read = |record: &[u8]| {
        let number = u64::from_le_bytes(record[..8].try_into().expect("eight bytes"));
        let value = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().expect("four bytes"));
        (number, (u64::from(value(8)), u64::from(value(16))))
    };
    records.chunks_exact(TOKEN_BUCKET_RECORD).map(read).collect()
}

#[test]
fn leaves_wait_for_a_blocked_port_and_share_six_to_two_to_two_afterwards() {
    let mut router = router();
    offer(&mut router, 100);
    for leaf in 1..=3 {
        router.token_bucket(0, ROOT + leaf, 0);
    }
    router.advance_ms(1_000);
    router.set_port_blocked(0, WAN, true);
    assert!(offer(&mut router, 1_200).is_empty());
    let blocked_from = router.now().0 / 1_000_000;
    assert!(router.advance_ms(200).is_empty(), "nothing is served while the port takes nothing");
    let blocked_until = router.now().0 / 1_000_000;
    router.set_port_blocked(0, WAN, false);
    let first = bits(&router.advance_ms(200));
    let then = bits(&router.advance_ms(1_000));
    for (share, guarantee) in then.iter().zip(GUARANTEES) {
        assert!(share.abs_diff(guarantee) <= guarantee / 50, "{then:?}");
    }
    let bucket = RATE * u64::from(BUCKET_MS) / 1000;
    let most = RATE / 5 + bucket + 3 * LEN * 8;
    assert!(first.iter().sum::<u64>() <= most, "no more than a bucket is made up for: {first:?}");

    for (leaf, guarantee) in (1..).zip(GUARANTEES) {
        let readings = readings(&mut router, ROOT + leaf);
        let in_window = |from: u64, ms: u64| -> u64 {
            readings.range(from..from + ms).map(|(_, (passed, _))| passed * 8).sum()
        };
        for (number, (passed, waiting)) in readings.range(blocked_from + 1..blocked_until) {
            assert_eq!(*passed, 0, "leaf {leaf}, {number} ms");
            assert_eq!(*waiting, 1_200 * LEN, "leaf {leaf}, {number} ms");
        }
        assert!(readings.range(blocked_from + 1..blocked_until).count() > 190, "it is seen to wait");
        let end = blocked_until + 1_200;
        for ms in [1, 10, 1_000] {
            for from in blocked_until..=end - ms {
                let bound = RATE * ms / 1000 + bucket + LEN * 8;
                assert!(in_window(from, ms) <= bound, "leaf {leaf}: {ms} ms from {from}");
            }
        }
        let second = in_window(end - 1_000, 1_000);
        assert!(second.abs_diff(guarantee) <= guarantee / 50, "leaf {leaf}: {second}");
    }
}
