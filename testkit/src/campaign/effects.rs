//! The server of the campaign, and the file that its effects are written down in.
//!
//! A record is appended by one system call: after a death it is there or it is not. A server that
//! calls on writes down what it was told, too, in a file beside it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::{CallError, Clerk, Domain, ExportError, ExportOptions, Opaque, Policy};

use super::oracle::{CallName, Effects, Told};
use super::player::bind_in;
use crate::effects::effects::{
    CrowdEntries, CrowdServer, EffectsClient, EffectsEntries, EffectsServer,
};

/// Name of the file, in the directory of the names.
pub const FILE: &str = "effects";

/// Name of the file of what servers were told by those behind them.
pub const TOLD_FILE: &str = "told";

/// In the number of a client: its calls are those that a server has made for that client.
const RELAYED: u64 = 1 << 63;

/// Longest that a server waits for a binding to the one behind it.
const BEHIND_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes of a call, and of its results, that do not fit their A-stack.
const LONG_BYTES: usize = 4096;

/// Serves `Effects`.
#[derive(Debug)]
pub struct Witness {
    file: File,
    behind: Option<Behind>,
}

/// Who is behind a server that calls on.
#[derive(Debug)]
struct Behind {
    domain: Domain,
    directory: PathBuf,
    name: String,
    told: File,
}

/// Serves `Crowd`.
struct Echo;

/// What a witness is exported as beside what is exported under `name`.
pub fn name_of(name: &str) -> String {
    format!("{name}-effects")
}

/// Exports a witness under `name`, in the scope of `directory`.
pub fn export(domain: &Domain, directory: &Path, name: &str) -> Result<Clerk, ExportError> {
    let file = open(directory).map_err(|reason| ExportError::System {
        doing: "open the file of effects".to_owned(),
        reason,
    })?;
    export_to(file, domain, directory, name, Policy::default())
}

/// The same for those whom a policy admits, of a witness that writes down into this file.
pub fn export_to(
    file: File,
    domain: &Domain,
    directory: &Path,
    name: &str,
    policy: Policy,
) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.policy = policy;
    options.scope = Some(Scope::Directory(directory.to_owned()));
    let witness = Witness { file, behind: None };
    Clerk::export_with(domain, name, EffectsEntries::new(witness), options)
}

/// Exports a witness that calls on what is exported as `behind` beside it.
pub fn export_before(
    behind: &str,
    domain: &Domain,
    directory: &Path,
    name: &str,
) -> Result<Clerk, ExportError> {
    let lost = |reason| ExportError::System { doing: "open a file".to_owned(), reason };
    let behind = Behind {
        domain: domain.clone(),
        directory: directory.to_owned(),
        name: behind.to_owned(),
        told: append_to(&directory.join(TOLD_FILE)).map_err(lost)?,
    };
    let witness = Witness { file: open(directory).map_err(lost)?, behind: Some(behind) };
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    Clerk::export_with(domain, name, EffectsEntries::new(witness), options)
}

/// The file of effects of `directory`.
pub fn open(directory: &Path) -> io::Result<File> {
    append_to(&directory.join(FILE))
}

fn append_to(file: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(file)
}

/// Exports what many calls are posted to.
pub fn export_crowd(domain: &Domain, directory: &Path, name: &str) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    Clerk::export_with(domain, name, CrowdEntries::new(Echo), options)
}

/// Makes a long call.
///
/// # Panics
///
/// If it returns something else than it is to.
pub fn call_long(client: &EffectsClient) -> Result<(), CallError> {
    let data = vec![7; LONG_BYTES];
    client.echo(&data).map(|echo| assert_eq!(echo, data))
}

/// What was written down in `directory`.
pub fn written(directory: &Path) -> Effects {
    let mut effects = Effects::new();
    for [client, number] in records(&directory.join(FILE)) {
        *effects.entry(CallName { client, number }).or_default() += 1;
    }
    effects
}

/// The call that a server makes for a call of a client.
pub fn relayed(CallName { client, number }: CallName) -> CallName {
    CallName { client: client | RELAYED, number }
}

/// What servers were told of the calls that they made for others, in `directory`.
pub fn told(directory: &Path) -> Vec<(CallName, Told)> {
    let told = |[client, number, word]: [u64; 3]| {
        let told = Told::from_word(word as u32).expect("a server of ours wrote it");
        (CallName { client, number }, told)
    };
    records(&directory.join(TOLD_FILE)).map(told).collect()
}

/// The whole records of a file.
fn records<const WORDS: usize>(file: &Path) -> impl Iterator<Item = [u64; WORDS]> {
    let bytes = std::fs::read(file).unwrap_or_default();
    let words: Vec<u64> =
        bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    words.as_chunks().0.to_vec().into_iter()
}

fn write_record<const WORDS: usize>(mut file: &File, record: [u64; WORDS]) {
    let bytes: Vec<u8> = record.iter().flat_map(|word| word.to_le_bytes()).collect();
    file.write_all(&bytes).expect("a file of records");
}

impl Behind {
    /// Makes a call over a binding of its own, and writes down what it was told.
    fn call(&self, CallName { client, number }: CallName) -> Told {
        let told = match bind_in(&self.domain, &self.directory, &self.name, BEHIND_TIMEOUT) {
            Ok(bound) => Told::of(&bound.effect(client, number)),
            Err(_) => Told::DidNotRun,
        };
        write_record(&self.told, [client, number, told.word().into()]);
        told
    }
}

impl CrowdServer for Echo {
    fn again(&self, number: u64) -> u64 {
        number
    }
}

impl EffectsServer for Witness {
    fn null(&self) {}

    fn add(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    fn effect(&self, client: u64, number: u64) {
        write_record(&self.file, [client, number]);
    }

    fn relay(&self, client: u64, number: u64) -> u32 {
        let call = relayed(CallName { client, number });
        let told = self.behind.as_ref().map_or(Told::Returned, |behind| behind.call(call));
        self.effect(client, number);
        told.word()
    }

    fn echo(&self, data: &[u8]) -> Vec<u8> {
        data.to_vec()
    }

    fn sum(&self, data: Opaque<'_>) -> u32 {
        data.to_vec().iter().fold(0u32, |sum, byte| sum.wrapping_add((*byte).into()))
    }

    fn doze(&self, milliseconds: u32) {
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
    }
}
