//! Results that come to memory of the client's: how often its stubs have had memory of an
//! allocator's, and what becomes of results that are longer than that memory.

use crate::support::{Counted, counted, having, lacking};

/// Where the client has memory for the results, its stub has had none for a hundred calls.
fn check(found: &[Counted]) {
    for found in found {
        assert_eq!((found.len(), having(found)), (8, vec!["made"]), "{found:?}");
    }
    println!("{} programs, 8 procedures each", found.len());
}

#[test]
fn results_come_to_memory_of_a_client_in_c() {
    let found = counted(("c", "ready.idl"), "ready", "prealloc_server", "prealloc_client");
    if found.is_empty() {
        return lacking("a compiler of C");
    }
    check(&found);
}

#[test]
fn results_come_to_memory_of_a_client_in_cpp() {
    let found = counted(("cpp", "ready.idl"), "ready", "prealloc_server", "prealloc_client_cpp");
    if found.is_empty() {
        return lacking("a compiler of C++");
    }
    check(&found);
}
