//! Each rule finds its bad change and lets its good one pass; and what is said of binds is what the
//! hashes say.

mod cases;

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;

use super::{Finding, compare, rules};
use crate::front::compile_from;
use crate::front::options::Options;
use crate::front::preprocessor::files::InMemory;
use crate::model::Model;
use crate::plan;
use crate::source::SourceMap;

/// Reads `text` into `sources`.
fn model(text: &str, sources: &mut SourceMap) -> Model {
    let mut files = InMemory::default();
    let path = if text.starts_with("syntax") { "a.proto" } else { "a.idl" };
    files.insert(path, text);
    let compilation = compile_from(&files, Path::new(path), &Options::default(), sources);
    compilation.model.unwrap_or_else(|| panic!("{text}: {:?}", compilation.diagnostics))
}

/// What is found between two texts, checked against their hashes.
fn findings(old: &str, new: &str) -> Vec<Finding> {
    let mut sources = SourceMap::default();
    let (old_model, new_model) = (model(old, &mut sources), model(new, &mut sources));
    let findings = compare(&old_model, &new_model);
    let is_refused = findings.iter().any(|finding| finding.refused_at.is_some());
    assert_eq!(is_refused, !do_bind(&old_model, &new_model), "{old}\n{new}\n{findings:#?}");
    for finding in &findings {
        assert_eq!(finding.is_breaking(), !finding.breaks.is_empty(), "{finding:?}");
    }
    findings
}

/// Whether of every interface that both have one version begins with the other, and so each
/// appendable struct in its messages.
fn do_bind(old: &Model, new: &Model) -> bool {
    let named = |model: &Model| {
        let plan = plan::plan(model);
        let named = model.interfaces().zip(plan.interfaces).map(|((_, declaration, own), plan)| {
            let names = own.operations.iter().map(|operation| operation.name.clone());
            let hashes = plan.procedures.iter().map(|procedure| procedure.hash);
            let appendables = plan.appendables.into_iter().map(|appendable| appendable.hashes);
            let procedures: Vec<_> = names.zip(hashes).collect();
            (declaration.name.clone(), procedures, appendables.collect::<Vec<_>>())
        });
        named.collect::<Vec<_>>()
    };
    let new = named(new);
    named(old).iter().all(|(name, before, old_structs)| {
        let Some((_, now, new_structs)) = new.iter().find(|(new_name, ..)| new_name == name) else {
            return true;
        };
        let mut structs = old_structs.iter().flat_map(|old| {
            let same = new_structs.iter().filter(|new| new[0] == old[0]);
            same.flat_map(|new| old.iter().zip(new))
        });
        before.iter().zip(now).all(|(before, now)| before == now)
            && structs.all(|(before, now)| before == now)
    })
}

/// A finding in a line: its code, what it says, who breaks, where a bind is refused.
fn line(finding: &Finding) -> String {
    let breaks: Vec<&str> = finding.breaks.iter().map(|party| party.key()).collect();
    let refused_at = finding.refused_at.as_deref().unwrap_or("-");
    let diagnostic = &finding.diagnostic;
    format!("{} {}: {}: {refused_at}", diagnostic.rule.code, diagnostic.message, breaks.join(" "))
}

#[test]
fn each_rule_finds_its_bad_change_and_lets_its_good_one_pass() {
    let (mut checked, mut wrong) = (BTreeSet::new(), Vec::new());
    for case in cases::CASES {
        let found: Vec<String> = findings(case.old, case.bad).iter().map(line).collect();
        if found != case.want {
            wrong.push(format!("{} -> {}:\n{found:#?}", case.old, case.bad));
        }
        assert!(case.want.iter().any(|want| want.starts_with(case.code)), "{}", case.code);
        let passed = findings(case.old, case.good);
        let passed = passed.iter().all(|finding| finding.diagnostic.rule.code != case.code);
        assert!(passed, "{} is found in {} -> {}", case.code, case.old, case.good);
        checked.insert(case.code);
    }
    for rule in rules::ALL {
        // Never the only one to find a change, as far as is known: see the property below.
        let is_last_resort = rule.rule == rules::MESSAGES.rule;
        assert!(is_last_resort || checked.contains(rule.rule.code), "no case: {}", rule.rule.code);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} rules, {} changes", rules::ALL.len(), 2 * cases::CASES.len());
}

