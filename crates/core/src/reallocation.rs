//! Processor reallocation, as a processor of the client decides it: when a server that has no
//! processor of its own is told of a call, and which one gets the client's (U8 to U18; design note
//! 0023).
//!
//! ```text
//!  post to a server that sleeps
//!    │ it would run elsewhere ─────────────────────▶ Now: it is told, and the client goes on
//!    │ it would run here, urgent ──────────────────▶ ByForce: told, and gets this processor
//!    └ it would run here ──▶ WhenIdle
//!                              │ no thread is ready ─▶ the most eligible gets this processor,
//!                              │                       the others are told
//!                              └ threads run on: late ▶ told, to run elsewhere
//! ```
//!
//! Optimistic (U12): a client has other work, and several calls can share one reallocation. Told
//! all facts and times; wakes nobody, and knows no bell.

use alloc::vec::Vec;

/// A call was posted, by one of several threads of a processor, to a server that sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unserved {
    /// Its latency matters more than what else this processor has to do (U13).
    pub is_urgent: bool,
    /// If it is told now, the server runs on this processor, in the place of the client.
    pub is_here: bool,
}

/// When the server is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At once. The client goes on.
    Now,
    /// At once, and the client gives its processor up although it has other work.
    ByForce,
    /// When the client has nothing else to do, or it gets late.
    WhenIdle,
}

impl Unserved {
    /// When its server is told of it.
    pub fn start(self) -> Start {
        match (self.is_here, self.is_urgent) {
            // Nobody gives anything up for it, and no processor is to idle while there is work
            // (U17): the kernel finds one.
            (false, _) => Start::Now,
            (true, true) => Start::ByForce,
            (true, false) => Start::WhenIdle,
        }
    }
}

/// Servers that were put off, in the order in which they were, and over which bindings of theirs;
/// by keys of the caller's.
#[derive(Debug)]
pub struct Reallocator<S, B> {
    servers: Vec<PutOff<S, B>>,
}

/// A server has one processor to be given, however many of its interfaces are called.
#[derive(Debug)]
struct PutOff<S, B> {
    server: S,
    /// Over all bindings.
    calls: u32,
    since_ns: u64,
    /// Each is rung for by itself; never none.
    bindings: Vec<(B, u32)>,
}

/// What is to be done for a server that was put off, over one of its bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<B> {
    /// Tell it, and give it this processor.
    Donate(B),
    /// Tell it: it is to run elsewhere.
    Tell(B),
}

impl<S: PartialEq, B: PartialEq> Reallocator<S, B> {
    /// Nobody is put off.
    pub const fn new() -> Reallocator<S, B> {
        Reallocator { servers: Vec::new() }
    }

    /// Whether somebody is put off.
    pub fn has_some(&self) -> bool {
        !self.servers.is_empty()
    }

    /// Whether calls over this binding are.
    pub fn has(&self, server: &S, binding: &B) -> bool {
        let put_off = self.servers.iter().find(|put_off| put_off.server == *server);
        put_off.is_some_and(|put_off| put_off.bindings.iter().any(|(other, _)| other == binding))
    }

    /// A call to this server, over this binding, is put off.
    pub fn handle_put_off(&mut self, server: S, binding: B, now_ns: u64) {
        let Some(put_off) = self.servers.iter_mut().find(|put_off| put_off.server == server) else {
            let bindings = alloc::vec![(binding, 1)];
            return self.servers.push(PutOff { server, calls: 1, since_ns: now_ns, bindings });
        };
        put_off.calls += 1;
        match put_off.bindings.iter_mut().find(|(other, _)| *other == binding) {
            Some((_, calls)) => *calls += 1,
            None => put_off.bindings.push((binding, 1)),
        }
    }

    /// It was told otherwise, of all calls over this binding.
    pub fn handle_told(&mut self, server: &S, binding: &B) {
        let Some(at) = self.servers.iter().position(|put_off| put_off.server == *server) else {
            return;
        };
        let bindings = &self.servers[at].bindings;
        if let Some(nth) = bindings.iter().position(|(other, _)| other == binding) {
            self.take(at, nth);
        }
    }

    /// No thread of the client's is ready: what to do. Until `None`.
    ///
    /// This processor goes to the server with the most calls, the one put off first among equals;
    /// the client knows that by itself (U18). The others are told before it is given away.
    pub fn poll_idle(&mut self) -> Option<Action<B>> {
        // The last of those with the most, from the end.
        let calls = |(_, put_off): &(usize, &PutOff<S, B>)| put_off.calls;
        let most = self.servers.iter().enumerate().rev().max_by_key(calls)?.0;
        Some(match self.servers.len() {
            1 => Action::Donate(self.take(0, 0)),
            _ => Action::Tell(self.take(if most == 0 { 1 } else { 0 }, 0)),
        })
    }

    /// This processor is about to wait for something that none of its threads can run meanwhile:
    /// everybody is told, over this binding.
    /// Until `None`.
    pub fn poll_blocked(&mut self) -> Option<B> {
        let last = self.servers.len().checked_sub(1)?;
        Some(self.take(last, 0))
    }

