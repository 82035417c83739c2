//! What files mean: facts about the model that the resolver makes.

use std::path::Path;

use nearcall_idl::back::LANGUAGES;
use nearcall_idl::front::compile_from;
use nearcall_idl::front::options::Options;
use nearcall_idl::front::preprocessor::files::InMemory;
use nearcall_idl::model::{
    AStackWish, AttributeHalf, Declaration, DeclarationId, Direction, Kind, Model, Primitive, Type,
    UnionDefault, Value,
};
use nearcall_idl::source::SourceMap;

fn model_of(files: &[(&str, &str)]) -> Model {
    let memory = InMemory::of(files);
    let mut sources = SourceMap::default();
    let path = Path::new(files[0].0);
    let compilation = compile_from(&memory, path, &Options::default(), &mut sources);
    compilation.model.unwrap_or_else(|| panic!("{:?}", compilation.diagnostics))
}

fn model(text: &str) -> Model {
    model_of(&[("a.idl", text)])
}

fn find<'m>(model: &'m Model, name: &str) -> &'m Declaration {
    let mut all = model.declarations.iter();
    all.find(|one| one.name.to_string() == name).unwrap_or_else(|| panic!("no {name}"))
}

fn names(model: &Model) -> Vec<String> {
    model.declarations.iter().map(|one| one.name.to_string()).collect()
}

fn value(model: &Model, name: &str) -> Value {
    match &find(model, name).kind {
        Kind::Constant(constant) => constant.value.clone(),
        other => panic!("{name} is {other:?}"),
    }
}

