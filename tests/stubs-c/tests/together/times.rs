//! Times of Protocol Buffers are times of C and C++ where they fit, and told where they do not.

use std::path::Path;

use crate::support::{
    Workshop, compilers, cpp_of, domain, expect_success, in_both, tests_directory,
};

/// The interface file, which `docs/grpc.md` shows a part of.
const IDL: &str = "../idl/c/times.proto";

#[test]
fn times_are_those_of_the_language_or_refused() {
    in_both(IDL, ["teller", "teller_cpp"], |program, runtime| {
        expect_success(program, &[], runtime);
    });
}

/// What stands around the code of a document.
const AROUND: [(&str, &str, &str); 2] = [
    (
        "c",
        "#include <stdio.h>\n#include <time.h>\n#include \"times.h\"\n\
         int main(void) {\nnearcall_environment env;\n",
        "return env.outcome == NEARCALL_RETURNED ? 0 : 1;\n}\n",
    ),
    (
        "cpp",
        "#include <chrono>\n#include <iostream>\n#include \"times.hpp\"\n\
         using nearcall::idl::acme::spans::Span;\n\
         using nearcall::idl::google::protobuf::Duration;\n\
         using nearcall::idl::google::protobuf::Timestamp;\nint main() {\n",
        "}\n",
    ),
];

#[test]
fn what_the_document_shows_of_times_is_so() {
    let document = std::fs::read_to_string(tests_directory().join("../docs/grpc.md"));
    let document = document.expect("the document is there");
    for compiler in compilers() {
        for (language, head, tail) in AROUND {
            let (_, shown) =
                document.split_once(&format!("\n```{language}\n")).expect("the document shows it");
            let (block, _) = shown.split_once("```").expect("a block has an end");
            let workshop = Workshop::of(language, IDL);
            let source = workshop.path().join("shown").with_extension(language);
            std::fs::write(&source, [head, block, tail].concat()).expect("it can be written");
            let driver = if language == "cpp" { cpp_of(compiler) } else { compiler };
            let program = workshop.built((driver, compiler), &source, "shown", &["-O2"]);
            tells_seconds(&program, workshop.path());
        }
    }
}

/// The program prints the seconds since 1970.
fn tells_seconds(program: &Path, runtime: &Path) {
    let output = domain(program, runtime).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let seconds: u64 = said.trim().parse().expect("it prints a number");
    assert!(output.status.success() && seconds > 1_700_000_000, "{said}");
}
