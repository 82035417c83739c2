//! How many bytes of instructions an operation's stubs take in C, on the way that calls go. Each
//! side of every operation has a limit.
//!
//! - A stub's own: what is in `.text` of it, and of all that it reaches and is no type's: stubs
//!   that it goes on to, parts that the compiler splits off, whatever they are called.
//! - Of types: functions of a type (`nearcall_encode_x`, `nearcall_decode_x`, `nearcall_free_x`)
//!   and of the headers (`nearcall_read`, `nearcall_write_text`) that it reaches, each once. They
//!   are shared with all other operations of an object, told beside the stub's own, and have the
//!   limit each for itself.
//! - Put aside: what the compiler puts into `.text.unlikely`, because it refuses, raises, or is no
//!   way that most calls go: told, and without a limit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::support::{Workshop, has, has_x86_64, interface_files};

/// No side of an operation may have more text of its own, nor a function of a feed, nor one of a
/// type.
const BYTES_MAX: u64 = 2 << 10;

/// What the entry stub of an operation is called, before its own name.
const ENTRY: &str = "nearcall_entry_";

/// What functions are called that operations share: those of types, and those of the headers.
const SHARED: [&str; 5] =
    ["nearcall_encode_", "nearcall_decode_", "nearcall_free_", "nearcall_read", "nearcall_write"];

/// A function, or a part of one that the compiler made one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Function {
    bytes: u64,
    is_cold: bool,
    /// What it calls or goes on to.
    reached: BTreeSet<String>,
}

type Functions = BTreeMap<String, Function>;

fn tool(name: &str, arguments: &[&str], object: &Path) -> String {
    let output = Command::new(name).args(arguments).arg(object).output();
    let output = output.expect("binutils come with gcc");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names of ours")
}

/// The functions of an object.
fn functions(object: &Path) -> Functions {
    let text = tool("nm", &["--format=sysv", "--defined-only"], object);
    let (mut functions, mut places) = (Functions::new(), Places::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split('|').map(str::trim).collect();
        let [name, at, _, "FUNC", bytes, _, section] = words[..] else { continue };
        let hexadecimal = |digits| u64::from_str_radix(digits, 16).expect("nm counts so");
        let (bytes, is_cold) = (hexadecimal(bytes), section != ".text");
        places.insert((section.to_owned(), hexadecimal(at)), name.to_owned());
        functions.insert(name.to_owned(), Function { bytes, is_cold, ..Function::default() });
    }
    let mut own = String::new();
    for line in tool("objdump", &["-dr", "--no-show-raw-insn"], object).lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split_once('<')) {
            own = name.1.to_owned();
        } else if let (Some(name), Some(function)) =
            (mentioned(line, &places), functions.get_mut(&own))
        {
            function.reached.insert(name);
        }
    }
    functions
}

/// Functions by section and where they begin in it.
type Places = BTreeMap<(String, u64), String>;

/// How far before its end an instruction names what it goes on to.
const NAMED_BEFORE_END: i64 = 4;

/// The function that a line of instructions names, as `<x>`, `<x+0x5>` or in a relocation; there
/// perhaps as a place in a section, `.text.unlikely+0x1c`.
fn mentioned(line: &str, places: &Places) -> Option<String> {
    let Some((_, relocation)) = line.split_once("R_X86_64_") else {
        return line.rsplit_once('<')?.1.split(['+', '-', '>']).next().map(str::to_owned);
    };
    let target = relocation.split_once('\t')?.1;
    let (name, offset) = target.split_at(target.find(['+', '-']).unwrap_or(target.len()));
    let digits = offset.trim_start_matches(['+', '-', '0', 'x']);
    let offset_bytes = i64::from_str_radix(digits, 16).unwrap_or(0);
    let at = if offset.starts_with('-') { -offset_bytes } else { offset_bytes } + NAMED_BEFORE_END;
    let before = places.range(..=(name.to_owned(), u64::try_from(at).ok()?)).next_back();
    let function = before.filter(|((section, _), _)| section == name).map(|(_, name)| name.clone());
    Some(function.unwrap_or_else(|| name.to_owned()))
}

