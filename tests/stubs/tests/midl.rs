//! What stubs of MIDL files promise, one fact a test, over the real runtime in both ways to bind.

#![forbid(unsafe_code)]

mod support;

use std::sync::Mutex;

use nearcall::CallError;
use stubs_tests::midl::*;
use stubs_tests::pfs::*;
use support::{KINDS, bind};

/// A file of words, and an attribute.
#[derive(Debug, Default)]
struct OneFile {
    words: Mutex<Vec<i32>>,
    attribute: Mutex<Option<Attribute>>,
}

impl PfsServer for OneFile {
    fn pfs_write(&self, handle: i32, pos: &mut i32, len: i32, data: &[i32]) -> i32 {
        let mut words = self.words.lock().unwrap();
        words.truncate(*pos as usize);
        words.extend(data);
        *pos += data.len() as i32;
        handle + len
    }

    fn pfs_read(&self, _handle: i32, pos: &mut i32, room: i32) -> (i32, Vec<i32>) {
        let words = self.words.lock().unwrap();
        let read: Vec<i32> =
            words.iter().skip(*pos as usize).take(room as usize).copied().collect();
        *pos += read.len() as i32;
        (0, read)
    }

    fn pfs_open(&self, name: &str, mode: &[i32]) -> (i32, i32) {
        (name.len() as i32, mode.first().copied().unwrap_or(-1))
    }

    fn pfs_get_direntries(&self, handle: i32) -> (i32, Vec<Entry>) {
        (handle, (0..handle).map(|inode| Entry { inode, name: format!("file {inode}") }).collect())
    }

    fn pfs_get_attribute(&self, _handle: i32, which: i32) -> Attribute {
        self.attribute.lock().unwrap().clone().unwrap_or(Attribute::Other(which))
    }

    fn pfs_set_attribute(&self, _handle: i32, attribute: &Attribute) {
        *self.attribute.lock().unwrap() = Some(attribute.clone());
    }
}

fn with_pfs(run: impl Fn(&PfsClient)) {
    for kind in KINDS {
        let bound = bind(kind, PfsEntries::new(OneFile::default()), &PFS);
        run(&PfsClient::new(bound.binding.clone()));
    }
}

#[test]
fn a_slice_carries_the_length_that_the_paper_passes() {
    with_pfs(|pfs| {
        let mut pos = 0;
        assert_eq!(pfs.pfs_write(40, &mut pos, 2, &[7, 8, 9]).unwrap(), 42);
        assert_eq!(pos, 3);
    });
}

#[test]
fn what_comes_back_carries_its_own_length() {
    with_pfs(|pfs| {
        pfs.pfs_write(0, &mut 0, 0, &[7, 8, 9]).unwrap();
        let mut pos = 1;
        assert_eq!(pfs.pfs_read(0, &mut pos, 10).unwrap(), (0, vec![8, 9]));
        assert_eq!(pos, 3);
    });
}

#[test]
fn a_null_pointer_is_an_empty_slice() {
    with_pfs(|pfs| {
        assert_eq!(pfs.pfs_open("name", &[]).unwrap(), (4, -1));
        assert_eq!(pfs.pfs_open("name", &[5]).unwrap(), (4, 5));
    });
}

#[test]
fn a_second_thing_behind_a_pointer_is_refused_by_the_caller() {
    with_pfs(|pfs| {
        let error = pfs.pfs_open("name", &[5, 6]).unwrap_err();
        assert!(matches!(error, CallError::Usage(_)), "{error}");
    });
}

#[test]
fn an_array_that_the_server_makes_comes_back_whole() {
    with_pfs(|pfs| {
        let (_, entries) = pfs.pfs_get_direntries(3).unwrap();
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[2], Entry { inode: 2, name: "file 2".to_owned() });
    });
}

