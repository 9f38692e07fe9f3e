use proptest::prelude::*;
use tollway_engine::packet::frame::{Frame, FrameSource, HEADROOM};

use super::*;

const SMALL: PartitionSize = PartitionSize { heads: 4, tails: 2 };

#[test]
fn frames_freed_elsewhere_are_returned() {
    let mut partitions = partitions(&[SMALL, SMALL]).unwrap();
    let mut second = partitions.pop().unwrap();
    let mut first = partitions.pop().unwrap();
    let mut frames = Vec::new();
    while let Some(mut frame) = first.take_head() {
        if frames.len() < 2 {
            assert!(first.add_tail(&mut frame));
        } else {
            assert!(!first.add_tail(&mut frame));
        }
        frames.push(frame);
    }
    assert_eq!(frames.len(), 4);
    assert_eq!(first.exhausted(), 1);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for frame in frames {
                second.recycle(frame);
            }
            assert_eq!(second.free(), (4, 2));
            second.flush_returns();
        });
    });
    let frame = first.take_head().unwrap();
    assert_eq!(first.free(), (3, 2));
    first.recycle(frame);
    assert_eq!(first.free(), (4, 2));
}

#[test]
fn frames_are_returned_in_bundles_also_when_their_last_worker_ends() {
    const FRAMES: usize = 3 * bundle::CAPACITY;
    let size = PartitionSize { heads: FRAMES, tails: 0 };
    let mut partitions = partitions(&[size, size, size]).unwrap();
    let mut third = partitions.pop().unwrap();
    let mut second = partitions.pop().unwrap();
    let mut first = partitions.pop().unwrap();
    let take = |partition: &mut Partition, frames: usize| -> Vec<_> {
        (0..frames).map(|_| partition.take(60).unwrap()).collect()
    };
    let frames = take(&mut first, 2 * bundle::CAPACITY + 5).into_iter().chain(take(&mut second, 7));
    frames.for_each(|frame| third.recycle(frame));
    assert_eq!((first.returns.returned(), second.returns.returned()), (2 * bundle::CAPACITY as u64, 0));
    third.flush_returns();
    third.flush_returns();
    assert_eq!((first.returns.returned(), second.returns.returned()), (2 * bundle::CAPACITY as u64 + 5, 7));
    take(&mut first, 9).into_iter().for_each(|frame| third.recycle(frame));
    drop(third);
    first.reclaim();
    second.reclaim();
    assert_eq!((first.free(), second.free()), ((FRAMES, 0), (FRAMES, 0)));
    // Each of them once.
    let all: std::collections::BTreeSet<_> =
        take(&mut first, FRAMES).into_iter().map(|frame| frame.head().as_ptr()).collect();
    assert_eq!(all.len(), FRAMES);
}

#[test]
fn memory_is_used_again_before_more_of_it_is() {
    let size = PartitionSize { heads: 1000, tails: 100 }.with_waiting(10 * (HEAD_FOOTPRINT + TAIL_CAPACITY));
    assert_eq!(size.tails, 110);
    assert!(size.heads >= 1010 + 10 * TAIL_CAPACITY / HEAD_FOOTPRINT);
    let mut partition = partitions(&[size]).unwrap().remove(0);
    assert_eq!((partition.used(), partition.free()), ((0, 0), (size.heads, 110)));
    for round in 0..50 {
        let mut frames: Vec<_> = (0..20).filter_map(|_| partition.take_head()).collect();
        for frame in &mut frames[..5] {
            assert!(partition.add_tail(frame));
            assert_eq!(frame.footprint(), HEAD_FOOTPRINT + TAIL_CAPACITY);
        }
        assert_eq!(frames[7].footprint(), HEAD_FOOTPRINT);
        for (at, frame) in frames.into_iter().enumerate() {
            // The owner returns some, others the rest.
            if (at + round) % 2 == 0 { partition.recycle(frame) } else { drop(frame) }
        }
    }
    let (heads, tails) = partition.used();
    assert!(heads <= 40 && tails <= 10, "{heads} heads, {tails} tails");
    partition.reclaim();
    assert_eq!(partition.free(), (size.heads, 110));
}

