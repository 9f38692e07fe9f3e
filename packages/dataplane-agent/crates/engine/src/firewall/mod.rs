//! Firewall: rules, address sets, marks.

pub mod address_set;
pub mod marks;
pub mod rules;
