//! A bias against its revocation: an A-stack has one user at a time, and ends in one place.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use loom::sync::Arc;
use loom::thread;

use crate::bias::{Bias, Claim, Settled};
use crate::sync::AtomicU32;
use crate::world::explore;

const OWNER: u64 = 7;

struct Kept {
    bias: Bias,
    astacks: Vec<AStack>,
}

struct AStack {
    /// How often the A-stack was used, counted by whoever has it, without an order of its own.
    uses: AtomicU32,
    /// How often it was put into the list.
    pushes: AtomicU32,
}

impl AStack {
    fn use_once(&self) {
        self.uses.store(self.uses.load(Relaxed) + 1, Relaxed);
    }

    fn push(&self) {
        self.pushes.fetch_add(1, Relaxed);
    }
}

impl Kept {
    /// So many that are kept, all free, and one more that is not.
    fn new(count: u32) -> Arc<Kept> {
        let bias = Bias::new(0);
        (0..count).for_each(|index| assert!(bias.establish(OWNER, index)));
        (0..count).for_each(|index| assert!(bias.release(OWNER, bias.bit(index))));
        let astack = |_| AStack { uses: AtomicU32::new(0), pushes: AtomicU32::new(0) };
        Arc::new(Kept { bias, astacks: (0..=count).map(astack).collect() })
    }

    fn astack(&self, index: u32) -> &AStack {
        &self.astacks[index as usize]
    }

    /// Revokes, and uses what it gets.
    fn revoke(&self) -> u32 {
        let mut count = 0;
        self.bias.revoke(
            || loom::sync::atomic::fence(SeqCst),
            |index| {
                self.astack(index).push();
                self.astack(index).use_once();
                count += 1;
            },
        );
        count
    }

    /// The owner takes one if it can, and uses it; one that is not kept goes back at once.
    fn claim(&self, uses: &mut u32) -> Option<u32> {
        let claim = self.bias.claim(OWNER);
        let (Claim::Kept(index) | Claim::Plain(index)) = claim else {
            return None;
        };
        self.astack(index).use_once();
        *uses += 1;
        let is_kept = matches!(claim, Claim::Kept(_));
        if !is_kept {
            self.astack(index).push();
        }
        is_kept.then_some(index)
    }

    fn release(&self, index: u32) {
        if !self.bias.release(OWNER, self.bias.bit(index))
            && self.bias.settle(index) == Settled::Push
        {
            self.astack(index).push();
        }
    }

    fn pushes(&self) -> u32 {
        self.astacks.iter().map(|astack| astack.pushes.load(Relaxed)).sum()
    }

    /// Everything is over, with so many uses of so many A-stacks.
    fn end(&self, uses: u32, astacks: usize) {
        let counted: u32 = self.astacks.iter().map(|astack| astack.uses.load(Relaxed)).sum();
        assert_eq!(counted, uses, "a use was lost");
        let is_once = |astack: &AStack| astack.pushes.load(Relaxed) == 1;
        assert!(self.astacks[..astacks].iter().all(is_once), "each A-stack ends in the list, once");
    }
}

fn revoker(kept: &Arc<Kept>) -> thread::JoinHandle<u32> {
    let kept = Arc::clone(kept);
    thread::spawn(move || kept.revoke())
}

/// The owner calls twice while another thread revokes.
pub fn claim_against_revoke() {
    explore(3, || {
        let kept = Kept::new(1);
        let revoker = revoker(&kept);
        let mut uses = 0;
        for _ in 0..2 {
            kept.claim(&mut uses).into_iter().for_each(|index| kept.release(index));
        }
        kept.end(uses + revoker.join().unwrap(), 1);
    });
}

/// The owner has two at a time, and gives the first back first, while another thread revokes.
pub fn two_kept_against_revoke() {
    explore(2, || {
        let kept = Kept::new(2);
        let revoker = revoker(&kept);
        let mut uses = 0;
        let claimed = [kept.claim(&mut uses), kept.claim(&mut uses)];
        claimed.into_iter().flatten().for_each(|index| kept.release(index));
        kept.end(uses + revoker.join().unwrap(), 2);
    });
}

/// One more is to be kept while another thread revokes: it is kept, or like any other.
pub fn establish_against_revoke() {
    explore(3, || {
        let kept = Kept::new(1);
        // From the list.
        let another = 1;
        let revoker = revoker(&kept);
        let mut uses = 1;
        kept.astack(another).use_once();
        match kept.bias.establish(OWNER, another) {
            true => kept.release(another),
            false => kept.astack(another).push(),
        }
        kept.claim(&mut uses).into_iter().for_each(|index| kept.release(index));
        kept.end(uses + revoker.join().unwrap(), 2);
    });
}

/// The first one is to be kept while another thread finds the list empty.
pub fn first_establish_against_revoke() {
    explore(3, || {
        let kept = Kept::new(0);
        let revoker = revoker(&kept);
        let mut uses = 1;
        kept.astack(0).use_once();
        match kept.bias.establish(OWNER, 0) {
            true => kept.release(0),
            false => kept.astack(0).push(),
        }
        kept.claim(&mut uses).into_iter().for_each(|index| kept.release(index));
        kept.end(uses + revoker.join().unwrap(), 1);
    });
}

/// The owner's call is captured while another thread revokes: nobody pushes the A-stack.
pub fn capture_against_revoke() {
    explore(3, || {
        let kept = Kept::new(1);
        let revoker = revoker(&kept);
        let mut uses = 0;
        let is_captured = kept.claim(&mut uses).is_some();
        let revoked = revoker.join().unwrap();
        assert_eq!(uses + revoked, 1, "one of the two has the A-stack");
        assert_eq!(kept.pushes(), u32::from(!is_captured), "nobody pushes a captured one");
    });
}
