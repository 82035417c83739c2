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

/// Servers that were put off, by keys of the caller's, in the order in which they were.
#[derive(Debug)]
pub struct Reallocator<K> {
    servers: Vec<PutOff<K>>,
}

#[derive(Debug)]
struct PutOff<K> {
    server: K,
    calls: u32,
    since_ns: u64,
}

/// What is to be done for a server that was put off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<K> {
    /// Tell it, and give it this processor.
    Donate(K),
    /// Tell it: it is to run elsewhere.
    Tell(K),
}

impl<K: PartialEq> Reallocator<K> {
    /// Nobody is put off.
    pub const fn new() -> Reallocator<K> {
        Reallocator { servers: Vec::new() }
    }

    /// Whether somebody is put off.
    pub fn has_some(&self) -> bool {
        !self.servers.is_empty()
    }

    /// Whether this server is.
    pub fn has(&self, server: &K) -> bool {
        self.servers.iter().any(|put_off| put_off.server == *server)
    }

    /// A call to this server is put off.
    pub fn handle_put_off(&mut self, server: K, now_ns: u64) {
        match self.servers.iter_mut().find(|put_off| put_off.server == server) {
            Some(put_off) => put_off.calls += 1,
            None => self.servers.push(PutOff { server, calls: 1, since_ns: now_ns }),
        }
    }

    /// It was told otherwise, of all calls.
    pub fn handle_told(&mut self, server: &K) {
        self.servers.retain(|put_off| put_off.server != *server);
    }

    /// No thread of the client's is ready: what to do. Until `None`.
    ///
    /// This processor goes to the server with the most calls, the one put off first among equals;
    /// the client knows that by itself (U18). The others are told before it is given away.
    pub fn poll_idle(&mut self) -> Option<Action<K>> {
        // The last of those with the most, from the end.
        let calls = |(_, put_off): &(usize, &PutOff<K>)| put_off.calls;
        let most = self.servers.iter().enumerate().rev().max_by_key(calls)?.0;
        match self.servers.len() {
            1 => Some(Action::Donate(self.servers.remove(0).server)),
            _ => Some(Action::Tell(self.servers.remove(if most == 0 { 1 } else { 0 }).server)),
        }
    }

    /// This processor is about to wait for something that none of its threads can run meanwhile:
    /// everybody is told. Until `None`.
    pub fn poll_blocked(&mut self) -> Option<Action<K>> {
        Some(Action::Tell(self.servers.pop()?.server))
    }

    /// Threads of the client's run on: a server that was put off for `put_off_ns_max` is told.
    /// Until `None`.
    pub fn poll_late(&mut self, now_ns: u64, put_off_ns_max: u64) -> Option<Action<K>> {
        let oldest = self.servers.first()?;
        let is_late = now_ns.saturating_sub(oldest.since_ns) >= put_off_ns_max;
        is_late.then(|| Action::Tell(self.servers.remove(0).server))
    }
}

impl<K: PartialEq> Default for Reallocator<K> {
    fn default() -> Reallocator<K> {
        Reallocator::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In this order, each call at the time of its place.
    fn put_off(servers: &[char]) -> Reallocator<char> {
        let mut reallocator = Reallocator::new();
        for (server, now_ns) in servers.iter().zip(1..) {
            reallocator.handle_put_off(*server, now_ns);
        }
        reallocator
    }

    #[track_caller]
    fn check_idle(servers: &[char], want: &[Action<char>]) {
        let mut reallocator = put_off(servers);
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
    fn among_equals_it_is_who_was_put_off_first() {
        check_idle(&['b', 'a'], &[Action::Tell('a'), Action::Donate('b')]);
    }

    #[test]
    fn who_is_late_is_told_to_run_elsewhere() {
        let mut reallocator = put_off(&['a', 'b', 'a']);
        assert_eq!(reallocator.poll_late(100, 100), None);
        assert_eq!(reallocator.poll_late(101, 100), Some(Action::Tell('a')));
        assert_eq!(reallocator.poll_late(101, 100), None);
        assert_eq!(reallocator.poll_late(102, 100), Some(Action::Tell('b')));
        assert!(!reallocator.has_some());
    }

    #[test]
    fn who_blocks_tells_everybody() {
        let mut reallocator = put_off(&['a', 'b']);
        let told = core::iter::from_fn(|| reallocator.poll_blocked()).collect::<Vec<_>>();
        assert_eq!(told, [Action::Tell('b'), Action::Tell('a')]);
    }

    #[test]
    fn a_clock_that_was_read_earlier_makes_nobody_late() {
        assert_eq!(put_off(&['a']).poll_late(0, 1), None);
    }

    #[test]
    fn who_was_told_otherwise_is_not_put_off_any_more() {
        let mut reallocator = put_off(&['a', 'b', 'a']);
        reallocator.handle_told(&'a');
        assert!(!reallocator.has(&'a') && reallocator.has(&'b'));
        assert_eq!(reallocator.poll_idle(), Some(Action::Donate('b')));
    }
}
