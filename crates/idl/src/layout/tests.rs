//! Facts of the layout, each from a small interface file.

use std::path::Path;

use super::*;
use crate::front::compile_from;
use crate::front::options::Options;
use crate::front::preprocessor::files::InMemory;
use crate::source::SourceMap;

/// The layout of the first interface of a file.
fn layout(text: &str) -> InterfaceLayout {
    let model = model(text);
    let (_, _, first) = model.interfaces().next().expect("there is an interface");
    interface(&model, first)
}

fn model(text: &str) -> Model {
    let mut files = InMemory::default();
    files.insert("a.idl", text);
    let mut sources = SourceMap::default();
    let compilation = compile_from(&files, Path::new("a.idl"), &Options::default(), &mut sources);
    compilation.model.unwrap_or_else(|| panic!("{:?}", compilation.diagnostics))
}

/// Offsets of the whole roots of a message, by parameter.
fn offsets(message: &MessageLayout) -> Vec<(Root, u32)> {
    let mut offsets: Vec<(Root, u32)> =
        message.items.iter().map(|item| (item.place.root, item.at)).collect();
    offsets.sort();
    offsets
}

#[test]
fn words_lie_in_falling_width_without_a_gap() {
    let layout =
        layout("interface I { void f(in octet a, in long long b, in short c, in long d); };");
    let request = &layout.operations[0].request;
    let parameter = Root::Parameter;
    let want = [(parameter(0), 14), (parameter(1), 0), (parameter(2), 12), (parameter(3), 8)];
    assert_eq!(offsets(request), want);
    assert_eq!((request.fixed_bytes, request.variable_at), (15, 16));
}

#[test]
fn inout_words_lie_at_the_same_place_of_both_messages() {
    let layout =
        layout("interface I { octet f(in double a, inout octet b, inout string c, out long d); };");
    let [request, reply] = [&layout.operations[0].request, &layout.operations[0].reply];
    let inout = [Root::Parameter(1), Root::Parameter(2)];
    let both = |message| -> Vec<(Root, u32)> {
        offsets(message).into_iter().filter(|(root, _)| inout.contains(root)).collect()
    };
    assert_eq!(both(request), both(reply));
    assert_eq!(both(request), [(Root::Parameter(1), 4), (Root::Parameter(2), 0)]);
}

#[test]
fn the_gap_behind_the_inout_words_is_filled() {
    let layout =
        layout("interface I { void f(inout octet a, in double b, in octet c, in short d); };");
    let request = &layout.operations[0].request;
    assert_eq!(request.fixed_bytes, 16);
    let places: Vec<u32> = offsets(request).into_iter().map(|(_, at)| at).collect();
    assert_eq!(places, [0, 8, 1, 2]);
}

#[test]
fn a_lent_payload_never_begins_in_the_head() {
    let layout = layout(
        "typedef sequence<octet> O; interface I { \
         void small(in O a); void lent(@opaque in O a); long got(@opaque out O a); };",
    );
    let at = |index: usize| layout.operations[index].request.variable_at;
    assert_eq!((at(0), at(1)), (8, 48));
    assert_eq!(layout.operations[2].reply.variable_at, 48);
    assert_eq!(layout.operations[2].lent_result, Some(Root::Parameter(0)));
}

#[test]
fn the_lent_result_is_the_first_payload() {
    let layout = layout(
        "typedef sequence<octet> O; interface I { string f(out string a, @opaque out O b); };",
    );
    let payloads = &layout.operations[0].reply.payloads;
    let roots: Vec<Root> = payloads.iter().map(|payload| payload.place.root).collect();
    assert_eq!(roots, [Root::Parameter(1), Root::Returned, Root::Parameter(0)]);
}

#[test]
fn a_struct_of_64_scalars_is_taken_apart_and_one_of_65_is_not() {
    let file = |count: usize| {
        let members: String = (0..count).map(|index| format!("long m{index}; ")).collect();
        format!("struct S {{ {members} }}; interface I {{ void f(in S s); }};")
    };
    assert_eq!(layout(&file(64)).operations[0].request.items.len(), 64);
    let request = &layout(&file(65)).operations[0].request;
    assert_eq!(request.items.len(), 1);
    assert_eq!(request.items[0].kind, ItemKind::Image { bytes: 260 });
}

#[test]
fn a_block_past_the_largest_a_stack_becomes_a_payload() {
    let layout = layout(
        "typedef octet Small[1000]; typedef octet Large[1048576]; \
         interface I { void f(in Large a, in Small b); void g(in Small a); };",
    );
    let request = &layout.operations[0].request;
    assert_eq!(request.payloads.len(), 1);
    assert_eq!(request.payloads[0].place, Place::whole(Root::Parameter(0)));
    assert_eq!(request.payloads[0].form, Form::Marshalled);
    assert_eq!(layout.operations[1].request.payloads, []);
}

