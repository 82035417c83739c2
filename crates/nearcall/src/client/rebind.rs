//! After a server has ended: the binding that takes the place of one that is revoked, and the one
//! more try that calls of `@idempotent` procedures have.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use super::binding::ClientBinding;
use super::deadline::{NEVER_NS, left_ns};
use super::herald;
use super::import::{Unbound, begin, import};
use super::interrupt::is_interrupted;
use super::ready::Readiness;
use super::switching;
use crate::binding::Rebind;
use crate::error::{BindError, CallError, NotExecuted};

/// What a binding is replaced by. One thread at a time sees to it.
#[derive(Debug, Default)]
pub(crate) struct Renewal {
    binding: Mutex<Option<Arc<ClientBinding>>>,
    is_due: AtomicBool,
}

/// A renewal that is under way.
struct Renewing<'b> {
    binding: &'b ClientBinding,
    /// How long it may be that nobody exports the name.
    readiness: Readiness,
    /// When another thread's import has taken too long.
    import_ns: u64,
}

/// What a look at a renewal has found.
enum Look {
    Renewed(Arc<ClientBinding>),
    /// Look again after that.
    Pause(Duration),
}

impl Renewal {
    /// The server has given the binding up, as it has answered a call; its end comes behind the
    /// results of calls that run.
    pub fn be_due(&self) {
        // Relaxed: who was answered so knows it by its own order, or by that which
        // told it of the answer.
        self.is_due.store(true, Ordering::Relaxed);
    }

    fn is_due(&self) -> bool {
        // Relaxed: as the store says.
        self.is_due.load(Ordering::Relaxed)
    }
}

impl ClientBinding {
    /// The binding to the server's present life, if it is not this one.
    pub fn renew_if_over(&self) -> Option<Result<Arc<ClientBinding>, BindError>> {
        let is_over = self.has_ended() || self.renewal.is_due();
        is_over.then(|| self.renew(NEVER_NS))
    }

    /// The binding that takes this one's place, until `until_ns` at the latest.
    pub fn renew(&self, until_ns: u64) -> Result<Arc<ClientBinding>, BindError> {
        let mut renewing = Renewing::begin(self, until_ns)?;
        loop {
            match renewing.look()? {
                Look::Renewed(binding) => return Ok(binding),
                Look::Pause(pause) => switching::nap(pause),
            }
        }
    }

    /// The same for a task, which lets others run in the pauses.
    pub async fn renew_awaited(&self, until_ns: u64) -> Result<Arc<ClientBinding>, BindError> {
        let mut renewing = Renewing::begin(self, until_ns)?;
        loop {
            match renewing.look()? {
                Look::Renewed(binding) => return Ok(binding),
                Look::Pause(pause) => herald::pause(pause).await,
            }
        }
    }

    /// What there is already, or a new import. `None`: another thread is at it.
    fn try_renew(&self, until_ns: u64) -> Option<Result<Arc<ClientBinding>, Unbound>> {
        let mut renewal = match self.renewal.binding.try_lock() {
            Ok(renewal) => renewal,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => return None,
        };
        if let Some(binding) = &*renewal
            && binding.state.is_open()
            && !binding.renewal.is_due()
        {
            return Some(Ok(Arc::clone(binding)));
        }
        let timeout = Duration::from_nanos(left_ns(until_ns)).min(self.options.timeout);
        let imported = import(&self.domain, &self.name, self.interface, &self.options, timeout);
        Some(imported.inspect(|binding| *renewal = Some(Arc::clone(binding))))
    }
}

impl<'b> Renewing<'b> {
    fn begin(binding: &'b ClientBinding, until_ns: u64) -> Result<Renewing<'b>, BindError> {
        // Another thread of a parent's may have been at it for ever.
        begin(&binding.domain, "rebind")?;
        if binding.is_introduced {
            return Err(BindError::Introduced { interface: binding.interface.name });
        }
        let wait = match binding.options.rebind {
            Rebind::FailFast => Duration::ZERO,
            Rebind::WaitForReady(wait) => wait,
        };
        let readiness = Readiness::begin(wait, until_ns);
        let (begun_ns, ready_ns) = readiness.bounds_ns();
        // Whoever waits for another thread's import waits as long as for its own.
        let timeout_ns = u64::try_from(binding.options.timeout.as_nanos()).unwrap_or(u64::MAX);
        let import_ns = begun_ns.saturating_add(timeout_ns).max(ready_ns).min(until_ns);
        Ok(Renewing { binding, readiness, import_ns })
    }

    fn look(&mut self) -> Result<Look, BindError> {
        let binding = self.binding;
        let pause = match binding.try_renew(self.import_ns) {
            Some(Ok(binding)) => return Ok(Look::Renewed(binding)),
            Some(Err(error)) => self.readiness.pause_after(&binding.name, error)?,
            None => match left_ns(self.import_ns) {
                left_ns if left_ns == 0 || is_interrupted() => {
                    let (name, waited) = (binding.name.clone(), binding.options.timeout);
                    return Err(BindError::TimedOut { name, waited });
                }
                left_ns => self.readiness.pause_within(left_ns),
            },
        };
        Ok(Look::Pause(pause))
    }
}

/// Whether a call that may run twice is made once more, over another binding: its server has ended
/// or is about to.
pub fn is_worth_another_try(error: &CallError) -> bool {
    use NotExecuted::{Refused, Revoked, ServerEnded};
    match error {
        CallError::CallFailed { .. } => true,
        CallError::NotExecuted { reason, .. } => {
            matches!(reason, Refused | Revoked | ServerEnded)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use nearcall_abi::{AStackClass, InterfaceDescriptor};
    use nearcall_os::clock;

    use crate::testing::{Null, TestServer, null_interface};

    static NULL: InterfaceDescriptor = null_interface(&[AStackClass { block_bytes: 0, count: 1 }]);

    #[test]
    fn a_renewed_binding_has_the_time_of_the_first_and_not_what_a_call_had_left() {
        let server = TestServer::new("renewed-in-time", Null(&NULL));
        let binding = server.importer().import().unwrap();
        let second_ns = 1_000_000_000;
        let renewed = binding.inner().renew(clock::now_ns() + second_ns).unwrap();
        assert!(renewed.options.timeout.as_nanos() > second_ns.into());
        assert_eq!(renewed.options.timeout, binding.inner().options.timeout);
    }
}
