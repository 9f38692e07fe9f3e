//! What clients of the agent's socket may send.

use tollway_config::framing::{Decoder, from_msgpack, request_id, to_msgpack};
use tollway_config::protocol::Request;

/// Bytes that arrive in two parts: frames come out as if they had come at once, and a request that is understood
/// is the same after it was written and read again, but for what only former formats have.
pub fn run(data: &[u8]) {
    let cut = data.first().map_or(0, |&at| usize::from(at).min(data.len()));
    let (first, second) = data.split_at(cut);
    let mut parts = Decoder::default();
    let mut bodies = Vec::new();
    for part in [first, second] {
        parts.extend(part);
        while let Ok(Some(body)) = parts.next_frame() {
            bodies.push(body.to_vec());
        }
    }
    let mut whole = Decoder::default();
    whole.extend(data);
    for body in &bodies {
        assert_eq!(whole.next_frame(), Ok(Some(&body[..])));
    }
    for body in bodies.iter().map(Vec::as_slice).chain([data]) {
        let _ = request_id(body);
        if let Ok(request) = from_msgpack::<Request>(body) {
            let rewritten = |request: &Request| {
                let written = to_msgpack(request).expect("what was read can be written");
                from_msgpack::<Request>(&written).expect("what was written can be read")
            };
            // What only former formats have is not written.
            let request = rewritten(&request);
            assert_eq!(rewritten(&request), request);
        }
    }
}
