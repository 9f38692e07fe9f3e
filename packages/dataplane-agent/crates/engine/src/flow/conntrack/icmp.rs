//! ICMP queries, keyed by identifier, by what they ask, and by whether they ask or answer. Errors are no flow of
//! their own: see [`ConnectionTable::related`](super::ConnectionTable::related).

use tollway_wire::icmp;

/// Whether a message may start a flow.
pub fn opens(icmp_type: u8) -> bool {
    icmp::is_query(icmp_type)
}
