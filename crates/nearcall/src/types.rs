//! Rust types for IDL types that Rust has no own type for.

use bytemuck::{Pod, Zeroable};

/// IDL `char`: one byte of ISO 8859-1.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Char(pub u8);

/// IDL `long double`: 16 bytes as the sender had them, carried and not interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct LongDouble(pub [u8; 16]);

impl From<Char> for char {
    fn from(char: Char) -> char {
        char.0.into()
    }
}

impl TryFrom<char> for Char {
    type Error = std::char::TryFromCharError;

    fn try_from(char: char) -> Result<Char, Self::Error> {
        u8::try_from(char).map(Char)
    }
}

impl std::fmt::Debug for Char {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        char::from(*self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_char_is_a_latin_1_character() {
        assert_eq!(Char::try_from('é').map(char::from), Ok('é'));
        assert!(Char::try_from('€').is_err());
    }
}
