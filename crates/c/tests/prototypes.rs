//! Each function that C calls has a prototype in the header, and each prototype its function. The C
//! compiler compares their types: it is given what Rust defines, in words of C.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lacking::lacking;
use syn::{FnArg, GenericArgument, Item, PathArguments, ReturnType, Signature, Type, TypeBareFn};

/// Lengths are of another type than numbers of any fixed width, one of which they else are of.
const PRELUDE: &str = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\
                       #include <string.h>\n#define size_t unsigned long long\n\
                       #include \"nearcall.h\"\n";

/// Functions that C calls, and names for pointers to functions.
#[derive(Default)]
struct Defined {
    functions: BTreeMap<String, Signature>,
    pointers: BTreeMap<String, TypeBareFn>,
}

impl Defined {
    fn add(&mut self, text: &str) {
        for item in syn::parse_file(text).expect("it compiles").items {
            match item {
                Item::Fn(function) if function.sig.abi.is_some() => {
                    self.functions.insert(function.sig.ident.to_string(), function.sig);
                }
                Item::Type(alias) => {
                    if let Type::BareFn(pointer) = *alias.ty {
                        self.pointers.insert(alias.ident.to_string(), pointer);
                    }
                }
                _ => {}
            }
        }
    }

    fn in_c(&self, of: &Type) -> String {
        match of {
            Type::Ptr(pointer) => {
                let target = self.in_c(&pointer.elem);
                format!("{target}{} *", if pointer.const_token.is_some() { " const" } else { "" })
            }
            Type::Path(path) => {
                let last = path.path.segments.last().expect("a type has a name");
                match &last.arguments {
                    PathArguments::AngleBracketed(of) => match &of.args[0] {
                        // Of an `Option`, which is none where C has null.
                        GenericArgument::Type(pointer) => self.in_c(pointer),
                        _ => self.named_in_c(&last.ident.to_string()),
                    },
                    _ => self.named_in_c(&last.ident.to_string()),
                }
            }
            _ => panic!("C has nothing for this type"),
        }
    }

    fn named_in_c(&self, name: &str) -> String {
        if let Some(pointer) = self.pointers.get(name) {
            let parameters = pointer.inputs.iter().map(|parameter| &parameter.ty).collect();
            return format!("__typeof__({}) *", self.function_in_c(&pointer.output, parameters));
        }
        match name {
            "bool" => return name.to_owned(),
            "usize" => return "size_t".to_owned(),
            "u8" | "u32" | "u64" => return format!("uint{}_t", &name[1..]),
            "i64" => return "int64_t".to_owned(),
            "c_char" | "c_int" | "c_void" => return name[2..].to_owned(),
            _ => {}
        }
        let bare = name.trim_start_matches("Foreign").trim_end_matches("Record");
        let words = bare.trim_end_matches("Call").chars().map(|letter| match letter {
            'A'..='Z' => format!("_{}", letter.to_ascii_lowercase()),
            _ => letter.to_string(),
        });
        format!("nearcall{}", words.collect::<String>())
    }

    fn function_in_c(&self, result: &ReturnType, parameters: Vec<&Type>) -> String {
        let result = match result {
            ReturnType::Default => "void".to_owned(),
            ReturnType::Type(_, result) => self.in_c(result),
        };
        let parameters: Vec<_> = parameters.iter().map(|parameter| self.in_c(parameter)).collect();
        format!(
            "{result} ({})",
            if parameters.is_empty() { "void".into() } else { parameters.join(", ") }
        )
    }

    /// What gcc says where it is to find the same in the header, and the file that all declarations
    /// of the header are in afterwards. `None` without a gcc.
    fn compared(&self, test: &str) -> Option<(Output, PathBuf)> {
        let assertion = |(name, signature): (&String, &Signature)| {
            let parameters = signature.inputs.iter().filter_map(|parameter| match parameter {
                FnArg::Typed(parameter) => Some(&*parameter.ty),
                FnArg::Receiver(_) => None,
            });
            let function = self.function_in_c(&signature.output, parameters.collect());
            let same = format!("__builtin_types_compatible_p(__typeof__({name}), {function})");
            format!("_Static_assert({same}, \"{name} is {function}\");\n")
        };
        let text: String = self.functions.iter().map(assertion).collect();
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test).with_extension("c");
        fs::write(&file, [PRELUDE, &text].concat()).expect("it can be written");
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=gnu11", "-Iinclude", "-fsyntax-only"]).arg(&file).arg("-aux-info");
        let declarations = file.with_extension("declarations");
        let output = gcc.arg(&declarations).current_dir(env!("CARGO_MANIFEST_DIR")).output();
        Some((output.map_err(|_| lacking("gcc")).ok()?, declarations))
    }
}

#[test]
fn every_function_is_what_the_header_says_and_the_header_has_no_other() {
    let (mut defined, mut exported) = (Defined::default(), 0);
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/handle")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        exported += text.matches("\n#[unsafe(no_mangle)]\n").count();
        defined.add(&text);
    }
    assert_eq!(defined.functions.len(), exported, "functions of C's, and exported ones");
    let Some((output, declarations)) = defined.compared("all") else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // A line each: `/* where */ extern void *nearcall_allocate (size_t);`.
    let declared = fs::read_to_string(declarations).unwrap();
    let declared = declared.lines().filter_map(|line| line.split_once("*/ extern "));
    let names = declared.map(|(_, line)| line.split(" (").next().unwrap_or_default());
    let names = names.filter_map(|line| line.rsplit([' ', '*']).next());
    let mut names: Vec<_> = names.filter(|name| name.starts_with("nearcall_")).collect();
    names.sort_unstable();
    assert_eq!(names, defined.functions.keys().collect::<Vec<_>>());
    println!("{} functions", names.len());
    assert!(!names.is_empty());
}

#[test]
fn what_the_header_says_otherwise_is_named() {
    for (name, rest) in [
        ("nearcall_close", "(fd: u32)"),
        ("nearcall_free", "(memory: *const c_void)"),
        ("nearcall_allocate", "(bytes: u64) -> *mut c_void"),
        ("nearcall_is_revoked", "(client: *const ClientRecord)"),
        ("nearcall_slow_number", "(more: u32) -> u32"),
        ("nearcall_set_allocator", "(allocate: Option<Allocate>, free: Option<Allocate>)"),
        ("nearcall_unheard_of", "()"),
    ] {
        let mut defined = Defined::default();
        defined.add("type Allocate = extern \"C\" fn(usize) -> *mut c_void;");
        defined.add(&format!("extern \"C\" fn {name}{rest} {{}}"));
        let Some((output, _)) = defined.compared("otherwise") else { return };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(name), "{name}: {said}");
    }
}
