//! `cargo xtask matrix`: the self-tests of every interface file, each language's client against
//! each language's server.
//!
//! ```text
//! interface files ─▶ `nearcall compile --selftest` ─▶ programs of C, C++, Python
//!                └─▶ tests/matrix                   ─▶ programs of Rust, all files in two
//! ```
//!
//! A cell is a client's language and a server's; it runs every file that both have, a server and a
//! client at a time, each a process of its own under the documented list of system calls. Files
//! that have nothing to call are listed, and a language whose tools are not there is named: neither
//! is counted. CI has to have all tools.

mod confining;
mod language;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use rayon::prelude::*;

use crate::step::{self, Failed};

pub use language::Language;
use language::{Programs, calling_nothing};

/// Where interface files are; `tests/matrix/build.rs` looks there too.
const FOLDERS: &[&str] = &["good", "rust", "python", "selftest", "selftest-feeds"];
const OWN_FOLDER: &str = "tests/matrix/idl";

/// Files whose programs are there with another seed's values too, under their names and `_other`,
/// and what each side has to say about those; `tests/matrix/build.rs` has them too.
const CANARIES: &[Canary] = &[
    Canary { file: "echo", client: "echo::Echo::greet", server: "echo::Echo::greet" },
    Canary {
        file: "vault",
        client: "vault::Vault::swap, round 0: returned",
        server: "vault::Vault::swap, round 0: link",
    },
    Canary {
        file: "drip",
        client: "drip::Drip::out_of, round 0: items",
        server: "drip::Drip::into, round 0: items",
    },
    Canary {
        file: "talk",
        client: "talk::Talks::lines, round 0: items",
        server: "talk::Talks::lines, round 0: sent",
    },
];

/// A file, and the places where values differ.
#[derive(Debug)]
struct Canary {
    file: &'static str,
    client: &'static str,
    server: &'static str,
}

/// Fewest interfaces that each cell has to cover.
const INTERFACES_MIN: usize = 40;

/// What part of the matrix to run.
#[derive(Debug)]
pub struct Selection {
    /// Which values.
    pub seed: u64,
    /// The client's language, or all.
    pub client: Option<Language>,
    /// The server's language, or all.
    pub server: Option<Language>,
    /// One interface file, by its name without the end, or all.
    pub file: Option<String>,
}

impl Default for Selection {
    fn default() -> Selection {
        Selection { seed: 1, client: None, server: None, file: None }
    }
}

/// What one server and one client said.
#[derive(Debug, Default)]
struct Ran {
    calls: usize,
    values: usize,
    /// Why it is not well, and what was said; nothing if it is.
    wrong: String,
    /// Whether each side ended as badly as it should if values differ.
    has_failed: Sides,
}

/// Something of each program.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sides {
    client: bool,
    server: bool,
}

/// Builds every program, runs every cell, and prints a table.
pub fn run(root: &Path, selection: &Selection) -> Result<(), Failed> {
    let files = interface_files(root, selection.file.as_deref())?;
    let directory = root.join("target/matrix");
    build_programs(root, selection.seed)?;
    let mut programs = BTreeMap::new();
    for language in Language::ALL {
        let wanted = |one: Option<Language>| one.is_none_or(|one| one == language);
        if !wanted(selection.client) && !wanted(selection.server) {
            continue;
        }
        let in_c = programs.get(&Language::C);
        if let Some(built) = language.build(root, &directory, &files, selection.seed, in_c)? {
            programs.insert(language, built);
        }
    }
    let started = Instant::now();
    let names = tempfile::tempdir().map_err(|error| Failed(format!("no directory: {error}")))?;
    let cells = cells(&programs, selection);
    let run =
        |cell: &Cell| cell.run((&programs[&cell.client], &programs[&cell.server]), names.path());
    let beside = step::waiting()?;
    let (mut table, failed): (Vec<Row>, Vec<Vec<String>>) =
        beside.install(|| cells.par_iter().map(run).unzip());
    let failed = failed.concat();
    // Which language does not have the one file that is asked for is said already.
    table.retain(|row| selection.file.is_none() || row.files > 0);
    print_table(&table);
    let canaries = canaries(&programs, names.path(), selection.file.is_none())?;
    let (cells, seconds) = (table.len(), started.elapsed().as_secs_f64());
    let most = |of: fn(&Row) -> usize| table.iter().map(of).max().unwrap_or(0);
    let (interfaces, operations) = (most(|row| row.interfaces), most(|row| row.operations));
    let calls: usize = table.iter().map(|row| row.calls).sum();
    println!(
        "{interfaces} interfaces, {operations} operations; {cells} cells, {calls} calls, \
         {canaries} canaries, {seconds:.1} s"
    );
    if !failed.is_empty() {
        return Err(Failed(format!("not understood:\n  {}", failed.join("\n  "))));
    }
    judge(&table, selection.file.is_none())?;
    println!("{} processes confined", confining::judge(root, names.path(), &programs)?);
    Ok(())
}

