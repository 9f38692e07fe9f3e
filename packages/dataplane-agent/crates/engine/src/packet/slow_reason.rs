//! The closed list of reasons for which a packet takes the slow path instead of the flow cache.

use tollway_config::protocol::SlowStats;

macro_rules! slow_reasons {
    ($($variant:ident $name:literal $text:literal;)*) => {
        /// Why the flow cache did not forward a packet. Each reason is one counter.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum SlowReason {
            $(#[doc = $text] $variant,)*
        }

        impl SlowReason {
            /// Every reason, in the order of the enum.
            pub const ALL: &'static [SlowReason] = &[$(SlowReason::$variant,)*];

            /// Number in [`tollway_config::protocol::Stats::slow`], counted from 1.
            pub const fn number(self) -> u8 {
                self as u8 + 1
            }

            /// Stable name, as counters carry it.
            pub fn name(self) -> &'static str {
                match self { $(SlowReason::$variant => $name,)* }
            }

            /// Sentence for people.
            pub fn text(self) -> &'static str {
                match self { $(SlowReason::$variant => $text,)* }
            }
        }
    };
}

slow_reasons! {
    NewConnection "new-connection" "No earlier packet of this direction of its connection was decided, or it belongs to no connection.";
    Handshake "tcp-handshake" "Its TCP connection has not been answered and confirmed yet.";
    TcpControl "tcp-control" "SYN opens its connection; with fasttrack-mode=bypass also FIN and RST of a fasttracked one.";
    TcpWindow "tcp-window" "TCP segment that is outside the window, or answers nothing that was sent.";
    BehindSlowPacket "behind-slow-packet" "An earlier packet of its connection in the same batch took the slow path and must not be overtaken.";
    Rule "rule" "A rule has to be evaluated for every packet: it writes a log line, counts, limits or reads the packet itself.";
    RuleRecheck "rule-recheck" "A rule about bytes, time or DSCP had to be evaluated again.";
    Stale "stale" "What the flow's entry depends on has changed: the state of its connection, the configuration, a route or a list.";
    OtherPort "other-port" "Came in by another port than the packets before.";
    Neighbor "neighbor" "The link-layer address of the next hop is not known or has to be confirmed.";
    Redirect "redirect" "Its sender is told of a gateway in its own network (ICMP redirect).";
    InnerFlow "inner-flow" "The packet that it encapsulates chooses one of several next hops (l3-inner).";
    TooLong "too-long" "Longer than the MTU of the interface it leaves by.";
    Fragment "fragment" "Fragment of an IP packet.";
    IpOptions "ip-options" "The IP header has options.";
    Ttl "ttl" "The time to live runs out here.";
    IcmpError "icmp-error" "ICMP error: belongs to the connection of the packet it quotes.";
    IcmpOther "icmp-other" "ICMP message that is neither a query nor its answer.";
    Broadcast "broadcast" "For a broadcast or multicast address.";
    ToRouter "to-router" "For the router itself.";
    FromRouter "from-router" "From the router itself.";
    Dropped "dropped" "Packets of its connection were dropped; drops are not cached.";
    TooManyPaths "too-many-paths" "It hit a combination of rules beyond those that can be remembered.";
    FastPathOff "fast-path-off" "The fast path is switched off: allow-fast-path is no.";
    RulesWithoutTracking "rules-without-tracking" "Rules exist while connections are not tracked, so that they are evaluated for each packet.";
    NotRoutable "not-routable" "Connections are not tracked, and there is no plain route for it: none, one that discards, or forwarding is off.";
    ReversePath "reverse-path" "Connections are not tracked, and each source is checked by rp-filter.";
}

/// Number of [`SlowReason`]s.
pub const SLOW_REASONS: usize = SlowReason::ALL.len();

/// The reasons in the form of the agent's protocol, with their counters.
pub fn slow_stats(counts: &[u64]) -> Vec<SlowStats> {
    SlowReason::ALL
        .iter()
        .enumerate()
        .map(|(index, reason)| SlowStats {
            reason: reason.name().to_owned(),
            text: reason.text().to_owned(),
            packets: counts.get(index).copied().unwrap_or(0),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_distinct_name_a_sentence_and_its_number() {
        for (index, reason) in SlowReason::ALL.iter().enumerate() {
            assert_eq!(usize::from(reason.number()), index + 1);
            assert!(reason.text().ends_with('.'), "{}", reason.name());
            assert_eq!(SlowReason::ALL.iter().filter(|other| other.name() == reason.name()).count(), 1);
        }
        assert_eq!(slow_stats(&[0; SLOW_REASONS]).len(), SLOW_REASONS);
    }
}

/// The table with the line that `docs/adding/slow-reason.md` adds.
#[cfg(test)]
mod sample {
    slow_reasons! {
        NewConnection "new-connection" "No earlier packet of its connection was decided.";
        Sample "sample" "Slow for a stage that is there in tests alone.";
    }

    #[test]
    fn a_line_gives_a_reason_its_number_its_name_and_its_sentence() {
        assert_eq!(SlowReason::ALL, [SlowReason::NewConnection, SlowReason::Sample]);
        assert_eq!(SlowReason::ALL.iter().map(|reason| reason.number()).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(SlowReason::Sample.name(), "sample");
        assert_eq!(SlowReason::Sample.text(), "Slow for a stage that is there in tests alone.");
    }
}
