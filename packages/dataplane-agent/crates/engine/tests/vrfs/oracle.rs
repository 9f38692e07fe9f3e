//! The same packets through routers with and without the flow cache, and through several workers.

use std::collections::BTreeMap;

use tollway_config::dataplane::TrackingMode;
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::random::Random;
use tollway_testkit::router::{To, port_mac};
use tollway_testkit::routing::toggle_leak;
use tollway_testkit::{Ipv6Builder, Router};

use super::{HOST, HOST6, SERVER, SERVER6, UPLINK, UPLINK6, later, router, translated};

/// A router of the oracle, and the outside ports that its flows have.
struct Watched {
    router: Router,
    outside: BTreeMap<(u16, u16, bool), u16>,
}

/// A frame without the outside port: where it went, addresses, the inner ports, and what it carries.
type Seen = (To, String, String, (u16, u16), usize);

impl Watched {
    fn new(cache: bool, workers: u32) -> Self {
        let config = translated().fast_path(cache).with(|config| config.tracking.enabled = TrackingMode::Yes);
        Self { router: router(config, workers), outside: BTreeMap::new() }
    }

    /// Sends the next packet of a flow, or its answer, if it is known where that goes.
    fn send(&mut self, turn: &Turn) -> Vec<Seen> {
        let key = (turn.vrf, turn.port, turn.ipv6);
        let known = self.outside.get(&key).copied();
        let (service, len) = (53, turn.len);
        let out = match (turn.answers, known, turn.ipv6) {
            (true, None, _) => return Vec::new(),
            (true, Some(port), true) => self
                .router
                .send6(2, &Ipv6Builder::new(SERVER6, "2001:db8:3::1").udp(service, port).payload_len(len)),
            (true, Some(port), false) => self
                .router
                .send(2, &PacketBuilder::ipv4(SERVER, "10.2.0.1").udp(service, port).payload_len(len)),
            (false, _, true) => {
                let request = Ipv6Builder::new(HOST6, SERVER6).udp(turn.port, service).payload_len(len);
                self.router.send6(turn.vrf, &request)
            }
            (false, _, false) => {
                let request =
                    PacketBuilder::ipv4(HOST, SERVER).udp(turn.port, service).ident(9).payload_len(len);
                match turn.fragments {
                    true => {
                        let fragments = request.eth_dst(port_mac(turn.vrf)).build_fragments(400);
                        let send = |fragment| self.router.inject(turn.vrf, fragment, VnetState::default());
                        fragments.into_iter().flat_map(send).collect()
                    }
                    false => self.router.send(turn.vrf, &request),
                }
            }
        };
        let out = later(&mut self.router, out);
        let mut seen = Vec::new();
        for output in &out {
            if output.arp().is_some() || turn.ipv6 && output.ipv6().protocol == 58 {
                continue;
            }
            let (src, dst, mut ports, len) = if turn.ipv6 {
                let packet = output.ipv6();
                (packet.src.to_string(), packet.dst.to_string(), packet.ports, packet.transport.len())
            } else {
                let packet = output.packet();
                assert!(packet.checksums_right, "{packet:?}");
                (packet.src.to_string(), packet.dst.to_string(), packet.ports, packet.payload.len())
            };
            if output.to == To::Port(2) && ports.1 == service {
                self.outside.insert(key, ports.0);
                ports.0 = 0;
            }
            seen.push((output.to, src, dst, ports, len));
        }
        seen
    }
}

/// What one flow does, the same through every router.
struct Turn {
    vrf: u16,
    port: u16,
    ipv6: bool,
    answers: bool,
    fragments: bool,
    len: usize,
}

#[test]
fn the_flow_cache_and_any_number_of_workers_keep_vrfs_apart() {
    let mut random = Random::new(24);
    let (mut fast, mut packets) = (0, 0);
    for _ in 0..tollway_testkit::cases(12) {
        let mut routers = [Watched::new(true, 1), Watched::new(false, 1), Watched::new(true, 3)];
        for step in 0..120 {
            let turn = Turn {
                vrf: random.below(2) as u16,
                port: 4000 + random.below(4) as u16,
                ipv6: random.one_in(3),
                answers: random.one_in(2),
                fragments: random.one_in(8),
                len: [0, 100, 900][random.below(3) as usize],
            };
            if random.one_in(15) {
                // The leak of a VRF goes or comes back.
                let table = 1 + random.below(2) as u16;
                let uplinks = [UPLINK, UPLINK6].map(|text| text.parse().expect("an address"));
                for watched in &mut routers {
                    watched.router.reconfigure(|config| toggle_leak(config, table, uplinks));
                }
            }
            let [cached, slow, several] = routers.each_mut().map(|watched| watched.send(&turn));
            assert_eq!(cached, slow, "step {step}: the cache");
            assert_eq!(cached, several, "step {step}: workers");
            for (to, _, dst, ..) in &cached {
                // What is for a host goes to that of its own VRF.
                let for_host = [HOST, HOST6].contains(&dst.as_str());
                assert!(!for_host || *to == To::Port(turn.vrf), "step {step}: {cached:?}");
            }
            packets += cached.len();
        }
        fast += routers[0].router.stats().flow_cache_forwarded.packets as usize;
        let counts = routers.each_ref().map(|watched| watched.router.connections().len());
        assert_eq!(counts[0], counts[1]);
        assert_eq!(counts[0], counts[2]);
    }
    assert!(fast * 3 > packets, "{fast} of {packets} packets took the fast path");
}
