//! Queues: as many as an ISP has, at their limits, in trees and of every kind.

use std::net::Ipv4Addr;

use tollway_config::dataplane::{
    Cake, CakeAckFilter, CakeAtm, CakeDiffserv, CakeFlowmode, Codel, DataplaneConfig, Prefix, QueueType,
    SimpleQueue,
};
use tollway_engine::pipeline::batch::BATCH;

use crate::clock::{Tsc, Windows};
use crate::commit_case::change_rule;
use crate::flow_cases::Memory;
use crate::measure::{CaseResult, Marks, PACKETS, WINDOW, compare, timed};
use crate::random::Random;
use crate::scenario::{SOURCES, Scenario, queue};
use crate::timed_engine::{Setup, TimedEngine};
use crate::traffic::Traffic;

/// Subscribers of the large cases, each with a queue and a flow.
const SUBSCRIBERS: u32 = 25_000;
/// Subscribers in the cases about queue kinds.
const FEW: u32 = 1_000;
/// Limit that nothing measured reaches, bits/s.
const AMPLE: u64 = 10_000_000_000;
/// L3 bits of a measured packet: 60 bytes without FCS, of which 14 are the link's.
const PACKET_BITS: u64 = 46 * 8;
/// Time that passes per batch where packets wait, ns.
const BATCH_NS: u64 = 100_000;
/// Packets that wait in each leaf when the measurement begins.
const BACKLOG: u32 = 3;

/// 25,000 leaves of one subscriber each, against 25 for the same subscribers. No limit is reached.
pub fn queues_25k(windows: usize) -> Result<CaseResult, String> {
    let setup = |queues| with(queues, SUBSCRIBERS, None);
    compare(
        windows,
        ("with 25,000 queues", setup(each(SUBSCRIBERS, AMPLE))),
        ("with 25", setup(blocks(AMPLE))),
    )
}

/// Every one of 25,000 leaves is offered what it may pass, and packets wait in each; against the same queues without
/// limits.
pub fn queues_25k_shaping(windows: usize) -> Result<CaseResult, String> {
    let shaped = shaped(each(SUBSCRIBERS, rate(SUBSCRIBERS)), SUBSCRIBERS, None);
    let open = shaped_setup(each(SUBSCRIBERS, 0), SUBSCRIBERS, None);
    against(windows, ("at their limits", shaped), ("without limits", open))
}

/// 25 leaves, each the eighth level of a chain of its own, against 25 without parents. No limit is reached.
pub fn htb_8_levels(windows: usize) -> Result<CaseResult, String> {
    let mut queues = Vec::new();
    for (block, leaf) in (1u32..).zip(blocks(AMPLE)) {
        for level in 0..7 {
            let row = 100_000 + block * 10 + level;
            let parent = (level > 0).then(|| row - 1);
            queues.push(SimpleQueue { row, parent, ..leaf.clone() });
        }
        queues.push(SimpleQueue { parent: Some(100_000 + block * 10 + 6), ..leaf });
    }
    let setup = |queues| with(queues, SUBSCRIBERS, None);
    compare(windows, ("below seven parents", setup(queues)), ("without parents", setup(blocks(AMPLE))))
}

/// 1,000 leaves of a kind at their limits, against the same with pfifo.
pub fn kind_1k(windows: usize, name: &str) -> Result<CaseResult, String> {
    let kind = if name == "CAKE" { QueueType::Cake(CAKE) } else { FQ_CODEL };
    let queues = || each(FEW, rate(FEW));
    let (one, other) = (shaped(queues(), FEW, Some(kind)), shaped(queues(), FEW, None));
    against(windows, (name, one), ("pfifo", other))
}

/// Time that a packet takes through a queue whose limit is twice what is offered, against the same router without
/// queues: the time it waits, and the time in the engine.
pub fn latency(windows: usize) -> Result<CaseResult, String> {
    const PACKETS_MEASURED: usize = 20;
    let tsc = Tsc::new();
    let rate = 10_000_000;
    let mut router = TimedEngine::new(with(each(1, rate), 1, None), tsc)?;
    let mut reference = TimedEngine::new(with(Vec::new(), 1, None), tsc)?;
    // Poisson arrivals at half the limit, so that packets often come close together.
    let mean_ns = 2 * PACKET_BITS * 1_000_000_000 / rate;
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut gap = || {
        let uniform = (random.bits() >> 11) as f64 / (1u64 << 53) as f64;
        (-(1.0 - uniform).ln() * mean_ns as f64) as u64
    };
    let scale = tsc.nanoseconds_per_tick();
    let (mut queued, mut without) = (Vec::new(), Vec::new());
    for _ in 0..windows * PACKETS_MEASURED {
        let after = gap();
        let (waited, ticks) = router.one_through(after)?;
        queued.push(waited as f64 + ticks as f64 * scale);
        let (_, ticks) = reference.one_through(after)?;
        without.push(ticks as f64 * scale);
    }
    let (ours_ns, baseline_ns) = (percentile(&mut queued, 0.99), percentile(&mut without, 0.99));
    let medians = (percentile(&mut queued, 0.5), percentile(&mut without, 0.5));
    let details = vec![
        format!(
            "99 % of packets take at most {ours_ns:.0} ns through the queue, {baseline_ns:.0} ns without queues"
        ),
        format!("half of them {:.0} ns and {:.0} ns", medians.0, medians.1),
    ];
    Ok(CaseResult { unit: "packets per second, one at a time", ours_ns, baseline_ns, details })
}

