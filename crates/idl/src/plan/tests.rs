//! Facts of the plan and of the hash, each from a small interface file.

use std::path::Path;

use super::*;
use crate::front::compile_from;
use crate::front::options::Options;
use crate::front::preprocessor::files::InMemory;
use crate::model::Type;
use crate::source::SourceMap;

fn planned(text: &str) -> InterfacePlan {
    plan(&modelled(text)).interfaces.remove(0)
}

fn modelled(text: &str) -> Model {
    model_of("a.idl", text)
}

fn model_of(path: &str, text: &str) -> Model {
    let mut files = InMemory::default();
    files.insert(path, text);
    let mut sources = SourceMap::default();
    let compilation = compile_from(&files, Path::new(path), &Options::default(), &mut sources);
    compilation.model.unwrap_or_else(|| panic!("{:?}", compilation.diagnostics))
}

fn position(steps: &[Step], is_it: impl Fn(&Step) -> bool) -> usize {
    steps.iter().position(is_it).expect("the step is there")
}

#[test]
fn arguments_are_checked_and_marshalled_before_an_a_stack_is_taken() {
    let plan =
        planned("interface I { void f(in string<3> a, in sequence<string> b, in long c); };");
    let steps = &plan.procedures[0].client.request;
    let claim = position(steps, |step| matches!(step, Step::Claim { .. }));
    assert!(position(steps, |step| matches!(step, Step::CheckBound { .. })) < claim);
    assert!(position(steps, |step| matches!(step, Step::Marshal { .. })) < claim);
    assert!(position(steps, Step::is_write) > claim);
}

#[test]
fn every_peer_written_word_that_has_wrong_values_is_judged() {
    let plan = planned(
        "enum E { A }; @bit_bound(8) bitmask M { B }; interface I { \
         wchar f(in boolean a, in E b, in M c, in long d, in wchar e); };",
    );
    let checks: Vec<Check> = plan.procedures[0]
        .server
        .request
        .iter()
        .filter_map(|step| match step {
            Step::GetScalar { check, .. } => Some(*check),
            _ => None,
        })
        .collect();
    let count = |check| checks.iter().filter(|one| **one == check).count();
    let all = [Check::Boolean, Check::Enumerator, Check::Bits, Check::Character, Check::Any];
    assert_eq!(all.map(count), [1, 1, 1, 1, 1]);
}

#[test]
fn where_results_lie_is_in_no_hash() {
    let hash =
        |annotation| planned(&format!("interface I {{ void f({annotation}out string a); }};"));
    let without = hash("").hash;
    assert_eq!(without, hash("@prealloc ").hash);
    assert_eq!(without, hash("@typical(9) ").hash);
}

#[test]
fn opaque_arguments_are_not_copied_and_others_once() {
    let plan = planned(
        "typedef sequence<octet> O; interface I { void f(@opaque in O a, in O b, inout O c); };",
    );
    let copies: Vec<Copy> = plan.procedures[0]
        .server
        .request
        .iter()
        .filter_map(|step| match step {
            Step::Take { copy, .. } => Some(*copy),
            _ => None,
        })
        .collect();
    assert_eq!(copies, [Copy::None, Copy::Private, Copy::Owned]);
}

#[test]
fn a_oneway_procedure_has_no_reply() {
    let plan = planned("interface I { oneway void f(in long a); };");
    let client = &plan.procedures[0].client;
    assert!(client.reply.is_empty() && client.raised.is_empty());
    assert!(client.request.contains(&Step::PostOneway { fixed_bytes: 4 }));
}

#[test]
fn names_directions_types_and_bounds_of_parameters_are_in_the_hash() {
    let hash =
        |parameters: &str| planned(&format!("interface I {{ void f({parameters}); }};")).hash;
    let one = hash("in long a, in string<5> b");
    let others = [
        "in long x, in string<5> b",
        "in string<5> b, in long a",
        "inout long a, in string<5> b",
        "in unsigned long a, in string<5> b",
        "in long a, in string<6> b",
        "in long a, in string b",
    ];
    for other in others {
        assert_ne!(one, hash(other), "{other}");
    }
}

