//! Wire formats: parse and emit headers, compute and adjust checksums.
//!
//! Every protocol file has the same shape: a typed view over bytes, a checked constructor that bounds
//! every offset the getters use, getters and setters in host byte order, a `Repr` with `emit`. Nothing
//! here panics, whatever the bytes.
#![forbid(unsafe_code)]

pub mod arp;
pub mod checksum;
pub mod ethernet;
pub mod extension;
pub mod field;
pub mod icmp;
pub mod icmp_message;
pub mod icmpv6;
pub mod ipv4;
pub mod ipv6;
pub mod ndp;
pub mod options;
pub mod tcp;
pub mod transport;
pub mod udp;

#[cfg(test)]
mod modules_tests;

/// Reason for which bytes cannot be parsed as a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// Fewer bytes than the header, or than its own length field claims.
    Truncated,
    /// A version or type field names another protocol.
    Version,
    /// A length field contradicts the fixed header or the bytes present.
    Length,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Truncated => "truncated header",
            Self::Version => "wrong version",
            Self::Length => "bad length field",
        })
    }
}

impl std::error::Error for Error {}
