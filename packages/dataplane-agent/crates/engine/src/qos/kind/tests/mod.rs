//! Kinds on a virtual clock.

mod books;
mod cake;
mod codel;
mod fq_codel;
mod pcq;
mod red;
mod sfq;
mod sizes;
pub mod support;
