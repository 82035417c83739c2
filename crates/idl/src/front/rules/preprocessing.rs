//! Rules about directives and macros (clause 7.3).

use crate::diagnostic::Rule;

/// Every rule of this area, in the order of the numbers.
pub static ALL: &[&Rule] = &[
    &FILE_UNREADABLE,
    &INCLUDE_MISSING,
    &INCLUDE_MALFORMED,
    &INCLUDE_DEPTH,
    &INCLUDE_COUNT,
    &TEXT_LIMIT,
    &UNKNOWN_DIRECTIVE,
    &CONDITIONAL_UNTERMINATED,
    &CONDITIONAL_UNOPENED,
    &CONDITIONAL_ORDER,
    &MACRO_NAME,
    &MACRO_RESERVED,
    &MACRO_REDEFINED,
    &MACRO_PARAMETERS,
    &MACRO_REPLACEMENT,
    &ARGUMENT_COUNT,
    &ARGUMENTS_UNTERMINATED,
    &PASTE,
    &EXPANSION_LIMIT,
    &ARGUMENT_DEPTH,
    &DIRECTIVE_IN_ARGUMENTS,
    &CONDITION_SYNTAX,
    &CONDITION_OPERAND,
    &CONDITION_DIVISION,
    &CONDITION_SHIFT,
    &CONDITION_DEPTH,
    &ERROR_DIRECTIVE,
    &LINE_MALFORMED,
    &PRAGMA_MALFORMED,
    &PRAGMA_DROPPED,
    &WARNING_DIRECTIVE,
    &EXTRA_TOKENS,
];

/// The file to compile can be read.
pub static FILE_UNREADABLE: Rule =
    Rule { code: "E0050", clause: "ours", title: "the file to compile can be read" };

/// An included file is where it is searched for, and can be read.
pub static INCLUDE_MISSING: Rule = Rule {
    code: "E0051",
    clause: "7.3",
    title: "an included file is where it is searched for, and can be read",
};

/// `#include` is followed by `"name"` or `<name>`.
pub static INCLUDE_MALFORMED: Rule = Rule {
    code: "E0052",
    clause: "7.3",
    title: "`#include` is followed by `\"name\"` or `<name>`",
};

/// Files include one another to a limited depth.
pub static INCLUDE_DEPTH: Rule =
    Rule { code: "E0053", clause: "ours", title: "files include one another to a limited depth" };

/// A compilation includes a limited number of files.
pub static INCLUDE_COUNT: Rule = Rule {
    code: "E0054",
    clause: "ours",
    title: "a compilation includes a limited number of files",
};

/// The files of a compilation have a limited length together.
pub static TEXT_LIMIT: Rule = Rule {
    code: "E0055",
    clause: "ours",
    title: "the files of a compilation have a limited length together",
};

/// A directive is one that the preprocessor knows.
pub static UNKNOWN_DIRECTIVE: Rule =
    Rule { code: "E0056", clause: "7.3", title: "a directive is one that the preprocessor knows" };

/// `#if`, `#ifdef` and `#ifndef` are ended by `#endif` in the same file.
pub static CONDITIONAL_UNTERMINATED: Rule = Rule {
    code: "E0057",
    clause: "7.3",
    title: "`#if`, `#ifdef` and `#ifndef` are ended by `#endif` in the same file",
};

/// `#elif`, `#else` and `#endif` follow an `#if` of the same file.
pub static CONDITIONAL_UNOPENED: Rule = Rule {
    code: "E0058",
    clause: "7.3",
    title: "`#elif`, `#else` and `#endif` follow an `#if` of the same file",
};

/// `#else` is the last part of a conditional.
pub static CONDITIONAL_ORDER: Rule =
    Rule { code: "E0059", clause: "7.3", title: "`#else` is the last part of a conditional" };

/// The name of a macro is an identifier.
pub static MACRO_NAME: Rule =
    Rule { code: "E0060", clause: "7.3", title: "the name of a macro is an identifier" };

/// `defined`, `__FILE__`, `__LINE__` and `__VA_ARGS__` keep their meaning.
pub static MACRO_RESERVED: Rule = Rule {
    code: "E0061",
    clause: "7.3",
    title: "`defined`, `__FILE__`, `__LINE__` and `__VA_ARGS__` keep their meaning",
};

