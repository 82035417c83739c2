//! Clients in C and C++ that post calls and collect them later (L38): in any order, by any thread,
//! or never.

use std::io::{Seek, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex};

use nearcall::{Clerk, current_call};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType};
use stubs_c_tests::posted::posting::*;

use crate::support::{RustServer, Workshop, compilers, in_both, lacking, run_client, serve_here};

/// What each client checks at least.
const CHECKS_MIN: u32 = 50;

#[derive(Default)]
struct Poster {
    met: Mutex<u32>,
    came: Condvar,
    begun: AtomicU32,
    ended: AtomicU32,
}

impl PostingServer for Poster {
    fn add(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    fn meet(&self, count: u32) {
        let mut met = self.met.lock().unwrap();
        *met += 1;
        self.came.notify_all();
        drop(self.came.wait_while(met, |met| *met % count != 0).unwrap());
    }

    fn turned(
        &self,
        text: &mut String,
        numbers: &[i32],
    ) -> Result<(i32, Vec<i32>), PostingTurnedException> {
        if text.is_empty() {
            return Err(Refused { code: 7 }.into());
        }
        *text = text.chars().rev().collect();
        Ok((text.len() as i32, numbers.iter().map(|number| number * 2).collect()))
    }

    fn counted(&self, count: u32) -> Vec<i32> {
        (0..count as i32).collect()
    }

    fn count_again(&self, count: u32) -> (Vec<i32>, i32) {
        ((0..count as i32).collect(), count as i32 - 1)
    }

    fn made(&self, text: &str) -> OwnedFd {
        let mut made = tempfile::tempfile().expect("a file");
        made.write_all(text.as_bytes()).expect("it can be written");
        made.rewind().expect("it is a file");
        made.into()
    }

    fn linger(&self) {
        let call = current_call().expect("it is one");
        self.begun.fetch_add(1, Ordering::SeqCst);
        while !call.is_cancelled() {
            std::thread::yield_now();
        }
        self.ended.fetch_add(1, Ordering::SeqCst);
    }

    fn begun(&self) -> (u32, u32) {
        (self.begun.load(Ordering::SeqCst), self.ended.load(Ordering::SeqCst))
    }
}

#[test]
fn serve() {
    serve_here(|domain, name| Clerk::export(domain, name, PostingEntries::new(Poster::default())));
}

/// A name that somebody listens for who never answers.
fn listen_for(name: &str, runtime: &Path) -> OwnedFd {
    let path = runtime.join("nearcall").join(format!("{name}.socket"));
    // Of the one before.
    let _ = std::fs::remove_file(&path);
    let socket = net::socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).expect("a socket");
    let address = SocketAddrUnix::new(path).expect("a path for a socket");
    net::bind(&socket, &address).expect("it binds");
    net::listen(&socket, 4).expect("it listens");
    socket
}

fn post(program: &Path, runtime: &Path) {
    let _server = RustServer::start(module_path!(), "poster", runtime);
    let _silent = listen_for("silent", runtime);
    check(program, runtime);
}

/// The same without anybody who listens.
fn complete(program: &Path, runtime: &Path) {
    let _server = RustServer::start(module_path!(), "poster", runtime);
    check(program, runtime);
}

/// Runs a client, which checks.
fn check(program: &Path, runtime: &Path) {
    let said = run_client(program, "poster", runtime);
    let checks: u32 = said.trim().parse().expect("a count");
    assert!(checks >= CHECKS_MIN, "{checks} checks");
}

#[test]
fn calls_are_posted_now_and_collected_later() {
    in_both("posting.idl", ["poster", "poster_cpp"], post);
}

#[test]
fn event_loops_are_told_what_they_can_collect() {
    in_both("posting.idl", ["completer", "completer_cpp"], complete);
}

/// In C++20, where the same client awaits its calls, too.
#[test]
fn coroutines_await_calls() {
    let Some(compiler) = compilers().first().copied() else {
        return lacking("a compiler of C");
    };
    let workshop = Workshop::of("cpp", "posting.idl");
    let program = workshop.program(compiler, "completer_cpp", &["-std=c++20"]);
    complete(&program, workshop.path());
}
