//! What workers share without locks, under every interleaving and every reordering that the memory model allows.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use loom::thread;
use tollway_engine::flow::change_counters::ChangeCounters;
use tollway_engine::flow::directory::Directory;
use tollway_engine::packet::tuple::{Addr, Tuple};
use tollway_engine::qos::forest::{Identity, RowPart};
use tollway_engine::qos::ownership::{AcquireOutcome, Ownerships};
use tollway_engine::time::Now;
use tollway_io::wake::SleepFlag;

/// Any row.
const ROW: Identity = Identity { row: 7, part: RowPart::Upload };

fn tuple(port: u16) -> Tuple {
    Tuple { src: Addr::v4(1), dst: Addr::v4(2), src_port: port, dst_port: 80, protocol: 6, icmp: 0, zone: 0 }
}

/// A worker puts a packet into a ring and asks whether the other one sleeps; the other one looks a last time.
#[test]
fn nobody_sleeps_beside_a_packet() {
    loom::model(|| {
        let shared = Arc::new((SleepFlag::new(), AtomicBool::new(false)));
        let putter = Arc::clone(&shared);
        let woken = thread::spawn(move || {
            let (flag, ring) = &*putter;
            ring.store(true, Ordering::Release);
            flag.needs_wakeup()
        });
        let (flag, ring) = &*shared;
        flag.before_sleep();
        let found = ring.load(Ordering::Acquire);
        let woken = woken.join().unwrap();
        assert!(found || woken, "the packet lies there and the worker sleeps");
    });
}

/// A flow moves to another worker with its first packet, after it was written down who has it: that worker finds itself
/// there, and its home takes the flow back only when the other one has let it go.
#[test]
fn a_flow_that_moves_has_one_owner() {
    loom::model(|| {
        let directory = Arc::new(Directory::new());
        let moved = Arc::new(AtomicBool::new(false));
        let owners = Arc::new(AtomicUsize::new(0));
        let hold = |owners: &AtomicUsize| {
            assert_eq!(owners.fetch_add(1, Ordering::AcqRel), 0, "two workers have the flow");
            owners.fetch_sub(1, Ordering::AcqRel);
        };
        let home = {
            let (directory, moved, owners) =
                (Arc::clone(&directory), Arc::clone(&moved), Arc::clone(&owners));
            thread::spawn(move || {
                assert_eq!(directory.pass_on(tuple(1), 0, 1), Ok(()));
                moved.store(true, Ordering::Release);
                match directory.owner(&tuple(1)) {
                    Some(owner) => assert_eq!(owner, 1),
                    None => hold(&owners),
                }
            })
        };
        if moved.load(Ordering::Acquire) {
            assert_eq!(directory.owner(&tuple(1)), Some(1));
            hold(&owners);
            directory.remove(&tuple(1), 1);
        }
        home.join().unwrap();
        assert_eq!(directory.owner(&tuple(1)).is_some(), !directory.is_empty());
    });
}

/// Two workers claim one tuple: one gets it, the other learns who, and nobody's claim is overwritten.
#[test]
fn a_claim_is_never_overwritten() {
    loom::model(|| {
        let directory = Arc::new(Directory::new());
        let claims: Vec<_> = (0..2)
            .map(|worker| {
                let directory = Arc::clone(&directory);
                thread::spawn(move || directory.try_publish(tuple(1), worker))
            })
            .collect();
        let outcomes: Vec<_> = claims.into_iter().map(|claim| claim.join().unwrap()).collect();
        let owner = directory.owner(&tuple(1)).expect("somebody has it");
        for (worker, outcome) in (0..).zip(outcomes) {
            assert_eq!(outcome, if worker == owner { Ok(()) } else { Err(owner) });
        }
        // Who lost cannot pass it on or remove it either.
        assert_eq!(directory.pass_on(tuple(1), 1 - owner, 1 - owner), Err(owner));
        directory.remove(&tuple(1), 1 - owner);
        assert_eq!(directory.owner(&tuple(1)), Some(owner));
    });
}

