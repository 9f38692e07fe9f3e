//! Configurations made at random.

use tollway_config::dataplane::{
    Action, ConnectionState, LimitUnit, Matcher, NewMss, QueueLimit, QueueTarget, QueueTime, RejectWith,
    SimpleQueue, TargetInterface, TreeParent, TreeQueue,
};
use tollway_testkit::packet::tcp_flag;
use tollway_testkit::random::Random;
use tollway_testkit::{Networks, RouterConfig, pfifo, queue, rule};

use super::HOSTS;

const ESTABLISHED: &[ConnectionState] = &[ConnectionState::Established, ConnectionState::Related];

/// A router with some of the rules people write, chosen at random.
pub(super) fn config(networks: Networks, random: &mut Random) -> RouterConfig {
    let mut config = networks
        .config()
        .address_list("hosts", &["192.168.88.10", "192.168.88.12"])
        .address_list("seen", &[]);
    config.config.settings.icmp_rate_limit_ms = 0;
    if random.one_in(3) {
        config.config.interfaces[1].mtu = 900;
    }
    if random.one_in(2) {
        config = config.filter("forward", rule().state(ESTABLISHED).fasttrack());
    }
    for _ in 0..random.below(6) {
        let psh = rule().protocol(6).tcp_flags(tcp_flag::PSH, 0);
        let listed = Matcher::SrcAddressList { list: 0, negate: random.one_in(2) };
        config = match random.below(21) {
            0 => config.filter("forward", psh.passthrough()),
            1 => config.filter("forward", psh.dst_port(81).drop()),
            2 => config.filter("forward", psh.dst_port(82).reject(RejectWith::TcpReset)),
            3 => config.filter("forward", rule().protocol(17).dst_port(53).log("dns").passthrough()),
            4 => config.filter("forward", rule().state(&[ConnectionState::Invalid]).drop()),
            5 => config.filter("forward", rule().matcher(listed).passthrough()),
            6 => config.filter_jump("forward", rule().protocol(6), "tcp"),
            7 => config.filter("tcp", psh.then(Action::Return)),
            8 => config.filter("tcp", rule().dst_port(83).accept()),
            9 => config
                .filter("forward", rule().protocol(17).dst_port(54).reject(RejectWith::IcmpPortUnreachable)),
            10 => {
                let echo = Matcher::IcmpOptions { icmp_type: 8, code_from: 0, code_to: 255, negate: false };
                config.filter("forward", rule().matcher(echo).passthrough())
            }
            11 => config.filter("forward", rule().src(HOSTS[0]).passthrough()),
            19 => {
                let listed = Matcher::SrcAddressList { list: 1, negate: false };
                let add = Action::AddSrcToAddressList { list: 1, timeout_ms: 0 };
                config
                    .filter("forward", rule().matcher(listed).dst_port(81).drop())
                    .filter("forward", rule().dst_port(82).then(add))
            }
            20 => config.filter("forward", psh.then(Action::AddDstToAddressList { list: 1, timeout_ms: 0 })),
            choice => config.filter("forward", stateful(choice, random)),
        };
    }
    if random.one_in(2) {
        config = config.filter("forward", rule().state(ESTABLISHED).accept());
    }
    if random.one_in(3) {
        config = config.filter("forward", rule().state(&[ConnectionState::New]).in_interface(2).drop());
    }
    if random.one_in(2) {
        config = config.with(|config| config.simple_queues = queues(random));
    }
    if random.one_in(4) {
        config = config.with(|config| config.tree_queues = trees(random));
    }
    if random.one_in(4) {
        config = mangled(config, random);
    }
    if networks != Networks::One {
        config = of_interfaces(config, networks, random);
    }
    let translation = random.below(4);
    let source = |config: RouterConfig, &uplink| match translation {
        0 | 2 => config.nat("srcnat", rule().out_interface(uplink).masquerade()),
        1 => config.nat("srcnat", rule().out_interface(uplink).src_nat("10.2.0.7-10.2.0.8")),
        _ => config.filter("forward", rule().passthrough()),
    };
    let config = networks.uplink_interfaces().iter().fold(config, source);
    if translation == 2 {
        config.nat("dstnat", rule().protocol(6).dst_port(80).dst_nat("203.0.113.9", 8080))
    } else {
        config
    }
}

