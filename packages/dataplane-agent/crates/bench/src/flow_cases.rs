//! The flow cache with many flows of either family, up to as many as the connection table may hold, and what a
//! connection takes.

use tollway_engine::packet::family::Family;

use crate::clock::Tsc;
use crate::floor::{FlowTable, Ipv4Key, Ipv6Key};
use crate::ipv6_frames::standing_for;
use crate::measure::{CaseResult, against_floor};
use crate::scenario::Scenario;
use crate::timed_engine::{Setup, TimedEngine};
use crate::traffic::Traffic;

/// Flows: all the connections that the table is allowed.
const FLOWS: u32 = 1 << 20;

/// 65,536 established flows in random order, tracked, masqueraded and filtered, against
/// [`FlowTable::look_up`].
pub fn stateful_64k(windows: usize, family: Family) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let setup = Setup::of(scenario(family), Traffic::new(65_536, false));
    let mut router = TimedEngine::new(setup, tsc)?;
    against_look_up(windows, &mut router, &tsc, "floor/flow-64k", family)
}

fn scenario(family: Family) -> Scenario {
    match family {
        Family::V4 => Scenario::MASQUERADE_25,
        Family::V6 => Scenario::MASQUERADE_25.over_ipv6(),
    }
}

fn against_look_up(
    windows: usize,
    router: &mut TimedEngine,
    tsc: &Tsc,
    floor: &str,
    family: Family,
) -> Result<CaseResult, String> {
    let flows = router.traffic().frames();
    match family {
        Family::V4 => {
            let mut table = FlowTable::<Ipv4Key>::new(flows.len());
            flows.iter().for_each(|frame| table.insert(frame));
            against_floor(windows, router, tsc, floor, |frames| table.look_up(frames))
        }
        Family::V6 => {
            let mut table = FlowTable::<Ipv6Key>::new(flows.len());
            flows.iter().for_each(|frame| table.insert(&standing_for(frame)));
            against_floor(windows, router, tsc, floor, |frames| table.look_up(frames))
        }
    }
}

/// A million established flows, as those of [`stateful_64k`].
pub fn stateful_1m(windows: usize, family: Family) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let setup = |traffic| {
        let mut setup = Setup { max_connections: FLOWS, ..Setup::of(scenario(family), traffic) };
        setup.config.tracking.max_entries = FLOWS;
        setup
    };
    // What a router takes without connections, but for a handful.
    let start = Memory::now()?;
    let idle = TimedEngine::new(setup(Traffic::new(256, false)), tsc)?;
    let empty = Memory::now()?.since(&start);
    drop(idle);
    let traffic = Traffic::new(FLOWS, false);
    let before = Memory::now()?;
    let mut router = TimedEngine::new(setup(traffic), tsc)?;
    let taken = Memory::now()?.since(&before);
    let mut result = against_look_up(windows, &mut router, &tsc, "floor/flow-1m", family)?;
    result.details.push(format!(
        "{:.0} bytes a connection, {:.0} MiB beside; {:.0} % on huge pages",
        taken.resident.saturating_sub(empty.resident) as f64 / f64::from(FLOWS),
        empty.resident as f64 / f64::from(1 << 20),
        100.0 * taken.huge as f64 / taken.resident as f64
    ));
    Ok(result)
}

/// Memory of this process that is backed, bytes.
pub struct Memory {
    /// Resident memory, bytes.
    pub resident: u64,
    huge: u64,
}

impl Memory {
    /// The difference from an earlier reading.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            resident: self.resident.saturating_sub(before.resident),
            huge: self.huge.saturating_sub(before.huge),
        }
    }

    /// From proc(5), `/proc/pid/smaps_rollup`.
    pub fn now() -> Result<Self, String> {
        let path = "/proc/self/smaps_rollup";
        let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_suffix("kB"));
            let kib = line.and_then(|value| value.trim().parse::<u64>().ok());
            kib.map(|kib| kib << 10).ok_or_else(|| format!("{path} has no line {name}"))
        };
        Ok(Self { resident: field("Rss:")?, huge: field("AnonHugePages:")? })
    }
}
