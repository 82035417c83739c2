//! The gate of `bench_subject::counts`: what is committed holds.
//!
//! It is of the release profile and one version of the compiler. A change for the better fails too:
//! write the new numbers down.

#![forbid(unsafe_code)]

use std::env;
use std::process::ExitCode;

use bench_subject::child::run_if_child;
use bench_subject::counts::{PROCEDURES, Pair, ROLES, Round, Stepped, Stub, Unstepped};

/// Instructions of the client, of the server up to the reply, and of the server's whole round.
type Counts = [usize; 3];

/// What is committed, of each of the procedures.
const EXPECTED: [Counts; 6] = [
    [103, 86, 116],
    [131, 95, 125],
    [241, 252, 282],
    [263, 192, 222],
    [331, 86, 116],
    [167, 86, 116],
];

/// A procedure is stepped through so often, until its counts are the committed ones: a third
/// process that takes a processor away has whoever waits poll once more.
const LOOKS_MAX: usize = 5;

/// How far a count may be from what is committed, in percent.
const TOLERANCE_PERCENT: f64 = 2.0;

fn main() -> ExitCode {
    if let Some(ended) = run_if_child(&ROLES) {
        return ended;
    }
    match count_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Unstepped::Impossible(reason)) => {
            println!("nothing counted: {reason}");
            // Where it is known to be possible, it is to happen.
            if env::var_os("CI").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn count_all() -> Result<(), Unstepped> {
    let pair = Pair::start()?;
    // The canary: a gate that cannot fail is none.
    if !is_any_off(&[100, 103, 100], &[100; 3]) || is_any_off(&[100, 102, 98], &[100; 3]) {
        return Err(Unstepped::Failed("the tolerance does not hold".into()));
    }
    let shows_steps = env::args().any(|argument| argument == "--steps");
    let mut off = Vec::new();
    println!("instructions   client   look to reply   whole round");
    for (procedure, expected) in EXPECTED.iter().enumerate() {
        let Stepped { name, stub, round } = &step(&pair, procedure, expected)?;
        let counted = counts_of(stub, round);
        println!("{name:<12} {:>8} {:>15} {:>13}", counted[0], counted[1], counted[2]);
        if shows_steps {
            println!("steps client {name} {:x?}", stub.steps);
            println!("steps server {name} {:x?}", round.steps);
        }
        if is_any_off(&counted, expected) {
            off.push(format!("{name}: {counted:?} instructions, {expected:?} committed"));
        }
    }
    println!("{} counts, {TOLERANCE_PERCENT} % allowed", PROCEDURES.len() * 3);
    match off.is_empty() {
        true => Ok(()),
        false => Err(Unstepped::Failed(off.join("; ").into())),
    }
}

/// Of several looks at both sides, of each side the one with the fewest instructions.
fn step(pair: &Pair, procedure: usize, expected: &Counts) -> Result<Stepped, Unstepped> {
    let mut fewest = pair.step(procedure)?;
    for look in 1..LOOKS_MAX {
        let counted = counts_of(&fewest.stub, &fewest.round);
        if !is_any_off(&counted, expected) {
            break;
        }
        println!("{}: {counted:?} at look {look}, {expected:?} committed", fewest.name);
        let Stepped { stub, round, .. } = pair.step(procedure)?;
        if stub.steps.len() < fewest.stub.steps.len() {
            fewest.stub = stub;
        }
        if round.steps.len() < fewest.round.steps.len() {
            fewest.round = round;
        }
    }
    Ok(fewest)
}

fn counts_of(stub: &Stub, round: &Round) -> Counts {
    let whole = round.steps.len();
    [stub.steps.len(), whole - round.before_look, whole]
}

fn is_any_off(counted: &Counts, expected: &Counts) -> bool {
    counted.iter().zip(expected).any(|(&counted, &expected)| {
        counted.abs_diff(expected) as f64 > expected as f64 * TOLERANCE_PERCENT / 100.0
    })
}