/// Time that a worker stands still to take over a configuration in which one of 25,000 queues has another limit,
/// against one in which a rule is another one.
pub fn swap_25k(windows: usize) -> Result<CaseResult, String> {
    /// Windows of other cases that stand for one configuration here, which takes some ms to build.
    const WINDOWS: usize = 5;
    let tsc = Tsc::new();
    let setup = with(each(SUBSCRIBERS, AMPLE), SUBSCRIBERS, None);
    let mut config = setup.config.clone();
    let mut router = TimedEngine::new(setup, tsc)?;
    let (mut ours, mut baseline) = (Windows::default(), Windows::default());
    let mut take_over = |before: &DataplaneConfig, after: &DataplaneConfig, windows: &mut Windows| {
        router.prepare(before, after)?;
        let mut old = None;
        timed(&tsc, windows, || {
            let (ticks, snapshot) = router.apply();
            old = Some(snapshot);
            Ok(ticks as f64)
        })?;
        router.window(WINDOW).map(|_| drop(old))
    };
    for turn in 0..windows.div_ceil(WINDOWS) as u16 {
        let before = config.clone();
        if let Some(queue) = config.simple_queues.last_mut() {
            queue.upload.max_limit = AMPLE + u64::from(turn) + 1;
        }
        take_over(&before, &config, &mut ours)?;
        let before = config.clone();
        change_rule(&mut config, 0, 20_000 + turn)?;
        take_over(&before, &config, &mut baseline)?;
    }
    let best = ours.best_probe().min(baseline.best_probe());
    let scale = tsc.nanoseconds_per_tick();
    let ((ours, quiet), (baseline, _)) = (ours.median(best), baseline.median(best));
    let (ours_ns, baseline_ns) = (ours * scale, baseline * scale);
    let details = vec![format!(
        "{:.1} µs with another limit, {:.1} µs with another rule; {:.0} % of windows quiet",
        ours_ns / 1e3,
        baseline_ns / 1e3,
        100.0 * quiet
    )];
    Ok(CaseResult { unit: "configurations per second", ours_ns, baseline_ns, details })
}

/// Memory of an idle simple queue whose subscriber has been seen, bytes, against a kibibyte.
pub fn memory(_windows: usize) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let before = Memory::now()?;
    let few = TimedEngine::new(with(blocks(AMPLE), SUBSCRIBERS, None), tsc)?;
    let base = Memory::now()?.since(&before);
    let before = Memory::now()?;
    let many = TimedEngine::new(with(each(SUBSCRIBERS, AMPLE), SUBSCRIBERS, None), tsc)?;
    let taken = Memory::now()?.since(&before);
    let bytes = taken.resident.saturating_sub(base.resident) as f64 / f64::from(SUBSCRIBERS);
    drop((few, many));
    Ok(CaseResult {
        unit: "queues per GB",
        ours_ns: bytes,
        baseline_ns: 1024.0,
        details: vec![format!("{bytes:.0} bytes a queue, of 25,000 at one worker, both directions")],
    })
}

fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get((values.len() as f64 * share) as usize).copied().unwrap_or_default()
}

/// Subscribers with a queue each.
fn each(count: u32, max_limit: u64) -> Vec<SimpleQueue> {
    (0..count).map(|index| queue(index, max_limit, vec![network(index, 32)])).collect()
}

/// 25 queues for all subscribers.
fn blocks(max_limit: u64) -> Vec<SimpleQueue> {
    (0..25).map(|index| queue(index, max_limit, vec![network(index << 10, 22)])).collect()
}

fn network(offset: u32, prefix_len: u8) -> Prefix {
    Prefix { address: Ipv4Addr::from_bits(SOURCES.to_bits() + offset).into(), prefix_len }
}

/// Rate of each of so many leaves when a batch comes every [`BATCH_NS`] and each leaf has its turn, bits/s.
fn rate(leaves: u32) -> u64 {
    let turn_ns = u64::from(leaves) * BATCH_NS / BATCH as u64;
    PACKET_BITS * 1_000_000_000 / turn_ns
}

