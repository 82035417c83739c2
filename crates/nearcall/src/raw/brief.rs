//! What the call path in C needs of a binding, and where the runtime takes its calls over (design
//! note 0026). C claims the first A-stack of a class while it is kept for the calling thread,
//! posts, and looks once; whatever is not as most calls find it comes here.

use std::mem::offset_of;
use std::ptr::{self, NonNull};

use nearcall_abi::AStackHead;
use nearcall_core::bias::{self, Bias, Settled};
use nearcall_os::thread_pointer::thread_pointer;
use nearcall_os::{HeadWords, astack, fence, processor};

use super::area::Outgoing;
use super::call::finish_posted;
use super::client::Client;
use super::reply::Reply;
use crate::client::binding::{Grip, identity};
use crate::client::linkage;
use crate::error::CallError;

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
    ("nearcall_astack", "sequence", astack::RECORD_OFFSET_BYTES + linkage::SEQUENCE_OFFSET_BYTES),
    (
        "nearcall_astack",
        "server_processor",
        astack::RECORD_OFFSET_BYTES + linkage::PROCESSOR_OFFSET_BYTES,
    ),
    ("nearcall_astack", "linger", astack::RECORD_OFFSET_BYTES + linkage::LINGER_OFFSET_BYTES),
    ("nearcall_head", "turn", offset_of!(AStackHead, turn)),
    ("nearcall_head", "selector", offset_of!(AStackHead, selector)),
    ("nearcall_head", "message_bytes", offset_of!(AStackHead, message_bytes)),
    ("nearcall_head", "origin", offset_of!(AStackHead, origin)),
    ("nearcall_head", "words", offset_of!(AStackHead, inline)),
    ("nearcall_brief", "bias", offset_of!(Brief, bias)),
    ("nearcall_brief", "astack", offset_of!(Brief, astack)),
];

/// What a binding's clients find where they are not to call by themselves.
fn never() -> Brief {
    static NEVER: std::sync::LazyLock<Bias> = std::sync::LazyLock::new(|| Bias::new(0));
    Brief { bias: NonNull::from(&*NEVER), astack: ptr::null() }
}

/// How far from the thread pointer C finds the number of its processor; 0 where there is none, and
/// then [`Client::brief`] has C not call by itself.
pub fn processor_offset() -> isize {
    processor::number_offset().unwrap_or(0)
}

/// These trust their caller with one condition:
///
/// - B1 held: the calling thread has taken the lowest bit of the bias of class `class` of this
///   client's [`Brief`], which has one, as `nearcall_core::bias` demands, and has it still.
impl Client {
    /// What C calls procedures of class `class` by. It holds as long as this client lives.
    pub fn brief(&self, class: usize) -> Brief {
        let is_possible = fence::is_available()
            && thread_pointer().is_some()
            && HeadWords::can_be_at_once()
            && processor::number_offset().is_some();
        let binding = self.binding().inner();
        let has_one = class < binding.classes.len() && binding.agreement.is_none();
        let is_as_long = |index: usize| {
            let own = binding.interface.classes[index].block_bytes;
            binding.classes[index].block_bytes >= own
        };
        if !is_possible || !has_one || !is_as_long(class) || self.has_deadline() {
            return never();
        }
        let (bias, grip) = binding.first_of_class(class);
        Brief { bias: NonNull::from(bias), astack: grip.astack.address().as_ptr() }
    }

    /// C has taken the bit and then seen that the bias was revoked: exactly one of the two puts the
    /// A-stack into the list.
    ///
    /// # Safety
    ///
    /// - B1 held. From here on it is not.
    pub unsafe fn unclaim_brief(&self, class: usize) {
        let (bias, grip) = self.binding().inner().first_of_class(class);
        if bias.settle(bias.first()) == Settled::Push {
            grip.give_back_otherwise(0);
        }
    }

    /// Copies a payload to byte `at` of the message that C is filling.
    ///
    /// # Panics
    ///
    /// Past the end of the A-stack.
    ///
    /// # Safety
    ///
    /// - B1 held, and nothing posted.
    pub unsafe fn put_brief(&self, class: usize, at: usize, bytes: &[u8]) {
        let astack = self.binding().inner().first_of_class(class).1.astack;
        Outgoing { inline: astack.inline(), block: astack.own() }.put_bytes(at, bytes);
    }

    /// C has posted, and has seen no reply yet, or none as most are; `seen` is what its post found
    /// in the turn word. Goes on as [`super::Call::post`] does.
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
    ) -> Result<Reply<'_>, Box<CallError>> {
        finish_posted(self.grip(class), procedure, seen)
    }

    /// C has given the bit back and then seen that the bias was revoked.
    ///
    /// # Safety
    ///
    /// - B1 held, but for the bit. From here on it is not.
    pub unsafe fn release_brief(&self, class: usize) {
        let (bias, grip) = self.binding().inner().first_of_class(class);
        grip.give_back_otherwise(bias.bit(bias.first()));
    }

    /// The A-stack, for a thread that biases know from here on: it may have inherited this one, and
    /// then C was the first to call.
    fn grip(&self, class: usize) -> Grip<'_> {
        identity();
        self.binding().inner().first_of_class(class).1
    }
}
