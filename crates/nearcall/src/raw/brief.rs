//! What the call path in C needs of a binding, and where the runtime takes its calls over (design
//! note 0026). C claims the first A-stack of a class while it is kept for the calling thread,
//! posts, and looks once; or any one that is kept, posts, and looks once later. Whatever is not as
//! most calls find it comes here.

use std::mem::{ManuallyDrop, MaybeUninit, offset_of};
use std::ptr::{self, NonNull};

use nearcall_abi::{AStackHead, INLINE_BYTES};
use nearcall_core::bias::{self, Bias, Settled};
use nearcall_core::lookout::{self, Lookout};
use nearcall_core::turn;
use nearcall_os::processor::NumberOffset;
use nearcall_os::thread_pointer::thread_pointer;
use nearcall_os::{HeadWords, astack};

use super::ahead::Ahead;
use super::area::{Inbound, Outgoing};
use super::call::{await_on, await_posted, is_replied, note_posted, poll_on};
use super::client::Client;
use super::reply::Reply;
use crate::client::binding::{BIASES_OFFSET_BYTES, Grip, identity};
use crate::client::deadline::Deadline;
use crate::client::linkage::{self, Linkage, NOBODY, ends_batch};
use crate::client::switching;
use crate::error::CallError;
use crate::region::origin_word;

/// Where C finds what it needs to call procedures of one class.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Brief {
    /// Its owner and which A-stacks it has free; of one that never has an owner where C is not to
    /// call by itself.
    bias: NonNull<Bias>,
    /// What there is of the class's first A-stack; null where C is not to call by itself.
    astack: *const (),
}

/// Calls of a batch, which C knows too.
pub const BRIEF_BATCH_CALLS: u32 = nearcall_core::linger::BATCH_CALLS;

/// Offsets that C knows too, by the names that it has for them.
pub const BRIEF_LAYOUT: &[(&str, &str, usize)] = &[
    ("nearcall_bias", "owner", bias::OWNER_OFFSET_BYTES),
    ("nearcall_bias", "free", bias::FREE_OFFSET_BYTES),
    ("nearcall_astack", "head", 0),
    ("nearcall_astack", "own_line", astack::OWN_LINE_OFFSET_BYTES),
    ("nearcall_astack", "peer_line", astack::PEER_LINE_OFFSET_BYTES),
    ("nearcall_astack", "sequence", astack::RECORD_OFFSET_BYTES + linkage::SEQUENCE_OFFSET_BYTES),
    (
        "nearcall_astack",
        "server_processor",
        astack::RECORD_OFFSET_BYTES + linkage::PROCESSOR_OFFSET_BYTES,
    ),
    ("nearcall_astack", "linger", astack::RECORD_OFFSET_BYTES + linkage::LINGER_OFFSET_BYTES),
    ("nearcall_astack", "kept", astack::RECORD_OFFSET_BYTES + linkage::KEPT_OFFSET_BYTES),
    (
        "nearcall_astack",
        "outstanding",
        astack::RECORD_OFFSET_BYTES + linkage::OUTSTANDING_OFFSET_BYTES,
    ),
    ("nearcall_binding", "biases", BIASES_OFFSET_BYTES),
    ("nearcall_head", "turn", offset_of!(AStackHead, turn)),
    ("nearcall_head", "selector", offset_of!(AStackHead, selector)),
    ("nearcall_head", "message_bytes", offset_of!(AStackHead, message_bytes)),
    ("nearcall_head", "origin", offset_of!(AStackHead, origin)),
    ("nearcall_head", "words", offset_of!(AStackHead, inline)),
    ("nearcall_brief", "bias", offset_of!(Brief, bias)),
    ("nearcall_brief", "astack", offset_of!(Brief, astack)),
];

