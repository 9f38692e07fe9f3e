//! Counters in the form of the protocol.

use std::collections::BTreeMap;

use tollway_config::dataplane::{DataplaneConfig, Interface, InterfaceKind};
use tollway_config::protocol::{
    CoreStats, FastPathStats, InterfaceStats, ProfileClass, Stats, TrackingStats, WorkerStats,
};
use tollway_engine::engine::fast_path_handlers::handlers;
use tollway_engine::engine::stats::EngineStats;
use tollway_engine::packet::slow_reason::slow_stats;
use tollway_engine::snapshot::Snapshot;

use crate::commands::WorkerReport;
use crate::core_time::{ClassTicks, class_names};
use crate::counters::WorkerDrops;
use crate::interface_rates::Rates;
use crate::link_counters::LinkCounters;
use crate::ports::{Ports, mac_text};
use crate::profile::ProfileReport;

/// Adds up the engines' counters.
pub fn sum(reports: &[WorkerReport]) -> EngineStats {
    let mut total = EngineStats::default();
    for report in reports {
        total.add(&report.engine);
    }
    total
}

/// Input of [`stats`] apart from the workers' reports.
#[derive(Debug)]
pub struct StatsInput<'a> {
    /// Monotonic time, ns.
    pub now_ns: u64,
    /// When the agent started, ns.
    pub started_ns: u64,
    /// Active revision.
    pub revision: u64,
    /// Digest of the active configuration.
    pub digest: &'a str,
    /// Active configuration.
    pub config: &'a DataplaneConfig,
    /// Tables of the active configuration.
    pub snapshot: &'a Snapshot,
    /// Ports.
    pub ports: &'a Ports,
    /// Counters of VLANs.
    pub links: &'a LinkCounters,
    /// Rates.
    pub rates: &'a Rates,
}

/// Statistics of everything at one time.
pub fn stats(input: &StatsInput<'_>, reports: &[WorkerReport]) -> Stats {
    let total = sum(reports);
    let mut drops = total.drop_stats();
    let mut own = WorkerDrops::default();
    for report in reports {
        own.merge(&report.drops);
    }
    drops.extend(own.stats());
    let most =
        |of: fn(&EngineStats) -> u64| reports.iter().map(|report| of(&report.engine)).max().unwrap_or(0);
    Stats {
        now_ns: input.now_ns,
        uptime_ns: input.now_ns.saturating_sub(input.started_ns),
        revision: input.revision,
        digest: input.digest.to_owned(),
        interfaces: interfaces(input),
        rules: total.rule_stats(),
        drops,
        fast_path: FastPathStats {
            fast_path_active: total.fast_path_active,
            fast_path_packets: total.flow_cache_forwarded.packets,
            fast_path_bytes: total.flow_cache_forwarded.bytes,
            fasttrack_active: total.fasttrack_active,
            fasttrack_packets: total.fasttrack.packets,
            fasttrack_bytes: total.fasttrack.bytes,
            handlers: handlers(input.snapshot, &total),
        },
        slow: slow_stats(&total.slow),
        tracking: TrackingStats {
            active: total.tracking_active,
            ip4_entries: total.connections_ip4,
            ip6_entries: total.connections_ip6,
            fasttracked_entries: total.connections_fasttracked,
            ip6_fasttracked_entries: total.connections_fasttracked_ip6,
            max_entries: total.max_connections,
            worker_entries: most(|engine| engine.connections_ip4 + engine.connections_ip6),
            worker_max_entries: most(|engine| engine.max_connections),
        },
        queues: total.queues,
        cores: cores(reports.iter().map(|report| &report.profile)),
        workers: reports.iter().map(worker).collect(),
    }
}

fn worker(report: &WorkerReport) -> WorkerStats {
    WorkerStats {
        tsc_hz: report.profile.tsc_hz,
        cycles: report.profile.ticks,
        stages: report.engine.stage_stats(),
        thread_cpu_ns: report.profile.thread_cpu_ns,
        handover_packets: report.engine.handover_packets,
        out_of_order_packets: report.engine.out_of_order,
        connections: report.engine.connections_ip4 + report.engine.connections_ip6,
    }
}

