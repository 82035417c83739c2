//! What generated stubs promise, one fact a test, over the real runtime in both ways to bind.

#![forbid(unsafe_code)]

mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use nearcall::{CallError, Error, Opaque, OpaqueOut, UsageError};
use stubs_tests::trips::trips::*;
use support::{KINDS, bind};

#[derive(Debug, Default)]
struct Tester {
    level: AtomicI32,
    posted: AtomicU64,
}

impl TripsServer for Tester {
    fn level(&self) -> i32 {
        self.level.load(Ordering::SeqCst)
    }

    fn set_level(&self, value: i32) {
        self.level.store(value, Ordering::SeqCst);
    }

    fn name(&self) -> String {
        String::from("tester")
    }

    fn greet(&self, who: &str) -> String {
        format!("hello, {who}")
    }

    fn sent(
        &self,
        name: &str,
        wide: &str,
        numbers: &[i32],
        few: &[u8],
        person: &Person,
        shorts: &[Tag],
    ) -> u32 {
        let all = name.len() + wide.len() + numbers.len() + few.len() + shorts.len();
        (all + person.others.len()) as u32
    }

    fn received(&self, bytes: u32, numbers: u32) -> (Tag, Vec<i32>, Vec<Tag>) {
        let text = "x".repeat(bytes as usize);
        (text.clone(), vec![-1; numbers as usize], vec![text])
    }

    fn words(&self, level: Level, rights: &mut Rights, given: Packed) -> (Level, Packed) {
        *rights |= Rights::OWN;
        (level, given)
    }

    fn choose(&self, given: &Choice) -> Choice {
        given.clone()
    }

    fn grow(&self, tree: &Tree) -> Tree {
        Tree { value: tree.value + 1, below: vec![tree.clone()] }
    }

    fn join(&self, node: &Node, edge: &Edge) -> Node {
        Node { id: node.id + 1, edges: vec![edge.clone(), edge.clone()] }
    }

    fn longer(&self, links: &Chain) -> Chain {
        Chain { form: links.form.clone(), next: Some(Box::new(links.clone())) }
    }

    fn within(
        &self,
        which: i32,
        share: &mut Percent,
        all: &[Percent],
        reading: &Reading,
        readings: &Readings,
        pair: &Pair,
        part: &Part,
        ratio: f32,
    ) -> (Percent, f64) {
        assert_eq!((readings[1].grade, pair[1], part), (reading.grade, 100, &Part::Share(50)));
        *share += which;
        (all.iter().sum(), f64::from(ratio))
    }

    fn change(
        &self,
        data: Opaque<'_>,
        refused: bool,
        mut written: OpaqueOut<'_>,
    ) -> Result<(Octets, String), TripsChangeException> {
        written.put(b"before").unwrap();
        if refused && data.is_empty() {
            return Err(TripsChangeException::Gone(Gone));
        }
        if refused {
            let (why, code) = (String::from("because"), data.len() as i32);
            return Err(Refused { why, code, choice: Choice::Number(2, 5) }.into());
        }
        written.put(&data.to_vec()).unwrap();
        Ok((data.to_vec(), String::from("after")))
    }

    fn whole(&self, bytes: u32, mut returned: OpaqueOut<'_>) {
        returned.put(&vec![7; bytes as usize]).unwrap();
    }

    fn both(&self, data: Opaque<'_>, mut data_out: OpaqueOut<'_>, count: &mut i32) {
        *count = data.len() as i32;
        let mut turned = data.to_vec();
        turned.reverse();
        data_out.put(&turned).unwrap();
    }

    fn two(&self, mut first: OpaqueOut<'_>) -> Octets {
        first.put(b"first").unwrap();
        b"second".to_vec()
    }

    fn post(&self, number: u32) {
        self.posted.fetch_add(number.into(), Ordering::SeqCst);
    }

    fn posted(&self) -> u64 {
        self.posted.load(Ordering::SeqCst)
    }
}

fn each_binding(test: impl Fn(&TripsClient)) {
    for kind in KINDS {
        let bound = bind(kind, TripsEntries::new(Tester::default()), &TRIPS);
        test(&TripsClient::new(bound.binding.clone()));
    }
}

fn person() -> Person {
    Person {
        name: String::from("anna"),
        others: vec![String::from("b"), String::from("c")],
        keys: BTreeMap::from([(String::from("k"), vec![1, 2, 3])]),
        nick: Some(String::from("äöü")),
        choice: Choice::Text(String::from("12345")),
    }
}

