//! Gateways that are probed because a route says so (`check-gateway`): which are to be probed, and which are down.
//!
//! A gateway is probed every 10 s. It is down after two probes without an answer, and up again with the first answer.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use tollway_config::dataplane::{GatewayCheck, RowId};

use crate::packet::tuple::Addr;
use crate::time::Now;

/// Time between two probes of a gateway, ns.
pub const INTERVAL: u64 = 10_000_000_000;
/// Time after which a probe is tried again that could not be sent as the next hop was not known yet, ns.
const RETRY: u64 = 1_000_000_000;
/// Probes without an answer after which a gateway is down.
const FAILURES: u8 = 2;

/// A gateway that is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GatewayKey {
    /// Row of the table in which the way to it is looked up; 0 for the main table.
    pub table: RowId,
    /// Its address.
    pub address: Addr,
    /// How it is probed.
    pub check: GatewayCheck,
}

/// A gateway and the way to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GatewayProbe {
    /// The gateway.
    pub key: GatewayKey,
    /// Row of the interface that probes leave by.
    pub interface: RowId,
    /// The neighbour that probes are sent to: the gateway, or one that leads to it.
    pub next_hop: Addr,
    /// Source of probes; unspecified without one.
    pub source: Addr,
}

#[derive(Debug, Clone, Copy)]
struct Checked {
    probe: GatewayProbe,
    /// Number of the present probe.
    sequence: u16,
    sent: bool,
    answered: bool,
    failures: u8,
    down: bool,
    /// When the present probe has failed if there is no answer, ns.
    ends: u64,
    /// When there is something to do, ns.
    due: u64,
}

#[derive(Debug, Default)]
struct State {
    gateways: Vec<Checked>,
    /// Gateways that have gone down (`true`) or come up.
    changes: Vec<(GatewayKey, bool)>,
}

/// The gateways that are probed.
#[derive(Debug)]
pub struct GatewayChecks {
    state: Mutex<State>,
    any: AtomicBool,
    changed: AtomicBool,
    next_due: AtomicU64,
}

impl Default for GatewayChecks {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            any: AtomicBool::new(false),
            changed: AtomicBool::new(false),
            next_due: AtomicU64::new(u64::MAX),
        }
    }
}

impl GatewayChecks {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any gateway is probed.
    #[inline]
    pub fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// When [`Self::age`] wants to run next, ns; `u64::MAX` never.
    pub fn next_due(&self) -> u64 {
        self.next_due.load(Ordering::Relaxed)
    }

    /// Probes these gateways from now on. Those that were probed before keep their state; others are up at first.
    pub fn follow(&self, probes: &[GatewayProbe]) {
        let mut state = self.lock();
        let mut seen = HashSet::new();
        let wanted = probes.iter().filter(|probe| seen.insert(probe.key));
        let gateways = wanted.map(|probe| {
            let known = state.gateways.iter().find(|known| known.probe.key == probe.key);
            match known {
                Some(known) => Checked { probe: *probe, ..*known },
                None => Checked {
                    probe: *probe,
                    sequence: 0,
                    sent: true,
                    answered: true,
                    failures: 0,
                    down: false,
                    ends: 0,
                    due: 0,
                },
            }
        });
        state.gateways = gateways.collect();
        self.any.store(!state.gateways.is_empty(), Ordering::Relaxed);
        self.publish_due(&state);
    }

    fn publish_due(&self, state: &State) {
        let due = state.gateways.iter().map(|gateway| gateway.due).min().unwrap_or(u64::MAX);
        self.next_due.store(due, Ordering::Relaxed);
    }

    /// Sends the probes that are due, by a function that gets their number and returns whether it was possible; it is
    /// asked again a second later otherwise. Gateways that have not answered two probes are down.
    pub fn age(&self, now: Now, mut send: impl FnMut(&GatewayProbe, u16) -> bool) {
        if now.0 < self.next_due() {
            return;
        }
        let mut state = self.lock();
        let State { gateways, changes } = &mut *state;
        for gateway in gateways {
            if now.0 < gateway.due {
                continue;
            }
            if now.0 >= gateway.ends {
                if !gateway.answered {
                    gateway.failures = gateway.failures.saturating_add(1);
                    if gateway.failures >= FAILURES && !gateway.down {
                        gateway.down = true;
                        changes.push((gateway.probe.key, true));
                        self.changed.store(true, Ordering::Release);
                    }
                }
                gateway.sequence = gateway.sequence.wrapping_add(1);
                (gateway.sent, gateway.answered) = (false, false);
                gateway.ends = now.0.saturating_add(INTERVAL);
            }
            if !gateway.sent {
                gateway.sent = send(&gateway.probe, gateway.sequence);
            }
            let next = if gateway.sent { gateway.ends } else { now.0.saturating_add(RETRY) };
            gateway.due = next.min(gateway.ends);
        }
        self.publish_due(&state);
    }

