//! Rules about the shape of the text: what the parser reports.
//!
//! Numbers are never reused. `E` stops the compilation, `N` is only noted.

use crate::diagnostic::Rule;

rules! {
    UNEXPECTED = "E0100", "7.4", "a definition has the form that the grammar gives it";
    KEYWORD_CASE = "E0101", "7.2.4", "no identifier differs from a keyword only in case";
    KEYWORD_AS_NAME = "E0102", "7.2.4", "a keyword is not an identifier unless escaped";
    SEMICOLON = "E0103", "7.4", "a semicolon ends every definition, member and operation";
    UNCLOSED = "E0104", "7.4", "every brace that opens is closed";
    TOO_NESTED = "E0105", "ours", "definitions, types and expressions nest 64 deep at most";
    TOO_MANY_OPERATORS = "E0106", "ours", "an expression has 256 operators at most";
    EMPTY_BODY = "E0107", "7.4.1.4.4.4", "an enum, a union and a bitmask have at least one entry";
    DIRECTION = "E0108", "7.4.3.4.3.3.1", "every parameter says in, out or inout";
    VOID = "E0109", "7.4.3.4.3.3.1", "void is only what an operation returns";
    ANY = "E0110", "7.4.2", "any is outside what Nearcall maps";
    VALUETYPE = "E0111", "7.4.5", "value types are outside what Nearcall maps";
    COMPONENT = "E0112", "7.4.8", "components are outside what Nearcall maps";
    HOME = "E0113", "7.4.9", "homes are outside what Nearcall maps";
    EVENTTYPE = "E0114", "7.4.10.4.1.1", "event types are outside what Nearcall maps";
    PORT = "E0115", "7.4.11", "port types and connectors are outside what Nearcall maps";
    TEMPLATE = "E0116", "7.4.12", "template modules are outside what Nearcall maps";
    OBJECT = "E0117", "7.4.6.4.2", "the type Object is outside what Nearcall maps";
    LOCAL_INTERFACE = "E0118", "7.4.6.4.3", "local interfaces are outside what Nearcall maps";
    FIXED = "E0119", "7.4.1.4.4.3.4", "fixed-point numbers are outside what Nearcall maps";
    NATIVE = "E0120", "7.4.1.4.4.6", "native types are outside what Nearcall maps";
    CONTEXT = "E0121", "7.4.6.4.6", "context clauses are outside what Nearcall maps";
    IMPORT = "E0122", "7.4.6.4.1.4", "import is outside what Nearcall reads";
    ARRAY_HERE = "E0123", "7.4.3.4.3.3", "parameters and attributes have no array declarators";
    ATTRIBUTE_RAISES = "E0124", "7.4.3.4.3.3.2",
        "a readonly attribute has raises, another getraises and setraises";
    MIXED_STRINGS = "E0125", "7.2.6.3", "neighbouring string literals are all wide or all narrow";
    STRAY_BRACE = "E0126", "7.4", "every brace that closes was opened";
    WORD_NOTED = "N0127", "7.2.4", "a keyword of a building block outside is taken as a name";
    ANNOTATION_NOTED = "N0128", "7.4.15.4.2", "annotations on types and discriminators are ignored";
    VALUE_BASE = "E0129", "7.4.7.4.6", "the type ValueBase is outside what Nearcall maps";
    ABSTRACT_INTERFACE = "E0130", "7.4.7.4.2.2",
        "abstract interfaces are outside what Nearcall maps";
    TRAILING_COMMA = "N0131", "7.4.1.4.4.4.3", "commas stand between the entries of an enum";
}
