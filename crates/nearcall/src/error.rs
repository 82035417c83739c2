//! What can go wrong, one type per audience: whoever calls ([`CallError`], [`Error`]), whoever
//! binds ([`BindError`]), whoever exports ([`ExportError`]).

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use nearcall_abi::ProcedureName;
use nearcall_core::fault::PeerFault;
use nearcall_os::WrongDescriptor;

use crate::server::rules::RuleError;

/// Why a call has no results.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// We asked for something the interface forbids. Nothing was posted.
    Usage(UsageError),
    /// No A-stack came free before the deadline. Nothing was posted.
    NoAStack {
        /// The procedure that was to be called.
        procedure: ProcedureName<'static>,
    },
    /// The procedure was proven not to have run. A retry is safe.
    NotExecuted {
        /// The procedure.
        procedure: ProcedureName<'static>,
        /// Why not.
        reason: NotExecuted,
    },
    /// The server's domain ended, or gave the binding up, while it held the call. The procedure may
    /// have run.
    CallFailed {
        /// The procedure.
        procedure: ProcedureName<'static>,
        /// The life of the server that it was in: see [`crate::Binding::incarnation`].
        incarnation: u64,
    },
    /// We stopped waiting; the server may still be running the procedure, and its A-stack is
    /// captured until it is done (L55).
    CallAborted {
        /// The procedure.
        procedure: ProcedureName<'static>,
        /// The deadline that passed, or how long it was until the wait was interrupted.
        deadline: Duration,
        /// The life of the server that it is in.
        incarnation: u64,
    },
    /// The procedure ran and panicked, or dropped what it was to reply with. The server lives on.
    Panicked {
        /// The procedure.
        procedure: ProcedureName<'static>,
    },
    /// The procedure ran, but its results are over a bound, or there was no memory for them. Why,
    /// its server alone is told: by `tracing`, in C on standard error, in Python by a hook.
    ResultsRefused {
        /// The procedure.
        procedure: ProcedureName<'static>,
    },
    /// The server broke the protocol. The binding is revoked.
    Peer {
        /// The procedure.
        procedure: ProcedureName<'static>,
        /// What it claimed, and the limit.
        fault: PeerFault,
    },
}

/// Err of an operation that raises.
#[derive(Debug)]
pub enum Error<E> {
    /// The procedure raised one of its exceptions.
    Exception(E),
    /// The call had no results.
    Call(CallError),
}

/// Whether a procedure ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// No: a retry cannot run it twice.
    No,
    /// Nobody can tell: retry only what is idempotent.
    Maybe,
    /// Yes, once.
    Yes,
}

/// What the caller asked for that the interface forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsageError {
    /// An argument is over its bound.
    OverBound(OverBound),
    /// A value is not among those that its type or its place has. In a box, so that no call that
    /// returns has room for it.
    OutOfRange(Box<OutOfRange>),
    /// Text that a caller in another language gave is not UTF-8, or has a NUL in it.
    Text {
        /// The parameter.
        parameter: &'static str,
        /// Byte at which it stops being text.
        at: usize,
    },
    /// This thread has calls outstanding on all A-stacks of the procedure's class: it has to
    /// collect one before the next post.
    Outstanding {
        /// The procedure that was to be called.
        procedure: ProcedureName<'static>,
        /// How many A-stacks there are.
        limit: u32,
    },
    /// Out-of-line memory for an argument could not be had.
    NoMemory {
        /// Bytes asked for.
        bytes: u64,
        /// The system's word.
        reason: String,
    },
    /// An argument is lent to the server of another binding.
    LentElsewhere,
    /// This process is a child that was forked, and the binding is its parent's, which goes on with
    /// it. Make a domain here, and import again.
    Forked {
        /// The name that the binding was imported by.
        name: String,
        /// The process that has imported it.
        importer: u32,
    },
    /// A descriptor is not of the kind that its parameter is.
    WrongDescriptor {
        /// The parameter.
        parameter: &'static str,
        /// What it is, and what it has to be.
        wrong: WrongDescriptor,
    },
}

/// An argument, how long it is, and how long it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverBound {
    /// Parameter, or member of one.
    pub parameter: &'static str,
    /// Elements, or bytes of text.
    pub value: u64,
    /// The bound.
    pub limit: u64,
}

