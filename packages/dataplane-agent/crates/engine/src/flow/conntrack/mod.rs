//! Connection tracking: which flow a packet belongs to, and in which state the flow is.
//!
//! A connection is two *direction entries* of one cache line each, which are also the flow cache, one
//! [`Line`] that every packet of either direction touches, and what is seldom asked. [`Table`] owns them for
//! one worker; [`Connection`] is all of it put together. Nothing here reads packets; the
//! caller gives [`Tuple`](crate::packet::tuple::Tuple) and [`Transport`].

mod bound;
mod buckets;
mod connection;
mod dump;
mod entry;
mod journal;
mod line;
mod offloaded;
pub(crate) mod table;
pub mod tcp;
mod timeouts;
mod track;

pub mod generic;
pub mod icmp;
pub mod udp;

#[cfg(test)]
mod tests;

pub use bound::{Bound, EntryBounds};
pub use connection::{Connection, NatInfo, Status, Totals, Tuples};
pub use entry::{CachedAction, Entry, action_flag};
pub use journal::{Change, Translated};
pub use line::Line;
pub use table::{Clash, Counters, Table};
pub use timeouts::Timeouts;
pub use track::{Flow, InvalidReason, Tracked, Transport};
