//! Threads that are late for what a server has delivered, and segments that it never answers for.

use nearcall_abi::{AStackClass, InterfaceDescriptor, ProcedureDescriptor, VARIABLE_BYTES};

use super::*;
use crate::raw::{Arguments, Client, Entries, Outcome};
use crate::testing::TestServer;
use crate::{NotExecuted, Pending};

static INTERFACE: InterfaceDescriptor = InterfaceDescriptor {
    name: "Late",
    hash: [1; 16],
    procedures: &[ProcedureDescriptor {
        name: "grow",
        hash: [2; 16],
        class: 0,
        is_oneway: false,
        is_idempotent: false,
        is_leaf: false,
    }],
    classes: &[AStackClass::for_block(VARIABLE_BYTES)],
    appendables: &[],
};

/// Segments for results, each longer than the one before.
const SEGMENTS: u32 = 5;

/// Sends its client a segment for results, and longer ones, before it replies.
struct Growing;

impl Entries for Growing {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &INTERFACE
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let mut results = arguments.results();
        for number in 0..SEGMENTS {
            results.variable::<0>(1 << (16 + number))?;
        }
        results.reply(0)
    }
}

/// A binding over whose socket all of them have come, and nobody has looked.
fn delivered(server: &TestServer) -> crate::Binding {
    let binding = server.import();
    let client = Client::new(binding.clone(), &INTERFACE);
    let call = client.claim::<0>(0).unwrap();
    let pending: Pending<'_, ()> = call.post_pending(0, |_| Ok(())).unwrap();
    while !pending.is_replied() {
        std::thread::yield_now();
    }
    // Its results are nobody's.
    drop(pending);
    binding
}

fn last(inbox: &mut Inbox) -> Option<OutOfLine> {
    inbox.results.remove(&0).filter(|found| found.generation == SEGMENTS)
}

#[test]
fn who_is_late_finds_what_the_server_has_delivered() {
    let server = TestServer::new("late-found", Growing);
    let binding = delivered(&server);
    assert!(binding.inner().await_message(NEVER_NS, 0, last).is_ok());
    assert!(!binding.is_revoked());
}

#[test]
fn what_another_thread_has_in_its_hands_is_waited_for() {
    let server = TestServer::new("late-in-hand", Growing);
    let binding = delivered(&server);
    let control = &binding.inner().control;
    control.inbox().is_read = true;
    let in_hand = std::iter::from_fn(|| control.socket.try_receive().unwrap());
    let in_hand: Vec<_> = in_hand.collect();
    assert_eq!(in_hand.len(), SEGMENTS as usize);
    let has_looked = AtomicBool::new(false);
    let find = |inbox: &mut Inbox| {
        // Relaxed: a flag that orders nothing.
        has_looked.store(true, Relaxed);
        last(inbox)
    };
    std::thread::scope(|threads| {
        let waits = threads.spawn(|| binding.inner().await_message(NEVER_NS, 0, find));
        // Relaxed: as above.
        while !has_looked.load(Relaxed) {
            std::thread::yield_now();
        }
        let mut inbox = control.inbox();
        for packet in in_hand {
            binding.inner().file(&mut inbox, Ok(packet)).unwrap();
        }
        inbox.is_read = false;
        drop(inbox);
        control.news.notify_all();
        assert!(waits.join().unwrap().is_ok());
    });
    assert!(!binding.is_revoked());
}

#[test]
fn a_server_that_has_not_delivered_is_given_up() {
    let server = TestServer::new("late-missing", Growing);
    let binding = delivered(&server);
    let never = |_: &mut Inbox| None::<()>;
    assert_eq!(binding.inner().await_message(NEVER_NS, 0, never), Err(Missing::Never));
    assert!(binding.is_revoked());
}

/// Asks the server to map a segment, once `meanwhile` has come back.
type Ask = fn(&crate::Binding, meanwhile: &dyn Fn()) -> CallError;

/// For arguments of a call that has an A-stack already.
fn argue(binding: &crate::Binding, meanwhile: &dyn Fn()) -> CallError {
    let client = Client::new(binding.clone(), &INTERFACE);
    let mut call = client.claim::<0>(0).unwrap();
    meanwhile();
    let Err(error) = call.variable::<0>(1 << 20) else {
        panic!("nobody maps it");
    };
    *error
}

/// To be lent.
fn lend(binding: &crate::Binding, meanwhile: &dyn Fn()) -> CallError {
    meanwhile();
    binding.lend(1).expect_err("nobody maps it")
}

/// What the segment was for has not run, and over another binding it may be tried again.
fn assert_revoked(binding: &crate::Binding, error: &CallError) {
    let CallError::NotExecuted { reason: NotExecuted::Revoked, .. } = error else {
        panic!("{error}");
    };
    assert!(error.may_retry());
    assert!(binding.is_revoked());
}

#[test]
fn a_segment_that_meets_a_closed_socket_was_for_what_has_not_run() {
    let server = TestServer::new("segment-closed", Growing);
    for ask in [argue as Ask, lend] {
        let binding = server.import();
        // As of a server that has ended, which nobody has noticed yet.
        let error = ask(&binding, &|| binding.inner().control.hang_up());
        assert_revoked(&binding, &error);
    }
}

#[test]
fn a_segment_that_no_answer_comes_for_was_for_what_has_not_run() {
    let server = TestServer::new("segment-unanswered", Growing);
    for ask in [argue as Ask, lend] {
        let binding = server.import();
        let control = &binding.inner().control;
        control.inbox().is_read = true;
        let error = std::thread::scope(|threads| {
            let asks = threads.spawn(|| ask(&binding, &|| {}));
            // The answer is lost, as of a server that ends before it has sent one.
            while control.socket.try_receive().unwrap().is_none() {
                std::thread::yield_now();
            }
            control.hang_up();
            control.inbox().is_read = false;
            control.news.notify_all();
            asks.join().unwrap()
        });
        assert_revoked(&binding, &error);
    }
}
