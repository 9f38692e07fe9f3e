//! Configurations made at random.

use tollway_config::dataplane::{
    Action, ConnectionState, LimitUnit, Matcher, RejectWith, TreeParent, TreeQueue,
};
use tollway_testkit::config::queue_limit;
use tollway_testkit::networks::UPLINK;
use tollway_testkit::packet::tcp_flag;
use tollway_testkit::random::Random;
use tollway_testkit::{Networks, RouterConfig, queue, rule};

use super::HOSTS;

const ESTABLISHED: &[ConnectionState] = &[ConnectionState::Established, ConnectionState::Related];

/// Rules chosen at random, and whether the order of packets of different flows makes a difference to them.
pub(super) fn config(networks: Networks, random: &mut Random) -> (RouterConfig, bool) {
    // Known neighbours: packets that wait for one wait where they are.
    let uplink = |config: RouterConfig, &uplink: &u32| {
        config.address(uplink, "10.2.0.7/24").neighbor(uplink, UPLINK, "02:01:0a:02:00:fe", false)
    };
    let lan = |config: RouterConfig, &lan: &u32| {
        config
            .neighbor(lan, HOSTS[0], "02:01:0a:01:00:10", false)
            .neighbor(lan, HOSTS[1], "02:01:0a:01:00:11", false)
            .neighbor(lan, HOSTS[2], "02:01:0a:01:00:12", false)
    };
    let config = networks.uplink_interfaces().iter().fold(networks.config(), uplink);
    let mut config = networks
        .lan_interfaces()
        .iter()
        .fold(config, lan)
        .address_list("hosts", &[HOSTS[0], HOSTS[2]])
        .address_list("seen", &[]);
    config.config.settings.icmp_rate_limit_ms = 0;
    // Flows that leave two VRFs by one uplink with the same addresses and ports cannot all keep them: the second one gets
    // another port.
    let mut ordered = networks == Networks::Leaking;
    if networks != Networks::One {
        config = networks.lan_interfaces().iter().fold(config, |config, &lan| match random.below(4) {
            0 => config.filter("forward", rule().in_interface(lan).protocol(17).dst_port(54).drop()),
            1 => config.filter("forward", rule().out_interface(lan).passthrough()),
            _ => config.filter("forward", rule().in_interface(lan).passthrough()),
        });
    }
    if random.one_in(2) {
        config = config.filter("forward", rule().state(ESTABLISHED).fasttrack());
    }
    for _ in 0..random.below(7) {
        let listed = |list| Matcher::SrcAddressList { list, negate: false };
        let choice = random.below(13);
        ordered |= choice >= 9;
        let counting = match random.below(3) {
            0 => Matcher::Nth { every: 3, packet: 2, negate: false },
            1 => Matcher::Random { percent: 40 },
            _ => Matcher::Limit { rate: 5, per_ms: 1000, burst: 5, unit: LimitUnit::Packet, negate: false },
        };
        config = match choice {
            0 => config.filter_jump("forward", rule().protocol(6), "tcp"),
            1 => config.filter("tcp", rule().protocol(6).dst_port(83).drop()),
            2 => config.filter("tcp", rule().protocol(6).tcp_flags(tcp_flag::PSH, 0).then(Action::Return)),
            3 => config.filter("forward", rule().matcher(listed(0)).passthrough()),
            4 => config
                .filter("forward", rule().protocol(17).dst_port(54).reject(RejectWith::IcmpPortUnreachable)),
            5 => config.filter("forward", rule().state(&[ConnectionState::Invalid]).drop()),
            6 => config.filter("forward", rule().src(HOSTS[0]).passthrough()),
            7 => config.filter("forward", rule().protocol(6).tcp_flags(tcp_flag::PSH, 0).passthrough()),
            8 => config.filter(
                "forward",
                rule().matcher(Matcher::ConnectionBytes { from: 3000, to: 0 }).passthrough(),
            ),
            9 => config.filter("forward", rule().protocol(17).matcher(counting).drop()),
            10 => config.filter("forward", rule().matcher(counting).passthrough()),
            11 => config.filter("forward", rule().matcher(listed(1)).protocol(17).drop()).filter(
                "forward",
                rule().dst_port(82).then(Action::AddSrcToAddressList { list: 1, timeout_ms: 0 }),
            ),
            _ => config.with(|config| {
                config.simple_queues = (0..1 + random.below(3))
                    .map(|number| {
                        let target = [HOSTS[0], HOSTS[1], "192.168.88.0/24"][random.below(3) as usize];
                        let mut limit = || [100_000, 2_000_000, 0][random.below(3) as usize];
                        queue(7000 + number as u32, &[target], limit(), limit())
                    })
                    .collect();
            }),
        };
    }
    let translation = random.below(5);
    // Flows whose destination port changes move to the worker of their answers. Their packets take a longer way there
    // than the answers, so that those which arrive together have no order among each other.
    ordered |= translation == 4;
    let source = |config: RouterConfig, &uplink: &u32| match translation {
        0 => config,
        2 => config.nat("srcnat", rule().out_interface(uplink).src_nat("10.2.0.7")),
        _ => config.nat("srcnat", rule().out_interface(uplink).masquerade()),
    };
    let config = networks.uplink_interfaces().iter().fold(config, source);
    let config = match translation {
        3 | 4 => {
            let port = if translation == 3 { 80 } else { 8080 };
            config.nat("dstnat", rule().protocol(6).dst_port(80).dst_nat("203.0.113.9", port))
        }
        _ => config,
    };
    let (config, queued) = marks(config, random);
    let config = config.dual_stack();
    let config = if random.one_in(3) { config.trunk() } else { config };
    (config, ordered || queued)
}

