//! `examples/04-c`: a server and clients.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{Place, readme};

const EXAMPLE: &str = "04-c";

const SOURCES: [&str; 6] =
    ["Makefile", "client.c", "client.cpp", "notes.idl", "server.c", "server.cpp"];

/// A server that has said that it exports.
fn serve(place: &Place, program: &str) -> Child {
    let mut command = place.shell(&format!("exec ./{program} desk"));
    let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "desk is exported\n");
    server
}

/// The commands of the README's second terminal, with what comes out.
fn shown() -> Vec<(String, String)> {
    let readme = readme(EXAMPLE);
    let terminal = readme.split("```console\n").nth(2).unwrap().split("```").next().unwrap();
    let commands = terminal.split("$ ").skip(1);
    commands.map(|shown| shown.split_once('\n').unwrap()).map(owned).collect()
}

fn owned((command, told): (&str, &str)) -> (String, String) {
    (command.to_owned(), told.to_owned())
}

#[test]
fn the_notes_do_what_their_readme_says() {
    let Some(place) = Place::with(EXAMPLE, &SOURCES) else { return };
    let shown = shown();
    assert_eq!(shown.len(), 4);
    for program in ["notes-server", "notes-server-cpp"] {
        let mut server = serve(&place, program);
        for (command, expected) in &shown {
            assert_eq!(&place.told(command).0, expected, "{program}: {command}");
        }
        let (all, _) = place.told("./notes-client desk all");
        assert_eq!(all, "1: milk and bread\n2: written in C++\n", "{program}");
        kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
        assert!(server.wait().unwrap().success(), "{program} ended badly");
        let (said, is_bound) = place.told("./notes-client desk all");
        assert!(!is_bound && said.contains("no domain exports"), "{said}");
    }
    println!("{} commands", 2 * (shown.len() + 2));
}
