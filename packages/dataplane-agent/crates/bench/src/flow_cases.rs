//! The flow cache with as many flows as the connection table may hold, and what a connection takes.

use crate::clock::Tsc;
use crate::engine_cases::{CaseResult, against_floor};
use crate::floor::FlowTable;
use crate::router::{Router, Setup};
use crate::scenario::Scenario;
use crate::traffic::Traffic;

/// Flows: all the connections that the table is allowed.
const FLOWS: u32 = 1 << 20;

/// A million established flows in random order, tracked, masqueraded and filtered, against
/// [`FlowTable::look_up`].
pub fn stateful_1m(windows: usize) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let traffic = Traffic::new(FLOWS, false);
    let before = Memory::now()?;
    let setup = Setup { max_connections: FLOWS, ..Setup::of(Scenario::MASQUERADE_25, traffic) };
    let mut router = Router::new(setup, tsc)?;
    let taken = Memory::now()?;
    let mut table = FlowTable::new(router.traffic().len());
    for frame in router.traffic().frames() {
        table.insert(frame);
    }
    let mut result =
        against_floor(windows, &mut router, &tsc, "floor/flow-1m", |frames| table.look_up(frames))?;
    let (resident, huge) = (taken.resident - before.resident, taken.huge - before.huge);
    result.details.push(format!(
        "{:.0} bytes a connection with all that the engine keeps beside; {:.0} % of it on huge pages",
        resident as f64 / f64::from(FLOWS),
        100.0 * huge as f64 / resident as f64
    ));
    Ok(result)
}

/// Memory of this process that is backed, bytes.
struct Memory {
    resident: u64,
    huge: u64,
}

impl Memory {
    /// From proc(5), `/proc/pid/smaps_rollup`.
    fn now() -> Result<Self, String> {
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
