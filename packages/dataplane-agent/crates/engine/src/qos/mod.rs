//! Queues: who is held to which rate, and the packets that wait for it.
//!
//! ```text
//!  classify:  addresses ─► table ─► queue (queue and direction)
//!  queue:     queue ─► leaf: nothing waits and the bucket has tokens ─► on, in place
//!                      │ else, if another worker has the queue: handed over to it
//!                      └─► waits in the leaf's queue kind ─► wheel ─► due, in turn ─► on
//! ```
//!
//! A queue kind (`kind/`) decides which packets wait and in which order they go; the bucket decides when.
//! Time is an argument: [`queues::Queues::release`] sends what is due by then.

pub mod bucket;
pub mod burst;
pub mod classify;
pub mod forest;
pub mod htb;
pub mod kind;
mod leaf;
mod longest;
pub mod ownership;
pub(crate) mod prefetch;
pub mod queues;
pub mod segment;
mod slab;
mod trie;