#[test]
fn classes_are_whole_lines_shared_and_in_order_of_size() {
    let layout = layout(
        "typedef octet Past[49]; interface I { void a(in string s); void b(in Past p); void c(); \
         @astack(count = 7) void d(in wstring s); void e(in string<30> s); };",
    );
    let blocks: Vec<(u32, u32)> =
        layout.classes.iter().map(|class| (class.block_bytes, class.count)).collect();
    assert_eq!(blocks, [(0, 5), (64, 5), (2048, 7)]);
    let classes: Vec<u8> = layout.operations.iter().map(|one| one.class).collect();
    assert_eq!(classes, [2, 1, 0, 2, 0]);
}

#[test]
fn a_typical_length_decides_what_lies_on_the_a_stack() {
    let block = |operation: &str| {
        let types = "struct Pair { string a; sequence<long> b; };";
        let layout = layout(&format!("{types} interface I {{ {operation} }};"));
        layout.classes[usize::from(layout.operations[0].class)].block_bytes
    };
    let cases = [
        ("void f(in string s);", 2048),
        ("void f(@typical(100) in string s);", 64),
        ("void f(@typical(60000) in string s);", 65536),
        // Its bound, if that is less.
        ("void f(@typical(60000) in string<100> s);", 64),
        ("void f(@typical(20) in string s, @typical(20) in string t);", 64),
        // What is said of one is not of others.
        ("void f(@typical(20) in string s, in string t);", 2048),
        ("void f(@typical(700) in string s, in string t);", 4096),
        ("void f(@typical(200) in Pair p);", 256),
        ("@typical(9000) string f(in string s);", 16384),
        ("@typical(9000) attribute string f;", 16384),
        ("void f(@typical(1048576) in string s, @typical(1048576) in string t);", 1 << 20),
    ];
    for (operation, bytes) in cases {
        assert_eq!(block(operation), bytes, "{operation}");
    }
    let attribute = layout("interface I { @typical(9000) attribute string f; };");
    assert_eq!(attribute.operations[0].class, attribute.operations[1].class);
}

/// Class and block of each procedure.
fn classed(layout: &InterfaceLayout) -> Vec<(u8, u32)> {
    let class = |one: &OperationLayout| layout.classes[usize::from(one.class)].block_bytes;
    layout.operations.iter().map(|one| (one.class, class(one))).collect()
}

#[test]
fn what_waits_for_an_exchange_shares_no_class_with_others() {
    let layout = layout(
        "interface I { @astack(count = 9) @feed string a(@feed in string s); void b(in string s); \
         @feed string c(in string s); @feed octet d(@feed in string s); };",
    );
    let counts: Vec<u32> = layout.classes.iter().map(|class| class.count).collect();
    assert_eq!(counts, [9, 9, 9, 5]);
    let classes = classed(&layout);
    let [open, next, put, end] = [0, 1, 2, 3].map(|index| classes[index]);
    assert_eq!([open, end], [(0, 0); 2]);
    // Those of `b` and of a feed to one side.
    assert_eq!(classes[4..7], [(3, 2048); 3]);
    assert_eq!([next, put], [(1, 2048), (2, 2048)]);
    assert_eq!(classes[7..], [open, next, put, end]);
}

#[test]
fn the_smallest_classes_are_joined_where_there_are_too_many() {
    let mut text = String::from("interface I { void none(); @feed octet f(@feed in octet s); ");
    let sizes: Vec<u32> = (6..=20).map(|bits| 1 << bits).collect();
    for bytes in &sizes {
        text += &format!("@astack(bytes = {}) void of_{bytes}(in string s);", bytes - 8);
    }
    let layout = layout(&(text + "};"));
    assert_eq!(layout.classes.len(), nearcall_abi::message::CLASSES_MAX);
    let classes = classed(&layout);
    let least = [0, 0, 0, 0, 0].into_iter().chain(sizes);
    for ((_, block_bytes), least) in classes.iter().zip(least) {
        assert!(*block_bytes >= least, "{block_bytes} bytes, {least} at least");
    }
    // Nothing, and those of 64 and 128 bytes.
    let joined = [0, 1, 4, 5, 6].map(|index| classes[index]);
    assert_eq!(joined, [(0, 128), (0, 128), (0, 128), (0, 128), (0, 128)]);
}

#[test]
fn an_interface_without_a_procedure_can_still_be_bound() {
    let layout = layout("interface I {};");
    assert_eq!(layout.classes, [AStackClass { block_bytes: 0, count: 1 }]);
}

#[test]
fn sizes_of_marshalled_values_are_known() {
    let model = model(
        "struct Empty {}; struct Plain { boolean a; long b[2]; Empty c; }; \
         struct Bounded { string<10> a; @optional Plain b; }; struct Open { sequence<Plain> a; }; \
         struct Tree; typedef sequence<Tree> Trees; struct Tree { Trees below; Plain value; };",
    );
    let named = |name: &str| {
        let mut all = model.declarations.iter();
        let index = all.position(|one| one.name.0 == [name]).expect("it is declared");
        DeclarationId(index as u32)
    };
    let sizes = |name: &str| {
        let declared = crate::model::Type::Named(named(name));
        let least = declared_bytes_min(&model, named(name));
        (fixed_bytes(&model, &declared), least, bytes_max(&model, &declared))
    };
    assert_eq!(sizes("Empty"), (Some(1), 1, Some(1)));
    assert_eq!(sizes("Plain"), (Some(10), 10, Some(10)));
    assert_eq!(sizes("Bounded"), (None, 5, Some(25)));
    assert_eq!(sizes("Open"), (None, 4, None));
    assert_eq!(sizes("Tree"), (None, 1, None));
}

