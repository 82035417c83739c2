//! What the C back end prints for every good interface file compiles without a warning, as C and
//! where C++ includes it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{
    Workshop, compilers, cpp_of, interface_files, model, printed, tests_directory,
};

/// Interface files of which everything can be compiled, .proto files among them, with streams both
/// ways, streams to one side, and times.
fn all_files() -> Vec<PathBuf> {
    let mut files = interface_files();
    files.extend(
        ["exchanges", "streams", "times"]
            .map(|name| tests_directory().join("idl/rust").join(name).with_extension("proto")),
    );
    files
}

#[test]
fn stubs_of_every_good_file_compile_without_a_warning() {
    let workshop = Workshop::new();
    let (files, compilers) = (all_files(), compilers());
    let mut compiled = 0;
    for path in &files {
        for source in workshop.print(path) {
            if source.extension().is_some_and(|end| end == "c") {
                for compiler in &compilers {
                    workshop.compile(compiler, &source);
                    compiled += 1;
                }
            }
        }
    }
    println!("{} interface files, {compiled} sources compiled", files.len());
    assert!(files.len() >= 15, "only {} interface files", files.len());
    assert!(compilers.is_empty() || compiled >= files.len() * 2, "only {compiled} were compiled");
}

#[test]
fn wrappers_of_every_good_file_compile_without_a_warning() {
    let workshop = Workshop::with_cpp();
    let (files, compilers) = (all_files(), compilers());
    let mut compiled = 0;
    for path in &files {
        let stem = path.file_stem().expect("a file").to_string_lossy().into_owned();
        workshop.print(path);
        let source = workshop.path().join(format!("{stem}.cpp"));
        let text = format!("#include \"{stem}.hpp\"\n");
        std::fs::write(&source, text).expect("it can be written");
        for compiler in &compilers {
            workshop.compile(cpp_of(compiler), &source);
            compiled += 1;
        }
    }
    println!("{} interface files, {compiled} sources compiled", files.len());
    assert!(compilers.is_empty() || compiled >= files.len(), "only {compiled} were compiled");
}

#[test]
fn headers_compile_without_a_warning() {
    let workshop = Workshop::with_cpp();
    // As the header of the system calls says that it is used.
    let confining = "#include <sys/syscall.h>\n#include \"nearcall_system_calls.h\"\n\
                     #define NUMBER(name) SYS_##name,\nextern const int allowed[];\n\
                     const int allowed[] = {NEARCALL_CALLING_SYSTEM_CALLS(NUMBER)\n\
                     NEARCALL_BINDING_SYSTEM_CALLS(NUMBER)};\n";
    let c = ["#include \"nearcall_time.h\"\n#include \"nearcall.h\"\n", confining].concat();
    let cpp = "#include \"nearcall_time.hpp\"\n#include \"nearcall.hpp\"\n\
               #include \"nearcall_values.hpp\"\n#include \"nearcall_calls.hpp\"\n";
    let cpp = [cpp, confining].concat();
    for (name, text) in [("headers.c", c), ("headers.cpp", cpp)] {
        let source = workshop.path().join(name);
        std::fs::write(&source, text).expect("it can be written");
        for compiler in compilers() {
            workshop
                .compile(if name == "headers.c" { compiler } else { cpp_of(compiler) }, &source);
        }
    }
}

#[test]
fn what_users_call_as_generated_code_calls_its_own_compiles() {
    let workshop = Workshop::of("cpp", "naming.idl");
    let wrappers = workshop.path().join("naming.cpp");
    std::fs::write(&wrappers, "#include \"naming.hpp\"\n").expect("it can be written");
    let mut compiled = 0;
    for compiler in compilers() {
        for source in ["naming.c", "naming_server.c", "naming.cpp"] {
            let driver = if source == "naming.cpp" { cpp_of(compiler) } else { compiler };
            // Users may call a parameter as one of their types.
            workshop.compile_but(driver, &workshop.path().join(source), &["-Wno-shadow"]);
            compiled += 1;
        }
    }
    assert_eq!(compiled, compilers().len() * 3);
}

