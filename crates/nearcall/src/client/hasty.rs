//! Whether a claim of this thread may wait for an A-stack. One that has calls outstanding should
//! not, if it can collect one instead: threads that hold some and wait for each other's wait for
//! ever (design note 0007).

use std::cell::Cell;

thread_local! {
    static IS_HASTY: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, a claim of this thread that finds no A-stack is refused at once.
#[derive(Debug)]
pub(crate) struct Haste {
    before: bool,
}

impl Haste {
    pub fn begin(is_hasty: bool) -> Haste {
        Haste { before: IS_HASTY.replace(is_hasty) }
    }
}

impl Drop for Haste {
    fn drop(&mut self) {
        IS_HASTY.set(self.before);
    }
}

/// Whether this thread does not wait.
pub(crate) fn is_hasty() -> bool {
    IS_HASTY.get()
}
