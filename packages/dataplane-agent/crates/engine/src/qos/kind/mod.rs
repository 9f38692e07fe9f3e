//! Queue kinds: which packets of a leaf wait, and in which order they go.
//!
//! A kind has `new`, `offer` (takes a waiting frame or refuses it), `next` (the frame to go) and `frames`.

mod pfifo;

pub use pfifo::Pfifo;
