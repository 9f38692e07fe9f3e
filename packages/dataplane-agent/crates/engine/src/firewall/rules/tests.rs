//! The compiled table against the reference, and what a configuration may not say.

mod generate;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use proptest::prelude::*;
use tollway_config::dataplane::{
    Action, AddressList, AddressRange, ArpMode, Chain, ConnectionState, Interface, InterfaceKind, IoChoice,
    Matcher, NewMss, PortRange, RejectWith, RowId, Rule,
};
use tollway_wire::tcp;

use generate::tables;
pub(super) use generate::{matchers, views};

use super::reference::Reference;
use super::*;
use crate::error::BuildError;
use crate::interface::InterfaceMap;
use crate::packet::family::Family;
use crate::packet::tuple::{Addr, Tuple};

pub(super) fn interfaces() -> InterfaceMap {
    let interface = |row: RowId| Interface {
        row,
        name: format!("ether{row}"),
        kind: InterfaceKind::Ethernet { port: format!("ether{row}"), io: IoChoice::Auto },
        disabled: false,
        mtu: 1500,
        mac_address: None,
        arp: ArpMode::Enabled,
        arp_timeout_ms: None,
        zone: 0,
    };
    InterfaceMap::new(&[interface(1), interface(2), interface(3)]).unwrap()
}

fn range(from: u32, to: u32) -> AddressRange {
    let address = |last: u32| Ipv4Addr::from_bits(0x0a00_0000 | last).into();
    AddressRange { from: address(from), to: address(to) }
}

pub(super) fn lists() -> Vec<AddressList> {
    vec![
        AddressList { name: "few".into(), entries: vec![range(1, 2), range(2, 4)] },
        AddressList { name: "none".into(), entries: vec![] },
    ]
}

/// The lists, as those of a family.
fn lists_of(family: Family) -> Vec<AddressList> {
    let mut lists = lists();
    if family == Family::V6 {
        lists.iter_mut().flat_map(|list| &mut list.entries).for_each(widen);
    }
    lists
}

/// 10.0.0.*n* as an address of IPv6, in the order of *n*; the bits of *n* are in the network and in the host.
fn widened(address: Addr) -> Addr {
    let last = address.0 & 0xff;
    Addr(0x2001_0db8 << 96 | last << 64 | last << 8)
}

fn widen(range: &mut AddressRange) {
    let wide = |address: IpAddr| widened(address.into()).into();
    *range = AddressRange { from: wide(range.from), to: wide(range.to) };
}

/// Rules of IPv4 as rules of IPv6.
fn widen_rules(chains: &mut [Chain]) {
    for matcher in chains.iter_mut().flat_map(|chain| &mut chain.rules).flat_map(|rule| &mut rule.matchers) {
        match matcher {
            Matcher::SrcAddress { range, .. } | Matcher::DstAddress { range, .. } => widen(range),
            Matcher::Protocol { protocol: protocol @ 1, .. } => *protocol = 58,
            _ => {}
        }
    }
}

fn widen_packet(view: &mut PacketView) {
    let tuple = &mut view.tuple;
    (tuple.src, tuple.dst) = (widened(tuple.src), widened(tuple.dst));
    if tuple.protocol == 1 {
        tuple.protocol = 58;
    }
}

pub(super) fn rule(row: RowId, matchers: Vec<Matcher>, action: Action) -> Rule {
    Rule { row, matchers, action, log: None }
}

pub(super) fn chain(name: &str, rules: Vec<Rule>) -> Chain {
    Chain { name: name.into(), rules }
}

pub(super) fn compile(kind: TableKind, chains: &[Chain]) -> Result<RuleTable, BuildError> {
    compile_of(Family::V4, kind, chains)
}

fn compile_of(family: Family, kind: TableKind, chains: &[Chain]) -> Result<RuleTable, BuildError> {
    let lists = Arc::new(AddressLists::build(&lists_of(family))?);
    RuleTable::compile(family, kind, chains, &lists, &interfaces(), None)
}

/// Compiles rules that are written for IPv4 as those of a family.
fn compile_in(family: Family, kind: TableKind, chains: &[Chain]) -> Result<RuleTable, BuildError> {
    let mut chains = chains.to_vec();
    if family == Family::V6 {
        widen_rules(&mut chains);
    }
    compile_of(family, kind, &chains)
}

