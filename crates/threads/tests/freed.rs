//! What a run leaves behind: of its memory nothing. Alone in its process, so that nobody else
//! allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use nearcall_threads::{Policy, Ready, Setup, block, fork};

/// Counts the bytes that are allocated.
struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: the system's, and a count.
unsafe impl GlobalAlloc for Counting {
    /// # Safety
    ///
    /// - S1 contract: [`GlobalAlloc::alloc`]'s.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Relaxed);
        // SAFETY: S1.
        unsafe { System.alloc(layout) }
    }

    /// # Safety
    ///
    /// - S1 contract: [`GlobalAlloc::dealloc`]'s.
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        // SAFETY: S1.
        unsafe { System.dealloc(place, layout) }
    }
}

/// The order in which threads became ready.
#[derive(Default)]
struct InOrder(VecDeque<Ready>);

impl Policy for InOrder {
    fn add(&mut self, thread: Ready) {
        self.0.push_back(thread);
    }

    fn next(&mut self) -> Option<Ready> {
        self.0.pop_front()
    }
}

fn run(setup: Setup) {
    let main = || fork(|| block(|| 1).unwrap()).unwrap().join().unwrap();
    assert_eq!(setup.run(main).unwrap(), 1);
}

/// A run whose policy cannot be made.
fn refuse() {
    let make = || -> InOrder { resume_unwind(Box::new("on purpose")) };
    let setup = Setup::default().policy(make);
    assert!(catch_unwind(AssertUnwindSafe(|| setup.run(|| ()))).is_err());
}

/// How often something is done, and counted as one.
const TIMES: usize = 200;

/// That something that is done again and again leaves not a byte. What is kept for the next time
/// may become one more, if chance has it that more is in use at once than ever before; what leaks
/// does so every time.
#[track_caller]
fn check_leaves_nothing(what: &str, act: impl Fn()) {
    let mut left = [0; 5];
    for left in &mut left {
        let before = BYTES.load(Relaxed);
        (0..TIMES).for_each(|_| act());
        *left = BYTES.load(Relaxed) as isize - before as isize;
        if *left == 0 {
            return;
        }
    }
    panic!("each {TIMES} {what} have left bytes: {left:?}");
}

#[test]
fn runs_that_are_over_or_never_began_and_their_policies_leave_nothing() {
    let setups = || {
        let several = |processors| Setup::default().processors(processors);
        let in_order = |processors| several(processors).policy(InOrder::default);
        [several(1), several(3), in_order(1), in_order(2)]
    };
    // Stacks, and kernel threads that stand in for others, are kept for the next run.
    (0..20).for_each(|_| setups().into_iter().for_each(run));
    check_leaves_nothing("runs of each kind", || setups().into_iter().for_each(run));
    // Not even that they are among those that live.
    refuse();
    check_leaves_nothing("runs without a policy", refuse);
}
