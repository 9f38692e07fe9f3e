//! Choosing source ports and ICMP identifiers.

use tollway_config::dataplane::PortRange;

/// Tries per pass. Small ranges are searched whole; a large one that is nearly full gives up.
const MAX_TRIES: u32 = 8192;

/// The ports that may stand for `port`: those of its class, so that a privileged port stays one.
pub fn class(port: u16) -> PortRange {
    match port {
        0..512 => PortRange { from: 1, to: 511 },
        512..1024 => PortRange { from: 600, to: 1023 },
        1024.. => PortRange { from: 1024, to: 65535 },
    }
}

/// Ports of a range, each once, from a position that `start` decides; at most [`MAX_TRIES`].
pub fn candidates(range: PortRange, start: u32) -> impl Iterator<Item = u16> {
    let span = u32::from(range.to.saturating_sub(range.from)) + 1;
    let first = start % span;
    (0..span.min(MAX_TRIES)).map(move |step| {
        let offset = (first + step) % span;
        range.from.saturating_add(offset as u16)
    })
}

/// Whether a range holds a port.
pub fn contains(range: PortRange, port: u16) -> bool {
    range.from <= port && port <= range.to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_wrap_and_cover_the_range_once() {
        let range = PortRange { from: 65533, to: 65535 };
        assert_eq!(candidates(range, 2).collect::<Vec<_>>(), [65535, 65533, 65534]);
        let all: std::collections::BTreeSet<_> = candidates(class(80), 1000).collect();
        assert_eq!(all.len(), 511);
        assert_eq!(candidates(class(5000), 7).count(), 8192);
    }
}
