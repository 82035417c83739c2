//! Calls between Rust, C and C++, each in a process of its own, in every pair.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use nearcall::{CallError, Char, Clerk, Domain, Error, Opaque, OpaqueOut};
use stubs_c_tests::cross::*;

use crate::support::{
    RustServer, Server, Workshop, run_client, serve_here, test_of, this_program, ways,
};

#[derive(Default)]
struct Tester {
    posted: AtomicU64,
}

impl CrossServer for Tester {
    fn null(&self) {}

    fn add(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    fn words(
        &self,
        color: Color,
        yes: bool,
        letter: Char,
        wide: char,
        ratio: f32,
        small: &mut u8,
        rights: &mut Rights,
    ) -> (Color, u64) {
        *small += u8::from(yes);
        *rights |= Rights::OWN;
        let big = (u64::from(u32::from(wide)) << 32) + u64::from(letter.0) + (ratio * 2.0) as u64;
        (if color == Color::Red { Color::Blue } else { Color::Red }, big)
    }

    fn greet(&self, who: &str) -> Result<String, CrossGreetException> {
        match who {
            "nobody" => Err(Refused { why: "not him".to_owned(), code: 7 }.into()),
            "gone" => Err(Gone {}.into()),
            who => Ok(format!("hello, {who}")),
        }
    }

    fn doubled(&self, numbers: &[i32], bytes: &mut Vec<u8>, text: &mut String) -> Vec<i32> {
        bytes.iter_mut().for_each(|byte| *byte ^= 0xff);
        text.push('!');
        numbers.iter().map(|number| number.wrapping_mul(2)).collect()
    }

    fn r#move(&self, point: &Point, grid: &Grid) -> (Point, Grid) {
        let mut turned = *grid;
        for (row, numbers) in grid.iter().enumerate() {
            for (column, number) in numbers.iter().enumerate() {
                turned[1 - row][2 - column] = *number;
            }
        }
        (Point { x: point.x + 1, y: point.y / 2.0 }, turned)
    }

    fn meet(&self, person: &Person, choice: &mut Choice) -> Person {
        let mut met = person.clone();
        met.ages.values_mut().for_each(|age| *age += 1);
        met.shoe = met.shoe.map(|shoe| shoe + 1);
        met.choice = std::mem::replace(choice, Choice::Number(2, 22));
        met
    }

    fn grow(&self, tree: &Tree) -> Tree {
        let below = vec![Tree { value: tree.below.len() as i32, below: Vec::new() }];
        Tree { value: tree.value + 1, below }
    }

    fn share(&self, part: Percent, parts: &[Percent]) -> Percent {
        part + parts.iter().sum::<i32>()
    }

    fn change(&self, data: Opaque<'_>, mut written: OpaqueOut<'_>) -> String {
        let mut bytes = data.to_vec();
        bytes.reverse();
        written.put(&bytes).expect("there is room");
        "turned".to_owned()
    }

    fn weigh(&self, data: &[u8]) -> u64 {
        data.iter().map(|byte| u64::from(*byte)).sum()
    }

    fn post(&self, number: u32) {
        self.posted.fetch_add(number.into(), Ordering::SeqCst);
    }

    fn posted(&self) -> u64 {
        self.posted.load(Ordering::SeqCst)
    }
}

/// Exports the server in Rust until standard input ends: this test program as another process.
#[test]
fn serve() {
    serve_here(|domain, name| Clerk::export(domain, name, CrossEntries::new(Tester::default())));
}

/// Everything the client in C does, in Rust: this test program as another process, which finds
/// the server as any client does.
#[test]
fn call() {
    let Ok(name) = std::env::var("CROSS_CLIENT_NAME") else {
        return;
    };
    let domain = Domain::new().expect("a domain");
    let cross = CrossClient::import(&domain, &name).expect("it is exported");
    cross.null().expect("it returns");
    assert_eq!(cross.add(2, -3).expect("it returns"), -1);
    let (mut small, mut rights) = (41, Rights::READ);
    let words = cross.words(Color::Red, true, Char(b'a'), '\u{20ac}', 1.5, &mut small, &mut rights);
    assert_eq!(words.expect("it returns"), (Color::Blue, (0x20ac << 32) + 97 + 3));
    assert_eq!((small, rights), (42, Rights::READ | Rights::OWN));
    texts_and_sequences(&cross);
    values(&cross);
    let parts = [20, 30];
    assert_eq!(cross.share(50, &parts).expect("it returns"), 100);
    let refused = cross.share(50, &[31, 30]);
    assert!(matches!(refused, Err(CallError::ResultsRefused { .. })), "{refused:?}");
    let refused = cross.share(101, &parts);
    assert_eq!(refused.unwrap_err().to_string(), "part is 101, allowed is 0 to 100");
    let data = vec![1; 3 << 20];
    assert_eq!(cross.weigh(&data).expect("it returns"), 3 << 20);
    let mut written = Vec::new();
    assert_eq!(cross.change(b"abc", &mut written).expect("it returns"), "turned");
    assert_eq!(written, b"cba");
    let before = cross.posted().expect("it returns");
    cross.post(5).expect("it is posted");
    while cross.posted().expect("it returns") != before + 5 {}
}

