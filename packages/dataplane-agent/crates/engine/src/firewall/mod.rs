//! Firewall: rules, address sets, marks.

pub mod address_set;
pub mod classifier;
pub mod marks;
