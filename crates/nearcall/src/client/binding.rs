//! A binding as its client holds it, and an A-stack of it while a thread has it.

mod claiming;
mod flushing;
mod identity;
mod telling;
#[cfg(test)]
mod tests;
mod unattended;

use std::marker::PhantomData;
use std::mem::offset_of;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use nearcall_abi::message::CLASSES_MAX;
use nearcall_abi::{AStackClass, InterfaceDescriptor, ProcedureName, ReplyLine};
use nearcall_core::admission::Agreement;
use nearcall_core::bias::{Bias, Settled};
use nearcall_core::claim;
use nearcall_core::turn::{self, Bury};
use nearcall_core::{
    AStackLists, BindingState, Captured, ClaimedIndex, PeerFault, RevokeReason, Sequence,
    WaitPolicy,
};
use nearcall_os::fence;
use nearcall_os::forks::{self, InChild, Keeper, Listed};
use nearcall_os::futex;
use nearcall_os::peer::Process;
use nearcall_os::segment::Segment;

pub(crate) use self::identity::{identity, likely_identity, thread_number};
use self::unattended::Unattended;
use super::claimants::Claimants;
use super::control::Control;
use super::feed_room::OpenFeeds;
use super::linkage::{Linkage, NOBODY};
use super::rebind::Renewal;
use super::switching;
use crate::binding::ImportOptions;
use crate::domain::Domain;
use crate::error::CallError;
use nearcall_os::astack::{AStack, AStackTable};

/// Most extensions of a binding past the A-stacks it was bound with (L49).
pub(crate) const EXTENSIONS_MAX: usize = 15;

/// The client's side of one binding. Private memory and descriptors: knowing of it gives nothing
/// (L18). Its first line and the one of a bias are all that a call needs of it.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct ClientBinding {
    pub state: BindingState,
    /// What the binding began with.
    first: ClientRegion,
    /// One a class.
    pub biases: [Bias; CLASSES_MAX],
    pub name: String,
    /// It was not imported by its name: there is none to rebind by.
    pub is_introduced: bool,
    pub interface: &'static InterfaceDescriptor,
    pub incarnation: u64,
    pub policy: WaitPolicy,
    /// As it was imported.
    pub options: ImportOptions,
    /// The server's.
    pub classes: Vec<AStackClass>,
    /// What the server has of the interface, if it has another version.
    pub agreement: Option<Agreement>,
    pub control: Control,
    /// The server's: its end proves that it stores nothing more.
    pub process: Arc<Process>,
    /// What housekeeping knows it by.
    pub token: u64,
    /// What it has grown by since.
    pub extensions: [OnceLock<Box<ClientRegion>>; EXTENSIONS_MAX],
    pub lists: AStackLists,
    /// Tasks that wait for one of these lists.
    pub claimants: Claimants,
    /// How long to spin for the reply of each procedure, nanoseconds.
    spins: Box<[AtomicU32]>,
    pub bell: Arc<Segment>,
    pub lane: u32,
    captured: Mutex<Captured>,
    captured_count: AtomicU32,
    /// Kernel threads that wait for an A-stack.
    claiming: AtomicU32,
    unattended: Unattended,
    /// Batches that are ahead of whom they are for, of feeds that are no thread's.
    pub leads: AtomicU32,
    pub feeds: OpenFeeds,
    pub renewal: Renewal,
    /// Keeps the housekeeping that watches the server.
    pub domain: Domain,
    /// Itself, for whoever may outlive it: FastThreads whose calls are put off.
    me: Weak<ClientBinding>,
    /// Has it told when it is the copy of a child.
    _listed: Option<Listed>,
}

/// Where its biases lie: see `raw/brief.rs`.
pub(crate) const BIASES_OFFSET_BYTES: usize = offset_of!(ClientBinding, biases);

const _: () = assert!(offset_of!(ClientBinding, state) == 0);
// Where its A-stacks lie: two words.
const _: () = assert!(offset_of!(ClientBinding, first) + offset_of!(ClientRegion, region) == 8);
const _: () = assert!(offset_of!(ClientBinding, biases).is_multiple_of(64));
const _: () = assert!(size_of::<Bias>() == 64 && align_of::<Bias>() == 64);

