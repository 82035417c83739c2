//! The calls, and what a subject has to be able to do.

use std::error::Error;

/// Why something could not be measured, for people.
pub type Failure = Box<dyn Error>;

/// Bytes of the argument of BigIn and BigInOut.
pub const BIG_BYTES: usize = 200;

/// Bytes of the longest argument.
pub const BYTES_MAX: usize = 1 << 20;

/// One of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// No argument and no result.
    Null,
    /// Two numbers in, their sum out.
    Add,
    /// So many bytes in.
    BytesIn(usize),
    /// 200 bytes in; the same with the first one higher out.
    BigInOut,
}

/// The client's side of a way to call.
///
/// Every call starts from bytes that the caller owns and keeps.
pub trait Client {
    /// Makes a call and looks at its result.
    async fn call(&mut self, call: Call, octets: &[u8]) -> Result<(), Failure>;

    /// Writes numbers at a position; the one after them. For those who are walked (`walked`).
    async fn pfs_write(&mut self, _pos: i32, _numbers: &[i32]) -> Result<i32, Failure> {
        Err("this subject has no pfs_write".into())
    }

    /// What has to be done before some calls, and after them: a server that polls is told to begin
    /// and to stop.
    fn begin(&mut self, _server: &mut crate::client::Server) -> Result<(), Failure> {
        Ok(())
    }

    /// See [`Client::begin`].
    fn end(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// After the last call.
    fn finish(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

impl Call {
    /// By the benchmark program's name for the case.
    pub fn of_case(name: &str) -> Option<Call> {
        Some(match name {
            "null" => Call::Null,
            "add" => Call::Add,
            "bigin" => Call::BytesIn(BIG_BYTES),
            "biginout" => Call::BigInOut,
            "4k" => Call::BytesIn(4 << 10),
            "64k" => Call::BytesIn(64 << 10),
            "1m" => Call::BytesIn(BYTES_MAX),
            _ => return None,
        })
    }

    /// Bytes of its argument.
    pub fn bytes(self) -> usize {
        match self {
            Call::Null | Call::Add => 0,
            Call::BytesIn(bytes) => bytes,
            Call::BigInOut => BIG_BYTES,
        }
    }
}

/// Results are right, or the measurement is worth nothing.
pub fn check(is_right: bool) -> Result<(), Failure> {
    if is_right { Ok(()) } else { Err("a call came back wrong".into()) }
}

/// What BigInOut does to its argument.
pub fn step(octets: &mut [u8]) {
    if let Some(first) = octets.first_mut() {
        *first = first.wrapping_add(1);
    }
}
