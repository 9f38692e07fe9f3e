//! Rules and packets made at random.

use proptest::prelude::*;
use tollway_config::dataplane::{
    Action, Chain, ConnectionState, Matcher, NewMss, PortRange, RejectWith, Rule,
};

use super::super::TableKind;
use super::super::view::PacketView;
use super::range;
use crate::packet::tuple::{Addr, Tuple};

fn states() -> impl Strategy<Value = ConnectionState> {
    prop_oneof![
        Just(ConnectionState::Invalid),
        Just(ConnectionState::Established),
        Just(ConnectionState::Related),
        Just(ConnectionState::New),
        Just(ConnectionState::Untracked),
    ]
}

pub(in super::super) fn matchers() -> impl Strategy<Value = Matcher> {
    let rows = || proptest::collection::vec(1u32..=3, 0..3);
    let addresses = || (0u32..8, 0u32..4).prop_map(|(from, len)| range(from, from + len));
    let ports = || {
        proptest::collection::vec(
            (0u16..6, 0u16..3).prop_map(|(from, len)| PortRange { from, to: from + len }),
            0..3,
        )
    };
    prop_oneof![
        (rows(), any::<bool>()).prop_map(|(interfaces, negate)| Matcher::InInterface { interfaces, negate }),
        (rows(), any::<bool>()).prop_map(|(interfaces, negate)| Matcher::OutInterface { interfaces, negate }),
        (protocols(), any::<bool>()).prop_map(|(protocol, negate)| Matcher::Protocol { protocol, negate }),
        (addresses(), any::<bool>()).prop_map(|(range, negate)| Matcher::SrcAddress { range, negate }),
        (addresses(), any::<bool>()).prop_map(|(range, negate)| Matcher::DstAddress { range, negate }),
        (0u32..2, any::<bool>()).prop_map(|(list, negate)| Matcher::SrcAddressList { list, negate }),
        (0u32..2, any::<bool>()).prop_map(|(list, negate)| Matcher::DstAddressList { list, negate }),
        (ports(), any::<bool>()).prop_map(|(ports, negate)| Matcher::SrcPort { ports, negate }),
        (ports(), any::<bool>()).prop_map(|(ports, negate)| Matcher::DstPort { ports, negate }),
        (ports(), any::<bool>()).prop_map(|(ports, negate)| Matcher::Port { ports, negate }),
        (0u8..32, 0u8..32, any::<bool>()).prop_map(|(set, clear, negate)| Matcher::TcpFlags {
            set,
            clear: clear & !set,
            negate
        }),
        (0u8..4, 0u8..3, 0u8..3, any::<bool>()).prop_map(|(icmp_type, from, len, negate)| {
            Matcher::IcmpOptions { icmp_type, code_from: from, code_to: from + len, negate }
        }),
        (proptest::collection::vec(states(), 0..4), any::<bool>())
            .prop_map(|(states, negate)| Matcher::ConnectionState { states, negate }),
        (any::<bool>(), any::<bool>(), any::<bool>())
            .prop_map(|(srcnat, dstnat, negate)| Matcher::ConnectionNatState { srcnat, dstnat, negate }),
        (0u32..3, any::<bool>()).prop_map(|(mark, negate)| Matcher::PacketMark { mark, negate }),
        (0u32..3, any::<bool>()).prop_map(|(mark, negate)| Matcher::ConnectionMark { mark, negate }),
        (0u32..3, any::<bool>()).prop_map(|(mark, negate)| Matcher::RoutingMark { mark, negate }),
        (0u8..3, any::<bool>()).prop_map(|(dscp, negate)| Matcher::Dscp { dscp, negate }),
        (0u8..3, 0u8..2, any::<bool>()).prop_map(|(from, more, negate)| Matcher::HopLimit {
            from,
            to: from + more,
            negate
        }),
    ]
}

fn protocols() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(6u8), 3 => Just(17u8), 2 => Just(1u8), 1 => Just(47u8)]
}

