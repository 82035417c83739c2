//! `testkit-stays DIRECTORY NAME SPIN_NS PROCESSOR...`: a server that exports `Stays` until its
//! standard input ends, has these processors, and spins on them for so long.

#![forbid(unsafe_code)]

use std::io::Read;
use std::path::Path;

use nearcall::{Domain, DomainOptions};
use nearcall_os::processor;
use testkit::confined::{List, confine};

fn main() {
    confine(List::Playing);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, name, spin_ns, processors @ ..] = arguments.as_slice() else {
        panic!("usage: testkit-stays DIRECTORY NAME SPIN_NS PROCESSOR...");
    };
    let processors = processors.iter().map(|number| number.parse().expect("a processor's number"));
    // What is started from here on has them, too.
    processor::allow(&processors.collect::<Vec<_>>()).expect("processors of this machine");
    let mut options = DomainOptions::default();
    options.wait.spin_ns_max = spin_ns.parse().expect("nanoseconds");
    options.wait.spin_ns_min = options.wait.spin_ns_max;
    let domain = Domain::with_options(options).expect("a domain");
    let clerk = testkit::staying::export(&domain, Path::new(directory), name).expect("an export");
    println!("exported");
    std::io::stdin().read_to_end(&mut Vec::new()).expect("standard input");
    drop(clerk);
    domain.shut_down();
}
