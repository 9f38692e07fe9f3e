//! A million seeded frames of both families, random and mutated, in three networks with the same addresses, of which
//! two are in VRFs: no panic, and each of them accounted for.

#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

use tollway_config::dataplane::{Action, ConnectionState, DataplaneConfig, Matcher, RejectWith};
use tollway_engine::packet::frame::VnetState;
use tollway_engine::pipeline::STAGES;
use tollway_testkit::dual_stack::IPV6_ROWS;
use tollway_testkit::networks::{UPLINK, uplinks};
use tollway_testkit::packet::{PacketBuilder, ip, tcp_flag};
use tollway_testkit::random::Random;
use tollway_testkit::router::{To, host_mac, port_mac};
use tollway_testkit::routing::toggle_leak;
use tollway_testkit::{Router, RouterConfig, rule};

const FRAMES: u64 = 1_000_000;
/// What is not in the first list is put into the second one.
const SEEN: Action = Action::AddSrcToAddressList { list: 1, timeout_ms: 5_000 };
const ESTABLISHED: &[ConnectionState] = &[ConnectionState::Established, ConnectionState::Related];

/// Zones of the VRFs: of the one that leaks to the uplink of the main table, and of the one that has an uplink of its own.
const ZONES: [u16; 2] = [7, 9];

/// Where a packet comes in: a port, and the VLAN there.
#[derive(Clone, Copy)]
struct Ingress {
    port: u16,
    vlan: Option<u16>,
}

const fn port(port: u16) -> Ingress {
    Ingress { port, vlan: None }
}

const VLAN: u16 = 10;

/// The networks of hosts, and the uplinks by which their answers come.
const NETWORKS: [(Ingress, Ingress); 3] =
    [(port(0), port(1)), (port(3), port(1)), (Ingress { port: 0, vlan: Some(VLAN) }, port(4))];

const HOSTS: [&str; 10] = [
    "192.168.88.10",
    "192.168.88.11",
    "192.168.88.12",
    "192.168.88.13",
    "192.168.88.14",
    "192.168.88.15",
    "192.168.88.16",
    "192.168.88.17",
    "192.168.88.40",
    "192.168.88.41",
];

fn config() -> RouterConfig {
    let config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .interface("10.3.0.1/24")
        .with(|config| config.interfaces[2].mtu = 600)
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .vlan(1, VLAN, "192.168.88.1/24")
        .vrf(ZONES[0], &[4])
        .vrf(ZONES[1], &[5, 6])
        .route("0.0.0.0/0", UPLINK)
        .leak(1, "0.0.0.0/0", UPLINK, 0)
        .route_in(2, "0.0.0.0/0", UPLINK)
        .address_list("hosts", &["192.168.88.10-192.168.88.20"])
        .address_list("seen", &[]);
    // Hosts behind tags answer nobody.
    let config = HOSTS.iter().fold(config, |config, host| {
        let [a, b, c, d, e, f] = host_mac(ip(host));
        let mac = format!("{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}");
        config.neighbor(6, host, &mac, false)
    });
    config
        .filter("input", rule().state(ESTABLISHED).accept())
        .filter("input", rule().protocol(1).accept())
        .filter("input", rule().in_interface(2).reject(RejectWith::IcmpAdminProhibited))
        .filter("forward", rule().state(ESTABLISHED).fasttrack())
        // Packets of each VRF are counted.
        .filter("forward", rule().in_interface(4).passthrough())
        .filter("forward", rule().in_interface(6).passthrough())
        .filter("forward", rule().in_interface(5).passthrough())
        .filter("forward", rule().protocol(6).tcp_flags(tcp_flag::PSH, 0).passthrough())
        .filter("forward", rule().state(ESTABLISHED).accept())
        .filter("forward", rule().state(&[ConnectionState::Invalid]).drop())
        .filter("forward", rule().protocol(6).dst_port(25).reject(RejectWith::TcpReset))
        .filter("forward", rule().protocol(17).dst_port(54).log("probe").drop())
        .filter("forward", rule().matcher(Matcher::SrcAddressList { list: 0, negate: true }).then(SEEN))
        .filter("output", rule().passthrough())
        .nat("dstnat", rule().in_interface(2).protocol(6).dst_port(80).dst_nat("192.168.88.10", 8080))
        .nat("srcnat", rule().out_interface(2).masquerade())
        .nat("srcnat", rule().out_interface(5).masquerade())
        .dual_stack()
}

