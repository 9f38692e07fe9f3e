//! Every queue kind behind a simple queue: the rate holds whatever decides who waits.

use tollway_config::dataplane::{
    Cake, CakeAckFilter, CakeAtm, CakeDiffserv, CakeFlowmode, Codel, PcqClassifier, QueueType,
};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::port_mac;
use tollway_testkit::{Router, RouterConfig, rule};

const SERVER: &str = "203.0.113.5";
const RATE: u64 = 9_000_000;
const LEN: usize = 1250;
const HOSTS: [&str; 3] = ["192.168.88.10", "192.168.88.11", "192.168.88.12"];
/// Packets of each host per millisecond, in sixteenths: 4, 8 and 16 Mbit/s.
const OFFERED: [u32; 3] = [6, 13, 26];

fn upload(host: &str, port: u16, ident: u16) -> (u16, Vec<u8>, VnetState) {
    let packet = PacketBuilder::ipv4(host, SERVER).udp(port, 53).ident(ident).payload_len(LEN - 28);
    (0, packet.eth_dst(port_mac(0)).build(), VnetState::default())
}

fn codel(limit: u32) -> Codel {
    Codel { limit, target_us: 5_000, interval_us: 100_000, ecn: true, ce_threshold_us: 0 }
}

fn kinds() -> Vec<(&'static str, QueueType)> {
    let cake = Cake {
        bandwidth: 0,
        autorate_ingress: false,
        overhead: 0,
        mpu: 0,
        atm: CakeAtm::None,
        rtt_us: 100_000,
        diffserv: CakeDiffserv::Besteffort,
        flowmode: CakeFlowmode::DualSrchost,
        nat: true,
        wash: false,
        ack_filter: CakeAckFilter::None,
        memory_limit: 0,
    };
    let pcq = QueueType::Pcq {
        rate: 0,
        limit: 50 << 10,
        total_limit: 2000 << 10,
        classifier: vec![PcqClassifier::SrcAddress],
        burst_rate: 0,
        burst_threshold: 0,
        burst_time_ms: 10_000,
        src_address_mask: 32,
        dst_address_mask: 32,
        src_address6_mask: 128,
        dst_address6_mask: 128,
    };
    vec![
        ("none", QueueType::None),
        ("pfifo", QueueType::Pfifo { limit: 50 }),
        ("bfifo", QueueType::Bfifo { limit: 15_000 }),
        ("mq-pfifo", QueueType::MqPfifo { limit: 50 }),
        (
            "red",
            QueueType::Red { limit: 60, min_threshold: 10, max_threshold: 50, burst: 20, avg_packet: 1000 },
        ),
        ("sfq", QueueType::Sfq { perturb_s: 5, allot: 1514 }),
        ("pcq", pcq),
        ("codel", QueueType::Codel(codel(1000))),
        (
            "fq-codel",
            QueueType::FqCodel { codel: codel(10_240), flows: 1024, quantum: 1514, memory_limit: 32 << 20 },
        ),
        ("cake", QueueType::Cake(cake)),
    ]
}

/// Bits/s that passed of each host in five seconds.
fn passed(kind: &QueueType, workers: u32) -> Vec<f64> {
    let mut config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false)
        .nat("srcnat", rule().out_interface(2).masquerade())
        .queue(&["192.168.88.0/24"], RATE, RATE)
        .with(|config| {
            config.simple_queues[0].upload.queue_type = config.queue_types.len() as u32;
            config.queue_types.push(kind.clone());
        });
    for (host, last) in HOSTS.iter().zip(10..) {
        let mac = format!("02:01:c0:a8:58:{last:02x}");
        config = config.neighbor(1, host, &mac, false);
    }
    let mut router = Router::with_workers(config, workers);
    let mut due = [0u32; 3];
    let mut bits = vec![0u64; HOSTS.len()];
    for ms in 0..7_000u32 {
        for (at, host) in HOSTS.iter().enumerate() {
            due[at] += OFFERED[at];
            let frames: Vec<_> =
                (0..due[at] / 16).map(|_| upload(host, 4000 + at as u16, ms as u16)).collect();
            due[at] %= 16;
            let worker = at % workers as usize;
            let mut out = router.inject_batch(worker, frames);
            out.extend(router.advance(333_333));
            if ms >= 2_000 {
                for output in &out {
                    let port = output.packet().ports.0;
                    bits[usize::from(port - 4000)] += (output.bytes.len() as u64 - 14) * 8;
                }
            }
        }
    }
    bits.into_iter().map(|bits| bits as f64 / 5.0).collect()
}

#[test]
fn every_kind_lets_pass_what_the_limit_says_and_no_more() {
    for (name, kind) in kinds() {
        let rates = passed(&kind, 1 + u32::from(name == "pcq"));
        let sum: f64 = rates.iter().sum();
        let limit = RATE as f64;
        assert!(sum >= limit * 0.99 && sum <= limit + 20_000.0, "{name}: {rates:?}");
        if ["sfq", "pcq", "fq-codel", "cake"].contains(&name) {
            let fair = |rate: &f64| (rate / (limit / 3.0) - 1.0).abs() < 0.02;
            assert!(rates.iter().all(fair), "{name}: {rates:?}");
        }
    }
}
