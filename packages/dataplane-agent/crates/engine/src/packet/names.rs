//! Names of TCP flags and connection states, as log lines and traces show them.

use tollway_config::dataplane::ConnectionState;
use tollway_wire::tcp::flag as tcp_flag;

/// Name of a connection state, as rules have it.
pub(crate) fn state_name(state: ConnectionState) -> &'static str {
    match state {
        ConnectionState::Invalid => "invalid",
        ConnectionState::Established => "established",
        ConnectionState::Related => "related",
        ConnectionState::New => "new",
        ConnectionState::Untracked => "untracked",
    }
}

/// TCP flags as text, separated by commas.
pub(crate) fn flag_names(flags: u8) -> String {
    let names = [
        (tcp_flag::SYN, "SYN"),
        (tcp_flag::FIN, "FIN"),
        (tcp_flag::RST, "RST"),
        (tcp_flag::PSH, "PSH"),
        (tcp_flag::ACK, "ACK"),
        (tcp_flag::URG, "URG"),
        (tcp_flag::ECE, "ECE"),
        (tcp_flag::CWR, "CWR"),
    ];
    let set: Vec<&str> = names.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| *name).collect();
    set.join(",")
}

/// `aa:bb:cc:dd:ee:ff`.
pub(crate) fn format_mac(mac: [u8; 6]) -> String {
    let [a, b, c, d, e, f] = mac;
    format!("{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}")
}
