//! `include/nearcall_system_calls.h`: the lists of `nearcall::system_calls`, for programs in C and
//! C++ that confine themselves.

use nearcall::system_calls::{BINDING, CALLING};

/// Both lists, as macros that do something with each name.
fn header() -> String {
    let calling = macro_of("NEARCALL_CALLING_SYSTEM_CALLS", CALLING);
    let binding = macro_of("NEARCALL_BINDING_SYSTEM_CALLS", BINDING);
    format!(
        "\
/* Made by crates/c/src/handle/system_calls.rs, where a test compares them.
 *
 * The system calls that a domain needs, for a program that confines itself with seccomp
 * (docs/system-calls.md): DO is done with the name of each, as
 *
 *     #define NUMBER(name) SYS_##name,
 *     static const int allowed[] = {{
 *         NEARCALL_CALLING_SYSTEM_CALLS(NUMBER) NEARCALL_BINDING_SYSTEM_CALLS(NUMBER)}};
 *
 * or, with libseccomp, seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(name), 0). nearcall.h does
 * not include this. */
#ifndef NEARCALL_SYSTEM_CALLS_H
#define NEARCALL_SYSTEM_CALLS_H

/* Once bindings are made: for calls of every kind, and for their end. */
{calling}
/* On top, to make a domain, to import, to export, and for as long as importers are admitted. */
{binding}
#endif
"
    )
}

fn macro_of(name: &str, calls: &[&str]) -> String {
    let mut text = format!("#define {name}(DO)");
    for call in calls {
        text += &format!(" \\\n    DO({call})");
    }
    text + "\n"
}

#[test]
fn c_has_the_lists_that_rust_has() {
    expect_test::expect_file!["../../include/nearcall_system_calls.h"].assert_eq(&header());
}