/// The cells that are asked for, of languages that have programs.
fn cells(programs: &BTreeMap<Language, Programs>, selection: &Selection) -> Vec<Cell> {
    let wanted = |language: Language, only: Option<Language>| {
        only.is_none_or(|one| one == language) && programs.contains_key(&language)
    };
    let all = Language::ALL;
    let clients = all.into_iter().filter(|client| wanted(*client, selection.client));
    let pairs = clients.flat_map(|client| all.map(|server| (client, server)));
    pairs
        .filter(|(_, server)| wanted(*server, selection.server))
        .map(|(client, server)| Cell { client, server, seed: selection.seed })
        .collect()
}

/// Each language's client calls a server that expects other values, and answers others: both have
/// to say so. How many there were.
fn canaries(
    programs: &BTreeMap<Language, Programs>,
    names: &Path,
    is_whole: bool,
) -> Result<usize, Failed> {
    let mut count = 0;
    for (language, own) in programs {
        let name = language.name();
        let canaries = CANARIES.iter().filter(|one| own.files.contains_key(one.file));
        let before = count;
        for Canary { file, client, server } in canaries {
            let stems = (*file, &*format!("{file}_other"));
            let ran = run_both((own, own), stems, (&format!("{name}-{file}-other"), names));
            let (of_client, of_server) = (ran.has_failed.client, ran.has_failed.server);
            for (side, place, has_failed) in
                [("client", client, of_client), ("server", server, of_server)]
            {
                let said = &ran.wrong;
                if !has_failed || !said.contains(&format!("{side} of {place}")) {
                    return Err(Failed(format!(
                        "{name}: wrong values of {file}, and its {side} does not say so, or does \
                         not fail: {said}"
                    )));
                }
            }
            count += 1;
        }
        if is_whole && count == before {
            return Err(Failed(format!("{name} has no canary")));
        }
    }
    Ok(count)
}

/// A row that has checked too little has failed.
fn judge(table: &[Row], is_whole: bool) -> Result<(), Failed> {
    if table.is_empty() {
        return Err(Failed("no language can be built: no cell was run".to_owned()));
    }
    for row in table {
        let least = if is_whole { INTERFACES_MIN } else { 1 };
        if row.calls == 0 || row.values == 0 || row.interfaces < least {
            return Err(Failed(format!(
                "{} calls {}: {} calls and {} values over {} interfaces, of which {least} are \
                 wanted",
                row.client, row.server, row.calls, row.values, row.interfaces
            )));
        }
    }
    Ok(())
}

/// A client's language and a server's.
#[derive(Clone, Copy)]
struct Cell {
    client: Language,
    server: Language,
    seed: u64,
}

/// What a cell has checked.
#[derive(Debug)]
struct Row {
    client: &'static str,
    server: &'static str,
    files: usize,
    interfaces: usize,
    operations: usize,
    calls: usize,
    values: usize,
}

impl Cell {
    /// What it has checked, and how to run again what was not understood.
    fn run(&self, (client, server): (&Programs, &Programs), names: &Path) -> (Row, Vec<String>) {
        let (mut row, mut failed) = (self.row(), Vec::new());
        for (stem, called) in &client.files {
            if !server.files.contains_key(stem) {
                continue;
            }
            let name = format!("{}-{}-{stem}", self.client.name(), self.server.name());
            let ran = run_both((client, server), (stem, stem), (&name, names));
            row.files += 1;
            row.interfaces += called.interfaces;
            row.operations += called.operations;
            row.calls += ran.calls;
            row.values += ran.values;
            if !ran.wrong.is_empty() {
                println!("{}", ran.wrong);
                let (client, server, seed) = (self.client.name(), self.server.name(), self.seed);
                let part = format!("--client {client} --server {server} --file {stem}");
                failed.push(format!("cargo xtask matrix {part} --seed {seed}"));
            }
        }
        (row, failed)
    }

    fn row(&self) -> Row {
        let (client, server) = (self.client.name(), self.server.name());
        Row { client, server, files: 0, interfaces: 0, operations: 0, calls: 0, values: 0 }
    }
}

/// Runs the client and the server of files, confined.
fn run_both(
    (client, server): (&Programs, &Programs),
    (called, serving): (&str, &str),
    (name, names): (&str, &Path),
) -> Ran {
    let record = names.join(confining::RECORD);
    match (client.client(called, &record), server.server(serving, &record)) {
        (Ok(client), Ok(server)) => call(client, server, (name, names)),
        (Err(wrong), _) | (_, Err(wrong)) => {
            Ran { wrong: format!("{name}: {wrong}"), ..Ran::default() }
        }
    }
}

