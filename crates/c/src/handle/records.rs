//! The records that C and this library share (`layout.rs` has both assert that they lie alike).

use std::borrow::Cow;
use std::ffi::{c_char, c_int, c_void};
use std::mem::size_of;

use nearcall::raw::{Ahead, Client, Reply};
use nearcall::{CallError, Ran};

/// Bytes of an environment's message, with the NUL.
pub const MESSAGE_TEXT_BYTES: usize = 236;

/// The outcome says all. `NEARCALL_REASON_NONE` in C.
pub const NO_REASON: u32 = 0;

/// What an entry stub hands on of what a procedure in C++ has returned and cannot be sent; the
/// message says why. No [`Outcome`] of a call, and nothing to C.
pub const CANNOT_BE_SENT: u32 = 0x100;

/// What became of a call. `nearcall_outcome` in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Outcome {
    Usage = 2,
    NoAStack = 3,
    NotExecuted = 4,
    CallFailed = 5,
    CallAborted = 6,
    Panicked = 7,
    ResultsRefused = 8,
    Peer = 9,
    NotBound = 10,
    NotExported = 11,
    NoMemory = 12,
    System = 13,
    GivenUp = 14,
}

/// Whether the procedure ran. `nearcall_ran` in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum RanWord {
    No = 0,
    Maybe = 1,
    Yes = 2,
}

/// How a call went. `nearcall_environment` in C.
#[repr(C)]
pub struct Environment {
    pub outcome: u32,
    pub ran: u32,
    pub exception_id: *const c_char,
    pub exception: *mut c_void,
    pub release: Option<unsafe extern "C" fn(*mut c_void)>,
    /// The life of the server that had the call; 0: none that is known.
    pub incarnation: u64,
    /// A [`Reason`](nearcall::raw::Reason), or [`NO_REASON`].
    pub reason: u32,
    pub message: [u8; MESSAGE_TEXT_BYTES],
}

/// `nearcall_class` in C.
#[repr(C)]
pub struct Class {
    pub block_bytes: u32,
    pub count: u32,
}

/// `nearcall_procedure` in C.
#[repr(C)]
pub struct Procedure {
    pub name: *const c_char,
    pub hash: [u8; 16],
    pub class_index: u8,
    pub is_oneway: bool,
    pub is_idempotent: bool,
    pub is_leaf: bool,
}

/// `nearcall_appendable` in C.
#[repr(C)]
pub struct Appendable {
    pub name: *const c_char,
    pub hashes: *const [u8; 16],
    pub hash_count: u32,
    pub procedure: u32,
}

/// `nearcall_interface` in C.
#[repr(C)]
pub struct Interface {
    pub name: *const c_char,
    pub hash: [u8; 16],
    pub procedures: *const Procedure,
    pub classes: *const Class,
    pub appendables: *const Appendable,
    pub procedure_count: u32,
    pub class_count: u32,
    pub appendable_count: u32,
    /// Most bytes of a message's fixed part, or of all values of a call: what stubs have on the
    /// stack.
    pub stub_bytes_max: u32,
    /// It has an exchange: what carries one waits without a server processor.
    pub is_awaited: bool,
}

/// A payload that goes out. `nearcall_put` in C.
#[repr(C)]
pub struct Put {
    pub bytes: *const c_void,
    pub byte_count: u64,
    /// Of the parameter, for the message if it is refused.
    pub name: *const c_char,
    pub is_text: bool,
    /// It may be lent: then its length stands at byte `length_at` of the fixed part.
    pub is_opaque: bool,
    pub length_at: u32,
}

/// A message that goes out. `nearcall_message` in C.
#[repr(C)]
pub struct Message {
    pub fixed: *const u8,
    pub payloads: *const Put,
    pub fixed_bytes: u32,
    pub variable_at: u32,
    pub payload_count: u32,
    pub descriptor_count: u32,
    pub descriptors: *const DescriptorRecord,
}

