//! The oracle for IPv6: whatever the flow cache does, the stages would have done, with one worker and with several.
//!
//! Routers get the same random packets, one of them with `allow-fast-path=no`. Frames out and connections must be equal,
//! while routes and the configuration change.

use std::net::Ipv6Addr;

use tollway_config::dataplane::{Action, ConnectionState, Matcher, RejectWith, TrackingMode};
use tollway_engine::packet::verdict::DropReason;
use tollway_testkit::config::range;
use tollway_testkit::ipv6_packet::{host_mac6, ip6};
use tollway_testkit::packet::tcp_flag;
use tollway_testkit::random::Random;
use tollway_testkit::record::ConnectionRecord;
use tollway_testkit::router::{To, port_mac};
use tollway_testkit::{Counter, Ipv6Builder, Ipv6Packet, Output, Router, RouterConfig, rule};

const HOSTS: [&str; 3] = ["2001:db8:1::10", "2001:db8:1::11", "2001:db8:1::12"];
const SERVERS: [&str; 3] = ["2001:db8:ff::1", "2001:db8:fe::1", "2001:db8:2::fe"];
const GATEWAYS: [&str; 2] = ["2001:db8:2::fe", "2001:db8:2::fd"];

fn routed() -> RouterConfig {
    RouterConfig::new()
        .interface("2001:db8:1::1/64")
        .interface("2001:db8:2::1/64")
        .address(1, "192.168.88.1/24")
        .address(2, "10.2.0.1/24")
        .route("::/0", GATEWAYS[0])
        .route("2001:db8:fe::/48", GATEWAYS[1])
        .with(|config| config.tracking.enabled = TrackingMode::Yes)
}

fn config(random: &mut Random) -> RouterConfig {
    let config = with_rules(routed(), random);
    if random.one_in(3) { config.trunk() } else { config }
}

/// Rules of every table, or of some.
fn with_rules(mut config: RouterConfig, random: &mut Random) -> RouterConfig {
    const KNOWN: &[ConnectionState] = &[ConnectionState::Established, ConnectionState::Related];
    config = config.ipv6_address_list("some", &["2001:db8:1::10", "2001:db8:fe::/48"]);
    let listed = Matcher::SrcAddressList { list: 0, negate: false };
    let answered = Matcher::DstAddressList { list: 0, negate: true };
    if random.one_in(2) {
        let pushed = rule().protocol(6).tcp_flags(tcp_flag::PSH, 0);
        let note = Action::AddDstToAddressList { list: 0, timeout_ms: 60_000 };
        config = config
            .ipv6_filter("forward", rule().matcher(listed).passthrough())
            .ipv6_filter("forward", pushed.passthrough())
            .ipv6_filter("forward", rule().state(KNOWN).accept())
            .ipv6_filter("forward", rule().dst("2001:db8:ff::/64").protocol(17).dst_port(81).then(note))
            .ipv6_filter("forward", rule().matcher(answered).protocol(17).dst_port(82).drop())
            .ipv6_filter("forward", rule().protocol(6).dst_port(82).reject(RejectWith::TcpReset))
            .ipv6_filter("forward", rule().protocol(58).src("2001:db8:1::12").reject(RejectWith::IcmpNoRoute))
            .ipv6_filter("forward", rule().in_interface(2).drop());
    }
    if random.one_in(2) {
        let small = Matcher::PacketSize { from: 0, to: 100, negate: false };
        config = config
            .ipv6_mangle(
                "prerouting",
                rule().protocol(6).then(Action::MarkConnection { mark: 3, passthrough: true }),
            )
            .ipv6_mangle(
                "forward",
                rule().in_interface(1).then(Action::ChangeDscp { dscp: 46, passthrough: true }),
            );
        if random.one_in(2) {
            config = config.ipv6_mangle("postrouting", rule().matcher(small).passthrough());
        }
    }
    if random.one_in(2) {
        config = config
            .ipv6_nat("dstnat", rule().dst(SERVERS[0]).protocol(6).dst_port(81).dst_nat(SERVERS[2], 8081))
            .ipv6_nat("srcnat", rule().src("2001:db8:1::11").src_nat("2001:db8:2::77"))
            .ipv6_nat("srcnat", rule().out_interface(2).masquerade());
    }
    config
}

fn router(config: RouterConfig, workers: u32, cache: bool) -> Router {
    let rules = config.config.clone();
    let config = config.fast_path(cache).with(|config| {
        (config.ipv6_filter, config.ipv6_nat, config.ipv6_mangle) = Default::default();
    });
    let mut router = Router::with_workers(config, workers).hosts6(0, &HOSTS).hosts6(1, &GATEWAYS);
    router.advance_ms(1_100);
    // Later packets do not wait for their next hops.
    for (port, from, to) in [(1, SERVERS[0], &HOSTS[..]), (0, HOSTS[0], &SERVERS[..])] {
        for to in to {
            router.send6(port, &Ipv6Builder::new(from, to).udp(9, 9));
        }
        router.advance_ms(10);
    }
    router.reconfigure(move |config| {
        config.ipv6_filter = rules.ipv6_filter;
        (config.ipv6_nat, config.ipv6_mangle) = (rules.ipv6_nat, rules.ipv6_mangle);
    });
    let known: Vec<u64> = router.connections().iter().map(|record| record.id).collect();
    assert!(known.into_iter().all(|id| router.remove_connection(id)));
    router.moved();
    router
}

