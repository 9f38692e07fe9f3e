//! Commits to the agent that ships, by its socket: from the first byte of the request until the last worker has
//! the configuration and the disk has it too.

use std::time::{Duration, Instant};

use serde_json::json;
use tollway_config::dataplane::{Chain, DataplaneConfig, Matcher, PortRange, Rule};
use tollway_worker::{Options, Stop};

use crate::agent::{Agent, scenario_of};
use crate::args::Args;
use crate::measure::CaseResult;
use crate::scenario::{Scenario, filter_10k, filter_25};
use crate::traffic::{GENERATOR_MAC, SINK_MAC};

/// Workers of the agent.
const WORKERS: usize = 2;
/// Windows of other cases that stand for one commit here.
const WINDOWS: usize = 100;

/// One of 10,000 filter rules changed, against one of 25. The agent has memory ports and two workers.
pub fn commit_1_of_10k(windows: usize) -> Result<CaseResult, String> {
    let directory = std::env::temp_dir().join(format!("tollway-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let options = Options {
        socket: directory.join("agent.sock"),
        data_dir: directory.clone(),
        netns_name: "tollway-bench".to_owned(),
        ports: Vec::new(),
        memory: true,
        take_over: false,
        workers: Some(WORKERS),
    };
    let stop = Stop::new().map_err(|error| error.to_string())?;
    let result = std::thread::scope(|scope| {
        let agent = scope.spawn(|| tollway_worker::run(&options, &stop).map_err(|error| error.to_string()));
        let socket = options.socket.to_string_lossy();
        let measured = connect(&socket).and_then(|mut agent| {
            let commits = windows.div_ceil(WINDOWS).max(3);
            Ok((
                commits_of(&mut agent, filter_10k(), commits)?,
                commits_of(&mut agent, filter_25(), commits)?,
            ))
        });
        stop.stop();
        let ended = agent.join().map_err(|_| "the agent panicked".to_owned())?;
        ended.and(measured)
    });
    let _ = std::fs::remove_dir_all(&directory);
    let (ours, baseline) = result?;
    let details = vec![
        format!(
            "{:.1} ms with 10,000 rules ({:.1} to prepare, {:.1} to activate; at most {:.1}), {:.1} ms with 25",
            ms(ours.median),
            ms(ours.preparing),
            ms(ours.activating),
            ms(ours.longest),
            ms(baseline.median)
        ),
        format!("{WORKERS} workers, memory ports"),
    ];
    Ok(CaseResult {
        unit: "commits per second",
        ours_ns: ours.median.as_nanos() as f64,
        baseline_ns: baseline.median.as_nanos() as f64,
        details,
    })
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn connect(socket: &str) -> Result<Agent, String> {
    for _ in 0..500 {
        if let Ok(agent) = Agent::connect(socket) {
            return Ok(agent);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Agent::connect(socket)
}

/// Times of commits: medians, and the longest.
struct Commits {
    median: Duration,
    preparing: Duration,
    activating: Duration,
    longest: Duration,
}

impl Commits {
    /// Medians and longest of times in all, to prepare and to activate.
    fn of(times: &[(Duration, Duration, Duration)]) -> Self {
        let median = |part: fn(&(Duration, Duration, Duration)) -> Duration| {
            let mut times: Vec<Duration> = times.iter().map(part).collect();
            times.sort();
            times.get(times.len() / 2).copied().unwrap_or_default()
        };
        Self {
            median: median(|time| time.0),
            preparing: median(|time| time.1),
            activating: median(|time| time.2),
            longest: times.iter().map(|time| time.0).max().unwrap_or_default(),
        }
    }
}

fn commits_of(agent: &mut Agent, rules: Vec<Rule>, commits: usize) -> Result<Commits, String> {
    let count = rules.len();
    let mut config = DataplaneConfig {
        filter: vec![Chain { name: "forward".to_owned(), rules }],
        ..Scenario::MASQUERADE.config(GENERATOR_MAC, SINK_MAC)
    };
    agent.activate(config.clone())?;
    let mut times = Vec::with_capacity(commits);
    for commit in 0..commits {
        let changed = commit * 487 % count;
        change_rule(&mut config, changed, 20_000 + commit as u16)?;
        let (preparing, activating) = agent.activate(config.clone())?;
        times.push((preparing + activating, preparing, activating));
    }
    Ok(Commits::of(&times))
}

/// Lets one filter rule ask for TCP to another port.
pub fn change_rule(config: &mut DataplaneConfig, changed: usize, port: u16) -> Result<(), String> {
    let rule = config.filter.first_mut().and_then(|chain| chain.rules.get_mut(changed));
    let rule = rule.ok_or("there is no rule to change")?;
    let ports = vec![PortRange { from: port, to: port }];
    rule.matchers =
        vec![Matcher::Protocol { protocol: 6, negate: false }, Matcher::DstPort { ports, negate: false }];
    Ok(())
}

/// Changes one filter rule of the active `--scenario` `--count` times, a change every `--every` ms; prints how long
/// these commits took. The rule asks for TCP ports before and after, and is nowhere near the last one, which accepts.
pub fn run(args: &Args) -> Result<(), String> {
    let (count, every): (u32, u64) = (args.required("count")?, args.required("every")?);
    let mut config = scenario_of(args)?;
    let changed = config.filter.first().map_or(0, |chain| chain.rules.len() / 2);
    let mut agent = Agent::connect(&args.required::<String>("socket")?)?;
    let started = Instant::now();
    let mut times = Vec::with_capacity(count as usize);
    for turn in 1..=count {
        // No two commits in a row find the rule as it is.
        change_rule(&mut config, changed, 20_000 + (agent.revision() % 10_000) as u16)?;
        let (preparing, activating) = agent.activate(config.clone())?;
        times.push((preparing + activating, preparing, activating));
        std::thread::sleep(Duration::from_millis(every * u64::from(turn)).saturating_sub(started.elapsed()));
    }
    let commits = Commits::of(&times);
    println!("{}", json!({ "median_ms": ms(commits.median), "longest_ms": ms(commits.longest) }));
    Ok(())
}
