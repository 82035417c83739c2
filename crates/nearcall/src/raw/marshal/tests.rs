//! What is read is what was written, and nothing else is.

use super::*;

#[cfg(feature = "threads")]
mod stack;

fn bytes_of(value: impl Marshal) -> Vec<u8> {
    let mut writer = Writer::new();
    value.marshal(&mut writer);
    writer.finish("value").unwrap().to_vec()
}

fn read<T: Marshal>(bytes: &[u8]) -> Result<T, Malformed> {
    let mut reader = Reader::new(bytes);
    let value = T::unmarshal(&mut reader)?;
    reader.finish().map(|()| value)
}

#[test]
fn a_nested_value_survives_its_bytes() {
    type Value = Vec<(BTreeMap<String, Option<char>>, [i16; 2])>;
    let map = BTreeMap::from([("é".to_owned(), Some('€')), (String::new(), None)]);
    let value = (map, [-1i16, 2]);
    assert_eq!(read(&bytes_of(value.0.clone())), Ok(value.0));
    assert_eq!(read(&bytes_of(value.1)), Ok(value.1));
    assert_eq!(read::<Vec<u8>>(&bytes_of(Value::new().len() as u32)), Ok(Vec::new()));
}

#[test]
fn a_count_that_cannot_be_there_allocates_nothing() {
    let huge = u32::MAX.to_le_bytes();
    let limit = 0;
    let claimed = u64::from(u32::MAX) * 8;
    assert_eq!(read::<Vec<u64>>(&huge), Err(Malformed::Length { claimed, limit }));
    assert!(read::<BTreeMap<u8, u8>>(&huge).is_err());
}

#[test]
fn a_key_that_comes_twice_is_malformed() {
    let keys = |bytes: &[u8]| read::<BTreeMap<u8, bool>>(bytes).map(|map| map.len());
    assert_eq!(keys(&[2, 0, 0, 0, 1, 0, 2, 0]), Ok(2));
    let keys = keys(&[2, 0, 0, 0, 1, 0, 1, 0]);
    assert_eq!(keys, Err(Malformed::Keys { claimed: 2, distinct: 1 }));
}

#[test]
fn a_boolean_of_two_is_out_of_range() {
    assert_eq!(read::<bool>(&[2]), Err(Malformed::Range { claimed: 2 }));
    assert_eq!(read::<Option<u8>>(&[7, 0]), Err(Malformed::Range { claimed: 7 }));
}

#[test]
fn a_surrogate_is_no_character() {
    assert_eq!(read::<char>(&0xd800u32.to_le_bytes()), Err(Malformed::range(0xd800u32)));
}

#[test]
fn text_names_the_byte_where_it_stops_being_utf_8() {
    assert_eq!(read::<String>(&[2, 0, 0, 0, b'a', 0xff]), Err(Malformed::Text { at: 1 }));
}

#[test]
fn bytes_left_over_are_malformed() {
    assert_eq!(read::<u8>(&[1, 2]), Err(Malformed::Left { bytes: 1 }));
}

/// An appendable struct, of as many members as a version has.
#[derive(Debug, PartialEq)]
struct Grown<const MEMBERS: usize>(Vec<u16>);

impl<const MEMBERS: usize> Marshal for Grown<MEMBERS> {
    const BYTES_MIN: usize = 4;

    fn marshal(&self, writer: &mut Writer) {
        writer.appendable(|writer| self.0.iter().for_each(|member| member.marshal(writer)));
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.appendable(|reader| {
            let member = |_| u16::unmarshal(reader.or_missing(&[7, 0])?);
            (0..MEMBERS).map(member).collect::<Result<_, _>>().map(Grown)
        })
    }
}

#[test]
fn members_that_did_not_come_are_their_defaults_and_those_unknown_are_left_out() {
    let two = bytes_of(vec![Grown::<2>(vec![1, 2]), Grown(vec![3, 4])]);
    assert_eq!(read(&two), Ok(vec![Grown::<1>(vec![1]), Grown(vec![3])]));
    assert_eq!(read(&two), Ok(vec![Grown::<3>(vec![1, 2, 7]), Grown(vec![3, 4, 7])]));
    assert_eq!(read(&[0; 4]), Ok(Grown::<2>(vec![7, 7])));
    assert_eq!(read(&[0; 4]), Ok(Grown::<0>(Vec::new())));
}

