//! Kinds on a virtual clock.

mod cake;
mod codel;
mod fq_codel;
mod invariants;
mod pcq;
mod red;
mod sample;
mod sfq;
mod sizes;
pub mod support;
