//! Binding and rewriting, on real headers.

use proptest::prelude::*;
use tollway_config::dataplane::PortRange;
use tollway_wire::{checksum, icmp, ipv4, tcp, udp};

use super::*;
use crate::flow::conntrack::tcp::Segment;
use crate::flow::conntrack::{self, ConnectionTable, Timeouts, Transport};
use crate::flow::outside_ports::SharedFreePorts;
use crate::ids::{ConnRef, Direction};
use crate::packet::header::lower_ttl;
use crate::packet::tuple::{Addr, ICMP_ANSWER, Tuple, steer};
use crate::time::Now;

const LAN: u32 = 0xc0a8_5802;
const LAN2: u32 = 0xc0a8_5803;
const WAN: u32 = 0x0a01_0101;
const SERVER: u32 = 0x0808_0808;
const INSIDE: u32 = 0xc0a8_5864;

fn free(_: &Tuple) -> bool {
    false
}

fn context(random: u32) -> BindContext<'static> {
    BindContext { random, zone: 0, moved_away: &free, free_ports: None, moved: false, dry_run: false }
}

fn tuple(protocol: u8, src: u32, src_port: u16, dst: u32, dst_port: u16) -> Tuple {
    Tuple { src: Addr::v4(src), dst: Addr::v4(dst), src_port, dst_port, protocol, icmp: 0, zone: 0 }
}

fn masquerade() -> NatTarget {
    let own = Addr::v4(WAN);
    NatTarget { addresses: Some((own, own)), masquerade: Some(7), ..NatTarget::default() }
}

fn to(address: u32, port: Option<u16>) -> NatTarget {
    let address = Addr::v4(address);
    NatTarget {
        addresses: Some((address, address)),
        ports: port.map(|port| PortRange { from: port, to: port }),
        ..NatTarget::default()
    }
}

fn open(table: &mut ConnectionTable, tuple: &Tuple) -> ConnRef {
    let transport = match tuple.protocol {
        TCP => Transport::Tcp(Segment { flags: tcp::flag::SYN, window: 100, ..Segment::default() }),
        UDP => Transport::Udp(conntrack::udp::Datagram),
        ICMP => Transport::Icmp(conntrack::icmp::Message { icmp_type: 8, code: 0 }),
        _ => Transport::Other(conntrack::generic::Packet),
    };
    table.track(tuple, &transport, Now(1), &Timeouts::default()).conn.unwrap()
}

fn flow(
    table: &mut ConnectionTable,
    tuple: &Tuple,
    dst: Option<&NatTarget>,
    src: Option<&NatTarget>,
) -> (ConnRef, SourceBinding) {
    let conn = open(table, tuple);
    bind_destination(table, conn, dst, 0).unwrap();
    let bound = bind_source(table, conn, src, &context(5)).unwrap();
    table.confirm(conn).unwrap();
    (conn, bound)
}

#[test]
fn masquerade_keeps_the_port_and_a_clash_gets_another() {
    let mut table = ConnectionTable::new(0, 1, 100, 1);
    let first = tuple(TCP, LAN, 5000, SERVER, 80);
    let second = tuple(TCP, LAN2, 5000, SERVER, 80);
    let (a, bound) = flow(&mut table, &first, None, Some(&masquerade()));
    assert_eq!(bound, SourceBinding::Fresh);
    let (b, _) = flow(&mut table, &second, None, Some(&masquerade()));
    let (a, b) = (table.get(a).unwrap().clone(), table.get(b).unwrap().clone());
    assert_eq!(a.reply, tuple(TCP, SERVER, 80, WAN, 5000));
    assert_eq!((b.reply.dst, b.reply.src_port), (Addr::v4(WAN), 80));
    assert_ne!(b.reply.dst_port, 5000);
    assert!(b.reply.dst_port >= 1024);
    assert!(a.status.srcnat() && !a.status.dstnat() && a.nat.masquerade == 7);
    for conn in [&a, &b] {
        let (found, direction) = table.find(&conn.reply).unwrap();
        assert_eq!((table.get(found).unwrap().id, direction), (conn.id, Direction::Reply));
    }
    table.begin_purge();
    assert_eq!(table.purge_masqueraded(1000, |row, address| row == 7 && address != Addr::v4(WAN)), 0);
    assert!(!table.is_purging());
    table.begin_purge();
    assert_eq!(table.purge_masqueraded(1, |row, _| row == 7), 1);
    assert!(table.is_purging());
    assert_eq!(table.purge_masqueraded(1, |row, _| row == 7), 1);
    assert!(table.is_empty());
}

