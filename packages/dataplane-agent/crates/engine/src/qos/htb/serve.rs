//! Which class lends, and which classes are charged.

use super::ClassMode;
use super::node::{BURSTS, Core};
use super::ring::NIL;
use super::shared::Ledger;
use crate::qos::token_bucket::bits_of;
use crate::time::Now;

/// The result of offering a packet to a leaf in which none waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// Charged and counted.
    Open,
    /// An ancestor is red, or none up to the root is green.
    NoTokens,
    /// The leaf is above its limit, or other packets come first.
    Closed,
}

impl Core {
    /// Charges and counts a packet of a leaf in which nothing waits, if it may go at once.
    pub fn pass(&mut self, slot: u32, segments: u32, bytes: u64, ledger: &mut Ledger, now: Now) -> Passage {
        let Some(node) = self.node(slot) else { return Passage::Open };
        let (mut at, priority, tree) = (slot, usize::from(node.priority), node.tree);
        let lender = loop {
            match self.update_mode(at, ledger, now) {
                ClassMode::Green => break self.node(at).map_or(0, |node| node.level),
                ClassMode::Red if at == slot => return Passage::Closed,
                ClassMode::Red => return Passage::NoTokens,
                ClassMode::Yellow => at = self.parent(at),
            }
            if at == NIL {
                return Passage::NoTokens;
            }
        };
        let Some(tree) = self.trees.get(tree as usize) else { return Passage::Closed };
        // A leaf that sends with its own tokens competes with others only for the port.
        let first = (u64::from(lender) * 8 + priority as u64).min(63);
        if (lender != 0 || tree.interface.is_some()) && tree.mask & (u64::MAX >> (63 - first)) != 0 {
            return Passage::Closed;
        }
        self.charge(slot, lender, segments, bytes, ledger, now);
        Passage::Open
    }

    /// Charges and counts bytes that a leaf has sent. The class of level `lender` and those above it are charged for
    /// their `limit-at` tokens too.
    pub fn charge(
        &mut self,
        leaf: u32,
        lender: u8,
        segments: u32,
        bytes: u64,
        ledger: &mut Ledger,
        now: Now,
    ) {
        let bits = bits_of(bytes);
        let mut slot = leaf;
        while slot != NIL {
            self.meter(slot, now);
            let Some(node) = self.nodes.get_mut(slot as usize) else { return };
            let waiting = node.live != 0;
            node.bytes = node.bytes.wrapping_add(bytes);
            node.packets = node.packets.wrapping_add(u64::from(segments));
            if node.level < lender {
                node.borrows = node.borrows.wrapping_add(u64::from(segments));
            }
            let own = node.level >= lender;
            if node.is_leaf() {
                node.class_tokens.fill(now, waiting);
                node.class_tokens.charge(bits, own);
                if node.flags & BURSTS != 0
                    && let Some(burst) = self.cold.get_mut(slot as usize).and_then(|cold| cold.burst.as_mut())
                {
                    burst.count(bytes);
                }
            } else {
                self.charge_inner(slot, lender, segments, bits, ledger, now);
            }
            if waiting {
                self.refresh(slot, ledger, now);
            }
            slot = self.parent(slot);
        }
    }

    fn charge_inner(
        &mut self,
        slot: u32,
        lender: u8,
        segments: u32,
        bits: i64,
        ledger: &mut Ledger,
        now: Now,
    ) {
        let Some(node) = self.nodes.get_mut(slot as usize) else { return };
        let Some(inner) = self.inners.get_mut(node.inner as usize) else { return };
        let level = node.level;
        if level == lender {
            inner.lends = inner.lends.wrapping_add(u64::from(segments));
        }
        match ledger {
            Ledger::Sole(shared) => {
                if let Some(class) = shared.classes.get_mut(node.shared_index as usize) {
                    class.fill(now, node.live != 0);
                    class.charge(bits, level >= lender);
                }
                return;
            }
            Ledger::Leased if level > lender => {
                inner.overdrawn = inner.overdrawn.map(|overdrawn| overdrawn.saturating_add(bits));
            }
            Ledger::Leased => {
                node.class_tokens.charge(bits, level == lender);
                inner.spent[1] = inner.spent[1].saturating_add(bits);
                if level == lender {
                    inner.spent[0] = inner.spent[0].saturating_add(bits);
                }
            }
        }
        self.list(slot);
    }

    /// Bytes that a leaf may send at once: the rest of its turn, or of the tokens of the leaf and its ancestors if that
    /// is less.
    pub fn allowance(&self, leaf: u32, lender: u8, ledger: &Ledger) -> u64 {
        let deficits = self.cold.get(leaf as usize).map(|cold| &cold.deficits);
        let deficit = deficits.and_then(|deficits| deficits.get(usize::from(lender)));
        let bits = deficit.map_or(0, |deficit| i64::from(*deficit) * 8);
        u64::try_from(self.headroom(leaf, lender, ledger).min(bits) / 8).unwrap_or(0)
    }

    /// Bits that a leaf may send before it or one of its ancestors changes its colour, if no other leaf sends.
    pub fn tokens(&mut self, leaf: u32, ledger: &mut Ledger, now: Now) -> i64 {
        let mut at = leaf;
        while at != NIL {
            match self.update_mode(at, ledger, now) {
                ClassMode::Green => {
                    let lender = self.node(at).map_or(0, |node| node.level);
                    return self.headroom(leaf, lender, ledger);
                }
                ClassMode::Red => return 0,
                ClassMode::Yellow => at = self.parent(at),
            }
        }
        0
    }

    fn headroom(&self, leaf: u32, lender: u8, ledger: &Ledger) -> i64 {
        let mut bits = i64::MAX;
        for slot in self.with_ancestors(leaf) {
            let Some(node) = self.node(slot).filter(|node| node.level <= lender) else { break };
            let class_tokens = match ledger {
                Ledger::Sole(shared) if !node.is_leaf() => {
                    let Some(class) = shared.classes.get(node.shared_index as usize) else { break };
                    &class.class_tokens
                }
                _ => &node.class_tokens,
            };
            bits = bits.min(class_tokens.headroom(node.level == lender));
        }
        bits
    }

    /// The leaf whose turn it is, and the level of the class that lends.
    pub fn choose(&mut self, tree: u32) -> Option<(u32, u8)> {
        loop {
            let (slot, lender, is_new) = self.first(tree)?;
            let node = self.node(slot)?;
            let (quantum, priority) = (node.quantum, usize::from(node.priority));
            let deficit = self.cold.get_mut(slot as usize)?.deficits.get_mut(usize::from(lender))?;
            if is_new {
                *deficit = (*deficit).min(0).saturating_add_unsigned(quantum);
            }
            if *deficit > 0 {
                return Some((slot, lender));
            }
            // The leaf has sent more than a quantum beyond its last turn: it skips this one.
            self.end_turn(slot, usize::from(lender), priority);
        }
    }

    /// Subtracts the bytes that a leaf has sent from its turn.
    pub fn take_turn(&mut self, slot: u32, lender: u8, bytes: u64) {
        let (Some(node), Some(cold)) = (self.nodes.get(slot as usize), self.cold.get_mut(slot as usize))
        else {
            return;
        };
        let priority = usize::from(node.priority);
        let Some(deficit) = cold.deficits.get_mut(usize::from(lender)) else { return };
        *deficit = deficit.saturating_sub(i32::try_from(bytes).unwrap_or(i32::MAX));
        if *deficit <= 0 {
            self.end_turn(slot, usize::from(lender), priority);
        }
    }
}
