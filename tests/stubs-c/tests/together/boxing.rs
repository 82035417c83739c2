//! Values in C++ that hold their own type with no vector between.

use crate::support::{Workshop, expect_success, lacking, ways};

#[test]
fn what_holds_its_own_type_is_copied_sent_and_refused() {
    let ways = ways();
    if ways.is_empty() {
        return lacking("a compiler of C++");
    }
    for (compiler, flags) in &ways {
        let workshop = Workshop::of("cpp", "boxing.idl");
        let program = workshop.program(compiler, "boxer_cpp", flags);
        expect_success(&program, &[], workshop.path());
    }
    println!("{} programs", ways.len());
}
