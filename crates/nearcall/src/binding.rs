//! Bindings, as their clients hold them.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use nearcall_abi::InterfaceDescriptor;
use nearcall_core::WaitPolicy;

use crate::client::binding::ClientBinding;
use crate::client::import;
use crate::domain::Domain;
use crate::error::BindError;
use crate::name::Scope;
use crate::server::clerk::Clerk;

/// The client's key to an interface in another domain (L18). Cloning gives another handle on the
/// same binding; any number of threads may call through it at once.
///
/// When the last handle is gone the server gives its half up too.
///
/// It cannot be forged: what it consists of is private, and nothing makes one but an import.
///
/// ```
/// fn copied(binding: &nearcall::Binding) -> nearcall::Binding {
///     nearcall::Binding::clone(binding)
/// }
/// ```
///
/// ```compile_fail,E0451
/// fn forged() -> nearcall::Binding {
///     nearcall::Binding { inner: todo!() }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Binding {
    inner: Arc<ClientBinding>,
}

/// How an interface is imported.
///
/// ```
/// use std::time::Duration;
///
/// let mut options = nearcall::ImportOptions::default();
/// options.timeout = Duration::from_millis(500);
/// options.ready_timeout = Duration::from_secs(10);
/// options.rebind = nearcall::Rebind::WaitForReady(Duration::from_secs(5));
/// // FilesClient::import_with(&domain, "files", options)?
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImportOptions {
    /// Where the name is looked up, in order; `None`: the user scope, then the system scope.
    pub scopes: Option<Vec<Scope>>,
    /// Longest wait for the server's half of the bind. Default 5 s.
    pub timeout: Duration,
    /// Longest wait until somebody exports the name, and has room for a binding. Default 0: an
    /// import fails at once. Of no introduction.
    ///
    /// # Cost: a try after 1 ms, then ever more seldom, every 20 ms in the end; each makes and
    /// drops memory for the interface's A-stacks.
    pub ready_timeout: Duration,
    /// A pidfd of the process that is to export the name, or to have it exported: once that has
    /// ended nobody is waited for any more, and the import is [`BindError::ProcessEnded`]. Whose
    /// export it then is that is bound to is not looked at. Of an import that waits
    /// ([`Self::ready_timeout`]; without that nothing is), not of a rebind: the next life of a
    /// server is another process. Of no introduction.
    ///
    /// ```text
    /// let child = Command::new("files-server").spawn()?;
    /// let pidfd = rustix::process::pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    /// options.ready_pidfd = Some(Arc::new(pidfd));
    /// ```
    ///
    /// # Cost: none while it lives but two system calls: it is the same sleep that its end ends.
    pub ready_pidfd: Option<Arc<OwnedFd>>,
    /// What a call does that finds no free A-stack of its class. Default: wait for one.
    pub when_exhausted: WhenExhausted,
    /// How long to spin, yield and sleep; `None`: as the domain does.
    pub wait: Option<WaitPolicy>,
    /// What [`Binding::rebind`] does while nobody exports the name. Default: fail.
    pub rebind: Rebind,
}

/// What a rebind does while nobody exports the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rebind {
    /// Fails at once.
    #[default]
    FailFast,
    /// Waits until somebody does, at most so long.
    WaitForReady(Duration),
}

/// What a call does that finds no free A-stack of its class (L49).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenExhausted {
    /// Waits until a call returns.
    #[default]
    Wait,
    /// Has the server add A-stacks, up to 15 times; after that it waits.
    Grow,
}

impl Default for ImportOptions {
    fn default() -> ImportOptions {
        ImportOptions {
            scopes: None,
            timeout: Duration::from_secs(5),
            ready_timeout: Duration::ZERO,
            ready_pidfd: None,
            when_exhausted: WhenExhausted::default(),
            wait: None,
            rebind: Rebind::default(),
        }
    }
}

impl Binding {
    /// Binds to the interface that a domain exports under `name` (L11), or to another version of
    /// it, if one of the two only adds operations at the end of the other: calls of those are
    /// `NotExecuted` then. `nearcall diff` tells before.
    ///
    /// # Errors: see [`BindError`]; nothing is left behind. [`BindError::NotReady`] if nobody has
    /// exported the name within [`ImportOptions::ready_timeout`], which is 0 unless that is said;
    /// [`BindError::ProcessEnded`] if the process that was to do it ended before
    /// ([`ImportOptions::ready_pidfd`]).
    ///
    /// # Cost: about 0.2 ms, for another version twice that, and memory for the interface's
    /// A-stacks on both sides.
    pub fn import(
        domain: &Domain,
        name: &str,
        interface: &'static InterfaceDescriptor,
    ) -> Result<Binding, BindError> {
        Binding::import_with(domain, name, interface, ImportOptions::default())
    }

    /// The same with knobs.
    pub fn import_with(
        domain: &Domain,
        name: &str,
        interface: &'static InterfaceDescriptor,
        options: ImportOptions,
    ) -> Result<Binding, BindError> {
        import::import_ready(domain, name, interface, &options).map(|inner| Binding { inner })
    }

    /// Binds to what somebody else is bound to, who has sent this
    /// [introduction](Self::introduce). The binding is one of its own, with what the giver may call
    /// and no more; the giver may end. It is for the server's own version of the interface.
    ///
    /// # Errors: see [`BindError`]; nothing is left behind, and the introduction is used up.
    ///
    /// # Cost: as [`Binding::import`].
    pub fn import_introduced(
        domain: &Domain,
        introduction: OwnedFd,
        interface: &'static InterfaceDescriptor,
    ) -> Result<Binding, BindError> {
        Binding::import_introduced_with(domain, introduction, interface, ImportOptions::default())
    }

