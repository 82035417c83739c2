//! The two programs, each in a process of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// Ends the server however the test ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A server of `directory`, ready.
fn serve(runtime: &Path, directory: &Path) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_files-server"));
    command.env("XDG_RUNTIME_DIR", runtime).arg(directory).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains(" is exported as files, at "), "{line}");
    Server(child)
}

fn client(runtime: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_files-client"));
    command.env("XDG_RUNTIME_DIR", runtime).args(arguments).output().unwrap()
}

#[test]
fn a_client_lists_and_shows_what_a_server_exports() {
    let (runtime, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::write(files.path().join("a.txt"), "hello\n").unwrap();
    let _server = serve(runtime.path(), files.path());

    let listed = client(runtime.path(), &["files"]);
    assert_eq!(String::from_utf8(listed.stdout).unwrap(), "           6 File a.txt\n");
    let shown = client(runtime.path(), &["files", "a.txt"]);
    assert_eq!(String::from_utf8(shown.stdout).unwrap(), "hello\n");

    let refused = client(runtime.path(), &["files", "../x"]);
    assert_eq!(refused.status.code(), Some(1));
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("Denied") && text.contains("leads out"), "{text}");
}

#[test]
fn the_readme_shows_what_comes_out() {
    const COMMAND: &str = "$ cargo run -q -p files-example --bin files-client -- ";
    let (runtime, root) = (TempDir::new().unwrap(), Path::new(env!("CARGO_MANIFEST_DIR")));
    let _server = serve(runtime.path(), root);
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let shown: Vec<_> = readme.split(COMMAND).skip(1).collect();
    assert_eq!(shown.len(), 2);
    for shown in shown {
        let (arguments, rest) = shown.split_once('\n').unwrap();
        let expected = rest.split("```").next().unwrap();
        let arguments: Vec<_> = arguments.split(' ').collect();
        let output = client(runtime.path(), &arguments).stdout;
        assert_eq!(String::from_utf8(output).unwrap(), expected, "{arguments:?}");
    }
}

#[test]
fn a_client_without_a_server_says_where_it_looked() {
    let runtime = TempDir::new().unwrap();
    let refused = client(runtime.path(), &["files"]);
    assert_eq!(refused.status.code(), Some(1));
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains(r#"no domain exports "files""#), "{text}");
}
