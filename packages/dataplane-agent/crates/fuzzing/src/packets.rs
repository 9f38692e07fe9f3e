//! A configuration and what happens to it: packets of both families, time, changes. Both are made from the bytes.

use arbitrary::{Result, Unstructured};
use tollway_config::dataplane::{
    Action, AddressRange, ConnectionState, DataplaneConfig, FasttrackMode, LimitUnit, Matcher, NewMss,
    RejectWith, RpFilter, TrackingMode, TreeParent, TreeQueue,
};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::config::queue_limit;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::port_mac;
use tollway_testkit::{Router, RouterConfig, rule};

use crate::config::build;
use crate::frames::check_accounts;

/// Most rules of each table.
const RULES: usize = 12;
/// Most steps.
const STEPS: usize = 200;
/// Zones of two VRFs.
const ZONES: [u16; 2] = [7, 9];
const STATES: [ConnectionState; 5] = [
    ConnectionState::Invalid,
    ConnectionState::Established,
    ConnectionState::Related,
    ConnectionState::New,
    ConnectionState::Untracked,
];
const CHAINS: [&str; 4] = ["input", "forward", "output", "more"];
const MANGLE_CHAINS: [&str; 5] = ["prerouting", "input", "forward", "output", "postrouting"];

/// Nothing panics, every frame is accounted for, and a packet leaves the router only if it may.
pub fn run(data: &[u8]) {
    // Bytes that end early make a shorter sequence.
    let _ = play(&mut Unstructured::new(data));
}

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let config = config(bytes)?;
    if build(&config.config).is_none() {
        return Ok(());
    }
    let workers = bytes.int_in_range(1..=2)?;
    let mut router = Router::with_workers(config, workers)
        .hosts(0, &["192.168.88.10", "192.168.88.11"])
        .hosts(1, &["10.2.0.254"])
        .hosts(2, &["10.3.0.2"])
        .hosts(3, &["192.168.88.10"])
        .hosts_in_ipv6();
    // Addresses of IPv6 are used from then on.
    router.advance_ms(1_100);
    let result = steps(bytes, &mut router);
    router.advance_ms(1_000);
    check_accounts(&router);
    result
}

fn steps(bytes: &mut Unstructured<'_>, router: &mut Router) -> Result<()> {
    for _ in 0..STEPS {
        if bytes.is_empty() {
            break;
        }
        match bytes.int_in_range(0..=15)? {
            0 => {
                let ms = *bytes.choose(&[1, 10, 500, 3_000, 40_000, 700_000])?;
                router.advance_ms(ms);
            }
            1 => change(bytes, router)?,
            2 => {
                let (_, packet, v6) = packet(bytes)?;
                router.send_local(&if v6 { packet.in_ipv6().build_l3() } else { packet.build_l3() });
            }
            _ => {
                let (port, packet, v6) = packet(bytes)?;
                let worker = bytes.int_in_range(0..=router.workers() - 1)?;
                let packet = packet.eth_dst(port_mac(port));
                let frames = match (bytes.ratio(1, 12)?, v6) {
                    (true, false) => packet.build_fragments(64),
                    (true, true) => packet.in_ipv6().build_fragments(64, u32::from(port)),
                    (false, false) => vec![packet.build()],
                    (false, true) => vec![packet.in_ipv6().build()],
                };
                let mut batch = Vec::new();
                for mut frame in frames {
                    if bytes.ratio(1, 8)? {
                        damage(bytes, &mut frame)?;
                    }
                    batch.push((port, frame, VnetState::default()));
                }
                router.inject_batch(worker, batch);
            }
        }
    }
    Ok(())
}

/// Another configuration in which something differs, if it is a possible one.
fn change(bytes: &mut Unstructured<'_>, router: &mut Router) -> Result<()> {
    let mut config = router.config().clone();
    match bytes.int_in_range(0..=7)? {
        0 => {
            let chains = config.filter.iter_mut().chain(&mut config.ipv6_filter);
            chains.for_each(|chain| chain.rules.reverse());
        }
        1 => {
            config.nat.clear();
            config.ipv6_nat.clear();
        }
        2 => config.simple_queues.truncate(1),
        3 => {
            config.settings.allow_fast_path = !config.settings.allow_fast_path;
            config.settings.ipv6.allow_fast_path = !config.settings.ipv6.allow_fast_path;
            // Of the interfaces with the same addresses, one moves between the VRFs.
            if let Some(interface) = config.interfaces.get_mut(3) {
                interface.zone = if interface.zone == ZONES[0] { ZONES[1] } else { ZONES[0] };
            }
        }
        4 => config.routes.clear(),
        5 => {
            let chains = config.mangle.iter_mut().chain(&mut config.ipv6_mangle);
            chains.for_each(|chain| chain.rules.reverse());
        }
        6 => config.tree_queues.reverse(),
        _ => {
            let port = bytes.int_in_range(0..=2)?;
            router.carrier(port, bytes.arbitrary()?);
            return Ok(());
        }
    }
    if build(&config).is_some() {
        router.reconfigure(|active| *active = config);
    }
    Ok(())
}

