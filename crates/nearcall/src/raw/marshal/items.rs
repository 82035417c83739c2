//! A list that is written item by item, as a batch of a feed is: each is judged by itself, and of
//! one that is refused nothing stays (`crate::batch`).

use super::Writer;
use crate::error::UsageError;

impl Writer {
    /// Begins one: see [`Writer::one_more`].
    pub(crate) fn begin_batch(&mut self) {
        self.bytes.vec_mut().clear();
        self.count(0);
    }

    /// How many items that list has now.
    pub(crate) fn count_batch(&mut self, count: u32) {
        self.bytes.vec_mut()[..4].copy_from_slice(&count.to_le_bytes());
    }

    /// Appends the items of another one, after which that list has as many. If nothing is written,
    /// nothing is.
    pub(crate) fn append_batch(&mut self, behind: &Writer, count: u32) {
        if let Some(items) = behind.bytes.get(4..) {
            self.bytes.vec_mut().extend_from_slice(items);
            self.count_batch(count);
        }
    }

    /// Appends what `inner` does of one item of a list, or nothing.
    ///
    /// # Errors: why it is refused.
    pub(crate) fn one_more(
        &mut self,
        parameter: &'static str,
        inner: impl FnOnce(&mut Self),
    ) -> Result<(), UsageError> {
        let begin = self.bytes.len();
        self.nested(inner);
        let judged = self.judge(parameter);
        if judged.is_err() {
            self.bytes.vec_mut().truncate(begin);
        }
        judged
    }
}