#[test]
fn of_a_proto_file_numbers_tell_what_is_what() {
    let of = |fields: &str, values: &str| {
        format!(
            "syntax = \"proto3\"; message M {{ {fields} }} enum E {{ {values} }} \
             service I {{ rpc A(M) returns (M); }}"
        )
    };
    let found = |fields: &str, values: &str| -> Vec<String> {
        let old = of("int32 x = 1; E y = 2; oneof z { bool v = 3; bool w = 4; }", "P = 0; Q = 1;");
        findings(&old, &of(fields, values)).iter().map(line).collect()
    };
    let rest = "oneof z { bool v = 3; bool w = 4; }";
    let sources = "client-source server-source: -";
    let refused = "old-client new-client client-source server-source: I::A";
    assert_eq!(
        found("int32 n = 1; E y = 2; oneof z { bool w = 3; bool v = 4; }", "Q = 0; P = 1;"),
        [
            format!("E0623 `Q` of `E` was `P`: {sources}"),
            format!("E0623 `P` of `E` was `Q`: {sources}"),
            format!("E0607 oneof field `w = 3` of `M::Z` was `v = 3`: {sources}"),
            format!("E0607 oneof field `v = 4` of `M::Z` was `w = 4`: {sources}"),
            format!("E0607 field `n = 1` of `M` was `x = 1`: {sources}"),
        ]
    );
    let moved = "oneof z { bool w = 4; bool v = 3; } E y = 2; int32 x = 1;";
    assert_eq!(found(moved, "P = 0; Q = 1;"), [""; 0]);
    assert_eq!(
        found(&format!("int32 x = 5; E y = 2; {rest}"), "P = 0; Q = 1;"),
        [
            format!("E0606 field `x = 1` of `M` is gone: {refused}"),
            "N0629 field `x = 5` of `M` is new: : -".to_owned(),
        ]
    );
    assert_eq!(
        found(&format!("int32 x = 1; E y = 2; {rest}"), "P = 0; S = 2; R = -1;"),
        [
            format!("E0622 value `Q = 1` of `E` is gone: {sources}"),
            "N0632 value `S = 2` of `E` is new: : -".to_owned(),
            "N0632 value `R = -1` of `E` is new: : -".to_owned(),
        ]
    );
}

/// What `nearcall diff` says of a field of a message that changes: each in a line, and then the
/// last part of its help.
#[track_caller]
fn check_field(old: &str, new: &str, want: &[&str]) {
    let of = |fields: &str| {
        format!(
            "syntax = \"proto3\"; message N {{}} message M {{ {fields} }} \
             service I {{ rpc A(M) returns (M); }}"
        )
    };
    let found = findings(&of(old), &of(new));
    let said = found.iter().flat_map(|finding| {
        let help = finding.diagnostic.help.as_deref().unwrap_or_default();
        let (_, help) = help.rsplit_once("; ").unwrap_or_default();
        [line(finding), help.to_owned()]
    });
    assert_eq!(said.collect::<Vec<_>>(), want);
}

