//! Bad input for the rules about macros.

use expect_test::expect;

use super::Case;
use crate::front::rules::preprocessing as rules;

pub(super) fn cases() -> Vec<Case> {
    let groups = [
        names(),
        reserved_names(),
        parameters(),
        replacements(),
        arguments(),
        ends_of_arguments(),
        limits_of_macros(),
    ];
    groups.into_iter().flatten().collect()
}

fn names() -> Vec<Case> {
    vec![Case {
        rule: &rules::MACRO_NAME,
        files: &[("a.idl", "#define\n#undef 1\n#ifdef\n#endif\n#ifndef +\n#endif\n")],
        want: expect![[r#"
            error[E0060]: `#define` without the name of a macro
             --> a.idl:1:2
              |
            1 | #define
              |  ^^^^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the name of a macro is an identifier

            error[E0060]: `1` is no name of a macro
             --> a.idl:2:8
              |
            2 | #undef 1
              |        ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the name of a macro is an identifier

            error[E0060]: `#ifdef` without the name of a macro
             --> a.idl:3:2
              |
            3 | #ifdef
              |  ^^^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the name of a macro is an identifier

            error[E0060]: `+` is no name of a macro
             --> a.idl:5:9
              |
            5 | #ifndef +
              |         ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the name of a macro is an identifier
        "#]],
    }]
}

fn reserved_names() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::MACRO_RESERVED,
            files: &[("a.idl", "#define defined 1\n#undef __LINE__\n#define F(a) __VA_ARGS__\n")],
            want: expect![[r#"
                error[E0061]: `#define` of `defined`
                 --> a.idl:1:9
                  |
                1 | #define defined 1
                  |         ^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `defined`, `__FILE__`, `__LINE__` and `__VA_ARGS__` keep their meaning

                error[E0061]: `#undef` of `__LINE__`
                 --> a.idl:2:8
                  |
                2 | #undef __LINE__
                  |        ^^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `defined`, `__FILE__`, `__LINE__` and `__VA_ARGS__` keep their meaning

                error[E0061]: `__VA_ARGS__` in a macro without `...`
                 --> a.idl:3:14
                  |
                3 | #define F(a) __VA_ARGS__
                  |              ^^^^^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `defined`, `__FILE__`, `__LINE__` and `__VA_ARGS__` keep their meaning
            "#]],
        },
        Case {
            rule: &rules::MACRO_REDEFINED,
            files: &[("a.idl", "#define A 1\n#define A 1\n#define A 2\n")],
            want: expect![[r#"
                error[E0062]: the macro `A` is defined otherwise
                 --> a.idl:3:9
                  |
                2 | #define A 1
                  |         - first defined here
                3 | #define A 2
                  |         ^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          a macro that is defined again has the same parameters and replacement
                  = help: `#undef A` before it is defined anew
            "#]],
        },
    ]
}

fn parameters() -> Vec<Case> {
    vec![Case {
        rule: &rules::MACRO_PARAMETERS,
        files: &[(
            "a.idl",
            "#define A(a\n#define B(1) x\n#define C(a, a) x\n#define D(a b) x\n#define E(..., a)\n",
        )],
        want: expect![[r#"
            error[E0063]: the parameters are not ended by `)`
             --> a.idl:1:10
              |
            1 | #define A(a
              |          ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the parameters of a macro are different identifiers between `(` and `)`

            error[E0063]: `1` is no name of a parameter
             --> a.idl:2:11
              |
            2 | #define B(1) x
              |           ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the parameters of a macro are different identifiers between `(` and `)`

            error[E0063]: the parameter `a` twice
             --> a.idl:3:14
              |
            3 | #define C(a, a) x
              |              ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the parameters of a macro are different identifiers between `(` and `)`

            error[E0063]: `b` where `,` or `)` is due
             --> a.idl:4:13
              |
            4 | #define D(a b) x
              |             ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the parameters of a macro are different identifiers between `(` and `)`

            error[E0063]: `,` where `)` is due
             --> a.idl:5:14
              |
            5 | #define E(..., a)
              |              ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the parameters of a macro are different identifiers between `(` and `)`
        "#]],
    }]
}

fn replacements() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::MACRO_REPLACEMENT,
            files: &[("a.idl", "#define A(a) #b\n#define B ## b\n#define C a ##\n")],
            want: expect![[r#"
                error[E0064]: `#` without a parameter after it
                 --> a.idl:1:14
                  |
                1 | #define A(a) #b
                  |              ^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `#` stands before a parameter, and `##` between two tokens

                error[E0064]: `##` without a token before it
                 --> a.idl:2:11
                  |
                2 | #define B ## b
                  |           ^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `#` stands before a parameter, and `##` between two tokens

                error[E0064]: `##` without a token after it
                 --> a.idl:3:13
                  |
                3 | #define C a ##
                  |             ^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `#` stands before a parameter, and `##` between two tokens
            "#]],
        },
        Case {
            rule: &rules::PASTE,
            files: &[("a.idl", "#define F(a, b) a ## b\nF(x, +)\n")],
            want: expect![[r#"
                error[E0067]: `##` of `x` and `+` makes no token
                 --> a.idl:2:1
                  |
                2 | F(x, +)
                  | ^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `##` makes one token of two
            "#]],
        },
    ]
}

fn arguments() -> Vec<Case> {
    vec![Case {
        rule: &rules::ARGUMENT_COUNT,
        files: &[("a.idl", "#define F(a, b) a\nF(1) F(1, 2, 3)\n#define G() 1\nG(2)\n")],
        want: expect![[r#"
            error[E0065]: arguments of `F`: 1 given, 2 due
             --> a.idl:2:1
              |
            1 | #define F(a, b) a
              |         - defined here
            2 | F(1) F(1, 2, 3)
              | ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      a macro is given as many arguments as it has parameters

            error[E0065]: arguments of `F`: 3 given, 2 due
             --> a.idl:2:6
              |
            1 | #define F(a, b) a
              |         - defined here
            2 | F(1) F(1, 2, 3)
              |      ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      a macro is given as many arguments as it has parameters

            error[E0065]: arguments of `G`: 1 given, 0 due
             --> a.idl:4:1
              |
            3 | #define G() 1
              |         - defined here
            4 | G(2)
              | ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      a macro is given as many arguments as it has parameters
        "#]],
    }]
}

fn ends_of_arguments() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::ARGUMENTS_UNTERMINATED,
            files: &[("a.idl", "#define F(a) a\nF(1\n")],
            want: expect![[r#"
                error[E0066]: no `)` ends the arguments of `F`
                 --> a.idl:2:1
                  |
                2 | F(1
                  | ^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          the arguments of a macro are ended by `)` in the same file
            "#]],
        },
        Case {
            rule: &rules::DIRECTIVE_IN_ARGUMENTS,
            files: &[("a.idl", "#define F(a) a\nF(\n#include \"b.idl\"\n1)\n")],
            want: expect![[r#"
                error[E0070]: `#include` among the arguments of a macro
                 --> a.idl:3:2
                  |
                3 | #include "b.idl"
                  |  ^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          `#include` and `#pragma` do not stand among the arguments of a macro
            "#]],
        },
    ]
}

fn limits_of_macros() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::EXPANSION_LIMIT,
            files: &[(
                "a.idl",
                "#define A x x x x x\n#define B A A A A A\n#define C B B B B B\nC\n",
            )],
            want: expect![[r#"
                error[E0068]: macros make more than 100 tokens
                 --> a.idl:4:1
                  |
                4 | C
                  | ^
                  |
                  = note: rule of Nearcall:
                          macros make a limited number of tokens
            "#]],
        },
        Case {
            rule: &rules::ARGUMENT_DEPTH,
            files: &[("a.idl", "#define F(a) a\nF(F(F(F(1))))\n")],
            want: expect![[r#"
                error[E0069]: arguments of macros nest deeper than 3
                 --> a.idl:2:7
                  |
                2 | F(F(F(F(1))))
                  |       ^
                  |
                  = note: rule of Nearcall:
                          macros stand in arguments of macros to a limited depth
            "#]],
        },
    ]
}