    fn answer(&self, answers: impl Fn(&Checked) -> bool) -> bool {
        let mut state = self.lock();
        let State { gateways, changes } = &mut *state;
        let mut any = false;
        for gateway in gateways.iter_mut().filter(|gateway| answers(gateway)) {
            any = true;
            (gateway.answered, gateway.failures) = (true, 0);
            if std::mem::take(&mut gateway.down) {
                changes.push((gateway.probe.key, false));
                self.changed.store(true, Ordering::Release);
            }
        }
        any
    }

    /// Notes an echo reply with this number, to probes that have left by interfaces for whose rows `came_back` is true: the
    /// reply has come by the same zone. Returns whether a probe had asked for it.
    pub fn echo_answered(&self, source: Addr, sequence: u16, came_back: impl Fn(RowId) -> bool) -> bool {
        self.answer(|gateway| {
            gateway.probe.key.address == source
                && gateway.sequence == sequence
                && gateway.sent
                && gateway.probe.key.check == GatewayCheck::Ping
                && came_back(gateway.probe.interface)
        })
    }

    /// Notes an ARP reply or a solicited neighbour advertisement.
    pub fn neighbor_answered(&self, interface: RowId, address: Addr) {
        self.answer(|gateway| {
            gateway.probe.key.check == GatewayCheck::Arp
                && (gateway.probe.interface, gateway.probe.next_hop) == (interface, address)
        });
    }

    /// The gateways that are down.
    pub fn down(&self) -> HashSet<GatewayKey> {
        let state = self.lock();
        state.gateways.iter().filter(|gateway| gateway.down).map(|gateway| gateway.probe.key).collect()
    }

    /// The gateways that have gone down (`true`) or come up since the last call.
    pub fn take_changes(&self) -> Vec<(GatewayKey, bool)> {
        if !self.changed.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        std::mem::take(&mut self.lock().changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(last: u32) -> GatewayProbe {
        let address = Addr::v4(0x0a00_0000 | last);
        let key = GatewayKey { table: 0, address, check: GatewayCheck::Ping };
        GatewayProbe { key, interface: 1, next_hop: address, source: Addr::v4(0x0a00_0001) }
    }

    fn sent(checks: &GatewayChecks, ms: u64) -> Vec<(Addr, u16)> {
        let mut sent = Vec::new();
        checks.age(Now::from_ms(ms), |probe, sequence| {
            sent.push((probe.key.address, sequence));
            true
        });
        sent
    }

    #[test]
    fn a_gateway_is_down_after_two_probes_without_answer_and_up_with_the_next_answer() {
        let checks = GatewayChecks::default();
        checks.follow(&[probe(2), probe(3)]);
        let [two, three] = [2, 3].map(|last| probe(last).key.address);
        assert_eq!(sent(&checks, 1), [(two, 1), (three, 1)]);
        assert!(checks.echo_answered(two, 1, |row| row == 1));
        assert!(!checks.echo_answered(two, 9, |row| row == 1), "the answer to no probe");
        assert!(!checks.echo_answered(two, 1, |row| row != 1), "an answer from another zone");
        assert_eq!(sent(&checks, 5_000), []);
        assert_eq!(sent(&checks, 10_001), [(two, 2), (three, 2)]);
        assert_eq!(checks.take_changes(), []);
        assert!(checks.echo_answered(two, 2, |row| row == 1));
        sent(&checks, 20_001);
        assert_eq!(checks.take_changes(), [(probe(3).key, true)]);
        assert_eq!(checks.down(), HashSet::from([probe(3).key]));
        // Its state stays through a change of the configuration.
        checks.follow(&[probe(3)]);
        assert_eq!(checks.down(), HashSet::from([probe(3).key]));
        assert!(checks.echo_answered(three, 3, |row| row == 1));
        assert_eq!(checks.take_changes(), [(probe(3).key, false)]);
        assert!(checks.down().is_empty());
    }

    #[test]
    fn a_probe_that_cannot_be_sent_is_tried_each_second_and_fails_all_the_same() {
        let checks = GatewayChecks::default();
        checks.follow(&[probe(2)]);
        let mut tries = 0;
        for second in 0..=20 {
            checks.age(Now::from_ms(1 + second * 1_000), |_, _| {
                tries += 1;
                false
            });
        }
        assert_eq!(tries, 21);
        assert_eq!(checks.down(), HashSet::from([probe(2).key]));
    }
}
