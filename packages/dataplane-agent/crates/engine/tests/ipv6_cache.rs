//! The oracle for IPv6: whatever the flow cache does, the stages would have done, with one worker and with several.
//!
//! Routers get the same random packets, one of them with `allow-fast-path=no`. Frames out and connections must be equal,
//! while routes and the configuration change.

use std::net::Ipv6Addr;

use tollway_config::dataplane::TrackingMode;
use tollway_engine::packet::verdict::DropReason;
use tollway_testkit::ipv6_packet::{host_mac6, ip6};
use tollway_testkit::packet::tcp_flag;
use tollway_testkit::random::Random;
use tollway_testkit::record::ConnectionRecord;
use tollway_testkit::router::port_mac;
use tollway_testkit::{Counter, Ipv6Builder, Output, Router, RouterConfig};

const HOSTS: [&str; 3] = ["2001:db8:1::10", "2001:db8:1::11", "2001:db8:1::12"];
const SERVERS: [&str; 3] = ["2001:db8:ff::1", "2001:db8:fe::1", "2001:db8:2::fe"];
const GATEWAYS: [&str; 2] = ["2001:db8:2::fe", "2001:db8:2::fd"];

fn config(random: &mut Random) -> RouterConfig {
    let config = RouterConfig::new()
        .interface("2001:db8:1::1/64")
        .interface("2001:db8:2::1/64")
        .address(1, "192.168.88.1/24")
        .address(2, "10.2.0.1/24")
        .route("::/0", GATEWAYS[0])
        .route("2001:db8:fe::/48", GATEWAYS[1])
        .with(|config| config.tracking.enabled = TrackingMode::Yes);
    if random.one_in(3) { config.trunk() } else { config }
}

fn router(config: RouterConfig, workers: u32, cache: bool) -> Router {
    let config = config.with(|config| config.settings.allow_fast_path = cache);
    let mut router = Router::with_workers(config, workers).hosts6(0, &HOSTS).hosts6(1, &GATEWAYS);
    router.advance_ms(1_100);
    // Later packets do not wait for their next hops.
    for (port, from, to) in [(1, SERVERS[0], &HOSTS[..]), (0, HOSTS[0], &SERVERS[..])] {
        for to in to {
            router.send6(port, &Ipv6Builder::new(from, to).udp(9, 9));
        }
        router.advance_ms(10);
    }
    router.moved();
    router
}

/// A flow between a host and a server.
struct Flow {
    ends: [&'static str; 2],
    ports: [u16; 2],
    protocol: u8,
    /// Next sequence numbers of both ends.
    seq: [u32; 2],
    packets: u32,
}

impl Flow {
    fn new(random: &mut Random) -> Self {
        let ends = [HOSTS[random.below(3) as usize], SERVERS[random.below(3) as usize]];
        let ports = [4000 + random.below(6) as u16, 80 + random.below(3) as u16];
        Self { ends, ports, protocol: [6, 17, 58][random.below(3) as usize], seq: [1_000, 9_000], packets: 0 }
    }

