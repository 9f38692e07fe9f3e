//! Steering: which worker receives a frame, before the engine has parsed it.
//!
//! [`program`] is classic BPF for `PACKET_FANOUT_CBPF`; [`worker_of`] is the same decision in Rust, for ports whose
//! frames do not come from the kernel. Both compute [`tollway_engine::packet::tuple::steer`] for whole TCP and UDP
//! packets and ICMP queries. What that function cannot steer without state (fragments, ICMP errors) is steered by the
//! addresses, and the engine hands it over; what is not IP goes to worker 0.

use tollway_engine::packet::tuple::{Addr, Tuple, steer};
use tollway_wire::field::{read8, read16, read32, read128};
use tollway_wire::ipv4::{ICMP, TCP, UDP};
use tollway_wire::{ethernet, icmp, ipv4, ipv6};

use crate::bpf::classic::Assembler;

/// The worker, `0..workers`, that an untagged Ethernet frame goes to.
pub fn worker_of(frame: &[u8], workers: u32) -> u32 {
    tuple_of(frame).map_or(0, |tuple| steer(&tuple, workers))
}

/// The tuple by which a frame is steered. `None` for a frame that is not IP or is too short; the program returns 0 for
/// such frames.
fn tuple_of(frame: &[u8]) -> Option<Tuple> {
    let packet = frame.get(ethernet::HEADER..)?;
    let ethertype = read16(frame, ethernet::ADDRESSES)?;
    let mut tuple = Tuple::default();
    let transport = match ethertype {
        ethernet::IPV4 => {
            tuple.src = Addr::v4(read32(packet, ipv4::offset::SRC)?);
            tuple.dst = Addr::v4(read32(packet, ipv4::offset::DST)?);
            if read16(packet, ipv4::offset::FRAGMENT)? & ipv4::FRAGMENTED != 0 {
                return Some(tuple);
            }
            tuple.protocol = read8(packet, ipv4::offset::PROTOCOL)?;
            usize::from(read8(packet, 0)? & 0x0f) * 4
        }
        ethernet::IPV6 => {
            tuple.src = Addr(read128(packet, ipv6::offset::SRC)?);
            tuple.dst = Addr(read128(packet, ipv6::offset::DST)?);
            tuple.protocol = read8(packet, ipv6::offset::NEXT_HEADER)?;
            ipv6::HEADER
        }
        _ => return None,
    };
    match tuple.protocol {
        TCP | UDP => {
            tuple.src_port = read16(packet, transport)?;
            tuple.dst_port = read16(packet, transport + 2)?;
        }
        ICMP if ethertype == ethernet::IPV4 && has_identifier(read8(packet, transport)?) => {
            tuple.src_port = read16(packet, transport + 4)?;
            tuple.dst_port = tuple.src_port;
        }
        _ => {}
    }
    Some(tuple)
}

/// Whether messages of an ICMP type carry an identifier (RFC 792, RFC 950).
const fn has_identifier(icmp_type: u8) -> bool {
    icmp::is_query(icmp_type) || icmp::is_answer(icmp_type)
}

/// Offsets that count from the network header, wherever the kernel runs the program (linux/filter.h).
const NET: u32 = -0x10_0000_i32 as u32;
/// The link-layer protocol of the packet (linux/filter.h, `SKF_AD_PROTOCOL`).
const PROTOCOL: u32 = -0x1000_i32 as u32;

const LOAD: u32 = libc::BPF_LD | libc::BPF_ABS;
const LOAD_X: u32 = libc::BPF_LD | libc::BPF_IND;

