//! The stages, in the order in which a batch passes them; [`crate::pipeline::STAGES`] is that order.
//!
//! Each has `run(&mut Pass) -> u64`, which returns how many packets entered it.

pub(crate) mod parse;

pub(crate) mod arp;

pub(crate) mod fragment;

pub(crate) mod flow_cache;

pub(crate) mod track;

pub(crate) mod mangle_pre;

pub(crate) mod dst_nat;

pub(crate) mod route;

pub(crate) mod ttl;

pub(crate) mod mangle;

pub(crate) mod filter;

pub(crate) mod mangle_post;

pub(crate) mod src_nat;

pub(crate) mod classify;

pub(crate) mod install;

pub(crate) mod local;

pub(crate) mod emit;

pub(crate) mod queue;
