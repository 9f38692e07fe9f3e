//! The log: lines for `/log` that workers write and the control thread takes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::time::Now;

/// Number of lines that the log holds until they are taken.
pub const LOG_LINES: usize = 1024;
/// Minimum interval of log lines about a full connection table, ns.
const FULL_INTERVAL: u64 = 60_000_000_000;

/// A line for `/log`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Comma list, `firewall,info` …
    pub topics: &'static str,
    /// The line.
    pub message: String,
}

#[derive(Debug, Default)]
struct LogRing {
    lines: VecDeque<LogLine>,
    lost: u64,
}

/// The log of all workers: a ring of lines.
#[derive(Debug, Default)]
pub struct Log {
    ring: Mutex<LogRing>,
    /// The ring holds lines.
    pending: AtomicBool,
    /// Packets that opened no connection because the table was full, since the last log line about it.
    refused: AtomicU64,
    /// When the next such line is due, ns.
    refused_due: AtomicU64,
}

impl Log {
    /// Counts a packet that opened no connection because the table is full. Logs the number once a minute.
    pub(crate) fn connection_refused(&self, now: Now) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        let due = self.refused_due.load(Ordering::Relaxed);
        let next = now.0.saturating_add(FULL_INTERVAL);
        if now.0 < due
            || self.refused_due.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return;
        }
        let packets = self.refused.swap(0, Ordering::Relaxed);
        self.push(LogLine {
            topics: "firewall,warning",
            message: format!(
                "the connection table is full; packets dropped that would open a connection: {packets}"
            ),
        });
    }

    fn ring(&self) -> MutexGuard<'_, LogRing> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the log lines written since the last call, oldest first. When lines were lost because the
    /// ring was full, the first one says how many.
    pub fn take(&self) -> Vec<LogLine> {
        let mut ring = self.ring();
        self.pending.store(false, Ordering::Relaxed);
        let lost = std::mem::take(&mut ring.lost);
        let head = (lost != 0).then(|| LogLine {
            topics: "firewall,warning",
            message: format!("{lost} log lines were dropped because they came too fast"),
        });
        head.into_iter().chain(ring.lines.drain(..)).collect()
    }

    /// Whether [`Self::take`] would return something; one relaxed load.
    pub fn is_pending(&self) -> bool {
        self.pending.load(Ordering::Relaxed)
    }

    /// Adds a line; the oldest one is dropped when there are [`LOG_LINES`].
    pub(crate) fn push(&self, line: LogLine) {
        let mut ring = self.ring();
        if ring.lines.len() >= LOG_LINES {
            ring.lines.pop_front();
            ring.lost += 1;
        }
        ring.lines.push_back(line);
        self.pending.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_ring_says_how_many_lines_it_lost() {
        let log = Log::default();
        assert!(!log.is_pending());
        for number in 0..LOG_LINES + 5 {
            log.push(LogLine { topics: "firewall,info", message: number.to_string() });
        }
        assert!(log.is_pending());
        let lines = log.take();
        assert_eq!(lines.len(), LOG_LINES + 1);
        assert!(lines[0].message.starts_with("5 log lines"));
        assert_eq!(lines[1].message, "5");
        assert!(!log.is_pending());
    }
}
