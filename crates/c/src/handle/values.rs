//! Values of C that Rust holds for a while: items of feeds and exchanges, results of takers, and
//! what was raised instead.

use std::ffi::c_void;

use nearcall::raw::Refusal;

use super::memory::nearcall_allocate;
use super::records::{BatchRecord, Environment, Outcome};
use super::telling::say;

/// Gives back what a value holds.
pub type Free = unsafe extern "C" fn(*mut c_void);

/// Zeroed memory for any value of C of as many bytes.
pub fn words(byte_count: usize) -> Box<[u64]> {
    vec![0; byte_count.div_ceil(size_of::<u64>())].into()
}

/// A value of C, with what it holds.
pub struct Value {
    bytes: Box<[u64]>,
    free: Option<Free>,
}

impl Value {
    pub fn new(byte_count: u32, free: Option<Free>) -> Value {
        Value { bytes: words(byte_count as usize), free }
    }

    /// One that stands elsewhere so far.
    ///
    /// # Safety
    ///
    /// - H2 bytes: `source`, of a value that `free` is for; nobody else gives back what it holds.
    pub unsafe fn moved_from(source: *const c_void, byte_count: u32, free: Option<Free>) -> Value {
        let mut value = Value::new(byte_count, free);
        let target = value.at().cast::<u8>();
        // SAFETY: H2; the value was made just now, for as many bytes.
        unsafe { target.copy_from_nonoverlapping(source.cast(), byte_count as usize) };
        value
    }

    pub fn at(&mut self) -> *mut c_void {
        self.bytes.as_mut_ptr().cast()
    }

    /// Moves it to where there is room.
    ///
    /// # Safety
    ///
    /// - H2 bytes: `target`, writable.
    pub unsafe fn move_to(mut self, target: *mut c_void, byte_count: u32) {
        self.free = None;
        let source = self.bytes.as_ptr().cast::<u8>();
        // SAFETY: H2, and the value was made with as many bytes.
        unsafe { target.cast::<u8>().copy_from_nonoverlapping(source, byte_count as usize) };
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: generated for values of this type; zeroed ones hold nothing.
            unsafe { free(self.at()) };
        }
    }
}

/// What was raised instead of an item, or of a result.
pub struct Raised(Box<Environment>);

// SAFETY: an exception is memory of the allocator's, which any thread may give back.
unsafe impl Send for Raised {}

impl Raised {
    /// What an environment has; there is nothing in it then.
    pub fn taken_from(environment: &mut Environment) -> Raised {
        Raised(Box::new(std::mem::replace(environment, Environment::nothing())))
    }

    /// Gives it to an entry stub.
    pub fn move_to(mut self, environment: &mut Environment) {
        let nothing = Environment::nothing();
        *environment = std::mem::replace(&mut *self.0, nothing);
    }

    /// Words of a panic that no entry stub was given, and so nobody was told of.
    fn lost(&self) -> Option<String> {
        let is_panic = self.0.outcome == Outcome::Panicked as u32;
        let why = || self.0.message();
        is_panic.then(|| format!("a feed that nobody waits for any more panicked: {}", why()))
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        if let Some(lost) = self.lost() {
            say(&lost);
        }
        if let Some(release) = self.0.release
            && !self.0.exception.is_null()
        {
            // SAFETY: H1, of the exception, which is given back once.
            unsafe { release(self.0.exception) };
        }
    }
}

/// What a function of C has said: raised, or nothing of that kind.
pub fn said(environment: Environment) -> Result<(), Raised> {
    match environment.outcome {
        Outcome::RETURNED => Ok(()),
        _ => Err(Raised(Box::new(environment))),
    }
}

impl BatchRecord {
    /// A batch of nothing.
    pub fn nothing() -> BatchRecord {
        BatchRecord { items: std::ptr::null_mut(), count: 0 }
    }

    /// Moves items into memory of the allocator's.
    pub fn of(
        items: impl ExactSizeIterator<Item = Value>,
        item_bytes: u32,
    ) -> Result<BatchRecord, Refusal> {
        let count = items.len();
        if count == 0 {
            return Ok(BatchRecord::nothing());
        }
        let bytes = count * item_bytes as usize;
        let batch = BatchRecord { items: nearcall_allocate(bytes), count: count as u32 };
        if batch.items.is_null() {
            return Err(Refusal::NoMemory { bytes: bytes as u64 });
        }
        for (item, at) in items.zip(0usize..) {
            // SAFETY: within what was allocated just now for all of them.
            let target = unsafe { batch.items.byte_add(at * item_bytes as usize) };
            // SAFETY: there is room for one item.
            unsafe { item.move_to(target, item_bytes) };
        }
        Ok(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_that_no_entry_stub_is_given_is_not_lost() {
        let mut environment = Environment::nothing();
        environment.set_message("no more rows");
        environment.end_by(Outcome::Panicked as u32);
        let mut raised = Raised::taken_from(&mut environment);
        let want = "a feed that nobody waits for any more panicked: no more rows";
        assert_eq!(raised.lost().as_deref(), Some(want));
        // It is the environment's again.
        std::mem::swap(&mut *raised.0, &mut environment);
        assert_eq!(raised.lost(), None);
    }
}
