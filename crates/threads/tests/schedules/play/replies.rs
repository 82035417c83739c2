//! Calls to another kernel thread, whose replies wake nobody but who says that he sleeps.

use std::sync::Arc;
// SeqCst: all is so here, see `sync.rs`.
use std::sync::atomic::Ordering::SeqCst;

use shuttle::thread;

use super::stacks::Play;
use crate::awaited::{Awaited, Enders, Idle, WaitEnd, Word, wait_for};
use crate::fork::fork;
use crate::kernel;
use crate::sync::{AtomicU32, pause};

/// Calls of a run.
pub const CALLS: usize = 5;

/// What a word says, in the order in which it does.
const IDLE: u32 = 0;
const POSTED: u32 = 1;
const POSTED_ASLEEP: u32 = 2;
const REPLIED: u32 = 3;

/// A reply that a FastThread waits for.
struct Reply<'w>(&'w AtomicU32);

impl Awaited for Reply<'_> {
    fn is_over(&self) -> bool {
        self.0.load(SeqCst) == REPLIED
    }

    fn idle(&self, idle: &Idle<'_>) {
        if idle.poll() || idle.look() {
            return;
        }
        idle.sleep(Enders::Oldest(CALLS), |words, _left| {
            let words: Vec<_> = words.iter().map(|word| (word.word, word.expected)).collect();
            kernel::wait_any(&words);
            false
        });
    }

    fn fall_asleep(&self) -> Option<Word<'_>> {
        self.0.compare_exchange(POSTED, POSTED_ASLEEP, SeqCst, SeqCst).ok()?;
        Some(Word { word: self.0, expected: POSTED_ASLEEP, is_own: false })
    }

    fn wake_up(&self, _is_late: bool) {
        // Whatever is there instead is seen by the look that follows.
        let _ = self.0.compare_exchange(POSTED_ASLEEP, POSTED, SeqCst, SeqCst);
    }

    fn describe(&self) -> String {
        "a reply".to_owned()
    }
}

/// Replies to each call when it has come; how often somebody slept meanwhile.
fn serve(words: &[AtomicU32]) -> usize {
    let mut wakes = 0;
    for word in words {
        while word.load(SeqCst) == IDLE {
            pause(0);
        }
        if word.swap(REPLIED, SeqCst) == POSTED_ASLEEP {
            wakes += 1;
            kernel::wake(word);
        }
    }
    wakes
}

/// FastThreads call, and two kernel threads reply, each to half of them. How many replies came, and
/// how many of them had to wake somebody.
pub fn replies() -> (usize, usize) {
    let words: Arc<[AtomicU32]> = (0..CALLS).map(|_| AtomicU32::new(IDLE)).collect();
    let (first, second) = (Arc::clone(&words), Arc::clone(&words));
    let servers = [
        thread::spawn(move || serve(&first[..CALLS / 2])),
        thread::spawn(move || serve(&second[CALLS / 2..])),
    ];
    let run = Play::Replies.run(move || {
        let call = |number: usize| {
            let words = Arc::clone(&words);
            move || {
                words[number].store(POSTED, SeqCst);
                wait_for(&Reply(&words[number]), None) == WaitEnd::Over
            }
        };
        let calls: Vec<_> = (0..CALLS).map(|number| fork(call(number)).unwrap()).collect();
        calls.iter().filter(|call| call.join().unwrap()).count()
    });
    let wakes = servers.into_iter().map(|server| server.join().unwrap()).sum();
    (run.unwrap(), wakes)
}
