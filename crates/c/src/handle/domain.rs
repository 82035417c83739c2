//! Domains, bindings and clerks of C programs.

use std::ffi::{c_char, c_int, c_void};
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::ptr::NonNull;
use std::time::Duration;

use nearcall::raw::{Brief, Client, Lookout, Reason, processor_offset};
use nearcall::{BindError, Binding, Clerk, Domain, ExportError, Ran};
use nearcall_abi::message::CLASSES_MAX;

use super::described::descriptor;
use super::knobs::DomainOptionsRecord;
use super::lacking::{clerk_of, client_of, domain_of};
use super::options::{
    ExportOptionsRecord, ImportOptionsRecord, export_options, import_options, policy, whole,
};
use super::records::{Environment, Interface, Outcome};
use super::scratch;
use super::server::{Enter, ForeignEntries, OnEStacks};
use super::{literal, text};

/// A client as C holds it; `nearcall_client` there, which sees what stands before `client`.
#[repr(C)]
pub struct ClientRecord {
    pub processor_offset: isize,
    pub briefs: [Brief; CLASSES_MAX],
    pub binding: NonNull<()>,
    pub lookout: NonNull<Lookout>,
    pub client: Client,
}

impl ClientRecord {
    fn boxed(client: Client) -> *mut ClientRecord {
        let briefs = std::array::from_fn(|class| client.brief(class));
        Box::into_raw(Box::new(ClientRecord {
            processor_offset: processor_offset(),
            briefs,
            binding: client.brief_binding(),
            lookout: client.lookout(),
            client,
        }))
    }
}

/// A new domain, or null.
///
/// # Safety
///
/// - H1 live: `environment`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_domain_new(environment: *mut Environment) -> *mut Domain {
    // SAFETY: H1, and no options.
    unsafe { nearcall_domain_new_with(std::ptr::null(), environment) }
}

/// Knobs as they are where nobody turns them.
///
/// # Safety
///
/// - H1 live: `options`, of which nothing is read.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_domain_options_default(options: *mut DomainOptionsRecord) {
    // SAFETY: H1.
    unsafe { options.write(DomainOptionsRecord::usual()) };
}

/// A new domain with knobs, or null.
///
/// # Safety
///
/// - H1 live: `options`, or null; `environment`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_domain_new_with(
    options: *const DomainOptionsRecord,
    environment: *mut Environment,
) -> *mut Domain {
    // SAFETY: H1, or null.
    let options = unsafe { options.as_ref() }.map(DomainOptionsRecord::options);
    // SAFETY: H1.
    let environment = unsafe { Environment::at(environment) };
    environment.begin();
    match Domain::with_options(options.unwrap_or_default()) {
        Ok(domain) => Box::into_raw(Box::new(domain)),
        Err(error) => {
            environment.fail(Outcome::System, Ran::No, &error);
            std::ptr::null_mut()
        }
    }
}

/// Ends a domain in an orderly way; null is nothing.
///
/// # Safety
///
/// - H1 live: `domain`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_domain_shut_down(domain: *const Domain) {
    // SAFETY: H1, or null.
    if let Some(domain) = unsafe { domain.as_ref() } {
        domain.shut_down();
        // No call of its runs any more; one that is set aside keeps its memory until its reply.
        scratch::give_back();
    }
}

/// Gives a domain up; null is nothing.
///
/// # Safety
///
/// - H1 live: `domain`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_domain_release(domain: *mut Domain) {
    if !domain.is_null() {
        // SAFETY: H1, from `nearcall_domain_new`.
        drop(unsafe { Box::from_raw(domain) });
        scratch::give_back();
    }
}