/// A sensible packet; `known` keeps to a few flows. Of IPv6 it quotes what is of IPv6.
fn packet(random: &mut Random, known: bool, v6: bool) -> (Ingress, PacketBuilder) {
    let hosts = if known { 8 } else { 200 };
    let host = random.below(hosts) as u32;
    let inside = 0xc0a8_580a + host;
    let outside = 0xcb00_7105 + host / 4;
    let network = [0, 0, 1, 2][random.below(4) as usize];
    let (lan, uplink) = NETWORKS[network];
    let kind = random.below(12);
    let answers = matches!(kind, 5..10);
    let (from, src, dst) = match kind {
        0..5 => (lan, inside, outside),
        5..10 => (uplink, outside, 0x0a02_0001),
        10 => (lan, inside, 0x0a03_0002 + host % 3),
        _ => (port(random.below(5) as u16), inside, [0xc0a8_5801, 0x0a02_0001][random.below(2) as usize]),
    };
    // Each host keeps to ports of its own, so that answers find it behind the masquerade. A quarter of the hosts of the
    // VRFs have the ports of others too: their flows are told apart by their VRF alone.
    let own_ports = if host.is_multiple_of(4) { 0 } else { 8192 * network as u16 };
    let source = 1024 + own_ports + (host as u16) * 16 + random.below(if known { 4 } else { 16 }) as u16;
    // More of services that pass than of those that are refused: these have no flows.
    let service = [80, 53, 54, 25, 443, 22, 123][usize::from(source) % 7];
    let (sender, receiver) = if answers { (service, source) } else { (source, service) };
    let len = [0, 10, 200, 1000][random.below(4) as usize];
    let builder = PacketBuilder::ipv4_bits(src, dst).ident(random.bits() as u16);
    let ttl = if random.one_in(20) { 1 } else { 64 };
    let builder = builder.ttl(ttl).dont_fragment(random.one_in(2));
    let flags = [tcp_flag::SYN, tcp_flag::SYN | tcp_flag::ACK, tcp_flag::ACK | tcp_flag::PSH, tcp_flag::ACK];
    let builder = match random.below(20) {
        0..11 => builder.udp(sender, receiver),
        11..17 if random.one_in(100) => builder.tcp(sender, receiver, tcp_flag::RST, 1000, 1000),
        11..17 => builder.tcp(sender, receiver, flags[random.below(8).min(3) as usize], 1000, 1000),
        17 if answers => builder.echo_reply(receiver, 1),
        17 | 18 => builder.echo_request(source, 1),
        _ => {
            let quoted = PacketBuilder::ipv4_bits(dst, src).udp(receiver, sender);
            let quoted = if v6 { quoted.in_ipv6().build_l3() } else { quoted.build_l3() };
            return (from, builder.icmp(3, random.below(5) as u8, [0; 4]).payload(&quoted));
        }
    };
    (from, builder.payload_len(len))
}

fn frame(random: &mut Random) -> (u16, Vec<u8>) {
    let kind = random.below(20);
    if kind == 0 {
        let len = random.below(200) as usize;
        return (random.below(7) as u16, (0..len).map(|_| random.bits() as u8).collect());
    }
    let v6 = random.one_in(2);
    let (Ingress { port, vlan }, builder) = packet(random, kind < 17, v6);
    let builder = builder.eth_dst(port_mac(port));
    let builder = if random.one_in(50) {
        let kind = [7, 68, 131, 148][random.below(4) as usize];
        builder.ip_options(&[kind, random.below(12) as u8, random.below(12) as u8, 0, 10, 2, 0, 254])
    } else {
        builder
    };
    let mut bytes = if random.one_in(30) {
        let ident = random.below(4) as u32;
        let fragments =
            if v6 { builder.in_ipv6().build_fragments(64, ident) } else { builder.build_fragments(64) };
        fragments[random.below(fragments.len() as u64) as usize].clone()
    } else if v6 {
        builder.in_ipv6().build()
    } else {
        builder.build()
    };
    if let Some(vlan) = vlan {
        bytes.splice(12..12, [[0x81, 0], vlan.to_be_bytes()].concat());
    }
    if kind >= 18 {
        mutate(random, &mut bytes);
    }
    (port, bytes)
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len().max(1) as u64) as usize;
        match random.below(4) {
            0 => bytes.truncate(at),
            1 => bytes.extend((0..random.below(20)).map(|byte| byte as u8)),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.bits() as u8;
                }
            }
        }
    }
    // What a byte changed at random hardly ever makes: a VLAN tag, an ARP packet, IPv4 options.
    if random.one_in(100) && bytes.len() >= 34 {
        match random.below(3) {
            0 => bytes[12..14].copy_from_slice(&[0x81, 0]),
            1 => bytes[12..14].copy_from_slice(&[8, 6]),
            _ => bytes[14] = 0x46,
        }
    }
    // Half of them get past the header checksum.
    if random.one_in(2) && bytes.len() >= 34 && bytes[12..14] == [8, 0] {
        bytes[24..26].fill(0);
        let sum = tollway_wire::checksum::checksum(&bytes[14..34]);
        bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    }
}

