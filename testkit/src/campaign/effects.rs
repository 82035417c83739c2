//! The server of the campaign, and the file that its effects are written down in.
//!
//! A record is appended by one system call, `writev`, which the runtime makes none of (row T3):
//! after a death it is there or it is not. It names the call and the life of the server that it ran
//! in. A server that calls on writes down what it was told, too, in a file beside it.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::{CallError, Clerk, Domain, ExportError, ExportOptions, Opaque, Policy};

use super::oracle::{CallName, Effects, Entry, Told};
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

/// A life, in a record, that nobody knows.
const UNKNOWN: u64 = 0;

/// How long a server is in the middle of a call for every other client: as long as it takes that
/// one's end to be noticed.
const PAUSE: Duration = Duration::from_millis(3);

/// Longest that a server waits for a binding to the one behind it.
const BEHIND_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes of a call, and of its results, that do not fit their A-stack.
const LONG_BYTES: usize = 4096;

/// Serves `Effects`.
#[derive(Debug)]
pub struct Witness {
    file: File,
    /// Which life of its name it serves: known once it is exported.
    life: Arc<OnceLock<u64>>,
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
    export_with(Witness { file, life: Arc::default(), behind: None }, domain, name, options)
}

fn export_with(
    witness: Witness,
    domain: &Domain,
    name: &str,
    options: ExportOptions,
) -> Result<Clerk, ExportError> {
    let life = Arc::clone(&witness.life);
    let clerk = Clerk::export_with(domain, name, EffectsEntries::new(witness), options)?;
    life.set(clerk.incarnation()).expect("nobody else sets it");
    Ok(clerk)
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
    let file = open(directory).map_err(lost)?;
    let witness = Witness { file, life: Arc::default(), behind: Some(behind) };
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    export_with(witness, domain, name, options)
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
    for [client, number, life] in records(&directory.join(FILE)) {
        effects.entry(CallName { client, number }).or_default().push(life);
    }
    effects
}

/// The call that a server makes for a call of a client.
pub fn relayed(CallName { client, number }: CallName) -> CallName {
    CallName { client: client | RELAYED, number }
}

/// The call of a client that a server makes this one for, or this one itself.
pub fn first_of(CallName { client, number }: CallName) -> CallName {
    CallName { client: client & !RELAYED, number }
}

/// What servers were told of the calls that they made for others, in `directory`.
pub fn told(directory: &Path) -> Vec<Entry> {
    let entry = |[client, number, word, life, blamed]: [u64; 5]| {
        let told = Told::from_word(word as u32).expect("a server of ours wrote it");
        let known = |life| (life != UNKNOWN).then_some(life);
        let (life, blamed) = (known(life), known(blamed));
        Entry { call: CallName { client, number }, told, life, blamed }
    };
    records(&directory.join(TOLD_FILE)).map(entry).collect()
}

/// The records of a file.
fn records<const WORDS: usize>(file: &Path) -> impl Iterator<Item = [u64; WORDS]> {
    let bytes = std::fs::read(file).unwrap_or_default();
    let words: Vec<u64> =
        bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let record = |words: &[u64]| std::array::from_fn(|at| words[at]);
    words.chunks_exact(WORDS.next_power_of_two()).map(record).collect::<Vec<_>>().into_iter()
}

/// Its length divides a page's: a kill may end a write between two pages, and half a record would
/// shift all that come behind it.
fn write_record<const WORDS: usize>(mut file: &File, record: [u64; WORDS]) {
    let mut bytes: Vec<u8> = record.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(WORDS.next_power_of_two() * size_of::<u64>(), 0);
    let written = file.write_vectored(&[IoSlice::new(&bytes)]).expect("a file of records");
    assert_eq!(written, bytes.len(), "a record is whole");
}

impl Behind {
    /// Makes a call over a binding of its own, and writes down what it was told.
    fn call(&self, call: CallName) -> Told {
        let CallName { client, number } = call;
        let entry = match bind_in(&self.domain, &self.directory, &self.name, BEHIND_TIMEOUT) {
            Ok(bound) => {
                if client % 2 == 1 {
                    std::thread::sleep(PAUSE);
                }
                Entry::of(call, bound.binding(), &bound.effect(client, number))
            }
            Err(_) => Entry::told(call, Told::DidNotRun),
        };
        let [life, blamed] = [entry.life, entry.blamed].map(|life| life.unwrap_or(UNKNOWN));
        let word = u64::from(entry.told.word());
        write_record(&self.told, [client, number, word, life, blamed]);
        entry.told
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
        write_record(&self.file, [client, number, *self.life.wait()]);
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
