//! Bad input for the rules about the expressions of conditions.

use expect_test::expect;

use super::Case;
use crate::front::rules::preprocessing as rules;

pub(super) fn cases() -> Vec<Case> {
    let groups = [expressions(), operands(), operators()];
    groups.into_iter().flatten().collect()
}

fn expressions() -> Vec<Case> {
    vec![Case {
        rule: &rules::CONDITION_SYNTAX,
        files: &[("a.idl", "#if\n#elif 1 2\n#elif (1\n#elif 1 ? 2\n#elif defined(\n#endif\n")],
        want: expect![[r#"
            error[E0071]: the end of the line where an operand is due
             --> a.idl:1:2
              |
            1 | #if
              |  ^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      `#if` and `#elif` are followed by an integer constant expression

            error[E0071]: `2` where an operator is due
             --> a.idl:2:9
              |
            2 | #elif 1 2
              |         ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      `#if` and `#elif` are followed by an integer constant expression

            error[E0071]: the end of the line where `)` is due
             --> a.idl:3:8
              |
            3 | #elif (1
              |        ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      `#if` and `#elif` are followed by an integer constant expression

            error[E0071]: the end of the line where `:` is due
             --> a.idl:4:11
              |
            4 | #elif 1 ? 2
              |           ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      `#if` and `#elif` are followed by an integer constant expression

            error[E0071]: the end of the line where the name of a macro is due
             --> a.idl:5:14
              |
            5 | #elif defined(
              |              ^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      `#if` and `#elif` are followed by an integer constant expression
        "#]],
    }]
}

fn operands() -> Vec<Case> {
    vec![Case {
        rule: &rules::CONDITION_OPERAND,
        files: &[(
            "a.idl",
            "#if \"a\"\n#elif 1.5\n#elif 'ab'\n#elif 99999999999999999999\n#endif\n",
        )],
        want: expect![[r#"
            error[E0072]: `"a"` is no integer
             --> a.idl:1:5
              |
            1 | #if "a"
              |     ^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the operands of a condition are integers of at most 64 bits

            error[E0072]: `1.5` is no integer
             --> a.idl:2:7
              |
            2 | #elif 1.5
              |       ^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the operands of a condition are integers of at most 64 bits

            error[E0072]: `'ab'` is no single character
             --> a.idl:3:7
              |
            3 | #elif 'ab'
              |       ^^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the operands of a condition are integers of at most 64 bits

            error[E0072]: `99999999999999999999` is larger than 18446744073709551615
             --> a.idl:4:7
              |
            4 | #elif 99999999999999999999
              |       ^^^^^^^^^^^^^^^^^^^^
              |
              = note: OMG IDL 4.2, clause 7.3:
                      the operands of a condition are integers of at most 64 bits
        "#]],
    }]
}

fn operators() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::CONDITION_DIVISION,
            files: &[("a.idl", "#if 7 % (2 - 2)\n#endif\n")],
            want: expect![[r#"
                error[E0073]: `7 % 0` divides by zero
                 --> a.idl:1:7
                  |
                1 | #if 7 % (2 - 2)
                  |       ^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          a condition does not divide by zero
            "#]],
        },
        Case {
            rule: &rules::CONDITION_SHIFT,
            files: &[("a.idl", "#if 1 << 64\n#endif\n")],
            want: expect![[r#"
                error[E0074]: a shift by 64 bits; 0 to 63 are possible
                 --> a.idl:1:7
                  |
                1 | #if 1 << 64
                  |       ^^
                  |
                  = note: OMG IDL 4.2, clause 7.3:
                          a condition shifts by 0 to 63 bits
            "#]],
        },
        Case {
            rule: &rules::CONDITION_DEPTH,
            files: &[(
                "a.idl",
                "#if !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!1\n#endif\n",
            )],
            want: expect![[r#"
                error[E0075]: the operators of the condition nest deeper than 64
                 --> a.idl:1:68
                  |
                1 | #if !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!1
                  |                                                                    ^
                  |
                  = note: rule of Nearcall:
                          the operators of a condition nest to a limited depth
            "#]],
        },
    ]
}
