//! The server of the tests of the failure contract, and its processes.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nearcall::name::Scope;
use nearcall::{
    Binding, Clerk, Domain, ExportError, ExportOptions, ImportOptions, Ran, current_call,
};

use crate::confined;
use crate::stubs::contract::{CONTRACT, ContractClient, ContractEntries, ContractServer};

/// Serves `Contract`.
#[derive(Debug)]
pub struct Keeper {
    domain: Domain,
    directory: PathBuf,
    running: AtomicU32,
    cancelled: AtomicU32,
    gone: AtomicU32,
    relayed: AtomicU32,
}

/// A process that serves `Contract` in the scope of a directory until it is dropped.
#[derive(Debug)]
pub struct KeeperProcess {
    child: Child,
}

/// Options to import what is exported in the scope of `directory`.
pub fn import_options(directory: &Path) -> ImportOptions {
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(directory.to_owned())]);
    // Longer than a machine stands still.
    options.timeout = Duration::from_secs(60);
    options
}

/// A client of what is exported as `name` there.
pub fn import(domain: &Domain, directory: &Path, name: &str) -> ContractClient {
    let binding = Binding::import_with(domain, name, &CONTRACT, import_options(directory));
    ContractClient::new(binding.expect("it is exported"))
}

/// Exports a keeper of `domain` as `name`.
pub fn export(domain: &Domain, directory: &Path, name: &str) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    Clerk::export_with(domain, name, entries(domain, directory), options)
}

/// Entry stubs of a keeper of `domain`, whose nested calls look names up in `directory`.
pub fn entries(domain: &Domain, directory: &Path) -> ContractEntries<Keeper> {
    ContractEntries::new(Keeper {
        domain: domain.clone(),
        directory: directory.to_owned(),
        running: AtomicU32::new(0),
        cancelled: AtomicU32::new(0),
        gone: AtomicU32::new(0),
        relayed: AtomicU32::new(0),
    })
}

/// The program of a keeper's process: exports, and serves until its standard input ends.
pub fn run(directory: &Path, name: &str) {
    let domain = Domain::new().expect("a domain");
    let clerk = export(&domain, directory, name).expect("an export");
    println!("exported");
    let mut line = String::new();
    std::io::stdin().read_to_string(&mut line).expect("standard input");
    drop(clerk);
    domain.shut_down();
}

impl KeeperProcess {
    /// Starts one with the program `testkit-keeper`, and waits until it has exported.
    pub fn start(program: &str, directory: &Path, name: &str) -> KeeperProcess {
        let process = KeeperProcess::start_as(Command::new(program), directory, name);
        assert!(confined::is_confined(process.pid()), "the keeper has not confined itself");
        process
    }

    /// The same by a command that starts the program.
    pub fn start_as(mut command: Command, directory: &Path, name: &str) -> KeeperProcess {
        let mut child = command
            .arg(directory)
            .arg(name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the keeper's program");
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("piped");
        BufReader::new(output).read_line(&mut line).expect("the keeper's first line");
        assert_eq!(line, "exported\n", "the keeper's first line");
        KeeperProcess { child }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it.
    pub fn kill(&mut self) {
        confined::kill(&mut self.child);
    }

    /// Waits until it has ended by itself.
    pub fn wait(&mut self) {
        // Kept open: its end would have the keeper end.
        let input = self.child.stdin.take();
        confined::wait(&mut self.child);
        drop(input);
    }
}

impl Drop for KeeperProcess {
    fn drop(&mut self) {
        confined::kill(&mut self.child);
    }
}

impl Keeper {
    fn next(&self, name: &str) -> ContractClient {
        import(&self.domain, &self.directory, name)
    }

    fn wait_until_cancelled(&self, time: Duration) -> bool {
        let call = current_call().expect("this is a procedure");
        let end = Instant::now() + time;
        while Instant::now() < end {
            if call.is_cancelled() {
                // SeqCst: as above.
                self.cancelled.fetch_add(1, Ordering::SeqCst);
                // SeqCst: as above.
                self.gone.fetch_add(call.is_client_gone().into(), Ordering::SeqCst);
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }
}

impl ContractServer for Keeper {
    fn null(&self) {}

    fn time_left(&self) -> i64 {
        let call = current_call().expect("this is a procedure");
        call.time_left().map_or(-1, |left| left.as_nanos() as i64)
    }

    fn time_left_of(&self, next: &str, after_ms: u32) -> i64 {
        let next = self.next(next);
        std::thread::sleep(Duration::from_millis(after_ms.into()));
        next.time_left().unwrap_or(-2)
    }

    fn work_until_cancelled(&self, ms: u32) -> bool {
        // SeqCst: the tests compare what several threads counted.
        self.running.fetch_add(1, Ordering::SeqCst);
        let is_cancelled = self.wait_until_cancelled(Duration::from_millis(ms.into()));
        // SeqCst: as above.
        self.running.fetch_sub(1, Ordering::SeqCst);
        is_cancelled
    }

    fn running(&self) -> u32 {
        // SeqCst: as above.
        self.running.load(Ordering::SeqCst)
    }

    fn seen(&self) -> (u32, u32) {
        // SeqCst: as above.
        (self.cancelled.load(Ordering::SeqCst), self.gone.load(Ordering::SeqCst))
    }

    fn relay(&self, next: &str, ms: u32) -> u32 {
        let outcome = self.next(next).work_until_cancelled(ms);
        // SeqCst: as above.
        self.relayed.fetch_add(1, Ordering::SeqCst);
        match outcome.map_err(|error| error.ran()) {
            Ok(_) => 0,
            Err(Ran::No) => 1,
            Err(_) => 2,
        }
    }

    fn relayed(&self) -> u32 {
        // SeqCst: as above.
        self.relayed.load(Ordering::SeqCst)
    }

    fn end_once(&self, file: &str) -> u32 {
        self.end_once_for_good(file)
    }

    fn end_once_for_good(&self, file: &str) -> u32 {
        let is_first = !Path::new(file).exists();
        let mut runs = OpenOptions::new().append(true).create(true).open(file).expect("a file");
        runs.write_all(b".").expect("room for a byte");
        if is_first {
            std::process::abort();
        }
        self.pid()
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn echo(&self, data: &[u8]) -> Vec<u8> {
        data.to_vec()
    }
}
