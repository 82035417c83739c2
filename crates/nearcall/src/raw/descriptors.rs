//! Descriptors of stubs that learn only when they run how many there are: those in C, and those
//! that are interpreted (design note 0019).

use std::os::fd::{BorrowedFd, OwnedFd};

use nearcall_os::descriptor::DescriptorKind;

use super::arguments::{Arguments, Refusal, Results};
use super::call::Call;
use super::malformed::Malformed;
use super::reply::Reply;
use crate::error::CallError;

/// Evaluates `$act` over a slice as the array that it is: one to eight, as interfaces declare.
macro_rules! with_array {
    ($items:expr, |$array:ident| $act:expr) => {
        with_array!($items, |$array| $act, 1 2 3 4 5 6 7 8)
    };
    ($items:expr, |$array:ident| $act:expr, $($count:literal)*) => {
        match $items.len() {
            $($count => {
                let $array: [_; $count] = $items.try_into().expect("as many");
                $act
            })*
            count => panic!("no procedure passes {count} descriptors one way"),
        }
    };
}

impl Call<'_, '_> {
    /// [`Call::put_descriptors`], of as many as there are.
    ///
    /// # Errors: as there.
    ///
    /// # Panics
    ///
    /// If there are none, or more than eight.
    pub fn put_each_descriptor(
        &mut self,
        descriptors: &[(&'static str, DescriptorKind, BorrowedFd<'_>)],
    ) -> Result<(), Box<CallError>> {
        with_array!(descriptors, |array| self.put_descriptors(array))
    }
}

impl Reply<'_> {
    /// [`Reply::descriptors`], of as many as there are kinds.
    ///
    /// # Errors: as there.
    ///
    /// # Panics
    ///
    /// If there are none, or more than eight.
    pub fn each_descriptor(
        &self,
        kinds: &[DescriptorKind],
    ) -> Result<Vec<OwnedFd>, Box<CallError>> {
        with_array!(kinds, |array| self.descriptors(array).map(Vec::from))
    }
}

impl Arguments<'_> {
    /// [`Arguments::descriptors`], of as many as there are kinds.
    ///
    /// # Errors: as there.
    ///
    /// # Panics
    ///
    /// If there are none, or more than eight.
    pub fn each_descriptor(&self, kinds: &[DescriptorKind]) -> Result<Vec<OwnedFd>, Malformed> {
        with_array!(kinds, |array| self.descriptors(array).map(Vec::from))
    }
}

impl Results<'_> {
    /// [`Results::put_descriptors`], of as many as there are.
    ///
    /// # Errors: as there.
    ///
    /// # Panics
    ///
    /// If there are none, or more than eight.
    pub fn put_each_descriptor(
        &mut self,
        descriptors: &[(DescriptorKind, BorrowedFd<'_>)],
    ) -> Result<(), Box<Refusal>> {
        with_array!(descriptors, |array| self.put_descriptors(array))
    }
}
