//! Peers of programs in C and C++ that send what no stub would: for every interface file valid
//! messages, mutations of them, and each lie at each place. Under the address and undefined
//! behaviour sanitizers the programs accept, answer with errors, and live.

use lies::{Attacker, Form, Kind, Message, Prey, Side, Tally, Verdict, hunted};
use nearcall::name::Scope;
use nearcall::{Domain, ImportOptions};
use nearcall_idl::model::Model;
use nearcall_idl::selftest::Selftest;
use stubs_c_tests::cross::CROSS;

use crate::support::{
    SANITIZED, Server, Workshop, domain, lacking, prey, sanitizing, tests_directory,
};

/// Whose stubs are lied to: folders and files.
const HUNTED: &[&str] = &[
    "idl/good",
    "idl/rust",
    "stubs-c/cross.idl",
    "matrix/idl/fed.idl",
    "matrix/idl/opened.idl",
    "matrix/idl/records.idl",
    "matrix/idl/talked.idl",
];

/// Both at once, so that their stubs in C are compiled once.
#[test]
fn programs_in_c_and_cpp_outlive_hostile_peers() {
    let Some(compiler) = sanitizing() else {
        return lacking("a compiler of C with sanitizers");
    };
    let workshop = Workshop::with_cpp();
    let place = (&workshop, compiler);
    std::thread::scope(|scope| {
        let c = || outlive(place, "c", prey::c, ["C", "C, posted", "C, replied to later"]);
        scope.spawn(c);
        // Whose servers that reply later are C's.
        outlive(place, "cpp", prey::cpp, ["C++", "C++, posted", ""]);
    });
}

/// Lies to a server and a client of each interface file, all of which a language must have stubs
/// for; to the client once more about calls that it has posted, and to a server that sets its calls
/// aside, where that has a name.
fn outlive(
    (workshop, compiler): (&Workshop, &str),
    language: &'static str,
    print: fn(&Model, &str, &Selftest) -> prey::Program,
    names: [&'static str; 3],
) {
    let runtime = workshop.path().join(language);
    std::fs::create_dir(&runtime).expect("it can be made");
    // To C a map is a sequence of pairs.
    let [mut tally, posted, later] = names.map(|name| Tally::new(name).taking(Kind::Key));
    let mut posted = posted.of(&[Side::Client], &[Form::Call, Form::Descriptors]);
    let mut later = (!names[2].is_empty()).then(|| later.of(&[Side::Server], &Form::ALL));
    for hunted in hunted(&tests_directory(), HUNTED) {
        let test = lies::trimmed(&hunted.model).expect("it has operations");
        let program = print(&hunted.model, &hunted.stem, &test);
        let program = workshop.prey(compiler, (&hunted.stem, language), &program);
        let run = |side| {
            let mut command = domain(&program, workshop.path());
            Prey::start(command.args([side, &*hunted.stem]), &runtime)
        };
        let later = later.as_mut().map(|tally| ("async", tally));
        for (side, tally) in [("server", &mut tally)].into_iter().chain(later) {
            let mut server = run(side);
            assert!(server.is_ready(), "the {side} of {} does not start", hunted.stem);
            let runs = hunted.attack(&runtime, tally);
            server.end_after(runs, &format!("the {language} {side} of {}", hunted.stem), tally);
        }
        let mut client = run("client");
        for (manner, tally) in [&mut tally, &mut posted].into_iter().enumerate() {
            let call =
                |interface, operation| client.call(&format!("{interface} {operation} {manner}"));
            hunted.answer(call, &runtime, tally);
        }
        client.end(&format!("the {language} client of {}", hunted.stem));
    }
    for tally in [tally, posted].into_iter().chain(later) {
        println!("{compiler}:\n{}", tally.report());
        tally.judge();
    }
}

/// A request of a tree of so many, in four bytes each: eight more are their defaults.
fn flood(procedure: u32, trees: u32) -> Message {
    let below = vec![0; trees as usize * 4];
    let members = [[7; 4], trees.to_le_bytes()].concat();
    let bytes = (members.len() + below.len()) as u32;
    let variable = [&bytes.to_le_bytes(), &members[..], &below].concat();
    let fixed = (variable.len() as u32).to_le_bytes().to_vec();
    Message { procedure, fixed, variable_at: Some(8), variable, ..Message::default() }
}

#[test]
fn a_server_in_c_makes_only_so_much_of_defaults() {
    let Some(compiler) = sanitizing() else {
        return lacking("a compiler of C with sanitizers");
    };
    let workshop = Workshop::new();
    let program = workshop.program(compiler, "server", SANITIZED);
    let server = Server::start(&program, "flooded", workshop.path());
    let domain = Domain::new().expect("a domain");
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(workshop.path().join("nearcall"))]);
    let attacker = Attacker::new(&domain, "flooded", &CROSS, options);
    let grow = CROSS.procedures.iter().position(|one| one.name == "grow").expect("it is there");
    assert_eq!(attacker.send(&flood(grow as u32, 1000)), Verdict::Accepted);
    assert_eq!(attacker.send(&flood(grow as u32, 3 << 20)), Verdict::Refused);
    domain.shut_down();
    server.end();
}
