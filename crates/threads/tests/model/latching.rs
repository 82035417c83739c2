//! The latch: two processors of a run at one, and a run after another.

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

/// A run with one processor has ended, as that one of the next one's knows that claims the latch:
/// so much so that it is the same kernel thread here. Another one, which was told nothing, enters.
pub fn another_run() {
    loom::model(|| {
        let world = World::new(RUN);
        let theirs = Arc::clone(&world);
        let claims = thread::spawn(move || {
            theirs.write_alone();
            latch::claim(&theirs.word, RUN, NEXT_RUN)
        });
        if latch::owner(&world.word) == NEXT_RUN {
            assert_eq!(world.write(NEXT_RUN), 1);
        }
        assert_eq!(claims.join().unwrap(), Ok(()));
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
