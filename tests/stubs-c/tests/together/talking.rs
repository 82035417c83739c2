//! Exchanges between Rust, C and C++, each in a process of its own: both ways in turn and at once,
//! sides that are given up, refused, late, and cut by the end of either process, and lies about
//! their numbers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::raw::{Arguments, Client, Entries, Outcome};
use nearcall::{
    CallError, Clerk, Domain, Error, ExportOptions, InterfaceDescriptor, NotExecuted, Ran,
};
use stubs_c_tests::said::talking::*;
use stubs_c_tests::talker::Talker;

use crate::support::{
    RustServer, Server, Workshop, expect_success, import, run_client, serve_here, ways,
};

const NEVER: u32 = u32::MAX;

/// Longest that something may take which does not take as long.
const SOON: Duration = Duration::from_secs(5);

/// Exports the server in Rust until standard input ends: this test program as another process.
#[test]
fn serve() {
    serve_here(|domain, name| Clerk::export(domain, name, TalkingEntries::new(Talker::default())));
}

/// Waits until a count of the server's is this.
fn wait_for<T: PartialEq + Copy + std::fmt::Debug>(want: T, count: impl Fn() -> T) {
    for _ in 0..5000 {
        if count() == want {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("{:?}, not {want:?}", count());
}

fn none_alive(talking: &TalkingClient) {
    wait_for(0, || talking.alive().expect("it returns"));
}

fn is_over(said: Option<CallError>) -> bool {
    let reason = NotExecuted::FeedOver;
    matches!(said, Some(CallError::NotExecuted { reason: other, .. }) if other == reason)
}

/// What a client in Rust says, on two threads and on one.
fn speak(talking: &TalkingClient) {
    let (sink, feed) = talking.sums().expect("it opens");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut sink = sink.begin();
            (0..20_000).for_each(|number| sink.put(number).expect("it goes"));
            sink.end().expect("it returns");
        });
        let sums = (0u64..20_000).scan(0, |sum, number| {
            *sum += number;
            Some(*sum)
        });
        assert!(feed.begin().map(|sum| sum.expect("it comes")).eq(sums));
    });
    let (sink, feed) = talking.talk("hall: ", 2).expect("it opens");
    let (mut sink, mut feed) = (sink.begin(), feed.begin());
    for number in 0..3 {
        sink.put(Line { number, text: "x".repeat(number as usize * 1000) }).expect("it goes");
    }
    sink.flush().expect("it goes");
    for number in 0..2 {
        let text = format!("hall: {}", "x".repeat(number as usize * 1000));
        let came = feed.next().map(|line| line.expect("it comes"));
        assert_eq!(came, Some(Line { number, text }));
    }
    let Some(Err(Error::Exception(TalkingTalkException::Refused(raised)))) = feed.next() else {
        panic!("nothing was raised");
    };
    assert_eq!((raised.code, &*raised.why), (2, "not that"));
    drop((sink, feed));
    none_alive(talking);
}

/// What a client in Rust gives up, and what the server does.
fn stop(talking: &TalkingClient) {
    let before = talking.given_up().expect("it returns");
    let (sink, feed) = talking.echo().expect("it opens");
    drop(feed);
    let mut sink = sink.begin();
    assert!(is_over((0..100_000).find_map(|_| sink.put("word".to_owned()).err())));
    wait_for(before + 1, || talking.given_up().expect("it returns"));
    let (sink, feed) = talking.deaf(5_000).expect("it opens");
    let mut sink = sink.begin();
    sink.put(1).expect("it is kept");
    let said = sink.end().expect_err("nobody takes it");
    assert_eq!(said.ran(), Ran::Maybe);
    assert!(is_over(Some(said)));
    assert!(feed.begin().map(|number| number.expect("it comes")).eq(0..5_000));
    none_alive(talking);
}

/// What was thrown before the first batch is asked for is its call's, and the server goes on.
fn be_told_of_what_was_thrown(talking: &TalkingClient) {
    for _ in 0..3 {
        let (_sink, feed) = talking.talk("thrown", NEVER).expect("it opens");
        let said = feed.begin().next().map(|line| line.map(drop));
        let said = matches!(said, Some(Err(Error::Call(CallError::Panicked { .. }))));
        assert!(said, "the outlet was left by an exception");
    }
    none_alive(talking);
}

