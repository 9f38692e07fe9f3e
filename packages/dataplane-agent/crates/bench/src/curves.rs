//! How the cost of a packet depends on one thing at a time.

use serde_json::json;
use tollway_config::dataplane::Chain;

use crate::args::Args;
use crate::clock::{Tsc, Windows};
use crate::measure::timed;
use crate::packet::FRAME;
use crate::pin;
use crate::route_cases;
use crate::scenario::{Scenario, filter_of};
use crate::timed_engine::{Setup, TimedEngine};
use crate::traffic::Traffic;
use crate::worker_cases;

/// Batches per window.
const WINDOW: usize = 16;
/// Flows where it is not they that vary.
const FLOWS: u32 = 4096;

/// A line of a plot.
struct Curve {
    name: &'static str,
    /// Value of the axis, and ns per packet.
    points: Vec<(u64, f64)>,
}

/// The curves of one axis.
type Axis = fn(usize) -> Result<Vec<Curve>, String>;

/// Axes by name.
const AXES: &[(&str, Axis)] = &[
    ("rules", rules),
    ("routes", routes),
    ("flows", flows),
    ("frame-bytes", frame_bytes),
    ("workers", workers),
];

/// Measures along `--axis` and prints `{"axis","curves":[{"name","points":[[x, ns]]}]}`.
pub fn run(args: &Args) -> Result<(), String> {
    let name: String = args.required("axis")?;
    let windows = if args.optional("quick")?.unwrap_or(false) { 60 } else { 400 };
    let axis = AXES.iter().find(|(known, _)| *known == name);
    let (_, axis) = axis.ok_or_else(|| {
        let names: Vec<_> = AXES.iter().map(|(name, _)| *name).collect();
        format!("unknown axis \"{name}\"; there are {}", names.join(", "))
    })?;
    pin::first_in_line();
    let curves = axis(windows)?;
    let curves: Vec<_> =
        curves.iter().map(|curve| json!({ "name": curve.name, "points": curve.points })).collect();
    println!("{}", json!({ "axis": name, "curves": curves }));
    Ok(())
}

/// A curve through the given places, each a router of its own.
fn curve(
    name: &'static str,
    windows: usize,
    places: &[u64],
    setup: impl Fn(u64) -> Setup,
) -> Result<Curve, String> {
    pin::to_cpu(pin::last_cpu())?;
    let points = places.iter().map(|&at| Ok((at, cost(setup(at), windows)?)));
    Ok(Curve { name, points: points.collect::<Result<_, String>>()? })
}

/// ns per packet.
fn cost(setup: Setup, windows: usize) -> Result<f64, String> {
    let tsc = Tsc::new();
    forwarding(TimedEngine::new(setup, tsc)?, tsc, windows)
}

fn forwarding(mut router: TimedEngine, tsc: Tsc, windows: usize) -> Result<f64, String> {
    router.window(WINDOW)?;
    let mut times = Windows::default();
    for _ in 0..windows {
        timed(&tsc, &mut times, || router.window(WINDOW))?;
    }
    Ok(times.median(times.best_probe()).0 * tsc.nanoseconds_per_tick())
}

fn rules(windows: usize) -> Result<Vec<Curve>, String> {
    let setup = |count: u64, cached: bool| {
        let mut setup = Setup::of(Scenario::MASQUERADE, Traffic::new(FLOWS, false));
        if count > 0 {
            setup.config.filter = vec![Chain { name: "forward".to_owned(), rules: filter_of(count as u32) }];
        }
        setup.config.settings.allow_fast_path = cached;
        setup
    };
    let places = [2, 10, 25, 100, 300, 1000, 3000, 10_000];
    Ok(vec![
        curve("flow cache", windows, &places, |count| setup(count, true))?,
        curve("every packet through the rules", windows, &places, |count| setup(count, false))?,
    ])
}

fn routes(windows: usize) -> Result<Vec<Curve>, String> {
    pin::to_cpu(pin::last_cpu())?;
    let cost = |count: u64| {
        let tsc = Tsc::new();
        forwarding(route_cases::router_with(count as usize, tsc)?, tsc, windows)
    };
    let places = [100, 1000, 10_000, 100_000, 300_000, 900_000];
    let points = places.map(|count| Ok((count, cost(count)?)));
    let name = "routing, destinations all over them";
    Ok(vec![Curve { name, points: points.into_iter().collect::<Result<_, String>>()? }])
}

fn flows(windows: usize) -> Result<Vec<Curve>, String> {
    let places = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576];
    let tracked = curve("tracking, masquerade, 25 rules", windows, &places, |flows| {
        let room = (flows as u32).max(262_144);
        let mut setup = Setup::of(Scenario::MASQUERADE_25, Traffic::new(flows as u32, false));
        (setup.max_connections, setup.config.tracking.max_entries) = (room, room);
        setup
    })?;
    Ok(vec![tracked])
}

fn frame_bytes(windows: usize) -> Result<Vec<Curve>, String> {
    let places = [64, 128, 256, 512, 1024, 1518];
    let sized = |scenario, bytes: u64| Setup {
        frame_bytes: (bytes as usize).saturating_sub(4).max(FRAME),
        ..Setup::of(scenario, Traffic::new(FLOWS, true))
    };
    Ok(vec![
        curve("routing", windows, &places, |bytes| sized(Scenario::ROUTING, bytes))?,
        curve("tracking, masquerade, 25 rules", windows, &places, |bytes| {
            sized(Scenario::MASQUERADE_25, bytes)
        })?,
    ])
}

/// Up to as many workers as there are cores.
fn workers(windows: usize) -> Result<Vec<Curve>, String> {
    let most = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let places = [1, 2, 4, 8].into_iter().filter(|&count| count <= most);
    let points = places.map(|count| Ok((count as u64, worker_cases::cost(count, windows)?)));
    let name = "time of a core";
    Ok(vec![Curve { name, points: points.collect::<Result<_, String>>()? }])
}
