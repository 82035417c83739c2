//! The socket that stands for a name: made in place of a dead server's, or taken over from whoever
//! has started this process because somebody called (systemd's socket activation, DESIGN 3).
//!
//! ```text
//!   handed down?  yes ─▶ listen again ─▶ whoever waits is told to connect again
//!                 no  ─▶ lock the directory ─▶ nobody answers there? ─▶ bind in its place
//! ```

use std::fs::{DirBuilder, File, FileType, Metadata, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nearcall_abi::message::RefusalCode;
use nearcall_os::activation::{self, Activated};
use nearcall_os::peer::Peer;
use nearcall_os::socket::{Listener, SocketError, Stream};

use super::handshake::refuse;
use crate::error::ExportError;
use crate::name::Scope;
use crate::wire::Socket;

/// Early importers that are accepted before the first of them is told: a fraction of the
/// descriptors that a process may have.
const EARLY_AT_ONCE: usize = 256;

/// There are no more rounds of these: what waits then has come since, and sees us.
const EARLY_ROUNDS: u32 = 20;

/// A listener and the file that names it.
pub(super) struct NamedSocket {
    pub listener: Listener,
    pub path: PathBuf,
    file: SocketFile,
}

/// Whose a socket's file is.
enum SocketFile {
    /// Ours; device and inode, because what stands there later may be another domain's.
    Own(u64, u64),
    /// Of whoever has started this process, and goes on listening when it ends.
    Activators { _taken: Activated },
}

/// What the system has refused, of what stands there.
fn system_at(doing: &str, path: &Path) -> impl FnOnce(io::Error) -> ExportError {
    let doing = format!("{doing} {}", path.display());
    move |reason| ExportError::System { doing, reason }
}

/// The socket of a name in a scope, whose path this is; whoever this mode lets connect may.
pub(super) fn claim(
    name: &str,
    scope: &Scope,
    path: PathBuf,
    mode: u32,
) -> Result<NamedSocket, ExportError> {
    match take_over(name, &path)? {
        Some(socket) => Ok(socket),
        None => bind(name, scope, path, mode),
    }
}

/// Takes over the socket of a name, if whoever has started this process has handed it down.
fn take_over(name: &str, path: &Path) -> Result<Option<NamedSocket>, ExportError> {
    let doing = "take over the socket that was handed down for";
    let taken = Activated::take(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => already_exported(name, Some(std::process::id())),
        _ => system_at(doing, path)(error),
    })?;
    let Some(taken) = taken else { return Ok(None) };
    let socket = taken.socket().map_err(system_at(doing, path))?;
    let other = |error: SocketError| system_at(doing, path)(io::Error::other(reason(error)));
    let listener = Listener::from_descriptor(socket).map_err(other)?;
    refuse_early(&listener).map_err(other)?;
    let file = SocketFile::Activators { _taken: taken };
    Ok(Some(NamedSocket { listener, path: path.to_owned(), file }))
}

/// Those who are waiting there see whoever listened before at their other end, and are to connect
/// again.
fn refuse_early(listener: &Listener) -> Result<(), SocketError> {
    for _ in 0..EARLY_ROUNDS {
        // All of them before the first is told, who would wait here again.
        let early = std::iter::from_fn(|| listener.accept().transpose()).take(EARLY_AT_ONCE);
        let early = early.collect::<Result<Vec<_>, _>>()?;
        let is_last = early.len() < EARLY_AT_ONCE;
        for stream in early {
            refuse(&Socket::new(stream), RefusalCode::Early, b"connect again");
        }
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Why a socket is not taken over.
fn reason(error: SocketError) -> String {
    match error {
        SocketError::Kind => {
            "it does not listen for local packets, as `ListenSequentialPacket=` has it do"
                .to_owned()
        }
        other => other.to_string(),
    }
}

/// Binds the socket of a name, in place of a dead server's.
fn bind(name: &str, scope: &Scope, path: PathBuf, mode: u32) -> Result<NamedSocket, ExportError> {
    let directory = path.parent().expect("a socket path has a directory").to_owned();
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(scope.directory_mode());
    builder.create(&directory).map_err(system_at("create", &directory))?;
    // Two servers that find the same stale file take turns: the lock goes with the descriptor.
    let turn = File::open(&directory).map_err(system_at("open", &directory))?;
    turn.lock().map_err(system_at("lock", &directory))?;
    match Stream::connect(&path) {
        Ok(stream) => {
            let pid = Peer::of(&stream).ok().and_then(|peer| peer.pid);
            return Err(already_exported(name, pid));
        }
        Err(SocketError::Busy) => return Err(already_exported(name, None)),
        Err(SocketError::System { source, .. }) if is_free(&source) => {}
        Err(other) => {
            return Err(system_at("look at", &path)(io::Error::other(other.to_string())));
        }
    }
    remove_dead(&path)?;
    let listener = Listener::bind(&path).map_err(|error| match error {
        SocketError::System { source, .. } => system_at("bind", &path)(source),
        other => system_at("bind", &path)(io::Error::other(other.to_string())),
    })?;
    let metadata = std::fs::symlink_metadata(&path).map_err(system_at("look at", &path))?;
    let file = SocketFile::Own(metadata.dev(), metadata.ino());
    let outcome = set_mode(&path, mode);
    NamedSocket { listener, path, file }.once(outcome)
}

/// Somebody listens, who may have meant to hand the socket down.
fn already_exported(name: &str, pid: Option<u32>) -> ExportError {
    let not_taken = activation::why_nothing_is_taken();
    ExportError::AlreadyExported { name: name.to_owned(), pid, not_taken }
}

/// Removes a dead server's socket, if there is one. Connecting to anything else is refused alike.
fn remove_dead(path: &Path) -> Result<(), ExportError> {
    let kind = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata.map_err(system_at("look at", path))?.file_type(),
    };
    if !kind.is_socket() {
        let what = what_is(kind);
        let reason = format!("{what} is there, and only a socket is replaced");
        return Err(system_at("replace", path)(io::Error::other(reason)));
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(system_at("replace", path)(error))
        }
        _ => Ok(()),
    }
}

