//! Feeds between Rust, C and C++, each in a process of its own: none, one and many items, batches
//! that end and begin, refusals, deadlines and deaths, and that nothing is held that nobody reads.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::raw::{Arguments, Client, Entries, Outcome};
use nearcall::{
    CallError, Clerk, Domain, Error, ExportOptions, Intake, InterfaceDescriptor, Items,
    NotExecuted, Taker, current_call,
};
use stubs_c_tests::fed::feeding::*;

use crate::support::{
    RustServer, Server, Workshop, expect_success, import, is_late, run_client, serve_here, ways,
};

const NEVER: u32 = u32::MAX;

/// Counts itself for as long as it is there.
struct Held(Arc<AtomicI32>);

impl Held {
    fn new(count: &Arc<AtomicI32>) -> Held {
        count.fetch_add(1, SeqCst);
        Held(Arc::clone(count))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// What takes items, and what it makes of them.
struct Eater<T, R, E> {
    made: R,
    take: fn(&mut R, T) -> Result<(), E>,
    _held: Held,
}

impl<T, R: Send, E> Intake for Eater<T, R, E> {
    type Item = T;
    type Output = R;
    type Error = E;

    fn take(&mut self, item: T) -> Result<(), E> {
        (self.take)(&mut self.made, item)
    }

    fn end(self: Box<Self>) -> Result<R, E> {
        Ok(self.made)
    }
}

/// Rows until one is refused.
struct Rows {
    count: u32,
    refused: u32,
    _held: Held,
}

impl Intake for Rows {
    type Item = Row;
    type Output = u32;
    type Error = FeedingLoadException;

    fn take(&mut self, row: Row) -> Result<(), FeedingLoadException> {
        if row.key == self.refused {
            return Err(refused(row.key as i32).into());
        }
        self.count += 1;
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<u32, FeedingLoadException> {
        Ok(self.count)
    }
}

fn refused(code: i32) -> Refused {
    Refused { code, why: "not that".to_owned() }
}

#[derive(Default)]
struct Feeder(Arc<AtomicI32>);

impl FeedingServer for Feeder {
    fn rows(
        &self,
        name: &str,
        count: u32,
        refused_key: u32,
    ) -> Result<Items<Result<Row, FeedingRowsException>>, FeedingRowsException> {
        if name.is_empty() {
            return Err(refused(-1).into());
        }
        let (held, name) = (Held::new(&self.0), name.to_owned());
        Ok(Box::new((0..count).map(move |key| {
            let _held = &held;
            match key == refused_key {
                true => Err(refused(key as i32).into()),
                false => Ok(Row { key, name: format!("{name} {key}") }),
            }
        })))
    }

    fn numbers(&self, count: u32, pause_ms: u32, last_words: u32) -> Items<u32> {
        let held = Held::new(&self.0);
        Box::new((0..count).inspect(move |number| {
            let _held = &held;
            std::thread::sleep(Duration::from_millis(pause_ms.into()));
            if *number == last_words {
                std::process::exit(0);
            }
        }))
    }

    fn unended(&self, count: u32) -> Items<Page> {
        let held = Held::new(&self.0);
        let unended = std::iter::from_fn(move || {
            let (_held, call) = (&held, current_call().expect("a batch is a call"));
            while !call.is_cancelled() {
                std::thread::sleep(Duration::from_millis(1));
            }
            None
        });
        Box::new((0..count).map(|_| [7; 64]).chain(unended))
    }

    fn lines(&self, letters: u32) -> Items<String> {
        let held = Held::new(&self.0);
        Box::new(std::iter::once("x".repeat(letters as usize)).inspect(move |_| {
            let _held = &held;
        }))
    }

    fn load(
        &self,
        name: &str,
        refused_key: u32,
    ) -> Result<Taker<Row, u32, FeedingLoadException>, FeedingLoadException> {
        if name.is_empty() {
            return Err(refused(-1).into());
        }
        let _held = Held::new(&self.0);
        Ok(Box::new(Rows { count: 0, refused: refused_key, _held }))
    }

    fn sum(&self) -> Taker<u32, u64> {
        let take = |sum: &mut u64, number: u32| -> Result<(), Infallible> {
            *sum += u64::from(number);
            Ok(())
        };
        Box::new(Eater { made: 0, take, _held: Held::new(&self.0) })
    }

    fn joined(&self) -> Taker<String, String> {
        let take = |all: &mut String, line: String| -> Result<(), Infallible> {
            all.push_str(&line);
            Ok(())
        };
        Box::new(Eater { made: String::new(), take, _held: Held::new(&self.0) })
    }

    fn dropped(&self) -> Taker<u8, ()> {
        let take = |(): &mut (), _: u8| -> Result<(), Infallible> { Ok(()) };
        Box::new(Eater { made: (), take, _held: Held::new(&self.0) })
    }

    fn alive(&self) -> i32 {
        self.0.load(SeqCst)
    }
}

/// Exports the server in Rust until standard input ends: this test program as another process.
#[test]
fn serve() {
    serve_here(|domain, name| Clerk::export(domain, name, FeedingEntries::new(Feeder::default())));
}

fn none_alive(feeding: &FeedingClient) {
    let gone = (0..5000).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        feeding.alive().expect("it returns") == 0
    });
    assert!(gone, "{:?} feeds are alive", feeding.alive());
}

/// What a client in Rust has come.
fn items_come(feeding: &FeedingClient) {
    for count in [0, 1, 495, 496, 497, 992, 993, 20_000] {
        let numbers = feeding.numbers(count, 0, NEVER).expect("it opens");
        let numbers: Vec<u32> = numbers.map(|number| number.expect("it comes")).collect();
        assert!(numbers.iter().copied().eq(0..count), "{count}: {} came", numbers.len());
    }
    let raised = feeding.rows("", 1, NEVER).map(drop);
    assert!(matches!(raised, Err(Error::Exception(_))), "{raised:?}");
    let rows: Vec<_> = feeding.rows("row", 100, 40).expect("it opens").collect();
    assert_eq!(rows.len(), 41);
    assert_eq!(rows[39].as_ref().expect("it comes").name, "row 39");
    let Err(Error::Exception(FeedingRowsException::Refused(raised))) = &rows[40] else {
        panic!("{:?}", rows[40]);
    };
    assert_eq!(*raised, refused(40));
    let mut rows = feeding.rows("row", 1000, NEVER).expect("it opens");
    assert_eq!(rows.by_ref().take(7).count(), 7);
    drop(rows);
    for _ in 0..10 {
        // Less than a batch has room for: nobody fills it.
        let mut unended = feeding.unended(3).expect("it opens");
        for _ in 0..3 {
            assert_eq!(unended.next().expect("it goes on").expect("it comes"), [7; 64]);
        }
    }
    let lines: Vec<_> = feeding.lines(100_000).expect("it opens").collect();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].as_ref().expect("it comes").len(), 100_000);
    let hasty = feeding.with_deadline(Duration::from_millis(50));
    // On a loaded machine the deadline may pass before it is open, and the item may be there before
    // anybody looks.
    let is_ended = |_| {
        let Ok(mut late) = hasty.numbers(3, 400, NEVER) else { return false };
        let Some(Err(error)) = late.next() else { return false };
        assert!(is_late(&error), "{error}");
        assert!(late.next().is_none());
        true
    };
    assert!((0..100).any(is_ended));
    none_alive(feeding);
}

