//! What entry stubs in C call.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::os::fd::BorrowedFd;

use nearcall::raw::{Arguments, Entries, Finish, OfKernelThread, Outcome, Refusal};
use nearcall::{InterfaceDescriptor, Opaque, OpaqueOut, OutOfRange, UsageError};

use super::breach::{BreachRecord, breach};
use super::descriptors::{hand_over, kinds, put_results};
use super::exchanges::ForeignEnds;
use super::options::Exceptions;
use super::records::{
    self, DescriptorRecord, Environment, MalformedRecord, Message, OpaqueRecord, Take,
};
use super::scratch::Scratch;
use super::takes::{NotTaken, check_texts, take_all};
use super::telling::Told;
use super::values::Free;
use super::{Outgoing, bytes, bytes_mut, literal};

/// How often a message's fixed part, or its values, may lie on the stack around a procedure:
/// arguments and results as they are sent, as C has them and as C++ has them. Counted with
/// `-fstack-usage` where nothing is optimized.
const PARTS: usize = 10;

/// What the procedure and the runtime have of an E-stack at least.
const ESTACK_BYTES_BESIDE: usize = 64 << 10;

/// The dispatch of an interface in C.
pub type Enter = unsafe extern "C" fn(*mut c_void, u32, *mut Served<'_>);

/// The entry stubs of an interface in C.
pub struct ForeignEntries {
    interface: &'static InterfaceDescriptor,
    is_awaited: bool,
    enter: Enter,
    server: *mut c_void,
    estacks: OnEStacks,
}

/// What procedures of an interface in C need of their E-stacks.
pub struct OnEStacks {
    /// Most bytes of a message's fixed part, or of all values of a call: what stubs have on the
    /// stack.
    pub stub_bytes_max: u32,
    pub exceptions: Option<Exceptions>,
}

// SAFETY: `new` asks that the server may be used from any thread.
unsafe impl Send for ForeignEntries {}
// SAFETY: as above.
unsafe impl Sync for ForeignEntries {}

impl ForeignEntries {
    /// # Safety
    ///
    /// - H1 live: `server`, as long as this is, from any thread and from several at once; and what
    ///   `exceptions` returns, on each thread for itself.
    pub unsafe fn new(
        interface: &'static InterfaceDescriptor,
        (is_awaited, enter, server): (bool, Enter, *mut c_void),
        estacks: OnEStacks,
    ) -> ForeignEntries {
        ForeignEntries { interface, is_awaited, enter, server, estacks }
    }
}

/// What is refused where a procedure has raised nothing that its interface declares: it may have
/// left the outcome of a call that it has made.
fn raised(outcome: u32) -> UsageError {
    let allowed = String::from("NEARCALL_RETURNED or an exception that the procedure raises");
    let value =
        records::Outcome::name_of(outcome).map_or_else(|| outcome.to_string(), str::to_owned);
    UsageError::OutOfRange(Box::new(OutOfRange { parameter: "outcome", value, allowed }))
}

/// One call while an entry stub in C serves it. `nearcall_served` in C.
pub struct Served<'a> {
    pub(super) arguments: Arguments<'a>,
    room: Option<OpaqueOut<'a>>,
    /// Of an exchange that is about to be opened.
    pub(super) ends: Option<ForeignEnds>,
    outcome: Option<Outcome>,
    /// What goes on once its entry stub has returned, in place of an outcome.
    awaited: Option<Finish>,
    has_panicked: bool,
    /// What the stub has for as long as the call.
    pub(super) scratch: Scratch,
    /// Whose call it is.
    pub(super) told: Told,
}

impl Entries for ForeignEntries {
    fn interface(&self) -> &'static InterfaceDescriptor {
        self.interface
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let told = Told { interface: self.interface, procedure };
        let mut served = Served::new(arguments, told);
        // SAFETY: the dispatch is generated code; `new` promised the server, `served` outlives the
        // call.
        unsafe { (self.enter)(self.server, procedure as u32, &mut served) };
        let outcome = served.ended();
        if let Err(refusal) = &outcome {
            told.tell(refusal);
        }
        outcome
    }

    fn is_awaited(&self) -> bool {
        self.is_awaited
    }

    fn estack_bytes_min(&self) -> usize {
        PARTS * self.estacks.stub_bytes_max as usize + ESTACK_BYTES_BESIDE
    }

    fn change_places(&self, kept: &Cell<OfKernelThread>) {
        let Some(exceptions) = self.estacks.exceptions else { return };
        // SAFETY: `new` promised the function.
        let there = unsafe { exceptions() }.cast::<OfKernelThread>();
        // SAFETY: H1, and C++'s own functions run on this thread alone.
        kept.set(unsafe { there.replace(kept.get()) });
    }
}

