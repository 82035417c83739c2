//! How objects are shown (`repr`): what they are, of which interface, under which name, and how it
//! stands with them. Nothing here waits for anybody, or asks what a parent of this process has.
//!
//! ```text
//!   <nearcall.Binding to calc::Calculator at 'calc', open>
//!   <nearcall.Pending of calc::Calculator.add at 'calc', replied>
//! ```

use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::call::Binding;
use crate::domain::check_own;
use crate::table::{Plan, Procedure};

/// An object of this class, as it is shown.
pub fn shown(class: &str, of: &str, state: &str) -> String {
    format!("<nearcall.{class} {of}, {state}>")
}

/// A procedure, by its interface.
pub fn procedure(plan: &Plan, procedure: &Procedure) -> String {
    format!("of {}.{}", plan.descriptor.name, procedure.name)
}

/// Where calls go, behind what they are of.
pub fn at(of: &str, client: &nearcall::raw::Client) -> String {
    format!("{of} at '{}'", client.binding().name())
}

/// How it stands with what goes through a client.
pub fn state(client: &nearcall::raw::Client) -> &'static str {
    match client.binding().is_revoked() {
        _ if check_own().is_err() => PARENTS,
        true => "revoked",
        false => "open",
    }
}

/// Of what a parent of this process has made.
pub const PARENTS: &str = "of the parent process";

/// What a lock holds, if nobody has it just now.
pub fn seen<T>(held: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match held.try_lock() {
        Ok(held) => Some(held),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl Binding {
    /// As it is shown.
    pub fn shown(&self) -> String {
        let to = format!("to {}", self.plan().descriptor.name);
        shown("Binding", &at(&to, self.client()), state(self.client()))
    }
}
