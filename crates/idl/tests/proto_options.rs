//! Nearcall's own options in .proto files: that they are the annotations of OMG IDL, by the model
//! and by what `nearcall diff` says, and that the file which declares them is what people import.

use std::collections::BTreeSet;
use std::path::Path;

use nearcall_idl::build::PROTO_DIRECTORY;
use nearcall_idl::diagnostic::render;
use nearcall_idl::evolution::compare;
use nearcall_idl::front::compile_from;
use nearcall_idl::front::options::Options;
use nearcall_idl::front::preprocessor::files::InMemory;
use nearcall_idl::model::{Annotation, Kind, Model, Operation};
use nearcall_idl::source::SourceMap;

const IMPORTS: &str = "syntax = \"proto3\";\nimport \"nearcall/options.proto\";\n\
                       import \"google/protobuf/wrappers.proto\";\n";

/// What whoever writes the same interface in OMG IDL declares.
const STATUS: &str = "\
module grpc {
    enum RpcCode { @value(1) CANCELLED };
    exception RpcStatus { RpcCode code; };
};
";

fn compiled(files: &[(&str, &str)]) -> (Option<Model>, String) {
    let memory = InMemory::of(files);
    let mut sources = SourceMap::default();
    let path = Path::new(files[0].0);
    let compilation = compile_from(&memory, path, &Options::default(), &mut sources);
    let said = render::texts(&compilation.diagnostics, &sources, false);
    (compilation.model, said)
}

/// Of a .proto file with all imports.
fn proto(text: &str) -> Model {
    let (model, said) = compiled(&[("a.proto", &format!("{IMPORTS}{text}"))]);
    model.unwrap_or_else(|| panic!("{said}"))
}

fn omg(text: &str) -> Model {
    let (model, said) = compiled(&[("a.idl", &format!("{STATUS}{text}"))]);
    model.unwrap_or_else(|| panic!("{said}"))
}

fn operations(model: &Model) -> Vec<Operation> {
    let interface = model.declarations.iter().find_map(|one| match &one.kind {
        Kind::Interface(interface) => Some(interface.operations.clone()),
        _ => None,
    });
    interface.expect("an interface")
}

