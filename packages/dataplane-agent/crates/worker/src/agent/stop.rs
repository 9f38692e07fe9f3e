//! A handle that ends a running agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tollway_io::wake::Wake;

/// Ends a running agent, from any thread or a signal handler's.
#[derive(Debug, Clone)]
pub struct Stop {
    /// Wakes the control thread.
    pub(super) wake: Arc<Wake>,
    wanted: Arc<AtomicBool>,
}

impl Stop {
    /// A handle for one run.
    ///
    /// # Errors
    /// When the process has no file descriptor left.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { wake: Arc::new(Wake::new()?), wanted: Arc::new(AtomicBool::new(false)) })
    }

    /// Asks the agent to release its ports and end.
    pub fn stop(&self) {
        self.wanted.store(true, Ordering::Release);
        self.wake.signal();
    }

    /// Whether the agent is to end.
    pub(super) fn wanted(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }
}
