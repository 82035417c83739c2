//! What imports and exports may be told beside a name.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::{
    BindError, ExportOptions, ImportOptions, Policy, Rebind, WaitPolicy, WhenExhausted,
};

/// How an interface is imported. `nearcall_import_options` in C.
#[repr(C)]
pub struct ImportOptionsRecord {
    /// Longest wait of an import until somebody exports the name; 0: none.
    pub ready_timeout_ns: u64,
    /// The same of a rebind.
    pub rebind_timeout_ns: u64,
    /// Longest wait for the server's half of the bind; 0: the default.
    pub timeout_ns: u64,
    /// A call that finds no A-stack has the server add some.
    pub grows: bool,
    /// The directory that the name is looked up in; null: the user's scope, then the system's.
    pub directory: *const c_char,
    /// How long to spin, yield and sleep; null: as the domain does.
    pub wait: *const WaitPolicy,
    /// A pidfd of the process that is to export, the caller's; null: none.
    pub ready_pidfd: *const c_int,
}

/// How an interface is exported. `nearcall_export_options` in C.
#[repr(C)]
pub struct ExportOptionsRecord {
    /// The path of a policy file, or null.
    pub policy: *const c_char,
    pub is_open_to_anyone: bool,
    /// The directory that the name goes to; null: the user's scope, for root without one the
    /// system's.
    pub directory: *const c_char,
    /// Procedures run on E-stacks, but for leaves.
    pub runs_on_estacks: bool,
    /// Null: no procedure is in C++.
    pub exceptions: Option<Exceptions>,
}

/// `__cxa_get_globals` of a C++ library: where it keeps what the calling kernel thread has caught
/// and thrown. By the ABI of C++ on Linux these are a pointer and a number.
pub type Exceptions = unsafe extern "C" fn() -> *mut c_void;

/// What they say, or which of them says nothing.
///
/// # Safety
///
/// - H1 live: what they point to. H3 text: what they name.
pub unsafe fn import_options(
    given: Option<&ImportOptionsRecord>,
) -> Result<ImportOptions, BindError> {
    let mut options = ImportOptions::default();
    let Some(given) = given else { return Ok(options) };
    options.ready_timeout = Duration::from_nanos(given.ready_timeout_ns);
    options.rebind = match given.rebind_timeout_ns {
        0 => Rebind::FailFast,
        timeout_ns => Rebind::WaitForReady(Duration::from_nanos(timeout_ns)),
    };
    if given.timeout_ns != 0 {
        options.timeout = Duration::from_nanos(given.timeout_ns);
    }
    // SAFETY: H3.
    options.scopes = unsafe { directory(given.directory) }.map(|scope| vec![scope]);
    // SAFETY: H1.
    options.wait = unsafe { given.wait.as_ref() }.copied();
    if given.grows {
        options.when_exhausted = WhenExhausted::Grow;
    }
    // SAFETY: H1.
    options.ready_pidfd = unsafe { given.ready_pidfd.as_ref() }.map(own_pidfd).transpose()?;
    Ok(options)
}

/// What is not open, by the number that Linux has for that everywhere.
const EBADF: i32 = 9;

/// A pidfd of the caller's, as one of ours: an import that waits takes its time.
fn own_pidfd(number: &c_int) -> Result<Arc<OwnedFd>, BindError> {
    let none = BindError::WrongDescriptor { option: "ready_pidfd", wanted: "pidfd" };
    if *number < 0 {
        return Err(none);
    }
    // SAFETY: the number is not -1, and is borrowed for one system call. If it is not open, the
    // kernel says so; if somebody closes it meanwhile, and it becomes another file's, that is
    // duplicated: the caller has named the wrong one.
    let given = unsafe { BorrowedFd::borrow_raw(*number) };
    given.try_clone_to_owned().map(Arc::new).map_err(|reason| match reason.raw_os_error() {
        Some(EBADF) => none,
        _ => BindError::System { doing: "duplicate ready_pidfd", reason },
    })
}

