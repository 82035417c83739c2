//! Self-tests that are lied to: of every interface file a module that exports an interface of it
//! and makes one call of an operation, made of what the self-test's two programs are made of. The
//! test has a `told` beside the modules, which hears how a call ended that did not return. Their
//! stubs are those of the library: compiled once.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use nearcall_idl::back::LANGUAGES;
use nearcall_idl::front::compile;
use nearcall_idl::front::options::Options;
use nearcall_idl::model::Model;
use nearcall_idl::selftest::{Manner, Selftest};
use nearcall_idl::source::SourceMap;

/// Writes the modules, and `all_prey.rs`, which names them and lists them.
pub fn write(out: &Path, files: &[PathBuf]) {
    let (mut modules, mut list) = (String::new(), String::from("const PREY: &[Prey] = &[\n"));
    for (path, index) in files.iter().zip(0..) {
        let options =
            Options { include_directories: vec!["../idl/good".into()], ..Options::default() };
        let compiled = compile(path, &options, &mut SourceMap::default());
        let model = compiled.model.unwrap_or_else(|| panic!("{} is good", path.display()));
        let stem = path.file_stem().expect("a file").to_string_lossy();
        let Some(text) = module(out, &model, &stem) else { continue };
        let path = out.join(format!("{stem}_prey.rs"));
        fs::write(&path, text).expect("OUT_DIR can be written");
        // Writing to a string does not fail.
        let _ = writeln!(modules, "#[allow(warnings)]\n#[path = {path:?}]\nmod prey_{index};");
        let own = format!("prey_{index}");
        let served = |module: &str| format!("export: {module}::export, call: {module}::call");
        let _ = writeln!(
            list,
            "Prey {{ stem: {stem:?}, blocking: Stubs {{ {} }}, posted: {own}::posted::call, \
             awaited: Stubs {{ {} }} }},",
            served(&own),
            served(&format!("{own}::awaited"))
        );
    }
    fs::write(out.join("all_prey.rs"), modules + &list + "];\n").expect("it can be written");
}

/// The module of one file, with one in it for each other manner of calls; nothing if it has none.
fn module(out: &Path, model: &Model, stem: &str) -> Option<String> {
    let mut test = Selftest::new(model, 1).ok()?;
    let own = test.interfaces.iter_mut().flat_map(|one| &mut one.operations);
    own.for_each(|operation| operation.rounds.truncate(1));
    let blocking = Programs::of(model, stem, &test);
    let posted = Programs::of(model, stem, &Selftest { manner: Manner::Posted, ..test.clone() });
    let awaited = Selftest { manner: Manner::Awaited, ..test.clone() };
    let awaited = Programs::of(model, stem, &awaited);
    // Nothing is said of values that differ: all do.
    let quiet = awaited.shared.replace("eprintln!(", "let _ = format!(");
    let quiet = quiet.replace("    fn call_count(", "    pub fn call_count(");
    let woken = "context.waker().wake_by_ref();";
    let quiet = quiet.replace(woken, &format!("crate::procedure_waits(); {woken}"));
    fs::write(out.join(format!("{stem}_selftest.rs")), quiet).expect("OUT_DIR can be written");
    Some(format!(
        "{}\nuse std::sync::Arc;\n{}{}\n\
         pub mod posted {{\nuse super::*;\n{}}}\n\
         pub mod awaited {{\nuse super::*;\n{}{}}}\n",
        blocking.head,
        blocking.exports(&test),
        blocking.calls(&test),
        posted.calls(&test),
        awaited.exports(&test),
        awaited.calls(&test),
    ))
}

/// What a client begins with, where its stubs are the library's.
fn of_the_library(head: &str, stem: &str) -> String {
    let (before, rest) = head.split_once(&format!("#[path = \"{stem}.rs\"]\nmod ")).expect("stubs");
    format!("{before}use stubs_tests::{rest}")
}

/// A self-test's programs, by parts.
struct Programs {
    shared: String,
    /// The modules and names that the client needs.
    head: String,
    /// Its functions.
    calls: String,
    /// The server's first function.
    main: String,
    servers: String,
}

impl Programs {
    fn of(model: &Model, stem: &str, test: &Selftest) -> Programs {
        let programs = (LANGUAGES[0].selftest)(model, stem, test).expect("all that is good");
        let [shared, client, server] = &programs[..] else { panic!("not three programs") };
        let (head, rest) = client.text.split_once("/// Calls everything").expect("a program");
        let head: Vec<&str> = head.lines().filter(|line| !line.starts_with("//!")).collect();
        let calls = rest.split_once("\n}\n").expect("its main ends").1;
        let (main, servers) = server.text.split_once("\n}\n").expect("its main ends");
        Programs {
            shared: shared.text.clone(),
            head: of_the_library(&head.join("\n"), stem),
            calls: calls.to_owned(),
            main: main.to_owned(),
            servers: servers.to_owned(),
        }
    }

    /// The servers, and what exports each.
    fn exports(&self, test: &Selftest) -> String {
        let (count, mut arms) = (test.operation_count(), String::new());
        for index in 0..test.interfaces.len() {
            let entries = self.main.split_once(&format!("::new(Server{index}("));
            let entries = entries.expect("it is exported").0;
            let entries = entries.rsplit([' ', '\n', '(']).next().expect("it has a name");
            // Writing to a string does not fail.
            let _ = writeln!(
                arms,
                "{index} => nearcall::Clerk::export_with(domain, name, \
                 {entries}::new(Server{index}(check)), options),"
            );
        }
        format!(
            "{}\npub fn export(domain: &nearcall::Domain, index: usize, name: &str, \
             options: nearcall::ExportOptions) -> (nearcall::Clerk, Box<dyn Fn() -> usize>) {{\n\
             let check = Arc::new(Check::new(\"server\", {count}));\n\
             let own = Arc::clone(&check);\n\
             let clerk = match index {{\n{arms}_ => panic!(\"no interface\"),\n}};\n\
             (clerk.expect(\"it is free\"), Box::new(move || own.call_count()))\n}}\n",
            self.servers
        )
    }

    /// The functions of the client, and what calls each.
    fn calls(&self, test: &Selftest) -> String {
        let (count, mut arms) = (test.operation_count(), String::new());
        for (interface, index) in test.interfaces.iter().zip(0..) {
            for operation in &interface.operations {
                let number = operation.number;
                let function = format!("fn call_{number}(");
                let client = self.calls.split_once(&function).expect("it is called").1;
                let client = client.split_once('&').expect("by a client").1;
                let client = client.split_once(',').expect("which is a name").0;
                // Writing to a string does not fail.
                let _ = writeln!(
                    arms,
                    "({index}, {number}) => call_{number}(&{client}::new(binding), &check),"
                );
            }
        }
        format!(
            "{}\npub fn call(binding: nearcall::Binding, interface: usize, operation: usize) {{\n\
             let check = Check::new(\"client\", {count});\n\
             match (interface, operation) {{\n{arms}_ => panic!(\"no operation\"),\n}}\n}}\n",
            self.calls.replace("check.differs(", "crate::told(")
        )
    }
}
