//! What is large is not read where the stack ends before it.

use std::collections::BTreeMap;

use super::*;

/// Small, and holds elsewhere what is large: a level of little stack before one of much.
#[derive(Debug, Default, PartialEq)]
struct Small<H>(H);

#[derive(Clone, Debug, PartialEq)]
struct Large([u8; 8192]);

impl<H: Marshal> Marshal for Small<H> {
    const BYTES_MIN: usize = 1;

    fn marshal(&self, writer: &mut Writer) {
        writer.appendable(|writer| self.0.marshal(writer));
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.appendable(|reader| H::unmarshal(reader).map(Small))
    }

    fn unmarshal_over(&mut self, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        reader.appendable(|reader| self.0.unmarshal_over(reader))
    }
}

impl Marshal for Large {
    const BYTES_MIN: usize = 1;

    fn marshal(&self, writer: &mut Writer) {
        self.0.marshal(writer);
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Large, Malformed> {
        Marshal::unmarshal(reader).map(Large)
    }
}

/// Runs it with no more stack left than so many bytes.
fn with_stack_left<T>(bytes: usize, run: impl FnOnce() -> T) -> T {
    let used = std::hint::black_box([0u8; 512]);
    let left = stack_pointer() - switching::stack_end().expect("this is a FastThread");
    let value = if left <= bytes { run() } else { with_stack_left(bytes, run) };
    std::hint::black_box(used);
    value
}

/// Reads `bytes` by `read` with less and less stack left.
#[track_caller]
fn check(bytes: &[u8], read: fn(&mut Reader<'_>) -> Result<(), Malformed>) {
    let read = |left| {
        let bytes = bytes.to_vec();
        let setup = nearcall_threads::Setup::default().stack_bytes(512 << 10);
        let read = move || read(&mut Reader::new(&bytes));
        setup.run(move || with_stack_left(left, read)).unwrap()
    };
    let read: Vec<_> = (10..200).step_by(2).map(|left_kib| read(left_kib << 10)).collect();
    let is_refused = |read: &&_| matches!(read, Err(Malformed::Stack { .. }));
    let refused_count = read.iter().take_while(is_refused).count();
    let rest = &read[refused_count..];
    assert!(refused_count > 10 && !rest.is_empty() && rest.iter().all(Result::is_ok), "{read:?}");
}

fn check_held<H: Marshal>(held: H) {
    let bytes = bytes_of(Some(Small(held)));
    check(&bytes, |reader| Option::<Small<H>>::unmarshal(reader).map(drop));
}

#[test]
fn what_is_large_is_read_only_where_there_is_stack_for_it() {
    let large = || Large([7; 8192]);
    check_held(Box::new(large()));
    check_held(vec![large(), large()]);
    check_held(BTreeMap::from([(1u32, large()), (2, large())]));
    // Over what is there, and over nothing.
    let bytes = bytes_of(Some(Small(vec![large(), large()])));
    check(&bytes, |reader| {
        let mut over = Some(Small(vec![Large([0; 8192])]));
        over.unmarshal_over(reader)
    });
    let bytes = bytes_of(Some(Small(Box::new(large()))));
    check(&bytes, |reader| {
        let mut over = Some(Small(Box::new(Large([0; 8192]))));
        over.unmarshal_over(reader)
    });
}