fn operations(model: &Model, name: &str) -> Vec<String> {
    match &find(model, name).kind {
        Kind::Interface(interface) => {
            interface.operations.iter().map(|operation| operation.name.clone()).collect()
        }
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn a_forward_declaration_is_one_entry_where_it_is_defined() {
    let model = model("struct A; typedef sequence<A> As; struct A { As more; };");
    assert_eq!(names(&model), ["As", "A"]);
    let Kind::Alias(Type::Sequence { element, .. }) = &find(&model, "As").kind else { panic!() };
    assert_eq!(**element, Type::Named(DeclarationId(1)));
}

#[test]
fn what_is_defined_inside_stands_before_what_it_stands_in() {
    let model = model("module M { interface I { struct S { long a; }; void op(in S s); }; };");
    assert_eq!(names(&model), ["M::I::S", "M::I"]);
}

#[test]
fn operations_of_bases_come_first_and_once() {
    let model = model(
        "interface A { void a(); }; interface B : A { void b(); };
         interface C : A { attribute long c; void d(); };
         interface D : B, C { readonly attribute long e; };",
    );
    let want = ["a", "b", "_get_c", "_set_c", "d", "_get_e"];
    assert_eq!(operations(&model, "D"), want);
    let Kind::Interface(interface) = &find(&model, "D").kind else { panic!() };
    let declared_in = model.declaration(interface.operations[2].declared_in);
    assert_eq!(declared_in.name.to_string(), "C");
    assert_eq!(interface.operations[3].attribute, Some(AttributeHalf::Setter));
    assert_eq!(interface.operations[3].parameters[0].name, "value");
}

#[test]
fn an_operation_is_as_it_is_written() {
    let model = model(
        "exception X { long a; }; typedef sequence<octet> Bytes;
         interface I {
             /// Does it.
             @idempotent @leaf @astack(count = 2, bytes = 9)
             @opaque Bytes op(in long a, inout string b, @opaque out Bytes c) raises(X);
             @oneway void quiet();
         };",
    );
    let Kind::Interface(interface) = &find(&model, "I").kind else { panic!() };
    let operation = &interface.operations[0];
    assert_eq!(operation.doc.as_deref().map(str::trim), Some("Does it."));
    assert!(operation.is_idempotent && operation.is_leaf && operation.returns_opaque);
    assert_eq!(operation.astack, AStackWish { count: Some(2), bytes: Some(9) });
    let directions: Vec<Direction> = operation.parameters.iter().map(|p| p.direction).collect();
    assert_eq!(directions, [Direction::In, Direction::Inout, Direction::Out]);
    let opaque: Vec<bool> = operation.parameters.iter().map(|p| p.is_opaque).collect();
    assert_eq!(opaque, [false, false, true]);
    assert_eq!(operation.raises, [DeclarationId(0)]);
    assert!(interface.operations[1].is_oneway && !operation.is_oneway);
}

#[test]
fn midl_has_two_names_for_memory_of_a_client() {
    let model = model(
        "[version(1.0)] interface I {
             typedef enum { LOW, HIGH } level;
             typedef struct { long at; level how; } point;
             void e([in] long n, [out, prealloc, size_is(n)] point *a);
             void f([in] long n, [out, prealloc, size_is(n)] long *a,
                    [out, prealloc_client, string] char **b, [out, string] char **c,
                    [out, prealloc_server, string] char **d);
             [prealloc, string] char *g([in] long n);
             [prealloc_client, string] char *h([in] long n);
             [string] char *i([in] long n);
             [prealloc_client, prealloc, string] char *j([in] long n,
                    [out, prealloc, prealloc_client, string] char **a);
         }",
    );
    let Kind::Interface(interface) = &find(&model, "I").kind else { panic!() };
    assert!(interface.operations[5].parameters[1].is_prealloc);
    let parameters = interface.operations[..2].iter().flat_map(|one| &one.parameters);
    let memory: Vec<bool> = parameters.map(|one| one.is_prealloc).collect();
    assert_eq!(memory, [false, true, false, true, true, false, false]);
    let memory: Vec<bool> = interface.operations.iter().map(|one| one.returns_prealloc).collect();
    assert_eq!(memory, [false, false, true, true, false, true]);
}

#[test]
fn constants_have_the_values_of_clause_7_4_1_4_3() {
    let model = model(
        "const long A = -7 / 2; const long B = -7 % 2; const octet C = ~0xF0;
         const unsigned long D = ~0; const short E = ~0; const long F = 1 | 2 ^ 3 & 4 << 1;
         const double G = 1.5 * -2; const string H = \"a\" \"b\"; const boolean I = TRUE;
         enum K { X, Y }; const K L = Y; const char M = 'm';",
    );
    let number = |name: &str| match value(&model, name) {
        Value::Integer(value) => value,
        other => panic!("{other:?}"),
    };
    assert_eq!(["A", "B", "C", "D", "E", "F"].map(number), [-3, -1, 15, 0xFFFF_FFFF, -1, 3]);
    assert_eq!(value(&model, "G"), Value::Float(-3.0));
    assert_eq!(value(&model, "H"), Value::String("ab".to_owned()));
    assert_eq!(value(&model, "I"), Value::Boolean(true));
    assert_eq!(value(&model, "M"), Value::Char('m'));
    let Value::Enumerator(of, 1) = value(&model, "L") else { panic!() };
    assert_eq!(model.declaration(of).name.to_string(), "K");
}

#[test]
fn a_union_says_what_a_value_without_label_means() {
    let default = |text: &str| match &find(&model(text), "U").kind {
        Kind::Union(union) => union.default,
        other => panic!("{other:?}"),
    };
    let boolean = "union U switch (boolean) { case TRUE: long a;";
    assert_eq!(default(&format!("{boolean} }};")), UnionDefault::Implicit);
    assert_eq!(default(&format!("{boolean} case FALSE: long b; }};")), UnionDefault::Covered);
    assert_eq!(default(&format!("{boolean} default: long b; }};")), UnionDefault::Case(1));
}

#[test]
fn arrays_are_folded_into_the_type() {
    let model = model("typedef long A[2][3], B; struct S { A a[4]; string<5> b; };");
    let long = Box::new(Type::Primitive(Primitive::Int32));
    let array = Type::Array { element: long, dimensions: vec![2, 3] };
    assert_eq!(find(&model, "A").kind, Kind::Alias(array));
    assert_eq!(find(&model, "B").kind, Kind::Alias(Type::Primitive(Primitive::Int32)));
    let Kind::Struct(declared) = &find(&model, "S").kind else { panic!() };
    let want =
        Type::Array { element: Box::new(Type::Named(DeclarationId(0))), dimensions: vec![4] };
    assert_eq!(declared.members[0].declared, want);
    assert_eq!(declared.members[1].declared, Type::String { bound: Some(5) });
}

#[test]
fn enumerators_go_on_from_a_given_value() {
    let model = model("@bit_bound(8) enum E { A, @value(7) B, C };");
    let Kind::Enum(declared) = &find(&model, "E").kind else { panic!() };
    let values: Vec<i64> = declared.enumerators.iter().map(|one| one.value).collect();
    assert_eq!(values, [0, 7, 8]);
    assert_eq!(declared.bit_bound, 8);
}

#[test]
fn bit_fields_stand_one_behind_the_other() {
    let model = model(
        "bitset A { bitfield<3> a; bitfield<2>; bitfield<1> b; };
         bitset B : A { bitfield<9, long> c; };",
    );
    let Kind::Bitset(bitset) = &find(&model, "B").kind else { panic!() };
    let fields: Vec<(&str, u8, u8, Primitive)> = bitset
        .fields
        .iter()
        .map(|field| (&field.name[..], field.position, field.width, field.declared))
        .collect();
    let want = [
        ("a", 0, 3, Primitive::Octet),
        ("b", 5, 1, Primitive::Boolean),
        ("c", 6, 9, Primitive::Int32),
    ];
    assert_eq!(fields, want);
    assert_eq!(bitset.width, 15);
}

#[test]
fn annotations_have_their_defaults_filled_in() {
    let model = model(
        "@annotation Tag {
             string name; long level default 3;
             enum K { ONE, TWO };
             K kind default TWO;
         };
         @Tag(name = \"x\") @autoid struct S { @key @optional long a; @optional(FALSE) long b; };",
    );
    let declared = find(&model, "S");
    let tag = &declared.annotations[0];
    assert_eq!(tag.name, "Tag");
    assert_eq!(tag.parameters["name"], Value::String("x".to_owned()));
    assert_eq!(tag.parameters["level"], Value::Integer(3));
    assert_eq!(tag.parameters["kind"], Value::String("TWO".to_owned()));
    assert_eq!(declared.annotations[1].parameters["value"], Value::String("HASH".to_owned()));
    let Kind::Struct(declared) = &declared.kind else { panic!() };
    assert!(declared.members[0].is_optional && !declared.members[1].is_optional);
    assert_eq!(declared.members[0].annotations[0].parameters["value"], Value::Boolean(true));
    assert_eq!(names(&model), ["S"]);
}

#[test]
fn repository_ids_follow_pragmas() {
    let model = model_of(&[
        (
            "a.idl",
            "#pragma prefix \"acme.com\"
             #include \"b.idl\"
             module M {
                 struct A { long x; };
             #pragma prefix \"inner.org\"
                 struct B { long x; };
                 struct C { long x; };
             #pragma version C 2.7
                 struct D { long x; };
                 typeid D \"LOCAL:d\";
             };
             struct E { long x; };
             typeprefix F \"\";",
        ),
        (
            "b.idl",
            "module F { struct G { long x; }; };
             #pragma prefix \"other\"
             struct H { long x; };",
        ),
    ]);
    let id = |name: &str| find(&model, name).repository_id.clone();
    assert_eq!(id("M::A"), "IDL:acme.com/M/A:1.0");
    assert_eq!(id("M::B"), "IDL:inner.org/M/B:1.0");
    assert_eq!(id("M::C"), "IDL:inner.org/M/C:2.7");
    assert_eq!(id("M::D"), "LOCAL:d");
    assert_eq!(id("E"), "IDL:acme.com/E:1.0");
    assert_eq!(id("F::G"), "IDL:F/G:1.0");
    assert_eq!(id("H"), "IDL:other/H:1.0");
    assert!(find(&model, "H").is_included && !find(&model, "E").is_included);
}

#[test]
fn an_escaped_name_is_the_name_without_its_escape() {
    let model = model("struct _struct { long _long; };");
    let Kind::Struct(declared) = &find(&model, "struct").kind else { panic!() };
    assert_eq!(declared.members[0].name, "long");
}

/// As the examples of DCE have it: an array is a pointer where it is a parameter.
#[test]
fn an_array_of_midl_comes_back_under_any_name() {
    let text = "typedef long ROW[4]; typedef ROW SAME; typedef ROW GRID[2];
                interface i { void f([in, out] ROW a, [out] SAME b, [out] GRID c, [out] ROW *d); }";
    let model = model_of(&[("a.midl", text)]);
    let Kind::Interface(interface) = &find(&model, "i").kind else { panic!() };
    let parameters = interface.operations[0].parameters.iter();
    let ways: Vec<Direction> = parameters.map(|one| one.direction).collect();
    assert_eq!(ways, [Direction::Inout, Direction::Out, Direction::Out, Direction::Out]);
}

#[test]
fn a_file_without_definitions_means_nothing() {
    assert_eq!(model("// nothing\n"), Model::default());
}

#[test]
fn what_a_stub_in_c_has_on_its_stack_is_no_longer_than_that() {
    let model = model(
        "struct Fits { boolean is_key; octet all[65535]; };
         struct Longer { boolean is_key; octet all[65536]; };
         struct Plain { octet all[65537]; };
         interface I {
             @prealloc sequence<Fits> short_ones();
             void long_ones(@prealloc out sequence<Longer> all);
             sequence<Longer> without();
             @prealloc sequence<Plain> plain_ones();
             void whole(in Plain all);
         };",
    );
    let backs = LANGUAGES.iter().filter(|language| ["c", "cpp"].contains(&language.name));
    for back in backs {
        let refused = (back.compile)(&model, "stem").err().unwrap_or_default();
        let places: Vec<_> = refused.iter().map(|one| one.place.as_str()).collect();
        assert_eq!(places, ["I::long_ones", "I::whole"], "{}", back.name);
    }
}
