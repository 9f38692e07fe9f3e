//! Counters and rates in the form of the protocol.

use tollway_config::dataplane::{DataplaneConfig, Interface};
use tollway_config::protocol::{
    FastPathStats, InterfaceRates, InterfaceStats, Stats, TrackingStats, WorkerStats,
};
use tollway_engine::stats::EngineStats;

use crate::counters::{PortTotals, WorkerDrops};
use crate::exchange::WorkerReport;
use crate::ports::{Ports, mac_text};

/// Rates over the last full second, sampled once a second.
#[derive(Debug, Default)]
pub struct Rates {
    sampled_ns: u64,
    /// Counters at the last sample; those of the fast path only when they were known then.
    last: Vec<(PortTotals, Option<(u64, u64)>)>,
    rates: Vec<InterfaceRates>,
}

impl Rates {
    /// When the next sample is due, ns.
    pub fn due_ns(&self) -> u64 {
        self.sampled_ns + 1_000_000_000
    }

    /// Takes a sample. `fp_rx` are packets and L2 bytes received on the fast path, by port, if known now.
    pub fn sample(&mut self, now_ns: u64, ports: &Ports, fp_rx: Option<&[(u64, u64)]>) {
        let span = now_ns.saturating_sub(self.sampled_ns).max(1);
        let first = self.sampled_ns == 0;
        self.sampled_ns = now_ns;
        let count = ports.states.len();
        self.last.resize(count, Default::default());
        self.rates.resize(count, InterfaceRates::default());
        for (index, (last, rates)) in self.last.iter_mut().zip(&mut self.rates).enumerate() {
            // Counters that are reset meanwhile do not stop the rate.
            let totals = ports.all_time(index);
            let fast = fp_rx.map(|fp_rx| fp_rx.get(index).copied().unwrap_or_default());
            // Only two samples in a row give a rate: what came between samples that are further apart would be
            // shown as one second's.
            let (fast_packets, fast_bytes) = match (last.1, fast) {
                (Some(before), Some(now)) => (now.0.saturating_sub(before.0), now.1.saturating_sub(before.1)),
                _ => (0, 0),
            };
            let delta = totals.since(&last.0);
            let rate = |amount: u64| (u128::from(amount) * 1_000_000_000 / u128::from(span)) as u64;
            *rates = if first {
                InterfaceRates::default()
            } else {
                InterfaceRates {
                    rx_bps: rate(delta.rx_bytes * 8),
                    tx_bps: rate(delta.tx_bytes * 8),
                    rx_pps: rate(delta.rx_packets),
                    tx_pps: rate(delta.tx_packets),
                    fp_rx_bps: rate(fast_bytes * 8),
                    fp_tx_bps: rate(delta.fp_tx_bytes * 8),
                    fp_rx_pps: rate(fast_packets),
                    fp_tx_pps: rate(delta.fp_tx_packets),
                }
            };
            *last = (totals, fast);
        }
    }

    fn of(&self, port: usize) -> InterfaceRates {
        self.rates.get(port).cloned().unwrap_or_default()
    }
}

/// Fast-path receive counters by port: packets, L2 bytes.
pub fn fp_rx(engine: &EngineStats) -> Vec<(u64, u64)> {
    engine.fp_rx.iter().map(|count| (count.packets, count.bytes)).collect()
}

/// Adds up the engines' counters.
pub fn sum(reports: &[WorkerReport]) -> EngineStats {
    let mut total = EngineStats::default();
    for report in reports {
        total.add(&report.engine);
    }
    total
}

/// What [`stats`] is made from, beside the workers' reports.
#[derive(Debug)]
pub struct Around<'a> {
    /// Monotonic time, ns.
    pub now_ns: u64,
    /// When the agent started, ns.
    pub started_ns: u64,
    /// Active revision.
    pub revision: u64,
    /// Active configuration.
    pub config: &'a DataplaneConfig,
    /// Ports.
    pub ports: &'a Ports,
    /// Rates.
    pub rates: &'a Rates,
}

