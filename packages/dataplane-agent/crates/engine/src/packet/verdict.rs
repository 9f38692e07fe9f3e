//! The verdict on a packet, and the closed list of drop reasons.

use tollway_config::dataplane::RowId;

use crate::ids::LinkId;

/// The state of a packet in the pipeline. Every packet leaves the pipeline with a final one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verdict {
    /// No decision yet: the next stage continues.
    #[default]
    Continue,
    /// As `Continue`, but another worker has made the decisions before the translation of the source.
    DecidedElsewhere,
    /// Decided; `emit` writes the Ethernet header.
    Forward,
    /// Complete, for a port.
    Tx(LinkId),
    /// Complete, for the router itself: the TAP of this L3 interface.
    Local(RowId),
    /// Echo request for the router: answered as soon as its queue lets it pass.
    Echo,
    /// To be handed over to this worker.
    Handover(u16),
    /// Waits inside the engine (for a neighbour, for fragments, in a queue); the frame was taken.
    Held,
    /// Dropped; the frame was freed.
    Drop(DropReason),
}

macro_rules! drop_reasons {
    ($($variant:ident $name:literal $text:literal;)*) => {
        /// Why a packet was dropped. Each reason is one counter.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum DropReason {
            $(#[doc = $text] $variant,)*
        }

        impl DropReason {
            /// Every reason, in the order of the enum.
            pub const ALL: &'static [DropReason] = &[$(DropReason::$variant,)*];

            /// Stable name, as counters carry it.
            pub fn name(self) -> &'static str {
                match self { $(DropReason::$variant => $name,)* }
            }

            /// Sentence for people.
            pub fn text(self) -> &'static str {
                match self { $(DropReason::$variant => $text,)* }
            }
        }
    };
}

