//! Items that were put, or made, until their batch goes (design note 0020): a client's, and a
//! server's. One that its type, or its place, refuses is refused there: who puts it is told, and
//! nothing else of the batch is lost.
//!
//! ```text
//!   kept as they are   item ─ item ─ item         looked at first, where something can be wrong
//!   written            count ─ item ─ item ─ item │ one more; refused, it is cut back to here
//! ```
//!
//! What is written is judged meanwhile, once, and goes as it is.

use std::fmt;

use crate::error::UsageError;
use crate::raw::{MESSAGE_BYTES_MAX, Writer};

/// What a refused item is called, unless it is a member that is refused.
const SPOKEN: &str = "item";

/// Of what is written, before the batch goes: one more item of up to half a message fits.
const BYTES_MAX: usize = MESSAGE_BYTES_MAX as usize / 2;

/// What is written of no items: their count.
const NOTHING: [u8; 4] = 0u32.to_le_bytes();

/// Memory of one batch that is kept for the next.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// The batches of a feed.
#[derive(Clone, Copy, Debug)]
pub struct Batches {
    /// Index of the procedure that carries one.
    pub procedure: u32,
    /// Most items of one.
    pub count: u32,
}

/// What becomes of an item that is put, or made.
pub enum Keeping<T> {
    /// It is kept: nothing about it can be wrong.
    AsItIs,
    /// It is kept once this has looked at it, which writes nothing but a breach.
    Judged(fn(&T, &mut Writer)),
    /// This writes it as its batch has it, and judges it meanwhile.
    Written(fn(&T, &mut Writer)),
}

/// Items that have not gone yet.
pub struct Batch<T> {
    keeping: Keeping<T>,
    count: u32,
    count_max: u32,
    /// Those that are kept as they are.
    items: Vec<T>,
    /// Those that are written, behind their count.
    writer: Writer,
}

impl<T> Batch<T> {
    /// An empty one. Allocates with its first item: it may wait for long, and has nothing of what
    /// its thread keeps for calls.
    pub(crate) fn new(keeping: Keeping<T>, count_max: u32) -> Batch<T> {
        Batch { keeping, count: 0, count_max, items: Vec::new(), writer: Writer::default() }
    }

    /// One that came whole, and takes no more.
    pub(crate) fn of(items: Vec<T>) -> Batch<T> {
        let count = items.len() as u32;
        Batch { count, count_max: count, items, ..Batch::new(Keeping::AsItIs, 0) }
    }

    /// Judges an item and keeps it.
    ///
    /// # Errors: it is refused, and the batch is as it was.
    pub(crate) fn put(&mut self, item: T) -> Result<(), UsageError> {
        match self.keeping {
            Keeping::AsItIs => self.push(item),
            Keeping::Judged(judge) => {
                judge(&item, &mut self.writer);
                self.writer.judge(SPOKEN)?;
                self.push(item);
            }
            Keeping::Written(write) => {
                if self.count == 0 {
                    self.writer.begin_batch();
                }
                self.writer.one_more(SPOKEN, |writer| write(&item, writer))?;
                self.writer.count_batch(self.count + 1);
            }
        }
        self.count += 1;
        Ok(())
    }

    fn push(&mut self, item: T) {
        if self.count == 0 {
            self.items.reserve_exact(self.count_max as usize);
        }
        self.items.push(item);
    }

    /// Takes the items of another one of the same feed, behind its own. The memory of the other one
    /// if it has none of its own: then nothing is copied.
    pub(crate) fn append(&mut self, behind: &mut Batch<T>) {
        if self.is_empty() {
            std::mem::swap(self, behind);
        } else {
            self.count += behind.count;
            self.items.append(&mut behind.items);
            self.writer.append_batch(&behind.writer, self.count);
        }
        behind.clear();
    }

    /// Whether a message has room for both.
    pub(crate) fn has_room_for(&self, behind: &Batch<T>) -> bool {
        let bytes = self.writer.as_bytes().len() + behind.writer.as_bytes().len();
        self.is_empty() || bytes <= MESSAGE_BYTES_MAX as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// It goes before there is another item.
    pub(crate) fn is_full(&self) -> bool {
        self.count == self.count_max || self.writer.as_bytes().len() > BYTES_MAX
    }

    /// What there is, to go by itself; another one begins.
    pub(crate) fn take(&mut self) -> Batch<T> {
        let next = Batch::new(self.keeping, self.count_max);
        std::mem::replace(self, next)
    }

    /// It has gone, or never will.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.items.clear();
        self.writer.clear(KEPT_BYTES_MAX);
    }

