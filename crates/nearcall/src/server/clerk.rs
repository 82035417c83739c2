//! Clerks: what exports an interface under a name and decides who may bind (L7, L10, L11).

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use nearcall_abi::{AStackClass, InterfaceDescriptor};
use nearcall_core::RevokeReason;
use nearcall_os::clock;
use nearcall_os::forks::{self, InChild, Listed};
use nearcall_os::peer;
use nearcall_os::segment::{Sealing, Segment, SegmentError};
use nearcall_os::socket::{Listener, Stream};

use super::binding::ServerBinding;
#[cfg(feature = "threads")]
use super::estacks::OnEStacks;
use super::exported::{Exported, SharedEntries};
use super::importer::Importer;
use super::limits::Limits;
use super::named_socket::{self, NamedSocket};
use super::quota;
use super::rules::{Decision, Rules, permitted};
use super::surroundings::Surroundings;
use crate::audit::no_rule;
use crate::domain::{Domain, DomainCore, DomainOptions};
use crate::error::ExportError;
use crate::name::{self, Scope};
use crate::raw::Entries;
use crate::region::RegionBytes;

/// An exported interface. Dropping it withdraws the name and revokes its bindings; calls that run
/// are finished, and may ask whether that was so ([`CurrentCall::is_ending`]).
///
/// [`CurrentCall::is_ending`]: crate::CurrentCall::is_ending
#[derive(Debug)]
pub struct Clerk {
    core: Arc<ClerkCore>,
    token: u64,
    domain: Domain,
    /// Has what is exported told when it is the copy of a child.
    _listed: (Arc<Copied>, Listed),
}

/// How an interface is exported.
///
/// ```
/// let mut options = nearcall::ExportOptions::default();
/// options.policy = nearcall::Policy::Anyone;
/// // Clerk::export_with(&domain, "files", FilesEntries::new(disk), options)?
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ExportOptions {
    /// Where the name goes; `None`: the user scope, or for root without one the system scope.
    pub scope: Option<Scope>,
    /// Who may bind; by default processes of this domain's own user, in the system scope nobody.
    pub policy: Policy,
    /// Procedures that wait, for a nested call, a FastThreads' lock or a time, let their processor
    /// take other calls meanwhile: each runs as a FastThread (`nearcall-threads`), but for those
    /// marked `@leaf`. Has no effect on a server that is `async`, nor on any procedure of an
    /// interface with an exchange, whose entry stubs are awaited, too. Default false.
    #[cfg(feature = "threads")]
    pub runs_on_estacks: bool,
    /// What procedures that are awaited are polled in, a runtime that their timers, sockets and
    /// tasks need, for one. No other procedures are. Default nothing.
    pub surroundings: Surroundings,
}

/// Who may bind.
#[derive(Default)]
pub enum Policy {
    /// In the system scope nobody, elsewhere as [`Policy::OwnerOnly`].
    #[default]
    OfScope,
    /// Processes whose uid is this domain's.
    OwnerOnly,
    /// Whoever may open the socket.
    Anyone,
    /// Whom these rules admit.
    Rules(Rules),
    /// Asked for every import by the name (of whoever is introduced, its giver was asked about), on
    /// the housekeeping thread: it must not block, and not call. And for
    /// every binding there is once it takes the place of another policy ([`Clerk::set_policy`]).
    Ask(Box<dyn Fn(&Importer) -> Admission + Send + Sync>),
}

/// What a policy says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Bind it. That authorises every procedure of the interface (L7).
    Admit,
    /// Bind it, and let it call the procedures of these names.
    AdmitOnly(Vec<String>),
    /// Refuse it, for this reason, which the importer is told.
    Refuse(String),
}

/// What housekeeping knows of a clerk.
pub(crate) struct ClerkCore {
    pub name: String,
    pub entries: SharedEntries,
    /// Later exports have larger numbers (L53: a binding never reaches another life).
    pub incarnation: u64,
    policy: Mutex<InForce>,
    is_of_system: bool,
    socket: NamedSocket,
    is_withdrawn: AtomicBool,
    /// The segment for the next importer, if it is made already.
    replies: Mutex<Option<Replies>>,
}

/// What a child of fork(2) has of an export.
#[derive(Debug)]
struct Copied {
    clerk: Arc<ClerkCore>,
    domain: Arc<DomainCore>,
}

/// The policy, and how many there were before it.
#[derive(Clone)]
struct InForce {
    policy: Arc<Policy>,
    edition: u64,
}

/// A segment for replies that no importer has yet, and what the importer is sent of it.
pub(crate) struct Replies {
    pub segment: Segment,
    pub descriptor: OwnedFd,
}