/// A macro that is defined again has the same parameters and replacement.
pub static MACRO_REDEFINED: Rule = Rule {
    code: "E0062",
    clause: "7.3",
    title: "a macro that is defined again has the same parameters and replacement",
};

/// The parameters of a macro are different identifiers between `(` and `)`.
pub static MACRO_PARAMETERS: Rule = Rule {
    code: "E0063",
    clause: "7.3",
    title: "the parameters of a macro are different identifiers between `(` and `)`",
};

/// `#` stands before a parameter, and `##` between two tokens.
pub static MACRO_REPLACEMENT: Rule = Rule {
    code: "E0064",
    clause: "7.3",
    title: "`#` stands before a parameter, and `##` between two tokens",
};

/// A macro is given as many arguments as it has parameters.
pub static ARGUMENT_COUNT: Rule = Rule {
    code: "E0065",
    clause: "7.3",
    title: "a macro is given as many arguments as it has parameters",
};

/// The arguments of a macro are ended by `)` in the same file.
pub static ARGUMENTS_UNTERMINATED: Rule = Rule {
    code: "E0066",
    clause: "7.3",
    title: "the arguments of a macro are ended by `)` in the same file",
};

/// `##` makes one token of two.
pub static PASTE: Rule =
    Rule { code: "E0067", clause: "7.3", title: "`##` makes one token of two" };

/// Macros make a limited number of tokens.
pub static EXPANSION_LIMIT: Rule =
    Rule { code: "E0068", clause: "ours", title: "macros make a limited number of tokens" };

/// Macros stand in arguments of macros to a limited depth.
pub static ARGUMENT_DEPTH: Rule = Rule {
    code: "E0069",
    clause: "ours",
    title: "macros stand in arguments of macros to a limited depth",
};

/// `#include` and `#pragma` do not stand among the arguments of a macro.
pub static DIRECTIVE_IN_ARGUMENTS: Rule = Rule {
    code: "E0070",
    clause: "7.3",
    title: "`#include` and `#pragma` do not stand among the arguments of a macro",
};

/// `#if` and `#elif` are followed by an integer constant expression.
pub static CONDITION_SYNTAX: Rule = Rule {
    code: "E0071",
    clause: "7.3",
    title: "`#if` and `#elif` are followed by an integer constant expression",
};

/// The operands of a condition are integers of at most 64 bits.
pub static CONDITION_OPERAND: Rule = Rule {
    code: "E0072",
    clause: "7.3",
    title: "the operands of a condition are integers of at most 64 bits",
};

/// A condition does not divide by zero.
pub static CONDITION_DIVISION: Rule =
    Rule { code: "E0073", clause: "7.3", title: "a condition does not divide by zero" };

/// A condition shifts by 0 to 63 bits.
pub static CONDITION_SHIFT: Rule =
    Rule { code: "E0074", clause: "7.3", title: "a condition shifts by 0 to 63 bits" };

/// The operators of a condition nest to a limited depth.
pub static CONDITION_DEPTH: Rule = Rule {
    code: "E0075",
    clause: "ours",
    title: "the operators of a condition nest to a limited depth",
};

/// `#error` stops the compilation.
pub static ERROR_DIRECTIVE: Rule =
    Rule { code: "E0076", clause: "7.3", title: "`#error` stops the compilation" };

/// `#line` is followed by a line number and, at will, a file name.
pub static LINE_MALFORMED: Rule = Rule {
    code: "E0077",
    clause: "7.3",
    title: "`#line` is followed by a line number and, at will, a file name",
};

/// The pragmas `prefix`, `ID` and `version` have the operands they need.
pub static PRAGMA_MALFORMED: Rule = Rule {
    code: "E0078",
    clause: "7.4.6.4.1.3",
    title: "the pragmas `prefix`, `ID` and `version` have the operands they need",
};

/// A pragma that has no meaning here is dropped.
pub static PRAGMA_DROPPED: Rule =
    Rule { code: "N0001", clause: "7.3", title: "a pragma that has no meaning here is dropped" };

/// `#warning` is repeated as a note.
pub static WARNING_DIRECTIVE: Rule =
    Rule { code: "N0002", clause: "ours", title: "`#warning` is repeated as a note" };

/// A directive ends where its operands end; the rest of the line is dropped.
pub static EXTRA_TOKENS: Rule = Rule {
    code: "N0003",
    clause: "7.3",
    title: "a directive ends where its operands end; the rest of the line is dropped",
};
