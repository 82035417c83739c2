//! The server of the two-domain tests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::{
    Binding, Clerk, Domain, ExportError, ExportOptions, ImportOptions, Opaque, OpaqueOut,
};
use nearcall_os::processor;

use crate::faults::faults::{
    FAULTS, FaultsClient, FaultsEntries, FaultsRefuseException, FaultsServer, FaultsWorkException,
    Point, Refused, Shape,
};

/// Panics without a word on the standard error, so that a log shows only what nobody has planned.
pub fn planned_panic(message: &str) -> ! {
    std::panic::resume_unwind(Box::new(message.to_owned()))
}

/// Serves `Faults`.
#[derive(Debug)]
pub struct Tester {
    domain: Domain,
    directory: PathBuf,
    runs: AtomicU64,
    level: AtomicI32,
}

/// Exports a tester of `domain` under `name`, in the scope of `directory`.
pub fn export(domain: &Domain, directory: &Path, name: &str) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    Clerk::export_with(domain, name, entries(domain, directory), options)
}

/// Entry stubs of a tester of `domain`, whose nested calls look names up in `directory`.
pub fn entries(domain: &Domain, directory: &Path) -> FaultsEntries<Tester> {
    FaultsEntries::new(Tester {
        domain: domain.clone(),
        directory: directory.to_owned(),
        runs: AtomicU64::new(0),
        level: AtomicI32::new(0),
    })
}

/// Options to import what is exported in the scope of `directory`.
pub fn import_options(directory: &Path) -> ImportOptions {
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(directory.to_owned())]);
    // Longer than a machine stands still.
    options.timeout = Duration::from_secs(60);
    options
}

impl Tester {
    fn count(&self) -> u64 {
        // SeqCst: the tests compare what several threads counted.
        self.runs.fetch_add(1, Ordering::SeqCst) + 1
    }
}

impl FaultsServer for Tester {
    fn null(&self) {}

    fn add(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    fn echo(&self, data: &[u8]) -> Vec<u8> {
        data.to_vec()
    }

    fn greet(&self, name: &str) -> String {
        format!("hello, {name}")
    }

    fn mirror(&self, given: &[Shape]) -> Vec<Shape> {
        let mut mirrored: Vec<Shape> = given.to_vec();
        mirrored.reverse();
        for shape in &mut mirrored {
            for Point { x, y } in &mut shape.points {
                (*x, *y) = (x.wrapping_neg(), -*y);
            }
        }
        mirrored
    }

    fn sum(&self, data: Opaque<'_>) -> u32 {
        let bytes = data.to_vec();
        bytes.iter().fold(0u32, |sum, byte| sum.wrapping_add((*byte).into()))
    }

    fn fill(&self, count: u32, value: u8, mut data: OpaqueOut<'_>) {
        let piece = [value; 4096];
        let mut left = count as usize;
        while left > 0 {
            let bytes = left.min(piece.len());
            data.put(&piece[..bytes]).expect("there is room for what was asked for");
            left -= bytes;
        }
    }

    fn join(&self, first: &[u8], second: &[u8], third: &[u8], last: &str) -> Vec<u8> {
        [first, second, third, last.as_bytes()].concat()
    }

    fn refuse(&self, code: i32) -> Result<i32, FaultsRefuseException> {
        match code {
            0 => Ok(0),
            code => Err(Refused { code, reason: format!("code {code}") }.into()),
        }
    }

    fn doze(&self, milliseconds: u32) -> u64 {
        let runs = self.count();
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
        runs
    }

    fn panic(&self, message: &str) {
        self.count();
        planned_panic(message);
    }

    fn die(&self) {
        self.count();
        std::process::abort();
    }

    fn runs(&self) -> u64 {
        // SeqCst: see `count`.
        self.runs.load(Ordering::SeqCst)
    }

    fn nest(&self, next: &str, back: &str, depth: u32) -> u32 {
        if depth == 0 {
            return 0;
        }
        let options = import_options(&self.directory);
        let binding = Binding::import_with(&self.domain, next, &FAULTS, options);
        let next_client = FaultsClient::new(binding.expect("the next server is exported"));
        1 + next_client.nest(back, next, depth - 1).expect("the next server answers")
    }

    fn caller(&self) -> u32 {
        nearcall::current_call().and_then(|call| call.importer().uid()).unwrap_or(u32::MAX)
    }

    fn processors(&self) -> u32 {
        // The standard library's count asks for a quota as well, by calls of its own.
        processor::count_allowed() as u32
    }

    fn leaf_processors(&self) -> u32 {
        self.processors()
    }

    fn work(
        &self,
        number: u8,
        milliseconds: u32,
        data: &[u8],
    ) -> Result<Vec<u8>, FaultsWorkException> {
        self.count();
        if milliseconds > 0 {
            std::thread::sleep(Duration::from_millis(milliseconds.into()));
        }
        if data.is_empty() {
            return Err(Refused { code: number.into(), reason: String::from("no data") }.into());
        }
        Ok([&[number], data].concat())
    }

    fn doze_alone(&self, milliseconds: u32, _data: &[u8]) {
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
    }

    fn note(&self) {
        self.count();
    }

    fn level(&self) -> i32 {
        // SeqCst: see `count`.
        self.level.load(Ordering::SeqCst)
    }

    fn set_level(&self, value: i32) {
        // SeqCst: see `count`.
        self.level.store(value, Ordering::SeqCst);
    }
}