/// Rules that tell VRFs apart, by the interfaces in them.
fn of_interfaces(config: RouterConfig, networks: Networks, random: &mut Random) -> RouterConfig {
    networks.lan_interfaces().iter().fold(config, |config, &lan| match random.below(6) {
        0 => config.filter("forward", rule().in_interface(lan).dst_port(81).drop()),
        1 => config.filter("forward", rule().out_interface(lan).protocol(17).passthrough()),
        2 => config.mangle(
            "prerouting",
            rule().in_interface(lan).then(Action::MarkConnection { mark: lan, passthrough: true }),
        ),
        _ => config.filter("forward", rule().in_interface(lan).passthrough()),
    })
}

/// Rules that mark and change packets, in every chain, and rules of both tables that ask for the marks.
fn mangled(mut config: RouterConfig, random: &mut Random) -> RouterConfig {
    const CHAINS: [&str; 5] = ["prerouting", "input", "forward", "output", "postrouting"];
    for _ in 0..=random.below(6) {
        let chain = CHAINS[[0, 0, 1, 2, 2, 3, 4, 4][random.below(8) as usize]];
        let (mark, passthrough) = (random.below(3) as u32, random.one_in(2));
        let negate = random.one_in(3);
        let asking = rule();
        let asking = match random.below(13) {
            0 => asking.src(HOSTS[0]),
            1 => asking.dst_port(81),
            2 => asking.protocol(17),
            3 => asking.state(&[ConnectionState::New]),
            4 | 5 => asking.matcher(Matcher::PacketMark { mark: random.below(3) as u32, negate }),
            6 | 7 => asking.matcher(Matcher::ConnectionMark { mark: random.below(3) as u32, negate }),
            8 => asking.matcher(Matcher::Dscp { dscp: [0, 10, 46][random.below(3) as usize], negate }),
            9 => asking.protocol(6).tcp_flags(tcp_flag::SYN, 0),
            10 => asking.matcher(Matcher::ConnectionBytes { from: 2_000, to: 0 }),
            11 => asking.matcher(Matcher::RoutingMark { mark: random.below(3) as u32, negate }),
            _ => asking,
        };
        let action = match random.below(16) {
            0..4 => Action::MarkPacket { mark, passthrough },
            4..8 => Action::MarkConnection { mark, passthrough },
            8..10 => Action::ChangeDscp { dscp: [0, 10, 46][mark as usize], passthrough },
            10 => Action::ChangeMss { mss: NewMss::Value { bytes: 1200 }, passthrough },
            11 if matches!(chain, "forward" | "output" | "postrouting") => {
                Action::ChangeMss { mss: NewMss::ClampToPmtu, passthrough }
            }
            12 if chain == "prerouting" => Action::MarkRouting { mark, passthrough },
            13 => Action::FasttrackConnection,
            14 => Action::Accept,
            _ => Action::Passthrough,
        };
        config = if random.one_in(40) {
            let (choice, log) = (12 + random.below(7), random.one_in(4));
            let (matchers, ..) = stateful(choice, random);
            let log = log.then(|| "mangled".to_owned());
            config.mangle(chain, (matchers, action, log))
        } else {
            config.mangle(chain, asking.then(action))
        };
    }
    if random.one_in(2) {
        let mark = Matcher::PacketMark { mark: 1, negate: false };
        config = config.filter("forward", rule().matcher(mark).passthrough());
    }
    if random.one_in(2) {
        let mark = Matcher::ConnectionMark { mark: 2, negate: false };
        config = config.filter("forward", rule().matcher(mark).dst_port(82).drop());
    }
    config
}