#[test]
fn what_is_behind_an_alias_and_what_is_raised_is_in_the_hash() {
    let hash = |before: &str, raises: &str| {
        planned(&format!("{before} interface I {{ void f(in T a) {raises}; }};")).hash
    };
    let plain = hash("typedef long T;", "");
    assert_eq!(plain, hash("typedef long U; typedef U T;", ""));
    assert_ne!(plain, hash("typedef short T;", ""));
    assert_ne!(plain, hash("typedef long T; exception E {};", "raises (E)"));
    let one = hash("enum T { A, B };", "");
    assert_ne!(one, hash("enum T { A, B, C };", ""));
    let list = "struct T { sequence<T> next; long value; };";
    assert_ne!(hash(list, ""), hash("struct T { sequence<T> next; short value; };", ""));
}

/// Values would else change places between two programs that bind.
#[test]
fn two_of_one_type_that_change_places_change_the_hash_wherever_they_stand() {
    type Spelled = fn(&str, &str) -> String;
    let types: [(&str, Spelled); 5] = [
        ("members", |a, b| format!("struct T {{ long {a}; long {b}; }};")),
        ("cases", |a, b| {
            format!("union T switch (char) {{ case 'a': long {a}; case 'b': long {b}; }};")
        }),
        ("enumerators", |a, b| format!("enum T {{ {a}, {b} }};")),
        ("flags", |a, b| format!("bitmask T {{ {a}, {b} }};")),
        ("bit fields", |a, b| format!("bitset T {{ bitfield<3> {a}; bitfield<3> {b}; }};")),
    ];
    let operations: [(&str, Spelled); 3] = [
        ("parameters", |a, b| format!("interface I {{ void f(in long {a}, in long {b}); }};")),
        ("members of an exception", |a, b| {
            format!(
                "exception X {{ long {a}; long {b}; }}; interface I {{ void f() raises (X); }};"
            )
        }),
        ("exceptions", |a, b| {
            let each = ["x", "y", "z"].map(|name| format!("exception {name} {{ long m; }}; "));
            format!("{} interface I {{ void f() raises ({a}, {b}); }};", each.concat())
        }),
    ];
    let check = |what: &str, text: &dyn Fn(&str, &str) -> String| {
        let hash = |a, b| planned(&text(a, b)).procedures[0].hash;
        assert_eq!(hash("x", "y"), hash("x", "y"), "{what}");
        assert_ne!(hash("x", "y"), hash("y", "x"), "{what} that change places");
        assert_ne!(hash("x", "y"), hash("z", "y"), "{what} with another name");
    };
    for (what, spelled) in types {
        check(what, &|a, b| format!("{} interface I {{ void f(in T t); }};", spelled(a, b)));
    }
    for (what, spelled) in operations {
        check(what, &spelled);
    }
}

#[test]
fn another_label_or_value_changes_the_hash() {
    let hash = |before: &str| {
        planned(&format!("{before} interface I {{ void f(in T a); }};")).procedures[0].hash
    };
    let pairs = [
        ("enum T { A, @value(5) B };", "enum T { A, @value(6) B };"),
        ("bitmask T { A, @position(5) B };", "bitmask T { A, @position(6) B };"),
        (
            "bitset T { bitfield<1> a; bitfield<2>; bitfield<3> b; };",
            "bitset T { bitfield<2> a; bitfield<1>; bitfield<3> b; };",
        ),
        (
            "union T switch (long) { case 1: long a; case 2: long b; };",
            "union T switch (long) { case 2: long a; case 1: long b; };",
        ),
        (
            "enum E { A, B }; union T switch (E) { case A: long a; case B: long b; };",
            "enum E { A, B }; union T switch (E) { case B: long a; case A: long b; };",
        ),
        (
            "enum E { A, B }; union T switch (E) { case A: long a; case B: long b; };",
            "enum E { B, A }; union T switch (E) { case B: long a; case A: long b; };",
        ),
    ];
    for (one, other) in pairs {
        assert_ne!(hash(one), hash(other), "{one} {other}");
    }
}

/// The one interface of a .proto file that passes `M` both ways.
fn planned_of_proto(fields: &str, values: &str) -> InterfacePlan {
    let text = format!(
        "syntax = \"proto3\"; message M {{ {fields} }} enum E {{ {values} }} \
         service S {{ rpc F(M) returns (M); }}"
    );
    plan(&model_of("a.proto", &text)).interfaces.remove(0)
}

