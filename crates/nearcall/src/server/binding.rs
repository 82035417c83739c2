//! A binding as its server holds it.

mod audited;
mod charging;

use std::collections::HashMap;
use std::iter;
use std::mem::offset_of;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use nearcall_abi::message::Message;
use nearcall_abi::{AStackClass, ProcedureDescriptor, ReplyLine, Status};
use nearcall_core::admission::Permitted;
use nearcall_core::claim;
use nearcall_core::fairness::Deficit;
use nearcall_core::turn::{self, Look};
use nearcall_core::{BindingState, Mode, PeerFault, Priority, RevokeReason, Sequence, TurnWord};
use nearcall_os::astack::{AStack, AStackTable, NEAR_RECORD_BYTES};
use nearcall_os::segment::{Sealing, Segment};
use nearcall_os::{HeadWords, fence, futex};

pub(crate) use self::audited::NotPermitted;
use super::clerk::ClerkCore;
use super::descriptors::Arrived;
use super::exported::SharedEntries;
use super::feeds::Feeds;
use super::importer::{Importer, Introducer};
use super::kept_house::KeptHouse;
use super::prompt::prompt_procedures;
use super::quota::{Account, Charge};
use super::requests::Growing;
use super::rules::Decision;
use super::suspended::SuspendedCalls;
use super::trust::{Member, TrustClass};
use crate::audit::{Audit, no_rule};
use crate::client::binding::EXTENSIONS_MAX;
use crate::client::linkage::OutOfLine;
use crate::passed::StandIn;
use crate::wire::Socket;

/// Smallest out-of-line segment, bytes.
pub(crate) const OUT_OF_LINE_BYTES_MIN: usize = 64 << 10;

/// What a look at an A-stack found, and the words that its head said.
pub(crate) type Looked = (Look, HeadWords);

/// The server's side of one binding. Its first line is all that a call needs of it.
#[repr(C, align(64))]
pub(crate) struct ServerBinding {
    pub entries: SharedEntries,
    /// Those that may be called without a further look, each in its place: all that reply before
    /// their processor goes on (`prompt`); of a client that may not call all and of those that are
    /// awaited, none.
    pub procedures: &'static [ProcedureDescriptor],
    /// Number of the binding in this domain, never used again; not 0.
    pub key: u64,
    pub state: BindingState,
    /// The A-stack that a call was last found on after a ring: a hint, below the count.
    latest: AtomicU32,
    /// What the binding began with.
    first: AStackTable<ServerAStack>,
    /// What housekeeping knows it by.
    pub token: u64,
    pub name: String,
    pub importer: Arc<Importer>,
    /// `None`: the policy has admitted the importer itself.
    pub introducer: Option<Introducer>,
    /// Not to be kept by its bindings: once it is withdrawn, nobody listens at its name.
    pub clerk: Weak<ClerkCore>,
    pub class: Arc<TrustClass>,
    /// Of its class, as long as it is served.
    member: Mutex<Option<Member>>,
    pub lane: u32,
    pub classes: Vec<AStackClass>,
    pub socket: Socket,
    /// What it has grown by since.
    extensions: [OnceLock<Box<Extension>>; EXTENSIONS_MAX],
    astack_count: AtomicU32,
    growing: Mutex<Option<Growing>>,
    pub house: KeptHouse,
    /// What the client lends, by number.
    lent: Mutex<HashMap<u32, Arc<Segment>>>,
    account: Arc<Account>,
    /// What it is charged with for as long as it is there.
    charges: Mutex<Vec<Charge>>,
    permitted: Option<Permitted>,
    not_permitted: NotPermitted,
    /// Whether its calls go before others', and its share of the watch among equals.
    pub priority: Priority,
    pub deficit: Deficit,
    audit: Arc<Audit>,
    /// What has come over the socket and was not asked for yet.
    pub arrived: Mutex<Arrived>,
    /// Of this side of the binding.
    pub stand_in: StandIn,
    /// What the client has open.
    pub feeds: Feeds,
    /// Its calls whose procedures await something.
    pub suspended: SuspendedCalls,
}

const _: () = assert!(offset_of!(ServerBinding, entries) == 0);
const _: () = assert!(offset_of!(ServerBinding, procedures) == 8);
const _: () = assert!(offset_of!(ServerBinding, key) == 24);
const _: () = assert!(offset_of!(ServerBinding, state) == 32);
const _: () = assert!(offset_of!(ServerBinding, latest) == 36);
// Where its A-stacks lie: two words.
const _: () = assert!(offset_of!(ServerBinding, first) == 40);
const _: () = assert!(align_of::<ServerBinding>() == 64);

