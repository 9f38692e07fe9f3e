//! TCP connections as scripts, after packetdrill: a segment per line, and what becomes of it.
//!
//! `>` goes the way of the first segment, `<` against it. Flags are those of tcpdump: S, F, R, P and `.` for ACK.
//! After them the sequence number, with `:end` of data, then `ack N`, `win N`, `scale N`, `sack`. Behind `=` stands
//! what rules see (`new`, `est` or `invalid`) and the state afterwards. `@ 10s` lets time pass; `#` is a comment.

use super::*;

/// A line of a script.
#[derive(Debug, PartialEq)]
enum Line {
    Wait(u64),
    Segment { reply: bool, segment: Segment, seen: ConnectionState, state: Option<State> },
}

fn number(word: Option<&str>) -> u32 {
    word.and_then(|word| word.parse().ok()).expect("a number")
}

fn parse(line: &str) -> Line {
    let (said, expected) = line.split_once('=').unwrap_or((line, ""));
    let mut words = said.split_whitespace();
    let reply = match words.next() {
        Some("@") => {
            let seconds = words.next().and_then(|word| word.strip_suffix('s'));
            return Line::Wait(u64::from(number(seconds)));
        }
        Some(">") => false,
        Some("<") => true,
        other => panic!("{other:?} in {line:?}"),
    };
    let mut flags = 0;
    for letter in words.next().expect("flags").chars() {
        flags |= match letter {
            'S' => flag::SYN,
            'F' => flag::FIN,
            'R' => flag::RST,
            'P' => flag::PSH,
            '.' => flag::ACK,
            other => panic!("{other:?} in {line:?}"),
        };
    }
    let (seq, end) = words.next().map(|word| word.split_once(':').unwrap_or((word, word))).expect("a number");
    let (seq, end) = (number(Some(seq)), number(Some(end)));
    let mut segment = Segment {
        seq,
        ack: 0,
        payload: end.wrapping_sub(seq),
        window: 1000,
        flags,
        options: Options::default(),
    };
    let (mut scale, mut sack) = (None, false);
    while let Some(word) = words.next() {
        match word {
            "ack" => segment.ack = number(words.next()),
            "win" => segment.window = number(words.next()) as u16,
            "scale" => scale = Some(number(words.next()) as u8),
            "sack" => sack = true,
            other => panic!("{other:?} in {line:?}"),
        }
    }
    segment.options = Options::new(scale, sack, None);
    let mut expected = expected.split_whitespace();
    let seen = match expected.next() {
        Some("new") => ConnectionState::New,
        Some("est") => ConnectionState::Established,
        Some("invalid") => ConnectionState::Invalid,
        other => panic!("{other:?} in {line:?}"),
    };
    let state = expected.next().map(|name| {
        let named = |state: &&State| format!("{state:?}") == name;
        *State::ALL.iter().find(named).unwrap_or_else(|| panic!("no state {name}"))
    });
    Line::Segment { reply, segment, seen, state }
}

/// Runs a script twice: on the slow path, and with the fast one wherever that takes the segment.
fn run(script: &str) {
    let flow = tuple(6, 1, 1000);
    let mut slow = Harness::new(10);
    let mut fast = Harness::new(10);
    for text in script.lines().map(|line| line.split('#').next().unwrap_or("").trim()) {
        if text.is_empty() {
            continue;
        }
        let (reply, segment, seen, state) = match parse(text) {
            Line::Wait(seconds) => {
                slow.now = Now(slow.now.0 + seconds * SECOND);
                fast.now = slow.now;
                continue;
            }
            Line::Segment { reply, segment, seen, state } => (reply, segment, seen, state),
        };
        let tuple = if reply { flow.reversed() } else { flow };
        let transport = Transport::Tcp(segment);
        let judged = slow.pass(&tuple, &transport);
        let index = fast.table.find(&tuple).map(|(conn, direction)| conn.slot << 1 | direction as u32);
        let taken = index.and_then(|index| fast.take(index, &transport));
        if taken.is_none() {
            assert_eq!(fast.pass(&tuple, &transport), judged, "{text}");
        }
        let known = |harness: &Harness| {
            let conn = harness.table.get(harness.table.find(&flow)?.0)?;
            Some((conn.protocol_state, conn.status, conn.left(harness.now), conn.id))
        };
        assert_eq!(judged.state, seen, "{text}\nin{script}");
        assert_eq!(known(&slow).map(|(tcp, ..)| tcp.state()), state, "{text}\nin{script}");
        assert_eq!(known(&fast), known(&slow), "{text}\nin{script}");
    }
}

