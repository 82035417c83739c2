//! A procedure of a .proto file fails with a status, and whoever has called it reads which: C and
//! C++ each with itself, and with Rust both ways.

use std::path::Path;

use nearcall::{CallError, Clerk, Domain, Error, Intake, Items, Taker};
use stubs_c_tests::failed::grpc::{RpcCode, RpcStatus};
use stubs_c_tests::failed::statuses::*;

use crate::support::{
    RustServer, Server, Workshop, compilers, cpp_of, import, lacking, run_client, serve_here,
    tests_directory, ways,
};

/// What `cargo xtask matrix` has between all languages, with values of any size.
const FILE: &str = "../matrix/idl/statuses.proto";

/// What each client looks at at least.
const CHECKS_MIN: u32 = 10;

struct Books;

impl ShelfServer for Books {
    fn find(&self, request: &Book) -> Result<Status, ShelfFindException> {
        match &*request.isbn {
            "" => Err(no_number())?,
            "1" => Ok(Status { text: "here".to_owned() }),
            "silent" => Err(silent())?,
            "broken" => panic!("it is broken"),
            isbn => Err(not_found(&format!("no book {isbn}"), isbn))?,
        }
    }

    fn list(
        &self,
        request: &Book,
    ) -> Result<Items<Result<Book, ShelfListException>>, ShelfListException> {
        let books = [request.clone(), request.clone()].map(Ok);
        let end = Err(not_found("no more books", "").into());
        Ok(Box::new(books.into_iter().chain([end])))
    }

    fn fill(&self) -> Result<Taker<Book, Status, ShelfFillException>, ShelfFillException> {
        Ok(Box::new(Filled(0)))
    }
}

struct Filled(u32);

impl Intake for Filled {
    type Item = Book;
    type Output = Status;
    type Error = ShelfFillException;

    fn take(&mut self, book: Book) -> Result<(), ShelfFillException> {
        if book.isbn.is_empty() {
            return Err(no_number().into());
        }
        self.0 += 1;
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<Status, ShelfFillException> {
        Ok(Status { text: self.0.to_string() })
    }
}

fn no_number() -> RpcStatus {
    let code = RpcCode::InvalidArgument;
    RpcStatus { code, message: "no number".to_owned(), details: Vec::new() }
}

/// What nobody says of a status is empty.
fn silent() -> RpcStatus {
    RpcStatus { code: RpcCode::Unavailable, ..RpcStatus::default() }
}

fn not_found(message: &str, isbn: &str) -> RpcStatus {
    let code = RpcCode::NotFound;
    RpcStatus { code, message: message.to_owned(), details: isbn.into() }
}

#[test]
fn serve() {
    serve_here(|domain, name| Clerk::export(domain, name, ShelfEntries::new(Books)));
}

fn book(isbn: &str) -> Book {
    Book { isbn: isbn.to_owned() }
}

fn call(client: &ShelfClient) {
    assert_eq!(client.find(&book("1")).unwrap().text, "here");
    let Err(Error::Exception(ShelfFindException::RpcStatus(status))) = client.find(&book("496"))
    else {
        panic!("it was found");
    };
    assert_eq!(status, not_found("no book 496", "496"));
    let Err(Error::Exception(ShelfFindException::RpcStatus(status))) = client.find(&book(""))
    else {
        panic!("it was found");
    };
    assert_eq!(status, no_number());
    let Err(Error::Exception(ShelfFindException::RpcStatus(status))) = client.find(&book("silent"))
    else {
        panic!("it was found");
    };
    assert_eq!(status, silent());
    let Err(Error::Call(error)) = client.find(&book("broken")) else { panic!("it was found") };
    assert!(matches!(error, CallError::Panicked { .. }), "{error}");
}

fn stream(client: &ShelfClient) {
    let mut list = client.list(&book("7")).unwrap();
    assert_eq!([(); 2].map(|()| list.next().unwrap().unwrap()), [book("7"), book("7")]);
    let Some(Err(Error::Exception(ShelfListException::RpcStatus(status)))) = list.next() else {
        panic!("there are more");
    };
    assert_eq!(status, not_found("no more books", ""));
    assert!(list.next().is_none());
    let mut fill = client.fill().unwrap();
    fill.put(book("")).unwrap();
    let Err(Error::Exception(ShelfFillException::RpcStatus(status))) = fill.end() else {
        panic!("it was taken");
    };
    assert_eq!(status, no_number());
}

fn looked_at(client: &Path, name: &str, runtime: &Path) {
    let said = run_client(client, name, runtime);
    let checks: u32 = said.trim().parse().expect("a count");
    assert!(checks >= CHECKS_MIN, "{checks} checks");
}

/// A server and a client of one language, each of them with the other and with one in Rust.
fn fail(server: &Path, client: &Path, runtime: &Path) {
    let own = Server::start(server, "shelf", runtime);
    let domain = Domain::new().unwrap();
    let binding = ShelfClient::new(import(&domain, "shelf", runtime, &SHELF));
    call(&binding);
    stream(&binding);
    looked_at(client, "shelf", runtime);
    own.end();
    let _server = RustServer::start(module_path!(), "rust", runtime);
    looked_at(client, "rust", runtime);
}

#[test]
fn whoever_has_called_reads_the_status_of_a_procedure() {
    let (ways, mut count) = (ways(), 0);
    if ways.is_empty() {
        return lacking("a compiler of C");
    }
    for (compiler, flags) in ways {
        for (language, end) in [("c", ""), ("cpp", "_cpp")] {
            let workshop = Workshop::of(language, FILE);
            let program = |side| workshop.program(compiler, &format!("{side}{end}"), flags);
            fail(&program("status_server"), &program("status_client"), workshop.path());
            count += 1;
        }
    }
    println!("{count} servers and clients");
}

/// As of any type that two files have: in C and C++ it is the same one.
#[test]
fn two_files_of_one_program_have_one_status() {
    let workshop = Workshop::of("cpp", FILE);
    workshop.print(&tests_directory().join("idl/rust/streams.proto"));
    let source = workshop.path().join("both.cpp");
    let text = "#include \"statuses.hpp\"\n#include \"streams.hpp\"\n\
                using namespace nearcall::idl::grpc;\n\
                RpcStatus status(RpcCode::ABORTED, {}, {});\n";
    std::fs::write(&source, text).expect("it can be written");
    for compiler in compilers() {
        workshop.compile(cpp_of(compiler), &source);
    }
}
