//! `examples/06-plugin-host`: a host, and plug-ins that hang and crash.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::place::{Place, readme};

const EXAMPLE: &str = "06-plugin-host";

const SOURCES: [&str; 7] =
    ["Makefile", "host.cpp", "plug.idl", "plug_in.cpp", "plug_in.hpp", "plugin.c", "plugin.cpp"];

/// How long a plug-in is waited for that hangs; longer where another one was late.
const MILLISECONDS: [u32; 3] = [500, 5_000, 60_000];

/// Longer than anything takes.
const NEVER: Duration = Duration::from_secs(120);

/// Where a plug-in writes what it has panicked of.
const ERRORS: &str = "2>errors";

/// The command of the README's second terminal, and what comes out of it.
fn shown() -> (String, String) {
    let readme = readme(EXAMPLE);
    let terminal = readme.split("```console\n").nth(2).unwrap().split("```").next().unwrap();
    let shown = terminal.strip_prefix("$ ").unwrap();
    shown.split_once('\n').map(|(command, told)| (command.to_owned(), told.to_owned())).unwrap()
}

#[test]
fn the_plug_in_host_does_what_its_readme_says() {
    let Some(place) = Place::with(EXAMPLE, &SOURCES) else { return };
    check_shown(&place);
    check_panic(&place);
    check_switched_off(&place);
    check_not_started(&place);
    check_outlived(&place);
}

/// Hangs and crashes of both, whose host goes on and starts them again.
fn check_shown(place: &Place) {
    let (command, told) = shown();
    let mut tried = Vec::new();
    for within in MILLISECONDS {
        let said = |text: &str| text.replace("500", &within.to_string());
        let _ = fs::remove_file(place.programs().join("plugins.log"));
        tried.push((place.told(&said(&command)).0, said(&told)));
        if tried.last().is_some_and(|(came, wanted)| came == wanted) {
            return check_log(place);
        }
    }
    panic!("{tried:#?}");
}

/// What plug-ins have written to the descriptor that their host has passed them, in each life.
fn check_log(place: &Place) {
    let log = fs::read_to_string(place.programs().join("plugins.log")).unwrap();
    for name in ["plugin-cpp", "plugin-c"] {
        let own = format!("{name}: ");
        let written: Vec<_> = log.lines().filter_map(|line| line.strip_prefix(&own)).collect();
        assert_eq!(written, ["begins", "hangs", "begins", "crashes", "begins"], "{log}");
    }
    assert_eq!(log.lines().count(), 10, "{log}");
}

/// What `host` says of these lines, whose plug-ins have all the time that they want.
fn host(place: &Place, lines: &str, programs: &str) -> (String, bool) {
    let within = NEVER.as_millis();
    place.told(&format!("printf '{lines}' | ./host {within} log {programs} {ERRORS}"))
}

fn errors(place: &Place) -> String {
    fs::read_to_string(place.programs().join("errors")).unwrap()
}

fn check_panic(place: &Place) {
    let (said, is_well) = host(place, r"\na\n", "./plugin-cpp");
    let want = "plugin-cpp failed: apply panicked in the server, or was dropped there \
                unfinished\n  1 of 1\nplugin-cpp: A!\n";
    assert_eq!((said.as_str(), is_well), (want, true));
    let want = "nearcall: plug::Filter::apply, exported as \"filter\", panicked: \
                threw: there is nothing to shout\n";
    assert_eq!(errors(place), want);
}

fn check_switched_off(place: &Place) {
    let (said, is_well) = host(place, r"crash\ncrash\ncrash\na\n", "./plugin-cpp ./plugin-c");
    let crashed = |name| {
        let crash = format!("{name} ended in the middle of a call (Aborted): ");
        [
            format!("{crash}started again"),
            format!("{crash}started again"),
            format!("{crash}switched off, it was started 3 times"),
            format!("{name} is switched off"),
        ]
    };
    let wanted = crashed("plugin-cpp").into_iter().zip(crashed("plugin-c"));
    let wanted: String = wanted.map(|(one, other)| format!("{one}\n{other}\n")).collect();
    assert_eq!((said, is_well), (wanted, true));
}

fn check_not_started(place: &Place) {
    for (program, want) in [
        ("./nothing", "host: ./nothing: No such file or directory\n"),
        ("/bin/true", "host: true ended before it could be called: exit status 0\n"),
    ] {
        let (said, is_well) = host(place, "", &format!("./plugin-c {program}"));
        assert_eq!((said.as_str(), is_well), ("", false), "{program}");
        assert_eq!(errors(place), want);
    }
}

/// A host that is killed has plug-ins that end, whatever they are at: nobody has its output any
/// more.
fn check_outlived(place: &Place) {
    let within = NEVER.as_millis();
    let mut host = place.shell(&format!("exec ./host {within} last ./plugin-cpp ./plugin-c"));
    let mut host = host.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    host.stdin.as_ref().unwrap().write_all(b"hang\n").unwrap();
    let log = place.programs().join("last");
    let begun = Instant::now();
    while !fs::read_to_string(&log).is_ok_and(|log| log.contains("plugin-cpp: hangs")) {
        assert!(begun.elapsed() < NEVER, "it does not hang");
        thread::sleep(Duration::from_millis(5));
    }
    host.kill().unwrap();
    assert!(!host.wait().unwrap().success());
    let mut output = host.stdout.take().unwrap();
    let (sender, said) = mpsc::channel();
    thread::spawn(move || {
        let mut said = String::new();
        sender.send(output.read_to_string(&mut said).map(|_| said))
    });
    assert_eq!(said.recv_timeout(NEVER).expect("they have ended").unwrap(), "");
}