#[test]
fn defaults_of_one_payload_are_limited() {
    /// A struct whose one member is 64 KiB of default.
    struct Wide;
    impl Marshal for Wide {
        const BYTES_MIN: usize = 4;

        fn marshal(&self, writer: &mut Writer) {
            writer.appendable(|_| ());
        }

        fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
            reader
                .appendable(|reader| reader.or_missing(&[0; 1 << 16])?.bytes(1 << 16).map(|_| Wide))
        }
    }
    let limit = DEFAULT_BYTES_MAX >> 16;
    let of = |lists: &[usize]| {
        let list = |count: &usize| (0..*count).map(|_| Wide).collect::<Vec<_>>();
        bytes_of(lists.iter().map(list).collect::<Vec<_>>())
    };
    assert_eq!(read::<Vec<Vec<Wide>>>(&of(&[limit])).map(|lists| lists.len()), Ok(1));
    let (claimed, limit) = ((limit as u64 + 1) << 16, DEFAULT_BYTES_MAX as u64);
    let past = read::<Vec<Vec<Wide>>>(&of(&[200, 57])).map(|lists| lists.len());
    assert_eq!(past, Err(Malformed::Length { claimed, limit }));
}

#[test]
fn a_length_of_a_struct_is_judged_and_its_end_is_kept() {
    let length = |claimed, limit| Malformed::Length { claimed, limit };
    assert_eq!(read::<Grown<1>>(&[3, 0, 0, 0, 1, 0]), Err(length(3, 2)));
    let huge = u32::MAX.to_le_bytes();
    assert_eq!(read::<Grown<1>>(&huge), Err(length(u32::MAX.into(), 0)));
    // The second member begins, and ends beyond the struct.
    let cut = [3, 0, 0, 0, 1, 0, 2, 0];
    assert_eq!(read::<Grown<2>>(&cut), Err(length(2, 1)));
    assert_eq!(read::<Grown<1>>(&cut), Err(Malformed::Left { bytes: 1 }));
}

/// A oneof of the file's field 1.
#[derive(Debug, PartialEq)]
struct Either(Option<u16>);

impl Marshal for Either {
    const BYTES_MIN: usize = 4;

    fn marshal(&self, writer: &mut Writer) {
        writer.appendable(|writer| {
            u32::from(self.0.is_some()).marshal(writer);
            self.0.iter().for_each(|value| value.marshal(writer));
        });
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.oneof(|reader| match u32::unmarshal(reader)? {
            1 => u16::unmarshal(reader).map(|value| Either(Some(value))),
            0 => Ok(Either(None)),
            _ => {
                reader.leave_case_out();
                Ok(Either(None))
            }
        })
    }
}

#[test]
fn a_oneof_has_nothing_behind_a_case_that_is_known() {
    let both = bytes_of(vec![Either(Some(5)), Either(None)]);
    assert_eq!(read(&both), Ok(vec![Either(Some(5)), Either(None)]));
    let unknown = [2, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 8, 8, 8, 6, 0, 0, 0, 1, 0, 0, 0, 5, 0];
    assert_eq!(read(&unknown), Ok(vec![Either(None), Either(Some(5))]));
    let behind = [8, 0, 0, 0, 1, 0, 0, 0, 5, 0, 3, 4];
    assert_eq!(read::<Either>(&behind), Err(Malformed::Left { bytes: 2 }));
    assert_eq!(read::<Either>(&[5, 0, 0, 0, 0, 0, 0, 0, 9]), Err(Malformed::Left { bytes: 1 }));
}

