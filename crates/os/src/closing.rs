//! Closing what a peer sent, without waiting for it.
//!
//! A close may take as long as a peer has arranged: a socket that lingers waits for data that
//! nobody reads (4 s were seen where 4 s were asked for), a file of a file system in user space for
//! an answer of its process. So one thread closes what is not a memory file, and nobody else waits.
//! What it is stuck with stays open, and what comes after it; how much of that one peer has sent is
//! counted, so that no more is taken from who has sent too much.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, OnceLock};

/// To the thread; `None`: it could not be started.
static CLOSING: OnceLock<Option<Sender<Waiting>>> = OnceLock::new();

/// How many descriptors that came over one connection wait to be closed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Behind(Arc<AtomicUsize>);

/// A descriptor that waits to be closed, and is counted until it is: fields are dropped in order.
struct Waiting {
    _descriptor: OwnedFd,
    _counted: Counted,
}

struct Counted(Behind);

impl Behind {
    /// How many.
    pub fn count(&self) -> usize {
        // Relaxed: a count that orders nothing.
        self.0.load(Ordering::Relaxed)
    }

    fn counted(&self) -> Counted {
        // Relaxed: as above.
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // Relaxed: as above.
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Closes a descriptor that a peer sent; `behind` counts it until it is closed.
///
/// # Cost: two system calls for a memory file, the second of which closes it; else one, and a
/// thread the first time.
pub(crate) fn close(descriptor: OwnedFd, behind: &Behind) {
    // Only memory files have seals, and closing one waits for nobody.
    if rustix::fs::fcntl_get_seals(&descriptor).is_ok() {
        return;
    }
    let closing = CLOSING.get_or_init(|| start().ok());
    // Without the thread it is closed here.
    if let Some(closing) = closing {
        let _ = closing.send(Waiting { _descriptor: descriptor, _counted: behind.counted() });
    }
}

fn start() -> io::Result<Sender<Waiting>> {
    let (sender, receiver) = mpsc::channel::<Waiting>();
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
        let behind = Behind::default();
        close(ours.into(), &behind);
        assert_eq!(behind.count(), 1);
        // It is still being closed: what was sent comes, and then the end.
        let bytes = theirs.read_to_end(&mut Vec::new()).unwrap();
        assert!(bytes > 0);
        while behind.count() > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_is_no_memory_file_is_closed_in_the_end() {
        let (ours, theirs) = rustix::pipe::pipe().unwrap();
        close(theirs, &Behind::default());
        let mut bytes = Vec::new();
        std::fs::File::from(ours).read_to_end(&mut bytes).unwrap();
        assert!(bytes.is_empty());
    }
}
