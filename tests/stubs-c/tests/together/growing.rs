//! Structs that get members at their end, and an enum that gets an enumerator: clients and servers
//! of both versions, in Rust and C. Who has the new version reads the defaults of what did not
//! come, who has the old one leaves out what it does not know, or reads the default literal, and
//! anything but what is at the end is refused by name.

use nearcall::{BindError, Clerk, Domain, ExportError};
use stubs_c_tests::{early, late, moved};

use crate::support::{
    RustServer, Server, Workshop, expect_success, serve_here, test_of, this_program, ways,
};

/// A server of any version, called by it.
struct Keeper;

impl early::growing::ShelfServer for Keeper {
    fn keep(&self, items: &[early::growing::Item]) -> String {
        items.iter().map(|item| format!("{} {:?};", item.name, weights(item))).collect()
    }

    fn last(&self) -> early::growing::Item {
        early::growing::Item { name: "early".into(), parts: vec![part(9), part(8)] }
    }

    fn newest(&self, tint: early::growing::Tint) -> early::growing::Tint {
        use early::growing::Tint;
        if tint == Tint::Plain { Tint::Other } else { tint }
    }

    fn seen(&self, coats: &[early::growing::Coat]) -> Vec<early::growing::Coat> {
        use early::growing::{Coat, Tint};
        let seen = coats.iter().map(|coat| Coat { tint: Tint::Other, layers: coat.tint as i32 });
        seen.collect()
    }
}

impl late::growing::ShelfServer for Keeper {
    fn keep(&self, items: &[late::growing::Item]) -> String {
        items.iter().map(|item| format!("{} {};", item.name, rest(item))).collect()
    }

    fn last(&self) -> late::growing::Item {
        item()
    }

    fn newest(&self, tint: late::growing::Tint) -> late::growing::Tint {
        use late::growing::Tint;
        if tint == Tint::Plain { Tint::Deep } else { tint }
    }

    fn seen(&self, coats: &[late::growing::Coat]) -> Vec<late::growing::Coat> {
        use late::growing::{Coat, Tint};
        let seen = coats.iter().map(|coat| Coat { tint: Tint::Deep, layers: coat.tint as i32 });
        seen.collect()
    }
}

impl moved::growing::ShelfServer for Keeper {
    fn keep(&self, items: &[moved::growing::Item]) -> String {
        format!("{items:?}")
    }

    fn last(&self) -> moved::growing::Item {
        moved::growing::Item::default()
    }
}

fn part(weight: i32) -> early::growing::Part {
    early::growing::Part { weight }
}

fn weights(item: &early::growing::Item) -> Vec<i32> {
    item.parts.iter().map(|part| part.weight).collect()
}

/// A value of the new version without a default in it.
fn item() -> late::growing::Item {
    use late::growing::{Colour, Item, Part};
    Item {
        name: "late".into(),
        parts: vec![Part { weight: 1, height: 2 }],
        note: Some("a note".into()),
        kind: "fancy".into(),
        colour: Colour::Red,
        few: 9,
        ratio: -1.0,
        labels: vec!["x".into()],
        base: Part { weight: 3, height: 4 },
    }
}

/// All but the name.
fn rest(item: &late::growing::Item) -> String {
    let parts: String =
        item.parts.iter().map(|part| format!("{}x{} ", part.weight, part.height)).collect();
    let late::growing::Item { note, kind, colour, few, ratio, labels, base, .. } = item;
    let base = format!("{}x{}", base.weight, base.height);
    format!("{parts}{note:?} {kind} {colour:?} {few} {ratio} {labels:?} {base}")
}

/// What the members that the old version does not have are.
const MISSING: &str = "None plain Green 3 2.5 [] 0x7";

fn export(domain: &Domain, name: &str) -> Result<Clerk, ExportError> {
    match name {
        "early" => Clerk::export(domain, name, early::growing::ShelfEntries::new(Keeper)),
        "late" => Clerk::export(domain, name, late::growing::ShelfEntries::new(Keeper)),
        _ => Clerk::export(domain, name, moved::growing::ShelfEntries::new(Keeper)),
    }
}

fn call_early(shelf: &early::growing::ShelfClient, is_late_there: bool) {
    tint_early(shelf);
    let hat = early::growing::Item { name: "hat".into(), parts: vec![part(5), part(6)] };
    let bag = early::growing::Item { name: "bag".into(), parts: Vec::new() };
    let kept = shelf.keep(&[hat, bag]).expect("it returns");
    let last = shelf.last().expect("it returns");
    let last = (&*last.name, weights(&last));
    match is_late_there {
        true => {
            assert_eq!(kept, format!("hat 5x7 6x7 {MISSING};bag {MISSING};"));
            assert_eq!(last, ("late", vec![1]));
        }
        false => {
            assert_eq!(kept, "hat [5, 6];bag [];");
            assert_eq!(last, ("early", vec![9, 8]));
        }
    }
}