#[test]
fn a_field_may_be_added_above_all_others() {
    let new = [
        "N0629 field `z = 9` of `M` is new: : -",
        "a source in Rust that makes one gives it, or ends in `..Default::default()`",
    ];
    check_field("int32 x = 1; N y = 8;", "repeated N z = 9; N y = 8; int32 x = 1;", &new);
    check_field(
        "",
        "oneof z { N a = 9; N b = 10; }",
        &["N0629 oneof `z` of `M` is new: : -", new[1]],
    );
    let of_oneof = |named: &str| {
        let found = format!("N0629 oneof field `c = 12` of `M::{named}` is new: : -");
        [found, "a source in Rust whose match has every field has to have the new one".to_owned()]
    };
    let old = "oneof o { N a = 1; N b = 5; } N z = 9;";
    let [found, help] = &of_oneof("O");
    check_field(old, "N z = 9; oneof o { N a = 1; N c = 12; N b = 5; }", &[found, help]);
    // Another name is none of what it is known by.
    let renamed = "oneof p { N a = 1; N b = 5; N c = 12; } N z = 9;";
    let other = "E0607 oneof `p` of `M` was `o`: client-source server-source: -";
    let [found, help] = &of_oneof("P");
    check_field(old, renamed, &[found, help, other, ""]);
    let exchanged = [("p", "o"), ("o", "p")].map(|(is, was)| {
        format!("E0607 oneof `{is}` of `M` was `{was}`: client-source server-source: -")
    });
    check_field(
        "oneof o { N a = 1; } oneof p { N b = 2; }",
        "oneof p { N a = 1; } oneof o { N b = 2; }",
        &[&exchanged[0], "", &exchanged[1], ""],
    );
    check_field(
        "int32 x = 1; N y = 2;",
        "int32 x = 1;",
        &["E0606 field `y = 2` of `M` is gone: client-source server-source: -", ""],
    );
}

#[test]
fn what_else_to_do_is_said_where_a_bind_is_refused() {
    let refused =
        |what: &str| format!("{what}: old-client new-client client-source server-source: I::A");
    let leave = "leave it in the file, `[deprecated = true]`";
    let other = "leave it as it is, `[deprecated = true]`, and add a field whose number is \
                 above all others of its message";
    let old = "int32 x = 1; N y = 4; oneof o { int32 a = 5; N b = 7; }";
    for (new, what, help) in [
        (
            "int32 x = 1; N z = 3; N y = 4; oneof o { int32 a = 5; N b = 7; }",
            "E0606 field `z = 3` of `M` is new",
            "give it a number above all others of its message",
        ),
        ("N y = 4; oneof o { int32 a = 5; N b = 7; }", "E0606 field `x = 1` of `M` is gone", leave),
        (
            "string x = 1; N y = 4; oneof o { int32 a = 5; N b = 7; }",
            "E0611 field `x` of `M` is `string`, was `int32`",
            other,
        ),
        (
            "optional int32 x = 1; N y = 4; oneof o { int32 a = 5; N b = 7; }",
            "E0614 field `x` of `M` is optional, and was not before",
            other,
        ),
        (
            "int32 x = 1; N y = 4; oneof o { int32 a = 5; N c = 6; N b = 7; }",
            "E0606 oneof field `c = 6` of `M::O` is new",
            "give it a number above all others of its message",
        ),
        (
            "int32 x = 1; N y = 4; oneof o { int32 a = 5; N b = 7; } N z = 6;",
            "E0606 field `z = 6` of `M` is new",
            "give it a number above all others of its message",
        ),
        (
            "int32 x = 1; N y = 4; oneof o { int32 a = 5; string b = 7; }",
            "E0611 oneof field `b` of `M::O` is `string`, was `N`",
            other,
        ),
    ] {
        check_field(old, new, &[&refused(what), help]);
    }
}

