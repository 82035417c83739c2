//! Lies to stubs in Python: for every interface file valid messages, mutations of them, and each
//! lie at each place, to a server and to a client in processes of their own.
//!
//! `lies-to-python INTERPRETER DIRECTORY RECORD` says what it counted, and fails if anything was
//! taken that is no value, if anything ended otherwise than it should, or if nothing was told of a
//! kind. The record is of those processes, which are confined.

#![forbid(unsafe_code)]

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use confined::Kind;
use lies::{Form, Hunted, Prey, Side, Tally, hunted, trimmed};
use nearcall_idl::back::LANGUAGES;
use nearcall_idl::selftest::{Manner, Selftest};

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

/// What the programs whose calls are awaited have behind their file's name.
const AWAITED: &str = "_awaited";

/// What those have whose calls are posted.
const POSTED: &str = "_posted";

/// Fewest calls that are posted: what the programs print may turn into something else.
const POSTED_MIN: usize = 100;

/// What the self-tests are run by.
const PREY: &str = include_str!("../prey.py");

fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(interpreter), Some(directory), Some(record)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        panic!("usage: lies-to-python INTERPRETER DIRECTORY RECORD");
    };
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let all = hunted(&tests, HUNTED);
    let posted_count: usize = all.iter().map(|hunted| print(hunted, &directory)).sum();
    assert!(posted_count >= POSTED_MIN, "{posted_count} calls are posted");
    std::fs::write(directory.join("prey.py"), PREY).expect("it can be written");
    let place = Place { interpreter: &interpreter, directory: &directory, record: &record };
    // Either side of what is said waits for the other.
    let tallies = std::thread::scope(|threads| {
        let server = threads.spawn(|| attack(&all, place));
        let client = threads.spawn(|| {
            let tally = Tally::new("Python").of(&[Side::Client], &Form::ALL);
            answer(&all, place, ("client", ""), tally)
        });
        let awaited = threads.spawn(|| {
            // Python has no procedures that are awaited.
            let tally = Tally::new("Python, awaited").of(&[Side::Client], &Form::ALL);
            answer(&all, place, ("awaited", AWAITED), tally)
        });
        let posted = threads.spawn(|| {
            // What opens a feed is not posted, and servers do not learn that a call was.
            let forms = [Form::Call, Form::Descriptors];
            let tally = Tally::new("Python, posted").of(&[Side::Client], &forms);
            answer(&all, place, ("posted", POSTED), tally)
        });
        [server, client, awaited, posted].map(|part| part.join().expect("it panics with a reason"))
    });
    println!("{} interface files", all.len());
    tallies.iter().for_each(|tally| print!("{}", tally.report()));
    tallies.iter().for_each(Tally::judge);
}

/// Where the programs are, what runs them, and where it is written down that they are confined.
#[derive(Clone, Copy)]
struct Place<'p> {
    interpreter: &'p Path,
    directory: &'p Path,
    record: &'p Path,
}

impl Place<'_> {
    /// A directory for names that only this part exports.
    fn names(self, part: &str) -> PathBuf {
        let names = self.directory.join(part);
        DirBuilder::new().mode(0o700).create(&names).expect("it can be made");
        names
    }

    /// Starts one side of the programs.
    fn run(self, side: &str, stems: &[&str], names: &Path) -> Prey {
        let mut command = Command::new(self.interpreter);
        command.arg("-P").arg(self.directory.join("prey.py")).arg(side).args(stems);
        let this = std::env::current_exe().expect("this is a program");
        let built = this.parent().expect("in a directory").join("deps");
        let confined = confined::confine(&mut command, Kind::Python, &built, self.record);
        confined.expect("what confines programs was built beside this one");
        Prey::start(&mut command, names)
    }
}

/// Lies to a server.
fn attack(all: &[Hunted], place: Place) -> Tally {
    let mut tally = Tally::new("Python").of(&[Side::Server], &Form::ALL);
    let names = place.names("server");
    let stems: Vec<&str> = all.iter().map(|hunted| &*hunted.stem).collect();
    let mut server = place.run("server", &stems, &names);
    assert!(server.is_ready(), "the server does not start");
    let runs = all.iter().map(|hunted| hunted.attack(&names, &mut tally)).sum();
    server.end_after(runs, "the server", &mut tally);
    tally
}

/// Lies to a client, whose programs have such an end to their names.
fn answer(all: &[Hunted], place: Place, (part, end): (&str, &str), mut tally: Tally) -> Tally {
    let names = place.names(part);
    let mut client = place.run("client", &[], &names);
    for hunted in all {
        let stem = format!("{}{end}", hunted.stem);
        let call = |interface, operation| client.call(&format!("{stem} {interface} {operation}"));
        hunted.answer(call, &names, &mut tally);
    }
    client.end("the client");
    tally
}

/// Writes the stubs of a file and its self-tests, less what runs those. How many calls are posted.
///
/// # Panics: Python has no stubs for something in it. No file is left out.
fn print(hunted: &Hunted, directory: &Path) -> usize {
    let python = LANGUAGES.iter().find(|one| one.name == "python").expect("it is in the table");
    let (model, stem) = (&hunted.model, &*hunted.stem);
    let test = trimmed(model).expect("it has operations");
    let printed = (python.compile)(model, stem);
    let mut files = printed.unwrap_or_else(|lacks| panic!("{stem}: Python has none of {lacks:?}"));
    let mut posted_count = 0;
    files.extend((python.selftest)(model, stem, &test).expect("what has stubs has self-tests"));
    let write = |name: String, text: String| {
        std::fs::write(directory.join(name), text).expect("it can be written");
    };
    for file in files {
        let text = match file.suffix {
            "_selftest_client.py" | "_selftest_server.py" => hunted_half(&file.text),
            _ => file.text,
        };
        write(format!("{stem}{}", file.suffix), text);
    }
    for (manner, end) in [(Manner::Awaited, AWAITED), (Manner::Posted, POSTED)] {
        let test = Selftest { manner, ..test.clone() };
        let files = (python.selftest)(model, stem, &test).expect("what has stubs has self-tests");
        let client = files.iter().find(|file| file.suffix == "_selftest_client.py");
        let client = hunted_half(&client.expect("a client is there").text);
        posted_count += client.matches("client.posting.").count();
        write(format!("{stem}{end}_selftest_client.py"), client);
    }
    posted_count
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
