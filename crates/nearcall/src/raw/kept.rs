//! Arguments that hold memory, strings and lists in structs say, without allocating for each call:
//! a thread keeps the values that its procedures were lent, and the next call's are read over them
//! (design note 0034).

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;

use super::malformed::Malformed;
use super::marshal::{Marshal, Reader};

/// A thread keeps so many values, of whatever types; of one more it gives up the one kept longest.
const KEPT_COUNT_MAX: usize = 16;

/// Most bytes that a value holds which is kept.
const KEPT_BYTES_MAX: usize = 256 << 10;

thread_local! {
    static KEPT: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// A value that a procedure is lent, and that is kept behind it. Derefs to `T`.
pub struct Kept<T: Any> {
    /// `None` while it is dropped.
    value: Option<Box<T>>,
    held_bytes: usize,
}

impl<T: Marshal + Any> Kept<T> {
    /// Reads one, over one of an earlier call if there is any.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Kept<T>, Malformed> {
        let value = match taken::<T>() {
            // Half of another value if it is refused: nobody has it any more.
            Some(mut value) => value.unmarshal_over(reader).map(|()| value),
            None => T::unmarshal(reader).map(Box::new),
        };
        let held_bytes = size_of::<T>() + reader.held_bytes();
        Ok(Kept { value: Some(value?), held_bytes })
    }
}

fn taken<T: Any>() -> Option<Box<T>> {
    let found = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        let index = kept.iter().rposition(|value| value.is::<T>())?;
        kept.remove(index).downcast().ok()
    });
    found.ok().flatten()
}

impl<T: Any> Deref for Kept<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.value.as_deref().expect("it is not dropped")
    }
}

impl<T: Any> Drop for Kept<T> {
    fn drop(&mut self) {
        let Some(value) = self.value.take() else { return };
        if self.held_bytes > KEPT_BYTES_MAX {
            return;
        }
        // A thread that is ending keeps nothing.
        let given_up = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            let oldest = (kept.len() == KEPT_COUNT_MAX).then(|| kept.remove(0));
            kept.push(value);
            oldest
        });
        drop(given_up);
    }
}

impl<T: Any + fmt::Debug> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kept").field(&**self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::marshal::Writer;
    use super::*;

    type Lines = Vec<Option<String>>;

    /// What comes of these lines.
    fn read(lines: &Lines) -> Kept<Lines> {
        let mut writer = Writer::new();
        lines.marshal(&mut writer);
        Kept::read(&mut Reader::new(writer.as_bytes())).unwrap()
    }

    fn lines(lines: &[&str]) -> Lines {
        lines.iter().map(|line| Some((*line).to_owned())).collect()
    }

    fn kept_count() -> usize {
        KEPT.with_borrow(Vec::len)
    }

    /// On a thread that has kept nothing yet.
    fn anew(test: fn()) {
        std::thread::spawn(test).join().unwrap();
    }

    #[test]
    fn a_value_is_read_over_the_one_before() {
        let first = read(&lines(&["the first", "and the second"]));
        let memory = first[0].as_ref().unwrap().as_ptr();
        drop(first);
        for want in [lines(&["another"]), lines(&["a", "b", "c"]), vec![None], lines(&[])] {
            let next = read(&want);
            assert_eq!(*next, want);
            let is_text = next.first().is_some_and(Option::is_some);
            assert_eq!(
                next.first().and_then(Option::as_ref).map(|one| one.as_ptr() == memory),
                is_text.then_some(true)
            );
        }
    }

    #[test]
    fn two_at_once_are_two() {
        anew(|| {
            let (first, second) = (read(&lines(&["first"])), read(&lines(&["second"])));
            assert_eq!((&*first, &*second), (&lines(&["first"]), &lines(&["second"])));
            drop((first, second));
            assert_eq!(kept_count(), 2);
        });
    }

    #[test]
    fn a_value_that_holds_much_is_not_kept_nor_is_one_that_was_refused() {
        anew(|| {
            drop(read(&lines(&[&"x".repeat(KEPT_BYTES_MAX)])));
            assert_eq!(kept_count(), 0);
            drop(read(&lines(&["x"])));
            assert_eq!(kept_count(), 1);
            let cut = [1, 0, 0, 0, 1, 9, 0, 0, 0];
            Kept::<Lines>::read(&mut Reader::new(&cut)).unwrap_err();
            assert_eq!(kept_count(), 0);
            assert_eq!(*read(&lines(&["y"])), lines(&["y"]));
        });
    }

    /// Who is served next frees what is not needed: that is never much.
    #[test]
    fn a_value_of_many_short_pieces_is_not_kept() {
        anew(|| {
            let many = KEPT_BYTES_MAX / (64 + size_of::<Option<String>>());
            drop(read(&vec![Some("x".to_owned()); many - 2]));
            assert_eq!(kept_count(), 1);
            drop(read(&vec![Some("x".to_owned()); many + 2]));
            assert_eq!(kept_count(), 0);
        });
    }

    /// A call may make each text as long as a message; all of them are never kept.
    #[test]
    fn what_a_value_holds_is_counted_over_all_calls() {
        anew(|| {
            let long = "x".repeat(KEPT_BYTES_MAX / 4);
            for at in 0..4 {
                let texts = (0..4).map(|index| if index == at { &*long } else { "" });
                drop(read(&lines(&texts.collect::<Vec<_>>())));
                assert_eq!(kept_count(), usize::from(at < 3), "{at}");
            }
        });
    }

    #[test]
    fn of_one_more_than_there_may_be_the_oldest_goes() {
        anew(|| {
            let all: Vec<_> = (0..=KEPT_COUNT_MAX).map(|_| read(&lines(&["x"]))).collect();
            let last = all[KEPT_COUNT_MAX][0].as_ref().unwrap().as_ptr();
            drop(all);
            assert_eq!(kept_count(), KEPT_COUNT_MAX);
            assert_eq!(read(&lines(&["y"]))[0].as_ref().unwrap().as_ptr(), last);
        });
    }
}
