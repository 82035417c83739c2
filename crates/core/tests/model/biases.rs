//! A bias against its revocation: the A-stack has one user at a time, and ends in one place.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use loom::sync::Arc;
use loom::thread;

use crate::bias::{Bias, Claim, Settled};
use crate::sync::AtomicU32;
use crate::world::explore;

const OWNER: u64 = 7;

struct Kept {
    bias: Bias,
    /// How often the A-stack was used, counted by whoever has it, without an order of its own.
    uses: AtomicU32,
    /// How often it was put into the list.
    pushes: AtomicU32,
}

impl Kept {
    fn new() -> Arc<Kept> {
        let bias = Bias::new();
        assert!(bias.establish(OWNER, 0));
        assert!(bias.release(OWNER));
        Arc::new(Kept { bias, uses: AtomicU32::new(0), pushes: AtomicU32::new(0) })
    }

    fn use_once(&self) {
        self.uses.store(self.uses.load(Relaxed) + 1, Relaxed);
    }

    /// Revokes, and uses what it gets.
    fn revoke(&self) -> u32 {
        let settled = self.bias.revoke(|| loom::sync::atomic::fence(SeqCst));
        if settled == Settled::Nothing {
            return 0;
        }
        self.pushes.fetch_add(1, Relaxed);
        self.use_once();
        1
    }

    /// The owner's call. True if it had an A-stack.
    fn call(&self) -> bool {
        match self.bias.claim(OWNER) {
            Claim::Nothing => return false,
            Claim::Plain(_) => {
                self.use_once();
                self.pushes.fetch_add(1, Relaxed);
            }
            Claim::Kept(_) => {
                self.use_once();
                if !self.bias.release(OWNER) && self.bias.settle() != Settled::Nothing {
                    self.pushes.fetch_add(1, Relaxed);
                }
            }
        }
        true
    }
}

/// The owner calls twice while another thread revokes.
pub fn claim_against_revoke() {
    explore(3, || {
        let kept = Kept::new();
        let revoker = {
            let kept = Arc::clone(&kept);
            thread::spawn(move || kept.revoke())
        };
        let calls = u32::from(kept.call()) + u32::from(kept.call());
        let revoked = revoker.join().unwrap();
        assert_eq!(kept.uses.load(Relaxed), calls + revoked, "a use was lost");
        assert_eq!(kept.pushes.load(Relaxed), 1, "the A-stack ends in the list, once");
    });
}

/// The owner's call is captured while another thread revokes: nobody pushes the A-stack.
pub fn abandon_against_revoke() {
    explore(3, || {
        let kept = Kept::new();
        let revoker = {
            let kept = Arc::clone(&kept);
            thread::spawn(move || kept.revoke())
        };
        let has_claimed = match kept.bias.claim(OWNER) {
            Claim::Kept(_) => {
                kept.use_once();
                kept.bias.abandon(OWNER, thread::yield_now);
                true
            }
            Claim::Plain(_) => true,
            Claim::Nothing => false,
        };
        let revoked = revoker.join().unwrap();
        assert_eq!(has_claimed, revoked == 0, "one of the two has the A-stack");
    });
}
