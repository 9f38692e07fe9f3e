//! The two programs: [`decide`] is the filter of the packet socket, and drops the socket's copy of a packet that is
//! offloaded; [`forward`] runs after it at tcx ingress, on the packet itself, and redirects it.
//!
//! Both run to completion for each packet on a core, so the first one passes its decision to the second one in a
//! per-CPU map. Whatever they do not handle is left to the worker: fragments, options, tags, the last
//! hop of a packet, segments that change a connection's state, what is malformed, and everything that is not in
//! the table.

use std::os::fd::OwnedFd;

use tollway_wire::{ethernet, icmp, ipv4, tcp, udp};

use super::slot::offset;
use crate::bpf::extended::Op::{Add, Divide, Left, Move, Multiply, Or, Right, Subtract, Xor};
use crate::bpf::extended::Size::{Byte, Double, Half, Word};
use crate::bpf::extended::{
    Assembler, If, Instruction, R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, Register,
};

/// Helpers (bpf-helpers(7)) by number.
mod helper {
    /// `bpf_map_lookup_elem`.
    pub const MAP_LOOKUP: i32 = 1;
    /// `bpf_skb_store_bytes`.
    pub const STORE_BYTES: i32 = 9;
    /// `bpf_l4_csum_replace`.
    pub const L4_CHECKSUM: i32 = 11;
    /// `bpf_redirect`.
    pub const REDIRECT: i32 = 23;
    /// `bpf_skb_load_bytes`.
    pub const LOAD_BYTES: i32 = 26;
}

/// Offsets in `struct __sk_buff` (linux/bpf.h).
mod context {
    /// Length of the packet, bytes.
    pub const LEN: i16 = 0;
    /// `PACKET_HOST`, `PACKET_OTHERHOST` and so on (packet(7)).
    pub const PACKET_TYPE: i16 = 4;
    /// Whether the kernel has taken a VLAN tag out of the frame.
    pub const VLAN_PRESENT: i16 = 20;
    /// Interface that it arrived on.
    pub const IFINDEX: i16 = 40;
    /// Segments of a super-frame.
    pub const GSO_SEGS: i16 = 164;
    /// Payload of a segment of a super-frame, bytes.
    pub const GSO_SIZE: i16 = 176;
}

/// `BPF_F_PSEUDO_HDR`, `BPF_F_MARK_MANGLED_0` (linux/bpf.h).
const PSEUDO_HEADER: i32 = 0x10;
const ZERO_IS_NONE: i32 = 0x20;
/// `TCX_NEXT`: the next program, or the stack, gets the packet.
const NEXT: i32 = -1;
/// Return value of a socket filter that keeps the whole packet.
const ALL: i32 = -1;

/// Length of the Ethernet header, bytes.
const ETHERNET: i16 = ethernet::HEADER as i16;
/// Ethernet, IPv4 and UDP: the shortest packet that is looked at, bytes.
const SHORTEST: i32 = (ethernet::HEADER + ipv4::HEADER + udp::HEADER) as i32;

/// IPv4 and TCP without options.
const SHORTEST_TCP: i32 = (ipv4::HEADER + tcp::HEADER) as i32;

/// Offset in the stack of the packet's first bytes, such that the IPv4 header is aligned.
const FRAME: i16 = -50;
const KEY: i16 = -72;
const INDEX: i16 = -76;

/// Place of a byte of the IPv4 header.
const fn l3(offset: usize) -> i16 {
    FRAME + ETHERNET + offset as i16
}

/// Place of a byte of the transport header behind an IPv4 header without options.
const fn l4(offset: usize) -> i16 {
    l3(ipv4::HEADER) + offset as i16
}

/// The maps that both programs use.
#[derive(Debug)]
pub(super) struct Maps {
    /// Map from keys to slots.
    pub flows: OwnedFd,
    /// Slots; the first one is the control slot.
    pub slots: OwnedFd,
    /// The slot that was decided on, per core.
    pub decided: OwnedFd,
}

/// `r0 = &map[index]`; goes to `none` without one.
fn look_up(code: &mut Assembler, map: &OwnedFd, key: i16, none: &'static str) {
    code.load_map(R1, map).op(Move, R2, R10).op_value(Add, R2, key.into()).call(helper::MAP_LOOKUP);
    code.jump_value(If::Equal, R0, 0, none);
}

