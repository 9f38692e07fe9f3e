//! Which pages of memory large tables are to be on. The process's allocator decides; here it is told what is wasted on huge
//! pages: a table that is large, but of which a few cache lines are used.

use std::cell::Cell;

thread_local! {
    static ORDINARY: Cell<bool> = const { Cell::new(false) };
}

/// Whether what this thread allocates now is to be on ordinary pages. For the allocator: allocates nothing itself.
pub fn are_ordinary() -> bool {
    ORDINARY.get()
}

/// Runs `build`, whose tables are to be on ordinary pages.
pub fn ordinary<R>(build: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            ORDINARY.set(self.0);
        }
    }
    let _before = Before(ORDINARY.replace(true));
    build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_ordinary_inside_alone() {
        assert!(!are_ordinary());
        let inside = ordinary(|| (ordinary(are_ordinary), are_ordinary()));
        assert_eq!((inside, are_ordinary()), ((true, true), false));
        assert!(std::panic::catch_unwind(|| ordinary(|| panic!("while building"))).is_err());
        assert!(!are_ordinary());
    }
}
