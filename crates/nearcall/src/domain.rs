//! A domain: one process's part in Nearcall, with the threads that it needs.
//!
//! ```text
//! Domain ─┬─ housekeeping   one thread: binds, deaths, out-of-line segments; nothing of a call
//!         ├─ processors     threads that run calls; none until something is exported
//!         └─ table          the bindings that this domain serves
//! ```

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use std::{fmt, io};

use nearcall_core::{RevokeReason, WaitPolicy};
use nearcall_os::forks::{self, InChild, Listed};
use nearcall_os::{clock, peer};

use crate::audit::Audit;
use crate::client::bells::Bells;
use crate::housekeeping::Housekeeping;
use crate::server::introductions::Introductions;
use crate::server::processors::Processors;
use crate::server::quota::Quotas;
use crate::server::table::Table;
use crate::server::trust::{ClassName, Member, NoClass, TrustClasses};

/// One process's part in Nearcall. Cloning gives another handle on the same.
///
/// When the last handle, clerk and binding of a domain is gone, [`Domain::shut_down`] follows.
///
/// A child of fork(2) makes a domain of its own. It may drop its copies of what its parent has,
/// which its parent does not notice; whatever else it does with them is refused
/// ([`UsageError::Forked`](crate::UsageError::Forked)), or finds empty memory.
#[derive(Clone, Debug)]
pub struct Domain {
    life: Arc<Life>,
}

/// Knobs of a domain. The defaults are sane.
///
/// ```
/// let mut options = nearcall::DomainOptions::default();
/// options.processors_max = 8;
/// let domain = nearcall::Domain::with_options(options).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DomainOptions {
    /// How long to spin, yield and sleep, as a client and as a server.
    pub wait: WaitPolicy,
    /// Most threads that run calls, beside one for each processor that callers have called from
    /// while the server slept. One watches, one is ready to take over, the others are in
    /// procedures that wait or take long. With one, a procedure that waits keeps all others
    /// waiting. Of 16 or more, calls of one user may keep all but an eighth, and where others have
    /// bound its share; what it calls then waits for one of its own. Default 64.
    pub processors_max: u32,
    /// Most bindings that this domain serves at once. Of this and of the following, each of n users
    /// may hold 1/(n+1) of what is not the others', so that one alone has half. Default 20,000.
    pub bindings_max: u32,
    /// Most binds that are not complete. Default 256.
    pub handshakes_max: u32,
    /// Most A-stacks of importers. Default 4,194,304.
    pub astacks_max: u32,
    /// Most bytes of importers' segments that this domain maps. Default 64 GiB.
    pub mapped_bytes_max: u64,
    /// Most mappings that this domain has for importers: three a binding and three an extension,
    /// one a segment out of line or lent, two more each from 2 MiB on. Default `None`: what a
    /// process may have (`vm.max_map_count`, mostly 65,530) less a quarter, 16,384 at most.
    pub mappings_max: Option<u32>,
    /// Most descriptors that this domain has open for importers: two a binding, one a bind that is
    /// not complete, those of [`DomainOptions::descriptors_max`]. Default `None`: what the process
    /// may have (`ulimit -n`) less an eighth, 1,024 at most.
    pub open_descriptors_max: Option<u32>,
    /// Whether this domain, when it exports something, raises how many descriptors its
    /// process may have (the soft limit) to what the system lets it (the hard one). Programs that
    /// it starts afterwards inherit that. Default true; false for a program that still calls
    /// `select`, which knows descriptors below 1,024 only.
    pub raises_descriptor_limit: bool,
    /// Most bytes of its own that this domain holds for importers: A-stacks, results out of line,
    /// batches that came out of line until an [`Inlet`](crate::Inlet) has given them away. Default
    /// 8 GiB.
    pub own_bytes_max: u64,
    /// Most descriptors that came with calls and that no procedure has taken yet. Default 1,024.
    pub descriptors_max: u32,
    /// How long an introduction waits for whoever is to import from it; until then it is one of the
    /// binds that are not complete, of its giver's user. Default 10 s.
    pub introduction_timeout: Duration,
    /// Most E-stacks of a server processor: procedures that wait on it at once. Calls beyond that
    /// wait for one. At least 1. Default 4,096.
    #[cfg(feature = "threads")]
    pub estacks_max: u32,
    /// Bytes of an E-stack, in address space; memory is taken as it is touched. Nested arguments
    /// for which it may not be enough are refused. Default 192 KiB.
    #[cfg(feature = "threads")]
    pub estack_bytes: usize,
    /// Other processes of this one's user may look into it. Default true; false holds for the whole
    /// process, and is what makes a user's processes safe from each other: but from those that have
    /// looked, or attached themselves, before the domain was made (`SECURITY.md`).
    pub is_dumpable: bool,
}