/// The program for `workers` sockets that joined the fanout group in the order of their workers.
pub fn program(workers: u32) -> Vec<libc::sock_filter> {
    let mut code = Assembler::default();
    let xor_next = |code: &mut Assembler, offset: u32| {
        code.op(libc::BPF_MISC | libc::BPF_TAX, 0)
            .op(LOAD | libc::BPF_W, NET + offset)
            .op(libc::BPF_ALU | libc::BPF_XOR | libc::BPF_X, 0);
    };
    code.op(LOAD | libc::BPF_W, PROTOCOL)
        .jump(libc::BPF_JEQ, ethernet::IPV4.into(), Some("ipv4"), None)
        .jump(libc::BPF_JEQ, ethernet::IPV6.into(), Some("ipv6"), None)
        .op(libc::BPF_RET | libc::BPF_K, 0);

    code.label("ipv4")
        .op(LOAD | libc::BPF_H, NET + ipv4::offset::FRAGMENT as u32)
        .jump(libc::BPF_JSET, ipv4::FRAGMENTED.into(), Some("addresses4"), None)
        // X = header length
        .op(LOAD | libc::BPF_B, NET)
        .op(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0x0f)
        .op(libc::BPF_ALU | libc::BPF_LSH | libc::BPF_K, 2)
        .op(libc::BPF_MISC | libc::BPF_TAX, 0)
        .op(LOAD | libc::BPF_B, NET + ipv4::offset::PROTOCOL as u32)
        .jump(libc::BPF_JEQ, TCP.into(), Some("ports4"), None)
        .jump(libc::BPF_JEQ, UDP.into(), Some("ports4"), None)
        .jump(libc::BPF_JEQ, ICMP.into(), None, Some("addresses4"))
        .op(LOAD_X | libc::BPF_B, NET)
        .jump(libc::BPF_JEQ, icmp::ECHO_REPLY.into(), Some("identifier"), None)
        .jump(libc::BPF_JEQ, icmp::ECHO_REQUEST.into(), Some("identifier"), None)
        .jump(libc::BPF_JGE, icmp::TIMESTAMP.into(), None, Some("addresses4"))
        .jump(libc::BPF_JGT, icmp::MASK_REPLY.into(), Some("addresses4"), None)
        .label("identifier")
        .op(LOAD_X | libc::BPF_H, NET + 4)
        .jump(libc::BPF_JEQ, 0, Some("addresses4"), Some("fold"))
        .label("ports4")
        .op(LOAD_X | libc::BPF_W, NET)
        .op(libc::BPF_MISC | libc::BPF_TAX, 0)
        .op(libc::BPF_ALU | libc::BPF_RSH | libc::BPF_K, 16)
        .op(libc::BPF_ALU | libc::BPF_XOR | libc::BPF_X, 0)
        .op(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0xffff)
        .jump(libc::BPF_JEQ, 0, None, Some("fold"))
        .label("addresses4")
        .op(LOAD | libc::BPF_W, NET + ipv4::offset::SRC as u32);
    xor_next(&mut code, ipv4::offset::DST as u32);
    code.go_to("halves");

    code.label("ipv6")
        .op(LOAD | libc::BPF_B, NET + ipv6::offset::NEXT_HEADER as u32)
        .jump(libc::BPF_JEQ, TCP.into(), Some("ports6"), None)
        .jump(libc::BPF_JEQ, UDP.into(), None, Some("addresses6"))
        .label("ports6")
        .op(LOAD | libc::BPF_H, NET + ipv6::HEADER as u32)
        .op(libc::BPF_MISC | libc::BPF_TAX, 0)
        .op(LOAD | libc::BPF_H, NET + ipv6::HEADER as u32 + 2)
        .op(libc::BPF_ALU | libc::BPF_XOR | libc::BPF_X, 0)
        .jump(libc::BPF_JEQ, 0, None, Some("fold"))
        .label("addresses6")
        .op(LOAD | libc::BPF_W, NET + ipv6::offset::SRC as u32);
    // The first word is loaded.
    for offset in (ipv6::offset::SRC..ipv6::HEADER).step_by(4).skip(1) {
        xor_next(&mut code, offset as u32);
    }

    code.label("halves")
        .op(libc::BPF_MISC | libc::BPF_TAX, 0)
        .op(libc::BPF_ALU | libc::BPF_RSH | libc::BPF_K, 16)
        .op(libc::BPF_ALU | libc::BPF_XOR | libc::BPF_X, 0)
        .op(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0xffff)
        .label("fold")
        .op(libc::BPF_MISC | libc::BPF_TAX, 0)
        .op(libc::BPF_ALU | libc::BPF_RSH | libc::BPF_K, 8)
        .op(libc::BPF_ALU | libc::BPF_XOR | libc::BPF_X, 0)
        .op(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0xff)
        .op(libc::BPF_ALU | libc::BPF_MOD | libc::BPF_K, workers.max(1))
        .op(libc::BPF_RET | libc::BPF_A, 0);
    code.finish()
}

#[cfg(test)]
mod tests {
    use tollway_testkit::random::Random;
    use tollway_testkit::seeds;

    use super::*;

