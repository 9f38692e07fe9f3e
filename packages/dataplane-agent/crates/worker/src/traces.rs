//! Running traces: what workers record is collected periodically, and read by clients.

use std::sync::Arc;

use tollway_config::protocol::TraceFilter;
use tollway_engine::firewall::marks::MarkNames;
use tollway_engine::observe::trace::collect::TraceResult;
use tollway_engine::observe::trace::{Collector, TraceBuffer};
use tollway_io::clock::{self, wall_ms};

use crate::commands::{Answer, Command};
use crate::workers::{WorkerLost, Workers};

/// The traces, and spare buffers.
#[derive(Debug, Default)]
pub struct Traces {
    collector: Collector,
    spare: Vec<TraceBuffer>,
    /// Workers have filters.
    running: bool,
}

impl Traces {
    /// Begins a trace on every worker; `None` if the maximum number of traces is running.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn start(
        &mut self,
        filter: &TraceFilter,
        packets: u32,
        workers: &mut Workers,
        names: &MarkNames,
    ) -> Result<Option<u64>, WorkerLost> {
        let trace = self.collector.start(filter, packets, clock::now());
        self.exchange(workers, names)?;
        Ok(trace)
    }

    /// Records of a trace after a packet; `None` when there is no such trace.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn read(
        &mut self,
        trace: u64,
        after: u64,
        workers: &mut Workers,
        names: &MarkNames,
    ) -> Result<Option<TraceResult>, WorkerLost> {
        self.collect(workers, names)?;
        Ok(self.collector.read(trace, after, clock::now()))
    }

    /// Ends a trace; `false` if there is no such trace.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn stop(&mut self, trace: u64, workers: &mut Workers, names: &MarkNames) -> Result<bool, WorkerLost> {
        let stopped = self.collector.stop(trace);
        self.exchange(workers, names)?;
        Ok(stopped)
    }

    /// Collects the records of the workers, and ends traces that are complete or that have not been read for long.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn collect(&mut self, workers: &mut Workers, names: &MarkNames) -> Result<(), WorkerLost> {
        self.collector.expire(clock::now());
        if self.running || self.collector.is_running() {
            self.exchange(workers, names)?;
        }
        Ok(())
    }

    /// Exchanges every worker's filters and buffer for these filters and an empty buffer.
    fn exchange(&mut self, workers: &mut Workers, names: &MarkNames) -> Result<(), WorkerLost> {
        let filters = Arc::new(self.collector.filters());
        let wanted = filters.iter().any(Option::is_some);
        let spare = &mut self.spare;
        let answers = workers.ask(|_| {
            let buffer = wanted.then(|| spare.pop().unwrap_or_default());
            Command::Trace(Arc::clone(&filters), buffer)
        })?;
        self.running = wanted;
        let full: Vec<TraceBuffer> = answers
            .into_iter()
            .filter_map(|answer| if let Answer::Trace(buffer) = answer { buffer } else { None })
            .collect();
        self.collector.add(&full, names, clock::now(), wall_ms());
        if wanted {
            self.spare.extend(full.into_iter().map(|mut buffer| {
                buffer.clear();
                buffer
            }));
        } else {
            self.spare.clear();
        }
        Ok(())
    }
}
