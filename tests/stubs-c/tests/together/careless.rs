//! What somebody new to the library passes it, and does not look at, ends no program, and is told
//! where that one would look.

use crate::support::{Workshop, expect_success, lacking, ways};

#[test]
fn what_nobody_has_looked_at_ends_no_program() {
    let ways = ways();
    if ways.is_empty() {
        return lacking("a compiler of C");
    }
    for (compiler, flags) in ways {
        let workshop = Workshop::of("c", "careless.idl");
        let program = workshop.program(compiler, "novice", flags);
        expect_success(&program, &[], workshop.path());
    }
}
