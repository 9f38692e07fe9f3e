//! Tins: the DSCPs and the threshold of each (tc-cake(8), "Priority queue parameters").
//!
//! The number of a tin is its priority while it is below its threshold; 0 is the lowest. The threshold of tin 0 is the
//! whole rate.

use tollway_config::dataplane::CakeDiffserv;

const LE: u8 = 1;
const TOS2: u8 = 2;
const TOS4: u8 = 4;
const VA: u8 = 44;
const EF: u8 = 46;
// Class selectors (RFC 2474 §4.2.2).
const CS1: u8 = 8;
const CS2: u8 = 16;
const CS3: u8 = 24;
const CS4: u8 = 32;
const CS5: u8 = 40;
const CS6: u8 = 48;
const CS7: u8 = 56;

/// Whether a code point is one of assured forwarding class `class` (RFC 2597).
const fn is_assured(dscp: u8, class: u8) -> bool {
    dscp >> 3 == class && matches!(dscp & 7, 2 | 4 | 6)
}

/// Number of tins.
pub fn tins(mode: CakeDiffserv) -> usize {
    match mode {
        CakeDiffserv::Besteffort => 1,
        CakeDiffserv::Diffserv3 => 3,
        CakeDiffserv::Diffserv4 => 4,
        CakeDiffserv::Diffserv8 | CakeDiffserv::Precedence => 8,
    }
}

/// The tin of a code point.
pub fn tin(mode: CakeDiffserv, dscp: u8) -> usize {
    match mode {
        CakeDiffserv::Besteffort => 0,
        CakeDiffserv::Precedence => usize::from(dscp >> 3),
        CakeDiffserv::Diffserv3 => diffserv3(dscp),
        CakeDiffserv::Diffserv4 => diffserv4(dscp),
        CakeDiffserv::Diffserv8 => diffserv8(dscp),
    }
}

/// Best effort, bulk, voice.
fn diffserv3(dscp: u8) -> usize {
    match dscp {
        CS1 | LE => 1,
        CS6 | CS7 | EF | VA | TOS4 => 2,
        _ => 0,
    }
}

/// Best effort, bulk, video, voice.
fn diffserv4(dscp: u8) -> usize {
    match dscp {
        CS1 | LE => 1,
        CS2 | CS3 | TOS4 => 2,
        _ if is_assured(dscp, 2) || is_assured(dscp, 3) || is_assured(dscp, 4) => 2,
        CS4 | CS5 | CS6 | CS7 | EF | VA => 3,
        _ => 0,
    }
}

/// Background, high throughput, best effort, video, low latency, interactive shells, minimum latency, network control.
fn diffserv8(dscp: u8) -> usize {
    match dscp {
        CS1 | LE => 0,
        TOS2 => 1,
        _ if is_assured(dscp, 1) => 1,
        CS3 => 3,
        _ if is_assured(dscp, 3) || is_assured(dscp, 4) => 3,
        TOS4 => 4,
        _ if is_assured(dscp, 2) => 4,
        CS2 => 5,
        CS4 | CS5 | EF | VA => 6,
        CS6 | CS7 => 7,
        _ => 2,
    }
}

/// Threshold of a tin, in the unit of `rate`.
pub fn threshold(mode: CakeDiffserv, tin: usize, rate: u64) -> u64 {
    match (mode, tin) {
        (_, 0) => rate,
        (CakeDiffserv::Diffserv3 | CakeDiffserv::Diffserv4, 1) => rate / 16,
        (CakeDiffserv::Diffserv4, 2) => rate / 2,
        (CakeDiffserv::Diffserv3 | CakeDiffserv::Diffserv4, _) => rate / 4,
        // Each threshold is seven eighths of that of the tin below.
        (_, tin) => (0..tin).fold(rate, |rate, _| rate - rate / 8),
    }
}