/// A-stacks that came later, together.
struct Extension {
    base: u32,
    region: AStackTable<ServerAStack>,
}

/// What a server keeps in private memory for each A-stack.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ServerAStack {
    /// Number of the A-stack in its binding.
    pub index: u32,
    /// Class of the A-stack: only procedures of that class may come in it.
    pub class: u32,
    /// Bytes of its last reply that had lines of its own: the next one is likely as long.
    pub replied_bytes: AtomicU32,
    /// Of its last call that may have been replied to later.
    pub awaited_procedure: AtomicU32,
    /// The last procedure that was found to be of this class, and one that may be called without a
    /// further look: it is so for good.
    usual: AtomicU64,
    /// Out-of-line segment that the client sent for arguments.
    pub request: Mutex<Option<OutOfLine>>,
    /// Out-of-line segment for results.
    pub reply: Mutex<Option<OutOfLine>>,
    /// How many of them there were: a number is never used again.
    pub replies: AtomicU32,
}

// What a call in place needs lies in the line of the A-stack's addresses.
const _: () = assert!(offset_of!(ServerAStack, index) == 0);
const _: () = assert!(offset_of!(ServerAStack, class) == 4);
const _: () = assert!(offset_of!(ServerAStack, replied_bytes) == 8);
const _: () =
    assert!(offset_of!(ServerAStack, usual) + size_of::<AtomicU64>() <= NEAR_RECORD_BYTES);

/// No selector, which has fewer bits.
const NO_PROCEDURE: u64 = u64::MAX;

/// What a server binding is made of.
pub(crate) struct Parts {
    pub account: Arc<Account>,
    pub charges: Vec<Charge>,
    /// Procedures that the client may call; `None`: all.
    pub permitted: Option<Permitted>,
    pub not_permitted: NotPermitted,
    pub priority: Priority,
    pub audit: Arc<Audit>,
    pub key: u64,
    pub token: u64,
    pub name: String,
    pub entries: SharedEntries,
    pub importer: Importer,
    pub introducer: Option<Introducer>,
    pub clerk: Weak<ClerkCore>,
    pub member: Member,
    pub lane: u32,
    pub classes: Vec<AStackClass>,
    pub socket: Socket,
    pub region: AStackTable<ServerAStack>,
}

impl ServerBinding {
    pub fn new(parts: Parts) -> Arc<ServerBinding> {
        Arc::new_cyclic(|this| ServerBinding::of(parts, this))
    }

    fn of(parts: Parts, this: &Weak<ServerBinding>) -> ServerBinding {
        ServerBinding {
            key: parts.key,
            token: parts.token,
            name: parts.name,
            procedures: match &parts.permitted {
                None if !parts.entries.is_awaited() => {
                    let run_on_estacks = parts.entries.runs_on_estacks();
                    prompt_procedures(parts.entries.interface(), run_on_estacks)
                }
                _ => &[],
            },
            not_permitted: parts.not_permitted,
            permitted: parts.permitted,
            priority: parts.priority,
            deficit: Deficit::default(),
            audit: parts.audit,
            entries: parts.entries,
            importer: Arc::new(parts.importer.bound(this)),
            introducer: parts.introducer,
            clerk: parts.clerk,
            class: Arc::clone(parts.member.class()),
            member: Mutex::new(Some(parts.member)),
            lane: parts.lane,
            classes: parts.classes,
            state: BindingState::new(),
            socket: parts.socket,
            astack_count: AtomicU32::new(parts.region.count()),
            first: parts.region,
            extensions: Default::default(),
            latest: AtomicU32::new(0),
            growing: Mutex::default(),
            house: KeptHouse::default(),
            lent: Mutex::default(),
            account: parts.account,
            charges: Mutex::new(parts.charges),
            arrived: Mutex::default(),
            stand_in: StandIn::default(),
            feeds: Feeds::default(),
            suspended: SuspendedCalls::default(),
        }
    }

    /// Takes A-stacks in, numbered from `base`, which is the count; false if there are as many
    /// extensions as there may be. Only for the thread that keeps house.
    pub fn add_extension(&self, base: u32, region: AStackTable<ServerAStack>) -> bool {
        let count = base + region.count();
        let Some(free) = self.extensions.iter().find(|each| each.get().is_none()) else {
            return false;
        };
        assert!(free.set(Box::new(Extension { base, region })).is_ok(), "one thread adds");
        // Release: whoever sees the count finds the extension set.
        self.astack_count.store(count, Ordering::Release);
        true
    }

