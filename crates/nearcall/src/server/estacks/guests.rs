//! A server processor as the host of its procedures: each is a guest on one of its E-stacks.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nearcall_abi::Status;
use nearcall_core::{Sequence, WaitPolicy, turn};
use nearcall_os::futex::{self, WORDS_MAX, Watched, Woken};
use nearcall_os::segment::Segment;
use nearcall_os::{HeadWords, clock, fence};
use nearcall_threads::{Guest, Host, Hosts, PROCESSORS_MAX};

use crate::client::linkage::OutOfLine;
use crate::client::switching;
use crate::domain::{DomainCore, DomainOptions};
use crate::raw::{OfKernelThread, Replied, ServedCall};
use crate::server::binding::ServerBinding;
use crate::server::current;
use crate::server::run;

/// Procedures that go on before calls are looked for again.
const TOGETHER: usize = 32;

/// While procedures wait for replies, so many of those are looked at more closely each such time:
/// whether their servers live, and have heard of them.
const CLOSER: usize = 128;
const CLOSER_NS: u64 = 100_000;

thread_local! {
    static HOST: RefCell<Option<Rc<Host<GuestCall>>>> = const { RefCell::new(None) };
    /// Whether there is one: asked without what a value that is dropped at the thread's end costs.
    static HAS_HOST: Cell<bool> = const { Cell::new(false) };
    /// What the watch asks each time that it looks for calls. Of this processor alone: what another
    /// one has says nothing about this one's.
    static HAS_GUESTS: Cell<bool> = const { Cell::new(false) };
    /// Sleeps in a row that have ended without any reply to a nested call.
    static SLICES: Cell<u32> = const { Cell::new(0) };
    /// When replies were last looked at more closely, in ticks.
    static LOOKED: Cell<u64> = const { Cell::new(0) };
}

/// What the processors of a domain have in common: their procedures may share locks.
#[derive(Debug, Default)]
pub(crate) struct Common {
    hosts: OnceLock<Arc<Hosts>>,
}

/// A call whose procedure runs on an E-stack.
struct GuestCall {
    binding: Arc<ServerBinding>,
    /// Of its A-stack.
    index: u32,
    sequence: Sequence,
    procedure: usize,
    /// The head's, private.
    words: HeadWords,
    /// The arguments that lie out of line.
    request: Option<Arc<Segment>>,
    /// What it had left when it waited last: more or less than its call, within another one.
    until_ns: Cell<Option<u64>>,
    /// While it waits.
    kept: Cell<OfKernelThread>,
}

impl Common {
    /// An interface is exported whose procedures run on E-stacks of at least so many bytes.
    ///
    /// # Errors: the domain's options do not make sense.
    pub fn prepare(&self, options: &DomainOptions, bytes_min: usize) -> io::Result<()> {
        let refuse = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        if options.estack_bytes < bytes_min {
            let DomainOptions { estack_bytes, .. } = options;
            return refuse(format!(
                "estack_bytes is {estack_bytes}, and its least for this interface is {bytes_min}"
            ));
        }
        if self.hosts.get().is_some() {
            return Ok(());
        }
        if options.estacks_max == 0 {
            return refuse(String::from("estacks_max is 0, and its least is 1"));
        }
        // The kernel takes 10 ms to set this up. The first nested call would do it: in a procedure,
        // and each processor that takes the watch meanwhile would come to wait for it, too.
        fence::is_available();
        let count = (options.processors_max as usize).clamp(2, PROCESSORS_MAX);
        let hosts = Hosts::new(count, options.estack_bytes);
        // Somebody else may have been faster.
        let _ = self.hosts.set(hosts.map_err(|error| io::Error::other(error.to_string()))?);
        Ok(())
    }
}

/// This processor's host.
fn host() -> Option<Rc<Host<GuestCall>>> {
    HOST.with_borrow(Option::clone)
}

/// The same, for the first call too.
fn host_of(domain: &DomainCore) -> Option<Rc<Host<GuestCall>>> {
    let hosts = domain.processors.estacks.hosts.get()?;
    let host = Rc::new(hosts.enter(domain.options.estacks_max as usize)?);
    HOST.set(Some(Rc::clone(&host)));
    HAS_HOST.set(true);
    Some(host)
}

/// Begins the procedure of a call that this processor has claimed, whose head said `words`. `None`:
/// it waits, and replies by itself.
pub(crate) fn begin(call: &ServedCall<'_>, procedure: usize, words: HeadWords) -> Option<Replied> {
    let index = call.astack.record().index;
    current::enter_call(call.binding.key, index);
    let host = host().or_else(|| host_of(&*current::domain()?));
    let Some((host, binding)) = host.zip(current::served_binding()) else {
        current::leave_call();
        call.binding.forget_descriptors(index);
        return Some(Replied::refused(Status::Refused));
    };
    let guest = GuestCall {
        sequence: binding.claimed(index),
        binding,
        index,
        procedure,
        words,
        request: call.request().cloned(),
        until_ns: Cell::new(current::until_ns()),
        kept: Cell::default(),
    };
    let begun = host.begin(guest);
    // Whatever it has left: what runs next on this kernel thread is no part of its call.
    current::leave_call();
    let Some((replied, out_of_line)) = begun else {
        HAS_GUESTS.set(true);
        return None;
    };
    if host.is_busy() {
        // It has left threads behind.
        HAS_GUESTS.set(true);
    }
    if let Some(out_of_line) = out_of_line {
        call.set_reply(out_of_line);
    }
    Some(replied)
}

