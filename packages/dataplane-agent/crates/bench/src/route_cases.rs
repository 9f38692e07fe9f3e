//! Cases with a table of routes as large as the Internet's.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Instant;

use tollway_engine::interface::InterfaceMap;
use tollway_engine::ip::fib::{DynamicRoute, DynamicTarget, Fib, Lookup, Prefix, RouteChange};
use tollway_engine::shared::Shared;
use tollway_engine::snapshot::Snapshot;

use crate::alloc;
use crate::changes::{Changing, while_changing};
use crate::clock::{Tsc, Windows};
use crate::measure::{CaseResult, Marks, PACKETS, WINDOW, timed};
use crate::packet::Ends;
use crate::prefixes::prefixes;
use crate::random::Random;
use crate::scenario::{SINK, SOURCES, Scenario, WAN, neighbor, route};
use crate::timed_engine::{Setup, TimedEngine};
use crate::traffic::{GENERATOR_MAC, LAN_PORT_MAC, SINK_MAC, Traffic};

/// Routes.
const ROUTES: usize = 900_000;
/// Neighbours that they lead to, as many as a router at an exchange may have.
const GATEWAYS: u32 = 64;
/// Different destinations of packets, all over the table.
const FLOWS: usize = 1 << 18;
/// Lookups that are done together by the bare tables.
const BATCH: usize = 256;
/// Different addresses that the bare tables are asked for.
const ADDRESSES: usize = 1 << 20;
/// Changes that a routing daemon makes at a time.
const CHUNK: usize = 64;
/// Row of the first gateway's neighbour entry.
const NEIGHBORS: u32 = 1000;

fn gateway(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(SINK.to_bits() + 256 + number % GATEWAYS)
}

fn learned(prefix: Prefix, number: u32) -> RouteChange {
    let (destination, prefix_len) = prefix;
    let target = DynamicTarget::Gateway { address: gateway(number).to_bits(), interface: Some(WAN) };
    let (metric, protocol, distance) = (20, 186, 20);
    RouteChange::Replace(DynamicRoute {
        destination,
        prefix_len,
        metric,
        protocol,
        distance,
        target,
        multipath: false,
        source: 0,
    })
}

/// Stateless routing by a default route and the gateways' neighbours, ready for the large table.
fn setup(traffic: Traffic) -> Setup {
    let mut setup = Setup::of(Scenario::ROUTING, traffic);
    setup.config.routes.push(route(23, Ipv4Addr::UNSPECIFIED, 0, SINK, WAN));
    let neighbors = (0..GATEWAYS).map(|number| neighbor(NEIGHBORS + number, WAN, gateway(number), SINK_MAC));
    setup.config.neighbors.extend(neighbors);
    setup
}

/// A destination in the table, no network has more than its share.
fn destination(random: &mut Random, table: &[Prefix]) -> u32 {
    let (network, len) = table[random.below(table.len() as u32) as usize];
    network | random.next() & !(u32::MAX << (32 - len))
}

fn traffic(random: &mut Random, table: &[Prefix]) -> Traffic {
    let ends = |flow: u32| Ends {
        source_mac: GENERATOR_MAC,
        destination_mac: LAN_PORT_MAC,
        source: Ipv4Addr::from_bits(SOURCES.to_bits() + 1 + flow % 8191),
        destination: Ipv4Addr::from_bits(destination(random, table)),
        source_port: 16384 + (flow % 32768) as u16,
        destination_port: 4000,
    };
    Traffic::of((0..FLOWS as u32).map(ends).map(|ends| (ends, false)).collect())
}

/// Puts the table in, as a routing daemon would that starts.
fn load(shared: &Shared, snapshot: &Snapshot, table: &[Prefix]) -> Result<(f64, f64), String> {
    let (before, began) = (alloc::bytes(), Instant::now());
    for (chunk, prefixes) in table.chunks(CHUNK).enumerate() {
        let number = |at: usize| (chunk * CHUNK + at) as u32;
        let changes: Vec<RouteChange> =
            prefixes.iter().enumerate().map(|(at, prefix)| learned(*prefix, number(at))).collect();
        shared.change_routes(snapshot, 0, &changes).map_err(|full| format!("{full:?}"))?;
    }
    let seconds = began.elapsed().as_secs_f64();
    Ok(((alloc::bytes() - before) as f64 / table.len() as f64, seconds))
}

/// A router with so many routes, to destinations all over them.
pub fn router_with(count: usize, tsc: Tsc) -> Result<TimedEngine, String> {
    full_router(count, tsc).map(|(router, ..)| router)
}

/// The router with the table in it, and what is to be said about that.
fn full_router(count: usize, tsc: Tsc) -> Result<(TimedEngine, Vec<Prefix>, String), String> {
    let table = prefixes(count);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let router = TimedEngine::new(setup(traffic(&mut random, &table)), tsc)?;
    let (shared, snapshot) = router.tables();
    let (bytes, seconds) = load(&shared, &snapshot, &table)?;
    let known = format!(
        "{} routes put in in {seconds:.2} s, {bytes:.1} bytes each beside the fixed table; {} MiB of the process on huge pages",
        table.len(),
        alloc::huge_page_bytes() >> 20
    );
    Ok((router, table, known))
}

/// The least that finds a next hop among so many routes: a table of 2²⁴ cells, one for each /24
/// (DIR-24-8), read for 256 addresses at a time.
struct Floor {
    cells: Vec<u16>,
    hops: Vec<u64>,
    addresses: Vec<u32>,
    at: usize,
}