    /// Classic BPF as linux/filter.h and the kernel's converter define it, on an Ethernet frame.
    fn run(program: &[libc::sock_filter], frame: &[u8]) -> u32 {
        let load = |k: u32, size: u32| -> Option<u32> {
            if k == PROTOCOL {
                return read16(frame, 12).map(u32::from);
            }
            let at = 14 + usize::try_from(k.wrapping_sub(NET)).unwrap();
            match size {
                libc::BPF_W => read32(frame, at),
                libc::BPF_H => read16(frame, at).map(u32::from),
                _ => frame.get(at).map(|&byte| byte.into()),
            }
        };
        let (mut a, mut x, mut pc) = (0_u32, 0_u32, 0_usize);
        loop {
            let op = program[pc];
            let code = u32::from(op.code);
            pc += 1;
            match code & 0x07 {
                libc::BPF_LD => {
                    let k = if code & 0xe0 == libc::BPF_IND { op.k.wrapping_add(x) } else { op.k };
                    match load(k, code & 0x18) {
                        Some(value) => a = value,
                        None => return 0,
                    }
                }
                libc::BPF_ALU => {
                    let operand = if code & libc::BPF_X != 0 { x } else { op.k };
                    a = match code & 0xf0 {
                        libc::BPF_AND => a & operand,
                        libc::BPF_XOR => a ^ operand,
                        libc::BPF_LSH => a << operand,
                        libc::BPF_RSH => a >> operand,
                        libc::BPF_MOD => a % operand,
                        other => panic!("operation {other:#x}"),
                    };
                }
                libc::BPF_JMP => {
                    let taken = match code & 0xf0 {
                        libc::BPF_JA => {
                            pc += op.k as usize;
                            continue;
                        }
                        libc::BPF_JEQ => a == op.k,
                        libc::BPF_JGT => a > op.k,
                        libc::BPF_JGE => a >= op.k,
                        _ => a & op.k != 0,
                    };
                    pc += usize::from(if taken { op.jt } else { op.jf });
                }
                libc::BPF_RET => return if code & 0x18 == libc::BPF_A { a } else { op.k },
                _ => x = a,
            }
        }
    }

    fn frame(random: &mut Random) -> Vec<u8> {
        let mut frame: Vec<u8> = (0..90).map(|_| random.bits() as u8).collect();
        let draw = random.bits();
        let ethertype = [ethernet::IPV4, ethernet::IPV4, ethernet::IPV4, ethernet::IPV6, ethernet::ARP]
            [(draw % 5) as usize];
        frame[12..14].copy_from_slice(&ethertype.to_be_bytes());
        let protocol = [TCP, UDP, ICMP, ICMP, 47][(draw / 5 % 5) as usize];
        if ethertype == ethernet::IPV4 {
            let header_words = 5 + (draw / 25 % 11) as u8;
            frame[14] = 0x40 | header_words;
            frame[23] = protocol;
            if !(draw / 300).is_multiple_of(4) {
                frame[20..22].fill(0);
            }
            let transport = 14 + usize::from(header_words) * 4;
            if protocol == ICMP {
                frame[transport] = (draw / 1200 % 20) as u8;
            }
            if (draw / 30_000).is_multiple_of(8) {
                frame.copy_within(transport..transport + 2, transport + 2);
                frame[transport + 4..transport + 6].fill(0);
            }
        } else {
            frame[20] = protocol;
        }
        frame
    }

    #[test]
    fn the_program_and_the_rust_agree() {
        seeds(1).for_each(they_agree);
    }

    fn they_agree(seed: u64) {
        let mut random = Random::new(seed);
        for workers in [1, 2, 3, 5, 16] {
            let program = program(workers);
            let mut seen = vec![0_u32; workers as usize];
            for _ in 0..5_000 {
                let frame = frame(&mut random);
                let expected = worker_of(&frame, workers);
                assert_eq!(run(&program, &frame), expected, "seed {seed}: {frame:02x?}");
                seen[expected as usize] += 1;
            }
            assert!(seen.iter().all(|&count| count > 100), "seed {seed}: {seen:?}");
        }
    }

    #[test]
    fn both_directions_of_a_flow_have_one_owner() {
        seeds(1).for_each(both_directions_have_one_owner);
    }

    fn both_directions_have_one_owner(seed: u64) {
        let mut random = Random::new(seed);
        for _ in 0..2_000 {
            let mut frame = frame(&mut random);
            frame[12..14].copy_from_slice(&ethernet::IPV4.to_be_bytes());
            frame[14] = 0x45;
            frame[20..22].fill(0);
            frame[23] = if random.one_in(2) { TCP } else { UDP };
            let mut reply = frame.clone();
            reply[26..30].copy_from_slice(&frame[30..34]);
            reply[30..34].copy_from_slice(&frame[26..30]);
            reply[34..36].copy_from_slice(&frame[36..38]);
            reply[36..38].copy_from_slice(&frame[34..36]);
            assert_eq!(worker_of(&frame, 7), worker_of(&reply, 7), "seed {seed}");
        }
    }

    #[test]
    fn the_kernel_accepts_the_program() {
        let program = program(2);
        let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
        // SAFETY: plain socket calls; `filter` points to a live program of the stated length.
        unsafe {
            let socket = libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM, 0);
            assert!(socket >= 0);
            let result = libc::setsockopt(
                socket,
                libc::SOL_SOCKET,
                libc::SO_ATTACH_FILTER,
                std::ptr::from_ref(&filter).cast(),
                size_of::<libc::sock_fprog>() as u32,
            );
            libc::close(socket);
            assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
        }
    }
}
