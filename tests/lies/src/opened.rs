//! Open files that go with messages: such as an interface file has there, and others.

use std::io;
use std::os::fd::OwnedFd;

use nearcall::raw::DescriptorKind;
use nearcall_idl::layout::Root;
use nearcall_idl::model::{Descriptor, DescriptorKind as Declared, Direction, Operation};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

/// Whole pages, whatever the machine's are.
const SEGMENT_BYTES: u64 = 65_536;

/// No procedure passes more one way.
const COUNT_MAX: usize = 8;

/// A descriptor that goes with a message.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    pub root: Root,
    pub kind: DescriptorKind,
    pub is_optional: bool,
}

/// What goes with the arguments of an operation.
pub fn of_arguments(operation: &Operation) -> Vec<Passed> {
    in_order(passed(operation, false))
}

/// What comes with its results: what it returns is the first.
pub fn of_results(operation: &Operation) -> Vec<Passed> {
    let returned = operation.returns_descriptor.map(|one| (Root::Returned, one));
    in_order(returned.into_iter().chain(passed(operation, true)))
}

fn passed(operation: &Operation, is_back: bool) -> impl Iterator<Item = (Root, Descriptor)> + '_ {
    let own = operation.parameters.iter().zip(0..);
    let own = own.filter(move |(one, _)| (one.direction == Direction::Out) == is_back);
    own.filter_map(|(one, index)| Some((Root::Parameter(index), one.descriptor?)))
}

/// Those that may be absent go behind the others.
fn in_order(all: impl Iterator<Item = (Root, Descriptor)>) -> Vec<Passed> {
    let all = all.map(|(root, Descriptor { kind: declared, is_optional })| Passed {
        root,
        kind: kind(declared),
        is_optional,
    });
    let (optional, mut sorted): (Vec<_>, Vec<_>) = all.partition(|one| one.is_optional);
    sorted.extend(optional);
    sorted
}

fn kind(declared: Declared) -> DescriptorKind {
    match declared {
        Declared::Any => DescriptorKind::Any,
        Declared::Binding => DescriptorKind::Binding,
        Declared::File => DescriptorKind::File,
        Declared::Segment => DescriptorKind::Segment,
        Declared::Socket => DescriptorKind::Socket,
    }
}

/// What may not come in the place of these: none, one less, one more, and each of another kind.
pub fn wrong(right: &[DescriptorKind]) -> Vec<(String, Vec<DescriptorKind>)> {
    let Some((last, but_last)) = right.split_last() else { return Vec::new() };
    let mut all = vec![(String::from("none"), Vec::new())];
    if !but_last.is_empty() {
        all.push((String::from("one less"), but_last.to_vec()));
    }
    if right.len() < COUNT_MAX {
        all.push((String::from("one more"), [right, &[*last]].concat()));
    }
    for (own, index) in right.iter().zip(0..) {
        if let Some(other) = other(*own) {
            let mut changed = right.to_vec();
            changed[index] = other;
            all.push((format!("another {index}"), changed));
        }
    }
    all
}

/// What is not of this kind, and next to it.
fn other(kind: DescriptorKind) -> Option<DescriptorKind> {
    match kind {
        DescriptorKind::Any => None,
        DescriptorKind::File => Some(DescriptorKind::Any),
        DescriptorKind::Segment | DescriptorKind::Socket => Some(DescriptorKind::File),
        DescriptorKind::Binding => Some(DescriptorKind::Socket),
    }
}

/// One of each kind, with nothing in it: whoever reads it is at its end. Of any, a pipe.
pub fn opened(kinds: &[DescriptorKind]) -> Vec<OwnedFd> {
    let made = kinds.iter().map(|kind| match kind {
        DescriptorKind::Any => std::io::pipe().map(|(reader, _)| reader.into()),
        DescriptorKind::Binding => socket(SocketType::SEQPACKET),
        DescriptorKind::File => memory_file(),
        DescriptorKind::Segment => segment(),
        DescriptorKind::Socket => socket(SocketType::STREAM),
    });
    made.map(|one| one.expect("the system makes it")).collect()
}

fn memory_file() -> io::Result<OwnedFd> {
    Ok(rustix::fs::memfd_create("lie", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?)
}

fn segment() -> io::Result<OwnedFd> {
    let file = memory_file()?;
    let size = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, SEGMENT_BYTES)?;
    rustix::fs::fcntl_add_seals(&file, size | SealFlags::FUTURE_WRITE)?;
    Ok(file)
}

fn socket(form: SocketType) -> io::Result<OwnedFd> {
    Ok(socketpair(AddressFamily::UNIX, form, SocketFlags::CLOEXEC, None)?.0)
}