/// What was given as the last enumerator of the old version, the new one's is to it.
fn tint_early(shelf: &early::growing::ShelfClient) {
    use early::growing::{Coat, Tint};
    assert_eq!(shelf.newest(Tint::Plain).expect("it returns"), Tint::Other);
    assert_eq!(shelf.newest(Tint::Other).expect("it returns"), Tint::Other);
    let coats = [Tint::Plain, Tint::Other].map(|tint| Coat { tint, layers: 9 });
    let want = [0, 1].map(|layers| Coat { tint: Tint::Other, layers });
    assert_eq!(shelf.seen(&coats).expect("it returns"), want.to_vec());
}

fn tint_late(shelf: &late::growing::ShelfClient, is_late_there: bool) {
    use late::growing::{Coat, Tint};
    let newest = if is_late_there { Tint::Deep } else { Tint::Other };
    assert_eq!(shelf.newest(Tint::Plain).expect("it returns"), newest);
    assert_eq!(shelf.newest(Tint::Deep).expect("it returns"), newest);
    let coats = [Tint::Plain, Tint::Deep].map(|tint| Coat { tint, layers: 9 });
    let want = [0, newest as i32].map(|layers| Coat { tint: newest, layers });
    assert_eq!(shelf.seen(&coats).expect("it returns"), want.to_vec());
}

fn call_late(shelf: &late::growing::ShelfClient, is_late_there: bool) {
    tint_late(shelf, is_late_there);
    let kept = shelf.keep(&[item(), item()]).expect("it returns");
    let last = shelf.last().expect("it returns");
    match is_late_there {
        true => {
            let one = format!("late {};", rest(&item()));
            assert_eq!((kept, last), (one.repeat(2), item()));
        }
        false => {
            assert_eq!(kept, "late [1];late [1];");
            assert_eq!((&*last.name, rest(&last)), ("early", format!("9x7 8x7 {MISSING}")));
        }
    }
}

#[track_caller]
fn check_refusal<T: std::fmt::Debug>(import: Result<T, BindError>) {
    let error = import.expect_err("a member has moved");
    let want = "the server has another version of growing::Shelf: procedure 0, `keep`, has \
                `growing::Part`, whose member 1 differs there: `nearcall diff` of both files tells \
                more";
    assert_eq!(error.to_string(), want);
}

/// Exports a server in Rust until standard input ends: this test program as another process.
#[test]
fn serve() {
    serve_here(export);
}

/// Clients of both versions in Rust: this test program as another process.
#[test]
fn call() {
    let Ok(version) = std::env::var("SHELF_VERSION") else {
        return;
    };
    let domain = Domain::new().expect("a domain");
    let early = early::growing::ShelfClient::import(&domain, &version);
    let late = late::growing::ShelfClient::import(&domain, &version);
    if version == "moved" {
        check_refusal(early);
        check_refusal(late);
    } else {
        call_early(&early.expect("members at the end"), version == "late");
        call_late(&late.expect("members at the end"), version == "late");
    }
    domain.shut_down();
}

#[test]
fn versions_in_rust_call_each_other() {
    let runtime = tempfile::TempDir::new().expect("a directory");
    for version in ["early", "late", "moved"] {
        let served = RustServer::start(module_path!(), version, runtime.path());
        let output = this_program(runtime.path())
            .args([&*test_of(module_path!(), "call"), "--exact"])
            .env("SHELF_VERSION", version)
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{version}: {}\n{said}", output.status);
        assert!(said.contains("1 passed"), "{version}: {said}");
        drop(served);
    }
}

#[test]
fn versions_in_c_call_each_other_and_those_in_rust() {
    let mut pairs = 0;
    for (compiler, flags) in &ways() {
        let build = |name, version| {
            Workshop::of_version(compiler, (name, "c"), &format!("{version}.idl"), flags)
        };
        let clients = ["early", "late"].map(|version| build("shelf_client", version));
        let servers = ["early", "late"].map(|version| build("shelf_server", version));
        for (server, version) in servers.iter().zip(["early", "late"]) {
            let runtime = server.0.path();
            for (_, client) in &clients {
                let in_c = Server::start(&server.1, version, runtime);
                expect_success(client, &[version, version], runtime);
                in_c.end();
                let in_rust = RustServer::start(module_path!(), version, runtime);
                expect_success(client, &[version, version], runtime);
                drop(in_rust);
                pairs += 2;
            }
        }
        let runtime = clients[0].0.path();
        let in_rust = RustServer::start(module_path!(), "moved", runtime);
        for (_, client) in &clients {
            expect_success(client, &["moved", "moved"], runtime);
            pairs += 1;
        }
        drop(in_rust);
    }
    println!("{pairs} pairs");
    assert!(pairs == 10 * ways().len(), "{pairs} pairs");
}