/// Goes on with procedures of this processor that wait no more, for about so long. False: there are
/// none.
pub(crate) fn go_on(ns_max: u64) -> bool {
    let Some(host) = host() else { return false };
    let begin = clock::ticks();
    let has_run = host.run_ready(TOGETHER, || clock::ns_since(begin) < ns_max);
    // What the last one has dropped behind its call may have waited in it.
    current::leave_call();
    HAS_GUESTS.set(host.is_busy());
    if has_run {
        SLICES.set(0);
    }
    has_run
}

/// Whether a procedure of this processor waits no more. Tells servers that sleep of nested calls:
/// not where those are made, because whoever is woken may have the processor at once, and this one
/// would count as stuck in a procedure.
pub(crate) fn can_go_on() -> bool {
    switching::tell_all();
    let Some(host) = host() else { return false };
    if host.awaits_something() && clock::ns_since(LOOKED.get()) > CLOSER_NS {
        host.look_closer(CLOSER);
        LOOKED.set(clock::ticks());
    }
    host.look()
}

/// Whether the watch has to look for procedures that wait no more: one waits.
///
/// # Cost: a load.
#[inline]
pub(crate) fn has_guests() -> bool {
    HAS_GUESTS.get()
}

/// Finds out whether it has to: a procedure that has returned may have left threads behind.
///
/// # Cost: a load, where no procedure has run on an E-stack.
#[inline]
pub(crate) fn note_guests() {
    if HAS_HOST.get() {
        HAS_GUESTS.set(is_busy());
    }
}

/// Whether procedures of this processor wait, or wait no more and have not gone on.
pub(crate) fn is_busy() -> bool {
    HOST.with_borrow(|host| host.as_ref().is_some_and(|host| host.is_busy()))
}

/// Goes on until all have returned: the processor ends.
pub(crate) fn finish(policy: &WaitPolicy) {
    while is_busy() {
        if !go_on(u64::MAX) {
            sleep(policy, &[], None);
        }
    }
    HOST.set(None);
    HAS_HOST.set(false);
    HAS_GUESTS.set(false);
}

/// The binding with this key, if the caller is in one of its procedures, on an E-stack.
pub(crate) fn served_binding(key: u64) -> Option<Arc<ServerBinding>> {
    let binding = host()?.with_running(|guest| Arc::clone(&guest.binding))?;
    (binding.key == key).then_some(binding)
}

/// Sleeps on these words, and on what procedures of this processor wait for, until one of them
/// changes or so long. `None`: a procedure can go on.
pub(crate) fn sleep(
    policy: &WaitPolicy,
    words: &[Watched<'_>],
    longest: Option<Duration>,
) -> Option<Woken> {
    let Some(host) = host() else {
        return Some(futex::wait_any(words, longest));
    };
    switching::tell_all();
    let mut outcome = None;
    host.sleep(WORDS_MAX - words.len(), |theirs, left| {
        let theirs = theirs.iter().map(|word| match word.is_own {
            true => Watched::own(word.word, word.expected),
            false => Watched::shared(word.word, word.expected),
        });
        let all: Vec<Watched<'_>> = words.iter().copied().chain(theirs).collect();
        let slice = || Duration::from_nanos(policy.slice_ns(SLICES.get()));
        let slice = host.awaits_something().then(slice);
        let limit = [longest, left, slice].into_iter().flatten().min();
        let woken = futex::wait_any(&all, limit);
        outcome = Some(woken);
        let is_late = woken == Woken::TimedOut && limit == slice;
        SLICES.set(if is_late { SLICES.get().saturating_add(1) } else { 0 });
        is_late
    });
    outcome
}

impl Guest for GuestCall {
    type Output = (Replied, Option<OutOfLine>);

    fn name(&self) -> &'static str {
        self.binding.all_procedures()[self.procedure].told().operation()
    }

    fn run(&self) -> (Replied, Option<OutOfLine>) {
        let astack = self.binding.astack(self.index);
        // It may have waited for this E-stack for longer than its client for it.
        if turn::is_given_up(&astack.head().turn, self.sequence) {
            self.binding.forget_descriptors(self.index);
            return (Replied::refused(Status::Refused), None);
        }
        let call = ServedCall::new(&self.binding, astack, self.words.message_bytes());
        if let Some(segment) = &self.request {
            call.set_request(Arc::clone(segment), self.words);
        }
        let replied = run::enter(&call, self.procedure);
        (replied, call.into_reply())
    }

    fn resume(&self) {
        current::enter_call(self.binding.key, self.index);
        current::set_until(self.until_ns.get());
        self.binding.entries.change_places(&self.kept);
    }

    fn suspend(&self) {
        self.until_ns.set(current::until_ns());
        self.binding.entries.change_places(&self.kept);
        current::leave_call();
    }

    fn finish(&self, (replied, out_of_line): (Replied, Option<OutOfLine>)) {
        if !replied.is_later() {
            run::publish(&self.binding, self.index, self.sequence, (replied, out_of_line));
        }
    }

    fn resume_forked(kept: u64) {
        // Not in the call of a guest that has ended: nobody has left that one yet.
        current::leave_call();
        current::set_until((kept != current::NEVER_NS).then_some(kept));
    }

    fn suspend_forked() -> u64 {
        let kept = current::until_ns().unwrap_or(current::NEVER_NS);
        current::leave_call();
        kept
    }
}
