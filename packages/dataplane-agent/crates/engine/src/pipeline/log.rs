//! Log lines of firewall rules.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};

use tollway_wire::{field, icmp, ipv4};

use crate::firewall::rules::{PacketView, RuleTable};
use crate::observe::log::LogLine;
use crate::packet::names::{flag_names, format_mac, state_name};
use crate::packet::{Meta, Origin};
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
        ipv4::ICMP => {
            write!(line, "proto ICMP (type {}, code {}), ", view.icmp_type, view.icmp_code)?;
            if let Some(ident) = wire_ident(meta, view, head) {
                write!(line, "id {ident}, ")?;
            }
        }
        other => write!(line, "proto {other}, ")?,
    }
    match tuple.protocol {
        ipv4::TCP | ipv4::UDP => write!(line, "{src}:{}->{dst}:{}, ", tuple.src_port, tuple.dst_port)?,
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
    let has_ident = icmp::is_query(view.icmp_type) || icmp::is_answer(view.icmp_type);
    (has_ident && !is_later_fragment(meta, head)).then(|| field::get16(head, usize::from(meta.l4) + 4))
}

/// Whether the packet is a fragment other than the first: these have no ports on the wire (RFC 791 §3.1: the offset is
/// the lower 13 bits).
fn is_later_fragment(meta: &Meta, head: &[u8]) -> bool {
    field::get16(head, usize::from(meta.l3) + ipv4::offset::FRAGMENT) & ipv4::OFFSET_MASK != 0
}

/// Addresses and ports that differ from those in the frame: `NAT (192.0.2.1:80->192.168.88.10:8080)->…`.
fn translation(line: &mut String, meta: &Meta, view: &PacketView, head: &[u8]) -> std::fmt::Result {
    let tuple = &view.tuple;
    let (l3, l4) = (usize::from(meta.l3), usize::from(meta.l4));
    let ported = matches!(tuple.protocol, ipv4::TCP | ipv4::UDP) && !is_later_fragment(meta, head);
    let end = |address: IpAddr, port: u16| {
        if ported { format!("{address}:{port}") } else { address.to_string() }
    };
    let wire = |address: usize, port: usize| {
        end(Ipv4Addr::from(field::get32(head, l3 + address)).into(), field::get16(head, l4 + port))
    };
    let (src, dst) = (end(tuple.src.into(), tuple.src_port), end(tuple.dst.into(), tuple.dst_port));
    let (wire_src, wire_dst) = (wire(12, 0), wire(16, 2));
    let both = |wire: String, now: String| if wire == now { now } else { format!("({wire}->{now})") };
    if (&wire_src, &wire_dst) == (&src, &dst) {
        return Ok(());
    }
    write!(line, "NAT {}->{}, ", both(wire_src, src), both(wire_dst, dst))
}
