//! A counter of packets and bytes.

/// Packets and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Wire segments.
    pub packets: u64,
    /// Bytes; what they include is said where the counter is.
    pub bytes: u64,
}

impl Count {
    /// Adds another counter.
    pub fn add(&mut self, other: Count) {
        self.packets = self.packets.wrapping_add(other.packets);
        self.bytes = self.bytes.wrapping_add(other.bytes);
    }
}