/// Adds up what the workers did on each core.
fn cores<'a>(reports: impl Iterator<Item = &'a ProfileReport>) -> Vec<CoreStats> {
    let mut cycles = 0;
    let mut sums = BTreeMap::<u32, ClassTicks>::new();
    for report in reports {
        // The workers started together.
        cycles = cycles.max(report.ticks);
        for core in &report.cores {
            let sum = sums.entry(core.cpu).or_default();
            for (sum, ticks) in sum.iter_mut().zip(&core.busy) {
                *sum += ticks;
            }
        }
    }
    let core = |(cpu, busy): (u32, ClassTicks)| CoreStats {
        cpu,
        cycles,
        idle_cycles: cycles.saturating_sub(busy.iter().sum()),
        classes: class_names()
            .zip(busy)
            .map(|(name, cycles)| ProfileClass { name: name.to_owned(), cycles })
            .collect(),
    };
    sums.into_iter().map(core).collect()
}

fn interfaces(input: &StatsInput<'_>) -> Vec<InterfaceStats> {
    let ports = input.ports;
    let mut interfaces = Vec::with_capacity(ports.states.len());
    for (index, port) in ports.states.iter().enumerate() {
        let row = input.config.interfaces.iter().find(|row| row.kind.port() == Some(&port.name));
        let totals = ports.totals(index);
        let [rx_errors, tx_errors] = port.errors_since_reset();
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
            rx_errors,
            tx_errors,
            fp_rx_bytes: totals.fp_rx_bytes,
            fp_rx_packets: totals.fp_rx_packets,
            fp_tx_bytes: totals.fp_tx_bytes,
            fp_tx_packets: totals.fp_tx_packets,
            own_tx_bytes: totals.own_tx_bytes,
            own_tx_packets: totals.own_tx_packets,
            rates: input.rates.of(index),
        });
    }
    for row in &input.config.interfaces {
        let InterfaceKind::Ethernet { port, .. } = &row.kind else {
            interfaces.push(without_port(input, row));
            continue;
        };
        if !ports.states.iter().any(|state| state.name == *port) {
            interfaces.push(InterfaceStats {
                row: row.row,
                port: port.clone(),
                actual_mtu: row.mtu.into(),
                mac_address: row.mac_address.clone().unwrap_or_default(),
                ..InterfaceStats::default()
            });
        }
    }
    interfaces
}

/// Statistics of an interface above a port, whose link is as its port's, or of a loopback interface.
fn without_port(input: &StatsInput<'_>, row: &Interface) -> InterfaceStats {
    let Some(interface) = input.snapshot.interface_of(row.row) else {
        return InterfaceStats { row: row.row, ..InterfaceStats::default() };
    };
    let totals = input.links.totals(row.row);
    let above = interface.port.and_then(|link| input.snapshot.encapsulations().get(link));
    let port = above.and_then(|above| input.ports.states.get(usize::from(above.port)));
    InterfaceStats {
        row: row.row,
        running: interface.up,
        present: port.is_some_and(|port| port.link.is_some()),
        actual_mtu: interface.mtu.into(),
        mac_address: mac_text(interface.mac),
        rx_bytes: totals.rx_bytes,
        rx_packets: totals.rx_packets,
        tx_bytes: totals.tx_bytes,
        tx_packets: totals.tx_packets,
        fp_rx_bytes: totals.fp_rx_bytes,
        fp_rx_packets: totals.fp_rx_packets,
        fp_tx_bytes: totals.fp_tx_bytes,
        fp_tx_packets: totals.fp_tx_packets,
        own_tx_bytes: totals.own_tx_bytes,
        own_tx_packets: totals.own_tx_packets,
        rates: input.rates.of_link(row.row),
        ..InterfaceStats::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core_time::CoreTime;

    #[test]
    fn a_core_s_time_is_that_of_all_workers_on_it() {
        let report = |ticks, cores: &[(u32, ClassTicks)]| ProfileReport {
            tsc_hz: 1000,
            ticks,
            cores: cores.iter().map(|&(cpu, busy)| CoreTime { cpu, busy }).collect(),
            thread_cpu_ns: 0,
        };
        let reports = [
            report(990, &[(0, [100, 10, 0, 40, 0, 0]), (3, [0; 6])]),
            report(1000, &[(0, [5, 0, 1, 0, 0, 0]), (3, [0, 0, 0, 0, 0, 7]), (1, [0, 0, 0, 0, 2, 0])]),
        ];
        let cores = cores(reports.iter());
        let shape: Vec<_> = cores.iter().map(|core| (core.cpu, core.cycles, core.idle_cycles)).collect();
        assert_eq!(shape, [(0, 1000, 844), (1, 1000, 998), (3, 1000, 993)]);
        let busy: Vec<_> = cores[0].classes.iter().map(|class| (class.name.as_str(), class.cycles)).collect();
        let classes = ["networking", "firewall", "queuing", "ethernet", "management", "unclassified"];
        assert_eq!(busy, classes.into_iter().zip([105, 10, 1, 40, 0, 0]).collect::<Vec<_>>());
    }
}
