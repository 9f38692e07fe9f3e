//! The short way of segments that go on against the way of all.

use proptest::prelude::*;
use tollway_config::dataplane::Tracking;
use tollway_wire::tcp::Options;

use super::*;

/// Few numbers, so that segments answer each other, and some that lie outside every window.
fn segments() -> impl Strategy<Value = (bool, Segment)> {
    let flags = prop_oneof![
        2 => Just(flag::SYN),
        2 => Just(flag::SYN | flag::ACK),
        6 => Just(flag::ACK),
        3 => Just(flag::FIN | flag::ACK),
        1 => Just(flag::RST | flag::ACK),
        1 => any::<u8>(),
    ];
    let number = || prop_oneof![8 => 0u32..4, 1 => 0u32..100_000, 1 => any::<u32>()];
    let options = (proptest::option::of(0u8..15), any::<bool>(), proptest::option::of(0u32..8));
    (any::<bool>(), number(), number(), 0u32..3, prop_oneof![Just(1000u16), any::<u16>()], flags, options)
        .prop_map(|(reply, seq, ack, payload, window, flags, (scale, sack, right))| {
            let options = Options::new(scale, sack, right);
            (reply, Segment { seq, ack, payload, window, flags, options })
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(2000)))]
    #[test]
    fn going_on_says_what_the_way_of_all_segments_says(
        stream in proptest::collection::vec(segments(), 1..24),
        liberal: bool,
    ) {
        let timeouts = Timeouts::new(&Tracking { liberal_tcp_tracking: liberal, ..Tracking::default() });
        let mut opened = stream.into_iter();
        let Some(mut protocol_state) = opened.find_map(|(_, segment)| ProtocolState::open(&segment, &timeouts)) else {
            return Ok(());
        };
        for (reply, segment) in opened {
            let direction = if reply { Direction::Reply } else { Direction::Original };
            let mut whole = protocol_state;
            let expected = segment.kind().map_or(SegmentOutcome::Invalid, |kind| {
                let transition = transition(whole.state, direction, kind);
                whole.track_any(direction, &segment, (kind, transition), &timeouts)
            });
            prop_assert_eq!(protocol_state.track(direction, &segment, &timeouts), expected, "{:?}", segment);
            prop_assert_eq!(&protocol_state, &whole, "{:?}", segment);
            if expected == SegmentOutcome::Reopened {
                match ProtocolState::open(&segment, &timeouts) {
                    Some(anew) => protocol_state = anew,
                    None => return Ok(()),
                }
            }
        }
    }
}