#[derive(Debug)]
struct Life {
    core: Arc<DomainCore>,
    /// Has it told when it is the copy of a child.
    _listed: Listed,
}

/// What the threads of a domain share.
#[derive(Debug)]
pub(crate) struct DomainCore {
    pub options: DomainOptions,
    pub housekeeping: Housekeeping,
    pub processors: Processors,
    pub table: Table,
    /// Of the servers that this domain calls.
    pub bells: Bells,
    /// That this domain's clients have asked for.
    pub introductions: Introductions,
    pub quotas: Arc<Quotas>,
    pub audit: Arc<Audit>,
    trust: TrustClasses,
    numbers: AtomicU64,
    is_ending: AtomicBool,
    is_stopping: AtomicBool,
    /// What a thread of it has panicked with, so that it has ended.
    broken: OnceLock<String>,
    /// Of the process that has made it.
    pub process_id: u32,
}

impl Default for DomainOptions {
    fn default() -> DomainOptions {
        DomainOptions {
            wait: WaitPolicy::default(),
            processors_max: 64,
            bindings_max: 20_000,
            handshakes_max: 256,
            astacks_max: 1 << 22,
            mapped_bytes_max: 64 << 30,
            mappings_max: None,
            open_descriptors_max: None,
            raises_descriptor_limit: true,
            own_bytes_max: 8 << 30,
            descriptors_max: 1024,
            introduction_timeout: Duration::from_secs(10),
            #[cfg(feature = "threads")]
            estacks_max: 4096,
            #[cfg(feature = "threads")]
            estack_bytes: 192 << 10,
            is_dumpable: true,
        }
    }
}

impl Domain {
    /// This process's part, with the usual options. Starts one thread, which sleeps.
    ///
    /// # Errors: the system refuses the thread, or a descriptor: which, the error says; its source
    /// is the system's own.
    pub fn new() -> io::Result<Domain> {
        Domain::with_options(DomainOptions::default())
    }

    /// The same with knobs.
    pub fn with_options(options: DomainOptions) -> io::Result<Domain> {
        if !options.is_dumpable {
            peer::forbid_dumps().map_err(system("forbid that others look into this process"))?;
        }
        let core = Arc::new(DomainCore::new(options)?);
        Housekeeping::start(&core)?;
        Ok(Domain::of(core))
    }

    /// One whose house `keep` keeps.
    #[cfg(test)]
    pub(crate) fn kept_by(
        keep: impl FnOnce(&Arc<DomainCore>) + Send + 'static,
    ) -> io::Result<Domain> {
        let core = Arc::new(DomainCore::new(DomainOptions::default())?);
        Housekeeping::start_as(&core, keep)?;
        Ok(Domain::of(core))
    }

    fn of(core: Arc<DomainCore>) -> Domain {
        let whom: Weak<DomainCore> = Arc::downgrade(&core);
        let _listed = forks::tell(whom);
        Domain { life: Arc::new(Life { core, _listed }) }
    }

