//! A server process of the two-domain tests: `testkit-server DIRECTORY NAME` exports `Faults` until
//! its standard input ends; `testkit-server DIRECTORY NAME doze` is a client that calls `doze`, and
//! `testkit-server DIRECTORY NAME again` exports `Faults` alone, tries to do so twice, and says
//! what came of it. `testkit-server DIRECTORY NAME anybody` exports `Effects` to whoever comes, and
//! may have 1,024 descriptors; at its end it writes its warnings into a file of that name.

#![forbid(unsafe_code)]

use std::io::Read;
use std::path::Path;

use nearcall::{Binding, Clerk, Domain, ExportError, Policy};
use rustix::process::{Resource, Rlimit, setrlimit};
use testkit::campaign::effects;
use testkit::confined::{List, confine};
use testkit::faults::faults::{FAULTS, FaultsClient};
use testkit::introducing;
use testkit::records::Records;

fn main() {
    confine(List::Playing);
    let arguments: Vec<String> = std::env::args().collect();
    let domain = Domain::new().expect("a domain");
    match &arguments[1..] {
        [directory, name] => serve(&domain, Path::new(directory), name),
        [directory, name, doze] if doze == "doze" => call(&domain, Path::new(directory), name),
        [directory, name, again] if again == "again" => {
            serve_again(&domain, Path::new(directory), name);
        }
        [directory, name, anybody] if anybody == "anybody" => {
            serve_anybody(&domain, Path::new(directory), name);
        }
        _ => {
            eprintln!("usage: testkit-server DIRECTORY NAME [doze|again|anybody]");
            std::process::exit(2);
        }
    }
}

fn serve(domain: &Domain, directory: &Path, name: &str) {
    let clerk = testkit::server::export(domain, directory, name).expect("an export");
    let passing = testkit::passing::export(domain, directory, name).expect("an export");
    let feeding = testkit::feeding::export(domain, directory, name).expect("an export");
    let exchanging = testkit::exchanging::export(domain, directory, name).expect("an export");
    let judging = testkit::judging::export(domain, directory, name).expect("an export");
    let hosts = introducing::name_of(name);
    let introducing = introducing::export(domain, directory, &hosts, Policy::default());
    let introducing = introducing.expect("an export");
    let by_hand = effects::export(domain, directory, &effects::name_of(name)).expect("an export");
    println!("exported");
    let mut line = String::new();
    std::io::stdin().read_to_string(&mut line).expect("standard input");
    drop((clerk, passing, feeding, exchanging, judging, introducing, by_hand));
    domain.shut_down();
}

fn serve_anybody(domain: &Domain, directory: &Path, name: &str) {
    let warnings = Records::of_warnings();
    tracing::subscriber::set_global_default(warnings.clone()).expect("there is none yet");
    let few = Rlimit { current: Some(1024), maximum: Some(1024) };
    setrlimit(Resource::Nofile, few).expect("a lower limit");
    let file = effects::open(directory).expect("a file of effects");
    let name = effects::name_of(name);
    let clerk = effects::export_to(file, domain, directory, &name, Policy::Anyone);
    let clerk = clerk.expect("an export");
    println!("exported");
    std::io::stdin().read_to_end(&mut Vec::new()).expect("standard input");
    drop(clerk);
    domain.shut_down();
    let warnings = warnings.all().join("\n");
    std::fs::write(directory.join("warnings"), warnings).expect("a file of warnings");
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
    let binding = Binding::import_with(domain, name, &FAULTS, options).expect("a binding");
    let outcome = FaultsClient::new(binding).doze(60_000);
    println!("{outcome:?}");
}
