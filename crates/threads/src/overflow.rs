//! A stack's overflow: the thread's name, and an end, instead of somebody else's broken memory.
//!
//! The fault is noticed by a signal handler on a stack of its own. A fault that is no FastThread's
//! overflow goes to whoever handled such faults before.

use std::ffi::{c_int, c_void};
use std::fmt::{self, Write};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use crate::processor::here;

/// Bytes of the handler's stack, if the kernel thread has none.
const BYTES: usize = 64 << 10;

/// What handled faults before.
static BEFORE: OnceLock<Before> = OnceLock::new();

struct Before(libc::sigaction);

// SAFETY: numbers and the address of a function, written once.
unsafe impl Send for Before {}

// SAFETY: as above.
unsafe impl Sync for Before {}

/// The calling kernel thread has a stack for the handler while this is there.
pub struct Watch {
    memory: Option<Box<[MaybeUninit<u8>]>>,
}

/// Has overflows on the calling kernel thread noticed.
pub fn watch() -> Watch {
    BEFORE.get_or_init(install);
    let mut now = MaybeUninit::<libc::stack_t>::uninit();
    // SAFETY: asks only, into memory for the answer.
    let asked = unsafe { libc::sigaltstack(ptr::null(), now.as_mut_ptr()) };
    assert_eq!(asked, 0, "the kernel tells of the stack for signals");
    // SAFETY: filled by the call that succeeded.
    let now = unsafe { now.assume_init() };
    if now.ss_flags & libc::SS_DISABLE == 0 {
        return Watch { memory: None };
    }
    let mut memory = vec![MaybeUninit::uninit(); BYTES].into_boxed_slice();
    set_stack(memory.as_mut_ptr().cast(), 0);
    Watch { memory: Some(memory) }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.memory.is_some() {
            set_stack(ptr::null_mut(), libc::SS_DISABLE);
        }
    }
}

/// Tells the kernel where signals of this kernel thread are handled.
fn set_stack(low: *mut c_void, flags: c_int) {
    let stack = libc::stack_t { ss_sp: low, ss_flags: flags, ss_size: BYTES };
    // SAFETY: `low` has as many bytes, which stay until `Watch` takes them back.
    let outcome = unsafe { libc::sigaltstack(&stack, ptr::null_mut()) };
    assert_eq!(outcome, 0, "the kernel takes a stack for signals");
}

fn install() -> Before {
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_fault;
    // SAFETY: a struct of numbers, for which zero is a value.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: the handler does what a handler may: it reads, writes to a descriptor and aborts.
    let outcome = unsafe { libc::sigaction(libc::SIGSEGV, &action, before.as_mut_ptr()) };
    assert_eq!(outcome, 0, "the kernel takes a handler");
    // SAFETY: filled by the call that succeeded.
    Before(unsafe { before.assume_init() })
}

extern "C" fn on_fault(signal: c_int, fault: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands over what SA_SIGINFO asks for.
    let fault_ref = unsafe { &*fault };
    // SAFETY: SIGSEGV comes with an address.
    let address = unsafe { fault_ref.si_addr() } as usize;
    if let Some(processor) = here() {
        let thread = processor.running();
        if thread.stack.is_guarded(address) {
            let mut message = Message { bytes: [0; 1024], count: 0 };
            // All of it fits, because of names their first characters are enough.
            let _ = write!(message, "FastThread {}", thread.number.get());
            if let Ok(rare) = thread.rare.try_borrow()
                && let Some(name) = &rare.name
            {
                let _ = write!(message, " `{name:.96}`");
            }
            if !thread.guest.get().is_empty() {
                let _ = write!(message, ", which runs `{:.96}`,", thread.guest.get());
            }
            let bytes = thread.stack.bytes();
            let _ = writeln!(message, " has overflowed its stack of {bytes} bytes: aborting");
            let _ = rustix::io::write(rustix::stdio::stderr(), message.said());
            std::process::abort();
        }
    }
    pass_on(signal, fault, context);
}

/// Not ours.
fn pass_on(signal: c_int, fault: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(Before(before)) = BEFORE.get() else { std::process::abort() };
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // The instruction is tried again, and now the kernel ends the process as it would have.
            // SAFETY: puts back what was there.
            unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            // SAFETY: the flag says that the handler is of this type.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
            handler(signal, fault, context);
        }
        handler => {
            // SAFETY: without the flag it is of this type.
            let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
            handler(signal);
        }
    }
}

/// Text without an allocation.
struct Message {
    bytes: [u8; 1024],
    count: usize,
}

impl Message {
    fn said(&self) -> &[u8] {
        &self.bytes[..self.count]
    }
}

impl Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let rest = &mut self.bytes[self.count..];
        let count = text.len().min(rest.len());
        rest[..count].copy_from_slice(&text.as_bytes()[..count]);
        self.count += count;
        Ok(())
    }
}
