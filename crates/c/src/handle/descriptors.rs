//! Descriptors that go and come beside messages (docs/design/0019-descriptors.md). Those of the
//! program stay its own; those that come are given to it, all or none.

use std::ffi::c_int;
use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};

use nearcall::raw::{Call, DescriptorKind, Refusal, Results};
use nearcall::{CallError, UsageError, WrongDescriptor};

use super::literal;
use super::records::{DescriptorRecord, kind};

impl DescriptorRecord {
    /// What it has to be.
    pub fn kind(&self) -> DescriptorKind {
        match u32::from(self.kind) {
            kind::ANY => DescriptorKind::Any,
            kind::BINDING => DescriptorKind::Binding,
            kind::FILE => DescriptorKind::File,
            kind::SEGMENT => DescriptorKind::Segment,
            kind::SOCKET => DescriptorKind::Socket,
            other => panic!("a descriptor has no kind {other}"),
        }
    }

    /// The descriptor, which is the program's; no number below 0 is one. `None`: it is absent,
    /// which it may be.
    ///
    /// # Safety
    ///
    /// - D1 open: it is, for as long as `'d`.
    unsafe fn borrowed<'d>(&self) -> Result<Option<BorrowedFd<'d>>, WrongDescriptor> {
        match self.fd {
            // SAFETY: D1, and it is not -1.
            0.. => Ok(Some(unsafe { BorrowedFd::borrow_raw(self.fd) })),
            _ if self.is_optional => Ok(None),
            _ => Err(WrongDescriptor { wanted: self.kind(), mode: 0 }),
        }
    }
}

/// Sends descriptors ahead of a call.
///
/// # Safety
///
/// - D1 open: all of them, or below 0. H4 static: their names.
#[cold]
pub unsafe fn put_arguments(
    call: &mut Call<'_, '_>,
    records: &[DescriptorRecord],
) -> Result<(), Box<CallError>> {
    let mut all = Vec::with_capacity(records.len());
    for record in records {
        // SAFETY: H4.
        let parameter = unsafe { literal(record.name) };
        // SAFETY: D1.
        let descriptor = unsafe { record.borrowed() };
        let descriptor = descriptor.map_err(|wrong| {
            Box::new(CallError::Usage(UsageError::WrongDescriptor { parameter, wrong }))
        })?;
        all.push((parameter, record.kind(), descriptor));
    }
    call.put_each_descriptor(&all)
}

/// Sends descriptors ahead of a reply.
///
/// # Safety
///
/// - D1 open: all of them, or below 0.
#[cold]
pub unsafe fn put_results(
    results: &mut Results<'_>,
    records: &[DescriptorRecord],
) -> Result<(), Box<Refusal>> {
    let mut all = Vec::with_capacity(records.len());
    for record in records {
        // SAFETY: D1.
        let descriptor = unsafe { record.borrowed() };
        let descriptor = descriptor.map_err(|wrong| Box::new(Refusal::Descriptor(wrong)))?;
        all.push((record.kind(), descriptor));
    }
    results.put_each_descriptor(&all)
}

/// What records say that has to come, and what may, each with whether the peer says that it has.
pub fn kinds(records: &[DescriptorRecord]) -> (Vec<DescriptorKind>, Vec<(DescriptorKind, u8)>) {
    let (optional, all) = records.iter().partition::<Vec<_>, _>(|record| record.is_optional);
    let all = all.into_iter().map(DescriptorRecord::kind);
    let optional = optional.into_iter().map(|record| (record.kind(), record.is_there));
    (all.collect(), optional.collect())
}

/// Gives what came to the program.
pub fn hand_over(
    (came, optional): (Vec<OwnedFd>, Vec<Option<OwnedFd>>),
    records: &mut [DescriptorRecord],
) {
    let came = came.into_iter().map(Some).chain(optional);
    for (record, descriptor) in records.iter_mut().zip(came) {
        record.fd = descriptor.map_or(-1, IntoRawFd::into_raw_fd);
    }
}

/// Closes a descriptor; below 0 is none.
///
/// # Safety
///
/// - D1 open: it is, and nobody else closes it.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_close(fd: c_int) {
    if fd >= 0 {
        // SAFETY: D1, and it is not -1.
        drop(unsafe { OwnedFd::from_raw_fd(fd) });
    }
}
