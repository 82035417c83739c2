//! A thread that ends, its processor that leaves its stack, and who joins or detaches it elsewhere.

use loom::sync::Arc;
use loom::thread;

use crate::join::{End, JoinWord};
use crate::sync::UnsafeCell;

/// The joiner's number.
const JOINER: usize = 64;

struct World {
    word: JoinWord,
    /// The result, on the thread's stack.
    result: UnsafeCell<u32>,
    /// What the joiner has done before it waits, for who wakes it.
    joiner: UnsafeCell<u32>,
    /// The stack below the result.
    stack: UnsafeCell<u32>,
}

impl World {
    fn new() -> Arc<World> {
        Arc::new(World {
            word: JoinWord::new(),
            result: UnsafeCell::new(0),
            joiner: UnsafeCell::new(0),
            stack: UnsafeCell::new(0),
        })
    }

    /// The thread ends, and its processor leaves its stack. True: the stack is the processor's now.
    fn end(&self) -> (End, bool) {
        // SAFETY: the thread's own; loom checks all of these.
        self.result.with_mut(|result| unsafe { *result = 7 });
        let end = self.word.end();
        match end {
            // SAFETY: the joiner waits.
            End::Wake(JOINER) => self.joiner.with_mut(|joiner| unsafe { assert_eq!(*joiner, 1) }),
            End::Wake(other) => panic!("{other} is no joiner"),
            End::Drop => {
                self.read();
                assert!(!self.word.take());
            }
            End::Keep => {}
        }
        // SAFETY: the thread is on its stack until it leaves it.
        self.stack.with_mut(|stack| unsafe { *stack += 1 });
        let is_ours = self.word.leave();
        if is_ours {
            self.use_stack_again();
        }
        (end, is_ours)
    }

    fn read(&self) {
        // SAFETY: the thread has ended.
        let result = self.result.with_mut(|result| std::mem::replace(unsafe { &mut *result }, 8));
        assert_eq!(result, 7);
    }

    /// Takes the result. True: the stack is the caller's now.
    fn take(&self) -> bool {
        self.read();
        let is_ours = self.word.take();
        if is_ours {
            self.use_stack_again();
        }
        is_ours
    }

    /// It is another thread's.
    fn use_stack_again(&self) {
        // SAFETY: nobody else is on it, and the result was read.
        self.stack.with_mut(|stack| unsafe { *stack += 1 });
        // SAFETY: as above.
        self.result.with_mut(|result| unsafe { *result = 0 });
    }
}

/// The other processor's thread is joined; if it goes on after the joiner is woken, that is told by
/// the inbox, which is another model.
pub fn join() {
    loom::model(|| {
        let world = World::new();
        let theirs = Arc::clone(&world);
        let ends = thread::spawn(move || theirs.end());
        // SAFETY: the joiner's own before it waits.
        world.joiner.with_mut(|joiner| unsafe { *joiner = 1 });
        if world.word.join(JOINER, false) {
            let is_ours = world.take();
            assert_eq!(ends.join().unwrap(), (End::Keep, !is_ours));
        } else {
            assert_eq!(ends.join().unwrap(), (End::Wake(JOINER), false));
            assert!(world.take());
        }
    });
}

/// Nobody joins it.
pub fn detach() {
    loom::model(|| {
        let world = World::new();
        let theirs = Arc::clone(&world);
        let ends = thread::spawn(move || theirs.end());
        if world.word.detach(false) {
            let is_ours = world.take();
            assert_eq!(ends.join().unwrap(), (End::Keep, !is_ours));
        } else {
            assert_eq!(ends.join().unwrap(), (End::Drop, true));
        }
    });
}

#[test]
fn a_result_is_read_when_it_is_there() {
    join();
}

#[test]
fn one_side_gives_the_stack_back() {
    detach();
}
