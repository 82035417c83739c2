//! A binding as its server holds it.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use nearcall_abi::message::Message;
use nearcall_abi::{AStackClass, ProcedureDescriptor, ReplyLine, Status};
use nearcall_core::claim;
use nearcall_core::turn::{self, Look};
use nearcall_core::{BindingState, Mode, PeerFault, RevokeReason, Sequence};
use nearcall_os::astack::{AStack, AStackTable};
use nearcall_os::futex;
use nearcall_os::segment::{Sealing, Segment};

use super::clerk::Importer;
use super::requests::Growing;
use super::trust::TrustClass;
use crate::client::binding::EXTENSIONS_MAX;
use crate::client::linkage::OutOfLine;
use crate::raw::Entries;
use crate::wire::Socket;

/// Smallest out-of-line segment, bytes.
pub(crate) const OUT_OF_LINE_BYTES_MIN: usize = 64 << 10;

/// The server's side of one binding.
pub(crate) struct ServerBinding {
    /// Number of the binding in this domain, never used again; not 0.
    pub key: u64,
    pub name: String,
    pub entries: Arc<dyn Entries>,
    pub importer: Arc<Importer>,
    pub class: Arc<TrustClass>,
    pub lane: u32,
    pub classes: Vec<AStackClass>,
    /// Of `entries`, asked for once.
    pub procedures: &'static [ProcedureDescriptor],
    pub state: BindingState,
    pub socket: Socket,
    /// Region 0 is what the binding began with.
    pub regions: [OnceLock<ServerRegion>; EXTENSIONS_MAX + 1],
    astack_count: AtomicU32,
    growing: Mutex<Option<Growing>>,
}

/// A-stacks that came together.
pub(crate) struct ServerRegion {
    pub base: u32,
    pub region: AStackTable,
    pub astacks: Vec<ServerAStack>,
}

/// What a server keeps in private memory for each A-stack.
#[derive(Debug, Default)]
pub(crate) struct ServerAStack {
    /// Class of the A-stack: only procedures of that class may come in it.
    pub class: u32,
    /// Out-of-line segment that the client sent for arguments.
    pub request: Mutex<Option<OutOfLine>>,
    /// Out-of-line segment for results.
    pub reply: Mutex<Option<OutOfLine>>,
    /// How many of them there were: a number is never used again.
    pub replies: AtomicU32,
}

/// What a server binding is made of.
pub(crate) struct Parts {
    pub key: u64,
    pub name: String,
    pub entries: Arc<dyn Entries>,
    pub importer: Arc<Importer>,
    pub class: Arc<TrustClass>,
    pub lane: u32,
    pub classes: Vec<AStackClass>,
    pub socket: Socket,
    pub region: AStackTable,
}

impl ServerBinding {
    pub fn new(parts: Parts) -> ServerBinding {
        let binding = ServerBinding {
            key: parts.key,
            name: parts.name,
            procedures: parts.entries.interface().procedures,
            entries: parts.entries,
            importer: parts.importer,
            class: parts.class,
            lane: parts.lane,
            classes: parts.classes,
            state: BindingState::new(),
            socket: parts.socket,
            regions: Default::default(),
            astack_count: AtomicU32::new(0),
            growing: Mutex::default(),
        };
        let mut of_class = Vec::new();
        for (class, AStackClass { count, .. }) in (0u32..).zip(&binding.classes) {
            of_class.extend((0..*count).map(|_| class));
        }
        binding.add_region(parts.region, of_class.into_iter());
        binding
    }

    /// Takes A-stacks in, whose classes are given one by one; false if there are as many extensions
    /// as there may be.
    pub fn add_region(&self, region: AStackTable, classes: impl Iterator<Item = u32>) -> bool {
        // Relaxed: only the thread that keeps house adds regions.
        let base = self.astack_count.load(Ordering::Relaxed);
        let count = region.count();
        let astack = |class| ServerAStack { class, ..ServerAStack::default() };
        let astacks = classes.take(count as usize).map(astack).collect();
        let Some(free) = self.regions.iter().find(|region| region.get().is_none()) else {
            return false;
        };
        assert!(free.set(ServerRegion { base, region, astacks }).is_ok(), "one thread adds");
        // Release: whoever sees the count finds the region set.
        self.astack_count.store(base + count, Ordering::Release);
        true
    }

    /// There are as many extensions as there may be.
    pub fn is_fully_grown(&self) -> bool {
        self.regions.iter().all(|region| region.get().is_some())
    }

    /// The extension that is under way.
    pub fn growing(&self) -> MutexGuard<'_, Option<Growing>> {
        self.growing.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// The region of A-stack `index`, which is below the count.
    #[inline(always)]
    pub fn region_of(&self, index: u32) -> &ServerRegion {
        let first = self.regions[0].get().expect("a binding begins with a region");
        if index < first.region.count() { first } else { self.extension_of(index) }
    }