fn texts_and_sequences(cross: &CrossClient) {
    assert_eq!(cross.greet("world").expect("it returns"), "hello, world");
    let raised = cross.greet("nobody");
    let Err(Error::Exception(CrossGreetException::Refused(refused))) = raised else {
        panic!("{raised:?}");
    };
    assert_eq!(refused, Refused { why: "not him".to_owned(), code: 7 });
    let raised = cross.greet("gone");
    assert!(matches!(raised, Err(Error::Exception(CrossGreetException::Gone(_)))));
    let (mut bytes, mut text) = (vec![0, 0xf0], String::from("what"));
    let all = cross.doubled(&[1, -2, 1 << 30], &mut bytes, &mut text).expect("it returns");
    assert_eq!((all, bytes, &*text), (vec![2, -4, i32::MIN], vec![0xff, 0x0f], "what!"));
}

fn values(cross: &CrossClient) {
    let grid = [[1, 2, 3], [4, 5, 6]];
    let moved = cross.r#move(&Point { x: 1, y: 5.0 }, &grid).expect("it returns");
    assert_eq!(moved, (Point { x: 2, y: 2.5 }, [[6, 5, 4], [3, 2, 1]]));
    let person = Person {
        name: "a".to_owned(),
        others: vec!["b".to_owned(), "é".to_owned()],
        ages: BTreeMap::from([("b".to_owned(), 41)]),
        shoe: Some(44),
        choice: Choice::Otherwise(-1, 0.5),
        color: Color::Blue,
    };
    let mut choice = Choice::Text("three".to_owned());
    let met = cross.meet(&person, &mut choice).expect("it returns");
    assert_eq!(choice, Choice::Number(2, 22));
    let wanted = Person {
        ages: BTreeMap::from([("b".to_owned(), 42)]),
        shoe: Some(45),
        choice: Choice::Text("three".to_owned()),
        ..person
    };
    assert_eq!(met, wanted);
    let leaf = |value| Tree { value, below: Vec::new() };
    let grown = cross.grow(&Tree { value: 7, below: vec![leaf(1), leaf(2)] });
    assert_eq!(grown.expect("it returns"), Tree { value: 8, below: vec![leaf(2)] });
}

/// Runs the client in Rust as another process.
fn run_rust_client(name: &str, runtime: &Path) {
    let output = this_program(runtime)
        .args([&*test_of(module_path!(), "call"), "--exact"])
        .env("CROSS_CLIENT_NAME", name)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "the client ended with {}:\n{said}", output.status);
    assert!(said.contains("1 passed"), "the client has not run:\n{said}");
}

#[test]
fn each_language_calls_each() {
    let (ways, mut pairs) = (ways(), 0);
    for (compiler, flags) in &ways {
        println!("{compiler} {flags:?}");
        pairs += call_each(compiler, flags);
    }
    println!("{pairs} pairs");
    assert!(pairs == 8 * ways.len(), "{pairs} pairs");
}

/// Every pair with programs of one compiler; how many there were.
fn call_each(compiler: &str, flags: &[&str]) -> usize {
    let (workshop, with_cpp) = (Workshop::new(), Workshop::with_cpp());
    let runtime = workshop.path();
    let c = workshop.program(compiler, "client", flags);
    let cpp = with_cpp.program(compiler, "client_cpp", flags);
    let mut pairs = 0;
    let mut call = |client: &Path, server: &str| {
        print!("{} calls {server}: {}", client.display(), run_client(client, server, runtime));
        pairs += 1;
    };
    let rust = RustServer::start(module_path!(), "rust", runtime);
    call(&c, "rust");
    call(&cpp, "rust");
    drop(rust);
    let programs = [
        ("c", workshop.program(compiler, "server", flags)),
        ("cpp", with_cpp.program(compiler, "server_cpp", flags)),
    ];
    for (name, program) in programs {
        let server = Server::start(&program, name, runtime);
        call(&c, name);
        call(&cpp, name);
        run_rust_client(name, runtime);
        server.end();
    }
    pairs + 2
}
