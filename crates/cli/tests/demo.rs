//! `nearcall demo`: real processes and real files.

mod program;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use lacking::lacking;
use program::{nearcall, outcome, told};
use rustix::process::{Pid, Signal};
use tempfile::TempDir;

/// A tree to copy and a directory for everything temporary.
struct Trial {
    directory: TempDir,
}

impl Trial {
    /// Five files, among them an empty one, one longer than a piece, and one whose name is not
    /// ASCII; an empty directory; a symbolic link.
    fn new() -> Trial {
        let trial = Trial { directory: TempDir::new().unwrap() };
        fs::create_dir(trial.temporary()).unwrap();
        fs::create_dir_all(trial.tree().join("deep/below")).unwrap();
        fs::create_dir(trial.tree().join("nothing")).unwrap();
        trial.write("empty", b"");
        trial.write("deep/script", b"#!/bin/true\n");
        trial.write("deep/below/größe 大きさ.txt", b"unicode");
        trial.write("target/kept", b"not left out of a tree that was named");
        let long: Vec<u8> = (0..(1 << 20) + 5).map(|i: u32| (i * 7 / 3) as u8).collect();
        trial.write("long", &long);
        let script = trial.tree().join("deep/script");
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
        symlink("no/such/file", trial.tree().join("link")).unwrap();
        trial
    }

    fn tree(&self) -> PathBuf {
        self.directory.path().join("tree")
    }

    fn temporary(&self) -> PathBuf {
        self.directory.path().join("temporary")
    }

    fn copy(&self) -> PathBuf {
        self.directory.path().join("copy")
    }

    fn write(&self, path: &str, text: &[u8]) {
        let path = self.tree().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The demo, few calls of it, in the temporary directory.
    fn demo(&self, arguments: &[&str]) -> Command {
        self.demo_of("64", arguments)
    }

    /// The same with so many calls.
    fn demo_of(&self, calls: &str, arguments: &[&str]) -> Command {
        let mut command = nearcall(&["demo", "--calls", calls]);
        command.args(arguments).env("TMPDIR", self.temporary());
        command
    }

    /// One that measures for longer than anybody waits.
    fn long_demo(&self) -> Command {
        self.demo_of("10000000", &[text(&self.tree())])
    }

    fn is_clean(&self) -> bool {
        fs::read_dir(self.temporary()).unwrap().next().is_none()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_tree_is_copied_compared_and_measured() {
    let trial = Trial::new();
    let (tree, copy) = (trial.tree(), trial.copy());
    let mut command = trial.demo(&[text(&tree), "--to", text(&copy)]);
    let (code, output, errors) = outcome(&mut command);
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    assert!(output.contains("5 of 5 files matched"), "{output}");
    assert!(output.contains("left out: symbolic links: 1\n"), "{output}");
    for row in ["read through calls", "written through calls", "cp -r"] {
        assert!(output.lines().any(|line| line.starts_with(row)), "{row} is missing:\n{output}");
    }
    for row in ["null ", "add ", "bigin ", "biginout "] {
        let found = output.lines().find(|line| line.starts_with(row));
        let cells = found.unwrap_or_default().split_whitespace().count();
        assert_eq!(cells, 8, "{row} is missing:\n{output}");
    }
    for path in ["empty", "deep/script", "deep/below/größe 大きさ.txt", "target/kept", "long"]
    {
        let same = fs::read(tree.join(path)).unwrap() == fs::read(copy.join(path)).unwrap();
        assert!(same, "{path}");
    }
    let script = fs::metadata(copy.join("deep/script")).unwrap();
    assert_eq!(script.permissions().mode() & 0o111, 0o111);
    assert!(copy.join("nothing").is_dir() && !copy.join("link").exists());
    assert!(trial.is_clean());
}

#[test]
fn what_is_kept_is_the_copy_and_what_was_written_back_and_no_socket() {
    let trial = Trial::new();
    let (code, output, _) = outcome(&mut trial.demo(&[text(&trial.tree()), "--keep"]));
    assert_eq!(code, 0, "{output}");
    let line = output.lines().find_map(|line| line.strip_prefix("kept: "));
    let kept = Path::new(line.unwrap());
    assert!(kept.starts_with(trial.temporary()));
    let names = fs::read_dir(kept).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["back", "copy"]);
    for name in ["copy/deep/below/größe 大きさ.txt", "back/deep/below/größe 大きさ.txt"] {
        assert_eq!(fs::read(kept.join(name)).unwrap(), b"unicode");
    }
}

#[test]
fn a_workspace_is_copied_without_what_is_built_and_kept_of_the_past() {
    let trial = Trial::new();
    trial.write("Cargo.toml", b"[workspace]\n");
    trial.write(".git/HEAD", b"ref: refs/heads/main\n");
    let mut command = trial.demo(&[]);
    let (code, output, _) = outcome(command.current_dir(trial.tree().join("deep/below")));
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("5 of 5 files matched"), "{output}");
}

#[test]
fn an_empty_directory_is_no_failure() {
    let trial = Trial::new();
    let (code, output, _) = outcome(&mut trial.demo(&[text(&trial.tree().join("nothing"))]));
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("0 of 0 files matched"), "{output}");
}