/// A flow between a host and a server.
struct Flow {
    ends: [u128; 2],
    ports: [u16; 2],
    /// The host's and the server's end as the server sees them.
    outside: [(u128, u16); 2],
    learned: bool,
    protocol: u8,
    /// Next sequence numbers of both ends.
    seq: [u32; 2],
    packets: u32,
}

impl Flow {
    fn new(random: &mut Random, number: u16) -> Self {
        let host = random.below(3) as usize;
        let ends = [HOSTS[host], SERVERS[random.below(3) as usize]].map(ip6);
        // No two flows have the same port, so that translations do not depend on the number of workers.
        let ports = [4000 + number, 80 + random.below(3) as u16];
        let outside = [(ends[0], ports[0]), (ends[1], ports[1])];
        let protocol = [6, 17, 58][random.below(3) as usize];
        Self { ends, ports, outside, learned: false, protocol, seq: [1_000, 9_000], packets: 0 }
    }

    /// The next packet: ingress port and packet.
    fn next(&mut self, random: &mut Random) -> (u16, Ipv6Builder) {
        let answers = match self.packets {
            0 => false,
            // An answer from elsewhere than where the packets go would begin a connection of its own, whose port is
            // chosen at random.
            _ if !self.learned => false,
            1 => true,
            _ => random.one_in(2),
        };
        let (from, to) = (usize::from(answers), usize::from(!answers));
        let len = [0, 1, 100, 1200][random.below(4) as usize];
        let [host, server] = self.outside;
        let ((src, src_port), (dst, dst_port)) = match answers {
            false => ((self.ends[0], self.ports[0]), (self.ends[1], self.ports[1])),
            true => (server, host),
        };
        let builder = Ipv6Builder::of_bits(src, dst);
        let mut packet = match (self.protocol, answers) {
            (6, _) => {
                let (flags, len) = match if self.learned { self.packets } else { 0 } {
                    0 => (tcp_flag::SYN, 0),
                    1 => (tcp_flag::SYN | tcp_flag::ACK, 0),
                    _ if random.one_in(60) => (tcp_flag::FIN | tcp_flag::ACK, 0),
                    _ if random.one_in(5) => (tcp_flag::PSH | tcp_flag::ACK, len),
                    _ => (tcp_flag::ACK, len),
                };
                // Until the first segment has passed, it is sent again.
                let seq = if self.learned || self.packets == 0 { self.seq[from] } else { self.seq[from] - 1 };
                let (seq, ack) = (seq, if flags & tcp_flag::ACK == 0 { 0 } else { self.seq[to] });
                let counted = flags & (tcp_flag::SYN | tcp_flag::FIN) != 0;
                if self.learned || self.packets == 0 {
                    self.seq[from] = seq.wrapping_add(len as u32 + u32::from(counted));
                }
                builder.tcp(src_port, dst_port, flags, seq, ack).payload_len(len)
            }
            (17, _) => builder.udp(src_port, dst_port).payload_len(len),
            (_, false) => builder.echo_request(src_port, 1).payload_len(len),
            (_, true) => builder.echo_reply(dst_port, 1).payload_len(len),
        };
        self.packets += 1;
        if random.one_in(40) {
            packet = packet.hop_limit(1);
        }
        if random.one_in(60) {
            packet = packet.extension(60, &[1, 4, 0, 0, 0, 0]);
        }
        (u16::from(answers), packet)
    }

    /// The server answers to where packets came from.
    fn learn(&mut self, out: &[Output]) {
        if self.learned {
            // Segments that do not fit the connection are not translated.
            return;
        }
        let sent = out.iter().filter(|output| output.to == To::Port(1));
        for packet in sent.filter_map(|output| Ipv6Packet::read(&output.bytes)) {
            if packet.protocol == self.protocol && packet.icmp.is_none_or(|icmp| icmp.0 == 128) {
                let (src, dst) = (packet.src.to_bits(), packet.dst.to_bits());
                self.learned = true;
                self.outside = [(src, packet.ports.0), (dst, packet.ports.1)];
            }
        }
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
        let mut flows: Vec<Flow> = (0..12).map(|number| Flow::new(&mut random, number)).collect();
        for step in 0..400 {
            let flow = random.below(12) as usize;
            if random.one_in(50) {
                flows[flow] = Flow::new(&mut random, 12 + step);
            }
            let (port, packet) = flows[flow].next(&mut random);
            let out = routers.each_mut().map(|router| router.send6(port, &packet));
            if port == 0 {
                flows[flow].learn(&out[0]);
            }
            let out = out.map(sent);
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
            if random.one_in(60) {
                let entry = range(["2001:db8:1::11", "2001:db8:ff::/48", "::/1"][random.below(3) as usize]);
                let adds = random.one_in(2);
                for router in &mut routers {
                    router.reconfigure(|config| {
                        let entries = &mut config.ipv6_address_lists[0].entries;
                        entries.retain(|known| *known != entry);
                        entries.extend(adds.then_some(entry));
                    });
                }
            }
            if random.one_in(100) {
                for router in &mut routers {
                    router.reconfigure(|config| {
                        if let Some(chain) = config.ipv6_filter.first_mut() {
                            chain.rules.rotate_left(1);
                        }
                    });
                }
            }
        }
        let counts = |router: &Router| (1000..1020).map(|row| router.rule(row)).collect::<Vec<_>>();
        let [slow, one, three] = routers.each_ref().map(counts);
        assert_eq!(slow, one, "rules of seed {seed}");
        assert_eq!(slow, three, "rules of seed {seed}");
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
    let mut router = router(routed(), 1, true);
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
