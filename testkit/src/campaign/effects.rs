//! The server of the campaign, and the file that its effects are written down in.
//!
//! A record is appended by one system call: after a death it is there or it is not.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::{CallError, Clerk, Domain, ExportError, ExportOptions, Opaque, Policy};

use super::oracle::{CallName, Effects};
use crate::effects::effects::{
    CrowdEntries, CrowdServer, EffectsClient, EffectsEntries, EffectsServer,
};

/// Name of the file, in the directory of the names.
pub const FILE: &str = "effects";

/// Bytes of a call, and of its results, that do not fit their A-stack.
const LONG_BYTES: usize = 4096;

/// Serves `Effects`.
#[derive(Debug)]
pub struct Witness {
    file: File,
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
    Clerk::export_with(domain, name, EffectsEntries::new(Witness { file }), options)
}

/// The file of effects of `directory`.
pub fn open(directory: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(directory.join(FILE))
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
    let bytes = std::fs::read(directory.join(FILE)).unwrap_or_default();
    let mut effects = Effects::new();
    for record in bytes.as_chunks::<16>().0 {
        let word = |half: usize| {
            u64::from_le_bytes(*record[half * 8..].first_chunk().expect("16 bytes are two words"))
        };
        *effects.entry(CallName { client: word(0), number: word(1) }).or_default() += 1;
    }
    effects
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
        let record = [client.to_le_bytes(), number.to_le_bytes()].concat();
        (&self.file).write_all(&record).expect("the file of effects");
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
