//! Carries out what `nearcall_core::reallocation` decides for this processor: rings for servers
//! that sleep, and gives them the processor (design note 0023).
//!
//! ```text
//!  post ─▶ put_off ─▶ … other FastThreads … ─▶ idle ─▶ donate ─▶ yield ─▶ replies
//!                          ├▶ at each switch: tell_late
//!                          └▶ the kernel thread blocks: tell_all
//! ```
//!
//! A ring may come too often here, never too seldom: a server that was rung for meanwhile by
//! somebody else is rung for once more.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

use nearcall_core::reallocation::{Action, Reallocator, Start, Unserved};
use nearcall_os::{clock, processor};
use nearcall_threads::Local;

use crate::client::bell::Rung;
use crate::client::binding::{ClientBinding, Grip};

use super::is_here;

/// Longest that a server is put off while FastThreads run on: about what waking an idle processor
/// for it takes, so that it is at most twice as late as it would be at best.
const PUT_OFF_NS_MAX: u64 = 50_000;

/// One of a server's bindings.
struct Reached(Weak<ClientBinding>);

impl PartialEq for Reached {
    fn eq(&self, other: &Reached) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

thread_local! {
    /// Servers are known by where their bells are mapped, which all bindings of one share.
    static PUT_OFF: RefCell<Reallocator<usize, Reached>> =
        const { RefCell::new(Reallocator::new()) };
}

/// Calls of this FastThread are urgent.
static IS_URGENT: Local<Cell<bool>> = Local::new(|| Cell::new(false));

/// Has the calls that `body` makes begin at once, although other FastThreads are ready: a server
/// that sleeps gets this processor, if it would run here (U13). For calls whose latency has a
/// bound, and for those that start something slow. A kernel thread's calls begin at once anyway.
///
/// # Cost: nothing of a call to a server that is awake.
pub fn urgently<T>(body: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            IS_URGENT.with(|is_urgent| is_urgent.set(self.0));
        }
    }
    if nearcall_threads::identity().is_none() {
        return body();
    }
    let _before = Before(IS_URGENT.with(|is_urgent| is_urgent.replace(true)));
    body()
}

/// A call was posted from `processor` to a server that does not poll it. True: whatever is to be
/// done for that now is done, or will be when the processor is idle. False: ring.
#[cold]
pub(crate) fn put_off(grip: Grip<'_>, processor: u32) -> bool {
    if !is_here() {
        return false;
    }
    let binding = grip.binding;
    if nearcall_threads::is_hosted() {
        // The loop of the server processor tells it, as soon as it goes on (design note 0027).
        note(binding);
        return true;
    }
    let is_here = binding.would_be_served_on(processor, grip.linkage().server_processor());
    let is_urgent = IS_URGENT.with(Cell::get);
    match (Unserved { is_urgent, is_here }).start() {
        Start::Now => {
            told(binding);
            false
        }
        Start::ByForce => {
            told(binding);
            grip.ring(processor);
            processor::yield_now();
            true
        }
        Start::WhenIdle => {
            note(binding);
            nearcall_threads::at_each_switch(tell_late);
            true
        }
    }
}

fn note(binding: &ClientBinding) {
    let (server, reached, now_ns) = (binding.bell_address(), reached(binding), clock::now_ns());
    PUT_OFF.with_borrow_mut(|put_off| put_off.handle_put_off(server, reached, now_ns));
}

fn reached(binding: &ClientBinding) -> Reached {
    Reached(binding.downgraded())
}

/// It is rung for now: of all calls, since one bit of a bell stands for several posts.
fn told(binding: &ClientBinding) {
    if is_put_off(binding) {
        let (server, reached) = (binding.bell_address(), reached(binding));
        PUT_OFF.with_borrow_mut(|put_off| put_off.handle_told(&server, &reached));
    }
}

/// Whether calls over this binding wait until this processor is idle.
pub(crate) fn is_put_off(binding: &ClientBinding) -> bool {
    PUT_OFF.with_borrow(|put_off| {
        put_off.has_some() && put_off.has(&binding.bell_address(), &reached(binding))
    })
}

/// No FastThread is ready: gives this processor to the server that has most of their calls. True:
/// it has had it, for as long as it wanted.
pub(crate) fn donate() -> bool {
    let mut given: Option<Arc<ClientBinding>> = None;
    while let Some(action) = PUT_OFF.with_borrow_mut(Reallocator::poll_idle) {
        match action {
            Action::Tell(reached) => tell(&reached),
            // A binding that is gone has no calls. Of a server's the last one's ring wakes it.
            Action::Donate(Reached(binding)) => {
                if let Some(binding) = binding.upgrade()
                    && let Some(before) = given.replace(binding)
                {
                    before.ring_beside();
                }
            }
        }
    }
    let is_here = given.is_some_and(|binding| binding.ring() == Rung::Here);
    if is_here {
        processor::yield_now();
    }
    is_here
}

/// This kernel thread is about to block, with all its FastThreads: who was put off is to run
/// elsewhere.
pub(crate) fn tell_all() {
    while let Some(reached) = PUT_OFF.with_borrow_mut(Reallocator::poll_blocked) {
        tell(&reached);
    }
}

/// FastThreads run on: who was put off for long is to run elsewhere. True: others are put off.
fn tell_late() -> bool {
    let now_ns = clock::now_ns();
    let late = || PUT_OFF.with_borrow_mut(|put_off| put_off.poll_late(now_ns, PUT_OFF_NS_MAX));
    while let Some(late) = late() {
        tell(&late);
    }
    PUT_OFF.with_borrow(Reallocator::has_some)
}

/// The server is to run elsewhere.
fn tell(reached: &Reached) {
    if let Some(binding) = reached.0.upgrade() {
        binding.ring_elsewhere();
    }
}

#[cfg(test)]
mod tests {
    use nearcall_abi::{AStackClass, InterfaceDescriptor};

    use super::*;
    use crate::testing::{Null, TestServer, null_interface};

    const CLASSES: &[AStackClass] = &[AStackClass { block_bytes: 0, count: 1 }];
    static NULL: InterfaceDescriptor = null_interface(CLASSES);

    #[test]
    fn calls_over_all_bindings_to_a_server_are_calls_to_it() {
        let (one, other) = (
            TestServer::new("reallocating-one", Null(&NULL)),
            TestServer::new("reallocating-other", Null(&NULL)),
        );
        let bindings = [one.import(), other.import(), one.import()];
        bindings.iter().for_each(|binding| note(binding.inner()));
        let next = || PUT_OFF.with_borrow_mut(Reallocator::poll_idle);
        let nth = |nth: usize| reached(bindings[nth].inner());
        assert!(next() == Some(Action::Tell(nth(1))));
        assert!(next() == Some(Action::Donate(nth(0))));
        assert!(next() == Some(Action::Donate(nth(2))));
        assert!(next().is_none());
    }
}
