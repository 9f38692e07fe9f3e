//! Messages on a byte stream: a 32-bit little-endian length, then msgpack
//! ([`tollway_config::protocol`]).

use std::io::ErrorKind;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use tollway_config::dataplane::DataplaneConfig;
use tollway_config::protocol::{MAX_FRAME, Request, RequestBody};

/// The stream cannot be followed any more: a length beyond [`MAX_FRAME`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong(pub u32);

/// Collects bytes and cuts them into frames.
#[derive(Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    start: usize,
}

impl Decoder {
    /// Adds what was read.
    pub fn extend(&mut self, bytes: &[u8]) {
        if self.start > 0 && self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        } else if self.start > 1 << 20 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole frame.
    ///
    /// # Errors
    /// When a frame claims to be longer than [`MAX_FRAME`].
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, TooLong> {
        let rest = self.bytes.get(self.start..).unwrap_or_default();
        let Some(length) = rest.first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length);
        if length > MAX_FRAME {
            return Err(TooLong(length));
        }
        let end = self.start + 4 + length as usize;
        if self.bytes.len() < end {
            self.bytes.reserve(end - self.bytes.len());
            return Ok(None);
        }
        let start = std::mem::replace(&mut self.start, end) + 4;
        Ok(self.bytes.get(start..end))
    }
}

/// A value as msgpack, with named fields and addresses as text.
///
/// # Errors
/// Never for the types of this crate; the reason says which field.
pub fn to_msgpack<T: Serialize>(value: &T) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut serializer = rmp_serde::Serializer::new(&mut bytes).with_struct_map().with_human_readable();
    value.serialize(&mut serializer).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// A value from msgpack; bytes left over are an error.
///
/// # Errors
/// Names the field or the type that does not fit.
pub fn from_msgpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    // Text borrows from the bytes: a configuration has tens of thousands of short words.
    let mut deserializer = rmp_serde::Deserializer::from_read_ref(bytes).with_human_readable();
    let value = T::deserialize(&mut deserializer).map_err(|error| error.to_string())?;
    match IgnoredAny::deserialize(&mut deserializer) {
        Err(rmp_serde::decode::Error::InvalidMarkerRead(end)) if end.kind() == ErrorKind::UnexpectedEof => {
            Ok(value)
        }
        _ => Err("bytes after the end of the message".to_owned()),
    }
}

/// A request from msgpack.
///
/// # Errors
/// As [`from_msgpack`].
pub fn request_from_msgpack(bytes: &[u8]) -> Result<Request, String> {
    /// The members that every request has.
    #[derive(Deserialize)]
    struct Any {
        body: AnyBody,
    }
    #[derive(Deserialize)]
    struct AnyBody {
        op: String,
    }
    /// [`RequestBody::Prepare`], the one request that can be large, read without the detour through a tree
    /// of values that finding an enum's tag among its fields takes.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Prepare {
        id: u32,
        body: PrepareBody,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct PrepareBody {
        #[serde(rename = "op")]
        _op: IgnoredAny,
        base: u64,
        revision: u64,
        config: Box<DataplaneConfig>,
    }
    let mut deserializer = rmp_serde::Deserializer::from_read_ref(bytes).with_human_readable();
    if Any::deserialize(&mut deserializer).is_ok_and(|any| any.body.op == "prepare") {
        let Prepare { id, body: PrepareBody { base, revision, config, .. } } = from_msgpack(bytes)?;
        return Ok(Request { id, body: RequestBody::Prepare { base, revision, config } });
    }
    from_msgpack(bytes)
}

/// A frame with a message in it.
///
/// # Errors
/// As [`to_msgpack`], or when the message is too long for a frame.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, String> {
    let body = to_msgpack(message)?;
    let length = u32::try_from(body.len()).ok().filter(|&length| length <= MAX_FRAME);
    let length = length.ok_or_else(|| format!("a message of {} bytes is too long", body.len()))?;
    let mut frame = Vec::with_capacity(4 + body.len());
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(&body);
    Ok(frame)
}

/// The request id of a message that does not decode as a whole; 0 if even that cannot be read.
pub fn request_id(body: &[u8]) -> u32 {
    #[derive(Deserialize)]
    struct Id {
        id: u32,
    }
    rmp_serde::from_slice::<Id>(body).map_or(0, |id| id.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use tollway_config::protocol::{Event, Message, Reply, ReplyBody};

    fn requests() -> Vec<Request> {
        vec![
            Request { id: 1, body: RequestBody::Hello { protocol: 1 } },
            Request {
                id: 2,
                body: RequestBody::Prepare { base: 0, revision: 1 << 40, config: Box::default() },
            },
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
        let stream: Vec<u8> = requests.iter().flat_map(|request| encode(request).unwrap()).collect();
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
            Message::Reply(Reply {
                id: 9,
                body: ReplyBody::Connections { now_ns: 1, records: vec![1, 2, 255] },
            }),
            Message::Event(Event::Link { port: "ether1".into(), running: true, present: true }),
        ];
        for message in messages {
            let frame = encode(&message).unwrap();
            assert_eq!(from_msgpack::<Message>(&frame[4..]).unwrap(), message);
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
}