/// Reads bytes of the packet to the stack; goes to `none` if there are fewer.
fn read(code: &mut Assembler, from: i32, bytes: i32, none: &'static str) {
    code.op(Move, R1, R6).op_value(Move, R2, from);
    code.op(Move, R3, R10).op_value(Add, R3, i32::from(FRAME) + from).op_value(Move, R4, bytes);
    code.call(helper::LOAD_BYTES).jump_value(If::Differs, R0, 0, none);
}

/// Adds the carries of a sum of 16-bit words to it, in `sum` (RFC 1071 §2); `spare` is lost.
fn fold(code: &mut Assembler, sum: Register, spare: Register) {
    for _ in 0..2 {
        code.op(Move, spare, sum).op_value(Right, spare, 16);
        code.op_value(Left, sum, 48).op_value(Right, sum, 48).op(Add, sum, spare);
    }
}

/// Length of the headers of a TCP packet in `dst`, from the byte with the data offset (RFC 9293 §3.1).
fn tcp_headers(code: &mut Assembler, dst: Register) {
    code.load(Byte, dst, R10, l4(tcp::offset::DATA_OFFSET));
    code.op_value(Right, dst, 4).op_value(Left, dst, 2).op_value(Add, dst, ipv4::HEADER as i32);
}

/// The filter of the packet sockets: stores the packet's slot number, or 0, in the per-core cell, and drops the
/// socket's copy of a packet that has a slot. R6 is the packet, R7 the control slot, R8 the slot's number, R9 what the
/// largest segment takes.
pub(super) fn decide(maps: &Maps) -> Vec<Instruction> {
    let mut code = Assembler::default();
    let c = &mut code;
    c.op(Move, R6, R1).op_value(Move, R8, 0).op_value(Move, R9, (ipv4::HEADER + udp::HEADER) as i32);
    c.load(Word, R2, R6, context::PACKET_TYPE).jump_value(If::Differs, R2, 0, "decided");
    c.load(Word, R2, R6, context::VLAN_PRESENT).jump_value(If::Differs, R2, 0, "decided");
    c.store_value(Word, R10, INDEX, 0);
    look_up(c, &maps.slots, INDEX, "decided");
    c.op(Move, R7, R0).load(Double, R2, R7, offset::EPOCH).jump_value(If::Equal, R2, 0, "decided");
    read(c, 0, SHORTEST, "decided");
    c.load(Half, R2, R10, FRAME + ethernet::ADDRESSES as i16).jump_value(
        If::Differs,
        R2,
        ethernet::IPV4.to_be().into(),
        "decided",
    );
    c.load(Byte, R2, R10, l3(0)).jump_value(If::Differs, R2, 0x45, "decided");
    c.load(Half, R2, R10, l3(ipv4::offset::FRAGMENT));
    c.jump_value(If::Bits, R2, ipv4::FRAGMENTED.to_be().into(), "decided");
    c.load(Byte, R2, R10, l3(ipv4::offset::TTL)).jump_value(If::Greater, R2, 1, "goes on").go_to("decided");

    c.label("goes on").op_value(Move, R2, 0);
    for word in 0..ipv4::HEADER / 2 {
        c.load(Half, R3, R10, l3(2 * word)).op(Add, R2, R3);
    }
    fold(c, R2, R3);
    c.jump_value(If::Differs, R2, 0xffff, "decided");
    for (place, from) in [(0, ipv4::offset::SRC), (4, ipv4::offset::DST), (8, ipv4::HEADER)] {
        c.load(Word, R2, R10, l3(from)).store(Word, R10, KEY + place, R2);
    }
    c.load(Byte, R3, R10, l3(ipv4::offset::PROTOCOL)).load(Word, R5, R7, offset::MODE);
    c.jump_value(If::Equal, R3, ipv4::UDP.into(), "udp");
    c.jump_value(If::Equal, R3, ipv4::TCP.into(), "tcp");
    // Echo requests and replies, if they are only routed.
    c.jump_value(If::Differs, R3, ipv4::ICMP.into(), "decided").jump_value(If::Equal, R5, 0, "decided");
    c.load(Byte, R2, R10, l4(0)).jump_value(If::Equal, R2, icmp::ECHO_REQUEST.into(), "key");
    c.jump_value(If::Differs, R2, 0, "decided").go_to("key");

    c.label("tcp");
    read(c, SHORTEST, 6, "decided");
    tcp_headers(c, R9);
    c.jump_value(If::Greater, R9, SHORTEST_TCP - 1, "with tcp").go_to("decided");
    c.label("with tcp").load(Byte, R3, R10, l3(ipv4::offset::PROTOCOL)).load(Word, R5, R7, offset::MODE);
    c.jump_value(If::Differs, R5, 0, "key").load(Byte, R2, R10, l4(tcp::offset::FLAGS));
    c.jump_value(If::Bits, R2, tcp::flag::CONTROL.into(), "decided");
    c.jump_value(If::Bits, R2, tcp::flag::ACK.into(), "key").go_to("decided");

    c.label("udp").load(Half, R2, R10, l4(udp::LENGTH)).swap_half(R2);
    c.load(Half, R4, R10, l3(ipv4::offset::TOTAL_LEN)).swap_half(R4);
    c.op_value(Subtract, R4, ipv4::HEADER as i32).jump(If::Greater, R2, R4, "decided");
    c.jump_value(If::Greater, R2, udp::HEADER as i32 - 1, "key").go_to("decided");

    c.label("key").jump_value(If::Equal, R5, 0, "flow");
    c.op_value(Move, R3, 0).store(Word, R10, KEY + 8, R3);
    c.label("flow").load(Word, R4, R6, context::IFINDEX).op_value(Left, R4, 8).op(Or, R4, R3);
    c.store(Word, R10, KEY + 12, R4);

    c.load(Half, R4, R10, l3(ipv4::offset::TOTAL_LEN)).swap_half(R4).jump(If::Greater, R9, R4, "decided");
    c.load(Word, R3, R6, context::LEN).op_value(Subtract, R3, ETHERNET.into());
    c.jump(If::Greater, R4, R3, "decided");
    c.load(Word, R2, R6, context::GSO_SIZE).op(Add, R9, R2).jump_value(If::Differs, R2, 0, "length known");
    // Padding is forwarded too.
    c.op(Move, R9, R3);

    c.label("length known");
    look_up(c, &maps.flows, KEY, "decided");
    c.load(Word, R8, R0, 0).store(Word, R10, INDEX, R8);
    look_up(c, &maps.slots, INDEX, "not");
    c.load(Double, R2, R0, offset::EPOCH).load(Double, R3, R7, offset::EPOCH).jump(
        If::Differs,
        R2,
        R3,
        "not",
    );
    c.load(Half, R2, R0, offset::MTU).jump(If::Greater, R9, R2, "not").go_to("decided");
    c.label("not").op_value(Move, R8, 0);

    c.label("decided").store_value(Word, R10, INDEX, 0);
    look_up(c, &maps.decided, INDEX, "to the socket");
    c.store(Double, R0, 0, R8).jump_value(If::Equal, R8, 0, "to the socket");
    c.op_value(Move, R0, 0).exit();
    c.label("to the socket").op_value(Move, R0, ALL).exit();
    code.finish()
}