fn config(bytes: &mut Unstructured<'_>) -> Result<RouterConfig> {
    let mut config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .interface("10.3.0.1/24")
        .interface("192.168.88.1/24")
        .address_list("known", &["192.168.88.10", "10.2.0.0/25"])
        .route("0.0.0.0/0", "10.2.0.254");
    config = config.with(|_| {});
    let mut inner = config.config.clone();
    settings(bytes, &mut inner)?;
    config.config = inner;
    for _ in 0..bytes.int_in_range(0..=RULES)? {
        let chain = *bytes.choose(&CHAINS)?;
        let mut conditions = rule();
        for _ in 0..bytes.int_in_range(0..=3)? {
            conditions = conditions.matcher(matcher(bytes)?);
        }
        if bytes.ratio(1, 10)? {
            conditions = conditions.log("seen");
        }
        let action = filter_action(bytes)?;
        // A jump from the chain to itself is refused; such a configuration is not tried.
        config = if chain != "more" && bytes.ratio(1, 8)? {
            config.filter_jump(chain, conditions, "more")
        } else {
            config.filter(chain, conditions.then(action))
        };
    }
    for _ in 0..bytes.int_in_range(0..=4)? {
        config = match bytes.int_in_range(0..=3)? {
            0 => config.nat("srcnat", rule().out_interface(2).masquerade()),
            1 => config.nat("srcnat", rule().matcher(matcher(bytes)?).src_nat("10.2.0.77")),
            2 => config.nat("dstnat", rule().matcher(matcher(bytes)?).dst_nat("192.168.88.11", 8080)),
            _ => config
                .nat("dstnat", rule().matcher(matcher(bytes)?).then(Action::Redirect { to_ports: None })),
        };
    }
    if bytes.ratio(1, 3)? {
        let rate = *bytes.choose(&[64_000, 1_000_000, 0, 1_000_000_000])?;
        config = config.queue(&["192.168.88.0/25"], rate, rate);
        config = config.queue(&["0.0.0.0/0"], 0, rate);
    }
    for _ in 0..bytes.int_in_range(0..=4)? {
        let conditions = rule().matcher(matcher(bytes)?);
        let chain = *bytes.choose(&MANGLE_CHAINS)?;
        config = config.mangle(chain, conditions.then(mangle_action(chain, bytes)?));
    }
    if bytes.ratio(1, 3)? {
        let trees = trees(bytes)?;
        config = config.with(|config| config.tree_queues = trees);
    }
    // VRFs and tags take no bytes of their own, so that stored inputs keep their meaning.
    let config = if config.config.settings.allow_fast_path {
        config.vrf(ZONES[0], &[4]).vrf(ZONES[1], &[]).leak(1, "0.0.0.0/0", "10.2.0.254", 0)
    } else {
        config.vrf(ZONES[0], &[1]).vrf(ZONES[1], &[4]).leak(1, "0.0.0.0/0", "10.2.0.254", 0)
    };
    let tagged = config.config.tracking.liberal_tcp_tracking && config.config.settings.ip_forward;
    let config = config.dual_stack();
    Ok(if tagged { config.trunk() } else { config })
}

/// A tree of all packets and one of an interface's.
fn trees(bytes: &mut Unstructured<'_>) -> Result<Vec<TreeQueue>> {
    let interface = TreeParent::Interface { interface: bytes.int_in_range(1..=3)? };
    let below = |row| TreeParent::Queue { row };
    let nodes = [
        (6_001, TreeParent::Global),
        (6_002, interface),
        (6_003, below(6_001)),
        (6_004, below(6_001)),
        (6_005, below(6_002)),
    ];
    let mut trees = Vec::new();
    for (row, parent) in nodes {
        let mut limit = queue_limit(*bytes.choose(&[0, 64_000, 1_000_000, 1_000_000_000])?);
        limit.limit_at = limit.max_limit / 2;
        limit.priority = bytes.int_in_range(1..=8)?;
        limit.queue_type = bytes.int_in_range(0..=3)?;
        let packet_marks = match row {
            6_001 | 6_002 => Vec::new(),
            _ => vec![bytes.int_in_range(0..=3)?],
        };
        trees.push(TreeQueue { row, parent, packet_marks, limit });
    }
    Ok(trees)
}

