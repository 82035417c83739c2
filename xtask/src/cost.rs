//! `cargo xtask cost`: the instructions of a call, counted, and the committed assembly of its path.
//!
//! `bench-subject`'s program `counts` single-steps a call on both sides and says where each
//! instruction was executed; what stands there is asked of `objdump`. The goldens under `tests/asm`
//! show it whole, and are compared by mnemonics alone: which register the compiler took, where a
//! field or a function lies changes with every neighbour's change, and changes no cost.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::Message;

use crate::step::{self, Failed};

/// Where the goldens lie; those of C are compared by a test of `tests/stubs-c`, `counts`.
pub const GOLDENS: &str = "tests/asm";

/// The paths with a golden: a side and a call, as `counts` names them.
const PATHS: [(&str, &str); 3] = [("client", "null"), ("client", "add"), ("server", "null")];

/// A disassembled program: by address, what stands there.
pub type Listing = HashMap<u64, String>;

/// Counts, then compares; with `blesses` it writes the goldens instead.
pub fn run(root: &Path, blesses: bool) -> Result<(), Failed> {
    let skipped = RefCell::new(None);
    let paths = RefCell::new(Vec::new());
    let arguments = ["bench", "--package", "bench-subject", "--bench", "counts", "--", "--steps"];
    let outcome = step::counted(step::cargo(root, &arguments), "instruction counts", |output| {
        let lines = std::io::read_to_string(output).unwrap_or_default();
        let mut counts = 0;
        for line in lines.lines() {
            match line.strip_prefix("steps ").and_then(path_of) {
                Some(path) => paths.borrow_mut().push(path),
                None => println!("{line}"),
            }
            if let Some(reason) = line.strip_prefix("nothing counted: ") {
                *skipped.borrow_mut() = Some(reason.to_owned());
            }
            counts +=
                line.split_once(" counts, ").map_or(0, |(count, _)| count.parse().unwrap_or(0));
        }
        counts
    });
    if let Some(reason) = skipped.into_inner() {
        // Where it is known to be possible, it is to happen.
        if std::env::var_os("CI").is_some() {
            return Err(Failed(format!("nothing counted: {reason}")));
        }
        println!("cost: skipped: {reason}");
        return Ok(());
    }
    // The goldens of a change come with its counts: both are wanted at once.
    let compared = compare(root, &paths.into_inner(), blesses);
    if blesses { compared.and(bless_c(root)) } else { outcome.and(compared) }
}

/// Compiles the program that counts.
pub fn build(root: &Path) -> Result<(), Failed> {
    program(root).map(drop)
}

/// Has the test that compares C's goldens write them.
fn bless_c(root: &Path) -> Result<(), Failed> {
    let mut test = step::cargo(root, &["test", "--package", "stubs-c-tests", "--test", "counts"]);
    test.env("UPDATE_EXPECT", "1");
    step::counted(test, "tests passed", step::summed(step::tests_passed))
}

/// What `counts` stepped through: side, call, and where.
struct Stepped {
    side: String,
    call: String,
    addresses: Vec<u64>,
}

fn path_of(line: &str) -> Option<Stepped> {
    let (names, addresses) = line.split_once('[')?;
    let (side, call) = names.trim().split_once(' ')?;
    let addresses = addresses.trim_end_matches(']').split(", ");
    let addresses: Option<_> =
        addresses.map(|address| u64::from_str_radix(address, 16).ok()).collect();
    Some(Stepped { side: side.to_owned(), call: call.to_owned(), addresses: addresses? })
}

fn compare(root: &Path, paths: &[Stepped], blesses: bool) -> Result<(), Failed> {
    let toolchain = toolchain();
    let listing = disassemble(&program(root)?)?;
    let (mut compared, mut changed) = (0, Vec::new());
    for (side, call) in PATHS {
        let path = paths.iter().find(|path| path.side == side && path.call == call);
        let path = path.ok_or_else(|| Failed(format!("{call} was not stepped on the {side}")))?;
        let profile = format!("{toolchain}, x86_64, release profile");
        let found = golden(&profile, &path.addresses, &listing);
        let file = root.join(GOLDENS).join(format!("{side}-{call}.s"));
        if blesses {
            std::fs::write(&file, found).map_err(|error| Failed(error.to_string()))?;
            continue;
        }
        let known = std::fs::read_to_string(&file).map_err(|error| Failed(error.to_string()))?;
        if !is_of_same(&known, &found) {
            println!("cost: {side}-{call}.s skipped: it is not of {toolchain}");
            continue;
        }
        compared += 1;
        if let Some(difference) = difference(&known, &found) {
            changed.push(format!("{side}-{call}.s: {difference}"));
        }
    }
    println!("cost: {compared} paths of instructions compared");
    match changed.is_empty() {
        true if compared == 0 && !blesses => step::lacking("the toolchain of the goldens"),
        true => Ok(()),
        false => Err(Failed(format!("{}\nto accept: cargo xtask bless", changed.join("\n")))),
    }
}

/// Whether two goldens are of one toolchain, architecture and profile, whatever they count.
pub fn is_of_same(known: &str, found: &str) -> bool {
    let of = |text: &'_ str| text.split(';').next().map(str::to_owned);
    of(known) == of(found)
}