/// A packet that is written for IPv4 as one of a family.
fn in_family(family: Family, mut view: PacketView) -> PacketView {
    if family == Family::V6 {
        widen_packet(&mut view);
    }
    view
}

pub(super) fn view() -> PacketView {
    PacketView {
        in_interface: Some(0),
        out_interface: Some(1),
        tuple: Tuple {
            src: Addr::v4(0x0a00_0001),
            dst: Addr::v4(0x0a00_0005),
            src_port: 1000,
            dst_port: 80,
            protocol: 6,
            icmp: 0,
            zone: 0,
        },
        tcp_flags: 2,
        icmp_type: 0,
        icmp_code: 0,
        state: ConnectionState::New,
        ..PacketView::default()
    }
}

pub(super) fn run(table: &RuleTable, hook: &str, view: &PacketView) -> Evaluation {
    let mut out = Evaluation::default();
    if let Some(start) = table.hook(hook) {
        table.evaluate(&mut view.clone(), &start, &mut out);
    }
    out
}

fn syn() -> Matcher {
    Matcher::TcpFlags { set: 2, clear: 16, negate: false }
}

fn psh() -> Matcher {
    Matcher::TcpFlags { set: 8, clear: 0, negate: false }
}

fn protocol(protocol: u8) -> Matcher {
    Matcher::Protocol { protocol, negate: false }
}