impl Clerk {
    /// Exports an interface under `name` (L10).
    ///
    /// The socket file of a dead server is replaced. If the process was started by somebody who
    /// listens on that file and has handed the socket down (systemd's socket activation, with a
    /// `ListenSequentialPacket=` of the name's path), it is taken over, and file and permissions
    /// stay as they are: whoever has called meanwhile is served, and who calls when this process
    /// has ended has it started again.
    ///
    /// # Errors: see [`ExportError`]; a name that a living domain exports is refused with its pid,
    /// and so is a domain whose options leave no room for a binding.
    pub fn export(
        domain: &Domain,
        name: &str,
        entries: impl Entries,
    ) -> Result<Clerk, ExportError> {
        Clerk::export_with(domain, name, entries, ExportOptions::default())
    }

    /// The same with a scope, a policy, or what else the options say.
    pub fn export_with(
        domain: &Domain,
        name: &str,
        entries: impl Entries,
        options: ExportOptions,
    ) -> Result<Clerk, ExportError> {
        let shared = domain.core();
        let entries = boxed_entries(shared, entries, &options);
        let entries = entries.map_err(system("make E-stacks"))?;
        let entries = Arc::new(Exported { entries, surroundings: options.surroundings });
        let scope = match options.scope {
            Some(scope) => scope,
            None => name::default_scope().map_err(ExportError::Name)?,
        };
        let path = name::socket_path(&scope, name).map_err(ExportError::Name)?;
        domain.core().check_open().map_err(system("export"))?;
        options.policy.check(&**entries)?;
        check_room(&shared.options, entries.interface())?;
        let is_of_system = scope == Scope::System;
        let socket = named_socket::claim(name, &scope, path, options.policy.socket_mode())?;
        let core = Arc::new(ClerkCore {
            name: name.to_owned(),
            entries,
            incarnation: clock::now_ns(),
            policy: Mutex::new(InForce { policy: Arc::new(options.policy), edition: 0 }),
            is_of_system,
            socket,
            is_withdrawn: AtomicBool::new(false),
            replies: Mutex::default(),
        });
        shared.quotas.ask_system(&shared.options);
        Clerk::watched(domain, core)
    }

    /// Of whom importers are let in from here on; if not, nobody finds its socket's file.
    fn watched(domain: &Domain, core: Arc<ClerkCore>) -> Result<Clerk, ExportError> {
        let token = watch(domain.core(), &core).inspect_err(|_| core.socket.withdraw())?;
        let shared = Arc::clone(domain.core());
        let copied = Arc::new(Copied { clerk: Arc::clone(&core), domain: shared });
        let whom: Weak<Copied> = Arc::downgrade(&copied);
        let _listed = (copied, forks::tell(whom));
        let clerk = Clerk { core, token, domain: domain.clone(), _listed };
        // Who ends the domain turns away at whatever is watched by then.
        domain.core().check_open().map_err(system("export"))?;
        Ok(clerk)
    }

    /// The name it exports.
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Which life of the name it is, as its clients are told: see [`Binding::incarnation`].
    ///
    /// [`Binding::incarnation`]: crate::Binding::incarnation
    ///
    /// ```
    /// # fn note(clerk: &nearcall::Clerk) {
    /// println!("{} is in its life {}", clerk.name(), clerk.incarnation());
    /// # }
    /// ```
    pub fn incarnation(&self) -> u64 {
        self.core.incarnation
    }

    /// The socket file that stands for the name.
    pub fn path(&self) -> &Path {
        &self.core.socket.path
    }

    /// Has another policy decide who may bind, and call what, from here on.
    ///
    /// A binding of whom it says something else than what the binding was made by is revoked, in
    /// order: calls that run are finished and their results arrive, others were not executed. Its
    /// client may bind again, and has then what the policy says (L47). Priorities and limits of
    /// bindings that stay are those they were made with. A policy that panics refuses.
    ///
    /// Returns how many bindings it has revoked.
    ///
    /// # Errors: [`ExportError::Policy`] for a rule that is none for this interface, and
    /// [`ExportError::System`] if the permissions of the socket's file cannot be changed; then the
    /// policy before it stays.
    ///
    /// # Cost: each importer is judged once more, on the calling thread.
    pub fn set_policy(&self, policy: Policy) -> Result<usize, ExportError> {
        policy.check(&**self.core.entries)?;
        self.core.replace_policy(policy)?;
        let snapshot = self.domain.core().table.load();
        let bindings = snapshot.bindings().filter(|binding| self.is_of(binding));
        Ok(bindings.filter(|binding| self.core.judge_again(binding)).count())
    }

    /// How many bindings there are to it now.
    pub fn binding_count(&self) -> usize {
        let snapshot = self.domain.core().table.load();
        snapshot.bindings().filter(|binding| self.is_of(binding)).count()
    }

    pub(crate) fn domain(&self) -> &Domain {
        &self.domain
    }

    pub(crate) fn core(&self) -> &Arc<ClerkCore> {
        &self.core
    }