/// What a client in Rust has go.
fn items_go(feeding: &FeedingClient) {
    for count in [0, 1, 495, 496, 497, 992, 20_000] {
        let mut sum = feeding.sum().expect("it opens");
        (0..count).for_each(|number| sum.put(number).expect("it goes"));
        assert_eq!(sum.end().expect("it returns"), (0..u64::from(count)).sum::<u64>());
    }
    let row = |key| Row { key, name: "a".to_owned() };
    let mut load = feeding.load("x", NEVER).expect("it opens");
    (0..300).for_each(|key| load.put(row(key)).expect("it goes"));
    assert_eq!(load.end().expect("it returns"), 300);
    let mut load = feeding.load("x", 3).expect("it opens");
    (0..5).for_each(|key| load.put(row(key)).expect("it goes"));
    let raised = load.end();
    let Err(Error::Exception(FeedingLoadException::Refused(raised))) = raised else {
        panic!("{raised:?}");
    };
    assert_eq!(raised, refused(3));
    let mut joined = feeding.joined().expect("it opens");
    ["ab", "", "c"].into_iter().for_each(|line| joined.put(line.to_owned()).expect("it goes"));
    assert_eq!(joined.end().expect("it returns"), "abc");
    let mut dropped = feeding.dropped().expect("it opens");
    (0..5000u32).for_each(|octet| dropped.put(octet as u8).expect("it goes"));
    dropped.end().expect("it returns");
    let mut given_up = feeding.load("x", NEVER).expect("it opens");
    given_up.put(row(1)).expect("it goes");
    drop(given_up);
    none_alive(feeding);
}

/// Calls what carries feeds by itself.
struct Hand<'c>(&'c Client);

