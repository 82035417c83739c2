//! `bench report`: tables as one HTML file that opens from disk, with nothing to fetch.
//!
//! ```text
//! lines of JSON ──┬─ plot ── SVG ──┐
//!                 └─ rows ─────────┴─ page.html ── one file
//! ```
//!
//! Reads what the tables print and nothing else, so that a report can be made from the files of
//! other days and other machines. Judges nothing: a table that did not end well says so.

mod plot;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use minijinja::{Environment, context};
use serde::Serialize;

use crate::child::Failure;
use crate::machine::Machine;
use crate::table::{Count, Line, Measured, Skipped};

/// The tables, in the order of the report; what each shows, and its name for people.
pub const TABLES: [(&str, &str); 13] = [
    ("paper", "LRPC's tables and figures, beside what the processors can do at all"),
    ("peers", "The same calls over other people's ways to call, each beside Nearcall"),
    ("size", "One argument of 0 B to 256 MiB, beside one memcpy of as many bytes"),
    ("policy", "What waiting costs: alone, beside competitors, after thoughts, after a second"),
    ("scale", "One server with 1 to 1,000 bindings"),
    ("cost", "What a Null is made of, in nanoseconds and in instructions"),
    ("floor", "What bare processes need for the same lines, copies and switches"),
    ("threads", "What FastThreads cost, beside a procedure call and beside kernel threads"),
    ("stubs", "Calls from C and C++ beside those from Rust, and what a parameter costs"),
    ("python", "Calls from Python beside those from Rust, grpcio, and a copy by NumPy"),
    ("instructions", "Instructions of whole calls, both sides, beside other people's"),
    ("crowd", "1,000 to 100,000 FastThreads that wait, and are woken at once"),
    ("urpc", "Calls from 1 to 64 threads at once, beside calls from one alone"),
];

/// What the page is made from.
const PAGE: &str = include_str!("report/page.html");

/// The page's name in the template engine, whose ending has everything escaped.
const PAGE_NAME: &str = "page.html";

/// A table that was read.
#[derive(Debug, Default)]
struct Read {
    name: String,
    measured: Vec<Measured>,
    counts: Vec<Count>,
    skipped: Vec<Skipped>,
    is_done: bool,
}

/// A table as the page shows it.
#[derive(Serialize)]
struct Section {
    name: String,
    title: String,
    plots: Vec<String>,
    rows: Vec<Row>,
    counts: Vec<Count>,
    skipped: Vec<Skipped>,
    is_done: bool,
}

/// A subject beside what it is compared with.
#[derive(Serialize)]
struct Row {
    case: String,
    subject: String,
    version: String,
    placement: String,
    p50: String,
    p99: String,
    mean: String,
    rate: String,
    against: String,
    against_p50: String,
    ratio: String,
    rounds: u32,
}

/// Makes the report of `files`, or, if there are none, of all tables, which are measured now.
pub fn make(files: &[PathBuf], rounds: Option<u32>, out: &Path) -> Result<(), Failure> {
    let (text, silent, machine) = if files.is_empty() {
        let (text, silent) = measure(rounds)?;
        (text, silent, Machine::here().to_string())
    } else {
        let texts = files.iter().map(|file| {
            let text = std::fs::read_to_string(file);
            text.map_err(|error| format!("{}: {error}", file.display()))
        });
        (texts.collect::<Result<String, _>>()?, Vec::new(), "read from files".to_owned())
    };
    let tables = read(&text)?;
    std::fs::write(out, page(&tables, &machine)?)?;
    let unfinished = tables.iter().filter(|table| !table.is_done).map(|table| &*table.name);
    match unfinished.chain(silent).next() {
        None => Ok(()),
        Some(name) => Err(format!("{name} did not end well").into()),
    }
}

/// What every table prints, and the names of those that print nothing. Each runs in a process of
/// its own, because each binds itself to a processor.
fn measure(rounds: Option<u32>) -> Result<(String, Vec<&'static str>), Failure> {
    let (mut text, mut silent) = (String::new(), Vec::new());
    for (name, _) in TABLES {
        eprintln!("measuring {name}");
        let mut command = Command::new(std::env::current_exe()?);
        command.args([name, "--json"]).stderr(Stdio::inherit());
        if let Some(rounds) = rounds {
            command.args(["--rounds", &rounds.to_string()]);
        }
        let output = command.output()?;
        if output.stdout.is_empty() {
            silent.push(name);
        }
        text.push_str(&String::from_utf8(output.stdout)?);
        if !output.status.success() {
            eprintln!("{name}: {}", output.status);
        }
    }
    Ok((text, silent))
}

/// Takes lines apart by table. No lines of any table is a failure.
fn read(text: &str) -> Result<Vec<Read>, Failure> {
    let mut tables: Vec<Read> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line: Line = serde_json::from_str(line)
            .map_err(|error| format!("line {} is none of a table: {error}", index + 1))?;
        let name = line.table();
        let at = tables.iter().position(|table| table.name == name).unwrap_or_else(|| {
            tables.push(Read { name: name.to_owned(), ..Read::default() });
            tables.len() - 1
        });
        match line {
            Line::Measured(line) => tables[at].measured.push(line),
            Line::Count(line) => tables[at].counts.push(line),
            Line::Skipped(line) => tables[at].skipped.push(line),
            Line::Done(_) => tables[at].is_done = true,
        }
    }
    let is_empty = |table: &Read| table.measured.is_empty() && table.counts.is_empty();
    if tables.iter().all(is_empty) { Err("nothing was measured".into()) } else { Ok(tables) }
}

