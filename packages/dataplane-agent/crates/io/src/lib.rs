//! Frames in and out: the frame pool, port backends, TAPs, and the Linux side of claiming ports.
//!
//! Every unsafe block of packet I/O is here. Packets are not interpreted beyond what sockets need.

pub mod af_packet;
pub mod bpf;
pub mod claim;
pub mod clock;
pub mod command;
pub mod fanout;
pub mod flowtable;
pub mod generator;
pub mod gso;
pub mod huge_pages;
pub mod link;
pub mod memory;
pub mod mmsg;
pub mod netns;
pub mod owner_only_files;
pub mod packet_ring;
pub mod packet_socket;
pub mod pool;
pub mod port;
pub mod port_io;
pub mod routes;
pub mod tap;
pub mod thread;
pub mod vnet;
pub mod wake;
pub mod xdp;

#[cfg(test)]
mod modules_tests;

pub use pool::{Partition, PoolFrame};
pub use port::Port;
pub use port_io::PortIo;
