//! Queues: traffic shaping with simple queues and queue trees. Packets that exceed a rate wait in their queue.
//!
//! ```text
//!  classify:  addresses ─► classification table ─► queue path (the leaves that the packet passes, in order)
//!  queue:     each leaf: nothing waits and the bucket has tokens ─► next leaf, in place
//!                      │ another worker owns the leaf: the packet is handed over to it
//!                      └─► enqueued in the leaf's queue kind ─► timer wheel ─► due ─► dequeued ─► next leaf
//! ```
//!
//! A queue kind (`kind/`) decides which packets wait, which are dropped and in which order they leave; the token bucket
//! ([`token_bucket`], or a tree of them: [`htb`]) decides when.
//! Time is an argument: [`queues::Queues::dequeue`] sends the packets that are due at it.

pub mod addresses;
pub mod burst;
pub mod classify;
pub mod forest;
pub mod htb;
pub mod kind;
mod leaf;
mod longest;
mod meter;
pub mod ownership;
pub(crate) mod prefetch;
pub mod queues;
pub mod segment;
mod slab;
pub mod token_bucket;
mod trie;
