//! The program in its three processes: what it draws, what becomes of the file, and what it says
//! when one of the others is missing.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// An editor at work, on a file of its own.
struct Session {
    _directory: TempDir,
    path: PathBuf,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    drawn: Vec<String>,
    errors: JoinHandle<String>,
}

/// How one has ended.
struct Ended {
    is_success: bool,
    drawn: Vec<String>,
    errors: String,
    /// What the file holds.
    bytes: Option<Vec<u8>>,
    directory: TempDir,
}

impl Session {
    /// Of a file with that text; `None`: there is no file.
    fn begin(text: Option<&[u8]>) -> Session {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("poem.txt");
        if let Some(text) = text {
            fs::write(&path, text).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_editor-example"));
        command.arg(&path).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        Session { _directory: directory, path, child, input, output, drawn: Vec::new(), errors }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// Waits until a line is drawn that ends so.
    #[track_caller]
    fn wait_for(&mut self, end: &str) {
        loop {
            let mut line = String::new();
            let bytes = self.output.read_line(&mut line).unwrap();
            assert!(bytes > 0, "{end:?} was not drawn: {:?}", self.drawn);
            self.drawn.push(line.trim_end().to_owned());
            if line.trim_end().ends_with(end) {
                return;
            }
        }
    }

    /// Kills the server of a role, and waits until it has ended.
    fn kill(&self, role: &str) {
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        let servers = fs::read_to_string(children).unwrap();
        let is_wanted = |pid: &&str| {
            let arguments = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
            arguments.split('\0').any(|argument| argument == role)
        };
        let server = servers.split_whitespace().find(is_wanted).expect("it runs");
        let pid = Pid::from_raw(server.parse().unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        let has_ended = || {
            let status = fs::read_to_string(format!("/proc/{server}/stat"));
            status.is_ok_and(|status| status.contains(") Z "))
        };
        while !has_ended() {
            std::thread::yield_now();
        }
    }

    /// Nothing more is typed: reads all that is said until the end.
    fn end(self) -> Ended {
        let Session { _directory: directory, path, mut child, input, mut output, .. } = self;
        drop(input);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        let mut drawn = self.drawn;
        drawn.extend(rest.lines().map(|line| line.trim_end().to_owned()));
        let is_success = child.wait().unwrap().success();
        let errors = self.errors.join().unwrap();
        Ended { is_success, drawn, errors, bytes: fs::read(path).ok(), directory }
    }
}

impl Ended {
    #[track_caller]
    fn check_file(&self, text: &str) {
        let bytes = self.bytes.as_deref().expect("there is a file");
        assert!(bytes == text.as_bytes(), "{:.200}", String::from_utf8_lossy(bytes));
    }

    #[track_caller]
    fn check_drawn(&self, line: &str) {
        assert!(self.drawn.iter().any(|drawn| drawn == line), "{line:?}: {:?}", self.drawn);
    }

    #[track_caller]
    fn check_said(&self, part: &str) {
        assert!(self.errors.contains(part), "{part:?}: {:?}", self.errors);
    }

    /// The last words of the servers that end in order.
    fn ended_in_order(&self) -> Vec<&str> {
        let ended = self.drawn.iter().filter_map(|line| line.strip_suffix(": ended in order"));
        ended.collect()
    }
}

const BOTH: [&str; 2] = ["window-manager", "file-cache-manager"];

#[test]
fn a_session_draws_the_text_and_saves_it() {
    let mut session = Session::begin(Some(b"one\ntwo\nthree\n"));
    for line in ["2c zwei", "4i vier", "1d", "9d", "w"] {
        session.say(line);
    }
    let ended = session.end();
    ended.check_file("zwei\nthree\nvier\n");
    assert!(ended.is_success, "{}", ended.errors);
    ended.check_drawn("poem.txt   0 poem.txt: 3 lines, 14 bytes.");
    ended.check_drawn("poem.txt   2    2 two");
    ended.check_drawn("poem.txt   2    2 zwei");
    ended.check_drawn("poem.txt   4    4 vier");
    ended.check_drawn("poem.txt   1    1 zwei");
    ended.check_drawn("poem.txt   0 poem.txt: 3 lines, 16 bytes. there is no line 9: there are 3");
    assert_eq!(ended.drawn.last().map(String::as_str), Some("file-cache-manager: ended in order"));
    assert_eq!(ended.ended_in_order(), BOTH);
    let saved = "poem.txt   0 poem.txt: 3 lines, 16 bytes. Saved.";
    ended.check_drawn(saved);
    assert_eq!(fs::read_dir(ended.directory.path()).unwrap().count(), 1, "and nothing beside it");
}

#[test]
fn a_file_of_many_pieces_is_read_and_written_whole() {
    let text: String = (0..40_000).map(|line| format!("line {line}\n")).collect();
    assert!(text.len() > 6 * 65_536);
    let mut session = Session::begin(Some(text.as_bytes()));
    session.say("20000c changed");
    session.wait_for("20000 changed");
    let ended = session.end();
    let wanted = text.replace("line 19999\n", "changed\n");
    ended.check_file(&wanted);
    assert!(ended.is_success, "{}", ended.errors);
}

#[test]
fn a_missing_file_is_named_and_everybody_ends_in_order() {
    let ended = Session::begin(None).end();
    assert!(!ended.is_success);
    ended.check_said("editor: cannot open \"poem.txt\"");
    ended.check_said("No such file or directory");
    assert_eq!(ended.bytes, None);
    assert_eq!(ended.ended_in_order(), BOTH);
}

#[test]
fn a_file_that_is_no_text_is_refused_and_left_as_it_is() {
    let ended = Session::begin(Some(b"ab\xff")).end();
    assert!(!ended.is_success);
    ended.check_said("editor: cannot edit \"poem.txt\": byte 2 is no UTF-8");
    assert_eq!(ended.bytes.as_deref(), Some(b"ab\xff".as_slice()));
    assert_eq!(ended.ended_in_order(), BOTH);
}

#[test]
fn without_its_window_manager_the_editor_says_so_and_keeps_the_file() {
    let mut session = Session::begin(Some(b"one\ntwo\n"));
    session.say("1c eins");
    session.wait_for(" 1 eins");
    session.kill("window-manager");
    session.say("2c zwei");
    let ended = session.end();
    ended.check_file("eins\nzwei\n");
    assert!(!ended.is_success);
    ended.check_said("editor: the window manager fails: ");
    ended.check_said("nothing is drawn any more, the file is kept all the same");
    ended.check_said("editor: the window-manager ended: signal: 9");
    assert_eq!(ended.ended_in_order(), ["file-cache-manager"]);
}

#[test]
fn without_its_file_cache_manager_the_text_is_rescued() {
    let mut session = Session::begin(Some(b"one\ntwo\n"));
    session.say("1c eins");
    session.wait_for(" 1 eins");
    session.kill("file-cache-manager");
    session.say("2c zwei");
    session.say("w");
    let ended = session.end();
    // Nobody has saved.
    ended.check_file("one\ntwo\n");
    assert!(!ended.is_success);
    ended.check_said("editor: the file-cache manager fails: ");
    ended.check_drawn("poem.txt   0 poem.txt: 2 lines, 10 bytes. Not saved.");
    let rescued = fs::read_to_string(ended.directory.path().join("poem.txt.rescued")).unwrap();
    assert_eq!(rescued, "eins\nzwei\n");
    assert_eq!(ended.ended_in_order(), ["window-manager"]);
}
