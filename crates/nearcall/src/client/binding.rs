//! A binding as its client holds it, and an A-stack of it while a thread has it.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use nearcall_abi::bell::{LANES, RELIEF_OFFSET_BYTES, WATCH_OFFSET_BYTES};
use nearcall_abi::{AStackClass, BellLine, InterfaceDescriptor};
use nearcall_core::bell::{self, Lane};
use nearcall_core::bias::{Bias, Claim, Settled};
use nearcall_core::turn::{self, Bury};
use nearcall_core::{
    AStackLists, BindingState, Captured, ClaimedIndex, PeerFault, RevokeReason, Sequence,
    WaitPolicy,
};
use nearcall_os::peer::Process;
use nearcall_os::segment::Segment;
use nearcall_os::{clock, fence, futex};

use super::control::Control;
use super::linkage::Linkage;
use crate::binding::WhenExhausted;
use crate::domain::Domain;
use crate::error::{CallError, NotExecuted};
use nearcall_os::astack::{AStack, AStackTable};

/// Most extensions of a binding past the A-stacks it was bound with (L49).
pub(crate) const EXTENSIONS_MAX: usize = 15;

/// Longest sleep while waiting for an A-stack, before the binding is looked at again.
const CLAIM_SLICE: Duration = Duration::from_millis(20);

/// The same while some A-stacks are captured.
const REAP_SLICE: Duration = Duration::from_micros(100);

/// The client's side of one binding. Private memory and descriptors: knowing of it gives nothing
/// (L18).
#[derive(Debug)]
pub(crate) struct ClientBinding {
    pub name: String,
    pub interface: &'static InterfaceDescriptor,
    pub incarnation: u64,
    pub policy: WaitPolicy,
    pub when_exhausted: WhenExhausted,
    pub state: BindingState,
    pub classes: Vec<AStackClass>,
    pub control: Control,
    /// The server's: its end proves that it stores nothing more.
    pub process: Arc<Process>,
    /// Region 0 is what the binding began with; the others came when it grew.
    pub regions: [OnceLock<ClientRegion>; EXTENSIONS_MAX + 1],
    pub lists: AStackLists,
    /// One a class; empty where no heavy fence is to be had.
    biases: Vec<Bias>,
    pub bell: Segment,
    pub lane: u32,
    captured: Mutex<Captured>,
    captured_count: AtomicU32,
    /// Keeps the housekeeping that watches the server.
    domain: Domain,
}

/// What a binding is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub name: String,
    pub interface: &'static InterfaceDescriptor,
    pub incarnation: u64,
    pub policy: WaitPolicy,
    pub when_exhausted: WhenExhausted,
    pub classes: Vec<AStackClass>,
    pub control: Control,
    pub process: Process,
    pub region: AStackTable,
    pub bell: Segment,
    pub lane: u32,
    pub domain: Domain,
}

/// A-stacks that came together.
#[derive(Debug)]
pub(crate) struct ClientRegion {
    pub base: u32,
    pub region: AStackTable,
    pub linkages: Vec<Linkage>,
}

/// An A-stack that this thread has claimed. Dropping it gives it back to its list.
#[derive(Debug)]
pub(crate) struct Held<'b> {
    grip: Grip<'b>,
    /// What is kept for a thread must not leave it.
    stays: PhantomData<*const ()>,
}

/// What there is to know of a held A-stack; does not hold it. Small and copied, so that a call that
/// is quick has it in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grip<'b> {
    pub binding: &'b ClientBinding,
    pub index: u32,
    pub astack: AStack<'b>,
    pub linkage: &'b Linkage,
    /// The bias that it is kept by for this thread, if it is.
    bias: Option<&'b Bias>,
}

impl ClientBinding {
    /// Puts a binding together; all its A-stacks are free.
    pub fn new(parts: Parts) -> ClientBinding {
        let count = parts.region.count();
        let growth = parts.classes.iter().map(|class| class.count).max().unwrap_or(0);
        let count_max = count + growth * EXTENSIONS_MAX as u32;
        let binding = ClientBinding {
            name: parts.name,
            interface: parts.interface,
            incarnation: parts.incarnation,
            policy: parts.policy,
            when_exhausted: parts.when_exhausted,
            state: BindingState::new(),
            lists: AStackLists::new(parts.classes.len() as u32, count_max),
            biases: biases(&parts.classes),
            classes: parts.classes,
            control: parts.control,
            process: Arc::new(parts.process),
            regions: Default::default(),
            bell: parts.bell,
            lane: parts.lane,
            captured: Mutex::new(Captured::new(count_max)),
            captured_count: AtomicU32::new(0),
            domain: parts.domain,
        };
        let mut linkages = Vec::new();
        for (class, AStackClass { count, .. }) in (0u32..).zip(&binding.classes) {
            linkages.extend((0..*count).map(|_| Linkage::new(class)));
        }
        binding.add_region(0, ClientRegion { base: 0, region: parts.region, linkages });
        binding
    }

