//! A word of a thread's own that other threads may look at, for as long as the thread shows it.
//! The thread writes it as it writes any of its own, which costs it nothing more.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::LocalKey;

/// The word of another thread.
#[derive(Clone, Debug)]
pub struct Shown(Arc<Mutex<Option<Place>>>);

/// Where it lies; of a thread that is in [`show`].
#[derive(Debug)]
struct Place(NonNull<AtomicU64>);

// SAFETY: it leads to an `AtomicU64`, which any thread may read. It is read under the lock of a
// `Shown` alone, and taken away under that before the word goes.
unsafe impl Send for Place {}

/// Hides the word when it is dropped.
struct Hide {
    shown: Shown,
    /// Where it is shown.
    process_id: u32,
}

/// Shows `word` to whoever `told` hands it to, until `work` has returned.
pub fn show<T>(
    word: &'static LocalKey<AtomicU64>,
    told: impl FnOnce(Shown),
    work: impl FnOnce() -> T,
) -> T {
    let place = word.with(|word| Place(NonNull::from(word)));
    let shown = Shown(Arc::new(Mutex::new(Some(place))));
    // Dropped on this thread, by a panic, too: nobody has a place of a thread that has ended.
    let hide = Hide { shown: shown.clone(), process_id: std::process::id() };
    told(shown);
    let done = work();
    drop(hide);
    done
}

impl Shown {
    /// What it says now; `None`: it is not shown any more.
    pub fn word(&self) -> Option<u64> {
        let place = self.place();
        // SAFETY: its thread is in `show`, and before it leaves that it takes the place away under
        // the lock that is held here until the word has been read; a thread's words without a
        // destructor stay until it ends. (A thread that ends within `show` and does not unwind, as
        // `pthread_exit` has it where it does not, is its caller's undefined behaviour.) An
        // atomic, to which there may be any number of references.
        let word = place.as_ref().map(|place| unsafe { place.0.as_ref() });
        // Relaxed: a hint.
        word.map(|word| word.load(Ordering::Relaxed))
    }

    fn place(&self) -> MutexGuard<'_, Option<Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hide {
    fn drop(&mut self) {
        // In the child of a fork(2) nobody looks at it, and who did may hold the lock for good.
        if std::process::id() == self.process_id {
            self.shown.place().take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    thread_local! {
        static WORD: AtomicU64 = const { AtomicU64::new(0) };
    }

    #[test]
    fn a_word_is_seen_by_others_until_its_thread_hides_it() {
        let (sender, receiver) = mpsc::channel();
        let (go_on, wait) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            WORD.with(|word| word.store(7, Ordering::Relaxed));
            show(&WORD, |shown| sender.send(shown).unwrap(), || wait.recv().unwrap());
        });
        let shown = receiver.recv().unwrap();
        assert_eq!(shown.word(), Some(7));
        go_on.send(()).unwrap();
        thread.join().unwrap();
        assert_eq!(shown.word(), None);
    }

    #[test]
    fn a_word_is_hidden_by_a_panic() {
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            show(
                &WORD,
                |shown| sender.send(shown).unwrap(),
                || std::panic::resume_unwind(Box::new("on purpose")),
            )
        });
        assert!(thread.join().is_err());
        assert_eq!(receiver.recv().unwrap().word(), None);
    }

    #[test]
    fn nothing_is_waited_for_in_a_child_that_was_forked() {
        let word = WORD.with(|word| Place(NonNull::from(word)));
        let shown = Shown(Arc::new(Mutex::new(Some(word))));
        // As a thread of the parent's does that is not there in the child.
        let held = shown.clone();
        let held = held.place();
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            drop(Hide { shown, process_id: 0 });
            sender.send(()).unwrap();
        });
        receiver.recv_timeout(std::time::Duration::from_secs(20)).expect("it ends");
        drop(held);
        thread.join().unwrap();
    }
}