/// The program at the port's ingress: forwards packets that have a slot. R6 is the packet, R9 the slot.
pub(super) fn forward(maps: &Maps) -> Vec<Instruction> {
    let mut code = Assembler::default();
    let c = &mut code;
    c.op(Move, R6, R1).store_value(Word, R10, INDEX, 0);
    look_up(c, &maps.decided, INDEX, "leave");
    c.load(Double, R8, R0, 0).jump_value(If::Equal, R8, 0, "leave").store_value(Double, R0, 0, 0);
    c.store(Word, R10, INDEX, R8);
    look_up(c, &maps.slots, INDEX, "leave");
    c.op(Move, R9, R0);
    read(c, 0, SHORTEST, "leave");

    // Packets and L3 bytes as they would be on a wire, each with its headers.
    c.load(Half, R7, R10, l3(ipv4::offset::TOTAL_LEN)).swap_half(R7).op_value(Move, R8, 1);
    c.load(Word, R2, R6, context::GSO_SIZE).jump_value(If::Equal, R2, 0, "count");
    c.load(Word, R7, R6, context::LEN).op_value(Subtract, R7, ETHERNET.into());
    c.op_value(Move, R2, (ipv4::HEADER + udp::HEADER) as i32);
    c.load(Byte, R3, R10, l3(ipv4::offset::PROTOCOL)).jump_value(
        If::Differs,
        R3,
        ipv4::TCP.into(),
        "headers",
    );
    read(c, SHORTEST, 6, "leave");
    tcp_headers(c, R2);
    // Drivers for virtual machines do not set the number of segments.
    c.label("headers").load(Word, R8, R6, context::GSO_SEGS).jump_value(If::Differs, R8, 0, "segments");
    c.load(Word, R3, R6, context::GSO_SIZE).op(Move, R8, R7).op(Subtract, R8, R2).op(Add, R8, R3);
    c.op_value(Subtract, R8, 1).op(Divide, R8, R3);
    c.label("segments").op(Move, R3, R8).op_value(Subtract, R3, 1).op(Multiply, R3, R2).op(Add, R7, R3);
    c.label("count").add_to_memory(R9, offset::PACKETS, R8).add_to_memory(R9, offset::BYTES, R7);

    c.load(Half, R2, R9, offset::TRANSLATES).jump_value(If::Equal, R2, 0, "header");
    let udp_checksum = i32::from(l4(udp::CHECKSUM) - FRAME);
    let tcp_checksum = i32::from(l4(tcp::CHECKSUM) - FRAME);
    c.op_value(Move, R7, tcp_checksum).op_value(Move, R8, 0);
    c.load(Byte, R3, R10, l3(ipv4::offset::PROTOCOL)).jump_value(If::Equal, R3, ipv4::TCP.into(), "checksum");
    c.op_value(Move, R7, udp_checksum).op_value(Move, R8, ZERO_IS_NONE);
    c.label("checksum").op(Move, R1, R6).op(Move, R2, R7).op_value(Move, R3, 0);
    c.load(Word, R4, R9, offset::ADDRESSES_CHANGE).op(Move, R5, R8).op_value(Or, R5, PSEUDO_HEADER);
    c.call(helper::L4_CHECKSUM);
    c.load(Word, R4, R9, offset::PORTS_CHANGE).jump_value(If::Equal, R4, 0, "header");
    c.op(Move, R1, R6).op(Move, R2, R7).op_value(Move, R3, 0).op(Move, R5, R8).call(helper::L4_CHECKSUM);
    c.op(Move, R1, R6).op_value(Move, R2, (l4(0) - FRAME).into()).op(Move, R3, R9);
    c.op_value(Add, R3, offset::PORTS.into()).op_value(Move, R4, 4).op_value(Move, R5, 0);
    c.call(helper::STORE_BYTES);

    // Time to live, checksum (RFC 1624) and addresses lie beside each other.
    c.label("header").load(Byte, R2, R10, l3(ipv4::offset::TTL)).op_value(Subtract, R2, 1);
    c.store(Byte, R10, l3(ipv4::offset::TTL), R2);
    c.load(Half, R2, R10, l3(ipv4::offset::CHECKSUM)).op_value(Xor, R2, 0xffff);
    c.load(Half, R3, R9, offset::HEADER_CHANGE).op(Add, R2, R3);
    fold(c, R2, R3);
    c.op_value(Xor, R2, 0xffff).store(Half, R10, l3(ipv4::offset::CHECKSUM), R2);
    for (from, to) in [(offset::SRC, ipv4::offset::SRC), (offset::DST, ipv4::offset::DST)] {
        c.load(Word, R2, R9, from).store(Word, R10, l3(to), R2);
    }
    let changed = ipv4::offset::TTL;
    c.op(Move, R1, R6).op_value(Move, R2, (l3(changed) - FRAME).into()).op(Move, R3, R10);
    c.op_value(Add, R3, l3(changed).into()).op_value(Move, R4, (ipv4::HEADER - changed) as i32);
    c.op_value(Move, R5, 0).call(helper::STORE_BYTES);
    c.op(Move, R1, R6).op_value(Move, R2, 0).op(Move, R3, R9).op_value(Add, R3, offset::MACS.into());
    c.op_value(Move, R4, ethernet::ADDRESSES as i32).op_value(Move, R5, 0).call(helper::STORE_BYTES);
    c.load(Word, R1, R9, offset::OUT_IFINDEX).op_value(Move, R2, 0).call(helper::REDIRECT).exit();

    c.label("leave").op_value(Move, R0, NEXT).exit();
    code.finish()
}