const OPEN: &str = "
    > S 1000 scale 7 sack = new SynSent
    < S. 5000 ack 1001 scale 7 sack = est SynRecv
    > . 1001 ack 5001 = est Established
    > P. 1001:1101 ack 5001 = est Established
    < . 5001 ack 1101 = est Established
";

fn after_opening(script: &str) {
    run(&format!("{OPEN}{script}"));
}

#[test]
fn both_ends_forgot_the_connection_and_open_it_anew() {
    after_opening(
        "> S 900000 scale 2 sack = est Established
         < S. 70000 ack 900001 scale 3 sack = est SynRecv
         > . 900001 ack 70001 = est Established
         > P. 900001:900501 ack 70001 = est Established
         < P. 70001:71001 ack 900501 = est Established
         # What belonged to the old one is none of it.
         > . 1101 ack 5001 = est Established
         < P. 5001000:5001100 ack 900501 = invalid Established",
    );
    // Lower numbers than before, several tries, and answers of the old connection in between.
    after_opening(
        "> S 10 = est Established
         < . 5001 ack 1101 = est Established
         > S 10 = est Established
         < S. 3000000000 ack 11 = est SynRecv
         < S. 3000000000 ack 11 = est SynRecv
         > . 11 ack 3000000001 = est Established",
    );
}

#[test]
fn both_ends_forgot_a_connection_that_was_being_closed() {
    for (closing, state) in [
        ("> F. 1101 ack 5001 = est FinWait", "FinWait"),
        (
            "> F. 1101 ack 5001 = est FinWait
             < . 5001 ack 1102 = est CloseWait",
            "CloseWait",
        ),
        (
            "> F. 1101 ack 5001 = est FinWait
             < F. 5001 ack 1102 = est LastAck",
            "LastAck",
        ),
    ] {
        after_opening(&format!(
            "{closing}
             > S 900000 = est {state}
             < S. 70000 ack 900001 = est SynRecv
             > . 900001 ack 70001 = est Established"
        ));
    }
}

#[test]
fn an_answer_to_no_syn_that_was_let_through_changes_nothing() {
    after_opening(
        "< S. 70000 ack 900001 = est Established
         > . 900001 ack 70001 = invalid Established
         > S 900000 = est Established
         < S. 70000 ack 900002 = est Established
         > . 900002 ack 70001 = invalid Established
         > S 900000 = est Established
         # The connection lives: the SYN was none of its ends'.
         > P. 1101:1201 ack 5001 = est Established
         < S. 70000 ack 900001 = est Established
         < . 5001 ack 1201 = est Established",
    );
}

