//! Posted calls of which an event loop is told when they can be collected (docs/design/0014).
//!
//! ```text
//!  posted ──add──▶ ready ──next: poll──▶ its reply is there: the call, and its tag
//!                    ▲         └───────▶ under way, and left alone ──┐
//!                    └── next: what the inbox says ◀── herald ◀──────┘
//!                                the loop waits for its descriptor
//! ```
//!
//! A call moves in, and out again when it can be collected, so that no record has to stay anywhere.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{c_int, c_void};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use nearcall::Ran;
use nearcall::raw::{Attended, Inbox, NumberedWaker};

use super::ahead::{PostedCall, call_of, not_posted};
use super::records::{Environment, Outcome, PostedRecord};
use super::twice::{Again, PostedTwice};

/// So often one look for a call polls at most: where no thread wakes them (0022), calls that take
/// long would be polled until they end.
const POLLS_MAX: u32 = 1_000;

/// See the module. `nearcall_completions` in C.
pub struct Completions {
    inbox: Arc<Inbox<u64>>,
    calls: Mutex<Calls>,
}

/// What was added, each with its tag. It lasts as long as the clients of the posts do, which the
/// header demands.
#[derive(Default)]
struct Calls {
    over: VecDeque<(PostedCall<'static>, *mut c_void)>,
    under_way: BTreeMap<u64, UnderWay>,
    /// Those that are to be polled.
    ready: VecDeque<u64>,
    /// So many were under way, ever.
    count: u64,
    /// The loop was told that there is something for it to look at.
    is_told: bool,
}

struct UnderWay {
    call: Attended<'static>,
    /// Of one that may run twice.
    again: Option<Again<'static>>,
    waker: Arc<NumberedWaker<u64>>,
    tag: *mut c_void,
}

impl Completions {
    /// `None` in a child of fork(2): what is there is its parent's, which may have held the lock.
    fn calls(&self) -> Option<MutexGuard<'_, Calls>> {
        let is_own = self.inbox.is_own();
        is_own.then(|| self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has the loop look at it.
    fn add(&self, calls: &mut Calls, call: PostedCall<'static>, tag: *mut c_void) {
        let (first, again) = match call {
            PostedCall::Once(ahead) => (ahead, None),
            PostedCall::Twice(twice) => match *twice {
                PostedTwice { first: Ok(ahead), again } => (ahead, Some(again)),
                lost => return self.add_over(calls, PostedCall::Twice(Box::new(lost)), tag),
            },
            ended @ PostedCall::Ended(_) => return self.add_over(calls, ended, tag),
        };
        let number = calls.count;
        calls.count += 1;
        let waker = Arc::new(NumberedWaker::new(number, &self.inbox));
        calls.under_way.insert(number, UnderWay { call: first.attend(), again, waker, tag });
        calls.ready.push_back(number);
        self.tell(calls);
    }

    fn add_over(&self, calls: &mut Calls, call: PostedCall<'static>, tag: *mut c_void) {
        calls.over.push_back((call, tag));
        self.tell(calls);
    }

    /// There is something to look at.
    fn tell(&self, calls: &mut Calls) {
        if !std::mem::replace(&mut calls.is_told, true) {
            self.inbox.signal();
        }
    }

    /// One that can be collected. None: when there is one, the loop is told.
    fn next(&self, calls: &mut Calls) -> Option<(PostedCall<'static>, *mut c_void)> {
        let mut found = calls.over.pop_front();
        for _ in 0..POLLS_MAX {
            if found.is_some() {
                break;
            }
            if calls.ready.is_empty() {
                calls.is_told = false;
                calls.ready.extend(self.inbox.take());
            }
            let Some(number) = calls.ready.pop_front() else { break };
            found = calls.poll(number);
        }
        if !calls.over.is_empty() || !calls.ready.is_empty() {
            self.tell(calls);
        }
        found
    }
}

impl Calls {
    /// Goes on with one, if it was not cancelled; what it is if it can be collected.
    fn poll(&mut self, number: u64) -> Option<(PostedCall<'static>, *mut c_void)> {
        let own = self.under_way.get_mut(&number)?;
        own.waker.begin_poll();
        let polled = own.call.poll(&Waker::from(Arc::clone(&own.waker)));
        let is_woken = own.waker.end_poll();
        let Poll::Ready(first) = polled else {
            if is_woken {
                self.ready.push_back(number);
            }
            return None;
        };
        let UnderWay { again, tag, .. } = self.under_way.remove(&number)?;
        let call = match (first, again) {
            (first, Some(again)) => PostedCall::Twice(Box::new(PostedTwice { first, again })),
            (Ok(ahead), None) => PostedCall::Once(ahead),
            (Err(error), None) => PostedCall::Ended(error),
        };
        Some((call, tag))
    }