fn send(client: &TripsClient, change: impl Fn(&mut Person)) -> Result<u32, CallError> {
    let mut person = person();
    change(&mut person);
    client.sent("abcd", "äöü", &[1, 2], &[0; 16], &person, &[String::from("abcd")])
}

#[track_caller]
fn check_refused(sent: Result<u32, CallError>, parameter: &str, value: u64, limit: u64) {
    match sent {
        Err(CallError::Usage(UsageError::OverBound(over))) => {
            assert_eq!((over.parameter, over.value, over.limit), (parameter, value, limit));
        }
        other => panic!("{parameter}: {other:?}"),
    }
}

#[test]
fn arguments_at_their_bounds_arrive() {
    each_binding(|client| assert_eq!(send(client, |_| ()).unwrap(), 4 + 6 + 2 + 16 + 1 + 2));
}

#[test]
fn an_argument_over_its_bound_is_refused_before_it_is_posted() {
    each_binding(|client| {
        let (ok, tags) = (person(), vec![String::from("abcd")]);
        check_refused(client.sent("abcde", "", &[], &[], &ok, &[]), "name", 5, 4);
        check_refused(client.sent("", "äöüß", &[], &[], &ok, &[]), "wide", 4, 3);
        check_refused(client.sent("", "", &[1, 2, 3], &[], &ok, &[]), "numbers", 3, 2);
        check_refused(client.sent("", "", &[], &[0; 17], &ok, &[]), "few", 17, 16);
        let three = [tags.clone(), tags.clone(), tags].concat();
        check_refused(client.sent("", "", &[], &[], &ok, &three), "shorts", 3, 2);
        let long = [String::from("abcde")];
        check_refused(client.sent("", "", &[], &[], &ok, &long), "shorts", 5, 4);
    });
}

#[test]
fn a_bound_inside_of_an_argument_is_checked_too() {
    each_binding(|client| {
        let long = || String::from("abcde");
        check_refused(send(client, |one| one.name = long()), "name", 5, 4);
        check_refused(send(client, |one| one.others[1] = long()), "others", 5, 4);
        check_refused(send(client, |one| one.others.push(long())), "others", 3, 2);
        check_refused(send(client, |one| one.nick = Some(long())), "nick", 5, 3);
        let keys = |one: &mut Person| one.keys.insert(long(), Vec::new());
        check_refused(send(client, |one| drop(keys(one))), "keys", 5, 4);
        let values = |one: &mut Person| one.keys.insert(String::new(), vec![0; 4]);
        check_refused(send(client, |one| drop(values(one))), "keys", 4, 3);
        let text = |one: &mut Person| one.choice = Choice::Text(String::from("123456"));
        check_refused(send(client, text), "text", 6, 5);
    });
}

#[test]
fn a_result_over_its_bound_is_refused_and_the_binding_lives_on() {
    each_binding(|client| {
        let (text, numbers, tags) = client.received(4, 2).unwrap();
        assert_eq!((text.len(), numbers.len(), tags[0].len()), (4, 2, 4));
        for (bytes, numbers) in [(5, 0), (0, 3)] {
            let refused = client.received(bytes, numbers);
            assert!(matches!(refused, Err(CallError::ResultsRefused { .. })), "{refused:?}");
        }
        assert_eq!(client.greet("you").unwrap(), "hello, you");
    });
}

#[test]
fn words_of_enums_and_bits_arrive() {
    each_binding(|client| {
        let mut rights = Rights::READ;
        let mut packed = Packed::default();
        packed.set_low(5);
        packed.set_on(true);
        packed.set_sum(-5);
        let (level, got) = client.words(Level::High, &mut rights, packed).unwrap();
        assert_eq!((level, rights), (Level::High, Rights::READ | Rights::OWN));
        assert_eq!((got.low(), got.on(), got.sum()), (5, true, -5));
    });
}

#[test]
fn a_word_that_is_no_value_is_refused() {
    assert_eq!(Level::from_wire(7).unwrap(), Level::Middle);
    assert!(Level::from_wire(8).is_err());
    assert!(Rights::from_wire(0b1000_0011).is_ok());
    assert!(Rights::from_wire(0b0000_0100).is_err());
    assert_eq!(Rights::from_bits(0b0000_0100), None);
    assert!(Packed::from_wire(0xffff).is_ok());
    let mut one = Packed::default();
    one.set_sum(i16::MIN);
    assert_eq!(one.sum(), 0, "only 12 bits are kept");
}