/// The name that a part of a function has from it.
fn whole(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn is_shared(name: &str) -> bool {
    SHARED.iter().any(|shared| name.starts_with(shared))
}

/// The text of one side of an operation.
#[derive(Debug, Default, PartialEq, Eq)]
struct Text {
    own_bytes: u64,
    types_bytes: u64,
    aside_bytes: u64,
}

/// All that functions reach, themselves among it.
fn text(functions: &Functions, roots: &[String]) -> Text {
    let mut seen = BTreeSet::new();
    let mut text = Text::default();
    let mut next: Vec<&str> = roots.iter().map(String::as_str).collect();
    while let Some(name) = next.pop() {
        let Some(function) = functions.get(name).filter(|_| seen.insert(name)) else { continue };
        match (function.is_cold, is_shared(name)) {
            (true, _) => text.aside_bytes += function.bytes,
            (false, true) => text.types_bytes += function.bytes,
            (false, false) => text.own_bytes += function.bytes,
        }
        // What is put aside comes back to the function that it is of.
        if !function.is_cold {
            next.extend(function.reached.iter().map(String::as_str));
        }
    }
    text
}

/// The stubs of an operation.
#[derive(Debug, PartialEq, Eq)]
struct Operation {
    /// None of what carries a feed, which is not called otherwise.
    call: Option<Text>,
    /// Its two halves; none if they are within a function of a feed, or it is not posted.
    posted: Option<Text>,
    entry: Text,
    name: String,
    is_brief: bool,
}

fn operations(functions: &Functions) -> Vec<Operation> {
    let names = functions.keys().filter_map(|name| name.strip_prefix(ENTRY));
    let names: BTreeSet<&str> = names.map(whole).collect();
    let operation = |name: &str| {
        let of = |parts: [&str; 2]| {
            let parts = parts.map(|part| format!("{part}{name}"));
            let is_there = parts.iter().any(|name| functions.contains_key(name));
            is_there.then(|| text(functions, &parts))
        };
        let call = of(["", "nearcall_open_"]);
        let posted = of(["nearcall_post_", "nearcall_collect_"]);
        let entry = text(functions, &[format!("{ENTRY}{name}")]);
        let is_brief = functions.contains_key(&format!("nearcall_slow_{name}"));
        Operation { call, posted, entry, name: name.to_owned(), is_brief }
    };
    names.into_iter().map(operation).collect()
}

/// Every function that nobody shares and is not put aside, with what it reaches: whatever has not
/// the name of a stub, such as the functions of feeds, is judged so.
fn judged(functions: &Functions) -> BTreeMap<&str, Text> {
    let own = functions.iter().filter(|(name, own)| !own.is_cold && !is_shared(name));
    own.map(|(name, _)| (name.as_str(), text(functions, std::slice::from_ref(name)))).collect()
}

/// What has too much text of its own: whatever is judged, and both sides of operations.
fn over(functions: &Functions) -> Vec<(String, u64)> {
    let judged = judged(functions).into_iter().map(|(name, text)| (name.to_owned(), text));
    let sides = operations(functions).into_iter().flat_map(|one| {
        let call = one.call.map(|call| (format!("all calls of {}", one.name), call));
        let posted = one.posted.map(|posted| (format!("the halves of {}", one.name), posted));
        let entry = (format!("the entry of {}", one.name), one.entry);
        call.into_iter().chain(posted).chain([entry])
    });
    let bytes = judged.chain(sides).map(|(name, text)| (name, text.own_bytes));
    bytes.filter(|(_, bytes)| *bytes > BYTES_MAX).collect()
}

fn tell(which: &str, texts: &[&Text]) {
    let each = |of: fn(&Text) -> u64| {
        let mut bytes: Vec<u64> = texts.iter().map(|text| of(text)).collect();
        bytes.sort();
        format!("median {}, most {}", bytes[bytes.len() / 2], bytes[bytes.len() - 1])
    };
    let (own, types) = (each(|text| text.own_bytes), each(|text| text.types_bytes));
    let aside = each(|text| text.aside_bytes);
    println!("{} {which}: own {own}; of types {types}; put aside {aside}", texts.len());
}

/// Whether there is what makes the instructions that are looked at.
fn is_there() -> bool {
    has_x86_64() && has("gcc")
}

#[test]
fn no_operation_takes_more_than_two_kib() {
    if !is_there() {
        return;
    }
    let workshop = Workshop::new();
    let (mut all, mut too_long, mut shared, mut judged_count) = (vec![], vec![], vec![], 0);
    for path in interface_files() {
        let stem = path.file_stem().expect("a file").to_string_lossy().into_owned();
        workshop.print(&path);
        let object = workshop.path().join(format!("{stem}.o"));
        workshop.object("gcc", &workshop.path().join(format!("{stem}.c")), &object, &["-O2"]);
        let functions = functions(&object);
        all.extend(operations(&functions));
        judged_count += judged(&functions).len();
        too_long.extend(over(&functions));
        let types = functions.iter().filter(|(name, own)| is_shared(name) && !own.is_cold);
        shared.extend(types.map(|(name, own)| (own.bytes, name.clone())));
    }
    let without = all.iter().filter(|one| one.call.is_none());
    let without: Vec<&str> = without.map(|one| one.name.as_str()).collect();
    // Of what streams both ways the end, too: it returns nothing, and libnearcall asks for it.
    let streams_both_ways = |name: &str| {
        name.contains("_end_") && without.contains(&name.replace("_end_", "_next_").as_str())
    };
    let carries =
        |name: &&str| name.contains("_next_") || name.contains("_put_") || streams_both_ways(name);
    assert!(without.iter().all(carries), "no stub of {without:?}");
    let (brief, others): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.is_brief);
    assert!(brief.len() >= 90 && others.len() >= 160, "{} and {}", brief.len(), others.len());
    for (which, some) in [("brief", brief), ("other", others)] {
        let calls: Vec<&Text> = some.iter().filter_map(|one| one.call.as_ref()).collect();
        tell(&format!("call stubs of {which} calls"), &calls);
        let posted: Vec<&Text> = some.iter().filter_map(|one| one.posted.as_ref()).collect();
        tell("halves of them", &posted);
        let entries: Vec<&Text> = some.iter().map(|one| &one.entry).collect();
        tell("entry stubs of them", &entries);
    }
    shared.sort();
    let most = shared.last().expect("types have functions");
    println!("{} functions of types: most {} ({})", shared.len(), most.0, most.1);
    let checked = all.len();
    println!("{checked} operations and {judged_count} functions checked, {BYTES_MAX} bytes each");
    assert!(too_long.is_empty(), "more than {BYTES_MAX} bytes: {too_long:?}");
    assert!(most.0 <= BYTES_MAX, "{most:?} has more than {BYTES_MAX} bytes");
}

