//! Nearcall's client and server as they are walked: two processes, each with its mark.

use std::hint::black_box;
use std::path::Path;

use nearcall::{Domain, DomainOptions};
use nearcall_os::processor;

use super::{CASES, Side};
use crate::calls::stubs::calls::{FILES, FilesClient, FilesEntries, FilesServer};
use crate::calls::{imported, serve_entries, start};
use crate::child::{Child, Failure, Link, Role};

const SERVER: &str = "walked-server";
const CLIENT: &str = "walked-client";

/// What a child can be.
pub const ROLES: [(&str, Role); 2] = [(SERVER, play_server), (CLIENT, play_client)];

/// Asked of either side: where its mark is.
const MARK: u64 = 100;

/// The arguments of `pfs_write`, as all subjects have them.
const HANDLE: i32 = 3;
const POSITION: i32 = 100;
const NUMBERS: [i32; 4] = [1, 2, 3, 4];

/// Both of them.
pub struct Ours {
    client: Child,
    server: Child,
    _directory: tempfile::TempDir,
}

/// What both sides visit once a call.
#[inline(never)]
fn mark() {
    black_box(0_u32);
}

impl Ours {
    /// Starts both, the client on processor `here` and the server on processor `there`.
    pub fn start(here: u32, there: u32) -> Result<Ours, Failure> {
        let directory = tempfile::tempdir()?;
        let server = start(SERVER, directory.path(), there)?;
        let client = start(CLIENT, directory.path(), here)?;
        Ok(Ours { client, server, _directory: directory })
    }

    /// The client's and the server's.
    pub fn sides(&self) -> Result<[Side; 2], Failure> {
        let side = |child: &Child| -> Result<Side, Failure> {
            Ok(Side { process: child.id(), mark: child.link().ask(MARK)? })
        };
        Ok([side(&self.client)?, side(&self.server)?])
    }

    /// Has the client make so many calls, by the index of a case.
    pub fn begin(&self, case: usize, calls: u32) -> Result<(), Failure> {
        self.client.link().tell(&[case as u64, u64::from(calls)])
    }

    /// Waits until it has made them.
    pub fn end(&self) -> Result<(), Failure> {
        // It answers orders in turn.
        self.client.link().hear().map(|_| ())
    }
}

struct Server;

impl FilesServer for Server {
    fn null(&self) {
        mark();
    }

    fn pfs_write(&self, handle: i32, pos: &mut i32, len: i32, numbers: &[i32]) {
        mark();
        black_box((handle, len));
        *pos += black_box(numbers).len() as i32;
    }
}

/// One server processor, and no end to spinning: a step takes microseconds, which is when another
/// would take over, and when both sides would fall asleep. Nobody lingers.
fn patient() -> DomainOptions {
    let mut options = DomainOptions::default();
    options.processors_max = 1;
    options.wait.linger_cycles_max = 0;
    options.wait.spin_ns_max = u32::MAX;
    // Also where yields are banned.
    options.wait.spin_ns_min = u32::MAX;
    options.wait.spin_ns_min = u32::MAX;
    options
}

fn play_server(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let entries = FilesEntries::new(Server);
    serve_entries(entries, patient(), link, arguments, || mark as fn() as usize as u64)
}

fn play_client(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let [directory, processor] = arguments else {
        return Err("which directory, which processor?".into());
    };
    processor::pin(processor.parse()?)?;
    let domain = Domain::with_options(patient())?;
    let client = FilesClient::new(imported(&domain, Path::new(directory), &FILES)?);
    link.answer(0)?;
    while let Some([word, calls, ..]) = link.next()? {
        match CASES.get(word as usize) {
            Some(&"null") => (0..calls).try_for_each(|_| null(&client))?,
            Some(_) => (0..calls).try_for_each(|_| pfs_write(&client))?,
            None => {}
        }
        link.answer(mark as fn() as usize as u64)?;
    }
    Ok(())
}

fn null(client: &FilesClient) -> Result<(), Failure> {
    mark();
    Ok(client.null()?)
}

fn pfs_write(client: &FilesClient) -> Result<(), Failure> {
    mark();
    let mut pos = black_box(POSITION);
    let numbers = black_box(&NUMBERS);
    client.pfs_write(black_box(HANDLE), &mut pos, numbers.len() as i32, numbers)?;
    if pos == POSITION + 4 { Ok(()) } else { Err("a call came back wrong".into()) }
}