#[test]
fn constants_are_of_their_types_in_cpp() {
    let workshop = Workshop::of("cpp", "naming.idl");
    for name in ["constants", "everything", "interfaces"] {
        workshop.print(&tests_directory().join("idl/good").join(name).with_extension("idl"));
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/constants.cpp");
    for compiler in compilers() {
        workshop.compile_but(cpp_of(compiler), &source, &["-Wno-shadow"]);
    }
}

/// The macros that there are once a header is included.
fn macros_of(compiler: &str, standard: &str, header: &str) -> BTreeSet<String> {
    let mut made = Command::new(compiler);
    made.args(["-dM", "-E", &format!("-std={standard}"), "-include", header]).arg("-I");
    made.arg(tests_directory().join("../crates/c/include")).args(["-x", "c"]);
    if header.ends_with("hpp") {
        made.args(["-x", "c++"]);
    }
    let made = made.arg("/dev/null").output().expect("it is there");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = String::from_utf8(made.stdout).expect("it is text");
    let names = text.lines().filter_map(|line| line.split([' ', '(']).nth(1));
    let is_users = |name: &&str| !name.starts_with('_') && !name.starts_with("NEARCALL_");
    names.filter(is_users).map(String::from).collect()
}

/// If it fails, `crates/idl/src/back/c/macros.txt` lacks what it names.
#[test]
fn no_member_is_called_as_a_macro_of_what_stubs_include() {
    let mut macros = BTreeSet::new();
    for compiler in compilers() {
        // Which include all others.
        for standard in ["c11", "gnu17"] {
            macros.extend(macros_of(compiler, standard, "nearcall_time.h"));
        }
        for standard in ["c++17", "gnu++20"] {
            macros.extend(macros_of(cpp_of(compiler), standard, "nearcall_time.hpp"));
        }
    }
    let structs = macros.iter().enumerate();
    let structs = structs.map(|(number, name)| format!("struct S{number} {{ long _{name}; }};"));
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("macros.idl");
    std::fs::write(&path, structs.collect::<String>()).expect("it can be written");
    let printed = printed("c", &model(&path), "macros");
    let is_printed =
        |name: &&String| printed.iter().any(|one| one.text.contains(&format!("int32_t {name};")));
    let unknown: Vec<&String> = macros.iter().filter(is_printed).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(compilers().is_empty() || macros.len() > 500, "only {} macros", macros.len());
    println!("{} macros", macros.len());
}

/// Prints headers of interface files that are all called `api.idl`, in folders of their own, and a
/// source that includes them all.
fn including(workshop: &Workshop, files: &[(&str, &str)]) -> PathBuf {
    let mut includes = String::new();
    for (folder, idl) in files {
        let folder = workshop.path().join(folder);
        std::fs::create_dir_all(&folder).expect("it can be made");
        let path = folder.join("api.idl");
        std::fs::write(&path, idl).expect("it can be written");
        for file in printed("cpp", &model(&path), "api") {
            std::fs::write(folder.join(format!("api{}", file.suffix)), file.text)
                .expect("it can be written");
        }
        includes += &format!("#include \"{}\"\n", folder.join("api.hpp").display());
    }
    let source = workshop.path().join("including.cpp");
    std::fs::write(&source, includes).expect("it can be written");
    source
}

#[test]
fn headers_of_two_files_of_one_name_are_included_beside_each_other() {
    let workshop = Workshop::with_cpp();
    let left =
        "/// Said.\nstruct Point { long x; }; interface Left { Point turn(in Point point); };";
    let right =
        "struct Point { /// Said.\n long x; }; interface Right { Point turn(in Point a); };";
    // What holds memory has functions as well.
    let [left, right] = [left, right]
        .map(|idl| idl.replace("Point turn", "void call(in sequence<string> names); Point turn"));
    let source = including(&workshop, &[("left", &left), ("right", &right)]);
    for compiler in compilers() {
        workshop.compile(cpp_of(compiler), &source);
    }
}

#[test]
fn a_type_that_two_headers_declare_in_two_ways_does_not_compile() {
    let workshop = Workshop::with_cpp();
    let left = "struct Point { long x; }; interface Left { Point turn(in Point point); };";
    let right = "struct Point { double x; }; interface Right { Point turn(in Point point); };";
    let source = including(&workshop, &[("left", left), ("right", right)]);
    for compiler in compilers() {
        let refused = std::panic::catch_unwind(|| workshop.compile(cpp_of(compiler), &source));
        let refused = refused.expect_err("it was compiled");
        let said = refused.downcast_ref::<String>().expect("what the compiler said");
        assert!(said.contains("Point is something else in another header"), "{said}");
    }
}

/// What the first compiler says of what is printed for one interface file beside the header for an
/// earlier version of it, of each: call stubs, the server's loop, wrappers. Nothing if it compiles.
fn beside_a_stale_header(compiler: &str, [old, new]: [&str; 2]) -> [Vec<String>; 3] {
    let workshop = Workshop::with_cpp();
    let idl = workshop.path().join("kept.idl");
    for version in [old, new] {
        let header = std::fs::read(workshop.path().join("kept.h"));
        std::fs::write(&idl, version).expect("it can be written");
        workshop.print(&idl);
        if let Ok(header) = header {
            std::fs::write(workshop.path().join("kept.h"), header).expect("it can be written");
        }
    }
    let wrappers = workshop.path().join("kept.cpp");
    std::fs::write(&wrappers, "#include \"kept.hpp\"\n").expect("it can be written");
    ["kept.c", "kept_server.c", "kept.cpp"].map(|source| {
        let source = workshop.path().join(source);
        let compiled = std::panic::catch_unwind(|| workshop.compile(compiler, &source));
        let said = compiled.err().map(|said| *said.downcast::<String>().expect("what it said"));
        let said = said.unwrap_or_default();
        let errors = said.lines().filter(|line| line.contains("error: "));
        errors.map(String::from).collect()
    })
}

#[test]
fn a_stale_header_is_told_in_one_line() {
    let old = "interface Kept { /// Said.\n void first(in long a); void second(in long a); };";
    let again = "interface Kept { void first(in long a); void second(in long a); };";
    let retyped = old.replace("first(in long a)", "first(in double a)");
    let turned = "interface Kept { void second(in long a); void first(in long a); };";
    let is_told = |said: &[String], of: &str| {
        said.len() == 1 && said[0].contains(of) && said[0].contains("run nearcall compile again")
    };
    for compiler in compilers() {
        let said = beside_a_stale_header(compiler, [old, again]).concat();
        assert!(said.is_empty(), "{said:?}");
        let [stubs, server, wrappers] = beside_a_stale_header(compiler, [old, &retyped]);
        let another = "kept.h is of another version of the interface than kept";
        assert!(is_told(&stubs, another), "{stubs:?}");
        assert!(is_told(&wrappers, another), "{wrappers:?}");
        // What somebody has made of the loop is for these operations still.
        assert!(server.is_empty(), "{server:?}");
        // A compiler sees nothing wrong with a loop that enters the one for the other.
        let [stubs, server, wrappers] = beside_a_stale_header(compiler, [old, turned]);
        assert!(is_told(&stubs, another), "{stubs:?}");
        assert!(is_told(&wrappers, another), "{wrappers:?}");
        let other = "kept.h is of other operations of Kept than this loop";
        assert!(is_told(&server, other), "{server:?}");
    }
}

#[test]
fn a_source_with_a_warning_does_not_pass() {
    let workshop = Workshop::new();
    let source = workshop.path().join("bad.c");
    let bare =
        "char *bare(const char *text);\nchar *bare(const char *text) { return (char *)text; }\n";
    for text in ["static int unused(void) { return 1; }\n", bare] {
        std::fs::write(&source, text).expect("it can be written");
        for compiler in compilers() {
            let compiled = std::panic::catch_unwind(|| workshop.compile(compiler, &source));
            assert!(compiled.is_err(), "{compiler} let it pass: {text}");
        }
    }
}
