//! A call while it is served: what its stub knows of it.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use nearcall_abi::MESSAGE_BYTES_MAX;
use nearcall_os::HeadWords;
use nearcall_os::astack::AStack;
use nearcall_os::segment::Segment;

use super::area::{Inbound, Outgoing};
use super::arguments::Refusal;
use super::behind::Behind;
use crate::client::linkage::OutOfLine;
use crate::server::binding::{ServerAStack, ServerBinding};

/// A call while it is served: whose it is, how long its message claims to be, and where the
/// variable parts lie. Lives on the stack of the processor that runs the call; the stub has one
/// pointer to it.
pub(crate) struct ServedCall<'f> {
    pub binding: &'f ServerBinding,
    pub astack: AStack<'f, ServerAStack>,
    /// Judged: at most what fits where the message lies.
    pub message_bytes: u32,
    /// Bytes of the lent results, which come first in the variable part.
    lent_bytes: Cell<u32>,
    /// Where in the message they end, rounded up to 8; 0: none are lent.
    lent_end: Cell<u32>,
    /// What lies out of line. Of most calls nothing does, and none of it is written or dropped.
    elsewhere: OnceCell<Elsewhere>,
}

/// What of a call lies out of line.
#[derive(Default)]
struct Elsewhere {
    request: Option<Arc<Segment>>,
    /// How far the client is with the arguments.
    behind: Behind,
    reply: RefCell<Option<OutOfLine>>,
    /// Lent segments that the arguments lie in, held for as long as the call is.
    lent: Kept,
}

/// Segments that are held together, each by the one before.
#[derive(Default)]
struct Kept {
    first: OnceCell<Box<(Arc<Segment>, Kept)>>,
}