/// What options say, or why they say nothing.
///
/// # Safety
///
/// - H3 text: what they name.
pub unsafe fn export_options(given: Option<&ExportOptionsRecord>) -> Result<ExportOptions, String> {
    let mut options = ExportOptions::default();
    let Some(given) = given else { return Ok(options) };
    options.policy = match (given.policy.is_null(), given.is_open_to_anyone) {
        (true, false) => Policy::OfScope,
        (true, true) => Policy::Anyone,
        // SAFETY: H3.
        (false, false) => unsafe { policy(given.policy) }?,
        (false, true) => {
            return Err(String::from("options have a policy, and are open to anyone"));
        }
    };
    // SAFETY: H3.
    options.scope = unsafe { directory(given.directory) };
    options.runs_on_estacks = given.runs_on_estacks;
    Ok(options)
}

/// The scope that a directory is, if one is named.
///
/// # Safety
///
/// - H3 text: `path`, or null.
unsafe fn directory(path: *const c_char) -> Option<Scope> {
    // SAFETY: H3.
    (!path.is_null()).then(|| Scope::Directory(unsafe { whole(path) }.into()))
}

/// What a policy file says.
///
/// # Safety
///
/// - H3 text: `path`.
pub unsafe fn policy(path: *const c_char) -> Result<Policy, String> {
    // SAFETY: H3.
    let path = unsafe { whole(path) };
    nearcall_policy::load(path).map(Policy::Rules).map_err(|error| error.in_file(path))
}

/// A path byte for byte: one that is no UTF-8 must not become that of another file. Null: none.
///
/// # Safety
///
/// - H3 text: or null.
pub unsafe fn whole<'p>(path: *const c_char) -> &'p Path {
    if path.is_null() {
        return Path::new("");
    }
    // SAFETY: not null, and the rest is H3.
    Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn an_import_is_told_all_that_a_record_says() {
        let wait = WaitPolicy { yields_max: 7, ..WaitPolicy::default() };
        let pidfd = 0;
        let record = ImportOptionsRecord {
            ready_timeout_ns: 3,
            rebind_timeout_ns: 1,
            timeout_ns: 2,
            directory: c"/of/names".as_ptr(),
            wait: &raw const wait,
            grows: true,
            ready_pidfd: &raw const pidfd,
        };
        // SAFETY: H1 `wait`, `pidfd` and H3 the literal outlive the call.
        let options = unsafe { import_options(Some(&record)) }.expect("the descriptor is open");
        assert_eq!(options.ready_timeout, Duration::from_nanos(3));
        assert_eq!(options.rebind, Rebind::WaitForReady(Duration::from_nanos(1)));
        assert_eq!(options.timeout, Duration::from_nanos(2));
        assert_eq!(options.scopes, Some(vec![Scope::Directory("/of/names".into())]));
        assert_eq!(options.wait, Some(wait));
        assert_eq!(options.when_exhausted, WhenExhausted::Grow);
        // Ours is another one, of the same.
        let own = options.ready_pidfd.expect("one was named");
        assert!(own.as_raw_fd() > 0, "the caller's own was taken");
    }

    #[test]
    fn a_descriptor_that_is_not_open_is_no_pidfd() {
        for number in [-1, i32::MAX] {
            let error = own_pidfd(&number).unwrap_err();
            assert_eq!(error.to_string(), "ready_pidfd is no pidfd", "{number}");
        }
    }

    #[test]
    fn a_record_of_zeros_is_no_record() {
        // SAFETY: null, zero and false are values of its fields.
        let zeros: ImportOptionsRecord = unsafe { std::mem::zeroed() };
        // SAFETY: it points to nothing.
        let [none, zeros] = [None, Some(&zeros)].map(|given| unsafe { import_options(given) });
        assert_eq!(format!("{:?}", zeros.unwrap()), format!("{:?}", none.unwrap()));
    }

    #[test]
    fn an_export_goes_where_a_record_says() {
        let record = ExportOptionsRecord {
            policy: std::ptr::null(),
            directory: c"/of/names".as_ptr(),
            is_open_to_anyone: false,
            runs_on_estacks: true,
            exceptions: None,
        };
        // SAFETY: H3 the literal outlives the call, and there is no policy.
        let options = unsafe { export_options(Some(&record)) }.expect("no policy, no mistake");
        assert!(options.runs_on_estacks);
        assert_eq!(options.scope, Some(Scope::Directory("/of/names".into())));
    }
}