#[test]
fn a_union_carries_its_discriminator() {
    with_pfs(|pfs| {
        assert_eq!(pfs.pfs_get_attribute(0, 9).unwrap(), Attribute::Other(9));
        let entry = Entry { inode: 1, name: "a".to_owned() };
        for attribute in [Attribute::Size(1 << 40), Attribute::Entry(entry)] {
            pfs.pfs_set_attribute(0, &attribute).unwrap();
            assert_eq!(pfs.pfs_get_attribute(0, 0).unwrap(), attribute);
        }
    });
}

/// Gives back what it gets.
#[derive(Debug)]
struct Echo;

impl MidlServer for Echo {
    fn null(&self) {}

    #[allow(clippy::many_single_char_names)]
    fn scalars(
        &self,
        a: bool,
        b: u8,
        _c: nearcall::Char,
        d: i8,
        e: u8,
        f: i16,
        g: u16,
        h: i32,
        i: u32,
        j: i64,
        k: u64,
        _l: f32,
        _m: f64,
        n: char,
        o: &mut State,
    ) -> (u32, Bare) {
        *o = State::After;
        let small = i64::from(b) + i64::from(d) + i64::from(e) + i64::from(f) + i64::from(g);
        let sum = small + i64::from(h) + i64::from(i) + j + k as i64 + i64::from(u32::from(n));
        (sum as u32, if a { Bare::BareTwo } else { Bare::BareOne })
    }

    fn lengths(
        &self,
        a: &[i16],
        size: u32,
        room: i32,
        e: &[i32],
    ) -> (i32, Vec<u8>, Vec<i32>, Vec<Record>) {
        let got = vec![a.len() as i32; room as usize];
        (e.len() as i32, vec![1; size as usize], got, vec![record(), record()])
    }

    fn texts(
        &self,
        a: &str,
        b: &[String],
        d: &[String],
        e: &str,
        max: i32,
        f: &mut String,
    ) -> (String, String) {
        f.push_str(&max.to_string());
        (format!("{a}{}", d.concat()), format!("{e}{}", b.len()))
    }

    fn nodes(&self, a: &Node, b: &[Node], c: &mut Node) -> (Vec<Node>, Vec<Node>) {
        c.next = Some(Box::new(a.clone()));
        (vec![a.clone()], b.to_vec())
    }

    fn unions(&self, a: &Value1, b: &Choice, wanted: i32, d: &Levelled) -> (Value1, Choice) {
        let big = match d.what {
            LevelledWhat::Big(big) => big as i32,
            _ => wanted,
        };
        let choice = if wanted == 0 { b.clone() } else { Choice::Number(big) };
        (a.clone(), choice)
    }

    #[allow(clippy::many_single_char_names)]
    fn arrays(
        &self,
        a: &[i32; 4],
        b: &mut [[f64; 3]; 2],
        c: &[u8; 4],
        e: &Digest,
        month: i32,
        share: Percent,
        f: &Holder,
        g: &Longs,
    ) -> Guid {
        b[1][2] = f64::from(a[3] + g.values.len() as i32 + f.always.value);
        let data1 = (month + share) as u32;
        Guid { data1, data2: u16::from(c[0]), data3: u16::from(e[15]), data4: [7; 8] }
    }

    fn again(&self, a: i16) -> i16 {
        a
    }

    fn told(&self, _a: i32) {}
}

fn record() -> Record {
    Record {
        room: vec![1, 2, 3],
        nick: None,
        name: "name".to_owned(),
        title: Some("title".to_owned()),
        label: "label".to_owned(),
        state: State::Busy,
        weight: Some(0.5),
        ..Record::default()
    }
}

fn with_midl(run: impl Fn(&MidlClient)) {
    for kind in KINDS {
        let bound = bind(kind, MidlEntries::new(Echo), &MIDL);
        run(&MidlClient::new(bound.binding.clone()));
    }
}

