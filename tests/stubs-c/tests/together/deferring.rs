//! Servers whose procedures set their calls aside, and reply to them later (design note 0014): in
//! any order, from any thread, or never. One processor serves all of it.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use lies::Prey;
use nearcall::raw::Pending;
use nearcall::{CallError, Domain, Error};
use nearcall_idl::back::LANGUAGES;
use nearcall_idl::selftest::{Manner, Selftest};
use stubs_c_tests::deferred::deferring::*;

use crate::support::{
    Server, Workshop, compilers, domain, import, is_late, lacking, model, tests_directory, ways,
};

type Kept<'b> = Pending<'b, i32, Error<LaterKeepException>>;

/// A client, and the directory that its server runs in.
struct Play {
    _domain: Domain,
    later: LaterClient,
}

impl Play {
    fn new(runtime: &Path) -> Play {
        let domain = Domain::new().expect("a domain");
        let later = LaterClient::new(import(&domain, "later", runtime, &LATER));
        Play { _domain: domain, later }
    }

    /// Calls that the server has and has not replied to.
    fn keep(&self, count: i32) -> Vec<Kept<'_>> {
        let posting = self.later.posting();
        let posted = (0..count).map(|number| posting.keep(number).expect("it is posted")).collect();
        self.wait_for(|kept| kept == (count as u32, 0));
        posted
    }

    fn wait_for(&self, condition: impl Fn((u32, u32)) -> bool) {
        while !condition(self.later.kept().expect("it returns")) {
            std::thread::yield_now();
        }
    }

    fn go(&self, how: How, count: u32) {
        assert_eq!(self.later.go(how).expect("it returns"), count);
    }
}

fn numbers(posted: Vec<Kept<'_>>) -> Vec<i32> {
    posted.into_iter().map(|call| call.collect().expect("it returns")).collect()
}

/// As many as there are, while the only processor serves others.
fn replies_come_in_any_order_and_from_any_thread(play: &Play) {
    for how in [How::Forward, How::Backward, How::ByThread] {
        let posted = play.keep(64);
        assert!(posted.iter().all(|call| !call.is_replied()));
        play.go(how, 64);
        assert_eq!(numbers(posted), (0..64).collect::<Vec<i32>>());
    }
}

fn what_is_raised_is_the_clients(play: &Play) {
    let posted = play.keep(3);
    play.go(How::Raised, 3);
    for (call, number) in posted.into_iter().zip(0..) {
        let Err(Error::Exception(LaterKeepException::Refused(refused))) = call.collect() else {
            panic!("it was not raised");
        };
        assert_eq!(refused, Refused { why: "it was kept".to_owned(), code: number });
    }
}

fn without_a_reply_the_procedure_has_panicked(play: &Play) {
    for how in [How::Panicked, How::Dropped, How::NothingRaised] {
        let posted = play.keep(3);
        play.go(how, 3);
        for call in posted {
            let came = call.collect();
            assert!(matches!(came, Err(Error::Call(CallError::Panicked { .. }))), "{came:?}");
        }
    }
}

fn who_gives_up_is_seen(play: &Play) {
    let mut posted = play.keep(4);
    posted.drain(..2).for_each(Pending::cancel);
    play.wait_for(|kept| kept == (4, 2));
    play.go(How::Backward, 4);
    assert_eq!(numbers(posted), [2, 3]);
}

fn who_waits_no_longer_is_seen(play: &Play) {
    let hasty = play.later.with_deadline(Duration::from_millis(20));
    let kept = || play.later.kept().expect("it returns");
    // Beside other work one may be given up before it was taken.
    let begin = Instant::now();
    while kept() == (0, 0) {
        assert!(begin.elapsed() < Duration::from_secs(60), "none is kept that was given up");
        let Err(Error::Call(error)) = hasty.keep(1) else { panic!("it has returned") };
        assert!(is_late(&error), "{error}");
        while play.later.binding().captured_count() > 0 && kept() == (0, 0) {
            std::thread::yield_now();
        }
    }
    play.wait_for(|kept| kept == (1, 1));
    play.go(How::Forward, 1);
}

fn note(text: &str, marks: &[i32], more: Option<&str>) -> Note {
    Note { text: text.to_owned(), marks: marks.to_vec(), more: more.map(str::to_owned) }
}

