use tollway_config::dataplane::DataplaneConfig;
use tollway_engine::EngineLimits;
use tollway_engine::packet::frame::VnetState;
use tollway_engine::pipeline::batch::BATCH;
use tollway_engine::pipeline::handover::{Handover, HandoverContents};
use tollway_engine::shared::Shared;
use tollway_engine::snapshot::Snapshot;
use tollway_io::pool::{PartitionSize, partitions};
use tollway_io::wake::Wake;

use super::*;
use crate::commands::rings;
use crate::handover_ring::DEPTH;

/// The first of three workers, and the ends of the other two.
fn first_of_three(pool: Partition) -> (Worker, Vec<WorkerEnds>) {
    let (mut ends, _control) = rings(3, &Arc::new(Wake::new().unwrap())).unwrap();
    let shared = Arc::new(Shared::new(3, 1));
    let snapshot = Arc::new(Snapshot::build(&DataplaneConfig::default(), &[], 3, 0).unwrap());
    let limits = EngineLimits { max_connections: 16, queue_frames: 16, queue_bytes: 1 << 20 };
    let engine = Engine::new(0, 3, shared, snapshot, limits);
    let (counters, cores) = (Vec::new(), vec![0]);
    let first = ends.remove(0);
    let parts =
        WorkerParts { ends: first, engine, pool, counters, index: 0, workers: 3, cores, hz: 1_000_000_000 };
    (Worker::new(parts), ends)
}

fn fill(ends: &mut WorkerEnds, pool: &mut Partition) {
    let out = ends.outbound[0].as_mut().unwrap();
    for _ in 0..out.packets.room() {
        let frame = pool.take_head().unwrap();
        out.packets.gather(Handover {
            frame,
            vnet: VnetState::default(),
            contents: HandoverContents::Received(0),
        });
    }
    out.packets.send(|_| panic!("there was room"));
}

/// Packets that the worker has taken: without an interface it drops them.
fn taken(worker: &mut Worker) -> u64 {
    worker.engine.stats().drop_stats().iter().map(|drops| drops.packets).sum()
}

/// However fast the others send, a worker comes to its own ports and to commands between two batches.
#[test]
fn a_turn_takes_one_batch_of_each_other_worker() {
    let sizes = [PartitionSize { heads: 64, tails: 0 }, PartitionSize { heads: 2 * DEPTH + 64, tails: 0 }];
    let [own, mut theirs] = <[Partition; 2]>::try_from(partitions(&sizes).unwrap()).unwrap();
    let (mut worker, mut others) = first_of_three(own);
    for ends in &mut others {
        fill(ends, &mut theirs);
    }
    for turn in 1..=DEPTH / BATCH {
        worker.receive();
        assert_eq!(taken(&mut worker), 2 * (turn * BATCH) as u64);
    }
    assert!(worker.batch.is_empty());
}
