//! How long a message is, as its head says, and where its variable part lies. Both sides judge it
//! by words that were loaded once (I10, L44).

use nearcall_abi::head::flag;
use nearcall_abi::layout::BLOCK_BYTES_MAX;
use nearcall_abi::{INLINE_BYTES, MESSAGE_BYTES_MAX};

use crate::fault::PeerFault;

/// Most that a message with an out-of-line part may claim to be long: the longest variable part
/// behind the longest fixed part.
pub const OUT_OF_LINE_END_MAX: u32 = MESSAGE_BYTES_MAX + BLOCK_BYTES_MAX + INLINE_BYTES;

/// Where the variable part of a message lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In its A-stack, as all else.
    InPlace,
    /// In the A-stack's out-of-line segment of this direction.
    OutOfLine,
}

/// Where a message of `claimed` bytes lies by the flags of this `origin`, on an A-stack that has
/// room for `capacity_bytes`.
///
/// # Errors: it claims to be longer than there is room.
#[inline]
pub fn judge(claimed: u32, origin: u32, capacity_bytes: u32) -> Result<Place, PeerFault> {
    let (place, limit) = match origin & flag::OUT_OF_LINE {
        0 => (Place::InPlace, capacity_bytes),
        _ => (Place::OutOfLine, OUT_OF_LINE_END_MAX),
    };
    match claimed <= limit {
        true => Ok(place),
        false => Err(PeerFault::MessageBytes { claimed, limit }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_as_long_as_there_is_room_where_it_lies() {
        let end = OUT_OF_LINE_END_MAX;
        assert_eq!(judge(48, flag::PROCESSOR, 48), Ok(Place::InPlace));
        assert_eq!(judge(end, flag::OUT_OF_LINE | 7, 48), Ok(Place::OutOfLine));
        let over = |claimed, limit| Err(PeerFault::MessageBytes { claimed, limit });
        assert_eq!(judge(49, flag::PARTIAL, 48), over(49, 48));
        assert_eq!(judge(end + 1, flag::OUT_OF_LINE, 48), over(end + 1, end));
    }
}