/// Starts a server, has a client call it, and ends the server and then the client: what is not
/// awaited arrives before its client goes.
fn call(client: Command, server: Command, (name, names): (&str, &Path)) -> Ran {
    let mut ran = Ran::default();
    let mut server = match Process::start(server, name, names) {
        Ok(server) => server,
        Err(error) => return Ran { wrong: format!("{name}: the server {error}"), ..ran },
    };
    let ready = server.line();
    if ready.trim_end() != "ready" {
        ran.wrong = format!("{name}: the server is not ready: {ready}{}", server.end().1);
        return ran;
    }
    let mut client = match Process::start(client, name, names) {
        Ok(client) => client,
        Err(error) => return Ran { wrong: format!("{name}: the client {error}"), ..ran },
    };
    let said = client.line();
    let (is_server_well, of_server) = server.end();
    let (is_client_well, of_client) = client.end();
    ran.has_failed = Sides { client: !is_client_well, server: !is_server_well };
    match counts(&said) {
        Some((calls, values)) if is_server_well && is_client_well => {
            (ran.calls, ran.values) = (calls, values)
        }
        _ => ran.wrong = format!("{name}: {said}{of_client}{of_server}"),
    }
    if let Some((_, values)) = counts(of_server.lines().next().unwrap_or_default()) {
        ran.values += values;
    }
    ran
}

/// Calls and values of `client: 12 of 12 calls, 30 values, 0 differ`.
fn counts(line: &str) -> Option<(usize, usize)> {
    let mut numbers = line.split([' ', ',']).filter_map(|word| word.parse().ok());
    let (calls, _, values) = (numbers.next()?, numbers.next()?, numbers.next()?);
    Some((calls, values))
}

/// A program of a self-test; it goes on to its end when its standard input ends.
struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// What it says on standard error: a file, which is never full.
    errors: File,
}

impl Process {
    fn start(mut command: Command, name: &str, names: &Path) -> Result<Process, String> {
        let lost = |error| format!("did not start: {error}");
        let errors = tempfile::tempfile_in(names).map_err(lost)?;
        command.arg(name).env("XDG_RUNTIME_DIR", names);
        command.stderr(errors.try_clone().map_err(lost)?);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(lost)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stdout = BufReader::new(stdout.ok_or("has no standard output")?);
        Ok(Process { child, stdin, stdout, errors })
    }

    /// What it says next; nothing if it ends.
    fn line(&mut self) -> String {
        let mut line = String::new();
        // What cannot be read is nothing.
        let _ = self.stdout.read_line(&mut line);
        line
    }

    /// Whether it ended well, and all it had to say.
    fn end(mut self) -> (bool, String) {
        drop(self.stdin.take());
        let mut said = String::new();
        // What cannot be read was not said.
        let _ = self.stdout.read_to_string(&mut said);
        let is_well = self.child.wait().is_ok_and(|status| status.success());
        if self.errors.rewind().is_ok() {
            let _ = self.errors.read_to_string(&mut said);
        }
        (is_well, said)
    }
}

/// Every interface file, or the one that is named.
fn interface_files(root: &Path, only: Option<&str>) -> Result<Vec<PathBuf>, Failed> {
    let folders = FOLDERS.iter().map(|folder| root.join("tests/idl").join(folder));
    let mut files = Vec::new();
    for folder in folders.chain([root.join(OWN_FOLDER)]) {
        let entries = std::fs::read_dir(&folder);
        let entries = entries.map_err(|error| Failed(format!("{}: {error}", folder.display())))?;
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            let is_interface = path.extension().is_some_and(|end| end == "idl" || end == "proto");
            if is_interface && only.is_none_or(|only| stem(&path) == only) {
                files.push(path);
            }
        }
    }
    files.sort();
    let is_file = |listed: &&str| files.iter().any(|file| stem(file) == *listed);
    if let Some(gone) = calling_nothing().find(|listed| only.is_none() && !is_file(listed)) {
        return Err(Failed(format!("{gone} is listed as calling nothing, and is no file")));
    }
    match (files.is_empty(), only) {
        (true, Some(only)) => Err(Failed(format!("no interface file is called {only}"))),
        (true, None) => Err(Failed("there are no interface files".to_owned())),
        _ => Ok(files),
    }
}

/// A file's name without its end.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn print_table(table: &[Row]) {
    println!("client  server  files  interfaces  operations   calls  values");
    for Row { client, server, files, interfaces, operations, calls, values } in table {
        println!(
            "{client:<7} {server:<7} {files:>5}  {interfaces:>10}  {operations:>10}  {calls:>6}  \
             {values:>6}"
        );
    }
}

/// Runs a step that counts nothing, and shows it only if it fails.
fn done(command: &mut Command) -> Result<(), Failed> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failed(format!("{command:?} did not start: {error}")))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Failed(format!("{command:?}:\n{}", String::from_utf8_lossy(&output.stderr)))),
    }
}

/// Builds what all languages need, and the programs of Rust. Of the whole workspace, so that
/// nothing is compiled again of what its tests are made of.
pub fn build_programs(root: &Path, seed: u64) -> Result<(), Failed> {
    let programs = ["nearcall", "matrix-client", "matrix-server"];
    let mut command = step::cargo(root, &["build", "--workspace"]);
    command.args(programs.iter().flat_map(|program| ["--bin", program]));
    command.env("NEARCALL_SELFTEST_SEED", seed.to_string());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Failed(format!("{} could not be built", programs.join(", ")))),
    }
}

#[cfg(test)]
mod tests;
