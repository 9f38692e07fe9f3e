//! Rates of interfaces, from their counters.

use std::collections::BTreeMap;

use tollway_config::dataplane::RowId;
use tollway_config::protocol::InterfaceRates;

use crate::counters::PortTotals;
use crate::link_counters::LinkCounters;
use crate::ports::{PortState, Ports};

/// Rates over the last full second, sampled once a second.
#[derive(Debug, Default)]
pub struct Rates {
    sampled_ns: u64,
    /// Counters at the last sample.
    last: Vec<PortTotals>,
    /// Errors of the netdevs, received and sent, at the last sample.
    errors: Vec<[u64; 2]>,
    rates: Vec<InterfaceRates>,
    /// Counters at the last sample, and rates, of interfaces above ports.
    links: BTreeMap<RowId, (PortTotals, InterfaceRates)>,
}

impl Rates {
    /// When the next sample is due, ns.
    pub fn due_ns(&self) -> u64 {
        self.sampled_ns + 1_000_000_000
    }

    /// Takes a sample.
    pub fn sample(&mut self, now_ns: u64, ports: &Ports, links: &LinkCounters) {
        let span = now_ns.saturating_sub(self.sampled_ns).max(1);
        let first = self.sampled_ns == 0;
        self.sampled_ns = now_ns;
        let count = ports.states.len();
        self.last.resize(count, PortTotals::default());
        self.errors.resize(count, [0; 2]);
        self.rates.resize(count, InterfaceRates::default());
        let known = self.last.iter_mut().zip(&mut self.errors).zip(&mut self.rates);
        for (index, ((last, last_errors), rates)) in known.enumerate() {
            // While the netdev is gone its last counts stay.
            let errors = ports.states.get(index).and_then(PortState::errors).unwrap_or(*last_errors);
            let more = |side: usize| match (errors.get(side), last_errors.get(side)) {
                (Some(now), Some(before)) => now.saturating_sub(*before),
                _ => 0,
            };
            // A reset of the counters does not affect the rate.
            let totals = ports.all_time(index);
            *rates = match first {
                true => InterfaceRates::default(),
                false => rates_of(&totals.since(last), [more(0), more(1)], span),
            };
            (*last, *last_errors) = (totals, errors);
        }
        self.links.retain(|row, _| links.rows().any(|known| known == *row));
        for row in links.rows() {
            let totals = links.all_time(row);
            let rates = match self.links.get(&row) {
                Some((last, _)) => rates_of(&totals.since(last), [0; 2], span),
                None => InterfaceRates::default(),
            };
            self.links.insert(row, (totals, rates));
        }
    }

    /// Rates of an interface above a port.
    pub fn of_link(&self, row: RowId) -> InterfaceRates {
        self.links.get(&row).map(|(_, rates)| rates.clone()).unwrap_or_default()
    }

    /// Rates of a port.
    pub fn of(&self, port: usize) -> InterfaceRates {
        self.rates.get(port).cloned().unwrap_or_default()
    }
}

/// Rates by what was counted, and the errors, in a time in ns.
fn rates_of(delta: &PortTotals, errors: [u64; 2], span: u64) -> InterfaceRates {
    let rate = |amount: u64| (u128::from(amount) * 1_000_000_000 / u128::from(span)) as u64;
    let [rx_errors, tx_errors] = errors;
    InterfaceRates {
        rx_bps: rate(delta.rx_bytes * 8),
        tx_bps: rate(delta.tx_bytes * 8),
        rx_pps: rate(delta.rx_packets),
        tx_pps: rate(delta.tx_packets),
        fp_rx_bps: rate(delta.fp_rx_bytes * 8),
        fp_tx_bps: rate(delta.fp_tx_bytes * 8),
        fp_rx_pps: rate(delta.fp_rx_packets),
        fp_tx_pps: rate(delta.fp_tx_packets),
        own_tx_bps: rate(delta.own_tx_bytes * 8),
        own_tx_pps: rate(delta.own_tx_packets),
        rx_drops_per_second: rate(delta.rx_drops),
        tx_drops_per_second: rate(delta.tx_drops),
        rx_errors_per_second: rate(rx_errors),
        tx_errors_per_second: rate(tx_errors),
    }
}

#[cfg(test)]
mod tests {
    use tollway_io::link::Link;

    use super::*;

    #[test]
    fn every_rate_is_there_from_the_second_sample_on_and_outlives_a_reset() {
        let mut ports = Ports::memory(&[[2, 0, 0, 0, 0, 1]], 1);
        let mut rates = Rates::default();
        let second = 1_000_000_000;
        let count = |ports: &Ports| {
            for counters in ports.counters.iter().flatten() {
                counters.rx_packets.add(20);
                counters.fp_rx_packets.add(10);
                counters.fp_rx_bytes.add(1000);
                counters.fp_tx_packets.add(5);
                counters.own_tx_packets.add(4);
                counters.own_tx_bytes.add(400);
                counters.rx_drops.add(3);
                counters.tx_drops.add(2);
            }
        };
        count(&ports);
        rates.sample(second, &ports, &LinkCounters::default());
        assert_eq!(rates.of(0), InterfaceRates::default());
        for at in 2..4 {
            count(&ports);
            ports.reset(0);
            rates.sample(at * second, &ports, &LinkCounters::default());
            let rates = rates.of(0);
            let found = (rates.rx_pps, rates.fp_rx_pps, rates.fp_rx_bps, rates.fp_tx_pps);
            assert_eq!(found, (20, 10, 8000, 5));
            let own = (rates.own_tx_pps, rates.own_tx_bps);
            assert_eq!((own, rates.rx_drops_per_second, rates.tx_drops_per_second), ((4, 3200), 3, 2));
        }
    }

    #[test]
    fn errors_of_the_network_device_have_rates_while_it_counts_on() {
        let mut ports = Ports::memory(&[[2, 0, 0, 0, 0, 1]], 1);
        let mut rates = Rates::default();
        let (mut second, here) = (0, ports.states[0].link.clone().unwrap());
        let mut sampled = |errors: Option<(u64, u64)>| {
            ports.states[0].link =
                errors.map(|(rx_errors, tx_errors)| Link { rx_errors, tx_errors, ..here.clone() });
            second += 1;
            rates.sample(second * 1_000_000_000, &ports, &LinkCounters::default());
            (rates.of(0).rx_errors_per_second, rates.of(0).tx_errors_per_second)
        };
        assert_eq!(sampled(Some((100, 1000))), (0, 0), "what was before the first sample");
        assert_eq!(sampled(Some((105, 1007))), (5, 7));
        assert_eq!(sampled(Some((105, 1007))), (0, 0));
        // Gone, and back as it was: what it counted before is not new.
        assert_eq!(sampled(None), (0, 0));
        assert_eq!(sampled(None), (0, 0));
        assert_eq!(sampled(Some((107, 1010))), (2, 3));
        // Another device in its place, or a driver that was loaded anew, begins with 0.
        assert_eq!(sampled(Some((3, 1))), (0, 0));
        assert_eq!(sampled(Some((8, 3))), (5, 2));
    }
}