/// What a binding is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub name: String,
    /// It was not imported by its name.
    pub is_introduced: bool,
    pub interface: &'static InterfaceDescriptor,
    pub incarnation: u64,
    pub policy: WaitPolicy,
    /// As it was imported.
    pub options: ImportOptions,
    pub classes: Vec<AStackClass>,
    pub agreement: Option<Agreement>,
    pub control: Control,
    pub process: Process,
    pub token: u64,
    pub region: AStackTable<Linkage>,
    pub bell: Arc<Segment>,
    pub lane: u32,
    pub domain: Domain,
}

/// A-stacks that came together.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ClientRegion {
    pub region: AStackTable<Linkage>,
    pub base: u32,
}

/// An A-stack that this thread has claimed. Dropping it gives it back to its list.
#[derive(Debug)]
pub(crate) struct Held<'b> {
    grip: Grip<'b>,
    /// What is kept for a thread must not leave it.
    stays: PhantomData<*const ()>,
}

/// What there is to know of a held A-stack; does not hold it. Two words, so that a call that is
/// quick has them in registers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Grip<'b> {
    pub binding: &'b ClientBinding,
    pub astack: AStack<'b, Linkage>,
}

impl ClientBinding {
    /// Puts a binding together; all its A-stacks are free.
    pub fn new(parts: Parts) -> ClientBinding {
        let count = parts.region.count();
        let growth = parts.classes.iter().map(|class| class.count).max().unwrap_or(0);
        let count_max = count + growth * EXTENSIONS_MAX as u32;
        let binding = ClientBinding {
            name: parts.name,
            is_introduced: parts.is_introduced,
            interface: parts.interface,
            incarnation: parts.incarnation,
            policy: parts.policy,
            options: parts.options,
            renewal: Renewal::default(),
            state: BindingState::new(),
            spins: spins(parts.interface, &parts.policy),
            lists: AStackLists::new(parts.classes.len() as u32, count_max),
            biases: biases(&parts.classes),
            claimants: Claimants::new(parts.classes.len()),
            classes: parts.classes,
            agreement: parts.agreement,
            control: parts.control,
            process: Arc::new(parts.process),
            token: parts.token,
            first: ClientRegion { base: 0, region: parts.region },
            extensions: Default::default(),
            bell: parts.bell,
            lane: parts.lane,
            captured: Mutex::new(Captured::new(count_max)),
            captured_count: AtomicU32::new(0),
            claiming: AtomicU32::new(0),
            unattended: Unattended::default(),
            leads: AtomicU32::new(0),
            feeds: OpenFeeds::default(),
            domain: parts.domain,
            me: Weak::new(),
            _listed: None,
        };
        binding.offer(&binding.first);
        binding
    }

    /// The same to be shared.
    pub fn shared(mut self) -> Arc<ClientBinding> {
        Arc::new_cyclic(|me| {
            self.me = me.clone();
            self._listed = Some(forks::tell_of_heirs(me.clone()));
            self
        })
    }

    /// Itself, for whoever may outlive it.
    pub fn downgraded(&self) -> Weak<ClientBinding> {
        self.me.clone()
    }

    /// Takes A-stacks in and offers them. Only for the one thread that has the binding grow.
    pub fn add_extension(&self, region: Box<ClientRegion>) {
        let mut free = self.extensions.iter().filter(|extension| extension.get().is_none());
        let extension = free.next().expect("it was asked for because there is room");
        self.offer(extension.get_or_init(|| region));
    }

    fn offer(&self, region: &ClientRegion) {
        // The last one pushed is the first one used.
        for index in (region.base..region.base + region.region.count()).rev() {
            self.linkage(index).search_linger(self.policy.linger_cycles_max);
            self.release(index);
        }
    }