/// What is changed now and then: rules, the route of a VRF, the VRF of an interface.
fn change(config: &mut DataplaneConfig, kind: u64) {
    match kind {
        0 => {
            for chains in [&mut config.filter, &mut config.ipv6_filter] {
                chains[1].rules[6..].rotate_left(1);
            }
        }
        1 => toggle_leak(config, 1, uplinks()),
        _ => {
            let zone = &mut config.interfaces[3].zone;
            *zone = if *zone == 0 { ZONES[0] } else { 0 };
        }
    }
}

#[test]
fn every_frame_leaves_by_exactly_one_way() {
    tollway_testkit::seeds(1).for_each(a_million_frames);
}

fn a_million_frames(seed: u64) {
    let mut random = Random::new(0x0701_13a1 ^ seed);
    let mut router = Router::with_workers(config(), 2)
        .hosts(0, &HOSTS)
        .hosts(1, &[UPLINK])
        .hosts(2, &["10.3.0.2"])
        .hosts(3, &HOSTS)
        .hosts(4, &[UPLINK])
        .hosts_in_ipv6();
    // Addresses of IPv6 are used from then on.
    let begun = router.advance_ms(1_100).len() as u64;
    let (mut tx, mut local) = (begun, 0u64);
    let mut left = FRAMES;
    while left > 0 {
        let count = left.min(1 + random.below(200));
        let frames =
            (0..count).map(|_| frame(&mut random)).map(|(port, bytes)| (port, bytes, VnetState::default()));
        let frames = frames.collect();
        let out = router.inject_batch(random.below(2) as usize, frames);
        tx += out.iter().filter(|output| matches!(output.to, To::Port(_))).count() as u64;
        local += out.iter().filter(|output| matches!(output.to, To::Local(_))).count() as u64;
        left -= count;
        if random.one_in(50) {
            let out = router.advance_ms(random.below(3_000));
            tx += out.len() as u64;
        }
        if random.one_in(500) {
            let kind = random.below(3);
            router.reconfigure(|config| change(config, kind));
            router.shared().log.take();
        }
    }
    let stats = router.stats();
    let drops: u64 = stats.drops.iter().sum();
    // Requests that test hosts answered never reached `tx`; their answers were injected.
    let out = tx + local + router.resolved + drops + stats.held;
    assert_eq!(out, router.injected + stats.generated, "frames in and made, frames out, held and dropped");

    let entered = |name: &str| {
        let place = STAGES.iter().position(|stage| stage.name == name).expect("a stage");
        stats.stages[place].packets
    };
    for (stage, counters) in STAGES.iter().zip(&stats.stages) {
        println!("{:>10} {:>9}", stage.name, counters.packets);
    }
    let fast = stats.flow_cache_forwarded.packets + stats.fasttrack.packets;
    println!(
        "fast {fast}, tx {tx}, local {local}, dropped {drops}, made {}, handed over {}, held {}",
        stats.generated, stats.handover_packets, stats.held
    );
    for drop in stats.drop_stats() {
        println!("{:>24} {}", drop.reason, drop.packets);
    }
    assert!(entered("filter") + fast >= FRAMES / 2, "too few reach the filter");
    let rows =
        |row: u32| stats.rules.iter().find(|(known, _)| *known == row).map_or(0, |(_, count)| count.packets);
    let in_flow = [1000, 1003].map(|row| rows(row) + rows(row + IPV6_ROWS)).iter().sum::<u64>();
    let of_ipv6 = rows(1003 + IPV6_ROWS);
    println!("in a flow {in_flow}, of IPv6 {of_ipv6} of those forwarded");
    assert!(of_ipv6 >= FRAMES / 20, "too few of IPv6 belong to a flow");
    assert!(in_flow >= FRAMES / 5, "too few belong to a flow");
    let of_vrfs = [1004, 1005, 1006].map(|row| [rows(row), rows(row + IPV6_ROWS)]);
    println!("of VRFs, IPv4 and IPv6: {of_vrfs:?}");
    // Changes take routes and VRFs away for as long as they happen to.
    assert!(of_vrfs.iter().flatten().all(|count| *count >= FRAMES / 1_000), "too few of a VRF");
    assert!(fast > 10_000, "too few take the fast path");
    // All but a few reasons must have fired, or the frames are not wild enough: 23 do so more than a dozen times with
    // any seed, others now and then.
    let reasons = stats.drops.iter().filter(|&&count| count != 0).count();
    assert!(reasons >= 23, "only {reasons} reasons for a drop");
}
