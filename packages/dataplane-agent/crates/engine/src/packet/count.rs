//! A counter of packets and bytes.

/// Packets and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Wire segments.
    pub packets: u64,
    /// Bytes; each counter specifies which bytes it includes.
    pub bytes: u64,
}

impl Count {
    /// Adds another counter.
    pub fn add(&mut self, other: Count) {
        self.packets = self.packets.wrapping_add(other.packets);
        self.bytes = self.bytes.wrapping_add(other.bytes);
    }

    /// What it has more than another counter.
    pub fn less(self, other: Count) -> Count {
        Count {
            packets: self.packets.wrapping_sub(other.packets),
            bytes: self.bytes.wrapping_sub(other.bytes),
        }
    }
}