    /// A-stack `index`. Most are in the first region: one comparison; the others take a second
    /// look-up (L49).
    #[inline(always)]
    pub fn astack(&self, index: u32) -> AStack<'_, Linkage> {
        match self.first.region.astack(index) {
            Some(astack) => astack,
            None => self.astack_of_extension(index),
        }
    }

    #[cold]
    #[inline(never)]
    fn astack_of_extension(&self, index: u32) -> AStack<'_, Linkage> {
        let extensions = self.extensions.iter().filter_map(OnceLock::get);
        let extension = extensions
            .filter(|extension| extension.base <= index)
            .max_by_key(|extension| extension.base)
            .expect("an A-stack lies in a region");
        extension.region.astack(index - extension.base).expect("below the count")
    }

    #[inline(always)]
    pub fn grip(&self, index: u32) -> Grip<'_> {
        Grip { binding: self, astack: self.astack(index) }
    }

    fn linkage(&self, index: u32) -> &Linkage {
        self.astack(index).record()
    }

    /// What it began with, and what it has grown by.
    pub fn regions(&self) -> impl Iterator<Item = &ClientRegion> {
        let extensions = self.extensions.iter().filter_map(OnceLock::get);
        std::iter::once(&self.first).chain(extensions.map(Box::as_ref))
    }

    /// The list is empty: what is kept for a thread goes to whoever needs it.
    pub fn revoke_bias(&self, class: u32) {
        self.biases[class as usize].revoke(fence::heavy, |index| self.release(index));
    }

    /// Gives an A-stack back to its list.
    #[inline(never)]
    fn release(&self, index: u32) {
        let linkage = self.linkage(index);
        linkage.set_kept(0);
        let class = linkage.class();
        let waiting = self.lists.push(class, index);
        if waiting.threads {
            futex::wake_first_own(self.lists.wakes(class));
        }
        if waiting.tasks {
            self.claimants.told(self, class);
        }
    }

    /// What keeps A-stacks of class `class`, and the one that its n-th bit stands for: one that the
    /// call path in C makes a call on.
    pub fn nth_of_class(&self, class: usize, nth: u32) -> (&Bias, Grip<'_>) {
        let bias = &self.biases[class];
        (bias, self.grip(bias.first() + nth))
    }

    /// A bias has given an A-stack up to this thread, which does not take it.
    #[cold]
    #[inline(never)]
    pub fn give_up(&self, index: u32) {
        self.release(index);
    }

    /// The bias of an A-stack's class.
    #[inline(always)]
    pub fn bias(&self, linkage: &Linkage) -> &Bias {
        // The class is always below: written so that it needs no comparison.
        &self.biases[linkage.class() as usize % CLASSES_MAX]
    }

    /// Takes captured A-stacks back that the server has let go (L55).
    pub fn reap(&self) {
        // Relaxed: whoever captured one is ordered by the lock; a late look costs a late reap.
        if self.captured_count.load(Ordering::Relaxed) == 0 {
            return;
        }
        // One at a time: who waits for it may be woken, and runs anybody's code.
        while let Some(index) = self.reap_one() {
            self.disclaim_descriptors(index);
            self.release(index);
        }
    }

    fn reap_one(&self) -> Option<u32> {
        let mut captured = self.captured();
        let reaped = captured.reap(|index, sequence| {
            turn::is_idle(&self.astack(index.as_u32()).head().turn, sequence)
        });
        // Relaxed: as above.
        self.captured_count.store(captured.count(), Ordering::Relaxed);
        reaped.map(nearcall_core::AStackIndex::as_u32)
    }

    /// Whether the server holds A-stacks captured.
    pub fn has_captured(&self) -> bool {
        // Relaxed: as above.
        self.captured_count.load(Ordering::Relaxed) > 0
    }

    /// How many A-stacks there are, of all classes.
    pub fn astack_count(&self) -> u32 {
        self.regions().map(|region| region.region.count()).sum()
    }

    fn linkages_of_class(&self, class: u32) -> impl Iterator<Item = &Linkage> {
        let astacks = self.regions().flat_map(|region| region.region.astacks());
        astacks.map(AStack::record).filter(move |linkage| linkage.class() == class)
    }

    /// How many A-stacks there are of `class`.
    pub fn count_of_class(&self, class: u32) -> u32 {
        self.linkages_of_class(class).count() as u32
    }

    /// Whether this thread has a call outstanding on every A-stack of `class`, so that none comes
    /// free unless it collects one.
    fn are_all_outstanding_here(&self, class: u32) -> bool {
        let thread = switching::caller_number();
        self.linkages_of_class(class).all(|linkage| linkage.outstanding() == thread)
    }

    /// Whether a call that is outstanding waits to be taken, whichever thread has posted it: nobody
    /// rings for it before some thread collects it. A hint.
    pub fn has_unclaimed(&self) -> bool {
        let mut astacks = self.regions().flat_map(|region| region.region.astacks());
        astacks.any(|astack| {
            astack.record().outstanding() != NOBODY
                && turn::is_pending(&astack.head().turn)
                && !was_claimed(astack, astack.record().sequence())
        })
    }

    /// How many A-stacks the server holds captured.
    pub fn captured_count(&self) -> u32 {
        self.reap();
        // Relaxed: a figure for people.
        self.captured_count.load(Ordering::Relaxed)
    }

    fn captured(&self) -> MutexGuard<'_, Captured> {
        self.captured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rings again, for the n-th time, if nobody has claimed a captured call: nobody waits for it
    /// who would. False: there is none.
    pub fn look_after_captured(&self, times: u32) -> bool {
        let captured = self.captured();
        let is_unclaimed = |(index, sequence): (nearcall_core::AStackIndex, Sequence)| {
            let astack = self.astack(index.as_u32());
            turn::is_pending(&astack.head().turn) && !was_claimed(astack, sequence)
        };
        let has_unclaimed = self.state.is_open() && captured.calls().any(is_unclaimed);
        drop(captured);
        if has_unclaimed {
            self.ring_again(times);
        }
        has_unclaimed
    }

    /// Makes the binding unusable, and tells every thread that waits for a reply. Idempotent.
    pub fn revoke(&self, reason: RevokeReason) {
        if !self.state.revoke(reason) {
            return;
        }
        self.biases.iter().for_each(Bias::close);
        // First: what the server said it then said before any call was buried.
        self.control.hang_up();
        for astack in self.regions().flat_map(|region| region.region.astacks()) {
            let turn = &astack.head().turn;
            if turn::bury(turn, astack.record().sequence()) == Bury::WakeClient {
                futex::wake_all(turn);
            }
        }
        for class in 0..self.classes.len() as u32 {
            futex::wake_own(self.lists.wakes(class));
        }
        self.claimants.tell_all();
    }

    /// How long to spin for a reply of `procedure`, nanoseconds.
    pub fn spin_ns(&self, procedure: u32) -> u32 {
        // Relaxed: a hint about waiting.
        self.spins[procedure as usize].load(Ordering::Relaxed)
    }

    /// One came `waited_ns` after its post, of which `spin_ns` were to be spun.
    pub fn told_wait(&self, procedure: u32, spin_ns: u32, waited_ns: u64) {
        let adapted = self.policy.adapt(spin_ns, waited_ns);
        // Relaxed: as above.
        self.spins[procedure as usize].store(adapted, Ordering::Relaxed);
    }

    /// Name of a procedure, for errors.
    pub fn procedure_name(&self, procedure: u32) -> ProcedureName<'static> {
        self.interface.procedures[procedure as usize].told()
    }
}

