//! What .proto files mean: facts about the model that services of other projects rest on.

use std::path::Path;

use nearcall_idl::back::LANGUAGES;
use nearcall_idl::back::cpp::compile_cpp;
use nearcall_idl::diagnostic::render;
use nearcall_idl::evolution::compare;
use nearcall_idl::front::compile_from;
use nearcall_idl::front::options::Options;
use nearcall_idl::front::preprocessor::files::InMemory;
use nearcall_idl::model::{Declaration, DeclarationId, Kind, Model};
use nearcall_idl::source::SourceMap;

/// What procedures need to raise what they do.
const STATUS: [&str; 2] = ["grpc::RpcCode", "grpc::RpcStatus"];

/// What whoever writes the same interface in OMG IDL declares.
const STATUS_IN_OMG_IDL: &str = "\
module grpc {
    enum RpcCode {
        @value(1) CANCELLED, @value(2) UNKNOWN, @value(3) INVALID_ARGUMENT,
        @value(4) DEADLINE_EXCEEDED, @value(5) NOT_FOUND, @value(6) ALREADY_EXISTS,
        @value(7) PERMISSION_DENIED, @value(8) RESOURCE_EXHAUSTED, @value(9) FAILED_PRECONDITION,
        @value(10) ABORTED, @value(11) OUT_OF_RANGE, @value(12) UNIMPLEMENTED,
        @value(13) INTERNAL, @value(14) UNAVAILABLE, @value(15) DATA_LOSS,
        @value(16) UNAUTHENTICATED
    };
    exception RpcStatus { RpcCode code; string message; sequence<octet> details; };
};
";

/// The model of the first file, and what is said of it; the others are what it imports. Files are
/// of proto3 unless they say otherwise.
fn compiled(files: &[(&str, &str)]) -> (Option<Model>, String) {
    let mut memory = InMemory::default();
    for (path, text) in files {
        let is_said = text.starts_with("syntax") || !path.ends_with(".proto");
        let syntax = if is_said { "" } else { "syntax = \"proto3\";\n" };
        memory.insert(path, format!("{syntax}{text}").as_str());
    }
    let mut sources = SourceMap::default();
    let path = Path::new(files[0].0);
    let compilation = compile_from(&memory, path, &Options::default(), &mut sources);
    let said = render::texts(&compilation.diagnostics, &sources, false);
    (compilation.model, said)
}

fn model(files: &[(&str, &str)]) -> Model {
    let (model, said) = compiled(files);
    model.unwrap_or_else(|| panic!("{said}"))
}

fn names(model: &Model) -> Vec<String> {
    model.declarations.iter().map(|one| one.name.to_string()).collect()
}

fn own(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn find<'m>(model: &'m Model, name: &str) -> &'m Declaration {
    let mut all = model.declarations.iter();
    all.find(|one| one.name.to_string() == name).unwrap_or_else(|| panic!("no {name}"))
}

/// Name and documentation of each member.
fn members(model: &Model, name: &str) -> Vec<(String, String)> {
    let Kind::Struct(shape) = &find(model, name).kind else { panic!("{name} is no struct") };
    let members = shape.members.iter();
    members.map(|one| (one.name.clone(), one.doc.clone().unwrap_or_default())).collect()
}

#[test]
fn of_an_import_only_what_is_used_is_there() {
    let service = "import \"b.proto\";\n\
                   message Ask { In in = 1; map<string, Kind> kinds = 2; }\n\
                   message Unused {}\n\
                   service S { rpc Get(Ask) returns (Answer); }";
    let import = "message In { Deep deep = 1; }\nmessage Deep {}\n\
                  message Answer { Outer.Inner i = 1; }\n\
                  message Outer { message Inner {} }\nenum Kind { NONE = 0; }\n\
                  message Left { Right right = 1; }\nmessage Right {}\nenum Out { OUT = 0; }";
    let model = model(&[("a.proto", service), ("b.proto", import)]);
    let mut names = names(&model);
    names.sort();
    let own = ["Answer", "Ask", "Deep", "In", "Kind", "Outer::Inner", "S", "Unused"];
    assert_eq!(names, [&own[..], &STATUS].concat());
}

