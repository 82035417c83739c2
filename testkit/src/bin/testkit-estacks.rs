//! `testkit-estacks DIRECTORY NAME ESTACKS_MAX`: a server that exports `Guests` until its standard
//! input ends; `testkit-estacks DIRECTORY NAME outwait` is a client that calls `outwait`.

#![forbid(unsafe_code)]

use std::path::Path;

use nearcall::Domain;
use testkit::confined::{List, confine};
use testkit::hosting;

fn main() {
    confine(List::Playing);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, name, what] = arguments.as_slice() else {
        panic!("usage: testkit-estacks DIRECTORY NAME ESTACKS_MAX|outwait");
    };
    let directory = Path::new(directory);
    if what == "outwait" {
        let domain = Domain::new().expect("a domain");
        let client = hosting::import(&domain, directory, name);
        println!("{:?}", client.outwait());
    } else {
        hosting::run(directory, name, what.parse().expect("a number of E-stacks"));
    }
}