    /// Ends the domain's part in an orderly way, and waits for it: calls that were not taken are
    /// refused, calls that run are finished and their results arrive, the threads end. Idempotent.
    /// For a server whose procedures hold a handle on their own domain, and before `exit`.
    ///
    /// A procedure that takes long keeps the end waiting as long, unless it asks
    /// [`CurrentCall::is_ending`](crate::CurrentCall::is_ending), and returns early. One that is
    /// awaited is dropped at what it waits for, unless that is
    /// [`CurrentCall::ending`](crate::CurrentCall::ending), after which it may return: each that
    /// was woken by then, for whatever reason, is polled once more, and the end waits for that.
    ///
    /// Called from a procedure, of this domain or another one of the process, it does not wait: the
    /// last procedure of this one that is finished ends what is left of it.
    pub fn shut_down(&self) {
        self.core().shut_down();
    }

    /// Why the domain has ended by itself, in words; `None`: it has not.
    ///
    /// One of its threads has panicked, as for a broken invariant, and not in a procedure or in
    /// whatever else is the program's. Then everybody that it served is hung up on, nobody is let
    /// in, its own bindings are revoked where the thread is the one that keeps house, and whatever
    /// begins in it is refused with these words. [`Domain::shut_down`] waits for no such thread.
    pub fn failure(&self) -> Option<&str> {
        self.core().broken.get().map(String::as_str)
    }

    pub(crate) fn core(&self) -> &Arc<DomainCore> {
        &self.life.core
    }
}

/// What the system has refused to a domain that is made, and its word.
#[derive(Debug)]
struct Refused {
    doing: &'static str,
    reason: io::Error,
}

/// An error of the same kind, which says what was refused.
pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> io::Error {
    move |reason| io::Error::new(reason.kind(), Refused { doing, reason })
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refused { doing, reason } = self;
        write!(f, "{doing}: {reason}")
    }
}

impl std::error::Error for Refused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.reason)
    }
}

impl DomainCore {
    fn new(options: DomainOptions) -> io::Result<DomainCore> {
        Ok(DomainCore {
            quotas: Arc::new(Quotas::new(&options)),
            audit: Arc::default(),
            housekeeping: Housekeeping::new()?,
            processors: Processors::new(options.processors_max),
            options,
            table: Table::default(),
            bells: Bells::default(),
            introductions: Introductions::default(),
            trust: TrustClasses::default(),
            numbers: AtomicU64::new(1),
            is_ending: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
            broken: OnceLock::new(),
            process_id: std::process::id(),
        })
    }

    /// As a child has it that was forked: here of no process's.
    #[cfg(test)]
    pub fn forked() -> Arc<DomainCore> {
        let mut core = DomainCore::new(DomainOptions::default()).unwrap();
        core.process_id = 0;
        core.in_child();
        Arc::new(core)
    }