    fn is_of(&self, binding: &ServerBinding) -> bool {
        Arc::ptr_eq(&binding.entries, &self.core.entries)
    }
}

/// Has a clerk's importers be noticed, and their calls run; the token that it is watched by.
fn watch(shared: &Arc<DomainCore>, core: &Arc<ClerkCore>) -> Result<u64, ExportError> {
    shared.processors.start(shared).map_err(system("start server processors"))?;
    let watched = shared.housekeeping.watch_clerk(shared, core);
    watched.map_err(system("watch the clerk's socket"))
}

/// What the system has refused.
fn system(doing: &str) -> impl FnOnce(io::Error) -> ExportError {
    let doing = doing.to_owned();
    move |reason| ExportError::System { doing, reason }
}

impl Drop for Clerk {
    fn drop(&mut self) {
        if self.domain.core().is_forked() {
            return;
        }
        // SeqCst: a bind that completes meanwhile either sees it, or is seen in the table below.
        self.core.is_withdrawn.store(true, Ordering::SeqCst);
        self.core.socket.withdraw();
        let core = self.domain.core();
        core.housekeeping.forget_clerk(self.token);
        for binding in core.table.load().bindings().filter(|binding| self.is_of(binding)) {
            binding.revoke(RevokeReason::ShutDown);
        }
        core.housekeeping.tell_of_ending();
    }
}

impl InChild for Copied {
    /// Who is to export the name when the parent has ended, and who imports it, would find that
    /// somebody listens there.
    fn in_child(&self) {
        self.clerk.listener().leave_to_parent(self.domain.housekeeping.poller());
    }
}

impl ClerkCore {
    pub fn listener(&self) -> &Listener {
        &self.socket.listener
    }

    /// The clerk is gone.
    pub fn is_withdrawn(&self) -> bool {
        // SeqCst: see `Clerk::drop`.
        self.is_withdrawn.load(Ordering::SeqCst)
    }

    /// Nobody is let in any more: whoever waits is hung up on.
    pub fn turn_away(&self) {
        // SeqCst: see `Clerk::drop`.
        self.is_withdrawn.store(true, Ordering::SeqCst);
        self.socket.withdraw();
        self.listener().turn_away();
    }

    /// A segment for the replies to one importer, new or as new.
    pub fn replies(&self) -> Result<Replies, SegmentError> {
        let ready = self.ready_replies().take();
        ready.map_or_else(|| Replies::new(self.entries.interface().classes), Ok)
    }

    /// Makes the segment for the next importer: nobody waits for it now.
    pub fn make_ready(&self) {
        let mut ready = self.ready_replies();
        if ready.is_none() {
            // Without memory there is none: the next importer tries again.
            *ready = Replies::new(self.entries.interface().classes).ok();
        }
    }

    fn ready_replies(&self) -> MutexGuard<'_, Option<Replies>> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the policy allows an importer that has just connected. Whom it is, is asked only if
    /// that makes a difference: whoever has too many binds under way is to be refused soon.
    pub fn limits_of_handshakes(&self, stream: &Stream) -> Limits {
        match &*self.in_force().policy {
            Policy::Rules(rules) if rules.limit_handshakes() => {
                // One that has gone meanwhile is found out by the next look at its socket.
                let importer = Importer::of(stream).ok();
                importer.map(|importer| self.decide(&importer).limits).unwrap_or_default()
            }
            _ => Limits::default(),
        }
    }