/// A number stands for one field of a message: elsewhere in it, it is another one.
#[test]
fn a_field_that_leaves_its_oneof_is_refused() {
    let refused = |what: &str, of: &str, is: &str| {
        let refused = "old-client new-client client-source server-source: I::A";
        format!("E0606 {what} `c = 3` of `{of}` is {is}: {refused}")
    };
    let leave = "leave it in the file, `[deprecated = true]`";
    let next = "give it a number above all others of its message";
    let within = "int32 a = 1; oneof o { int32 b = 2; int32 c = 3; }";
    let beside = "int32 a = 1; oneof o { int32 b = 2; } int32 c = 3;";
    let [gone, new] = [refused("oneof field", "M::O", "gone"), refused("field", "M", "new")];
    check_field(within, beside, &[&gone, leave, &new, next]);
    let [new, gone] = [refused("oneof field", "M::O", "new"), refused("field", "M", "gone")];
    check_field(beside, within, &[&new, next, &gone, leave]);
    // The lowest of its oneof's numbers as any other: the oneof itself is the one that it was.
    let within = "int32 a = 1; oneof o { int32 c = 3; int32 b = 4; }";
    let beside = "int32 a = 1; int32 c = 3; oneof o { int32 b = 4; }";
    let [gone, new] = [refused("oneof field", "M::O", "gone"), refused("field", "M", "new")];
    check_field(within, beside, &[&gone, leave, &new, next]);
    let [new, gone] = [refused("oneof field", "M::O", "new"), refused("field", "M", "gone")];
    check_field(beside, within, &[&new, next, &gone, leave]);
    let (old, lower) = ("N z = 4; oneof o { N b = 5; }", "N z = 4; oneof o { N c = 3; N b = 5; }");
    check_field(old, lower, &[&new, next]);
}

/// What a refused bind has nothing to do with is not told as if it had.
#[test]
fn what_is_harmless_beside_what_is_refused_is_told_so() {
    let sources = "client-source server-source: -";
    let refused = "old-client new-client client-source server-source: I::A";
    let of = |fields: &str, values: &str| {
        format!(
            "syntax = \"proto3\"; message M {{ {fields} }} enum E {{ {values} }} \
             service I {{ rpc A(M) returns (M); }}"
        )
    };
    let old = of("int32 a = 1; E d = 4; int32 e = 5;", "X = 0; Y = 2;");
    let new = of("int32 aa = 1; int32 c = 3; E d = 4;", "X = 0;");
    assert_eq!(
        findings(&old, &new).iter().map(line).collect::<Vec<_>>(),
        [
            format!("E0622 value `Y = 2` of `E` is gone: {sources}"),
            format!("E0606 field `e = 5` of `M` is gone: {sources}"),
            format!("E0606 field `c = 3` of `M` is new: {refused}"),
            format!("E0607 field `aa = 1` of `M` was `a = 1`: {sources}"),
        ]
    );
}

#[test]
fn numbers_are_given_once_and_an_error_breaks_somebody() {
    let codes: BTreeSet<&str> = rules::ALL.iter().map(|rule| rule.rule.code).collect();
    assert_eq!(codes.len(), rules::ALL.len());
    assert!(codes.iter().all(|code| code.starts_with("E06") || code.starts_with("N06")));
    let known: BTreeSet<&str> = crate::front::rules::all_rules().map(|rule| rule.code).collect();
    assert!(codes.is_disjoint(&known));
}

#[test]
fn a_finding_stands_in_both_files() {
    let mut sources = SourceMap::default();
    let old = model("interface I {\n  void a(in long x);\n};", &mut sources);
    let new = model("// more\ninterface I {\n  void a(in short x);\n};", &mut sources);
    let findings = compare(&old, &new);
    let diagnostic = &findings[0].diagnostic;
    let (now, before) = (diagnostic.span, diagnostic.labels[0].0);
    assert_eq!((sources.place(now).line, sources.place(before).line), (3, 2));
    assert_ne!(now.file, before.file);
    let text = super::json_lines(&findings, &sources);
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["refused_at"], "I::a");
    assert_eq!(line["breaks"][0], "old-client");
    assert_eq!((&line["line"], &line["labels"][0]["line"]), (&3.into(), &2.into()));
}

