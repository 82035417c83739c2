//! What can go wrong with a socket.

use std::fmt;
use std::io;

use super::BACKLOG;

/// Why a socket did not do what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum SocketError {
    /// The path does not fit into a socket's address.
    PathTooLong {
        /// Bytes of the path.
        bytes: usize,
        /// Most it may have.
        limit: usize,
    },
    /// Not a packet socket of this machine in the state it should be in.
    Kind,
    /// The clerk has more importers waiting than it takes; a later try may succeed.
    Busy,
    /// Nothing came, or there was no room, in time.
    TimedOut,
    /// The other end is closed. It may be alive all the same.
    HungUp,
    /// The peer sent a longer packet than any it may send.
    Packet {
        /// Its length.
        claimed: usize,
        /// Length of the buffer.
        limit: usize,
    },
    /// The peer sent more descriptors than it may.
    Descriptors {
        /// How many it may send.
        limit: usize,
    },
    /// The user has too many descriptors under way in sockets; a later try may succeed.
    InFlight,
    /// The system refused.
    System {
        /// What it was asked to do.
        step: &'static str,
        /// Its answer.
        source: io::Error,
    },
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SocketError::PathTooLong { bytes, limit } => {
                write!(f, "socket path of {bytes} bytes is over {limit}")
            }
            SocketError::Kind => write!(f, "descriptor is not a local packet socket as expected"),
            SocketError::Busy => write!(f, "the clerk has {BACKLOG} importers waiting"),
            SocketError::TimedOut => write!(f, "no packet in time"),
            SocketError::HungUp => write!(f, "the other end of the socket is closed"),
            SocketError::Packet { claimed, limit } => {
                write!(f, "packet of {claimed} bytes is over {limit}")
            }
            SocketError::Descriptors { limit } => {
                write!(f, "packet brought more than {limit} descriptors")
            }
            SocketError::InFlight => write!(f, "too many descriptors under way for this user"),
            SocketError::System { step, source } => write!(f, "cannot {step}: {source}"),
        }
    }
}

impl std::error::Error for SocketError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SocketError::System { source, .. } => Some(source),
            _ => None,
        }
    }
}
