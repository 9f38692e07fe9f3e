//! Connection tracking: finds the connection of a packet, and tracks its state.
//!
//! A connection consists of two [flow entries](FlowEntry), one for each direction, which are also the flow cache; one
//! [`HotState`] that packets of both directions use; and a cold state that is rarely needed. [`ConnectionTable`] owns
//! them for one worker; [`Connection`] is a copy of all of them. Only the tracker of the protocol reads a packet, and
//! makes a [`Transport`] of it, which the caller passes to the table together with the
//! [`Tuple`](crate::packet::tuple::Tuple).

mod buckets;
mod connection;
mod dump;
mod entry;
mod flow;
mod hot_state;
mod journal;
mod offloaded;
mod protocol;
mod status;
pub(crate) mod table;
pub mod tcp;
mod tcp_state;
mod timeouts;
mod track;
mod validity;

pub mod generic;
pub mod icmp;
pub mod udp;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use connection::{Connection, NatInfo, Totals, Tuples};
pub use entry::{CachedAction, FlowEntry, NewEnds, action_flag};
pub use flow::Flow;
pub use hot_state::HotState;
pub use journal::{Change, Translated};
pub use protocol::Transport;
pub use status::Status;
pub use table::{Clash, ConnectionTable, Counters};
pub use timeouts::Timeouts;
pub use track::{InvalidReason, Tracked};
pub use validity::{Validities, Validity};