drop_reasons! {
    InterfaceDisabled "interface-disabled" "The port carries no enabled interface.";
    Runt "runt" "Shorter than its headers say.";
    NotForUs "not-for-us" "The destination link-layer address is another station's.";
    UnknownEthertype "unknown-ethertype" "Neither IP nor ARP.";
    VlanTagged "vlan-tagged" "Tag of a VLAN that no interface on this one has; a tag that gives only a priority is taken off.";
    Ipv6NotEnabled "ipv6-not-enabled" "IPv6 is not enabled on the interface.";
    BadIpHeader "bad-ip-header" "IP version, header length or total length is wrong.";
    BadIpChecksum "bad-ip-checksum" "The IPv4 header checksum is wrong.";
    BadIpOptions "bad-ip-options" "The IPv4 options or IPv6 extension headers are malformed, too many or not to be passed over, or ask for a source route that is not followed.";
    SourceRouteFailed "source-route-failed" "The next address of its strict source route is not in a connected network.";
    MartianSource "martian-source" "The source address cannot be a sender's.";
    MartianDestination "martian-destination" "The destination address cannot be a receiver's.";
    BadL4Header "bad-l4-header" "The transport header is truncated or malformed.";
    BadIcmpChecksum "bad-icmp-checksum" "The ICMP checksum is wrong.";
    IcmpRateLimited "icmp-rate-limited" "Echo request that is not answered because of icmp-rate-limit and icmp-rate-mask.";
    BadArp "bad-arp" "Malformed ARP packet.";
    ArpConsumed "arp-consumed" "ARP packet that has been dealt with.";
    ArpIgnored "arp-ignored" "ARP packet that concerns another station, or ARP is disabled on the interface.";
    BadNd "bad-nd" "Malformed message of neighbour discovery, or not from this link.";
    NdConsumed "nd-consumed" "Message of neighbour discovery that has been dealt with.";
    NdIgnored "nd-ignored" "Message of neighbour discovery that concerns another station, or that a router does not follow.";
    FragmentInvalid "fragment-invalid" "Fragment that overlaps another one or exceeds a datagram.";
    FragmentTimeout "fragment-timeout" "Fragments whose first one did not come in time.";
    FragmentLimit "fragment-limit" "Too many fragments waiting for the first one.";
    FragmentReassembled "fragment-reassembled" "Fragment of an ICMP error, which goes on as a whole.";
    ConnectionTableFull "connection-table-full" "No room for a new connection.";
    ReversePath "reverse-path" "The reverse path check failed.";
    ForwardingOff "forwarding-off" "Forwarding is switched off.";
    NoRoute "no-route" "No route to the destination.";
    Blackhole "blackhole" "The route is a blackhole.";
    UnreachableRoute "unreachable-route" "The route is of type unreachable.";
    ProhibitRoute "prohibit-route" "The route is of type prohibit.";
    RoutingRule "routing-rule" "A routing rule drops it, or says that its destination is unreachable.";
    DirectedBroadcast "directed-broadcast" "Broadcast for a network behind another interface.";
    BeyondScope "beyond-scope" "A link-local address does not leave its link.";
    TtlExceeded "ttl-exceeded" "The time to live ran out.";
    FragmentationNeeded "fragmentation-needed" "Larger than the MTU and must not be fragmented.";
    FilterDrop "filter-drop" "A firewall rule dropped it.";
    FilterReject "filter-reject" "A firewall rule rejected it.";
    NatExhausted "nat-exhausted" "No free address and port for the translation.";
    NatNoAddress "nat-no-address" "The interface has no address to masquerade with or to redirect to.";
    IcmpRedirect "icmp-redirect" "ICMP redirect about a translated connection: its gateway is of the network on the other side.";
    ConnectionGone "connection-gone" "Its connection ended while the packet was on its way, or as it leaves by another interface now.";
    NeighborFailed "neighbor-failed" "The next hop does not answer ARP or neighbour solicitations.";
    NeighborQueueFull "neighbor-queue-full" "Too many packets waiting for the next hop's address.";
    NeighborTableFull "neighbor-table-full" "No room for another neighbour.";
    OutInterfaceDown "out-interface-down" "The interface to leave by is disabled or has no carrier.";
    GatewayAnswered "gateway-answered" "Answer of a gateway to the router's probe.";
    EchoAnswered "echo-answered" "Echo request that the router answered.";
    NoHeadroom "no-headroom" "No room before the frame for the tags of its VLAN.";
    NoFrame "no-frame" "The frame pool was empty.";
    QueueFull "queue-full" "As many packets waited in its queue as the queue type allows.";
    QueueMemory "queue-memory" "As many packets waited in all queues as there is memory for.";
    HandoverStale "handover-stale" "The workers could not agree on which of them owns the flow.";
    ResumePointLost "resume-point-lost" "The rule from which its flow is decided packet by packet is not known any more.";
}

/// Number of [`DropReason`]s.
pub const DROP_REASONS: usize = DropReason::ALL.len();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_distinct_name_and_a_sentence() {
        for (index, reason) in DropReason::ALL.iter().enumerate() {
            assert_eq!(*reason as usize, index);
            assert!(reason.text().ends_with('.'), "{}", reason.name());
            assert_eq!(DropReason::ALL.iter().filter(|other| other.name() == reason.name()).count(), 1);
        }
    }
}

/// The table with the line that `docs/adding/drop-reason.md` adds.
#[cfg(test)]
mod sample {
    drop_reasons! {
        Runt "runt" "Shorter than its headers say.";
        Sample "sample" "Dropped by a stage that is there in tests alone.";
    }

    #[test]
    fn a_line_gives_a_reason_its_counter_its_name_and_its_sentence() {
        assert_eq!(DropReason::ALL, [DropReason::Runt, DropReason::Sample]);
        let mut counters = [0; DropReason::ALL.len()];
        counters[DropReason::Sample as usize] += 1;
        assert_eq!(counters, [0, 1]);
        assert_eq!(DropReason::Sample.name(), "sample");
        assert_eq!(DropReason::Sample.text(), "Dropped by a stage that is there in tests alone.");
    }
}
