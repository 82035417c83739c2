//! What somebody new to the library passes it, and does not look at, ends no program, and is told
//! where that one would look.

use crate::support::{expect_success, in_both};

#[test]
fn what_nobody_has_looked_at_ends_no_program() {
    in_both("careless.idl", ["novice", "novice_cpp"], |program, runtime| {
        expect_success(program, &[], runtime);
    });
}