#[test]
fn chains_are_called_and_left_as_configured() {
    for family in Family::ALL {
        let chains = [
            chain(
                "forward",
                vec![
                    rule(1, vec![], Action::Passthrough),
                    rule(2, vec![], Action::FasttrackConnection),
                    rule(3, vec![], Action::Jump { chain: 1 }),
                    rule(4, vec![], Action::Reject { with: RejectWith::TcpReset }),
                ],
            ),
            chain(
                "user",
                vec![
                    rule(5, vec![protocol(17)], Action::Accept),
                    rule(6, vec![protocol(6)], Action::Return),
                    rule(7, vec![], Action::Drop),
                ],
            ),
        ];
        let table = compile_in(family, TableKind::Filter, &chains).unwrap();
        let tcp = run(&table, "forward", &in_family(family, view()));
        assert_eq!(tcp.verdict, RuleVerdict::Reject(RejectWith::TcpReset));
        assert_eq!(tcp.matched, [1, 2, 3, 6, 4]);
        assert!(tcp.fasttrack && tcp.depends.is_flow_const() && tcp.resume.is_none());
        let mut other = in_family(family, view());
        other.tuple.protocol = 17;
        assert_eq!(run(&table, "forward", &other).matched, [1, 2, 3, 5]);
        other.tuple.protocol = 47;
        assert_eq!(run(&table, "forward", &other).verdict, RuleVerdict::Drop);
        assert_eq!(table.hook("input"), None);
        assert_eq!(table.rows().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
    }
}

#[test]
fn only_rules_that_the_flow_does_not_exclude_make_it_resume() {
    for family in Family::ALL {
        let mut logged = rule(3, vec![protocol(6)], Action::Accept);
        logged.log = Some("x".into());
        let chains = [chain(
            "forward",
            vec![
                rule(1, vec![], Action::Passthrough),
                rule(4, vec![protocol(6), syn()], Action::Drop),
                rule(2, vec![protocol(6), psh()], Action::Drop),
                logged,
            ],
        )];
        let table = compile_in(family, TableKind::Filter, &chains).unwrap();
        let mut packet = in_family(family, view());
        // Of what only SYN segments match a flow of others is not reminded.
        packet.tcp_flags = 16;
        let tcp = run(&table, "forward", &packet);
        assert_eq!(
            (tcp.verdict, &tcp.matched[..], &tcp.logs[..]),
            (RuleVerdict::Accept, &[1, 3][..], &[3][..])
        );
        assert!(tcp.depends.contains(Depends::PACKET_FIELD.union(Depends::SIDE_EFFECT)));
        assert_eq!(tcp.matched_before_resume, 1);
        let mut again = Evaluation::default();
        let pushed = PacketView { tcp_flags: 24, ..in_family(family, view()) };
        table.evaluate(&mut pushed.clone(), &tcp.resume.unwrap(), &mut again);
        assert_eq!((again.verdict, &again.matched[..]), (RuleVerdict::Drop, &[2][..]));
        assert_eq!(run(&table, "forward", &in_family(family, view())).matched, [1, 4]);
        assert_eq!(run(&table, "forward", &in_family(family, view())).matched_before_resume, 1);
        packet.tuple.protocol = 17;
        let udp = run(&table, "forward", &packet);
        assert_eq!((udp.resume, &udp.matched[..]), (None, &[1][..]));
        assert_eq!(udp.matched_before_resume, 1);
    }
}

#[test]
fn the_configuration_is_refused_with_the_row() {
    for family in Family::ALL {
        let masquerade = Action::Masquerade { to_ports: None, randomise_ports: false };
        let redirect = Action::Redirect { to_ports: None };
        let unknown = Matcher::InInterface { interfaces: vec![9], negate: false };
        let reversed = Matcher::DstPort { ports: vec![PortRange { from: 9, to: 8 }], negate: false };
        let no_list = Matcher::SrcAddressList { list: 2, negate: false };
        let filter = TableKind::Filter;
        let nat = TableKind::Nat;
        let mut deep = vec![chain("forward", vec![rule(100, vec![], Action::Jump { chain: 1 })])];
        for next in 2..=18 {
            deep.push(chain(
                &format!("c{next}"),
                vec![rule(100 + next, vec![], Action::Jump { chain: next })],
            ));
        }
        deep.push(chain("last", vec![]));
        let cases: Vec<(TableKind, Vec<Chain>)> = vec![
            (filter, vec![chain("forward", vec![rule(7, vec![], masquerade.clone())])]),
            (nat, vec![chain("srcnat", vec![rule(7, vec![], Action::Drop)])]),
            (nat, vec![chain("dstnat", vec![rule(7, vec![], masquerade.clone())])]),
            (nat, vec![chain("srcnat", vec![rule(7, vec![], redirect)])]),
            (
                nat,
                vec![
                    chain("dstnat", vec![rule(1, vec![], Action::Jump { chain: 1 })]),
                    chain("user", vec![rule(7, vec![], masquerade)]),
                ],
            ),
            (filter, vec![chain("forward", vec![rule(7, vec![], Action::Jump { chain: 4 })])]),
            (
                filter,
                vec![
                    chain("forward", vec![rule(7, vec![], Action::Jump { chain: 1 })]),
                    chain("input", vec![]),
                ],
            ),
            (filter, vec![chain("user", vec![rule(7, vec![], Action::Jump { chain: 0 })])]),
            (
                filter,
                vec![
                    chain("a", vec![rule(1, vec![], Action::Jump { chain: 1 })]),
                    chain("b", vec![rule(7, vec![], Action::Jump { chain: 0 })]),
                ],
            ),
            (filter, vec![chain("forward", vec![rule(7, vec![unknown], Action::Accept)])]),
            (filter, vec![chain("forward", vec![rule(7, vec![reversed], Action::Accept)])]),
            (filter, vec![chain("forward", vec![rule(7, vec![no_list], Action::Accept)])]),
        ];
        let mangle = TableKind::Mangle;
        let routing = Action::MarkRouting { mark: 1, passthrough: true };
        let clamp = Action::ChangeMss { mss: NewMss::ClampToPmtu, passthrough: true };
        let mark = Action::MarkPacket { mark: 1, passthrough: true };
        let own = |kind: TableKind, hook: &str, action: &Action| {
            (kind, vec![chain(hook, vec![rule(7, vec![], action.clone())])])
        };
        let refused = [
            own(filter, "forward", &mark),
            own(nat, "srcnat", &Action::FasttrackConnection),
            own(mangle, "forward", &routing),
            own(mangle, "prerouting", &clamp),
            own(mangle, "input", &clamp),
            own(mangle, "forward", &Action::Drop),
            own(mangle, "forward", &Action::ChangeDscp { dscp: 64, passthrough: true }),
            (
                mangle,
                vec![chain(
                    "forward",
                    vec![rule(7, vec![Matcher::Dscp { dscp: 64, negate: false }], mark.clone())],
                )],
            ),
            (
                mangle,
                vec![
                    chain("postrouting", vec![rule(1, vec![], Action::Jump { chain: 1 })]),
                    chain("user", vec![rule(7, vec![], routing.clone())]),
                ],
            ),
        ];
        for hook in ["prerouting", "output"] {
            assert!(compile_in(family, mangle, &own(mangle, hook, &routing).1).is_ok());
        }
        for hook in ["forward", "output", "postrouting"] {
            assert!(compile_in(family, mangle, &own(mangle, hook, &clamp).1).is_ok());
        }
        for (kind, chains) in cases.into_iter().chain(refused) {
            let error = compile_in(family, kind, &chains).unwrap_err();
            assert_eq!(error.row, Some(7), "{}", error.message);
            assert!(!error.message.is_empty());
        }
        assert!(compile_in(family, filter, &deep).unwrap_err().message.contains("nested"));
        assert!(compile_in(family, filter, &deep[..1]).unwrap_err().message.contains("does not exist"));
    }
}

#[test]
fn rules_of_a_family_name_no_addresses_and_no_answers_of_the_other() {
    let v4 = range(1, 2);
    let mut v6 = v4;
    widen(&mut v6);
    let src = |range| Matcher::SrcAddress { range, negate: false };
    let reject = |with| Action::Reject { with };
    let cases = [
        (TableKind::Filter, "forward", vec![src(v4)], Action::Accept, Family::V4),
        (TableKind::Filter, "forward", vec![src(v6)], Action::Accept, Family::V6),
        (TableKind::Filter, "forward", vec![], reject(RejectWith::IcmpHostProhibited), Family::V4),
        (TableKind::Filter, "forward", vec![], reject(RejectWith::IcmpNoRoute), Family::V6),
        (
            TableKind::Nat,
            "dstnat",
            vec![],
            Action::DstNat { to_addresses: Some(v4), to_ports: None },
            Family::V4,
        ),
        (
            TableKind::Nat,
            "dstnat",
            vec![],
            Action::DstNat { to_addresses: Some(v6), to_ports: None },
            Family::V6,
        ),
    ];
    for (kind, name, matchers, action, of) in cases {
        let chains = [chain(name, vec![rule(7, matchers, action)])];
        for family in Family::ALL {
            let compiled = compile_of(family, kind, &chains);
            assert_eq!(compiled.as_ref().err().map(|error| error.row), (family != of).then_some(Some(7)));
            let told = compiled.err().is_none_or(|error| error.message.contains(family.name()));
            assert!(told, "{chains:?}");
        }
    }
}

#[test]
fn the_deepest_allowed_nesting_works() {
    for family in Family::ALL {
        let mut chains = vec![chain("forward", vec![rule(1, vec![], Action::Jump { chain: 1 })])];
        for next in 2..=MAX_JUMP_DEPTH as u32 {
            chains.push(chain(&format!("c{next}"), vec![rule(next, vec![], Action::Jump { chain: next })]));
        }
        chains.push(chain("last", vec![rule(99, vec![], Action::Drop)]));
        let table = compile_in(family, TableKind::Filter, &chains).unwrap();
        assert_eq!(run(&table, "forward", &in_family(family, view())).verdict, RuleVerdict::Drop);
    }
}

#[test]
fn more_chains_than_a_place_in_a_table_can_name_are_refused() {
    let chains: Vec<_> =
        (0..=super::MAX_CHAINS).map(|number| chain(&format!("c{number}"), Vec::new())).collect();
    assert!(compile(TableKind::Filter, &chains).unwrap_err().message.contains("more than 4096 chains"));
    assert!(compile(TableKind::Filter, &chains[1..]).is_ok());
}

#[test]
fn chains_whose_conditions_did_not_change_keep_their_index() {
    let lists = Arc::new(AddressLists::build(&lists()).unwrap());
    let jump = Action::Jump { chain: 1 };
    let mut chains = [
        chain("forward", vec![rule(1, vec![], jump), rule(2, vec![protocol(17)], Action::Accept)]),
        chain("user", vec![rule(3, vec![protocol(6)], Action::Accept)]),
    ];
    let build = |chains: &[Chain], before: Option<&RuleTable>| {
        RuleTable::compile(Family::V4, TableKind::Filter, chains, &lists, &interfaces(), before).unwrap()
    };
    let before = build(&chains, None);
    chains[0].rules[1] = rule(2, vec![protocol(6)], Action::Accept);
    chains[1].rules[0].action = Action::Drop;
    let after = build(&chains, Some(&before));
    let kept = |chain: usize| Arc::ptr_eq(&before.chains[chain].index, &after.chains[chain].index);
    assert_eq!([kept(0), kept(1)], [false, true]);
    assert_eq!(run(&before, "forward", &view()).verdict, RuleVerdict::Accept);
    assert_eq!(run(&after, "forward", &view()).verdict, RuleVerdict::Drop);
}

#[test]
fn a_rule_of_mangle_that_does_not_pass_on_ends_the_table_and_later_ones_see_its_mark() {
    for family in Family::ALL {
        let packet = |mark, passthrough| Action::MarkPacket { mark, passthrough };
        let marked = |mark| Matcher::PacketMark { mark, negate: false };
        let chains = [
            chain(
                "forward",
                vec![
                    rule(1, vec![], packet(7, true)),
                    rule(2, vec![marked(0)], Action::Accept),
                    rule(3, vec![marked(7)], Action::Jump { chain: 1 }),
                    rule(4, vec![], packet(9, true)),
                ],
            ),
            chain(
                "user",
                vec![rule(5, vec![], packet(u32::MAX, false)), rule(6, vec![], Action::Passthrough)],
            ),
        ];
        let found = run(
            &compile_in(family, TableKind::Mangle, &chains).unwrap(),
            "forward",
            &in_family(family, view()),
        );
        assert_eq!((&found.matched[..], found.verdict), (&[1, 3, 5][..], RuleVerdict::Accept));
        assert_eq!(found.changes, Changes { packet_mark: Some(u32::MAX), ..Changes::default() });
        assert!(found.resume.is_none() && found.validity.is_unlimited());
    }
}

#[test]
fn the_dscp_that_a_packet_came_with_bounds_what_rests_on_it_and_a_written_one_does_not() {
    for family in Family::ALL {
        let asks = Matcher::Dscp { dscp: 46, negate: false };
        let mark = Action::MarkPacket { mark: 1, passthrough: true };
        let write = rule(1, vec![], Action::ChangeDscp { dscp: 46, passthrough: true });
        let voice = PacketView { dscp: 46, ..in_family(family, view()) };
        let run_of = |rules: Vec<Rule>, view: &PacketView| {
            run(&compile_in(family, TableKind::Mangle, &[chain("forward", rules)]).unwrap(), "forward", view)
        };
        let asked = run_of(vec![rule(2, vec![asks.clone()], mark.clone())], &voice);
        assert_eq!((asked.changes.packet_mark, asked.validity.dscp, asked.resume), (Some(1), Some(46), None));
        let other = run_of(vec![rule(2, vec![asks.clone()], mark.clone())], &in_family(family, view()));
        assert_eq!((other.changes.packet_mark, other.validity.dscp), (None, Some(0)));
        let written = run_of(vec![write, rule(2, vec![asks], mark)], &in_family(family, view()));
        assert_eq!((written.changes.packet_mark, written.validity.dscp), (Some(1), None));
    }
}

/// Whether an outcome that is remembered without a resume point is right for a later packet of the flow, of which
/// the whole evaluation gives `whole`. It may depend on more than that one, which ends it sooner than necessary: a
/// rule for SYN segments asks its lists only about a SYN. It must not depend on less.
fn covers(remembered: &Evaluation, whole: &Evaluation) -> bool {
    let listed =
        whole.validity.listed.iter().flatten().all(|one| remembered.validity.listed.contains(&Some(*one)));
    let validity = OutcomeValidity { listed: remembered.validity.listed, ..whole.validity };
    listed && *remembered == Evaluation { validity, ..whole.clone() }
}

#[test]
fn a_list_that_only_a_rule_for_syn_segments_asks_bounds_what_is_remembered_and_changes_nothing_else() {
    for family in Family::ALL {
        let (list, negate) = (0, true);
        let both = Matcher::TcpFlags { set: tcp::flag::SYN | tcp::flag::PSH, clear: 0, negate: false };
        let elsewhere = Matcher::OutInterface { interfaces: vec![1], negate: true };
        let chains = [chain(
            "forward",
            vec![
                rule(1, vec![], Action::FasttrackConnection),
                rule(2, vec![elsewhere], Action::Accept),
                rule(3, vec![both, Matcher::SrcAddressList { list, negate }], Action::Drop),
                rule(4, vec![], Action::Accept),
            ],
        )];
        let table = compile_in(family, TableKind::Filter, &chains).unwrap();
        let mut outside = view();
        outside.tuple.src = Addr::v4(0x0a00_0009);
        let mut first = PacketView { out_interface: Some(0), ..in_family(family, view()) };
        let remembered = run(&table, "forward", &first);
        let whole = run(&table, "forward", &PacketView { tcp_flags: 0, ..first });
        assert_eq!((&remembered.matched[..], remembered.resume), (&[1, 4][..], None));
        let listed = Membership { list, side: Side::Source };
        assert_eq!((remembered.validity.listed[0], whole.validity.listed[0]), (Some(listed), None));
        assert!(covers(&remembered, &whole) && !covers(&whole, &remembered));
        // The SYN of a source outside the list asks the flags too, and so does every packet after it.
        first.tuple.src = in_family(family, outside).tuple.src;
        let remembered = run(&table, "forward", &first);
        assert_eq!((&remembered.matched[..], remembered.matched_before_resume), (&[1, 4][..], 1));
        let mut rest = Evaluation::default();
        table.evaluate(&mut PacketView { tcp_flags: 0, ..first }, &remembered.resume.unwrap(), &mut rest);
        assert_eq!((&rest.matched[..], rest.resume), (&[4][..], None));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(400)))]
    #[test]
    fn the_compiled_table_agrees_with_the_reference(
        v6: bool,
        (kind, mut chains) in prop_oneof![Just(TableKind::Filter), Just(TableKind::Mangle)].prop_flat_map(|kind| {
            (Just(kind), prop_oneof![3 => tables(kind, 0..7), 1 => tables(kind, 30..120)])
        }),
        mut packets in proptest::collection::vec(views(), 1..8),
    ) {
        let family = if v6 { Family::V6 } else { Family::V4 };
        if v6 {
            widen_rules(&mut chains);
            packets.iter_mut().for_each(widen_packet);
        }
        let table = compile_of(family, kind, &chains).unwrap();
        let (lists, interfaces) = (lists_of(family), interfaces());
        let reference = Reference { chains: &chains, lists: &lists, interfaces: &interfaces };
        for packet in &packets {
            let expected = reference.evaluate("forward", packet);
            let found = run(&table, "forward", packet);
            let logs: Vec<_> = found.logs.iter().map(|rule| table.rule(*rule).unwrap().row).collect();
            prop_assert_eq!(found.verdict, expected.verdict);
            prop_assert_eq!(&found.matched, &expected.matched);
            prop_assert_eq!(logs, expected.logs);
            prop_assert_eq!(found.fasttrack, expected.fasttrack);
            prop_assert_eq!(found.changes, expected.changes);
        }
    }

    /// Another packet of the flow, differing only in what is not flow-constant, gets from the remembered
    /// part plus the resume point exactly what the whole evaluation gives. What is remembered is never for SYN
    /// segments.
    #[test]
    fn resuming_equals_starting_over(
        v6: bool,
        chains in prop_oneof![3 => tables(TableKind::Filter, 0..7), 1 => tables(TableKind::Filter, 30..120)],
        first in views(),
        second in views(),
    ) {
        let family = if v6 { Family::V6 } else { Family::V4 };
        let first = in_family(family, first);
        let table = compile_in(family, TableKind::Filter, &chains).unwrap();
        let remembered = run(&table, "forward", &first);
        let second = PacketView {
            tcp_flags: second.tcp_flags & !tcp::flag::SYN,
            icmp_type: second.icmp_type,
            icmp_code: second.icmp_code,
            ..first
        };
        let whole = run(&table, "forward", &second);
        prop_assert_eq!(remembered.resume.is_none(), remembered.depends.is_flow_const());
        let Some(start) = remembered.resume else {
            prop_assert!(covers(&remembered, &whole), "{remembered:?} does not cover {whole:?}");
            return Ok(());
        };
        let mut rest = Evaluation::default();
        table.evaluate(&mut second.clone(), &start, &mut rest);
        let mut matched = remembered.matched[..remembered.matched_before_resume].to_vec();
        matched.extend(&rest.matched);
        prop_assert_eq!(matched, whole.matched);
        prop_assert_eq!(rest.verdict, whole.verdict);
        prop_assert_eq!(rest.logs, whole.logs);
        // The rest knows nothing of the lists before it, and so has room for more of them.
        if !whole.depends.contains(Depends::LIST) {
            prop_assert_eq!(rest.resume, whole.resume);
        }
    }
}