    /// Threads of the client's run on: who was put off for `put_off_ns_max` is told, over this
    /// binding. Until `None`.
    pub fn poll_late(&mut self, now_ns: u64, put_off_ns_max: u64) -> Option<B> {
        let oldest = self.servers.first()?;
        let is_late = now_ns.saturating_sub(oldest.since_ns) >= put_off_ns_max;
        is_late.then(|| self.take(0, 0))
    }

    /// Takes a binding from those of a server, which is put off as long as it has others.
    fn take(&mut self, at: usize, nth: usize) -> B {
        let put_off = &mut self.servers[at];
        let (binding, calls) = put_off.bindings.remove(nth);
        put_off.calls -= calls;
        if put_off.bindings.is_empty() {
            self.servers.remove(at);
        }
        binding
    }
}

impl<S: PartialEq, B: PartialEq> Default for Reallocator<S, B> {
    fn default() -> Reallocator<S, B> {
        Reallocator::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whose binding it is: `a` and `A` are two of one server's.
    fn server(binding: char) -> char {
        binding.to_ascii_lowercase()
    }

    /// Over these bindings in this order, each call at the time of its place.
    fn put_off(bindings: &[char]) -> Reallocator<char, char> {
        let mut reallocator = Reallocator::new();
        for (&binding, now_ns) in bindings.iter().zip(1..) {
            reallocator.handle_put_off(server(binding), binding, now_ns);
        }
        reallocator
    }

    #[track_caller]
    fn check_idle(bindings: &[char], want: &[Action<char>]) {
        let mut reallocator = put_off(bindings);
        let actions: Vec<_> = core::iter::from_fn(|| reallocator.poll_idle()).collect();
        assert_eq!(actions, want);
        assert!(!reallocator.has_some());
    }

    #[test]
    fn a_server_that_runs_elsewhere_is_told_at_once() {
        for is_urgent in [false, true] {
            assert_eq!(Unserved { is_urgent, is_here: false }.start(), Start::Now);
        }
    }

    #[test]
    fn a_server_that_would_take_this_processor_waits_until_it_is_idle() {
        assert_eq!(Unserved { is_urgent: false, is_here: true }.start(), Start::WhenIdle);
    }

    #[test]
    fn an_urgent_call_takes_this_processor_by_force() {
        assert_eq!(Unserved { is_urgent: true, is_here: true }.start(), Start::ByForce);
    }

    #[test]
    fn one_reallocation_serves_all_calls_to_a_server() {
        check_idle(&['f', 'f', 'f'], &[Action::Donate('f')]);
    }

    #[test]
    fn an_idle_client_with_nobody_put_off_gives_nothing() {
        check_idle(&[], &[]);
    }

    #[test]
    fn the_server_with_the_most_calls_is_the_most_eligible() {
        check_idle(&['a', 'b', 'b'], &[Action::Tell('a'), Action::Donate('b')]);
        check_idle(
            &['b', 'b', 'a', 'c'],
            &[Action::Tell('a'), Action::Tell('c'), Action::Donate('b')],
        );
    }

    #[test]
    fn calls_to_two_interfaces_of_a_server_are_calls_to_one() {
        check_idle(
            &['b', 'b', 'a', 'A', 'a'],
            &[Action::Tell('b'), Action::Donate('a'), Action::Donate('A')],
        );
        check_idle(
            &['b', 'B', 'a', 'a', 'a'],
            &[Action::Tell('b'), Action::Tell('B'), Action::Donate('a')],
        );
    }

    #[test]
    fn among_equals_it_is_who_was_put_off_first() {
        check_idle(&['b', 'a'], &[Action::Tell('a'), Action::Donate('b')]);
    }

    #[test]
    fn who_is_late_is_told_to_run_elsewhere() {
        let mut reallocator = put_off(&['a', 'b', 'A']);
        assert_eq!(reallocator.poll_late(100, 100), None);
        assert_eq!(reallocator.poll_late(101, 100), Some('a'));
        assert_eq!(reallocator.poll_late(101, 100), Some('A'));
        assert_eq!(reallocator.poll_late(101, 100), None);
        assert_eq!(reallocator.poll_late(102, 100), Some('b'));
        assert!(!reallocator.has_some());
    }

    #[test]
    fn who_blocks_tells_everybody() {
        let mut reallocator = put_off(&['a', 'b']);
        let told = core::iter::from_fn(|| reallocator.poll_blocked()).collect::<Vec<_>>();
        assert_eq!(told, ['b', 'a']);
    }

    #[test]
    fn a_clock_that_was_read_earlier_makes_nobody_late() {
        assert_eq!(put_off(&['a']).poll_late(0, 1), None);
    }

    #[test]
    fn who_was_told_otherwise_is_not_put_off_any_more() {
        let mut reallocator = put_off(&['a', 'b', 'a', 'A', 'b']);
        reallocator.handle_told(&'a', &'a');
        assert!(!reallocator.has(&'a', &'a') && reallocator.has(&'b', &'b'));
        // What was told of one binding was not told of the other, and counts no more for it.
        assert!(reallocator.has(&'a', &'A'));
        assert_eq!(reallocator.poll_idle(), Some(Action::Tell('A')));
        assert_eq!(reallocator.poll_idle(), Some(Action::Donate('b')));
    }
}
