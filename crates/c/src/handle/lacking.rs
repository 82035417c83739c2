//! Handles that are null: what should have made them has failed, and nobody has looked. Whoever
//! uses one is told so where an error of the use itself would stand.

use nearcall::raw::Client;
use nearcall::{Clerk, Domain, Ran};

use super::domain::ClientRecord;
use super::records::{Environment, Outcome};

/// The client of a handle. `None`, which is told: there is none.
///
/// # Safety
///
/// - H1 live: `client`, or null; `environment`.
#[inline(always)]
pub unsafe fn client_of<'c>(
    client: *const ClientRecord,
    environment: *mut Environment,
) -> Option<&'c Client> {
    // SAFETY: H1, or null.
    let Some(record) = (unsafe { client.as_ref() }) else {
        // SAFETY: H1.
        unsafe { tell("client", "import or rebind", environment) };
        return None;
    };
    Some(&record.client)
}

/// The domain of a handle. `None`, which is told: there is none.
///
/// # Safety
///
/// - H1 live: `domain`, or null; `environment`.
pub unsafe fn domain_of<'d>(
    domain: *const Domain,
    environment: *mut Environment,
) -> Option<&'d Domain> {
    // SAFETY: H1, or null.
    let domain = unsafe { domain.as_ref() };
    if domain.is_none() {
        // SAFETY: H1.
        unsafe { tell("domain", "nearcall_domain_new", environment) };
    }
    domain
}

/// The clerk of a handle. `None`, which is told: there is none.
///
/// # Safety
///
/// - H1 live: `clerk`, or null; `environment`.
pub unsafe fn clerk_of<'k>(
    clerk: *const Clerk,
    environment: *mut Environment,
) -> Option<&'k Clerk> {
    // SAFETY: H1, or null.
    let clerk = unsafe { clerk.as_ref() };
    if clerk.is_none() {
        // SAFETY: H1.
        unsafe { tell("clerk", "export", environment) };
    }
    clerk
}

/// # Safety
///
/// - H1 live: `environment`.
#[cold]
unsafe fn tell(handle: &str, maker: &str, environment: *mut Environment) {
    let reason = format!(
        "the {handle} is null: the {maker} that should have made it has failed; look at what it \
         returned, and at its environment"
    );
    // SAFETY: H1.
    unsafe { Environment::at(environment) }.fail(Outcome::Usage, Ran::No, &reason);
}
