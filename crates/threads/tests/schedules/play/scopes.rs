//! Threads of a scope, which borrow from the stack of a thread that waits for another one's scope.

use std::sync::atomic::Ordering::Relaxed;

use super::stacks::Play;
use super::{Counts, YIELDS, at, count};
use crate::error::JoinError;
use crate::processor::here_for;
use crate::scope::{Scope, scope};

/// Threads that the body of a scope forks, each of which forks another one in it.
const FORKED: usize = 3;

/// So many are in it, if nobody is cancelled.
pub const SCOPED: usize = 2 * FORKED;

/// What each of them has with it, and leaves behind as its result.
struct Member<'c> {
    counts: &'c Counts,
    forked_at: u16,
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        // Where who waits for the scope would go on if it did not wait for this.
        here_for("yield").yield_now();
        count(&self.counts.ended);
    }
}

/// Forks a thread in the scope, which forks so many in it, one in another.
fn fork_in<'scope>(scope: &'scope Scope<'scope, '_>, counts: &'scope Counts, depth: usize) {
    count(&counts.forked);
    let member = Member { counts, forked_at: at() };
    let forked = scope.fork(move || {
        count(&counts.begun);
        if at() != member.forked_at {
            count(&counts.moved);
        }
        if depth > 1 {
            fork_in(scope, counts, depth - 1);
        }
        here_for("yield").yield_now();
        member
    });
    drop(forked.unwrap());
}

/// A thread opens a scope, and is cancelled sooner or later if it `cancels`; what became of those
/// in it when it was over.
pub fn scopes(cancels: bool) -> Counts {
    let play = if cancels { Play::CancelledScopes } else { Play::Scopes };
    let run = play.run(move || {
        let counts = Counts::default();
        scope(|outer| {
            let opens = outer.fork(|| {
                scope(|scope| (0..FORKED).for_each(|_| fork_in(scope, &counts, 2)));
            });
            let opens = opens.unwrap();
            (0..YIELDS).for_each(|_| here_for("yield").yield_now());
            if cancels {
                opens.cancel().unwrap();
            }
            match opens.join() {
                Ok(()) => {}
                Err(JoinError::Cancelled(_)) if cancels => count(&counts.cancelled),
                Err(error) => panic!("who opens a scope: {error}"),
            }
            let [forked, ended] = [&counts.forked, &counts.ended].map(|count| count.load(Relaxed));
            assert_eq!(forked, ended, "the scope is over");
        });
        counts
    });
    run.unwrap()
}
