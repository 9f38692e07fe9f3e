//! Which worker a frame belongs to, before the engine has parsed it.
//!
//! [`program`] is classic BPF for `PACKET_FANOUT_CBPF`; [`worker_of`] is the same decision in Rust, for
//! ports that have no kernel in front of them. Both compute [`tollway_engine::packet::tuple::steer`] for whole
//! TCP and UDP packets and ICMP queries. What that function cannot place without state (fragments, ICMP
//! errors) goes by the addresses, and the engine hands it over; what is not IP goes to worker 0.

use tollway_engine::packet::tuple::{Addr, ICMP, Tuple, steer};

const TCP: u8 = 6;
const UDP: u8 = 17;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;

/// ICMP types that carry an identifier (RFC 792, RFC 950): echo, timestamp, information, address mask.
const fn is_icmp_query(kind: u8) -> bool {
    matches!(kind, 0 | 8 | 13..=18)
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(offset..)?.first_chunk()?))
}

fn half(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// The worker, `0..workers`, that an untagged Ethernet frame goes to.
pub fn worker_of(frame: &[u8], workers: u32) -> u32 {
    tuple_of(frame).map_or(0, |tuple| steer(&tuple, workers))
}

fn tuple_of(frame: &[u8]) -> Option<Tuple> {
    let packet = frame.get(14..)?;
    match half(frame, 12)? {
        ETHERTYPE_IPV4 => {
            let mut tuple = Tuple {
                src: Addr::v4(word(packet, 12)?),
                dst: Addr::v4(word(packet, 16)?),
                ..Tuple::default()
            };
            let transport = usize::from(*packet.first()? & 0x0f) * 4;
            if half(packet, 6)? & 0x3fff == 0 {
                tuple.protocol = *packet.get(9)?;
                match tuple.protocol {
                    TCP | UDP => {
                        tuple.src_port = half(packet, transport)?;
                        tuple.dst_port = half(packet, transport + 2)?;
                    }
                    ICMP if is_icmp_query(*packet.get(transport)?) => {
                        tuple.src_port = half(packet, transport + 4)?;
                        tuple.dst_port = tuple.src_port;
                    }
                    _ => {}
                }
            }
            Some(tuple)
        }
        ETHERTYPE_IPV6 => {
            let address =
                |offset: usize| Some(Addr(u128::from_be_bytes(*packet.get(offset..)?.first_chunk()?)));
            let mut tuple = Tuple { src: address(8)?, dst: address(24)?, ..Tuple::default() };
            tuple.protocol = *packet.get(6)?;
            if matches!(tuple.protocol, TCP | UDP) {
                tuple.src_port = half(packet, 40)?;
                tuple.dst_port = half(packet, 42)?;
            }
            Some(tuple)
        }
        _ => None,
    }
}

/// An instruction of classic BPF; a jump names its target by label until [`Assembler::finish`].
enum Line {
    Plain(u16, u32),
    Goto(&'static str),
    Jump { code: u16, k: u32, yes: Option<&'static str>, no: Option<&'static str> },
    Label(&'static str),
}

#[derive(Default)]
struct Assembler {
    lines: Vec<Line>,
}

impl Assembler {
    fn op(&mut self, code: u32, k: u32) -> &mut Self {
        self.lines.push(Line::Plain(code as u16, k));
        self
    }

    fn jump(&mut self, code: u32, k: u32, yes: Option<&'static str>, no: Option<&'static str>) -> &mut Self {
        self.lines.push(Line::Jump { code: (libc::BPF_JMP | code | libc::BPF_K) as u16, k, yes, no });
        self
    }

    fn label(&mut self, name: &'static str) -> &mut Self {
        self.lines.push(Line::Label(name));
        self
    }

    /// Resolves labels; a target that is missing or more than 255 instructions on is a defect that the
    /// unit test of the whole program meets.
    fn finish(&self) -> Vec<libc::sock_filter> {
        let is_code = |line: &&Line| !matches!(line, Line::Label(_));
        let address = |name: &str| {
            let at = self.lines.iter().position(|line| matches!(line, Line::Label(label) if *label == name));
            self.lines.iter().take(at.unwrap_or(0)).filter(is_code).count()
        };
        let mut program = Vec::new();
        for line in &self.lines {
            let next = program.len() + 1;
            let distance =
                |name: Option<&str>| name.map_or(0, |name| (address(name).saturating_sub(next)) as u8);
            match *line {
                Line::Goto(name) => program.push(libc::sock_filter {
                    code: (libc::BPF_JMP | libc::BPF_JA) as u16,
                    jt: 0,
                    jf: 0,
                    k: address(name).saturating_sub(next) as u32,
                }),
                Line::Plain(code, k) => program.push(libc::sock_filter { code, jt: 0, jf: 0, k }),
                Line::Jump { code, k, yes, no } => {
                    program.push(libc::sock_filter { code, jt: distance(yes), jf: distance(no), k });
                }
                Line::Label(_) => {}
            }
        }
        program
    }
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
        .jump(libc::BPF_JEQ, ETHERTYPE_IPV4.into(), Some("ipv4"), None)
        .jump(libc::BPF_JEQ, ETHERTYPE_IPV6.into(), Some("ipv6"), None)
        .op(libc::BPF_RET | libc::BPF_K, 0);

    code.label("ipv4")
        .op(LOAD | libc::BPF_H, NET + 6)
        .jump(libc::BPF_JSET, 0x3fff, Some("addresses4"), None)
        // X = header length
        .op(LOAD | libc::BPF_B, NET)
        .op(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0x0f)
        .op(libc::BPF_ALU | libc::BPF_LSH | libc::BPF_K, 2)
        .op(libc::BPF_MISC | libc::BPF_TAX, 0)
        .op(LOAD | libc::BPF_B, NET + 9)
        .jump(libc::BPF_JEQ, TCP.into(), Some("ports4"), None)
        .jump(libc::BPF_JEQ, UDP.into(), Some("ports4"), None)
        .jump(libc::BPF_JEQ, ICMP.into(), None, Some("addresses4"))
        .op(LOAD_X | libc::BPF_B, NET)
        .jump(libc::BPF_JEQ, 0, Some("identifier"), None)
        .jump(libc::BPF_JEQ, 8, Some("identifier"), None)
        .jump(libc::BPF_JGE, 13, None, Some("addresses4"))
        .jump(libc::BPF_JGT, 18, Some("addresses4"), None)
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
        .op(LOAD | libc::BPF_W, NET + 12);
    xor_next(&mut code, 16);
    code.lines.push(Line::Goto("halves"));

    code.label("ipv6")
        .op(LOAD | libc::BPF_B, NET + 6)
        .jump(libc::BPF_JEQ, TCP.into(), Some("ports6"), None)
        .jump(libc::BPF_JEQ, UDP.into(), None, Some("addresses6"))
        .label("ports6")
        .op(LOAD | libc::BPF_H, NET + 40)
        .op(libc::BPF_MISC | libc::BPF_TAX, 0)
        .op(LOAD | libc::BPF_H, NET + 42)
        .op(libc::BPF_ALU | libc::BPF_XOR | libc::BPF_X, 0)
        .jump(libc::BPF_JEQ, 0, None, Some("fold"))
        .label("addresses6")
        .op(LOAD | libc::BPF_W, NET + 8);
    for offset in (12..40).step_by(4) {
        xor_next(&mut code, offset);
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
                return half(frame, 12).map(u32::from);
            }
            let at = 14 + usize::try_from(k.wrapping_sub(NET)).unwrap();
            match size {
                libc::BPF_W => word(frame, at),
                libc::BPF_H => half(frame, at).map(u32::from),
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
        let ethertype =
            [ETHERTYPE_IPV4, ETHERTYPE_IPV4, ETHERTYPE_IPV4, ETHERTYPE_IPV6, 0x0806][(draw % 5) as usize];
        frame[12..14].copy_from_slice(&ethertype.to_be_bytes());
        let protocol = [TCP, UDP, ICMP, ICMP, 47][(draw / 5 % 5) as usize];
        if ethertype == ETHERTYPE_IPV4 {
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
            frame[12..14].copy_from_slice(&ETHERTYPE_IPV4.to_be_bytes());
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
