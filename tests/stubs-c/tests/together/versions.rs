//! Clients and servers of different versions of one interface, in Rust, C and C++, each in a
//! process of its own: what was only added at the end binds both ways, anything else is refused by
//! name.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard};

use nearcall::{BindError, CallError, Clerk, Domain, Error, NotExecuted, Ran};
use stubs_c_tests::{new, old, other};

use crate::support::{Server, Workshop, domain, test_of, this_program, ways};

#[derive(Default)]
struct Keeper(Mutex<BTreeMap<String, i32>>);

impl Keeper {
    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, i32>> {
        self.0.lock().expect("nobody panics")
    }
}

/// The procedures that all versions have.
macro_rules! common {
    ($version:ident) => {
        fn get(&self, key: &str) -> Result<i32, $version::versions::StoreGetException> {
            let missing = $version::versions::Missing { key: key.to_owned() };
            self.entries().get(key).copied().ok_or_else(|| missing.into())
        }

        fn put(&self, entry: &$version::versions::Entry) {
            self.entries().insert(entry.key.clone(), entry.value);
        }
    };
}

impl old::versions::StoreServer for Keeper {
    common!(old);
}

impl other::versions::StoreServer for Keeper {
    common!(other);
}

impl new::versions::StoreServer for Keeper {
    common!(new);

    fn count(&self) -> i32 {
        self.entries().len() as i32
    }

    fn all(&self) -> Vec<new::versions::Entry> {
        let entry = |(key, value): (&String, &i32)| new::versions::Entry {
            key: key.clone(),
            value: *value,
        };
        self.entries().iter().map(entry).collect()
    }
}

/// Exports a server in Rust until standard input ends: this test program as another process.
#[test]
fn serve() {
    let Ok(version) = std::env::var("SERVE_VERSION") else {
        return;
    };
    let domain = Domain::new().expect("a domain");
    let keeper = Keeper::default();
    let clerk = match &*version {
        "old" => Clerk::export(&domain, "store", old::versions::StoreEntries::new(keeper)),
        "new" => Clerk::export(&domain, "store", new::versions::StoreEntries::new(keeper)),
        "other" => Clerk::export(&domain, "store", other::versions::StoreEntries::new(keeper)),
        unknown => panic!("{unknown}"),
    };
    let clerk = clerk.expect("the name is free");
    std::fs::write(std::env::var("SERVE_READY").expect("a file"), "").expect("it can be written");
    let _ = std::io::stdin().read(&mut [0]);
    drop(clerk);
    domain.shut_down();
}

/// A client in Rust: this test program as another process.
#[test]
fn call() {
    let Ok(version) = std::env::var("CALL_VERSION") else {
        return;
    };
    let at = std::env::var("CALL_AT").expect("what the server has");
    let domain = Domain::new().expect("a domain");
    match &*version {
        "old" => call_old(&domain, &at),
        "new" => call_new(&domain, &at),
        unknown => panic!("{unknown}"),
    }
}

fn call_old(domain: &Domain, at: &str) {
    use old::versions::{Entry, Missing, StoreClient, StoreGetException};
    let store = match (StoreClient::import(domain, "store"), at) {
        (Err(error), "other") => return check_refusal(&error),
        (store, _) => store.expect("a version that adds at the end"),
    };
    for round in 0..1_000 {
        store.put(&Entry { key: format!("key {round}"), value: round }).expect("it returns");
        assert_eq!(store.get(&format!("key {round}")).expect("it returns"), round);
    }
    let Err(Error::Exception(StoreGetException::Missing(missing))) = store.get("no key") else {
        panic!("there is none");
    };
    assert_eq!(missing, Missing { key: "no key".to_owned() });
}

fn call_new(domain: &Domain, at: &str) {
    use new::versions::{Entry, StoreClient};
    let store = match (StoreClient::import(domain, "store"), at) {
        (Err(error), "other") => return check_refusal(&error),
        (store, _) => store.expect("a version that it adds to"),
    };
    let threads = [1, 2, 3].map(|thread| {
        let store = store.clone();
        std::thread::spawn(move || {
            for round in 0..300 {
                let key = format!("key {thread} {round}");
                store.put(&Entry { key: key.clone(), value: round }).expect("it returns");
                assert_eq!(store.get(&key).expect("it returns"), round);
                check_missing(store.count());
                check_missing(store.all());
            }
        })
    });
    threads.into_iter().for_each(|thread| thread.join().expect("it does not panic"));
    assert!(!store.binding().is_revoked());
}