/// One snapshot of everything.
pub fn stats(around: &Around<'_>, reports: &[WorkerReport]) -> Stats {
    let total = sum(reports);
    let mut drops = total.drop_stats();
    let mut own = WorkerDrops::default();
    for report in reports {
        own.merge(&report.drops);
    }
    drops.extend(own.stats());
    Stats {
        now_ns: around.now_ns,
        uptime_ns: around.now_ns.saturating_sub(around.started_ns),
        revision: around.revision,
        interfaces: interfaces(around, &fp_rx(&total)),
        rules: total.rule_stats(),
        drops,
        fast_path: FastPathStats {
            fast_path_active: total.fast_path_active,
            fast_path_packets: total.fast_path.packets,
            fast_path_bytes: total.fast_path.bytes,
            fasttrack_active: total.fasttrack_active,
            fasttrack_packets: total.fasttrack.packets,
            fasttrack_bytes: total.fasttrack.bytes,
        },
        tracking: TrackingStats {
            active: total.tracking_active,
            ip4_entries: total.connections_ip4,
            ip6_entries: total.connections_ip6,
            fasttracked_entries: total.connections_fasttracked,
            max_entries: total.max_connections,
        },
        queues: total.queues,
        workers: reports.iter().map(worker).collect(),
    }
}

fn worker(report: &WorkerReport) -> WorkerStats {
    WorkerStats {
        cpu: report.cpu,
        tsc_hz: report.profile.tsc_hz,
        cycles: report.profile.cycles,
        idle_cycles: report.profile.idle_cycles,
        classes: report.profile.classes.clone(),
        stages: report.engine.stage_stats(),
        thread_cpu_ns: report.profile.thread_cpu_ns,
        handover_packets: report.engine.handover_packets,
        connections: report.engine.connections_ip4 + report.engine.connections_ip6,
    }
}

fn interfaces(around: &Around<'_>, fp_rx: &[(u64, u64)]) -> Vec<InterfaceStats> {
    let ports = around.ports;
    let mut interfaces = Vec::with_capacity(ports.states.len());
    for (index, port) in ports.states.iter().enumerate() {
        let row = around.config.interfaces.iter().find(|interface| interface.port == port.name);
        let totals = ports.totals(index);
        let fast = fp_rx.get(index).copied().unwrap_or_default();
        interfaces.push(InterfaceStats {
            row: row.map_or(0, |row| row.row),
            port: port.name.clone(),
            running: port.running() && row.is_some_and(|row| !row.disabled),
            present: port.link.is_some(),
            actual_mtu: row.map_or(port.link.as_ref().map_or(0, |link| link.mtu), |row| row.mtu.into()),
            mac_address: row.and_then(|row| row.mac_address.clone()).unwrap_or_else(|| mac_text(port.mac)),
            link_downs: port.link_downs,
            last_link_up_ms: port.last_up_ms,
            last_link_down_ms: port.last_down_ms,
            rx_bytes: totals.rx_bytes,
            rx_packets: totals.rx_packets,
            tx_bytes: totals.tx_bytes,
            tx_packets: totals.tx_packets,
            rx_drops: totals.rx_drops,
            tx_drops: totals.tx_drops,
            rx_errors: port.link.as_ref().map_or(0, |link| link.rx_errors),
            tx_errors: port.link.as_ref().map_or(0, |link| link.tx_errors),
            fp_rx_bytes: fast.1.saturating_sub(port.fp_rx_baseline.1),
            fp_rx_packets: fast.0.saturating_sub(port.fp_rx_baseline.0),
            fp_tx_bytes: totals.fp_tx_bytes,
            fp_tx_packets: totals.fp_tx_packets,
            rates: around.rates.of(index),
        });
    }
    let absent = |row: &&Interface| !ports.states.iter().any(|port| port.name == row.port);
    for row in around.config.interfaces.iter().filter(absent) {
        interfaces.push(InterfaceStats {
            row: row.row,
            port: row.port.clone(),
            actual_mtu: row.mtu.into(),
            mac_address: row.mac_address.clone().unwrap_or_default(),
            ..InterfaceStats::default()
        });
    }
    interfaces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_while_nobody_watched_is_no_rate() {
        let ports = Ports::memory(&[[2, 0, 0, 0, 0, 1]], 1);
        let mut rates = Rates::default();
        let second = 1_000_000_000;
        rates.sample(second, &ports, None);
        rates.sample(2 * second, &ports, Some(&[(1_000_000, 1_000_000_000)]));
        assert_eq!(rates.of(0).fp_rx_bps, 0);
        rates.sample(3 * second, &ports, Some(&[(1_000_010, 1_000_001_000)]));
        assert_eq!((rates.of(0).fp_rx_pps, rates.of(0).fp_rx_bps), (10, 8_000));
        rates.sample(4 * second, &ports, None);
        assert_eq!(rates.of(0).fp_rx_pps, 0);
        rates.sample(5 * second, &ports, Some(&[(9_000_000, 9_000_000_000)]));
        assert_eq!(rates.of(0).fp_rx_pps, 0);
    }
}