/// Calls what carries exchanges by itself.
struct Hand<'c>(&'c Client);

impl Hand<'_> {
    /// A batch of an exchange that is asked for, or of items; whether it is refused.
    fn is_refused(&self, name: &str, (side, number): (u64, u32), items: Option<&[u8]>) -> bool {
        let all = self.0.binding().interface().procedures;
        let index = all.iter().position(|one| one.name == name).expect("it is there");
        let class = all[index].class.into();
        let mut call = self.0.claim_of_class(class, index as u32).expect("there is an A-stack");
        call.put_u64::<0>(side);
        let mut fixed_bytes = 8;
        if !name.starts_with("_end") {
            call.put_u32::<8>(number);
            fixed_bytes = 12;
        }
        if let Some(items) = items {
            // Of text the bytes are counted, of numbers the items.
            let width = if name == "_put_sums" { 4 } else { 1 };
            call.put_u32::<12>(items.len() as u32 / width);
            let padded = items.len().next_multiple_of(8) as u64;
            let mut variable = call.variable_at(16, padded).expect("it fits");
            variable.put(items);
            fixed_bytes = 16;
        }
        let Err(error) = call.post(fixed_bytes).map(|reply| reply.raised()) else { return false };
        let reason = NotExecuted::ArgumentsRefused;
        let is_refusal =
            matches!(&*error, CallError::NotExecuted { reason: r, .. } if *r == reason);
        assert!(is_refusal, "{name} {side} {number}: {error}");
        true
    }

    /// Opens exchanges that nobody has, until one is refused.
    fn open_too_many(&self) {
        let all = self.0.binding().interface().procedures;
        let index = all.iter().position(|one| one.name == "echo").expect("it is there");
        let class = all[index].class.into();
        let open = || self.0.claim_of_class(class, index as u32)?.post(0).map(drop);
        let refused = (0..33).find_map(|_| open().err()).map(|error| *error);
        assert!(matches!(refused, Some(CallError::ResultsRefused { .. })), "{refused:?}");
    }
}

/// One word, "word", as a batch has it.
const WORD: &[u8] = &[1, 0, 0, 0, 4, 0, 0, 0, b'w', b'o', b'r', b'd'];

/// A client that lies about numbers: of batches that are not due, of other sides, of exchanges of
/// other types, and of others with the same types. The exchange that it has goes on.
fn lies(name: &str, runtime: &Path) {
    let talking =
        TalkingClient::new(import(&Domain::new().expect("a domain"), name, runtime, &TALKING))
            .with_deadline(SOON);
    let client = Client::new(talking.binding().clone(), &TALKING).with_deadline(SOON);
    let hand = Hand(&client);
    let (sink, feed) = talking.echo().expect("it opens");
    let (mut sink, mut feed) = (sink.begin(), feed.begin());
    // The first of its binding: 1 comes, 2 goes.
    let mut checks = 0;
    let mut refused = |name: &str, batch: (u64, u32), items: Option<&[u8]>| {
        assert!(hand.is_refused(name, batch, items), "{name} {batch:?}");
        checks += 1;
    };
    for batch in [(1, 1), (1, NEVER), (2, 0), (3, 0), (u64::MAX, 0)] {
        refused("_next_echo", batch, None);
    }
    for batch in [(2, 1), (2, NEVER), (1, 0), (3, 0), (u64::MAX, 0)] {
        refused("_put_echo", batch, Some(WORD));
    }
    refused("_next_kept", (1, 0), None);
    refused("_put_kept", (2, 0), Some(WORD));
    refused("_end_kept", (2, 0), None);
    refused("_next_sums", (1, 0), None);
    refused("_next_talk", (1, 0), None);
    refused("_put_sums", (2, 0), Some(&[7; 64]));
    refused("_end_sums", (2, 0), None);
    refused("_end_echo", (1, 0), None);
    // No text, and no batch.
    refused("_put_echo", (2, 0), Some(&[1, 0, 0, 0, 2, 0, 0, 0, 0xff, 0xfe]));
    refused("_put_echo", (2, 0), Some(&[0xff; 16]));
    assert_eq!(checks, 20);
    sink.put("word".to_owned()).expect("it goes");
    sink.flush().expect("it goes");
    assert_eq!(feed.next().map(|word| word.expect("it comes")).as_deref(), Some("word"));
    sink.end().expect("it returns");
    assert!(feed.next().is_none());
    none_alive(&talking);
    let other = import(&Domain::new().expect("a domain"), name, runtime, &TALKING);
    Hand(&Client::new(other, &TALKING)).open_too_many();
    none_alive(&talking);
}

