//! `docs/packet-flow.md` is written from `STAGES` and the lists of reasons. To write it anew:
//! `TOLLWAY_UPDATE_DOCS=1 cargo test -p tollway-worker --test packet_flow`.
#![allow(clippy::expect_used, reason = "a test that cannot go on should say so and stop")]

use std::fmt::Write;
use std::path::Path;

use tollway_engine::packet::slow_reason::SlowReason;
use tollway_engine::packet::verdict::DropReason;
use tollway_engine::pipeline::STAGES;
use tollway_worker::counters::WorkerDrop;

fn page() -> String {
    let mut page = String::from(
        "# The way of a packet through the engine\n\n\
         Generated from `STAGES` in `packages/dataplane-agent/crates/engine/src/pipeline/mod.rs`, and from the reasons in\n\
         `engine/src/packet/verdict.rs`, `worker/src/counters.rs` and `engine/src/packet/slow_reason.rs`; do not edit.\n\n\
         A batch of up to 256 packets passes the stages in this order. What the flow cache knows is finished in\n\
         `flow_cache`; the rest takes the slow path, each packet through the stages that concern it. Packets that the router\n\
         makes itself, and those of its own services, pass the same stages afterwards and meet the chain `output`.\n\n\
         | | stage | what it does | runs in | profile | may drop for |\n|---|---|---|---|---|---|\n",
    );
    for (number, stage) in STAGES.iter().enumerate() {
        let drops: Vec<_> = stage.drops.iter().map(|reason| format!("`{}`", reason.name())).collect();
        writeln!(
            page,
            "| {} | `{}` | {} | {} | {} | {} |",
            number + 1,
            stage.name,
            stage.doc,
            stage.runs.name(),
            stage.class.name(),
            drops.join(" ")
        )
        .expect("writing to a String");
    }
    page.push_str(
        "\n## Why a packet is dropped\n\n\
         Every packet that does not leave counts for exactly one reason: one of these if a stage drops it.\n\n",
    );
    page.push_str("| reason | meaning | stages |\n|---|---|---|\n");
    for reason in DropReason::ALL {
        let stages: Vec<_> = STAGES
            .iter()
            .filter(|stage| stage.drops.contains(reason))
            .map(|stage| format!("`{}`", stage.name))
            .collect();
        writeln!(page, "| `{}` | {} | {} |", reason.name(), reason.text(), stages.join(" "))
            .expect("writing to a String");
    }
    page.push_str(
        "\nOutside the stages a worker drops frames for these.\n\n\
         | reason | meaning |\n|---|---|\n",
    );
    for reason in WorkerDrop::ALL {
        writeln!(page, "| `{}` | {} |", reason.name(), reason.text()).expect("writing to a String");
    }
    page.push_str(
        "\n## Why a packet is not forwarded by the flow cache\n\n\
         Every packet that goes through the stages after `flow_cache` counts for exactly one of these; of `rule`, those\n\
         whose cached action ends at a rule that must be evaluated count there too.\n\n",
    );
    page.push_str("| reason | meaning |\n|---|---|\n");
    for reason in SlowReason::ALL {
        writeln!(page, "| `{}` | {} |", reason.name(), reason.text()).expect("writing to a String");
    }
    page
}

#[test]
fn the_documentation_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../docs/packet-flow.md");
    let page = page();
    if std::env::var_os("TOLLWAY_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("docs/packet-flow.md can be written");
    }
    let written = std::fs::read_to_string(&path).expect("docs/packet-flow.md");
    assert!(written == page, "docs/packet-flow.md is stale: run this test with TOLLWAY_UPDATE_DOCS=1");
}