/// Copies the fixed part of the arguments out.
///
/// # Safety
///
/// - H1 live: `served`. H2 bytes: `target`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_arguments_fixed(
    served: *const Served<'_>,
    target: *mut u8,
    byte_count: u32,
) {
    // SAFETY: H2; it is the stub's own.
    let target = unsafe { bytes_mut(target, byte_count as usize) };
    // SAFETY: H1.
    unsafe { &*served }.arguments.copy_fixed(target);
}

/// Copies the payloads of the arguments out. False if they are refused.
///
/// # Safety
///
/// - H1 live: all of them.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_arguments_take(
    served: *mut Served<'_>,
    variable_at: u32,
    takes: *mut Take,
    take_count: u32,
) -> bool {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    // SAFETY: H1.
    let takes = unsafe { std::slice::from_raw_parts_mut(takes, take_count as usize) };
    let taken = match served.arguments.variable_at(variable_at as usize) {
        Err(malformed) => Err(malformed.into()),
        // SAFETY: H1.
        Ok(mut incoming) => unsafe { take_all(&mut incoming, takes, &mut served.scratch) },
    };
    match taken {
        Ok(()) => true,
        Err(NotTaken::Malformed(malformed)) => served.refuse(Refusal::Arguments(malformed)),
        Err(NotTaken::NoMemory { bytes }) => served.refuse(Refusal::NoMemory { bytes }),
        Err(NotTaken::NoRoom { name, .. }) => panic!("argument {name} has no memory of a caller's"),
    }
}

/// Memory that goes with the call, or null if there is none.
///
/// # Safety
///
/// - H1 live: `served`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_scratch(
    served: *mut Served<'_>,
    byte_count: usize,
) -> *mut c_void {
    // SAFETY: H1.
    unsafe { &mut *served }.scratch.room(byte_count)
}

/// Takes the descriptors that came with the arguments: exactly these, of these kinds. False if they
/// are refused; all that came are closed then.
///
/// # Safety
///
/// - H1 live: all of them.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_arguments_descriptors(
    served: *mut Served<'_>,
    descriptors: *mut DescriptorRecord,
    descriptor_count: u32,
) -> bool {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    // SAFETY: H1.
    let records = unsafe { std::slice::from_raw_parts_mut(descriptors, descriptor_count as usize) };
    let (kinds, optional) = kinds(records);
    match served.arguments.each_descriptor(&kinds, &optional) {
        Ok(came) => {
            hand_over(came, records);
            true
        }
        Err(malformed) => served.refuse(Refusal::Arguments(malformed)),
    }
}

/// The arguments are not what the interface promises. False, always.
///
/// # Safety
///
/// - H1 live: `served`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_refuse_arguments(
    served: *mut Served<'_>,
    malformed: MalformedRecord,
) -> bool {
    // SAFETY: H1.
    unsafe { &mut *served }.refuse(Refusal::Arguments(malformed.into()))
}

/// A result is beyond a limit of the interface, or the procedure raised what it does not declare.
/// False, always.
///
/// # Safety
///
/// - H1 live: `served`. H4 static: what is refused, and what it may be.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_refuse_result(
    served: *mut Served<'_>,
    refused: BreachRecord,
) -> bool {
    // SAFETY: H4.
    let refusal = Refusal::Results(unsafe { breach(refused) });
    // SAFETY: H1.
    unsafe { &mut *served }.refuse(refusal)
}

/// The procedure raised what its interface does not declare, has returned what cannot be sent, or
/// panicked. False, always.
///
/// # Safety
///
/// - H1 live: both.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_refuse_raised(
    served: *mut Served<'_>,
    environment: *const Environment,
) -> bool {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    // SAFETY: H1.
    let environment = unsafe { &*environment };
    if environment.outcome == records::Outcome::Panicked as u32 {
        return served.panic(&environment.message());
    }
    served.refuse(match environment.outcome {
        records::CANNOT_BE_SENT => Refusal::Unfit(environment.message().into_owned()),
        outcome => Refusal::Results(raised(outcome)),
    })
}

