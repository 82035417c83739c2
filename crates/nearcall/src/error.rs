//! What can go wrong, one type per audience: whoever calls ([`CallError`], [`Error`]), whoever
//! binds ([`BindError`]), whoever exports ([`ExportError`]).

mod reason;
mod words;

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use nearcall_abi::ProcedureName;
use nearcall_core::fault::PeerFault;
use nearcall_os::WrongDescriptor;

use crate::server::rules::RuleError;

pub use reason::Reason;

/// Why a call has no results. `Debug` shows the same words as `Display`, so that `unwrap` and
/// `main() -> Result` do.
#[non_exhaustive]
pub enum CallError {
    /// We asked for something the interface forbids. Nothing was posted.
    Usage(UsageError),
    /// No A-stack came free before the deadline. Nothing was posted.
    NoAStack {
        /// The procedure that was to be called.
        procedure: ProcedureName<'static>,
    },
    /// The procedure was proven not to have run, so that a retry is safe; or a batch of a feed was,
    /// and what has opened the feed has run ([`CallError::ran`]).
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
        /// The deadline that passed; of a call that was cancelled, how long it was waited for.
        deadline: Duration,
        /// Whether a [`Cancellation`](crate::Cancellation), or a signal that Python heeds, ended
        /// the wait; else it was the deadline.
        was_cancelled: bool,
        /// The life of the server that it is in.
        incarnation: u64,
    },
    /// The procedure ran and panicked, or dropped what it was to reply with. The server lives on.
    Panicked {
        /// The procedure.
        procedure: ProcedureName<'static>,
    },
    /// The procedure ran, but its results are over a bound, or there was no memory for them. Why,
    /// the side that refused them is told: by `tracing`, in C on standard error, in Python by a
    /// hook. If it was this one, for want of memory or descriptors, the binding is given up.
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

/// Err of an operation that raises. `Debug` shows the words of a [`CallError`], and the members of
/// an exception.
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
    /// This client has as many feeds open over its binding as it may: one has to be over, or given
    /// up, before the next is opened.
    TooManyFeeds {
        /// The procedure that was to be called. One that opens an exchange opens two feeds.
        procedure: ProcedureName<'static>,
        /// How many are open, with those that calls under way are about to open.
        open: u32,
        /// How many may be.
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

/// An argument, or a time of Protocol Buffers, what it is, and what it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// Parameter, or member of one: `google.protobuf.Timestamp.nanos` of a time.
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
    /// The server has given the binding up, and refused the call: it ends, has withdrawn the name,
    /// or has another policy.
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

/// Why there is no binding. `Debug` shows the same words as `Display`.
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
    /// The server has another version of the interface, and neither of the two only adds to the
    /// other what may be added: operations at the end, or members and enumerators at the end of
    /// what is `@appendable`. The file `docs/interface-files.md` has the list.
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
    /// An import or a rebind that waits has waited as long as it may, and nobody has exported the
    /// name.
    NotReady {
        /// The name.
        name: String,
        /// How long it waited at most: [`ImportOptions::ready_timeout`](crate::ImportOptions), or
        /// [`Rebind::WaitForReady`](crate::Rebind::WaitForReady) and what a call's deadline left
        /// of it.
        limit: Duration,
        /// Why there was no binding when it last tried.
        last: Box<BindError>,
    },
    /// The process that an import waited for has ended, and nobody has exported the name.
    ProcessEnded {
        /// The name.
        name: String,
        /// How it has ended, if it was a child that nobody has waited for before: it can be waited
        /// for still.
        status: Option<ExitStatus>,
        /// Why there was no binding when it was tried once more, after that end.
        last: Box<BindError>,
    },
    /// A descriptor of the options is not what it has to be.
    WrongDescriptor {
        /// The option.
        option: &'static str,
        /// What it has to be.
        wanted: &'static str,
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

/// Why an interface is not exported. `Debug` shows the same words as `Display`.
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
        /// Why nothing is taken of what was handed down to somebody (systemd's socket activation):
        /// which variable says what; `None`: nothing was, or it is taken.
        not_taken: Option<String>,
    },
    /// A rule of the policy is not one for this interface.
    Policy(RuleError),
    /// The domain's options leave one user less than its first bind takes: nobody could ever bind.
    NoRoom {
        /// What they leave too little of.
        what: String,
        /// How much of it they allow all users.
        limit: u64,
        /// How much the first bind of a user takes.
        needed: u64,
        /// The interface.
        interface: &'static str,
    },
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
    /// Whether the procedure ran; after `Ran::No` a retry cannot run it twice. What has opened a
    /// feed has run, in part at least, whatever became of the items: never `Ran::No`, but for
    /// [`CallError::Usage`], which is of the item or batch alone that was refused here.
    pub fn ran(&self) -> Ran {
        match self {
            CallError::NoAStack { procedure } | CallError::NotExecuted { procedure, .. }
                if procedure.carries_feed() =>
            {
                Ran::Maybe
            }
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
