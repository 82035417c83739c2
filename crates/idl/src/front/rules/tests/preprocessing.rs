//! Bad input for the rules about files and directives.

use expect_test::expect;

use super::Case;
use crate::front::rules::preprocessing as rules;

pub(super) fn cases() -> Vec<Case> {
    let groups = [
        files(),
        includes(),
        limits_of_files(),
        directives(),
        conditionals(),
        the_order_of_groups(),
        messages(),
        lines(),
        pragmas(),
    ];
    groups.into_iter().flatten().collect()
}

fn files() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::FILE_UNREADABLE,
            files: &[("b.idl", "")],
            want: expect![[r#"
                error[E0050]: a.idl: no such file
                 --> a.idl:1:1
                  |
                1 |
                  | ^
                  |
                  = note: rule of Nearcall:
                          the file to compile can be read
            "#]],
        },
        Case {
            rule: &rules::INCLUDE_MISSING,
            files: &[("a.idl", "#include \"b.idl\"\n")],
            want: expect![[r#"
                error[E0051]: `b.idl` is in none of the directories searched
                 --> a.idl:1:10
                  |
                1 | #include "b.idl"
                  |          ^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          an included file is where it is searched for, and can be read
                  = help: searched: .
            "#]],
        },
        Case {
            rule: &rules::INCLUDE_MISSING,
            files: &[("a.idl", "#include <b.idl>\n")],
            want: expect![[r#"
                error[E0051]: `b.idl` is in none of the directories searched
                 --> a.idl:1:10
                  |
                1 | #include <b.idl>
                  |          ^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          an included file is where it is searched for, and can be read
                  = help: no include directory was given
            "#]],
        },
    ]
}

fn includes() -> Vec<Case> {
    vec![Case {
        rule: &rules::INCLUDE_MALFORMED,
        files: &[("a.idl", "#include\n#include b.idl\n")],
        want: expect![[r#"
            error[E0052]: `#include` without the name of a file
             --> a.idl:1:2
              |
            1 | #include
              |  ^^^^^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      `#include` is followed by `"name"` or `<name>`
              = help: write `#include "name"` or `#include <name>`

            error[E0052]: `b.idl` is no name of a file
             --> a.idl:2:2
              |
            2 | #include b.idl
              |  ^^^^^^^^^^^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      `#include` is followed by `"name"` or `<name>`
              = help: write `#include "name"` or `#include <name>`
        "#]],
    }]
}

fn limits_of_files() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::INCLUDE_DEPTH,
            files: &[("a.idl", "#include \"b.idl\"\n"), ("b.idl", "#include \"a.idl\"\n")],
            want: expect![[r#"
                error[E0053]: files nest deeper than 4: a.idl -> b.idl -> a.idl -> ...
                 --> b.idl:1:10
                  |
                1 | #include "a.idl"
                  |          ^^^^^^^
                  |
                  = note: rule of Nearcall:
                          files include one another to a limited depth
                  = help: guard each file with `#pragma once`
            "#]],
        },
        Case {
            rule: &rules::INCLUDE_COUNT,
            files: &[
                ("a.idl", "#include \"b.idl\"\n#include \"b.idl\"\n#include \"b.idl\"\n"),
                ("b.idl", "#include \"c.idl\"\n"),
                ("c.idl", "\n"),
            ],
            want: expect![[r#"
                error[E0054]: more than 6 files
                 --> b.idl:1:10
                  |
                1 | #include "c.idl"
                  |          ^^^^^^^
                  |
                  = note: rule of Nearcall:
                          a compilation includes a limited number of files
                  = help: guard each file with `#pragma once`
            "#]],
        },
        Case {
            rule: &rules::TEXT_LIMIT,
            files: &[
                ("a.idl", "#include \"b.idl\"\n#include \"b.idl\"\n#include \"b.idl\"\n"),
                ("b.idl", "// xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"),
            ],
            want: expect![[r#"
                error[E0055]: more than 200 bytes of text
                 --> a.idl:3:10
                  |
                3 | #include "b.idl"
                  |          ^^^^^^^
                  |
                  = note: rule of Nearcall:
                          the files of a compilation have a limited length together
            "#]],
        },
    ]
}

fn directives() -> Vec<Case> {
    vec![Case {
        rule: &rules::UNKNOWN_DIRECTIVE,
        files: &[("a.idl", "#elseif 1\n#inclde <a>\n#frobnicate\n")],
        want: expect![[r#"
            error[E0056]: unknown directive `#elseif`
             --> a.idl:1:2
              |
            1 | #elseif 1
              |  ^^^^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      a directive is one that the preprocessor knows
              = help: `#elif` is near

            error[E0056]: unknown directive `#inclde`
             --> a.idl:2:2
              |
            2 | #inclde <a>
              |  ^^^^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      a directive is one that the preprocessor knows
              = help: `#include` is near

            error[E0056]: unknown directive `#frobnicate`
             --> a.idl:3:2
              |
            3 | #frobnicate
              |  ^^^^^^^^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      a directive is one that the preprocessor knows
        "#]],
    }]
}

fn conditionals() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::CONDITIONAL_UNTERMINATED,
            files: &[("a.idl", "#ifdef A\n#else\n")],
            want: expect![[r#"
                error[E0057]: no `#endif` ends this `#ifdef`
                 --> a.idl:1:2
                  |
                1 | #ifdef A
                  |  ^^^^^
                2 | #else
                  |  ---- its `#else`
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `#if`, `#ifdef` and `#ifndef` are ended by `#endif` in the same file
            "#]],
        },
        Case {
            rule: &rules::CONDITIONAL_UNOPENED,
            files: &[("a.idl", "#endif\n#else\n#elif 1\n")],
            want: expect![[r#"
                error[E0058]: `#endif` without `#if`
                 --> a.idl:1:2
                  |
                1 | #endif
                  |  ^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `#elif`, `#else` and `#endif` follow an `#if` of the same file

                error[E0058]: `#else` without `#if`
                 --> a.idl:2:2
                  |
                2 | #else
                  |  ^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `#elif`, `#else` and `#endif` follow an `#if` of the same file

                error[E0058]: `#elif` without `#if`
                 --> a.idl:3:2
                  |
                3 | #elif 1
                  |  ^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `#elif`, `#else` and `#endif` follow an `#if` of the same file
            "#]],
        },
    ]
}

fn the_order_of_groups() -> Vec<Case> {
    vec![Case {
        rule: &rules::CONDITIONAL_ORDER,
        files: &[("a.idl", "#if 0\n#else\n#else\n#elif 1\n#endif\n")],
        want: expect![[r#"
            error[E0059]: `#else` after `#else`
             --> a.idl:3:2
              |
            1 | #if 0
              |  -- the conditional begins here
            2 | #else
              |  ---- its `#else`
            3 | #else
              |  ^^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      `#else` is the last part of a conditional

            error[E0059]: `#elif` after `#else`
             --> a.idl:4:2
              |
            1 | #if 0
              |  -- the conditional begins here
            2 | #else
              |  ---- its `#else`
            3 | #else
            4 | #elif 1
              |  ^^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      `#else` is the last part of a conditional
        "#]],
    }]
}

fn messages() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::ERROR_DIRECTIVE,
            files: &[("a.idl", "#error this  isn't \"right\"\n")],
            want: expect![[r#"
                error[E0076]: this isn't "right"
                 --> a.idl:1:2
                  |
                1 | #error this  isn't "right"
                  |  ^^^^^^^^^^^^^^^^^^^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `#error` stops the compilation
            "#]],
        },
        Case {
            rule: &rules::WARNING_DIRECTIVE,
            files: &[("a.idl", "#warning old\n")],
            want: expect![[r#"
                note[N0002]: old
                 --> a.idl:1:2
                  |
                1 | #warning old
                  |  ^^^^^^^^^^^
                  |
                  = note: rule of Nearcall:
                          `#warning` is repeated as a note
            "#]],
        },
    ]
}

fn lines() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::LINE_MALFORMED,
            files: &[("a.idl", "#line\n#line 0x10\n#line 3 b.idl\n")],
            want: expect![[r#"
                error[E0077]: nothing where the number of a line is due
                 --> a.idl:1:2
                  |
                1 | #line
                  |  ^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `#line` is followed by a line number and, at will, a file name

                error[E0077]: `0x10` where the number of a line is due
                 --> a.idl:2:2
                  |
                2 | #line 0x10
                  |  ^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `#line` is followed by a line number and, at will, a file name

                error[E0077]: `b` where the name of a file is due
                 --> a.idl:3:9
                  |
                3 | #line 3 b.idl
                  |         ^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `#line` is followed by a line number and, at will, a file name
            "#]],
        },
        Case {
            rule: &rules::EXTRA_TOKENS,
            files: &[("a.idl", "#ifdef A B\n#else C\n#endif D\n")],
            want: expect![[r#"
                note[N0003]: `B` after the end of `#ifdef`
                 --> a.idl:1:10
                  |
                1 | #ifdef A B
                  |          ^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          a directive ends where its operands end; the rest of the line is dropped

                note[N0003]: `C` after the end of `#else`
                 --> a.idl:2:7
                  |
                2 | #else C
                  |       ^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          a directive ends where its operands end; the rest of the line is dropped

                note[N0003]: `D` after the end of `#endif`
                 --> a.idl:3:8
                  |
                3 | #endif D
                  |        ^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          a directive ends where its operands end; the rest of the line is dropped
            "#]],
        },
    ]
}

fn pragmas() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::PRAGMA_MALFORMED,
            files: &[("a.idl", "#pragma prefix omg\n#pragma ID A::B \"x\"\n#pragma version A 1\n")],
            want: expect![[r#"
                error[E0078]: malformed `prefix omg`
                 --> a.idl:1:2
                  |
                1 | #pragma prefix omg
                  |  ^^^^^^^^^^^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.4.6.4.1.3:
                          the pragmas `prefix`, `ID` and `version` have the operands they need
                  = help: write `#pragma prefix "string"`

                error[E0078]: malformed `ID A::B "x"`
                 --> a.idl:2:2
                  |
                2 | #pragma ID A::B "x"
                  |  ^^^^^^^^^^^^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.4.6.4.1.3:
                          the pragmas `prefix`, `ID` and `version` have the operands they need
                  = help: write `#pragma ID name "format:string"`

                error[E0078]: malformed `version A 1`
                 --> a.idl:3:2
                  |
                3 | #pragma version A 1
                  |  ^^^^^^^^^^^^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.4.6.4.1.3:
                          the pragmas `prefix`, `ID` and `version` have the operands they need
                  = help: write `#pragma version name major.minor`
            "#]],
        },
        Case {
            rule: &rules::PRAGMA_DROPPED,
            files: &[("a.idl", "#pragma hh \"x.h\"\n")],
            want: expect![[r#"
                note[N0001]: the pragma `hh` has no meaning here
                 --> a.idl:1:9
                  |
                1 | #pragma hh "x.h"
                  |         ^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          a pragma that has no meaning here is dropped
            "#]],
        },
    ]
}