impl InChild for ClientBinding {
    /// No thread of the child claims an A-stack as quickly as its owner does: what does not, asks
    /// whose the binding is. Nor does the child keep the binding's socket open: that hangs up when
    /// the parent ends, by which the server knows.
    fn in_child(&self) {
        self.control.socket().stream().leave_to_parent(&*self.process);
        self.state.disown();
        self.biases.iter().for_each(Bias::close);
    }
}

impl Keeper for ClientBinding {
    /// Who asks by the thread pointer would take the thread for the one that A-stacks are kept for,
    /// and who asks for its [`identity`] for another (design note 0026).
    fn disinherit(&self, thread_pointer: u64) {
        let classes = 0..self.classes.len() as u32;
        let is_kept = |class: &u32| self.biases[*class as usize].is_towards(thread_pointer);
        classes.filter(is_kept).for_each(|class| self.revoke_bias(class));
    }
}

impl Drop for ClientBinding {
    fn drop(&mut self) {
        if self.domain.core().is_forked() {
            return;
        }
        self.revoke(RevokeReason::Released);
        self.domain.core().housekeeping.forget_exporter(self);
    }
}

impl<'b> Held<'b> {
    /// From here on nothing gives it back by itself: a call is posted, and the A-stack is the
    /// server's. Once it is ours again, [`Grip::hold`].
    #[inline(always)]
    pub fn let_go(self) -> Grip<'b> {
        let grip = self.grip;
        std::mem::forget(self);
        grip
    }
}

