//! Rules about MIDL: what its grammar and its way into the syntax tree report.
//!
//! Numbers are never reused. `E` stops the compilation, `N` is only noted. `C706` is the
//! specification of DCE 1.1 RPC, `MIDL` Microsoft's reference of the language, by keyword.

use crate::diagnostic::Rule;

rules! {
    UNKNOWN = "E0300", "C706 4", "an attribute is one that the language has";
    IGNORED = "N0301", "ours", "an attribute about transports, tools or C changes nothing here";
    COM = "E0302", "MIDL object", "objects and types of COM are outside what Nearcall maps";
    PIDL = "E0303", "ours", "attributes of Samba's pidl about bytes are outside what Nearcall maps";
    OUTSIDE = "E0304", "ours", "an attribute does what Nearcall can do, or is an error";
    REPEATED = "E0305", "C706 4", "an attribute stands once before one thing";
    CLASH = "E0306", "C706 4", "attributes before one thing do not contradict each other";
    PLACE = "E0307", "C706 4", "an attribute stands before what it is for";
    ARGUMENTS = "E0308", "C706 4", "an attribute is given as many values as it takes";
    UUID = "E0309", "C706 4.2.4.1", "a uuid is 32 hexadecimal digits in groups of 8-4-4-4-12";
    DIRECTION = "E0310", "C706 4", "every parameter says in, out or both";
    OUT = "E0311", "C706 4", "what comes back comes back through a pointer or an array";
    FULL_POINTER = "E0312", "C706 4", "pointers that may be aliases are outside what Nearcall maps";
    VOID = "E0313", "MIDL void", "what a pointer points to has a type";
    VERSION = "E0314", "C706 4.2.4.2", "a version is a number, or two with a point between";
    UNSIZED = "E0315", "MIDL size_is", "an array has a length that stands somewhere";
    LENGTH_UNKNOWN = "E0316", "MIDL size_is",
        "a length is that of a parameter or member beside the array, or a constant";
    LENGTH_FORM = "E0317", "ours", "a length is a parameter or member, not computed from one";
    LENGTH_TYPE = "E0318", "MIDL size_is", "a length is an integer";
    LENGTH_DIRECTION = "E0319", "MIDL size_is",
        "a length goes every way to where its array is read";
    LENGTH_SHARED = "E0320", "ours", "a parameter or member is the length of one array";
    LENGTH_INNER = "E0321", "ours", "only the outermost of nested arrays has its length elsewhere";
    BOUNDS = "E0322", "ours", "arrays begin at element 0";
    STRING = "E0323", "MIDL string", "a string is made of characters or bytes";
    SWITCH = "E0325", "MIDL switch_is", "a union has a discriminator, in it or beside it";
    SWITCH_FORM = "E0326", "MIDL switch_is",
        "the discriminator beside a union is a parameter or member of one union";
    ARM = "E0327", "MIDL case", "an arm of a union says for which values it is";
    ARM_EMPTY = "E0328", "ours", "a union with a default has a member for every case";
    CONTEXT_HANDLE = "E0330", "C706 4.2.16.6", "context handles are outside what Nearcall maps";
    PIPE = "E0331", "C706 4.2.14", "pipes are outside what Nearcall maps";
    HANDLE = "E0332", "C706 4", "a binding handle is only what an operation is called through";
    BINDING = "N0333", "ours", "the binding is what a stub is called on, not a parameter";
    FUNCTION_POINTER = "E0336", "ours", "procedures are not passed";
    BIT_FIELD = "E0337", "ours", "bit fields of C are outside what Nearcall maps";
    STARS = "E0338", "ours", "a declarator has 8 stars at most";
    CPP_QUOTE = "N0340", "MIDL cpp_quote", "lines for a C header change nothing here";
    LOCAL = "N0341", "MIDL local", "what is local is not called from another process";
    LEAST_LENGTH = "N0342", "ours", "the least length of a range is not checked";
    OMG = "E0343", "C706 4", "modules and annotations are OMG IDL's, which MIDL does not have";
}