impl Floor {
    fn new(table: &[Prefix], random: &mut Random) -> Self {
        let mut cells = vec![0; 1 << 24];
        let mut numbered: Vec<_> = table.iter().zip(1_u32..).collect();
        numbered.sort_by_key(|((_, len), _)| *len);
        for ((network, len), number) in numbered {
            let first = (network >> 8) as usize;
            cells[first..first + (1 << (24 - len))].fill((1 + number % GATEWAYS) as u16);
        }
        let addresses = (0..ADDRESSES).map(|_| destination(random, table)).collect();
        Self { cells, hops: (0..=u64::from(GATEWAYS)).collect(), addresses, at: 0 }
    }

    fn batch(&mut self, count: usize) -> &[u32] {
        let from = self.at;
        self.at = (self.at + BATCH) % ADDRESSES;
        &self.addresses[from..from + count.min(BATCH)]
    }

    fn look_up(&mut self, count: usize) -> u64 {
        let from = self.at;
        self.batch(count);
        let Self { cells, hops, addresses, .. } = self;
        let next_hop = |address: &u32| hops[usize::from(cells[(address >> 8) as usize])];
        addresses[from..from + count.min(BATCH)].iter().map(next_hop).sum()
    }
}

/// The product's table, asked for the same addresses in the way that forwarding asks.
fn look_up(fib: &Fib, addresses: &[u32]) -> u64 {
    let touched = addresses.iter().fold(0, |touched, address| touched ^ fib.touch(*address));
    std::hint::black_box(touched);
    let gateway = |address: &u32| match fib.lookup(*address) {
        Lookup::Via { gateway, .. } => u64::from(gateway),
        _ => 0,
    };
    addresses.iter().map(gateway).sum()
}

/// Stateless routing by 900,000 routes to destinations all over them, against the bare lookup.
pub fn route_900k(windows: usize) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let (mut router, table, known) = full_router(ROUTES, tsc)?;
    let mut floor = Floor::new(&table, &mut Random(0x1234_5678_9abc_def1));
    let bare = bare_fib(&table)?;
    router.window(WINDOW)?;
    let (mut ours, mut baseline, mut lookups) = (Windows::default(), Windows::default(), Windows::default());
    let before = Marks::of(&router);
    for _ in 0..windows {
        timed(&tsc, &mut ours, || router.window(WINDOW))?;
        timed(&tsc, &mut baseline, || Ok(router.floor_window(WINDOW, |frames| floor.look_up(frames.len()))))?;
        timed(&tsc, &mut lookups, || {
            Ok(router.floor_window(WINDOW, |frames| look_up(&bare, floor.batch(frames.len()))))
        })?;
    }
    let best = ours.best_probe().min(baseline.best_probe()).min(lookups.best_probe());
    let scale = tsc.nanoseconds_per_tick();
    let ((ours, quiet), (baseline, _)) = (ours.median(best), baseline.median(best));
    let mut details = vec![
        format!(
            "{:.1} ns a packet, floor/fib-900k {:.1} ns a lookup, {:.1} times that; {:.0} % of windows quiet",
            ours * scale,
            baseline * scale,
            ours / baseline,
            100.0 * quiet
        ),
        format!("{:.1} ns a lookup in the product's table alone", lookups.median(best).0 * scale),
        known,
    ];
    details.extend(before.describe(&router, scale));
    Ok(CaseResult { unit: PACKETS, ours_ns: ours * scale, baseline_ns: baseline * scale, details })
}

/// The table alone.
fn bare_fib(table: &[Prefix]) -> Result<Fib, String> {
    let config = setup(Traffic::of(Vec::new())).config;
    let map = InterfaceMap::new(&config.interfaces).map_err(|error| error.to_string())?;
    let fib = Fib::build(&config, &map, &[true, true]).map_err(|error| error.to_string())?;
    let changes: Vec<_> = table.iter().zip(0..).map(|(prefix, number)| learned(*prefix, number)).collect();
    fib.change(&changes, &mut Vec::new()).map_err(|full| format!("{full:?}"))?;
    Ok(fib)
}

/// Changes routes as fast as possible until it is stopped: in each chunk a quarter of the prefixes goes and
/// comes back, and the other half gets another gateway.
fn update(changing: &Changing, tables: (Arc<Shared>, Arc<Snapshot>), table: &[Prefix]) -> Result<(), String> {
    let (shared, snapshot) = tables;
    let mut random = Random(0xfeed_beef_1234_5678);
    let mut changes = Vec::with_capacity(CHUNK);
    let mut round = 0_u32;
    changing.keep_on(|| {
        round = round.wrapping_add(1);
        changes.clear();
        let mut any = || table[random.below(table.len() as u32) as usize];
        let moving: [_; CHUNK / 4] = std::array::from_fn(|_| any());
        let gone =
            |(destination, prefix_len): Prefix| RouteChange::Remove { destination, prefix_len, metric: 20 };
        changes.extend(moving.map(gone));
        changes.extend((0..CHUNK / 2).map(|at| learned(any(), round.wrapping_add(at as u32))));
        changes.extend(moving.map(|prefix| learned(prefix, round)));
        changing
            .timed(|| shared.change_routes(&snapshot, 0, &changes))
            .map_err(|full| format!("{full:?}"))?;
        Ok(changes.len() as u64)
    })
}

/// Forwarding by 900,000 routes while another core changes them as fast as it can, against forwarding while
/// nothing changes.
pub fn route_updates(windows: usize) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let (mut router, table, known) = full_router(ROUTES, tsc)?;
    let tables = router.tables();
    let mut result =
        while_changing(windows, &mut router, None, tsc, |changing| update(changing, tables, &table))?;
    result.details.insert(1, known);
    Ok(result)
}