    #[cold]
    fn extension_of(&self, index: u32) -> &ServerRegion {
        let regions = self.regions.iter().filter_map(OnceLock::get);
        regions
            .filter(|region| region.base <= index)
            .max_by_key(|region| region.base)
            .expect("an A-stack lies in a region")
    }

    /// A-stack `index`, which is below the count.
    #[inline(always)]
    pub fn astack(&self, index: u32) -> AStack<'_> {
        let region = self.region_of(index);
        region.region.astack(index - region.base)
    }

    /// Whether A-stack `index` holds a call that nobody has claimed (row O3).
    #[inline(always)]
    pub fn look(&self, index: u32) -> Look {
        let astack = self.astack(index);
        turn::look(&astack.head().turn, &astack.own_line::<ReplyLine>().claim)
    }

    /// From here on the client rings for A-stack `index`. False: look, a call may have come.
    pub fn demote(&self, index: u32) -> bool {
        let astack = self.astack(index);
        turn::demote(&astack.head().turn, self.claimed(index))
    }

    /// Refuses call `sequence` on A-stack `index`, unless somebody has claimed it: the binding is
    /// being revoked in an orderly way, and the client may know that the call did not run.
    #[cold]
    pub fn refuse(&self, index: u32, sequence: Sequence) {
        let astack = self.astack(index);
        if !claim::claim(&astack.own_line::<ReplyLine>().claim, sequence) {
            return;
        }
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
    pub fn revoke(&self, reason: RevokeReason) {
        if !self.state.revoke(reason) {
            return;
        }
        if reason == RevokeReason::ShutDown {
            self.refuse_posted();
            self.hang_up_when_idle();
        } else {
            self.socket.hang_up();
        }
    }

    /// No processor looks any more: refuses what is posted, and hangs up.
    pub fn end(&self) {
        self.refuse_posted();
        self.socket.hang_up();
    }

    fn refuse_posted(&self) {
        for index in 0..self.astack_count() {
            if let Look::Posted(sequence) | Look::Aborted(sequence) = self.look(index) {
                self.refuse(index, sequence);
            }
        }
    }

    /// A revoked binding has run a call to its end: if it was the last one, hangs up.
    #[cold]
    pub fn hang_up_when_idle(&self) {
        let is_running = |index| turn::is_pending(&self.astack(index).head().turn);
        if !(0..self.astack_count()).any(is_running) {
            // The client learns it from the hang-up too, if its socket is full.
            let _ = self.socket.send(&Message::Revoked, &[]);
            self.socket.hang_up();
        }
    }

    /// The client broke the protocol.
    #[cold]
    pub fn fault(&self, fault: PeerFault) {
        tracing::warn!(name = self.name, %fault, "a client broke the protocol");
        self.revoke(RevokeReason::Fault);
    }

    /// The segment that the client sent for arguments on A-stack `index`.
    pub fn request_segment(&self, index: u32, generation: u32) -> Result<Arc<Segment>, PeerFault> {
        let region = self.region_of(index);
        let slot = &region.astacks[(index - region.base) as usize].request;
        let known = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(known) if known.generation == generation => Ok(Arc::clone(&known.segment)),
            Some(known) => {
                Err(PeerFault::Generation { claimed: generation, known: known.generation })
            }
            None => Err(PeerFault::Generation { claimed: generation, known: 0 }),
        }
    }

    /// A segment of at least `bytes` for results on A-stack `index`: the one of the last call if it
    /// is long enough, else a new one, which is sent to the client. `None` without memory, or if
    /// the client does not take it.
    pub fn reply_segment(&self, index: u32, bytes: usize) -> Option<OutOfLine> {
        let region = self.region_of(index);
        let astack = &region.astacks[(index - region.base) as usize];
        let slot = &astack.reply;
        let mut known = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known
            && known.segment.bytes() >= bytes
        {
            return Some(known.clone());
        }
        *known = None;
        // Relaxed: the lock orders it.
        let generation = astack.replies.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let bytes = bytes.next_power_of_two().max(OUT_OF_LINE_BYTES_MIN);
        let made = Segment::create("nearcall-results", bytes, Sealing::SingleWriter);
        let (segment, descriptor) = made.ok()?;
        let announced = Message::OutOfLine { astack: index, generation, bytes: bytes as u64 };
        self.socket.send(&announced, &[descriptor.as_fd()]).ok()?;
        let made = OutOfLine { generation, segment: Arc::new(segment) };
        *known = Some(made.clone());
        Some(made)
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