#[test]
fn a_port_is_taken_only_in_the_zone_of_the_flow_that_has_it() {
    let mut table = ConnectionTable::new(0, 1, 100, 1);
    let ports = [(1, 0), (2, 0), (3, 9)].map(|(zone, egress)| {
        let conn = open(&mut table, &Tuple { zone, ..tuple(TCP, LAN, 5000, SERVER, 80) });
        bind_destination(&mut table, conn, None, 0).unwrap();
        let context = BindContext { zone: egress, ..context(5) };
        bind_source(&mut table, conn, Some(&masquerade()), &context).unwrap();
        table.confirm(conn).unwrap();
        let reply = table.get(conn).unwrap().reply;
        assert_eq!((reply.zone, table.original_zone(conn)), (egress, zone));
        reply.dst_port
    });
    assert!(ports[0] == 5000 && ports[1] != 5000 && ports[2] == 5000, "{ports:?}");
}

#[test]
fn clashes_within_one_batch_are_seen_before_confirmation() {
    let mut table = ConnectionTable::new(0, 1, 100, 1);
    let refs = [LAN, LAN2].map(|src| open(&mut table, &tuple(UDP, src, 5000, SERVER, 53)));
    for conn in refs {
        bind_destination(&mut table, conn, None, 0).unwrap();
        bind_source(&mut table, conn, Some(&masquerade()), &context(9)).unwrap();
    }
    let [a, b] = refs.map(|conn| table.get(conn).unwrap().reply);
    assert_ne!(a, b);
}

#[test]
fn an_untranslated_flow_gives_way_to_a_translated_one() {
    let mut table = ConnectionTable::new(0, 1, 100, 1);
    flow(&mut table, &tuple(UDP, LAN, 5000, SERVER, 53), None, Some(&masquerade()));
    // The router itself asks the same server from the same port.
    let (own, _) = flow(&mut table, &tuple(UDP, WAN, 5000, SERVER, 53), None, None);
    let own = table.get(own).unwrap();
    assert_ne!(own.reply.dst_port, 5000);
    assert!(own.status.srcnat());
    assert_eq!(own.nat.masquerade, 0);
}

#[test]
fn the_first_packet_decides() {
    let mut table = ConnectionTable::new(0, 1, 100, 1);
    let conn = open(&mut table, &tuple(UDP, LAN, 5000, SERVER, 53));
    bind_destination(&mut table, conn, None, 0).unwrap();
    bind_source(&mut table, conn, None, &context(0)).unwrap();
    let again = bind_source(&mut table, conn, Some(&masquerade()), &context(0)).unwrap();
    assert_eq!(again, SourceBinding::Earlier);
    bind_destination(&mut table, conn, Some(&to(INSIDE, None)), 0).unwrap();
    assert_eq!(table.get(conn).unwrap().reply, tuple(UDP, SERVER, 53, LAN, 5000));
}

#[test]
fn destination_ports_are_chosen_so_that_the_client_keeps_its_own() {
    let mut table = ConnectionTable::new(0, 1, 100, 1);
    let ports = Some(PortRange { from: 6000, to: 6003 });
    let target = NatTarget { ports, ..to(INSIDE, None) };
    let mut chosen = Vec::new();
    for dst_port in 5000..5005 {
        let (conn, _) = flow(&mut table, &tuple(UDP, SERVER, 20_000, WAN, dst_port), Some(&target), None);
        let reply = table.tuples(conn).unwrap().reply;
        chosen.push(reply.src_port);
        // The fifth finds none.
        assert_eq!(reply.dst_port == 20_000, dst_port < 5004, "{dst_port}");
    }
    chosen.truncate(4);
    chosen.sort_unstable();
    assert_eq!(chosen, [6000, 6001, 6002, 6003]);
}

