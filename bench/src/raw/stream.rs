//! `raw-pipe` and `raw-uds`: what goes over is two lengths and the bytes; what comes back is bytes
//! only, one at least, because nothing cannot be waited for.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use crate::child::{Failure, Link};
use crate::raw::exchange::{BYTES_MAX, Carrier};

/// Bytes of the two lengths.
const HEAD_BYTES: usize = 8;

/// Two pipes.
pub struct Pipe(Ends<PipeReader, PipeWriter>);

/// A pair of sockets.
pub struct Uds(Ends<UnixStream, UnixStream>);

/// One side.
struct Ends<R, W> {
    read: R,
    write: W,
    /// The lengths and the bytes, so that they go in one system call.
    out: Vec<u8>,
}

impl Pipe {
    /// The client's side, and what the other side is to get.
    pub fn client() -> Result<(Box<dyn Carrier>, Vec<OwnedFd>), Failure> {
        let (their_read, write) = std::io::pipe()?;
        let (read, their_write) = std::io::pipe()?;
        let pipe = Pipe(Ends { read, write, out: Vec::new() });
        Ok((Box::new(pipe), vec![their_read.into(), their_write.into()]))
    }
}

impl Uds {
    /// The client's side, and what the other side is to get.
    pub fn client() -> Result<(Box<dyn Carrier>, Vec<OwnedFd>), Failure> {
        let (ours, theirs) = UnixStream::pair()?;
        let uds = Uds(Ends { read: ours.try_clone()?, write: ours, out: Vec::new() });
        Ok((Box::new(uds), vec![theirs.into()]))
    }
}

impl Carrier for Pipe {
    fn exchange(&mut self, arguments: &[u8], results: &mut [u8]) -> Result<(), Failure> {
        self.0.exchange(arguments, results)
    }
}

impl Carrier for Uds {
    fn exchange(&mut self, arguments: &[u8], results: &mut [u8]) -> Result<(), Failure> {
        self.0.exchange(arguments, results)
    }
}

impl<R: Read, W: Write> Ends<R, W> {
    #[inline]
    fn exchange(&mut self, arguments: &[u8], results: &mut [u8]) -> Result<(), Failure> {
        self.out.clear();
        self.out.extend((arguments.len() as u32).to_le_bytes());
        self.out.extend((results.len() as u32).to_le_bytes());
        self.out.extend(arguments);
        self.write.write_all(&self.out)?;
        match results {
            [] => self.read.read_exact(&mut [0; 1])?,
            results => self.read.read_exact(results)?,
        }
        Ok(())
    }

    /// The server's side, until the other ends.
    fn serve(&mut self) -> Result<(), Failure> {
        let mut bytes = vec![0; HEAD_BYTES + BYTES_MAX];
        loop {
            let mut have = 0;
            let mut want = HEAD_BYTES;
            let mut back = 0;
            // As much as there is at once: short ones come in one system call.
            while have < want {
                match self.read.read(&mut bytes[have..])? {
                    0 => return Ok(()),
                    count => have += count,
                }
                if have >= HEAD_BYTES {
                    let length = |at: usize| -> usize {
                        let four = bytes[at..at + 4].try_into().expect("four bytes");
                        u32::from_le_bytes(four) as usize
                    };
                    (want, back) = (HEAD_BYTES + length(0), length(4).max(1));
                }
            }
            self.write.write_all(&bytes[HEAD_BYTES..HEAD_BYTES + back])?;
        }
    }
}

/// What the child of `raw-pipe` does.
pub fn serve_pipe(link: &Link) -> Result<(), Failure> {
    let [read, write] = link.descriptors()?;
    link.answer(0)?;
    Ends { read: PipeReader::from(read), write: PipeWriter::from(write), out: Vec::new() }.serve()
}

/// What the child of `raw-uds` does.
pub fn serve_uds(link: &Link) -> Result<(), Failure> {
    let [both] = link.descriptors()?;
    link.answer(0)?;
    let both = UnixStream::from(both);
    Ends { read: both.try_clone()?, write: both, out: Vec::new() }.serve()
}
