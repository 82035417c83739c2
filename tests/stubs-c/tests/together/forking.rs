//! Programs in C and C++ that fork: what they have imported and exported stays theirs, whatever
//! their children do (design note 0009).

use std::path::Path;

use nearcall::Clerk;
use stubs_c_tests::short::brief::*;

use crate::support::tester::Tester;
use crate::support::{RustServer, in_both_ways, run_client, sanitizing, serve_here, ways};

/// What each program checks at least.
const CHECKS_MIN: u32 = 500;

/// Not with the address sanitizer: a thread of the parent may hold its allocator's lock while
/// another one forks, and in the child nobody lets go of it.
const SANITIZED: &[&str] = &["-fsanitize=undefined", "-fno-sanitize-recover=all", "-O0"];

/// The server of a [`RustServer`].
#[test]
fn serve() {
    serve_here(|domain, name| Clerk::export(domain, name, BriefEntries::new(Tester)));
}

fn fork(program: &Path, runtime: &Path) {
    let _server = RustServer::start(module_path!(), "forker", runtime);
    let said = run_client(program, "forker", runtime);
    let checks: u32 = said.trim().parse().expect("a count");
    assert!(checks >= CHECKS_MIN, "{checks} checks");
}

#[test]
fn a_child_is_refused_every_call_and_ends_nothing() {
    let fast = ways().into_iter().take(1);
    let ways: Vec<_> = fast.chain(sanitizing().map(|compiler| (compiler, SANITIZED))).collect();
    in_both_ways(&ways, "brief.idl", ["forker", "forker_cpp"], fork);
}