    /// Takes A-stacks in and offers them.
    pub fn add_region(&self, at: usize, region: ClientRegion) {
        let (base, count) = (region.base, region.region.count());
        assert!(self.regions[at].set(region).is_ok(), "region {at} is there already");
        // The last one pushed is the first one used.
        for index in (base..base + count).rev() {
            self.release(index);
        }
    }

    /// Takes an A-stack for `procedure` (L20): without a locked operation for the thread that it is
    /// kept for, by one compare-and-swap for others.
    ///
    /// # Errors: `NotExecuted` if the binding is revoked, `NoAStack` if none comes free in time.
    #[inline(always)]
    pub fn claim(&self, procedure: u32, deadline_ns: u64) -> Result<Held<'_>, CallError> {
        if !self.state.is_open() {
            return Err(self.revoked(procedure));
        }
        let class = u32::from(self.interface.procedures[procedure as usize].class);
        let bias = self.biases.get(class as usize);
        let (index, bias) = match bias.map_or(Claim::Nothing, |bias| bias.claim(thread_number())) {
            Claim::Kept(index) => (index, bias),
            Claim::Plain(index) => (index, None),
            Claim::Nothing => self.claim_from_list(procedure, class, deadline_ns)?,
        };
        Ok(self.hold(index, bias))
    }

    #[inline(never)]
    fn claim_from_list(
        &self,
        procedure: u32,
        class: u32,
        deadline_ns: u64,
    ) -> Result<(u32, Option<&Bias>), CallError> {
        let index = match self.lists.pop(class) {
            Some(index) => index,
            None => self.claim_another(procedure, class, deadline_ns)?,
        };
        let bias = self.biases.get(class as usize).filter(|bias| bias.is_unset());
        Ok((index, bias.filter(|bias| bias.establish(thread_number(), index))))
    }

    /// Waits for an A-stack, or has the server add some (L49).
    #[cold]
    #[inline(never)]
    fn claim_another(
        &self,
        procedure: u32,
        class: u32,
        deadline_ns: u64,
    ) -> Result<u32, CallError> {
        let start_ns = clock::now_ns();
        let deadline_ns = if deadline_ns == 0 { u64::MAX } else { deadline_ns };
        loop {
            self.reap();
            self.revoke_bias(class);
            if let Some(index) = self.lists.pop(class) {
                return Ok(index);
            }
            if self.when_exhausted == WhenExhausted::Grow && self.grow(class) {
                continue;
            }
            let waited_ns = clock::now_ns() - start_ns;
            if waited_ns >= deadline_ns {
                return Err(CallError::NoAStack { procedure: self.procedure_name(procedure) });
            }
            if let Some(expected) = self.lists.prepare_wait(class) {
                // One that comes back from a oneway or an aborted call wakes nobody.
                // Relaxed: see `reap`.
                let slice = match self.captured_count.load(Ordering::Relaxed) {
                    0 => CLAIM_SLICE,
                    _ => REAP_SLICE,
                };
                let slice = slice.min(Duration::from_nanos(deadline_ns - waited_ns));
                futex::wait(self.lists.wakes(class), expected, slice);
            }
            if !self.state.is_open() {
                return Err(self.revoked(procedure));
            }
        }
    }

    #[inline(always)]
    fn hold<'b>(&'b self, index: u32, bias: Option<&'b Bias>) -> Held<'b> {
        let region = self.region_of(index);
        let at = index - region.base;
        let grip = Grip {
            binding: self,
            index,
            astack: region.region.astack(at),
            linkage: &region.linkages[at as usize],
            bias,
        };
        Held { grip, stays: PhantomData }
    }

    /// The list is empty: what is kept for a thread goes to whoever needs it.
    fn revoke_bias(&self, class: u32) {
        if let Some(bias) = self.biases.get(class as usize)
            && let Settled::Push(index) = bias.revoke(fence::heavy)
        {
            self.release(index);
        }
    }

    /// Most A-stacks are in region 0: one comparison; the others take a second look-up (L49).
    #[inline(always)]
    pub fn region_of(&self, index: u32) -> &ClientRegion {
        let first = self.regions[0].get().expect("a binding begins with a region");
        if index < first.region.count() { first } else { self.extension_of(index) }
    }

    #[cold]
    fn extension_of(&self, index: u32) -> &ClientRegion {
        let regions = self.regions.iter().filter_map(OnceLock::get);
        regions
            .filter(|region| region.base <= index)
            .max_by_key(|region| region.base)
            .expect("an A-stack lies in a region")
    }

    /// Gives an A-stack back to its list.
    #[inline(never)]
    fn release(&self, index: u32) {
        let region = self.region_of(index);
        let class = region.linkages[(index - region.base) as usize].class;
        if self.lists.push(class, index) {
            futex::wake_all(self.lists.wakes(class));
        }
    }

    /// Takes captured A-stacks back that the server has let go (L55).
    pub fn reap(&self) {
        // Relaxed: whoever captured one is ordered by the lock; a late look costs a late reap.
        if self.captured_count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut captured = self.captured.lock().unwrap_or_else(PoisonError::into_inner);
        let is_idle = |index: nearcall_core::AStackIndex, sequence| {
            let region = self.region_of(index.as_u32());
            turn::is_idle(&region.region.astack(index.as_u32() - region.base).head().turn, sequence)
        };
        while let Some(index) = captured.reap(is_idle) {
            self.release(index.as_u32());
        }
        // Relaxed: as above.
        self.captured_count.store(captured.count(), Ordering::Relaxed);
    }

    /// How many A-stacks there are, of all classes.
    pub fn astack_count(&self) -> u32 {
        let regions = self.regions.iter().filter_map(OnceLock::get);
        regions.map(|region| region.base + region.region.count()).max().unwrap_or(0)
    }

    /// How many A-stacks the server holds captured.
    pub fn captured_count(&self) -> u32 {
        self.reap();
        // Relaxed: a figure for people.
        self.captured_count.load(Ordering::Relaxed)
    }

    /// Rings for a server that does not poll our A-stack.
    #[cold]
    #[inline(never)]
    pub fn ring(&self) {
        self.ring_line(WATCH_OFFSET_BYTES);
    }

    /// Rings for another processor of the server: the one that watches may be stuck.
    pub fn ring_relief(&self) {
        self.ring_line(RELIEF_OFFSET_BYTES);
    }

    fn ring_line(&self, offset: usize) {
        let bell = self.bell.span_mut().expect("the bell is mapped writable");
        let line: &BellLine = bell.line(offset).expect("a bell segment holds two lines");
        let lane = Lane::of(self.lane, LANES);
        if bell::ring(&line.gate, &line.lanes[lane.word as usize], lane.bit) {
            futex::wake_all(&line.gate);
        }
    }

    /// Makes the binding unusable, and tells every thread that waits for a reply. Idempotent.
    pub fn revoke(&self, reason: RevokeReason) {
        if !self.state.revoke(reason) {
            return;
        }
        self.control.hang_up();
        for region in self.regions.iter().filter_map(OnceLock::get) {
            for (at, linkage) in (0u32..).zip(&region.linkages) {
                let turn = &region.region.astack(at).head().turn;
                if turn::bury(turn, linkage.sequence()) == Bury::WakeClient {
                    futex::wake_all(turn);
                }
            }
        }
        for class in 0..self.classes.len() as u32 {
            futex::wake_all(self.lists.wakes(class));
        }
    }

    /// Name of a procedure, for errors.
    pub fn procedure_name(&self, procedure: u32) -> &'static str {
        self.interface.procedures[procedure as usize].name
    }

    #[cold]
    fn revoked(&self, procedure: u32) -> CallError {
        let procedure = self.procedure_name(procedure);
        CallError::NotExecuted { procedure, reason: NotExecuted::Revoked }
    }
}