/// Clients in Rust, one of them hostile, of a server in a process of its own.
fn call_server(name: &str, runtime: &Path) {
    let talking =
        TalkingClient::new(import(&Domain::new().expect("a domain"), name, runtime, &TALKING));
    speak(&talking);
    stop(&talking);
    be_told_of_what_was_thrown(&talking);
    lies(name, runtime);
    none_alive(&talking);
}

/// A client in C that ends in the middle: the server is told so, on either side.
fn outlive_client(client: &Path, name: &str, runtime: &Path) {
    let talking =
        TalkingClient::new(import(&Domain::new().expect("a domain"), name, runtime, &TALKING));
    let before = talking.given_up().expect("it returns");
    expect_success(client, &[name, "goes"], runtime);
    wait_for(before + 1, || talking.given_up().expect("it returns"));
    none_alive(&talking);
}

/// A server that ends in the middle.
fn outlive_server(name: &str, runtime: &Path) {
    let talking =
        TalkingClient::new(import(&Domain::new().expect("a domain"), name, runtime, &TALKING))
            .with_deadline(SOON);
    let (sink, feed) = talking.talk("last words", 40).expect("it opens");
    let (mut sink, mut feed) = (sink.begin(), feed.begin());
    let said = (0..).find_map(|number| {
        let put = sink.put(Line { number, text: String::new() }).and_then(|()| sink.flush());
        put.err().map(|_| number).or_else(|| feed.next()?.err().map(|_| number))
    });
    assert!(said >= Some(40), "{said:?}");
    assert!(sink.put(Line::default()).and_then(|()| sink.flush()).is_err());
}

#[test]
fn items_come_and_go_at_once_between_languages() {
    let ways = ways();
    let mut pairs = 0;
    for (compiler, flags) in &ways {
        println!("{compiler} {flags:?}");
        let (c, cpp) = (Workshop::of("c", "talking.idl"), Workshop::of("cpp", "talking.idl"));
        let runtime = c.path();
        let clients =
            [c.program(compiler, "speaker", flags), cpp.program(compiler, "speaker_cpp", flags)];
        let servers = [
            ("c", c.program(compiler, "talker", flags)),
            ("cpp", cpp.program(compiler, "talker_cpp", flags)),
        ];
        for client in &clients {
            let rust = RustServer::start(module_path!(), "rust", runtime);
            print!("{} calls Rust: {}", client.display(), run_client(client, "rust", runtime));
            outlive_client(client, "rust", runtime);
            expect_success(client, &["rust", "dies"], runtime);
            drop(rust);
        }
        for (name, program) in &servers {
            let server = Server::start(program, name, runtime);
            for client in &clients {
                print!("{} calls {name}: {}", client.display(), run_client(client, name, runtime));
                outlive_client(client, name, runtime);
            }
            call_server(name, runtime);
            server.end();
            let server = Server::start(program, name, runtime);
            outlive_server(name, runtime);
            server.end();
        }
        pairs += clients.len() + servers.len() * (clients.len() + 1);
        expect_no_batches_of_nothing(&clients, runtime);
    }
    println!("{pairs} pairs");
    assert!(pairs == 8 * ways.len(), "{pairs} pairs");
}

/// A server whose batches have nothing in them.
struct Liar;

impl Entries for Liar {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &TALKING
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let mut results = arguments.results();
        results.put_u64::<0>(0);
        if TALKING.procedures[procedure].name == "echo" {
            results.put_u64::<8>(1);
            return results.reply(16);
        }
        results.variable_at(8, 0)?;
        results.reply(8)
    }
}

/// A batch of nothing revokes the binding.
fn expect_no_batches_of_nothing(clients: &[PathBuf], runtime: &Path) {
    let domain = Domain::new().expect("a domain");
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(runtime.join("nearcall")));
    let clerk = Clerk::export_with(&domain, "liar", Liar, options).expect("it is free");
    for client in clients {
        expect_success(client, &["liar", "lies"], runtime);
    }
    drop(clerk);
}