/// Binds to the interface that a domain exports, or null.
///
/// # Safety
///
/// - H1 live: `domain`, or null; `environment`; `options` and what they point to, or null. H3 text:
///   `name`, and what options name. H4 static: `interface`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_import(
    domain: *const Domain,
    name: *const c_char,
    interface: *const Interface,
    options: *const ImportOptionsRecord,
    environment: *mut Environment,
) -> *mut ClientRecord {
    // SAFETY: H4.
    let interface = unsafe { descriptor(interface) };
    // SAFETY: H3.
    let name = unsafe { text(name) };
    // SAFETY: H1, or null.
    let Some(domain) = (unsafe { domain_of(domain, environment) }) else {
        return std::ptr::null_mut();
    };
    // SAFETY: H1, or null.
    let options = unsafe { options.as_ref() };
    // SAFETY: H1 and H3, of what they point to and name.
    let options = unsafe { import_options(options) };
    let import = |options| Binding::import_with(domain, &name, interface, options);
    let imported = options.and_then(import).map(|binding| Client::new(binding, interface));
    // SAFETY: H1.
    unsafe { bound(imported, environment) }
}

/// What there is a binding for as C holds it, or null.
///
/// # Safety
///
/// - H1 live: `environment`.
unsafe fn bound(
    imported: Result<Client, BindError>,
    environment: *mut Environment,
) -> *mut ClientRecord {
    match imported {
        Ok(client) => ClientRecord::boxed(client),
        Err(error) => {
            // SAFETY: H1.
            let environment = unsafe { Environment::at(environment) };
            environment.fail_for(Outcome::NotBound, (&error).into(), &error);
            std::ptr::null_mut()
        }
    }
}

/// The same client of the server's present life, released by itself, or null.
///
/// # Safety
///
/// - H1 live: `client`, or null; `environment`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_rebind(
    client: *const ClientRecord,
    environment: *mut Environment,
) -> *mut ClientRecord {
    // SAFETY: H1, or null.
    let Some(client) = (unsafe { client_of(client, environment) }) else {
        return std::ptr::null_mut();
    };
    // SAFETY: H1.
    unsafe { bound(client.rebind(), environment) }
}

/// Binds to what somebody else is bound to, or null. The introduction is used up, and closed.
///
/// # Safety
///
/// - H1 live: `domain`, or null; `environment`. H4 static: `interface`. D1 open: `introduction`,
///   and nobody else closes it; or it is below 0.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_introduced(
    domain: *const Domain,
    introduction: c_int,
    interface: *const Interface,
    environment: *mut Environment,
) -> *mut ClientRecord {
    // SAFETY: H4.
    let interface = unsafe { descriptor(interface) };
    // SAFETY: D1, and it is not -1.
    let own = (introduction >= 0).then(|| unsafe { OwnedFd::from_raw_fd(introduction) });
    // SAFETY: H1, or null.
    let Some(domain) = (unsafe { domain_of(domain, environment) }) else {
        return std::ptr::null_mut();
    };
    let imported = match own {
        None => Err(BindError::NoIntroduction(format!("number {introduction} is below 0"))),
        Some(own) => Binding::import_introduced(domain, own, interface),
    };
    let imported = imported.map(|binding| Client::new(binding, interface));
    // SAFETY: H1.
    unsafe { bound(imported, environment) }
}

/// An introduction to the server of a binding, which is the program's; -1 after an error.
///
/// # Safety
///
/// - H1 live: `client`, or null; `environment`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_introduce(
    client: *const ClientRecord,
    environment: *mut Environment,
) -> c_int {
    // SAFETY: H1, or null.
    let Some(client) = (unsafe { client_of(client, environment) }) else { return -1 };
    match client.binding().introduce() {
        Ok(introduction) => introduction.into_raw_fd(),
        Err(error) => {
            // SAFETY: H1.
            let environment = unsafe { Environment::at(environment) };
            environment.fail_for(Outcome::NotBound, (&error).into(), &error);
            -1
        }
    }
}

/// The same binding, whose calls wait at most so long; null of null, whose calls tell.
///
/// # Safety
///
/// - H1 live: `client`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_with_deadline(
    client: *const ClientRecord,
    deadline_ns: u64,
) -> *mut ClientRecord {
    // SAFETY: H1, or null.
    let Some(record) = (unsafe { client.as_ref() }) else { return std::ptr::null_mut() };
    ClientRecord::boxed(record.client.with_deadline(Duration::from_nanos(deadline_ns)))
}

