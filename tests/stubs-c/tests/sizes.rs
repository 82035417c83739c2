//! How many bytes of instructions an operation's stubs take in C, on the way that calls go: the
//! call stub and the entry stub, less what is put aside as cold. Call stubs of brief calls (design
//! note 0026) have a limit; the others, and entry stubs, which marshal values of values, are
//! reported.

#![forbid(unsafe_code)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use support::{Workshop, interface_files};

/// No call stub of brief calls may take more.
const BYTES_MAX: u64 = 2 << 10;

/// What the entry stub of an operation is called, before its own name.
const ENTRY: &str = "nearcall_entry_";

/// Bytes of the functions of an object that are not cold, by their names; 0 of those that are.
fn functions(object: &Path) -> BTreeMap<String, u64> {
    let output = Command::new("nm").args(["--format=sysv", "--defined-only"]).arg(object).output();
    let output = output.expect("binutils come with gcc");
    let text = String::from_utf8(output.stdout).expect("names of ours");
    let function = |line: &str| {
        let words: Vec<&str> = line.split('|').map(str::trim).collect();
        let [name, _, _, "FUNC", bytes, _, section] = words[..] else { return None };
        let bytes = if section == ".text" { u64::from_str_radix(bytes, 16).ok()? } else { 0 };
        Some((name.to_owned(), bytes))
    };
    text.lines().filter_map(function).collect()
}

/// The stubs of an operation.
#[derive(Debug, PartialEq, Eq)]
struct Operation {
    call_bytes: u64,
    entry_bytes: u64,
    name: String,
    is_brief: bool,
}

fn operations(functions: &BTreeMap<String, u64>) -> Vec<Operation> {
    let names = functions.keys().filter_map(|name| name.strip_prefix(ENTRY));
    let bytes = |name: String| functions.get(&name).copied().unwrap_or(0);
    let operation = |name: &str| {
        let opened = format!("nearcall_open_{name}");
        let call = [name.to_owned(), opened, format!("nearcall_long_{name}")];
        let call_bytes = call.map(bytes).iter().sum();
        let entry_bytes = bytes(format!("{ENTRY}{name}"));
        let is_brief = functions.contains_key(&format!("nearcall_slow_{name}"));
        Operation { call_bytes, entry_bytes, name: name.to_owned(), is_brief }
    };
    names.map(operation).collect()
}

fn tell(which: &str, mut bytes: Vec<u64>) {
    bytes.sort();
    let over = bytes.iter().filter(|bytes| **bytes > BYTES_MAX).count();
    let (count, median) = (bytes.len(), bytes[bytes.len() / 2]);
    println!("{count} {which}: median {median}, most {}, {over} over", bytes[count - 1]);
}

#[test]
fn no_brief_call_takes_more_than_two_kib() {
    if Command::new("gcc").arg("--version").output().is_err() {
        return eprintln!("skipped: gcc is not installed");
    }
    let workshop = Workshop::new();
    let mut all = Vec::new();
    for path in interface_files() {
        let stem = path.file_stem().expect("a file").to_string_lossy().into_owned();
        workshop.print(&path);
        let object = workshop.path().join(format!("{stem}.o"));
        workshop.object("gcc", &workshop.path().join(format!("{stem}.c")), &object, &["-O2"]);
        all.extend(operations(&functions(&object)));
    }
    let (brief, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.is_brief);
    assert!(brief.len() >= 30, "only {} operations are brief", brief.len());
    tell("brief call stubs", brief.iter().map(|one| one.call_bytes).collect());
    tell("entry stubs of them", brief.iter().map(|one| one.entry_bytes).collect());
    tell("other call stubs", others.iter().map(|one| one.call_bytes).collect());
    tell("entry stubs of them", others.iter().map(|one| one.entry_bytes).collect());
    let over: Vec<_> = brief.iter().filter(|one| one.call_bytes > BYTES_MAX).collect();
    assert!(over.is_empty(), "more than {BYTES_MAX} bytes: {over:?}");
}

#[test]
fn an_operation_is_its_call_stub_and_its_entry_stub() {
    let sizes = [
        ("a", 100),
        ("nearcall_long_a", 20),
        ("nearcall_entry_a", 3),
        ("nearcall_slow_a", 0),
        ("b", 5),
    ];
    let functions = sizes.map(|(name, bytes)| (name.to_owned(), bytes)).into_iter().collect();
    let name = "a".to_owned();
    let a = Operation { call_bytes: 120, entry_bytes: 3, name, is_brief: true };
    assert_eq!(operations(&functions), [a]);
}
