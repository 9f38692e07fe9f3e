//! Any frames, through a router in one configuration, which has a VRF with the addresses of the main table.

use tollway_config::dataplane::{ConnectionState, RejectWith};
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::tcp_flag;
use tollway_testkit::router::port_mac;
use tollway_testkit::{Router, RouterConfig, rule};

use crate::pcap;

const ESTABLISHED: &[ConnectionState] = &[ConnectionState::Established, ConnectionState::Related];
/// Longest frame, bytes; what is longer comes with offloads, which this target does without.
const LONGEST: usize = 9216;

/// A pcap file, or frames one after the other: port, length (16 bits, big endian), bytes. Every one must leave, be
/// dropped for a reason, or wait.
pub fn run(data: &[u8]) {
    let mut router = router();
    match pcap::frames(data) {
        Some(frames) => frames.for_each(|frame| {
            send(&mut router, 0, frame);
            // Addressed to the router, so that more than its link-layer address is looked at.
            let mut ours = frame.to_vec();
            for port in [0, 1, 3] {
                if let Some(destination) = ours.first_chunk_mut() {
                    *destination = port_mac(port);
                }
                send(&mut router, port, &ours);
            }
        }),
        None => {
            let mut rest = data;
            while let Some((&[port, high, low], after)) = rest.split_first_chunk() {
                let (frame, after) =
                    after.split_at(after.len().min(usize::from(u16::from_be_bytes([high, low]))));
                send(&mut router, port.into(), frame);
                rest = after;
            }
        }
    }
    router.advance_ms(40_000);
    check_accounts(&router);
}

fn send(router: &mut Router, port: u16, frame: &[u8]) {
    let frame = frame.get(..frame.len().min(LONGEST)).unwrap_or_default();
    router.inject(port % 4, frame.to_vec(), VnetState::default());
}

/// Every frame that went in, and every one the router made, left, was dropped or waits.
pub fn check_accounts(router: &Router) {
    let stats = router.stats();
    let drops: u64 = stats.drops.iter().sum();
    assert_eq!(
        router.emitted + drops + stats.held,
        router.injected + stats.generated,
        "frames in and made, frames out, dropped and held"
    );
}

/// A router as people have them: NAT, a stateful firewall, fasttrack, a small interface, a queue, a VRF.
fn router() -> Router {
    let config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .interface("10.3.0.1/24")
        .with(|config| config.interfaces[2].mtu = 600)
        .interface("192.168.88.1/24")
        .vrf(7, &[4])
        .route("0.0.0.0/0", "10.2.0.254")
        .leak(1, "0.0.0.0/0", "10.2.0.254", 0)
        .address(1, "2001:db8:88::1/64")
        .address(2, "2001:db8:2::1/64")
        .route("::/0", "2001:db8:2::fe")
        .filter("input", rule().state(ESTABLISHED).accept())
        .filter("input", rule().protocol(1).accept())
        .filter("input", rule().in_interface(2).reject(RejectWith::IcmpAdminProhibited))
        .filter("forward", rule().state(ESTABLISHED).fasttrack())
        .filter("forward", rule().protocol(6).tcp_flags(tcp_flag::PSH, 0).passthrough())
        .filter("forward", rule().state(ESTABLISHED).accept())
        .filter("forward", rule().state(&[ConnectionState::Invalid]).drop())
        .filter("forward", rule().protocol(6).dst_port(25).reject(RejectWith::TcpReset))
        .nat("dstnat", rule().in_interface(2).protocol(6).dst_port(80).dst_nat("192.168.88.10", 8080))
        .nat("srcnat", rule().out_interface(2).masquerade())
        .queue(&["192.168.88.0/25"], 10_000_000, 10_000_000)
        .dual_stack();
    Router::with_workers(config, 2)
        .hosts(0, &["192.168.88.10", "192.168.88.11"])
        .hosts(1, &["10.2.0.254"])
        .hosts(2, &["10.3.0.2"])
        .hosts(3, &["192.168.88.10"])
        .hosts_in_ipv6()
        .hosts6(0, &["2001:db8:88::10"])
        .hosts6(1, &["2001:db8:2::fe"])
}
