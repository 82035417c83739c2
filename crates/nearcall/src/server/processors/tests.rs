//! A server processor that panics by itself.

use std::sync::mpsc;
use std::time::Duration;

use nearcall_abi::{AStackClass, InterfaceDescriptor};

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
