//! The latch: two processors of a run at one, a run after another, and who has a guard of that.

use loom::sync::Arc;
use loom::thread;

use crate::latch;
use crate::sync::{AtomicU32, UnsafeCell};

const RUN: u32 = 1;
const NEXT_RUN: u32 = 2;

struct World {
    word: AtomicU32,
    inside: UnsafeCell<u32>,
}

impl World {
    fn new(owner: u32) -> Arc<World> {
        Arc::new(World { word: AtomicU32::new(owner), inside: UnsafeCell::new(0) })
    }

    /// Writes what is inside, and tells what it was.
    fn write(&self, run: u32) -> u32 {
        latch::enter(&self.word, run).expect("it is this run's");
        let before = self.write_alone();
        latch::leave(&self.word, run);
        before
    }

    /// The same of a run that has no other processor, or in the latch.
    fn write_alone(&self) -> u32 {
        // SAFETY: nobody else is there; loom checks it.
        self.inside.with_mut(|inside| std::mem::replace(unsafe { &mut *inside }, 1))
    }
}

/// Both of them write.
pub fn two_inside() {
    loom::model(|| {
        let world = World::new(RUN);
        let theirs = Arc::clone(&world);
        let other = thread::spawn(move || theirs.write(RUN));
        let (ours, theirs) = (world.write(RUN), other.join().unwrap());
        assert_eq!(ours + theirs, 1);
    });
}

/// A run with one processor has ended, as that one of the next one's knows that takes the latch
/// over: so much so that it is the same kernel thread here. Another one, which was told nothing,
/// enters.
pub fn another_run() {
    loom::model(|| {
        let world = World::new(RUN);
        let theirs = Arc::clone(&world);
        let takes_over = thread::spawn(move || {
            theirs.write_alone();
            latch::enter(&theirs.word, RUN).expect("it is nobody else's");
            latch::leave(&theirs.word, NEXT_RUN);
        });
        if latch::owner(&world.word) == NEXT_RUN {
            assert_eq!(world.write(NEXT_RUN), 1);
        }
        takes_over.join().unwrap();
    });
}

/// Where that run was, somebody writes who has a guard of it, while one of the next run looks
/// whether that was done, and takes the latch over if it was.
pub fn left_guard() {
    loom::model(|| {
        let world = World::new(RUN);
        let theirs = Arc::clone(&world);
        let releases = thread::spawn(move || theirs.write(RUN));
        latch::enter(&world.word, RUN).expect("it is nobody else's");
        // SAFETY: this one is in the latch; loom checks it.
        let is_released = world.inside.with_mut(|inside| unsafe { *inside }) == 1;
        latch::leave(&world.word, if is_released { NEXT_RUN } else { RUN });
        assert_eq!(releases.join().unwrap(), 0);
        assert_eq!(world.write(latch::owner(&world.word)), 1);
    });
}

#[test]
fn one_at_a_time_is_inside() {
    two_inside();
}

#[test]
fn who_enters_after_another_run_sees_what_it_did() {
    another_run();
}

#[test]
fn who_drops_a_guard_of_a_run_that_is_over_is_alone_inside() {
    left_guard();
}