impl Hand<'_> {
    fn index(&self, name: &str) -> u32 {
        let all = self.0.binding().interface().procedures;
        all.iter().position(|one| one.name == name).expect("it is there") as u32
    }

    /// A feed without parameters that matter.
    fn open(&self, name: &str, count: u32) -> u64 {
        self.opened(name, count).expect("it opens")
    }

    fn opened(&self, name: &str, count: u32) -> Result<u64, Box<CallError>> {
        let index = self.index(name);
        let class = self.0.binding().interface().procedures[index as usize].class;
        let mut call = self.0.claim_of_class(class.into(), index).expect("there is an A-stack");
        call.put_u32::<0>(count);
        call.put_u32::<4>(0);
        call.put_u32::<8>(NEVER);
        Ok(call.post(12)?.get_u64::<0>())
    }

    /// Batch `number` of `feed`, with `items` words or asked for; whether it is refused.
    fn is_refused(&self, name: &str, (feed, number): (u64, u32), items: Option<&[u8]>) -> bool {
        let index = self.index(name);
        let class = self.0.binding().interface().procedures[index as usize].class;
        let mut call = self.0.claim_of_class(class.into(), index).expect("there is an A-stack");
        call.put_u64::<0>(feed);
        call.put_u32::<8>(number);
        if let Some(items) = items {
            call.put_u32::<12>(items.len() as u32 / 4);
            let mut variable = call.variable_at(16, items.len() as u64).expect("it fits");
            variable.put(items);
        }
        let replied = call.post(16).map(|reply| reply.raised());
        match replied {
            Ok(_) => false,
            Err(error) => {
                let reason = NotExecuted::ArgumentsRefused;
                let is_refusal = matches!(&*error, CallError::NotExecuted { reason: r, .. }
                    if *r == reason);
                assert!(is_refusal, "{name}: {error}");
                true
            }
        }
    }
}

/// A client that asks for what is not due: other numbers, other feeds, feeds of other procedures.
fn attacks(client: &Client) {
    let hand = Hand(client);
    let feed = hand.open("numbers", 2000);
    assert!(hand.is_refused("_next_numbers", (feed, 1), None));
    assert!(!hand.is_refused("_next_numbers", (feed, 0), None));
    assert!(hand.is_refused("_next_numbers", (feed, 0), None));
    assert!(hand.is_refused("_next_numbers", (feed + 100, 0), None));
    assert!(hand.is_refused("_put_sum", (feed, 1), Some(&[0; 8])));
    assert!(hand.is_refused("_end_sum", (feed, 1), None));
    // Of the same kind, and other items.
    assert!(hand.is_refused("_next_lines", (feed, 1), None));
    assert!(hand.is_refused("_next_rows", (hand.open("numbers", 9), 0), None));
    // The same, answered by another processor than the one that waits for a fourth item.
    assert!(hand.is_refused("_next_rows", (hand.open("unended", 3), 0), None));
    let sum = hand.open("sum", 0);
    assert!(hand.is_refused("_put_dropped", (sum, 0), Some(&[0; 4])));
    assert!(hand.is_refused("_end_joined", (hand.open("sum", 0), 0), None));
    // More than a server holds of one client: released there.
    let refused = (0..65).find_map(|_| hand.opened("sum", 0).err()).map(|error| *error);
    assert!(matches!(refused, Some(CallError::ResultsRefused { .. })), "{refused:?}");
}

/// Clients in Rust, one of them hostile, of a server in a process of its own.
fn call_server(name: &str, runtime: &Path) {
    let domain = Domain::new().expect("a domain");
    let feeding = FeedingClient::new(import(&domain, name, runtime, &FEEDING));
    items_come(&feeding);
    items_go(&feeding);
    let hostile = Client::new(import(&domain, name, runtime, &FEEDING), &FEEDING);
    attacks(&hostile);
    drop(hostile);
    none_alive(&feeding);
}

/// A feed of a server that ends in the middle of it.
fn outlive_server(name: &str, runtime: &Path) {
    let domain = Domain::new().expect("a domain");
    let feeding = FeedingClient::new(import(&domain, name, runtime, &FEEDING));
    let numbers: Vec<_> = feeding.numbers(10_000, 0, 3000).expect("it opens").collect();
    let (last, came) = numbers.split_last().expect("it begins");
    assert!(came.len() > 2000 && came.iter().all(Result::is_ok), "{}", came.len());
    // Made for a batch that had been late, the last words are in no call.
    let not_taken = NotExecuted::ServerEnded;
    let is_told = match last {
        Err(CallError::CallFailed { .. }) => true,
        Err(CallError::NotExecuted { reason, .. }) => *reason == not_taken,
        _ => false,
    };
    assert!(is_told, "{last:?}");
}

#[test]
fn items_come_and_go_between_languages() {
    let ways = ways();
    let mut pairs = 0;
    for (compiler, flags) in &ways {
        println!("{compiler} {flags:?}");
        let (c, cpp) = (Workshop::of("c", "feeding.idl"), Workshop::of("cpp", "feeding.idl"));
        let runtime = c.path();
        let clients =
            [c.program(compiler, "eater", flags), cpp.program(compiler, "eater_cpp", flags)];
        for client in &clients {
            let rust = RustServer::start(module_path!(), "rust", runtime);
            print!("{} calls Rust: {}", client.display(), run_client(client, "rust", runtime));
            expect_success(client, &["rust", "dies"], runtime);
            drop(rust);
        }
        let servers = [
            ("c", c.program(compiler, "feeder", flags)),
            ("cpp", cpp.program(compiler, "feeder_cpp", flags)),
        ];
        for (name, program) in &servers {
            let server = Server::start(program, name, runtime);
            for client in &clients {
                print!("{} calls {name}: {}", client.display(), run_client(client, name, runtime));
            }
            call_server(name, runtime);
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
        &FEEDING
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let mut results = arguments.results();
        results.put_u64::<0>(0);
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