    /// For stubs that have judged its items: those.
    pub fn into_items(self) -> Vec<T> {
        self.items
    }

    /// For generated code: its items, if they are kept as they are.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// For generated code: its payload, if its items are written.
    pub fn written(&self) -> &[u8] {
        if self.is_empty() { &NOTHING } else { self.writer.as_bytes() }
    }
}

impl<T> Clone for Keeping<T> {
    fn clone(&self) -> Keeping<T> {
        *self
    }
}

impl<T> Copy for Keeping<T> {}

impl<T> fmt::Debug for Keeping<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Keeping::AsItIs => "AsItIs",
            Keeping::Judged(_) => "Judged",
            Keeping::Written(_) => "Written",
        })
    }
}

impl<T> fmt::Debug for Batch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Batch");
        shown.field("keeping", &self.keeping).field("count", &self.count).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::OverBound;
    use crate::raw::Marshal;

    /// A text of four bytes at most.
    fn write(item: &String, writer: &mut Writer) {
        writer.bound("item", item.len(), 4);
        item.marshal(writer);
    }

    fn marshalled(items: &[&str]) -> Vec<u8> {
        let mut writer = Writer::new();
        items.iter().map(|item| item.to_string()).collect::<Vec<_>>().marshal(&mut writer);
        writer.finish("items").unwrap().to_vec()
    }

    #[test]
    fn a_refused_item_leaves_what_was_written_as_it_was() {
        let mut batch = Batch::new(Keeping::Written(write), 3);
        let refused = batch.put(String::from("lengthy")).unwrap_err();
        let want = OverBound { parameter: "item", value: 7, limit: 4 };
        assert_eq!(refused, UsageError::OverBound(want));
        assert!(batch.is_empty());
        batch.put(String::from("one")).unwrap();
        batch.put(String::from("lengthy")).unwrap_err();
        batch.put(String::from("two")).unwrap();
        assert_eq!(batch.written(), marshalled(&["one", "two"]));
        assert!(!batch.is_full());
        batch.put(String::new()).unwrap();
        assert!(batch.is_full());
        batch.clear();
        assert_eq!(batch.written(), marshalled(&[]));
        batch.put(String::from("next")).unwrap();
        assert_eq!(batch.written(), marshalled(&["next"]));
    }

    #[test]
    fn what_is_written_apart_is_behind_the_others_as_if_it_were_written_there() {
        let mut batch = Batch::new(Keeping::Written(write), 3);
        let mut apart = Batch::new(Keeping::Written(write), 3);
        for item in ["one", "two", ""] {
            apart.put(String::from("lengthy")).unwrap_err();
            apart.put(item.to_owned()).unwrap();
            assert!(batch.has_room_for(&apart) && !batch.is_full());
            batch.append(&mut apart);
            assert!(apart.is_empty());
        }
        assert!(batch.is_full());
        assert_eq!(batch.written(), marshalled(&["one", "two", ""]));
    }

    #[test]
    fn the_memory_of_the_first_one_is_handed_over() {
        let mut batch = Batch::new(Keeping::Written(write), 3);
        let mut apart = Batch::new(Keeping::Written(write), 3);
        apart.put(String::from("one")).unwrap();
        let first = apart.written().as_ptr();
        batch.append(&mut apart);
        assert_eq!(batch.written().as_ptr(), first);
        let mut kept = Batch::new(Keeping::AsItIs, 3);
        for number in 0..3 {
            let mut apart = Batch::new(Keeping::AsItIs, 3);
            apart.put(number).unwrap();
            kept.append(&mut apart);
        }
        assert!(kept.is_full());
        assert_eq!(kept.into_items(), [0, 1, 2]);
    }

    #[test]
    fn a_refused_item_is_not_among_those_that_are_kept() {
        let judge = |item: &u32, writer: &mut Writer| {
            if *item > 9 {
                writer.range("item", item, "0 to 9");
            }
        };
        let mut batch = Batch::new(Keeping::Judged(judge), 2);
        batch.put(1).unwrap();
        let refused = batch.put(10).unwrap_err();
        assert_eq!(refused.to_string(), "item is 10, allowed is 0 to 9");
        batch.put(9).unwrap();
        assert_eq!(batch.items(), [1, 9]);
        assert!(batch.is_full());
        let gone = batch.take();
        assert!(batch.is_empty() && gone.items() == [1, 9]);
    }
}
