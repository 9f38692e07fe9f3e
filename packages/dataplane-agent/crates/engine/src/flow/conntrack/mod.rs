//! Connection tracking: which flow a packet belongs to, and in which state the flow is.
//!
//! A connection is two [flow entries](FlowEntry), one a direction, which are also the flow cache; one [`HotState`] that
//! packets of both directions use; and a record of what is needed rarely. [`ConnectionTable`] owns them for
//! one worker; [`Connection`] is all of it put together. Nothing here reads packets; the
//! caller gives [`Tuple`](crate::packet::tuple::Tuple) and [`Transport`].

mod buckets;
mod connection;
mod dump;
mod entry;
mod hot_state;
mod journal;
mod offloaded;
pub(crate) mod table;
pub mod tcp;
mod timeouts;
mod track;
mod validity;

pub mod generic;
pub mod icmp;
pub mod udp;

#[cfg(test)]
mod tests;

pub use connection::{Connection, NatInfo, Status, Totals, Tuples};
pub use entry::{CachedAction, FlowEntry, action_flag};
pub use hot_state::HotState;
pub use journal::{Change, Translated};
pub use table::{Clash, ConnectionTable, Counters};
pub use timeouts::Timeouts;
pub use track::{Flow, InvalidReason, Tracked, Transport};
pub use validity::{Validities, Validity};
