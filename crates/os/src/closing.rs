//! Closing what a peer sent, without waiting for it.
//!
//! A close may take as long as a peer has arranged: a socket that lingers waits for data that
//! nobody reads (4 s were seen where 4 s were asked for), a file of a file system in user space for
//! an answer of its process. So one thread closes what is not a memory file, and nobody else waits.
//! What it is stuck with stays open, and what comes after it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};

/// To the thread; `None`: it could not be started.
static CLOSING: OnceLock<Option<Sender<OwnedFd>>> = OnceLock::new();

/// Closes a descriptor that a peer sent.
///
/// # Cost: two system calls for a memory file, the second of which closes it; else one, and a
/// thread the first time.
pub(crate) fn close(descriptor: OwnedFd) {
    // Only memory files have seals, and closing one waits for nobody.
    if rustix::fs::fcntl_get_seals(&descriptor).is_ok() {
        return;
    }
    let closing = CLOSING.get_or_init(|| start().ok());
    // Without the thread it is closed here.
    if let Some(closing) = closing {
        let _ = closing.send(descriptor);
    }
}

fn start() -> io::Result<Sender<OwnedFd>> {
    let (sender, receiver) = mpsc::channel::<OwnedFd>();
    let thread = std::thread::Builder::new().name("nearcall-close".to_owned());
    thread.spawn(move || receiver.into_iter().for_each(drop))?;
    Ok(sender)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    /// Longer than any test waits.
    const LONG: Duration = Duration::from_secs(600);

    /// A connection whose first end lingers at its close until the second has read what it sent.
    pub(crate) fn lingering() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (theirs, _) = listener.accept().unwrap();
        rustix::net::sockopt::set_socket_linger(&ours, Some(LONG)).unwrap();
        ours.set_nonblocking(true).unwrap();
        while ours.write(&[7; 1 << 16]).is_ok() {}
        (ours, theirs)
    }

    #[test]
    fn a_socket_that_lingers_is_closed_and_nobody_waits_for_it() {
        let (ours, mut theirs) = lingering();
        close(ours.into());
        // It is still being closed: what was sent comes, and then the end.
        let bytes = theirs.read_to_end(&mut Vec::new()).unwrap();
        assert!(bytes > 0);
    }

    #[test]
    fn what_is_no_memory_file_is_closed_in_the_end() {
        let (ours, theirs) = rustix::pipe::pipe().unwrap();
        close(theirs);
        let mut bytes = Vec::new();
        std::fs::File::from(ours).read_to_end(&mut bytes).unwrap();
        assert!(bytes.is_empty());
    }
}