impl<'b> Grip<'b> {
    /// The reply is there: the A-stack is this thread's again.
    #[inline(always)]
    pub fn hold(self) -> Held<'b> {
        Held { grip: self, stays: PhantomData }
    }

    /// The reply is there, and the thread that finds it may not be the one that has posted: what is
    /// kept for another thread is given back to the list.
    #[inline(always)]
    pub fn settle_here(self) {
        let linkage = self.linkage();
        linkage.set_outstanding(NOBODY);
        let is_ours = || self.binding.bias(linkage).may_keep(identity(), linkage.index);
        if linkage.kept() != 0 && !is_ours() {
            // The bias takes it for busy until it is kept again, as one that was captured.
            linkage.set_kept(0);
        }
    }

    /// Gives the A-stack back to whom it is kept for.
    ///
    /// # Errors: what it was kept by, for [`Grip::give_back_otherwise`].
    #[inline(always)]
    pub fn keep(self) -> Result<(), u64> {
        self.keep_by(self.binding.bias(self.linkage()))
    }

    /// The same by the bias of its class, for who knows that.
    #[inline(always)]
    pub fn keep_by(self, bias: &Bias) -> Result<(), u64> {
        let bit = self.linkage().kept();
        let is_kept = bit != 0 && bias.release(likely_identity(), bit);
        if is_kept { Ok(()) } else { Err(bit) }
    }

    /// Gives the A-stack back to its list, if it was not kept (`bit` is 0), or is no longer. Its
    /// linkage record says no more which: whoever revokes may have the A-stack by now. It stays
    /// kept for a thread that biases know by something else than most.
    #[cold]
    #[inline(never)]
    pub fn give_back_otherwise(self, bit: u64) {
        let linkage = self.linkage();
        let (bias, index) = (self.binding.bias(linkage), linkage.index);
        if bit != 0 && bias.is_towards(identity()) {
            return;
        }
        if bit == 0 || bias.settle(index) == Settled::Push {
            self.binding.release(index);
        }
    }

    /// The post found a word that the server must not have written.
    #[cold]
    #[inline(never)]
    pub fn lose_to_fault(self, procedure: u32, fault: PeerFault) -> Box<CallError> {
        Box::new(self.binding.fault(self.binding.procedure_name(procedure), fault))
    }

    /// What this domain notes of it.
    #[inline(always)]
    pub fn linkage(self) -> &'b Linkage {
        self.astack.record()
    }

    /// The server keeps the A-stack until it is done with call `sequence` (L55).
    #[cold]
    #[inline(never)]
    pub fn capture(self, sequence: Sequence) {
        let linkage = self.linkage();
        // The bias takes it for busy until it is kept again: see there.
        linkage.set_kept(0);
        let index = ClaimedIndex(linkage.index).check(u32::MAX).expect("below every limit");
        let mut captured = self.binding.captured();
        captured.add(index, sequence);
        // Relaxed: see `reap`.
        self.binding.captured_count.store(captured.count(), Ordering::Relaxed);
        drop(captured);
        self.binding.claimants.note_captured(self.binding, linkage.class());
        self.binding.domain.core().housekeeping.look_after_captured();
    }
}

/// One a class; those of classes that there are not stay unused.
fn biases(classes: &[AStackClass]) -> [Bias; CLASSES_MAX] {
    let mut first = 0;
    std::array::from_fn(|class| {
        let bias = Bias::new(first);
        first += classes.get(class).map_or(0, |class| class.count);
        bias
    })
}

fn spins(interface: &InterfaceDescriptor, policy: &WaitPolicy) -> Box<[AtomicU32]> {
    interface.procedures.iter().map(|_| AtomicU32::new(policy.spin_ns_max)).collect()
}

/// Whether the server has claimed call `sequence`. Judges a private copy of the claim word, which
/// is mapped read-only.
pub(crate) fn was_claimed(astack: AStack<'_, Linkage>, sequence: Sequence) -> bool {
    let copy = AtomicU32::new(astack.peer_line::<ReplyLine>().claim());
    claim::was_claimed(&copy, sequence)
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
        if let Err(bit) = self.grip.keep() {
            self.grip.give_back_otherwise(bit);
        }
    }
}