fn every_kind_of_parameter_comes_and_goes(play: &Play) {
    // Out of line, too.
    for length in [1, 100, 300_000] {
        let text = "é".repeat(length);
        let given = note(&text, &[1, 2], Some("more"));
        let (mut changed, mut word) = (note("old", &[], None), 1 << 40);
        let (returned, said, more, sum) = play
            .later
            .mix(&text, &given, &[1.0, 2.0, 4.0], &mut changed, &mut word)
            .expect("it returns");
        let both = note(&text.repeat(2), &[1, 2, 1, 2], Some("moremore"));
        assert_eq!((returned, more), (both.clone(), vec![both.clone(), both]));
        assert_eq!((changed, word), (note("oldold", &[], None), 2 << 40));
        assert_eq!((said, sum), (text.repeat(2), 7.0));
    }
    let (mut changed, mut word) = (note("old", &[3], None), 5);
    let given = note("", &[], None);
    let came = play.later.mix("", &given, &[0.0; 3], &mut changed, &mut word);
    let Err(Error::Exception(LaterMixException::Refused(refused))) = came else {
        panic!("it was not refused");
    };
    assert_eq!(refused, Refused { why: "no text".to_owned(), code: 7 });
    assert_eq!((changed, word), (note("old", &[3], None), 5));
}

fn results_beyond_a_limit_are_refused(play: &Play) {
    assert_eq!(play.later.many(4).expect("it returns"), [0; 4]);
    let came = play.later.many(5);
    assert!(matches!(came, Err(CallError::ResultsRefused { .. })), "{came:?}");
}

fn what_is_oneway_or_read_in_place_works_beside(play: &Play) {
    let (_, before) = play.later.told().expect("it returns");
    for number in 0..100 {
        play.later.tell(&format!("told {number}")).expect("it is posted");
    }
    let told = || play.later.told().expect("it returns");
    while told().1 < before + 100 {
        std::thread::yield_now();
    }
    assert!(told().0.starts_with("told "));
    assert_eq!(play.later.measure(&[7; 5000]).expect("it returns"), 5000);
}

fn descriptors_come_and_go_and_none_stays_open(play: &Play) {
    let file = |text: &str| {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(text.as_bytes()).expect("there is room");
        file
    };
    let before = play.later.open_count().expect("it returns");
    let (first, second) = (file("first"), file("second"));
    let (came, same) = play.later.swap(first.as_fd(), "swap", second.as_fd()).expect("it returns");
    for (came, text) in [(came, "second"), (same, "first")] {
        let (mut file, mut all) = (File::from(came), String::new());
        file.rewind().expect("it is a file");
        file.read_to_string(&mut all).expect("it can be read");
        assert_eq!(all, text);
    }
    for text in ["refused", "dropped"] {
        play.later.swap(first.as_fd(), text, second.as_fd()).expect_err("it has no results");
    }
    assert_eq!(play.later.open_count().expect("it returns"), before);
}

fn who_calls_is_known_to_other_threads(play: &Play) {
    assert_eq!(play.later.left().expect("it returns"), (u64::MAX, i64::from(std::process::id())));
    let hasty = play.later.with_deadline(Duration::from_secs(60));
    let (left_ns, _) = hasty.left().expect("it returns");
    assert!(left_ns > 0 && left_ns <= 60_000_000_000, "{left_ns} ns");
}

fn a_child_of_the_server_replies_to_nobody(play: &Play) {
    let posted = play.keep(6);
    assert_eq!(play.later.forked().expect("it returns"), 0);
    assert!(posted.iter().all(|call| !call.is_replied()));
    play.go(How::Forward, 6);
    assert_eq!(numbers(posted), [0, 1, 2, 3, 4, 5]);
}

fn what_a_dead_client_has_asked_for_is_nobodys(play: &Play, leaver: &Path, runtime: &Path) {
    let told = || play.later.told().expect("it returns");
    let (_, before) = told();
    let status = domain(leaver, runtime).arg("later").status().expect("it runs");
    assert!(!status.success() && status.code().is_none(), "{status}");
    // What it has flushed has run.
    assert_eq!(told(), (String::from("left"), before + 3));
    play.wait_for(|kept| kept == (2, 2));
    play.go(How::Forward, 2);
    assert_eq!(numbers_of(play, 3), [0, 1, 2]);
}

fn numbers_of(play: &Play, count: i32) -> Vec<i32> {
    let posted = play.keep(count);
    play.go(How::Forward, count as u32);
    numbers(posted)
}

/// Of a server and of a client that ends early.
fn all(server: &Path, leaver: &Path, runtime: &Path) {
    let server = Server::start(server, "later", runtime);
    let play = Play::new(runtime);
    replies_come_in_any_order_and_from_any_thread(&play);
    what_is_raised_is_the_clients(&play);
    without_a_reply_the_procedure_has_panicked(&play);
    who_gives_up_is_seen(&play);
    who_waits_no_longer_is_seen(&play);
    every_kind_of_parameter_comes_and_goes(&play);
    results_beyond_a_limit_are_refused(&play);
    what_is_oneway_or_read_in_place_works_beside(&play);
    descriptors_come_and_go_and_none_stays_open(&play);
    who_calls_is_known_to_other_threads(&play);
    a_child_of_the_server_replies_to_nobody(&play);
    what_a_dead_client_has_asked_for_is_nobodys(&play, leaver, runtime);
    what_has_no_reply_when_the_server_ends_has_failed(&play, server);
}

