//! A thread that keeps house, and panics.

use std::pin::Pin;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};

use nearcall_abi::{AStackClass, InterfaceDescriptor};

use crate::domain::DomainCore;
use crate::error::{BindError, Ran};
use crate::raw::{Arguments, Client, Entries, Outcome};
use crate::testing::{FOR_EVER, Null, TestServer, apart, null_interface};
use crate::{Admission, CurrentCall, Domain, DomainOptions, ExportOptions, Policy};

const CLASSES: [AStackClass; 1] = [AStackClass { block_bytes: 0, count: 5 }];
static INTERFACE: InterfaceDescriptor = null_interface(&CLASSES);

const WORDS: &str = "housekeeping has panicked: on purpose";

/// A domain whose house nobody keeps, and what makes that thread panic.
fn fragile() -> (Domain, Sender<()>) {
    let (say, heard) = mpsc::channel();
    let keep = move |_: &Arc<DomainCore>| {
        heard.recv().expect("a test that goes on");
        panic!("on purpose");
    };
    (Domain::kept_by(keep).unwrap(), say)
}

#[test]
fn clients_and_importers_are_told_when_housekeeping_panics() {
    let (domain, panics) = fragile();
    let server = TestServer::of("unkept", Null(&INTERFACE), domain, ExportOptions::default());
    let binding = server.import();
    let importer = server.importer();
    let importing = apart(move || importer.import());
    server.wait_for_importer();
    panics.send(()).unwrap();
    let refused = importing.recv_timeout(FOR_EVER).unwrap().unwrap_err();
    assert!(matches!(refused, BindError::Peer { .. }), "{refused}");
    let revoked = apart(move || {
        while !binding.is_revoked() {
            std::thread::yield_now();
        }
    });
    revoked.recv_timeout(FOR_EVER).unwrap();
    let late = server.importer().import().unwrap_err();
    assert!(matches!(late, BindError::NoSuchName { .. }), "{late}");
    let domain = server.domain().clone();
    assert_eq!(domain.failure(), Some(WORDS));
    let error = domain.core().check_open().unwrap_err();
    assert_eq!(error.to_string(), format!("the domain has ended: {WORDS}"));
    apart(move || domain.shut_down()).recv_timeout(FOR_EVER).unwrap();
}

/// What a procedure waits for.
type Awaited = fn(&CurrentCall) -> Pin<Box<dyn Future<Output = ()>>>;

/// Says that it has begun, and returns when that has come.
struct Waiting(Mutex<Sender<()>>, Awaited);

impl Entries for Waiting {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &INTERFACE
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let awaited = self.1(&crate::current_call().expect("this is a procedure"));
        self.0.lock().unwrap().send(()).expect("a test that goes on");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(awaited);
        arguments.results().reply(0)
    }
}

#[test]
fn a_procedure_that_waits_for_the_end_of_its_call_is_told_when_housekeeping_panics() {
    check_told("waiting", |call| Box::pin(call.cancelled()));
}

#[test]
fn a_procedure_that_waits_for_the_end_of_its_server_is_told_when_housekeeping_panics() {
    check_told("lasting", |call| Box::pin(call.ending()));
}

fn check_told(name: &str, awaited: Awaited) {
    let (domain, panics) = fragile();
    let (begins, begun) = mpsc::channel();
    let entries = Waiting(Mutex::new(begins), awaited);
    let server = TestServer::of(name, entries, domain, ExportOptions::default());
    let client = Client::new(server.import(), &INTERFACE);
    let called = apart(move || {
        let reply = client.claim::<0>(0).and_then(|call| call.post(0).map(drop));
        reply.map_err(|error| error.ran())
    });
    begun.recv_timeout(FOR_EVER).unwrap();
    panics.send(()).unwrap();
    // Its results arrive if it is told before its client.
    let outcome = called.recv_timeout(FOR_EVER).unwrap();
    assert!(matches!(outcome, Ok(()) | Err(Ran::Maybe)), "{outcome:?}");
    let domain = server.domain().clone();
    apart(move || domain.shut_down()).recv_timeout(FOR_EVER).unwrap();
}

#[test]
fn bindings_of_a_domain_whose_housekeeping_panics_are_revoked() {
    let server = TestServer::new("kept", Null(&INTERFACE));
    let (client, panics) = fragile();
    let binding = server.import_to(&client);
    assert_eq!(client.failure(), None);
    panics.send(()).unwrap();
    let revoked = apart(move || {
        while !binding.is_revoked() {
            std::thread::yield_now();
        }
    });
    revoked.recv_timeout(FOR_EVER).unwrap();
    let again = server.importer_of(client).import().unwrap_err();
    assert!(again.to_string().contains(WORDS), "{again}");
    // The server goes on.
    assert!(!server.import().is_revoked());
    assert_eq!(server.domain().failure(), None);
}

#[test]
fn a_policy_that_panics_refuses_and_others_are_let_in() {
    let asked = std::sync::atomic::AtomicBool::new(false);
    let policy = Policy::Ask(Box::new(move |_| {
        // Relaxed: one thread asks.
        match asked.swap(true, std::sync::atomic::Ordering::Relaxed) {
            false => panic!("on purpose"),
            true => Admission::Admit,
        }
    }));
    let export = ExportOptions { policy, ..ExportOptions::default() };
    let server = TestServer::with("panicky", Null(&INTERFACE), DomainOptions::default(), export);
    let refused = server.importer().import().unwrap_err();
    let BindError::NotAdmitted { reason, .. } = &refused else { panic!("{refused}") };
    assert_eq!(reason, "the policy has panicked");
    assert!(!server.importer().import().unwrap().is_revoked());
    assert_eq!(server.domain().failure(), None);
}