/// 1,000 leaves below one root, and the flows of those subscribers that are steered to a worker.
pub fn tree_of_several(worker: u32, workers: u32) -> Setup {
    const ROOT: u32 = 100_000;
    let root = SimpleQueue { row: ROOT, ..queue(0, 100 * AMPLE, vec![network(0, 20)]) };
    let leaves = each(FEW, AMPLE).into_iter().map(|leaf| SimpleQueue { parent: Some(ROOT), ..leaf });
    let mut setup = Setup::of(Scenario::MASQUERADE_25, Traffic::steered_subscribers(FEW, worker, workers));
    setup.real_time = true;
    setup.config.simple_queues = std::iter::once(root).chain(leaves).collect();
    setup
}

/// A router with connection tracking, masquerade and 25 rules, and a flow of every subscriber.
fn with(queues: Vec<SimpleQueue>, subscribers: u32, kind: Option<QueueType>) -> Setup {
    let mut setup = Setup::of(Scenario::MASQUERADE_25, Traffic::subscribers(subscribers));
    if let Some(kind) = kind {
        setup.config.queue_types = vec![kind];
    }
    setup.config.simple_queues = queues;
    setup
}

/// As above with queues that have limits that are reached as soon as traffic is steady.
fn shaped(mut queues: Vec<SimpleQueue>, subscribers: u32, kind: Option<QueueType>) -> Setup {
    for queue in &mut queues {
        // What it takes to open the flows passes by the bucket.
        let turns = 10 * u64::from(subscribers) * BATCH_NS / BATCH as u64;
        let bucket_ms = (turns / 1_000_000 + 1) as u32;
        (queue.upload.bucket_ms, queue.download.bucket_ms) = (bucket_ms, bucket_ms);
    }
    shaped_setup(queues, subscribers, kind)
}

fn shaped_setup(queues: Vec<SimpleQueue>, subscribers: u32, kind: Option<QueueType>) -> Setup {
    let queue_frames = subscribers * BACKLOG * 4;
    Setup { queue_frames, ..with(queues, subscribers, kind) }
}

/// Two routers whose queues hold packets back, in turns.
fn against(windows: usize, one: (&str, Setup), other: (&str, Setup)) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let leaves = one.1.config.simple_queues.len();
    let (mut router, mut reference) = (filled(one.1, tsc)?, filled(other.1, tsc)?);
    let (mut ours, mut baseline) = (Windows::default(), Windows::default());
    let before = Marks::of(&router);
    for _ in 0..windows {
        timed(&tsc, &mut baseline, || shaped_cost(&mut reference))?;
        timed(&tsc, &mut ours, || shaped_cost(&mut router))?;
    }
    let best = ours.best_probe().min(baseline.best_probe());
    let scale = tsc.nanoseconds_per_tick();
    let ((ours, quiet), (baseline, _)) = (ours.median(best), baseline.median(best));
    let queues = router.stats().queues;
    let (waiting, dropped) = (queues.queued_packets, queues.dropped_packets);
    let mut details = vec![
        format!(
            "{:.1} ns a packet {}, {:.1} ns {}; {:.0} % of windows quiet",
            ours * scale,
            one.0,
            baseline * scale,
            other.0,
            100.0 * quiet
        ),
        format!("at the end {waiting} packets wait in {leaves} queues; {dropped} were dropped"),
    ];
    details.extend(before.describe(&router, scale));
    Ok(CaseResult { unit: PACKETS, ours_ns: ours * scale, baseline_ns: baseline * scale, details })
}

/// A router in whose queues, if they have limits, a backlog has gathered.
fn filled(setup: Setup, tsc: Tsc) -> Result<TimedEngine, String> {
    let limited = setup.config.simple_queues.iter().filter(|queue| queue.upload.max_limit != 0).count();
    let mut router = TimedEngine::new(setup, tsc)?;
    // Without time nothing leaves but what the buckets hold.
    while router.stats().queues.queued_packets < u64::from(BACKLOG) * limited as u64 {
        router.shaped_window(1, 0)?;
    }
    Ok(router)
}

fn shaped_cost(router: &mut TimedEngine) -> Result<f64, String> {
    let (ticks, _) = router.shaped_window(WINDOW, BATCH_NS)?;
    Ok(ticks as f64 / (WINDOW * BATCH) as f64)
}

const CODEL: Codel =
    Codel { limit: 10_240, target_us: 5_000, interval_us: 100_000, ecn: true, ce_threshold_us: 0 };

const FQ_CODEL: QueueType =
    QueueType::FqCodel { codel: CODEL, flows: 1024, quantum: 1514, memory_limit: 32 << 20 };

const CAKE: Cake = Cake {
    bandwidth: 0,
    autorate_ingress: false,
    overhead: 0,
    mpu: 0,
    atm: CakeAtm::None,
    rtt_us: 100_000,
    diffserv: CakeDiffserv::Diffserv3,
    flowmode: CakeFlowmode::TripleIsolate,
    nat: true,
    wash: false,
    ack_filter: CakeAckFilter::None,
    memory_limit: 0,
};
