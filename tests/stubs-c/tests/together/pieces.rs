//! Oneofs in bytes that no stub writes, sent to servers in Rust, C and C++: all read them as the
//! table in `odd.rs` says.

use nearcall::name::Scope;
use nearcall::{Clerk, Domain, ImportOptions};
use stubs_c_tests::heaped::pieces::{Heap, JudgeEntries, JudgeLookException, JudgeServer};
use stubs_c_tests::odd;

use crate::support::{RustServer, SANITIZED, Server, Workshop, lacking, sanitizing, serve_here};

/// Panics at what is read otherwise.
struct Judge;

impl JudgeServer for Judge {
    fn look(&self, request: &Heap) -> Result<(), JudgeLookException> {
        assert_eq!(odd::told(request), request.want);
        Ok(())
    }
}

/// Exports a server in Rust until standard input ends: this test program as another process.
#[test]
fn serve() {
    serve_here(|domain, name| Clerk::export(domain, name, JudgeEntries::new(Judge)));
}

/// Sends every row to the server of this name.
fn send(name: &str, runtime: &std::path::Path) {
    let domain = Domain::new().expect("a domain");
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(runtime.join("nearcall"))]);
    let [read, refused] = odd::send_all(&domain, name, options);
    assert!(read >= 40 && refused >= 80, "{read} are read and {refused} refused");
    domain.shut_down();
}

#[test]
fn odd_oneofs_are_read_in_rust_as_the_table_says() {
    let runtime = tempfile::TempDir::new().expect("a directory");
    let server = RustServer::start(module_path!(), "odd-rust", runtime.path());
    send("odd-rust", runtime.path());
    drop(server);
}

#[test]
fn odd_oneofs_are_read_in_c_as_the_table_says() {
    judge_in("c", "judge_pieces");
}

#[test]
fn odd_oneofs_are_read_in_cpp_as_the_table_says() {
    judge_in("cpp", "judge_pieces_cpp");
}

fn judge_in(language: &'static str, program: &str) {
    let Some(compiler) = sanitizing() else {
        return lacking("a compiler of C with sanitizers");
    };
    let workshop = Workshop::of(language, "pieces.proto");
    let program = workshop.program(compiler, program, SANITIZED);
    let server = Server::start(&program, "odd", workshop.path());
    send("odd", workshop.path());
    server.end();
}
