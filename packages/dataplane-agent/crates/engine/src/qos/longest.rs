//! Which leaf has the longest queue, to a power of two, without looking at all of them.

use super::leaf::Backlog;

const CLASSES: usize = 33;
const NIL: u32 = u32::MAX;

/// Leaves by the power of two of their frames.
#[derive(Debug)]
pub struct Longest {
    heads: [u32; CLASSES],
    occupied: u64,
}

impl Default for Longest {
    fn default() -> Self {
        Self { heads: [NIL; CLASSES], occupied: 0 }
    }
}

/// 0 for an empty queue.
fn class(frames: u32) -> usize {
    (u32::BITS - frames.leading_zeros()) as usize
}

impl Longest {
    /// A leaf's queue had `before` frames and has `after` of them.
    pub fn update(&mut self, backlogs: &mut [Backlog], leaf: u32, before: u32, after: u32) {
        let (from, to) = (class(before), class(after));
        if from == to {
            return;
        }
        if from != 0 {
            self.unlink(backlogs, leaf, from);
        }
        if to != 0 {
            self.link(backlogs, leaf, to);
        }
    }

    /// A leaf of the longest ones.
    pub fn first(&self) -> Option<u32> {
        let class = (u64::BITS - 1).checked_sub(self.occupied.leading_zeros())?;
        self.heads.get(class as usize).copied()
    }

    /// Every leaf in which packets wait.
    pub fn all(&self, backlogs: &[Backlog]) -> Vec<u32> {
        let mut all = Vec::new();
        for &head in &self.heads {
            let mut leaf = head;
            while let Some(backlog) = backlogs.get(leaf as usize) {
                all.push(leaf);
                leaf = backlog.next;
            }
        }
        all
    }

    fn link(&mut self, backlogs: &mut [Backlog], leaf: u32, class: usize) {
        let Some(head) = self.heads.get_mut(class) else { return };
        let next = std::mem::replace(head, leaf);
        self.occupied |= 1 << class;
        if let Some(backlog) = backlogs.get_mut(leaf as usize) {
            (backlog.previous, backlog.next) = (NIL, next);
        }
        if let Some(next) = backlogs.get_mut(next as usize) {
            next.previous = leaf;
        }
    }

    fn unlink(&mut self, backlogs: &mut [Backlog], leaf: u32, class: usize) {
        let Some(backlog) = backlogs.get(leaf as usize) else { return };
        let (previous, next) = (backlog.previous, backlog.next);
        if let Some(next) = backlogs.get_mut(next as usize) {
            next.previous = previous;
        }
        if let Some(previous) = backlogs.get_mut(previous as usize) {
            previous.next = next;
        } else if let Some(head) = self.heads.get_mut(class) {
            *head = next;
            if next == NIL {
                self.occupied &= !(1 << class);
            }
        }
    }
}