/// A flow that is decided by an old table is asked again: its stamp is older than the change.
#[test]
fn no_decision_by_an_old_route_lasts() {
    loom::model(|| {
        let shared = Arc::new((ChangeCounters::default(), AtomicU32::new(1)));
        let writer = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (change_counters, route) = &*shared;
                route.store(2, Ordering::Release);
                change_counters.routes_changed([(0, 1)]);
            })
        };
        let (change_counters, route) = &*shared;
        let stamp = change_counters.count();
        let decided = route.load(Ordering::Acquire);
        writer.join().unwrap();
        if decided == 1 {
            assert_ne!(change_counters.count(), stamp);
            assert!(
                change_counters.route_changed_since(5, stamp as u32),
                "decided by the old route for good"
            );
            assert!(
                !change_counters.route_changed_since(u32::MAX, stamp as u32),
                "other routes did not change"
            );
        }
    });
}

/// Whoever sees the count of a change sees its cells, though two writers change at once.
#[test]
fn a_counted_change_is_in_its_cells() {
    loom::model(|| {
        let change_counters = Arc::new(ChangeCounters::default());
        let writers: Vec<_> = [(0, 1), (1 << 31, 1)]
            .into_iter()
            .map(|network| {
                let change_counters = Arc::clone(&change_counters);
                thread::spawn(move || change_counters.routes_changed([network]))
            })
            .collect();
        let seen = change_counters.count();
        let cells = [0, u32::MAX].map(|address| change_counters.route_changed_since(address, 0));
        assert!(cells.iter().filter(|&&changed| changed).count() as u64 >= seen);
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(change_counters.count(), 2);
    });
}

/// Two workers want a queue at once: one has it, the other hands its packet over, and the queue is not let go before
/// that packet has left.
#[test]
fn a_queue_has_one_owner_and_is_kept_while_a_packet_is_on_its_way() {
    loom::model(|| {
        let ownership = std::sync::Arc::clone(&Ownerships::default().lock().of(ROW));
        let owners = Arc::new(AtomicUsize::new(0));
        let on_the_way = Arc::new(AtomicUsize::new(0));
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                let ownership = std::sync::Arc::clone(&ownership);
                let (owners, on_the_way) = (Arc::clone(&owners), Arc::clone(&on_the_way));
                thread::spawn(move || match ownership.acquire(worker) {
                    AcquireOutcome::Taken => {
                        assert_eq!(owners.fetch_add(1, Ordering::AcqRel), 0, "two workers have the queue");
                        owners.fetch_sub(1, Ordering::AcqRel);
                        if ownership.release(worker, [(0, Now(0)); 3]) {
                            assert_eq!(on_the_way.load(Ordering::Acquire), 0, "a packet was overtaken");
                        }
                    }
                    AcquireOutcome::OwnedBy(owner) => {
                        assert_ne!(owner, worker);
                        on_the_way.fetch_add(1, Ordering::AcqRel);
                        on_the_way.fetch_sub(1, Ordering::AcqRel);
                        ownership.acknowledge(1);
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

/// Tokens that a worker leaves with the queue are those that the next one finds.
#[test]
fn tokens_go_with_the_queue() {
    loom::model(|| {
        let ownership = std::sync::Arc::clone(&Ownerships::default().lock().of(ROW));
        assert_eq!(ownership.acquire(0), AcquireOutcome::Taken);
        let other = std::sync::Arc::clone(&ownership);
        let next = thread::spawn(move || match other.acquire(1) {
            AcquireOutcome::Taken => {
                assert_eq!(other.tokens(), [(5, Now(9)), (6, Now(9)), (7, Now(9))]);
            }
            AcquireOutcome::OwnedBy(_) => other.acknowledge(1),
        });
        ownership.release(0, [(5, Now(9)), (6, Now(9)), (7, Now(9))]);
        next.join().unwrap();
    });
}
