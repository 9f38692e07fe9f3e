//! A dry run of a packet of IPv6 says what then becomes of the packet.

use tollway_config::dataplane::RejectWith;
use tollway_config::protocol::{PacketDescription, TraceFilter, TraceOutcome, TracedPacket};
use tollway_engine::engine::dry_run::DryRunError;
use tollway_testkit::packet::tcp_flag;
use tollway_testkit::{Ipv6Builder, Router, RouterConfig, rule};

const HOST: &str = "fd00:1::10";
const SERVER: &str = "2001:db8:ff::1";

fn config() -> RouterConfig {
    RouterConfig::new()
        .interface("fd00:1::1/64")
        .interface("2001:db8:2::1/64")
        .neighbor(1, HOST, "02:01:0a:01:00:02", false)
        .neighbor(2, "2001:db8:2::fe", "02:01:0a:02:00:02", false)
        .route("::/0", "2001:db8:2::fe")
        .ipv6_filter("forward", rule().protocol(6).dst_port(23).reject(RejectWith::TcpReset))
        .ipv6_filter("forward", rule().protocol(17).dst_port(9).drop())
        .ipv6_filter("forward", rule().passthrough())
        .ipv6_nat("srcnat", rule().out_interface(2).masquerade())
        .with(|config| config.settings.icmp_rate_limit_ms = 0)
}

fn description(protocol: u8, dst_port: u16) -> PacketDescription {
    PacketDescription {
        in_interface: Some(1),
        protocol,
        src_address: HOST.parse().expect("an address"),
        dst_address: SERVER.parse().expect("an address"),
        src_port: 4000,
        dst_port,
        icmp_type: 128,
        icmp_code: 0,
        tcp_flags: tcp_flag::SYN,
        length: 100,
        ttl: 64,
    }
}

/// What a trace and a dry run both tell of a packet.
fn told(packet: &TracedPacket) -> impl PartialEq + std::fmt::Debug {
    let steps: Vec<_> = packet
        .steps
        .iter()
        .map(|step| (step.stage.clone(), step.decision.clone(), step.rows.clone()))
        .collect();
    (packet.outcome, packet.fast, packet.drop_reason.clone(), packet.slow_reason.clone(), steps)
}

#[test]
fn a_dry_run_tells_what_the_packet_does_then() {
    for workers in [1, 3] {
        for (protocol, dst_port, outcome) in [
            (17, 53, TraceOutcome::Forwarded),
            (17, 9, TraceOutcome::Dropped),
            (6, 80, TraceOutcome::Forwarded),
            (6, 23, TraceOutcome::Dropped),
            (58, 0, TraceOutcome::Forwarded),
        ] {
            let mut router = Router::with_workers(config(), workers);
            router.advance_ms(1_100);
            for round in 0..4u32 {
                let builder = Ipv6Builder::new(HOST, SERVER);
                let packet = match protocol {
                    6 => builder.tcp(4000, dst_port, tcp_flag::SYN, 1, 0).payload_len(40),
                    17 => builder.udp(4000, dst_port).payload_len(52),
                    _ => builder.echo_request(4000, 1).payload_len(52),
                };
                let before = (router.connections(), router.stats());
                let dry = router.dry_run(&description(protocol, dst_port)).unwrap();
                assert_eq!((router.connections(), router.stats()), before, "nothing has changed");
                assert_eq!(dry.outcome, outcome, "{protocol} {dst_port} {round}: {dry:?}");
                let trace = router.start_trace(&TraceFilter::default());
                router.send6(0, &packet);
                let traced = router.traced(trace);
                router.stop_trace(trace);
                let real =
                    traced.packets.iter().find(|packet| packet.src_address == dry.src_address).unwrap();
                assert_eq!(real.outcome, dry.outcome);
                assert_eq!(real.drop_reason, dry.drop_reason);
                let rows = |packet: &TracedPacket| {
                    packet.steps.iter().flat_map(|step| step.rows.clone()).collect::<Vec<_>>()
                };
                if workers == 1 && !real.fast {
                    assert_eq!(
                        format!("{:?}", told(real)),
                        format!("{:?}", told(&dry)),
                        "{protocol} {round}"
                    );
                }
                assert!(real.fast || rows(real) == rows(&dry), "{real:?} {dry:?}");
            }
        }
    }
}

#[test]
fn addresses_are_of_one_family_and_the_length_has_room_for_the_headers() {
    let router = Router::new(config());
    let short = PacketDescription { length: 47, ..description(17, 53) };
    let mixed = PacketDescription { dst_address: "10.0.0.1".parse().unwrap(), ..description(17, 53) };
    for (wrong, named) in [(short, "at least 48"), (mixed, "dst-address: expected an IPv6 address")] {
        let Err(DryRunError::Description(why)) = router.dry_run(&wrong) else {
            panic!("{wrong:?} is possible")
        };
        assert!(why.contains(named), "{why}");
    }
}
