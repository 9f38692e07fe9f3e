//! Lifetimes of connections without packets, from `/ip/firewall/connection/tracking`. They run out in
//! `table/expiry.rs` (`expire`), which `Engine::tick` calls; defaults are `Tracking::default` in
//! `crates/config/src/dataplane/settings.rs`.

use tollway_config::dataplane::Tracking;

use super::tcp_state::State;

/// Timeouts in nanoseconds, and the switches of the TCP tracker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    tcp: [u64; State::COUNT],
    /// TCP once retransmissions exceed three.
    pub tcp_max_retrans: u64,
    /// TCP while data stays unacknowledged.
    pub tcp_unacked: u64,
    /// One-way UDP.
    pub udp: u64,
    /// Two-way UDP.
    pub udp_stream: u64,
    /// ICMP queries.
    pub icmp: u64,
    /// Every other protocol.
    pub generic: u64,
    /// Pick up TCP connections seen mid-stream.
    pub loose: bool,
    /// Only out-of-window resets are invalid.
    pub liberal: bool,
}

impl Timeouts {
    /// Timeouts of the configuration.
    pub fn new(tracking: &Tracking) -> Self {
        let ns = |ms: u32| u64::from(ms) * 1_000_000;
        let mut tcp = [0; State::COUNT];
        for (slot, state) in tcp.iter_mut().zip(State::ALL) {
            *slot = ns(match state {
                State::None | State::SynSent | State::SynSent2 => tracking.tcp_syn_sent_timeout_ms,
                State::SynRecv => tracking.tcp_syn_received_timeout_ms,
                State::Established => tracking.tcp_established_timeout_ms,
                State::FinWait => tracking.tcp_fin_wait_timeout_ms,
                State::CloseWait => tracking.tcp_close_wait_timeout_ms,
                State::LastAck => tracking.tcp_last_ack_timeout_ms,
                State::TimeWait => tracking.tcp_time_wait_timeout_ms,
                State::Close => tracking.tcp_close_timeout_ms,
            });
        }
        Self {
            tcp,
            tcp_max_retrans: ns(tracking.tcp_max_retrans_timeout_ms),
            tcp_unacked: ns(tracking.tcp_unacked_timeout_ms),
            udp: ns(tracking.udp_timeout_ms),
            udp_stream: ns(tracking.udp_stream_timeout_ms),
            icmp: ns(tracking.icmp_timeout_ms),
            generic: ns(tracking.generic_timeout_ms),
            loose: tracking.loose_tcp_tracking,
            liberal: tracking.liberal_tcp_tracking,
        }
    }
    /// The timeout of a TCP state, ns.
    pub fn tcp(&self, state: State) -> u64 {
        self.tcp.get(state as usize).copied().unwrap_or(self.generic)
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::new(&Tracking::default())
    }
}