    /// There are as many extensions as there may be.
    pub fn is_fully_grown(&self) -> bool {
        self.extensions.iter().all(|extension| extension.get().is_some())
    }

    /// The extension that is under way.
    pub fn growing(&self) -> MutexGuard<'_, Option<Growing>> {
        self.growing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the client lends, by number.
    pub fn lent(&self) -> MutexGuard<'_, HashMap<u32, Arc<Segment>>> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every procedure of the interface.
    pub fn all_procedures(&self) -> &'static [ProcedureDescriptor] {
        self.entries.interface().procedures
    }

    /// Whether the procedure that `selector` claims to be is one that may be called without a
    /// further look, and of the class of this A-stack.
    #[inline(never)]
    pub fn finds_usual(&self, astack: &ServerAStack, selector: u32) -> bool {
        let procedure = self.procedures.get(selector as usize);
        let is_usual = procedure.is_some_and(|each| u32::from(each.class) == astack.class);
        if is_usual {
            // Relaxed: see `ServerAStack::is_usual`.
            astack.usual.store(selector.into(), Ordering::Relaxed);
        }
        is_usual
    }

    /// Whether the client may call this procedure.
    pub fn permits(&self, procedure: u32) -> bool {
        self.permitted.as_ref().is_none_or(|permitted| permitted.allows(procedure))
    }

    /// Procedures that the client may call; `None`: all.
    pub fn permitted(&self) -> &Option<Permitted> {
        &self.permitted
    }

    /// Whom the policy has admitted: the importer, or who stands for it.
    pub fn admitted(&self) -> &Arc<Importer> {
        self.introducer.as_ref().map_or(&self.importer, |introducer| &introducer.admitted)
    }

    /// What a binding is made by that its client introduces somebody to: what this one was.
    pub fn passed_on(&self) -> Decision {
        let (priority, limits) = (self.priority, self.account.limits());
        let verdict = Ok(self.permitted.clone());
        let trust_class = self.class.name.split.clone();
        Decision { rule: no_rule::INTRODUCED.to_owned(), verdict, priority, limits, trust_class }
    }

    /// As what it stands for whom its client introduces.
    pub fn introduces(&self) -> Introducer {
        Introducer::of(&self.importer, self.admitted())
    }

    /// Whether this procedure runs on an E-stack.
    pub fn runs_on_estack(&self, procedure: u32) -> bool {
        let is_leaf = |procedure: &ProcedureDescriptor| procedure.is_leaf;
        let has_estacks = !self.entries.is_awaited() && self.entries.runs_on_estacks();
        has_estacks && !self.all_procedures().get(procedure as usize).is_some_and(is_leaf)
    }

    /// Whether this procedure's calls bring the items of a feed.
    pub fn brings_items(&self, procedure: u32) -> bool {
        let brings_items = |procedure: &ProcedureDescriptor| procedure.told().brings_items();
        self.all_procedures().get(procedure as usize).is_some_and(brings_items)
    }

    /// The last call taken on A-stack `index`.
    pub fn claimed(&self, index: u32) -> Sequence {
        claim::claimed(&self.astack(index).own_line::<ReplyLine>().claim)
    }

    /// How many A-stacks there are.
    #[inline]
    pub fn astack_count(&self) -> u32 {
        // Acquire: pairs with the store in `add_region`.
        self.astack_count.load(Ordering::Acquire)
    }

    /// The A-stack that a call was last found on after a ring.
    #[inline]
    pub fn latest(&self) -> u32 {
        // Relaxed: a hint.
        self.latest.load(Ordering::Relaxed)
    }

    /// A call was found on A-stack `index` after a ring.
    #[inline]
    pub fn set_latest(&self, index: u32) {
        // Only when it changes, so that the line stays with every processor. Relaxed: a hint.
        if self.latest() != index {
            // Relaxed: as above.
            self.latest.store(index, Ordering::Relaxed);
        }
    }

    /// Index of the first A-stack of `class`.
    pub fn first_of_class(&self, class: u32) -> u32 {
        self.classes.iter().take(class as usize).map(|class| class.count).sum()
    }

    /// A-stack `index`, which is below the count. Most are of the first region: one comparison; the
    /// others take a second look-up (L49).
    #[inline(always)]
    pub fn astack(&self, index: u32) -> AStack<'_, ServerAStack> {
        match self.first.astack(index) {
            Some(astack) => astack,
            None => self.astack_of_extension(index),
        }
    }

    #[cold]
    #[inline(never)]
    fn astack_of_extension(&self, index: u32) -> AStack<'_, ServerAStack> {
        let extensions = self.extensions.iter().filter_map(OnceLock::get);
        let extension = extensions
            .filter(|extension| extension.base <= index)
            .max_by_key(|extension| extension.base)
            .expect("an A-stack lies in a region");
        extension.region.astack(index - extension.base).expect("below the count")
    }

    /// Whether A-stack `index` holds a call that nobody has claimed (row O3), and the words of its
    /// head, which are loaded with that look and never again.
    #[inline(always)]
    pub fn look(&self, index: u32) -> Looked {
        let astack = self.astack(index);
        let words = HeadWords::load(astack.head());
        let claim = || &astack.own_line::<ReplyLine>().claim;
        let look = turn::look_word(TurnWord(words.turn()), claim);
        (look, words)
    }

    /// The next A-stack from `from` on that is not at rest, as most are: others need no look.
    pub fn next_busy(&self, from: u32) -> Option<u32> {
        let extensions = self.extensions.iter().map_while(OnceLock::get);
        let busy = extensions.filter_map(|each| busy_of(&each.region, each.base, from));
        busy_of(&self.first, 0, from).or_else(|| busy.min())
    }

    /// Whether a look at any of its A-stacks finds something to do.
    pub fn wants_something(&self) -> bool {
        // The words are for the look that is acted on: a call's are loaded once.
        let mut busy = iter::successors(self.next_busy(0), |index| self.next_busy(index + 1));
        busy.any(|index| {
            let astack = self.astack(index);
            let claim = &astack.own_line::<ReplyLine>().claim;
            turn::look(&astack.head().turn, claim) != Look::Nothing
        })
    }

    /// From here on the client rings for A-stack `index`, which was watched by `mode`. False: look,
    /// a call may have come.
    pub fn demote(&self, index: u32, mode: Mode) -> bool {
        let astack = self.astack(index);
        turn::demote(&astack.head().turn, self.claimed(index), mode)
    }

    /// Refuses call `sequence` on A-stack `index`, unless somebody has claimed it.
    #[cold]
    pub fn refuse(&self, index: u32, sequence: Sequence) {
        let astack = self.astack(index);
        if claim::claim(&astack.own_line::<ReplyLine>().claim, sequence) {
            self.refuse_claimed(astack, sequence);
        }
    }

    /// Refuses a call that this processor has claimed: the binding is being revoked in an orderly
    /// way, and the client may know that the call did not run.
    #[cold]
    #[inline(never)]
    pub fn refuse_claimed(&self, astack: AStack<'_, ServerAStack>, sequence: Sequence) {
        self.forget_descriptors(astack.record().index);
        let head = astack.head();
        // Relaxed: all three are made visible by the reply (row O4).
        head.selector.store(Status::Refused.to_word(), Ordering::Relaxed);
        head.message_bytes.store(0, Ordering::Relaxed);
        head.origin.store(0, Ordering::Relaxed);
        wake_after(turn::reply(&head.turn, sequence, Mode::Bell), &head.turn);
        if !self.state.is_open() {
            self.hang_up_when_idle();
        }
    }

    /// Makes the binding unusable. Idempotent. What runs is left to finish (L54); in an orderly
    /// revocation its results still arrive, and the client is hung up on after the last of them.
    /// Feeds are over at once. Whether the binding was open.
    pub fn revoke(&self, reason: RevokeReason) -> bool {
        if !self.state.revoke(reason) {
            if !reason.is_orderly() {
                // It was revoked in an orderly way: that is over, too.
                self.socket.hang_up();
            }
            return false;
        }
        self.note_revoked(reason);
        if reason.is_orderly() {
            self.refuse_posted();
            // What waits for a batch is a call, and may run for ever.
            self.feeds.clear();
            self.hang_up_when_idle();
        } else {
            self.socket.hang_up();
        }
        true
    }

    /// No processor looks any more: refuses what is posted, and hangs up. A call that is suspended
    /// has begun, and is not ended.
    pub fn end(&self) {
        self.refuse_posted();
        match self.has_pending() {
            true => self.socket.hang_up(),
            false => self.say_revoked(),
        }
    }

    /// Whether a call has no reply yet, as its client's words say. A client that lies keeps its own
    /// binding from ending: no call of it runs any more.
    fn has_pending(&self) -> bool {
        (0..self.astack_count()).any(|index| {
            let astack = self.astack(index);
            turn::may_run(&astack.head().turn, &astack.own_line::<ReplyLine>().claim)
        })
    }

    fn refuse_posted(&self) {
        for index in 0..self.astack_count() {
            if let Look::Posted(sequence) | Look::Aborted(sequence) = self.look(index).0 {
                self.refuse(index, sequence);
            }
        }
    }

    /// A revoked binding has run a call to its end: if it was the last one, hangs up.
    #[cold]
    pub fn hang_up_when_idle(&self) {
        // A processor that claims behind this fence sees that the binding is revoked, and refuses;
        // what one claimed before it, and runs, is pending for whoever looks behind it.
        let is_fenced = fence::is_available();
        if is_fenced {
            fence::heavy();
        }
        if self.has_pending() {
            return;
        }
        match is_fenced {
            true => self.say_revoked(),
            false => self.socket.hang_up(),
        }
    }

    /// Nothing runs and nothing will: says so, and hangs up. To the client that is the proof that
    /// a call which was not answered did not run (`core::termination`).
    fn say_revoked(&self) {
        // Without room for it the hang-up alone is to do.
        let _ = self.socket.try_send(&Message::Revoked);
        self.socket.hang_up();
    }

    /// The client broke the protocol.
    #[cold]
    pub fn fault(&self, fault: PeerFault) {
        if !self.socket.stream().is_ours() {
            // In a child that was forked segments are empty, and nobody has broken anything: nor is
            // a lock of those who write down waited for, which the parent may have held.
            return;
        }
        tracing::warn!(name = self.name, %fault, "a client broke the protocol");
        self.revoke(RevokeReason::Fault);
    }

    /// A segment of at least `bytes` for results on an A-stack: the one of the last call if it is
    /// long enough, else a new one, which is sent to the client. `None` without memory, over its
    /// user's share, or if the client does not take it.
    pub fn reply_segment(&self, astack: &ServerAStack, bytes: usize) -> Option<OutOfLine> {
        let mut known = astack.reply.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known
            && known.segment.bytes() >= bytes
        {
            return Some(known.clone());
        }
        *known = None;
        // Relaxed: the lock orders it.
        let generation = astack.replies.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let bytes = bytes.next_power_of_two().max(OUT_OF_LINE_BYTES_MIN);
        let charges = self.charge_own_segment(bytes).ok()?;
        let made = Segment::create("nearcall-results", bytes, Sealing::SingleWriter);
        let (segment, descriptor) = made.ok()?;
        let (astack, bytes) = (astack.index, bytes as u64);
        let announced = Message::OutOfLine { astack, generation, bytes };
        self.socket.send(&announced, &[descriptor.as_fd()]).ok()?;
        let made = OutOfLine { generation, segment: Arc::new(segment.keep(charges)) };
        *known = Some(made.clone());
        Some(made)
    }
}

