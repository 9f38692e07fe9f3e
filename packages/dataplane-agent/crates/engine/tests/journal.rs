//! Translated connections of both families through a restart of the process.

use tollway_config::dataplane::{Action, PortRange};
use tollway_engine::flow::conntrack::{Change, Translated};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::tcp_flag::{ACK, RST, SYN};
use tollway_testkit::router::{To, port_mac};
use tollway_testkit::{Ipv6Builder, Output, PacketBuilder, Router, RouterConfig, rule};

/// Another port at each attempt, so that only a connection that is known again keeps its port.
const ANY_PORT: Action =
    Action::Masquerade { to_ports: Some(PortRange { from: 20_000, to: 60_000 }), randomise_ports: true };

/// Address and port of an end of a connection.
type End<'a> = (&'a str, u16);

/// Makes a TCP segment from an end to another one, with the destination MAC address, flags, sequence and acknowledgement.
type MakeSegment = fn(End, End, [u8; 6], u8, u32, u32) -> Vec<u8>;

/// Reads source, destination and ports of what was sent.
type ReadEnds = fn(&Output) -> (String, String, (u16, u16));

/// What one family sends and receives.
struct Family {
    host: &'static str,
    server: &'static str,
    outside: &'static str,
    config: fn() -> RouterConfig,
    segment: MakeSegment,
    ends: ReadEnds,
}

const IPV4: Family = Family {
    host: "192.168.88.10",
    server: "203.0.113.5",
    outside: "10.2.0.1",
    config: || {
        RouterConfig::new()
            .interface("192.168.88.1/24")
            .interface("10.2.0.1/24")
            .route("0.0.0.0/0", "10.2.0.254")
            .neighbor(1, "192.168.88.10", "02:01:0a:01:00:02", false)
            .neighbor(2, "10.2.0.254", "02:01:0a:02:00:02", false)
            .nat("srcnat", rule().protocol(6).out_interface(2).then(ANY_PORT))
    },
    segment: |(src, from), (dst, to), mac, flags, seq, ack| {
        PacketBuilder::ipv4(src, dst).tcp(from, to, flags, seq, ack).eth_dst(mac).build()
    },
    ends: |output| {
        let packet = output.packet();
        assert!(packet.checksums_right);
        (packet.src.to_string(), packet.dst.to_string(), packet.ports)
    },
};

const IPV6: Family = Family {
    host: "fd00:1::10",
    server: "2001:db8:ff::1",
    outside: "2001:db8:2::1",
    config: || {
        RouterConfig::new()
            .interface("fd00:1::1/64")
            .interface("2001:db8:2::1/64")
            .route("::/0", "2001:db8:2::fe")
            .neighbor(1, "fd00:1::10", "02:01:0a:01:00:02", false)
            .neighbor(2, "2001:db8:2::fe", "02:01:0a:02:00:02", false)
            .ipv6_nat("srcnat", rule().protocol(6).out_interface(2).then(ANY_PORT))
    },
    segment: |(src, from), (dst, to), mac, flags, seq, ack| {
        Ipv6Builder::new(src, dst).tcp(from, to, flags, seq, ack).eth_dst(mac).build()
    },
    ends: |output| {
        let packet = output.ipv6();
        assert!(packet.checksum_right);
        (packet.src.to_string(), packet.dst.to_string(), packet.ports)
    },
};

fn router(family: &Family, workers: u32) -> Router {
    let mut router = Router::with_workers((family.config)(), workers);
    // Addresses of IPv6 are used when nobody has answered for them.
    router.advance_ms(1_100);
    router
}

fn appeared(changes: &[Change]) -> Vec<Translated> {
    let of = |change: &Change| match change {
        Change::Appeared(saved) => Some(*saved),
        Change::Ended(_) => None,
    };
    changes.iter().filter_map(of).collect()
}

#[test]
fn a_translated_connection_goes_on_both_ways_after_a_restart() {
    for family in [IPV4, IPV6] {
        for workers in [1, 3] {
            let Family { host, server, outside, segment, ends, .. } = family;
            let mut before = router(&family, workers);
            let out = |router: &mut Router, flags, seq, ack| {
                let frame = segment((host, 4000), (server, 80), port_mac(0), flags, seq, ack);
                router.inject(0, frame, VnetState::default())
            };
            let back = |router: &mut Router, port, flags, seq, ack| {
                let frame = segment((server, 80), (outside, port), port_mac(1), flags, seq, ack);
                router.inject(1, frame, VnetState::default())
            };
            let sent = out(&mut before, SYN, 100, 0);
            let (src, _, (port, _)) = ends(&sent[0]);
            assert_eq!(src, outside);
            assert_eq!(back(&mut before, port, SYN | ACK, 900, 101).len(), 1);
            assert_eq!(before.take_changes(), []);
            assert_eq!(out(&mut before, ACK, 101, 901).len(), 1);
            let changes = before.take_changes();
            let saved = appeared(&changes);
            assert_eq!((changes.len(), saved.len()), (1, 1), "{changes:?}");

            let unknown = back(&mut router(&family, workers), port, ACK, 901, 101);
            assert!(unknown.iter().all(|output| output.to != To::Port(0)), "nobody knows it");
            let mut after = router(&family, workers);
            assert!(after.restore(&saved[0]));
            assert!(!after.restore(&saved[0]), "it is there already");
            let answered = back(&mut after, port, ACK, 901, 101);
            assert_eq!(ends(&answered[0]), (server.into(), host.into(), (80, 4000)));
            let sent = out(&mut after, ACK, 101, 901);
            assert_eq!(ends(&sent[0]), (outside.into(), server.into(), (port, 80)));
            // Its end is noted for the next restart.
            assert_eq!(back(&mut after, port, RST | ACK, 901, 101).len(), 1);
            assert_eq!(after.take_changes(), [Change::Ended(saved[0].original)]);
        }
    }
}
