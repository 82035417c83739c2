//! Rules about .proto files: what the language demands, and what of it has no place in the model.
//!
//! Numbers are never reused. `E` stops the compilation, `N` is only noted. `proto3` is the
//! specification of version 3 of the Protocol Buffers language.

use crate::diagnostic::Rule;

rules! {
    LANGUAGE = "E0400", "proto3", "a .proto file follows its language";
    IMPORT = "E0401", "proto3", "an imported file is there";
    CIRCLE = "E0402", "proto3", "files do not import each other in a circle";
    ENCODING = "E0403", "proto3", "a .proto file is UTF-8";
    TOO_MUCH = "E0404", "ours", "a compilation reads 1000 .proto files and 16 MiB at most";
    SYNTAX = "E0405", "ours", "a .proto file says that it is of proto3";
    DESCRIPTION = "E0407", "ours", "types that describe .proto files are not passed";
    STATUS = "E0409", "ours", "no file declares names of the status that procedures raise";
    OPTION_PLACE = "E0410", "ours", "an option of Nearcall's stands where it can be kept";
    OPTION_VALUE = "E0411", "ours", "an option of Nearcall's has a value within its limits";
    OWN_FILE = "N0412", "ours", "what `nearcall/options.proto` declares comes with the compiler";
    EXTENSION = "N0408", "ours", "what extensions add to options changes nothing here";
}
