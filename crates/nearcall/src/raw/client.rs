//! The client's end of a binding, as a generated client holds it.

use std::time::Duration;

use nearcall_abi::InterfaceDescriptor;

use super::call::Call;
use crate::binding::Binding;
use crate::client::deadline::Deadline;
use crate::client::lent::OpaqueIn;
use crate::error::CallError;
use crate::server::current;

/// A binding and how to call through it.
#[derive(Clone, Debug)]
pub struct Client {
    binding: Binding,
    deadline: Deadline,
}

impl Client {
    /// Calls through `binding`.
    ///
    /// # Panics
    ///
    /// If the binding was imported for another interface.
    pub fn new(binding: Binding, interface: &'static InterfaceDescriptor) -> Client {
        let bound = binding.interface();
        assert_eq!(
            (bound.name, bound.hash),
            (interface.name, interface.hash),
            "the binding was imported for another interface"
        );
        Client { binding, deadline: Deadline::default() }
    }

    /// The binding.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The same, whose calls take at most `deadline`, whatever they wait for, and then end in
    /// `CallAborted`, or unposted in `NoAStack` or `NotExecuted`.
    pub fn with_deadline(&self, deadline: Duration) -> Client {
        Client { binding: self.binding.clone(), deadline: Deadline::new(deadline) }
    }

    /// What an `@opaque` argument is given as, as what is put.
    ///
    /// # Errors: [`CallError::Usage`] if it is lent to the server of another binding.
    #[inline]
    pub fn opaque<'a>(
        &self,
        argument: impl Into<OpaqueIn<'a>>,
    ) -> Result<OpaqueIn<'a>, Box<CallError>> {
        let argument = argument.into();
        argument.check_binding(&self.binding).map(|()| argument)
    }

    /// Takes an A-stack of class `CLASS` for a call of `procedure`, which is of that class (L20).
    /// May wait for one, as the binding was told. In a procedure whose own caller waits only so
    /// long, the call has no more time than that has left.
    #[inline(always)]
    pub fn claim<'d, const CLASS: usize>(
        &self,
        procedure: u32,
    ) -> Result<Call<'_, 'd>, Box<CallError>> {
        if let Some(until_ns) = current::until_ns() {
            return self.claim_nested::<CLASS>(procedure, until_ns);
        }
        let (held, deadline) = self.binding.inner().claim::<CLASS>(procedure, self.deadline)?;
        Ok(Call::new(held, procedure, deadline))
    }

    /// For a call that this thread serves, and whose client waits until then.
    #[cold]
    #[inline(never)]
    fn claim_nested<'d, const CLASS: usize>(
        &self,
        procedure: u32,
        until_ns: u64,
    ) -> Result<Call<'_, 'd>, Box<CallError>> {
        let binding = self.binding.inner();
        let Some(deadline) = self.deadline.within(until_ns) else {
            return Err(Box::new(binding.late(procedure)));
        };
        let (held, deadline) = binding.claim::<CLASS>(procedure, deadline)?;
        Ok(Call::new(held, procedure, deadline))
    }
}