#[test]
fn ports_come_from_the_range_and_run_out() {
    let mut table = ConnectionTable::new(0, 1, 100, 1);
    let ports = PortRange { from: 6000, to: 6002 };
    let target = NatTarget { ports: Some(ports), ..masquerade() };
    let mut seen = std::collections::BTreeSet::new();
    for src in 0..3 {
        let (conn, _) = flow(&mut table, &tuple(TCP, LAN + src, 5000, SERVER, 80), None, Some(&target));
        seen.insert(table.get(conn).unwrap().reply.dst_port);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [6000, 6001, 6002]);
    let conn = open(&mut table, &tuple(TCP, LAN + 9, 5000, SERVER, 80));
    let refused = bind_source(&mut table, conn, Some(&target), &context(0));
    assert_eq!(refused, Err(BindError::NoPort));
    table.abandon(conn);
    assert_eq!(table.len(), 3);
}

#[test]
fn privileged_ports_stay_privileged_and_other_workers_are_asked() {
    let mut table = ConnectionTable::new(0, 1, 100, 1);
    let taken = |reply: &Tuple| reply.dst_port == 123;
    let conn = open(&mut table, &tuple(UDP, LAN, 123, SERVER, 123));
    let context = BindContext {
        random: 40_000,
        zone: 0,
        moved_away: &taken,
        free_ports: None,
        moved: false,
        dry_run: false,
    };
    bind_source(&mut table, conn, Some(&masquerade()), &context).unwrap();
    let port = table.get(conn).unwrap().reply.dst_port;
    assert!(port != 123 && port < 512);
}