/// Marks, of connections and of their packets, and queues of them. Whether there are queues.
fn marks(mut config: RouterConfig, random: &mut Random) -> (RouterConfig, bool) {
    let of_connection = |mark| rule().matcher(Matcher::ConnectionMark { mark, negate: false });
    let of_packet = |mark| rule().matcher(Matcher::PacketMark { mark, negate: false });
    if random.one_in(2) {
        return (config, false);
    }
    for _ in 0..random.below(5) {
        let chain = ["prerouting", "forward", "postrouting"][random.below(3) as usize];
        let (mark, other) = (1 + random.below(3) as u32, random.below(4) as u32);
        let passthrough = random.one_in(2);
        let action = match random.below(4) {
            0 => Action::MarkConnection { mark, passthrough },
            1 | 2 => Action::MarkPacket { mark, passthrough },
            _ => Action::ChangeDscp { dscp: 8 * mark as u8, passthrough },
        };
        let conditions = match random.below(5) {
            0 => of_connection(other),
            1 => of_packet(other),
            2 => rule().protocol(17),
            3 => rule().src(HOSTS[1]),
            _ => rule().protocol(6).tcp_flags(tcp_flag::PSH, 0),
        };
        config = config.mangle(chain, conditions.then(action));
    }
    if random.one_in(2) {
        config = config.filter("forward", of_packet(2).protocol(17).dst_port(55).drop());
    }
    if random.one_in(2) {
        return (config, false);
    }
    let mut leaf = |row: u32, parent, marks: &[u32]| TreeQueue {
        row,
        parent,
        packet_marks: marks.to_vec(),
        limit: queue_limit([100_000, 2_000_000, 0][random.below(3) as usize]),
    };
    let roots = [
        leaf(8001, TreeParent::Global, &[1]),
        leaf(8002, TreeParent::Interface { interface: 2 }, &[2, 3]),
        leaf(8003, TreeParent::Interface { interface: 1 }, &[0]),
    ];
    (config.with(|config| config.tree_queues = roots.to_vec()), true)
}
