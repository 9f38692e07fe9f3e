//! Routing of IPv6 by a table as large as the Internet's.

use std::time::Instant;

use tollway_config::dataplane::{InterfaceAddress, StaticNeighbor};
use tollway_engine::interface::InterfaceMap;
use tollway_engine::ip::fib::{DynamicRoute, DynamicTarget, Fib6, Lookup6, Prefix, RouteChange, TOGETHER};

use crate::alloc;
use crate::clock::{Tsc, Windows};
use crate::ipv6_prefixes::ipv6_prefixes;
use crate::measure::{CaseResult, Marks, PACKETS, WINDOW, timed};
use crate::packet;
use crate::random::Random;
use crate::scenario::{LAN, Scenario, WAN};
use crate::timed_engine::{Setup, TimedEngine};
use crate::traffic::{GENERATOR_MAC, LAN_PORT_MAC, SINK_MAC, Traffic};

/// Routes.
const ROUTES: usize = 250_000;
/// Neighbours that they lead to.
const GATEWAYS: u32 = 64;
/// Different destinations of packets, all over the table.
const FLOWS: usize = 1 << 18;
/// Lookups that are done together by the bare table.
const BATCH: usize = 256;
/// Different addresses that the bare table is asked for.
const ADDRESSES: usize = 1 << 20;
/// Network of an interface.
const NETWORK: u128 = 0x2001_0db8 << 96;
/// Row of the first gateway's neighbour entry.
const NEIGHBORS: u32 = 2000;

fn network(interface: u32) -> u128 {
    NETWORK | u128::from(interface) << 64
}

fn gateway(number: u32) -> u128 {
    network(WAN) | 0x100 | u128::from(number % GATEWAYS)
}

fn learned((destination, prefix_len): Prefix<u128>, number: u32) -> RouteChange<u128> {
    let target = DynamicTarget::Gateway { address: gateway(number), interface: Some(WAN) };
    RouteChange::Replace(DynamicRoute {
        destination,
        prefix_len,
        metric: 20,
        protocol: 186,
        distance: 20,
        target,
        multipath: false,
        source: 0,
    })
}

/// Stateless routing, with IPv6 on both interfaces and the gateways' neighbours.
fn setup(traffic: Traffic) -> Setup {
    let mut setup = Setup { frame_bytes: packet::IPV6_UDP_FRAME, ..Setup::of(Scenario::ROUTING, traffic) };
    let address = |interface: u32| InterfaceAddress {
        row: 40 + interface,
        interface,
        address: std::net::Ipv6Addr::from_bits(network(interface) | 1).into(),
        prefix_len: 64,
        network: std::net::Ipv6Addr::from_bits(network(interface)).into(),
        ipv6: Default::default(),
    };
    setup.config.addresses.extend([LAN, WAN].map(address));
    let mac_address = SINK_MAC.map(|byte| format!("{byte:02x}")).join(":");
    setup.config.neighbors.extend((0..GATEWAYS).map(|number| StaticNeighbor {
        row: NEIGHBORS + number,
        interface: WAN,
        address: std::net::Ipv6Addr::from_bits(gateway(number)).into(),
        mac_address: mac_address.clone(),
        published: false,
    }));
    setup
}

/// A destination in the table.
fn destination(random: &mut Random, table: &[Prefix<u128>]) -> u128 {
    let (network, len) = table[random.below(table.len() as u32) as usize];
    let host = u128::from(random.bits()) << 64 | u128::from(random.bits());
    network | host & !(u128::MAX << (128 - len))
}

fn traffic(random: &mut Random, table: &[Prefix<u128>]) -> Traffic {
    let source = |flow: usize| network(LAN) | (2 + flow as u128 % 8191);
    let frame =
        |flow: usize| packet::ipv6(GENERATOR_MAC, LAN_PORT_MAC, source(flow), destination(random, table));
    Traffic::of_frames((0..FLOWS).map(frame).collect())
}

/// The table alone, and what is to be said about it.
fn bare_fib(table: &[Prefix<u128>]) -> Result<(Fib6, String), String> {
    let config = setup(Traffic::of(Vec::new())).config;
    let map = InterfaceMap::new(&config.interfaces).map_err(|error| error.to_string())?;
    let fib = Fib6::build(&config, &map, &[true, true]).map_err(|error| error.to_string())?;
    let (before, began) = (alloc::bytes(), Instant::now());
    for (number, prefix) in (0..).zip(table) {
        fib.change(&[learned(*prefix, number)], &mut Vec::new()).map_err(|full| format!("{full:?}"))?;
    }
    let seconds = began.elapsed().as_secs_f64();
    let bytes = (alloc::bytes() - before) as f64 + fib.node_bytes() as f64;
    let known = format!(
        "{} routes put in one by one in {seconds:.2} s, {:.1} bytes each beside the fixed table, of which {:.1} are what lookups read",
        table.len(),
        bytes / table.len() as f64,
        fib.node_bytes() as f64 / table.len() as f64
    );
    Ok((fib, known))
}

/// The product's table, asked in the way that forwarding asks.
fn look_up(fib: &Fib6, addresses: &[u128]) -> u64 {
    let mut numbers = [0; TOGETHER];
    let gateway = |number: &u16| match fib.lookup_of(*number, || 0) {
        Lookup6::Via { gateway, .. } => gateway as u64 & 0xffff,
        _ => 0,
    };
    let some = |addresses: &[u128]| -> u64 {
        fib.numbers(addresses, &mut numbers);
        numbers.iter().take(addresses.len()).map(gateway).sum()
    };
    addresses.chunks(TOGETHER).map(some).sum()
}

/// Stateless routing by 250,000 routes of IPv6 to destinations all over them, against the lookup alone.
pub fn route_250k_v6(windows: usize) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let table = ipv6_prefixes(ROUTES);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut router = TimedEngine::new(setup(traffic(&mut random, &table)), tsc)?;
    let (shared, snapshot) = router.tables();
    let changes: Vec<_> = table.iter().zip(0..).map(|(prefix, number)| learned(*prefix, number)).collect();
    shared.change_ipv6_routes(&snapshot, 0, &changes).map_err(|full| format!("{full:?}"))?;
    let (bare, known) = bare_fib(&table)?;
    let addresses: Vec<u128> = (0..ADDRESSES).map(|_| destination(&mut random, &table)).collect();
    let mut at = 0;
    router.window(WINDOW)?;
    let (mut ours, mut lookups) = (Windows::default(), Windows::default());
    let before = Marks::of(&router);
    for _ in 0..windows {
        timed(&tsc, &mut ours, || router.window(WINDOW))?;
        timed(&tsc, &mut lookups, || {
            Ok(router.floor_window(WINDOW, |frames| {
                let from = at;
                at = (at + BATCH) % ADDRESSES;
                look_up(&bare, &addresses[from..from + frames.len().min(BATCH)])
            }))
        })?;
    }
    let best = ours.best_probe().min(lookups.best_probe());
    let scale = tsc.nanoseconds_per_tick();
    let ((ours, quiet), (baseline, _)) = (ours.median(best), lookups.median(best));
    let mut details = vec![
        format!(
            "{:.1} ns a packet, floor/fib-250k-v6 {:.1} ns a lookup, {:.1} times that; {:.0} % of windows quiet",
            ours * scale,
            baseline * scale,
            ours / baseline,
            100.0 * quiet
        ),
        known,
    ];
    details.extend(before.describe(&router, scale));
    Ok(CaseResult { unit: PACKETS, ours_ns: ours * scale, baseline_ns: baseline * scale, details })
}