#[test]
fn a_reply_tuple_is_had_from_the_worker_that_answers_are_steered_to() {
    let workers = 4;
    let free_ports = SharedFreePorts::default();
    let context = BindContext { free_ports: Some(&free_ports), ..context(5) };
    for (request, destination, target) in [
        (tuple(TCP, SERVER, 40_000, WAN, 8080), Some(to(INSIDE, Some(80))), None),
        (tuple(TCP, LAN, 40_000, SERVER, 80), None, Some(to(WAN, Some(4001)))),
        (tuple(47, LAN, 0, SERVER, 0), None, Some(masquerade())),
    ] {
        let worker = steer(&request, workers);
        let mut table = ConnectionTable::new(worker, workers, 100, 1);
        let conn = open(&mut table, &request);
        bind_destination(&mut table, conn, destination.as_ref(), 0).unwrap();
        let bound = bind_source(&mut table, conn, target.as_ref(), &context).unwrap();
        let SourceBinding::OtherWorker(there) = bound else { panic!("{bound:?} of {request:?}") };
        assert_ne!(there, worker);
        table.note_moved(conn);
        table.abandon(conn);
        assert!(table.is_empty() && table.take_unpublished().is_none());
        // There it goes on.
        let mut table = ConnectionTable::new(there, workers, 100, 1);
        let conn = open(&mut table, &request);
        assert!(table.get(conn).unwrap().nat.published);
        bind_destination(&mut table, conn, destination.as_ref(), 0).unwrap();
        assert_eq!(bind_source(&mut table, conn, target.as_ref(), &context), Ok(SourceBinding::Fresh));
        assert_eq!(steer(&table.get(conn).unwrap().reply, workers), there);
        table.confirm(conn).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(64)))]
    #[test]
    fn source_nat_stays_on_its_worker_or_moves_to_where_the_port_is(
        port in 1024u16.., random: u32, randomise: bool, workers in 1u32..9, clashes in 0u32..3,
        hairpin: bool, icmp: bool, equal: bool, occupied: bool,
    ) {
        let request = if icmp {
            tuple(ICMP, LAN, port, SERVER, port)
        } else {
            // With equal ports the addresses say whose a flow is, and those change.
            tuple(TCP, LAN, port, SERVER, if equal { port } else { 443 })
        };
        let worker = steer(&request, workers);
        let mut table = ConnectionTable::new(worker, workers, 100, 1);
        for clash in 0..clashes {
            flow(&mut table, &Tuple { src: Addr::v4(LAN2 + clash), ..request }, None, Some(&masquerade()));
        }
        let mut conn = open(&mut table, &request);
        let destination = to(INSIDE, Some(80));
        bind_destination(&mut table, conn, hairpin.then_some(&destination), random).unwrap();
        let target = NatTarget { randomise, ..masquerade() };
        let free_ports = SharedFreePorts::default();
        let context = BindContext { free_ports: Some(&free_ports), ..context(random) };
        let mut bound = bind_source(&mut table, conn, Some(&target), &context).unwrap();
        let kept = Tuple { dst: Addr::v4(WAN), ..table.get(conn).unwrap().reply };
        let kept = Tuple { dst_port: port, ..kept };
        let home = steer(&kept, workers);
        let clashes = clashes > 0 && !hairpin;
        if home == worker || randomise {
            prop_assert_eq!(bound, SourceBinding::Fresh);
            let reply = table.get(conn).unwrap().reply;
            prop_assert_eq!(steer(&reply, workers), worker);
            prop_assert!(randomise || (reply == kept) != clashes);
        } else {
            prop_assert_eq!(bound, SourceBinding::OtherWorker(home));
            table = ConnectionTable::new(home, workers, 100, 1);
            let destination = hairpin.then_some(&destination);
            if occupied {
                flow(&mut table, &Tuple { src: Addr::v4(LAN2), ..request }, destination, Some(&masquerade()));
            }
            conn = open(&mut table, &request);
            bind_destination(&mut table, conn, destination, random).unwrap();
            bound = bind_source(&mut table, conn, Some(&target), &BindContext { moved: true, ..context }).unwrap();
            prop_assert_eq!(bound, SourceBinding::Fresh);
            let reply = table.get(conn).unwrap().reply;
            prop_assert_eq!(steer(&reply, workers), home);
            prop_assert_eq!(reply == kept, !occupied);
        }
        let reply = table.get(conn).unwrap().reply;
        prop_assert_eq!(reply.dst, Addr::v4(WAN));
        prop_assert!(!icmp || reply.src_port == reply.dst_port);
    }
}

/// An IPv4 packet of a tuple, with right checksums; UDP without one if asked.
fn packet(tuple: &Tuple, payload: &[u8], no_checksum: bool) -> Vec<u8> {
    let (src, dst) = (tuple.src.as_v4().unwrap(), tuple.dst.as_v4().unwrap());
    let header = match tuple.protocol {
        TCP => tcp::HEADER,
        UDP => udp::HEADER,
        ICMP => icmp::HEADER,
        _ => 0,
    };
    let mut bytes = vec![0; ipv4::HEADER + header + payload.len()];
    bytes[ipv4::HEADER + header..].copy_from_slice(payload);
    let l4 = &mut bytes[ipv4::HEADER..];
    match tuple.protocol {
        TCP => tcp::Repr {
            src_port: tuple.src_port,
            dst_port: tuple.dst_port,
            seq: 1,
            ack: 2,
            flags: tcp::flag::ACK,
            window: 3,
        }
        .emit(l4, src, dst),
        UDP => {
            udp::Repr { src_port: tuple.src_port, dst_port: tuple.dst_port }.emit(l4, src, dst);
            if no_checksum {
                l4[6..8].fill(0);
            }
        }
        ICMP => {
            let [a, b] = tuple.src_port.to_be_bytes();
            let icmp_type = if tuple.icmp == ICMP_ANSWER { 0 } else { 8 };
            icmp::Repr { icmp_type, code: 0, rest: [a, b, 0, 1] }.emit(l4);
        }
        _ => {}
    }
    let payload_len = (bytes.len() - ipv4::HEADER) as u16;
    ipv4::Repr {
        tos: 0,
        ident: 1,
        dont_fragment: true,
        ttl: 64,
        protocol: tuple.protocol,
        src_addr: src,
        dst_addr: dst,
        payload_len,
    }
    .emit(&mut bytes);
    bytes
}