fn mangle_action(chain: &str, bytes: &mut Unstructured<'_>) -> Result<Action> {
    let (mark, passthrough) = (bytes.int_in_range(0..=3)?, bytes.arbitrary()?);
    Ok(match bytes.int_in_range(0..=6)? {
        0 | 1 => Action::MarkPacket { mark, passthrough },
        2 => Action::MarkConnection { mark, passthrough },
        // Elsewhere a routing mark is refused.
        3 if ["prerouting", "output"].contains(&chain) => Action::MarkRouting { mark, passthrough },
        4 => Action::ChangeDscp { dscp: bytes.int_in_range(0..=63)?, passthrough },
        3 | 5 => Action::ChangeMss { mss: NewMss::ClampToPmtu, passthrough },
        _ => Action::FasttrackConnection,
    })
}

fn settings(bytes: &mut Unstructured<'_>, config: &mut DataplaneConfig) -> Result<()> {
    let settings = &mut config.settings;
    settings.allow_fast_path = bytes.ratio(3, 4)?;
    settings.ip_forward = bytes.ratio(9, 10)?;
    settings.rp_filter = *bytes.choose(&[RpFilter::No, RpFilter::Strict, RpFilter::Loose])?;
    settings.fasttrack_mode = *bytes.choose(&[FasttrackMode::Cached, FasttrackMode::Bypass])?;
    settings.max_neighbor_entries = *bytes.choose(&[16, 8192])?;
    config.tracking.enabled = *bytes.choose(&[TrackingMode::Auto, TrackingMode::Yes, TrackingMode::No])?;
    config.tracking.loose_tcp_tracking = bytes.arbitrary()?;
    config.tracking.liberal_tcp_tracking = bytes.arbitrary()?;
    // They take no bytes of their own, so that stored inputs keep their meaning.
    config.settings.accept_source_route = config.tracking.loose_tcp_tracking;
    config.settings.accept_redirects = config.tracking.loose_tcp_tracking;
    config.settings.secure_redirects = config.tracking.liberal_tcp_tracking;
    config.tracking.max_entries = *bytes.choose(&[4, 64, 262_144])?;
    if let Some(interface) = config.interfaces.get_mut(2) {
        interface.mtu = *bytes.choose(&[68, 600, 1500])?;
    }
    Ok(())
}

fn matcher(bytes: &mut Unstructured<'_>) -> Result<Matcher> {
    let negate = bytes.arbitrary()?;
    let ports = |from: u16, to: u16| vec![tollway_config::dataplane::PortRange { from, to }];
    let kind: u8 = bytes.arbitrary()?;
    if kind >= ADDED_MATCHERS {
        return added_matcher(kind, negate, bytes);
    }
    Ok(match kind % 18 {
        0 => Matcher::InInterface { interfaces: vec![bytes.int_in_range(1..=3)?], negate },
        1 => Matcher::OutInterface { interfaces: vec![bytes.int_in_range(1..=3)?], negate },
        2 => Matcher::Protocol { protocol: *bytes.choose(&[1, 6, 17, 47])?, negate },
        3 => Matcher::SrcAddressList { list: 0, negate },
        4 => Matcher::DstAddressList { list: 0, negate },
        5 => Matcher::SrcPort { ports: ports(1024, 1030), negate },
        6 => Matcher::DstPort { ports: ports(53, 80), negate },
        7 => Matcher::Port { ports: ports(25, 25), negate },
        8 => Matcher::TcpFlags { set: bytes.arbitrary()?, clear: bytes.arbitrary()?, negate },
        9 => Matcher::IcmpOptions { icmp_type: 8, code_from: 0, code_to: 255, negate },
        10 => Matcher::ConnectionNatState { srcnat: bytes.arbitrary()?, dstnat: bytes.arbitrary()?, negate },
        11 => Matcher::PacketSize { from: 60, to: 200, negate },
        12 => Matcher::ConnectionBytes { from: 200, to: *bytes.choose(&[0, 1000])? },
        13 => Matcher::Nth { every: 3, packet: bytes.int_in_range(1..=3)?, negate },
        14 => Matcher::Random { percent: bytes.int_in_range(1..=99)? },
        15 => Matcher::PacketMark { mark: bytes.int_in_range(0..=3)?, negate },
        16 => Matcher::ConnectionMark { mark: bytes.int_in_range(0..=3)?, negate },
        _ => {
            let count = bytes.int_in_range(1..=3)?;
            let states = (0..count).map(|_| bytes.choose(&STATES).copied()).collect::<Result<_>>()?;
            Matcher::ConnectionState { states, negate }
        }
    })
}

/// Kinds of [`matcher`] from here on were added later, so that saved inputs keep most of their meaning.
const ADDED_MATCHERS: u8 = 13 * 18;

