//! Which language an interface file is written in.

use std::path::Path;

use super::lexer::{Kind, Pieces};

/// A language of interface files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// OMG IDL 4.2.
    #[default]
    Omg,
    /// The IDL of DCE RPC, as Microsoft's MIDL and IDL4 read it: attributes in brackets before
    /// declarations of C.
    Midl,
    /// proto3, the language of Protocol Buffers. Such a file is read by a library, and neither
    /// preprocessed nor taken for anything else.
    Proto,
}

impl Dialect {
    /// Is a file one of proto3? Only its ending tells, if nothing was said.
    pub(super) fn is_proto(path: &Path, said: Option<Dialect>) -> bool {
        let ends_so = path.extension().is_some_and(|ending| ending == "proto");
        said.map_or(ends_so, |said| said == Dialect::Proto)
    }

    /// What a file that is preprocessed is written in, by its ending and its text.
    ///
    /// A file that ends in `.midl` is MIDL. Any other is if it has a list of attributes: in OMG
    /// IDL a `[` stands behind a name or another dimension only, so that one that stands anywhere
    /// else tells. Directives are not followed and included files not asked.
    pub(super) fn of(path: &Path, text: &str, pieces: &Pieces) -> Dialect {
        if path.extension().is_some_and(|ending| ending == "midl") {
            return Dialect::Midl;
        }
        let spelled = |start: u32, end: u32| &text[start as usize..end as usize];
        let mut follows_name = false;
        for piece in &pieces.pieces {
            let sign = spelled(piece.start, piece.end);
            if sign == "[" && !follows_name {
                return Dialect::Midl;
            }
            follows_name = piece.kind == Kind::Identifier || sign == "]";
        }
        Dialect::Omg
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::lexer::scan;

    fn of(path: &str, text: &str) -> Dialect {
        Dialect::of(Path::new(path), text, &scan(text))
    }

    #[test]
    fn an_attribute_list_tells() {
        assert_eq!(of("a.idl", "[uuid(1)] interface i {}"), Dialect::Midl);
        assert_eq!(of("a.idl", "interface i { void f([in] long a); };"), Dialect::Midl);
        assert_eq!(of("a.idl", "struct s { [string] char *t; };"), Dialect::Midl);
    }

    #[test]
    fn dimensions_tell_nothing() {
        assert_eq!(of("a.idl", "typedef long Grid[2][3]; // [in]"), Dialect::Omg);
        assert_eq!(of("a.idl", "interface i {};"), Dialect::Omg);
    }

    #[test]
    fn a_file_of_proto3_is_one_by_its_ending_or_when_asked_for() {
        let is_proto = |path, said| Dialect::is_proto(Path::new(path), said);
        assert!(is_proto("a.proto", None));
        assert!(is_proto("a.idl", Some(Dialect::Proto)));
        assert!(!is_proto("a.proto", Some(Dialect::Omg)));
        assert!(!is_proto("a.idl", None));
    }

    #[test]
    fn the_ending_tells() {
        assert_eq!(of("a.midl", "interface i {}"), Dialect::Midl);
    }
}
