//! The client's end of a binding, as a generated client holds it.

use std::time::Duration;

use nearcall_abi::InterfaceDescriptor;

use super::call::Call;
use crate::binding::Binding;
use crate::client::lent::OpaqueIn;
use crate::error::CallError;

/// A binding and how to call through it.
#[derive(Clone, Debug)]
pub struct Client {
    binding: Binding,
    /// 0: none.
    deadline_ns: u64,
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
        Client { binding, deadline_ns: 0 }
    }

    /// The binding.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The same, whose calls wait at most `deadline` and then end in `CallAborted`.
    pub fn with_deadline(&self, deadline: Duration) -> Client {
        let deadline_ns = u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX).max(1);
        Client { binding: self.binding.clone(), deadline_ns }
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
    /// May wait for one, as the binding was told.
    #[inline(always)]
    pub fn claim<'d, const CLASS: usize>(
        &self,
        procedure: u32,
    ) -> Result<Call<'_, 'd>, Box<CallError>> {
        let held = self.binding.inner().claim::<CLASS>(procedure, self.deadline_ns)?;
        Ok(Call::new(held, procedure, self.deadline_ns))
    }
}
