//! What a server's author is told of its procedures: that one has panicked, and what was refused of
//! their own doing.

use std::ffi::c_char;
use std::fmt::Display;
use std::io::Write;

use nearcall::InterfaceDescriptor;
use nearcall::raw::Refusal;
use tracing::Level;

use super::records::{self, Environment};
use super::text;

/// A procedure, to its server's author.
#[derive(Clone, Copy)]
pub(super) struct Told {
    pub interface: &'static InterfaceDescriptor,
    pub procedure: usize,
}

impl Told {
    /// What a server's author would not learn else: a client is told no more than that there were
    /// results, and that they were refused. What a client has done is no business of the author's.
    #[cold]
    pub(super) fn tell(self, refusal: &Refusal) {
        let is_own = matches!(
            refusal,
            Refusal::Results(_)
                | Refusal::NoMemory { .. }
                | Refusal::Descriptor(_)
                | Refusal::NotSent(_)
        );
        if is_own {
            let InterfaceDescriptor { name, procedures, .. } = self.interface;
            let procedure = procedures[self.procedure].told().within(name);
            say_refused(&format_args!("{procedure}: {refusal}"));
        }
    }

    /// The procedure has panicked, in a call of what is exported as `name`.
    #[cold]
    pub(super) fn tell_panic(self, name: &str, why: &str) {
        let InterfaceDescriptor { name: interface, procedures, .. } = self.interface;
        let procedure = procedures[self.procedure].told();
        if tracing::enabled!(Level::ERROR) {
            tracing::error!(name, %procedure, why, "a procedure panicked");
        } else {
            let procedure = procedure.within(interface);
            say_aloud(&format_args!("{procedure}, exported as {name:?}, panicked: {why}"));
        }
    }
}

/// A procedure cannot go on. Its entry stub has the server's author told, as of a panic in Rust.
///
/// # Safety
///
/// - H1 live: `environment`. H3 text: `why`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_panic(environment: *mut Environment, why: *const c_char) {
    // SAFETY: H3. Our own, for it may be the environment's message.
    let why = unsafe { text(why) }.into_owned();
    // SAFETY: H1.
    let environment = unsafe { Environment::at(environment) };
    environment.set_message(&why);
    environment.end_by(records::Outcome::Panicked as u32);
}

/// A procedure in C++ that has given its answer away has thrown: whoever has that replies, and the
/// server's author alone is told.
///
/// # Safety
///
/// - H3 text: both.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_tell_unanswered(procedure: *const c_char, why: *const c_char) {
    // SAFETY: H3.
    let procedure = unsafe { text(procedure) };
    // SAFETY: H3.
    let why = unsafe { text(why) };
    say(&format_args!("{procedure} {why}, after its answer was moved"));
}

/// What a procedure in C++ has returned cannot be sent. The runtime tells whoever listens of it,
/// once the stub has handed it on.
///
/// # Safety
///
/// - H1 live: `environment`. H3 text: `why`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_refuse_returned(
    environment: *mut Environment,
    why: *const c_char,
) {
    // SAFETY: H3. Our own, for it may be the environment's message.
    let why = unsafe { text(why) }.into_owned();
    say_refused(&why);
    // SAFETY: H1.
    let environment = unsafe { Environment::at(environment) };
    environment.set_message(&why);
    environment.end_by(records::CANNOT_BE_SENT);
}

/// Tells a server's author: whoever listens, else on standard error. That nobody may read that any
/// more is no reason to end the server.
pub(super) fn say(why: &dyn Display) {
    if tracing::enabled!(Level::ERROR) {
        tracing::error!("{why}");
    } else {
        say_aloud(why);
    }
}

/// The same of what is refused of a procedure's own doing: the runtime tells whoever listens, and
/// names the server and how often it was not told.
pub(super) fn say_refused(why: &dyn Display) {
    if !tracing::enabled!(Level::WARN) {
        say_aloud(why);
    }
}

/// The same where nobody listens.
fn say_aloud(why: &dyn Display) {
    let _ = writeln!(std::io::stderr(), "nearcall: {why}");
}
