//! Status bits of a connection.

/// Status bits; the values of the lower eight are those of the connection dump.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status(pub u16);

macro_rules! status_bits {
    ($($(#[$doc:meta])* $name:ident, $set:ident = $bit:literal;)*) => {
        impl Status {
            $(
                $(#[$doc])*
                pub const fn $name(self) -> bool {
                    self.0 & $bit != 0
                }
                /// Sets the bit.
                pub(crate) const fn $set(&mut self) {
                    self.0 |= $bit;
                }
            )*
        }
    };
}

impl Status {
    /// Notes that neither direction is in the hash table any more.
    pub(crate) const fn clear_indexed(&mut self) {
        self.0 &= !0x1800;
    }

    /// Notes that the directory no longer has this worker as the owner of the flow.
    pub(crate) const fn clear_published(&mut self) {
        self.0 &= !0x400;
    }

    /// Notes that the engine forwards all packets again.
    pub(crate) const fn clear_offloaded(&mut self) {
        self.0 &= !128;
    }
}

status_bits! {
    /// A packet of the reply direction was seen.
    seen_reply, set_seen_reply = 1;
    /// Not evicted when the table is full, unless it is being closed.
    assured, set_assured = 2;
    /// A packet of the connection has left the router or was delivered.
    confirmed, set_confirmed = 4;
    /// A `fasttrack-connection` rule matched.
    fasttrack, set_fasttrack = 8;
    /// Source is translated.
    srcnat, set_srcnat = 16;
    /// Destination is translated.
    dstnat, set_dstnat = 32;
    /// The flow moves to another worker, which allocates the reply tuple.
    moved, set_moved = 0x8000;
    /// Packets of the connection are forwarded outside the engine (flow offload).
    offloaded, set_offloaded = 128;
    /// The destination translation is decided; it may be none.
    destination_bound, set_destination_bound = 0x100;
    /// The source translation is decided; it may be none. The reply tuple is reserved.
    source_bound, set_source_bound = 0x200;
    /// The directory holds the original tuple, because its packets are steered to another worker.
    published, set_published = 0x400;
    /// The original direction is in the hash table.
    original_indexed, set_original_indexed = 0x800;
    /// The reply direction is in the hash table.
    reply_indexed, set_reply_indexed = 0x1000;
    /// The slot is in use.
    used, set_used = 0x2000;
    /// The counters in the hot state have overflowed: a part is in the table's spilled counters.
    spilled, set_spilled = 0x4000;
}
