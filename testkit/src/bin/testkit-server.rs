//! A server process of the two-domain tests: `testkit-server DIRECTORY NAME` exports `Faults` until
//! its standard input ends; `testkit-server DIRECTORY NAME doze` is a client that calls `doze`, and
//! `testkit-server DIRECTORY NAME again` exports `Faults` alone, tries to do so twice, and says
//! what came of it.

#![forbid(unsafe_code)]

use std::io::Read;
use std::path::Path;

use nearcall::{Binding, Clerk, Domain, ExportError, Policy};
use testkit::campaign::effects;
use testkit::faults::faults::{FAULTS, FaultsClient};
use testkit::introducing;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let domain = Domain::new().expect("a domain");
    match &arguments[1..] {
        [directory, name] => serve(&domain, Path::new(directory), name),
        [directory, name, doze] if doze == "doze" => call(&domain, Path::new(directory), name),
        [directory, name, again] if again == "again" => {
            serve_again(&domain, Path::new(directory), name);
        }
        _ => {
            eprintln!("usage: testkit-server DIRECTORY NAME [doze|again]");
            std::process::exit(2);
        }
    }
}

fn serve(domain: &Domain, directory: &Path, name: &str) {
    let clerk = testkit::server::export(domain, directory, name).expect("an export");
    let passing = testkit::passing::export(domain, directory, name).expect("an export");
    let feeding = testkit::feeding::export(domain, directory, name).expect("an export");
    let exchanging = testkit::exchanging::export(domain, directory, name).expect("an export");
    let hosts = introducing::name_of(name);
    let introducing = introducing::export(domain, directory, &hosts, Policy::default());
    let introducing = introducing.expect("an export");
    let by_hand = effects::export(domain, directory, &effects::name_of(name)).expect("an export");
    println!("exported");
    let mut line = String::new();
    std::io::stdin().read_to_string(&mut line).expect("standard input");
    drop((clerk, passing, feeding, exchanging, introducing, by_hand));
    domain.shut_down();
}

fn serve_again(domain: &Domain, directory: &Path, name: &str) {
    let export = || testkit::server::export(domain, directory, name);
    let say = |exported: &Result<Clerk, ExportError>| match exported {
        Ok(clerk) => println!("exported {}", clerk.path().display()),
        Err(error) => println!("{error}"),
    };
    let first = export();
    say(&first);
    say(&export());
    drop(first);
    let last = export();
    say(&last);
    std::io::stdin().read_to_end(&mut Vec::new()).expect("standard input");
}

fn call(domain: &Domain, directory: &Path, name: &str) {
    let options = testkit::server::import_options(directory);
    let binding = match Binding::import_with(domain, name, &FAULTS, options) {
        Ok(binding) => binding,
        Err(error) => {
            println!("{error}");
            std::process::exit(1);
        }
    };
    let outcome = FaultsClient::new(binding).doze(60_000);
    println!("{outcome:?}");
}
