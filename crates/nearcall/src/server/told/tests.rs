//! A procedure that asks whether its server ends.

use std::pin::pin;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use nearcall_abi::{AStackClass, InterfaceDescriptor, ProcedureDescriptor};
use nearcall_os::forks::InChild;

use crate::error::Ran;
use crate::raw::{Arguments, Client, Entries, Outcome};
use crate::testing::{FOR_EVER, TestServer, apart, null_interface};
use crate::{Admission, CurrentCall, Domain, ExportOptions, Policy, current_call};

const CLASSES: [AStackClass; 1] = [AStackClass { block_bytes: 0, count: 5 }];
static INTERFACE: InterfaceDescriptor = null_interface(&CLASSES);

/// Says which call it serves, and returns when its server ends.
struct Lasting(Mutex<Sender<CurrentCall>>);

impl Entries for Lasting {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &INTERFACE
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let call = current_call().expect("this is a procedure");
        self.0.lock().unwrap().send(call.clone()).expect("a test that goes on");
        while !call.is_ending() {
            std::thread::yield_now();
        }
        arguments.results().reply(0)
    }
}

static LOGGED: InterfaceDescriptor = InterfaceDescriptor {
    procedures: &[ProcedureDescriptor {
        name: "log",
        hash: [2; 16],
        class: 0,
        is_oneway: true,
        is_idempotent: false,
        is_leaf: false,
    }],
    ..null_interface(&CLASSES)
};

/// Says which call it serves when it waits for its server's end, which it does.
struct Logging(Mutex<Sender<CurrentCall>>);

impl Entries for Logging {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &LOGGED
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let call = current_call().expect("this is a procedure");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut ending = pin!(call.ending());
            let first = std::future::poll_fn(|context| {
                Poll::Ready(ending.as_mut().poll(context).is_pending())
            });
            assert!(first.await);
            self.0.lock().unwrap().send(call.clone()).expect("a test that goes on");
            ending.await;
        });
        arguments.results().reply(0)
    }
}

/// A server that is at a call: that, and what it comes to.
fn serving(name: &str) -> (TestServer, CurrentCall, Receiver<Result<(), Ran>>) {
    let (begins, begun) = mpsc::channel();
    let options = ExportOptions { policy: Policy::Anyone, ..ExportOptions::default() };
    let entries = Lasting(Mutex::new(begins));
    let server = TestServer::of(name, entries, Domain::new().unwrap(), options);
    let client = Client::new(server.import(), &INTERFACE);
    let called = apart(move || {
        let reply = client.claim::<0>(0).and_then(|call| call.post(0).map(drop));
        reply.map_err(|error| error.ran())
    });
    let call = begun.recv_timeout(FOR_EVER).unwrap();
    assert!(!call.is_ending() && !call.is_cancelled());
    (server, call, called)
}

#[test]
fn a_procedure_that_asks_keeps_no_end_waiting() {
    let (server, call, called) = serving("shut-down");
    let domain = server.domain().clone();
    apart(move || domain.shut_down()).recv_timeout(FOR_EVER).unwrap();
    assert_eq!(called.recv_timeout(FOR_EVER).unwrap(), Ok(()));
    assert!(call.is_ending() && call.is_cancelled());
}

#[test]
fn a_procedure_is_told_that_its_clerk_has_gone_and_not_that_its_policy_has() {
    let (server, call, called) = serving("withdrawn");
    let domain = server.domain().clone();
    let policy = Policy::Ask(Box::new(|_| Admission::Refuse("on purpose".to_owned())));
    assert_eq!(server.clerk().set_policy(policy).unwrap(), 1);
    assert!(!call.is_ending() && !call.is_cancelled());
    drop(server);
    assert_eq!(called.recv_timeout(FOR_EVER).unwrap(), Ok(()));
    assert!(domain.failure().is_none() && call.is_ending());
}

