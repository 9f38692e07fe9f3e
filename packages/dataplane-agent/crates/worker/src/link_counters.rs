//! Counters of the interfaces above ports: VLANs.

use std::collections::BTreeMap;
use std::sync::Arc;

use tollway_config::dataplane::RowId;
use tollway_engine::engine::Engine;
use tollway_engine::ids::LinkId;
use tollway_engine::packet::count::Count;
use tollway_engine::packet::frame::Frame;
use tollway_engine::snapshot::Snapshot;
use tollway_engine::time::Now;
use tollway_wire::ethernet;

use crate::counters::{PortCounters, PortTotals};

/// One worker's counters of links above ports: by number, less the number of ports.
pub type WorkerLinks = Vec<Option<Arc<PortCounters>>>;

/// An interface.
#[derive(Debug)]
struct Link {
    /// By worker.
    counters: Vec<Arc<PortCounters>>,
    /// Counters at the last reset, which are subtracted.
    baseline: PortTotals,
}

/// The counters by interface row.
#[derive(Debug, Default)]
pub struct LinkCounters(BTreeMap<RowId, Link>);

impl LinkCounters {
    /// Counters for the interfaces of a snapshot. Those of rows that it does not have are forgotten.
    pub fn follow(&mut self, snapshot: &Snapshot, workers: usize) {
        let rows: Vec<RowId> = links(snapshot).map(|(_, row)| row).collect();
        self.0.retain(|row, _| rows.contains(row));
        for row in rows {
            self.0.entry(row).or_insert_with(|| Link {
                counters: (0..workers).map(|_| Arc::default()).collect(),
                baseline: PortTotals::default(),
            });
        }
    }

    /// A worker's counters, for a snapshot that they follow.
    pub fn of_worker(&self, snapshot: &Snapshot, worker: usize) -> WorkerLinks {
        let mut all = Vec::new();
        for (link, row) in links(snapshot) {
            let at = usize::from(link - snapshot.encapsulations().ports());
            if all.len() <= at {
                all.resize(at + 1, None);
            }
            let counters = self.0.get(&row).and_then(|link| link.counters.get(worker));
            if let Some(place) = all.get_mut(at) {
                *place = counters.map(Arc::clone);
            }
        }
        all
    }

    /// Rows of the interfaces.
    pub fn rows(&self) -> impl Iterator<Item = RowId> {
        self.0.keys().copied()
    }

    /// Counters of an interface, over all workers, since it was added.
    pub fn all_time(&self, row: RowId) -> PortTotals {
        let mut totals = PortTotals::default();
        for counters in self.0.get(&row).map(|link| link.counters.as_slice()).unwrap_or_default() {
            counters.add_to(&mut totals);
        }
        totals
    }

    /// Counters of an interface, over all workers, since they were reset.
    pub fn totals(&self, row: RowId) -> PortTotals {
        let totals = self.all_time(row);
        self.0.get(&row).map_or(totals, |link| totals.since(&link.baseline))
    }

    /// Sets an interface's counters to zero. Returns whether it has any.
    pub fn reset(&mut self, row: RowId) -> bool {
        let totals = self.all_time(row);
        self.0.get_mut(&row).map(|link| link.baseline = totals).is_some()
    }
}

/// Links above ports, and the rows of their interfaces.
fn links(snapshot: &Snapshot) -> impl Iterator<Item = (LinkId, RowId)> {
    let row = |link| Some(snapshot.interface(snapshot.port(link)?.interface)?.row);
    snapshot.encapsulations().iter().filter_map(move |(link, _)| Some((link, row(link)?)))
}

/// What a worker's engine has counted as frames came in, by link: it is copied a hundred times a second, and whenever a
/// worker goes to sleep or is asked.
#[derive(Debug, Default)]
pub struct LinksReceived {
    /// Packets of links above that took the fast path, by link.
    fast_above: Vec<Count>,
    /// When they were copied last.
    copied: Now,
}