#[test]
fn a_tag_goes_between_addresses_and_type() {
    let mut partition = partitions(&[SMALL]).unwrap().remove(0);
    let mut frame = partition.take(18).unwrap();
    for (index, byte) in frame.head_mut().iter_mut().enumerate() {
        *byte = index as u8;
    }
    assert!(frame.insert_tag([0x81, 0, 0, 7]));
    assert_eq!(frame.head(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x81, 0, 0, 7, 12, 13, 14, 15, 16, 17]);
    assert_eq!(frame.len(), 22);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(64)))]

    #[test]
    fn a_frame_grows_and_shrinks_at_its_front_as_a_list_of_bytes_does(
        len in prop::sample::select(vec![14, 60, 1514, HEAD_CAPACITY - 1, HEAD_CAPACITY, HEAD_CAPACITY + 10, 60_000]),
        steps in prop::collection::vec((any::<bool>(), 0usize..80), 0..40),
    ) {
        let mut partition = partitions(&[SMALL]).unwrap().remove(0);
        let mut frame = partition.take_head().unwrap();
        prop_assert!(partition.add_tail(&mut frame));
        frame.receive_spans();
        prop_assert!(frame.received(len));
        let tail_len = len.saturating_sub(HEAD_CAPACITY);
        let mut model: std::collections::VecDeque<u8> = (0..len).map(|at| at as u8).collect();
        let bytes: Vec<u8> = model.iter().copied().collect();
        frame.head_mut().copy_from_slice(&bytes[..len - tail_len]);
        if let Some(tail) = frame.tail() {
            // SAFETY: the span is the frame's own tail, which nobody else refers to.
            unsafe { std::slice::from_raw_parts_mut(tail.start, tail.len) }.copy_from_slice(&bytes[HEAD_CAPACITY..]);
        }
        let mut room = HEADROOM;
        for (push, by) in steps {
            if push {
                let pushed = frame.push(by);
                prop_assert!(pushed || by > room, "{by} of at least {room}");
                if pushed {
                    room = room.saturating_sub(by);
                    let new: Vec<u8> = (0..by).map(|at| !(at as u8)).collect();
                    frame.head_mut()[..by].copy_from_slice(&new);
                    new.into_iter().rev().for_each(|byte| model.push_front(byte));
                }
            } else {
                let held = by <= model.len() - tail_len;
                prop_assert_eq!(frame.pull(by), held);
                if held {
                    room += by;
                    model.drain(..by);
                }
            }
            prop_assert_eq!(frame.len(), model.len());
            prop_assert_eq!(frame.to_vec(), model.iter().copied().collect::<Vec<u8>>());
        }
    }
}

#[test]
fn the_tail_begins_where_the_head_is_full() {
    let mut partition = partitions(&[SMALL]).unwrap().remove(0);
    let mut frame = partition.take_head().unwrap();
    assert!(!frame.received(HEAD_CAPACITY + 1));
    assert!(partition.add_tail(&mut frame));
    assert!(frame.received(HEAD_CAPACITY + 10));
    assert_eq!((frame.head().len(), frame.len()), (HEAD_CAPACITY, HEAD_CAPACITY + 10));
    assert!(!frame.resize(10));
    assert_eq!(frame.footprint(), HEAD_CHUNK + TAIL_CAPACITY);
    let bytes: Vec<u8> = (0..HEAD_CAPACITY + 10).map(|at| at as u8).collect();
    frame.head_mut().copy_from_slice(&bytes[..HEAD_CAPACITY]);
    let tail = frame.tail().unwrap();
    // SAFETY: the span is the frame's own tail, which nobody else refers to.
    unsafe { std::slice::from_raw_parts_mut(tail.start, tail.len) }.copy_from_slice(&bytes[HEAD_CAPACITY..]);
    for range in [0..20, HEAD_CAPACITY - 5..HEAD_CAPACITY + 5, HEAD_CAPACITY + 2..HEAD_CAPACITY + 10] {
        let mut copy = vec![0; range.len()];
        assert!(frame.copy_to(range.start, &mut copy));
        assert_eq!(copy, bytes[range]);
    }
    assert!(!frame.copy_to(HEAD_CAPACITY - 5, &mut [0; 16]));
    assert!(!frame.copy_to(HEAD_CAPACITY + 8, &mut [0; 3]));
    assert!(frame.received(60));
    partition.strip_tail(&mut frame);
    assert_eq!(partition.free(), (3, 2));
    assert!(frame.resize(HEAD_CAPACITY));
    assert!(!frame.resize(HEAD_CAPACITY + 1));
}

#[test]
fn threads_hammering_one_partition_lose_nothing() {
    let mut partition = partitions(&[PartitionSize { heads: 64, tails: 8 }]).unwrap().remove(0);
    let (sender, receiver) = std::sync::mpsc::sync_channel::<PoolFrame>(64);
    let receiver = std::sync::Arc::new(std::sync::Mutex::new(receiver));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let receiver = std::sync::Arc::clone(&receiver);
            scope.spawn(move || {
                loop {
                    let frame = receiver.lock().unwrap().recv();
                    let Ok(frame) = frame else { break };
                    assert_eq!(frame.head(), [7; 60]);
                }
            });
        }
        let mut sent = 0;
        while sent < 20_000 {
            let Some(mut frame) = partition.take(60) else {
                std::thread::yield_now();
                continue;
            };
            frame.head_mut().fill(7);
            sender.send(frame).unwrap();
            sent += 1;
        }
        drop(sender);
    });
    partition.reclaim();
    assert_eq!(partition.free(), (64, 8));
}
