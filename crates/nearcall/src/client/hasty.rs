//! Whether a claim of this thread may wait for an A-stack. One that has calls outstanding should
//! not, if it can collect one instead: threads that hold some and wait for each other's wait for
//! ever (design note 0007).

use std::cell::Cell;

thread_local! {
    static IS_HASTY: Cell<bool> = const { Cell::new(false) };
}

/// The same of FastThreads: what runs while one of them waits is none of its business.
#[cfg(feature = "threads")]
static OF_FASTTHREAD: nearcall_threads::Local<Cell<bool>> =
    nearcall_threads::Local::new(|| Cell::new(false));

/// Shows what the caller has.
fn with<R>(look: impl FnOnce(&Cell<bool>) -> R) -> R {
    #[cfg(feature = "threads")]
    if nearcall_threads::identity().is_some() {
        return OF_FASTTHREAD.with(look);
    }
    IS_HASTY.with(look)
}

/// While it lives, a claim of this thread that finds no A-stack is refused at once.
#[derive(Debug)]
pub(crate) struct Haste {
    before: bool,
}

impl Haste {
    pub fn begin(is_hasty: bool) -> Haste {
        Haste { before: with(|hasty| hasty.replace(is_hasty)) }
    }
}

impl Drop for Haste {
    fn drop(&mut self) {
        with(|hasty| hasty.set(self.before));
    }
}

/// Claims without waiting for an A-stack.
#[inline(always)]
pub fn in_haste<T>(claim: impl FnOnce() -> T) -> T {
    let _haste = Haste::begin(true);
    claim()
}

/// Whether this thread does not wait.
pub(crate) fn is_hasty() -> bool {
    with(Cell::get)
}