#[test]
fn every_scalar_arrives() {
    with_midl(|client| {
        let mut state = State::Idle;
        let c = nearcall::Char(b'x');
        let got = client
            .scalars(true, 1, c, -2, 3, 4, 5, 6, 7, 8, 9, 0.5, 0.25, '\u{10}', &mut state)
            .unwrap();
        assert_eq!(got, (57, Bare::BareTwo));
        assert_eq!(state, State::After);
        client.null().unwrap();
        client.told(1).unwrap();
        assert_eq!(client.again(-3).unwrap(), -3);
    });
}

#[test]
fn a_length_that_asks_stays_and_one_that_tells_goes() {
    with_midl(|client| {
        let (last, bytes, got, records) = client.lengths(&[1, 2], 3, 2, &[5; 4]).unwrap();
        assert_eq!((last, bytes, got), (4, vec![1; 3], vec![2, 2]));
        assert_eq!(records, [record(), record()]);
    });
}

#[test]
fn texts_of_both_widths_arrive() {
    with_midl(|client| {
        let mut both_ways = "f".to_owned();
        let rows = ["x".to_owned(), "\u{e9}".to_owned()];
        let got = client.texts("a", &[], &rows, "e", 9, &mut both_ways).unwrap();
        assert_eq!(got, ("ax\u{e9}".to_owned(), "e0".to_owned()));
        assert_eq!(both_ways, "f9");
    });
}

#[test]
fn a_list_is_passed_as_far_as_it_goes() {
    with_midl(|client| {
        let last = Node { value: 2, next: None };
        let first = Node { value: 1, next: Some(Box::new(last.clone())) };
        let mut other = Node { value: 0, next: None };
        let (returned, absent) = client.nodes(&first, &[], &mut other).unwrap();
        assert_eq!((returned, absent), (vec![first.clone()], vec![]));
        assert_eq!(other.next, Some(Box::new(first)));
    });
}

#[test]
fn unions_of_both_kinds_arrive() {
    with_midl(|client| {
        let text = Value1::Text(7, "seven".to_owned());
        let levelled = Levelled { what: LevelledWhat::Big(6) };
        let choice = Choice::Record(3, record());
        let got = client.unions(&text, &choice, 0, &levelled).unwrap();
        assert_eq!(got, (text.clone(), choice.clone()));
        let got = client.unions(&text, &choice, 1, &levelled).unwrap();
        assert_eq!(got, (text, Choice::Number(6)));
    });
}

#[test]
fn arrays_and_what_is_behind_pointers_arrive() {
    with_midl(|client| {
        let mut grid = [[0.0; 3]; 2];
        let later = Later { id: 1, digest: [2; 16] };
        let always = Node { value: 3, next: None };
        let holder = Holder { first: Some(later), always };
        let longs = Longs { values: vec![1, 2] };
        let got = client
            .arrays(&[1, 2, 3, 4], &mut grid, &[5; 4], &[6; 16], 12, 30, &holder, &longs)
            .unwrap();
        let want = Guid { data1: 42, data2: 5, data3: 6, data4: [7; 8] };
        assert_eq!((got, grid[1][2]), (want, 9.0));
    });
}

#[test]
fn a_range_is_held_by_the_caller() {
    with_midl(|client| {
        let holder = Holder { first: None, always: Node::default() };
        let longs = Longs::default();
        let mut grid = [[0.0; 3]; 2];
        let mut call = |month, share| {
            client.arrays(&[0; 4], &mut grid, &[0; 4], &[0; 16], month, share, &holder, &longs)
        };
        assert!(call(12, 100).is_ok());
        assert!(matches!(call(13, 100), Err(CallError::Usage(_))));
        assert!(matches!(call(12, 101), Err(CallError::Usage(_))));
    });
}

#[test]
fn an_array_past_its_room_is_refused_by_the_caller() {
    with_midl(|client| {
        let record = Record { room: vec![0; 65], ..record() };
        let levelled = Levelled { what: LevelledWhat::Flag(true) };
        let value = Value1::Number(1);
        let given = Choice::Record(2, record);
        let error = client.unions(&value, &given, 0, &levelled).unwrap_err();
        assert!(matches!(error, CallError::Usage(_)), "{error}");
    });
}
