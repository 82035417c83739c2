//! Programs that a hostile peer may talk to: the self-test of an interface file, which looks at
//! every value that comes, made to say how each call ended instead of comparing anything.
//!
//! `x_prey server NAME` exports until its standard input ends, in C `x_prey async NAME` a server
//! that sets its calls aside. `x_prey client NAME` reads lines of an interface's and an operation's
//! number, and 1 or 0: whether to post that call and collect it, or to make it at once. It makes
//! it, and says how it ended.

use std::fmt::Write as _;

use nearcall_idl::back::{LANGUAGES, Output, Printed};
use nearcall_idl::model::Model;
use nearcall_idl::selftest::{Manner, Selftest};

/// The source of one program.
pub struct Program {
    /// The stubs, and what the program includes.
    pub files: Vec<Output>,
    /// The program.
    pub text: String,
}

/// What a language makes of an interface file.
struct Parts {
    /// Its stubs, and the header of its self-test.
    files: Vec<Output>,
    server: Output,
    client: Output,
    /// The same that posts its calls.
    posting: Output,
    /// The server that sets calls aside, where a language has one.
    later: Output,
}

/// # Panics: the language lacks something of the file. None does, so that no file is left out.
fn printed(language: &str, model: &Model, stem: &str, test: &Selftest) -> Parts {
    let language = LANGUAGES.iter().find(|one| one.name == language).expect("it is in the table");
    let whole = |printed: Printed| {
        let lacks = |lacked| panic!("{stem}: {} has none of {lacked:?}", language.name);
        printed.unwrap_or_else(lacks)
    };
    let mut files = whole((language.compile)(model, stem));
    let programs = |manner| -> [Output; 3] {
        let test = Selftest { manner, ..test.clone() };
        let programs = whole((language.selftest)(model, stem, &test));
        programs.try_into().expect("a header, a client and a server")
    };
    let [header, client, server] = programs(Manner::Blocking);
    let [_, posting, _] = programs(Manner::Posted);
    let [_, _, later] = programs(Manner::Awaited);
    files.push(header);
    Parts { files, server, client, posting, later }
}

/// The functions of a client that call, and its first function, behind what it includes.
fn calls_and_main<'t>(client: &'t Output, include: &str) -> (&'t str, &'t str) {
    behind(&client.text, include).split_once("int main(").expect("it is a program")
}

/// The functions of a client that post, beside those of one that calls.
fn posting_calls(client: &Output, include: &str) -> String {
    calls_and_main(client, include).0.replace("nc_call_", "nc_post_")
}

/// What makes a call of an operation, in either manner.
fn either(number: usize, client: &str) -> String {
    format!("case {number}: (is_posted ? nc_post_{number} : nc_call_{number})({client}); break;")
}

/// The program in C.
pub fn c(model: &Model, stem: &str, test: &Selftest) -> Program {
    let Parts { files, server, client, posting, later } = printed("c", model, stem, test);
    let include = format!("#include \"{stem}_selftest.h\"\n");
    // Both have the same procedures.
    let (_, main) = calls_and_main(&server, &include);
    let later = behind(&later.text, &include).replace("int main(", "static int async_main(");
    let server = format!("{later}\nstatic int server_main({main}");
    let (calls, main) = calls_and_main(&client, &include);
    let calls = calls.to_owned() + &posting_calls(&posting, &include);
    let calls = calls.replace("nearcall_environment_release(&env)", "prey_release(&env)");
    let mut text = format!(
        "#define _GNU_SOURCE\n#define NC_SIDE \"prey\"\n\
         #include <pthread.h>\n{include}#include \"prey.h\"\n{server}\n{calls}\n"
    );
    text += "static void call(nearcall_domain *domain, const char *name, unsigned interface,\n\
             unsigned operation, int is_posted) {\nnearcall_environment env;\nchar full[128];\n\
             snprintf(full, sizeof full, \"%s-%u\", name, interface);\nswitch (interface) {\n";
    for (interface, index) in test.interfaces.iter().zip(0..) {
        let tag = between(main, &format!("client_{index} = nearcall_import_"), "(");
        let _ = write!(
            text,
            "case {index}: {{\nstatic {tag} *own;\n\
             if (own == NULL || nearcall_is_revoked((const nearcall_client *)own)) {{\n\
             nearcall_release_{tag}(own);\nown = domain == NULL ? NULL : \
             nearcall_import_{tag}(domain, full, &env);\n}}\n\
             if (own == NULL) {{\nif (domain != NULL) {{ nc_stop(env.message); }}\nbreak;\n}}\n\
             if (domain == NULL) {{\nnearcall_release_{tag}(own);\nown = NULL;\nbreak;\n}}\n\
             switch (operation) {{\n"
        );
        for operation in &interface.operations {
            let _ = writeln!(text, "{}", either(operation.number, "own"));
        }
        text += "}\nbreak;\n}\n";
    }
    let count = test.interfaces.len();
    let _ = write!(
        text,
        "}}\n}}\n\nint main(int argc, char **argv) {{\nnearcall_environment env;\n\
         nearcall_domain *domain;\nunsigned interface;\nunsigned operation;\n\
         int is_posted;\nif (argc == 3 && strcmp(argv[1], \"server\") == 0) {{\n\
         return server_main(argc, argv);\n}}\n\
         if (argc == 3 && strcmp(argv[1], \"async\") == 0) {{\n\
         return async_main(argc, argv);\n}}\ndomain = nearcall_domain_new(&env);\n\
         while (prey_next(&interface, &operation, &is_posted)) {{\n\
         call(domain, argv[argc - 1], interface, operation, is_posted);\nprey_say();\n}}\n\
         /* Without a domain its clients are given back. */\n\
         for (interface = 0; interface < {count}; interface++) {{\n\
         call(NULL, \"\", interface, 0, 0);\n}}\nnearcall_domain_shut_down(domain);\n\
         nearcall_domain_release(domain);\nreturn 0;\n}}\n"
    );
    Program { files, text }
}