/// Annotations of each member of a struct, and of the cases of unions in it.
fn of_members(model: &Model, name: &str) -> Vec<(String, Vec<Annotation>)> {
    let mut found = Vec::new();
    for one in &model.declarations {
        let members: Vec<_> = match &one.kind {
            Kind::Struct(shape) if one.name.to_string() == name => shape.members.iter().collect(),
            Kind::Union(shape) => shape.cases.iter().map(|case| &case.member).collect(),
            _ => continue,
        };
        let ranges = |one: &Annotation| ["range", "min", "max"].contains(&&*one.name);
        found.extend(members.into_iter().map(|member| {
            let ranges = member.annotations.iter().filter(|one| ranges(one)).cloned().collect();
            (member.name.clone(), ranges)
        }));
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

#[test]
fn options_of_procedures_are_the_annotations() {
    let proto = proto(
        "message A {}\nservice S {\n\
         rpc Leaf(A) returns (A) { option (nearcall.leaf) = true; }\n\
         rpc Not(A) returns (A) { option (nearcall.leaf) = false; }\n\
         rpc Count(A) returns (A) { option (nearcall.astack).count = 1024; }\n\
         rpc Both(A) returns (A) { option (nearcall.astack) = {bytes: 600 count: 1}; }\n\
         rpc Typical(A) returns (A) { option (nearcall.request).typical = 1;\n\
           option (nearcall.response).typical = 1048576; }\n\
         rpc Lent(google.protobuf.BytesValue) returns (google.protobuf.BytesValue) {\n\
           option (nearcall.request) = {opaque: true typical: 7};\n\
           option (nearcall.response).opaque = true; }\n\
         rpc Again(A) returns (A) { option idempotency_level = NO_SIDE_EFFECTS; }\n}",
    );
    let omg = omg("@appendable struct A {}; typedef sequence<octet> Octets; interface S {
         @leaf A Leaf(in A request) raises (::grpc::RpcStatus);
         A Not(in A request) raises (::grpc::RpcStatus);
         @astack(count = 1024) A Count(in A request) raises (::grpc::RpcStatus);
         @astack(bytes = 600, count = 1) A Both(in A request) raises (::grpc::RpcStatus);
         @typical(1048576) A Typical(@typical(1) in A request) raises (::grpc::RpcStatus);
         @opaque Octets Lent(@opaque @typical(7) in Octets request) raises (::grpc::RpcStatus);
         @idempotent A Again(in A request) raises (::grpc::RpcStatus);
     };");
    let facts = |one: &Operation| {
        let mut annotations = one.annotations.clone();
        annotations.sort_by(|one, other| one.name.cmp(&other.name));
        let request = &one.parameters[0];
        let of_request = (request.is_opaque, request.typical_bytes);
        let of_response = (one.returns_opaque, one.returns_typical_bytes);
        let own = (one.is_leaf, one.is_idempotent, one.astack);
        (one.name.clone(), annotations, own, of_request, of_response)
    };
    let [proto, omg] = [operations(&proto), operations(&omg)];
    assert_eq!(proto.len(), 7);
    for (one, other) in proto.iter().zip(&omg) {
        assert_eq!(facts(one), facts(other));
    }
}

#[test]
fn ranges_of_fields_are_those_of_members() {
    let proto = proto(
        "message A {\n\
         int32 a = 1 [(nearcall.range).min = -2147483648, (nearcall.range).max = 2147483647];\n\
         uint64 b = 2 [(nearcall.range) = {max: 9007199254740991}];\n\
         optional double c = 3 [(nearcall.range).min = -273.15];\n\
         google.protobuf.FloatValue d = 4 [(nearcall.range) = {min: 0 max: 1}];\n\
         oneof o { sfixed32 e = 5 [(nearcall.range).min = 3]; string f = 6; }\n\
         int32 g = 7 [(nearcall.range) = {}, deprecated = true];\n}",
    );
    let omg = omg("union O switch (unsigned long) { case 5: @min(3) long e; case 6: string f; };
         @appendable struct A {
         @range(min = -2147483648, max = 2147483647) long a;
         @max(9007199254740991) unsigned long long b;
         @min(-273.15) @optional double c;
         @range(min = 0, max = 1) @optional float d;
         O o; long g; };");
    assert_eq!(of_members(&proto, "A"), of_members(&omg, "A"));
    let ranges = of_members(&proto, "A").into_iter().filter(|(_, all)| !all.is_empty());
    assert_eq!(ranges.count(), 5);
}

/// Messages that are the same but for options: all that is said of the change, by its rules.
fn changed(old: &str, new: &str) -> Vec<(&'static str, bool)> {
    let service = |options: &str| {
        let (of_field, of_rpc) = options.split_once('|').unwrap_or(("", options));
        proto(&format!(
            "message A {{ int32 a = 1 {of_field}; }}\nservice S {{\n\
             rpc Put(google.protobuf.BytesValue) returns (A) {{ {of_rpc} }}\n}}"
        ))
    };
    let (old, new) = (service(old), service(new));
    let found = compare(&old, &new);
    found.iter().map(|one| (one.diagnostic.rule.code, one.refused_at.is_some())).collect()
}

#[test]
fn what_changes_is_told_as_of_annotations() {
    let range = "[(nearcall.range).min = 1]|";
    for (old, new, want) in [
        ("", "option (nearcall.leaf) = true;", vec![]),
        ("", "option (nearcall.astack).count = 7;", vec![]),
        ("", "option (nearcall.astack).bytes = 9000;", vec![("E0619", false)]),
        ("", "option (nearcall.response).typical = 90;", vec![]),
        ("option (nearcall.request).typical = 9000;", "", vec![("E0620", false)]),
        ("", "option (nearcall.request).opaque = true;", vec![("E0615", true)]),
        ("option idempotency_level = IDEMPOTENT;", "", vec![("E0618", false)]),
        ("", range, vec![("E0613", true)]),
        (range, "[(nearcall.range).min = 2]|", vec![("E0613", true)]),
        (range, range, vec![]),
    ] {
        assert_eq!(changed(old, new), want, "{old:?} {new:?}");
    }
}

/// Both allow the same values.
#[test]
fn a_range_that_ends_at_minus_zero_ends_at_zero() {
    let ends_at = |zero: &str| {
        proto(&format!(
            "message A {{ double a = 1 [(nearcall.range) = {{min: -1 max: {zero}}}]; }}\n\
             service S {{ rpc Put(A) returns (A); }}"
        ))
    };
    let found = compare(&ends_at("0"), &ends_at("-0.0"));
    assert_eq!(found.len(), 0);
    assert_eq!(of_members(&ends_at("0"), "A"), of_members(&ends_at("-0.0"), "A"));
    assert!(!compare(&ends_at("0"), &ends_at("1")).is_empty());
}

/// A copy beside the user's files, as protoc needs it, means the same. Another file of that name is
/// told of.
#[test]
fn the_file_of_options_is_taken_from_nowhere_else() {
    let service = format!(
        "{IMPORTS}message A {{}}\n\
         service S {{ rpc Get(A) returns (A) {{ option (nearcall.leaf) = true; }} }}"
    );
    let beside = |text| compiled(&[("a.proto", &service), ("nearcall/options.proto", text)]);
    let ours = include_str!("../proto/nearcall/options.proto");
    let commented = ours.replace("// ", "// In other words: ");
    for copy in [ours, &commented] {
        let (model, said) = beside(copy);
        assert_eq!(said, "");
        assert!(operations(&model.expect("a model"))[0].is_leaf);
    }
    let numbered = ours.replace("74213", "74214");
    for other in [&numbered, "syntax = \"proto3\";", "this is not even parsed"] {
        let (model, said) = beside(other);
        let told = "note[N0412]: `nearcall/options.proto` is the compiler's own, and the file";
        assert!(said.starts_with(told) && !said.contains("error["), "{said}");
        assert!(operations(&model.expect("a model"))[0].is_leaf);
    }
    let user = format!("{IMPORTS}message A {{ Mine mine = 1; }}");
    let theirs = "syntax = \"proto3\";\nmessage Mine {}";
    let (model, said) = compiled(&[("a.proto", &user), ("nearcall/options.proto", theirs)]);
    assert!(model.is_none());
    assert!(said.starts_with("note[N0412]") && said.contains("error[E0400]"), "{said}");
}

/// Who has an option of that name means something else.
#[test]
fn options_of_others_are_not_ours() {
    let service = "syntax = \"proto3\";\nimport \"b.proto\";\nmessage A {}\n\
                   service S { rpc Get(A) returns (A) { option (nearcall.leaf) = true; } }";
    let options = "syntax = \"proto3\";\npackage nearcall;\n\
                   import \"google/protobuf/descriptor.proto\";\n\
                   extend google.protobuf.MethodOptions { bool leaf = 50001; }";
    let (model, said) = compiled(&[("a.proto", service), ("b.proto", options)]);
    assert_eq!(said, "");
    assert!(!operations(&model.expect("a model"))[0].is_leaf);
}

/// C++ of protoc's declares each option, and each message of options, in `namespace nearcall`,
/// where our own headers have names, too.
#[test]
fn options_have_names_that_our_headers_do_not() {
    let own = Path::new(PROTO_DIRECTORY).join("nearcall/options.proto");
    let text = std::fs::read_to_string(own).expect("the file is there");
    let messages = text.lines().filter_map(|line| line.strip_prefix("message ")?.split(' ').next());
    let extensions = text.split("extend ").skip(1).flat_map(str::lines);
    let extensions = extensions.filter_map(|line| line.split_once(" = ")?.0.rsplit(' ').next());
    let is_word = |name: &&str| !name.is_empty() && name.chars().all(char::is_alphanumeric);
    let names: Vec<&str> = messages.chain(extensions.filter(is_word)).collect();
    assert!(names.contains(&"leaf") && names.contains(&"AStack"), "{names:?}");
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/include");
    for own in ["", "_calls", "_time", "_values"] {
        let header = format!("nearcall{own}.hpp");
        let header = std::fs::read_to_string(headers.join(header)).expect("the header is there");
        let declared = header.lines().filter(|line| !line.starts_with([' ', '/']));
        let words = declared.flat_map(|line| line.split(|one: char| !one.is_alphanumeric()));
        let words: BTreeSet<&str> = words.collect();
        assert!(words.contains("nearcall"));
        let found: Vec<&&str> = names.iter().filter(|name| words.contains(**name)).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}
