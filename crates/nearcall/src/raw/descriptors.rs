//! Descriptors of stubs that learn only when they run how many there are, as those in C and those
//! that are interpreted do, or of which some are absent (design note 0019).

use std::fmt;
use std::os::fd::{BorrowedFd, OwnedFd};

use nearcall_os::descriptor::DescriptorKind;

use super::arguments::{Arguments, Refusal, Results};
use super::call::Call;
use super::malformed::Malformed;
use super::reply::Reply;
use crate::error::CallError;
use crate::passed::{Came, Due};

/// What had to come, and what may have been absent.
pub type Passed<const N: usize, const M: usize> = ([OwnedFd; N], [Option<OwnedFd>; M]);

/// What was judged to be as many.
pub(super) fn all_of<T: fmt::Debug, const N: usize>(came: Vec<T>) -> [T; N] {
    came.try_into().expect("it was judged how many came")
}

impl Call<'_, '_> {
    /// [`Call::put_descriptors`], of as many as there are; `None` is absent.
    ///
    /// # Errors: as there.
    ///
    /// # Panics
    ///
    /// If there are none, or more than eight.
    pub fn put_each_descriptor(
        &mut self,
        descriptors: &[(&'static str, DescriptorKind, Option<BorrowedFd<'_>>)],
    ) -> Result<(), Box<CallError>> {
        self.held.send_descriptors(self.procedure, self.deadline, descriptors)
    }
}

impl Reply<'_> {
    /// [`Reply::optional_descriptors`], of as many as there are kinds.
    ///
    /// # Errors: as there.
    pub fn each_descriptor(
        &self,
        kinds: &[DescriptorKind],
        optional: &[(DescriptorKind, u8)],
    ) -> Result<Came, Box<CallError>> {
        self.grip.take_descriptors(self.procedure, Due { kinds, optional })
    }
}

impl Arguments<'_> {
    /// [`Arguments::optional_descriptors`], of as many as there are kinds.
    ///
    /// # Errors: as there.
    pub fn each_descriptor(
        &self,
        kinds: &[DescriptorKind],
        optional: &[(DescriptorKind, u8)],
    ) -> Result<Came, Malformed> {
        self.call.take_descriptors(Due { kinds, optional })
    }
}

impl Results<'_> {
    /// [`Results::put_descriptors`], of as many as there are; `None` is absent.
    ///
    /// # Errors: as there.
    ///
    /// # Panics
    ///
    /// If there are none, or more than eight.
    pub fn put_each_descriptor(
        &mut self,
        descriptors: &[(DescriptorKind, Option<BorrowedFd<'_>>)],
    ) -> Result<(), Box<Refusal>> {
        self.call.send_descriptors(descriptors)
    }
}