fn page(tables: &[Read], machine: &str) -> Result<String, Failure> {
    let sections: Vec<Section> = tables.iter().map(section).collect::<Result<_, _>>()?;
    let mut environment = Environment::new();
    environment.add_template(PAGE_NAME, PAGE)?;
    let version = env!("CARGO_PKG_VERSION");
    Ok(environment.get_template(PAGE_NAME)?.render(context! { sections, machine, version })?)
}

fn section(table: &Read) -> Result<Section, Failure> {
    let known = TABLES.iter().find(|(name, _)| *name == table.name);
    let plots = plot::of_table(&table.name, &table.measured);
    Ok(Section {
        name: table.name.clone(),
        title: known.map_or(String::new(), |(_, title)| (*title).to_owned()),
        plots: plots.iter().map(plot::Plot::draw).collect::<Result<_, _>>()?,
        rows: rows(&table.measured),
        counts: table.counts.clone(),
        skipped: table.skipped.clone(),
        is_done: table.is_done,
    })
}

/// A subject's line is followed by that of what it is compared with.
fn rows(lines: &[Measured]) -> Vec<Row> {
    let pairs = lines.iter().zip(lines.iter().skip(1));
    let pairs = pairs.filter(|(subject, next)| subject.against.as_ref() == Some(&next.subject));
    pairs.map(|(subject, against)| row(subject, against)).collect()
}

fn row(subject: &Measured, against: &Measured) -> Row {
    let [ratio, best, worst] = [subject.ratio, subject.ratio_min, subject.ratio_max]
        .map(|ratio| ratio.map_or("?".to_owned(), digits));
    let of = subject.ratio_of.as_ref().map_or(String::new(), |of| format!(" of {of}"));
    let most = subject.limit.map_or(String::new(), |limit| format!(", {limit} at most"));
    Row {
        case: subject.case.clone(),
        subject: subject.subject.clone(),
        version: subject.version.clone(),
        placement: subject.placement.clone(),
        p50: time(subject.p50_ns),
        p99: time(subject.p99_ns),
        mean: time(subject.mean_ns),
        rate: subject.bytes_per_s.map_or(String::new(), |rate| format!("{}B/s", quantity(rate))),
        against: against.subject.clone(),
        against_p50: time(against.p50_ns),
        ratio: format!("{ratio} [{best} to {worst}]{of}{most}"),
        rounds: subject.rounds,
    }
}

/// Three digits that count, or all of a whole number.
fn digits(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn time(ns: f64) -> String {
    match ns {
        1e9.. => format!("{} s", digits(ns / 1e9)),
        1e6.. => format!("{} ms", digits(ns / 1e6)),
        1e3.. => format!("{} us", digits(ns / 1e3)),
        _ => format!("{} ns", digits(ns)),
    }
}

fn quantity(value: f64) -> String {
    match value {
        1e9.. => format!("{} G", digits(value / 1e9)),
        1e6.. => format!("{} M", digits(value / 1e6)),
        1e3.. => format!("{} k", digits(value / 1e3)),
        _ => format!("{} ", digits(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = concat!(
        r#"{"table":"paper","case":"null","subject":"nearcall","version":"0.1.0","processors":2,"#,
        r#""placement":"near","n":640,"rounds":9,"min_ns":61.0,"p50_ns":74.2,"p99_ns":1095.0,"#,
        r#""mean_ns":76.1,"against":"raw-1line","ratio":1.125,"ratio_min":1.07,"#,
        r#""ratio_max":1.19,"spread":0.06}"#,
        "\n",
        r#"{"table":"paper","case":"null","subject":"raw-1line","version":"0.1.0","#,
        r#""processors":2,"placement":"near","n":640,"rounds":9,"min_ns":60.0,"p50_ns":66.0,"#,
        r#""p99_ns":70.0,"mean_ns":66.1,"against":null,"ratio":null,"ratio_min":null,"#,
        r#""ratio_max":null,"spread":0.06}"#,
        "\n",
        r#"{"table":"paper","case":"add","subject":"nearcall","skipped":"<no> processor"}"#,
        "\n",
    );

    const DONE: &str = r#"{"table":"paper","done":true,"cases":1}"#;

    #[test]
    fn a_subject_stands_beside_what_it_is_compared_with() {
        let tables = read(LINES).unwrap();
        let rows = rows(&tables[0].measured);
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        assert_eq!((&*row.p50, &*row.p99, &*row.against_p50), ("74.2 ns", "1.09 us", "66.0 ns"));
        assert_eq!(row.ratio, "1.12 [1.07 to 1.19]");
    }

    #[test]
    fn the_page_has_everything_in_it() {
        let page = page(&read(&format!("{LINES}{DONE}")).unwrap(), "a machine").unwrap();
        for part in ["a machine", "raw-1line", "<svg", "&lt;no&gt; processor"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        for part in ["<script", "src=", "href=\"http", "@import", "did not end well"] {
            assert!(!page.contains(part), "{part}");
        }
    }

    #[test]
    fn a_table_without_its_last_line_is_said_not_to_have_ended_well() {
        assert!(!read(LINES).unwrap()[0].is_done);
        assert!(page(&read(LINES).unwrap(), "").unwrap().contains("did not end well"));
        assert!(read(&format!("{LINES}{DONE}")).unwrap()[0].is_done);
    }

    #[test]
    fn a_report_of_nothing_is_refused() {
        assert!(read("").is_err());
        assert!(read(LINES.lines().last().unwrap()).is_err());
        assert!(read("not JSON").is_err());
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(time(12_345.0), "12.3 us");
        assert_eq!(time(0.25), "0.250 ns");
        assert_eq!(quantity(7.31e9), "7.31 G");
    }
}
