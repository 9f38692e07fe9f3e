//! Instructions of eBPF (Documentation/bpf/standardization/instruction-set.rst).

use std::os::fd::{AsRawFd, OwnedFd};

use super::labels::Labels;

/// An instruction, or half of one that loads 64 bits.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// A register. [`R10`] is the end of the stack, which goes down from there; helpers take [`R1`] to [`R5`] and
/// give [`R0`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register(u8);

macro_rules! registers {
    ($($name:ident = $number:literal)*) => { $(#[doc = concat!("Register ", $number, ".")] pub const $name: Register = Register($number);)* };
}
registers! { R0 = 0 R1 = 1 R2 = 2 R3 = 3 R4 = 4 R5 = 5 R6 = 6 R7 = 7 R8 = 8 R9 = 9 R10 = 10 }

/// Size of what is loaded and stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Size {
    /// 4 bytes.
    Word = 0x00,
    /// 2 bytes.
    Half = 0x08,
    /// 1 byte.
    Byte = 0x10,
    /// 8 bytes.
    Double = 0x18,
}

/// Arithmetic on 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// `+`
    Add = 0x00,
    /// `-`
    Subtract = 0x10,
    /// `*`
    Multiply = 0x20,
    /// `/`, without sign
    Divide = 0x30,
    /// `|`
    Or = 0x40,
    /// `&`
    And = 0x50,
    /// `<<`
    Left = 0x60,
    /// `>>`
    Right = 0x70,
    /// `^`
    Xor = 0xa0,
    /// `=`
    Move = 0xb0,
}

/// When a jump is taken; numbers are compared without sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum If {
    /// `==`
    Equal = 0x10,
    /// `>`
    Greater = 0x20,
    /// `&`
    Bits = 0x40,
    /// `!=`
    Differs = 0x50,
}

const MEMORY: u8 = 0x60;
const LOAD: u8 = 0x01;
const STORE: u8 = 0x03;
const STORE_IMMEDIATE: u8 = 0x02;
const ATOMIC_ADD_64: u8 = 0xdb;
const LOAD_IMMEDIATE_64: u8 = 0x18;
const MAP_DESCRIPTOR: u8 = 1;
const ALU_64: u8 = 0x07;
const JUMP: u8 = 0x05;
const REGISTER: u8 = 0x08;
const TO_NETWORK: u8 = 0xdc;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// A program being assembled.
#[derive(Debug, Default)]
pub struct Assembler {
    code: Vec<Instruction>,
    labels: Labels<()>,
}

impl Assembler {
    fn push(&mut self, code: u8, dst: Register, src: Register, offset: i16, immediate: i32) -> &mut Self {
        self.code.push(Instruction { code, registers: dst.0 | src.0 << 4, offset, immediate });
        self
    }

    /// `dst = *(size *)(base + offset)`
    pub fn load(&mut self, size: Size, dst: Register, base: Register, offset: i16) -> &mut Self {
        self.push(LOAD | MEMORY | size as u8, dst, base, offset, 0)
    }

    /// `*(size *)(base + offset) = src`
    pub fn store(&mut self, size: Size, base: Register, offset: i16, src: Register) -> &mut Self {
        self.push(STORE | MEMORY | size as u8, base, src, offset, 0)
    }

    /// `*(size *)(base + offset) = value`
    pub fn store_value(&mut self, size: Size, base: Register, offset: i16, value: i32) -> &mut Self {
        self.push(STORE_IMMEDIATE | MEMORY | size as u8, base, R0, offset, value)
    }

    /// `*(u64 *)(base + offset) += src`, atomically.
    pub fn add_to_memory(&mut self, base: Register, offset: i16, src: Register) -> &mut Self {
        self.push(ATOMIC_ADD_64, base, src, offset, 0)
    }

    /// `dst op= value`
    pub fn op_value(&mut self, op: Op, dst: Register, value: i32) -> &mut Self {
        self.push(ALU_64 | op as u8, dst, R0, 0, value)
    }

    /// `dst op= src`
    pub fn op(&mut self, op: Op, dst: Register, src: Register) -> &mut Self {
        self.push(ALU_64 | REGISTER | op as u8, dst, src, 0, 0)
    }

    /// `dst = htons(dst)`, of its lower 16 bits.
    pub fn swap_half(&mut self, dst: Register) -> &mut Self {
        self.push(TO_NETWORK, dst, R0, 0, 16)
    }

    /// `dst = map`
    pub fn load_map(&mut self, dst: Register, map: &OwnedFd) -> &mut Self {
        self.push(LOAD_IMMEDIATE_64, dst, Register(MAP_DESCRIPTOR), 0, map.as_raw_fd());
        self.push(0, R0, R0, 0, 0)
    }

    /// `if (left … value) goto label`
    pub fn jump_value(&mut self, when: If, left: Register, value: i32, label: &'static str) -> &mut Self {
        self.labels.jump(self.code.len(), label, ());
        self.push(JUMP | when as u8, left, R0, 0, value)
    }

    /// `if (left … right) goto label`
    pub fn jump(&mut self, when: If, left: Register, right: Register, label: &'static str) -> &mut Self {
        self.labels.jump(self.code.len(), label, ());
        self.push(JUMP | REGISTER | when as u8, left, right, 0, 0)
    }

    /// `goto label`
    pub fn go_to(&mut self, label: &'static str) -> &mut Self {
        self.labels.jump(self.code.len(), label, ());
        self.push(JUMP, R0, R0, 0, 0)
    }

    /// A place to jump to.
    pub fn label(&mut self, label: &'static str) -> &mut Self {
        self.labels.define(label, self.code.len());
        self
    }

    /// Calls a helper (bpf-helpers(7)) by its number.
    pub fn call(&mut self, helper: i32) -> &mut Self {
        self.push(CALL, R0, R0, 0, helper)
    }

    /// `return r0`
    pub fn exit(&mut self) -> &mut Self {
        self.push(EXIT, R0, R0, 0, 0)
    }

    /// The program.
    pub fn finish(mut self) -> Vec<Instruction> {
        for (at, (), distance) in self.labels.resolve() {
            if let Some(jump) = self.code.get_mut(at) {
                jump.offset = distance as i16;
            }
        }
        self.code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_count_from_the_next_instruction() {
        let mut code = Assembler::default();
        code.jump_value(If::Equal, R1, 7, "end").op_value(Op::Move, R0, 1).label("end").exit();
        let code = code.finish();
        assert_eq!(code[0], Instruction { code: 0x15, registers: 1, offset: 1, immediate: 7 });
        assert_eq!(code[1], Instruction { code: 0xb7, registers: 0, offset: 0, immediate: 1 });
        assert_eq!(code[2], Instruction { code: 0x95, registers: 0, offset: 0, immediate: 0 });
    }

    #[test]
    fn loads_stores_and_calls_are_as_the_standard_has_them() {
        let mut code = Assembler::default();
        code.load(Size::Word, R2, R1, 16).store(Size::Double, R10, -8, R3).call(51).add_to_memory(R9, 64, R4);
        let codes: Vec<_> = code.finish().iter().map(|one| (one.code, one.registers, one.offset)).collect();
        assert_eq!(codes, [(0x61, 0x12, 16), (0x7b, 0x3a, -8), (0x85, 0, 0), (0xdb, 0x49, 64)]);
    }
}