/// There a name may change, as Protocol Buffers have it.
#[test]
fn of_a_proto_file_the_numbers_are_in_the_hash_in_place_of_names() {
    let hash = |fields, values| planned_of_proto(fields, values).hash;
    let one = hash("int32 a = 1; int32 b = 2; oneof c { E d = 3; E e = 4; }", "X = 0; Y = 1;");
    for (fields, values) in [
        ("int32 b = 1; int32 z = 2; oneof y { E x = 3; E w = 4; }", "Y = 0; Z = 1;"),
        ("oneof c { E e = 4; E d = 3; } int32 b = 2; int32 a = 1;", "X = 0; Y = 1;"),
        ("int32 a = 1; int32 b = 2; oneof c { E d = 3; E e = 4; }", "X = 0; Z = 2; A = -1;"),
    ] {
        assert_eq!(one, hash(fields, values), "{fields} {values}");
    }
    for fields in [
        "int32 a = 1; int32 b = 5; oneof c { E d = 3; E e = 4; }",
        "int32 a = 1; int32 b = 2; oneof c { E d = 3; E e = 5; }",
        "int32 a = 1; int32 b = 2; oneof c { E d = 3; E e = 4; E f = 5; }",
        "int32 a = 1; int32 b = 2; oneof c { int32 d = 3; E e = 4; }",
        "int32 a = 1; int32 b = 2; E d = 3; E e = 4;",
        "int32 a = 1; int64 b = 2; oneof c { E d = 3; E e = 4; }",
        "int32 a = 1; int32 b = 2;",
    ] {
        assert_ne!(one, hash(fields, "X = 0; Y = 1;"), "{fields}");
    }
}

/// Whatever the order of the file, fields are in that of their numbers, those of oneofs among them.
#[test]
fn of_a_proto_file_the_list_of_a_message_grows_by_a_higher_number() {
    let list = |fields| {
        let appendables = planned_of_proto(fields, "X = 0;").appendables;
        let [plan] = &appendables[..] else {
            panic!("only the message has a list: {appendables:?}")
        };
        plan.hashes.clone()
    };
    let old = list("E b = 4; oneof c { int32 d = 9; int32 e = 2; } M m = 1;");
    assert_eq!(old.len(), 5);
    for fields in [
        "repeated M z = 12; M m = 1; oneof c { int32 e = 2; int32 d = 9; } E b = 4;",
        "M m = 1; oneof z { int32 e = 2; E f = 12; int32 d = 9; } E b = 4;",
        "M m = 1; oneof z { int32 e = 2; int32 d = 9; } oneof y { E f = 12; } E b = 4;",
    ] {
        let grown = list(fields);
        assert_eq!((&grown[..5], grown.len()), (&old[..], 6), "{fields}");
    }
    let alike = |fields| {
        let new = list(fields);
        old.iter().zip(&new).take_while(|(old, new)| old == new).count()
    };
    // The first is of the name, and where the numbers 1, 2 and 4 are as before, three more are.
    assert_eq!(alike("M m = 1; oneof c { int32 e = 2; int32 d = 9; } E z = 3; E b = 4;"), 3);
    assert_eq!(alike("M m = 1; oneof c { int32 e = 2; E f = 7; int32 d = 9; } E b = 4;"), 4);
    assert_eq!(alike("M m = 1; oneof c { int32 e = 2; int32 d = 9; } E b = 4; E z = 7;"), 4);
}

/// A value that one version has in a oneof and the other beside it, or in another one, would be
/// lost: neither list begins with the other.
#[test]
fn of_a_proto_file_a_field_that_leaves_its_oneof_is_another_one() {
    let list = |fields| planned_of_proto(fields, "X = 0;").appendables[0].hashes.clone();
    for (old, new) in [
        (
            "int32 a = 1; oneof o { E b = 2; E c = 3; }",
            "int32 a = 1; oneof o { E b = 2; } E c = 3;",
        ),
        (
            "oneof o { E a = 1; E x = 5; } oneof p { E b = 2; }",
            "oneof o { E a = 1; } oneof p { E b = 2; E x = 5; }",
        ),
        ("oneof o { E a = 1; } E b = 2;", "E a = 1; E b = 2;"),
        // Two versions that were both made of `E a = 1; oneof o { E b = 2; }`.
        ("E a = 1; oneof o { E b = 2; } E c = 3;", "E a = 1; oneof o { E b = 2; int32 c = 3; }"),
    ] {
        let (before, now) = (list(old), list(new));
        assert_eq!(before[0], now[0]);
        assert!(before.iter().zip(&now).any(|(before, now)| before != now), "{old} | {new}");
    }
}

#[test]
fn an_operation_that_moves_changes_the_interface() {
    let one = planned("interface I { void f(); void g(in long a); };");
    let other = planned("interface I { void g(in long a); void f(); };");
    assert_ne!(one.hash, other.hash);
    assert_eq!(one.procedures[0].hash, other.procedures[1].hash);
}

