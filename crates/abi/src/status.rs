//! What the selector word of a reply says.

/// How a call ended, as the server writes it into the selector word.
///
/// ```text
/// 0              the procedure returned
/// 1 ..= 0xffff   it raised the exception of that number (its place in `raises`, from 1)
/// 0x10000 ..     it was not run, or did not return: the server's fault code
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The procedure returned; the message holds its results.
    Returned,
    /// The procedure raised its n-th exception, counted from 1; the message holds its members.
    Raised(u16),
    /// Not run: the server was shutting down or had revoked the binding.
    Refused,
    /// Not run: the arguments did not have the form that the interface promises.
    Malformed,
    /// Not run: no such procedure index.
    NoProcedure,
    /// Ran, and panicked, or dropped what it was to reply with. The server lives on.
    Panicked,
    /// Ran, and its results did not fit: over a bound of the interface, or no memory for them.
    ResultsRefused,
    /// Not run: the server's policy does not let this client call this procedure.
    NotPermitted,
    /// Not run: nobody takes the items of its feed any more.
    FeedOver,
    /// Not run: the server has no room for what the call brings; its user has its share.
    Overloaded,
}

impl Status {
    /// The word to write.
    pub const fn to_word(self) -> u32 {
        match self {
            Status::Returned => 0,
            Status::Raised(number) => number as u32,
            Status::Refused => 0x1_0000,
            Status::Malformed => 0x1_0001,
            Status::NoProcedure => 0x1_0002,
            Status::Panicked => 0x1_0003,
            Status::ResultsRefused => 0x1_0004,
            Status::NotPermitted => 0x1_0005,
            Status::FeedOver => 0x1_0006,
            Status::Overloaded => 0x1_0007,
        }
    }

    /// Judges a word that a server wrote; `None` if it is none of ours.
    pub const fn from_word(word: u32) -> Option<Status> {
        Some(match word {
            0 => Status::Returned,
            number if number <= 0xffff => Status::Raised(number as u16),
            0x1_0000 => Status::Refused,
            0x1_0001 => Status::Malformed,
            0x1_0002 => Status::NoProcedure,
            0x1_0003 => Status::Panicked,
            0x1_0004 => Status::ResultsRefused,
            0x1_0005 => Status::NotPermitted,
            0x1_0006 => Status::FeedOver,
            0x1_0007 => Status::Overloaded,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn every_status_survives_its_word() {
        let all = [
            Status::Returned,
            Status::Raised(1),
            Status::Raised(0xffff),
            Status::Refused,
            Status::Malformed,
            Status::NoProcedure,
            Status::Panicked,
            Status::ResultsRefused,
            Status::NotPermitted,
            Status::FeedOver,
            Status::Overloaded,
        ];
        for status in all {
            assert_eq!(Status::from_word(status.to_word()), Some(status));
        }
    }

    #[test]
    fn an_unknown_word_is_no_status() {
        assert_eq!(Status::from_word(0x1_0008), None);
        assert_eq!(Status::from_word(u32::MAX), None);
    }
}
