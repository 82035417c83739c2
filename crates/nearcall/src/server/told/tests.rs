//! A procedure that asks whether its server ends.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use nearcall_abi::{AStackClass, InterfaceDescriptor};

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