impl<'f> ServedCall<'f> {
    /// A call in place, whose message claims to be as long.
    #[inline(always)]
    pub fn new(
        binding: &'f ServerBinding,
        astack: AStack<'f, ServerAStack>,
        message_bytes: u32,
    ) -> ServedCall<'f> {
        let (lent_bytes, lent_end, elsewhere) = Default::default();
        ServedCall { binding, astack, message_bytes, lent_bytes, lent_end, elsewhere }
    }

    /// Lent results of `bytes` bytes begin at byte `at` of the message.
    pub(super) fn set_lent(&self, at: usize, bytes: usize) {
        self.lent_bytes.set(bytes as u32);
        self.lent_end.set((at + bytes.next_multiple_of(8)) as u32);
    }

    /// What was put is forgotten, wherever it lies.
    pub(super) fn forget_results(&self) {
        if let Some(elsewhere) = self.elsewhere.get() {
            elsewhere.reply.take();
        }
        self.set_lent(0, 0);
    }

    /// Where in the message the lent results end, rounded up to 8; 0: none are lent.
    #[inline(always)]
    pub(super) fn lent_end(&self) -> u32 {
        self.lent_end.get()
    }

    /// Bytes of the lent results.
    #[inline]
    pub(super) fn lent_bytes(&self) -> u32 {
        self.lent_bytes.get()
    }

    /// Its arguments lie in `segment`; its head said `words`. To be said before anything is read.
    #[cold]
    pub fn set_request(&self, segment: Arc<Segment>, words: HeadWords) {
        let (request, behind) = (Some(segment), Behind::of(words));
        let elsewhere = Elsewhere { request, behind, ..Elsewhere::default() };
        assert!(self.elsewhere.set(elsewhere).is_ok(), "nothing of the call was out of line yet");
    }

    /// The same, where all of them are there.
    pub fn set_whole_request(&self, segment: Arc<Segment>) {
        let elsewhere = Elsewhere { request: Some(segment), ..Elsewhere::default() };
        assert!(self.elsewhere.set(elsewhere).is_ok(), "nothing of the call was out of line yet");
    }

    /// The segment that its arguments lie in, if they are out of line.
    #[inline]
    pub fn request(&self) -> Option<&Arc<Segment>> {
        self.elsewhere.get()?.request.as_ref()
    }

    /// How far the client is with its out-of-line arguments, if it had not copied all of them when
    /// it posted.
    #[inline]
    pub(super) fn behind(&self) -> Option<&Behind> {
        self.elsewhere.get().map(|elsewhere| &elsewhere.behind).filter(|it| it.is_partial())
    }

    /// Its results lie there.
    pub fn set_reply(&self, out_of_line: OutOfLine) {
        self.elsewhere.get_or_init(Elsewhere::default).reply.replace(Some(out_of_line));
    }

    /// Whether its results lie out of line already.
    #[inline]
    pub(super) fn replies_out_of_line(&self) -> bool {
        self.elsewhere.get().is_some_and(|elsewhere| elsewhere.reply.borrow().is_some())
    }

    /// It is over: where its results lie, if they are out of line.
    #[inline(always)]
    pub fn into_reply(self) -> Option<OutOfLine> {
        self.elsewhere.into_inner().and_then(Elsewhere::into_reply)
    }

    #[inline(always)]
    pub(super) fn inbound(&self) -> Inbound<'f> {
        Inbound { inline: self.astack.inline().as_span(), block: self.astack.peer() }
    }

    #[inline(always)]
    pub(super) fn outgoing(&self) -> Outgoing<'f> {
        Outgoing { inline: self.astack.inline(), block: self.astack.own() }
    }

    /// Notes how long its reply is, for the next call on its A-stack.
    #[inline(always)]
    pub fn note_reply(&self, bytes: u32) {
        // Relaxed: only what is asked for ahead depends on it.
        self.astack.record().replied_bytes.store(bytes, Relaxed);
    }

    /// The segment that the client has lent as `number`, if it has.
    #[cold]
    pub(super) fn lent(&self, number: u32) -> Option<&Segment> {
        let segment = self.binding.lent().get(&number).cloned()?;
        Some(self.elsewhere.get_or_init(Elsewhere::default).lent.keep(segment))
    }

    /// Makes the reply's variable part lie in an out-of-line segment of at least `bytes`, and moves
    /// there what was lent in place, which begins at byte `at` of the message. That segment.
    #[cold]
    pub(super) fn move_out_of_line(
        &self,
        outgoing: Outgoing<'f>,
        at: usize,
        bytes: u64,
    ) -> Result<Arc<Segment>, Refusal> {
        let limit = MESSAGE_BYTES_MAX.into();
        if bytes > limit {
            let value = bytes;
            return Err(Refusal::over_bound("results", value, limit));
        }
        let before = self.elsewhere.get().and_then(|elsewhere| elsewhere.reply.take());
        if let Some(before) = &before
            && before.segment.bytes() as u64 >= bytes
        {
            self.set_reply(before.clone());
            return Ok(Arc::clone(&before.segment));
        }
        let made = self.binding.reply_segment(self.astack.record(), bytes as usize);
        let Some(made) = made else {
            // What was put so far stays where it is.
            before.into_iter().for_each(|before| self.set_reply(before));
            return Err(Refusal::NoMemory { bytes });
        };
        let lent = self.lent_bytes() as usize;
        if lent > 0 {
            let target = made.segment.span_mut().expect("our own segment is mapped writable");
            let mut copy = Vec::with_capacity(lent);
            match &before {
                Some(before) => before.segment.span().append_to(0, lent, &mut copy),
                None => {
                    let offset = at - nearcall_abi::INLINE_BYTES as usize;
                    outgoing.block.append_to(offset, lent, &mut copy);
                }
            }
            target.copy_in(0, &copy);
        }
        let segment = Arc::clone(&made.segment);
        self.set_reply(made);
        Ok(segment)
    }
}

impl Elsewhere {
    #[cold]
    #[inline(never)]
    fn into_reply(self) -> Option<OutOfLine> {
        self.reply.into_inner()
    }
}

impl Kept {
    fn keep(&self, segment: Arc<Segment>) -> &Segment {
        match self.first.get() {
            Some(kept) => kept.1.keep(segment),
            None => &self.first.get_or_init(|| Box::new((segment, Kept::default()))).0,
        }
    }
}

impl fmt::Debug for ServedCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("ServedCall");
        out.field("message_bytes", &self.message_bytes).finish_non_exhaustive()
    }
}
