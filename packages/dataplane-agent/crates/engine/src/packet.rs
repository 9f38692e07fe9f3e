//! What the stages know about a packet.

use crate::tuple::Tuple;
use crate::verdict::Verdict;

/// Where a packet entered, which decides the hooks it passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Origin {
    /// A port.
    #[default]
    Port,
    /// A TAP of the router namespace: enters at `output`.
    LocalService,
    /// Made by the engine: enters at `output`.
    Generated,
}

/// Which hook of the filter a packet passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Hook {
    /// To the router itself.
    Input,
    /// Through the router.
    #[default]
    Forward,
    /// From the router itself.
    Output,
}

/// State given by connection tracking, as the rules see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum TrackState {
    /// Not looked at yet, or tracking is off.
    #[default]
    Untracked,
    /// Not classifiable.
    Invalid,
    /// Starts a connection or has not seen a reply.
    New,
    /// A reply was seen.
    Established,
    /// Tied to an existing connection.
    Related,
}

/// "No interface", "no connection", "no adjacency" in the index fields of [`Meta`].
pub const NONE: u32 = u32::MAX;

/// Flag bits of [`Meta::flags`].
pub mod flag {
    /// Any fragment.
    pub const FRAGMENT: u16 = 1;
    /// Fragment other than the first: no L4 header.
    pub const LATER_FRAGMENT: u16 = 2;
    /// The IPv4 header has options.
    pub const OPTIONS: u16 = 4;
    /// The don't-fragment bit is set.
    pub const DONT_FRAGMENT: u16 = 8;
    /// The link-layer destination was broadcast or multicast.
    pub const LINK_BROADCAST: u16 = 16;
    /// An ICMP error; `tuple` is the quoted packet's, reversed.
    pub const ICMP_ERROR: u16 = 32;
    /// Must not take the fast path.
    pub const SLOW: u16 = 64;
    /// Took the fast path.
    pub const FAST: u16 = 128;
    /// The packet counts in the reply direction of its connection.
    pub const REPLY: u16 = 256;
    /// This packet created its connection.
    pub const CREATED: u16 = 512;
    /// Broadcast for one of the router's own networks, or limited broadcast.
    pub const BROADCAST: u16 = 1024;
    /// Addresses were rewritten: the frame differs from what the sender sent.
    pub const TRANSLATED: u16 = 2048;
    /// Arrived from another worker: `parse` and steering are done.
    pub const HANDED_OVER: u16 = 4096;
    /// The route was looked up.
    pub const ROUTED: u16 = 8192;
    /// The TTL was lowered.
    pub const TTL_DONE: u16 = 16384;
    /// The protocol has no ports, or they are not in this frame.
    pub const NO_PORTS: u16 = 32768;
}

/// Metadata of a packet. Offsets are from the start of the frame, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// The flow as the frame says it; for an ICMP error the quoted packet's, reversed, so that it names
    /// the flow in the direction in which the error travels.
    pub tuple: Tuple,
    /// Hash of `tuple`.
    pub hash: u32,
    /// Connection slot, or [`NONE`].
    pub conn: u32,
    /// Path of the rules hit up to now, or [`NONE`].
    pub path: u32,
    /// Next hop's neighbour, or [`NONE`].
    pub adjacency: u32,
    /// Next hop, IPv4 in host order.
    pub next_hop: u32,
    /// Length of the IP packet (of the whole super-frame), bytes.
    pub l3_len: u32,
    /// Wire segments.
    pub segments: u32,
    /// Ingress port; meaningless unless `origin` is [`Origin::Port`].
    pub in_port: u16,
    /// Dense interface index, or `u16::MAX`.
    pub in_interface: u16,
    /// Dense interface index, or `u16::MAX`.
    pub out_interface: u16,
    /// Flag bits, see [`flag`].
    pub flags: u16,
    /// Start of the IP header.
    pub l3: u16,
    /// Start of the transport header.
    pub l4: u16,
    /// TCP flags as on the wire; ICMP type for ICMP.
    pub l4_flags: u8,
    /// ICMP code.
    pub icmp_code: u8,
    /// Where it entered.
    pub origin: Origin,
    /// Filter hook.
    pub hook: Hook,
    /// State for the rules.
    pub state: TrackState,
    /// What becomes of it.
    pub verdict: Verdict,
}

impl Default for Meta {
    fn default() -> Self {
        Self {
            tuple: Tuple::default(),
            hash: 0,
            conn: NONE,
            path: NONE,
            adjacency: NONE,
            next_hop: 0,
            l3_len: 0,
            segments: 1,
            in_port: u16::MAX,
            in_interface: u16::MAX,
            out_interface: u16::MAX,
            flags: 0,
            l3: 14,
            l4: 0,
            l4_flags: 0,
            icmp_code: 0,
            origin: Origin::Port,
            hook: Hook::Forward,
            state: TrackState::Untracked,
            verdict: Verdict::Continue,
        }
    }
}

impl Meta {
    /// Whether any of the bits is set.
    #[inline]
    pub fn is(&self, bits: u16) -> bool {
        self.flags & bits != 0
    }
}