/// A procedure has returned a feed without a function: it has panicked. False, always.
///
/// # Safety
///
/// - H1 live: `served`; `own`, until it is released here. H4 static: its name.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_refuse_made(
    served: *mut Served<'_>,
    function: *const c_char,
    own: *mut c_void,
    release: Option<Free>,
) -> bool {
    // SAFETY: H4.
    let function = unsafe { literal(function) };
    let why = format!("it has returned a feed that has no function \"{function}\"");
    if let Some(release) = release {
        // SAFETY: H1, and this is the last use.
        unsafe { release(own) };
    }
    // SAFETY: H1.
    unsafe { &mut *served }.panic(&why)
}

/// There was no memory to marshal a result in, or to unmarshal an argument to. False, always.
///
/// # Safety
///
/// - H1 live: `served`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_refuse_memory(served: *mut Served<'_>, byte_count: u64) -> bool {
    // SAFETY: H1.
    unsafe { &mut *served }.refuse(Refusal::NoMemory { bytes: byte_count })
}

/// Replies: `raised` is 0, or which exception was raised.
///
/// # Safety
///
/// - H1 live: `served`, `message`. H2 bytes: the message's. D1 open: its descriptors.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_reply_with(
    served: *mut Served<'_>,
    message: *const Message,
    raised: u32,
) {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    // SAFETY: H1.
    let message = unsafe { Outgoing::new(message) };
    served.room = None;
    // SAFETY: passed on.
    served.outcome = Some(unsafe { replied(served.arguments, &message, raised) });
}

/// # Safety
///
/// - H2 bytes: the message's. D1 open: its descriptors.
unsafe fn replied(arguments: Arguments<'_>, message: &Outgoing<'_>, raised: u32) -> Outcome {
    // SAFETY: H2, and names are literals of generated code.
    let checked = unsafe { check_texts(message.payloads) };
    checked.map_err(|error| Box::new(Refusal::Results(error)))?;
    let mut results = match raised {
        0 => arguments.results(),
        _ => arguments.exception(),
    };
    results.put_bytes::<0>(message.fixed);
    if !message.payloads.is_empty() {
        let mut variable = results.variable_at(message.at, message.payload_bytes())?;
        for put in message.payloads {
            // SAFETY: H2.
            variable.put(unsafe { put.bytes() });
        }
    }
    if !message.descriptors.is_empty() {
        // SAFETY: D1.
        unsafe { put_results(&mut results, message.descriptors) }?;
    }
    match raised {
        0 => results.reply(message.fixed.len() as u32),
        raised => results.raise(raised as u16, message.fixed.len() as u32),
    }
}

/// Makes room for results that the procedure writes in place.
///
/// # Safety
///
/// - H1 live: `served`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_lend_room(served: *mut Served<'_>, variable_at: u32, limit: u32) {
    // SAFETY: H1.
    let served = unsafe { &mut *served };
    served.room = Some(served.arguments.lent_results_at(variable_at as usize, limit));
}

/// Bytes that were put into the room.
///
/// # Safety
///
/// - H1 live: `served`, with room lent.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_room_bytes(served: *const Served<'_>) -> u32 {
    // SAFETY: H1.
    let room = unsafe { &*served }.room.as_ref();
    room.map_or(0, |room| room.len() as u32)
}

/// Appends bytes to the room. False over the interface's bound, or without memory.
///
/// # Safety
///
/// - H1 live: `served`, with room lent. H2 bytes: `source`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_room_put(
    served: *mut Served<'_>,
    source: *const c_void,
    byte_count: usize,
) -> bool {
    // SAFETY: H2.
    let source = unsafe { bytes(source.cast(), byte_count) };
    // SAFETY: H1.
    let room = unsafe { &mut *served }.room.as_mut();
    room.is_some_and(|room| room.put(source).is_ok())
}