#[test]
fn a_directory_that_is_not_there_is_named_with_the_reason() {
    let trial = Trial::new();
    for (path, reason) in [("no/such", "No such file"), ("tree/long", "Not a directory")] {
        let mut command = trial.demo(&[path]);
        let (code, output, errors) = outcome(command.current_dir(trial.directory.path()));
        assert_eq!((code, output.as_str()), (1, ""));
        assert!(errors.contains(&format!("cannot read directory {path}: {reason}")), "{errors}");
    }
    assert!(trial.is_clean());
}

#[test]
fn a_target_with_something_in_it_is_refused_and_left_alone() {
    let trial = Trial::new();
    fs::create_dir(trial.copy()).unwrap();
    fs::write(trial.copy().join("empty"), "precious").unwrap();
    let mut command = trial.demo(&[text(&trial.tree()), "--to", text(&trial.copy())]);
    let (code, _, errors) = outcome(&mut command);
    assert_eq!(code, 1);
    assert!(errors.contains("the directory is not empty"), "{errors}");
    assert_eq!(fs::read(trial.copy().join("empty")).unwrap(), b"precious");
    assert!(trial.is_clean());
}

#[test]
fn a_target_that_cannot_be_made_is_named_with_the_reason() {
    let trial = Trial::new();
    let mut command = trial.demo(&[text(&trial.tree()), "--to", "/proc/no/such"]);
    let (code, _, errors) = outcome(&mut command);
    assert_eq!(code, 1);
    assert!(errors.contains("cannot make directory /proc/no/such: "), "{errors}");
    assert!(trial.is_clean());
}

/// The demo where `place` is a file system of its own; `None` if this machine does not permit it.
///
/// In a mount namespace, so that nothing has to be unmounted.
fn mounted(trial: &Trial, place: &Path, options: &str, arguments: &[&str]) -> Option<Command> {
    fs::create_dir_all(place).unwrap();
    let ways: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
    let mount = r#"mount -t tmpfs -o "$1" none "$2" && shift 2 && exec "$@""#;
    let shell = |way: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(way).args(["sh", "-c", mount, "sh", options, text(place)]);
        command
    };
    let is_permitted = |way: &&[&str]| {
        let tried = shell(way).arg("true").stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    let Some(way) = ways.into_iter().find(is_permitted) else {
        lacking("the right to mount a file system");
        return None;
    };
    let demo = trial.demo(arguments);
    let mut command = shell(way);
    command.arg(demo.get_program()).args(demo.get_args()).env("TMPDIR", trial.temporary());
    Some(command)
}

#[test]
fn a_read_only_target_is_named_with_the_reason() {
    let trial = Trial::new();
    let (tree, copy) = (trial.tree(), trial.copy());
    let arguments = [text(&tree), "--to", text(&copy)];
    let Some(mut command) = mounted(&trial, &copy, "ro", &arguments) else { return };
    let (code, output, errors) = outcome(&mut command);
    assert_eq!((code, output.as_str()), (1, ""));
    let expected = format!("cannot make directory {}", copy.display());
    assert!(errors.contains(&expected) && errors.contains("Read-only file system"), "{errors}");
    assert!(trial.is_clean());
}

#[test]
fn a_full_target_is_named_with_the_reason() {
    let trial = Trial::new();
    let (tree, copy) = (trial.tree(), trial.copy());
    let arguments = [text(&tree), "--to", text(&copy)];
    let Some(mut command) = mounted(&trial, &copy, "size=512k", &arguments) else { return };
    let (code, output, errors) = outcome(&mut command);
    assert_eq!((code, output.as_str()), (1, ""));
    let expected = format!("cannot write {}", copy.join("long").display());
    assert!(errors.contains(&expected) && errors.contains("No space left"), "{errors}");
    assert!(trial.is_clean());
}