#[test]
fn a_procedure_is_told_when_a_server_processor_panics() {
    let (server, call, called) = serving("broken-off");
    let core = Arc::clone(server.domain().core());
    core.break_off("a server processor", &"on purpose");
    assert!(matches!(called.recv_timeout(FOR_EVER).unwrap(), Ok(()) | Err(Ran::Maybe)));
    assert!(call.is_ending());
    apart(move || server.domain().shut_down()).recv_timeout(FOR_EVER).unwrap();
}

#[test]
fn who_waits_for_its_servers_end_is_told_when_its_client_had_gone_or_was_refused() {
    for has_gone in [false, true] {
        let (begins, begun) = mpsc::channel();
        let options = ExportOptions { policy: Policy::Anyone, ..ExportOptions::default() };
        let entries = Logging(Mutex::new(begins));
        let name = if has_gone { "gone-before" } else { "refused-before" };
        let server = TestServer::of(name, entries, Domain::new().unwrap(), options);
        let client = Client::new(server.import(), &LOGGED);
        client.claim::<0>(0).unwrap().post_oneway(0).unwrap();
        let call = begun.recv_timeout(FOR_EVER).unwrap();
        if has_gone {
            drop(client);
            let gone = call.clone();
            let gone = apart(move || {
                while !gone.is_client_gone() {
                    std::thread::yield_now();
                }
            });
            gone.recv_timeout(FOR_EVER).unwrap();
        } else {
            let policy = Policy::Ask(Box::new(|_| Admission::Refuse("on purpose".to_owned())));
            assert_eq!(server.clerk().set_policy(policy).unwrap(), 1);
        }
        assert!(!call.is_ending());
        assert_eq!(call.is_cancelled(), has_gone);
        let domain = server.domain().clone();
        apart(move || domain.shut_down()).recv_timeout(FOR_EVER).unwrap();
        assert!(call.is_ending());
    }
}

#[test]
fn who_binds_while_the_domain_ends_is_told_so() {
    let (begins, _begun) = mpsc::channel();
    let entries = Lasting(Mutex::new(begins));
    let server = TestServer::new("bound-late", entries);
    server.domain().shut_down();
    let late = server.import();
    let revoked = apart(move || {
        while !late.is_revoked() {
            std::thread::yield_now();
        }
    });
    revoked.recv_timeout(FOR_EVER).unwrap();
}

/// What a child does with its copy of a domain when it begins, done here.
#[test]
fn a_copy_that_a_child_has_of_a_call_is_not_told_of_an_end() {
    let (server, call, called) = serving("copied");
    let policy = Policy::Ask(Box::new(|_| Admission::Refuse("on purpose".to_owned())));
    assert_eq!(server.clerk().set_policy(policy).unwrap(), 1);
    server.domain().core().in_child();
    assert!(!call.is_ending());
    drop(server);
    assert_eq!(called.recv_timeout(FOR_EVER).unwrap(), Ok(()));
    assert!(call.is_ending());
}

/// A waker that has a server, whose clerk goes with it.
struct Holder(#[expect(dead_code, reason = "it is dropped")] Mutex<TestServer>);

impl Wake for Holder {
    fn wake(self: Arc<Self>) {}
}

/// Who is told while it says that it waits has looked before that, and is to look behind it.
#[test]
fn an_end_between_the_look_and_the_wait_is_seen() {
    let (server, call, called) = serving("told-between");
    let _domain = server.domain().clone();
    let mut ending = pin!(call.ending());
    let mut poll = |waker: &Waker| ending.as_mut().poll(&mut Context::from_waker(waker));
    let holder = Waker::from(Arc::new(Holder(Mutex::new(server))));
    assert!(poll(&holder).is_pending());
    drop(holder);
    // The clerk goes when the first waker is let go of for the second.
    assert!(poll(Waker::noop()).is_ready());
    assert_eq!(called.recv_timeout(FOR_EVER).unwrap(), Ok(()));
}
