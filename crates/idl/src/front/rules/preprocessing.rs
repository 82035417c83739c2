//! Rules about directives and macros (clause 7.3).

use crate::diagnostic::Rule;

rules! {
    FILE_UNREADABLE = "E0050", "ours", "the file to compile can be read";
    INCLUDE_MISSING = "E0051", "7.3",
        "an included file is where it is searched for, and can be read";
    INCLUDE_MALFORMED = "E0052", "7.3", "`#include` is followed by `\"name\"` or `<name>`";
    INCLUDE_DEPTH = "E0053", "ours", "files include one another to a limited depth";
    INCLUDE_COUNT = "E0054", "ours", "a compilation includes a limited number of files";
    TEXT_LIMIT = "E0055", "ours", "the files of a compilation have a limited length together";
    UNKNOWN_DIRECTIVE = "E0056", "7.3", "a directive is one that the preprocessor knows";
    CONDITIONAL_UNTERMINATED = "E0057", "7.3",
        "`#if`, `#ifdef` and `#ifndef` are ended by `#endif` in the same file";
    CONDITIONAL_UNOPENED = "E0058", "7.3",
        "`#elif`, `#else` and `#endif` follow an `#if` of the same file";
    CONDITIONAL_ORDER = "E0059", "7.3", "`#else` is the last part of a conditional";
    MACRO_NAME = "E0060", "7.3", "the name of a macro is an identifier";
    MACRO_RESERVED = "E0061", "7.3",
        "`defined`, `__FILE__`, `__LINE__` and `__VA_ARGS__` keep their meaning";
    MACRO_REDEFINED = "E0062", "7.3",
        "a macro that is defined again has the same parameters and replacement";
    MACRO_PARAMETERS = "E0063", "7.3",
        "the parameters of a macro are different identifiers between `(` and `)`";
    MACRO_REPLACEMENT = "E0064", "7.3",
        "`#` stands before a parameter, and `##` between two tokens";
    ARGUMENT_COUNT = "E0065", "7.3", "a macro is given as many arguments as it has parameters";
    ARGUMENTS_UNTERMINATED = "E0066", "7.3",
        "the arguments of a macro are ended by `)` in the same file";
    PASTE = "E0067", "7.3", "`##` makes one token of two";
    EXPANSION_LIMIT = "E0068", "ours", "macros make a limited number of tokens";
    ARGUMENT_DEPTH = "E0069", "ours", "macros stand in arguments of macros to a limited depth";
    DIRECTIVE_IN_ARGUMENTS = "E0070", "7.3",
        "`#include` and `#pragma` do not stand among the arguments of a macro";
    CONDITION_SYNTAX = "E0071", "7.3",
        "`#if` and `#elif` are followed by an integer constant expression";
    CONDITION_OPERAND = "E0072", "7.3",
        "the operands of a condition are integers of at most 64 bits";
    CONDITION_DIVISION = "E0073", "7.3", "a condition does not divide by zero";
    CONDITION_SHIFT = "E0074", "7.3", "a condition shifts by 0 to 63 bits";
    CONDITION_DEPTH = "E0075", "ours", "the operators of a condition nest to a limited depth";
    ERROR_DIRECTIVE = "E0076", "7.3", "`#error` stops the compilation";
    LINE_MALFORMED = "E0077", "7.3",
        "`#line` is followed by a line number and, at will, a file name";
    PRAGMA_MALFORMED = "E0078", "7.4.6.4.1.3",
        "the pragmas `prefix`, `ID` and `version` have the operands they need";
    PRAGMA_DROPPED = "N0001", "7.3", "a pragma that has no meaning here is dropped";
    WARNING_DIRECTIVE = "N0002", "ours", "`#warning` is repeated as a note";
    EXTRA_TOKENS = "N0003", "7.3",
        "a directive ends where its operands end; the rest of the line is dropped";
}