/// The same binding once more, released by itself.
///
/// # Safety
///
/// - H1 live: `client`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_client_shared(client: *const ClientRecord) -> *mut ClientRecord {
    // SAFETY: H1.
    ClientRecord::boxed(unsafe { &*client }.client.clone())
}

/// Whether the binding is of no more use; null never was.
///
/// # Safety
///
/// - H1 live: `client`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_is_revoked(client: *const ClientRecord) -> bool {
    // SAFETY: H1, or null.
    unsafe { client.as_ref() }.is_none_or(|record| record.client.binding().is_revoked())
}

/// Which life of the server it is bound to; null to none, which is 0.
///
/// # Safety
///
/// - H1 live: `client`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_incarnation(client: *const ClientRecord) -> u64 {
    // SAFETY: H1, or null.
    unsafe { client.as_ref() }.map_or(0, |record| record.client.binding().incarnation())
}

/// How many A-stacks the server holds whose calls were aborted; of null 0.
///
/// # Safety
///
/// - H1 live: `client`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_captured_count(client: *const ClientRecord) -> u32 {
    // SAFETY: H1, or null.
    unsafe { client.as_ref() }.map_or(0, |record| record.client.binding().captured_count())
}

/// Waits until every call is over that nobody waits for; how many are not, of null 0: see
/// [`Binding::flush`](nearcall::Binding::flush).
///
/// # Safety
///
/// - H1 live: `client`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_flush(client: *const ClientRecord, timeout_ns: u64) -> u32 {
    // SAFETY: H1, or null.
    let Some(record) = (unsafe { client.as_ref() }) else {
        return 0;
    };
    record.client.binding().flush(Duration::from_nanos(timeout_ns))
}

/// How many A-stacks there are, of all classes; of null 0.
///
/// # Safety
///
/// - H1 live: `client`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_astack_count(client: *const ClientRecord) -> u32 {
    // SAFETY: H1, or null.
    unsafe { client.as_ref() }.map_or(0, |record| record.client.binding().astack_count())
}

/// Gives a binding up; null is nothing.
///
/// # Safety
///
/// - H1 live: `client`, or null; no reply of it is kept.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_client_release(client: *mut ClientRecord) {
    if !client.is_null() {
        // SAFETY: H1, from `nearcall_import`.
        drop(unsafe { Box::from_raw(client) });
    }
}

/// Exports an interface, or null.
///
/// # Safety
///
/// - H1 live: `domain`, or null; `environment`; `server` until the clerk is released and its calls
///   are done, from any thread; `options`, or null. H3 text: `name`, and what the options name. H4
///   static: `interface`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_export(
    domain: *const Domain,
    name: *const c_char,
    interface: *const Interface,
    enter: Enter,
    server: *const c_void,
    options: *const ExportOptionsRecord,
    environment: *mut Environment,
) -> *mut Clerk {
    // SAFETY: H4.
    let is_awaited = unsafe { &*interface }.is_awaited;
    // SAFETY: passed on.
    unsafe { export((domain, name, interface), (is_awaited, enter, server), options, environment) }
}

/// The same where procedures may set their calls aside.
///
/// # Safety
///
/// As [`nearcall_export`].
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_async_export(
    domain: *const Domain,
    name: *const c_char,
    interface: *const Interface,
    enter: Enter,
    server: *const c_void,
    options: *const ExportOptionsRecord,
    environment: *mut Environment,
) -> *mut Clerk {
    // SAFETY: passed on.
    unsafe { export((domain, name, interface), (true, enter, server), options, environment) }
}

