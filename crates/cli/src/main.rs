//! The program `nearcall`: checks and compiles interface files, and shows what a call costs.
//!
//! Decides what the command line says and how the process ends: 0 if all is well, 1 if a file has
//! a mistake or something could not be done, 2 if the command line is wrong. For `diff` a mistake
//! in a file is 2, too: 1 is its answer.

#![forbid(unsafe_code)]

mod check;
mod compile;
mod demo;
mod diff;
mod failure;
mod reading;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Calls a procedure in another process as if it were here.
#[derive(Parser)]
#[command(name = "nearcall", version)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Check),
    Compile(compile::Compile),
    Plan(compile::Plan),
    Diff(diff::Diff),
    Demo(demo::Demo),
    #[command(hide = true)]
    DemoServer(demo::server::DemoServer),
    #[command(hide = true)]
    DemoBound(demo::bounds::DemoBound),
}

fn main() -> ExitCode {
    let done = match CommandLine::parse().command {
        Command::Check(check) => check.run(),
        Command::Compile(compile) => compile.run(),
        Command::Plan(plan) => plan.run(),
        Command::Diff(diff) => diff.run(),
        Command::Demo(demo) => demo.run(),
        Command::DemoServer(server) => server.run(),
        Command::DemoBound(bound) => bound.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Shown) => ExitCode::FAILURE,
        Err(Failure::BadInput) => ExitCode::from(2),
        Err(failure) => {
            eprintln!("nearcall: {failure}");
            ExitCode::FAILURE
        }
    }
}