fn added_matcher(kind: u8, negate: bool, bytes: &mut Unstructured<'_>) -> Result<Matcher> {
    let range = |from: [u8; 4], to: [u8; 4]| AddressRange { from: from.into(), to: to.into() };
    if kind >= ADDED_MATCHERS + 20 {
        return Ok(Matcher::RoutingMark { mark: bytes.int_in_range(0..=3)?, negate });
    }
    Ok(match (kind - ADDED_MATCHERS) % 5 {
        0 => Matcher::SrcAddress { range: range([192, 168, 88, 10], [192, 168, 88, 11]), negate },
        1 => Matcher::DstAddress { range: range([203, 0, 113, 0], [203, 0, 113, 5]), negate },
        2 => Matcher::Dscp { dscp: *bytes.choose(&[0, 10, 46])?, negate },
        3 => {
            let unit = *bytes.choose(&[LimitUnit::Packet, LimitUnit::Bit])?;
            Matcher::Limit { rate: bytes.int_in_range(1..=10)?, per_ms: 1_000, burst: 5, unit, negate }
        }
        _ => {
            let from_ms = bytes.int_in_range(0..=86_399_999)?;
            let to_ms = bytes.int_in_range(0..=86_399_999)?;
            Matcher::Time { from_ms, to_ms, days: bytes.int_in_range(1..=0x7f)?, utc_offset_s: 3_600, negate }
        }
    })
}

fn filter_action(bytes: &mut Unstructured<'_>) -> Result<Action> {
    Ok(match bytes.int_in_range(0..=8)? {
        0..3 => Action::Accept,
        3 => Action::Drop,
        4 => {
            Action::Reject { with: *bytes.choose(&[RejectWith::TcpReset, RejectWith::IcmpAdminProhibited])? }
        }
        5 => Action::Return,
        6 => Action::Passthrough,
        7 => Action::AddSrcToAddressList { list: 0, timeout_ms: *bytes.choose(&[0, 500, 60_000])? },
        _ => Action::FasttrackConnection,
    })
}

/// A packet between a few hosts and services, and whether that of IPv6 which stands for it is meant: those of odd
/// identifications, which IPv6 does not have.
fn packet(bytes: &mut Unstructured<'_>) -> Result<(u16, PacketBuilder, bool)> {
    let inside = 0xc0a8_580a + u32::from(bytes.int_in_range(0..=3u8)?);
    let outside =
        *bytes.choose(&[0xcb00_7105, 0xcb00_7106, 0x0a02_0001, 0x0a03_0002, 0xc0a8_58ff, u32::MAX])?;
    let answer = bytes.ratio(1, 3)?;
    let (port, src, dst) = if answer { (1, outside, 0x0a02_0001) } else { (0, inside, outside) };
    let (client, service) = (1024 + u16::from(bytes.int_in_range(0..=7u8)?), *bytes.choose(&[80, 53, 25])?);
    // Some hosts have the same addresses in a VRF.
    let port = if port == 0 && client >= 1028 { 3 } else { port };
    let (from, to) = if answer { (service, client) } else { (client, service) };
    let (ttl, ident) = (*bytes.choose(&[64, 1, 2])?, bytes.arbitrary::<u16>()?);
    let v6 = ident & 1 != 0;
    let builder = PacketBuilder::ipv4_bits(src, dst).ttl(ttl).ident(ident);
    let builder = match bytes.int_in_range(0..=9)? {
        0..3 => builder.udp(from, to),
        3..7 => builder.tcp(from, to, bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary()?),
        7 => builder.echo_request(client, 1),
        8 => builder.echo_reply(client, 1),
        _ => {
            let quoted = PacketBuilder::ipv4_bits(dst, src).udp(to, from);
            let quoted = if v6 { quoted.in_ipv6().build_l3() } else { quoted.build_l3() };
            let builder = builder.icmp(*bytes.choose(&[3, 5, 11])?, bytes.arbitrary()?, bytes.arbitrary()?);
            return Ok((port, builder.payload(&quoted), v6));
        }
    };
    Ok((port, builder.payload_len(*bytes.choose(&[0, 10, 200, 1400])?), v6))
}

fn damage(bytes: &mut Unstructured<'_>, frame: &mut Vec<u8>) -> Result<()> {
    let at = bytes.choose_index(frame.len().max(1))?;
    match bytes.ratio(1, 4)? {
        true => frame.truncate(at),
        false => {
            if let Some(byte) = frame.get_mut(at) {
                *byte = bytes.arbitrary()?;
            }
        }
    }
    if bytes.arbitrary()? && frame.len() >= 34 && frame[12..14] == [8, 0] {
        frame[24..26].fill(0);
        let sum = tollway_wire::checksum::checksum(&frame[14..34]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
    }
    Ok(())
}