/// Also with loose tracking, which picks up what goes on; what the answer was for has been lost then.
#[test]
fn an_answer_to_nothing_is_invalid_and_what_goes_on_is_picked_up() {
    run("> S. 5000 ack 1001 = invalid
         > . 5001 ack 1001 = new Established
         < P. 1001:1101 ack 5001 = est Established");
}

#[test]
fn a_peer_that_forgot_the_connection_and_does_not_listen_refuses_the_new_one() {
    after_opening(
        "> S 900000 = est Established
         < R. 0 ack 900001 = est Established
         > P. 1101:1201 ack 5001 = est Established",
    );
    after_opening(
        "> F. 1101 ack 5001 = est FinWait
         > S 900000 = est FinWait
         < R. 0 ack 900002 = invalid FinWait
         < R. 0 ack 900001 = est Close
         > S 900000 = new SynSent",
    );
}

#[test]
fn fast_open_falls_back_to_a_syn_without_data() {
    for answer in [1001, 1501] {
        run(&format!(
            "> S 1000:1500 scale 7 = new SynSent
             > S 1000 scale 7 = new SynSent
             < S. 5000 ack {answer} scale 7 = est SynRecv
             > . {answer} ack 5001 = est Established
             > P. {answer}:2000 ack 5001 = est Established
             < . 5001 ack 2000 = est Established"
        ));
    }
    run("> S 1000:1500 = new SynSent
         < S. 5000 ack 1001 = est SynRecv
         > P. 1001:1501 ack 5001 = est Established
         < . 5001 ack 1501 = est Established");
}

#[test]
fn a_syn_sent_again_may_have_any_sequence_number() {
    for (seq, ack) in
        [(2000u32, 2001u32), (900, 901), (4_000_000_000, 4_000_000_001), (2_000_000_000, 2_000_000_001)]
    {
        run(&format!(
            "> S 1000 scale 7 sack = new SynSent
             @ 1s
             > S {seq} scale 2 = new SynSent
             @ 4s
             < S. 5000 ack {ack} scale 2 = est SynRecv
             > . {ack} ack 5001 = est Established
             < P. 5001:5101 ack {ack} = est Established"
        ));
    }
    // The answer to the first one was on its way.
    run("> S 1000 = new SynSent
         > S 900 = new SynSent
         < S. 5000 ack 1001 = est SynRecv
         > . 1001 ack 5001 = est Established");
}

#[test]
fn a_server_with_syn_cookies_answers_a_second_syn_with_another_number() {
    run("> S 1000 scale 7 = new SynSent
         < S. 5000 ack 1001 scale 7 = est SynRecv
         > S 1000 scale 7 = est SynRecv
         < S. 900000 ack 1001 scale 7 = est SynRecv
         > . 1001 ack 900001 = est Established
         < P. 900001:900101 ack 1001 = est Established");
}

/// RFC 9293, figure 9: the server has the connection still, the client and the router have not.
#[test]
fn a_half_open_connection_is_reset_and_opened_anew() {
    run("> S 1000 = new SynSent
         < . 300 ack 100 = est SynSent
         > R 100 = est Close
         > S 1000 = new SynSent
         < S. 5000 ack 1001 = est SynRecv
         > . 1001 ack 5001 = est Established");
    run("> S 1000 = new SynSent
         < . 300 ack 100 = est SynSent
         > R 101 = invalid SynSent");
}

/// RFC 5961 §4: the answer to a SYN in a living connection must not pass for that to its last FIN.
#[test]
fn a_challenge_ack_does_not_acknowledge_the_last_fin() {
    after_opening(
        "> F. 1101 ack 5001 = est FinWait
         < F. 5001 ack 1102 = est LastAck
         > S 900000 = est LastAck
         < . 5002 ack 1102 = est LastAck
         > . 1102 ack 5002 = est TimeWait",
    );
}

/// RFC 9293, figure 8.
#[test]
fn both_ends_open_the_connection_at_once() {
    run("> S 1000 scale 7 = new SynSent
         < S 5000 scale 7 = est SynSent2
         > S. 1000 ack 5001 scale 7 = est SynRecv
         < S. 5000 ack 1001 scale 7 = est SynRecv
         < P. 5001:5101 ack 1001 = est Established
         > . 1001 ack 5101 = est Established");
    run("> S 1000 = new SynSent
         < S 5000 = est SynSent2
         < S. 5000 ack 1001 = est SynRecv
         > S. 1000 ack 5001 = est SynRecv
         > . 1001 ack 5001 = est Established");
    // One of them alone does not wait for the originator's answer in vain.
    run("> S 1000 = new SynSent
         < S. 5000 ack 1001 = est SynRecv
         < . 5001 ack 1001 = est SynRecv
         > . 1001 ack 5001 = est Established");
}

#[test]
fn what_comes_too_late_passes_and_moves_nothing() {
    after_opening(
        "> P. 1101:61101 ack 5001 = est Established
         < . 5001 ack 61101 = est Established
         > P. 61101:121101 ack 5001 = est Established
         < . 5001 ack 121101 = est Established
         > P. 121101:181101 ack 5001 = est Established
         < . 5001 ack 181101 = est Established
         # Data that was acknowledged long ago, and an acknowledgement as old.
         > P. 1001:1101 ack 5001 = est Established
         < . 5001 ack 1101 = est Established
         < P. 5001:5101 ack 1101 = est Established
         # What is beyond the windows stays invalid, and so does a reset from the past.
         > P. 9181101:9181201 ack 5001 = invalid Established
         < . 5001 ack 9181101 = invalid Established
         < R 1001 = invalid Established
         > R 1001 = invalid Established
         > P. 181101:181201 ack 5001 = est Established",
    );
}

#[test]
fn what_a_script_says_is_what_is_tracked() {
    let segment = Segment {
        seq: 7,
        ack: 9,
        payload: 3,
        window: 5,
        flags: flag::SYN | flag::ACK,
        options: Options::new(Some(2), true, None),
    };
    let line = Line::Segment { reply: true, segment, seen: ConnectionState::New, state: None };
    assert_eq!(parse("< S. 7:10 ack 9 win 5 scale 2 sack = new"), line);
    assert_eq!(parse("@ 12s"), Line::Wait(12));
}