/// Appends bytes of a file to the room: how many there were, or -1.
///
/// # Safety
///
/// - H1 live: `served`, with room lent. D1 open: `file`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_room_read_at(
    served: *mut Served<'_>,
    file: c_int,
    offset: u64,
    byte_count: usize,
) -> i64 {
    // SAFETY: D1.
    let Some(file) = (unsafe { opened(file) }) else { return -1 };
    // SAFETY: H1.
    let room = unsafe { &mut *served }.room.as_mut();
    let read = room.map(|room| room.read_at(file, offset, byte_count));
    read.and_then(Result::ok).map_or(-1, |count| count as i64)
}

/// How many octets were lent.
///
/// # Safety
///
/// - H1 live: `opaque`, in a call that is being served.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_opaque_bytes(opaque: *const OpaqueRecord) -> usize {
    // SAFETY: H1: `take` wrote it there.
    unsafe { &*opaque.cast::<Opaque<'_>>() }.len()
}

/// Copies lent octets from `at` on. False, and nothing is copied, if there are not as many.
///
/// # Safety
///
/// - H1 live: `opaque`, in a call that is being served. H2 bytes: `target`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_opaque_copy(
    opaque: *const OpaqueRecord,
    at: usize,
    target: *mut c_void,
    byte_count: usize,
) -> bool {
    // SAFETY: H1: `take` wrote it there.
    let opaque = unsafe { &*opaque.cast::<Opaque<'_>>() };
    let fits = at.checked_add(byte_count).is_some_and(|end| end <= opaque.len());
    if fits && byte_count > 0 {
        // SAFETY: H2; it is the procedure's own.
        let target = unsafe { bytes_mut(target.cast(), byte_count) };
        opaque.copy_to(at, target);
    }
    fits
}

/// Writes lent octets to a file, past this domain. False if the file does not take them.
///
/// # Safety
///
/// - H1 live: `opaque`, in a call that is being served. D1 open: `file`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_opaque_write_at(
    opaque: *const OpaqueRecord,
    file: c_int,
    offset: u64,
) -> bool {
    // SAFETY: D1.
    let Some(file) = (unsafe { opened(file) }) else { return false };
    // SAFETY: H1: `take` wrote it there.
    let opaque = unsafe { &*opaque.cast::<Opaque<'_>>() };
    opaque.write_at(file, offset).is_ok()
}

/// A file of a procedure's; none below 0, as what could not be opened is.
///
/// # Safety
///
/// - D1 open: `file`, for as long as `'f`.
unsafe fn opened<'f>(file: c_int) -> Option<BorrowedFd<'f>> {
    // SAFETY: D1, and it is not -1.
    (file >= 0).then(|| unsafe { BorrowedFd::borrow_raw(file) })
}

impl<'a> Served<'a> {
    pub(super) fn new(arguments: Arguments<'a>, told: Told) -> Served<'a> {
        Served {
            arguments,
            room: None,
            ends: None,
            outcome: None,
            awaited: None,
            has_panicked: false,
            scratch: Scratch::default(),
            told,
        }
    }

    /// Which procedure it calls.
    pub(super) fn procedure(&self) -> u32 {
        self.told.procedure as u32
    }

    pub(super) fn conclude(&mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }

    /// `await_it` waits for its outcome, and may panic, as what it waits for: not before the frames
    /// of C are gone, which no panic crosses.
    pub(super) fn conclude_later(
        &mut self,
        await_it: impl FnOnce(Arguments<'_>) -> Outcome + 'static,
    ) {
        self.awaited = Some(Box::new(await_it));
    }

    /// What became of it, once its entry stub has returned.
    pub(super) fn ended(self) -> Outcome {
        if self.has_panicked {
            // The hook that prints panics has nothing to add to what was said.
            std::panic::resume_unwind(Box::new("panicked in C"));
        }
        if let Some(await_it) = self.awaited {
            return await_it(self.arguments);
        }
        // As after a panic: the procedure may have run, and there are no results.
        self.outcome.expect("the entry stub replied or refused")
    }

    /// The procedure has: its server's author is told why, and its client when its entry stub has
    /// returned. False, always.
    pub(super) fn panic(&mut self, why: &str) -> bool {
        self.told.tell_panic(self.arguments.exported_as(), why);
        (self.room, self.has_panicked) = (None, true);
        false
    }

    pub(super) fn refuse(&mut self, refusal: Refusal) -> bool {
        self.room = None;
        self.outcome = Some(Err(Box::new(refusal)));
        false
    }
}