#[test]
fn a_union_keeps_its_discriminator() {
    each_binding(|client| {
        let all = [
            Choice::Number(1, -1),
            Choice::Number(2, i32::MAX),
            Choice::Text(String::from("ä")),
            Choice::Otherwise(-9, 0.5),
        ];
        for choice in all {
            assert_eq!(client.choose(&choice).unwrap(), choice);
        }
    });
}

#[test]
fn a_discriminator_of_another_case_is_refused() {
    each_binding(|client| {
        for choice in [Choice::Number(3, 0), Choice::Otherwise(2, 0.0)] {
            let refused = client.choose(&choice);
            assert!(matches!(refused, Err(CallError::Usage(_))), "{refused:?}");
        }
    });
}

#[test]
fn a_value_nested_too_deep_is_refused_and_the_binding_lives_on() {
    let deep = |levels: usize| {
        let leaf = Tree { value: 0, below: Vec::new() };
        (0..levels).fold(leaf, |below, _| Tree { value: 0, below: vec![below] })
    };
    each_binding(|client| {
        assert_eq!(client.grow(&deep(20)).unwrap().value, 1);
        let refused = client.grow(&deep(200));
        let told = "tree is 65 levels deep, allowed is 0 to 64";
        assert_eq!(refused.unwrap_err().to_string(), told);
        assert_eq!(client.grow(&deep(0)).unwrap().value, 1);
    });
}

#[test]
fn types_that_hold_one_another_go_there_and_back() {
    each_binding(|client| {
        let leaf = Node { id: 2, edges: Vec::new() };
        let edge = Edge { name: String::from("to"), ends: vec![leaf.clone(), leaf.clone()] };
        let joined = client.join(&leaf, &edge).unwrap();
        assert_eq!((joined.id, &joined.edges[1]), (3, &edge));
    });
}

#[test]
fn types_that_hold_themselves_elsewhere_go_there_and_back() {
    each_binding(|client| {
        let form = Form::List(Box::new([Form::Word(1), Form::Word(2)]));
        let chain = Chain { form, next: None };
        let longer = client.longer(&chain).unwrap();
        assert_eq!(longer.next.as_deref(), Some(&chain));
    });
}

/// Values at the ends of their ranges, of which one may be changed.
#[derive(Clone)]
struct Within {
    which: i32,
    share: Percent,
    all: Vec<Percent>,
    reading: Reading,
    pair: Pair,
    part: Part,
    ratio: f32,
}

impl Within {
    fn new() -> Within {
        let reading = Reading {
            temperature: -273.15,
            grade: nearcall::Char(b'f'),
            level: Level::Middle,
            share: Some(0),
            pair: [0, 100],
        };
        let (all, pair, part) = (vec![0, 100], [0, 100], Part::Share(50));
        Within { which: 5, share: 95, all, reading, pair, part, ratio: 0.5 }
    }

    fn call(&mut self, client: &TripsClient) -> Result<(Percent, f64), CallError> {
        let readings = [Within::new().reading, self.reading];
        let Within { which, share, all, reading, pair, part, ratio } = self;
        client.within(*which, share, all, reading, &readings, pair, part, *ratio)
    }
}

#[test]
fn values_within_their_ranges_arrive() {
    each_binding(|client| {
        let mut within = Within::new();
        assert_eq!(within.call(client).unwrap(), (100, 0.5));
        assert_eq!(within.share, 100);
    });
}

#[test]
fn a_value_out_of_its_range_is_refused_before_it_is_posted() {
    type Change = fn(&mut Within);
    let changes: [(Change, &str); 10] = [
        (|within| within.which = -2, "which is -2, allowed is -1 to 5"),
        (|within| within.which = 6, "which is 6, allowed is -1 to 5"),
        (|within| within.share = 101, "share is 101, allowed is 0 to 100"),
        (|within| within.all.push(-1), "all is -1, allowed is 0 to 100"),
        (
            |within| within.reading.temperature = f64::NAN,
            "temperature is NaN, allowed is -273.15 or more",
        ),
        (
            |within| within.reading.grade = nearcall::Char(b'g'),
            "grade is 'g', allowed is 'a' to 'f'",
        ),
        (
            |within| within.reading.level = Level::High,
            "level is High, allowed is MIDDLE (7) or less",
        ),
        (|within| within.reading.share = Some(-1), "share is -1, allowed is 0 to 100"),
        (|within| within.pair[0] = 101, "pair is 101, allowed is 0 to 100"),
        (|within| within.part = Part::Share(101), "share is 101, allowed is 0 to 100"),
    ];
    each_binding(|client| {
        for (change, why) in changes {
            let mut within = Within::new();
            change(&mut within);
            let refused = within.call(client).unwrap_err();
            assert!(matches!(refused, CallError::Usage(UsageError::OutOfRange(_))), "{refused:?}");
            assert_eq!(refused.to_string(), why);
        }
    });
}