/// # Safety
///
/// As [`nearcall_export`].
unsafe fn export(
    (domain, name, interface): (*const Domain, *const c_char, *const Interface),
    (is_awaited, enter, server): (bool, Enter, *const c_void),
    options: *const ExportOptionsRecord,
    environment: *mut Environment,
) -> *mut Clerk {
    // SAFETY: H4.
    let stub_bytes_max = unsafe { &*interface }.stub_bytes_max;
    // SAFETY: H4.
    let interface = unsafe { descriptor(interface) };
    // SAFETY: H3.
    let name = unsafe { text(name) };
    // SAFETY: H1, or null.
    let Some(domain) = (unsafe { domain_of(domain, environment) }) else {
        return std::ptr::null_mut();
    };
    // SAFETY: H1.
    let options = unsafe { options.as_ref() };
    let exceptions = options.and_then(|options| options.exceptions);
    let estacks = OnEStacks { stub_bytes_max, exceptions };
    // The entry stub knows it as what it was given as.
    let server = (is_awaited, enter, server.cast_mut());
    // SAFETY: H1, of `server` and of what the options name, is what it asks for.
    let entries = unsafe { ForeignEntries::new(interface, server, estacks) };
    let policy = options.map_or(std::ptr::null(), |options| options.policy);
    // SAFETY: H3.
    let options = unsafe { export_options(options) }.map_err(|words| (Reason::Policy, words));
    let exported = options.and_then(|options| {
        let exported = Clerk::export_with(domain, &name, entries, options);
        // SAFETY: H3.
        exported.map_err(|error| unsafe { not_exported(error, policy) })
    });
    match exported {
        Ok(clerk) => Box::into_raw(Box::new(clerk)),
        Err((reason, words)) => {
            // SAFETY: H1.
            let environment = unsafe { Environment::at(environment) };
            environment.fail_for(Outcome::NotExported, reason, &words);
            std::ptr::null_mut()
        }
    }
}

/// Why not, and in words: of a rule with the file that it stands in.
///
/// # Safety
///
/// - H3 text: `policy`, or null.
unsafe fn not_exported(error: ExportError, policy: *const c_char) -> (Reason, String) {
    let words = match &error {
        ExportError::Policy(wrong) if !policy.is_null() => {
            // SAFETY: H3.
            let path = unsafe { whole(policy) };
            format!("{}: {wrong}", path.display())
        }
        _ => error.to_string(),
    };
    (Reason::from(&error), words)
}

/// Says that a server has no function for an operation. Null, always.
///
/// # Safety
///
/// - H1 live: `environment`. H4 static: `interface`, and the name of the function.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_refuse_server(
    interface: *const Interface,
    function: *const c_char,
    environment: *mut Environment,
) -> *mut Clerk {
    // SAFETY: H4.
    let interface = unsafe { &*interface };
    // SAFETY: H4.
    let interface = unsafe { literal(interface.name) };
    // SAFETY: H4.
    let function = unsafe { literal(function) };
    let reason = format!("the server of {interface} has no function for \"{function}\"");
    // SAFETY: H1.
    let environment = unsafe { Environment::at(environment) };
    environment.fail(Outcome::Usage, Ran::No, &reason);
    std::ptr::null_mut()
}

/// Has a clerk's policy be what a file says; how many bindings that has revoked, or -1.
///
/// # Safety
///
/// - H1 live: `clerk`, or null; `environment`. H3 text: `path`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_clerk_set_policy(
    clerk: *const Clerk,
    path: *const c_char,
    environment: *mut Environment,
) -> i64 {
    // SAFETY: H1.
    unsafe { Environment::at(environment) }.begin();
    // SAFETY: H1, or null.
    let Some(clerk) = (unsafe { clerk_of(clerk, environment) }) else { return -1 };
    // SAFETY: H3.
    let policy = unsafe { policy(path) }.map_err(|words| (Reason::Policy, words));
    let replaced = policy.and_then(|policy| {
        // SAFETY: H3.
        clerk.set_policy(policy).map_err(|error| unsafe { not_exported(error, path) })
    });
    match replaced {
        Ok(revoked) => i64::try_from(revoked).unwrap_or(i64::MAX),
        Err((reason, words)) => {
            // SAFETY: H1.
            let environment = unsafe { Environment::at(environment) };
            environment.fail_for(Outcome::NotExported, reason, &words);
            -1
        }
    }
}

/// Withdraws an export; null is nothing.
///
/// # Safety
///
/// - H1 live: `clerk`, or null.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_clerk_release(clerk: *mut Clerk) {
    if !clerk.is_null() {
        // SAFETY: H1, from `nearcall_export`.
        drop(unsafe { Box::from_raw(clerk) });
    }
}