/// An argument, what it is, and what it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// Parameter, or member of one.
    pub parameter: &'static str,
    /// The value, as its type shows it: `-5`, `NaN`, `'x'`.
    pub value: String,
    /// What it may be, in words: `-1.5 to 2.5`, `RED (0) or BLUE (2)`.
    pub allowed: String,
}

/// Why a procedure did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotExecuted {
    /// The server's domain ended before it took the call.
    ServerEnded,
    /// The binding was revoked before the call.
    Revoked,
    /// The server refused the call: it is shutting down.
    Refused,
    /// The server refused the arguments: to it they are not what the interface promises.
    ArgumentsRefused,
    /// The server's policy does not let this client call this procedure.
    NotPermitted,
    /// The server was made from a version of the interface that does not have the procedure.
    NotProvided,
    /// The deadline passed before the call was posted.
    DeadlinePassed,
    /// The arguments lie out of line, and the server has no room for them now: its clients of this
    /// user have their share. Try again later.
    Overloaded,
    /// The descriptors of the call could not be sent: the server does not read what it is sent, or
    /// this user has too many under way. Try again later.
    DescriptorsNotSent,
    /// The feed that the item was for is over: an error has said so before.
    FeedOver,
}

/// Why there is no binding.
#[derive(Debug)]
#[non_exhaustive]
pub enum BindError {
    /// The name is not one.
    Name(NameError),
    /// No domain exports this name.
    NoSuchName {
        /// The name.
        name: String,
        /// Sockets that were tried.
        tried: Vec<PathBuf>,
    },
    /// The server's policy, or the permissions of its socket, do not admit this domain.
    NotAdmitted {
        /// The name.
        name: String,
        /// What the server or the system said.
        reason: String,
    },
    /// The server exports another interface under this name.
    OtherInterface {
        /// The name.
        name: String,
        /// The interface that was asked for.
        expected: &'static str,
        /// The interface there is.
        exported: String,
    },
    /// The server has another version of the interface, and neither of the two only adds operations
    /// at the end of the other.
    Hash {
        /// The interface.
        interface: &'static str,
        /// The first operation that differs, in words.
        difference: String,
    },
    /// The server has no room now, or none for clients of this user; try again later.
    Overloaded {
        /// The name.
        name: String,
        /// What there is no room for: what was asked for, and the limit.
        reason: String,
    },
    /// The server did not answer in time.
    TimedOut {
        /// The name.
        name: String,
        /// How long we waited.
        waited: Duration,
    },
    /// A rebind that waits has waited as long as it may, and nobody has exported the name.
    NotReady {
        /// The name.
        name: String,
        /// How long it waited at most: [`Rebind::WaitForReady`](crate::Rebind::WaitForReady), or
        /// what a call's deadline left of it.
        limit: Duration,
        /// Why there was no binding when it last tried.
        last: Box<BindError>,
    },
    /// The descriptor that was to be imported from is no introduction: why not.
    NoIntroduction(String),
    /// The introduction is over: it was used, it waited too long, or whoever gave it, or the
    /// server, has gone. Another one may be had from a giver.
    IntroductionOver {
        /// The interface that was asked for.
        interface: &'static str,
    },
    /// The binding was introduced, so there is no name to rebind by: another introduction may be
    /// had from a giver.
    Introduced {
        /// The interface.
        interface: &'static str,
    },
    /// The binding that somebody was to be introduced to is revoked.
    Revoked {
        /// The name that it was imported by.
        name: String,
    },
    /// The server broke the bind protocol or went away in the middle of it.
    Peer {
        /// The name.
        name: String,
        /// What it did.
        reason: String,
    },
    /// The system refused memory or descriptors.
    System {
        /// What for.
        doing: &'static str,
        /// Its word.
        reason: std::io::Error,
    },
}

/// Why an interface is not exported.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// The name is not one.
    Name(NameError),
    /// A living domain exports this name.
    AlreadyExported {
        /// The name.
        name: String,
        /// The process that does, if the system tells.
        pid: Option<u32>,
    },
    /// A rule of the policy is not one for this interface.
    Policy(RuleError),
    /// The system refused the socket.
    System {
        /// What for.
        doing: String,
        /// Its word.
        reason: std::io::Error,
    },
}

