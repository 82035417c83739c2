//! Bad input for the rules about characters, comments and tokens.

use expect_test::expect;

use super::Case;
use crate::front::rules::lexical as rules;

pub(super) fn cases() -> Vec<Case> {
    let groups = [
        characters_and_comments(),
        identifiers(),
        numbers(),
        integers(),
        fractions(),
        character_literals(),
        strings(),
        escapes(),
        escaped_characters(),
        the_rest(),
        a_limit(),
    ];
    groups.into_iter().flatten().collect()
}

fn characters_and_comments() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::STRAY_CHARACTER,
            files: &[("a.idl", "const long $x = 1;")],
            want: expect![[r#"
                error[E0001]: the character `$` (U+0024)
                 --> a.idl:1:12
                  |
                1 | const long $x = 1;
                  |            ^
                  |
                  = note: OMG IDL 4.2, clause 7.2:
                          a character outside literals and comments begins a token
            "#]],
        },
        Case {
            rule: &rules::STRAY_CHARACTER,
            files: &[("a.idl", "a \0 b `\u{20AC}\u{20AC} c")],
            want: expect![[r#"
                error[E0001]: the control character U+0000
                 --> a.idl:1:3
                  |
                1 | a ␀ b `€€ c
                  |   ^
                  |
                  = note: OMG IDL 4.2, clause 7.2:
                          a character outside literals and comments begins a token

                error[E0001]: the 3 characters ``€€`
                 --> a.idl:1:7
                  |
                1 | a ␀ b `€€ c
                  |       ^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2:
                          a character outside literals and comments begins a token
            "#]],
        },
        Case {
            rule: &rules::UNTERMINATED_COMMENT,
            files: &[("a.idl", "module M { };\n/* no end\n*")],
            want: expect![[r#"
                error[E0002]: no `*/` ends this comment
                 --> a.idl:2:1
                  |
                2 | /* no end
                  | ^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.2:
                          a comment that `/*` begins is ended by `*/`
            "#]],
        },
    ]
}

fn identifiers() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::IDENTIFIER_START,
            files: &[("a.idl", "struct __hidden { };")],
            want: expect![[r#"
                error[E0003]: the identifier `__hidden` begins with `__`
                 --> a.idl:1:8
                  |
                1 | struct __hidden { };
                  |        ^^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.3:
                          an identifier begins with an ASCII letter, after one `_` at most
            "#]],
        },
        Case {
            rule: &rules::IDENTIFIER_START,
            files: &[("a.idl", "long _;")],
            want: expect![[r#"
                error[E0003]: the identifier `_` has no letter
                 --> a.idl:1:6
                  |
                1 | long _;
                  |      ^
                  |
                  = note: OMG IDL 4.2, clause 7.2.3:
                          an identifier begins with an ASCII letter, after one `_` at most
            "#]],
        },
        Case {
            rule: &rules::IDENTIFIER_CHARACTER,
            files: &[("a.idl", "struct Caf\u{E9} { };")],
            want: expect![[r#"
                error[E0004]: the letter `é` in the identifier `Café`
                 --> a.idl:1:8
                  |
                1 | struct Café { };
                  |        ^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.3:
                          an identifier consists of ASCII letters, digits and `_`
            "#]],
        },
    ]
}

fn numbers() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::MALFORMED_NUMBER,
            files: &[("a.idl", "const long a = 10L;")],
            want: expect![[r#"
                error[E0005]: `L` after the digits of `10L`
                 --> a.idl:1:16
                  |
                1 | const long a = 10L;
                  |                ^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6:
                          a number consists of its digits, and has no suffix but `d`
                  = help: a number has no suffix; the type of the constant decides
            "#]],
        },
        Case {
            rule: &rules::MALFORMED_NUMBER,
            files: &[("a.idl", "const long a = 12ab;")],
            want: expect![[r#"
                error[E0005]: `ab` after the digits of `12ab`
                 --> a.idl:1:16
                  |
                1 | const long a = 12ab;
                  |                ^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6:
                          a number consists of its digits, and has no suffix but `d`
            "#]],
        },
        Case {
            rule: &rules::EXPONENT_DIGITS,
            files: &[("a.idl", "const double a = 1.5e+;")],
            want: expect![[r#"
                error[E0009]: the exponent of `1.5e+` has no digits
                 --> a.idl:1:18
                  |
                1 | const double a = 1.5e+;
                  |                  ^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.4:
                          an exponent has digits
            "#]],
        },
    ]
}

fn integers() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::INTEGER_RANGE,
            files: &[("a.idl", "const long a = 18446744073709551616;")],
            want: expect![[r#"
                error[E0006]: `18446744073709551616` is larger than 18446744073709551615
                 --> a.idl:1:16
                  |
                1 | const long a = 18446744073709551616;
                  |                ^^^^^^^^^^^^^^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.4.1.4.3:
                          an integer literal fits in 64 bits
            "#]],
        },
        Case {
            rule: &rules::OCTAL_DIGIT,
            files: &[("a.idl", "const long a = 0189;")],
            want: expect![[r#"
                error[E0007]: the digit `8` in the octal number `0189`
                 --> a.idl:1:16
                  |
                1 | const long a = 0189;
                  |                ^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.1:
                          an integer that begins with `0` has octal digits only
                  = help: a decimal number does not begin with `0`
            "#]],
        },
        Case {
            rule: &rules::HEXADECIMAL_DIGITS,
            files: &[("a.idl", "const long a = 0x;")],
            want: expect![[r#"
                error[E0008]: `0x` has no hexadecimal digit
                 --> a.idl:1:16
                  |
                1 | const long a = 0x;
                  |                ^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.1:
                          `0x` is followed by a hexadecimal digit
            "#]],
        },
    ]
}

fn fractions() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::FLOAT_RANGE,
            files: &[("a.idl", "const double a = 1e999;")],
            want: expect![[r#"
                error[E0010]: `1e999` is larger than 1.7976931348623157e308, the largest double
                 --> a.idl:1:18
                  |
                1 | const double a = 1e999;
                  |                  ^^^^^
                  |
                  = note: rule of Nearcall:
                          a floating-point literal is in the range of double
            "#]],
        },
        Case {
            rule: &rules::FIXED_DIGITS,
            files: &[("a.idl", "const fixed a = 1234567890123456789.0123456789012d;")],
            want: expect![[r#"
                error[E0011]: `1234567890123456789.0123456789012d` has 32 digits; at most 31
                 --> a.idl:1:17
                  |
                1 | const fixed a = 1234567890123456789.0123456789012d;
                  |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.4.1.4.4.3.4:
                          a fixed-point literal has at most 31 digits
            "#]],
        },
    ]
}

fn character_literals() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::EMPTY_CHARACTER,
            files: &[("a.idl", "const char a = '';")],
            want: expect![[r#"
                error[E0012]: a character literal without a character
                 --> a.idl:1:16
                  |
                1 | const char a = '';
                  |                ^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.2.1:
                          a character literal holds a character
            "#]],
        },
        Case {
            rule: &rules::CHARACTER_COUNT,
            files: &[("a.idl", "const char a = 'ab';")],
            want: expect![[r#"
                error[E0013]: `'ab'` holds 2 characters
                 --> a.idl:1:16
                  |
                1 | const char a = 'ab';
                  |                ^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.2.1:
                          a character literal holds one character only
                  = help: a string stands between `"`
            "#]],
        },
        Case {
            rule: &rules::UNTERMINATED_CHARACTER,
            files: &[("a.idl", "const char a = 'b;\nlong c;")],
            want: expect![[r#"
                error[E0014]: no `'` ends `'b;` on its line
                 --> a.idl:1:16
                  |
                1 | const char a = 'b;
                  |                ^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.2.2:
                          a character literal ends on its line
            "#]],
        },
        Case {
            rule: &rules::CHARACTER_RANGE,
            files: &[("a.idl", "const char a = '\u{20AC}';")],
            want: expect![[r#"
                error[E0015]: `'€'` is no character of ISO 8859-1
                 --> a.idl:1:16
                  |
                1 | const char a = '€';
                  |                ^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.2.1:
                          a character literal without `L` holds a character of ISO 8859-1
                  = help: declare it `wchar` and write `L'€'`
            "#]],
        },
    ]
}

fn strings() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::UNTERMINATED_STRING,
            files: &[("a.idl", "const string a = \"b;\nlong c;")],
            want: expect![[r#"
                error[E0016]: no `"` ends `"b;` on its line
                 --> a.idl:1:18
                  |
                1 | const string a = "b;
                  |                  ^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.3:
                          a string literal ends on its line
                  = help: neighbouring strings are joined: end each on its line
            "#]],
        },
        Case {
            rule: &rules::STRING_NUL,
            files: &[("a.idl", "const string a = \"b\\0c\";")],
            want: expect![[r#"
                error[E0017]: the character NUL in a string, whose end it marks in C
                 --> a.idl:1:20
                  |
                1 | const string a = "b\0c";
                  |                    ^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.3:
                          a string literal does not hold the character NUL
            "#]],
        },
    ]
}

fn escapes() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::UNKNOWN_ESCAPE,
            files: &[("a.idl", "const string a = \"b\\qc\";")],
            want: expect![[r#"
                error[E0018]: the unknown escape `\q`
                 --> a.idl:1:20
                  |
                1 | const string a = "b\qc";
                  |                    ^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.2.2:
                          an escape sequence is one of those the clause lists
                  = help: a backslash is written `\\`
            "#]],
        },
        Case {
            rule: &rules::ESCAPE_DIGITS,
            files: &[("a.idl", "const string a = \"b\\xyz\";")],
            want: expect![[r#"
                error[E0019]: no hexadecimal digit after `\x`
                 --> a.idl:1:20
                  |
                1 | const string a = "b\xyz";
                  |                    ^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.2.2:
                          `\x` and `\u` are followed by a hexadecimal digit
            "#]],
        },
    ]
}

fn escaped_characters() -> Vec<Case> {
    vec![
        Case {
            rule: &rules::ESCAPE_RANGE,
            files: &[("a.idl", "const char a = '\\400';")],
            want: expect![[r#"
                error[E0020]: `\400` is larger than `\377`, the last character of ISO 8859-1
                 --> a.idl:1:17
                  |
                1 | const char a = '\400';
                  |                 ^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.2.2:
                          an escape sequence names a character that exists
            "#]],
        },
        Case {
            rule: &rules::ESCAPE_RANGE,
            files: &[("a.idl", "const wchar a = L'\\uD800';")],
            want: expect![[r#"
                error[E0020]: `\uD800` is half of a surrogate pair, no character
                 --> a.idl:1:19
                  |
                1 | const wchar a = L'\uD800';
                  |                   ^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.2.2:
                          an escape sequence names a character that exists
            "#]],
        },
        Case {
            rule: &rules::NARROW_UNICODE_ESCAPE,
            files: &[("a.idl", "const string a = \"\\u00e9\";")],
            want: expect![[r#"
                error[E0021]: `\u` in a literal that is not wide
                 --> a.idl:1:19
                  |
                1 | const string a = "\u00e9";
                  |                   ^^^^^^
                  |
                  = note: OMG IDL 4.2, clause 7.2.6.2.2:
                          `\u` stands in wide literals only
                  = help: put `L` before the quote, or write the character itself
            "#]],
        },
    ]
}

fn the_rest() -> Vec<Case> {
    vec![Case {
        rule: &rules::PREPROCESSOR_TOKEN,
        files: &[("a.idl", "a # b && c")],
        want: expect![[r#"
            error[E0022]: `#` outside a directive
             --> a.idl:1:3
              |
            1 | a # b && c
              |   ^
              |
              = note: OMG IDL 4.2, clause 7.2.5:
                      `#`, `!`, `&&` and their like stand in directives only
              = help: a directive begins a line

            error[E0022]: `&&` outside a directive
             --> a.idl:1:7
              |
            1 | a # b && c
              |       ^^
              |
              = note: OMG IDL 4.2, clause 7.2.5:
                      `#`, `!`, `&&` and their like stand in directives only
        "#]],
    }]
}

fn a_limit() -> Vec<Case> {
    vec![Case {
        rule: &rules::TOO_MANY_FINDINGS,
        files: &[("a.idl", "1a 2b 3c 4d 5e 6f 7g")],
        want: expect![[r#"
            error[E0005]: `a` after the digits of `1a`
             --> a.idl:1:1
              |
            1 | 1a 2b 3c 4d 5e 6f 7g
              | ^^
              |
              = note: OMG IDL 4.2, clause 7.2.6:
                      a number consists of its digits, and has no suffix but `d`

            error[E0005]: `b` after the digits of `2b`
             --> a.idl:1:4
              |
            1 | 1a 2b 3c 4d 5e 6f 7g
              |    ^^
              |
              = note: OMG IDL 4.2, clause 7.2.6:
                      a number consists of its digits, and has no suffix but `d`

            error[E0005]: `c` after the digits of `3c`
             --> a.idl:1:7
              |
            1 | 1a 2b 3c 4d 5e 6f 7g
              |       ^^
              |
              = note: OMG IDL 4.2, clause 7.2.6:
                      a number consists of its digits, and has no suffix but `d`

            error[E0009]: the exponent of `5e` has no digits
             --> a.idl:1:13
              |
            1 | 1a 2b 3c 4d 5e 6f 7g
              |             ^^
              |
              = note: OMG IDL 4.2, clause 7.2.6.4:
                      an exponent has digits

            error[E0005]: `f` after the digits of `6f`
             --> a.idl:1:16
              |
            1 | 1a 2b 3c 4d 5e 6f 7g
              |                ^^
              |
              = note: OMG IDL 4.2, clause 7.2.6:
                      a number consists of its digits, and has no suffix but `d`
              = help: a number has no suffix; the type of the constant decides

            error[E0023]: more than 5 findings; the rest are not shown
             --> a.idl:1:19
              |
            1 | 1a 2b 3c 4d 5e 6f 7g
              |                   ^^
              |
              = note: rule of Nearcall:
                      the first 1000 findings about tokens and directives are reported
              = help: is this an interface file? Mend the first findings and compile again
        "#]],
    }]
}
