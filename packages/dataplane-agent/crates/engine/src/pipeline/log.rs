//! Log lines of firewall rules.

use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};

use tollway_wire::{field, icmp, icmpv6, ipv4, ipv6};

use crate::firewall::rules::{PacketView, RuleTable};
use crate::observe::log::LogLine;
use crate::packet::names::{flag_names, format_mac, state_name};
use crate::packet::tuple::Addr;
use crate::packet::{Meta, Origin, flag};
use crate::shared::Shared;
use crate::snapshot::Snapshot;

/// Writes a line for each of the rules (by their index in the table). `head` is the front of the frame.
pub(crate) fn rules(
    snapshot: &Snapshot,
    shared: &Shared,
    table: &RuleTable,
    rules: &[u32],
    meta: &Meta,
    view: &PacketView,
    head: &[u8],
) {
    for rule in rules {
        let Some(rule) = table.rule(*rule) else { continue };
        let mut message = String::new();
        if let Some(prefix) = rule.log.as_deref().filter(|prefix| !prefix.is_empty()) {
            message.push_str(prefix);
            message.push(' ');
        }
        // Writing to a String cannot fail.
        let _ = describe(&mut message, snapshot, table.chain_name(rule), meta, view, head);
        shared.log.push(LogLine { topics: "firewall,info", message });
    }
}

fn describe(
    line: &mut String,
    snapshot: &Snapshot,
    chain: &str,
    meta: &Meta,
    view: &PacketView,
    head: &[u8],
) -> std::fmt::Result {
    let name = |index: Option<u16>| {
        let interface = index.and_then(|index| snapshot.interface(index));
        interface.map_or("(unknown 0)", |interface| interface.name.as_str())
    };
    write!(line, "{chain}: in:{} out:{}, ", name(view.in_interface), name(view.out_interface))?;
    write!(line, "connection-state:{} ", state_name(view.state))?;
    if meta.origin == Origin::Port {
        write!(line, "src-mac {}, ", format_mac(field::mac(head, 6)))?;
    }
    let tuple = &view.tuple;
    let (src, dst) = (IpAddr::from(tuple.src), IpAddr::from(tuple.dst));
    match tuple.protocol {
        ipv4::TCP => write!(line, "proto TCP ({}), ", flag_names(view.tcp_flags))?,
        ipv4::UDP => line.push_str("proto UDP, "),
        protocol if protocol == if meta.is_ipv6() { ipv6::ICMPV6 } else { ipv4::ICMP } => {
            let name = if meta.is_ipv6() { "ICMPv6" } else { "ICMP" };
            write!(line, "proto {name} (type {}, code {}), ", view.icmp_type, view.icmp_code)?;
            if let Some(ident) = wire_ident(meta, view, head) {
                write!(line, "id {ident}, ")?;
            }
        }
        other => write!(line, "proto {other}, ")?,
    }
    match tuple.protocol {
        ipv4::TCP | ipv4::UDP => {
            let (src, dst) = (SocketAddr::new(src, tuple.src_port), SocketAddr::new(dst, tuple.dst_port));
            write!(line, "{src}->{dst}, ")?;
        }
        _ => write!(line, "{src}->{dst}, ")?,
    }
    translation(line, meta, view, head)?;
    write!(line, "len {}", view.length)?;
    // All segments of a super-frame but the last have this length.
    if view.segments > 1 { write!(line, ", {} packets", view.segments) } else { Ok(()) }
}

/// Identifier of an ICMP query or reply as received, which identifies the connection together with the addresses. NAT
/// may write another one.
fn wire_ident(meta: &Meta, view: &PacketView, head: &[u8]) -> Option<u16> {
    let has_ident = match meta.is_ipv6() {
        true => matches!(view.icmp_type, icmpv6::ECHO_REQUEST | icmpv6::ECHO_REPLY),
        false => icmp::is_query(view.icmp_type) || icmp::is_answer(view.icmp_type),
    };
    (has_ident && !is_later_fragment(meta, head)).then(|| field::get16(head, usize::from(meta.l4) + 4))
}

/// Whether the packet is a fragment other than the first: these have no ports on the wire (RFC 791 §3.1: the offset is
/// the lower 13 bits; of IPv6 `parse` has noted it).
fn is_later_fragment(meta: &Meta, head: &[u8]) -> bool {
    if meta.is_ipv6() {
        return meta.is(flag::LATER_FRAGMENT);
    }
    field::get16(head, usize::from(meta.l3) + ipv4::offset::FRAGMENT) & ipv4::OFFSET_MASK != 0
}

/// Addresses and ports that differ from those in the frame: `NAT (192.0.2.1:80->192.168.88.10:8080)->…`.
fn translation(line: &mut String, meta: &Meta, view: &PacketView, head: &[u8]) -> std::fmt::Result {
    let tuple = &view.tuple;
    let (l3, l4) = (usize::from(meta.l3), usize::from(meta.l4));
    let ported = matches!(tuple.protocol, ipv4::TCP | ipv4::UDP) && !is_later_fragment(meta, head);
    let end = |address: IpAddr, port: u16| {
        if ported { SocketAddr::new(address, port).to_string() } else { address.to_string() }
    };
    let [src_offset, dst_offset] = match meta.is_ipv6() {
        true => [ipv6::offset::SRC, ipv6::offset::DST],
        false => [ipv4::offset::SRC, ipv4::offset::DST],
    };
    let address = |at: usize| match meta.is_ipv6() {
        true => IpAddr::from(Addr(field::get128(head, at))),
        false => IpAddr::from(Addr::v4(field::get32(head, at))),
    };
    let wire = |at: usize, port: usize| end(address(l3 + at), field::get16(head, l4 + port));
    let (src, dst) = (end(tuple.src.into(), tuple.src_port), end(tuple.dst.into(), tuple.dst_port));
    let (wire_src, wire_dst) = (wire(src_offset, 0), wire(dst_offset, 2));
    let both = |wire: String, now: String| if wire == now { now } else { format!("({wire}->{now})") };
    if (&wire_src, &wire_dst) == (&src, &dst) {
        return Ok(());
    }
    write!(line, "NAT {}->{}, ", both(wire_src, src), both(wire_dst, dst))
}