/// The same in a region whose A-stacks are numbered from `base` on.
#[inline]
fn busy_of(region: &AStackTable<ServerAStack>, base: u32, from: u32) -> Option<u32> {
    let passed = from.saturating_sub(base);
    let heads = region.heads().get(passed as usize..)?;
    let at = heads.iter().position(|head| !turn::is_at_rest(&head.turn))?;
    Some(base + passed + at as u32)
}

impl ServerAStack {
    /// Notes nothing yet.
    pub fn new(index: u32, class: u32) -> ServerAStack {
        ServerAStack {
            index,
            class,
            replied_bytes: AtomicU32::new(0),
            awaited_procedure: AtomicU32::new(0),
            usual: AtomicU64::new(NO_PROCEDURE),
            request: Mutex::default(),
            reply: Mutex::default(),
            replies: AtomicU32::new(0),
        }
    }

    /// Whether `selector` is the procedure that was found to be usual last: one comparison. If not,
    /// [`ServerBinding::finds_usual`].
    #[inline(always)]
    pub fn is_usual(&self, selector: u32) -> bool {
        // Relaxed: stands for itself, and whoever finds another one looks again.
        self.usual.load(Ordering::Relaxed) == u64::from(selector)
    }

    /// The segment that the client sent for arguments.
    #[cold]
    pub fn request_segment(&self, generation: u32) -> Result<Arc<Segment>, PeerFault> {
        let known = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(known) if known.generation == generation => Ok(Arc::clone(&known.segment)),
            Some(known) => {
                Err(PeerFault::Generation { claimed: generation, known: known.generation })
            }
            None => Err(PeerFault::Generation { claimed: generation, known: 0 }),
        }
    }
}

impl std::fmt::Debug for ServerBinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("ServerBinding");
        out.field("key", &self.key).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Wakes a client that sleeps for the reply it just got.
#[inline]
pub(crate) fn wake_after(reply: turn::Reply, turn: &AtomicU32) {
    if reply == turn::Reply::WakeClient {
        futex::wake_all(turn);
    }
}