    /// The next packet: ingress port and packet.
    fn next(&mut self, random: &mut Random) -> (u16, Ipv6Builder) {
        let answers = match self.packets {
            0 => false,
            1 => true,
            _ => random.one_in(2),
        };
        let (from, to) = (usize::from(answers), usize::from(!answers));
        let len = [0, 1, 100, 1200][random.below(4) as usize];
        let builder = Ipv6Builder::new(self.ends[from], self.ends[to]);
        let mut packet = match (self.protocol, answers) {
            (6, _) => {
                let (flags, len) = match self.packets {
                    0 => (tcp_flag::SYN, 0),
                    1 => (tcp_flag::SYN | tcp_flag::ACK, 0),
                    _ if random.one_in(60) => (tcp_flag::FIN | tcp_flag::ACK, 0),
                    _ => (tcp_flag::ACK, len),
                };
                let (seq, ack) = (self.seq[from], if self.packets == 0 { 0 } else { self.seq[to] });
                let counted = flags & (tcp_flag::SYN | tcp_flag::FIN) != 0;
                self.seq[from] = seq.wrapping_add(len as u32 + u32::from(counted));
                builder.tcp(self.ports[from], self.ports[to], flags, seq, ack).payload_len(len)
            }
            (17, _) => builder.udp(self.ports[from], self.ports[to]).payload_len(len),
            (_, false) => builder.echo_request(self.ports[0], 1).payload_len(len),
            (_, true) => builder.echo_reply(self.ports[0], 1).payload_len(len),
        };
        self.packets += 1;
        if random.one_in(40) {
            packet = packet.hop_limit(1);
        }
        if random.one_in(60) {
            packet = packet.extension(60, &[0, 1, 4, 0, 0, 0, 0]);
        }
        (u16::from(answers), packet)
    }
}

/// What left, and by which way.
fn sent(outputs: Vec<Output>) -> Vec<(String, Vec<u8>)> {
    outputs.into_iter().map(|output| (format!("{:?}", output.to), output.bytes)).collect()
}

/// Connections without their ids; of the addresses the last four bytes.
fn connections(router: &Router) -> Vec<ConnectionRecord> {
    let mut records = router.connections();
    records.iter_mut().for_each(|record| record.id = 0);
    records.sort();
    records
}

fn fast(router: &mut Router) -> i64 {
    router.moved().get(&Counter::FastPath).copied().unwrap_or(0)
}

#[test]
fn the_flow_cache_forwards_ipv6_as_the_stages_do() {
    let mut cached = 0;
    for seed in 0..u64::from(tollway_testkit::cases(24)) {
        let mut random = Random::new(seed + 1);
        let config = config(&mut random).with(|config| config.settings.icmp_rate_limit_ms = 0);
        let mut routers =
            [(1, false), (1, true), (3, true)].map(|(workers, cache)| router(config.clone(), workers, cache));
        let mut flows: Vec<Flow> = (0..12).map(|_| Flow::new(&mut random)).collect();
        for step in 0..400 {
            let flow = random.below(12) as usize;
            if random.one_in(50) {
                flows[flow] = Flow::new(&mut random);
            }
            let (port, packet) = flows[flow].next(&mut random);
            let out = routers.each_mut().map(|router| sent(router.send6(port, &packet)));
            assert_eq!(out[0], out[1], "seed {seed}, step {step}: the cache");
            assert_eq!(out[0], out[2], "seed {seed}, step {step}: three workers");
            if random.one_in(40) {
                let gateway: Ipv6Addr = GATEWAYS[random.below(2) as usize].parse().unwrap();
                for router in &mut routers {
                    router.reconfigure(|config| {
                        if let Some(tollway_config::dataplane::RouteTarget::Gateway { address, .. }) =
                            config.routes.last_mut().map(|route| &mut route.target)
                        {
                            *address = gateway.into();
                        }
                    });
                }
            }
        }
        let [slow, one, three] = routers.each_ref().map(connections);
        assert!(!slow.is_empty());
        assert_eq!(slow, one, "seed {seed}");
        assert_eq!(slow, three, "seed {seed}");
        cached += fast(&mut routers[1]);
    }
    assert!(cached > 1_000, "{cached} packets by the flow cache");
}

#[test]
fn packets_of_one_batch_go_to_their_own_next_hops() {
    let mut router = router(config(&mut Random::new(9)), 1, true);
    for (server, gateway) in SERVERS.into_iter().zip([0, 1, 0]) {
        // The neighbours are known from here on.
        let out = router.send6(0, &Ipv6Builder::new(HOSTS[0], server).udp(1, 2));
        assert_eq!(out[0].ipv6().eth_dst, host_mac6(ip6(GATEWAYS[gateway]),));
    }
    let frames = SERVERS
        .into_iter()
        .map(|server| {
            (0, Ipv6Builder::new(HOSTS[1], server).udp(7, 8).eth_dst(port_mac(0)).build(), Default::default())
        })
        .collect();
    let macs: Vec<_> = router.inject_batch(0, frames).iter().map(|out| out.ipv6().eth_dst).collect();
    let mac = |gateway| host_mac6(ip6(GATEWAYS[gateway]));
    assert_eq!(macs, [mac(0), mac(1), mac(0)]);
    assert_eq!(router.moved().get(&Counter::Drop(DropReason::NoRoute)), None);
}
