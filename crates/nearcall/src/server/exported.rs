//! What a clerk exports, as all its bindings have it.

use std::ops::Deref;
use std::sync::Arc;

use super::surroundings::Surroundings;
use crate::raw::Entries;

/// Shared by a clerk and its bindings.
pub(crate) type SharedEntries = Arc<Exported>;

/// Entry stubs, and what is around those of their procedures that are awaited.
pub(crate) struct Exported {
    /// Boxed, because where a value of unknown alignment begins in an `Arc` has to be worked out in
    /// each call.
    pub entries: Box<dyn Entries>,
    pub surroundings: Surroundings,
}

impl Deref for Exported {
    type Target = dyn Entries;

    fn deref(&self) -> &(dyn Entries + 'static) {
        &*self.entries
    }
}