impl Drop for ClientBinding {
    fn drop(&mut self) {
        self.revoke(RevokeReason::Released);
        self.domain.core().housekeeping.forget_exporter(self);
    }
}

impl<'b> Held<'b> {
    /// What there is to know of it.
    #[inline(always)]
    pub fn grip(&self) -> Grip<'b> {
        self.grip
    }

    /// Does not give it back: the server keeps it, or the binding is revoked and it with it.
    #[inline(always)]
    pub fn let_go(self) {
        std::mem::forget(self);
    }

    /// The post found a word that the server must not have written.
    #[cold]
    pub fn lose_to_fault(self, procedure: u32, fault: PeerFault) -> CallError {
        let binding = self.grip.binding;
        self.let_go();
        binding.fault(binding.procedure_name(procedure), fault)
    }
}

impl Grip<'_> {
    /// The server keeps the A-stack until it is done with call `sequence` (L55).
    #[cold]
    #[inline(never)]
    pub fn capture(self, sequence: Sequence) {
        if let Some(bias) = self.bias {
            bias.abandon(thread_number(), std::thread::yield_now);
        }
        let index = ClaimedIndex(self.index).check(u32::MAX).expect("below every limit");
        let mut captured = self.binding.captured.lock().unwrap_or_else(PoisonError::into_inner);
        captured.add(index, sequence);
        // Relaxed: see `reap`.
        self.binding.captured_count.store(captured.count(), Ordering::Relaxed);
    }
}

impl<'b> Deref for Held<'b> {
    type Target = Grip<'b>;

    #[inline(always)]
    fn deref(&self) -> &Grip<'b> {
        &self.grip
    }
}

impl Drop for Held<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        match self.bias.map(|bias| bias.release(thread_number())) {
            Some(Settled::Nothing) => {}
            None | Some(Settled::Push(_)) => self.binding.release(self.index),
        }
    }
}

/// A bias for each class, where the fence that revokes one is to be had.
fn biases(classes: &[AStackClass]) -> Vec<Bias> {
    match fence::is_available() {
        true => classes.iter().map(|_| Bias::new()).collect(),
        false => Vec::new(),
    }
}

/// This thread's number, which no other thread of this process ever had.
#[inline(always)]
fn thread_number() -> u64 {
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    match NUMBER.get() {
        0 => {
            static NUMBERS: AtomicU64 = AtomicU64::new(1);
            // Relaxed: all that matters is that no two are alike.
            let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
            NUMBER.set(number);
            number
        }
        number => number,
    }
}