/// A function of so many bytes, in `.text`, that reaches others.
fn function(bytes: u64, reached: &[&str]) -> Function {
    let reached = reached.iter().map(|name| String::from(*name)).collect();
    Function { bytes, is_cold: false, reached }
}

fn named<const N: usize>(functions: [(&str, Function); N]) -> Functions {
    functions.map(|(name, function)| (String::from(name), function)).into_iter().collect()
}

#[test]
fn an_operation_is_its_call_stub_its_halves_and_its_entry_stub() {
    let cold = |bytes| Function { bytes, is_cold: true, ..Function::default() };
    let functions = named([
        ("a", function(100, &["nearcall_long_a", "nearcall_slow_a", "nearcall_call"])),
        ("nearcall_long_a", function(20, &["a.cold"])),
        ("a.cold", cold(7)),
        ("nearcall_slow_a", cold(9)),
        ("nearcall_post_a", function(5, &["nearcall_post"])),
        ("nearcall_collect_a", function(6, &[])),
        ("nearcall_entry_a", function(3, &[])),
        ("b", function(5, &[])),
    ]);
    let call = Some(Text { own_bytes: 120, types_bytes: 0, aside_bytes: 16 });
    let entry = Text { own_bytes: 3, ..Text::default() };
    let posted = Some(Text { own_bytes: 11, ..Text::default() });
    let a = Operation { call, posted, entry, name: "a".to_owned(), is_brief: true };
    assert_eq!(operations(&functions), [a]);
}

#[test]
fn what_is_no_types_is_a_stubs_own_whatever_it_is_called() {
    let functions = named([
        ("nearcall_entry_a", function(3, &["nearcall_entry_a.part.0", "nearcall_decode_t"])),
        ("nearcall_entry_a.part.0", function(40, &["nearcall_rest_a"])),
        ("nearcall_rest_a", function(500, &[])),
        ("nearcall_decode_t", function(60, &["nearcall_read_text", "nearcall_decode_t"])),
        ("nearcall_read_text", function(7, &[])),
    ]);
    let entry = Text { own_bytes: 543, types_bytes: 67, aside_bytes: 0 };
    assert_eq!(text(&functions, &["nearcall_entry_a".to_owned()]), entry);
}

/// The functions of a program.
fn compiled(source: &str) -> Functions {
    let workshop = Workshop::new();
    let path = workshop.path().join("program.c");
    std::fs::write(&path, source).expect("it can be written");
    let object = workshop.path().join("program.o");
    workshop.object("gcc", &path, &object, &["-O2"]);
    functions(&object)
}

#[test]
fn a_stub_that_hides_its_text_in_another_function_is_over() {
    if !is_there() {
        return;
    }
    let source = "static __attribute__((noinline)) void nearcall_rest_a(volatile int *at) {\n"
        .to_owned()
        + &"    *at = 123456789;\n".repeat(400)
        + "}\nvoid nearcall_entry_a(volatile int *at);\n"
        + "void nearcall_entry_a(volatile int *at) { nearcall_rest_a(at); *at = 1; }\n"
        + "void nearcall_entry_b(volatile int *at);\n"
        + "void nearcall_entry_b(volatile int *at) { nearcall_entry_a(at); }\n";
    let over = over(&compiled(&source));
    let names: Vec<&str> = over.iter().map(|(name, _)| name.as_str()).collect();
    let own = ["nearcall_entry_a", "nearcall_entry_b", "nearcall_rest_a"];
    assert_eq!(names, [&own[..], &["the entry of a", "the entry of b"]].concat());
}

#[test]
fn what_is_put_aside_is_told_and_has_no_limit() {
    if !is_there() {
        return;
    }
    let source = "void refuse(int) __attribute__((cold));\nint nearcall_entry_a(int);\n".to_owned()
        + "int nearcall_entry_a(int a) {\n    if (a == 7) {\n"
        + &"        refuse(a);\n".repeat(500)
        + "    }\n    return a;\n}\n";
    let functions = compiled(&source);
    let entry = &operations(&functions)[0].entry;
    assert!(entry.aside_bytes > BYTES_MAX, "{entry:?}");
    assert!(entry.own_bytes > 0 && entry.own_bytes < 100, "{entry:?}");
    assert_eq!(over(&functions), []);
}
