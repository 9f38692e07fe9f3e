//! ICMP queries, keyed by identifier. Errors are no flow of their own: see
//! [`Table::related`](super::Table::related).

use tollway_wire::icmp;

use super::connection::Direction;

/// Whether a message may start a flow.
pub fn opens(icmp_type: u8) -> bool {
    icmp::is_query(icmp_type)
}

/// Whether a message may go this way: questions with the first packet, answers against it.
pub fn fits(icmp_type: u8, direction: Direction) -> bool {
    match direction {
        Direction::Original => icmp::is_query(icmp_type),
        Direction::Reply => icmp::is_answer(icmp_type),
    }
}
