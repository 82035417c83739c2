//! How many instructions a brief call from C takes (design note 0026): up to the post, and in all,
//! if the reply is there at the first look; the same of one that is posted and collected later, by
//! halves. Single steps, so that no time counts. What Null and Add
//! execute stands in `tests/asm`, compared by mnemonics, as `cargo xtask cost` does for Rust.

#![forbid(unsafe_code)]

mod support;

use std::path::Path;

use nearcall::{Clerk, Domain, DomainOptions};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use stubs_c_tests::short::brief::*;
use support::tester::Tester;
use support::{
    RustServer, Workshop, has, has_x86_64, lacking, run_client, serve_here_in, tests_directory,
};
use xtask::cost::{Listing, difference, disassemble, golden, is_of_same};

/// The compiler that the counts are of, with `-O2`.
const COMPILER: &str = "gcc 12.2.0";

/// What is committed: up to the post, and in all.
const EXPECTED: [(&str, [u32; 2]); 8] = [
    ("null", [21, 49]),
    ("add", [24, 54]),
    ("pfs_write", [45, 80]),
    ("wash", [54, 139]),
    ("post_null", [38, 60]),
    ("collect_null", [0, 34]),
    ("post_add", [42, 65]),
    ("collect_add", [0, 36]),
];

/// The calls whose assembly is committed, as `tests/asm/c-NAME.s`.
const COMMITTED: [&str; 2] = ["null", "add"];

/// How far a count may be from what is committed, in percent.
const TOLERANCE_PERCENT: u32 = 2;

/// The same for other compilers: one that leaves the quick way is far over it.
const OTHERS_PERCENT: u32 = 60;

/// The processors that this process may run on.
fn processors() -> Vec<usize> {
    let all = sched_getaffinity(None).expect("it can be asked");
    (0..CpuSet::MAX_CPU).filter(|&processor| all.is_set(processor)).collect()
}

/// The server of a [`RustServer`], on a processor of its own.
#[test]
fn serve() {
    let domain = || {
        let mut own = CpuSet::new();
        own.set(*processors().last().expect("it runs somewhere"));
        sched_setaffinity(None, &own).expect("it may run there");
        // Without an end to spinning: a step takes microseconds.
        let mut options = DomainOptions::default();
        options.wait.linger_cycles_max = 0;
        options.wait.spin_ns_max = u32::MAX;
        // Also where yields are banned.
        options.wait.spin_ns_min = u32::MAX;
        Domain::with_options(options)
    };
    serve_here_in(domain, |domain, name| Clerk::export(domain, name, BriefEntries::new(Tester)));
}

fn is_off(counted: u32, expected: u32, percent: u32) -> bool {
    counted.abs_diff(expected) * 100 > expected * percent
}

#[test]
fn the_tolerance_can_be_exceeded() {
    assert!(is_off(103, 100, TOLERANCE_PERCENT) && !is_off(102, 100, TOLERANCE_PERCENT));
    assert!(is_off(26, 25, TOLERANCE_PERCENT));
}

/// What `gcc` says that it is.
fn compiler() -> String {
    let output = std::process::Command::new("gcc").arg("-dumpfullversion").output();
    let output = output.expect("it is there");
    format!("gcc {}", String::from_utf8_lossy(&output.stdout).trim())
}

#[test]
fn a_brief_call_takes_so_many_instructions() {
    if !has_x86_64() || !has("gcc") {
        return;
    }
    if processors().len() < 2 {
        return lacking("a second processor");
    }
    let compiler = compiler();
    let percent = match compiler == COMPILER {
        true => TOLERANCE_PERCENT,
        false => OTHERS_PERCENT,
    };
    let workshop = Workshop::of("c", "brief.idl");
    let program = workshop.program("gcc", "counts", &["-O2"]);
    let _server = RustServer::start(module_path!(), "counted", workshop.path());
    let said = run_client(&program, "counted", workshop.path());
    let counts: Vec<(&str, [u32; 2])> = said.lines().filter_map(counts_of).collect();
    println!("{compiler}, {percent} % allowed\n{counts:?}");
    assert_eq!(counts.len(), EXPECTED.len());
    compare_assembly(&compiler, &program, &said);
    for (counted, expected) in counts.iter().zip(&EXPECTED) {
        assert_eq!(counted.0, expected.0);
        let both = counted.1.iter().zip(&expected.1);
        let is_off = both.map(|(&counted, &expected)| is_off(counted, expected, percent));
        assert!(!is_off.into_iter().any(|is_off| is_off), "{counted:?}, {expected:?} committed");
    }
}

/// Holds what was executed against the goldens of this compiler, or writes them; says so if they
/// are of another one.
fn compare_assembly(compiler: &str, program: &Path, said: &str) {
    let listing = disassemble(program);
    let listing: Listing = listing.unwrap_or_else(|error| panic!("{error:?}"));
    let profile = format!("{compiler}, x86_64, -O2");
    let mut compared = 0;
    for name in COMMITTED {
        let addresses = said.lines().find_map(|line| addresses_of(line, name));
        let addresses = addresses.expect("every call is stepped");
        let found = golden(&profile, &addresses, &listing);
        assert!(!found.contains("(outside"), "{name} leaves the program:\n{found}");
        let file = tests_directory().join(format!("asm/c-{name}.s"));
        if std::env::var_os("UPDATE_EXPECT").is_some() && compiler == COMPILER {
            std::fs::write(&file, &found).expect("it can be written");
        }
        let known = std::fs::read_to_string(&file).expect("it is there");
        if !is_of_same(&known, &found) {
            continue;
        }
        compared += 1;
        if let Some(difference) = difference(&known, &found) {
            panic!("c-{name}.s: {difference}\n{found}\nto accept: cargo xtask bless asm");
        }
    }
    println!("{compared} paths of instructions compared");
    match compiler == COMPILER {
        true => assert_eq!(compared, COMMITTED.len()),
        false => lacking(COMPILER),
    }
}

/// Where the instructions of a call stand, if this line is its.
fn addresses_of(line: &str, name: &str) -> Option<Vec<u64>> {
    let mut words = line.split(' ');
    let is_its = words.next() == Some(name);
    let addresses = words.skip(2).map(|word| u64::from_str_radix(word, 16).ok());
    if is_its { addresses.collect() } else { None }
}

#[test]
fn another_instruction_is_another_path() {
    let listing: Listing = [(1, "push %rbp".to_owned()), (2, "lock add".to_owned())].into();
    let golden = |addresses: &[u64]| golden("gcc", addresses, &listing);
    assert_eq!(difference(&golden(&[1, 1]), &golden(&[1, 1])), None);
    assert!(difference(&golden(&[1, 1]), &golden(&[1, 2])).is_some());
}

/// A line of the program's.
fn counts_of(line: &str) -> Option<(&str, [u32; 2])> {
    let mut words = line.split(' ');
    let name = words.next()?;
    Some((name, [words.next()?.parse().ok()?, words.next()?.parse().ok()?]))
}