/// Why a text is no name that an interface can be exported under.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing in it.
    Empty,
    /// A part between slashes that is empty, `.` or `..`, or a character outside
    /// `A-Z a-z 0-9 . _ -`.
    Part {
        /// The name.
        name: String,
        /// The part.
        part: String,
    },
    /// The socket's path is longer than a socket address holds.
    TooLong {
        /// The name.
        name: String,
        /// Bytes of the path.
        path_bytes: usize,
        /// Bytes there may be.
        limit: usize,
    },
    /// There is no directory for it.
    NoScope,
}

impl CallError {
    /// Whether the procedure ran; after `Ran::No` a retry cannot run it twice.
    pub fn ran(&self) -> Ran {
        match self {
            CallError::Usage(_) | CallError::NoAStack { .. } | CallError::NotExecuted { .. } => {
                Ran::No
            }
            CallError::CallFailed { .. } | CallError::CallAborted { .. } => Ran::Maybe,
            CallError::Peer { .. } => Ran::Maybe,
            CallError::Panicked { .. } | CallError::ResultsRefused { .. } => Ran::Yes,
        }
    }
}

/// What a stub returns instead of results.
pub trait Failure {
    /// The call had no results; `None`: the procedure raised.
    fn call_error(&self) -> Option<&CallError>;
}

impl Failure for CallError {
    fn call_error(&self) -> Option<&CallError> {
        Some(self)
    }
}

impl Failure for Box<CallError> {
    fn call_error(&self) -> Option<&CallError> {
        Some(self)
    }
}

impl<E> Failure for Error<E> {
    fn call_error(&self) -> Option<&CallError> {
        match self {
            Error::Exception(_) => None,
            Error::Call(error) => Some(error),
        }
    }
}

impl<E> Error<E> {
    /// Whether the procedure ran; one that raised has run.
    pub fn ran(&self) -> Ran {
        match self {
            Error::Exception(_) => Ran::Yes,
            Error::Call(error) => error.ran(),
        }
    }
}

/// How an error travels inside a stub: in one word.
impl From<Box<CallError>> for CallError {
    fn from(error: Box<CallError>) -> CallError {
        *error
    }
}

/// As above.
impl<E> From<Box<CallError>> for Error<E> {
    fn from(error: Box<CallError>) -> Error<E> {
        Error::Call(*error)
    }
}

impl<E> From<CallError> for Error<E> {
    fn from(error: CallError) -> Error<E> {
        Error::Call(error)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Usage(usage) => usage.fmt(f),
            CallError::NoAStack { procedure } => {
                write!(f, "no A-stack for {procedure} came free before the deadline")
            }
            CallError::NotExecuted { procedure, reason } => {
                write!(f, "{procedure} was not executed: {reason}")
            }
            CallError::CallFailed { procedure, incarnation } => write!(
                f,
                "call failed: the server, in life {incarnation}, ended or gave up while it held \
                 {procedure}"
            ),
            CallError::CallAborted { procedure, deadline, .. } => {
                write!(f, "call aborted: {procedure} did not return within {deadline:?}")
            }
            CallError::Panicked { procedure } => {
                write!(f, "{procedure} panicked in the server, or was dropped there unfinished")
            }
            CallError::ResultsRefused { procedure } => {
                write!(
                    f,
                    "results of {procedure} are beyond a limit, or could not be made: its server \
                     is told why"
                )
            }
            CallError::Peer { procedure, fault } => {
                write!(f, "the server broke the protocol at {procedure}: {fault}")
            }
        }
    }
}

impl<E: fmt::Display> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Exception(exception) => write!(f, "raised {exception}"),
            Error::Call(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for NotExecuted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotExecuted::ServerEnded => "the server ended before it took the call",
            NotExecuted::Revoked => "the binding is revoked",
            NotExecuted::Refused => "the server is shutting down",
            NotExecuted::ArgumentsRefused => "the server refused the arguments",
            NotExecuted::Overloaded => "the server has no room for its arguments now",
            NotExecuted::FeedOver => "it is over",
            NotExecuted::DescriptorsNotSent => "its descriptors could not be sent",
            NotExecuted::NotPermitted => "the server's policy does not permit it",
            NotExecuted::NotProvided => "the server's version of the interface does not have it",
            NotExecuted::DeadlinePassed => "its deadline passed before it was posted",
        })
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UsageError::OverBound(over) => over.fmt(f),
            UsageError::OutOfRange(beyond) => beyond.fmt(f),
            UsageError::Text { parameter, at } => {
                write!(f, "{parameter} is not UTF-8 at byte {at}")
            }
            UsageError::Outstanding { procedure, limit } => {
                write!(f, "no A-stack for {procedure}: this thread has all {limit} outstanding")
            }
            UsageError::NoMemory { bytes, reason } => {
                write!(f, "no out-of-line memory for {bytes} bytes: {reason}")
            }
            UsageError::WrongDescriptor { parameter, wrong } => write!(f, "{parameter}: {wrong}"),
            UsageError::LentElsewhere => f.write_str("an argument is lent over another binding"),
            UsageError::Forked { name, importer } => write!(
                f,
                "process {} was forked from {importer}, which has imported {name:?}: make a domain \
                 of its own, and import again",
                std::process::id()
            ),
        }
    }
}

