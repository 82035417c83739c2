//! Rules about characters, comments and tokens (clause 7.2).

use crate::diagnostic::Rule;

rules! {
    STRAY_CHARACTER = "E0001", "7.2", "a character outside literals and comments begins a token";
    UNTERMINATED_COMMENT = "E0002", "7.2.2", "a comment that `/*` begins is ended by `*/`";
    IDENTIFIER_START = "E0003", "7.2.3",
        "an identifier begins with an ASCII letter, after one `_` at most";
    IDENTIFIER_CHARACTER = "E0004", "7.2.3",
        "an identifier consists of ASCII letters, digits and `_`";
    MALFORMED_NUMBER = "E0005", "7.2.6",
        "a number consists of its digits, and has no suffix but `d`";
    INTEGER_RANGE = "E0006", "7.4.1.4.3", "an integer literal fits in 64 bits";
    OCTAL_DIGIT = "E0007", "7.2.6.1", "an integer that begins with `0` has octal digits only";
    HEXADECIMAL_DIGITS = "E0008", "7.2.6.1", "`0x` is followed by a hexadecimal digit";
    EXPONENT_DIGITS = "E0009", "7.2.6.4", "an exponent has digits";
    FLOAT_RANGE = "E0010", "ours", "a floating-point literal is in the range of double";
    FIXED_DIGITS = "E0011", "7.4.1.4.4.3.4", "a fixed-point literal has at most 31 digits";
    EMPTY_CHARACTER = "E0012", "7.2.6.2.1", "a character literal holds a character";
    CHARACTER_COUNT = "E0013", "7.2.6.2.1", "a character literal holds one character only";
    UNTERMINATED_CHARACTER = "E0014", "7.2.6.2.2", "a character literal ends on its line";
    CHARACTER_RANGE = "E0015", "7.2.6.2.1",
        "a character literal without `L` holds a character of ISO 8859-1";
    UNTERMINATED_STRING = "E0016", "7.2.6.3", "a string literal ends on its line";
    STRING_NUL = "E0017", "7.2.6.3", "a string literal does not hold the character NUL";
    UNKNOWN_ESCAPE = "E0018", "7.2.6.2.2", "an escape sequence is one of those the clause lists";
    ESCAPE_DIGITS = "E0019", "7.2.6.2.2", "`\\x` and `\\u` are followed by a hexadecimal digit";
    ESCAPE_RANGE = "E0020", "7.2.6.2.2", "an escape sequence names a character that exists";
    NARROW_UNICODE_ESCAPE = "E0021", "7.2.6.2.2", "`\\u` stands in wide literals only";
    PREPROCESSOR_TOKEN = "E0022", "7.2.5", "`#`, `!`, `&&` and their like stand in directives only";
    TOO_MANY_FINDINGS = "E0023", "ours",
        "the first 1000 findings about tokens and directives are reported";
}