/// A rule that counts, or holds for a while.
fn stateful(choice: u64, random: &mut Random) -> (Vec<Matcher>, Action, Option<String>) {
    let negate = random.one_in(3);
    let from = [0, 100, 3_000, 60_000][random.below(4) as usize];
    let matcher = match choice {
        12 => Matcher::PacketSize { from: 100, to: 1000, negate },
        13 | 14 => Matcher::ConnectionBytes { from, to: [0, from + 20_000][random.below(2) as usize] },
        15 => {
            let (from_ms, to_ms) =
                [(5_000, 17_123), (60_000, 3_000), (0, 86_400_000)][random.below(3) as usize];
            Matcher::Time { from_ms, to_ms, days: 1 + random.below(127) as u8, utc_offset_s: 0, negate }
        }
        16 => Matcher::Nth { every: 3, packet: 2, negate },
        17 => Matcher::Random { percent: 40 },
        _ => {
            let unit = [LimitUnit::Packet, LimitUnit::Bit][random.below(2) as usize];
            let burst = if unit == LimitUnit::Bit { 40_000 } else { 5 };
            Matcher::Limit { rate: burst, per_ms: 1000, burst, unit, negate }
        }
    };
    let rule = rule().matcher(matcher);
    match random.below(8) {
        0 => rule.protocol(17).drop(),
        1 => rule.dst_port(81).accept(),
        _ => rule.passthrough(),
    }
}

/// Whether the order of packets makes a difference: of different flows, or of one whose mark changes.
pub(super) fn counts(config: &RouterConfig) -> bool {
    let mut rules = config.config.filter.iter().chain(&config.config.mangle).flat_map(|chain| &chain.rules);
    rules.any(|rule| {
        rule.matchers.iter().any(|matcher| {
            matches!(matcher, Matcher::Nth { .. } | Matcher::Random { .. } | Matcher::Limit { .. })
        }) || matches!(rule.action, Action::AddSrcToAddressList { .. } | Action::MarkConnection { .. })
    })
}

/// Queues for some of the hosts, which overlap; few are fast enough for all of their packets.
pub(super) fn queues(random: &mut Random) -> Vec<SimpleQueue> {
    let targets = [HOSTS[0], HOSTS[1], "192.168.88.0/24", "0.0.0.0/0", "203.0.113.0/24", "10.2.0.0/24"];
    (0..=random.below(3) as u32)
        .map(|number| {
            let mut limit = || [0, 100_000, 2_000_000, 1_000_000_000][random.below(4) as usize];
            let (upload, download) = (limit(), limit());
            let target = targets[random.below(6) as usize];
            let mut queue = queue(7000 + number, &[target], upload, download);
            for limit in [&mut queue.upload, &mut queue.download] {
                limit.queue_type = pfifo([0, 3, 50][random.below(3) as usize]);
                limit.bucket_ms = [0, 100, 1000][random.below(3) as usize];
            }
            let other = targets[random.below(6) as usize];
            if random.one_in(8) {
                queue.dst = queue_of(other).targets.pop();
            }
            if random.one_in(4) {
                queue.packet_marks = vec![random.below(3) as u32];
            }
            if random.one_in(8) {
                let (from_ms, to_ms) = [(5_000, 17_123), (60_000, 3_000)][random.below(2) as usize];
                let negate = random.one_in(2);
                queue.time = Some(QueueTime { from_ms, to_ms, days: 127, utc_offset_s: 0, negate });
            }
            if random.one_in(8) {
                queue.targets =
                    vec![QueueTarget::Interface(TargetInterface { interface: 1 + random.below(2) as u32 })];
            }
            if number > 0 && random.one_in(4) {
                queue.parent = Some(7000);
            }
            queue
        })
        .collect()
}

/// A tree below `global`, one below the interface to the world, or none.
fn trees(random: &mut Random) -> Vec<TreeQueue> {
    let root = match random.below(4) {
        0 | 1 => return Vec::new(),
        2 => TreeParent::Global,
        _ => TreeParent::Interface { interface: 2 },
    };
    let mut row = 7100;
    let mut node = |parent, packet_marks, rate| {
        row += 1;
        let limit = queue_of(HOSTS[0]).upload;
        TreeQueue { row, parent, packet_marks, limit: QueueLimit { max_limit: rate, ..limit } }
    };
    let below = TreeParent::Queue { row: 7101 };
    let mut all = vec![node(root, Vec::new(), 1_000_000_000)];
    all.extend((0..=random.below(2) as u32).map(|mark| node(below, vec![mark], 2_000_000)));
    if random.one_in(2) {
        all.push(node(below, Vec::new(), 1_000_000));
    }
    all
}

fn queue_of(target: &str) -> SimpleQueue {
    queue(7000, &[target], 0, 0)
}
