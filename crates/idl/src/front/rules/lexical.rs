//! Rules about characters, comments and tokens (clause 7.2).

use crate::diagnostic::Rule;

/// Every rule of this area, in the order of the numbers.
pub static ALL: &[&Rule] = &[
    &STRAY_CHARACTER,
    &UNTERMINATED_COMMENT,
    &IDENTIFIER_START,
    &IDENTIFIER_CHARACTER,
    &MALFORMED_NUMBER,
    &INTEGER_RANGE,
    &OCTAL_DIGIT,
    &HEXADECIMAL_DIGITS,
    &EXPONENT_DIGITS,
    &FLOAT_RANGE,
    &FIXED_DIGITS,
    &EMPTY_CHARACTER,
    &CHARACTER_COUNT,
    &UNTERMINATED_CHARACTER,
    &CHARACTER_RANGE,
    &UNTERMINATED_STRING,
    &STRING_NUL,
    &UNKNOWN_ESCAPE,
    &ESCAPE_DIGITS,
    &ESCAPE_RANGE,
    &NARROW_UNICODE_ESCAPE,
    &PREPROCESSOR_TOKEN,
    &TOO_MANY_FINDINGS,
];

/// A character outside literals and comments begins a token.
pub static STRAY_CHARACTER: Rule = Rule {
    code: "E0001",
    clause: "7.2",
    title: "a character outside literals and comments begins a token",
};

/// A comment that `/*` begins is ended by `*/`.
pub static UNTERMINATED_COMMENT: Rule =
    Rule { code: "E0002", clause: "7.2.2", title: "a comment that `/*` begins is ended by `*/`" };

/// An identifier begins with an ASCII letter, after one `_` at most, which escapes it.
pub static IDENTIFIER_START: Rule = Rule {
    code: "E0003",
    clause: "7.2.3",
    title: "an identifier begins with an ASCII letter, after one `_` at most",
};

/// An identifier consists of ASCII letters, digits and `_`.
pub static IDENTIFIER_CHARACTER: Rule = Rule {
    code: "E0004",
    clause: "7.2.3",
    title: "an identifier consists of ASCII letters, digits and `_`",
};

/// A number consists of its digits, and has no suffix but `d`.
pub static MALFORMED_NUMBER: Rule = Rule {
    code: "E0005",
    clause: "7.2.6",
    title: "a number consists of its digits, and has no suffix but `d`",
};

/// An integer literal fits in 64 bits.
pub static INTEGER_RANGE: Rule =
    Rule { code: "E0006", clause: "7.4.1.4.3", title: "an integer literal fits in 64 bits" };

/// An integer that begins with `0` has octal digits only.
pub static OCTAL_DIGIT: Rule = Rule {
    code: "E0007",
    clause: "7.2.6.1",
    title: "an integer that begins with `0` has octal digits only",
};

/// `0x` is followed by a hexadecimal digit.
pub static HEXADECIMAL_DIGITS: Rule =
    Rule { code: "E0008", clause: "7.2.6.1", title: "`0x` is followed by a hexadecimal digit" };

/// An exponent has digits.
pub static EXPONENT_DIGITS: Rule =
    Rule { code: "E0009", clause: "7.2.6.4", title: "an exponent has digits" };

/// A floating-point literal is in the range of double.
pub static FLOAT_RANGE: Rule = Rule {
    code: "E0010",
    clause: "ours",
    title: "a floating-point literal is in the range of double",
};

/// A fixed-point literal has at most 31 digits.
pub static FIXED_DIGITS: Rule = Rule {
    code: "E0011",
    clause: "7.4.1.4.4.3.4",
    title: "a fixed-point literal has at most 31 digits",
};

/// A character literal holds a character.
pub static EMPTY_CHARACTER: Rule =
    Rule { code: "E0012", clause: "7.2.6.2.1", title: "a character literal holds a character" };

/// A character literal holds one character only.
pub static CHARACTER_COUNT: Rule = Rule {
    code: "E0013",
    clause: "7.2.6.2.1",
    title: "a character literal holds one character only",
};

/// A character literal ends on its line.
pub static UNTERMINATED_CHARACTER: Rule =
    Rule { code: "E0014", clause: "7.2.6.2.2", title: "a character literal ends on its line" };

/// A character literal without `L` holds a character of ISO 8859-1.
pub static CHARACTER_RANGE: Rule = Rule {
    code: "E0015",
    clause: "7.2.6.2.1",
    title: "a character literal without `L` holds a character of ISO 8859-1",
};

/// A string literal ends on its line.
pub static UNTERMINATED_STRING: Rule =
    Rule { code: "E0016", clause: "7.2.6.3", title: "a string literal ends on its line" };

/// A string literal does not hold the character NUL.
pub static STRING_NUL: Rule = Rule {
    code: "E0017",
    clause: "7.2.6.3",
    title: "a string literal does not hold the character NUL",
};

/// An escape sequence is one of those the clause lists.
pub static UNKNOWN_ESCAPE: Rule = Rule {
    code: "E0018",
    clause: "7.2.6.2.2",
    title: "an escape sequence is one of those the clause lists",
};

/// `\x` and `\u` are followed by a hexadecimal digit.
pub static ESCAPE_DIGITS: Rule = Rule {
    code: "E0019",
    clause: "7.2.6.2.2",
    title: "`\\x` and `\\u` are followed by a hexadecimal digit",
};

/// An escape sequence names a character that exists.
pub static ESCAPE_RANGE: Rule = Rule {
    code: "E0020",
    clause: "7.2.6.2.2",
    title: "an escape sequence names a character that exists",
};

/// `\u` stands in wide literals only.
pub static NARROW_UNICODE_ESCAPE: Rule =
    Rule { code: "E0021", clause: "7.2.6.2.2", title: "`\\u` stands in wide literals only" };

/// `#`, `!`, `&&` and their like stand in directives only.
pub static PREPROCESSOR_TOKEN: Rule = Rule {
    code: "E0022",
    clause: "7.2.5",
    title: "`#`, `!`, `&&` and their like stand in directives only",
};

/// The first 1000 findings about tokens and directives are reported.
pub static TOO_MANY_FINDINGS: Rule = Rule {
    code: "E0023",
    clause: "ours",
    title: "the first 1000 findings about tokens and directives are reported",
};