    fn in_force(&self) -> InForce {
        self.policy.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace_policy(&self, policy: Policy) -> Result<(), ExportError> {
        let mut in_force = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock: of two at once the same one decides both.
        self.socket.set_mode(policy.socket_mode())?;
        *in_force = InForce { policy: Arc::new(policy), edition: in_force.edition + 1 };
        Ok(())
    }

    /// Which policy is in force: a bind that was decided by another one is to be judged again once
    /// it is in the table.
    pub fn edition(&self) -> u64 {
        self.in_force().edition
    }

    /// Revokes a binding that the policy would not make now, or not so. Whether it did.
    pub fn judge_again(&self, binding: &ServerBinding) -> bool {
        let is_same = self.decide(binding.admitted()).verdict.as_ref() == Ok(binding.permitted());
        !is_same && binding.revoke(RevokeReason::OtherPolicy)
    }

    /// Asks the policy.
    pub fn decide(&self, importer: &Importer) -> Decision {
        let interface = self.entries.interface();
        match &*self.in_force().policy {
            Policy::Anyone => Decision::of(no_rule::ANYONE, Ok(None)),
            Policy::Rules(rules) => rules.judge(importer, interface),
            Policy::Ask(ask) => Decision::of(
                no_rule::ASKED,
                // The thread that keeps house asks, whom all other importers wait for.
                match catch_unwind(AssertUnwindSafe(|| ask(importer))) {
                    Ok(Admission::Admit) => Ok(None),
                    Ok(Admission::AdmitOnly(names)) => Ok(Some(permitted(interface, &names))),
                    Ok(Admission::Refuse(reason)) => Err(reason),
                    Err(_) => Err("the policy has panicked".to_owned()),
                },
            ),
            Policy::OfScope if self.is_of_system => {
                let reason = "in the system scope nobody may bind until the export says who, by \
                              a policy; names of one user's own need XDG_RUNTIME_DIR on both sides";
                Decision::of(no_rule::DEFAULT, Err(reason.to_owned()))
            }
            Policy::OfScope | Policy::OwnerOnly => judge_owner(importer),
        }
    }
}

fn judge_owner(importer: &Importer) -> Decision {
    let own = "only the server's own user may bind";
    let verdict = match importer.uid() {
        Some(uid) if uid == peer::effective_uid() => Ok(None),
        Some(_) => Err(own.to_owned()),
        None => Err(format!("{own}, and the system does not tell who this is: 65534 is nobody's")),
    };
    Decision::of(no_rule::OWNER, verdict)
}

impl Replies {
    fn new(classes: &[AStackClass]) -> Result<Replies, SegmentError> {
        let bytes = RegionBytes::of(classes).expect("the compiler made a class list").blocks;
        let made = Segment::create("nearcall-replies", bytes, Sealing::SingleWriter);
        made.map(|(segment, descriptor)| Replies { segment, descriptor })
    }
}

impl Policy {
    fn check(&self, entries: &dyn Entries) -> Result<(), ExportError> {
        match self {
            Policy::Rules(rules) => rules.check(entries.interface()).map_err(ExportError::Policy),
            _ => Ok(()),
        }
    }

    /// Of the socket's file: where only the owner may bind, nobody else can connect.
    fn socket_mode(&self) -> u32 {
        if matches!(self, Policy::OfScope | Policy::OwnerOnly) { 0o600 } else { 0o666 }
    }
}

/// Whether the domain's options let anybody bind at all.
fn check_room(
    options: &DomainOptions,
    interface: &'static InterfaceDescriptor,
) -> Result<(), ExportError> {
    let Some((what, limit, needed)) = quota::too_little_for(options, interface) else {
        return Ok(());
    };
    let (what, interface) = (what.to_string(), interface.name);
    Err(ExportError::NoRoom { what, limit, needed, interface })
}

/// Entries as processors have them, on E-stacks if the options say so.
fn boxed_entries(
    core: &DomainCore,
    entries: impl Entries,
    options: &ExportOptions,
) -> io::Result<Box<dyn Entries>> {
    #[cfg(feature = "threads")]
    if options.runs_on_estacks {
        core.processors.estacks.prepare(&core.options, entries.estack_bytes_min())?;
        return Ok(Box::new(OnEStacks(entries)));
    }
    #[cfg(not(feature = "threads"))]
    let _ = (core, options);
    Ok(Box::new(entries))
}

impl fmt::Debug for ClerkCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clerk").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Policy::OfScope => "OfScope",
            Policy::OwnerOnly => "OwnerOnly",
            Policy::Rules(_) => "Rules",
            Policy::Anyone => "Anyone",
            Policy::Ask(_) => "Ask",
        })
    }
}

#[cfg(test)]
mod tests {
    use nearcall_os::socket::Stream;

    use super::*;
    use crate::testing::{Null, null_interface};

    static INTERFACE: InterfaceDescriptor =
        null_interface(&[AStackClass { block_bytes: 64, count: 1 }]);

    #[test]
    fn an_export_whose_socket_cannot_be_watched_leaves_no_file() {
        let directory = std::env::temp_dir().join(format!("nearcall-watch-{}", std::process::id()));
        let scope = Some(Scope::Directory(directory.clone()));
        let options = ExportOptions { scope, ..ExportOptions::default() };
        let domain = Domain::new().unwrap();
        let clerk = Clerk::export_with(&domain, "watch", Null(&INTERFACE), options).unwrap();
        assert!(clerk.path().exists());
        // The system refuses to watch it twice.
        let refused = Clerk::watched(&domain, Arc::clone(&clerk.core)).unwrap_err().to_string();
        assert!(refused.starts_with("watch the clerk's socket: "), "{refused}");
        assert!(!clerk.path().exists());
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn whom_the_system_does_not_tell_is_no_owner_and_learns_why() {
        let (here, _there) = Stream::pair().unwrap();
        let mut importer = Importer::of(&here).unwrap();
        assert_eq!(judge_owner(&importer).verdict, Ok(None));
        importer.forget_identity();
        let refusal = judge_owner(&importer).verdict.unwrap_err();
        assert!(refusal.contains("65534"), "{refusal}");
    }
}
