//! Processes that are measured against: the program started once more, in a role.
//!
//! ```text
//! parent                                             child
//! Child::start ── program --child ROLE ARGUMENT… ──▶ run_if_child
//!       ◀────────────── Link, its standard input ──────▶
//! ```
//!
//! A child sleeps on its link until it is told something, so that it costs nothing while another
//! is measured, and ends when the link does: with its parent, however that ends.

use std::error::Error;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nearcall_os::descriptor::PeerDescriptor;
use nearcall_os::socket::{SocketError, Stream};

/// Why something could not be measured, for people.
pub type Failure = Box<dyn Error>;

/// First argument of a child.
const MARK: &str = "--child";

/// Longest packet.
const PACKET_BYTES_MAX: usize = 64;

/// A child that does not answer for so long is taken for stuck.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a child may take to end before it is killed.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// A child that is measured against. Dropping it ends it.
pub struct Child {
    link: Option<Link>,
    process: std::process::Child,
}

/// The conversation between a parent and a child.
pub struct Link {
    stream: Stream,
}

/// What a child does, with its link and its arguments, until the link ends.
pub type Role = fn(&Link, &[String]) -> Result<(), Failure>;

impl Child {
    /// Starts a child and waits until it says that it is ready; `descriptors` go to it first.
    ///
    /// It inherits the processors that the calling thread may run on.
    pub fn start(
        role: &str,
        arguments: &[&str],
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<Child, Failure> {
        let (ours, theirs) = Stream::pair()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(MARK).arg(role).args(arguments);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null());
        let link = Link { stream: ours };
        let child = Child { link: Some(link), process: command.spawn()? };
        // Only the child is to hold its end, so that its end is noticed.
        drop(command);
        if !descriptors.is_empty() {
            child.link().stream.send(&[0], descriptors, ANSWER_TIMEOUT)?;
        }
        let answered = child.link().receive(ANSWER_TIMEOUT);
        answered.map_err(|error| format!("the {role} did not start: {error}"))?;
        Ok(child)
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The conversation with it.
    pub fn link(&self) -> &Link {
        self.link.as_ref().expect("a child has its link until it is dropped")
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.link = None;
        end(&mut self.process);
    }
}

/// Waits until a process that was told to end has done so, or ends it.
pub fn end(process: &mut std::process::Child) {
    let deadline = Instant::now() + END_TIMEOUT;
    while let Ok(None) = process.try_wait() {
        if Instant::now() > deadline {
            // It has ended in the meantime, or it ends now.
            let _ = process.kill();
            let _ = process.wait();
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Link {
    /// Sends a few words.
    pub fn tell(&self, words: &[u64]) -> Result<(), Failure> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(self.stream.send(&bytes, &[], ANSWER_TIMEOUT)?)
    }

    /// Sends one word, waits for a word. Allocates nothing.
    pub fn ask(&self, word: u64) -> Result<u64, Failure> {
        self.answer(word)?;
        self.hear()
    }

    /// Waits for a word. Allocates nothing.
    pub fn hear(&self) -> Result<u64, Failure> {
        self.receive(ANSWER_TIMEOUT).map(|words| words[0])
    }

    /// Sends one word. Allocates nothing.
    pub fn answer(&self, word: u64) -> Result<(), Failure> {
        Ok(self.stream.send(&word.to_le_bytes(), &[], ANSWER_TIMEOUT)?)
    }

    /// Waits for words; `None` if there will be no more. Allocates nothing.
    pub fn next(&self) -> Result<Option<Words>, Failure> {
        match self.receive(Duration::MAX) {
            Ok(words) => Ok(Some(words)),
            Err(error) => match error.downcast_ref() {
                Some(SocketError::HungUp) => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// The descriptors that the parent sends first.
    pub fn descriptors<const N: usize>(&self) -> Result<[OwnedFd; N], Failure> {
        let received = self.stream.receive(&mut [0; 1], N, ANSWER_TIMEOUT)?;
        let descriptors: Result<[PeerDescriptor; N], _> = received.descriptors.try_into();
        Ok(descriptors.map_err(|_| "a descriptor is missing")?.map(PeerDescriptor::take))
    }

    fn receive(&self, timeout: Duration) -> Result<Words, Failure> {
        let mut bytes = [0; PACKET_BYTES_MAX];
        self.stream.receive(&mut bytes, 0, timeout)?;
        let mut words = Words::default();
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Ok(words)
    }
}

/// What a packet says; 0 where it says nothing.
pub type Words = [u64; PACKET_BYTES_MAX / 8];

/// Whether this process is a child: then this plays its role, and returns how the process is to
/// end. Call it before anything else.
pub fn run_if_child(roles: &[(&str, Role)]) -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some(MARK) {
        return None;
    }
    let name = arguments.next().unwrap_or_default();
    let arguments: Vec<String> = arguments.collect();
    match play(roles, &name, &arguments) {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(error) => {
            eprintln!("{name}: {error}");
            Some(ExitCode::FAILURE)
        }
    }
}

fn play(roles: &[(&str, Role)], name: &str, arguments: &[String]) -> Result<(), Failure> {
    let role = roles.iter().find(|(role, _)| *role == name);
    let (_, role) = role.ok_or("this program has no such role")?;
    let descriptor = io::stdin().as_fd().try_clone_to_owned()?;
    role(&Link { stream: Stream::from_descriptor(descriptor)? }, arguments)
}