/// A call of what an older server does not have.
#[track_caller]
fn check_missing<T: std::fmt::Debug>(called: Result<T, CallError>) {
    let error = called.expect_err("the server does not have it");
    let reason = NotExecuted::NotProvided;
    assert!(matches!(error, CallError::NotExecuted { reason: is, .. } if is == reason), "{error}");
    assert_eq!(error.ran(), Ran::No);
}

fn check_refusal(error: &BindError) {
    assert!(matches!(error, BindError::Hash { .. }), "{error}");
    let want = "the server has another version of versions::Store: procedure 0, `get`, has other \
                parameters, results or exceptions there, by type, name or order: `nearcall diff` \
                of both files tells more";
    assert_eq!(error.to_string(), want);
}

/// A server in Rust, in a process of its own.
struct RustServer(std::process::Child);

impl RustServer {
    fn start(version: &str, runtime: &Path) -> RustServer {
        let ready = runtime.join("ready");
        let _ = std::fs::remove_file(&ready);
        let mut child = this_test("serve", runtime)
            .env("SERVE_VERSION", version)
            .env("SERVE_READY", &ready)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        while !ready.exists() {
            let ended = child.try_wait().expect("our own child");
            assert!(ended.is_none() || ready.exists(), "the server ended with {ended:?}");
            std::thread::yield_now();
        }
        RustServer(child)
    }
}

impl Drop for RustServer {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let status = self.0.wait().expect("it ends");
        assert!(status.success() || std::thread::panicking(), "the server ended with {status}");
    }
}

fn this_test(test: &str, runtime: &Path) -> Command {
    let mut command = this_program(runtime);
    command.args([&*test_of(module_path!(), test), "--exact"]);
    command
}

fn succeed(output: Output) {
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (told, errors) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "it ended with {}:\n{told}{errors}", output.status);
}

fn call_in_rust(version: &str, at: &str, runtime: &Path) {
    let mut command = this_test("call", runtime);
    command.env("CALL_VERSION", version).env("CALL_AT", at);
    let output = command.output().expect("it runs");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
    succeed(output);
}

fn call_elsewhere(program: &Path, at: &str, runtime: &Path) {
    succeed(domain(program, runtime).args(["store", at]).output().expect("it runs"));
}

#[test]
fn versions_in_rust_that_add_at_the_end_bind_both_ways_and_others_are_refused() {
    let runtime = tempfile::TempDir::new().expect("a directory");
    let mut pairs = 0;
    for (client, server, at) in [
        ("old", "new", "newer"),
        ("new", "old", "older"),
        ("old", "other", "other"),
        ("new", "other", "other"),
    ] {
        let served = RustServer::start(server, runtime.path());
        call_in_rust(client, at, runtime.path());
        drop(served);
        pairs += 1;
    }
    println!("{pairs} pairs");
}

#[test]
fn versions_in_c_and_rust_bind_alike() {
    bind_alike("c");
}

#[test]
fn versions_in_cpp_and_rust_bind_alike() {
    bind_alike("cpp");
}

fn bind_alike(language: &'static str) {
    let (ways, mut pairs) = (ways(), 0);
    for (compiler, flags) in &ways {
        let build = |name, version| {
            Workshop::of_version(compiler, (name, language), &format!("{version}.idl"), flags)
        };
        let (old_client, new_client) = (build("store_client", "old"), build("store_client", "new"));
        let runtime = old_client.0.path();
        for (client, server, at) in [
            (&old_client, "new", "newer"),
            (&new_client, "old", "older"),
            (&old_client, "other", "other"),
            (&new_client, "other", "other"),
        ] {
            let served = RustServer::start(server, runtime);
            call_elsewhere(&client.1, at, runtime);
            drop(served);
            pairs += 1;
        }
        let new_server = build("store_server", "new");
        let old_server = build("store_server", "old");
        for (server, client, at) in [(&new_server, "old", "newer"), (&old_server, "new", "older")] {
            let served = Server::start(&server.1, "store", runtime);
            let client = if client == "old" { &old_client } else { &new_client };
            call_elsewhere(&client.1, at, runtime);
            served.end();
            pairs += 1;
        }
    }
    println!("{pairs} pairs");
    assert!(pairs == 6 * ways.len(), "{pairs} pairs");
}
