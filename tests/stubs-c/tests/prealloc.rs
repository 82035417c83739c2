//! Results that come to memory of the client's: how often its stubs have had memory of an
//! allocator's, and what becomes of results that are longer than that memory.

#![forbid(unsafe_code)]

mod support;

use support::{Server, Workshop, lacking, run_client, ways};

/// How often the client `program` has had memory for a hundred calls of each procedure.
fn had(language: &'static str, program: &str) -> Vec<Vec<(String, u64)>> {
    let each = ways().into_iter().map(|(compiler, flags)| {
        let workshop = Workshop::of(language, "ready.idl");
        let server = workshop.program(compiler, "prealloc_server", flags);
        let client = workshop.program(compiler, program, flags);
        let server = Server::start(&server, "ready", workshop.path());
        let said = run_client(&client, "ready", workshop.path());
        server.end();
        let line = |line: &str| {
            let (name, count) = line.split_once(' ').expect("a name and a count");
            (name.to_owned(), count.parse().expect("a count"))
        };
        said.lines().map(line).collect()
    });
    each.collect()
}

/// Where the client has memory for the results, its stub has had none.
fn check(found: &[Vec<(String, u64)>]) {
    for found in found {
        let having = found.iter().filter(|(_, count)| *count > 0);
        let having: Vec<&str> = having.map(|(name, _)| name.as_str()).collect();
        assert_eq!((found.len(), having), (5, vec!["made"]), "{found:?}");
    }
    println!("{} programs, 5 procedures each", found.len());
}

#[test]
fn results_come_to_memory_of_a_client_in_c() {
    let found = had("c", "prealloc_client");
    if found.is_empty() {
        return lacking("a compiler of C");
    }
    check(&found);
}

#[test]
fn results_come_to_memory_of_a_client_in_cpp() {
    let found = had("cpp", "prealloc_client_cpp");
    if found.is_empty() {
        return lacking("a compiler of C++");
    }
    check(&found);
}