/// A descriptor that goes, or comes, beside a message. `nearcall_descriptor` in C.
#[repr(C)]
pub struct DescriptorRecord {
    /// Of the parameter, for the message if it is refused.
    pub name: *const c_char,
    /// One of [`kind`].
    pub kind: u16,
    /// It may be absent. Those that may stand behind the others.
    pub is_optional: bool,
    /// Of one that may be absent and comes: whether it is there, as the peer says.
    pub is_there: u8,
    /// -1: none.
    pub fd: c_int,
}

/// What a descriptor has to be.
pub mod kind {
    pub const ANY: u32 = 0;
    pub const FILE: u32 = 1;
    pub const SEGMENT: u32 = 2;
    pub const SOCKET: u32 = 3;
    pub const BINDING: u32 = 4;
}

/// A payload that comes in. `nearcall_take` in C.
#[repr(C)]
pub struct Take {
    /// Where it is, once taken: memory of the allocator's or the call's, or null if there is
    /// nothing.
    pub bytes: *mut c_void,
    /// What the peer says that there is, of `width` bytes each.
    pub count: u32,
    pub width: u32,
    /// Most of what there may be.
    pub limit: u32,
    pub form: u32,
}

/// Forms of a payload that comes in.
pub mod form {
    /// As it is.
    pub const BYTES: u32 = 0;
    /// UTF-8 without a NUL; one is put behind it.
    pub const TEXT: u32 = 1;
    /// Where it lies: `bytes` is where to put the [`super::OpaqueRecord`].
    pub const LENT: u32 = 2;
    /// Elements behind their count, as what is marshalled has them; `count` is the bytes of both.
    /// Only to memory of the caller's.
    pub const ITEMS: u32 = 3;
    /// Or'ed to bytes or text: to memory of the call, which goes with it.
    pub const SCRATCH: u32 = 4;
    /// Or'ed to all but what lies where it is: to memory of the caller's; `bytes` is the
    /// [`super::FillingRecord`].
    pub const PREALLOC: u32 = 8;
}

/// Memory of the caller's for a result. `nearcall_prealloc` in C, where `buffer` has a type.
#[repr(C)]
pub struct PreallocRecord {
    pub buffer: *mut c_void,
    /// How many came.
    pub length: u32,
    /// How many there is room for; of text bytes, with the NUL.
    pub maximum: u32,
    /// Makes room for so many, and of text for the NUL; null if there is none.
    pub grow: Option<unsafe extern "C" fn(own: *mut c_void, count: u32) -> *mut c_void>,
    pub own: *mut c_void,
}

/// What a stub says of such memory. `nearcall_filling` in C.
#[repr(C)]
pub struct FillingRecord {
    /// Of the parameter, for the message if there is too little.
    pub name: *const c_char,
    pub target: *mut PreallocRecord,
    /// Bytes of an element there, which are no fewer than it takes in a message.
    pub item_bytes: usize,
}

/// What the generated stub keeps while it reads results. `nearcall_reply` in C.
#[repr(C)]
pub struct ReplyRecord {
    /// Where the fixed part goes.
    pub fixed: *mut u8,
    /// Its length.
    pub fixed_bytes: u32,
    /// How many exceptions the procedure may raise.
    pub exception_count: u32,
    /// The stub has more to read, and releases the A-stack itself.
    pub is_kept: bool,
    /// Descriptors come with it.
    pub has_descriptors: bool,
    /// 0, or which exception was raised.
    pub raised: u32,
    /// The [`Kept`], while there is one.
    pub held: [u64; 8],
}

/// A call that was posted and is collected later. `nearcall_posted` in C.
#[repr(C)]
pub struct PostedRecord {
    /// One of [`posted`].
    pub state: u8,
    /// While it is posted, the [`Ahead`]; of [`posted::TWICE`] the box of what is posted twice, and
    /// of [`posted::ENDED`] that of the error.
    pub held: [u64; 6],
}

