//! Clients in C and C++ are told which reason an error has, of which life of the server it is, and
//! whether another try may help.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use nearcall::name::Scope;
use nearcall::{Clerk, Domain, DomainOptions, ExportOptions, Policy, Rules};
use stubs_c_tests::revived::again::*;

use crate::rebinds::{Mortal, mortal};
use crate::support::{domain, in_both};

/// A server in this process, which no client ends.
fn export(domain: &Domain, name: &str, runtime: &Path, policy: Policy) -> Clerk {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(runtime.join("nearcall")));
    options.policy = policy;
    Clerk::export_with(domain, name, AgainEntries::new(Mortal), options).expect("the name is free")
}

fn tell(program: &Path, runtime: &Path) {
    let mut scarce = DomainOptions::default();
    // Of which one user has half.
    scarce.bindings_max = 2;
    let (narrow, ending) = (Domain::with_options(scarce).unwrap(), Domain::new().unwrap());
    let nobody = Policy::Rules(Rules::default());
    let _clerks = [
        export(&ending, "closed", runtime, nobody),
        export(&narrow, "narrow", runtime, Policy::OfScope),
        export(&ending, "ending", runtime, Policy::OfScope),
    ];
    let mut server = mortal("mortal", runtime);
    let mut client = domain(program, runtime).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    let stdout = client.stdout.take().expect("it is a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("it can be read");
    if line == "calls\n" {
        server.wait();
        ending.shut_down();
    }
    assert!(client.wait().expect("it ends").success(), "{}", program.display());
}

#[test]
fn errors_say_why_and_whether_to_try_again() {
    in_both("again.idl", ["retrier", "retrier_cpp"], tell);
}
