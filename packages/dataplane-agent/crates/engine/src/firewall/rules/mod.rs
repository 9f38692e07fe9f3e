//! Firewall rules: which rules match a packet, and the resulting verdict and actions.
//!
//! [`RuleTable`] is a compiled table (filter, NAT or mangle). [`mod@reference`] evaluates the configuration as it was
//! written, rule by rule, and is what `RuleTable` must agree with. Conditions are in `matcher`, actions in `action`.
//! Nothing here has an effect on packets: verdict, log lines and the fasttrack mark are returned in an [`Evaluation`].

mod action;
mod address_intervals;
mod check;
mod compile;
mod depends;
mod evaluate;
mod index;
mod intervals;
mod list;
mod matcher;
mod outcome;
pub mod reference;
mod reference_input;
mod table_kind;
mod validity;
mod view;

#[cfg(test)]
mod stateful_tests;
#[cfg(test)]
mod tests;

pub use compile::{MAX_CHAINS, Rule, RuleTable};
pub use depends::Depends;
pub(crate) use intervals::Intervals;
pub use list::AddressLists;
pub use matcher::TimeOfDay;
pub use outcome::{Changes, Evaluation, ListAddition, MAX_JUMP_DEPTH, Position, RuleVerdict};
pub use table_kind::TableKind;
pub use validity::{MAX_LISTED, Membership, OutcomeValidity};
pub use view::{PacketView, Side};