    /// How many there were with this tag.
    fn cancel(&mut self, tag: *mut c_void) -> usize {
        let over = self.over.iter().filter(|(_, own)| *own == tag).count();
        self.over.retain(|(_, own)| *own != tag);
        let under_way = self.under_way.len();
        // To drop one gives it up.
        self.under_way.retain(|_, own| own.tag != tag);
        over + under_way - self.under_way.len()
    }
}

/// A new one that has no calls, or null.
///
/// # Safety
///
/// - H1 live: `environment`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_completions_new(
    environment: *mut Environment,
) -> *mut Completions {
    // SAFETY: H1.
    let environment = unsafe { Environment::at(environment) };
    environment.begin();
    match Inbox::new() {
        Ok(inbox) => {
            let (inbox, calls) = (Arc::new(inbox), Mutex::default());
            Box::into_raw(Box::new(Completions { inbox, calls }))
        }
        Err(error) => {
            environment.fail(Outcome::System, Ran::No, &format_args!("no descriptor: {error}"));
            std::ptr::null_mut()
        }
    }
}

/// Gives it up, and the calls that it has with it; null is nothing.
///
/// # Safety
///
/// - H1 live: `completions`, or null, and the clients of its calls.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_completions_release(completions: *mut Completions) {
    if completions.is_null() {
        return;
    }
    // SAFETY: H1, from `nearcall_completions_new`.
    let completions = unsafe { Box::from_raw(completions) };
    if !completions.inbox.is_own() {
        // A thread of the parent's may have been in the middle of them.
        std::mem::forget(completions);
    }
}

/// What an event loop waits for: it can be read when there is something to look at.
///
/// # Safety
///
/// - H1 live: `completions`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_completions_fd(completions: *const Completions) -> c_int {
    // SAFETY: H1.
    unsafe { &*completions }.inbox.as_fd().as_raw_fd()
}

/// Takes a posted call over. False after an error: then it is as it was.
///
/// # Safety
///
/// - H1 live: all of them, `completions` or null, and the client of the post for as long as the
///   call is here.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_completions_add(
    completions: *mut Completions,
    posted: *mut PostedRecord,
    tag: *mut c_void,
    environment: *mut Environment,
) -> bool {
    // SAFETY: H1, or null.
    let completions = unsafe { completions.as_ref() };
    // SAFETY: H1.
    let own = unsafe { Environment::at(environment) };
    own.begin();
    let Some(completions) = completions else {
        let reason = "there are no completions: nearcall_completions_new has failed";
        own.fail(Outcome::Usage, Ran::No, &reason);
        return false;
    };
    let Some(mut calls) = completions.calls() else {
        let reason = "the completions are this process's parent's: a child makes its own";
        own.fail(Outcome::Usage, Ran::No, &reason);
        return false;
    };
    // SAFETY: H1. It lasts as long as its client does, which is there for as long as the call is.
    let Some(call) = (unsafe { call_of(posted) }) else {
        // SAFETY: H1.
        return unsafe { not_posted(environment) };
    };
    completions.add(&mut calls, call, tag);
    true
}

/// Gives a call back that can be collected without waiting, and its tag. False: there is none.
///
/// # Safety
///
/// - H1 live: all of them, and the clients of the calls that are there. `posted` holds no call.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_completions_next(
    completions: *mut Completions,
    posted: *mut PostedRecord,
    tag: *mut *mut c_void,
) -> bool {
    // SAFETY: H1.
    let completions = unsafe { &*completions };
    let found = completions.calls().and_then(|mut calls| completions.next(&mut calls));
    let Some((call, own)) = found else { return false };
    // SAFETY: H1.
    let posted = unsafe { &mut *posted };
    posted.put(call);
    // SAFETY: H1.
    unsafe { tag.write(own) };
    true
}

/// Gives the calls with this tag up, and lets their servers see it. How many there were.
///
/// # Safety
///
/// - H1 live: `completions`, and the clients of the calls.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_completions_cancel(
    completions: *mut Completions,
    tag: *mut c_void,
) -> usize {
    // SAFETY: H1.
    let calls = unsafe { &*completions }.calls();
    calls.map_or(0, |mut calls| calls.cancel(tag))
}
