//! The contract between the configuration compiler and the data plane.
//!
//! [`dataplane`] is the *compiled* configuration: ids instead of names, addresses instead of text,
//! nothing that a packet cannot see. [`protocol`] is the set of messages that carry it, and the
//! counters that come back. Both serialise as msgpack maps with readable keys (`rmp_serde`'s
//! human-readable mode, so that addresses are text), and both have a JSON Schema from which the
//! TypeScript types are generated. The user's configuration, with its names, negations and comments,
//! lives in the TypeScript package `schema` and never reaches this crate.

pub mod dataplane;
pub mod digest;
pub mod framing;
pub mod protocol;
