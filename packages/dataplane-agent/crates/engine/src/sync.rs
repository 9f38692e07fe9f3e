//! Atomics and locks of the shared state: those of the standard library, or with the feature `loom` those of loom,
//! which explores every interleaving of threads (see `interleaving/`).

#[cfg(feature = "loom")]
pub use loom::sync::{Mutex, MutexGuard, atomic};
#[cfg(not(feature = "loom"))]
pub use std::sync::{Mutex, MutexGuard, atomic};