impl fmt::Display for OverBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OverBound { parameter, value, limit } = self;
        write!(f, "{parameter} has {value} bytes or elements, its limit is {limit}")
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OutOfRange { parameter, value, allowed } = self;
        write!(f, "{parameter} is {value}, allowed is {allowed}")
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::Name(name) => name.fmt(f),
            BindError::NoSuchName { name, tried } => {
                let tried: Vec<_> = tried.iter().map(|path| path.display().to_string()).collect();
                write!(f, "no domain exports {name:?}: looked for {}", tried.join(" and "))
            }
            BindError::NotAdmitted { name, reason } => {
                write!(f, "not admitted to {name:?}: {reason}")
            }
            BindError::OtherInterface { name, expected, exported } => {
                write!(f, "{name:?} is interface {exported}, not {expected}")
            }
            BindError::Hash { interface, difference } => {
                write!(f, "the server has another version of {interface}: {difference}")
            }
            BindError::Overloaded { name, reason } => {
                write!(f, "{name:?} has no room for another binding now: {reason}")
            }
            BindError::TimedOut { name, waited } => {
                write!(f, "{name:?} did not answer within {waited:?}")
            }
            BindError::NotReady { name, limit, last } => {
                write!(f, "{name:?} was not ready within {limit:?}: {last}")
            }
            BindError::NoIntroduction(reason) => write!(f, "no introduction: {reason}"),
            BindError::IntroductionOver { interface } => {
                write!(
                    f,
                    "the introduction to {interface} is over: it was used, waited too long, "
                )?;
                f.write_str("or whoever gave it, or the server, has gone")
            }
            BindError::Introduced { interface } => {
                write!(f, "the binding to {interface} was introduced: no name to rebind by")
            }
            BindError::Revoked { name } => {
                write!(f, "the binding to {name:?} is revoked: nobody is introduced to it")
            }
            BindError::Peer { name, reason } => {
                write!(f, "{name:?} broke the bind protocol: {reason}")
            }
            BindError::System { doing, reason } => write!(f, "{doing}: {reason}"),
        }
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Name(name) => name.fmt(f),
            ExportError::AlreadyExported { name, pid: Some(pid) } => {
                write!(f, "{name:?} is already exported, by process {pid}")
            }
            ExportError::AlreadyExported { name, pid: None } => {
                write!(f, "{name:?} is already exported")
            }
            ExportError::Policy(wrong) => wrong.fmt(f),
            ExportError::System { doing, reason } => write!(f, "{doing}: {reason}"),
        }
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameError::Empty => f.write_str("a name may not be empty"),
            NameError::Part { name, part } => write!(
                f,
                "name {name:?} has part {part:?}: parts are letters, digits, '.', '_' and '-', \
                 and neither empty nor '.' nor '..'"
            ),
            NameError::TooLong { name, path_bytes, limit } => write!(
                f,
                "name of {} bytes makes a socket path of {path_bytes} bytes, the limit is {limit}",
                name.len()
            ),
            NameError::NoScope => f.write_str(
                "XDG_RUNTIME_DIR is not set to an absolute path, so that there is no place for \
                 names: set it to a directory of your own, for clients and servers alike",
            ),
        }
    }
}

impl std::error::Error for CallError {}
impl<E: fmt::Debug + fmt::Display> std::error::Error for Error<E> {}
impl std::error::Error for UsageError {}
impl std::error::Error for BindError {}
impl std::error::Error for ExportError {}
impl std::error::Error for NameError {}