#[test]
fn a_result_out_of_its_range_is_refused() {
    each_binding(|client| {
        let changes: [fn(&mut Within); 3] =
            [|within| within.ratio = -0.5, |within| within.share = 96, |within| within.all.push(1)];
        for change in changes {
            let mut within = Within::new();
            change(&mut within);
            let refused = within.call(client);
            assert!(matches!(refused, Err(CallError::ResultsRefused { .. })), "{refused:?}");
        }
        assert!(Within::new().call(client).is_ok());
    });
}

#[test]
fn lent_results_come_with_the_others_and_reuse_memory() {
    each_binding(|client| {
        let mut written = Vec::with_capacity(200_000);
        let place = written.as_ptr();
        for bytes in [0, 3, 100, 5_000, 100_000] {
            let data = vec![9; bytes];
            let (returned, after) = client.change(&data, false, &mut written).unwrap();
            assert_eq!((returned.len(), after.as_str()), (bytes, "after"));
            assert_eq!(written, [b"before".as_slice(), &data].concat());
        }
        assert_eq!(written.as_ptr(), place);
    });
}

#[test]
fn an_exception_forgets_what_was_written_in_place() {
    each_binding(|client| {
        let mut written = vec![1];
        let raised = client.change(&[0; 3], true, &mut written).unwrap_err();
        let Error::Exception(TripsChangeException::Refused(refused)) = raised else {
            panic!("{raised:?}");
        };
        let Refused { why, code, choice } = refused;
        assert_eq!((why.as_str(), code, choice), ("because", 3, Choice::Number(2, 5)));
        let raised = client.change(&[], true, &mut written).unwrap_err();
        assert!(matches!(raised, Error::Exception(TripsChangeException::Gone(Gone))));
        assert_eq!(written, [1], "nothing was returned");
    });
}

#[test]
fn the_returned_value_can_be_written_in_place() {
    each_binding(|client| {
        for bytes in [0, 1, 48, 4_000, 70_000] {
            assert_eq!(client.whole(bytes).unwrap(), vec![7; bytes as usize]);
        }
    });
}

#[test]
fn octets_lent_both_ways_are_replaced() {
    each_binding(|client| {
        for bytes in [0, 5, 3_000, 90_000] {
            let before: Vec<u8> = (0..bytes).map(|number| number as u8).collect();
            let (mut data, mut count) = (before.clone(), 0);
            client.both(&mut data, &mut count).unwrap();
            data.reverse();
            assert_eq!((data, count), (before, bytes));
        }
    });
}

#[test]
fn the_second_of_two_opaque_results_is_copied() {
    each_binding(|client| {
        let mut first = Vec::new();
        assert_eq!(client.two(&mut first).unwrap(), b"second");
        assert_eq!(first, b"first");
    });
}

#[test]
fn a_oneway_procedure_runs() {
    each_binding(|client| {
        for number in 1..=10 {
            client.post(number).unwrap();
        }
        while client.posted().unwrap() < 55 {
            std::thread::yield_now();
        }
        assert_eq!(client.posted().unwrap(), 55);
    });
}

#[test]
fn an_attribute_is_read_and_written_through_an_inherited_interface() {
    each_binding(|client| {
        client.set_level(-3).unwrap();
        assert_eq!(client.level().unwrap(), -3);
        assert_eq!(client.name().unwrap(), "tester");
    });
}

#[test]
fn an_exception_says_what_was_raised() {
    let raised = TripsChangeException::from(Gone);
    assert_eq!(raised.to_string(), "Gone");
    let refused =
        |why: &str| Refused { why: why.to_owned(), code: -7, choice: Choice::Otherwise(9, 0.0) };
    let shown = refused("a \"wall\"\n").to_string();
    assert_eq!(shown, r#"Refused { why: "a \"wall\"\n", code: -7, .. }"#);
}

#[test]
fn what_an_exception_shows_is_short_however_long_its_members_are() {
    let octets = vec![0; 1_000_000];
    let long = Lost { why: "ä".repeat(100_000), octets, place: [1, 2], depth: None };
    let cut = format!("{}...", "ä".repeat(80));
    let want =
        format!("Lost {{ why: \"{cut}\", octets: 1000000 elements, place: [1, 2], depth: None }}");
    assert_eq!(long.to_string(), want);
}
