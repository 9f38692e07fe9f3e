//! Instructions per packet, by callgrind (valgrind(1)). Only `TimedEngine::forward`, which calls the engine, is
//! counted: neither what makes the frames nor what takes them away. `npm run bench -- instructions` runs it and
//! divides by the number of packets.
#![allow(missing_docs, reason = "the macros make public items")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot start should say so and stop")]

use gungraun::{
    Callgrind, EntryPoint, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use tollway_bench::Steady;

fn steady(case: &str) -> Steady {
    Steady::new(case).unwrap()
}

fn slow(_: &str) -> Steady {
    Steady::slow().unwrap()
}

#[library_benchmark]
#[bench::route_1(args = ("route-1"), setup = steady)]
#[bench::masquerade(args = ("masquerade"), setup = steady)]
#[bench::masquerade_25(args = ("masquerade-25"), setup = steady)]
#[bench::queues_25(args = ("queues-25"), setup = steady)]
#[bench::slow_25(args = ("slow-25"), setup = slow)]
fn instructions(mut router: Steady) -> Steady {
    router.forward().unwrap();
    router
}

library_benchmark_group!(name = engine, benchmarks = instructions);
main!(
    config = LibraryBenchmarkConfig::default()
        .tool(Callgrind::default().entry_point(EntryPoint::Custom("*TimedEngine::forward*".to_owned()))),
    library_benchmark_groups = engine
);