#[test]
fn no_good_file_differs_from_itself() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/idl/good");
    let mut count = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let mut sources = SourceMap::default();
        let mut read = || crate::front::compile(&path, &Options::default(), &mut sources).model;
        if let (Some(old), Some(new)) = (read(), read()) {
            assert_eq!(compare(&old, &new), [], "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 10, "{count} files");
}

const PARTS: &[&str] = &[
    "void a();",
    "void a(in long x);",
    "long b(in S s);",
    "long b(in S s, in long y);",
    "void c(inout string<9> t) raises (X);",
    "void c(inout string<8> t) raises (X);",
    "oneway void d(in E e);",
    "readonly attribute U f;",
    "void g(in A a);",
    "sequence<A> h();",
    "void i(in long x, in long y);",
    "void i(in long y, in long x);",
    "void j() raises (X, Y);",
    "void j() raises (Y, X);",
    "B k();",
];

const APPENDABLES: &[&str] = &[
    "@appendable struct A { long m; };",
    "@appendable struct A { long m; string n; };",
    "@appendable struct A { long m; string n; B o; };",
    "@appendable struct A { string n; long m; };",
    "@appendable struct A { long m; string<3> n; };",
    "struct A { long m; string n; };",
];

const TYPES: &[&str] = &[
    "struct S { long m; E n; };",
    "struct S { E n; long m; };",
    "struct S { long m; E o; };",
    "struct S { long m; long n; };",
    "struct S { long n; long m; };",
    "struct S { @range(min = 1, max = 5) long m; E n; };",
];

const ENUMS: &[&str] = &[
    "enum E { P, Q };",
    "enum E { Q, P };",
    "enum E { P, R };",
    "enum E { P, @value(3) Q };",
    "@bit_bound(32) bitmask E { P, Q };",
    "@bit_bound(32) bitmask E { Q, P };",
];

/// An interface of some of the parts, none of one name twice.
fn text() -> impl Strategy<Value = String> {
    let parts = proptest::sample::subsequence(PARTS, 0..=PARTS.len()).prop_shuffle();
    let types = proptest::sample::select(TYPES);
    let appendables = proptest::sample::select(APPENDABLES);
    let enums = proptest::sample::select(ENUMS);
    (parts, types, appendables, enums).prop_map(|(parts, types, appendable, enums)| {
        let mut names = BTreeSet::new();
        let mut is_first = |part: &str| {
            let head = part.split(['(', ';']).next().unwrap_or_default();
            names.insert(head.rsplit(' ').next().unwrap_or_default().to_owned())
        };
        let parts: Vec<&str> = parts.into_iter().filter(|part| is_first(part)).collect();
        format!(
            "{enums} {types} @appendable struct B {{ S s; }}; {appendable} \
             union U switch (boolean) {{ case TRUE: S s; case FALSE: S t; }}; \
             exception X {{ S why; }}; exception Y {{ S why; }}; interface I {{ {} }};",
            parts.join(" ")
        )
    })
}

#[test]
fn a_member_at_the_end_breaks_nobody_and_its_help_says_what_sources_owe() {
    let of = |more: &str| {
        format!("@appendable struct S {{ long x; {more} }}; interface I {{ void a(in S s); }};")
    };
    let found = findings(&of(""), &of("string y;"));
    let [only] = &found[..] else { panic!("{found:#?}") };
    assert!(!only.is_breaking());
    let help = only.diagnostic.help.as_deref().unwrap_or_default();
    assert!(help.contains("in Python where it has no `@default`"), "{help}");
    assert!(help.contains("in C or C++ that does not sends zero"), "{help}");
}

proptest! {
    /// `findings` compares with the hashes; nothing is left to the rule of last resort.
    #[test]
    fn what_is_said_of_binds_is_what_the_hashes_say(old in text(), new in text()) {
        for finding in findings(&old, &new) {
            prop_assert_ne!(finding.diagnostic.rule, &rules::MESSAGES.rule);
        }
    }
}
