//! Clients in C and C++ that lend memory to their server, which reads their arguments in place.

use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};

use nearcall::{Clerk, Opaque, current_call};
use stubs_c_tests::lent::lending::*;

use crate::support::{RustServer, domain, in_both, serve_here};

/// What each client checks at least.
const CHECKS_MIN: u32 = 30;

/// What `told` says before anything was told.
const NOTHING: u32 = 256;

struct Lender {
    begun: AtomicU32,
    looks: AtomicU32,
    told: AtomicU32,
}

impl Lender {
    fn new() -> Lender {
        let told = AtomicU32::new(NOTHING);
        Lender { begun: AtomicU32::new(0), looks: AtomicU32::new(0), told }
    }
}

fn own_pid() -> i32 {
    std::process::id() as i32
}

fn octet(octets: Opaque<'_>, index: u32) -> u8 {
    let mut one = [0];
    octets.copy_to(index as usize, &mut one);
    one[0]
}

impl LendingServer for Lender {
    fn at(&self, octets: Opaque<'_>, index: u32) -> (u8, u32) {
        (octet(octets, index), octets.len() as u32)
    }

    fn among(&self, first: Opaque<'_>, text: &str, second: Opaque<'_>, index: u32) -> (u8, String) {
        (octet(second, index), format!("{} {text} {}", first.len(), second.len()))
    }

    fn outlive(&self, pid: i32, octets: Opaque<'_>) -> (u8, i32) {
        if pid == own_pid() {
            std::process::exit(0);
        }
        (octet(octets, octets.len() as u32 - 1), own_pid())
    }

    fn watch(&self, octets: Opaque<'_>) -> u8 {
        let call = current_call().expect("it is one");
        let looks = self.looks.load(Ordering::SeqCst);
        self.begun.fetch_add(1, Ordering::SeqCst);
        while self.looks.load(Ordering::SeqCst) == looks && !call.is_cancelled() {
            std::thread::yield_now();
        }
        octet(octets, 0)
    }

    fn look(&self) {
        self.looks.fetch_add(1, Ordering::SeqCst);
    }

    fn begun(&self) -> u32 {
        self.begun.load(Ordering::SeqCst)
    }

    fn tell(&self, octets: Opaque<'_>) {
        self.told.store(octet(octets, 0).into(), Ordering::SeqCst);
    }

    fn told(&self) -> u32 {
        self.told.load(Ordering::SeqCst)
    }
}

struct Counter;

impl OtherServer for Counter {
    fn count(&self, octets: Opaque<'_>) -> u32 {
        octets.len() as u32
    }
}

#[test]
fn serve() {
    serve_here(|domain, name| match name {
        "counter" => Clerk::export(domain, name, OtherEntries::new(Counter)),
        name => Clerk::export(domain, name, LendingEntries::new(Lender::new())),
    });
}

/// Runs a client, and has a server follow the one that it ends.
fn lend(program: &Path, runtime: &Path) {
    let _other = RustServer::start(module_path!(), "counter", runtime);
    let mut server = RustServer::start(module_path!(), "lender", runtime);
    let client = domain(program, runtime)
        .arg("lender")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let following = std::thread::spawn({
        let runtime = runtime.to_owned();
        move || {
            server.wait();
            RustServer::start(module_path!(), "lender", &runtime)
        }
    });
    let output = client.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} ended with {}:\n{said}", program.display(), output.status);
    drop(following.join().expect("the first server ended well"));
    let checks: u32 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a count");
    assert!(checks >= CHECKS_MIN, "{checks} checks");
}

#[test]
fn what_is_lent_is_read_in_place() {
    in_both("lending.idl", ["lender", "lender_cpp"], lend);
}
