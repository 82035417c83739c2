//! `nearcall demo`: copies a tree through calls to another process, compares, and measures.
//!
//! ```text
//! demo (client)                                        server, this program once more
//!   source   choose what is copied
//!   child    start the server ───────────────────────▶   server: makes the workplace, exports
//!   tree     list …………………… calls to `source` ………………▶   Disk over the tree
//!   copying  read and write there and back ……………………▶   Disk over workplace/back
//!   comparing   BLAKE3 of source, copy, copy written back
//!   measuring   null, add, bigin, biginout ………………………▶   FourCalls, on a processor of its own
//!              beside bounds: two processes that do nothing but alternate
//! ```
//!
//! Decides the order, and what is printed. However it ends, the server ends with it.

mod caller;
mod child;
mod comparing;
mod copying;
// The first example: `demo/files` and `files.idl` are links to it, and a package has the files.
#[path = "demo/files/lib.rs"]
mod files;
mod four_calls;
mod measuring;
mod source;
mod timing;
mod tree;

pub mod bounds;
pub mod server;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{DecimalBytes, HumanCount, ProgressBar, ProgressStyle};
use nearcall::Domain;
use nearcall_os::processor;

use crate::failure::Failure;
use crate::reading::print;

use caller::Caller;
use child::Server;
use comparing::Comparison;
use copying::{Copied, Rate};
use source::Source;

/// Copies a tree of files through calls to another process, and measures what a call costs
#[derive(Args)]
pub struct Demo {
    /// What to copy; if not given, the workspace of the current directory, without `target` and
    /// `.git`, or else the current directory
    directory: Option<PathBuf>,
    /// Copy to this directory, which must be empty or not there, and leave the copy
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Leave what is copied to the temporary directory
    #[arg(long)]
    keep: bool,
    /// How many calls of each kind to measure in each round; if not given, 10,000 between two
    /// processors and 2,000 on one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    calls: Option<u32>,
}

impl Demo {
    /// Runs it. What was made in the temporary directory is gone afterwards, but for `--keep`.
    pub fn run(&self) -> Result<(), Failure> {
        let source = Source::choose(self.directory.as_deref())?;
        if let Some(target) = &self.to {
            make_target(target)?;
        }
        let places = measuring::Places::choose(&processor::allowed());
        let server = Server::start(source.path(), places.server)?;
        let domain = Domain::new().map_err(|e| format!("cannot make a domain: {e}"))?;
        let comparison = self.copy(&domain, &source, &server)?;
        print(&measuring::table(&domain, &server.names(), &places, self.calls)?)?;
        if self.keep {
            print(&format!("\nkept: {}\n", server.workplace().display()))?;
        }
        server.end(self.keep)?;
        comparison.judge()
    }

    /// Everything about files.
    fn copy(
        &self,
        domain: &Domain,
        source: &Source,
        server: &Server,
    ) -> Result<Comparison, Failure> {
        let (names, back) = (server.names(), server.back());
        let copy = self.to.clone().unwrap_or_else(|| server.workplace().join("copy"));
        let mut reader = Caller::import(domain, server::SOURCE, &names, source.path())?;
        let mut writer = Caller::import(domain, server::BACK, &names, &back)?;

        let started = Instant::now();
        let tree = tree::list(&mut reader, source)?;
        let bar = progress(tree.bytes.saturating_mul(2));
        bar.set_message("reading");
        let copied = copying::fetch(&mut reader, &tree, &copy, &bar)?;
        let reading = copied.rate("read through calls", reader.calls, started);
        bar.set_message("writing");
        let started = Instant::now();
        copying::give_back(&mut writer, &tree, &copied, &copy, &bar)?;
        let writing = copied.rate("written through calls", writer.calls, started);
        bar.finish_and_clear();

        let by_cp = copying::cp(&copied, &copy, &server.workplace().join("cp"))?;
        let comparison = Comparison::of(source, &copied, &copy, &back)?;
        print(&report(source, &tree, &copied, &[reading, writing], &by_cp, &comparison))?;
        Ok(comparison)
    }
}

/// A directory to copy to. What is in it already is nobody's to overwrite.
fn make_target(target: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(target).map_err(Failure::doing("make directory", target))?;
    let mut entries = std::fs::read_dir(target).map_err(Failure::doing("read", target))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(Failure::at("copy to", target, "the directory is not empty")),
    }
}

/// A bar on a terminal, nothing elsewhere.
fn progress(bytes: u64) -> ProgressBar {
    let style = "{msg:8} {wide_bar} {decimal_bytes} of {decimal_total_bytes}";
    let bar = ProgressBar::new(bytes);
    bar.set_style(ProgressStyle::with_template(style).expect("a constant"));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

fn report(
    source: &Source,
    tree: &tree::Tree,
    copied: &Copied,
    rates: &[Rate],
    by_cp: &Result<Rate, String>,
    comparison: &Comparison,
) -> String {
    let mut lines = vec![
        format!("{}, copied through calls to another process", source.path().display()),
        String::new(),
        format!("{:24}{:>9}{:>12}{:>10}{:>9}{:>15}", "", "files", "bytes", "calls", "s", "bytes/s"),
    ];
    lines.extend(rates.iter().map(row));
    match by_cp {
        Ok(rate) => lines.push(row(rate)),
        Err(why) => lines.push(format!("{:24}{why}", "cp -r of the copy")),
    }
    lines.push(String::new());
    lines.push(comparison.to_string());
    let left_out = tree.left_out.plus(&copied.left_out);
    if !left_out.is_none() {
        lines.push(format!("left out: {left_out}"));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn row(rate: &Rate) -> String {
    let calls = rate.calls.map_or("-".to_owned(), |calls| HumanCount(calls).to_string());
    format!(
        "{:24}{:>9}{:>12}{:>10}{:>9.3}{:>15}",
        rate.what,
        HumanCount(rate.files).to_string(),
        DecimalBytes(rate.bytes).to_string(),
        calls,
        rate.time.as_secs_f64(),
        format!("{}/s", DecimalBytes(rate.bytes_per_second())),
    )
}
