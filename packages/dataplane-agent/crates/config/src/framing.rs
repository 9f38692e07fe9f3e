//! Messages on a byte stream: a 32-bit little-endian length, then msgpack
//! ([`crate::protocol`]).

use std::io::ErrorKind;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::dataplane::DataplaneConfig;
use crate::protocol::{MAX_FRAME, Message, Request, RequestBody};

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

/// A message of the agent from msgpack.
///
/// # Errors
/// As [`from_msgpack`].
pub fn message_from_msgpack(bytes: &[u8]) -> Result<Message, String> {
    from_msgpack(bytes)
}

/// A frame with a message of the agent.
///
/// # Errors
/// As [`to_msgpack`], or when the message is too long for a frame.
pub fn encode(message: &Message) -> Result<Vec<u8>, String> {
    frame(to_msgpack(message)?)
}

/// A frame with a request.
///
/// # Errors
/// As [`encode`].
pub fn encode_request(request: &Request) -> Result<Vec<u8>, String> {
    frame(to_msgpack(request)?)
}

fn frame(body: Vec<u8>) -> Result<Vec<u8>, String> {
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
