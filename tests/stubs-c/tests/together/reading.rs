//! What procedures only read lies in memory that the server keeps from call to call: how often it
//! has had memory of its allocator's for calls that are made over and over.

use crate::support::{Counted, counted, having, lacking};

/// How often the server `program` has had memory for a round of calls of each procedure, in the
/// round where that was least: a processor that serves for the first time has some once.
fn least_had(language: &'static str, program: &str) -> Vec<Counted> {
    counted((language, "reading.idl"), "reader", program, "reader_client")
}

fn named(all: &[(&str, u64)]) -> Counted {
    all.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[test]
fn a_server_in_c_has_no_memory_for_what_it_reads() {
    let all = ["text", "numbers", "entries", "ages", "turned", "changing", "nested"];
    let found = least_had("c", "reader_server");
    if found.is_empty() {
        return lacking("a compiler of C");
    }
    let want = named(&all.map(|name| (name, 0)));
    found.iter().for_each(|found| assert_eq!(*found, want));
    println!("{} programs, {} procedures each", found.len(), all.len());
}

#[test]
fn a_server_in_cpp_has_memory_for_maps_and_other_cases_of_unions() {
    let found = least_had("cpp", "reader_server_cpp");
    if found.is_empty() {
        return lacking("a compiler of C++");
    }
    for found in &found {
        assert_eq!((found.len(), having(found)), (7, vec!["ages", "changing"]));
    }
    println!("{} programs", found.len());
}
