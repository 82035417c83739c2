//! Posts against the end of looking: no call is left that nobody looks at.

use core::sync::atomic::Ordering::Relaxed;

use loom::sync::{Arc, Mutex};
use loom::thread;

use crate::lookout::Lookout;
use crate::sync::{AtomicU32, light_fence};
use crate::world::explore;

struct Binding {
    lookout: Lookout,
    /// A-stacks with a call that was posted, each written by its own thread.
    outstanding: [AtomicU32; 2],
    /// Whether housekeeping has it on its list.
    is_listed: Mutex<bool>,
}

impl Binding {
    /// One that housekeeping looks at.
    fn looked_at() -> Arc<Binding> {
        let binding = Binding {
            lookout: Lookout::new(),
            outstanding: [AtomicU32::new(0), AtomicU32::new(0)],
            is_listed: Mutex::new(true),
        };
        assert!(binding.lookout.begin());
        Arc::new(binding)
    }

    fn post(&self, astack: usize) {
        self.outstanding[astack].store(1, Relaxed);
        if self.lookout.is_wanted() && self.lookout.begin() {
            *self.is_listed.lock().unwrap() = true;
        }
    }

    fn end(&self) {
        // The heavy half of the fence.
        self.lookout.end(light_fence);
        if self.outstanding.iter().any(|astack| astack.load(Relaxed) != 0) {
            self.lookout.begin();
        }
        let mut is_listed = self.is_listed.lock().unwrap();
        *is_listed = *is_listed && self.lookout.is_kept();
    }

    #[track_caller]
    fn check(&self) {
        assert!(*self.is_listed.lock().unwrap(), "a call that nobody looks at");
        assert!(self.lookout.is_kept(), "the next one would be listed beside it");
    }
}

/// A thread posts while housekeeping stops looking.
pub fn post_against_end_of_looks() {
    explore(3, || {
        let binding = Binding::looked_at();
        let poster = {
            let binding = Arc::clone(&binding);
            thread::spawn(move || binding.post(0))
        };
        binding.end();
        poster.join().unwrap();
        binding.check();
    });
}

/// Two threads do.
pub fn two_posts_against_end_of_looks() {
    explore(2, || {
        let binding = Binding::looked_at();
        let posters = [0, 1].map(|astack| {
            let binding = Arc::clone(&binding);
            thread::spawn(move || binding.post(astack))
        });
        binding.end();
        for poster in posters {
            poster.join().unwrap();
        }
        binding.check();
    });
}