fn what_is(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_file() => "a regular file",
        kind if kind.is_dir() => "a directory",
        kind if kind.is_symlink() => "a symbolic link",
        kind if kind.is_fifo() => "a FIFO",
        _ => "a device",
    }
}

/// Sets the permissions of the socket at `path`, and not those of what somebody who may write the
/// directory has put there instead; that takes `/proc`.
fn set_mode(path: &Path, mode: u32) -> Result<(), ExportError> {
    let outcome = nearcall_os::socket::hold_file(path).and_then(|held| {
        let kind = held.metadata()?.file_type();
        if !kind.is_socket() {
            return Err(io::Error::other(format!("{} is there, and no socket", what_is(kind))));
        }
        let held = format!("/proc/self/fd/{}", held.as_raw_fd());
        let mode = Permissions::from_mode(mode);
        match std::fs::set_permissions(held, mode.clone()) {
            // No `/proc` is mounted.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                std::fs::set_permissions(path, mode)
            }
            outcome => outcome,
        }
    });
    outcome.map_err(system_at("set the permissions of", path))
}

/// Nobody listens there.
fn is_free(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

impl NamedSocket {
    /// Itself, if what was to follow the bind has succeeded: else nobody finds its file.
    fn once(self, outcome: Result<(), ExportError>) -> Result<NamedSocket, ExportError> {
        outcome.inspect_err(|_| self.withdraw())?;
        Ok(self)
    }

    /// Removes the file if it is still ours.
    pub fn withdraw(&self) {
        if self.own_file().is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Sets the permissions of the file if it is still ours and has others: whoever has given up
    /// the right to, by dropping root or by a filter, may go on with those that it has.
    pub fn set_mode(&self, mode: u32) -> Result<(), ExportError> {
        match self.own_file() {
            Some(file) if file.mode() & 0o777 != mode => set_mode(&self.path, mode),
            _ => Ok(()),
        }
    }

    fn own_file(&self) -> Option<Metadata> {
        let SocketFile::Own(device, inode) = self.file else { return None };
        let metadata = std::fs::symlink_metadata(&self.path).ok()?;
        ((metadata.dev(), metadata.ino()) == (device, inode)).then_some(metadata)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_socket_is_replaced_and_what_else_is_there_is_said() {
        let directory = std::env::temp_dir().join(format!("nearcall-name-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let at = |name: &str| directory.join(name);
        std::fs::write(at("file"), "kept").unwrap();
        std::fs::create_dir_all(at("directory")).unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        drop(std::os::unix::net::UnixListener::bind(at("socket")).unwrap());
        let bind_at = |name| bind(name, &Scope::Directory(directory.clone()), at(name), 0o600);
        for (name, what) in
            [("file", "a regular file"), ("directory", "a directory"), ("link", "a symbolic link")]
        {
            let error = bind_at(name).err().unwrap().to_string();
            let says = format!("{what} is there, and only a socket is replaced");
            assert!(error.contains(&at(name).display().to_string()), "{error}");
            assert!(error.contains(&says), "{error}");
        }
        assert_eq!(std::fs::read(at("file")).unwrap(), b"kept");
        assert!(at("link").is_symlink());
        bind_at("socket").unwrap().withdraw();
        assert!(!at("socket").exists());
        let refused = bind_at("socket").unwrap().once(set_mode(&at("file"), 0o600));
        assert!(refused.err().unwrap().to_string().contains("a regular file is there"));
        assert!(!at("socket").exists());
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn the_permissions_of_what_takes_the_sockets_place_are_left_alone() {
        let directory = std::env::temp_dir().join(format!("nearcall-mode-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let (victim, path) = (directory.join("victim"), directory.join("name"));
        std::fs::write(&victim, "secret").unwrap();
        std::fs::set_permissions(&victim, Permissions::from_mode(0o600)).unwrap();
        let mode_of = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;

        let socket = bind("name", &Scope::Directory(directory.clone()), path.clone(), 0o600);
        let socket = socket.unwrap();
        assert_eq!(mode_of(&path), 0o600);
        socket.set_mode(0o666).unwrap();
        assert_eq!(mode_of(&path), 0o666);

        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        let refused = set_mode(&path, 0o666).unwrap_err().to_string();
        assert!(refused.contains("a symbolic link is there, and no socket"), "{refused}");
        socket.set_mode(0o600).unwrap();
        assert_eq!(mode_of(&victim), 0o600);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
