//! A netdev by AF_XDP sockets (Documentation/networking/af_xdp.rst).
//!
//! An XDP program of six instructions gives every frame of a queue to the queue's socket, and drops the frames of
//! queues without a socket, so that the kernel's stack receives no frame of the netdev. Frames lie in the pool's
//! [`Umem`](crate::pool::Umem), which every socket registers for itself. So a frame that one port received is sent by
//! another without being copied here, each socket can be bound in the mode that its driver supports, and opening or
//! closing a port does not affect other ports.
//!
//! What AF_XDP does not carry is done here: checksums that local stacks leave to hardware are
//! recognised and completed ([`checksum`]), and super-frames of other ports are segmented.

mod bpf;
mod checksum;
pub mod device;
mod features;
mod kernel_frames;
mod open;
mod port;
mod ring;
mod sys;

pub use bpf::XdpMode;
pub use kernel_frames::MAX_FRAME;
pub use open::{MAX_MTU, Opened, open};
pub use port::XdpPort;
