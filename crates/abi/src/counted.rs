//! How many of something there are, in the words of every crate's errors.

use core::fmt::{self, Display};

/// What [`counted`] evaluates to.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'n, N> {
    count: N,
    noun: &'n str,
}

/// `1 byte`, `2 bytes`. Of a noun that is one thing or another both are counted, as in `1 byte or
/// element`, `2 bytes or elements`.
///
/// ```
/// assert_eq!(nearcall_abi::counted(1, "byte").to_string(), "1 byte");
/// ```
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> Counted<'_, N> {
    Counted { count, noun }
}

impl<N: Display + PartialEq + From<u8>> Display for Counted<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.count == N::from(1) { "" } else { "s" };
        write!(f, "{}", self.count)?;
        for (at, noun) in self.noun.split(" or ").enumerate() {
            write!(f, " {}{noun}{plural}", if at == 0 { "" } else { "or " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;

    use super::*;

    #[test]
    fn one_is_told_of_as_one() {
        for (count, told) in [(0, "0 bytes"), (1, "1 byte"), (2, "2 bytes"), (11, "11 bytes")] {
            assert_eq!(counted(count, "byte").to_string(), told);
        }
        assert_eq!(counted(1u64, "byte or element").to_string(), "1 byte or element");
        assert_eq!(counted(0usize, "byte or element").to_string(), "0 bytes or elements");
    }
}