#[test]
fn a_post_borrows_nothing_that_the_procedure_changes() {
    let model = modelled(
        "typedef sequence<octet> O; interface I { long f(inout long a, inout string b, in long c, \
         out short d, @opaque inout O e); void g(@opaque out O a); };",
    );
    let interface = plan(&model).interfaces.remove(0);
    let (_, _, declared) = model.interfaces().next().expect("there is one");
    let posted: Vec<ProcedurePlan> = interface
        .procedures
        .iter()
        .zip(&declared.operations)
        .map(|(plan, operation)| plan.posted(&model, operation))
        .collect();
    let passed: Vec<Passing> = posted[0].arguments.iter().map(|one| one.passing).collect();
    assert_eq!(passed, [Passing::Value, Passing::Shared, Passing::Value, Passing::Lent]);
    let changed = [0, 1, 3, 4].map(Root::Parameter);
    assert_eq!(posted[0].results, [&[Root::Returned][..], &changed].concat());
    assert!(posted[1].arguments.is_empty());
    assert_eq!(posted[1].results, [Root::Parameter(0)]);
    for (posted, plan) in posted.iter().zip(&interface.procedures) {
        assert_eq!(posted.client.request, plan.client.request);
        let borrows =
            |step: &Step| matches!(step, Step::Store { .. } | Step::Take { copy: Copy::Into, .. });
        assert!(!posted.client.reply.iter().any(borrows));
    }
}

/// What is brief of some operations, in their order.
fn briefs(operations: &str) -> Vec<Option<Brief>> {
    let model = modelled(&format!(
        "struct Wide {{ uint64 at[7]; }}; struct Couple {{ long a; double b; }};
         typedef octet Tile[16]; typedef sequence<long> Longs; typedef sequence<octet, 8> Few;
         exception No {{ long why; }};
         interface I {{ {operations} }};"
    ));
    plan(&model).interfaces[0].procedures.iter().map(ProcedurePlan::brief).collect()
}

#[test]
fn words_are_brief() {
    let briefs = briefs(
        "void null();
         Couple both(in Couple given, inout boolean yes, out char letter);
         void most(in uint64 a, in uint64 b, in uint64 c, in uint64 d, in uint64 e,
                   in uint64 f);
         void more(in uint64 a, in uint64 b, in uint64 c, in uint64 d, in uint64 e,
                   in uint64 f, in octet g);
         oneway void away();",
    );
    let of = |brief: &Brief| {
        let results = brief.results.as_ref().map(Vec::len);
        (brief.arguments.len(), brief.request_bytes, results, brief.reply_bytes)
    };
    let counted: Vec<_> = briefs.iter().map(|brief| brief.as_ref().map(of)).collect();
    assert_eq!(counted[0], Some((0, 0, Some(0), 0)));
    assert_eq!(counted[1].map(|both| (both.0, both.2)), Some((3, Some(4))));
    assert_eq!(counted[2], Some((6, 48, Some(0), 0)));
    assert_eq!(counted[3], Some((7, 49, Some(0), 0)));
    assert_eq!(counted[4], None);
}

#[test]
fn blocks_and_one_payload_of_elements_or_text_are_brief() {
    let briefs = briefs(
        "Tile turn(in Tile tile);
         long write(in long handle, inout long pos, in long len, in Longs words);
         void few(in Few octets);
         void told(in string<8> given);
         void two(in Few octets, in string given);
         void wide(in wstring<8> given);
         void arrays(in Wide given);",
    );
    let block = |items: &[BriefItem]| items[0].kind;
    let turn = briefs[0].as_ref().expect("it is of blocks");
    assert_eq!(block(&turn.arguments), BriefKind::Block(16));
    assert_eq!(turn.results.as_deref().map(block), Some(BriefKind::Block(16)));
    let payload = |brief: &Option<Brief>| {
        let payload = brief.as_ref().and_then(|brief| brief.payload.clone());
        payload.map(|payload| (payload.is_text, payload.at, payload.width, payload.bound))
    };
    assert_eq!(payload(&briefs[1]), Some((false, 16, 4, None)));
    assert_eq!(payload(&briefs[2]), Some((false, 8, 1, Some(8))));
    assert_eq!(payload(&briefs[3]), Some((true, 8, 1, Some(8))));
    assert_eq!(briefs[4..6], [None, None]);
    let arrays = briefs[6].as_ref().expect("it is of one block");
    assert_eq!((block(&arrays.arguments), arrays.request_bytes), (BriefKind::Block(56), 56));
}

