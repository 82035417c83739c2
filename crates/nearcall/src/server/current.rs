//! What the running thread is in the middle of: the call that it serves, if it is a server
//! processor. Procedures ask who calls; a nested call that is about to sleep has its own domain
//! watched by somebody else (L22, design note 0003).

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

use super::clerk::Importer;
use super::table::Snapshot;
use crate::domain::DomainCore;

/// Serves no call.
const NONE: u64 = 0;

thread_local! {
    static DOMAIN: RefCell<Weak<DomainCore>> = const { RefCell::new(Weak::new()) };
    static SNAPSHOT: RefCell<Arc<Snapshot>> = RefCell::default();
    static BINDING: Cell<u64> = const { Cell::new(NONE) };
}

/// This thread is a processor of `domain` from now on.
pub(crate) fn enter_domain(domain: Weak<DomainCore>) {
    DOMAIN.set(domain);
}

/// This thread runs calls of the bindings in `snapshot` from now on, also of one that has gone
/// since.
pub(crate) fn serve_from(snapshot: &Arc<Snapshot>) {
    SNAPSHOT.set(Arc::clone(snapshot));
}

/// This thread runs a call of the binding with this key. Returns the key to restore.
#[inline]
pub(crate) fn enter_call(key: u64) -> u64 {
    BINDING.replace(key)
}

/// This thread has run it.
#[inline]
pub(crate) fn leave_call(before: u64) {
    BINDING.set(before);
}

/// If this thread runs a call, it is about to sleep in it: somebody else is to watch.
pub(crate) fn call_for_relief() {
    if BINDING.get() != NONE
        && let Some(domain) = domain()
    {
        domain.processors.announce();
    }
}

/// Who made the call that this thread runs; `None` outside of a procedure.
///
/// # Cost: one look-up in a table of bindings; ask once a call.
pub fn caller() -> Option<Arc<Importer>> {
    let key = BINDING.get();
    SNAPSHOT
        .with_borrow(|snapshot| snapshot.binding(key).map(|binding| Arc::clone(&binding.importer)))
}

/// Whether this thread is a server processor.
pub(crate) fn is_processor() -> bool {
    DOMAIN.with_borrow(|domain| domain.strong_count() > 0)
}

fn domain() -> Option<Arc<DomainCore>> {
    DOMAIN.with_borrow(Weak::upgrade)
}
