//! Which lines of the decoders were reached: what the compiler has counted, read by LLVM's tools.
//!
//! A decoder is a file, or those of its blocks that read what a peer wrote: what writes, and what
//! only a kernel without memory makes happen, is none.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::nightly::TARGET;
use super::super::report::Stopped;

/// Of a file of counts.
pub const EXTENSION: &str = "profraw";

/// Decoders of one file.
struct Place {
    /// What its path ends with.
    file: &'static str,
    /// What the blocks begin with that are decoders; all of the file if there are none.
    blocks: &'static [&'static str],
}

const fn place(file: &'static str, blocks: &'static [&'static str]) -> Place {
    Place { file, blocks }
}

/// Where the decoders are.
const PLACES: &[Place] = &[
    place(
        "abi/src/message.rs",
        &[
            "pub fn decode(",
            "fn decode_",
            "pub fn descriptor_count",
            "fn from_word",
            "impl<'p> In<",
        ],
    ),
    place("abi/src/message/version.rs", &["pub fn decode(", "pub fn appendables", "fn next("]),
    place("abi/src/status.rs", &["pub const fn from_word("]),
    place("nearcall/src/wire.rs", &["pub fn message("]),
    place("raw/incoming.rs", &[]),
    place("raw/reply.rs", &["fn new(", "fn judge(", "fn find_results(", "fn not_returned("]),
    place("raw/marshal.rs", &["impl<'p> Reader<", "fn unmarshal"]),
    place("raw/plain.rs", &["pub fn take"]),
    place("raw/arguments.rs", &["pub fn variable", "pub fn descriptors<", "pub fn get_"]),
    place("raw/scratch.rs", &["pub(super) fn copy_of(", "fn copy_of("]),
    place("server/run.rs", &["fn judge(", "fn find_arguments("]),
    place("server/requests.rs", &["fn answer(", "fn map(", "fn map_lent(", "fn extend("]),
    place("server/handshake.rs", &["fn judge(", "fn judge_wish("]),
    place("server/feeds.rs", &["pub fn next<", "pub fn put<", "pub fn end<"]),
    place("server/descriptors.rs", &["fn take_descriptors(", "pub(crate) fn take_descriptors<"]),
    place("client/control.rs", &["pub fn file("]),
    place("client/descriptors.rs", &["pub fn file(", "pub fn take_descriptors<"]),
    place("client/import.rs", &["fn admitted<", "fn refused("]),
    place("client/version.rs", &["pub(crate) fn judge(", "fn compare_appendables("]),
    place("out/pieces.rs", &["fn unmarshal"]),
    place(
        "out/forms.rs",
        &[
            "fn unmarshal(",
            "pub fn from_wire(",
            "impl FormsClient {",
            "impl<S: FormsServer> FormsEnt",
        ],
    ),
];

/// LLVM's, of the toolchain that has built the program.
#[derive(Debug)]
pub struct Tools {
    directory: PathBuf,
}

/// Lines, by file and number, and how often each was reached.
#[derive(Debug, Default)]
pub struct Counted(BTreeMap<(String, usize), u64>);

impl Tools {
    /// Else what this machine lacks.
    pub fn find() -> Result<Tools, String> {
        let mut command = Command::new("rustup");
        command.args(["run", "nightly", "rustc", "--print", "target-libdir", "--target", TARGET]);
        let said = command.output().map_err(|_| "rustup".to_owned())?.stdout;
        let directory = Path::new(String::from_utf8_lossy(&said).trim()).with_file_name("bin");
        match directory.join("llvm-cov").exists() {
            true => Ok(Tools { directory }),
            false => Err("llvm-tools of the nightly toolchain".to_owned()),
        }
    }

    /// The lines of the decoders in `program`, whose runs have left their counts in `counts`.
    pub fn counted(&self, program: &Path, counts: &Path) -> Result<Counted, Stopped> {
        let merged = counts.join("merged");
        let files = std::fs::read_dir(counts)?.map(|entry| Ok(entry?.path()));
        let files = files.collect::<std::io::Result<Vec<_>>>()?;
        let is_count = |file: &&PathBuf| file.extension() == Some(OsStr::new(EXTENSION));
        let mut command = Command::new(self.directory.join("llvm-profdata"));
        command.args(["merge", "-sparse", "-o"]).arg(&merged);
        said(command.args(files.iter().filter(is_count)))?;
        let mut command = Command::new(self.directory.join("llvm-cov"));
        command.args(["export", "-format=lcov", "-instr-profile"]).arg(&merged).arg(program);
        Counted::of(&said(&mut command)?)
    }
}

fn said(command: &mut Command) -> Result<String, Stopped> {
    let output = command.output()?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

impl Counted {
    /// What an lcov file says of the decoders.
    fn of(lcov: &str) -> Result<Counted, Stopped> {
        let mut counted = Counted::default();
        let mut found = vec![0; PLACES.len()];
        for file in lcov.split("end_of_record") {
            let path = file.lines().find_map(|line| line.strip_prefix("SF:")).unwrap_or_default();
            for (place, found) in PLACES.iter().zip(&mut found) {
                if path.ends_with(place.file) {
                    let source = std::fs::read_to_string(path)?;
                    *found += counted.add(place, &source, file);
                }
            }
        }
        let missing = PLACES.iter().zip(found).filter(|(_, found)| *found == 0);
        let missing: Vec<_> = missing.map(|(place, _)| place.file).collect();
        match missing.is_empty() {
            true => Ok(counted),
            false => Err(format!("no line of a decoder in {}", missing.join(", ")).into()),
        }
    }

    /// The lines of one file; how many.
    fn add(&mut self, place: &Place, source: &str, counts: &str) -> usize {
        let lines = decoders(source, place.blocks);
        let count = |line: &str| {
            let (number, count) = line.strip_prefix("DA:")?.split_once(',')?;
            Some((number.parse::<usize>().ok()?, count.parse::<u64>().ok()?))
        };
        let of_decoders = counts.lines().filter_map(count);
        let mut added = 0;
        for (number, count) in of_decoders.filter(|(number, _)| lines.contains(&(number - 1))) {
            *self.0.entry((place.file.to_owned(), number)).or_default() += count;
            added += 1;
        }
        added
    }

    /// How many lines there are.
    pub fn all(&self) -> usize {
        self.0.len()
    }

    /// How many of them were reached.
    pub fn reached(&self) -> usize {
        self.0.values().filter(|count| **count > 0).count()
    }

    /// Those that were not, by name, file by file.
    pub fn unreached(&self) -> Vec<String> {
        let mut files: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for ((file, number), _) in self.0.iter().filter(|(_, count)| **count == 0) {
            files.entry(file).or_default().push(number.to_string());
        }
        let line = |(file, numbers): (&str, Vec<String>)| format!("{file}:{}", numbers.join(","));
        files.into_iter().map(line).collect()
    }
}

/// The lines, counted from 0, of the blocks that begin so and end where something ends that is
/// indented as they are.
fn decoders(source: &str, blocks: &[&str]) -> Vec<usize> {
    let lines: Vec<_> = source.lines().collect();
    if blocks.is_empty() {
        let of_tests = lines.iter().position(|line| *line == "#[cfg(test)]");
        return (0..of_tests.unwrap_or(lines.len())).collect();
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (begin, line) in lines.iter().enumerate() {
        if !blocks.iter().any(|block| line.trim_start().starts_with(block)) {
            continue;
        }
        let is_end = |other: &&str| indent(other) == indent(line) && other.trim() == "}";
        let length = lines[begin..].iter().position(is_end).unwrap_or(0);
        found.extend(begin..=begin + length);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "fn other() {
    1
}

impl A {
    fn read(
        a: u8,
    ) {
        if a {
        }
    }
}
";

    #[test]
    fn a_block_ends_where_it_is_closed() {
        assert_eq!(decoders(SOURCE, &["fn read("]), (5..=10).collect::<Vec<_>>());
        assert_eq!(decoders(SOURCE, &["impl A"]), (4..=11).collect::<Vec<_>>());
        assert_eq!(decoders(SOURCE, &[]).len(), 12);
        assert!(decoders(SOURCE, &["fn written("]).is_empty());
    }

    #[test]
    fn lines_that_were_not_reached_are_named() {
        let place = place("a.rs", &["fn read("]);
        let mut counted = Counted::default();
        let added = counted.add(&place, SOURCE, "DA:2,0\nDA:6,3\nDA:9,0\nDA:10,0\nDA:11,1\n");
        assert_eq!((added, counted.all(), counted.reached()), (4, 4, 2));
        assert_eq!(counted.unreached(), ["a.rs:9,10"]);
    }

    #[test]
    fn a_place_without_a_line_is_an_error() {
        assert!(Counted::of("SF:/nowhere/a.rs\nDA:1,1\nend_of_record\n").is_err());
    }
}
