//! Instructions of classic BPF (Documentation/networking/filter.rst).

use libc::sock_filter;

use super::labels::Labels;

/// Field of an instruction that is the distance of a jump.
#[derive(Debug, Clone, Copy)]
enum Distance {
    /// `jt`: the condition holds.
    True,
    /// `jf`: it does not.
    False,
    /// `k`, of a jump without condition.
    Always,
}

/// A program being assembled.
#[derive(Default)]
pub struct Assembler {
    code: Vec<sock_filter>,
    labels: Labels<Distance>,
}

impl Assembler {
    /// An instruction that does not jump, `BPF_…`.
    pub fn op(&mut self, code: u32, k: u32) -> &mut Self {
        self.code.push(sock_filter { code: code as u16, jt: 0, jf: 0, k });
        self
    }

    /// `if (A … k) goto yes; else goto no`. `None` is the next instruction; a label may be up to 255 instructions on.
    pub fn jump(
        &mut self,
        when: u32,
        k: u32,
        yes: Option<&'static str>,
        no: Option<&'static str>,
    ) -> &mut Self {
        let at = self.code.len();
        for (label, distance) in [(yes, Distance::True), (no, Distance::False)] {
            if let Some(label) = label {
                self.labels.jump(at, label, distance);
            }
        }
        self.op(libc::BPF_JMP | when | libc::BPF_K, k)
    }

    /// `goto label`
    pub fn go_to(&mut self, label: &'static str) -> &mut Self {
        self.labels.jump(self.code.len(), label, Distance::Always);
        self.op(libc::BPF_JMP | libc::BPF_JA, 0)
    }

    /// A place to jump to.
    pub fn label(&mut self, label: &'static str) -> &mut Self {
        self.labels.define(label, self.code.len());
        self
    }

    /// The program.
    pub fn finish(mut self) -> Vec<sock_filter> {
        for (at, which, distance) in self.labels.resolve() {
            let Some(instruction) = self.code.get_mut(at) else { continue };
            match which {
                Distance::True => instruction.jt = distance as u8,
                Distance::False => instruction.jf = distance as u8,
                Distance::Always => instruction.k = distance as u32,
            }
        }
        self.code
    }
}
