//! The two servers, each a process of its own: this program, started once more in a role.
//!
//! A socket is the line between editor and server: the server says on it that it is ready, and ends
//! in order when the editor's end of it is gone, however that came about.

use std::error::Error;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use nearcall::name::Scope;
use nearcall::raw::Entries;
use nearcall::{Clerk, Domain, ExportOptions, ImportOptions};

use crate::file_cache::FileCacheEntries;
use crate::file_cache_manager::FileCacheManager;
use crate::window_manager::WindowManager;
use crate::windows::WindowsEntries;

/// What a server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It has the screen.
    WindowManager,
    /// It has the files of one directory.
    FileCacheManager,
}

/// A server that was started.
#[derive(Debug)]
pub struct Server {
    role: Role,
    child: Child,
    line: UnixStream,
}

const READY: &[u8] = b"ready";

impl Role {
    /// The role of this name.
    pub fn named(name: &str) -> Option<Role> {
        [Role::WindowManager, Role::FileCacheManager].into_iter().find(|role| role.name() == name)
    }

    /// What its interface is exported as.
    pub fn name(self) -> &'static str {
        match self {
            Role::WindowManager => "window-manager",
            Role::FileCacheManager => "file-cache-manager",
        }
    }

    /// Serves until the editor's end of the line on standard input is gone.
    pub fn serve(self, names: &Path, files: &Path) -> Result<(), Box<dyn Error>> {
        let mut line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        let domain = Domain::new()?;
        match self {
            Role::WindowManager => {
                let entries = WindowsEntries::new(WindowManager::default());
                until_end(&mut line, &self.export(&domain, names, entries)?)?;
            }
            Role::FileCacheManager => {
                let entries = FileCacheEntries::new(FileCacheManager::new(files));
                until_end(&mut line, &self.export(&domain, names, entries)?)?;
            }
        }
        domain.shut_down();
        println!("{}: ended in order", self.name());
        Ok(())
    }

    fn export<E: Entries>(
        self,
        domain: &Domain,
        names: &Path,
        entries: E,
    ) -> Result<Clerk, Box<dyn Error>> {
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(names.to_owned()));
        Ok(Clerk::export_with(domain, self.name(), entries, options)?)
    }
}

fn until_end(line: &mut UnixStream, _exported: &Clerk) -> io::Result<()> {
    line.write_all(READY)?;
    line.read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Options that find what the servers of `names` export.
pub fn import_options(names: &Path) -> ImportOptions {
    let mut options = ImportOptions::default();
    options.scopes = Some(vec![Scope::Directory(names.to_owned())]);
    options
}

impl Server {
    /// Starts one, and waits until it can be bound to.
    pub fn start(role: Role, names: &Path, files: &Path) -> Result<Server, Box<dyn Error>> {
        let (mut line, theirs) = UnixStream::pair()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("serve").arg(role.name()).arg(names).arg(files);
        let child = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn()?;
        drop(command);
        let mut ready = [0; READY.len()];
        let said = line.read_exact(&mut ready);
        let server = Server { role, child, line };
        match said {
            Ok(()) => Ok(server),
            Err(_) => {
                let status = server.end()?;
                Err(format!("the {} ended before it was ready: {status}", role.name()).into())
            }
        }
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Its role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Has it end, and waits until it has.
    pub fn end(self) -> io::Result<ExitStatus> {
        let Server { mut child, line, .. } = self;
        drop(line);
        child.wait()
    }
}