/// The program in C++.
pub fn cpp(model: &Model, stem: &str, test: &Selftest) -> Program {
    let Parts { files, server, client, posting, .. } = printed("cpp", model, stem, test);
    let include = format!("#include \"{stem}_selftest.hpp\"\n");
    let server = without_check(behind(&server.text, &include), "server");
    let server = server.replace("int main(", "static int server_main(");
    let (calls, main) = calls_and_main(&client, &include);
    let calls = without_check(&(calls.to_owned() + &posting_calls(&posting, &include)), "client");
    let calls = calls.replace("error.what()", "nc_check.told(error)");
    let mut text = format!("{include}#include \"prey.hpp\"\n{server}\n{calls}\n");
    let (mut owned, mut arms) = (String::new(), String::new());
    for (interface, index) in test.interfaces.iter().zip(0..) {
        let end = format!(" client_{index}(domain, name + \"-{index}\");");
        let class = main.lines().find_map(|line| line.trim().strip_suffix(&end));
        let class = class.expect("each interface has a client");
        let _ = writeln!(owned, "std::unique_ptr<{class}> own_{index};");
        let _ = write!(
            arms,
            "case {index}:\nif (!own_{index}) {{\n\
             own_{index}.reset(new {class}(domain, name + \"-{index}\"));\n}}\n\
             switch (operation) {{\n"
        );
        for operation in &interface.operations {
            let _ = writeln!(arms, "{}", either(operation.number, &format!("*own_{index}")));
        }
        let _ = write!(arms, "}}\nif (!nc_check.say()) {{\nown_{index}.reset();\n}}\nbreak;\n");
    }
    let _ = write!(
        text,
        "static int client_main(const std::string &name) try {{\nnearcall::domain domain;\n{{\n\
         {owned}unsigned interface;\nunsigned operation;\n\
         bool is_posted;\nwhile (std::cin >> interface >> operation >> is_posted) {{\n\
         switch (interface) {{\n{arms}}}\n}}\n}}\n\
         domain.shut_down();\nreturn 0;\n}} catch (const std::exception &error) {{\n\
         std::fprintf(stderr, \"client: %s\\n\", error.what());\nreturn 1;\n}}\n\n\
         int main(int argc, char **argv) {{\n\
         const bool is_server = argc == 3 && std::strcmp(argv[1], \"server\") == 0;\n\
         return is_server ? server_main(argc, argv) : client_main(argv[argc - 1]);\n}}\n"
    );
    Program { files, text }
}

/// What stands behind a line.
fn behind<'t>(text: &'t str, line: &str) -> &'t str {
    text.split_once(line).expect("it is in every self-test").1
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let rest = behind(text, before);
    rest.split_once(after).expect("it goes on").0
}

/// Both sides of a self-test have a check of their own.
fn without_check(text: &str, side: &str) -> String {
    let line = format!("static selftest::check nc_check(\"{side}\");\n");
    assert!(text.contains(&line), "{side} has no check");
    text.replace(&line, "")
}
