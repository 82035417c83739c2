//! The memory that results, arguments and exceptions lie in: whoever embeds the library may give
//! its own.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

/// `malloc`, and what takes its place.
type Allocate = unsafe extern "C" fn(usize) -> *mut c_void;

/// `free`, and what takes its place.
type Free = unsafe extern "C" fn(*mut c_void);

// SAFETY: as the C standard declares them; null is an answer of the one and no question to the
// other.
unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(pointer: *mut c_void);
}

static ALLOCATE: AtomicPtr<()> = AtomicPtr::new(malloc as *mut ());
static FREE: AtomicPtr<()> = AtomicPtr::new(free as *mut ());

/// Memory for `bytes` bytes, or null.
// SAFETY: the name is ours: no other library begins its names so.
#[unsafe(no_mangle)]
pub extern "C" fn nearcall_allocate(bytes: usize) -> *mut c_void {
    // Relaxed: set before anything else happens, as the header demands.
    let pointer = ALLOCATE.load(Ordering::Relaxed);
    // SAFETY: only functions of this type are stored there.
    let allocate = unsafe { std::mem::transmute::<*mut (), Allocate>(pointer) };
    // SAFETY: an allocator takes any size.
    unsafe { allocate(bytes) }
}

/// Gives back what `nearcall_allocate` gave; null is nothing.
///
/// # Safety
///
/// - H1 live: it was not given back before.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_free(pointer: *mut c_void) {
    if pointer.is_null() {
        return;
    }
    // Relaxed: as above.
    let free = FREE.load(Ordering::Relaxed);
    // SAFETY: only functions of this type are stored there.
    let free = unsafe { std::mem::transmute::<*mut (), Free>(free) };
    // SAFETY: H1.
    unsafe { free(pointer) }
}

/// From here on memory is had from these, or from the C library's if either is null: what the one
/// has given is nothing to somebody else's other. Before the first domain is made.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub extern "C" fn nearcall_set_allocator(allocate: Option<Allocate>, free_of: Option<Free>) {
    let (allocate, free) = allocate.zip(free_of).unwrap_or((malloc, free));
    // Relaxed: nothing was allocated yet, and no thread of ours runs yet.
    ALLOCATE.store(allocate as *mut (), Ordering::Relaxed);
    // Relaxed: as above.
    FREE.store(free as *mut (), Ordering::Relaxed);
}
