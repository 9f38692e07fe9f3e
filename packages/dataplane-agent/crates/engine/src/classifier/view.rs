//! What rules see of a packet.

use tollway_config::dataplane::ConnectionState;

use crate::interface::InterfaceIndex;
use crate::tuple::Tuple;

/// What rules see of a packet, as it is at their place in the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketView {
    /// Interface it came in on; `None` in `output` and for the router's own packets.
    pub in_interface: Option<InterfaceIndex>,
    /// Interface it leaves by; `None` in `input` and `dstnat`.
    pub out_interface: Option<InterfaceIndex>,
    /// Addresses, ports and protocol.
    pub tuple: Tuple,
    /// TCP flags as on the wire; 0 for other protocols.
    pub tcp_flags: u8,
    /// ICMP type; 0 for other protocols.
    pub icmp_type: u8,
    /// ICMP code; 0 for other protocols.
    pub icmp_code: u8,
    /// What connection tracking says.
    pub state: ConnectionState,
    /// The connection's source is translated.
    pub srcnat: bool,
    /// The connection's destination is translated.
    pub dstnat: bool,
}