/// As the options of etcd's services do, which have a `google.protobuf.Value`.
#[test]
fn what_an_unused_message_holds_is_no_matter() {
    let service = "import \"b.proto\";\nmessage A {}\nservice S { rpc Get(A) returns (A); }";
    let import = "import \"google/protobuf/type.proto\";\n\
                  message Option { google.protobuf.Type type = 1; }";
    let (model, said) = compiled(&[("a.proto", service), ("b.proto", import)]);
    let names = model.map(|one| names(&one)).unwrap_or_default();
    assert_eq!((names, said.as_str()), (own(&["A", "grpc::RpcCode", "grpc::RpcStatus", "S"]), ""));
}

/// As most files do that declare options: gogoproto's and protoc-gen-validate's among them.
#[test]
fn options_may_be_declared_in_proto2() {
    let service = "import \"b.proto\";\nmessage A { string name = 1 [(rules).least = 1]; }\n\
                   service S { rpc Get(A) returns (A); }";
    let options = "syntax = \"proto2\";\nimport \"google/protobuf/descriptor.proto\";\n\
                   extend google.protobuf.FieldOptions { optional Rules rules = 50001; }\n\
                   message Rules { optional int32 least = 1 [default = 3]; }";
    let (model, said) = compiled(&[("a.proto", service), ("b.proto", options)]);
    assert_eq!((model.is_some(), said.as_str()), (true, ""));
    let used = service.replace("string name = 1 [(rules).least = 1]", "Rules rules = 1");
    let (_, said) = compiled(&[("a.proto", &used), ("b.proto", options)]);
    assert!(said.contains("E0405") && said.contains("`b.proto` is of proto2"), "{said}");
}

/// protoc's own folder of them is an include directory of many.
#[test]
fn files_of_the_language_are_taken_from_nowhere_else() {
    let service = "import \"google/protobuf/descriptor.proto\";\n\
                   import \"google/protobuf/timestamp.proto\";\n\
                   message A { google.protobuf.Timestamp at = 1; }";
    let own = "package google.protobuf;\nmessage Timestamp { int32 years = 1; }";
    let files = [
        ("a.proto", service),
        ("google/protobuf/descriptor.proto", "this is not even parsed"),
        ("google/protobuf/timestamp.proto", own),
    ];
    let members: Vec<_> = members(&model(&files), "google::protobuf::Timestamp");
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["seconds", "nanos"]);
}

#[test]
fn what_may_be_anything_is_what_the_language_declares_for_it() {
    let service = "import \"google/protobuf/any.proto\";\n\
                   import \"google/protobuf/struct.proto\";\n\
                   message A { google.protobuf.Any any = 1; google.protobuf.Struct fields = 2; }";
    let model = model(&[("a.proto", service)]);
    let mut names = names(&model);
    names.sort();
    let own = ["Any", "ListValue", "NullValue", "Struct", "Value", "Value::Kind"];
    let own = own.map(|name| format!("google::protobuf::{name}"));
    assert_eq!(names, [&["A".to_owned()][..], &own[..]].concat());
}

/// C++ has maps of what comes later in boxes only, which nobody is to look into for no reason.
#[test]
fn messages_of_maps_and_lists_come_before_those_that_hold_them() {
    let service = "message A { map<string, B> bs = 1; repeated C cs = 2; }\n\
                   message B { C c = 1; }\nmessage C {}\n\
                   message Node { map<string, Leaf> leaves = 1; repeated Node nodes = 2; \
                   Leaf leaf = 3; }\n\
                   message Leaf { Twig twig = 1; }\nmessage Twig { repeated Node nodes = 1; }\n\
                   service S { rpc Get(A) returns (A); }";
    let model = model(&[("a.proto", service)]);
    let messages = ["C", "B", "A", "Twig", "Leaf", "Node"];
    assert_eq!(names(&model), [&messages[..], &STATUS, &["S"]].concat());
    compile_cpp(&model, "a").unwrap_or_else(|refused| panic!("{refused:?}"));
}

