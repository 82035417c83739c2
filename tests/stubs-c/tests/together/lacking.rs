//! A server in C that lacks a function is refused when it is exported, and not at the first call. A
//! feed that lacks one is a panic of the procedure that made it, and said in the server, as is why
//! results were refused.

use crate::support::{Workshop, domain, lacking, ways};

/// What the server says, in the order of the calls.
const SAID: [&str; 5] = [
    "lacking::Files::numbers, exported as \"files\", panicked: \
     it has returned a feed that has no function \"next\"",
    "lacking::Files::fill, exported as \"files\", panicked: \
     it has returned a feed that has no function \"take\"",
    "lacking::Files::fill, exported as \"files\", panicked: \
     it has returned a feed that has no function \"end\"",
    "lacking::Files::fill, exported as \"files\", panicked: \
     it has returned a feed that has no function \"take\"",
    "lacking::Files::name: results refused: returned is not UTF-8 at byte 3",
];

#[test]
fn a_server_without_a_function_is_not_exported_nor_a_feed_without_one_called() {
    let ways = ways();
    if ways.is_empty() {
        return lacking("a compiler of C");
    }
    for (compiler, flags) in ways {
        let workshop = Workshop::of("c", "lacking.idl");
        let program = workshop.program(compiler, "lacker", flags);
        let ended = domain(&program, workshop.path()).output().expect("it starts");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{said}");
        let lines: Vec<_> =
            said.lines().map(|line| line.trim_start_matches("nearcall: ")).collect();
        assert_eq!(lines, SAID);
    }
}
