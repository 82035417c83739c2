//! An exception in C++ says its name and its members, whoever catches it, and in a bounded length
//! whoever has raised it.

use crate::support::{Workshop, domain, lacking, ways};

#[test]
fn an_exception_says_its_name_and_its_members() {
    let ways = ways();
    if ways.is_empty() {
        return lacking("a compiler of C++");
    }
    for (compiler, flags) in &ways {
        let workshop = Workshop::of("cpp", "saying.idl");
        let program = workshop.program(compiler, "sayer_cpp", flags);
        let output = domain(&program, workshop.path()).output().expect("it starts");
        let said = String::from_utf8(output.stderr).expect("it is text");
        assert!(output.status.success(), "{said}");
        assert_eq!(output.stdout, b"done\n");
        // What is not declared is thrown to the server's standard error.
        let want = "nearcall: saying::Sayer::strange, exported as \"sayer\", panicked: threw: \
                    saying::Corrupt: why = \"not declared\", at = 3\n";
        assert_eq!(said, want);
    }
    println!("{} programs", ways.len());
}