#[test]
fn comments_document_what_they_stand_above_or_behind() {
    let message = "/** A message.\n * Of two lines. */\n\
                   message A {\n  /// Above.\n  ///\n  /// And on.\n  \
                   int32 a = 1; // Not behind.\n\n  \
                   int32 b = 2; // Behind.\n  // Above, with a / and * in it.\n  int32 c = 3;\n\n  \
                   ////////////////\n  int32 d = 4;\n}";
    let model = model(&[("a.proto", message)]);
    assert_eq!(find(&model, "A").doc.as_deref(), Some("A message.\nOf two lines."));
    let docs: Vec<String> = members(&model, "A").into_iter().map(|(_, doc)| doc).collect();
    assert_eq!(docs, ["Above.\n\nAnd on.", "Behind.", "Above, with a / and * in it.", ""]);
}

/// How each declared type says that it may change.
fn extensibilities(model: &Model) -> Vec<(String, Option<&str>)> {
    let all = model.declarations.iter().filter(|one| !matches!(one.kind, Kind::Interface(_)));
    all.map(|one| (one.name.to_string(), one.extensibility())).collect()
}

#[test]
fn what_people_declare_may_grow_and_what_comes_with_the_language_stays() {
    let service = "import \"google/protobuf/struct.proto\";\n\
                   import \"google/protobuf/timestamp.proto\";\nimport \"b.proto\";\n\
                   message A { google.protobuf.Timestamp at = 1; google.protobuf.Value v = 2; \
                   B b = 3; oneof o { int32 p = 4; } }\n\
                   service S { rpc Get(A) returns (A); }";
    let import = "message B { C c = 1; }\nenum C { ZERO = 0; LESS = -1; ONE = 1; }";
    let model = model(&[("a.proto", service), ("b.proto", import)]);
    let (appendable, others): (Vec<_>, Vec<_>) =
        extensibilities(&model).into_iter().partition(|(_, said)| *said == Some("APPENDABLE"));
    let mut appendable: Vec<String> = appendable.into_iter().map(|(name, _)| name).collect();
    appendable.sort();
    assert_eq!(appendable, own(&["A", "A::O", "B", "C"]));
    let mut others: Vec<String> = others.into_iter().map(|(name, _)| name).collect();
    others.sort();
    let built_in = ["ListValue", "NullValue", "Struct", "Timestamp", "Value", "Value::Kind"];
    let built_in = built_in.map(|name| format!("google::protobuf::{name}"));
    assert_eq!(others, [&built_in[..], &own(&STATUS)].concat());
    let Kind::Enum(shape) = &find(&model, "C").kind else { panic!("C is an enum") };
    assert_eq!((shape.default_index, shape.has_default_literal), (0, true));
}

#[test]
fn members_stand_in_the_order_of_their_numbers() {
    let message = "message A { repeated int32 d = 12; oneof o { int32 z = 9; int32 y = 3; } \
                   int32 b = 4; optional int32 a = 1; oneof p { int32 x = 2; int32 w = 11; } }";
    let model = model(&[("a.proto", message)]);
    let names: Vec<String> = members(&model, "A").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, own(&["a", "p", "o", "b", "d"]));
    let Kind::Union(shape) = &find(&model, "A::O").kind else { panic!("A::O is a union") };
    let cases: Vec<&str> = shape.cases.iter().map(|case| &*case.member.name).collect();
    assert_eq!(cases, ["y", "z"]);
}

