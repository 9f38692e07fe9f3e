//! The stages, in the order in which a batch passes them; [`crate::pipeline::STAGES`] is that order.
//!
//! Each is `fn(&Snapshot, &mut WorkerState, &mut Batch, &mut FrameSource) -> packets that entered`.

pub(crate) mod bound;

pub(crate) mod parse;

pub(crate) mod arp;

pub(crate) mod fragment;

pub(crate) mod fast_path;

pub(crate) mod stateless;

pub(crate) mod track;

pub(crate) mod mangle_pre;

mod nat_rule;

pub(crate) mod moved;

pub(crate) mod dst_nat;

pub(crate) mod route;

pub(crate) mod ttl;

mod alter;
mod rules;

pub(crate) mod mangle;

pub(crate) mod filter;

pub(crate) mod mangle_post;

pub(crate) mod src_nat;

pub(crate) mod classify;

pub(crate) mod stale;

pub(crate) mod install;

pub(crate) mod local;

mod cut;

pub(crate) mod emit;
mod ip_options;

pub(crate) mod queue;