/// The first line says for what it holds, and how many there are.
pub fn golden(profile: &str, addresses: &[u64], listing: &Listing) -> String {
    let mut text = format!("# {profile}; {} instructions\n", addresses.len());
    for address in addresses {
        let line = listing.get(address).map_or("(outside of the program)", String::as_str);
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The first place where the mnemonics differ.
pub fn difference(known: &str, found: &str) -> Option<String> {
    let mnemonics = |text: &'_ str| -> Vec<String> {
        let lines = text.lines().skip(1);
        lines.map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
    };
    let (known, found) = (mnemonics(known), mnemonics(found));
    if known == found {
        return None;
    }
    let at = known.iter().zip(&found).take_while(|(known, found)| known == found).count();
    let word = |words: &[String]| words.get(at).map_or("its end", String::as_str).to_owned();
    let (wanted, seen) = (word(&known), word(&found));
    Some(format!(
        "{} instructions, {} committed; the first that differs is number {}: {seen}, not {wanted}",
        found.len(),
        known.len(),
        at + 1
    ))
}

/// `rustc 1.95.0`.
fn toolchain() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let line = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    line.unwrap_or_default().split(' ').take(2).collect::<Vec<_>>().join(" ").trim().to_owned()
}

/// Where cargo put the program `counts`.
fn program(root: &Path) -> Result<PathBuf, Failed> {
    let arguments = [
        "bench",
        "--package",
        "bench-subject",
        "--bench",
        "counts",
        "--no-run",
        "--message-format=json",
    ];
    let output = step::cargo(root, &arguments).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| Failed(format!("`cargo` did not start: {error}")))?;
    let programs = Message::parse_stream(&output.stdout[..]).filter_map(|message| match message {
        Ok(Message::CompilerArtifact(artifact)) if artifact.target.name == "counts" => {
            artifact.executable
        }
        _ => None,
    });
    let program = programs.last().map(|path| path.into_std_path_buf());
    program.ok_or_else(|| Failed("cargo made no program `counts`".to_owned()))
}

/// What stands in a program, as `objdump` shows it.
pub fn disassemble(program: &Path) -> Result<Listing, Failed> {
    let mut command = Command::new("objdump");
    command.args(["--disassemble", "--no-show-raw-insn", "--demangle"]).arg(program);
    let output = command.output().map_err(|error| Failed(format!("objdump: {error}")))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(instruction).collect())
}

/// Address and text of a line of `objdump`'s, without what moves when the program changes
/// elsewhere: the places that are jumped to and the addresses of what is called or loaded.
fn instruction(line: &str) -> Option<(u64, String)> {
    let (address, text) = line.split_once(":\t")?;
    let address = u64::from_str_radix(address.trim(), 16).ok()?;
    let text = text.split(" #").next().unwrap_or_default();
    let mut words = text.split_whitespace();
    let mnemonic = words.next()?;
    let operands = words.collect::<Vec<_>>().join(" ");
    let operands = match operands.split_once(" <") {
        Some((_, name)) if mnemonic == "call" => name.trim_end_matches('>').to_owned(),
        Some(_) => String::new(),
        None => without_numbers(&operands),
    };
    Some((address, format!("{mnemonic} {operands}").trim_end().to_owned()))
}

/// Offsets from the code and from the thread pointer depend on everything else in the program.
fn without_numbers(operands: &str) -> String {
    let mut kept = Vec::new();
    for operand in operands.split(',') {
        kept.push(match operand {
            operand if operand.ends_with("(%rip)") => "(%rip)",
            operand if operand.starts_with("%fs:0x") => "%fs:",
            operand => operand,
        });
    }
    kept.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_not_part_of_an_instruction() {
        let check =
            |line, want: &str| assert_eq!(instruction(line).unwrap(), (0x37a7, want.into()));
        check("    37a7:\tpush   %rbp", "push %rbp");
        check("    37a7:\tjne    37ad2 <counts::null+0x62>", "jne");
        check("    37a7:\tcall   6b200 <nearcall::poll>", "call nearcall::poll");
        check("    37a7:\tmov    0x8f50e(%rip),%rdx        # c7080 <x>", "mov (%rip),%rdx");
        check("    37a7:\tmov    %fs:0xffffffffffffff80,%rax", "mov %fs:,%rax");
        assert!(instruction("0000000000037a70 <counts::null>:").is_none());
    }

    #[test]
    fn another_count_is_not_another_toolchain() {
        let of = |first: &str| format!("{first} instructions\npush %rbp");
        let known = of("# rustc 1.95.0, x86_64, release profile; 140");
        assert!(is_of_same(&known, &of("# rustc 1.95.0, x86_64, release profile; 145")));
        assert!(!is_of_same(&known, &of("# rustc 1.96.0, x86_64, release profile; 140")));
    }

    #[test]
    fn registers_do_not_matter() {
        assert_eq!(difference("# a\npush %rbp\nret", "# b\npush %rbx\nret"), None);
    }

    #[test]
    fn another_instruction_is_refused() {
        let found = difference("# a\npush %rbp\nret", "# a\npush %rbp\nlock add\nret").unwrap();
        assert!(found.ends_with("the first that differs is number 2: lock, not ret"), "{found}");
    }

    #[test]
    fn steps_are_read() {
        let path = path_of("client null [1f, 20]").unwrap();
        assert_eq!((path.side.as_str(), path.call.as_str()), ("client", "null"));
        assert_eq!(path.addresses, [0x1f, 0x20]);
    }
}