/// The bytes that stand for each member of the struct `S`.
fn missing_of(text: &str) -> Vec<Vec<u8>> {
    let model = model(text);
    let ids = (0..model.declarations.len() as u32).map(DeclarationId);
    let mut ids = ids.filter(|id| model.declaration(*id).name.to_string() == "S");
    let all = members(&model, ids.next().expect("there is an S"));
    all.into_iter().map(|member| missing(&model, member).expect("it is short")).collect()
}

#[test]
fn an_appendable_struct_is_a_payload_whose_layout_no_member_changes() {
    let operation = "interface I { void f(in S s, in long n); sequence<S> g(); };";
    let of = |members: &str| layout(&format!("@appendable struct S {{ {members} }}; {operation}"));
    let (small, large) = (of("octet a;"), of("octet a; string<9> b; double c[500];"));
    assert_eq!(small, large);
    let payload = &small.operations[0].request.payloads[0];
    assert_eq!((payload.form, payload.bound), (Form::Marshalled, None));
    let model = model("@appendable struct S { double a; }; struct T { S s; octet b; };");
    let bytes = |index| declared_bytes_min(&model, DeclarationId(index));
    assert_eq!((bytes(0), bytes(1)), (4, 5));
    assert_eq!(bytes_max(&model, &crate::model::Type::Named(DeclarationId(1))), None);
}

#[test]
fn what_is_missing_is_the_default_and_in_its_range() {
    let found = missing_of(
        "enum E { A, @default_literal B }; @max(-3) typedef short Low; \
         @default(4) typedef octet O; \
         struct S { @default(7) octet a; O b; @default(5) O c; Low d; E e; @optional long f; \
         @default(\"no\") string g; sequence<long> h; octet i[2][2]; @default('x') char j; \
         @min(1.5) float k; @default(TRUE) boolean l; };",
    );
    let want: [&[u8]; 12] = [
        &[7],
        &[4],
        &[5],
        &[0xfd, 0xff],
        &[1, 0, 0, 0],
        &[0],
        &[2, 0, 0, 0, b'n', b'o'],
        &[0; 4],
        &[0; 4],
        b"x",
        &[0, 0, 0xc0, 0x3f],
        &[1],
    ];
    assert_eq!(found, want);
}

#[test]
fn a_default_ends_even_where_types_hold_themselves() {
    let found = missing_of(
        "struct S; union U switch (octet) { case 0: @external S again; case 1: long end; }; \
         @appendable struct S { U first; octet last; };",
    );
    // The case of 0 would hold an S, which would hold the same U.
    assert_eq!(found, [vec![1, 0, 0, 0, 0], vec![0]]);
}

/// The bytes of a union whose cases with labels hold the struct that it is a member of.
fn end_of(discriminator: &str, cases: &str) -> Vec<u8> {
    let mut found = missing_of(&format!(
        "struct S; enum E {{ A, B, C }}; union U switch ({discriminator}) {{ {cases} }}; \
         @appendable struct S {{ U first; }};"
    ));
    found.remove(0)
}

#[test]
fn a_default_ends_in_a_case_without_a_label() {
    let other = "default: octet end;";
    let again = "@external S again;";
    assert_eq!(end_of("octet", &format!("case 0: {again} {other}")), [1, 0]);
    assert_eq!(end_of("octet", &format!("case 0: case 1: {again}")), [2]);
    assert_eq!(end_of("boolean", &format!("case FALSE: {again} {other}")), [1, 0]);
    assert_eq!(end_of("char", &format!("case '\\0': {again} {other}")), [1, 0]);
    assert_eq!(end_of("E", &format!("case A: case B: {again}")), [2, 0, 0, 0]);
    let labels: String = (0..128).map(|label| format!("case {label}: ")).collect();
    assert_eq!(end_of("int8", &format!("{labels} {again} {other}")), [0x80, 0]);
}

#[test]
fn a_value_takes_memory_for_all_that_lies_in_it_and_a_handle_for_what_does_not() {
    let model = model(
        "struct Names { string all[1000]; }; \
         struct Wide { octet bytes[100000]; @optional Names names; }; \
         union Either switch (boolean) { case TRUE: Names names; case FALSE: long count; }; \
         struct Tree; typedef sequence<Tree> Trees; struct Tree { Trees below; long value; };",
    );
    let bytes = |name: &str| {
        let mut all = model.declarations.iter();
        let index = all.position(|one| one.name.0 == [name]).expect("it is declared");
        memory_bytes(&model, &crate::model::Type::Named(DeclarationId(index as u32)))
    };
    assert_eq!(bytes("Names"), 48_008);
    assert_eq!(bytes("Wide"), 8 + 100_000 + 48_008 + 8);
    assert_eq!(bytes("Either"), 16 + 48_008);
    assert_eq!(bytes("Tree"), 8 + 48 + 8);
}
