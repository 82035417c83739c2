//! A server processor that panics by itself, and what the last one leaves.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use nearcall_abi::{AStackClass, InterfaceDescriptor};

use super::{Asked, Asking, Processors};
use crate::domain::Domain;
use crate::raw::{Arguments, Entries, Outcome};
use crate::server::binding::ServerBinding;
use crate::server::clerk::ExportOptions;
use crate::testing::{Null, TestServer, null_interface};

const CLASSES: [AStackClass; 1] = [AStackClass { block_bytes: 0, count: 5 }];
static INTERFACE: InterfaceDescriptor = null_interface(&CLASSES);

/// Longer than any of this takes.
const FOR_EVER: Duration = Duration::from_secs(20);

#[test]
fn a_processor_that_panics_ends_its_domain_and_is_waited_for_by_nobody() {
    let server = TestServer::new("broken", Null(&INTERFACE));
    let binding = server.import();
    let domain = server.domain().clone();
    let processors = &domain.core().processors;
    let panics = |_: &_| panic!("on purpose");
    processors.crew().start(domain.core(), "nearcall-broken".to_owned(), false, panics).unwrap();
    let (say, heard) = mpsc::channel();
    std::thread::spawn(move || {
        while !binding.is_revoked() {
            std::thread::yield_now();
        }
        say.send("revoked").unwrap();
        domain.shut_down();
        say.send("shut down").unwrap();
    });
    let said: Vec<_> = (0..2).map(|_| heard.recv_timeout(FOR_EVER).unwrap()).collect();
    assert_eq!(said, ["revoked", "shut down"]);
    let error = server.domain().core().check_open().unwrap_err();
    let want = "the domain has ended: a server processor has panicked: on purpose";
    assert_eq!(error.to_string(), want);
}

/// Its procedures may call by their own domain.
struct Nesting {
    null: Null,
    _domain: Domain,
    /// Lives for as long as they do.
    _token: Arc<()>,
}

impl Entries for Nesting {
    fn interface(&self) -> &'static InterfaceDescriptor {
        self.null.interface()
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        self.null.enter(procedure, arguments)
    }
}

/// What `ask` asks of processors that have ended, or leaves with them, keeps neither domain nor
/// procedures.
fn check_left(name: &str, ask: impl FnOnce(&Processors, &Arc<ServerBinding>)) {
    let (token, domain) = (Arc::new(()), Domain::new().unwrap());
    let alive = Arc::downgrade(&token);
    let entries = Nesting { null: Null(&INTERFACE), _domain: domain.clone(), _token: token };
    let server = TestServer::of(name, entries, domain.clone(), ExportOptions::default());
    let binding = server.import();
    let core = Arc::clone(domain.core());
    let served = core.table.load().bindings().next().cloned().expect("the import is served");
    domain.shut_down();
    ask(&core.processors, &served);
    drop((binding, server, served, core, domain));
    // The thread that keeps house may be about to end.
    let begin = Instant::now();
    while alive.upgrade().is_some() {
        assert!(begin.elapsed() < FOR_EVER, "{name}: something keeps the domain");
        std::thread::yield_now();
    }
}

#[test]
fn a_look_that_is_asked_for_behind_the_end_keeps_no_domain() {
    check_left("asked-late", |processors, served| processors.ask_to_look(served));
}

#[test]
fn looks_that_the_last_processor_has_left_go_with_the_end() {
    let asked = Asked::default();
    check_left("left-looks", |_, served| {
        asked.look(Asking { binding: Arc::clone(served), is_clients: true });
        assert!(asked.is_some());
        drop(asked.end());
        assert!(!asked.is_some());
    });
}