    /// The same with knobs; those of names have no effect.
    pub fn import_introduced_with(
        domain: &Domain,
        introduction: OwnedFd,
        interface: &'static InterfaceDescriptor,
        options: ImportOptions,
    ) -> Result<Binding, BindError> {
        let imported = import::import_introduced(domain, introduction, interface, &options);
        imported.map(|inner| Binding { inner })
    }

    /// Asks the server for an introduction: a descriptor by which one other domain can
    /// [bind to it](Self::import_introduced), once, as this one is: to the procedures that this one
    /// may call, whatever the policy says of the other. Goes to it as an argument or a result
    /// (`@fd(BINDING)`), or over any socket.
    ///
    /// It is over when it is used, when nobody has used it for a time that the server sets, and
    /// when this binding ends. Until then it counts as a bind that is not complete, of this
    /// domain's user.
    ///
    /// # Errors: [`BindError::Overloaded`] if the user has too many of those, and
    /// [`BindError::Revoked`].
    ///
    /// # Cost: a message each way over the binding's socket, and a socket pair in the server.
    pub fn introduce(&self) -> Result<OwnedFd, BindError> {
        self.inner.introduce()
    }

    /// Binds to a clerk of the same process over a heap twin of the segments: the same code on
    /// both sides, without descriptors. For tests that look at both sides at once.
    ///
    /// # Errors: see [`BindError`].
    pub fn import_twin(
        domain: &Domain,
        clerk: &Clerk,
        interface: &'static InterfaceDescriptor,
        options: ImportOptions,
    ) -> Result<Binding, BindError> {
        crate::twin::import(domain, clerk, interface, &options).map(|inner| Binding { inner })
    }

    /// The interface that it was imported for.
    pub fn interface(&self) -> &'static InterfaceDescriptor {
        self.inner.interface
    }

    /// The name that it was imported by; of one that was introduced, its interface's.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Which life of the server it is bound to: a later export has a larger number.
    pub fn incarnation(&self) -> u64 {
        self.inner.incarnation
    }

    /// The server has ended, or one of the two sides has given the binding up: every later call is
    /// `NotExecuted`. Or it is the binding of the process that this one was forked from: every call
    /// is refused ([`UsageError::Forked`](crate::UsageError::Forked)). Import again.
    pub fn is_revoked(&self) -> bool {
        !self.inner.state.is_open()
    }

    /// The binding to the present life of the server: this one while it holds. Else, and once a
    /// call was [`NotExecuted::Refused`](crate::NotExecuted::Refused), a new one, to whoever
    /// exports the name now, imported as this one was. Handles on one binding share what it
    /// is replaced by. Nothing rebinds by itself but the calls of `@idempotent` procedures, which
    /// are made once more after a failure.
    ///
    /// Waits as [`ImportOptions::rebind`] says. Asks the kernel whether the server lives.
    ///
    /// # Errors: see [`BindError`]; nothing is left behind. [`BindError::NotReady`] if nobody has
    /// exported the name in that time. A binding that was introduced has no name to bind by again:
    /// [`BindError::Introduced`].
    pub fn rebind(&self) -> Result<Binding, BindError> {
        match self.inner.renew_if_over() {
            Some(renewed) => renewed.map(|inner| Binding { inner }),
            None => Ok(self.clone()),
        }
    }

    /// What this one is replaced by, until then at the latest.
    pub(crate) fn renewed(&self, until_ns: u64) -> Result<Binding, BindError> {
        self.inner.renew(until_ns).map(|inner| Binding { inner })
    }

    /// The same for a task.
    pub(crate) async fn renewed_awaited(&self, until_ns: u64) -> Result<Binding, BindError> {
        self.inner.renew_awaited(until_ns).await.map(|inner| Binding { inner })
    }

    /// Waits until every call over this binding is over that nobody waits for: what any thread has
    /// posted `oneway`, given up or dropped. To be called before the program exits or releases the
    /// binding: what a server has not begun by then it does not run, and an `async` procedure that
    /// waits then is dropped.
    ///
    /// Returns how many are not over after `timeout`; 0: all have run, or were refused. Of a
    /// binding that is revoked nobody can say whether the others have. It ends early where this
    /// thread's waits are cancelled ([`Cancellation`](crate::Cancellation)). In a child of fork(2)
    /// it is 0: the calls are its parent's.
    ///
    /// Cost: a load if there is none; else it polls for as long as a call spins for its reply, 50
    /// us unless a policy of waiting says otherwise, and then sleeps between looks, 5 ms at most. A
    /// FastThread polls for a few microseconds, and lets others run then.
    #[must_use = "says how many calls are not over"]
    pub fn flush(&self, timeout: Duration) -> u32 {
        self.inner.flush(timeout)
    }

    /// How many A-stacks the server holds of calls that nobody waits for: aborted, dropped or
    /// oneway ones (L55).
    pub fn captured_count(&self) -> u32 {
        self.inner.captured_count()
    }

    /// How many A-stacks there are, of all classes.
    pub fn astack_count(&self) -> u32 {
        self.inner.astack_count()
    }

    #[inline(always)]
    pub(crate) fn inner(&self) -> &ClientBinding {
        &self.inner
    }

    /// The same for whom it has to stay for longer than a call.
    pub(crate) fn shared(&self) -> &Arc<ClientBinding> {
        &self.inner
    }
}