/// What a posted call is. `NEARCALL_POSTED_` in C.
pub mod posted {
    /// It was not, or is not any more. `NEARCALL_NOT_POSTED` in C.
    pub const NOT: u8 = 0;
    /// Somebody collects it.
    pub const ONCE: u8 = 1;
    /// Nobody has to wait for it yet.
    pub const AHEAD: u8 = 2;
    /// Somebody collects it, and it may run twice.
    pub const TWICE: u8 = 3;
    /// It has ended without a reply.
    pub const ENDED: u8 = 4;
}

/// When a call for a batch is posted. `NEARCALL_POST_` in C.
pub mod when {
    /// Somebody waits for it.
    pub const NOW: u32 = 0;
    /// Only if there is an A-stack to spare, and no error is told.
    pub const SPARE: u32 = 1;
    /// Ahead if there is one to spare; else now.
    pub const EITHER: u32 = 2;
}

/// A reply that is kept. Dropped in this order.
pub struct Kept<'b> {
    pub reply: Reply<'b>,
    /// What it came over, if that is not what the stub was given: of a second try.
    pub next: Option<Box<Client>>,
}

/// What makes the items of a feed. `nearcall_source` in C.
#[repr(C)]
pub struct SourceRecord {
    pub next: unsafe extern "C" fn(*const c_void, *mut c_void, *mut Environment) -> bool,
    /// Gives back what an item holds.
    pub free: Option<unsafe extern "C" fn(*mut c_void)>,
    pub item_bytes: u32,
    /// Most items of a batch.
    pub batch_count: u32,
}

/// What takes the items of a feed. `nearcall_intake` in C.
#[repr(C)]
pub struct IntakeRecord {
    pub take: unsafe extern "C" fn(*const c_void, *const c_void, *mut Environment),
    pub end: unsafe extern "C" fn(*const c_void, *mut c_void, *mut Environment),
    /// Gives back what the result holds.
    pub free: Option<unsafe extern "C" fn(*mut c_void)>,
    pub item_bytes: u32,
    pub result_bytes: u32,
}

/// What goes both ways of an exchange. `nearcall_exchange` in C.
#[repr(C)]
pub struct ExchangeRecord {
    /// Gives back what an item holds that goes to the server.
    pub free_taken: Option<unsafe extern "C" fn(*mut c_void)>,
    /// The same, of one that comes from it.
    pub free_given: Option<unsafe extern "C" fn(*mut c_void)>,
    pub taken_bytes: u32,
    pub given_bytes: u32,
    /// Most items of a batch that comes.
    pub batch_count: u32,
    /// Which exchange of its interface it is.
    pub kind: u32,
}

/// Items that were made. `nearcall_batch` in C.
#[repr(C)]
pub struct BatchRecord {
    /// Memory of the allocator's, or null if there are none.
    pub items: *mut c_void,
    pub count: u32,
}

/// Octets that a client lent. `nearcall_opaque` in C.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OpaqueRecord {
    pub held: [u64; 2],
}

/// Why arguments or results are not what the interface promises. `nearcall_malformed` in C.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MalformedRecord {
    pub kind: u32,
    pub claimed: u64,
    pub limit: u64,
}