#[test]
fn what_comes_back_is_brief_if_it_is_words_and_blocks() {
    let briefs = briefs(
        "long failing(in long a) raises (No);
         Longs read(in long count);
         void room(out Wide there, in long a);",
    );
    let results = |brief: &Option<Brief>| brief.as_ref().map(|brief| brief.results.is_some());
    let all: Vec<_> = briefs.iter().map(results).collect();
    assert_eq!(all, [Some(true), Some(false), Some(true)]);
}

#[test]
fn structs_of_numbers_without_gaps_are_plain() {
    let footprint = |text: &str| {
        let model = modelled(&format!("struct P {{ double x; double y; }}; {text}"));
        let last = DeclarationId(model.declarations.len() as u32 - 1);
        let found = plan(&model).footprint(&model, &Type::Named(last));
        found.map(|found| (found.bytes, found.align))
    };
    assert_eq!(footprint("struct T { P a[3]; long b; float c; };"), Some((56, 8)));
    assert_eq!(footprint("struct T { octet a[3]; octet b; long double c; };"), Some((20, 1)));
    assert_eq!(footprint("typedef P T[2][2];"), Some((64, 8)));
    let others = [
        "struct T { octet a; long b; };",
        "struct T { P a; long b; };",
        "struct T { boolean a; };",
        "struct T { wchar a; };",
        "struct T { @max(5) long a; };",
        "struct T { @optional long a; };",
        "struct T { sequence<long> a; };",
        "struct T { string a; };",
        "struct T { };",
        "@appendable struct T { long a; };",
        "enum T { A, B };",
        "bitmask T { a, b };",
        "union T switch (long) { case 1: long a; };",
    ];
    for text in others {
        assert_eq!(footprint(text), None, "{text}");
    }
}

#[test]
fn of_a_circle_only_what_is_external_lies_elsewhere() {
    let model = modelled(
        "struct Leaf { long number; }; struct Node; struct Later;
         union Link switch (boolean) { case TRUE: @external Node to; };
         struct Node {
             Link up; @optional @external Node next; @external Leaf own; @external Later third;
         };
         struct Later { long number; };
         interface I { void f(in Node given); };",
    );
    let of = |name: &str| {
        let plans = plan(&model).types.into_iter();
        let mut plans = plans.filter(|plan| model.declaration(plan.id).name.0 == [name]);
        let members = plans.next().expect("it is planned").members.into_iter();
        members.map(|member| member.is_boxed).collect::<Vec<_>>()
    };
    assert_eq!(of("Link"), [true]);
    assert_eq!(of("Node"), [false, true, false, false]);
}

#[test]
fn times_are_those_of_protocol_buffers_alone() {
    let times = |path: &str, text: &str| {
        let types = plan(&model_of(path, text)).types;
        types.iter().map(|one| one.time).collect::<Vec<_>>()
    };
    let head = "syntax = \"proto3\";\n";
    let import = |own: &str| format!("import \"google/protobuf/{own}.proto\";\n");
    let imports = ["duration", "timestamp", "field_mask"].map(import).concat();
    let used = "message A { google.protobuf.Timestamp at = 1; google.protobuf.Duration long = 2; \
                google.protobuf.FieldMask mask = 3; }";
    let mut found = times("a.proto", &format!("{head}{imports}{used}"));
    found.retain(Option::is_some);
    assert_eq!(found, [Some(Time::Duration), Some(Time::Timestamp)]);
    // Others of that name, and those members under other names.
    let own = format!("{head}package google.protobuf;\n");
    for members in [
        "int64 seconds = 1; int32 nanos = 2; bool leap = 3;",
        "int64 seconds = 1; int64 nanos = 2;",
        "int64 seconds = 1; optional int32 nanos = 2;",
        "int32 nanos = 1; int64 seconds = 2;",
        "",
    ] {
        let text = format!("{own}message Timestamp {{ {members} }}");
        assert_eq!(times("a.proto", &text), [None], "{members}");
    }
    let elsewhere = "package acme;\nmessage Timestamp { int64 seconds = 1; int32 nanos = 2; }";
    assert_eq!(times("a.proto", &format!("{head}{elsewhere}")), [None]);
    let idl = "module google { module protobuf { \
               struct Timestamp { long long seconds; long nanos; }; }; };";
    assert_eq!(times("a.idl", idl), [None]);
}