/// The packet with its L4 checksum as a local stack leaves it to the hardware.
fn partial(tuple: &Tuple, payload: &[u8]) -> Vec<u8> {
    let mut bytes = packet(tuple, payload, false);
    let len = (bytes.len() - ipv4::HEADER) as u16;
    let (src, dst) = (tuple.src.as_v4().unwrap(), tuple.dst.as_v4().unwrap());
    let at = ipv4::HEADER + checksum_offset(tuple.protocol).unwrap();
    bytes[at..at + 2].copy_from_slice(&checksum::pseudo_v4(src, dst, tuple.protocol, len).to_be_bytes());
    bytes
}

fn translated(protocol: u8, port: u16, hairpin: bool) -> (ConnectionTable, ConnRef) {
    let mut table = ConnectionTable::new(0, 1, 100, 1);
    let request = match protocol {
        ICMP => tuple(ICMP, LAN, port, SERVER, port),
        TCP | UDP => tuple(protocol, LAN, port, SERVER, 443),
        _ => tuple(protocol, LAN, 0, SERVER, 0),
    };
    if protocol != 47 {
        // Someone else has the port, so it changes too.
        flow(
            &mut table,
            &Tuple { src: Addr::v4(LAN2), ..request },
            Some(&to(INSIDE, Some(80))),
            Some(&masquerade()),
        );
        if !hairpin {
            flow(&mut table, &Tuple { src: Addr::v4(LAN2 + 1), ..request }, None, Some(&masquerade()));
        }
    }
    let destination = to(INSIDE, Some(80));
    let (conn, _) = flow(&mut table, &request, hairpin.then_some(&destination), Some(&masquerade()));
    (table, conn)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(128)))]
    #[test]
    fn rewritten_packets_are_those_of_the_target_tuple(
        protocol in prop_oneof![Just(TCP), Just(UDP), Just(ICMP), Just(47u8)],
        port in 1024u16..,
        hairpin: bool,
        reply: bool,
        mode in 0u8..3,
        payload in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let (table, reference) = translated(protocol, port, hairpin);
        let conn = &table.get(reference).unwrap();
        let direction = if reply { Direction::Reply } else { Direction::Original };
        let (from, to) = (conn.tuple(direction), conn.target(direction));
        let use_partial = mode == 1 && checksum_offset(protocol).is_some();
        let build = |tuple: &Tuple| match mode {
            1 if use_partial => partial(tuple, &payload),
            _ => packet(tuple, &payload, mode == 2),
        };
        let mut in_parts = build(&from);
        prop_assert!(Rewrite::of(&conn.tuples(), direction, Manip::Destination).apply(&mut in_parts, use_partial));
        prop_assert!(Rewrite::of(&conn.tuples(), direction, Manip::Source).apply(&mut in_parts, use_partial));
        prop_assert_eq!(&in_parts, &build(&to));
        let mut at_once = build(&from);
        prop_assert!(Rewrite::both(&conn.tuples(), direction).apply(&mut at_once, use_partial));
        prop_assert_eq!(&at_once, &build(&to));
        let mut fast = build(&from);
        Rewrite::both(&conn.tuples(), direction).apply_whole(&mut fast, ipv4::HEADER, use_partial);
        prop_assert_eq!(&fast, &build(&to));
        let (key, other) = table.keys(reference, direction).unwrap();
        prop_assert_eq!(Rewrite::of_keys(key, other, direction), Rewrite::both(&conn.tuples(), direction));
        prop_assert!(ipv4::Packet::new_checked(&fast[..]).unwrap().verify_checksum());
        let mut frame = [vec![0; 14], build(&from)].concat();
        if matches!(protocol, TCP | UDP)
            && let Some(head) = frame.first_chunk_mut()
        {
            PlainRewrite::of_keys(key, other).apply(head, protocol, use_partial);
            prop_assert_eq!(&frame[14..], &build(&to)[..]);
        }
        let mut frame = [vec![0; 14], build(&from)].concat();
        if matches!(protocol, TCP | UDP)
            && let Some(head) = frame.first_chunk_mut()
        {
            PlainRewrite::of_keys(key, other).forward(head, protocol, use_partial);
            let mut forwarded = build(&to);
            lower_ttl(&mut forwarded);
            prop_assert_eq!(&frame[14..], &forwarded[..]);
        }
    }

    #[test]
    fn icmp_errors_are_translated_inside_and_out(
        protocol in prop_oneof![Just(TCP), Just(UDP), Just(ICMP), Just(47u8)],
        port in 1024u16..,
        hairpin: bool,
        reply: bool,
        keep in 0usize..40,
        no_checksum: bool,
    ) {
        let (table, conn) = translated(protocol, port, hairpin);
        let conn = &table.get(conn).unwrap();
        let direction = if reply { Direction::Reply } else { Direction::Original };
        let (from, to) = (conn.tuple(direction), conn.target(direction));
        let error = |outer: &Tuple, quoted: &Tuple| {
            let quoted = packet(quoted, b"some payload", no_checksum);
            // Half a checksum cannot be adjusted, so cut between words.
            let quoted = &quoted[..quoted.len().min(ipv4::HEADER + 8 + keep) & !1];
            let mut message = vec![0; icmp::HEADER];
            message.extend(quoted);
            icmp::Repr { icmp_type: 3, code: 3, rest: [0; 4] }.emit(&mut message);
            let mut bytes = vec![0; ipv4::HEADER];
            bytes.extend(&message);
            ipv4::Repr {
                tos: 0, ident: 1, dont_fragment: false, ttl: 64, protocol: ICMP,
                src_addr: outer.src.as_v4().unwrap(), dst_addr: outer.dst.as_v4().unwrap(),
                payload_len: message.len() as u16,
            }.emit(&mut bytes);
            bytes
        };
        let mut bytes = error(&from, &from.reversed());
        prop_assert_eq!(icmp_error::embedded_tuple(&bytes, 0), Some(from.reversed()));
        let (found, way) = table.related(&icmp_error::embedded_tuple(&bytes, 0).unwrap()).unwrap();
        prop_assert_eq!((table.get(found).unwrap().id, way), (conn.id, direction));
        prop_assert!(icmp_error::translate(&mut bytes, &conn.tuples(), direction, Manip::Destination));
        prop_assert!(icmp_error::translate(&mut bytes, &conn.tuples(), direction, Manip::Source));
        prop_assert_eq!(&bytes, &error(&to, &to.reversed()));
        let outer = ipv4::Packet::new_checked(&bytes[..]).unwrap();
        prop_assert!(outer.verify_checksum());
        prop_assert!(icmp::Packet::new_checked(outer.payload()).unwrap().verify_checksum());
    }

    #[test]
    fn any_bytes_are_rewritten_without_panic(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..120), port in 1024u16.., error: bool
    ) {
        let (table, conn) = translated(TCP, port, true);
        let conn = &table.get(conn).unwrap();
        if error && bytes.len() > 30 {
            bytes[0] = 0x45;
            bytes[9] = ICMP;
            bytes[20] = 3;
            bytes[28] = 0x45;
        }
        let _ = icmp_error::embedded_tuple(&bytes, 0);
        for manip in [Manip::Destination, Manip::Source] {
            icmp_error::translate(&mut bytes, &conn.tuples(), Direction::Original, manip);
            Rewrite::of(&conn.tuples(), Direction::Reply, manip).apply(&mut bytes, false);
        }
    }
}
