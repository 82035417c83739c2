//! Rules about meaning: names, types, constants, interfaces, annotations, limits.
//!
//! Numbers are never reused. `E` stops the compilation, `N` is only noted.

use crate::diagnostic::Rule;

rules! {
    REDEFINED = "E0200", "7.5.2", "an identifier is defined once in a scope";
    CASE_CLASH = "E0201", "7.2.3.1", "identifiers of a scope differ in more than case";
    OTHER_CASE = "E0202", "7.2.3.1", "a name is used in the case in which it is declared";
    NOT_FOUND = "E0203", "7.5.2", "a name is declared before it is used";
    NOT_A_SCOPE = "E0204", "7.5.1", "what stands before `::` is a scope";
    OWN_NAME = "E0205", "7.5.2", "a scope does not redefine its own name";
    REDEFINED_AFTER_USE = "E0206", "7.5.2", "a name used in a scope is not redefined there";
    CASE_AFTER_USE = "N0207", "7.5.2",
        "a name used in a scope differs from its names by more than case";
    AMBIGUOUS = "E0208", "7.4.4.4", "an inherited name comes from one interface only";
    NOT_A_TYPE = "E0209", "7.4.1.4.4.1", "what is used as a type is one";
    EXCEPTION_AS_TYPE = "E0210", "7.4.3.4.2", "an exception is only raised";
    INTERFACE_AS_TYPE = "E0211", "ours", "references to interfaces are not passed";
    NOT_A_CONSTANT = "E0212", "7.4.1.4.3", "a name in an expression is a constant or an enumerator";
    FORWARD_UNFINISHED = "E0213", "7.4.1.4.4.4.4",
        "a struct or union that is declared forward is defined in the end";
    FORWARD_MISMATCH = "E0214", "7.4.1.4.4.4.4",
        "what is declared forward is defined as the same kind of thing";
    INCOMPLETE = "E0215", "7.4.1.4.4.4.4", "a type is complete where a value of it is needed";
    RECURSIVE = "E0216", "7.4.1.4.4.4.4",
        "a type holds itself only through a sequence, a map or `@external`";
    OWN_NAME_CASE = "N0218", "7.5.2", "a name differs from that of its scope by more than case";
    FORWARD_INTERFACE = "N0219", "7.4.3.4.3.4",
        "an interface that is declared forward is defined somewhere";

    TYPE_CODE = "E0219", "7.4.6.4.7", "the type TypeCode is outside what Nearcall maps";

    CONSTANT_TYPE = "E0220", "7.4.1.4.3", "a constant is a number, character, string or enumerator";
    MISMATCH = "E0221", "7.4.1.4.3", "a value is of the kind that its place wants";
    OUT_OF_RANGE = "E0222", "7.4.1.4.3", "a value is in the range of its type";
    OVERFLOW = "E0223", "7.4.1.4.3",
        "every part of an expression is in the range it is computed in";
    DIVISION = "E0224", "7.4.1.4.3", "nothing is divided by zero";
    SHIFT = "E0225", "7.4.1.4.3", "a shift is by 0 to 63 bits";
    OPERATOR = "E0226", "7.4.1.4.3", "an operator has operands that it is defined for";
    BOUND = "E0227", "7.4.1.4.3", "a bound or dimension is an integer from 1 to 4294967295";
    TOO_LONG = "E0228", "7.4.1.4.4.3.2", "a string is not longer than its bound";

    DISCRIMINATOR = "E0230", "7.4.13.4.2",
        "a discriminator is an integer, a character, a boolean, an octet or an enum";
    LABEL_REPEATED = "E0231", "7.4.1.4.4.4.2", "a value labels one case";
    DEFAULT_REPEATED = "E0232", "7.4.1.4.4.4.2", "a union has one default at most";
    DEFAULT_COVERED = "E0233", "7.4.1.4.4.4.2", "a default is for values without a label";
    MAP_KEY = "E0234", "ours",
        "a map key is an integer, a character, a boolean, a string or an enum";
    STRUCT_BASE = "E0235", "7.4.13.4.1", "a struct extends a complete struct";
    VALUE_REPEATED = "E0236", "ours", "enumerators have different values";
    VALUE_RANGE = "E0237", "8.3.1.5", "the value of an enumerator fits in the bits of its enum";
    BIT_BOUND = "E0238", "8.3.4.1", "an enum has 1 to 32 bits, a bitmask 1 to 64";
    POSITION_REPEATED = "E0239", "7.4.13.4.3.3", "flags have different positions";
    POSITION_RANGE = "E0240", "7.4.13.4.3.3",
        "the position of a flag is below the bits of its bitmask";
    FIELD_WIDTH = "E0241", "7.4.13.4.3.2", "a bit field has 1 to 64 bits and no more than its type";
    FIELD_TYPE = "E0242", "7.4.13.4.3.2", "a bit field is read as boolean, octet or an integer";
    BITSET_WIDTH = "E0243", "ours", "a bitset has 64 bits at most";
    BITSET_BASE = "E0244", "7.4.13.4.3.2", "a bitset extends a bitset";

    BASE_KIND = "E0250", "7.4.3.4.3.2", "an interface inherits from interfaces";
    BASE_INCOMPLETE = "E0251", "7.4.3.4.3.4",
        "an interface inherits from interfaces defined before";
    BASE_REPEATED = "E0252", "7.4.3.4.3.2.1", "an interface is a direct base once";
    INHERITED_REDEFINED = "E0253", "7.4.3.4.3.2.1",
        "an inherited operation or attribute is not redefined";
    INHERITED_CLASH = "E0254", "7.4.3.4.3.2.1",
        "two bases do not have operations or attributes of one name";
    ONEWAY_RETURNS = "E0255", "7.4.6.4.5", "a oneway operation returns nothing";
    ONEWAY_DIRECTION = "E0256", "7.4.6.4.5",
        "a oneway operation has parameters of direction in only";
    ONEWAY_RAISES = "E0257", "7.4.6.4.5", "a oneway operation raises nothing";
    RAISES_KIND = "E0258", "7.4.3.4.3.3.1", "what an operation raises is an exception";
    RAISES_REPEATED = "E0259", "ours", "an exception stands once in a raises list";

    ANNOTATION_REPEATED = "E0270", "ours", "an annotation is applied once to one thing";
    ANNOTATION_PLACE = "E0271", "8.3", "an annotation is applied to what it is for";
    ARGUMENT_MISSING = "E0272", "7.4.15.4.2",
        "an annotation is given every parameter without default";
    ARGUMENT_UNKNOWN = "E0273", "7.4.15.4.2", "an annotation is given the parameters that it has";
    ARGUMENT_VALUE = "E0274", "8.3", "a parameter of an annotation has one of the values it takes";
    EXTENSIBILITY_CLASH = "E0275", "8.3.1.6", "a type has one extensibility";
    ID_REPEATED = "E0276", "8.3.1.1", "members of a type have different ids";
    DEFAULT_LITERAL_REPEATED = "E0277", "8.3.2.3", "an enum has one default literal at most";
    RANGE_EMPTY = "E0278", "8.3.3.2", "the least value of a range is not above the greatest";
    DEFAULT_RANGE = "E0279", "8.3.3.1", "a default is in the range of what it is the default of";
    OPAQUE_TYPE = "E0280", "ours", "what is opaque is a sequence of octets";
    DESCRIPTOR_TYPE = "E0285", "ours", "what stands for a descriptor is a `long`";
    DESCRIPTOR_DIRECTION = "E0286", "ours", "a descriptor goes one way";
    DESCRIPTOR_COUNT = "E0287", "ours", "eight descriptors go with a call at most, and eight back";
    DESCRIPTOR_OPTIONAL = "E0260", "ours",
        "of parameters and of what operations return, descriptors alone may be absent";
    FEED_SHAPE = "E0288", "ours",
        "there is one feed a way, beside parameters that go in, and its operation is called once";
    DEFAULT_TOO_LONG = "E0289", "ours",
        "the default of a member of an appendable struct takes 64 KiB at most";
    KEPT_FINAL = "N0290", "ours",
        "of types in messages, structs and enums with a default literal alone are appendable";
    ANNOTATION_UNKNOWN = "N0281", "7.4.15.4.2", "an annotation that nobody declares is ignored";
    ANNOTATION_STANDARD = "N0282", "8.2.2", "a standard annotation keeps its standard meaning";
    PARAMETER_TYPE = "E0283", "7.4.15.4.1", "a parameter of an annotation has a constant's type";
    ARGUMENT_REPEATED = "E0284", "7.4.15.4.2", "a parameter of an annotation is given once";

    ID_FORMAT = "E0291", "7.4.6.4.1.1", "a repository id is a format, a colon and a name";
    ID_CHANGED = "E0292", "7.4.6.4.1.1", "a repository id is given once";
    PREALLOC_TYPE = "E0293", "ours",
        "memory that a client has ready is for text, and sequences of elements of one length, that \
         come back";
    TYPICAL = "E0294", "ours",
        "what has a typical length has a variable part, and nothing else says how long it is";
    TOO_DEEP = "E0295", "ours", "types nest 64 deep at most";
    TOO_LARGE = "E0296", "ours", "the fixed part of a value takes 1 GiB at most";
    TOO_WIDE = "E0297", "ours", "a type comes down to 65536 scalars and strings at most";
    TOO_MANY_OPERATIONS = "E0298", "ours",
        "the interfaces of a compilation have 65536 operations at most, inherited ones counted";
    TOO_MANY_BASES = "E0299", "ours",
        "a type or interface has 255 bases at most, indirect ones counted";
}
