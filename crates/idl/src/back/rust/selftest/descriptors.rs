//! Open files with a text in them, for the programs of files that pass some.

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

use nearcall::raw::DescriptorKind;
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

/// No text in an open file is longer.
const OPENED_BYTES_MAX: u64 = 64;
/// What a segment has: whole pages, whatever the machine's are.
const SEGMENT_BYTES: u64 = 65_536;

/// An open file with a text in it, which whoever gets it reads once; a pipe where any will do.
pub fn opened(kind: DescriptorKind, text: &str) -> OwnedFd {
    let made = match kind {
        DescriptorKind::File => memory_file(text).map(OwnedFd::from),
        DescriptorKind::Segment => segment(text),
        DescriptorKind::Socket => socket(text),
        DescriptorKind::Binding => packet(text),
        DescriptorKind::Any => pipe(text),
    };
    made.unwrap_or_else(|error| panic!("there is no {kind:?}: {error}"))
}

fn memory_file(text: &str) -> std::io::Result<std::fs::File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = std::fs::File::from(rustix::fs::memfd_create("selftest", flags)?);
    file.write_all_at(text.as_bytes(), 0)?;
    Ok(file)
}

fn segment(text: &str) -> std::io::Result<OwnedFd> {
    let file = memory_file(text)?;
    let size = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, SEGMENT_BYTES)?;
    rustix::fs::fcntl_add_seals(&file, size | SealFlags::FUTURE_WRITE)?;
    Ok(file.into())
}

fn socket(text: &str) -> std::io::Result<OwnedFd> {
    let (own, mut other) = std::os::unix::net::UnixStream::pair()?;
    other.write_all(text.as_bytes())?;
    Ok(own.into())
}

/// What passes for an introduction until somebody imports from it.
fn packet(text: &str) -> std::io::Result<OwnedFd> {
    let (family, packets) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let (own, other) = socketpair(family, packets, SocketFlags::CLOEXEC, None)?;
    rustix::io::write(&other, text.as_bytes())?;
    Ok(own)
}

fn pipe(text: &str) -> std::io::Result<OwnedFd> {
    let (own, mut other) = std::io::pipe()?;
    other.write_all(text.as_bytes())?;
    Ok(own.into())
}

/// The text in it, up to its end or a NUL.
impl Shown for OwnedFd {
    fn show(&self, text: &mut String) {
        // Room for all at once: of a packet, what one read leaves is lost.
        let mut bytes = Vec::with_capacity(OPENED_BYTES_MAX as usize);
        // What cannot be read is not there.
        let _ = self
            .try_clone()
            .map(std::fs::File::from)
            .and_then(|file| file.take(OPENED_BYTES_MAX).read_to_end(&mut bytes));
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).as_ref().show(text);
    }
}
