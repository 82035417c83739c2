//! Lies to stubs in Python: for every interface file valid messages, mutations of them, and each
//! lie at each place, to a server and to a client in processes of their own.
//!
//! `lies-to-python INTERPRETER DIRECTORY` says what it counted, and fails if anything was taken
//! that is no value, if anything ended otherwise than it should, or if nothing was told of a kind.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use lies::{Hunted, Prey, Tally, hunted, trimmed};
use nearcall_idl::back::LANGUAGES;

/// Whose stubs are lied to: folders and files.
const HUNTED: &[&str] = &[
    "idl/good",
    "idl/rust",
    "idl/python",
    "matrix/idl/fed.idl",
    "matrix/idl/opened.idl",
    "matrix/idl/records.idl",
    "matrix/idl/talked.idl",
];

/// What the self-tests are run by.
const PREY: &str = include_str!("../prey.py");

fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(interpreter), Some(directory)) = (arguments.next(), arguments.next()) else {
        panic!("usage: lies-to-python INTERPRETER DIRECTORY");
    };
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = hunted(&tests, HUNTED);
    all.retain(|hunted| print(hunted, &directory));
    std::fs::write(directory.join("prey.py"), PREY).expect("it can be written");
    let run = |side: &str, stems: &[&str]| {
        let mut command = Command::new(&interpreter);
        command.arg("-P").arg(directory.join("prey.py")).arg(side).args(stems);
        Prey::start(&mut command, &directory)
    };
    let mut tally = Tally::new("Python");
    let stems: Vec<&str> = all.iter().map(|hunted| &*hunted.stem).collect();
    let mut server = run("server", &stems);
    assert!(server.is_ready(), "the server does not start");
    let runs = all.iter().map(|hunted| hunted.attack(&directory, &mut tally)).sum();
    server.end_after(runs, "the server", &mut tally);
    let mut client = run("client", &[]);
    for hunted in &all {
        let call =
            |interface, operation| client.call(&format!("{} {interface} {operation}", hunted.stem));
        hunted.answer(call, &directory, &mut tally);
    }
    client.end("the client");
    println!("{} interface files\n{}", all.len(), tally.report());
    tally.judge();
}

/// Writes the stubs of a file and its self-test, less what runs that; nothing if Python has no
/// stubs for everything in it.
fn print(hunted: &Hunted, directory: &Path) -> bool {
    let python = LANGUAGES.iter().find(|one| one.name == "python").expect("it is in the table");
    let (model, stem) = (&hunted.model, &*hunted.stem);
    let test = trimmed(model).expect("it has operations");
    let Ok(mut files) = (python.compile)(model, stem) else {
        println!("{stem}: Python has no stubs for it");
        return false;
    };
    files.extend((python.selftest)(model, stem, &test).expect("what has stubs has self-tests"));
    for file in files {
        let text = match file.suffix {
            "_selftest_client.py" | "_selftest_server.py" => hunted_half(&file.text),
            _ => file.text,
        };
        let path = directory.join(format!("{stem}{}", file.suffix));
        std::fs::write(path, text).expect("it can be written");
    }
    true
}

/// Its functions and classes, which say what they have to to somebody else, and whose clients
/// there are.
fn hunted_half(text: &str) -> String {
    let (functions, main) = text.split_once("\nname = sys.argv[-1]\n").expect("it is a program");
    let side = if functions.contains("check = Check(\"client\")") { "client" } else { "server" };
    let check = format!("check = Check(\"{side}\")");
    assert!(functions.contains(&check), "the {side} has no check");
    let functions = functions.replace(&check, "from prey import check");
    let functions = functions.replace("outcome = str(error)", "outcome = check.told(error)");
    let imported = main.lines().filter_map(|line| line.split_once(" = stubs."));
    let imported = imported.filter_map(|(_, rest)| rest.split_once(".import_("));
    let imported: Vec<String> = imported.map(|(class, _)| format!("stubs.{class},")).collect();
    format!("{functions}\nIMPORTED = [{}]\n", imported.join(" "))
}