#[test]
fn a_server_whose_disk_is_full_says_so_through_the_call() {
    let trial = Trial::new();
    let (tree, copy, temporary) = (trial.tree(), trial.copy(), trial.temporary());
    let arguments = [text(&tree), "--to", text(&copy)];
    let Some(mut command) = mounted(&trial, &temporary, "size=512k", &arguments) else { return };
    let (code, output, errors) = outcome(&mut command);
    assert_eq!((code, output.as_str()), (1, ""));
    assert!(errors.contains("cannot write ") && errors.contains("/back/long: "), "{errors}");
    assert!(errors.ends_with(": No space left on device\n"), "{errors}");
}

#[test]
fn without_a_temporary_directory_there_is_no_server() {
    let trial = Trial::new();
    let mut command = trial.demo(&[text(&trial.tree())]);
    let (code, output, errors) = outcome(command.env("TMPDIR", "/no/such/directory"));
    assert_eq!((code, output.as_str()), (1, ""));
    let expected = "nearcall: cannot make a directory in /no/such/directory: No such file";
    assert!(errors.starts_with(expected) && errors.lines().count() == 1, "{errors}");
}

#[test]
fn one_processor_is_enough() {
    if Command::new("taskset").arg("--version").output().is_err() {
        return lacking("taskset");
    }
    let trial = Trial::new();
    let processor = nearcall_os::processor::allowed()[0].to_string();
    let demo = trial.demo(&[text(&trial.tree())]);
    let mut command = Command::new("taskset");
    command.args(["-c", &processor]).arg(demo.get_program()).args(demo.get_args());
    command.env("TMPDIR", trial.temporary());
    let (code, output, errors) = outcome(&mut command);
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    assert!(output.contains("5 of 5 files matched"), "{output}");
    assert!(output.contains(&format!("client and server on processor {processor}")));
    assert!(output.contains("raw-yield"), "{output}");
    assert!(trial.is_clean());
}

/// A demo that has compared and now measures, for a long time.
fn measuring(mut command: Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(child.stdout.as_mut().unwrap());
    let compared = output.lines().map_while(Result::ok).any(|line| line.contains("matched"));
    assert!(compared, "the demo ended early");
    child
}

#[test]
fn an_interrupted_demo_leaves_nothing_behind() {
    // A shell has what it runs in the background ignore interrupts, and that is inherited.
    let heeding = || {
        let mut command = Command::new("env");
        command.arg("--default-signal");
        command
    };
    let tried = heeding().arg("true").stderr(Stdio::null()).status();
    if !tried.is_ok_and(|status| status.success()) {
        return lacking("env --default-signal");
    }
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let trial = Trial::new();
        let (demo, mut command) = (trial.long_demo(), heeding());
        command.arg(demo.get_program()).args(demo.get_args()).env("TMPDIR", trial.temporary());
        let child = measuring(command);
        rustix::process::kill_process(Pid::from_child(&child), signal).unwrap();
        let (code, ..) = told(child.wait_with_output().unwrap());
        assert_eq!(code, -1);
        assert!(trial.is_clean(), "{signal:?}");
    }
}

#[test]
fn a_server_that_is_killed_ends_the_demo_and_leaves_nothing_behind() {
    let trial = Trial::new();
    let child = measuring(trial.long_demo());
    rustix::process::kill_process(server_of(&child), Signal::KILL).unwrap();
    let (code, _, errors) = told(child.wait_with_output().unwrap());
    assert_eq!(code, 1);
    assert!(errors.starts_with("nearcall: "), "{errors}");
    assert!(trial.is_clean());
}

/// The child of the demo that serves: of all processes, because not every kernel lists children.
fn server_of(child: &Child) -> Pid {
    let parent = format!("PPid:\t{}", child.id());
    let is_server = |process: &PathBuf| {
        // Others end meanwhile.
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        let words = fs::read(process.join("cmdline")).unwrap_or_default();
        let serves = words.split(|byte| *byte == 0).any(|word| word == b"demo-server");
        serves && status.lines().any(|line| line == parent)
    };
    let mut processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let server = processes.find(is_server).expect("the demo has no child that serves");
    let id = server.file_name().unwrap().to_str().unwrap();
    Pid::from_raw(id.parse().unwrap()).unwrap()
}
