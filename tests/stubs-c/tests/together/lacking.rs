//! A server in C that lacks a function is refused when it is exported, and not at the first call.

use std::process::Command;

use crate::support::{Workshop, lacking, ways};

#[test]
fn a_server_without_a_function_is_not_exported() {
    let ways = ways();
    if ways.is_empty() {
        return lacking("a compiler of C");
    }
    for (compiler, flags) in ways {
        let workshop = Workshop::of("c", "lacking.idl");
        let mut program = Command::new(workshop.program(compiler, "lacker", flags));
        let ended = program.env("XDG_RUNTIME_DIR", workshop.path()).output().expect("it starts");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
}
