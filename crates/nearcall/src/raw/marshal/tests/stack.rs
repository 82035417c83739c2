//! What is large is not read where the stack ends before it.

use super::*;

/// Small, and holds elsewhere what is large: a level of little stack before one of much.
#[derive(Debug, PartialEq)]
struct Small(Option<Box<Large>>);

#[derive(Debug, PartialEq)]
struct Large {
    blob: [u8; 8192],
    next: Option<Small>,
}

impl Marshal for Small {
    const BYTES_MIN: usize = 1;

    fn marshal(&self, writer: &mut Writer) {
        writer.appendable(|writer| {
            u32::from(self.0.is_some()).marshal(writer);
            self.0.iter().for_each(|large| large.marshal(writer));
        });
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Small, Malformed> {
        reader.oneof(|reader| match u32::unmarshal(reader)? {
            0 => Ok(Small(None)),
            _ => Box::unmarshal(reader).map(|large| Small(Some(large))),
        })
    }
}

impl Marshal for Large {
    const BYTES_MIN: usize = 1;

    fn marshal(&self, writer: &mut Writer) {
        self.blob.marshal(writer);
        self.next.marshal(writer);
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Large, Malformed> {
        Ok(Large { blob: Marshal::unmarshal(reader)?, next: Marshal::unmarshal(reader)? })
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

#[test]
fn what_is_large_is_read_only_where_there_is_stack_for_it() {
    let large = Large { blob: [7; 8192], next: Some(Small(None)) };
    let bytes = bytes_of(Some(Small(Some(Box::new(large)))));
    let read = |left| {
        let bytes = bytes.clone();
        let setup = nearcall_threads::Setup::default().stack_bytes(512 << 10);
        let read = move || read::<Option<Small>>(&bytes).map(drop);
        setup.run(move || with_stack_left(left, read)).unwrap()
    };
    let read: Vec<_> = (10..200).step_by(2).map(|left_kib| read(left_kib << 10)).collect();
    let is_refused = |read: &&_| matches!(read, Err(Malformed::Stack { .. }));
    let refused_count = read.iter().take_while(is_refused).count();
    let rest = &read[refused_count..];
    assert!(refused_count > 10 && !rest.is_empty() && rest.iter().all(Result::is_ok), "{read:?}");
}
