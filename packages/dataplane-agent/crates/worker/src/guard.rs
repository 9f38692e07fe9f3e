//! Restores the nft table that keeps the kernel from claimed ports: firewall tools flush the whole ruleset.

use std::os::fd::RawFd;

use tollway_io::claim::{Claim, GuardMonitor};

/// Interval of retries to restore it, ns.
const RETRY_NS: u64 = 1_000_000_000;

/// The watch over the claim's nft table.
#[derive(Debug)]
pub(crate) struct GuardWatch<'a> {
    claim: &'a Claim,
    monitor: GuardMonitor,
    /// When to retry, after a failure, ns.
    retry_ns: Option<u64>,
    /// Why it could not be restored; reported once.
    refused: Option<String>,
}

impl<'a> GuardWatch<'a> {
    /// A guard in the network namespace of the calling thread.
    ///
    /// # Errors
    /// When no netlink socket can be opened.
    pub(crate) fn new(claim: &'a Claim) -> std::io::Result<Self> {
        Ok(Self { claim, monitor: GuardMonitor::new()?, retry_ns: None, refused: None })
    }

    /// Descriptor that becomes readable when there is something to [`Self::follow`].
    pub(crate) fn fd(&self) -> RawFd {
        self.monitor.fd()
    }

    /// Restores missing parts of the table. Returns a line for the log: topics and message.
    pub(crate) fn follow(&mut self, woken: bool, now_ns: u64) -> Option<(&'static str, String)> {
        let done = if self.retry_ns.is_some_and(|at| now_ns >= at) {
            self.claim.guard_again()
        } else if woken {
            self.claim.keep_guard(&self.monitor)
        } else {
            return None;
        };
        match done {
            Ok(netdevs) => {
                (self.retry_ns, self.refused) = (None, None);
                let netdevs = netdevs.join(", ");
                (!netdevs.is_empty()).then(|| {
                    ("interface,warning", format!("the nft table that keeps the kernel from {netdevs} had been taken away; it is there again"))
                })
            }
            Err(error) => {
                self.retry_ns = Some(now_ns.saturating_add(RETRY_NS));
                let reason = error.to_string();
                if self.refused.as_ref() == Some(&reason) {
                    return None;
                }
                let message = format!(
                    "the nft table that keeps the kernel from claimed interfaces has been taken away and cannot be put back, so the kernel may forward between them: {reason}"
                );
                self.refused = Some(reason);
                Some(("interface,error", message))
            }
        }
    }
}
