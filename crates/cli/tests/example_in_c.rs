//! `examples/04-c` as its README has it: the library and the compiler are installed, the programs
//! are made against what is installed, and print what the README says that they print.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use lacking::lacking;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/04-c");

const SOURCES: [&str; 6] =
    ["Makefile", "client.c", "client.cpp", "notes.idl", "server.c", "server.cpp"];

/// The directory of the programs, and how commands are run in it.
struct Place {
    own: TempDir,
}

impl Place {
    /// Installs, and copies the sources.
    fn new() -> Place {
        let place = Place { own: TempDir::new().unwrap() };
        let test = std::env::current_exe().unwrap();
        let root = xtask::step::root();
        let library = xtask::install::install(&root, test.parent().unwrap(), &place.prefix());
        let program = Path::new(env!("CARGO_BIN_EXE_nearcall"));
        let compiler = xtask::install::install_compiler(program, &place.prefix());
        let count = library.and_then(|library| Ok(library + compiler?));
        println!("{} files installed", count.unwrap_or_else(|failed| panic!("{failed}")));
        fs::create_dir(place.programs()).unwrap();
        for name in SOURCES {
            fs::copy(Path::new(EXAMPLE).join(name), place.programs().join(name)).unwrap();
        }
        place
    }

    fn prefix(&self) -> PathBuf {
        self.own.path().join("prefix")
    }

    fn programs(&self) -> PathBuf {
        self.own.path().join("programs")
    }

    /// A command of a shell there.
    fn shell(&self, words: &str) -> Command {
        let mut path = self.prefix().join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec 2>&1; {words}")]).current_dir(self.programs());
        command.env("PATH", path).env("XDG_RUNTIME_DIR", self.own.path());
        command.env("PKG_CONFIG_PATH", self.prefix().join("lib/pkgconfig"));
        command
    }

    /// What it says, on both outputs, and whether it ended well.
    fn told(&self, words: &str) -> (String, bool) {
        let output = self.shell(words).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.success())
    }

    /// A server that has said that it exports.
    fn serve(&self, program: &str) -> Child {
        let mut command = self.shell(&format!("exec ./{program} desk"));
        let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "desk is exported\n");
        server
    }
}

/// The commands of the README's second terminal, with what comes out.
fn shown() -> Vec<(String, String)> {
    let readme = fs::read_to_string(Path::new(EXAMPLE).join("README.md")).unwrap();
    let terminal = readme.split("```console\n").nth(2).unwrap().split("```").next().unwrap();
    let commands = terminal.split("$ ").skip(1);
    commands.map(|shown| shown.split_once('\n').unwrap()).map(owned).collect()
}

fn owned((command, told): (&str, &str)) -> (String, String) {
    (command.to_owned(), told.to_owned())
}

fn is_there(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        lacking(tool);
    }
    found
}

#[test]
fn the_example_in_c_does_what_its_readme_says() {
    if !["make", "pkg-config", "cc", "g++"].into_iter().all(is_there) {
        return;
    }
    let place = Place::new();
    let (said, is_made) = place.told("make CFLAGS='-O2 -Wall -Wextra -Werror'");
    assert!(is_made, "{said}");
    let shown = shown();
    assert_eq!(shown.len(), 4);
    for program in ["notes-server", "notes-server-cpp"] {
        let mut server = place.serve(program);
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