/// Lengths that C knows too, since it has arrays of these.
pub const BRIEF_LENGTHS: &[(&str, usize)] = &[
    ("nearcall_bias", size_of::<Bias>()),
    ("nearcall_astack", astack::stride_bytes::<Linkage>()),
    ("nearcall_ahead", size_of::<Ahead<'_>>()),
];

/// In the word of a [`Client::lookout`]: nobody has to be told to look.
pub const BRIEF_LOOKS: u32 = lookout::LOOKS;

/// What a binding's clients find where they are not to call by themselves.
fn never() -> Brief {
    static NEVER: std::sync::LazyLock<Bias> = std::sync::LazyLock::new(|| Bias::new(0));
    Brief { bias: NonNull::from(&*NEVER), astack: ptr::null() }
}

/// How far from the thread pointer C finds the number of its processor; 0 where there is none, and
/// then [`Client::brief`] has C not call by itself.
pub fn processor_offset() -> isize {
    NumberOffset::find().map_or(0, NumberOffset::bytes)
}

/// The number that C notes in the linkage record of a call that this thread posts by itself; 0: it
/// is to post none. From here on biases know the thread, which may have inherited one.
pub fn brief_thread() -> u32 {
    identity();
    if switching::is_here() { 0 } else { switching::caller_number() }
}

/// These trust their caller with one condition:
///
/// - B1 held: the calling thread has taken a bit of the bias of class `class` of this client's
///   [`Brief`], which has one, as `nearcall_core::bias` demands, and has it still: the lowest,
///   unless it is named.
impl Client {
    /// What C calls procedures of class `class` by. It holds as long as this client lives.
    pub fn brief(&self, class: usize) -> Brief {
        let binding = self.binding().inner();
        let is_possible =
            self.numbers.is_some() && self.deadline.ns == 0 && thread_pointer().is_some();
        if !is_possible || class >= binding.classes.len() {
            return never();
        }
        let (bias, grip) = binding.nth_of_class(class, 0);
        Brief { bias: NonNull::from(bias), astack: grip.astack.address().as_ptr() }
    }

    /// The binding, as C notes it in a call that it posts. It is there as long as this client.
    pub fn brief_binding(&self) -> NonNull<()> {
        NonNull::from(self.binding().inner()).cast()
    }

    /// The word that C looks at once it has noted a call that nobody waits for yet. As above.
    pub fn lookout(&self) -> NonNull<Lookout> {
        NonNull::from(self.binding().inner().lookout())
    }

    /// C has taken the bit and then seen that the bias was revoked: exactly one of the two puts the
    /// A-stack into the list.
    ///
    /// # Safety
    ///
    /// - B1 held, the bit `nth`. From here on it is not.
    pub unsafe fn unclaim_brief(&self, class: usize, nth: u32) {
        let (bias, grip) = self.binding().inner().nth_of_class(class, nth);
        if bias.settle(grip.linkage().index) == Settled::Push {
            grip.give_back_otherwise(0);
        }
    }

    /// Copies a payload, or a long block, to byte `at` of the message that C is filling.
    ///
    /// # Panics
    ///
    /// Past the end of the A-stack.
    ///
    /// # Safety
    ///
    /// - B1 held, and nothing posted.
    pub unsafe fn put_brief(&self, class: usize, at: usize, bytes: &[u8]) {
        let astack = self.binding().inner().nth_of_class(class, 0).1.astack;
        Outgoing { inline: astack.inline(), block: astack.own() }.put_bytes(at, bytes);
    }

    /// Copies a long block out, from byte `at` of the reply, over what may be no bytes yet.
    ///
    /// # Panics
    ///
    /// Past the end of the A-stack.
    ///
    /// # Safety
    ///
    /// - B1 held, and the reply is there.
    pub unsafe fn copy_out_brief(&self, class: usize, at: usize, target: &mut [MaybeUninit<u8>]) {
        let astack = self.binding().inner().nth_of_class(class, 0).1.astack;
        let inbound = Inbound { inline: astack.inline().as_span(), block: astack.peer() };
        inbound.copy_to(at, target);
    }

    /// C has posted, and has seen no reply yet, or none as most are; `seen` is what its post found
    /// in the turn word, `request_bytes` the length of what went without its payload. Goes on as
    /// [`super::Call::post`] does.
    ///
    /// # Errors: any of a call that was posted.
    ///
    /// # Safety
    ///
    /// - B1 held. From here on the reply holds it.
    pub unsafe fn finish_brief(
        &self,
        class: usize,
        procedure: u32,
        seen: u32,
        request_bytes: u32,
    ) -> Result<Reply<'_>, Box<CallError>> {
        let grip = self.grip(class);
        let sequence = grip.linkage().sequence();
        // Then C has left the line alone, and looked once.
        let has_looked = turn::was_polled(seen, sequence)
            && !ends_batch(sequence)
            && origin_word(0) != grip.linkage().server_processor();
        let found = has_looked.then(|| poll_on(grip.astack.head(), sequence));
        let words = match found.filter(|words| is_replied(*words, sequence)) {
            Some(words) => words,
            None => {
                let deadline = Deadline::default();
                let error = match has_looked {
                    true => await_on(grip, procedure, deadline),
                    false => await_posted(grip, procedure, seen, deadline),
                };
                if let Some(error) = error {
                    return Err(error);
                }
                HeadWords::load(grip.astack.head())
            }
        };
        if request_bytes > INLINE_BYTES {
            grip.astack.ask_for_own_block(request_bytes);
        }
        Reply::new(grip, procedure, words)
    }

    /// C has given the bit back and then seen that the bias was revoked.
    ///
    /// # Safety
    ///
    /// - B1 held, but for the bit. From here on it is not.
    pub unsafe fn release_brief(&self, class: usize) {
        give_back_revoked(self.grip(class));
    }

    /// The A-stack, for a thread that biases know from here on: it may have inherited this one, and
    /// then C was the first to call.
    fn grip(&self, class: usize) -> Grip<'_> {
        identity();
        self.binding().inner().nth_of_class(class, 0).1
    }
}

/// These trust their caller with one condition:
///
/// - B2 posted: C has made it of an A-stack that it had claimed and then posted, as
///   [`super::Call::post_ahead`] does.
impl Ahead<'_> {
    /// C has posted it, which is not as most posts are: `seen` is what it found in the turn word,
    /// or a batch of calls ends, or nobody looks at calls that nobody waits for yet.
    ///
    /// # Errors: as those of [`super::Call::post_ahead`] from its post on. The A-stack is lost
    /// then, with its binding.
    ///
    /// # Safety
    ///
    /// - B2 posted.
    pub unsafe fn finish_post(self, seen: u32) -> Result<Self, Box<CallError>> {
        let posted = ManuallyDrop::new(self);
        let (grip, procedure) = (posted.grip, posted.procedure);
        if let Some(error) = note_posted(grip, procedure, seen) {
            grip.linkage().set_outstanding(NOBODY);
            return Err(error);
        }
        grip.binding.leave_unattended();
        Ok(ManuallyDrop::into_inner(posted))
    }

    /// C has read the reply, has given the bit back, and then seen that the bias was revoked.
    ///
    /// # Safety
    ///
    /// - B2 posted, and its reply was there.
    pub unsafe fn give_back_brief(self) {
        give_back_revoked(ManuallyDrop::new(self).grip);
    }
}

/// C has given its bit back, and the bias was revoked.
fn give_back_revoked(grip: Grip<'_>) {
    let linkage = grip.linkage();
    grip.give_back_otherwise(grip.binding.bias(linkage).bit(linkage.index));
}