    /// A number that this domain has not used before; not 0.
    pub fn next_number(&self) -> u64 {
        // Relaxed: all that matters is that no two are alike.
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Its end has begun, or it has broken off: whoever is bound is told so, and who binds still.
    pub fn is_ending(&self) -> bool {
        // SeqCst: a bind that completes meanwhile either sees it, or is seen in the table.
        self.is_ending.load(Ordering::SeqCst)
    }

    /// One of its threads has panicked.
    pub fn has_broken_off(&self) -> bool {
        self.broken.get().is_some()
    }

    /// Whether nobody is left here who tells procedures of anything: the thread that keeps house
    /// has ended, is another process's, or may have. It lives until the last processor has ended.
    pub fn tells_nobody(&self) -> bool {
        self.is_forked() || self.has_broken_off() || self.housekeeping.has_ended()
    }

    /// Its threads are to end.
    pub fn is_stopping(&self) -> bool {
        // Relaxed: a thread that sees it late stops late; rings follow the store.
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// This process is a child that was forked. It has a copy of what its parent has made, and
    /// neither its threads nor its segments: to drop the copy ends nothing, and tells nobody.
    pub fn is_forked(&self) -> bool {
        std::process::id() != self.process_id
    }

    /// The same for who comes back from what is the application's, and is to end: what of the
    /// domain's is not an [`OwnLock`](nearcall_os::forks::OwnLock) may be locked for good.
    ///
    /// # Cost: one load, in no child.
    #[inline]
    pub fn has_come_back_forked(&self) -> bool {
        self.is_stopping() && self.is_forked()
    }

    fn shut_down(&self) {
        if self.is_forked() {
            return;
        }
        // SeqCst: as above. Before all else: bindings that were revoked for another reason say by
        // it that their server ends.
        self.is_ending.store(true, Ordering::SeqCst);
        // Before the threads are to end: the watcher goes on with what this has woken.
        self.revoke_served();
        // Release: who sees it finds what was woken (`Watch::go_on_once_more`).
        self.is_stopping.store(true, Ordering::Release);
        if self.processors.stop(self) {
            self.housekeeping.stop();
        }
    }

    /// Whoever is bound is told so, as soon as nothing of it runs; procedures are told at once.
    pub fn revoke_served(&self) {
        for binding in self.table.load().bindings() {
            binding.revoke(RevokeReason::ShutDown);
        }
        self.housekeeping.tell_of_ending();
    }

    /// An invariant does not hold, and a thread has panicked with this: hangs up on everybody that
    /// is served, and lets nobody in.
    pub fn break_off(&self, thread: &str, panic: &(dyn Any + Send)) {
        let said = panic.downcast_ref::<&'static str>().copied();
        let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let why = format!("{thread} has panicked: {}", said.unwrap_or("not in words"));
        let why = self.broken.get_or_init(|| why);
        // SeqCst: see `is_ending`.
        self.is_ending.store(true, Ordering::SeqCst);
        // Relaxed: see `is_stopping`.
        self.is_stopping.store(true, Ordering::Relaxed);
        for binding in self.table.load().bindings() {
            binding.revoke(RevokeReason::ShutDown);
            binding.socket.hang_up();
        }
        self.housekeeping.tell_of_ending();
        self.processors.announce();
        // Last: what writes it down is anybody's code.
        tracing::error!(why, "a domain ends");
    }

    /// Refuses to begin anything in a domain that was shut down, or is a parent's.
    pub fn check_open(&self) -> io::Result<()> {
        if self.is_forked() {
            let (own, parent) = (std::process::id(), self.process_id);
            let reason = format!("process {own} was forked from {parent}, whose domain it is");
            return Err(io::Error::other(reason));
        }
        match (self.broken.get(), self.is_stopping()) {
            (Some(why), _) => Err(io::Error::other(format!("the domain has ended: {why}"))),
            (None, true) => Err(io::Error::other("the domain was shut down")),
            (None, false) => Ok(()),
        }
    }

    /// A new member of the trust class of this name.
    pub fn join_class(&self, name: ClassName) -> Result<Member, NoClass> {
        self.trust.join(name, &self.quotas, |classes| {
            // The watching processor waits on the gates it knows: it is to know this one too.
            let before = self.table.set_classes(classes);
            self.processors.announce();
            before
        })
    }

    /// Lets go of the classes that nobody is in any more. How long until one that is kept, because
    /// its user owes time, is not.
    pub fn end_empty_classes(&self) -> Option<Duration> {
        let tell = |classes| self.table.set_classes(classes);
        self.trust.end_empty(clock::now_ns(), tell).map(Duration::from_nanos)
    }
}

impl InChild for DomainCore {
    /// A server processor that forks in a procedure ends with the procedure in the child, where no
    /// call is for it.
    fn in_child(&self) {
        // Relaxed: the child has one thread.
        self.is_stopping.store(true, Ordering::Relaxed);
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.core.shut_down();
    }
}
