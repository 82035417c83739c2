//! How many instructions a brief call from C takes (design note 0026): up to the post, and in all,
//! if the reply is there at the first look. Single steps, so that no time counts.

#![forbid(unsafe_code)]

mod support;

use nearcall::{Clerk, Domain, DomainOptions};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use stubs_c_tests::short::brief::*;
use support::tester::Tester;
use support::{RustServer, Workshop, run_client, serve_here_in};

/// The compiler that the counts are of, with `-O2`.
const COMPILER: &str = "gcc 12.2.0";

/// What is committed: up to the post, and in all.
const EXPECTED: [(&str, [u32; 2]); 3] =
    [("null", [21, 49]), ("add", [24, 54]), ("pfs_write", [45, 80])];

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
fn compiler() -> Option<String> {
    let output = std::process::Command::new("gcc").arg("-dumpfullversion").output().ok()?;
    Some(format!("gcc {}", String::from_utf8_lossy(&output.stdout).trim()))
}

#[test]
fn a_brief_call_takes_so_many_instructions() {
    let Some(compiler) = compiler() else {
        return eprintln!("skipped: gcc is not installed");
    };
    if cfg!(not(target_arch = "x86_64")) || processors().len() < 2 {
        return eprintln!("skipped: counted on x86_64 with two processors alone");
    }
    let percent = match compiler == COMPILER {
        true => TOLERANCE_PERCENT,
        false => OTHERS_PERCENT,
    };
    let workshop = Workshop::of("c", "brief.idl");
    let program = workshop.program("gcc", "counts", &["-O2"]);
    let _server = RustServer::start("counted", workshop.path());
    let said = run_client(&program, "counted", workshop.path());
    println!("{compiler}, {percent} % allowed\n{said}");
    let counts: Vec<(&str, [u32; 2])> = said.lines().filter_map(counts_of).collect();
    assert_eq!(counts.len(), EXPECTED.len());
    for (counted, expected) in counts.iter().zip(&EXPECTED) {
        assert_eq!(counted.0, expected.0);
        let both = counted.1.iter().zip(&expected.1);
        let is_off = both.map(|(&counted, &expected)| is_off(counted, expected, percent));
        assert!(!is_off.into_iter().any(|is_off| is_off), "{counted:?}, {expected:?} committed");
    }
}

/// A line of the program's.
fn counts_of(line: &str) -> Option<(&str, [u32; 2])> {
    let mut words = line.split(' ');
    let name = words.next()?;
    Some((name, [words.next()?.parse().ok()?, words.next()?.parse().ok()?]))
}
