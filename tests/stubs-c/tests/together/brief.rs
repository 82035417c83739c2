//! Brief calls from C, which the stubs make by themselves (design note 0026): that they take that
//! way, and that everything unusual is as it is for all other calls.

use std::sync::atomic::{AtomicU32, Ordering};

use nearcall::raw::{Arguments, Entries, Outcome};
use nearcall::{Clerk, Domain, InterfaceDescriptor};
use stubs_c_tests::short::brief::*;

use crate::support::tester::Tester;
use crate::support::{RustServer, Workshop, expect_success, serve_here, ways};

/// The server of a [`RustServer`].
#[test]
fn serve() {
    serve_here(|domain, name| Clerk::export(domain, name, BriefEntries::new(Tester)));
}

fn run(what: &str) {
    run_of("brief_client", what);
}

/// The same of calls that are posted and collected later.
fn run_posted(what: &str) {
    run_of("brief_poster", what);
}

fn run_of(client: &str, what: &str) {
    for (compiler, flags) in ways() {
        let workshop = Workshop::of("c", "brief.idl");
        let program = workshop.program(compiler, client, flags);
        let _server = RustServer::start(module_path!(), "brief", workshop.path());
        expect_success(&program, &[what, "brief"], workshop.path());
    }
}

#[test]
fn words_come_back_and_the_stubs_do_it_themselves() {
    run("words");
}

#[test]
fn payloads_of_any_length_arrive() {
    run("payloads");
}

#[test]
fn what_lies_behind_the_line_comes_and_goes() {
    run("behind");
}

#[test]
fn texts_of_any_length_arrive() {
    run("texts");
}

#[test]
fn posted_texts_arrive() {
    run_posted("texts");
}

#[test]
fn exceptions_and_long_results_come_back() {
    run("results");
}

#[test]
fn either_side_may_sleep() {
    run("naps");
}

#[test]
fn a_deadline_aborts() {
    run("deadlines");
}

#[test]
fn a_crowd_revokes_the_bias() {
    run("crowd");
}

#[test]
fn a_thread_may_inherit_a_bias() {
    run("heirs");
}

#[test]
fn the_server_may_end() {
    run("end");
}

#[test]
fn posted_words_come_back_and_the_stubs_do_it_themselves() {
    run_posted("words");
}

#[test]
fn posted_calls_that_raise_or_take_long_or_ring_end_as_ever() {
    run_posted("unusual");
}

#[test]
fn any_thread_collects_or_drops_a_brief_call() {
    run_posted("others");
}

#[test]
fn a_thread_that_inherits_a_bias_inherits_no_calls() {
    run_posted("heirs");
}

#[test]
fn a_crowd_revokes_the_bias_of_who_has_calls_under_way() {
    run_posted("crowd");
}

#[test]
fn a_bias_may_be_revoked_between_any_two_steps() {
    run_posted("revoked");
}

#[test]
fn a_deadline_aborts_what_was_posted() {
    run_posted("deadlines");
}

#[test]
fn the_server_may_end_with_posted_calls() {
    run_posted("end");
}

/// Replies truly at first, then with an enumerator that is none.
struct Liar {
    calls: AtomicU32,
}

/// Calls that it replies truly to.
const TRUTHS: u32 = 200;

impl Entries for Liar {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &BRIEF
    }

    fn enter(&self, _: usize, arguments: Arguments<'_>) -> Outcome {
        // Relaxed: one client calls, and waits.
        let is_true = self.calls.fetch_add(1, Ordering::Relaxed) < TRUTHS;
        let mut results = arguments.results();
        results.put_bytes::<0>(&[0; 16]);
        if !is_true {
            // Of the words there, one is the color's.
            results.put_bytes::<0>(&[0x55; 16]);
        }
        results.reply(16)
    }
}

#[test]
fn a_server_that_lies_is_found_out() {
    find_out("brief_client");
}

#[test]
fn a_server_that_lies_to_posted_calls_is_found_out() {
    find_out("brief_poster");
}

fn find_out(client: &str) {
    for (compiler, flags) in ways() {
        let workshop = Workshop::of("c", "brief.idl");
        let program = workshop.program(compiler, client, flags);
        let domain = Domain::new().expect("a domain");
        let mut options = nearcall::ExportOptions::default();
        let sockets = workshop.path().join("nearcall");
        options.scope = Some(nearcall::name::Scope::Directory(sockets));
        let liar = Liar { calls: AtomicU32::new(0) };
        let clerk = Clerk::export_with(&domain, "liar", liar, options).expect("it is free");
        expect_success(&program, &["lies", "liar"], workshop.path());
        drop(clerk);
    }
}
