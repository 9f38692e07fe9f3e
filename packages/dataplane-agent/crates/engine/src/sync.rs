//! Atomics and locks of what workers share: the standard library's, or loom's under the feature of that name, which
//! tries every order in which threads may meet (see `interleaving/`).

#[cfg(feature = "loom")]
pub use loom::sync::{Mutex, MutexGuard, atomic};
#[cfg(not(feature = "loom"))]
pub use std::sync::{Mutex, MutexGuard, atomic};