const _: () = assert!(size_of::<Kept<'_>>() <= size_of::<[u64; 8]>());
const _: () = assert!(align_of::<Kept<'_>>() <= align_of::<u64>());
const _: () = assert!(size_of::<Ahead<'_>>() <= size_of::<[u64; 6]>());
const _: () = assert!(align_of::<Ahead<'_>>() <= align_of::<u64>());
const _: () = assert!(size_of::<nearcall::Opaque<'_>>() <= size_of::<OpaqueRecord>());
const _: () = assert!(align_of::<nearcall::Opaque<'_>>() <= align_of::<OpaqueRecord>());

impl Outcome {
    /// What an environment says before anything has happened.
    pub const RETURNED: u32 = 0;

    /// All that an environment may say, by the names that C has.
    pub const NAMES: [(&str, u32); 15] = [
        ("NEARCALL_RETURNED", Outcome::RETURNED),
        ("NEARCALL_RAISED", 1),
        ("NEARCALL_USAGE", Outcome::Usage as u32),
        ("NEARCALL_NO_ASTACK", Outcome::NoAStack as u32),
        ("NEARCALL_NOT_EXECUTED", Outcome::NotExecuted as u32),
        ("NEARCALL_CALL_FAILED", Outcome::CallFailed as u32),
        ("NEARCALL_CALL_ABORTED", Outcome::CallAborted as u32),
        ("NEARCALL_PANICKED", Outcome::Panicked as u32),
        ("NEARCALL_RESULTS_REFUSED", Outcome::ResultsRefused as u32),
        ("NEARCALL_PEER", Outcome::Peer as u32),
        ("NEARCALL_NOT_BOUND", Outcome::NotBound as u32),
        ("NEARCALL_NOT_EXPORTED", Outcome::NotExported as u32),
        ("NEARCALL_NO_MEMORY", Outcome::NoMemory as u32),
        ("NEARCALL_SYSTEM", Outcome::System as u32),
        ("NEARCALL_GIVEN_UP", Outcome::GivenUp as u32),
    ];

    /// What C calls it.
    pub fn name_of(outcome: u32) -> Option<&'static str> {
        let mut names = Outcome::NAMES.iter();
        names.find(|(_, number)| *number == outcome).map(|(name, _)| *name)
    }
}

impl Environment {
    /// Nothing was raised.
    pub fn nothing() -> Environment {
        Environment {
            outcome: Outcome::RETURNED,
            ran: 0,
            exception_id: std::ptr::null(),
            exception: std::ptr::null_mut(),
            release: None,
            incarnation: 0,
            reason: NO_REASON,
            message: [0; MESSAGE_TEXT_BYTES],
        }
    }

    /// What a procedure comes to, and no call of its.
    pub fn end_by(&mut self, outcome: u32) {
        (self.outcome, self.reason, self.incarnation) = (outcome, NO_REASON, 0);
    }

    /// The message.
    pub fn message(&self) -> Cow<'_, str> {
        let end = self.message.iter().position(|byte| *byte == 0);
        String::from_utf8_lossy(&self.message[..end.unwrap_or(MESSAGE_TEXT_BYTES)])
    }

    /// Replaces the message; what does not fit is cut at a character.
    pub fn set_message(&mut self, text: &str) {
        let mut count = text.len().min(MESSAGE_TEXT_BYTES - 1);
        while !text.is_char_boundary(count) {
            count -= 1;
        }
        self.message[..count].copy_from_slice(&text.as_bytes()[..count]);
        self.message[count] = 0;
    }
}

impl From<Ran> for RanWord {
    fn from(ran: Ran) -> RanWord {
        match ran {
            Ran::No => RanWord::No,
            Ran::Maybe => RanWord::Maybe,
            Ran::Yes => RanWord::Yes,
        }
    }
}

/// The outcome that stands for an error of a call.
pub fn outcome_of(error: &CallError) -> Outcome {
    match error {
        CallError::Usage(_) => Outcome::Usage,
        CallError::NoAStack { .. } => Outcome::NoAStack,
        CallError::NotExecuted { .. } => Outcome::NotExecuted,
        CallError::CallFailed { .. } => Outcome::CallFailed,
        CallError::CallAborted { .. } => Outcome::CallAborted,
        CallError::Panicked { .. } => Outcome::Panicked,
        CallError::ResultsRefused { .. } => Outcome::ResultsRefused,
        CallError::Peer { .. } => Outcome::Peer,
        // Core may learn new errors; to C each is a failed call until it has a number of its own.
        _ => Outcome::CallFailed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_cut_at_a_character() {
        let mut environment = Environment::nothing();
        environment.set_message(&"é".repeat(MESSAGE_TEXT_BYTES));
        let end = environment.message.iter().position(|byte| *byte == 0).unwrap();
        assert_eq!(end, MESSAGE_TEXT_BYTES - 2);
        assert!(std::str::from_utf8(&environment.message[..end]).is_ok());
    }
}