/// Who shuts down does not wait for calls that are set aside, which may be replied to after it.
fn what_has_no_reply_when_the_server_ends_has_failed(play: &Play, server: Server) {
    let posted = play.keep(5);
    server.end();
    // Which of them the server has first is its own affair.
    let (mut failed, mut panicked, mut returned) = (0, 0, 0);
    for (call, number) in posted.into_iter().zip(0..) {
        match call.collect() {
            Err(Error::Call(CallError::CallFailed { .. })) => failed += 1,
            Err(Error::Call(CallError::Panicked { .. })) => panicked += 1,
            Ok(came) if came == number => returned += 1,
            came => panic!("{number}: {came:?}"),
        }
    }
    assert_eq!((failed, panicked, returned), (1, 2, 2));
}

#[test]
fn calls_are_set_aside_and_replied_to_later() {
    let (ways, mut count) = (ways(), 0);
    if ways.is_empty() {
        return lacking("a compiler of C");
    }
    for (compiler, flags) in ways {
        for (language, server, leaver) in
            [("c", "deferrer", "leaver"), ("cpp", "deferrer_cpp", "leaver_cpp")]
        {
            let workshop = Workshop::of(language, "deferring.idl");
            let program = |name| workshop.program(compiler, name, flags);
            all(&program(server), &program(leaver), workshop.path());
            count += 1;
        }
    }
    println!("{count} servers");
}

/// Its client is told what whoever has the answer replies, and its author what it has thrown.
#[test]
fn what_is_thrown_after_an_answer_was_moved_is_said() {
    let Some(compiler) = compilers().first().copied() else {
        return lacking("a compiler of C");
    };
    let workshop = Workshop::of("cpp", "deferring.idl");
    let program = workshop.program(compiler, "deferrer_cpp", &["-O0"]);
    let mut said = tempfile::tempfile().expect("a file");
    let to = Stdio::from(said.try_clone().expect("it is there twice"));
    let server = Server::start_saying(&program, "later", workshop.path(), to);
    let play = Play::new(workshop.path());
    let posted = vec![play.later.posting().keep(-1).expect("it is posted")];
    play.wait_for(|kept| kept == (1, 0));
    play.go(How::Forward, 1);
    assert_eq!(numbers(posted), [-1]);
    drop(play);
    server.end();
    let mut text = String::new();
    said.rewind().expect("it is a file");
    said.read_to_string(&mut text).expect("it is text");
    let wanted = "nearcall: deferring::Later::keep threw: it was kept, after its answer was moved";
    assert_eq!(text.lines().filter(|line| *line == wanted).count(), 1, "{text}");
}

/// Interface files with values of every kind, and with what is not set aside.
const PLAYED: [&str; 5] = [
    "stubs-c/cross.idl",
    "idl/selftest/echo.idl",
    "idl/selftest/vault.idl",
    "matrix/idl/records.idl",
    "matrix/idl/talked.idl",
];

/// The self-test of a file, whose server sets its calls aside: both look at every value.
fn play(compiler: &str, file: &str) {
    let file = tests_directory().join(file);
    let (workshop, model) = (Workshop::of("c", &file.to_string_lossy()), model(&file));
    let stem = file.file_stem().expect("a file").to_string_lossy();
    let test = Selftest::new(&model, 1).expect("it has operations");
    let language = LANGUAGES.iter().find(|one| one.name == "c").expect("it is in the table");
    let test = Selftest { manner: Manner::Awaited, ..test };
    for output in (language.selftest)(&model, &stem, &test).expect("C has stubs for it") {
        let path = workshop.path().join(format!("{stem}{}", output.suffix));
        std::fs::write(path, output.text).expect("it can be written");
    }
    let [client, server] = ["client", "server"].map(|side| {
        let name = format!("{stem}_selftest_{side}");
        let source = workshop.path().join(format!("{name}.c"));
        workshop.built((compiler, compiler), &source, &name, &[])
    });
    let start = |program: &Path| {
        Prey::start(domain(program, workshop.path()).arg("played"), workshop.path())
    };
    let mut server = start(&server);
    assert!(server.is_ready(), "the server of {stem} does not start");
    let mut client = start(&client);
    let compared = client.line();
    // The client is still there: a oneway that was not taken yet would go with it.
    let said = server.end(&format!("the server of {stem}"));
    client.end(&format!("the client of {stem}"));
    for said in [compared, said] {
        assert!(said.contains(" 0 differ"), "{stem}: {said}");
    }
}

#[test]
fn every_value_arrives_where_calls_are_set_aside() {
    match compilers().first() {
        Some(compiler) => PLAYED.iter().for_each(|file| play(compiler, file)),
        None => lacking("a compiler of C"),
    }
}
