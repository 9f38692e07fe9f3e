//! Messages on a byte stream.

use std::net::Ipv4Addr;

use serde::Serialize;
use tollway_config::dataplane::DataplaneConfig;
use tollway_config::framing::{
    Decoder, TooLong, encode, encode_request, from_msgpack, message_from_msgpack, request_from_msgpack,
    request_id, to_msgpack,
};
use tollway_config::protocol::{Event, MAX_FRAME, Message, Reply, ReplyBody, Request, RequestBody};

fn requests() -> Vec<Request> {
    vec![
        Request { id: 1, body: RequestBody::Hello { protocol: 1 } },
        Request { id: 2, body: RequestBody::Prepare { base: 0, revision: 1 << 40, config: Box::default() } },
        Request { id: 3, body: RequestBody::Stats },
        Request {
            id: 4,
            body: RequestBody::RemoveNeighbor { interface: 7, address: Ipv4Addr::new(192, 0, 2, 1) },
        },
    ]
}

#[test]
fn frames_survive_any_cut() {
    let requests = requests();
    let stream: Vec<u8> = requests.iter().flat_map(|request| encode_request(request).unwrap()).collect();
    for size in [1, 2, 3, 7, 64, stream.len()] {
        let mut decoder = Decoder::default();
        let mut seen = Vec::new();
        for piece in stream.chunks(size) {
            decoder.extend(piece);
            while let Some(frame) = decoder.next_frame().unwrap() {
                let request = request_from_msgpack(frame).unwrap();
                assert_eq!(from_msgpack::<Request>(frame).as_ref(), Ok(&request));
                seen.push(request);
            }
        }
        assert_eq!(seen, requests);
    }
}

#[test]
fn a_length_beyond_the_limit_is_an_error() {
    let mut decoder = Decoder::default();
    decoder.extend(&(MAX_FRAME + 1).to_le_bytes());
    assert_eq!(decoder.next_frame(), Err(TooLong(MAX_FRAME + 1)));
}

#[test]
fn replies_and_events_survive() {
    let messages = [
        Message::Reply(Reply { id: 9, body: ReplyBody::Connections { now_ns: 1, records: vec![1, 2, 255] } }),
        Message::Event(Event::Link { port: "ether1".into(), running: true, present: true }),
    ];
    for message in messages {
        let frame = encode(&message).unwrap();
        assert_eq!(message_from_msgpack(&frame[4..]).unwrap(), message);
    }
}

#[test]
fn addresses_are_text_and_records_are_bytes() {
    let body = to_msgpack(&requests()[3]).unwrap();
    assert!(body.windows(9).any(|window| window == b"192.0.2.1"));
    let reply = ReplyBody::Connections { now_ns: 1, records: vec![7; 300] };
    let body = to_msgpack(&Message::Reply(Reply { id: 1, body: reply })).unwrap();
    // bin 16 with 300 bytes.
    assert!(body.windows(3).any(|window| window == [0xc5, 1, 44]));
}

#[test]
fn unknown_fields_are_refused_and_the_id_is_found_all_the_same() {
    #[derive(Serialize)]
    struct Odd {
        id: u32,
        body: OddBody,
    }
    #[derive(Serialize)]
    struct OddBody {
        op: &'static str,
        colour: &'static str,
    }
    let body = to_msgpack(&Odd { id: 77, body: OddBody { op: "hello", colour: "red" } }).unwrap();
    assert!(request_from_msgpack(&body).is_err());
    let mut prepare = to_msgpack(&requests()[1]).unwrap();
    prepare.push(0xc0);
    assert!(request_from_msgpack(&prepare).unwrap_err().contains("after the end"));
    let at = prepare.windows(6).position(|window| window == b"format").unwrap();
    prepare[at] = b'F';
    assert!(request_from_msgpack(&prepare).unwrap_err().contains("Format"));
    assert_eq!(request_id(&body), 77);
    assert_eq!(request_id(&[0xc1, 0xff]), 0);
}

#[test]
fn a_configuration_survives() {
    let config = DataplaneConfig::default();
    assert_eq!(from_msgpack::<DataplaneConfig>(&to_msgpack(&config).unwrap()).unwrap(), config);
}
