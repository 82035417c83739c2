//! What to do about an import that is not found: where files that many import come from, and
//! whether it may be left out. It decides nothing.

use protox::prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FileDescriptorProto, UninterpretedOption,
};

/// Whose files come with what. Compilers of other projects bring these along, or fetch them.
const ORIGINS: &[(&str, &str)] = &[
    ("google/api/", "googleapis"),
    ("google/longrunning/", "googleapis"),
    ("google/rpc/", "googleapis"),
    ("google/type/", "googleapis"),
    ("gogoproto/", "gogo/protobuf"),
    ("validate/", "protoc-gen-validate"),
    ("buf/validate/", "protovalidate"),
    ("protoc-gen-openapiv2/", "grpc-gateway"),
];

/// The way out for who imports `name` in this file.
pub(super) fn advice(name: &str, file: &FileDescriptorProto) -> String {
    let origin = ORIGINS.iter().find(|(folder, _)| name.starts_with(folder));
    let origin = origin.map_or(String::new(), |(_, origin)| format!(", which {origin} has"));
    let options = foreign_options(file);
    // By custom a file's package is called as its folder is.
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let package = format!("{}.", folder.replace('/', "."));
    let own = options.iter().find(|option| option.starts_with(&package));
    let own = own.map_or(String::new(), |own| format!(", such as `({own})`"));
    let left_out = match options.is_empty() {
        true => String::new(),
        false => format!(
            "; if it is only there for options{own}, delete it and them: Nearcall does \
             not look at them"
        ),
    };
    format!(
        "say in which directory `{name}` is{origin}: `-I` of `nearcall`, or \
         `nearcall_idl::build::Builder::include` in a build script{left_out}"
    )
}

/// Names of the options in a file that are not the language's own.
fn foreign_options(file: &FileDescriptorProto) -> Vec<String> {
    let mut all: Vec<&UninterpretedOption> = Vec::new();
    all.extend(file.options.iter().flat_map(|one| &one.uninterpreted_option));
    for service in &file.service {
        all.extend(service.options.iter().flat_map(|one| &one.uninterpreted_option));
        let of_methods = service.method.iter().flat_map(|one| &one.options);
        all.extend(of_methods.flat_map(|one| &one.uninterpreted_option));
    }
    file.enum_type.iter().for_each(|one| of_enum(one, &mut all));
    let mut messages: Vec<&DescriptorProto> = file.message_type.iter().collect();
    while let Some(message) = messages.pop() {
        messages.extend(&message.nested_type);
        of_message(message, &mut all);
    }
    let foreign = all.into_iter().filter_map(|option| option.name.first());
    let foreign = foreign.filter(|part| part.is_extension);
    foreign.map(|part| part.name_part.trim_start_matches('.').to_owned()).collect()
}

/// Without what is nested in it.
fn of_message<'a>(message: &'a DescriptorProto, all: &mut Vec<&'a UninterpretedOption>) {
    all.extend(message.options.iter().flat_map(|one| &one.uninterpreted_option));
    let of_fields = message.field.iter().flat_map(|one| &one.options);
    all.extend(of_fields.flat_map(|one| &one.uninterpreted_option));
    let of_oneofs = message.oneof_decl.iter().flat_map(|one| &one.options);
    all.extend(of_oneofs.flat_map(|one| &one.uninterpreted_option));
    message.enum_type.iter().for_each(|one| of_enum(one, all));
}

fn of_enum<'a>(declared: &'a EnumDescriptorProto, all: &mut Vec<&'a UninterpretedOption>) {
    all.extend(declared.options.iter().flat_map(|one| &one.uninterpreted_option));
    let of_values = declared.value.iter().flat_map(|one| &one.options);
    all.extend(of_values.flat_map(|one| &one.uninterpreted_option));
}