/// An action that one table alone knows.
fn own_action(kind: TableKind, pick: u8) -> Action {
    let (mark, passthrough) = (u32::from(pick >> 3) % 3, pick & 4 == 0);
    match (kind, pick % 5) {
        (TableKind::Mangle, 0) => Action::MarkPacket { mark, passthrough },
        (TableKind::Mangle, 1) => Action::MarkConnection { mark, passthrough },
        (TableKind::Mangle, 2) => Action::ChangeDscp { dscp: mark as u8, passthrough },
        (TableKind::Mangle, 3) => Action::ChangeMss { mss: NewMss::ClampToPmtu, passthrough },
        (TableKind::Mangle, _) => {
            Action::ChangeMss { mss: NewMss::Value { bytes: u16::from(pick) }, passthrough }
        }
        (_, 0..2) => Action::Drop,
        (_, _) => Action::Reject { with: RejectWith::IcmpPortUnreachable },
    }
}

/// Chains of so many rules, of which each jumps to later ones only; the first is a hook.
pub(super) fn tables(kind: TableKind, rules: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Chain>> {
    let rules = proptest::collection::vec(
        (proptest::collection::vec(matchers(), 0..3), 0u8..14, any::<u8>(), proptest::bool::weighted(0.1)),
        rules,
    );
    proptest::collection::vec(rules, 1..5).prop_map(move |chains| {
        let count = chains.len();
        let mut row = 0;
        let mut build = |index: usize, rules: Vec<(Vec<Matcher>, u8, u8, bool)>| {
            let rules = rules.into_iter().map(|(matchers, action, pick, log)| {
                row += 1;
                let later = count - index - 1;
                let action = match action {
                    0 => Action::Accept,
                    1 | 2 => own_action(kind, pick),
                    3 => Action::Return,
                    4 => Action::Log,
                    5 => Action::FasttrackConnection,
                    6..11 if later > 0 => {
                        Action::Jump { chain: (index + 1 + usize::from(pick) % later) as u32 }
                    }
                    11 | 12 if kind == TableKind::Mangle => own_action(kind, pick),
                    _ => Action::Passthrough,
                };
                Rule { row, matchers, action, log: log.then(String::new) }
            });
            let name = if index == 0 { "forward".into() } else { format!("user{index}") };
            Chain { name, rules: rules.collect() }
        };
        chains.into_iter().enumerate().map(|(index, rules)| build(index, rules)).collect()
    })
}

pub(in super::super) fn views() -> impl Strategy<Value = PacketView> {
    let interface = || proptest::option::of(0u16..3);
    let tuple = (0u32..10, 0u32..10, 0u16..8, 0u16..8, protocols()).prop_map(
        |(src, dst, src_port, dst_port, protocol)| Tuple {
            src: Addr::v4(0x0a00_0000 | src),
            dst: Addr::v4(0x0a00_0000 | dst),
            src_port,
            dst_port,
            protocol,
            icmp: 0,
            zone: 0,
        },
    );
    let marks = (0u32..3, (0u32..3, 0u32..3), 0u8..3, proptest::bool::weighted(0.1));
    (
        interface(),
        interface(),
        tuple,
        0u8..32,
        (0u8..4, 0u8..4),
        states(),
        any::<bool>(),
        any::<bool>(),
        marks,
    )
        .prop_map(
            |(in_interface, out_interface, tuple, tcp_flags, icmp, state, srcnat, dstnat, marks)| {
                let (icmp_type, icmp_code) = icmp;
                let (mark, (connection_mark, routing_mark), dscp, no_transport_header) = marks;
                PacketView {
                    in_interface,
                    out_interface,
                    tuple,
                    no_transport_header,
                    tcp_flags,
                    icmp_type,
                    icmp_code,
                    state,
                    srcnat,
                    dstnat,
                    mark,
                    connection_mark,
                    routing_mark,
                    dscp,
                    hop_limit: icmp_code,
                    ..PacketView::default()
                }
            },
        )
}