#[test]
fn nesting_past_the_limit_is_malformed() {
    let mut reader = Reader::new(&[]);
    fn deeper(reader: &mut Reader<'_>, levels: usize) -> Result<usize, Malformed> {
        match levels {
            0 => Ok(0),
            _ => reader.nested::<u8, _>(|reader| deeper(reader, levels - 1)),
        }
    }
    assert_eq!(deeper(&mut reader, DEPTH_MAX), Ok(0));
    assert_eq!(deeper(&mut reader, DEPTH_MAX + 1), Err(Malformed::Depth));
}

/// Two levels each.
#[derive(Debug, PartialEq)]
struct Chain(Option<Box<Chain>>);

impl Marshal for Chain {
    const BYTES_MIN: usize = 1;

    fn marshal(&self, writer: &mut Writer) {
        self.0.marshal(writer);
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Chain, Malformed> {
        Marshal::unmarshal(reader).map(Chain)
    }
}

#[test]
fn what_would_be_nested_too_deep_to_be_read_is_not_written() {
    let chain = |links| (0..links).fold(Chain(None), |rest, _| Chain(Some(Box::new(rest))));
    let written = |links| {
        let mut writer = Writer::new();
        chain(links).marshal(&mut writer);
        writer.finish("chain")
    };
    let bytes = written(DEPTH_MAX / 2).unwrap();
    assert_eq!(read::<Chain>(&bytes), Ok(chain(DEPTH_MAX / 2)));
    for links in [DEPTH_MAX / 2 + 1, 1_000] {
        let refused = written(links).unwrap_err().to_string();
        assert_eq!(refused, "chain is 65 levels deep, allowed is 0 to 64");
    }
}

/// A level is several KiB of stack.
#[derive(Debug, PartialEq)]
struct Node {
    blob: [u8; 8192],
    kids: Vec<Node>,
}

impl Marshal for Node {
    const BYTES_MIN: usize = 8196;

    fn marshal(&self, writer: &mut Writer) {
        self.blob.marshal(writer);
        self.kids.marshal(writer);
    }

    fn unmarshal(reader: &mut Reader<'_>) -> Result<Node, Malformed> {
        Ok(Node { blob: Marshal::unmarshal(reader)?, kids: Marshal::unmarshal(reader)? })
    }
}

/// The bytes of so many nodes, each the kid of the one before.
fn nodes(levels: usize) -> Vec<u8> {
    let kid = |kids| vec![Node { blob: [7; 8192], kids }];
    bytes_of((0..levels).fold(Vec::new(), |kids, _| kid(kids)))
}

#[test]
fn a_kernel_thread_reads_no_deeper_than_its_stack_allows() {
    let read = |levels| {
        let bytes = nodes(levels);
        let thread = std::thread::Builder::new().stack_size(2 << 20);
        thread.spawn(move || read::<Vec<Node>>(&bytes).map(drop)).unwrap().join().unwrap()
    };
    assert_eq!(read(5), Ok(()));
    let refused = read(DEPTH_MAX - 1);
    assert!(matches!(refused, Err(Malformed::Stack { .. })), "{refused:?}");
}

#[cfg(feature = "threads")]
#[test]
fn a_fastthread_reads_no_deeper_than_its_stack_allows() {
    for stack_kib in [64, 192, 512] {
        let bytes = nodes(DEPTH_MAX - 1);
        let setup = nearcall_threads::Setup::default().stack_bytes(stack_kib << 10);
        let refused = setup.run(move || read::<Vec<Node>>(&bytes).map(drop)).unwrap();
        assert!(matches!(refused, Err(Malformed::Stack { .. })), "{stack_kib}: {refused:?}");
    }
}

#[test]
fn a_breached_bound_names_member_value_and_limit() {
    let mut writer = Writer::new();
    writer.bound("name", 5, 4);
    writer.bound("later", 9, 1);
    let refused = writer.finish("value").unwrap_err().to_string();
    assert_eq!(refused, "name has 5 bytes or elements, its limit is 4");
    let mut writer = Writer::new();
    writer.range("at", &-5, "0 to 9");
    writer.range("later", &1, "2 or more");
    let refused = writer.finish("value").unwrap_err().to_string();
    assert_eq!(refused, "at is -5, allowed is 0 to 9");
}