#[test]
fn options_are_noted_in_the_file_that_declares_them() {
    let service = "import \"b.proto\";\nmessage A { option (route) = \"x\"; }";
    let options = "import \"google/protobuf/descriptor.proto\";\n\
                   extend google.protobuf.MessageOptions { string route = 50001; }";
    let (_, said) = compiled(&[("a.proto", service), ("b.proto", options)]);
    assert_eq!(said, "");
    let (_, said) = compiled(&[("b.proto", options)]);
    assert!(said.contains("N0408"), "{said}");
}

/// Names of the exceptions of each operation of an interface.
fn raised(model: &Model, name: &str) -> Vec<Vec<String>> {
    let Kind::Interface(shape) = &find(model, name).kind else { panic!("{name} is no interface") };
    let named = |id: &DeclarationId| model.declaration(*id).name.to_string();
    shape.operations.iter().map(|one| one.raises.iter().map(named).collect()).collect()
}

#[test]
fn every_procedure_raises_the_same_status() {
    let service = "import \"b.proto\";\nmessage A {}\n\
                   service S { rpc Get(A) returns (A); rpc Watch(A) returns (stream A); }\n\
                   service T { rpc Talk(stream A) returns (stream A); }";
    let import = "package b;\nmessage B {}\nservice S { rpc Get(B) returns (B); }";
    let model = model(&[("a.proto", service), ("b.proto", import)]);
    // What carries a stream raises it, too, but for the items that a client sends in an exchange.
    let (status, nothing) = (own(&["grpc::RpcStatus"]), Vec::<String>::new());
    assert_eq!(raised(&model, "S"), [&status, &status, &status].map(Clone::clone));
    assert_eq!(raised(&model, "b::S"), [&status].map(Clone::clone));
    let talk = raised(&model, "T");
    assert_eq!(talk, [&status, &status, &nothing, &nothing].map(Clone::clone));
    assert_eq!(names(&model).iter().filter(|name| name.starts_with("grpc::")).count(), 2);
}

#[test]
fn files_without_procedures_have_no_status() {
    let model = model(&[("a.proto", "message A {}\nservice S {}")]);
    assert_eq!(names(&model), ["A", "S"]);
}

/// Codes have gRPC's numbers, for whoever reads them in a log or passes them on.
#[test]
fn a_status_has_a_code_of_grpc_and_words_and_details() {
    let proto = "message A {}\nservice S { rpc Get(A) returns (A); }";
    let proto = model(&[("a.proto", proto)]);
    let omg =
        "@appendable struct A {}; interface S { A Get(in A request) raises (::grpc::RpcStatus); };";
    let omg = model(&[("a.idl", &format!("{STATUS_IN_OMG_IDL}{omg}"))]);
    let found = compare(&omg, &proto);
    assert!(found.is_empty(), "{found:?}");
}

/// Google's own are imported by many a file, and nearly every program has a status of its own.
#[test]
fn a_status_leaves_everybody_their_names() {
    let service = "package acme;\nimport \"google/rpc/status.proto\";\n\
                   enum Code { OK = 0; NOT_FOUND = 5; }\nmessage RpcStatus {}\n\
                   message Status { Code code = 1; google.rpc.Status of = 2; RpcStatus rpc = 3; }\n\
                   service S { rpc Get(Status) returns (Status); }";
    let import = "package google.rpc;\nmessage Status { int32 code = 1; string message = 2; }";
    let health = "package grpc.health.v1;\nmessage Status {}\nenum RpcCode { NOT_FOUND = 0; }\n\
                  service Health { rpc Check(Status) returns (Status); }";
    let acme = model(&[("a.proto", service), ("google/rpc/status.proto", import)]);
    let grpc = model(&[("health.proto", health)]);
    for (model, stem) in [(&acme, "a"), (&grpc, "health")] {
        for language in LANGUAGES {
            let files = (language.compile)(model, stem);
            assert!(files.is_ok(), "{}: {files:?}", language.name);
        }
    }
    assert_eq!(raised(&acme, "acme::S"), [own(&["grpc::RpcStatus"])]);
    assert_eq!(raised(&grpc, "grpc::health::v1::Health"), [own(&["grpc::RpcStatus"])]);
}
