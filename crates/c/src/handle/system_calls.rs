//! `include/nearcall_system_calls.h`: the lists of `nearcall::system_calls`, for programs in C and
//! C++ that confine themselves.

use std::collections::BTreeMap;

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

/* What aarch64 does not have, and what takes its place there. */
#ifdef __aarch64__
#define NEARCALL_OLD_SYSTEM_CALL(DO, name)
#define NEARCALL_NEW_SYSTEM_CALL(DO, name) DO(name)
#else
#define NEARCALL_OLD_SYSTEM_CALL(DO, name) DO(name)
#define NEARCALL_NEW_SYSTEM_CALL(DO, name)
#endif

/* Once bindings are made: for calls of every kind, and for their end. */
{calling}
/* On top, to make a domain, to import, to export, and for as long as importers are admitted. */
{binding}
#endif
"
    )
}

/// Calls of x86-64 that aarch64 does not have, and what the C library makes there for each.
const RENAMED: [(&str, &str); 4] =
    [("chmod", "fchmodat"), ("mkdir", "mkdirat"), ("open", "openat"), ("unlink", "unlinkat")];

/// Where that has the one, glibc makes the other there, too.
const ADDED: [(&str, &str); 1] = [("clone3", "clone")];

/// Of a list of x86-64.
fn macro_of(name: &str, calls: &[&str]) -> String {
    let is_old = |call: &str| RENAMED.iter().any(|(old, _)| *old == call);
    let others = RENAMED.iter().chain(&ADDED);
    let new = others.filter(|(old, new)| calls.contains(old) && !calls.contains(new));
    let new = new.map(|(_, new)| (*new, format!("NEARCALL_NEW_SYSTEM_CALL(DO, {new})")));
    let listed = calls.iter().map(|call| match is_old(call) {
        true => (*call, format!("NEARCALL_OLD_SYSTEM_CALL(DO, {call})")),
        false => (*call, format!("DO({call})")),
    });
    let lines: BTreeMap<_, _> = listed.chain(new).collect();
    let mut text = format!("#define {name}(DO)");
    for line in lines.values() {
        text += &format!(" \\\n    {line}");
    }
    text + "\n"
}

#[test]
fn c_has_the_lists_that_rust_has() {
    expect_test::expect_file!["../../include/nearcall_system_calls.h"].assert_eq(&header());
}