impl LinksReceived {
    /// Time between two copies, ns.
    const INTERVAL: u64 = 10_000_000;

    /// Whether it is time to copy again.
    pub fn is_due(&self, now: Now) -> bool {
        now.0.saturating_sub(self.copied.0) >= Self::INTERVAL
    }

    /// Copies the counts into the worker's counters of links above ports.
    pub fn copy<F: Frame>(&mut self, links: &[Option<Arc<PortCounters>>], engine: &Engine<F>, now: Now) {
        self.copied = now;
        let (above, received) = (engine.encapsulations(), engine.vlan_rx());
        self.fast_above.clear();
        self.fast_above.resize(engine.fp_rx().len(), Count::default());
        for (link, encapsulation) in above.iter() {
            let Some(mut fast) = engine.fp_rx().get(usize::from(link)).copied() else { continue };
            let mut at = Some(encapsulation);
            while let Some(encapsulation) = at {
                fast.bytes = fast.bytes.wrapping_add(fast.packets.wrapping_mul(ethernet::TAG as u64));
                if let Some(below) = self.fast_above.get_mut(usize::from(encapsulation.lower)) {
                    below.add(fast);
                }
                at = above.get(encapsulation.lower);
            }
        }
        for (counters, link) in links.iter().zip(usize::from(above.ports())..) {
            let (Some(counters), Some(received)) = (counters, received.get(link)) else { continue };
            let fast = self.fast(link, engine.fp_rx().get(link).copied().unwrap_or_default());
            counters.rx_packets.set(received.packets);
            counters.rx_bytes.set(received.bytes);
            counters.fp_rx_packets.set(fast.packets);
            counters.fp_rx_bytes.set(fast.bytes);
        }
    }

    /// Packets that a link received and that took the fast path: `own` are those of the link itself. Those of links above
    /// are as they were copied last.
    #[inline]
    pub fn fast(&self, link: usize, mut own: Count) -> Count {
        own.add(self.fast_above.get(link).copied().unwrap_or_default());
        own
    }
}

#[cfg(test)]
mod tests {
    use tollway_testkit::RouterConfig;
    use tollway_testkit::router::port_facts;

    use super::*;

    #[test]
    fn counters_stay_with_their_rows_and_are_reset_one_by_one() {
        // Rows 2 and 3 are VLANs, row 4 one on the other.
        let config = RouterConfig::new().interface("").vlan(1, 10, "").vlan(1, 20, "").vlan(2, 30, "").config;
        let snapshot = Snapshot::build(&config, &port_facts(2), 2, 1).unwrap();
        let mut links = LinkCounters::default();
        links.follow(&snapshot, 2);
        assert_eq!(links.rows().collect::<Vec<_>>(), [2, 3, 4]);
        for worker in 0..2 {
            for (place, counters) in links.of_worker(&snapshot, worker).into_iter().enumerate() {
                counters.unwrap().rx_packets.add(10 * (place as u64 + 1));
            }
        }
        let received = |links: &LinkCounters| [2, 3, 4].map(|row| links.totals(row).rx_packets);
        assert_eq!(received(&links), [20, 40, 60]);
        assert!(links.reset(3) && !links.reset(1));
        assert_eq!((received(&links), links.all_time(3).rx_packets), ([20, 0, 60], 40));
        // The first VLAN is another row now; the others have what they had, at the same places.
        let mut other = config.clone();
        other.interfaces.reverse();
        other.interfaces[2].row = 9;
        other.interfaces.retain(|interface| interface.row != 4);
        let after = Snapshot::build_after(&snapshot, &other, &port_facts(2), 2).unwrap();
        links.follow(&after, 2);
        assert_eq!(links.rows().collect::<Vec<_>>(), [3, 9]);
        assert_eq!((links.totals(9).rx_packets, links.all_time(3).rx_packets), (0, 40));
        let places: Vec<bool> = links.of_worker(&after, 0).iter().map(Option::is_some).collect();
        assert_eq!(places, [false, true, false, true]);
    }
}
